#ifndef HALIDE_HALIDERUNTIMEMETAL_H
#define HALIDE_HALIDERUNTIMEMETAL_H

// Pipelines on Apple GPUs: device buffers and contexts.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_METAL

extern const struct halide_device_interface_t *halide_metal_device_interface(void);

extern int halide_metal_initialize_kernels(void *user_context, void **state_ptr, const char *src, int size);
extern void halide_metal_finalize_kernels(void *user_context, void *state_ptr);
extern int halide_metal_run(void *user_context, void *state_ptr, const char *entry_name, int blocksX, int blocksY,
                            int blocksZ, int threadsX, int threadsY, int threadsZ, int shared_mem_bytes,
                            uint64_t arg_sizes[], void *args[], int8_t arg_is_buffer[]);

/// Makes an id<MTLBuffer> the device side of a buffer; the caller keeps owning it.
extern int halide_metal_wrap_buffer(void *user_context, struct halide_buffer_t *buf, uint64_t buffer);
extern int halide_metal_detach_buffer(void *user_context, struct halide_buffer_t *buf);
extern uintptr_t halide_metal_get_buffer(void *user_context, struct halide_buffer_t *buf);
extern uint64_t halide_metal_get_crop_offset(void *user_context, struct halide_buffer_t *buf);

struct halide_metal_device;
struct halide_metal_command_queue;
/// Overridable: the device and queue that pipelines work with.
extern int halide_metal_acquire_context(void *user_context, struct halide_metal_device **device_ret,
                                        struct halide_metal_command_queue **queue_ret, bool create);
extern int halide_metal_release_context(void *user_context);
extern int halide_metal_command_buffer_completed_handler(void *user_context, void *command_buffer, char **returned);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEMETAL_H
