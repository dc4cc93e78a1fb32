// Kernels written as IR text, emitted as PTODSL and executed by tools/ptosim; the interpreter's run of the same statement
// is the judge. Without Python and numpy the kernels are emitted only.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "KernelCases.h"
#include "codegen/pto/CodeGen_PTO.h"
#include "codegen/pto/PTOTypes.h"
#include "interp/Interpreter.h"
#include "ir/IROperator.h"
#include "lower/Pipeline.h"
#include "lower/pto/PTOVectorize.h"
#include "support/Error.h"
#include "support/Float16.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;
using bromide::KernelCase;

double element(const Buffer<> &b, int i) {
    const uint8_t *p = (const uint8_t *)b.data() + (size_t)i * b.type().bytes();
    const Type t = b.type();
    auto as = [&](auto x) {
        memcpy(&x, p, sizeof(x));
        return x;
    };
    if (t.is_bfloat()) {
        return (double)(float)bfloat16_t::make_from_bits(as(uint16_t()));
    }
    if (t.is_float()) {
        return t.bits() == 16 ? (double)(float)float16_t::make_from_bits(as(uint16_t())) : (double)as(float());
    }
    switch (t.bits()) {
    case 8: return t.is_int() ? (double)as(int8_t()) : (double)as(uint8_t());
    case 16: return t.is_int() ? (double)as(int16_t()) : (double)as(uint16_t());
    default: return t.is_int() ? (double)as(int32_t()) : (double)as(uint32_t());
    }
}

void set_element(Buffer<> &b, int i, double v) {
    uint8_t *p = (uint8_t *)b.data() + (size_t)i * b.type().bytes();
    const Type t = b.type();
    auto put = [&](auto x) { memcpy(p, &x, sizeof(x)); };
    if (t.is_bfloat()) {
        put(bfloat16_t((float)v).to_bits());
    } else if (t.is_float() && t.bits() == 16) {
        put(float16_t((float)v).to_bits());
    } else if (t.is_float()) {
        put((float)v);
    } else {
        const int64_t n = (int64_t)v;
        memcpy(p, &n, t.bytes());
    }
}

void fill(Buffer<> &b, const KernelCase::Arg &a, std::mt19937 &random) {
    for (int i = 0; i < a.elements; i++) {
        const Type t = a.type;
        if (a.fill == "index") {
            set_element(b, i, (double)((i * 7 + (int)(random() % 5)) % a.limit));
        } else if (a.fill == "count") {
            set_element(b, i, i % a.limit);
        } else if (a.fill == "positive") {
            set_element(b, i, t.is_float() ? 0.05 + (double)(random() % 4000) / 1000 : (double)(1 + random() % 100));
        } else if (a.fill == "bits") {
            const uint32_t bits = random();
            memcpy((uint8_t *)b.data() + (size_t)i * t.bytes(), &bits, t.bytes());
        } else if (t.is_float()) {
            set_element(b, i, ((double)(random() % 20001) - 10000) / 1024);
        } else {
            const int64_t range = t.bits() == 8 ? 256 : t.bits() == 16 ? 65536 : 2000001;
            set_element(b, i, (double)((int64_t)(random() % range) - (t.is_int() ? range / 2 : 0)));
        }
    }
}

/// The meaning of moves and flags, for whole buffers.
void define_moves(Interpreter &interpreter, const std::vector<Buffer<>> &buffers) {
    for (const bool in : {true, false}) {
        interpreter.set_extern(in ? "pto_mte_gm_ub" : "pto_mte_ub_gm",
                               [=](const std::vector<Interpreter::Argument> &args) {
                                   for (const Buffer<> &b : buffers) {
                                       if ((int64_t)(uintptr_t)b.data() == args[0].i) {
                                           void *gm = (void *)args[0].i, *ub = (void *)args[2].i;
                                           memcpy(in ? ub : gm, in ? gm : ub, (size_t)args[4].i * b.type().bytes());
                                       }
                                   }
                                   return Interpreter::Argument();
                               });
    }
    for (const char *name : {"pto_set_flag", "pto_wait_flag", "pto_mem_bar"}) {
        interpreter.set_extern(name, [](const std::vector<Interpreter::Argument> &) { return Interpreter::Argument(); });
    }
}

struct Prepared {
    KernelCase c;
    std::vector<Buffer<>> expected;
    std::string job;
};

std::string simulator() {
    const char *given = getenv("BROMIDE_PTOSIM");
    return given ? given : BROMIDE_SOURCE_DIR "/tools/ptosim";
}

/// Emits the kernel and its inputs, and computes what it must give.
Prepared prepare(const KernelCase &c, const std::string &folder) {
    Prepared p;
    p.c = c;
    LowerContext ctx;
    const VMIKernel kernel = pto_vectorize(bromide::prepare_kernel(c), ctx);
    const std::string path = folder + "/" + c.name;
    std::ofstream(path + ".pto.py") << emit_ptodsl({kernel});

    std::mt19937 random(1234);
    Interpreter interpreter;
    std::ostringstream job;
    job << "{\"id\": \"" << c.name << "\", \"kernel\": \"" << path << ".pto.py\", \"name\": \"" << c.name
        << "\", \"blocks\": 1, \"report\": true, \"args\": {";
    bool first = true;
    PTONames names;
    names.fresh(c.name);
    for (const KernelCase::Arg &a : c.args) {
        job << (first ? "" : ", ") << "\"" << names.of(a.name) << "\": ";
        first = false;
        if (!a.elements) {
            job << a.value;
            interpreter.set_scalar(a.name, cast(a.type, Expr(a.value)).as<Cast>() ? make_const(a.type, a.value) :
                                                                                    make_const(a.type, a.value));
            continue;
        }
        Buffer<> b(a.type, {a.elements});
        memset(b.data(), 0, (size_t)a.elements * a.type.bytes());
        if (!a.output) {
            fill(b, a, random);
        }
        const std::string file = path + "." + a.name + (a.output ? ".out.bin" : ".bin");
        if (a.output) {
            job << "{\"out\": \"" << file << "\", \"bytes\": " << a.elements * a.type.bytes() << "}";
        } else {
            std::ofstream(file, std::ios::binary).write((const char *)b.data(), a.elements * a.type.bytes());
            job << "{\"file\": \"" << file << "\", \"extent\": [" << a.elements << "]}";
        }
        interpreter.set_buffer(a.name, b);
        p.expected.push_back(b);
    }
    job << "}}";
    p.job = job.str();
    define_moves(interpreter, p.expected);
    EXPECT_EQ(interpreter.run(bromide::kernel_statement(c)), 0) << c.name << ": " << interpreter.error_message();
    return p;
}

void compare(const Prepared &p, const std::string &folder) {
    size_t k = 0;
    for (const KernelCase::Arg &a : p.c.args) {
        if (!a.elements) {
            continue;
        }
        const Buffer<> &want = p.expected[k++];
        if (!a.output) {
            continue;
        }
        std::ifstream file(folder + "/" + p.c.name + "." + a.name + ".out.bin", std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        ASSERT_EQ(bytes.size(), (size_t)a.elements * a.type.bytes()) << p.c.name << "." << a.name;
        Buffer<> got(a.type, {a.elements});
        memcpy(got.data(), bytes.data(), bytes.size());
        double largest = 0;
        for (int i = 0; i < a.elements; i++) {
            largest = std::max(largest, std::fabs(element(want, i)));
        }
        int wrong = 0;
        for (int i = 0; i < a.elements && wrong < 4; i++) {
            const double w = element(want, i), g = element(got, i);
            if (memcmp((const uint8_t *)want.data() + (size_t)i * a.type.bytes(),
                       (const uint8_t *)got.data() + (size_t)i * a.type.bytes(), a.type.bytes()) == 0 ||
                (std::isnan(w) && std::isnan(g))) {
                continue;
            }
            const double unit = a.type.is_float() && !a.type.is_bfloat() && a.type.bits() == 16 ? 0x1p-10 :
                                a.type.is_bfloat()                                               ? 0x1p-7 :
                                                                                                   0x1p-23;
            const double allowed = p.c.ulp * unit * std::fabs(w) * 1.01 + p.c.relative * largest;
            if (!(std::fabs(w - g) <= allowed) || (p.c.ulp == 0 && p.c.relative == 0)) {
                wrong++;
                ADD_FAILURE() << p.c.name << ": " << a.name << "[" << i << "] is " << g << ", must be " << w;
            }
        }
    }
}

TEST(RunKernels, EqualTheInterpreter) {
    const std::string folder = std::string(BROMIDE_BUILD_DIR) + "/pto_kernels";
    std::filesystem::create_directories(folder);
    const char *only = getenv("BROMIDE_PTO_CASE");
    std::vector<Prepared> prepared;
    for (const KernelCase &c : bromide::kernel_cases()) {
        if (only && c.name.find(only) == std::string::npos) {
            continue;
        }
        try {
            prepared.push_back(prepare(c, folder));
        } catch (const Halide::Error &e) {
            ADD_FAILURE() << c.name << ": " << e.what();
        } catch (const std::exception &e) {
            ADD_FAILURE() << c.name << ": " << e.what();
        }
    }
    {
        std::ofstream list(folder + "/jobs.json");
        list << "{\"jobs\": [\n";
        for (size_t i = 0; i < prepared.size(); i++) {
            list << (i ? ",\n" : "") << prepared[i].job;
        }
        list << "\n]}\n";
    }
    if (!std::filesystem::exists(simulator())) {
        GTEST_SKIP() << "no emulator at " << simulator();
    }
    if (system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0) {
        GTEST_SKIP() << "no numpy";
    }
    const std::string results = folder + "/results.txt";
    system((simulator() + " batch " + folder + "/jobs.json > " + results + " 2>&1").c_str());
    std::ifstream file(results);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const Prepared &p : prepared) {
        const size_t at = text.find("\"id\": \"" + p.c.name + "\"");
        ASSERT_NE(at, std::string::npos) << "no result of " << p.c.name << ":\n" << text.substr(0, 2000);
        const size_t end = text.find("\"id\": \"", at + 8);
        const std::string result = text.substr(at, std::min(end == std::string::npos ? text.size() - at : end - at, (size_t)600));
        if (result.find("\"ok\": true") == std::string::npos) {
            ADD_FAILURE() << p.c.name << ": " << result;
            continue;
        }
        compare(p, folder);
    }
}

}  // namespace
