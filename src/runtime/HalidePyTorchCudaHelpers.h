#ifndef HALIDE_PYTORCH_CUDA_HELPERS_H
#define HALIDE_PYTORCH_CUDA_HELPERS_H

// Buffers around the device memory of PyTorch tensors.

#include "HalidePyTorchHelpers.h"
#include "HalideRuntimeCuda.h"

#ifdef HALIDE_HAS_PYTORCH

namespace Halide {
namespace PyTorch {

/// What pipelines get as user context: where PyTorch wants them to work.
struct UserContext {
    int device_id;
    CUctx_st **cuda_context;
    CUstream_st **stream;

    UserContext(int id, CUctx_st **ctx, CUstream_st **stream) : device_id(id), cuda_context(ctx), stream(stream) {}
};

/// A buffer on the device memory of a contiguous CUDA tensor.
template <class T>
inline Buffer<T> wrap_cuda(at::Tensor &tensor) {
    check_type<T>(tensor);
    HLPT_CHECK_CUDA(tensor);
    Buffer<T> buffer((T *)nullptr, get_dims(tensor));
    const int err = buffer.device_wrap_native(halide_cuda_device_interface(), (uint64_t)tensor.data_ptr());
    AT_ASSERTM(err == 0, "halide_device_wrap_native failed");
    buffer.set_device_dirty();
    return buffer;
}

}  // namespace PyTorch
}  // namespace Halide

#endif  // HALIDE_HAS_PYTORCH

#endif  // HALIDE_PYTORCH_CUDA_HELPERS_H
