#include "runtime_internal.h"

namespace {

struct TimeSpec {
    long seconds, nanoseconds;
};

#ifdef __APPLE__
constexpr int clock_monotonic = 6;
#else
constexpr int clock_monotonic = 1;
#endif

}  // namespace

extern "C" {

int clock_gettime(int, TimeSpec *);

WEAK int halide_start_clock(void *user_context) {
    return 0;
}

WEAK int64_t halide_current_time_ns(void *user_context) {
    TimeSpec t;
    clock_gettime(clock_monotonic, &t);
    return (int64_t)t.seconds * 1000000000 + t.nanoseconds;
}

WEAK void halide_sleep_us(void *user_context, int us) {
    usleep((unsigned)us);
}

}  // extern "C"
