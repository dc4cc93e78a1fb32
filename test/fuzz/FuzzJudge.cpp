#include "FuzzJudge.h"

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "interp/Interpreter.h"
#include "lower/Pipeline.h"
#include "support/Error.h"

namespace fuzz {

using namespace Halide;
using namespace Halide::Internal;

namespace {

const Target &fuzz_target() {
    static const Target target = get_host_target();
    return target;
}

int run(Interpreter &interpreter, const Stmt &s) {
    try {
        return interpreter.run(s);
    } catch (const InterpreterFault &fault) {
        throw InternalError(std::string("interpreter: ") + fault.what());
    }
}

/// Output buffers at least as large as asked for, in the shape that the pipeline proposes.
std::vector<Buffer<>> query_outputs(const Func &f, const Stmt &s, const std::vector<Buffer<>> &inputs, int width, int height) {
    std::vector<Buffer<>> queried;
    Interpreter interpreter;
    for (const Buffer<> &b : inputs) {
        interpreter.set_buffer(b.name(), b);
    }
    std::vector<std::unique_ptr<Runtime::Buffer<>>> shapes;
    for (const Parameter &p : f.function().output_buffers()) {
        auto shape = std::make_unique<Runtime::Buffer<>>(p.type().to_abi(), nullptr, width, height);
        interpreter.set_buffer(p.name(), shape->raw_buffer());
        shapes.push_back(std::move(shape));
    }
    if (int code = run(interpreter, s)) {
        throw RuntimeError("bounds query failed: " + interpreter.error_message() + " (" + std::to_string(code) + ")");
    }
    for (auto &shape : shapes) {
        shape->allocate();
        queried.emplace_back(std::move(*shape));
    }
    return queried;
}

}  // namespace

Result interpret(const Built &built, int width, int height) {
    Func f = built.output();
    const Stmt s = lower_main_stmt({f.function()}, "fuzz", fuzz_target());
    std::vector<Buffer<>> outputs = query_outputs(f, s, built.inputs, width, height);
    Interpreter interpreter;
    for (const Buffer<> &b : built.inputs) {
        interpreter.set_buffer(b.name(), b);
    }
    for (size_t i = 0; i < outputs.size(); i++) {
        interpreter.set_buffer(f.function().output_buffers()[i].name(), outputs[i]);
    }
    if (int code = run(interpreter, s)) {
        throw RuntimeError(interpreter.error_message() + " (" + std::to_string(code) + ")");
    }
    for (Buffer<> &b : outputs) {
        b.crop(0, 0, width);
        b.crop(1, 0, height);
    }
    return outputs;
}

Result compile_and_run(const Built &built, int width, int height) {
    Func f = built.output();
    Realization r = f.realize({width, height}, fuzz_target());
    Result result;
    for (size_t i = 0; i < r.size(); i++) {
        result.push_back(r[i]);
    }
    return result;
}

std::string difference(const Result &expected, const Result &got) {
    if (expected.size() != got.size()) {
        return "the number of outputs differs";
    }
    for (size_t i = 0; i < expected.size(); i++) {
        const halide_buffer_t *a = expected[i].raw_buffer(), *b = got[i].raw_buffer();
        const size_t bytes = (size_t)a->type.bytes();
        for (int y = 0; y < a->dim[1].extent; y++) {
            for (int x = 0; x < a->dim[0].extent; x++) {
                const int pos[] = {x, y};
                if (memcmp(a->address_of(pos), b->address_of(pos), bytes) != 0) {
                    std::ostringstream text;
                    int64_t va = 0, vb = 0;
                    memcpy(&va, a->address_of(pos), bytes);
                    memcpy(&vb, b->address_of(pos), bytes);
                    text << "element " << i << " at (" << x << ", " << y << ") has bits 0x" << std::hex << vb
                         << " instead of 0x" << va;
                    return text.str();
                }
            }
        }
    }
    return "";
}

}  // namespace fuzz
