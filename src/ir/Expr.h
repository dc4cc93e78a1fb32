#pragma once

#include "ir/Enums.h"
#include "ir/IRNodes.def"
#include "ir/Type.h"
#include "support/Error.h"
#include "support/Float16.h"
#include "support/IntrusivePtr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

class IRMutator;
class IRVisitor;

/// What kind of node a node is. Expressions come first.
enum class IRNodeType {
#define HALIDE_IR_NODE_ENUMERATOR(T) T,
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_NODE_ENUMERATOR)
#undef HALIDE_IR_NODE_ENUMERATOR
};

constexpr IRNodeType StrongestExprNodeType = IRNodeType::VectorReduce;

const char *IRNodeType_string(IRNodeType t);

/// A node of the intermediate representation: immutable once made, and shared.
struct IRNode {
    explicit IRNode(IRNodeType t)
        : node_type(t) {
    }
    virtual ~IRNode() = default;
    IRNode &operator=(const IRNode &) = delete;

    /// Calls the overload of `visit` for this kind of node.
    virtual void accept(IRVisitor *v) const = 0;

    mutable RefCount ref_count;
    const IRNodeType node_type;

protected:
    IRNode(const IRNode &) = default;
};

template<>
inline RefCount &ref_count<IRNode>(const IRNode *t) noexcept {
    return t->ref_count;
}

/// Deletes a node and what only it owns, without recursion proportional to its depth.
template<>
void destroy<IRNode>(const IRNode *t);

struct Stmt;
}  // namespace Internal

struct Expr;

namespace Internal {

struct BaseStmtNode : public IRNode {
    explicit BaseStmtNode(IRNodeType t)
        : IRNode(t) {
    }
    virtual Stmt mutate_stmt(IRMutator *v) const = 0;
};

struct BaseExprNode : public IRNode {
    explicit BaseExprNode(IRNodeType t)
        : IRNode(t) {
    }
    virtual Halide::Expr mutate_expr(IRMutator *v) const = 0;
    Type type;
};

/// The base of the expression node T: connects it to visitors and mutators.
template<typename T>
struct ExprNode : public BaseExprNode {
    ExprNode()
        : BaseExprNode(T::_node_type) {
    }
    void accept(IRVisitor *v) const override;
    Halide::Expr mutate_expr(IRMutator *v) const override;

    /// A copy with one or more fields replaced, checked as by `make`: `load->changed(&Load::index, i)`.
    template<typename... FieldsAndValues>
    Halide::Expr changed(const FieldsAndValues &...fields_and_values) const;

    /// A copy with all child expressions replaced, in the order of `fields()`; this node itself if none differs.
    template<typename... Children>
    Halide::Expr with(const Children &...children) const;
};

/// The base of the statement node T.
template<typename T>
struct StmtNode : public BaseStmtNode {
    StmtNode()
        : BaseStmtNode(T::_node_type) {
    }
    void accept(IRVisitor *v) const override;
    Stmt mutate_stmt(IRMutator *v) const override;

    /// See ExprNode.
    template<typename... FieldsAndValues>
    Stmt changed(const FieldsAndValues &...fields_and_values) const;
    template<typename... Children>
    Stmt with(const Children &...children) const;
};

/// A shared handle to a node.
struct IRHandle : public IntrusivePtr<const IRNode> {
    IRHandle() = default;
    IRHandle(const IRNode *p)
        : IntrusivePtr<const IRNode>(p) {
    }

    /// Must be defined.
    void accept(IRVisitor *v) const {
        ptr->accept(v);
    }

    /// The node if it is of kind T, else null.
    template<typename T>
    const T *as() const {
        return ptr && ptr->node_type == T::_node_type ? (const T *)ptr : nullptr;
    }

    /// Must be defined.
    IRNodeType node_type() const {
        return ptr->node_type;
    }
};

/// A signed integer constant; the value is sign-extended from the width of the type.
struct IntImm : public ExprNode<IntImm> {
    int64_t value = 0;

    static const IntImm *make(Type t, int64_t value);

    static constexpr IRNodeType _node_type = IRNodeType::IntImm;
};

/// An unsigned integer constant; the value is zero-extended from the width of the type.
struct UIntImm : public ExprNode<UIntImm> {
    uint64_t value = 0;

    static const UIntImm *make(Type t, uint64_t value);

    static constexpr IRNodeType _node_type = IRNodeType::UIntImm;
};

/// A floating point constant; the value is rounded to the type.
struct FloatImm : public ExprNode<FloatImm> {
    double value = 0;

    static const FloatImm *make(Type t, double value);

    static constexpr IRNodeType _node_type = IRNodeType::FloatImm;
};

/// A string constant: a handle.
struct StringImm : public ExprNode<StringImm> {
    std::string value;

    static const StringImm *make(const std::string &value);

    static constexpr IRNodeType _node_type = IRNodeType::StringImm;
};

}  // namespace Internal

/// An expression of the language: a value computed from constants, variables, calls of functions and images.
struct Expr : public Internal::IRHandle {
    Expr() = default;

    Expr(const Internal::BaseExprNode *n)
        : IRHandle(n) {
    }

    explicit Expr(int8_t x)
        : IRHandle(Internal::IntImm::make(Int(8), x)) {
    }
    explicit Expr(int16_t x)
        : IRHandle(Internal::IntImm::make(Int(16), x)) {
    }
    Expr(int32_t x)
        : IRHandle(Internal::IntImm::make(Int(32), x)) {
    }
    explicit Expr(int64_t x)
        : IRHandle(Internal::IntImm::make(Int(64), x)) {
    }
    explicit Expr(uint8_t x)
        : IRHandle(Internal::UIntImm::make(UInt(8), x)) {
    }
    explicit Expr(uint16_t x)
        : IRHandle(Internal::UIntImm::make(UInt(16), x)) {
    }
    explicit Expr(uint32_t x)
        : IRHandle(Internal::UIntImm::make(UInt(32), x)) {
    }
    explicit Expr(uint64_t x)
        : IRHandle(Internal::UIntImm::make(UInt(64), x)) {
    }
    Expr(float16_t x)
        : IRHandle(Internal::FloatImm::make(Float(16), (double)x)) {
    }
    Expr(bfloat16_t x)
        : IRHandle(Internal::FloatImm::make(BFloat(16), (double)x)) {
    }
#ifdef HALIDE_CPP_COMPILER_HAS_FLOAT16
    explicit Expr(_Float16 x)
        : IRHandle(Internal::FloatImm::make(Float(16), (double)x)) {
    }
#endif
    Expr(float x)
        : IRHandle(Internal::FloatImm::make(Float(32), x)) {
    }
    explicit Expr(double x)
        : IRHandle(Internal::FloatImm::make(Float(64), x)) {
    }
    Expr(const std::string &s)
        : IRHandle(Internal::StringImm::make(s)) {
    }

    /// A C++ bool has no obvious meaning here: write make_bool(b), cast<bool>(…) or a comparison.
    template<typename T, typename = std::enable_if_t<std::is_same_v<T, bool>>>
    Expr(T) = delete;

    const Internal::BaseExprNode *get() const {
        return (const Internal::BaseExprNode *)ptr;
    }

    /// Must be defined.
    Type type() const {
        return get()->type;
    }
};

/// Orders expressions by address: for use as keys of maps whose order does not matter.
struct ExprCompare {
    bool operator()(const Expr &a, const Expr &b) const {
        return a.get() < b.get();
    }
};

namespace Internal {

using Halide::ExprCompare;

/// A statement.
struct Stmt : public IRHandle {
    Stmt() = default;
    Stmt(const BaseStmtNode *n)
        : IRHandle(n) {
    }

    const BaseStmtNode *get() const {
        return (const BaseStmtNode *)ptr;
    }

    /// Orders statements by address.
    struct Compare {
        bool operator()(const Stmt &a, const Stmt &b) const {
            return a.ptr < b.ptr;
        }
    };
};

}  // namespace Internal
}  // namespace Halide
