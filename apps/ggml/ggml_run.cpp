// Checks the kernels compiled by ggml_compile against the formats' description, and times them, beside ggml's own if it is
// at hand:
//
//     ggml_run --test
//     ggml_run --bench [DIRECTORY]      of libggml-base.so and libggml-cpu-*.so (shared/spec/ggml-quants.md, section 9)
//     ggml_run --bench-swar             the 6-bit scales decoded in words, vectors and scalars, in time and instructions

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <random>

#include "app_run.h"
#include "ggml.aot.h"
#include "instruction_count.h"
#include "reference.h"

using Halide::Runtime::Buffer;

namespace {

using Dot = int (*)(halide_buffer_t *, halide_buffer_t *, halide_buffer_t *);
using Integers = int (*)(halide_buffer_t *, halide_buffer_t *, halide_buffer_t *, halide_buffer_t *);

struct Kernels {
    const char *format;
    int bytes;
    int (*dequantize)(halide_buffer_t *, halide_buffer_t *);
    Integers integers;
    std::vector<std::pair<const char *, Dot>> dots;   // by where the scales are decoded
};

const std::vector<Kernels> all = {
    {"q4_K", 144, dequantize_q4_K, integers_q4_K_q8_K,
     {{"swar", dot_q4_K_q8_K}, {"simd", dot_q4_K_q8_K_simd}, {"scalar", dot_q4_K_q8_K_scalar}, {"across", dot_q4_K_q8_K_across}}},
    {"q5_K", 176, dequantize_q5_K, integers_q5_K_q8_K,
     {{"swar", dot_q5_K_q8_K}, {"simd", dot_q5_K_q8_K_simd}, {"scalar", dot_q5_K_q8_K_scalar}, {"across", dot_q5_K_q8_K_across}}},
    {"q2_K", 84, dequantize_q2_K, integers_q2_K_q8_K, {{"simd", dot_q2_K_q8_K}}},
    {"q3_K", 110, dequantize_q3_K, integers_q3_K_q8_K, {{"simd", dot_q3_K_q8_K}}},
    {"q6_K", 210, dequantize_q6_K, integers_q6_K_q8_K, {{"simd", dot_q6_K_q8_K}}},
};

/// ggml's calling contract of a dot product of one row with one row.
void vec_dot(const Kernels &k, Dot dot, int n, float *s, const void *x, const void *y) {
    const int blocks = n / 256;
    halide_dimension_t wd[] = {{0, k.bytes, 1, 0}, {0, blocks, k.bytes, 0}, {0, 1, blocks * k.bytes, 0}};
    halide_dimension_t ad[] = {{0, 292, 1, 0}, {0, blocks, 292, 0}, {0, 1, blocks * 292, 0}};
    halide_dimension_t rd[] = {{0, 1, 1, 0}, {0, 1, 1, 0}};
    halide_buffer_t w = {}, a = {}, r = {};
    const auto fill = [](halide_buffer_t &b, const void *host, halide_type_t type, int dimensions, halide_dimension_t *dim) {
        b.host = (uint8_t *)host;
        b.type = type;
        b.dimensions = dimensions;
        b.dim = dim;
    };
    fill(w, x, halide_type_of<uint8_t>(), 3, wd);
    fill(a, y, halide_type_of<uint8_t>(), 3, ad);
    fill(r, s, halide_type_of<float>(), 2, rd);
    dot(&w, &a, &r);
}

/// How blocks are filled: at random, or at an edge of what the format can hold.
enum class Fill { Random, Ones, Zeros, Largest, Smallest };

void put_f16(uint8_t *at, std::mt19937 &random, Fill fill) {
    // Finite, both signs, subnormals among them; at the edges the largest and the smallest.
    const int bits = fill == Fill::Largest  ? 0x7bff :
                     fill == Fill::Smallest ? 0x8001 :
                     fill == Fill::Zeros    ? 0 :
                                              (int)(random() % 0x4000) | (int)(random() % 2) << 15;
    at[0] = (uint8_t)bits;
    at[1] = (uint8_t)(bits >> 8);
}

Buffer<uint8_t> weights(const Kernels &k, int blocks, int rows, uint32_t seed, Fill fill) {
    const int bytes = k.bytes;
    int d, dmin;
    reference::places(k.format, &d, &dmin);
    Buffer<uint8_t> w(bytes, blocks, rows);
    std::mt19937 random(seed);
    for (int r = 0; r < rows; r++) {
        for (int b = 0; b < blocks; b++) {
            uint8_t *block = &w(0, b, r);
            for (int i = 0; i < bytes; i++) {
                block[i] = fill == Fill::Random ? (uint8_t)(random() >> 11) : fill == Fill::Zeros ? 0 : 255;
            }
            put_f16(block + d, random, fill);
            if (dmin >= 0) {
                put_f16(block + dmin, random, fill);
            }
        }
    }
    return w;
}

Buffer<uint8_t> activations(int blocks, int rows, uint32_t seed, Fill fill) {
    Buffer<uint8_t> a(292, blocks, rows);
    std::mt19937 random(seed);
    for (int r = 0; r < rows; r++) {
        for (int b = 0; b < blocks; b++) {
            uint8_t *block = &a(0, b, r);
            const float d = (float)((int)(random() % 2001) - 1000) / 4096;
            memcpy(block, &d, 4);
            for (int k = 0; k < 16; k++) {
                int sum = 0;
                for (int i = 0; i < 16; i++) {
                    const int q = fill == Fill::Random  ? (int)(random() % 255) - 127 :
                                  fill == Fill::Largest ? 127 :
                                  fill == Fill::Zeros   ? 0 :
                                                          -127;
                    block[4 + 16 * k + i] = (uint8_t)q;
                    sum += q;
                }
                block[260 + 2 * k] = (uint8_t)sum;
                block[261 + 2 * k] = (uint8_t)(sum >> 8);
            }
        }
    }
    return a;
}

/// The 6-bit scales and minima of q4_K alone.
using Scales = int (*)(halide_buffer_t *, halide_buffer_t *);
const std::vector<std::pair<const char *, Scales>> all_scales = {
    {"swar", scales_q4_K_swar}, {"simd", scales_q4_K_simd}, {"scalar", scales_q4_K_scalar}, {"across", scales_q4_K_across}};

int failures = 0;

void fail(const std::string &what) {
    if (failures++ < 10) {
        fprintf(stderr, "%s\n", what.c_str());
    }
}

void test_dequantize(const Kernels &k, Fill fill) {
    const int blocks = 5, rows = 3;
    Buffer<uint8_t> w = weights(k, blocks, rows, 7, fill);
    Buffer<float> values(256 * blocks, rows);
    if (k.dequantize(w, values)) {
        fail(std::string(k.format) + ": dequantize fails");
    }
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < 256 * blocks; i++) {
            const float expected = reference::value(k.format, &w(0, i / 256, r), i % 256), got = values(i, r);
            if (memcmp(&expected, &got, 4) != 0) {
                fail(std::string(k.format) + " value " + std::to_string(i) + ": " + std::to_string(got) + ", expected " +
                     std::to_string(expected));
            }
        }
    }
}

void test_dot(const Kernels &k, Fill fill_w, Fill fill_a) {
    for (const int blocks : {1, 2, 3, 16}) {
        const int rows = 5, columns = 2;
        Buffer<uint8_t> w = weights(k, blocks, rows, 3 + blocks, fill_w);
        Buffer<uint8_t> a = activations(blocks, columns, 11 + blocks, fill_a);
        Buffer<int32_t> s1(blocks, rows, columns), s2(blocks, rows, columns);
        if (k.integers(w, a, s1, s2)) {
            fail(std::string(k.format) + ": integers fails");
        }
        for (int c = 0; c < columns; c++) {
            for (int r = 0; r < rows; r++) {
                for (int b = 0; b < blocks; b++) {
                    int e1, e2;
                    reference::integers(k.format, &w(0, b, r), &a(0, b, c), &e1, &e2);
                    if (s1(b, r, c) != e1 || s2(b, r, c) != e2) {
                        fail(std::string(k.format) + ": integers " + std::to_string(s1(b, r, c)) + " and " +
                             std::to_string(s2(b, r, c)) + ", expected " + std::to_string(e1) + " and " + std::to_string(e2));
                    }
                }
            }
        }
        for (const auto &[name, dot] : k.dots) {
            Buffer<float> result(rows, columns);
            if (dot(w, a, result)) {
                fail(std::string(k.format) + ": dot fails");
            }
            for (int c = 0; c < columns; c++) {
                for (int r = 0; r < rows; r++) {
                    double terms;
                    const double expected = reference::dot(k.format, blocks, k.bytes, &w(0, 0, r), &a(0, 0, c), &terms);
                    float alone = 0;
                    vec_dot(k, dot, 256 * blocks, &alone, &w(0, 0, r), &a(0, 0, c));
                    for (const float got : {result(r, c), alone}) {
                        if (!(std::fabs((double)got - expected) <= 1e-6 * terms)) {
                            fail(std::string(k.format) + " dot, scales by " + name + ", " + std::to_string(blocks) +
                                 " blocks: " + std::to_string(got) + ", expected " + std::to_string(expected));
                        }
                    }
                }
            }
        }
    }
}

void test_scales(Fill fill) {
    for (const int blocks : {1, 3, 4, 7}) {
        Buffer<uint8_t> w = weights(all[0], blocks, 2, 5 + blocks, fill);
        for (const auto &[name, scales] : all_scales) {
            Buffer<uint8_t> got(8, 2, blocks, 2);
            if (scales(w, got)) {
                fail(std::string("scales by ") + name + " fails");
            }
            got.for_each_element([&](int j, int part, int b, int r) {
                int scale, minimum;
                reference::six_bits(&w(4, b, r), j, &scale, &minimum);
                if (got(j, part, b, r) != (part ? minimum : scale)) {
                    fail(std::string("scales by ") + name + ": " + std::to_string(got(j, part, b, r)) + " at " +
                         std::to_string(j));
                }
            });
        }
    }
}

void test_quantize() {
    const int blocks = 7, rows = 2;
    Buffer<float> x(256 * blocks, rows);
    std::mt19937 random(5);
    for (int r = 0; r < rows; r++) {
        for (int b = 0; b < blocks; b++) {
            for (int i = 0; i < 256; i++) {
                // Any; zeros; two of largest magnitude, the first negative or positive; halves between two codes.
                const float any = ((float)(random() % 200001) - 100000) / 37;
                x(256 * b + i, r) = b == 1 ? 0 : b == 2 ? (i % 50 == 20 ? (i % 100 == 20 ? -9.0f : 9.0f) : 1.0f) :
                                    b == 3   ? (i == 100 ? 254.0f : (float)(i % 255) - 127) / 2 :
                                    b == 4   ? any * 1e-30f :
                                               any;
            }
        }
    }
    Buffer<uint8_t> got(292, blocks, rows);
    if (quantize_q8_K(x, got)) {
        fail("quantize_q8_K fails");
    }
    for (int r = 0; r < rows; r++) {
        for (int b = 0; b < blocks; b++) {
            uint8_t expected[292];
            reference::quantize_q8_K(&x(256 * b, r), expected);
            for (int i = 0; i < 292; i++) {
                if (got(i, b, r) != expected[i]) {
                    fail("quantize_q8_K, block " + std::to_string(b) + ", byte " + std::to_string(i) + ": " +
                         std::to_string(got(i, b, r)) + ", expected " + std::to_string(expected[i]));
                }
            }
        }
    }
}

int test() {
    test_quantize();
    for (const Kernels &k : all) {
        for (const Fill w : {Fill::Random, Fill::Ones, Fill::Zeros, Fill::Largest, Fill::Smallest}) {
            test_dequantize(k, w);
            test_scales(w);
            for (const Fill a : {Fill::Random, Fill::Zeros, Fill::Largest, Fill::Smallest}) {
                test_dot(k, w, a);
            }
        }
    }
    return failures;
}

/// ggml's own library, for the microarchitecture that it scores highest.
struct Peer {
    void *cpu = nullptr;
    std::string name;

    explicit Peer(const std::string &directory) {
        if (directory.empty() || !dlopen((directory + "/libggml-base.so").c_str(), RTLD_NOW | RTLD_GLOBAL)) {
            return;
        }
        int best = 0;
        std::vector<std::string> files;
        for (const auto &entry : std::filesystem::directory_iterator(directory)) {
            files.push_back(entry.path().string());
        }
        std::sort(files.begin(), files.end());
        for (const std::string &file : files) {
            if (file.find("libggml-cpu-") == std::string::npos) {
                continue;
            }
            void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
            auto score = library ? (int (*)())dlsym(library, "ggml_backend_score") : nullptr;
            const int s = score ? score() : 0;
            if (s > best) {
                best = s;
                cpu = library;
                name = std::filesystem::path(file).stem().string();
            }
        }
        if (cpu) {
            ((void (*)())dlsym(cpu, "ggml_cpu_init"))();
        }
    }
    using VecDot = void (*)(int, float *, size_t, const void *, size_t, const void *, size_t, int);
    VecDot vec_dot(const std::string &format) const {
        return cpu ? (VecDot)dlsym(cpu, ("ggml_vec_dot_" + format + "_q8_K").c_str()) : nullptr;
    }
};

double seconds(const std::function<void()> &f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
}

/// Rows of 4096 values, as many as stay in the second-level cache, so that arithmetic is timed and not memory.
void bench(const Kernels &k, const Peer &peer) {
    const int blocks = 16, rows = 64, calls = 16, rounds = 41;
    Buffer<uint8_t> w = weights(k, blocks, rows, 1, Fill::Random), a = activations(blocks, 1, 2, Fill::Random);
    Buffer<float> result(rows, 1);
    const Peer::VecDot theirs = peer.vec_dot(k.format);
    const auto their_dot = [&] {
        for (int i = 0; i < calls; i++) {
            for (int r = 0; r < rows; r++) {
                theirs(256 * blocks, &result(r, 0), 0, &w(0, 0, r), 0, &a(0, 0, 0), 0, 1);
            }
        }
    };
    const double to_ns = 1e9 / ((double)calls * rows * blocks);
    for (const auto &[name, d] : k.dots) {
        const Dot dot = d;
        const auto matrix = [&] {
            for (int i = 0; i < calls; i++) {
                dot(w, a, result);
            }
        };
        const auto single = [&] {
            for (int i = 0; i < calls; i++) {
                for (int r = 0; r < rows; r++) {
                    vec_dot(k, dot, 256 * blocks, &result(r, 0), &w(0, 0, r), &a(0, 0, 0));
                }
            }
        };
        std::vector<double> m, s, t, ratio_m, ratio_s;
        for (int i = 0; i < rounds; i++) {
            m.push_back(seconds(matrix) * to_ns);
            s.push_back(seconds(single) * to_ns);
            if (theirs) {
                t.push_back(seconds(their_dot) * to_ns);
                ratio_m.push_back(m.back() / t.back());
                ratio_s.push_back(s.back() / t.back());
            }
        }
        printf("| %s · q8_K, scales by %s | %.2f | %.2f |", k.format, name, median(m), median(s));
        fflush(stdout);
        if (theirs) {
            printf(" %.2f | %.3f | %.3f |\n", median(t), median(ratio_m), median(ratio_s));
        } else {
            printf(" | | |\n");
        }
    }
}

/// Variants of one computation, in turn in each round; after each name the ratio of its times to those of the first.
struct Variant {
    const char *name;
    std::function<void(int blocks)> run;   ///< so many blocks, at least
};

void compare(const char *what, const std::vector<Variant> &variants, int blocks) {
    const int rounds = 41;
    std::vector<std::vector<double>> times(variants.size()), ratios(variants.size());
    for (int i = 0; i < rounds; i++) {
        for (size_t k = 0; k < variants.size(); k++) {
            times[k].push_back(seconds([&] { variants[k].run(blocks); }) * 1e9 / blocks);
            ratios[k].push_back(times[k].back() / times[0].back());
        }
        if (isatty(2)) {
            fprintf(stderr, "\r%s: round %d of %d ", what, i + 1, rounds);
        }
    }
    if (isatty(2)) {
        fprintf(stderr, "\r%60s\r", "");
    }
    for (size_t k = 0; k < variants.size(); k++) {
        // Whole groups of four, for what works on four blocks at once.
        const long few = count_instructions([&] { variants[k].run(4); });
        const long more = count_instructions([&] { variants[k].run(12); });
        printf("| %s, %s | %.2f | %.3f | ", what, variants[k].name, median(times[k]), median(ratios[k]));
        few > 0 && more > 0 ? printf("%.1f |\n", (double)(more - few) / 8) : printf("|\n");
        fflush(stdout);
    }
}

void bench_swar() {
    printf("| computation, scales by | ns per block | time / swar | instructions per block |\n|---|---|---|---|\n");
    const int blocks = 1024;
    Buffer<uint8_t> w = weights(all[0], blocks, 1, 1, Fill::Random), decoded(8, 2, blocks, 1);
    std::vector<Variant> variants;
    for (const auto &[name, f] : all_scales) {
        const Scales scales = f;
        variants.push_back({name, [&w, &decoded, scales](int n) {
                                Buffer<uint8_t> some = w.cropped(1, 0, n), out = decoded.cropped(2, 0, n);
                                scales(some, out);
                            }});
    }
    compare("q4_K decode alone", variants, blocks);
    for (const Kernels &k : all) {
        if (k.dots.size() == 1) {
            continue;
        }
        Buffer<uint8_t> weights_of_k = weights(k, blocks, 1, 1, Fill::Random), a = activations(blocks, 1, 2, Fill::Random);
        Buffer<float> result(1, 1);
        variants.clear();
        for (const auto &[name, f] : k.dots) {
            const Dot dot = f;
            variants.push_back({name, [&weights_of_k, &a, &result, dot](int n) {
                                    Buffer<uint8_t> some = weights_of_k.cropped(1, 0, n), of_a = a.cropped(1, 0, n);
                                    dot(some, of_a, result);
                                }});
        }
        compare((std::string(k.format) + " · q8_K").c_str(), variants, blocks);
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc >= 2 && std::string(argv[1]) == "--bench-swar") {
        bench_swar();
        return 0;
    }
    if (argc >= 2 && std::string(argv[1]) == "--bench") {
        const Peer peer(argc > 2 ? argv[2] : "");
        printf("ns per block of 256, one thread, rows of 4096 values; peer: %s\n\n"
               "| product | 64 rows per call | a row per call | ggml | 64 rows / ggml | a row / ggml |\n|---|---|---|---|---|---|\n",
               peer.cpu ? peer.name.c_str() : "none");
        for (const Kernels &k : all) {
            bench(k, peer);
        }
        return 0;
    }
    return app_main(argc, argv, test, nullptr);
}
