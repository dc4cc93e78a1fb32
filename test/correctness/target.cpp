#include "ir/Target.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace Halide;

TEST(Target, StringsRoundTrip) {
    for (const char *s : {
             "x86-64-linux",
             "x86-64-linux-avx-avx2-f16c-fma-sse41",
             "arm-64-android-arm_dot_prod-arm_fp16",
             "arm-32-ios-armv7s-no_neon",
             "wasm-32-wasmrt-wasm_simd128-wasm_threads",
             "riscv-64-linux-rvv-vector_bits_256",
             "x86-64-windows-tune_znver4-avx512_zen4",
             "hexagon-32-qurt-hvx_128-hvx_v66",
             "x86-64-osx-cuda-cuda_capability_61-user_context",
             "x86-64-linux-c_plus_plus_name_mangling-cl_atomics64-cl_half-opencl",
             "x86-64-linux-trace_all-trace_pipeline",
             "x86-64-linux-vk_float16-vk_int8-vk_v13-vulkan",
             "x86-64-linux-d3d12compute-hlsl_sm66",
             "powerpc-64-linux-power_arch_2_07-vsx",
             "x86-64-fuchsia-avx10_1-x86apx-vector_bits_512",
             "arch_unknown-0-os_unknown",
         }) {
        EXPECT_TRUE(Target::validate_target_string(s)) << s;
        EXPECT_EQ(Target(s).to_string(), s);
    }
}

TEST(Target, TokensInAnyOrder) {
    EXPECT_EQ(Target("linux-avx-64-x86-sse41").to_string(), "x86-64-linux-avx-sse41");
    EXPECT_EQ(Target("x86-64-linux-trace_stores-trace_loads-trace_realizations").to_string(),
              "x86-64-linux-trace_all");
    EXPECT_EQ(Target("hexagon-32-qurt-hvx").to_string(), "hexagon-32-qurt-hvx_128");
    EXPECT_EQ(Target(""), get_host_target());
    EXPECT_EQ(Target("host"), get_host_target());
    EXPECT_EQ(Target("host-profile"), get_host_target().with_feature(Target::Profile));
}

TEST(Target, WrongStringsAreRefused) {
    for (const char *s : {
             "x86", "x86-64", "linux", "64", "x86-linux", "x86-64-linux-host", "x86-64-linux-nonsense",
             "x86-64-64-linux", "x86-arm-64-linux", "x86-64-linux-osx", "x86-64-linux-tune_k8-tune_znver1",
             "x86-64-linux-", "x86-64-linux-vector_bits_", "x86-64-linux-vector_bits_x", "arch_unknown-0-os_unknown-avx",
             "arch_unknown-64-os_unknown", "avx", "x86-16-linux",
         }) {
        EXPECT_FALSE(Target::validate_target_string(s)) << s;
        EXPECT_THROW(Target{s}, CompileError) << s;
    }
    try {
        Target t("x86-64-lunix");
        FAIL();
    } catch (const CompileError &e) {
        EXPECT_NE(std::string(e.what()).find("Did not understand Halide target x86-64-lunix"), std::string::npos);
        EXPECT_NE(std::string(e.what()).find("linux"), std::string::npos);
    }
}

TEST(Target, EveryFeatureHasAName) {
    for (int i = 0; i < Target::FeatureEnd; i++) {
        const std::string name = Target::feature_to_name((Target::Feature)i);
        EXPECT_EQ(Target::feature_from_name(name), i) << name;
    }
    EXPECT_EQ(Target::feature_from_name("hvx"), Target::HVX_128);
    EXPECT_EQ(Target::feature_from_name("no_such_feature"), Target::FeatureEnd);
    EXPECT_EQ((int)Target::AVX10_1, (int)halide_target_feature_avx10_1);
}

TEST(Target, Implications) {
    struct Case {
        const char *given, *implied;
    } cases[] = {
        {"x86-64-linux-avx", "x86-64-linux-avx-sse41"},
        {"x86-64-linux-avx2", "x86-64-linux-avx-avx2-f16c-fma-sse41"},
        {"x86-64-linux-avx512_knl", "x86-64-linux-avx-avx2-avx512-avx512_knl-f16c-fma-sse41"},
        {"x86-64-linux-avx512_sapphirerapids",
         "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_sapphirerapids-avx512_skylake-avx512_zen4-avxvnni-f16c-"
         "fma-sse41"},
        {"arm-64-linux-sve2", "arm-64-linux-arm_dot_prod-arm_fp16-armv81a-armv82a-armv8a-sve2"},
        {"arm-64-linux-sve", "arm-64-linux-arm_fp16-armv81a-armv82a-armv8a-sve"},
        {"arm-64-osx", "arm-64-osx-armv81a-armv82a-armv83a-armv84a-armv8a"},
        {"x86-64-linux-trace_loads", "x86-64-linux-trace_loads-trace_realizations"},
        {"x86-64-linux-avx10_1-vector_bits_256",
         "x86-64-linux-avx-avx10_1-avx2-f16c-fma-sse41-vector_bits_256"},
        {"x86-64-linux-profile", "x86-64-linux-profile"},
    };
    for (const Case &c : cases) {
        const Target t(c.given);
        EXPECT_EQ(t.with_implied_features().to_string(), c.implied);
        EXPECT_EQ(t.to_string(), c.given);
        EXPECT_EQ(t.with_implied_features().without_implied_features().to_string(), c.given);
    }
    EXPECT_TRUE(Target("x86-64-linux-avx10_1-vector_bits_512").with_implied_features().has_feature(
        Target::AVX512_SapphireRapids));
}

TEST(Target, CombinationsThatExcludeEachOther) {
    for (const char *s : {
             "arm-64-linux-avx2", "wasm-32-wasmrt-sse41", "x86-64-linux-sve2", "x86-64-linux-arm_dot_prod",
             "x86-64-linux-hlsl_sm60", "arm-64-linux-sme2", "arm-64-linux-sme_svl512",
             "arm-64-linux-sme2-sme_svl128-sme_svl256",
         }) {
        EXPECT_THROW(Target{s}, CompileError) << s;
    }
    EXPECT_NO_THROW(Target("arm-64-linux-sme2-sme_svl512"));
    EXPECT_EQ(Target("arm-64-linux-sme2-sme_svl512").sme_streaming_vector_bits(), 512);
    EXPECT_THROW(Target(Target::Linux, Target::ARM, 64, {Target::AVX}), CompileError);
}

TEST(Target, NaturalVectorSize) {
    struct Case {
        const char *target;
        Type type;
        int lanes;
    } cases[] = {
        {"x86-64-linux", UInt(8), 16},
        {"x86-64-linux-sse41", Float(32), 4},
        {"x86-64-linux-avx", Float(32), 8},
        {"x86-64-linux-avx", Int(32), 4},
        {"x86-64-linux-avx2", Int(32), 8},
        {"x86-64-linux-avx2", UInt(8), 32},
        {"x86-64-linux-avx512", Float(32), 16},
        {"x86-64-linux-avx512", Int(32), 8},
        {"x86-64-linux-avx512_skylake", UInt(8), 64},
        {"x86-64-linux-avx512_zen4", Float(64), 8},
        {"arm-64-linux", UInt(16), 8},
        {"arm-64-linux-sve2-vector_bits_256", UInt(16), 16},
        {"arm-64-linux-sve-vector_bits_256", UInt(16), 8},
        {"arm-64-linux-sve-vector_bits_256", Float(32), 8},
        {"wasm-32-wasmrt", UInt(8), 1},
        {"wasm-32-wasmrt-wasm_simd128", UInt(8), 16},
        {"riscv-64-linux-rvv-vector_bits_128", Int(32), 4},
        {"riscv-64-linux", Int(32), 1},
        {"hexagon-32-qurt-hvx", UInt(8), 128},
        {"powerpc-64-linux", Float(32), 4},
    };
    for (const Case &c : cases) {
        EXPECT_EQ(Target(c.target).natural_vector_size(c.type), c.lanes) << c.target;
    }
    EXPECT_EQ(Target("x86-64-linux-avx2").natural_vector_size<int16_t>(), 16);
    EXPECT_THROW(Target().natural_vector_size(Int(32)), CompileError);
}

TEST(Target, RuntimeCompatibility) {
    struct Case {
        const char *a, *b, *result;
    } cases[] = {
        {"x86-64-linux-avx", "x86-64-linux-sse41", "x86-64-linux-sse41"},
        {"x86-64-linux-avx2-avx-sse41", "x86-64-linux-avx-sse41", "x86-64-linux-avx-sse41"},
        {"x86-64-linux-profile", "x86-64-linux", "x86-64-linux"},
        {"x86-64-linux-cuda", "x86-64-linux-opencl", "x86-64-linux-cuda-opencl"},
        {"x86-64-linux-cuda-cuda_capability_61", "x86-64-linux-cuda-cuda_capability_80",
         "x86-64-linux-cuda-cuda_capability_61"},
        {"x86-64-linux", "x86-64-windows", nullptr},
        {"x86-64-linux", "x86-32-linux", nullptr},
        {"x86-64-linux-asan", "x86-64-linux", nullptr},
        {"x86-64-linux-debug-sse41", "x86-64-linux-debug-sse41", "x86-64-linux-debug-sse41"},
    };
    for (const Case &c : cases) {
        Target result;
        testing::internal::CaptureStderr();
        const bool compatible = Target(c.a).get_runtime_compatible_target(Target(c.b), result);
        const std::string warning = testing::internal::GetCapturedStderr();
        EXPECT_EQ(compatible, c.result != nullptr) << c.a << " " << c.b;
        EXPECT_EQ(warning.empty(), compatible) << warning;
        if (c.result) {
            EXPECT_EQ(result.to_string(), c.result);
        }
    }
}

TEST(Target, Devices) {
    EXPECT_EQ(Target("x86-64-linux-cuda").get_required_device_api(), DeviceAPI::CUDA);
    EXPECT_EQ(Target("x86-64-linux").get_required_device_api(), DeviceAPI::None);
    EXPECT_THROW(Target("x86-64-linux-cuda-opencl").get_required_device_api(), CompileError);
    EXPECT_EQ(Target("x86-64-linux-cuda-cuda_capability_70").get_cuda_capability_lower_bound(), 70);
    EXPECT_EQ(Target("x86-64-linux").get_cuda_capability_lower_bound(), -1);
    EXPECT_FALSE(Target("x86-64-linux-metal").supports_type(Float(64)));
    EXPECT_TRUE(Target("x86-64-linux").supports_type(Float(64)));
    EXPECT_EQ(target_feature_for_device_api(DeviceAPI::Host), Target::FeatureEnd);
    EXPECT_EQ(Target("x86-64-linux-large_buffers").maximum_buffer_size(), INT64_MAX);
    EXPECT_EQ(Target("x86-32-linux-large_buffers").maximum_buffer_size(), INT32_MAX);
}

TEST(Target, Environment) {
    setenv("HL_TARGET", "arm-64-android", 1);
    EXPECT_EQ(get_target_from_environment().to_string(), "arm-64-android");
    unsetenv("HL_TARGET");
    EXPECT_EQ(get_target_from_environment(), get_host_target());
    setenv("HL_JIT_TARGET", "host-debug", 1);
    EXPECT_TRUE(get_jit_target_from_environment().features_all_of({Target::JIT, Target::Debug}));
    setenv("HL_JIT_TARGET", "host-no_bounds_query", 1);
    EXPECT_THROW(get_jit_target_from_environment(), CompileError);
    setenv("HL_JIT_TARGET", "riscv-32-noos", 1);
    EXPECT_THROW(get_jit_target_from_environment(), CompileError);
    unsetenv("HL_JIT_TARGET");
    EXPECT_FALSE(get_host_target().has_unknowns());
}

}  // namespace
