#ifndef HALIDE_HALIDERUNTIMEWEBGPU_H
#define HALIDE_HALIDERUNTIMEWEBGPU_H

// Pipelines on WebGPU devices: device buffers and contexts.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_WEBGPU

extern const struct halide_device_interface_t *halide_webgpu_device_interface(void);

extern int halide_webgpu_initialize_kernels(void *user_context, void **state_ptr, const char *src, int size);
extern void halide_webgpu_finalize_kernels(void *user_context, void *state_ptr);
extern int halide_webgpu_run(void *user_context, void *state_ptr, const char *entry_name, int blocksX, int blocksY,
                             int blocksZ, int threadsX, int threadsY, int threadsZ, int shared_mem_bytes,
                             uint64_t arg_sizes[], void *args[], int8_t arg_is_buffer[]);

struct WGPUInstanceImpl;
struct WGPUAdapterImpl;
struct WGPUDeviceImpl;
struct WGPUBufferImpl;
/// Overridable: the device that pipelines work with.
extern int halide_webgpu_acquire_context(void *user_context, struct WGPUInstanceImpl **instance_ret,
                                         struct WGPUAdapterImpl **adapter_ret, struct WGPUDeviceImpl **device_ret,
                                         struct WGPUBufferImpl **staging_buffer_ret, bool create);
extern int halide_webgpu_release_context(void *user_context);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEWEBGPU_H
