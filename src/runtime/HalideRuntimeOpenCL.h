#ifndef HALIDE_HALIDERUNTIMEOPENCL_H
#define HALIDE_HALIDERUNTIMEOPENCL_H

// Pipelines on OpenCL devices: device buffers, images and contexts.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_OPENCL

extern const struct halide_device_interface_t *halide_opencl_device_interface(void);
/// Buffers stored as two-dimensional images.
extern const struct halide_device_interface_t *halide_opencl_image_device_interface(void);

extern int halide_opencl_initialize_kernels(void *user_context, void **state_ptr, const char *src, int size);
extern void halide_opencl_finalize_kernels(void *user_context, void *state_ptr);
extern int halide_opencl_run(void *user_context, void *state_ptr, const char *entry_name, int blocksX, int blocksY,
                             int blocksZ, int threadsX, int threadsY, int threadsZ, int shared_mem_bytes,
                             uint64_t arg_sizes[], void *args[], int8_t arg_is_buffer[]);

/// Which platform (substring of its name) and kind of device ("cpu", "gpu", "acc") to use.
extern void halide_opencl_set_platform_name(const char *n);
extern const char *halide_opencl_get_platform_name(void *user_context);
extern void halide_opencl_set_device_type(const char *n);
extern const char *halide_opencl_get_device_type(void *user_context);
extern void halide_opencl_set_build_options(const char *n);
extern const char *halide_opencl_get_build_options(void *user_context);

/// Makes a cl_mem the device side of a buffer; the caller keeps owning it.
extern int halide_opencl_wrap_cl_mem(void *user_context, struct halide_buffer_t *buf, uint64_t device_ptr);
extern int halide_opencl_image_wrap_cl_mem(void *user_context, struct halide_buffer_t *buf, uint64_t mem);
extern int halide_opencl_detach_cl_mem(void *user_context, struct halide_buffer_t *buf);
extern uintptr_t halide_opencl_get_cl_mem(void *user_context, struct halide_buffer_t *buf);
/// Bytes from the start of the cl_mem to the buffer.
extern uint64_t halide_opencl_get_crop_offset(void *user_context, struct halide_buffer_t *buf);

struct _cl_context;
struct _cl_command_queue;
/// Overridable: the context and queue that pipelines work in.
extern int halide_opencl_acquire_context(void *user_context, struct _cl_context **ctx, struct _cl_command_queue **queue,
                                         bool create);
extern int halide_opencl_release_context(void *user_context);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEOPENCL_H
