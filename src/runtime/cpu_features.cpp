// Which optional instruction sets this machine has, and whether code compiled for given features can run here.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK halide_can_use_target_features_t custom_can_use_target_features = halide_default_can_use_target_features;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

#if defined(__linux__) && !defined(__x86_64__) && !defined(__i386__)
extern "C" unsigned long getauxval(unsigned long);
#endif

namespace {

constexpr int words = (halide_target_feature_end + 63) / 64;

/// A set of features.
struct Features {
    uint64_t word[words] = {};
    void add(int f) { word[f / 64] |= 1ull << (f % 64); }
    void add_if(bool condition, int f) {
        if (condition) {
            add(f);
        }
    }
};

/// Features that say something about the processor; all others can be used anywhere.
Features features_of_processors() {
    Features f;
    static const uint8_t ranges[][2] = {
        {halide_target_feature_sse41, halide_target_feature_f16c},
        {halide_target_feature_armv7s, halide_target_feature_armv7s},
        {halide_target_feature_vsx, halide_target_feature_power_arch_2_07},
        {halide_target_feature_hvx_128, halide_target_feature_hvx_v62},
        {halide_target_feature_avx512, halide_target_feature_avx512_sapphirerapids},
        {halide_target_feature_hvx_v65, halide_target_feature_hvx_v68},
        {halide_target_feature_wasm_simd128, halide_target_feature_wasm_bulk_memory},
        {halide_target_feature_sve, halide_target_feature_sme_svl2048},
        {halide_target_feature_arm_dot_prod, halide_target_feature_arm_fp16},
        {halide_target_feature_rvv, halide_target_feature_armv89a},
        {halide_target_feature_avx10_1, halide_target_feature_x86_apx},
    };
    for (const auto &r : ranges) {
        for (int i = r[0]; i <= r[1]; i++) {
            f.add(i);
        }
    }
    return f;
}

#if defined(__x86_64__) || defined(__i386__)

struct Registers {
    uint32_t a, b, c, d;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
    Registers r;
#if defined(__i386__)
    // ebx may hold the address of the global offset table.
    __asm__ __volatile__("xchgl %%ebx, %1\n\tcpuid\n\txchgl %%ebx, %1"
                         : "=a"(r.a), "=&r"(r.b), "=c"(r.c), "=d"(r.d)
                         : "0"(leaf), "2"(subleaf));
#else
    __asm__ __volatile__("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "0"(leaf), "2"(subleaf));
#endif
    return r;
}

/// State that the operating system saves for each thread.
uint64_t saved_state() {
    uint32_t low, high;
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
    return low | ((uint64_t)high << 32);
}

bool all(uint32_t reg, uint32_t mask) {
    return (reg & mask) == mask;
}

constexpr uint32_t bit(int i) {
    return 1u << i;
}

Features features_here() {
    Features f;
    const uint32_t max_leaf = cpuid(0).a;
    const Registers one = cpuid(1);
    const Registers none = {0, 0, 0, 0};
    const Registers seven = max_leaf >= 7 ? cpuid(7) : none;
    const Registers seven_one = max_leaf >= 7 && seven.a >= 1 ? cpuid(7, 1) : none;
    const Registers extended = cpuid(0x80000000u).a >= 0x80000001u ? cpuid(0x80000001u) : none;
    const uint64_t state = all(one.c, bit(27)) ? saved_state() : 0;

    f.add_if(all(one.c, bit(19)), halide_target_feature_sse41);
    if ((state & 0x6) != 0x6 || !all(one.c, bit(28))) {
        return f;
    }
    f.add(halide_target_feature_avx);
    f.add_if(all(one.c, bit(12)), halide_target_feature_fma);
    f.add_if(all(one.c, bit(29)), halide_target_feature_f16c);
    f.add_if(all(extended.c, bit(16)), halide_target_feature_fma4);
    f.add_if(all(seven.b, bit(5)), halide_target_feature_avx2);
    const bool avx_vnni = all(seven.b, bit(5)) && all(seven_one.a, bit(4));
    f.add_if(avx_vnni, halide_target_feature_avxvnni);
    f.add_if(all(seven_one.d, bit(21)) && (state & bit(19)), halide_target_feature_x86_apx);

    // Opmask, upper halves, upper registers.
    constexpr uint64_t avx512_state = 0xe0;
    const bool foundation = all(seven.b, bit(16) | bit(28)) && (state & avx512_state) == avx512_state;
    if (!foundation) {
        return f;
    }
    f.add(halide_target_feature_avx512);
    f.add_if(all(seven.b, bit(26) | bit(27)), halide_target_feature_avx512_knl);
    f.add_if(all(seven_one.d, bit(19)), halide_target_feature_avx10_1);
    const bool skylake = all(seven.b, bit(17) | bit(30) | bit(31));
    const bool cannonlake = skylake && all(seven.b, bit(21)) && all(seven.c, bit(1));
    const bool zen4 = cannonlake && all(seven.c, bit(6) | bit(11) | bit(12) | bit(14)) && all(seven_one.a, bit(5));
    f.add_if(skylake, halide_target_feature_avx512_skylake);
    f.add_if(cannonlake, halide_target_feature_avx512_cannonlake);
    f.add_if(zen4, halide_target_feature_avx512_zen4);
    f.add_if(zen4 && avx_vnni, halide_target_feature_avx512_zen5);
    f.add_if(zen4 && avx_vnni && all(seven.d, bit(23)), halide_target_feature_avx512_sapphirerapids);
    return f;
}

#elif defined(__aarch64__) && defined(__linux__)

Features features_here() {
    const unsigned long caps = getauxval(16), caps2 = getauxval(26);
    const auto has = [&](int i) { return ((caps >> i) & 1) != 0; };
    const auto has2 = [&](int i) { return ((caps2 >> i) & 1) != 0; };
    Features f;
    f.add(halide_target_feature_armv8a);
    f.add_if(has(20), halide_target_feature_arm_dot_prod);
    f.add_if(has(9) && has(10), halide_target_feature_arm_fp16);
    f.add_if(has(22), halide_target_feature_sve);
    f.add_if(has2(1), halide_target_feature_sve2);
    f.add_if(has2(37), halide_target_feature_sme2);
    // Each version of the architecture by instructions that it made mandatory; a version includes the ones before.
    const bool versions[] = {
        has(8) && has(12),              // 8.1: atomics, rounding doubling multiply-accumulate
        has(16),                        // 8.2: clean to persistence
        has(13) && has(14) && has(15),  // 8.3: JavaScript conversion, complex numbers, weaker acquire
        has(20) && has(25) && has(27),  // 8.4: dot product, unaligned atomics, flag manipulation
        has2(7) && has2(8),             // 8.5: more flag manipulation, rounding to integers
        has2(13) && has2(14),           // 8.6: matrix multiply of int8, bfloat16
        has2(31),                       // 8.7: waiting with timeout
        has2(43),                       // 8.8: memory copies
        has2(34),                       // 8.9: scalar minimum, maximum, counting
    };
    for (int i = 0; i < 9 && versions[i]; i++) {
        f.add(halide_target_feature_armv81a + i);
    }
    return f;
}

#elif defined(__riscv) && defined(__linux__)

Features features_here() {
    Features f;
    f.add_if((getauxval(16) >> ('v' - 'a')) & 1, halide_target_feature_rvv);
    return f;
}

#else

// What the compiler was told is all that is known.
Features features_here() {
    Features f;
#ifdef __wasm_simd128__
    f.add(halide_target_feature_wasm_simd128);
#endif
#ifdef __VSX__
    f.add(halide_target_feature_vsx);
#endif
    return f;
}

#endif

}  // namespace

extern "C" {

WEAK int halide_default_can_use_target_features(int count, const uint64_t *features) {
    if (count != words) {
        halide_error(nullptr,
                     "halide_can_use_target_features: the code was compiled for another version of the runtime");
        return halide_can_use_target_never;
    }
    const Features matter = features_of_processors(), here = features_here();
    for (int i = 0; i < words; i++) {
        if (features[i] & matter.word[i] & ~here.word[i]) {
            return halide_can_use_target_never;
        }
    }
    return halide_can_use_target_always;
}

WEAK int halide_can_use_target_features(int count, const uint64_t *features) {
    return custom_can_use_target_features(count, features);
}

WEAK halide_can_use_target_features_t
halide_set_custom_can_use_target_features(halide_can_use_target_features_t can_use) {
    return exchange(custom_can_use_target_features, can_use ? can_use : halide_default_can_use_target_features);
}

}  // extern "C"
