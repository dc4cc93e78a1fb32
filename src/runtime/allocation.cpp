// The allocation service.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK halide_malloc_t custom_malloc = halide_default_malloc;
WEAK halide_free_t custom_free = halide_default_free;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

extern "C" {

WEAK int halide_malloc_alignment(void) {
#if defined(__hexagon__)
    return 128;
#elif defined(__x86_64__) || defined(__i386__) || defined(__LP64__)
    return 64;
#else
    return 32;
#endif
}

// Bytes must be readable on both sides of the block: the pointer that malloc gave is kept in front of it, and the
// padding for alignment behind.
WEAK void *halide_default_malloc(void *user_context, size_t size) {
    const size_t alignment = halide_malloc_alignment();
    const size_t rounded = (size + alignment - 1) & ~(alignment - 1);
    const size_t total = rounded + 2 * alignment;
    if (total < size) {
        return nullptr;
    }
    void *block = malloc(total);
    if (!block) {
        return nullptr;
    }
    void **aligned = (void **)(((uintptr_t)block + sizeof(void *) + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if ((uintptr_t)aligned - (uintptr_t)block < 8) {
        aligned = (void **)((uintptr_t)aligned + alignment);
    }
    aligned[-1] = block;
    return aligned;
}

WEAK void halide_default_free(void *user_context, void *ptr) {
    if (ptr) {
        free(((void **)ptr)[-1]);
    }
}

WEAK void *halide_malloc(void *user_context, size_t size) {
    return custom_malloc(user_context, size);
}

WEAK void halide_free(void *user_context, void *ptr) {
    custom_free(user_context, ptr);
}

WEAK halide_malloc_t halide_set_custom_malloc(halide_malloc_t user_malloc) {
    return exchange(custom_malloc, user_malloc ? user_malloc : halide_default_malloc);
}

WEAK halide_free_t halide_set_custom_free(halide_free_t user_free) {
    return exchange(custom_free, user_free ? user_free : halide_default_free);
}

}  // extern "C"
