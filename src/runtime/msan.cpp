// Hooks for the memory sanitizer. The sanitizer's own functions are used if the program is linked with it.
#include "runtime_internal.h"

extern "C" {
__attribute__((weak)) void __msan_unpoison(const volatile void *, size_t);
__attribute__((weak)) void __msan_check_mem_is_initialized(const volatile void *, size_t);
}

namespace {

using Action = int (*)(void *user_context, const void *ptr, uint64_t len, const char *name);

/// Applies an action to the elements of a buffer, in runs of bytes as long as the innermost dimension allows.
int for_each_run(void *uc, const halide_buffer_t *buf, Action action, const char *name, int d, uint8_t *ptr) {
    if (d < 0) {
        return action(uc, ptr, buf->type.bytes(), name);
    }
    const halide_dimension_t &dim = buf->dim[d];
    if (d == 0 && dim.stride == 1) {
        return dim.extent > 0 ? action(uc, ptr, (uint64_t)dim.extent * buf->type.bytes(), name) : 0;
    }
    for (int i = 0; i < dim.extent; i++) {
        const int r = for_each_run(uc, buf, action, name, d - 1, ptr + (ptrdiff_t)i * dim.stride * buf->type.bytes());
        if (r != 0) {
            return r;
        }
    }
    return 0;
}

int annotate(void *uc, const void *ptr, uint64_t len, const char *) {
    return halide_msan_annotate_memory_is_initialized(uc, ptr, len);
}

}  // namespace

extern "C" {

WEAK int halide_msan_annotate_memory_is_initialized(void *user_context, const void *ptr, uint64_t len) {
    if (__msan_unpoison) {
        __msan_unpoison(ptr, (size_t)len);
    }
    return 0;
}

WEAK int halide_msan_check_memory_is_initialized(void *user_context, const void *ptr, uint64_t len, const char *name) {
    if (__msan_check_mem_is_initialized) {
        __msan_check_mem_is_initialized(ptr, (size_t)len);
    }
    return 0;
}

WEAK int halide_msan_annotate_buffer_is_initialized(void *user_context, halide_buffer_t *b) {
    return b && b->host ? for_each_run(user_context, b, annotate, nullptr, b->dimensions - 1, b->host) : 0;
}

WEAK int halide_msan_check_buffer_is_initialized(void *user_context, halide_buffer_t *b, const char *name) {
    if (!b || !b->host) {
        return 0;
    }
    return for_each_run(user_context, b, halide_msan_check_memory_is_initialized, name, b->dimensions - 1, b->host);
}

WEAK void halide_msan_annotate_buffer_is_initialized_as_destructor(void *user_context, void *b) {
    (void)halide_msan_annotate_buffer_is_initialized(user_context, (halide_buffer_t *)b);
}

}  // extern "C"
