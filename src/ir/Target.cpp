#include "ir/Target.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>

#include "ir/DeviceInterface.h"
#include "ir/IRPrinter.h"
#include "support/Error.h"
#include "support/Util.h"

// The names, the string form, and the rules that connect features. What the host is: HostTarget.cpp.

namespace Halide {

using namespace Internal;

// ---- Names ----------------------------------------------------------------------------------------------------------

namespace {

template<typename Enum>
struct NamedValue {
    const char *name;
    Enum value;
};

constexpr NamedValue<Target::OS> os_names[] = {
    {"os_unknown", Target::OSUnknown}, {"linux", Target::Linux}, {"windows", Target::Windows},
    {"osx", Target::OSX},              {"android", Target::Android}, {"ios", Target::IOS},
    {"qurt", Target::QuRT},            {"noos", Target::NoOS},   {"fuchsia", Target::Fuchsia},
    {"wasmrt", Target::WebAssemblyRuntime},
};

constexpr NamedValue<Target::Arch> arch_names[] = {
    {"arch_unknown", Target::ArchUnknown}, {"x86", Target::X86},          {"arm", Target::ARM},
    {"powerpc", Target::POWERPC},          {"hexagon", Target::Hexagon},  {"wasm", Target::WebAssembly},
    {"riscv", Target::RISCV},
};

constexpr NamedValue<Target::Processor> processor_names[] = {
    {"tune_generic", Target::ProcessorGeneric}, {"tune_k8", Target::K8},         {"tune_k8_sse3", Target::K8_SSE3},
    {"tune_amdfam10", Target::AMDFam10},        {"tune_btver1", Target::BtVer1}, {"tune_btver2", Target::BtVer2},
    {"tune_bdver1", Target::BdVer1},            {"tune_bdver2", Target::BdVer2}, {"tune_bdver3", Target::BdVer3},
    {"tune_bdver4", Target::BdVer4},            {"tune_znver1", Target::ZnVer1}, {"tune_znver2", Target::ZnVer2},
    {"tune_znver3", Target::ZnVer3},            {"tune_znver4", Target::ZnVer4}, {"tune_znver5", Target::ZnVer5},
};

constexpr NamedValue<Target::Feature> feature_names[] = {
#define X(name, c_name, text) {text, Target::name},
#include "ir/Target.def"
#undef X
};
static_assert(sizeof(feature_names) / sizeof(feature_names[0]) == Target::FeatureEnd,
              "Target.def lists every feature of the C enumeration once, in its order");

template<typename Enum, size_t N>
std::optional<Enum> value_of(const NamedValue<Enum> (&table)[N], const std::string &name) {
    for (const auto &row : table) {
        if (name == row.name) {
            return row.value;
        }
    }
    return std::nullopt;
}

template<typename Enum, size_t N>
const char *name_of(const NamedValue<Enum> (&table)[N], Enum value) {
    for (const auto &row : table) {
        if (value == row.value) {
            return row.name;
        }
    }
    internal_error << "No name for the target property number " << (int)value;
}

const std::vector<Target::Feature> trace_all_features = {Target::TraceLoads, Target::TraceStores,
                                                         Target::TraceRealizations};

}  // namespace

namespace Internal {

std::string target_os_to_name(Target::OS os) {
    return name_of(os_names, os);
}
std::string target_arch_to_name(Target::Arch arch) {
    return name_of(arch_names, arch);
}
std::string target_processor_to_name(Target::Processor processor) {
    return name_of(processor_names, processor);
}

}  // namespace Internal

std::string Target::feature_to_name(Target::Feature feature) {
    return name_of(feature_names, feature);
}

Target::Feature Target::feature_from_name(const std::string &name) {
    if (name == "hvx") {
        return HVX;
    }
    return value_of(feature_names, name).value_or(FeatureEnd);
}

// ---- From and to strings --------------------------------------------------------------------------------------------

namespace {

std::optional<int> parse_number(const std::string &text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) {
        return std::nullopt;
    }
    return atoi(text.c_str());
}

/// What a target string says, token by token.
class TargetParser {
    Target &t;
    bool os_given = false, arch_given = false, bits_given = false, processor_given = false;

    /// Sets a property that may be given only once.
    template<typename Property, typename Value>
    static bool set_once(bool &given, Property &property, Value value) {
        if (given) {
            return false;
        }
        given = true;
        property = value;
        return true;
    }

    bool parse_token(const std::string &token, bool first) {
        if (token == "host") {
            t = get_host_target();
            return first;
        }
        if (token == "0" || token == "32" || token == "64") {
            return set_once(bits_given, t.bits, atoi(token.c_str()));
        }
        if (auto arch = value_of(arch_names, token)) {
            return set_once(arch_given, t.arch, *arch);
        }
        if (auto os = value_of(os_names, token)) {
            return set_once(os_given, t.os, *os);
        }
        if (auto processor = value_of(processor_names, token)) {
            return set_once(processor_given, t.processor_tune, *processor);
        }
        if (token == "trace_all") {
            t.set_features(trace_all_features);
            return true;
        }
        if (starts_with(token, "vector_bits_")) {
            auto bits = parse_number(token.substr(12));
            t.vector_bits = bits.value_or(0);
            return bits.has_value();
        }
        const Target::Feature feature = Target::feature_from_name(token);
        if (feature == Target::FeatureEnd) {
            return false;
        }
        t.set_feature(feature);
        return true;
    }

public:
    explicit TargetParser(Target &t)
        : t(t) {
    }

    bool parse(const std::string &text) {
        bool first = true;
        for (const std::string &token : split_string(text, "-")) {
            if (!parse_token(token, first)) {
                return false;
            }
            first = false;
        }
        if (arch_given && !bits_given) {
            return false;
        }
        const bool all_unknown = t.os == Target::OSUnknown && t.arch == Target::ArchUnknown && t.bits == 0;
        if (all_unknown) {
            // Only if written out, and with nothing else: a forgotten part is a mistake.
            return os_given && arch_given && bits_given && t.get_features_bitset().none();
        }
        return !t.has_unknowns();
    }
};

bool parse_target(const std::string &text, Target &t) {
    if (text.empty()) {
        t = get_host_target();
        return true;
    }
    Target parsed;
    if (!TargetParser(parsed).parse(text)) {
        return false;
    }
    t = parsed;
    return true;
}

template<typename Enum, size_t N>
std::string list_names(const NamedValue<Enum> (&table)[N]) {
    std::vector<std::string> names;
    for (const auto &row : table) {
        names.emplace_back(row.name);
    }
    return join_strings(names, ", ");
}

}  // namespace

namespace Internal {

void bad_target_string(const std::string &target) {
    user_error << "Did not understand Halide target " << target << "\n"
               << "A target is arch-bits-os, or host, and any number of features, joined by '-'.\n"
               << "arch: " << list_names(arch_names) << "\n"
               << "bits: 32, 64\n"
               << "os: " << list_names(os_names) << "\n"
               << "tuning: " << list_names(processor_names) << "\n"
               << "features: " << list_names(feature_names) << ", trace_all, vector_bits_<number>\n";
}

}  // namespace Internal

Target::Target(OS o, Arch a, int b, Processor pt, const std::vector<Feature> &initial_features, int vb)
    : os(o), arch(a), bits(b), vector_bits(vb), processor_tune(pt) {
    for (Feature f : initial_features) {
        set_feature(f);
    }
    check_valid();
}

Target::Target(OS o, Arch a, int b, const std::vector<Feature> &initial_features)
    : Target(o, a, b, ProcessorGeneric, initial_features) {
}

Target::Target(const std::string &s) {
    if (!parse_target(s, *this)) {
        bad_target_string(s);
    }
    check_valid();
}

Target::Target(const char *s)
    : Target(std::string(s)) {
}

bool Target::validate_target_string(const std::string &s) {
    Target t;
    return parse_target(s, t);
}

std::string Target::to_string() const {
    std::string result = std::string(name_of(arch_names, arch)) + "-" + std::to_string(bits) + "-" +
                         name_of(os_names, os);
    if (processor_tune != ProcessorGeneric) {
        result += std::string("-") + name_of(processor_names, processor_tune);
    }
    const bool trace_all = features_all_of(trace_all_features);
    std::vector<std::string> names;
    for (const auto &row : feature_names) {
        const bool part_of_trace_all =
            trace_all && std::count(trace_all_features.begin(), trace_all_features.end(), row.value);
        if (features[row.value] && !part_of_trace_all) {
            names.emplace_back(row.name);
        }
    }
    if (trace_all) {
        names.emplace_back("trace_all");
    }
    std::sort(names.begin(), names.end());
    for (const std::string &name : names) {
        result += "-" + name;
    }
    if (vector_bits != 0) {
        result += "-vector_bits_" + std::to_string(vector_bits);
    }
    return result;
}

// ---- Features -------------------------------------------------------------------------------------------------------

bool Target::has_unknowns() const {
    return os == OSUnknown || arch == ArchUnknown || bits == 0;
}

void Target::set_feature(Feature f, bool value) {
    if (f == FeatureEnd) {
        return;
    }
    user_assert((int)f >= 0 && f < FeatureEnd) << "Invalid Target feature number " << (int)f << ".\n";
    features.set(f, value);
}

void Target::set_features(const std::vector<Feature> &features, bool value) {
    for (Feature f : features) {
        set_feature(f, value);
    }
}

bool Target::has_feature(Feature f) const {
    if (f == FeatureEnd) {
        return true;
    }
    user_assert((int)f >= 0 && f < FeatureEnd) << "Invalid Target feature number " << (int)f << ".\n";
    return features[f];
}

bool Target::features_any_of(const std::vector<Feature> &features) const {
    return std::any_of(features.begin(), features.end(), [this](Feature f) { return has_feature(f); });
}

bool Target::features_all_of(const std::vector<Feature> &features) const {
    return std::all_of(features.begin(), features.end(), [this](Feature f) { return has_feature(f); });
}

Target Target::with_feature(Feature f) const {
    Target copy = *this;
    copy.set_feature(f);
    return copy;
}

Target Target::without_feature(Feature f) const {
    Target copy = *this;
    copy.set_feature(f, false);
    return copy;
}

bool Target::operator==(const Target &other) const {
    return os == other.os && arch == other.arch && bits == other.bits && processor_tune == other.processor_tune &&
           vector_bits == other.vector_bits && features == other.features;
}

namespace {

using Feature = Target::Feature;
using FeatureList = std::vector<Target::Feature>;

const FeatureList x86_features = {
    Target::SSE41,          Target::AVX,           Target::AVX2,          Target::AVXVNNI,
    Target::FMA,            Target::FMA4,          Target::F16C,          Target::AVX512,
    Target::AVX512_KNL,     Target::AVX512_Skylake, Target::AVX512_Cannonlake, Target::AVX512_Zen4,
    Target::AVX512_Zen5,    Target::AVX512_SapphireRapids, Target::AVX10_1, Target::X86APX,
};

const FeatureList arm_features = {
    Target::ARMv7s,  Target::NoNEON,  Target::SVE,     Target::SVE2,    Target::SME2,    Target::ARMDotProd,
    Target::ARMFp16, Target::ARMv8a,  Target::ARMv81a, Target::ARMv82a, Target::ARMv83a, Target::ARMv84a,
    Target::ARMv85a, Target::ARMv86a, Target::ARMv87a, Target::ARMv88a, Target::ARMv89a,
};

const FeatureList wasm_features = {Target::WasmMvpOnly, Target::WasmSimd128, Target::WasmThreads,
                                   Target::WasmBulkMemory};

const FeatureList hvx_features = {Target::HVX_128, Target::HVX_v62, Target::HVX_v65, Target::HVX_v66,
                                  Target::HVX_v68};

const FeatureList powerpc_features = {Target::VSX, Target::POWER_ARCH_2_07};

const FeatureList hlsl_features = {
    Target::HLSL_SM60, Target::HLSL_SM61, Target::HLSL_SM62, Target::HLSL_SM63, Target::HLSL_SM64,
    Target::HLSL_SM65, Target::HLSL_SM66, Target::HLSL_SM67, Target::HLSL_SM68, Target::HLSL_SM69,
};

/// A feature that stands for a number: a capability, a version, a length.
struct Level {
    Feature feature;
    int value;
};

constexpr Level cuda_levels[] = {
    {Target::CUDACapability30, 30}, {Target::CUDACapability32, 32},   {Target::CUDACapability35, 35},
    {Target::CUDACapability50, 50}, {Target::CUDACapability61, 61},   {Target::CUDACapability70, 70},
    {Target::CUDACapability75, 75}, {Target::CUDACapability80, 80},   {Target::CUDACapability86, 86},
    {Target::CUDACapability89, 89}, {Target::CUDACapability90, 90},   {Target::CUDACapability100, 100},
    {Target::CUDACapability120, 120},
};
constexpr Level vulkan_levels[] = {{Target::VulkanV10, 10}, {Target::VulkanV12, 12}, {Target::VulkanV13, 13}};
constexpr Level hlsl_levels[] = {
    {Target::HLSL_SM60, 60}, {Target::HLSL_SM61, 61}, {Target::HLSL_SM62, 62}, {Target::HLSL_SM63, 63},
    {Target::HLSL_SM64, 64}, {Target::HLSL_SM65, 65}, {Target::HLSL_SM66, 66}, {Target::HLSL_SM67, 67},
    {Target::HLSL_SM68, 68}, {Target::HLSL_SM69, 69},
};
constexpr Level armv8_levels[] = {
    {Target::ARMv8a, 80},  {Target::ARMv81a, 81}, {Target::ARMv82a, 82}, {Target::ARMv83a, 83}, {Target::ARMv84a, 84},
    {Target::ARMv85a, 85}, {Target::ARMv86a, 86}, {Target::ARMv87a, 87}, {Target::ARMv88a, 88}, {Target::ARMv89a, 89},
};
constexpr Level hexagon_levels[] = {
    {Target::HVX_v62, 62}, {Target::HVX_v65, 65}, {Target::HVX_v66, 66}, {Target::HVX_v68, 68}};
constexpr Level sme_levels[] = {
    {Target::SME_SVL128, 128},   {Target::SME_SVL256, 256},   {Target::SME_SVL512, 512},
    {Target::SME_SVL1024, 1024}, {Target::SME_SVL2048, 2048},
};

template<size_t N>
int lowest_level(const Target &t, const Level (&levels)[N], int none) {
    for (const Level &l : levels) {
        if (t.has_feature(l.feature)) {
            return l.value;
        }
    }
    return none;
}

template<size_t N>
int highest_level(const Target &t, const Level (&levels)[N], int none) {
    for (size_t i = N; i-- > 0;) {
        if (t.has_feature(levels[i].feature)) {
            return levels[i].value;
        }
    }
    return none;
}

struct Implication {
    Feature feature;
    FeatureList implied;
};

// Each row comes before the rows about what it implies, so that one walk down the list reaches everything.
const Implication implications[] = {
    {Target::AVX512_SapphireRapids, {Target::AVX512_Zen4, Target::AVXVNNI}},
    {Target::AVX512_Zen5, {Target::AVX512_Zen4, Target::AVXVNNI}},
    {Target::AVX512_Zen4, {Target::AVX512_Cannonlake}},
    {Target::AVX512_Cannonlake, {Target::AVX512_Skylake}},
    {Target::AVX512_Skylake, {Target::AVX512}},
    {Target::AVX512_KNL, {Target::AVX512}},
    {Target::AVX512, {Target::AVX2}},
    {Target::AVX2, {Target::F16C, Target::FMA, Target::AVX}},
    {Target::AVX, {Target::SSE41}},
    {Target::SME2, {Target::ARMDotProd, Target::ARMFp16}},
    {Target::SVE2, {Target::ARMDotProd, Target::ARMFp16}},
    {Target::SVE, {Target::ARMFp16}},
    {Target::ARMv89a, {Target::ARMv88a}},
    {Target::ARMv88a, {Target::ARMv87a}},
    {Target::ARMv87a, {Target::ARMv86a}},
    {Target::ARMv86a, {Target::ARMv85a}},
    {Target::ARMv85a, {Target::ARMv84a}},
    {Target::ARMv84a, {Target::ARMv83a}},
    {Target::ARMv83a, {Target::ARMv82a}},
    {Target::ARMFp16, {Target::ARMv82a}},
    {Target::ARMv82a, {Target::ARMv81a}},
    {Target::ARMv81a, {Target::ARMv8a}},
    {Target::PTO_A5, {Target::PTO}},
    {Target::TraceLoads, {Target::TraceRealizations}},
    {Target::TraceStores, {Target::TraceRealizations}},
};

/// Implications that depend on more than one feature.
FeatureList features_implied_by_target(const Target &t) {
    FeatureList implied;
    if (t.arch == Target::X86 && t.has_feature(Target::AVX10_1)) {
        if (t.vector_bits >= 256) {
            implied.push_back(Target::AVX2);
        }
        if (t.vector_bits >= 512) {
            implied.push_back(Target::AVX512_SapphireRapids);
        }
    }
    if (t.arch == Target::ARM && t.os == Target::OSX) {
        implied.push_back(Target::ARMv84a);
    }
    return implied;
}

void forbid(const Target &t, const FeatureList &features, const char *what) {
    for (Feature f : features) {
        user_assert(!t.has_feature(f)) << "Target feature " << Target::feature_to_name(f) << " is for " << what
                                       << ", and can't be used with the target " << t.to_string() << ".\n";
    }
}

}  // namespace

void Target::check_valid() const {
    if (arch == X86 || arch == WebAssembly) {
        forbid(*this, arm_features, "ARM");
    }
    if (arch == ARM || arch == WebAssembly) {
        forbid(*this, x86_features, "x86");
    }
    if (arch == X86 || arch == ARM) {
        forbid(*this, wasm_features, "WebAssembly");
        forbid(*this, powerpc_features, "PowerPC");
    }
    if (!has_feature(D3D12Compute)) {
        for (Feature f : hlsl_features) {
            user_assert(!has_feature(f)) << "Target feature " << feature_to_name(f) << " requires the feature "
                                         << feature_to_name(D3D12Compute) << ", in the target " << to_string()
                                         << ".\n";
        }
    }
    int svl_count = 0;
    for (const Level &l : sme_levels) {
        svl_count += has_feature(l.feature);
    }
    user_assert(svl_count <= 1) << "At most one sme_svl feature can be given, in the target " << to_string() << ".\n";
    user_assert((svl_count == 1) == has_feature(SME2))
        << "The features sme2 and sme_svl<bits> require each other, in the target " << to_string() << ".\n";
}

void Target::set_implied_features() {
    set_features(features_implied_by_target(*this));
    for (const Implication &i : implications) {
        if (has_feature(i.feature)) {
            set_features(i.implied);
        }
    }
}

Target Target::with_implied_features() const {
    Target copy = *this;
    copy.set_implied_features();
    return copy;
}

Target Target::without_implied_features() const {
    // What is implied by a feature stays implied when that feature is itself taken away, so the whole set is asked.
    const Target full = with_implied_features();
    Target copy = *this;
    copy.set_features(features_implied_by_target(*this), false);
    for (const Implication &i : implications) {
        if (full.has_feature(i.feature)) {
            copy.set_features(i.implied, false);
        }
    }
    return copy;
}

int Target::sme_streaming_vector_bits() const {
    return lowest_level(*this, sme_levels, 0);
}

Target::Feature Target::sme_svl_feature_from_bits(int bits) {
    for (const Level &l : sme_levels) {
        if (l.value == bits) {
            return l.feature;
        }
    }
    return FeatureEnd;
}

int Target::get_cuda_capability_lower_bound() const {
    return has_feature(CUDA) ? lowest_level(*this, cuda_levels, 20) : -1;
}

int Target::get_vulkan_capability_lower_bound() const {
    return has_feature(Vulkan) ? lowest_level(*this, vulkan_levels, 10) : -1;
}

int Target::get_d3d12compute_capability_lower_bound() const {
    return has_feature(D3D12Compute) ? lowest_level(*this, hlsl_levels, 51) : -1;
}

int Target::get_arm_v8_lower_bound() const {
    // Versions imply their predecessors: the highest is what is promised.
    return highest_level(*this, armv8_levels, -1);
}

// ---- Sizes ----------------------------------------------------------------------------------------------------------

int Target::natural_vector_size(const Type &t) const {
    user_assert(!has_unknowns()) << "natural_vector_size cannot be used on a Target with Unknown values: "
                                 << to_string() << "\n";
    const int bytes = std::max(t.bytes(), 1);
    const bool is_integer = t.is_int() || t.is_uint();
    const auto lanes_of = [&](int vector_bytes) { return std::max(vector_bytes / bytes, 1); };
    const Target full = with_implied_features();
    switch (arch) {
    case ARM:
        if (vector_bits != 0 && (has_feature(SVE2) || (t.is_float() && has_feature(SVE)))) {
            return lanes_of(vector_bits / 8);
        }
        return lanes_of(16);
    case Hexagon:
        if (!is_integer) {
            return 1;
        }
        user_assert(features_any_of(hvx_features))
            << "The target " << to_string() << " must have the feature hvx for vectors of integers.\n";
        return lanes_of(128);
    case X86:
        if (full.has_feature(AVX512_Skylake) || (!is_integer && full.has_feature(AVX512))) {
            return lanes_of(64);
        }
        return lanes_of(full.has_feature(AVX2) || (!is_integer && full.has_feature(AVX)) ? 32 : 16);
    case WebAssembly:
        return has_feature(WasmSimd128) ? lanes_of(16) : 1;
    case RISCV:
        return vector_bits != 0 && has_feature(RVV) ? lanes_of(vector_bits / 8) : 1;
    default:
        return lanes_of(16);
    }
}

int64_t Target::maximum_buffer_size() const {
    return has_large_buffers() ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
}

bool Target::supported() const {
    const bool known = arch == X86 || arch == ARM || arch == RISCV || arch == WebAssembly;
    return known && !has_unknowns() && !has_gpu_feature() && !features_any_of(hvx_features);
}

// ---- One runtime for several targets --------------------------------------------------------------------------------

namespace {

/// Must be the same in both.
const FeatureList matching_features = {
    Target::ASAN,          Target::Debug, Target::EnableBacktraces, Target::HexagonDma,        Target::HVX,
    Target::MSAN,          Target::SoftFloatABI, Target::TSAN,      Target::WasmThreads,
    Target::SanitizerCoverage, Target::Simulator,
};

/// In either: the runtime carries it for those who need it.
const FeatureList united_features = {Target::CUDA,   Target::OpenCL, Target::Metal, Target::D3D12Compute,
                                     Target::Vulkan, Target::WebGPU, Target::NoNEON};

/// In both: the runtime may only use what everybody has.
const FeatureList intersected_features = {
    Target::SSE41,      Target::AVX,            Target::AVX2,              Target::AVXVNNI,
    Target::FMA,        Target::FMA4,           Target::F16C,              Target::ARMv7s,
    Target::VSX,        Target::AVX512,         Target::AVX512_KNL,        Target::AVX512_Skylake,
    Target::AVX512_Zen4, Target::AVX512_Zen5,   Target::AVX512_Cannonlake, Target::AVX512_SapphireRapids,
    Target::AVX10_1,    Target::X86APX,         Target::RVV,               Target::SVE,
    Target::SVE2,       Target::ARMDotProd,     Target::ARMFp16,           Target::POWER_ARCH_2_07,
};

template<size_t N>
void set_lower_level(Target &result, const Level (&levels)[N], int a, int b, int none) {
    // −1 stands for "not enabled there": the other one decides.
    const int level = a < 0 ? b : b < 0 ? a : std::min(a, b);
    for (const Level &l : levels) {
        if (level != none && l.value == level) {
            result.set_feature(l.feature);
        }
    }
}

}  // namespace

bool Target::get_runtime_compatible_target(const Target &other, Target &result) {
    if (arch != other.arch || bits != other.bits || os != other.os) {
        user_warning << "runtime targets must agree on platform (arch-bits-os)\n"
                     << "  this:  " << to_string() << "\n"
                     << "  other: " << other.to_string() << "\n";
        return false;
    }
    for (Feature f : matching_features) {
        if (has_feature(f) != other.has_feature(f)) {
            user_warning << "runtime targets must agree on feature " << feature_to_name(f) << "\n"
                         << "  this:  " << to_string() << "\n"
                         << "  other: " << other.to_string() << "\n";
            return false;
        }
    }
    Target output;
    output.os = os;
    output.arch = arch;
    output.bits = bits;
    output.processor_tune = processor_tune == other.processor_tune ? processor_tune : ProcessorGeneric;
    output.vector_bits = vector_bits == other.vector_bits ? vector_bits : 0;
    for (Feature f : matching_features) {
        output.set_feature(f, has_feature(f));
    }
    for (Feature f : united_features) {
        output.set_feature(f, has_feature(f) || other.has_feature(f));
    }
    const Target full = with_implied_features(), other_full = other.with_implied_features();
    for (Feature f : intersected_features) {
        // What both have is kept as far as one of them spells it out.
        output.set_feature(f, full.has_feature(f) && other_full.has_feature(f) &&
                                  (has_feature(f) || other.has_feature(f)));
    }
    set_lower_level(output, cuda_levels, get_cuda_capability_lower_bound(), other.get_cuda_capability_lower_bound(), 20);
    set_lower_level(output, vulkan_levels, get_vulkan_capability_lower_bound(),
                    other.get_vulkan_capability_lower_bound(), -1);
    set_lower_level(output, hlsl_levels, get_d3d12compute_capability_lower_bound(),
                    other.get_d3d12compute_capability_lower_bound(), 51);
    const int v8 = std::min(get_arm_v8_lower_bound(), other.get_arm_v8_lower_bound());
    set_lower_level(output, armv8_levels, v8, v8, -1);
    const int hvx = std::min(highest_level(*this, hexagon_levels, -1), highest_level(other, hexagon_levels, -1));
    set_lower_level(output, hexagon_levels, hvx, hvx, -1);
    result = output;
    return true;
}

}  // namespace Halide
