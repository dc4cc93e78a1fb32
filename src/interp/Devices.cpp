#include "interp/Task.h"
#include "ir/IRPrinter.h"

#include <sstream>

namespace Halide {
namespace Internal {

const std::string InterpreterTask::pto_block_idx = "the index of the block";
const std::string InterpreterTask::pto_block_num = "the number of blocks";

// Outside of a launch there is one block.
Value InterpreterTask::block_query(const Call *op) {
    const bool index = op->is_intrinsic(Call::pto_block_idx);
    const auto it = values.find(index ? pto_block_idx : pto_block_num);
    if (it != values.end() && !it->second.empty()) {
        return it->second.back();
    }
    return Value(op->type, Scalar::of_int(index ? 0 : 1));
}

// (gm, gm offset, ub, ub offset, len, count, gm stride, ub stride, …), all in elements of the call's type; the first
// repetition is the innermost.
Value InterpreterTask::pto_move(const Call *op) {
    const bool into_ub = op->is_intrinsic(Call::pto_mte_gm_ub);
    const Type element = op->type.element_of();
    struct Repetition {
        Int128 count, gm_stride, ub_stride;
    };
    std::vector<Value> args;
    for (const Expr &e : op->args) {
        args.push_back(eval(e));
    }
    if (args.size() % 3 != 2) {
        std::ostringstream text;
        text << "a move with " << args.size() << " operands: " << Expr(op);
        throw InterpreterFault(text.str());
    }
    std::vector<Repetition> repetitions = {{args[4][0].i, 1, 1}};
    Int128 total = args[4][0].i;
    for (size_t i = 5; i < args.size(); i += 3) {
        repetitions.push_back({args[i][0].i, args[i + 1][0].i, args[i + 2][0].i});
        total *= args[i][0].i;
    }
    for (const Repetition &r : repetitions) {
        if (r.count <= 0) {
            total = 0;
        }
    }
    auto locate = [&](int operand, Int128 index) {
        const Expr &pointer = op->args[(size_t)operand];
        const Variable *v = pointer.as<Variable>();
        const std::string name = v ? v->name : "memory";
        const Int128 base = args[(size_t)operand][0].i;
        MemoryRegion *region = state.memory.find((uint64_t)base);
        if (!region) {
            throw InterpreterFault("move of " + name + ", which is " +
                                   (base ? "not in memory that the statement may touch" : "null"));
        }
        uint8_t *at = InterpreterMemory::check(region, base + index * element.bytes(), (uint64_t)element.bytes(),
                                               "move of", name, index);
        return std::make_pair(region, at);
    };
    for (Int128 n = 0; n < total; n++) {
        Int128 gm = args[1][0].i, ub = args[3][0].i, rest = n;
        for (const Repetition &r : repetitions) {
            gm += rest % r.count * r.gm_stride;
            ub += rest % r.count * r.ub_stride;
            rest /= r.count;
        }
        const auto g = locate(0, gm), u = locate(2, ub);
        const auto &from = into_ub ? g : u, &to = into_ub ? u : g;
        InterpreterMemory::write(to.first, to.second, element, InterpreterMemory::read(from.first, from.second, element));
    }
    return element.is_float() ? Value(op->type, Scalar::of_float(0)) : Value(op->type, Scalar());
}

}  // namespace Internal
}  // namespace Halide
