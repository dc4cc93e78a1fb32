// The print and error services.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK halide_print_t custom_print = halide_default_print;
WEAK halide_error_handler_t error_handler = halide_default_error;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

extern "C" {

WEAK void halide_default_print(void *user_context, const char *msg) {
    for (size_t left = strlen(msg); left > 0;) {
        const halide_ssize_t n = write(2, msg, left);
        if (n <= 0) {
            return;
        }
        msg += n;
        left -= n;
    }
}

WEAK void halide_print(void *user_context, const char *msg) {
    custom_print(user_context, msg);
}

WEAK halide_print_t halide_set_custom_print(halide_print_t print) {
    return exchange(custom_print, print ? print : halide_default_print);
}

WEAK void halide_default_error(void *user_context, const char *msg) {
    Text t;
    t << "Error: " << msg;
    const size_t n = strlen(msg);
    if (n == 0 || msg[n - 1] != '\n') {
        t << "\n";
    }
    halide_print(user_context, t.str());
    abort();
}

WEAK void halide_error(void *user_context, const char *msg) {
    error_handler(user_context, msg);
}

WEAK halide_error_handler_t halide_set_error_handler(halide_error_handler_t handler) {
    return exchange(error_handler, handler ? handler : halide_default_error);
}

}  // extern "C"
