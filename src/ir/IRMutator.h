#pragma once

#include "ir/IR.h"
#include "ir/IRVisitor.h"

#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// Rewrites a statement or expression. Override `visit` for the nodes of interest; the default rewrites the children,
/// and returns the same node if none changed.
class IRMutator {
public:
    IRMutator() = default;
    virtual ~IRMutator() = default;

    Expr operator()(const Expr &e) {
        return mutate(e);
    }
    Stmt operator()(const Stmt &s) {
        return mutate(s);
    }
    std::vector<Expr> operator()(const std::vector<Expr> &exprs) {
        return mutate(exprs);
    }

    /// Through these all recursion goes. An undefined handle gives an undefined handle.
    virtual Expr mutate(const Expr &e);
    virtual Stmt mutate(const Stmt &s);
    std::vector<Expr> mutate(const std::vector<Expr> &exprs) {
        return mutate_with_changes(exprs).first;
    }
    Region mutate(const Region &bounds) {
        return mutate_with_changes(bounds).first;
    }

    /// Also tells whether any of them changed.
    std::pair<std::vector<Expr>, bool> mutate_with_changes(const std::vector<Expr> &exprs);
    std::pair<Region, bool> mutate_with_changes(const Region &bounds);

protected:
    template<typename T>
    friend struct ExprNode;
    template<typename T>
    friend struct StmtNode;

#define HALIDE_IR_VISIT(T) virtual Expr visit(const T *);
    HALIDE_FOR_EACH_IR_EXPR(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
#define HALIDE_IR_VISIT(T) virtual Stmt visit(const T *);
    HALIDE_FOR_EACH_IR_STMT(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
};

/// A mutator that rewrites each node once, however often it is shared. The rewriting must not depend on where the
/// node stands.
class IRGraphMutator : public IRMutator {
protected:
    std::map<Expr, Expr, ExprCompare> expr_replacements;
    std::map<Stmt, Stmt, Stmt::Compare> stmt_replacements;

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override;
    Stmt mutate(const Stmt &s) override;
};

/// A mutator made of lambdas: `[&](auto *self, const Node *op)` for a kind of node, `[&](auto *self, const Expr &e)` or
/// `const Stmt &` for all. `self->visit_base(op)` and `self->mutate_base(e)` do what is done without a lambda;
/// `self->mutate(e)` rewrites recursively.
template<typename... Lambdas>
class LambdaMutator final : public IRMutator {
    std::tuple<Lambdas...> lambdas;

    template<size_t I, typename T>
    auto call(const T *op) {
        if constexpr (I == sizeof...(Lambdas)) {
            return IRMutator::visit(op);
        } else if constexpr (takes_node<std::tuple_element_t<I, std::tuple<Lambdas...>>, LambdaMutator, T>) {
            using Ret = decltype(IRMutator::visit(op));
            return Ret(std::get<I>(lambdas)(this, op));
        } else {
            return call<I + 1>(op);
        }
    }

    template<size_t I, typename Handle>
    Handle call_generic(const Handle &h) {
        if constexpr (I == sizeof...(Lambdas)) {
            return IRMutator::mutate(h);
        } else if constexpr (std::is_invocable_v<std::tuple_element_t<I, std::tuple<Lambdas...>> &, LambdaMutator *,
                                                 const Handle &>) {
            return std::get<I>(lambdas)(this, h);
        } else {
            return call_generic<I + 1>(h);
        }
    }

public:
    explicit LambdaMutator(Lambdas... lambdas)
        : lambdas(std::move(lambdas)...) {
    }

    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return call_generic<0>(e);
    }
    Stmt mutate(const Stmt &s) override {
        return call_generic<0>(s);
    }

    template<typename T>
    auto visit_base(const T *op) {
        return IRMutator::visit(op);
    }
    Expr mutate_base(const Expr &e) {
        return IRMutator::mutate(e);
    }
    Stmt mutate_base(const Stmt &s) {
        return IRMutator::mutate(s);
    }

#define HALIDE_IR_VISIT(T)                 \
    Expr visit(const T *op) override {     \
        return this->template call<0>(op); \
    }
    HALIDE_FOR_EACH_IR_EXPR(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
#define HALIDE_IR_VISIT(T)                 \
    Stmt visit(const T *op) override {     \
        return this->template call<0>(op); \
    }
    HALIDE_FOR_EACH_IR_STMT(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
};

/// Rewrites `ir` with lambdas: see LambdaMutator.
template<typename IR, typename... Lambdas>
auto mutate_with(const IR &ir, Lambdas... lambdas) {
    return LambdaMutator<Lambdas...>(std::move(lambdas)...)(ir);
}

}  // namespace Internal
}  // namespace Halide
