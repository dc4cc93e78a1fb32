#pragma once

// Forms that the PTO back end compiles, each as a small program of the public API. A form is built without its schedule and run
// on the CPU; with its schedule it is compiled to kernels, as PTODSL and as `.pto` text, both of which tools/ptosim executes for
// several sizes. All must agree.

#include "Halide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace forms {

using namespace Halide;

inline Var x("x"), y("y"), z("z"), c("c"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), u("u"), v("v");

enum class Fill { Numbers, Small, Positive };

/// One way to build a form, for one size.
struct Form {
    bool scheduled = false;
    int w = 0, h = 0;
    Func f;
    std::map<std::string, Buffer<>> inputs;
    std::vector<int> sizes;
    /// How far floats may be off, as a part of the value (of 1 if it is smaller).
    double tolerance = 0;

    template<typename T>
    ImageParam input(const std::string &name, const std::vector<int> &extents, Fill fill = Fill::Numbers) {
        ImageParam in(type_of<T>(), (int)extents.size(), name);
        Buffer<T> b(extents);
        uint32_t state = (uint32_t)(inputs.size() + 1) * 2654435761u + (uint32_t)extents[0];
        b.for_each_value([&](T &e) {
            state = state * 1664525u + 1013904223u;
            const int n = (int)(state >> 16);
            const bool real = type_of<T>().is_float();
            switch (fill) {
            case Fill::Numbers:
                e = real ? (T)(float)((n % 1000 - 500) / 64.0f) : (T)n;
                break;
            case Fill::Small:
                e = (T)(float)(n % 16 - (type_of<T>().is_uint() ? 0 : 8));
                break;
            case Fill::Positive:
                e = real ? (T)(float)((n % 1000 + 1) / 64.0f) : (T)(n % 100 + 1);
                break;
            }
        });
        in.set(b);
        inputs[name] = b;
        return in;
    }
    template<typename F, typename... Args>
    void output(const F &func, Args... extents) {
        f = func;
        sizes = {extents...};
    }
};

using Make = std::function<void(Form &)>;

struct Size {
    int w, h;
};

inline const std::string &folder() {
    static const std::string path = [] {
        const std::string p = std::string(BROMIDE_BUILD_DIR) + "/pto_forms";
        std::filesystem::create_directories(p);
        return p;
    }();
    return path;
}

struct Run {
    std::string id, out;
    Buffer<> expected;
    double tolerance;
};

/// Runs of one test, executed together.
class Forms {
    std::vector<std::string> jobs;
    std::vector<Run> runs;

    static std::string numbers(const Buffer<> &b) {
        std::ostringstream s;
        s << "[";
        for (int d = 0; d < b.dimensions(); d++) {
            s << (d ? ", " : "") << b.dim(d).extent();
        }
        return s.str() + "]";
    }
    static void write(const std::string &path, const Buffer<> &b) {
        std::ofstream(path, std::ios::binary).write((const char *)b.data(), (std::streamsize)b.size_in_bytes());
    }
    static double number(const Type &t, const uint8_t *p) {
        if (t.is_bfloat()) {
            uint16_t bits;
            memcpy(&bits, p, 2);
            return (double)(float)bfloat16_t::make_from_bits(bits);
        }
        if (t.is_float() && t.bits() == 16) {
            uint16_t bits;
            memcpy(&bits, p, 2);
            return (double)(float)float16_t::make_from_bits(bits);
        }
        if (t.is_float()) {
            float f;
            memcpy(&f, p, 4);
            return f;
        }
        int64_t i = 0;
        memcpy(&i, p, (size_t)t.bytes());
        return (double)(t.is_int() ? (int64_t)((uint64_t)i << (64 - t.bits())) >> (64 - t.bits()) : i);
    }
    static std::string difference(const Buffer<> &expected, const uint8_t *got, double tolerance) {
        const Type t = expected.type();
        const size_t size = (size_t)t.bytes();
        for (size_t i = 0; i < expected.size_in_bytes() / size; i++) {
            const uint8_t *want = (const uint8_t *)expected.data() + i * size, *have = got + i * size;
            const double a = number(t, want), b = number(t, have);
            const bool equal = memcmp(want, have, size) == 0 || (std::isnan(a) && std::isnan(b)) ||
                               (t.is_float() && std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(a)));
            if (!equal) {
                std::ostringstream s;
                s.precision(9);
                s << "element " << i << " is " << b << ", must be " << a;
                return s.str();
            }
        }
        return "";
    }

public:
    /// Compiles the form once, and runs it for these sizes.
    void add(const std::string &name, const Make &make, const std::vector<Size> &sizes = {{300, 5}, {64, 3}, {37, 1}}) {
        SCOPED_TRACE(name);
        const std::string path = folder() + "/" + name;
        std::string output;
        try {
            Form s;
            s.scheduled = true;
            s.w = sizes[0].w;
            s.h = sizes[0].h;
            make(s);
            output = s.f.name();
            const Target target = get_host_target().with_feature(Target::PTO_A5);
            Pipeline p(s.f);
            p.compile_to({{OutputFileType::pto_kernel, path + ".pto.py"},
                          {OutputFileType::pto_assembly, path + ".pto"},
                          {OutputFileType::pto_launch, path + ".launch.json"}},
                         s.f.infer_arguments(), "kernel", target);
            std::ifstream plan(path + ".launch.json");
            std::string text((std::istreambuf_iterator<char>(plan)), std::istreambuf_iterator<char>());
            const size_t at = text.find(".pto.py\"");
            text.replace(at, 8, ".pto\"");
            std::ofstream(path + ".text.launch.json") << text;
        } catch (const Halide::Error &e) {
            ADD_FAILURE() << name << " is refused: " << e.what();
            return;
        }
        int number = 0;
        for (const Size &size : sizes) {
            Form plain, s;
            s.scheduled = true;
            plain.w = s.w = size.w;
            plain.h = s.h = size.h;
            make(plain);
            make(s);
            const Buffer<> expected = plain.f.realize(plain.sizes)[0];
            for (const char *kind : {"", ".text"}) {
                Run r;
                r.id = name + kind + "_" + std::to_string(size.w) + "x" + std::to_string(size.h);
                r.out = folder() + "/" + r.id + ".out.bin";
                r.expected = expected;
                r.tolerance = plain.tolerance;
                std::ostringstream job;
                job << "{\"id\": \"" << r.id << "\", \"launch\": \"" << path << kind << ".launch.json\", \"blocks\": "
                    << 1 + number++ % 3 << ", \"args\": {";
                for (const auto &[input, buffer] : s.inputs) {
                    const std::string file = folder() + "/" + r.id + "." + input + ".bin";
                    write(file, buffer);
                    job << "\"" << input << "\": {\"file\": \"" << file << "\", \"extent\": " << numbers(buffer) << "}, ";
                }
                job << "\"" << output << "\": {\"out\": \"" << r.out << "\", \"extent\": " << numbers(expected) << "}}}";
                jobs.push_back(job.str());
                runs.push_back(r);
            }
        }
    }

    /// The program must be refused with a text that contains all of `words`.
    void refuse(const std::string &name, const Make &make, const std::vector<std::string> &words) {
        SCOPED_TRACE(name);
        Form s;
        s.scheduled = true;
        s.w = 300;
        s.h = 5;
        make(s);
        try {
            s.f.compile_to_pto(folder() + "/" + name, s.f.infer_arguments(), "kernel", get_host_target());
            ADD_FAILURE() << name << " is compiled";
        } catch (const Halide::CompileError &e) {
            for (const std::string &w : words) {
                EXPECT_NE(std::string(e.what()).find(w), std::string::npos) << "no `" << w << "` in: " << e.what();
            }
        }
    }

    /// Executes what was added.
    void execute(const std::string &name) {
        if (runs.empty() || system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0) {
            return;
        }
        const std::string list = folder() + "/" + name + ".jobs.json", results = folder() + "/" + name + ".results.json";
        {
            std::ofstream file(list);
            file << "{\"jobs\": [\n";
            for (size_t i = 0; i < jobs.size(); i++) {
                file << (i ? ",\n" : "") << jobs[i];
            }
            file << "\n]}\n";
        }
        const int status = system((BROMIDE_SOURCE_DIR "/tools/ptosim batch " + list + " > " + results + " 2>&1").c_str());
        (void)status;  // refusals are in the results
        std::ifstream file(results);
        const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        for (const Run &r : runs) {
            const size_t at = text.find("\"id\": \"" + r.id + "\"");
            if (at == std::string::npos) {
                ADD_FAILURE() << "no result of " << r.id << "\n" << text.substr(0, 1000);
                return;
            }
            const std::string result = text.substr(at, std::min<size_t>(text.find("\"id\": \"", at + 8) - at, 700));
            if (result.find("\"ok\": true") == std::string::npos) {
                ADD_FAILURE() << result;
                continue;
            }
            std::ifstream out(r.out, std::ios::binary);
            const std::string bytes((std::istreambuf_iterator<char>(out)), std::istreambuf_iterator<char>());
            ASSERT_EQ(bytes.size(), r.expected.size_in_bytes()) << r.id;
            EXPECT_EQ(difference(r.expected, (const uint8_t *)bytes.data(), r.tolerance), "") << r.id;
        }
    }
};

}  // namespace forms
