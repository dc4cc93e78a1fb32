#pragma once

// How nodes are made and checked: for the definitions of their `make` and `init` only.

#include "ir/IR.h"
#include "ir/IRPrinter.h"

#include <vector>

namespace Halide {
namespace Internal {

/// Owns a node while it is being made, so that a failed check does not leak it.
template<typename T>
class NewNode {
    T *node = new T;
    IRHandle owner{node};

public:
    T *operator->() const {
        return node;
    }
    const T *finish() {
        node->init();
        node->ref_count.decrement();
        owner.ptr = nullptr;
        return node;
    }
};

template<typename T>
void check_defined(const Expr &e, const T *, const char *field) {
    internal_assert(e.defined()) << IRNodeType_string(T::_node_type) << " with undefined " << field << "\n";
}
template<typename T>
void check_defined(const Stmt &s, const T *, const char *field) {
    internal_assert(s.defined()) << IRNodeType_string(T::_node_type) << " with undefined " << field << "\n";
}
template<typename T>
void check_defined(const std::vector<Expr> &exprs, const T *, const char *field) {
    for (const Expr &e : exprs) {
        internal_assert(e.defined()) << IRNodeType_string(T::_node_type) << " with undefined " << field << "\n";
    }
}
template<typename T>
void check_defined(const Region &bounds, const T *, const char *field) {
    for (const Range &r : bounds) {
        internal_assert(r.min.defined() && r.extent.defined())
            << IRNodeType_string(T::_node_type) << " with undefined " << field << "\n";
    }
}

template<typename T>
void check_scalar(const Expr &e, const T *node, const char *field) {
    check_defined(e, node, field);
    internal_assert(e.type().is_scalar()) << IRNodeType_string(T::_node_type) << " with vector " << field << ": " << e
                                          << "\n";
}

template<typename T>
void check_operands(const T *node) {
    check_defined(node->a, node, "a");
    check_defined(node->b, node, "b");
    internal_assert(node->a.type() == node->b.type())
        << IRNodeType_string(T::_node_type) << " of mismatched types: " << node->a << " has type " << node->a.type()
        << ", " << node->b << " has type " << node->b.type() << "\n";
}

/// A predicate has one bool for each lane.
template<typename T>
void check_predicate(const Expr &predicate, int lanes, const T *node) {
    check_defined(predicate, node, "predicate");
    internal_assert(predicate.type() == Bool(lanes))
        << IRNodeType_string(T::_node_type) << " of " << lanes << " lanes with a predicate of type "
        << predicate.type() << "\n";
}

}  // namespace Internal
}  // namespace Halide
