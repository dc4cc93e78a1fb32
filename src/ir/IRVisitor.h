#pragma once

#include "ir/IR.h"

#include <type_traits>
#include <unordered_set>
#include <utility>

namespace Halide {
namespace Internal {

/// Walks a statement or expression. Override `visit` for the nodes of interest; the default visits the children.
class IRVisitor {
public:
    IRVisitor() = default;
    virtual ~IRVisitor() = default;

    void operator()(const Expr &e) {
        e.accept(this);
    }
    void operator()(const Stmt &s) {
        s.accept(this);
    }
    template<typename T, typename = std::enable_if_t<std::is_base_of_v<IRNode, T>>>
    void operator()(const T *op) {
        visit(op);
    }

protected:
    template<typename T>
    friend struct ExprNode;
    template<typename T>
    friend struct StmtNode;

#define HALIDE_IR_VISIT(T) virtual void visit(const T *);
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
};

/// A visitor that visits each node once, however often it is shared.
class IRGraphVisitor : public IRVisitor {
protected:
    /// Visits a node unless it has been visited.
    virtual void include(const Expr &e);
    virtual void include(const Stmt &s);

#define HALIDE_IR_VISIT(T) void visit(const T *) override;
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT

private:
    struct Hash {
        size_t operator()(const IRHandle &h) const {
            return (size_t)h.get() >> 4;
        }
    };
    // Handles, not addresses: the address of a node that dies during the visit may come back as another node.
    std::unordered_set<IRHandle, Hash> visited;
};

/// A function over nodes with extra arguments and results of its own, bound at compile time: T defines
/// `visit(const Node *, args…)` for all nodes, ExprRet for expressions and StmtRet for statements.
template<typename T, typename ExprRet, typename StmtRet>
class VariadicVisitor {
private:
    template<typename... Args>
    ExprRet dispatch_expr(const BaseExprNode *node, Args &&...args) {
        switch (node->node_type) {
#define HALIDE_IR_CASE(N)                                                                                              \
    case IRNodeType::N:                                                                                                \
        return ((T *)this)->visit((const N *)node, std::forward<Args>(args)...);
            HALIDE_FOR_EACH_IR_EXPR(HALIDE_IR_CASE)
#undef HALIDE_IR_CASE
        default:
            _halide_internal_error << "not an expression: " << IRNodeType_string(node->node_type);
        }
    }

    template<typename... Args>
    StmtRet dispatch_stmt(const BaseStmtNode *node, Args &&...args) {
        switch (node->node_type) {
#define HALIDE_IR_CASE(N)                                                                                              \
    case IRNodeType::N:                                                                                                \
        return ((T *)this)->visit((const N *)node, std::forward<Args>(args)...);
            HALIDE_FOR_EACH_IR_STMT(HALIDE_IR_CASE)
#undef HALIDE_IR_CASE
        default:
            _halide_internal_error << "not a statement: " << IRNodeType_string(node->node_type);
        }
    }

public:
    template<typename... Args>
    StmtRet dispatch(const Stmt &s, Args &&...args) {
        return dispatch_stmt(s.get(), std::forward<Args>(args)...);
    }
    template<typename... Args>
    StmtRet dispatch(Stmt &&s, Args &&...args) {
        return dispatch_stmt(s.get(), std::forward<Args>(args)...);
    }
    template<typename... Args>
    ExprRet dispatch(const Expr &e, Args &&...args) {
        return dispatch_expr(e.get(), std::forward<Args>(args)...);
    }
    template<typename... Args>
    ExprRet dispatch(Expr &&e, Args &&...args) {
        return dispatch_expr(e.get(), std::forward<Args>(args)...);
    }
};

/// Whether a lambda is meant for this node: it takes it, and not because it takes any Expr or Stmt.
template<typename F, typename Self, typename T>
constexpr bool takes_node = std::is_invocable_v<F &, Self *, const T *> &&
                            !std::is_invocable_v<F &, Self *, const Expr &> &&
                            !std::is_invocable_v<F &, Self *, const Stmt &>;

/// A visitor made of lambdas `[&](auto *self, const Node *op)`. `self->visit_base(op)` does what is done without a
/// lambda; `(*self)(e)` visits an expression or statement.
template<typename... Lambdas>
class LambdaVisitor final : public IRVisitor {
    std::tuple<Lambdas...> lambdas;

    template<size_t I, typename T>
    void call(const T *op) {
        if constexpr (I == sizeof...(Lambdas)) {
            IRVisitor::visit(op);
        } else if constexpr (takes_node<std::tuple_element_t<I, std::tuple<Lambdas...>>, LambdaVisitor, T>) {
            std::get<I>(lambdas)(this, op);
        } else {
            call<I + 1>(op);
        }
    }

public:
    explicit LambdaVisitor(Lambdas... lambdas)
        : lambdas(std::move(lambdas)...) {
    }

    template<typename T>
    void visit_base(const T *op) {
        IRVisitor::visit(op);
    }

#define HALIDE_IR_VISIT(T)             \
    void visit(const T *op) override { \
        this->template call<0>(op);    \
    }
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
};

/// Walks `ir` (an Expr, a Stmt, anything with `accept`), calling the lambdas for the nodes that they take.
template<typename IR, typename... Lambdas>
void visit_with(const IR &ir, Lambdas... lambdas) {
    LambdaVisitor<Lambdas...> visitor(std::move(lambdas)...);
    ir.accept(&visitor);
}

}  // namespace Internal
}  // namespace Halide
