#ifndef HALIDE_HALIDERUNTIMEVULKAN_H
#define HALIDE_HALIDERUNTIMEVULKAN_H

// Pipelines on Vulkan devices: device buffers and contexts.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_VULKAN

extern const struct halide_device_interface_t *halide_vulkan_device_interface(void);

extern int halide_vulkan_initialize_kernels(void *user_context, void **state_ptr, const char *src, int size);
extern void halide_vulkan_finalize_kernels(void *user_context, void *state_ptr);
extern int halide_vulkan_run(void *user_context, void *state_ptr, const char *entry_name, int blocksX, int blocksY,
                             int blocksZ, int threadsX, int threadsY, int threadsZ, int shared_mem_bytes,
                             uint64_t arg_sizes[], void *args[], int8_t arg_is_buffer[]);

/// Colon-separated names of layers, of extensions, and the kind of device to use.
extern void halide_vulkan_set_layer_names(const char *n);
extern const char *halide_vulkan_get_layer_names(void *user_context);
extern void halide_vulkan_set_extension_names(const char *n);
extern const char *halide_vulkan_get_extension_names(void *user_context);
extern void halide_vulkan_set_device_type(const char *n);
extern const char *halide_vulkan_get_device_type(void *user_context);
extern void halide_vulkan_set_build_options(const char *n);
extern const char *halide_vulkan_get_build_options(void *user_context);

/// Makes a VkBuffer the device side of a buffer; the caller keeps owning it.
extern int halide_vulkan_wrap_vk_buffer(void *user_context, struct halide_buffer_t *buf, uint64_t vk_buffer);
extern int halide_vulkan_detach_vk_buffer(void *user_context, struct halide_buffer_t *buf);
extern uintptr_t halide_vulkan_get_vk_buffer(void *user_context, struct halide_buffer_t *buf);
extern uint64_t halide_vulkan_get_crop_offset(void *user_context, struct halide_buffer_t *buf);

struct halide_vulkan_memory_allocator;
struct VkInstance_T;
struct VkDevice_T;
struct VkPhysicalDevice_T;
struct VkQueue_T;
struct VkDebugUtilsMessengerEXT_T;
/// Overridable: the context that pipelines work in.
extern int halide_vulkan_acquire_context(void *user_context, struct halide_vulkan_memory_allocator **allocator,
                                         struct VkInstance_T **instance, struct VkDevice_T **device,
                                         struct VkPhysicalDevice_T **physical_device, struct VkQueue_T **queue,
                                         uint32_t *queue_family_index, struct VkDebugUtilsMessengerEXT_T **messenger,
                                         bool create);
extern int halide_vulkan_release_context(void *user_context, struct VkInstance_T *instance, struct VkDevice_T *device,
                                         struct VkQueue_T *queue, struct VkDebugUtilsMessengerEXT_T *messenger);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEVULKAN_H
