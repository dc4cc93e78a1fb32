#include "Suite.h"

#include "codegen/pto/CodeGen_PTO.h"
#include "codegen/pto/PTOOutputs.h"
#include "func/Environment.h"
#include "func/PTOProgram.h"
#include "interp/Interpreter.h"
#include "ir/IRMutator.h"
#include "ir/IRPrinter.h"
#include "lower/Pipeline.h"
#include "support/Error.h"
#include "support/Float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <sstream>

namespace bromide {

using namespace Halide::Internal;

namespace {

// ---- Data

uint64_t random_bits(std::mt19937 &random) {
    return ((uint64_t)random() << 32) | random();
}

/// The bits of a number in a type of at most 32 bits.
uint32_t encode(const Type &t, double v) {
    if (t.is_bfloat()) {
        return bfloat16_t((float)v).to_bits();
    }
    if (t.is_float() && t.bits() == 16) {
        return float16_t((float)v).to_bits();
    }
    if (t.is_float()) {
        const float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return bits;
    }
    return (uint32_t)(int64_t)v;
}

bool is_finite(const Type &t, uint32_t bits) {
    if (!t.is_float()) {
        return true;
    }
    const uint32_t exponent = t.is_bfloat() ? 0x7f80 : t.bits() == 16 ? 0x7c00 : 0x7f800000;
    return (bits & exponent) != exponent;
}

uint32_t value_of(const Type &t, const Fill &fill, int index, std::mt19937 &random) {
    const uint64_t r = random_bits(random);
    switch (fill.kind) {
    case Fill::Bits: {
        uint32_t bits = (uint32_t)r;
        if (t.is_float() && !is_finite(t, t.bits() == 16 ? bits & 0xffff : bits)) {
            bits ^= t.is_bfloat() ? 0x4000u : t.bits() == 16 ? 0x4000u : 0x40000000u;
        }
        return bits;
    }
    case Fill::Below:
        return encode(t, (double)((index * 7 + (int)(r % 5)) % fill.limit));
    case Fill::Positive:
        return encode(t, t.is_float() ? (double)(1 + r % 500) / 64 : (double)(1 + r % 100));
    case Fill::Unit:
        return encode(t, (double)((int)(r % 257) - 128) / 128);
    case Fill::Numbers:
        break;
    }
    if (t.is_float()) {
        return encode(t, (double)((int)(r % 1001) - 500) / 64);
    }
    const int64_t range = t.bits() == 8 ? 256 : t.bits() == 16 ? 65536 : 2000001;
    return encode(t, (double)((int64_t)(r % (uint64_t)range) - (t.is_int() ? range / 2 : 0)));
}

double decode(const Type &t, const uint8_t *p) {
    uint64_t bits = 0;
    memcpy(&bits, p, (size_t)t.bytes());
    if (t.is_bfloat()) {
        return (double)(float)bfloat16_t::make_from_bits((uint16_t)bits);
    }
    if (t.is_float() && t.bits() == 16) {
        return (double)(float)float16_t::make_from_bits((uint16_t)bits);
    }
    if (t.is_float()) {
        float f;
        memcpy(&f, p, 4);
        return (double)f;
    }
    return t.is_int() ? (double)((int64_t)(bits << (64 - t.bits())) >> (64 - t.bits())) : (double)bits;
}

// ---- Both sides

class LaunchBlocks : public IRMutator {
    using IRMutator::visit;
    const int blocks;
    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUBlock && op->device_api == DeviceAPI::PTO && blocks > 0) {
            return For::make(op->name, 0, blocks - 1, op->for_type, op->partition_policy, op->device_api, op->body);
        }
        return IRMutator::visit(op);
    }

public:
    explicit LaunchBlocks(int blocks) : blocks(blocks) {
    }
};

/// A statement with what to call its output.
struct Code {
    Stmt s;
    std::string output;
};

Buffer<> execute(const Code &code, const Build &data, const Type &type, const std::vector<int> &extents,
                 const std::vector<int> &mins, const Stmt &s) {
    Buffer<> out(type, extents);
    if (!mins.empty()) {
        out.set_min(mins);
    }
    memset(out.data(), 0x4d, out.size_in_bytes());
    Interpreter interpreter;
    interpreter.set_buffer(code.output, out);
    for (const auto &[name, buffer] : data.inputs) {
        interpreter.set_buffer(name, buffer);
    }
    for (const auto &[name, value] : data.scalars) {
        interpreter.set_scalar(name, value);
    }
    try {
        if (const int status = interpreter.run(s)) {
            throw RuntimeError(interpreter.error_message() + " (" + std::to_string(status) + ")");
        }
    } catch (const InterpreterFault &fault) {
        throw InternalError(std::string("interpreter: ") + fault.what());
    }
    return out;
}

/// Every Func at the root, so that nothing is computed again and again.
Code plain_code(Func f) {
    for (const auto &[name, g] : build_environment({f.function()})) {
        if (name != f.name()) {
            Func(g).compute_root();
        }
    }
    return {lower_main_stmt({f.function()}, "plain", get_host_target()), f.name()};
}

/// Kernels, as files and as a statement.
struct Device {
    Code code;
    std::shared_ptr<PTOProgram> program;
};

Device device_code(Func f) {
    const std::vector<Argument> args = f.infer_arguments();
    LowerContext ctx = make_lower_context({f.function()}, "kernel", get_host_target().with_feature(Target::PTO_A5), args, {}, false,
                                          {});
    Device d;
    d.code = {run_lowering_passes(ctx, "pto-launches"), f.name()};
    d.program = ctx.pto;
    d.program->args = args;
    for (const Parameter &p : f.function().output_buffers()) {
        d.program->args.emplace_back(p.name(), Argument::OutputBuffer, p.type(), p.dimensions(), p.get_argument_estimates());
    }
    return d;
}

std::string first_difference(const Buffer<> &expected, const Buffer<> &got, const Buffer<> *allowed) {
    const Type t = expected.type();
    const size_t size = (size_t)t.bytes(), n = expected.size_in_bytes() / size;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *e = (const uint8_t *)expected.data() + i * size, *g = (const uint8_t *)got.data() + i * size;
        if (memcmp(e, g, size) == 0) {
            continue;
        }
        const double want = decode(t, e), have = decode(t, g);
        if (t.is_float() && std::isnan(want) && std::isnan(have)) {
            continue;
        }
        const double tolerance = allowed ? decode(allowed->type(), (const uint8_t *)allowed->data() + i * 4) : 0;
        if (!(std::fabs(want - have) <= tolerance)) {
            std::ostringstream text;
            text.precision(10);
            text << "element " << i << " is " << have << ", must be " << want << (allowed ? " ± " : "");
            if (allowed) {
                text << tolerance;
            }
            return text.str();
        }
    }
    return "";
}

// ---- Files

const std::string &folder() {
    static const std::string path = [] {
        const std::string p = std::string(BROMIDE_BUILD_DIR) + "/pto_suite";
        std::filesystem::remove_all(p);
        std::filesystem::create_directories(p);
        return p;
    }();
    return path;
}

/// All jobs of this process; written once, at its end.
class Jobs : public ::testing::Environment {
public:
    std::vector<std::string> jobs;
    std::set<std::string> names;
    int pipelines = 0;

    void TearDown() override {
        if (pipelines == 0) {
            return;
        }
        std::ofstream file(folder() + "/jobs.json");
        file << "{\"jobs\": [\n";
        for (size_t i = 0; i < jobs.size(); i++) {
            file << (i ? ",\n" : "") << jobs[i];
        }
        file << "\n]}\n";
        std::cout << pipelines << " pipelines, " << jobs.size() << " runs for the emulator in " << folder() << "/jobs.json\n";
    }
};

Jobs *const all = static_cast<Jobs *>(::testing::AddGlobalTestEnvironment(new Jobs));

std::string numbers(const Buffer<> &b, bool extents) {
    std::ostringstream s;
    for (int d = 0; d < b.dimensions(); d++) {
        s << (d ? ", " : "[") << (extents ? b.dim(d).extent() : b.dim(d).min());
    }
    return s.str() + "]";
}

void write_bytes(const std::string &path, const Buffer<> &b) {
    std::ofstream(path, std::ios::binary).write((const char *)b.data(), (std::streamsize)b.size_in_bytes());
}

std::string type_name(const Type &t) {
    return (t.is_bfloat() ? "bfloat" : t.is_float() ? "float" : t.is_int() ? "int" : "uint") + std::to_string(t.bits());
}

/// `expected` is what the lowered statement gives.
void add_job(const std::string &id, const std::string &launch, const PTOProgram &program, const Build &data,
             const std::string &output, const Buffer<> &expected, int blocks, int ulp, const Buffer<> *allowed,
             const std::string &measure = "") {
    ASSERT_TRUE(all->names.insert(id).second) << "two runs are called " << id;
    const std::string path = folder() + "/" + id;
    std::ostringstream text;
    text << "{\"id\": \"" << id << "\", \"launch\": \"" << launch << "\", \"blocks\": " << blocks << ", \"args\": {";
    std::set<std::string> used;
    for (const Argument &a : program.args) {
        used.insert(a.name);
    }
    for (const auto &[name, buffer] : data.inputs) {
        if (!used.count(name)) {
            continue;
        }
        write_bytes(path + "." + name + ".bin", buffer);
        text << "\"" << name << "\": {\"file\": \"" << path << "." << name << ".bin\", \"extent\": " << numbers(buffer, true)
             << ", \"min\": " << numbers(buffer, false) << "}, ";
    }
    for (const auto &[name, value] : data.scalars) {
        const std::optional<int64_t> whole = as_const_int(value);
        text << "\"" << name << "\": " << (whole ? (double)*whole : *as_const_float(value)) << ", ";
    }
    text << "\"" << output << "\": {\"out\": \"" << path << ".out.bin\", \"extent\": " << numbers(expected, true)
         << ", \"min\": " << numbers(expected, false) << "}}, \"expected\": \"" << path << ".expected.bin\", \"type\": \""
         << type_name(expected.type()) << "\", \"ulp\": " << ulp;
    if (allowed) {
        write_bytes(path + ".allowed.bin", *allowed);
        text << ", \"allowed\": \"" << path << ".allowed.bin\"";
    }
    if (!measure.empty()) {
        text << ", \"report\": true, \"minimal_sync\": true, \"measure\": \"" << measure << "\"";
    }
    write_bytes(path + ".expected.bin", expected);
    all->jobs.push_back(text.str() + "}");
}

std::string write_kernels(const std::string &id, const PTOProgram &program) {
    std::vector<VMIKernel> kernels;
    for (const PTOLaunch &launch : program.launches) {
        kernels.push_back(launch.code);
    }
    const std::string launch = folder() + "/" + id + ".launch.json";
    std::ofstream(folder() + "/" + id + ".pto.py") << emit_ptodsl(kernels);
    std::ofstream(launch) << pto_launch_plan(program, id + ".pto.py");
    return launch;
}

// ---- One pipeline

class Runner {
    const Pipe &pipe;
    int number = 0;

    std::vector<int> output_of(int w, int h) const {
        return pipe.output ? pipe.output(w, h) : pipe.dims == 1 ? std::vector<int>{w} : std::vector<int>{w, h};
    }

    Build prepare(bool scheduled, bool constant, int w, int h) const {
        Build b;
        b.scheduled = scheduled;
        b.constant = constant;
        b.w = w;
        b.h = h;
        return b;
    }

    Func make(Build &b) const {
        Func f = pipe.make(b);
        if (b.constant) {
            const std::vector<int> extents = output_of(b.w, b.h);
            for (size_t d = 0; d < extents.size(); d++) {
                f.bound(f.args()[d], pipe.mins.empty() ? 0 : pipe.mins[d], extents[d]);
            }
        }
        return f;
    }

    struct Prepared {
        Code plain, allowed;
        Device device;
        Type type;
        std::string launch;
    };

    Prepared compile(const std::string &id, bool constant, int w, int h) const {
        Build a = prepare(false, constant, w, h), b = prepare(true, constant, w, h);
        Prepared p;
        Func plain = make(a), scheduled = make(b);
        p.type = plain.type();
        p.plain = plain_code(plain);
        if (a.allowed.defined()) {
            p.allowed = plain_code(a.allowed);
        }
        p.device = device_code(scheduled);
        p.launch = write_kernels(id, *p.device.program);
        return p;
    }

    bool check(const std::string &id, const Prepared &p, bool constant, int w, int h) {
        // Building again gives the data of these extents; names are the same.
        Build data = prepare(false, constant, w, h);
        pipe.make(data);
        const std::vector<int> extents = output_of(w, h);
        const Buffer<> expected = execute(p.plain, data, p.type, extents, pipe.mins, p.plain.s);
        Buffer<> allowed;
        if (p.allowed.s.defined()) {
            allowed = execute(p.allowed, data, Float(32), extents, pipe.mins, p.allowed.s);
        }
        const Buffer<> *tolerance = allowed.defined() ? &allowed : nullptr;
        Buffer<> lowered;
        const int blocks = std::vector<int>{0, 1, 3}[number++ % 3];
        lowered = execute(p.device.code, data, p.type, extents, pipe.mins, LaunchBlocks(blocks)(p.device.code.s));
        const std::string difference = first_difference(expected, lowered, tolerance);
        if (!difference.empty()) {
            ADD_FAILURE() << id << " with " << blocks << " blocks, lowered: " << difference << "\nkernel " << p.launch << "\n"
                          << p.device.code.s;
            return false;
        }
        add_job(id, p.launch, *p.device.program, data, p.device.code.output, lowered, pipe.measure.empty() ? 1 + number % 4 : 1, pipe.ulp,
                tolerance, pipe.measure);
        return true;
    }

    static std::string text(int w, int h) {
        return std::to_string(w) + "x" + std::to_string(h);
    }

public:
    explicit Runner(const Pipe &pipe) : pipe(pipe) {
    }

    void run() {
        const bool full = getenv("BROMIDE_FULL") != nullptr;
        number = all->pipelines++;
        std::string id = pipe.name;
        try {
            if (pipe.run_time) {
                id = pipe.name + "_n";
                const Prepared p = compile(id, false, pipe.widths.back(), pipe.heights[0]);
                for (int w : pipe.widths) {
                    const int h = pipe.dims == 1 ? 1 : pipe.heights[(size_t)number % pipe.heights.size()];
                    id = pipe.name + "_n_" + text(w, h);
                    if (!check(id, p, false, w, h)) {
                        return;
                    }
                }
            }
            if (pipe.constant) {
                // Two of the extents, all in turn: each pipeline is compiled anew for each.
                for (size_t i = 0; i < pipe.widths.size(); i++) {
                    const size_t first = (size_t)all->pipelines * 2 % pipe.widths.size();
                    if (!full && i >= 2) {
                        break;
                    }
                    const int w = pipe.widths[(first + i) % pipe.widths.size()], h = pipe.dims == 1 ? 1 : pipe.heights[(size_t)number % pipe.heights.size()];
                    id = pipe.name + "_" + text(w, h);
                    const Prepared p = compile(id, true, w, h);
                    if (!check(id, p, true, w, h)) {
                        return;
                    }
                }
            }
        } catch (const Halide::Error &e) {
            ADD_FAILURE() << id << ": " << e.what();
        }
    }
};

}  // namespace

ImageParam Build::input(const std::string &name, const Type &type, const std::vector<int> &extents, Fill fill,
                        const std::vector<int> &mins) {
    ImageParam in(type, (int)extents.size(), name);
    Buffer<> b(type, extents);
    std::mt19937 random((uint32_t)(inputs.size() * 7919 + extents[0]));
    const size_t bytes = (size_t)type.bytes();
    for (size_t i = 0; i < b.size_in_bytes() / bytes; i++) {
        const uint32_t bits = value_of(type, fill, (int)i, random);
        memcpy((uint8_t *)b.data() + i * bytes, &bits, bytes);
    }
    for (size_t d = 0; d < extents.size(); d++) {
        if (constant) {
            in.dim((int)d).set_bounds(mins.empty() ? 0 : mins[d], extents[d]);
            if (d > 0) {
                int stride = 1;
                for (size_t k = 0; k < d; k++) {
                    stride *= extents[k];
                }
                in.dim((int)d).set_stride(stride);
            }
        }
    }
    if (!mins.empty()) {
        b.set_min(mins);
    }
    inputs[name] = b;
    return in;
}

Expr Build::scalar(const std::string &name, const Type &type, double value) {
    scalars[name] = Halide::Internal::make_const(type, value);
    return Variable::make(type, name, Parameter(type, false, 0, name));
}

Expr Build::extent(const ImageParam &in, int dimension) const {
    return constant ? Expr(inputs.at(in.name()).dim(dimension).extent()) : in.dim(dimension).extent();
}

Func Build::func(const std::string &name) {
    return Func(Function(name));
}

void note_kernels(const std::string &name, Func f, const std::map<std::string, Buffer<>> &inputs, const Buffer<> &expected,
                  int blocks, int ulp) {
    std::string id = "kernels_" + name;
    for (char &ch : id) {
        ch = isalnum((unsigned char)ch) ? ch : '_';
    }
    const std::string base = id;
    for (int i = 2; all->names.count(id); i++) {
        id = base + "_" + std::to_string(i);
    }
    try {
        Build data;
        data.inputs = inputs;
        const Device d = device_code(f);
        all->pipelines++;
        add_job(id, write_kernels(id, *d.program), *d.program, data, d.code.output, expected, blocks, ulp, nullptr);
    } catch (const Halide::Error &e) {
        ADD_FAILURE() << e.what();
    }
}

std::string run_both(const std::string &id, Func plain, Func scheduled, const std::map<std::string, Buffer<>> &inputs,
                     const std::vector<int> &extents) {
    Build data;
    data.inputs = inputs;
    const Code reference = plain_code(plain);
    const Device device = device_code(scheduled);
    const Buffer<> expected = execute(reference, data, plain.type(), extents, {}, reference.s);
    const int blocks = std::vector<int>{0, 1, 3}[(size_t)(all->pipelines++ % 3)];
    const Buffer<> lowered = execute(device.code, data, plain.type(), extents, {}, LaunchBlocks(blocks)(device.code.s));
    const std::string difference = first_difference(expected, lowered, nullptr);
    if (difference.empty()) {
        add_job(id, write_kernels(id, *device.program), *device.program, data, device.code.output, lowered, 1 + all->pipelines % 3, 0,
                nullptr);
    }
    return difference;
}

void run(const Pipe &pipe) {
    SCOPED_TRACE(pipe.name);
    Runner(pipe).run();
}

}  // namespace bromide
