// The texts and codes of errors, and how they reach the program.
#include "runtime/HalideRuntime.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

namespace {

std::string reported;

void record(void *, const char *msg) {
    reported += msg;
}

/// Records errors instead of aborting.
struct Recorder {
    halide_error_handler_t old = halide_set_error_handler(record);
    Recorder() { reported.clear(); }
    ~Recorder() { halide_set_error_handler(old); }
};

constexpr uint32_t u8 = 1 | 8 << 8, f32 = 2 | 32 << 8;

}  // namespace

TEST(RuntimeErrors, TextsAndCodes) {
    Recorder recorder;
    const struct {
        std::function<int()> report;
        int code;
        const char *text;
    } cases[] = {
        {[] { return halide_error_bounds_inference_call_failed(nullptr, "f", -7); }, -7,
         "Bounds query of extern stage f failed with error code -7"},
        {[] { return halide_error_extern_stage_failed(nullptr, "f", -7); }, -7,
         "Extern stage f failed with error code -7"},
        {[] { return halide_error_explicit_bounds_too_small(nullptr, "f", "x", 0, 9, -1, 10); }, -2,
         "Bounds given for x in f (from 0 to 9) do not cover required region (from -1 to 10)"},
        {[] { return halide_error_bad_type(nullptr, "Input buffer in", f32, u8); }, -3,
         "Input buffer in has type uint8 but type of the buffer passed in is float32"},
        {[] { return halide_error_bad_dimensions(nullptr, "Output buffer f", 2, 3); }, -43,
         "Output buffer f requires a buffer of exactly 3 dimensions, but the buffer passed in has 2 dimensions"},
        {[] { return halide_error_access_out_of_bounds(nullptr, "Input buffer in", 1, -1, 5, 0, 9); }, -4,
         "Input buffer in is accessed at -1, which is before the min (0) in dimension 1"},
        {[] { return halide_error_access_out_of_bounds(nullptr, "Input buffer in", 1, 0, 10, 0, 9); }, -4,
         "Input buffer in is accessed at 10, which is beyond the max (9) in dimension 1"},
        {[] { return halide_error_buffer_allocation_too_large(nullptr, "b", 4000000000u, 2147483647); }, -5,
         "Allocation for buffer b takes 4000000000 bytes, which exceeds the maximum size of 2147483647"},
        {[] { return halide_error_buffer_extents_negative(nullptr, "b", 1, -3); }, -28,
         "Extent of buffer b in dimension 1 is negative (-3)"},
        {[] { return halide_error_buffer_extents_too_large(nullptr, "b", 1ll << 40, 2147483647); }, -6,
         "Product of the extents of buffer b is 1099511627776, which exceeds the maximum size of 2147483647"},
        {[] { return halide_error_constraints_make_required_region_smaller(nullptr, "b", 0, 2, 4, 0, 8); }, -7,
         "b is constrained to [2, 5] in dimension 0, which does not cover the region required there: [0, 7]"},
        {[] { return halide_error_constraint_violated(nullptr, "in.stride.0", 3, "1", 1); }, -8,
         "Constraint violated: in.stride.0 (3) == 1 (1)"},
        {[] { return halide_error_param_too_small_i64(nullptr, "p", -3, 0); }, -9,
         "Parameter p is -3 but must be at least 0"},
        {[] { return halide_error_param_too_small_u64(nullptr, "p", 3, ~0ull); }, -9,
         "Parameter p is 3 but must be at least 18446744073709551615"},
        {[] { return halide_error_param_too_small_f64(nullptr, "p", 0.5, 1.0); }, -9,
         "Parameter p is 5.000000e-01 but must be at least 1.000000e+00"},
        {[] { return halide_error_param_too_large_i64(nullptr, "p", INT64_MIN, INT64_MIN); }, -10,
         "Parameter p is -9223372036854775808 but must be at most -9223372036854775808"},
        {[] { return halide_error_param_too_large_u64(nullptr, "p", 4, 3); }, -10,
         "Parameter p is 4 but must be at most 3"},
        {[] { return halide_error_param_too_large_f64(nullptr, "p", 1e300, 1.0); }, -10,
         "Parameter p is 1.000000e+300 but must be at most 1.000000e+00"},
        {[] { return halide_error_out_of_memory(nullptr); }, -11, "Out of memory (halide_malloc returned nullptr)"},
        {[] { return halide_error_buffer_argument_is_null(nullptr, "b"); }, -12, "Buffer argument b is nullptr"},
        {[] { return halide_error_debug_to_file_failed(nullptr, "f", "a.tiff", -1); }, -13,
         "Could not write Func f to file a.tiff: error code -1"},
        {[] { return halide_error_unaligned_host_ptr(nullptr, "in", 64); }, -24,
         "The host pointer of in is not aligned to 64 bytes"},
        {[] { return halide_error_host_is_null(nullptr, "in"); }, -34,
         "The host pointer of in is null, but the pipeline accesses it on the host"},
        {[] { return halide_error_bad_fold(nullptr, "f", "y", "f.s0.y"); }, -25,
         "The folded storage dimension y of f was accessed out of order by loop f.s0.y"},
        {[] { return halide_error_bad_extern_fold(nullptr, "f", 1, 3, 4, 0, 8); }, -35,
         "Dimension 1 of f is folded by 8, but an extern stage needs the region [3, 6] of it, which wraps around the "
         "end of the storage"},
        {[] { return halide_error_bad_extern_fold(nullptr, "f", 1, 6, 4, 0, 8); }, -35,
         "Dimension 1 of f is folded by 8, but an extern stage needs the region [6, 9] of it, which is not inside the "
         "region in storage: [0, 7]"},
        {[] { return halide_error_fold_factor_too_small(nullptr, "f", "y", 4, "f.s0.y", 5); }, -26,
         "The fold factor (4) of dimension y of f is too small to store the required region accessed by loop f.s0.y "
         "(5)"},
        {[] { return halide_error_requirement_failed(nullptr, "(x > 0)", "x is -1"); }, -27,
         "Requirement Failed: ((x > 0)) x is -1"},
        {[] { return halide_error_specialize_fail(nullptr, "why"); }, -31,
         "A schedule branch marked specialize_fail() was reached: why"},
        {[] { return halide_error_no_device_interface(nullptr); }, -19,
         "The buffer has a device allocation but no device interface"},
        {[] { return halide_error_device_interface_no_device(nullptr); }, -36,
         "The buffer has a device interface but no device allocation"},
        {[] { return halide_error_host_and_device_dirty(nullptr); }, -37,
         "The buffer has both the host and the device dirty bit set"},
        {[] { return halide_error_buffer_is_null(nullptr, "halide_copy_to_host"); }, -38,
         "The buffer passed to halide_copy_to_host is nullptr"},
        {[] { return halide_error_device_dirty_with_no_device_support(nullptr, "b"); }, -44,
         "Buffer b is dirty on the device, but this pipeline was compiled without support for devices. Call "
         "copy_to_host() on it first."},
        {[] { return halide_error_storage_bound_too_small(nullptr, "f", "x", 4, 5); }, -45,
         "The explicit storage bound (4) of dimension x of f is too small to store the required region (5)"},
        {[] { return halide_error_device_crop_failed(nullptr); }, -41,
         "The device could not make a crop of the buffer"},
        {[] { return halide_error_split_factor_not_positive(nullptr, "f", "x", "xo", "xi", "p", 0); }, -46,
         "In schedule for f, the factor used to split x into xo and xi is not strictly positive. The expression p "
         "evaluated to 0"},
        {[] { return halide_error_vscale_invalid(nullptr, "f", 2, 4); }, -47,
         "f was compiled for a vscale of 4, but that of this machine is 2. Compile it with vector_bits of this "
         "machine."},
        {[] { return halide_error_streaming_vscale_invalid(nullptr, "f", 2, 4); }, -49,
         "f was compiled for a streaming vscale of 4, but that of this machine is 2. Compile it with vector_bits of "
         "this machine."},
    };
    for (const auto &c : cases) {
        reported.clear();
        EXPECT_EQ(c.report(), c.code) << c.text;
        EXPECT_EQ(reported, c.text);
    }
}

TEST(RuntimeErrors, LongTexts) {
    Recorder recorder;
    const std::string name(10000, 'n');
    EXPECT_EQ(halide_error_buffer_argument_is_null(nullptr, name.c_str()), -12);
    EXPECT_EQ(reported, "Buffer argument " + name + " is nullptr");
}

TEST(RuntimeErrors, DefaultHandlerPrintsAndAborts) {
    EXPECT_DEATH(halide_error(nullptr, "went wrong"), "Error: went wrong\n");
    // It goes through the print service.
    const auto print = [](void *, const char *msg) { fprintf(stderr, "[%s]", msg); };
    EXPECT_DEATH(
        {
            halide_set_custom_print(print);
            halide_error(nullptr, "went wrong");
        },
        "\\[Error: went wrong\n\\]");
}

TEST(RuntimeErrors, SettersReturnThePreviousFunction) {
    const auto mine = [](void *, const char *) {};
    const halide_error_handler_t first = halide_set_error_handler(mine);
    EXPECT_EQ(halide_set_error_handler(first), (halide_error_handler_t)mine);
    const halide_print_t p = halide_set_custom_print(mine);
    EXPECT_EQ(halide_set_custom_print(p), (halide_print_t)mine);
    const halide_malloc_t m = halide_set_custom_malloc([](void *, size_t) -> void * { return nullptr; });
    EXPECT_EQ(halide_malloc(nullptr, 10), nullptr);
    halide_set_custom_malloc(m);
    // Null restores the default.
    halide_set_error_handler(nullptr);
    EXPECT_EQ(halide_set_error_handler(nullptr), halide_default_error);
}

TEST(RuntimeAllocation, AlignedWithReadableSurroundings) {
    const size_t alignment = (size_t)halide_malloc_alignment();
    for (size_t n : {0, 1, 63, 64, 65, 1000, 100000}) {
        uint8_t *p = (uint8_t *)halide_malloc(nullptr, n);
        ASSERT_NE(p, nullptr);
        EXPECT_EQ((uintptr_t)p % alignment, 0u);
        const size_t rounded = (n + alignment - 1) / alignment * alignment;
        volatile int sum = 0;
        for (int i = 1; i <= 8; i++) {
            sum = sum + p[-i] + p[rounded + i - 1];
        }
        memset(p, 1, rounded);
        halide_free(nullptr, p);
    }
    halide_free(nullptr, nullptr);
    EXPECT_EQ(halide_malloc(nullptr, SIZE_MAX - 10), nullptr);
}
