#ifndef HALIDE_HALIDERUNTIMED3D12COMPUTE_H
#define HALIDE_HALIDERUNTIMED3D12COMPUTE_H

// Pipelines on Direct3D 12 devices: device buffers and contexts.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_D3D12COMPUTE

extern const struct halide_device_interface_t *halide_d3d12compute_device_interface(void);

extern int halide_d3d12compute_initialize_kernels(void *user_context, void **state_ptr, const char *src, int size);
extern void halide_d3d12compute_finalize_kernels(void *user_context, void *state_ptr);
extern int halide_d3d12compute_run(void *user_context, void *state_ptr, const char *entry_name, int blocksX,
                                   int blocksY, int blocksZ, int threadsX, int threadsY, int threadsZ,
                                   int shared_mem_bytes, uint64_t arg_sizes[], void *args[], int8_t arg_is_buffer[]);

/// Makes an ID3D12Resource the device side of a buffer; the caller keeps owning it.
extern int halide_d3d12compute_wrap_buffer(void *user_context, struct halide_buffer_t *buf, uint64_t d3d12_resource);
extern int halide_d3d12compute_detach_buffer(void *user_context, struct halide_buffer_t *buf);
extern uintptr_t halide_d3d12compute_get_buffer(void *user_context, struct halide_buffer_t *buf);

struct halide_d3d12compute_device;
struct halide_d3d12compute_command_queue;
/// Overridable: the device and queue that pipelines work with.
extern int halide_d3d12compute_acquire_context(void *user_context, struct halide_d3d12compute_device **device_ret,
                                               struct halide_d3d12compute_command_queue **queue_ret, bool create);
extern int halide_d3d12compute_release_context(void *user_context);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMED3D12COMPUTE_H
