#include "interp/Interpreter.h"

#include "interp/Arithmetic.h"
#include "interp/Task.h"
#include "support/Process.h"

namespace Halide {
namespace Internal {

Interpreter::Interpreter()
    : state(std::make_unique<InterpreterState>()) {
}
Interpreter::~Interpreter() = default;

void Interpreter::set_buffer(const std::string &name, const Buffer<> &buffer) {
    user_assert(buffer.defined()) << "Interpreter: the buffer for " << name << " is undefined\n";
    Buffer<> owner = buffer;
    state->add_buffer(name, buffer, owner.raw_buffer());
}

void Interpreter::set_buffer(const std::string &name, halide_buffer_t *buffer) {
    state->add_buffer(name, Buffer<>(), buffer);
}

void Interpreter::set_scalar(const std::string &name, const Expr &value) {
    state->scalars[name] = InterpreterTask(*state, 0).eval(value);
}

void Interpreter::set_extern(const std::string &name, ExternFunction function) {
    state->externs[name] = std::move(function);
}

void Interpreter::set_parallel_order(ParallelOrder order, unsigned seed) {
    state->order = order;
    state->random.seed(seed);
}

int Interpreter::run(const Stmt &s) {
    user_assert(s.defined()) << "Interpreter: the statement is undefined\n";
    state->error_message.clear();
    state->printed.clear();
    state->overflow.clear();
    state->undefined_branch.clear();
    state->semaphores.clear();
    int code = 0;
    run_with_large_stack([&] {
        Scheduler scheduler;
        state->scheduler = &scheduler;
        try {
            InterpreterTask(*state, 0).run(s);
        } catch (const PipelineStop &stop) {
            code = stop.code;
        }
    });
    state->scheduler = nullptr;
    return code;
}

Interpreter::Argument Interpreter::evaluate(const Expr &e) {
    user_assert(e.defined() && e.type().is_scalar()) << "Interpreter: only scalar expressions have one value\n";
    Argument result{e.type(), 0, 0};
    run_with_large_stack([&] {
        const Value v = InterpreterTask(*state, 0).eval(e);
        if (e.type().is_float()) {
            result.f = v[0].f;
        } else {
            result.i = (int64_t)wrap(e.type(), v[0].i);
        }
    });
    return result;
}

const std::string &Interpreter::error_message() const {
    return state->error_message;
}

const std::string &Interpreter::printed() const {
    return state->printed;
}

const std::string &Interpreter::overflow() const {
    return state->overflow;
}

const std::string &Interpreter::undefined_branch() const {
    return state->undefined_branch;
}

namespace {

// Calls f with the offset, in elements from the host pointer, of each element.
template<typename F>
void for_each_offset(const halide_buffer_t *b, int d, int64_t offset, const F &f) {
    if (d < 0) {
        f(offset);
        return;
    }
    for (int i = 0; i < b->dim[d].extent; i++) {
        for_each_offset(b, d - 1, offset + (int64_t)i * b->dim[d].stride, f);
    }
}

}  // namespace

int64_t Interpreter::undefined_elements(const std::string &buffer) const {
    auto it = state->buffers.find(buffer);
    user_assert(it != state->buffers.end() && it->second.raw) << "Interpreter: there is no buffer " << buffer << "\n";
    const halide_buffer_t *b = it->second.raw;
    MemoryRegion *region = b->host ? state->memory.find((uint64_t)(uintptr_t)b->host) : nullptr;
    if (!region || region->undefined.empty()) {
        return 0;
    }
    int64_t count = 0;
    const int bytes = b->type.bytes();
    for_each_offset(b, b->dimensions - 1, 0, [&](int64_t offset) {
        const int64_t at = (b->host - region->base) + offset * bytes;
        bool undefined = false;
        for (int i = 0; i < bytes; i++) {
            undefined |= region->undefined[(size_t)(at + i)] != 0;
        }
        count += undefined;
    });
    return count;
}

}  // namespace Internal
}  // namespace Halide
