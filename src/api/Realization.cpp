#include "api/Realization.h"

namespace Halide {

const Buffer<void> &Realization::operator[](size_t x) const {
    user_assert(x < images.size()) << "Realization access out of bounds: element " << x << " of " << images.size()
                                   << ".\n";
    return images[x];
}

Buffer<void> &Realization::operator[](size_t x) {
    user_assert(x < images.size()) << "Realization access out of bounds: element " << x << " of " << images.size()
                                   << ".\n";
    return images[x];
}

Realization::Realization(const Buffer<void> &e) : images{e} {}

Realization::Realization(Buffer<void> &&e) : images{std::move(e)} {}

Realization::Realization(const std::vector<Buffer<void>> &e) : images(e) {
    user_assert(!e.empty()) << "Realizations must have at least one element.\n";
}

Realization::Realization(std::vector<Buffer<void>> &&e) : images(std::move(e)) {
    user_assert(!images.empty()) << "Realizations must have at least one element.\n";
}

void Realization::check_single() const {
    user_assert(images.size() == 1) << "Can only cast single-element realizations to buffers or images: this one has "
                                    << images.size() << " elements, to be taken one by one with operator[].\n";
}

int Realization::device_sync(void *ctx) {
    for (Buffer<void> &b : images) {
        const int result = b.device_sync(ctx);
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

}  // namespace Halide
