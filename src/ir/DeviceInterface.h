#pragma once

#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/Target.h"
#include "runtime/HalideRuntime.h"

namespace Halide {

/// The runtime's interface of a device API, for use by the process itself.
/// @param error_site  who asks, for the message; null: no message.
/// @returns null if the API is not available here.
const halide_device_interface_t *get_device_interface_for_device_api(DeviceAPI d,
                                                                     const Target &t = get_jit_target_from_environment(),
                                                                     const char *error_site = nullptr);

/// The device API that `Default_GPU` stands for on a target.
DeviceAPI get_default_device_api_for_target(const Target &t);

namespace Internal {

/// The device interface as an expression in lowered code.
Expr make_device_interface_call(DeviceAPI device_api, MemoryType memory_type = MemoryType::Auto);

}  // namespace Internal
}  // namespace Halide
