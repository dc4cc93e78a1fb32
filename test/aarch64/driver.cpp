// Runs pipelines compiled for AArch64 on the cases of a file, and says which results differ. Compiled by the cross compiler and
// linked with the pipelines; `pipelines.inc` is generated beside it.

#include "HalideRuntime.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define PIPELINE(name) extern "C" int name##_argv(void **args);
#include "pipelines.inc"
#undef PIPELINE

namespace {

using Pipeline = int (*)(void **);
#define PIPELINE(name) {#name, name##_argv},
const struct {
    const char *name;
    Pipeline run;
} pipelines[] = {
#include "pipelines.inc"
};
#undef PIPELINE

std::string error_message;

void on_error(void *, const char *message) {
    error_message = message;
}

FILE *file;

template<typename T>
T read() {
    T v;
    if (fread(&v, sizeof(v), 1, file) != 1) {
        fprintf(stderr, "the file of cases ends early\n");
        exit(2);
    }
    return v;
}

/// A buffer whose last element is the last before a page that must not be touched.
struct Array {
    halide_buffer_t buffer{};
    std::vector<halide_dimension_t> shape;
    /// Of the shape in the file, dense.
    std::vector<uint8_t> content;
    uint8_t *memory = nullptr;
    size_t mapped = 0;

    void load() {
        const uint8_t code = read<uint8_t>(), bits = read<uint8_t>();
        const int dimensions = read<int32_t>();
        buffer.type = halide_type_t((halide_type_code_t)code, bits);
        int32_t elements = 1;
        for (int d = 0; d < dimensions; d++) {
            const int32_t min = read<int32_t>(), extent = read<int32_t>();
            shape.emplace_back(min, extent, elements);
            elements *= extent;
        }
        buffer.dim = shape.data();
        buffer.dimensions = dimensions;
        content.resize((size_t)elements * buffer.type.bytes());
        if (!content.empty() && fread(content.data(), 1, content.size(), file) != content.size()) {
            fprintf(stderr, "the file of cases ends early\n");
            exit(2);
        }
    }

    void allocate() {
        const size_t bytes = buffer.size_in_bytes();
        const size_t page = sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page * page;
        mapped = pages + page;
        memory = (uint8_t *)mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory + pages, page, PROT_NONE) != 0) {
            fprintf(stderr, "no memory\n");
            exit(2);
        }
        buffer.host = memory + pages - bytes;
    }

    ~Array() {
        if (memory) {
            munmap(memory, mapped);
        }
    }
};

/// A float's place among all floats of its type, so that neighbours differ by one.
int64_t rank(const uint8_t *p, int bytes, int mantissa_bits, bool &is_nan) {
    uint64_t u = 0;
    memcpy(&u, p, bytes);
    const uint64_t sign = 1ull << (bytes * 8 - 1);
    const uint64_t magnitude = u & (sign - 1), infinity = (sign - 1) >> mantissa_bits << mantissa_bits;
    is_nan = magnitude > infinity;
    return u & sign ? -(int64_t)magnitude : (int64_t)magnitude;
}

bool same(const halide_type_t &t, const uint8_t *a, const uint8_t *b, int ulps) {
    const int bytes = t.bytes();
    if (memcmp(a, b, bytes) == 0) {
        return true;
    }
    if (t.code != halide_type_float && t.code != halide_type_bfloat) {
        return false;
    }
    const int mantissa = t.code == halide_type_bfloat ? 7 : t.bits == 16 ? 10 : t.bits == 32 ? 23 : 52;
    bool a_nan = false, b_nan = false;
    const int64_t x = rank(a, bytes, mantissa, a_nan), y = rank(b, bytes, mantissa, b_nan);
    if (a_nan || b_nan) {
        return a_nan && b_nan;
    }
    return std::llabs(x - y) <= ulps;
}

/// The first element that differs from what is expected, in words; empty if there is none.
std::string difference(const Array &out, const std::vector<halide_dimension_t> &asked, int ulps) {
    const int bytes = out.buffer.type.bytes();
    for (size_t i = 0; i < out.content.size() / bytes; i++) {
        std::vector<int> position;
        size_t rest = i;
        for (const halide_dimension_t &d : asked) {
            position.push_back(d.min + (int)(rest % d.extent));
            rest /= d.extent;
        }
        const uint8_t *got = out.buffer.address_of(position.data()), *want = out.content.data() + i * bytes;
        if (same(out.buffer.type, got, want, ulps)) {
            continue;
        }
        uint64_t g = 0, w = 0;
        memcpy(&g, got, bytes);
        memcpy(&w, want, bytes);
        char text[200];
        snprintf(text, sizeof(text), "element %zu: bits 0x%llx instead of 0x%llx", i, (unsigned long long)g,
                 (unsigned long long)w);
        return text;
    }
    return "";
}

/// Runs one pipeline on its case. Returns what is wrong.
std::string run(Pipeline pipeline) {
    const int inputs = read<int32_t>(), outputs = read<int32_t>(), ulps = read<int32_t>();
    std::vector<Array> arrays(inputs + outputs);
    std::vector<std::vector<halide_dimension_t>> asked;
    std::vector<void *> args;
    for (int i = 0; i < inputs + outputs; i++) {
        Array &a = arrays[i];
        a.load();
        asked.push_back(a.shape);
        if (i < inputs) {
            a.allocate();
            memcpy(a.buffer.host, a.content.data(), a.content.size());
        }
        args.push_back(&a.buffer);
    }
    error_message.clear();
    // The outputs have no memory yet: this asks for the shapes that the schedule needs.
    int code = pipeline(args.data());
    for (int i = inputs; i < inputs + outputs && code == 0; i++) {
        arrays[i].allocate();
        memset(arrays[i].buffer.begin(), 0xa5, arrays[i].buffer.size_in_bytes());
    }
    code = code ? code : pipeline(args.data());
    if (code != 0) {
        return "returns " + std::to_string(code) + ": " + error_message;
    }
    for (int i = inputs; i < inputs + outputs; i++) {
        if (const std::string problem = difference(arrays[i], asked[i], ulps); !problem.empty()) {
            return "output " + std::to_string(i - inputs) + ", " + problem;
        }
    }
    return "";
}

}  // namespace

int main(int argc, char **argv) {
    file = argc > 1 ? fopen(argv[1], "rb") : nullptr;
    if (!file) {
        fprintf(stderr, "usage: driver CASES\n");
        return 2;
    }
    halide_set_error_handler(on_error);
    int failed = 0, passed = 0;
    for (const auto &p : pipelines) {
        // Said before, so that the last line names a pipeline that crashes.
        printf("RUN %s\n", p.name);
        fflush(stdout);
        const std::string problem = run(p.run);
        if (problem.empty()) {
            passed++;
        } else {
            failed++;
            printf("FAIL %s: %s\n", p.name, problem.c_str());
        }
    }
    printf("DONE %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
