#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "ir/Buffer.h"
#include "support/Error.h"

namespace Halide {

/// The buffers that one run of a pipeline filled, one for each value of each output.
class Realization {
    std::vector<Buffer<void>> images;

public:
    size_t size() const { return images.size(); }

    /// @throws CompileError  the index is out of range.
    // @{
    const Buffer<void> &operator[](size_t x) const;
    Buffer<void> &operator[](size_t x);
    // @}

    /// The only buffer. @throws CompileError  there are several.
    template <typename T, int Dims>
    operator Buffer<T, Dims>() const {
        check_single();
        return images[0].as<T, Dims>();
    }

    explicit Realization(const Buffer<void> &e);
    explicit Realization(Buffer<void> &&e);
    explicit Realization(const std::vector<Buffer<void>> &e);
    explicit Realization(std::vector<Buffer<void>> &&e);

    /// Waits until the devices that compute these buffers are done. Returns a non-zero error code on failure.
    int device_sync(void *ctx = nullptr);

private:
    void check_single() const;
};

}  // namespace Halide
