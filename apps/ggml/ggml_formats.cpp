// Every format that blocks.h presents, compiled at run time and compared with the description in plain C++: all values of
// random blocks, bit for bit, and the worked examples of the description.

#include <cstdio>
#include <random>

#include "blocks.h"
#include "reference.h"

using namespace Halide;

namespace {

int failures = 0;

/// Where a format has halves, which must be finite here; and the exponent of mxfp4, which must not overflow.
std::vector<int> halves_of(const std::string &f) {
    if (f == "q4_1" || f == "q5_1" || f == "q8_1" || f == "q4_K" || f == "q5_K") {
        return {0, 2};
    }
    if (f == "q2_K") {
        return {80, 82};
    }
    if (f == "q3_K") {
        return {108};
    }
    if (f == "q6_K") {
        return {208};
    }
    if (f == "tq1_0") {
        return {52};
    }
    if (f == "tq2_0") {
        return {64};
    }
    if (f == "mxfp4" || f == "nvfp4" || f == "q8_K") {
        return {};
    }
    return {0};
}

void compare(const ggml::Format &format, const Buffer<uint8_t> &in, const Buffer<float> &got) {
    for (int b = 0; b < in.dim(1).extent(); b++) {
        for (int i = 0; i < format.values; i++) {
            const float expected = reference::value(format.name, &in(0, b, 0), i), value = got(i, b, 0);
            if (memcmp(&expected, &value, 4) != 0 && failures++ < 20) {
                fprintf(stderr, "%s, block %d, value %d: %g, expected %g\n", format.name, b, i, (double)value,
                        (double)expected);
            }
        }
    }
}

Buffer<float> values(const ggml::Format &format, const Buffer<uint8_t> &in) {
    ggml::Blocks blocks(format.name, "blocks");
    Var i("i");
    Func f("f");
    f(i, blocks.b, blocks.r) = blocks.at(blocks.value, i, blocks.b, blocks.r);
    blocks.bytes.set(in);
    return f.realize({format.values, in.dim(1).extent(), 1});
}

void random_blocks(const ggml::Format &format) {
    Buffer<uint8_t> in(format.bytes, 23, 1);
    std::mt19937 random(format.id);
    for (int b = 0; b < 23; b++) {
        for (int i = 0; i < format.bytes; i++) {
            in(i, b, 0) = (uint8_t)(random() >> 9);
        }
        for (int at : halves_of(format.name)) {
            in(at + 1, b, 0) &= 0xbf;   // the top bit of the exponent: finite and below 2
        }
        if (format.name == std::string("mxfp4")) {
            in(0, b, 0) = b < 4 ? b : in(0, b, 0) % 251;
        }
        if (format.name == std::string("q8_K")) {
            in(3, b, 0) &= 0xbf;
        }
    }
    compare(format, in, values(format, in));
}

struct Example {
    const char *format;
    std::vector<std::pair<int, int>> fields;   ///< byte, value
    int (*filler)(int at);                     ///< other bytes
    std::vector<std::pair<int, double>> expected;
};

const int scale_bytes[] = {0x41, 0x82, 0xc3, 0x04, 0x85, 0xc6, 0x07, 0x48, 0x9a, 0x5b, 0x3c, 0xf1};

void examples() {
    const std::vector<Example> all = {
        {"q4_K", {{0, 0x00}, {1, 0x28}, {2, 0x00}, {3, 0x24}},
         [](int at) { return at < 16 ? scale_bytes[at - 4] : 7 * (at - 16) + 3; },
         {{0, 0.015625}, {33, -0.09375}, {63, 0.71875}, {128, 1.796875}, {200, 20.578125}, {255, -0.265625}}},
        {"q5_K", {{0, 0x00}, {1, 0x28}, {2, 0x00}, {3, 0x24}},
         [](int at) { return at < 16 ? scale_bytes[at - 4] : at < 48 ? 13 * (at - 16) + 5 : 7 * (at - 48) + 3; },
         {{0, 0.515625}, {32, -0.09375}, {64, 1.671875}, {255, 0.234375}}},
        {"q6_K", {{208, 0x00}, {209, 0x20}},
         [](int at) { return at < 128 ? 5 * at + 1 : at < 192 ? 11 * (at - 128) + 9 : 17 * (at - 192) - 100; },
         {{0, 11.71875}, {31, -7.78125}, {32, -0.515625}, {64, 8}, {96, -0.34375}, {128, -4.21875}, {255, -5.5234375}}},
        {"q2_K", {{80, 0x00}, {81, 0x30}, {82, 0x00}, {83, 0x2c}},
         [](int at) { return at < 16 ? 0x13 * at + 0x21 : 3 * (at - 16) + 1; },
         {{0, 0}, {16, 0.3125}, {32, -0.25}, {128, 0.4375}, {255, 3.3125}}},
        {"iq4_xs", {{0, 0x00}, {1, 0x34}, {2, 0xe4}, {3, 0xb1}, {4, 0x10}, {5, 0x32}, {6, 0x7f}, {7, 0xa5}},
         [](int at) { return 7 * (at - 8) + 3; },
         {{0, 520}, {16, 1016}, {32, 243.75}, {255, -25}}},
    };
    for (const Example &e : all) {
        const ggml::Format &format = ggml::format(e.format);
        Buffer<uint8_t> in(format.bytes, 1, 1);
        for (int i = 0; i < format.bytes; i++) {
            in(i, 0, 0) = 0;
        }
        for (int i = 0; i < format.bytes; i++) {
            bool given = false;
            for (const auto &field : e.fields) {
                if (field.first == i) {
                    in(i, 0, 0) = (uint8_t)field.second;
                    given = true;
                }
            }
            if (!given) {
                in(i, 0, 0) = (uint8_t)e.filler(i);
            }
        }
        const Buffer<float> got = values(format, in);
        for (const auto &[i, v] : e.expected) {
            if ((double)got(i, 0, 0) != v) {
                failures++;
                fprintf(stderr, "%s, example, value %d: %g, expected %g\n", e.format, i, (double)got(i, 0, 0), v);
            }
        }
    }
}

}  // namespace

int main() {
    try {
        for (const ggml::Format &format : ggml::formats()) {
            random_blocks(format);
        }
        examples();
    } catch (const Error &e) {
        fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    printf(failures ? "Failed.\n" : "Success!\n");
    return failures != 0;
}
