#pragma once

// The nodes of the IR. One file in spite of its length: they refer to each other, and whoever walks them needs all.

#include "ir/Buffer.h"
#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/FunctionPtr.h"
#include "ir/IRNodes.def"
#include "ir/ModulusRemainder.h"
#include "ir/Parameter.h"
#include "ir/Prefetch.h"
#include "ir/Range.h"
#include "ir/Reduction.h"
#include "ir/Type.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Nodes are made by `make`, never changed afterwards, and shared. Each names its fields once more in `fields()`, in the
// order in which children are visited; visiting, rebuilding, comparing and hashing are generic over that list. `init()`
// checks the fields and derives the type where it follows from them: it is the last step of every way to make a node.

namespace Halide {
namespace Internal {

class Function;

/// A conversion to another type: see the language's table of casts.
struct Cast : public ExprNode<Cast> {
    Expr value;

    static Expr make(Type t, Expr v);

    static constexpr IRNodeType _node_type = IRNodeType::Cast;
    static constexpr auto fields() {
        return std::make_tuple(&Cast::value);
    }
    void init();
};

/// The same bits as another type of the same total size.
struct Reinterpret : public ExprNode<Reinterpret> {
    Expr value;

    static Expr make(Type t, Expr v);

    static constexpr IRNodeType _node_type = IRNodeType::Reinterpret;
    static constexpr auto fields() {
        return std::make_tuple(&Reinterpret::value);
    }
    void init();
};

/// What all nodes with two operands of one type share.
template<typename T>
struct BinaryExprNode : public ExprNode<T> {
    Expr a, b;

    static Expr make(Expr a, Expr b);

    static constexpr auto fields() {
        return std::make_tuple(&BinaryExprNode::a, &BinaryExprNode::b);
    }
};

/// A binary operator whose result has the type of its operands.
template<typename T>
struct ArithmeticExprNode : public BinaryExprNode<T> {
    void init();
};

/// A comparison: the result is a bool per lane.
template<typename T>
struct ComparisonExprNode : public BinaryExprNode<T> {
    void init();
};

/// A binary operator on bools.
template<typename T>
struct LogicalExprNode : public BinaryExprNode<T> {
    void init();
};

/// a + b
struct Add : public ArithmeticExprNode<Add> {
    static constexpr IRNodeType _node_type = IRNodeType::Add;
};
/// a - b
struct Sub : public ArithmeticExprNode<Sub> {
    static constexpr IRNodeType _node_type = IRNodeType::Sub;
};
/// a * b
struct Mul : public ArithmeticExprNode<Mul> {
    static constexpr IRNodeType _node_type = IRNodeType::Mul;
};
/// a / b: Euclidean on integers; division by zero gives zero.
struct Div : public ArithmeticExprNode<Div> {
    static constexpr IRNodeType _node_type = IRNodeType::Div;
};
/// a % b: Euclidean on integers, never negative; modulo zero gives zero.
struct Mod : public ArithmeticExprNode<Mod> {
    static constexpr IRNodeType _node_type = IRNodeType::Mod;
};
/// The lesser of a and b.
struct Min : public ArithmeticExprNode<Min> {
    static constexpr IRNodeType _node_type = IRNodeType::Min;
};
/// The greater of a and b.
struct Max : public ArithmeticExprNode<Max> {
    static constexpr IRNodeType _node_type = IRNodeType::Max;
};
/// a == b
struct EQ : public ComparisonExprNode<EQ> {
    static constexpr IRNodeType _node_type = IRNodeType::EQ;
};
/// a != b
struct NE : public ComparisonExprNode<NE> {
    static constexpr IRNodeType _node_type = IRNodeType::NE;
};
/// a < b
struct LT : public ComparisonExprNode<LT> {
    static constexpr IRNodeType _node_type = IRNodeType::LT;
};
/// a <= b
struct LE : public ComparisonExprNode<LE> {
    static constexpr IRNodeType _node_type = IRNodeType::LE;
};
/// a > b
struct GT : public ComparisonExprNode<GT> {
    static constexpr IRNodeType _node_type = IRNodeType::GT;
};
/// a >= b
struct GE : public ComparisonExprNode<GE> {
    static constexpr IRNodeType _node_type = IRNodeType::GE;
};
/// a && b, without short-circuit.
struct And : public LogicalExprNode<And> {
    static constexpr IRNodeType _node_type = IRNodeType::And;
};
/// a || b, without short-circuit.
struct Or : public LogicalExprNode<Or> {
    static constexpr IRNodeType _node_type = IRNodeType::Or;
};

/// !a
struct Not : public ExprNode<Not> {
    Expr a;

    static Expr make(Expr a);

    static constexpr IRNodeType _node_type = IRNodeType::Not;
    static constexpr auto fields() {
        return std::make_tuple(&Not::a);
    }
    void init();
};

/// One of two values; both may be evaluated. The condition is one bool, or one per lane.
struct Select : public ExprNode<Select> {
    Expr condition, true_value, false_value;

    static Expr make(Expr condition, Expr true_value, Expr false_value);

    static constexpr IRNodeType _node_type = IRNodeType::Select;
    static constexpr auto fields() {
        return std::make_tuple(&Select::condition, &Select::true_value, &Select::false_value);
    }
    void init();
};

/// Reads a flat buffer, at one element index per lane. Lanes with a false predicate are not read.
struct Load : public ExprNode<Load> {
    std::string name;
    Expr index, predicate;
    /// What is loaded from, if it is an embedded image or an input.
    Buffer<> image;
    Parameter param;
    /// A fact about the first lane's index.
    ModulusRemainder alignment;
    /// Bypasses the cache.
    bool is_streaming = false;

    static Expr make(Type type, const std::string &name, Expr index, Buffer<> image, Parameter param, Expr predicate,
                     ModulusRemainder alignment, bool is_streaming = false);
    static Expr make(Type type, const std::string &name, Expr index);

    static constexpr IRNodeType _node_type = IRNodeType::Load;
    static constexpr auto fields() {
        return std::make_tuple(&Load::name, &Load::predicate, &Load::index, &Load::image, &Load::param,
                               &Load::alignment, &Load::is_streaming);
    }
    void init();
};

/// base, base + stride, …: `lanes` times. If base is a vector, the vectors are concatenated.
struct Ramp : public ExprNode<Ramp> {
    Expr base, stride;
    int lanes = 0;

    static Expr make(Expr base, Expr stride, int lanes);

    static constexpr IRNodeType _node_type = IRNodeType::Ramp;
    static constexpr auto fields() {
        return std::make_tuple(&Ramp::base, &Ramp::stride, &Ramp::lanes);
    }
    void init();
};

/// A value repeated `lanes` times. If it is a vector, the copies are concatenated.
struct Broadcast : public ExprNode<Broadcast> {
    Expr value;
    int lanes = 0;

    static Expr make(Expr value, int lanes);

    static constexpr IRNodeType _node_type = IRNodeType::Broadcast;
    static constexpr auto fields() {
        return std::make_tuple(&Broadcast::value, &Broadcast::lanes);
    }
    void init();
};

/// Names a value within an expression.
struct Let : public ExprNode<Let> {
    std::string name;
    Expr value, body;

    static Expr make(const std::string &name, Expr value, Expr body);

    static constexpr IRNodeType _node_type = IRNodeType::Let;
    static constexpr auto fields() {
        return std::make_tuple(&Let::name, &Let::value, &Let::body);
    }
    void init();
};

/// Names a value within a statement.
struct LetStmt : public StmtNode<LetStmt> {
    std::string name;
    Expr value;
    Stmt body;

    static Stmt make(const std::string &name, Expr value, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::LetStmt;
    static constexpr auto fields() {
        return std::make_tuple(&LetStmt::name, &LetStmt::value, &LetStmt::body);
    }
    void init();
};

/// If the condition is false, evaluates the message (a call that reports and returns an error code) and leaves the
/// pipeline with that code.
struct AssertStmt : public StmtNode<AssertStmt> {
    Expr condition, message;

    static Stmt make(Expr condition, Expr message);

    static constexpr IRNodeType _node_type = IRNodeType::AssertStmt;
    static constexpr auto fields() {
        return std::make_tuple(&AssertStmt::condition, &AssertStmt::message);
    }
    void init();
};

/// Marks where a Func is computed, or used.
struct ProducerConsumer : public StmtNode<ProducerConsumer> {
    std::string name;
    bool is_producer = false;
    Stmt body;

    static Stmt make(const std::string &name, bool is_producer, Stmt body);
    static Stmt make_produce(const std::string &name, Stmt body);
    static Stmt make_consume(const std::string &name, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::ProducerConsumer;
    static constexpr auto fields() {
        return std::make_tuple(&ProducerConsumer::name, &ProducerConsumer::is_producer, &ProducerConsumer::body);
    }
    void init();
};

/// Writes a flat buffer, at one element index per lane, in lane order. Lanes with a false predicate are not written.
struct Store : public StmtNode<Store> {
    std::string name;
    Expr predicate, value, index;
    /// If this writes an output: its parameter.
    Parameter param;
    /// A fact about the first lane's index.
    ModulusRemainder alignment;
    /// Bypasses the cache.
    bool is_streaming = false;

    static Stmt make(const std::string &name, Expr value, Expr index, Parameter param, Expr predicate,
                     ModulusRemainder alignment, bool is_streaming = false);
    static Stmt make(const std::string &name, Expr value, Expr index);

    static constexpr IRNodeType _node_type = IRNodeType::Store;
    static constexpr auto fields() {
        return std::make_tuple(&Store::name, &Store::predicate, &Store::value, &Store::index, &Store::param,
                               &Store::alignment, &Store::is_streaming);
    }
    void init();
};

/// Writes a many-dimensional Func: one value per tuple element.
struct Provide : public StmtNode<Provide> {
    std::string name;
    std::vector<Expr> values, args;
    Expr predicate;

    static Stmt make(const std::string &name, const std::vector<Expr> &values, const std::vector<Expr> &args,
                     const Expr &predicate);

    static constexpr IRNodeType _node_type = IRNodeType::Provide;
    static constexpr auto fields() {
        return std::make_tuple(&Provide::name, &Provide::values, &Provide::args, &Provide::predicate);
    }
    void init();
};

/// A flat buffer that exists while the body runs (or until its Free).
struct Allocate : public StmtNode<Allocate> {
    std::string name;
    Type type;
    MemoryType memory_type = MemoryType::Auto;
    std::vector<Expr> extents;
    /// If false, nothing is allocated: the buffer is not used.
    Expr condition;
    /// If defined, this expression yields the memory and `free_function` returns it.
    Expr new_expr;
    std::string free_function;
    /// Elements beyond the extents that may be read.
    int padding = 0;
    Stmt body;

    static Stmt make(const std::string &name, Type type, MemoryType memory_type, const std::vector<Expr> &extents,
                     Expr condition, Stmt body, Expr new_expr = Expr(), const std::string &free_function = std::string(),
                     int padding = 0);

    /// The number of elements if it is a constant, else 0. A product beyond int32 is an error that names the buffer.
    static int32_t constant_allocation_size(const std::vector<Expr> &extents, const std::string &name);
    int32_t constant_allocation_size() const;

    static constexpr IRNodeType _node_type = IRNodeType::Allocate;
    static constexpr auto fields() {
        return std::make_tuple(&Allocate::name, &Allocate::type, &Allocate::memory_type, &Allocate::extents,
                               &Allocate::condition, &Allocate::new_expr, &Allocate::free_function,
                               &Allocate::padding, &Allocate::body);
    }
    void init();
};

/// Ends the life of an allocation early.
struct Free : public StmtNode<Free> {
    std::string name;

    static Stmt make(const std::string &name);

    static constexpr IRNodeType _node_type = IRNodeType::Free;
    static constexpr auto fields() {
        return std::make_tuple(&Free::name);
    }
    void init();
};

/// A many-dimensional Func that exists over a box while the body runs.
struct Realize : public StmtNode<Realize> {
    std::string name;
    std::vector<Type> types;
    MemoryType memory_type = MemoryType::Auto;
    Region bounds;
    Expr condition;
    Stmt body;

    static Stmt make(const std::string &name, const std::vector<Type> &types, MemoryType memory_type,
                     const Region &bounds, Expr condition, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::Realize;
    static constexpr auto fields() {
        return std::make_tuple(&Realize::name, &Realize::types, &Realize::memory_type, &Realize::bounds,
                               &Realize::condition, &Realize::body);
    }
    void init();
};

/// One statement after another. `first` is never a Block.
struct Block : public StmtNode<Block> {
    Stmt first, rest;

    /// If `first` is a Block it is re-nested to the right; an undefined part is left out.
    static Stmt make(Stmt first, Stmt rest);
    /// The statements in order; undefined for an empty list.
    static Stmt make(const std::vector<Stmt> &stmts);

    static constexpr IRNodeType _node_type = IRNodeType::Block;
    static constexpr auto fields() {
        return std::make_tuple(&Block::first, &Block::rest);
    }
    void init();
};

/// Two statements at the same time.
struct Fork : public StmtNode<Fork> {
    Stmt first, rest;

    static Stmt make(Stmt first, Stmt rest);

    static constexpr IRNodeType _node_type = IRNodeType::Fork;
    static constexpr auto fields() {
        return std::make_tuple(&Fork::first, &Fork::rest);
    }
    void init();
};

/// A branch on one bool. The else case may be undefined.
struct IfThenElse : public StmtNode<IfThenElse> {
    Expr condition;
    Stmt then_case, else_case;

    static Stmt make(Expr condition, Stmt then_case, Stmt else_case = Stmt());

    static constexpr IRNodeType _node_type = IRNodeType::IfThenElse;
    static constexpr auto fields() {
        return std::make_tuple(&IfThenElse::condition, &IfThenElse::then_case, &IfThenElse::else_case);
    }
    void init();
};

/// Computes a value for its effects.
struct Evaluate : public StmtNode<Evaluate> {
    Expr value;

    static Stmt make(Expr v);

    static constexpr IRNodeType _node_type = IRNodeType::Evaluate;
    static constexpr auto fields() {
        return std::make_tuple(&Evaluate::value);
    }
    void init();
};

/// A call: of a function outside, an intrinsic, a Func of the program, or a load from an image (both many-dimensional).
struct Call : public ExprNode<Call> {
    std::string name;
    std::vector<Expr> args;

    enum CallType {
        Image,            ///< A load from an input image.
        Extern,           ///< A C function, perhaps with effects.
        ExternCPlusPlus,  ///< The same with a mangled name.
        PureExtern,       ///< A C function without effects that depends on its arguments only.
        Halide,           ///< A call of a Func.
        Intrinsic,        ///< Known to the compiler, perhaps with effects.
        PureIntrinsic,    ///< Known to the compiler, without effects.
    } call_type = Image;

    /// What is called, if it is a Func.
    FunctionPtr func;
    /// Which element of its tuple.
    int value_index = 0;
    /// What is loaded from, if it is an image: one that is embedded, or an input.
    Buffer<> image;
    Parameter param;

    enum IntrinsicOp {
#define HALIDE_INTRINSIC(name, ...) name,
#include "ir/Intrinsics.def"
#undef HALIDE_INTRINSIC
        IntrinsicOpCount,  ///< Not an intrinsic.
    };

    static const char *get_intrinsic_name(IntrinsicOp op);

    // Functions of the runtime that the compiler calls by name.
    static constexpr const char *buffer_get_dimensions = "_halide_buffer_get_dimensions";
    static constexpr const char *buffer_get_min = "_halide_buffer_get_min";
    static constexpr const char *buffer_get_extent = "_halide_buffer_get_extent";
    static constexpr const char *buffer_get_stride = "_halide_buffer_get_stride";
    static constexpr const char *buffer_get_max = "_halide_buffer_get_max";
    static constexpr const char *buffer_get_host = "_halide_buffer_get_host";
    static constexpr const char *buffer_get_device = "_halide_buffer_get_device";
    static constexpr const char *buffer_get_device_interface = "_halide_buffer_get_device_interface";
    static constexpr const char *buffer_get_shape = "_halide_buffer_get_shape";
    static constexpr const char *buffer_get_host_dirty = "_halide_buffer_get_host_dirty";
    static constexpr const char *buffer_get_device_dirty = "_halide_buffer_get_device_dirty";
    static constexpr const char *buffer_get_type = "_halide_buffer_get_type";
    static constexpr const char *buffer_set_host_dirty = "_halide_buffer_set_host_dirty";
    static constexpr const char *buffer_set_device_dirty = "_halide_buffer_set_device_dirty";
    static constexpr const char *buffer_is_bounds_query = "_halide_buffer_is_bounds_query";
    static constexpr const char *buffer_init = "_halide_buffer_init";
    static constexpr const char *buffer_init_from_buffer = "_halide_buffer_init_from_buffer";
    static constexpr const char *buffer_crop = "_halide_buffer_crop";
    static constexpr const char *buffer_set_bounds = "_halide_buffer_set_bounds";
    static constexpr const char *trace = "halide_trace_helper";

    static Expr make(Type type, IntrinsicOp op, const std::vector<Expr> &args, CallType call_type,
                     FunctionPtr func = FunctionPtr(), int value_index = 0, const Buffer<> &image = Buffer<>(),
                     Parameter param = Parameter());
    static Expr make(Type type, const std::string &name, const std::vector<Expr> &args, CallType call_type,
                     FunctionPtr func = FunctionPtr(), int value_index = 0, Buffer<> image = Buffer<>(),
                     Parameter param = Parameter());

    /// A call of a Func; of its global wrapper if it has one and that is to be followed. Defined in func.
    static Expr make(const Function &func, const std::vector<Expr> &args, int idx = 0,
                     bool follow_global_wrappers = true);

    /// A load from an embedded image.
    static Expr make(const Buffer<> &image, const std::vector<Expr> &args);
    /// A load from an input image.
    static Expr make(const Parameter &param, const std::vector<Expr> &args);

    /// Without effects: equal calls may be merged, unused ones dropped.
    bool is_pure() const {
        return call_type == PureExtern || call_type == Image || call_type == PureIntrinsic;
    }
    bool is_intrinsic() const {
        return call_type == Intrinsic || call_type == PureIntrinsic;
    }
    bool is_intrinsic(IntrinsicOp op) const {
        return intrinsic_op == op;
    }
    bool is_intrinsic(std::initializer_list<IntrinsicOp> ops) const {
        for (IntrinsicOp op : ops) {
            if (intrinsic_op == op) {
                return true;
            }
        }
        return false;
    }
    /// A call that is its first argument with a remark for the compiler.
    bool is_tag() const {
        return is_intrinsic({Call::likely, Call::likely_if_innermost});
    }
    bool is_extern() const {
        return call_type == Extern || call_type == ExternCPlusPlus || call_type == PureExtern;
    }
    bool is_strict_float_intrinsic() const {
        return is_intrinsic({Call::strict_add, Call::strict_cast, Call::strict_div, Call::strict_eq, Call::strict_fma,
                             Call::strict_le, Call::strict_lt, Call::strict_max, Call::strict_min, Call::strict_mul,
                             Call::strict_sub});
    }

    /// The call if `e` is one of these intrinsics, else null.
    static const Call *as_intrinsic(const Expr &e, std::initializer_list<IntrinsicOp> ops) {
        const Call *c = e.as<Call>();
        return c && c->is_intrinsic(ops) ? c : nullptr;
    }
    static const Call *as_tag(const Expr &e) {
        const Call *c = e.as<Call>();
        return c && c->is_tag() ? c : nullptr;
    }

    /// Which intrinsic this is; derived from the name. IntrinsicOpCount if it is none.
    IntrinsicOp intrinsic_op = IntrinsicOpCount;

    static constexpr IRNodeType _node_type = IRNodeType::Call;
    static constexpr auto fields() {
        return std::make_tuple(&Call::name, &Call::args, &Call::call_type, &Call::func, &Call::value_index,
                               &Call::image, &Call::param);
    }
    void init();
};

/// A named value: bound by a let or a loop, or a parameter.
struct Variable : public ExprNode<Variable> {
    std::string name;
    /// What the name stands for, if it is a parameter, part of an image's shape, or a reduction variable.
    Parameter param;
    Buffer<> image;
    ReductionDomain reduction_domain;

    static Expr make(Type type, const std::string &name) {
        return make(type, name, Buffer<>(), Parameter(), ReductionDomain());
    }
    static Expr make(Type type, const std::string &name, Parameter param) {
        return make(type, name, Buffer<>(), std::move(param), ReductionDomain());
    }
    static Expr make(Type type, const std::string &name, const Buffer<> &image) {
        return make(type, name, image, Parameter(), ReductionDomain());
    }
    static Expr make(Type type, const std::string &name, ReductionDomain reduction_domain) {
        return make(type, name, Buffer<>(), Parameter(), std::move(reduction_domain));
    }
    static Expr make(Type type, const std::string &name, Buffer<> image, Parameter param,
                     ReductionDomain reduction_domain);

    static constexpr IRNodeType _node_type = IRNodeType::Variable;
    static constexpr auto fields() {
        return std::make_tuple(&Variable::name, &Variable::param, &Variable::image, &Variable::reduction_domain);
    }
    void init();
};

/// A loop over min … max, both included.
struct For : public StmtNode<For> {
    std::string name;
    Expr min, max;
    ForType for_type = ForType::Serial;
    DeviceAPI device_api = DeviceAPI::None;
    Stmt body;
    Partition partition_policy = Partition::Auto;
    /// What to ask of the compiler behind us. Only on serial loops; no pass may drop it silently.
    UnrollHint hint;

    static Stmt make(const std::string &name, Expr min, Expr max, ForType for_type, Partition partition_policy,
                     DeviceAPI device_api, Stmt body, UnrollHint hint = UnrollHint());

    bool is_unordered_parallel() const {
        return Internal::is_unordered_parallel(for_type);
    }
    bool is_parallel() const {
        return Internal::is_parallel(for_type);
    }
    bool is_vectorized() const {
        return Internal::is_vectorized(for_type);
    }

    /// max - min + 1, folded where that is easy.
    Expr extent() const;

    /// This loop with another hint; the loop itself if it has that hint already.
    Stmt with_hint(const UnrollHint &h) const;

    static constexpr IRNodeType _node_type = IRNodeType::For;
    static constexpr auto fields() {
        return std::make_tuple(&For::name, &For::min, &For::max, &For::for_type, &For::device_api, &For::body,
                               &For::partition_policy, &For::hint);
    }
    void init();
};

/// Waits until the semaphore has `count`, takes it, and runs the body.
struct Acquire : public StmtNode<Acquire> {
    Expr semaphore, count;
    Stmt body;

    static Stmt make(Expr semaphore, Expr count, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::Acquire;
    static constexpr auto fields() {
        return std::make_tuple(&Acquire::semaphore, &Acquire::count, &Acquire::body);
    }
    void init();
};

/// A new vector of lanes of the concatenation of `vectors`.
struct Shuffle : public ExprNode<Shuffle> {
    std::vector<Expr> vectors;
    /// Into the concatenation.
    std::vector<int> indices;

    static Expr make(const std::vector<Expr> &vectors, const std::vector<int> &indices);

    /// a0 b0 c0 … a1 b1 c1 …
    static Expr make_interleave(const std::vector<Expr> &vectors);
    /// The vector as rows of `cols` lanes, read column by column.
    static Expr make_transpose(Expr e, int cols);
    static Expr make_concat(const std::vector<Expr> &vectors);
    static Expr make_broadcast(Expr v, int factor);
    /// Lanes begin, begin + stride, …
    static Expr make_slice(Expr vector, int begin, int stride, int size);
    static Expr make_extract_element(Expr vector, int i);

    bool is_interleave() const;
    bool is_transpose() const;
    /// For a transpose: the number of columns of the matrix that is transposed.
    int transpose_factor() const;
    bool is_broadcast() const;
    int broadcast_factor() const;
    bool is_concat() const;
    /// A contiguous or strided part of the concatenation, longer than one lane.
    bool is_slice() const;
    int slice_begin() const {
        return indices[0];
    }
    int slice_stride() const {
        return indices.size() >= 2 ? indices[1] - indices[0] : 1;
    }
    bool is_extract_element() const;
    /// For each lane of the result: which vector it comes from, and which lane of that.
    std::vector<std::pair<int, int>> vector_and_lane_indices() const;

    static constexpr IRNodeType _node_type = IRNodeType::Shuffle;
    static constexpr auto fields() {
        return std::make_tuple(&Shuffle::vectors, &Shuffle::indices);
    }
    void init();
};

/// Fetches a box of a Func or image, then runs the body.
struct Prefetch : public StmtNode<Prefetch> {
    std::string name;
    std::vector<Type> types;
    Region bounds;
    PrefetchDirective prefetch;
    Expr condition;
    Stmt body;

    static Stmt make(const std::string &name, const std::vector<Type> &types, const Region &bounds,
                     const PrefetchDirective &prefetch, Expr condition, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::Prefetch;
    static constexpr auto fields() {
        return std::make_tuple(&Prefetch::name, &Prefetch::types, &Prefetch::bounds, &Prefetch::prefetch,
                               &Prefetch::condition, &Prefetch::body);
    }
    void init();
};

/// Where the storage of a Func is allocated, outside the loops that realize it.
struct HoistedStorage : public StmtNode<HoistedStorage> {
    std::string name;
    Stmt body;

    static Stmt make(const std::string &name, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::HoistedStorage;
    static constexpr auto fields() {
        return std::make_tuple(&HoistedStorage::name, &HoistedStorage::body);
    }
    void init();
};

/// The stores in the body are atomic updates of `producer_name`; guarded by a mutex if one is named.
struct Atomic : public StmtNode<Atomic> {
    std::string producer_name, mutex_name;
    Stmt body;

    static Stmt make(const std::string &producer_name, const std::string &mutex_name, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::Atomic;
    static constexpr auto fields() {
        return std::make_tuple(&Atomic::producer_name, &Atomic::mutex_name, &Atomic::body);
    }
    void init();
};

/// The stores to `producer_name` in the body bypass the cache.
struct StreamingStore : public StmtNode<StreamingStore> {
    std::string producer_name;
    Stmt body;

    static Stmt make(const std::string &producer_name, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::StreamingStore;
    static constexpr auto fields() {
        return std::make_tuple(&StreamingStore::producer_name, &StreamingStore::body);
    }
    void init();
};

/// The loads of these producers in the body bypass the cache; of all if there is no list.
struct StreamingLoads : public StmtNode<StreamingLoads> {
    std::optional<std::vector<std::string>> names;
    Stmt body;

    static Stmt make(const std::optional<std::vector<std::string>> &names, Stmt body);

    static constexpr IRNodeType _node_type = IRNodeType::StreamingLoads;
    static constexpr auto fields() {
        return std::make_tuple(&StreamingLoads::names, &StreamingLoads::body);
    }
    void init();
};

/// Combines adjacent groups of lanes: output lane j covers input lanes j*k … j*k + k-1.
struct VectorReduce : public ExprNode<VectorReduce> {
    enum Operator {
        Add,
        SaturatingAdd,
        Mul,
        Min,
        Max,
        And,
        Or,
    };

    Expr value;
    Operator op = Add;

    static Expr make(Operator op, Expr vec, int lanes);

    static constexpr IRNodeType _node_type = IRNodeType::VectorReduce;
    static constexpr auto fields() {
        return std::make_tuple(&VectorReduce::op, &VectorReduce::value);
    }
    void init();
};

// ---------------------------------------------------------------------------------------------------------------------
// Rebuilding nodes.

/// Whether two field values are the same object: child by child, not by structure.
inline bool same_children(const IRHandle &a, const IRHandle &b) {
    return a.get() == b.get();
}
inline bool same_children(const std::vector<Expr> &a, const std::vector<Expr> &b) {
    if (a.size() != b.size()) {
        return false;
    }
    for (size_t i = 0; i < a.size(); i++) {
        if (!a[i].same_as(b[i])) {
            return false;
        }
    }
    return true;
}
inline bool same_children(const Region &a, const Region &b) {
    if (a.size() != b.size()) {
        return false;
    }
    for (size_t i = 0; i < a.size(); i++) {
        if (!a[i].min.same_as(b[i].min) || !a[i].extent.same_as(b[i].extent)) {
            return false;
        }
    }
    return true;
}

template<typename F>
constexpr bool is_child_field = std::is_same_v<F, Expr> || std::is_same_v<F, Stmt> ||
                                std::is_same_v<F, std::vector<Expr>> || std::is_same_v<F, Region>;

template<typename Node>
void assign_fields(Node *) {
}

template<typename Node, typename Field, typename Value, typename... Rest>
void assign_fields(Node *node, Field field, const Value &value, const Rest &...rest) {
    node->*field = value;
    assign_fields(node, rest...);
}

/// A copy of a node with some fields replaced.
template<typename T, typename... FieldsAndValues>
const T *changed_node(const T *node, const FieldsAndValues &...fields_and_values) {
    T *copy = new T(*node);
    IRHandle owner(copy);
    assign_fields(copy, fields_and_values...);
    copy->init();
    // The caller takes over: the count returns to zero without destruction.
    copy->ref_count.decrement();
    owner.ptr = nullptr;
    return copy;
}

/// Calls f(field, i) for the fields that are children, i (an integral_constant) counting them.
template<typename T, size_t Index = 0, size_t Count = 0, typename F>
void for_each_child_field(F &&f) {
    using Fields = decltype(T::fields());
    if constexpr (Index < std::tuple_size_v<Fields>) {
        auto field = std::get<Index>(T::fields());
        constexpr bool is_child = is_child_field<std::decay_t<decltype(std::declval<const T &>().*field)>>;
        if constexpr (is_child) {
            f(field, std::integral_constant<size_t, Count>());
        }
        for_each_child_field<T, Index + 1, Count + (is_child ? 1 : 0)>(f);
    }
}

/// A copy of a node with all children replaced, or the node itself if they are the same objects.
template<typename T, typename... Children>
const T *node_with(const T *node, const Children &...children) {
    const auto given = std::tie(children...);
    bool same = true;
    for_each_child_field<T>([&](auto field, auto i) {
        using F = std::decay_t<decltype(node->*field)>;
        const F &value = std::get<decltype(i)::value>(given);
        same = same && same_children(node->*field, value);
    });
    if (same) {
        return node;
    }
    T *copy = new T(*node);
    IRHandle owner(copy);
    for_each_child_field<T>([&](auto field, auto i) { copy->*field = std::get<decltype(i)::value>(given); });
    copy->init();
    copy->ref_count.decrement();
    owner.ptr = nullptr;
    return copy;
}

template<typename T>
template<typename... FieldsAndValues>
Expr ExprNode<T>::changed(const FieldsAndValues &...fields_and_values) const {
    return changed_node((const T *)this, fields_and_values...);
}
template<typename T>
template<typename... FieldsAndValues>
Stmt StmtNode<T>::changed(const FieldsAndValues &...fields_and_values) const {
    return changed_node((const T *)this, fields_and_values...);
}
template<typename T>
template<typename... Children>
Expr ExprNode<T>::with(const Children &...children) const {
    return node_with((const T *)this, children...);
}
template<typename T>
template<typename... Children>
Stmt StmtNode<T>::with(const Children &...children) const {
    return node_with((const T *)this, children...);
}

}  // namespace Internal
}  // namespace Halide
