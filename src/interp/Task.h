#pragma once

#include "interp/Interpreter.h"
#include "interp/Memory.h"
#include "interp/Scheduler.h"
#include "interp/Value.h"
#include "ir/IR.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace Halide {
namespace Internal {

/// What all tasks of one interpreter share. One task runs at a time.
struct InterpreterState {
    struct ExternalBuffer {
        Buffer<> owner;
        halide_buffer_t *raw = nullptr;
    };

    InterpreterMemory memory;
    std::mt19937_64 random{0};
    std::map<std::string, ExternalBuffer> buffers;
    std::map<std::string, Value> scalars;
    std::map<std::string, Interpreter::ExternFunction> externs;
    std::map<std::string, MemoryRegion *> strings;
    /// Counts, by address.
    std::map<uint64_t, int64_t> semaphores;
    Interpreter::ParallelOrder order = Interpreter::ParallelOrder::Ascending;
    Scheduler *scheduler = nullptr;

    std::string error_message, printed, overflow, undefined_branch;

    void add_buffer(const std::string &name, const Buffer<> &owner, halide_buffer_t *raw);
};

/// An assertion failed: the pipeline ends with this code.
struct PipelineStop {
    int code;
};

/// A Func between its Realize and the end of it.
struct Realization {
    struct Dimension {
        int64_t min, extent, stride;
    };
    std::string name;
    std::vector<Type> types;
    std::vector<Dimension> dims;
    /// One for each element of the tuple.
    std::vector<MemoryRegion *> memory;
};

/// One thread of execution: names and what they stand for.
class InterpreterTask {
    InterpreterState &state;
    const int id;
    std::unordered_map<std::string, std::vector<Value>> values;
    std::unordered_map<std::string, std::vector<std::shared_ptr<Realization>>> realizations;
    /// Inside a branch of a vector if_then_else: the lanes that take it.
    const std::vector<char> *active = nullptr;

    // Names under which a launch binds what its blocks ask for.
    static const std::string pto_block_idx, pto_block_num;

    // Binds names until it ends.
    class Bindings;

    // Statements.cpp
    void run_for(const For *op);
    void run_store(const Store *op);
    void run_provide(const Provide *op);
    void run_fork(const Fork *op);
    std::shared_ptr<Realization> make_realization(const Realize *op);
    MemoryRegion *run_allocate(const Allocate *op, Value &address);
    bool branch(const Expr &condition, const char *what);
    int64_t integer(const Expr &e, const char *what);

    // Expressions.cpp
    Value binary(IRNodeType node_type, const BaseExprNode *op, const Expr &a, const Expr &b);
    Value load(const Load *op);
    Value ramp(const Ramp *op);
    Value shuffle(const Shuffle *op);
    Value vector_reduce(const VectorReduce *op);
    Value let(const Let *op);
    Value select(const Select *op);
    Value undefined_value(Type t);
    void note_overflow(const BaseExprNode *op, const Value &v);
    bool is_active(int lane, int lanes) const {
        return !active || (int)active->size() != lanes || (*active)[(size_t)lane];
    }

    // Names.cpp
    Value variable(const std::string &name, Type type, const Buffer<> &image, const Parameter &param);
    std::optional<Value> external_symbol(const std::string &name, Type type);
    halide_buffer_t *find_buffer(const std::string &name, const Buffer<> &image, const Parameter &param);
    Value string_value(const std::string &text);

    // Calls.cpp
    Value call(const Call *op);
    Value call_stored(const Call *op);
    Value intrinsic(const Call *op);
    Value if_then_else(const Call *op);
    Value require(const Call *op);
    Value stringify(const Call *op);
    Value make_struct(const Call *op);
    Value dynamic_shuffle(const Call *op);
    Value mux(const Call *op);
    Value extern_call(const Call *op);

    // Devices.cpp
    Value block_query(const Call *op);
    Value pto_move(const Call *op);
    std::optional<Value> buffer_call(const Call *op, const std::vector<Value> &args);
    std::optional<Value> runtime_call(const Call *op, const std::vector<Value> &args);
    Value error_call(const Call *op, const std::vector<Value> &args);
    std::string text_of(const Value &v) const;

    struct ElementAddress {
        MemoryRegion *region;
        uint8_t *at;
    };
    /// The element of a Func or image at these coordinates, lane by lane.
    ElementAddress element(const std::string &name, const std::vector<Value> &coordinates, int lane, int value_index,
                           const Type &type, const char *what, const Buffer<> &image, const Parameter &param);

public:
    InterpreterTask(InterpreterState &state, int id)
        : state(state), id(id) {
    }
    InterpreterTask(const InterpreterTask &parent, int id)
        : state(parent.state), id(id), values(parent.values), realizations(parent.realizations) {
    }

    void run(const Stmt &s);
    Value eval(const Expr &e);
};

}  // namespace Internal
}  // namespace Halide
