// Timing of pieces of code.
#ifndef HALIDE_BENCHMARK_H
#define HALIDE_BENCHMARK_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace Halide {
namespace Tools {

/// The clock of the measurements; never goes back.
using BenchmarkClock = std::chrono::steady_clock;

inline BenchmarkClock::time_point benchmark_now() {
    return BenchmarkClock::now();
}

/// Seconds between two times.
inline double benchmark_duration_seconds(BenchmarkClock::time_point start, BenchmarkClock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

/// Runs `op` `iterations` times in each of `samples` samples. @returns seconds per iteration in the best sample.
inline double benchmark(uint64_t samples, uint64_t iterations, const std::function<void()> &op) {
    double best = std::numeric_limits<double>::infinity();
    for (uint64_t i = 0; i < samples; i++) {
        const auto start = benchmark_now();
        for (uint64_t j = 0; j < iterations; j++) {
            op();
        }
        best = std::min(best, benchmark_duration_seconds(start, benchmark_now()));
    }
    return best / (double)iterations;
}

/// When an adaptive measurement is good enough.
struct BenchmarkConfig {
    /// Least time in seconds that the first samples take together.
    double min_time{0.1};
    /// Most time in seconds for everything, unless a single run takes longer.
    double max_time{0.1 * 4};
    /// Most iterations in one sample.
    uint64_t max_iters_per_sample{1000000};
    /// How near the best samples must be to one another: 0.03 is 3 %.
    double accuracy{0.03};
};

struct BenchmarkResult {
    /// Seconds per iteration in the best sample.
    double wall_time;
    /// Samples, and iterations in all of them together.
    uint64_t samples;
    uint64_t iterations;
    /// How much slower than the best the third-best sample was, as a fraction.
    double accuracy;

    operator double() const { return wall_time; }
};

/// Measures `op` until at least three samples took min_time and the best three agree, or max_time is over.
inline BenchmarkResult benchmark(const std::function<void()> &op, const BenchmarkConfig &config = {}) {
    constexpr int wanted = 3;
    BenchmarkResult result{0, 0, 0, 0};

    const double min_time = std::max(10 * 1e-6, config.min_time);
    const double max_time = std::max(min_time, config.max_time);
    const double accuracy = 1.0 + std::min(std::max(0.001, config.accuracy), 0.1);

    // The best `wanted` samples, and one more in which a new one is put.
    double times[wanted + 1] = {0};
    double total_time = 0;
    uint64_t iterations = 1;

    // A sample must be long enough for the clock, and all of them for caches and frequency to settle.
    for (;;) {
        result.samples = 0;
        result.iterations = 0;
        total_time = 0;
        for (int i = 0; i < wanted; i++) {
            times[i] = benchmark(1, iterations, op);
            result.samples++;
            result.iterations += iterations;
            total_time += times[i] * (double)iterations;
        }
        std::sort(times, times + wanted);
        if (total_time >= min_time || iterations >= config.max_iters_per_sample) {
            break;
        }
        // A little more than needed, but not too much if the first runs were not typical.
        const double factor = std::min(std::max(min_time * 1.1 / std::max(total_time, 1e-9), 2.0), 10.0);
        iterations = std::min((uint64_t)((double)iterations * factor) + 1, config.max_iters_per_sample);
    }

    while (times[0] * accuracy < times[wanted - 1] && total_time < max_time) {
        times[wanted] = benchmark(1, iterations, op);
        result.samples++;
        result.iterations += iterations;
        total_time += times[wanted] * (double)iterations;
        std::sort(times, times + wanted + 1);
    }
    result.wall_time = times[0];
    result.accuracy = times[0] > 0 ? times[wanted - 1] / times[0] - 1.0 : 0;
    return result;
}

}  // namespace Tools
}  // namespace Halide

#endif  // HALIDE_BENCHMARK_H
