#ifndef HALIDE_HALIDERUNTIMEHEXAGONHOST_H
#define HALIDE_HALIDERUNTIMEHEXAGONHOST_H

// Offloading to Hexagon from the host: device buffers and power.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_HEXAGON

typedef int halide_hexagon_handle_t;

extern const struct halide_device_interface_t *halide_hexagon_device_interface(void);

extern int halide_hexagon_initialize_kernels(void *user_context, void **module_ptr, const uint8_t *code,
                                             uint64_t code_size, const uint8_t *runtime, uint64_t runtime_size);
extern void halide_hexagon_finalize_kernels(void *user_context, void *state_ptr);
extern int halide_hexagon_run(void *user_context, void *module_ptr, const char *name, halide_hexagon_handle_t *function,
                              uint64_t arg_sizes[], void *args[], int arg_flags[]);
extern int halide_hexagon_device_release(void *user_context);

/// Makes an ION allocation, mapped at `ion_buffer`, the device side of a buffer; the caller keeps owning it.
extern int halide_hexagon_wrap_device_handle(void *user_context, struct halide_buffer_t *buf, void *ion_buffer,
                                             uint64_t size);
extern int halide_hexagon_detach_device_handle(void *user_context, struct halide_buffer_t *buf);
extern void *halide_hexagon_get_device_handle(void *user_context, struct halide_buffer_t *buf);
extern uint64_t halide_hexagon_get_device_size(void *user_context, struct halide_buffer_t *buf);

/// Keeps HVX powered across several calls.
extern int halide_hexagon_power_hvx_on(void *user_context);
extern int halide_hexagon_power_hvx_off(void *user_context);
extern void halide_hexagon_power_hvx_off_as_destructor(void *user_context, void *unused);

typedef enum halide_hexagon_power_mode_t {
    halide_hexagon_power_low = 0,
    halide_hexagon_power_nominal = 1,
    halide_hexagon_power_turbo = 2,
    halide_hexagon_power_default = 3,
    halide_hexagon_power_low_plus = 4,
    halide_hexagon_power_low_2 = 5,
    halide_hexagon_power_nominal_plus = 6,
    halide_hexagon_power_invalid = -1
} halide_hexagon_power_mode_t;
extern int halide_hexagon_set_performance_mode(void *user_context, halide_hexagon_power_mode_t mode);
extern int halide_hexagon_set_thread_priority(void *user_context, int priority);
extern int halide_hexagon_remote_load_library(const char *soname, int sonameLen, const unsigned char *code, int codeLen,
                                              halide_hexagon_handle_t *module_ptr);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEHEXAGONHOST_H
