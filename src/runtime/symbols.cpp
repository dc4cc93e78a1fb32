// The services that look up symbols of the process and of shared libraries.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

extern "C" {
void *dlopen(const char *, int);
void *dlsym(void *, const char *);
}

namespace {

#ifdef __APPLE__
void *const default_handle = (void *)-2;
#else
void *const default_handle = nullptr;
#endif
constexpr int rtld_lazy = 1;

}  // namespace

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK halide_get_symbol_t custom_get_symbol = halide_default_get_symbol;
WEAK halide_load_library_t custom_load_library = halide_default_load_library;
WEAK halide_get_library_symbol_t custom_get_library_symbol = halide_default_get_library_symbol;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

extern "C" {

WEAK void *halide_default_get_symbol(const char *name) {
    return dlsym(default_handle, name);
}

WEAK void *halide_default_load_library(const char *name) {
    return dlopen(name, rtld_lazy);
}

WEAK void *halide_default_get_library_symbol(void *lib, const char *name) {
    // In OpenGL and the like, a null library means the process.
    return dlsym(lib ? lib : default_handle, name);
}

WEAK void *halide_get_symbol(const char *name) {
    return custom_get_symbol(name);
}

WEAK void *halide_load_library(const char *name) {
    return custom_load_library(name);
}

WEAK void *halide_get_library_symbol(void *lib, const char *name) {
    return custom_get_library_symbol(lib, name);
}

WEAK halide_get_symbol_t halide_set_custom_get_symbol(halide_get_symbol_t f) {
    return exchange(custom_get_symbol, f ? f : halide_default_get_symbol);
}

WEAK halide_load_library_t halide_set_custom_load_library(halide_load_library_t f) {
    return exchange(custom_load_library, f ? f : halide_default_load_library);
}

WEAK halide_get_library_symbol_t halide_set_custom_get_library_symbol(halide_get_library_symbol_t f) {
    return exchange(custom_get_library_symbol, f ? f : halide_default_get_library_symbol);
}

}  // extern "C"
