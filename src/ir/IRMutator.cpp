#include "ir/IRMutator.h"

namespace Halide {
namespace Internal {

Expr IRMutator::mutate(const Expr &e) {
    return e.defined() ? e.get()->mutate_expr(this) : Expr();
}

Stmt IRMutator::mutate(const Stmt &s) {
    return s.defined() ? s.get()->mutate_stmt(this) : Stmt();
}

std::pair<std::vector<Expr>, bool> IRMutator::mutate_with_changes(const std::vector<Expr> &exprs) {
    std::vector<Expr> result;
    result.reserve(exprs.size());
    bool changed = false;
    for (const Expr &e : exprs) {
        result.push_back(mutate(e));
        changed |= !result.back().same_as(e);
    }
    return {std::move(result), changed};
}

std::pair<Region, bool> IRMutator::mutate_with_changes(const Region &bounds) {
    Region result;
    result.reserve(bounds.size());
    bool changed = false;
    for (const Range &r : bounds) {
        Expr min = mutate(r.min);
        Expr extent = mutate(r.extent);
        changed |= !min.same_as(r.min) || !extent.same_as(r.extent);
        result.emplace_back(min, extent);
    }
    return {std::move(result), changed};
}

namespace {

// The children of a node, rewritten, in a tuple of the types of its child fields.
template<typename T, size_t Index = 0>
auto mutated_children(const T *op, IRMutator *m) {
    using Fields = decltype(T::fields());
    if constexpr (Index == std::tuple_size_v<Fields>) {
        return std::tuple<>();
    } else {
        constexpr auto field = std::get<Index>(T::fields());
        using F = std::decay_t<decltype(op->*field)>;
        if constexpr (is_child_field<F>) {
            // The braces make the order of the fields the order of evaluation.
            std::tuple<F> first{m->mutate(op->*field)};
            return std::tuple_cat(std::move(first), mutated_children<T, Index + 1>(op, m));
        } else {
            return mutated_children<T, Index + 1>(op, m);
        }
    }
}

template<typename T>
const T *mutate_children(const T *op, IRMutator *m) {
    return std::apply([&](const auto &...children) { return node_with(op, children...); }, mutated_children(op, m));
}

}  // namespace

#define HALIDE_IR_LEAF(T)                 \
    Expr IRMutator::visit(const T *op) {  \
        return op;                        \
    }
HALIDE_IR_LEAF(IntImm)
HALIDE_IR_LEAF(UIntImm)
HALIDE_IR_LEAF(FloatImm)
HALIDE_IR_LEAF(StringImm)
HALIDE_IR_LEAF(Variable)
#undef HALIDE_IR_LEAF

#define HALIDE_IR_EXPR(T)                \
    Expr IRMutator::visit(const T *op) { \
        return mutate_children(op, this); \
    }
HALIDE_IR_EXPR(Broadcast)
HALIDE_IR_EXPR(Cast)
HALIDE_IR_EXPR(Reinterpret)
HALIDE_IR_EXPR(Add)
HALIDE_IR_EXPR(Sub)
HALIDE_IR_EXPR(Mod)
HALIDE_IR_EXPR(Mul)
HALIDE_IR_EXPR(Div)
HALIDE_IR_EXPR(Min)
HALIDE_IR_EXPR(Max)
HALIDE_IR_EXPR(EQ)
HALIDE_IR_EXPR(NE)
HALIDE_IR_EXPR(LT)
HALIDE_IR_EXPR(LE)
HALIDE_IR_EXPR(GT)
HALIDE_IR_EXPR(GE)
HALIDE_IR_EXPR(And)
HALIDE_IR_EXPR(Or)
HALIDE_IR_EXPR(Not)
HALIDE_IR_EXPR(Select)
HALIDE_IR_EXPR(Load)
HALIDE_IR_EXPR(Ramp)
HALIDE_IR_EXPR(Call)
HALIDE_IR_EXPR(Let)
HALIDE_IR_EXPR(Shuffle)
HALIDE_IR_EXPR(VectorReduce)
#undef HALIDE_IR_EXPR

#define HALIDE_IR_STMT(T)                 \
    Stmt IRMutator::visit(const T *op) {  \
        return mutate_children(op, this); \
    }
HALIDE_IR_STMT(LetStmt)
HALIDE_IR_STMT(AssertStmt)
HALIDE_IR_STMT(ProducerConsumer)
HALIDE_IR_STMT(For)
HALIDE_IR_STMT(Acquire)
HALIDE_IR_STMT(Store)
HALIDE_IR_STMT(Provide)
HALIDE_IR_STMT(Allocate)
HALIDE_IR_STMT(Free)
HALIDE_IR_STMT(Realize)
HALIDE_IR_STMT(Fork)
HALIDE_IR_STMT(IfThenElse)
HALIDE_IR_STMT(Evaluate)
HALIDE_IR_STMT(Prefetch)
HALIDE_IR_STMT(Atomic)
HALIDE_IR_STMT(StreamingStore)
HALIDE_IR_STMT(StreamingLoads)
HALIDE_IR_STMT(HoistedStorage)
#undef HALIDE_IR_STMT

Stmt IRMutator::visit(const Block *op) {
    Stmt first = mutate(op->first);
    Stmt rest = mutate(op->rest);
    if (first.same_as(op->first) && rest.same_as(op->rest)) {
        return op;
    }
    // Not `with`: either may have become a block, or nothing.
    return Block::make(std::move(first), std::move(rest));
}

Expr IRGraphMutator::mutate(const Expr &e) {
    if (e.defined() && e.get()->ref_count.value() == 1) {
        // What has one owner is met once, with its owner.
        return IRMutator::mutate(e);
    }
    auto it = expr_replacements.find(e);
    if (it != expr_replacements.end()) {
        return it->second;
    }
    Expr result = IRMutator::mutate(e);
    expr_replacements.emplace(e, result);
    return result;
}

Stmt IRGraphMutator::mutate(const Stmt &s) {
    if (s.defined() && s.get()->ref_count.value() == 1) {
        return IRMutator::mutate(s);
    }
    auto it = stmt_replacements.find(s);
    if (it != stmt_replacements.end()) {
        return it->second;
    }
    Stmt result = IRMutator::mutate(s);
    stmt_replacements.emplace(s, result);
    return result;
}

}  // namespace Internal
}  // namespace Halide
