#include "ir/Target.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "support/Error.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace {

Target::OS host_os() {
#if defined(__ANDROID__)
    return Target::Android;
#elif defined(__linux__)
    return Target::Linux;
#elif defined(_WIN32)
    return Target::Windows;
#elif defined(__APPLE__)
    return Target::OSX;
#elif defined(__Fuchsia__)
    return Target::Fuchsia;
#else
    return Target::OSUnknown;
#endif
}

#if defined(__x86_64__) || defined(__i386__)

struct Registers {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// Zero for leaves that the processor does not have.
Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
    Registers r;
    if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx)) {
        return Registers();
    }
    return r;
}

constexpr bool bit(unsigned reg, int n) {
    return (reg >> n) & 1;
}

/// Which register states the operating system saves: bit 1 SSE, 2 AVX, 5–7 AVX-512, 17–18 AMX.
uint64_t enabled_states(const Registers &basic) {
    if (!bit(basic.ecx, 27)) {
        return 0;
    }
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}

void add_avx512_features(Target &t, const Registers &r7, const Registers &r7_1, uint64_t states) {
    const bool f = bit(r7.ebx, 16), cd = bit(r7.ebx, 28), dq = bit(r7.ebx, 17), bw = bit(r7.ebx, 30),
               vl = bit(r7.ebx, 31), ifma = bit(r7.ebx, 21), pf = bit(r7.ebx, 26), er = bit(r7.ebx, 27);
    const bool vbmi = bit(r7.ecx, 1), vbmi2 = bit(r7.ecx, 6), vnni = bit(r7.ecx, 11), bitalg = bit(r7.ecx, 12),
               vpopcnt = bit(r7.ecx, 14);
    const bool bf16 = bit(r7_1.eax, 5), avxvnni = bit(r7_1.eax, 4), vp2intersect = bit(r7.edx, 8);
    const bool amx = bit(r7.edx, 22) && bit(r7.edx, 24) && bit(r7.edx, 25) && (states & 0x60000) == 0x60000;
    if (!f || !cd) {
        return;
    }
    t.set_feature(Target::AVX512);
    if (er && pf) {
        t.set_feature(Target::AVX512_KNL);
    }
    if (!dq || !bw || !vl) {
        return;
    }
    t.set_feature(Target::AVX512_Skylake);
    if (!ifma || !vbmi) {
        return;
    }
    t.set_feature(Target::AVX512_Cannonlake);
    if (!bf16 || !vnni || !bitalg || !vbmi2 || !vpopcnt) {
        return;
    }
    t.set_feature(Target::AVX512_Zen4);
    if (avxvnni && vp2intersect && !amx) {
        t.set_feature(Target::AVX512_Zen5);
    }
    if (avxvnni && amx) {
        t.set_feature(Target::AVX512_SapphireRapids);
    }
}

Target::Processor amd_processor(unsigned family, unsigned model) {
    switch (family) {
    case 0x0f:
        return Target::K8_SSE3;
    case 0x10:
        return Target::AMDFam10;
    case 0x14:
        return Target::BtVer1;
    case 0x15:
        return model >= 0x60                  ? Target::BdVer4 :
               model >= 0x30                  ? Target::BdVer3 :
               model >= 0x10 || model == 0x02 ? Target::BdVer2 :
                                                Target::BdVer1;
    case 0x16:
        return Target::BtVer2;
    case 0x17:
        return model >= 0x30 ? Target::ZnVer2 : Target::ZnVer1;
    case 0x19:
        return (model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) || (model >= 0xa0 && model <= 0xaf) ?
                   Target::ZnVer4 :
                   Target::ZnVer3;
    case 0x1a:
        return Target::ZnVer5;
    default:
        return Target::ProcessorGeneric;
    }
}

void add_host_features(Target &t) {
    const Registers vendor = cpuid(0), basic = cpuid(1), r7 = cpuid(7), r7_1 = r7.eax >= 1 ? cpuid(7, 1) : Registers(),
                    extended = cpuid(0x80000001);
    const uint64_t states = enabled_states(basic);
    const bool avx_states = (states & 0x6) == 0x6;
    t.arch = Target::X86;
    t.set_feature(Target::SSE41, bit(basic.ecx, 19));
    if (avx_states && bit(basic.ecx, 28)) {
        t.set_feature(Target::AVX);
        t.set_feature(Target::F16C, bit(basic.ecx, 29));
        t.set_feature(Target::FMA, bit(basic.ecx, 12));
        t.set_feature(Target::FMA4, bit(extended.ecx, 16));
        t.set_feature(Target::AVX2, bit(r7.ebx, 5) && bit(basic.ecx, 29) && bit(basic.ecx, 12));
        t.set_feature(Target::AVXVNNI, bit(r7_1.eax, 4));
    }
    if (t.has_feature(Target::AVX2) && (states & 0xe6) == 0xe6) {
        add_avx512_features(t, r7, r7_1, states);
    }
    // "AuthenticAMD", "HygonGenuine"
    if (vendor.ebx == 0x68747541 || vendor.ebx == 0x6f677948) {
        const unsigned base_family = (basic.eax >> 8) & 0xf;
        const unsigned family = base_family + (base_family == 0xf ? (basic.eax >> 20) & 0xff : 0);
        const unsigned model = ((basic.eax >> 4) & 0xf) | ((basic.eax >> 12) & 0xf0);
        t.processor_tune = amd_processor(family, model);
    }
}

#elif defined(__aarch64__) || defined(__arm__)

void add_host_features(Target &t) {
    t.arch = Target::ARM;
#if defined(__aarch64__) && defined(__linux__)
    // Bits of the auxiliary vector, from the kernel's description of HWCAP on arm64.
    const unsigned long capabilities = getauxval(AT_HWCAP);
    constexpr int fphp = 9, asimdhp = 10, asimddp = 20, sve = 22;
    const auto has = [&](int n) { return (capabilities >> n) & 1; };
    t.set_feature(Target::ARMFp16, has(fphp) && has(asimdhp));
    t.set_feature(Target::ARMDotProd, has(asimddp));
    if (has(sve)) {
        t.set_feature(Target::SVE);
        constexpr unsigned long sve2_bit = 1ul << 1;
        t.set_feature(Target::SVE2, (getauxval(AT_HWCAP2) & sve2_bit) != 0);
    }
#endif
}

#elif defined(__riscv)

void add_host_features(Target &t) {
    t.arch = Target::RISCV;
#ifdef __riscv_v
    t.set_feature(Target::RVV);
#endif
}

#elif defined(__powerpc__)

void add_host_features(Target &t) {
    t.arch = Target::POWERPC;
#ifdef __VSX__
    t.set_feature(Target::VSX);
#endif
}

#else

void add_host_features(Target &) {
}

#endif

}  // namespace

Target get_host_target() {
    static const Target host = [] {
        Target t;
        t.os = host_os();
        t.bits = sizeof(void *) * 8;
        add_host_features(t);
        return t;
    }();
    return host;
}

Target get_target_from_environment() {
    const std::string text = get_env_variable("HL_TARGET");
    return text.empty() ? get_host_target() : Target(text);
}

Target get_jit_target_from_environment() {
    const Target host = get_host_target();
    const std::string text = get_env_variable("HL_JIT_TARGET");
    if (text.empty()) {
        return host.with_feature(Target::JIT);
    }
    const Target t(text);
    user_assert(t.os == host.os && t.arch == host.arch && t.bits == host.bits)
        << "HL_JIT_TARGET must match the host OS, architecture, and bit width.\n"
        << "HL_JIT_TARGET was " << text << ". Host is " << host.to_string() << ".\n";
    user_assert(!t.has_feature(Target::NoBoundsQuery))
        << "The Halide JIT requires the use of bounds query, but HL_JIT_TARGET was specified with no_bounds_query: "
        << text << ".\n";
    return t.with_feature(Target::JIT);
}

}  // namespace Halide
