#include "ir/DeviceInterface.h"

#include "ir/IR.h"
#include "ir/IRConstants.h"
#include "ir/IRPrinter.h"

namespace Halide {

using namespace Internal;

namespace {

/// The runtime function that returns the interface of a device API.
const char *interface_function(DeviceAPI api) {
    switch (api) {
    case DeviceAPI::CUDA:
        return "halide_cuda_device_interface";
    case DeviceAPI::OpenCL:
        return "halide_opencl_device_interface";
    case DeviceAPI::Metal:
        return "halide_metal_device_interface";
    case DeviceAPI::D3D12Compute:
        return "halide_d3d12compute_device_interface";
    case DeviceAPI::Vulkan:
        return "halide_vulkan_device_interface";
    case DeviceAPI::WebGPU:
        return "halide_webgpu_device_interface";
    case DeviceAPI::Hexagon:
        return "halide_hexagon_device_interface";
    case DeviceAPI::HexagonDma:
        return "halide_hexagon_dma_device_interface";
    default:
        return nullptr;
    }
}

}  // namespace

const halide_device_interface_t *get_device_interface_for_device_api(DeviceAPI d, const Target &t,
                                                                     const char *error_site) {
    const DeviceAPI api = d == DeviceAPI::Default_GPU ? get_default_device_api_for_target(t) : d;
    if (error_site) {
        // The library has no device runtime of its own: only host memory can be used from the process itself.
        user_error << error_site << ": no runtime for the device API " << api << " is available (target "
                   << t.to_string() << ").\n";
    }
    return nullptr;
}

bool host_supports_target_device(const Target &t) {
    const DeviceAPI api = get_default_device_api_for_target(t);
    return api != DeviceAPI::Host && get_device_interface_for_device_api(api, t) != nullptr;
}

namespace Internal {

Expr make_device_interface_call(DeviceAPI device_api, MemoryType memory_type) {
    if (device_api == DeviceAPI::Host) {
        return make_zero(type_of<const halide_device_interface_t *>());
    }
    const bool texture = memory_type == MemoryType::GPUTexture && device_api == DeviceAPI::OpenCL;
    const char *function = texture ? "halide_opencl_image_device_interface" : interface_function(device_api);
    user_assert(function) << "The device API " << device_api << " has no device memory.\n";
    return Call::make(type_of<const halide_device_interface_t *>(), function, {}, Call::Extern);
}

}  // namespace Internal
}  // namespace Halide
