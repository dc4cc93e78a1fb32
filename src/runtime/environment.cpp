#include "runtime_internal.h"

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK int64_t environment_number(const char *name, int64_t missing) {
    const char *s = getenv(name);
    if (!s || *s < '0' || *s > '9') {
        return missing;
    }
    int64_t value = 0;
    for (; *s >= '0' && *s <= '9'; s++) {
        value = value > (INT64_MAX - 9) / 10 ? INT64_MAX / 10 - 1 : value * 10 + (*s - '0');
    }
    return value;
}

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide
