#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/Enums.h"
#include "ir/Type.h"
#include "runtime/HalideRuntime.h"

namespace Halide {

/// What a pipeline is compiled for: operating system, architecture, and a set of features.
struct Target {
    enum OS {
        OSUnknown = 0,
        Linux,
        Windows,
        OSX,
        Android,
        IOS,
        QuRT,
        NoOS,
        Fuchsia,
        WebAssemblyRuntime
    } os = OSUnknown;

    enum Arch {
        ArchUnknown = 0,
        X86,
        ARM,
        Hexagon,
        POWERPC,
        WebAssembly,
        RISCV
    } arch = ArchUnknown;

    /// 32 or 64; 0 if unknown.
    int bits = 0;

    /// Width of the vector registers where the instruction set leaves it open; 0 if unspecified.
    int vector_bits = 0;

    /// The processor whose instruction timings are assumed.
    enum Processor {
        ProcessorGeneric = 0,
        K8,
        K8_SSE3,
        AMDFam10,
        BtVer1,
        BdVer1,
        BdVer2,
        BdVer3,
        BdVer4,
        BtVer2,
        ZnVer1,
        ZnVer2,
        ZnVer3,
        ZnVer4,
        ZnVer5
    } processor_tune = ProcessorGeneric;

    enum Feature {
#define X(name, c_name, text) name = c_name,
#include "ir/Target.def"
#undef X
        HVX = HVX_128,
        FeatureEnd = halide_target_feature_end
    };

    Target() = default;
    Target(OS o, Arch a, int b, Processor pt, const std::vector<Feature> &initial_features = {}, int vb = 0);
    Target(OS o, Arch a, int b, const std::vector<Feature> &initial_features = {});

    /// From a string such as "x86-64-linux-avx2" or "host-profile". @throws CompileError if it is not understood.
    explicit Target(const std::string &s);
    explicit Target(const char *s);

    /// True if the string is a target.
    static bool validate_target_string(const std::string &s);

    /// True if operating system, architecture or bits are unknown.
    bool has_unknowns() const;

    void set_feature(Feature f, bool value = true);
    void set_features(const std::vector<Feature> &features, bool value = true);
    bool has_feature(Feature f) const;
    bool has_feature(halide_target_feature_t f) const {
        return has_feature((Feature)f);
    }
    bool features_any_of(const std::vector<Feature> &features) const;
    bool features_all_of(const std::vector<Feature> &features) const;
    Target with_feature(Feature f) const;
    Target without_feature(Feature f) const;

    /// True if code for some graphics processor is to be generated.
    bool has_gpu_feature() const;

    /// Whether the target can compute with this type.
    bool supports_type(const Type &t) const;
    bool supports_type(const Type &t, DeviceAPI device) const;

    bool supports_device_api(DeviceAPI api) const;

    /// The device API if exactly one is enabled; None if there is none.
    DeviceAPI get_required_device_api() const;

    bool operator==(const Target &other) const;
    bool operator!=(const Target &other) const {
        return !(*this == other);
    }

    /// Finds a target that has a runtime which serves code for both.
    /// @returns false, with a warning, if there is none.
    bool get_runtime_compatible_target(const Target &other, Target &result);

    /// arch-bits-os[-tune][-features in alphabetical order][-vector_bits_N].
    std::string to_string() const;

    /// How many values of a type fit in a vector register.
    int natural_vector_size(const Type &t) const;
    template<typename T>
    int natural_vector_size() const {
        return natural_vector_size(type_of<T>());
    }

    /// Streaming vector length of SME in bits, or 0.
    int sme_streaming_vector_bits() const;

    bool has_large_buffers() const {
        return bits == 64 && has_feature(LargeBuffers);
    }

    /// The largest allowed number of bytes in a buffer.
    int64_t maximum_buffer_size() const;

    /// The least capability of a device API that the features promise, e.g. 61; −1 if the API is not enabled.
    int get_cuda_capability_lower_bound() const;
    int get_vulkan_capability_lower_bound() const;
    int get_d3d12compute_capability_lower_bound() const;
    /// The least version of ARMv8, e.g. 82; −1 for other architectures.
    int get_arm_v8_lower_bound() const;

    /// Whether this library can generate code for the target.
    bool supported() const;

    const std::bitset<FeatureEnd> &get_features_bitset() const {
        return features;
    }

    static std::string feature_to_name(Target::Feature feature);
    /// FeatureEnd if there is no such feature.
    static Target::Feature feature_from_name(const std::string &name);

    /// The feature for a streaming vector length; FeatureEnd if there is none.
    static Feature sme_svl_feature_from_bits(int bits);

    /// Adds the features that others imply.
    void set_implied_features();
    Target with_implied_features() const;
    /// Removes the features that others imply.
    Target without_implied_features() const;

private:
    std::bitset<FeatureEnd> features;

    void check_valid() const;
};

/// The machine this code runs on.
Target get_host_target();

/// HL_TARGET, else the host.
Target get_target_from_environment();

/// HL_JIT_TARGET with the features of JIT compilation, else the host. @throws CompileError if it cannot run here.
Target get_jit_target_from_environment();

/// The feature that enables a device API; FeatureEnd if none is needed.
Target::Feature target_feature_for_device_api(DeviceAPI api);

/// Whether the device API of the target can be used on this machine.
bool host_supports_target_device(const Target &t);

namespace Internal {

/// Names for the enumerations in target strings.
std::string target_os_to_name(Target::OS os);
std::string target_arch_to_name(Target::Arch arch);
std::string target_processor_to_name(Target::Processor processor);


}  // namespace Internal
}  // namespace Halide
