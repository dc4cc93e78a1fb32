#ifndef HALIDE_HALIDERUNTIMECUDA_H
#define HALIDE_HALIDERUNTIMECUDA_H

// Pipelines on NVIDIA GPUs: device buffers and contexts.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_CUDA

extern const struct halide_device_interface_t *halide_cuda_device_interface(void);

/// Loads compiled kernels; called by compiled code.
extern int halide_cuda_initialize_kernels(void *user_context, void **state_ptr, const char *ptx_src, int size);
extern void halide_cuda_finalize_kernels(void *user_context, void *state_ptr);
/// Launches one kernel; called by compiled code.
extern int halide_cuda_run(void *user_context, void *state_ptr, const char *entry_name, int blocksX, int blocksY,
                           int blocksZ, int threadsX, int threadsY, int threadsZ, int shared_mem_bytes,
                           uint64_t arg_sizes[], void *args[], int8_t arg_is_buffer[]);

/// Makes a CUdeviceptr the device side of a buffer; the caller keeps owning it.
extern int halide_cuda_wrap_device_ptr(void *user_context, struct halide_buffer_t *buf, uint64_t device_ptr);
extern int halide_cuda_detach_device_ptr(void *user_context, struct halide_buffer_t *buf);
extern uintptr_t halide_cuda_get_device_ptr(void *user_context, struct halide_buffer_t *buf);
/// Frees device memory that is kept for reuse.
extern int halide_cuda_release_unused_device_allocations(void *user_context);

struct CUctx_st;
struct CUstream_st;
/// Overridable: the context and stream that pipelines work in.
extern int halide_cuda_acquire_context(void *user_context, struct CUctx_st **ctx, bool create);
extern int halide_cuda_release_context(void *user_context);
extern int halide_cuda_get_stream(void *user_context, struct CUctx_st *ctx, struct CUstream_st **stream);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMECUDA_H
