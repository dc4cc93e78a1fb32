#ifndef HALIDE_HALIDERUNTIMEQURT_H
#define HALIDE_HALIDERUNTIMEQURT_H

// Hexagon code under the QuRT operating system: the vector unit.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_QURT

/// QuRT code runs in the memory of the host interface.
extern const struct halide_device_interface_t *halide_qurt_device_interface(void);

/// Locks the vector unit for the calling thread; `size` is the vector size in bytes.
extern int halide_qurt_hvx_lock(void *user_context, int size);
extern int halide_qurt_hvx_unlock(void *user_context);
extern void halide_qurt_hvx_unlock_as_destructor(void *user_context, void *unused);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEQURT_H
