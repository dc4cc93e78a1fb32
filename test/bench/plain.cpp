// Plain C++ loops for the same work, compiled by clang -O3 -march=native: the other peer of tools/bench.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int size = 4096;

void blur_rows(const uint16_t *in, uint16_t *temp, uint16_t *out, int y0, int y1) {
    const int pitch = size + 2;
    for (int y = y0; y < y1 + 2; y++) {
        for (int x = 0; x < size; x++) {
            const uint16_t *p = in + y * pitch + x;
            temp[y * size + x] = (uint16_t)((uint16_t)(p[0] + p[1] + p[2]) / 3);
        }
    }
    for (int y = y0; y < y1; y++) {
        for (int x = 0; x < size; x++) {
            const uint16_t *p = temp + y * size + x;
            out[y * size + x] = (uint16_t)((uint16_t)(p[0] + p[size] + p[2 * size]) / 3);
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    std::vector<uint16_t> in((size_t)(size + 2) * (size + 2)), out((size_t)size * size);
    // Each thread has a temporary of its own: the two rows at the seam are computed twice.
    std::vector<std::vector<uint16_t>> temps(threads, std::vector<uint16_t>((size_t)size * (size + 2)));
    uint32_t random = 1;
    for (uint16_t &v : in) {
        v = (uint16_t)((random = random * 1664525 + 1013904223) >> 18);
    }
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto start = std::chrono::steady_clock::now();
        std::vector<std::thread> pool;
        for (int t = 1; t < threads; t++) {
            pool.emplace_back([&, t]() {
                blur_rows(in.data(), temps[t].data(), out.data(), size * t / threads, size * (t + 1) / threads);
            });
        }
        blur_rows(in.data(), temps[0].data(), out.data(), 0, size / threads);
        for (std::thread &t : pool) {
            t.join();
        }
        printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        fflush(stdout);
    }
    return out[123] == 77 ? 1 : 0;
}
