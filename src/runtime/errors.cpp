// One function per error code: says what happened to which object, and returns the code.
#include "runtime_internal.h"

using Halide::Runtime::Internal::Text;

namespace {

int report(void *user_context, Text &text, int code) {
    halide_error(user_context, text.str());
    return code;
}

template <typename T>
int param_out_of_range(void *uc, const char *name, T val, const char *relation, T limit, int code) {
    Text t;
    t << "Parameter " << name << " is " << val << " but must be at " << relation << " " << limit;
    return report(uc, t, code);
}

int vscale_mismatch(void *uc, const char *func, const char *what, int runtime, int compiletime, int code) {
    Text t;
    t << func << " was compiled for a " << what << " of " << compiletime << ", but that of this machine is " << runtime
      << ". Compile it with vector_bits of this machine.";
    return report(uc, t, code);
}

}  // namespace

extern "C" {

WEAK int halide_error_bounds_inference_call_failed(void *uc, const char *stage, int result) {
    Text t;
    t << "Bounds query of extern stage " << stage << " failed with error code " << result;
    return report(uc, t, result);
}

WEAK int halide_error_extern_stage_failed(void *uc, const char *stage, int result) {
    Text t;
    t << "Extern stage " << stage << " failed with error code " << result;
    return report(uc, t, result);
}

WEAK int halide_error_explicit_bounds_too_small(void *uc, const char *func, const char *var, int min_bound,
                                                int max_bound, int min_required, int max_required) {
    Text t;
    t << "Bounds given for " << var << " in " << func << " (from " << min_bound << " to " << max_bound
      << ") do not cover required region (from " << min_required << " to " << max_required << ")";
    return report(uc, t, halide_error_code_explicit_bounds_too_small);
}

WEAK int halide_error_bad_type(void *uc, const char *func, uint32_t given, uint32_t correct) {
    const halide_type_t given_type((halide_type_code_t)(given & 0xff), (uint8_t)(given >> 8));
    const halide_type_t correct_type((halide_type_code_t)(correct & 0xff), (uint8_t)(correct >> 8));
    Text t;
    t << func << " has type " << correct_type << " but type of the buffer passed in is " << given_type;
    return report(uc, t, halide_error_code_bad_type);
}

WEAK int halide_error_bad_dimensions(void *uc, const char *func, int32_t given, int32_t correct) {
    Text t;
    t << func << " requires a buffer of exactly " << correct << " dimensions, but the buffer passed in has " << given
      << " dimensions";
    return report(uc, t, halide_error_code_bad_dimensions);
}

WEAK int halide_error_access_out_of_bounds(void *uc, const char *func, int dimension, int min_touched, int max_touched,
                                           int min_valid, int max_valid) {
    Text t;
    if (min_touched < min_valid) {
        t << func << " is accessed at " << min_touched << ", which is before the min (" << min_valid
          << ") in dimension " << dimension;
    } else {
        t << func << " is accessed at " << max_touched << ", which is beyond the max (" << max_valid
          << ") in dimension " << dimension;
    }
    return report(uc, t, halide_error_code_access_out_of_bounds);
}

WEAK int halide_error_buffer_allocation_too_large(void *uc, const char *name, uint64_t size, uint64_t max) {
    Text t;
    t << "Allocation for buffer " << name << " takes " << size << " bytes, which exceeds the maximum size of " << max;
    return report(uc, t, halide_error_code_buffer_allocation_too_large);
}

WEAK int halide_error_buffer_extents_negative(void *uc, const char *name, int dimension, int extent) {
    Text t;
    t << "Extent of buffer " << name << " in dimension " << dimension << " is negative (" << extent << ")";
    return report(uc, t, halide_error_code_buffer_extents_negative);
}

WEAK int halide_error_buffer_extents_too_large(void *uc, const char *name, int64_t actual, int64_t max) {
    Text t;
    t << "Product of the extents of buffer " << name << " is " << actual << ", which exceeds the maximum size of "
      << max;
    return report(uc, t, halide_error_code_buffer_extents_too_large);
}

WEAK int halide_error_constraints_make_required_region_smaller(void *uc, const char *name, int dimension,
                                                               int constrained_min, int constrained_extent,
                                                               int required_min, int required_extent) {
    const int64_t required_max = (int64_t)required_min + required_extent - 1;
    const int64_t constrained_max = (int64_t)constrained_min + constrained_extent - 1;
    Text t;
    t << name << " is constrained to [" << constrained_min << ", " << constrained_max << "] in dimension " << dimension
      << ", which does not cover the region required there: [" << required_min << ", " << required_max << "]";
    return report(uc, t, halide_error_code_constraints_make_required_region_smaller);
}

WEAK int halide_error_constraint_violated(void *uc, const char *var, int val, const char *constrained_var,
                                          int constrained_val) {
    Text t;
    t << "Constraint violated: " << var << " (" << val << ") == " << constrained_var << " (" << constrained_val << ")";
    return report(uc, t, halide_error_code_constraint_violated);
}

WEAK int halide_error_param_too_small_i64(void *uc, const char *name, int64_t val, int64_t min_val) {
    return param_out_of_range(uc, name, val, "least", min_val, halide_error_code_param_too_small);
}

WEAK int halide_error_param_too_small_u64(void *uc, const char *name, uint64_t val, uint64_t min_val) {
    return param_out_of_range(uc, name, val, "least", min_val, halide_error_code_param_too_small);
}

WEAK int halide_error_param_too_small_f64(void *uc, const char *name, double val, double min_val) {
    return param_out_of_range(uc, name, val, "least", min_val, halide_error_code_param_too_small);
}

WEAK int halide_error_param_too_large_i64(void *uc, const char *name, int64_t val, int64_t max_val) {
    return param_out_of_range(uc, name, val, "most", max_val, halide_error_code_param_too_large);
}

WEAK int halide_error_param_too_large_u64(void *uc, const char *name, uint64_t val, uint64_t max_val) {
    return param_out_of_range(uc, name, val, "most", max_val, halide_error_code_param_too_large);
}

WEAK int halide_error_param_too_large_f64(void *uc, const char *name, double val, double max_val) {
    return param_out_of_range(uc, name, val, "most", max_val, halide_error_code_param_too_large);
}

WEAK int halide_error_out_of_memory(void *uc) {
    // No allocation here.
    halide_error(uc, "Out of memory (halide_malloc returned nullptr)");
    return halide_error_code_out_of_memory;
}

WEAK int halide_error_buffer_argument_is_null(void *uc, const char *name) {
    Text t;
    t << "Buffer argument " << name << " is nullptr";
    return report(uc, t, halide_error_code_buffer_argument_is_null);
}

WEAK int halide_error_debug_to_file_failed(void *uc, const char *func, const char *filename, int code) {
    Text t;
    t << "Could not write Func " << func << " to file " << filename << ": error code " << code;
    return report(uc, t, halide_error_code_debug_to_file_failed);
}

WEAK int halide_error_unaligned_host_ptr(void *uc, const char *func, int alignment) {
    Text t;
    t << "The host pointer of " << func << " is not aligned to " << alignment << " bytes";
    return report(uc, t, halide_error_code_unaligned_host_ptr);
}

WEAK int halide_error_host_is_null(void *uc, const char *func) {
    Text t;
    t << "The host pointer of " << func << " is null, but the pipeline accesses it on the host";
    return report(uc, t, halide_error_code_host_is_null);
}

WEAK int halide_error_bad_fold(void *uc, const char *func, const char *var, const char *loop) {
    Text t;
    t << "The folded storage dimension " << var << " of " << func << " was accessed out of order by loop " << loop;
    return report(uc, t, halide_error_code_bad_fold);
}

WEAK int halide_error_bad_extern_fold(void *uc, const char *func, int dim, int min, int extent, int valid_min,
                                      int fold_factor) {
    const int64_t max = (int64_t)min + extent - 1;
    const int64_t valid_max = (int64_t)valid_min + fold_factor - 1;
    Text t;
    t << "Dimension " << dim << " of " << func << " is folded by " << fold_factor
      << ", but an extern stage needs the region [" << min << ", " << max << "] of it, which ";
    if (min < valid_min || max > valid_max) {
        t << "is not inside the region in storage: [" << valid_min << ", " << valid_max << "]";
    } else {
        t << "wraps around the end of the storage";
    }
    return report(uc, t, halide_error_code_bad_extern_fold);
}

WEAK int halide_error_fold_factor_too_small(void *uc, const char *func, const char *var, int factor, const char *loop,
                                            int required_extent) {
    Text t;
    t << "The fold factor (" << factor << ") of dimension " << var << " of " << func
      << " is too small to store the required region accessed by loop " << loop << " (" << required_extent << ")";
    return report(uc, t, halide_error_code_fold_factor_too_small);
}

WEAK int halide_error_requirement_failed(void *uc, const char *condition, const char *message) {
    Text t;
    t << "Requirement Failed: (" << condition << ") " << message;
    return report(uc, t, halide_error_code_requirement_failed);
}

WEAK int halide_error_specialize_fail(void *uc, const char *message) {
    Text t;
    t << "A schedule branch marked specialize_fail() was reached: " << message;
    return report(uc, t, halide_error_code_specialize_fail);
}

WEAK int halide_error_no_device_interface(void *uc) {
    halide_error(uc, "The buffer has a device allocation but no device interface");
    return halide_error_code_no_device_interface;
}

WEAK int halide_error_device_interface_no_device(void *uc) {
    halide_error(uc, "The buffer has a device interface but no device allocation");
    return halide_error_code_device_interface_no_device;
}

WEAK int halide_error_host_and_device_dirty(void *uc) {
    halide_error(uc, "The buffer has both the host and the device dirty bit set");
    return halide_error_code_host_and_device_dirty;
}

WEAK int halide_error_buffer_is_null(void *uc, const char *routine) {
    Text t;
    t << "The buffer passed to " << routine << " is nullptr";
    return report(uc, t, halide_error_code_buffer_is_null);
}

WEAK int halide_error_device_dirty_with_no_device_support(void *uc, const char *name) {
    Text t;
    t << "Buffer " << name << " is dirty on the device, but this pipeline was compiled without support for devices. "
      << "Call copy_to_host() on it first.";
    return report(uc, t, halide_error_code_device_dirty_with_no_device_support);
}

WEAK int halide_error_storage_bound_too_small(void *uc, const char *func, const char *var, int provided, int required) {
    Text t;
    t << "The explicit storage bound (" << provided << ") of dimension " << var << " of " << func
      << " is too small to store the required region (" << required << ")";
    return report(uc, t, halide_error_code_storage_bound_too_small);
}

WEAK int halide_error_device_crop_failed(void *uc) {
    halide_error(uc, "The device could not make a crop of the buffer");
    return halide_error_code_device_crop_failed;
}

WEAK int halide_error_split_factor_not_positive(void *uc, const char *func, const char *orig, const char *outer,
                                                const char *inner, const char *factor_str, int factor) {
    Text t;
    t << "In schedule for " << func << ", the factor used to split " << orig << " into " << outer << " and " << inner
      << " is not strictly positive. The expression " << factor_str << " evaluated to " << factor;
    return report(uc, t, halide_error_code_split_factor_not_positive);
}

WEAK int halide_error_vscale_invalid(void *uc, const char *func, int runtime_vscale, int compiletime_vscale) {
    return vscale_mismatch(uc, func, "vscale", runtime_vscale, compiletime_vscale, halide_error_code_vscale_invalid);
}

WEAK int halide_error_streaming_vscale_invalid(void *uc, const char *func, int runtime_vscale, int compiletime_vscale) {
    return vscale_mismatch(uc, func, "streaming vscale", runtime_vscale, compiletime_vscale,
                           halide_error_code_streaming_vscale_invalid);
}

}  // extern "C"
