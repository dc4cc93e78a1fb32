#ifndef HALIDE_PYTORCH_HELPERS_H
#define HALIDE_PYTORCH_HELPERS_H

// Buffers around the memory of PyTorch tensors, for wrappers of pipelines as PyTorch operators.

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "HalideBuffer.h"

// Without PyTorch the header is empty, so that it can be included unconditionally.
#if defined(__has_include)
#if __has_include(<torch/extension.h>)
#define HALIDE_HAS_PYTORCH
#endif
#endif

#ifdef HALIDE_HAS_PYTORCH

#include <torch/extension.h>

#define HLPT_CHECK_CONTIGUOUS(x) AT_ASSERTM((x).is_contiguous(), #x " must be contiguous")
#define HLPT_CHECK_CUDA(x) AT_ASSERTM((x).is_cuda(), #x " must be a CUDA tensor")
#define HLPT_CHECK_DEVICE(x, dev)                                                                                      \
    AT_ASSERTM((x).is_cuda() && (x).device() == torch::Device(torch::kCUDA, dev), #x " must be on the given device")

namespace Halide {
namespace PyTorch {

using Halide::Runtime::Buffer;

/// Sizes of a tensor in the order of Halide: innermost first.
inline std::vector<int> get_dims(const at::Tensor tensor) {
    const int ndims = (int)tensor.ndimension();
    std::vector<int> dims(ndims, 0);
    for (int i = 0; i < ndims; i++) {
        dims[i] = (int)tensor.size(ndims - 1 - i);
    }
    return dims;
}

/// Asserts that the elements of a tensor are of type T.
template <typename T>
inline void check_type(at::Tensor &tensor) {
    AT_ASSERTM(tensor.scalar_type() == c10::CppTypeToScalarType<T>::value, "The tensor has another element type");
}

/// A buffer on the memory of a contiguous tensor in host memory.
template <class T>
inline Buffer<T> wrap(at::Tensor &tensor) {
    check_type<T>(tensor);
    return Buffer<T>((T *)tensor.data_ptr(), get_dims(tensor));
}

}  // namespace PyTorch
}  // namespace Halide

#endif  // HALIDE_HAS_PYTORCH

#endif  // HALIDE_PYTORCH_HELPERS_H
