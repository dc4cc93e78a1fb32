// What a target says of devices.

#include "ir/Target.h"

#include <algorithm>

#include "ir/DeviceInterface.h"
#include "support/Error.h"

namespace Halide {

using namespace Internal;

namespace {

struct DeviceFeature {
    DeviceAPI api;
    Target::Feature feature;
    bool is_gpu;
};

constexpr DeviceFeature device_features[] = {
    {DeviceAPI::Metal, Target::Metal, true},
    {DeviceAPI::CUDA, Target::CUDA, true},
    {DeviceAPI::OpenCL, Target::OpenCL, true},
    {DeviceAPI::D3D12Compute, Target::D3D12Compute, true},
    {DeviceAPI::Vulkan, Target::Vulkan, true},
    {DeviceAPI::WebGPU, Target::WebGPU, true},
    {DeviceAPI::Hexagon, Target::HVX, false},
    {DeviceAPI::HexagonDma, Target::HexagonDma, false},
    {DeviceAPI::SMEStreaming, Target::SME2, false},
};

}  // namespace

bool Target::has_gpu_feature() const {
    return std::any_of(std::begin(device_features), std::end(device_features),
                       [this](const DeviceFeature &d) { return d.is_gpu && has_feature(d.feature); });
}

Target::Feature target_feature_for_device_api(DeviceAPI api) {
    for (const DeviceFeature &d : device_features) {
        if (d.api == api) {
            return d.feature;
        }
    }
    return Target::FeatureEnd;
}

bool Target::supports_device_api(DeviceAPI api) const {
    switch (api) {
    case DeviceAPI::None:
    case DeviceAPI::Host:
    case DeviceAPI::PTO:
        return true;
    case DeviceAPI::Default_GPU:
        return has_gpu_feature();
    case DeviceAPI::Hexagon:
        return has_feature(HVX);
    default:
        return has_feature(target_feature_for_device_api(api));
    }
}

DeviceAPI Target::get_required_device_api() const {
    DeviceAPI found = DeviceAPI::None;
    for (const DeviceFeature &d : device_features) {
        if (d.is_gpu && has_feature(d.feature)) {
            user_assert(found == DeviceAPI::None)
                << "The target " << to_string() << " enables more than one device API, so none can be chosen.\n";
            found = d.api;
        }
    }
    return found;
}

DeviceAPI get_default_device_api_for_target(const Target &t) {
    for (const DeviceFeature &d : device_features) {
        if (d.is_gpu && t.has_feature(d.feature)) {
            return d.api;
        }
    }
    return DeviceAPI::Host;
}

bool Target::supports_type(const Type &t, DeviceAPI device) const {
    if (t.is_handle()) {
        return true;
    }
    const bool wide_float = t.is_float() && t.bits() == 64;
    const bool half_float = t.is_float() && t.bits() == 16;
    const bool wide_int = !t.is_float() && t.bits() == 64;
    switch (device == DeviceAPI::Default_GPU ? get_default_device_api_for_target(*this) : device) {
    case DeviceAPI::Metal:
        return !wide_float && !wide_int;
    case DeviceAPI::OpenCL:
        return (!wide_float || has_feature(CLDoubles)) && (!half_float || has_feature(CLHalf));
    case DeviceAPI::D3D12Compute:
        return t.bits() < 64;
    case DeviceAPI::Vulkan:
        return (!wide_float || has_feature(VulkanFloat64)) && (!half_float || has_feature(VulkanFloat16)) &&
               (!wide_int || has_feature(VulkanInt64)) &&
               (t.is_float() || t.bits() != 8 || has_feature(VulkanInt8)) &&
               (t.is_float() || t.bits() != 16 || has_feature(VulkanInt16));
    case DeviceAPI::WebGPU:
        return t.bits() < 64 && !half_float;
    case DeviceAPI::Hexagon:
        return !wide_float;
    case DeviceAPI::PTO:
        return t.bits() < 64;
    default:
        return true;
    }
}

bool Target::supports_type(const Type &t) const {
    return std::all_of(std::begin(device_features), std::end(device_features), [&](const DeviceFeature &d) {
        return !d.is_gpu || !has_feature(d.feature) || supports_type(t, d.api);
    });
}

}  // namespace Halide
