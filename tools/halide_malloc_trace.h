// Prints each allocation and release of a pipeline, to see what it takes from the heap and when.
#ifndef HALIDE_MALLOC_TRACE_H
#define HALIDE_MALLOC_TRACE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "HalideRuntime.h"

namespace Halide {
namespace Tools {

namespace MallocTraceInternal {

/// As much as the runtime promises on any machine, and room in front for the pointer that malloc gave.
constexpr size_t alignment = 128;

inline void print(const char *what, const void *ptr, size_t size) {
    // One insertion, so that lines of different threads do not mix.
    char line[128];
    if (size) {
        snprintf(line, sizeof(line), "%s(%zu) -> %p to %p\n", what, size, ptr,
                 (const void *)((const char *)ptr + size - 1));
    } else {
        snprintf(line, sizeof(line), "%s(%p)\n", what, ptr);
    }
    std::cerr << line;
}

}  // namespace MallocTraceInternal

/// A halide_malloc that reports what it does to standard error.
inline void *halide_malloc_trace(void *user_context, size_t x) {
    using namespace MallocTraceInternal;
    (void)user_context;
    const size_t rounded = (x + alignment - 1) / alignment * alignment;
    void *const block = malloc(rounded + 2 * alignment);
    if (!block) {
        print("halide_malloc failed", nullptr, 0);
        return nullptr;
    }
    void **const ptr = (void **)(((uintptr_t)block + alignment + sizeof(void *) - 1) / alignment * alignment);
    ptr[-1] = block;
    print("halide_malloc", ptr, x);
    return ptr;
}

/// The halide_free that goes with it.
inline void halide_free_trace(void *user_context, void *ptr) {
    (void)user_context;
    MallocTraceInternal::print("halide_free", ptr, 0);
    if (ptr) {
        free(((void **)ptr)[-1]);
    }
}

/// Reports all allocations of pipelines from now on.
inline void halide_enable_malloc_trace(void) {
    halide_set_custom_malloc(halide_malloc_trace);
    halide_set_custom_free(halide_free_trace);
}

}  // namespace Tools
}  // namespace Halide

#endif  // HALIDE_MALLOC_TRACE_H
