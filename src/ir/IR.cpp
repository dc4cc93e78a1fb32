#include "ir/IR.h"

#include "ir/IRConstants.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Intrinsics.h"
#include "ir/NewNode.h"

#include <limits>
#include <numeric>

namespace Halide {
namespace Internal {

template<typename T>
void ExprNode<T>::accept(IRVisitor *v) const {
    v->visit((const T *)this);
}
template<typename T>
Expr ExprNode<T>::mutate_expr(IRMutator *v) const {
    return v->visit((const T *)this);
}
template<typename T>
void StmtNode<T>::accept(IRVisitor *v) const {
    v->visit((const T *)this);
}
template<typename T>
Stmt StmtNode<T>::mutate_stmt(IRMutator *v) const {
    return v->visit((const T *)this);
}

#define HALIDE_IR_INSTANTIATE(T) template struct ExprNode<T>;
HALIDE_FOR_EACH_IR_EXPR(HALIDE_IR_INSTANTIATE)
#undef HALIDE_IR_INSTANTIATE
#define HALIDE_IR_INSTANTIATE(T) template struct StmtNode<T>;
HALIDE_FOR_EACH_IR_STMT(HALIDE_IR_INSTANTIATE)
#undef HALIDE_IR_INSTANTIATE

void Cast::init() {
    check_defined(value, this, "value");
    internal_assert(type.lanes() == value.type().lanes())
        << "Cast from " << value.type() << " to " << type << " would change the number of lanes\n";
}

void Reinterpret::init() {
    check_defined(value, this, "value");
    const Type from = value.type();
    internal_assert(from.bits() * from.lanes() == type.bits() * type.lanes())
        << "Reinterpret from " << from << " to " << type << " would change the number of bits\n";
    internal_assert(from.lanes() == type.lanes() || (!from.is_handle() && !type.is_handle()))
        << "Reinterpret of handles from " << from << " to " << type << " would change the number of lanes\n";
}

template<typename T>
void ArithmeticExprNode<T>::init() {
    check_operands((const T *)this);
    this->type = this->a.type();
}
template<typename T>
void ComparisonExprNode<T>::init() {
    check_operands((const T *)this);
    this->type = Bool(this->a.type().lanes());
}
template<typename T>
void LogicalExprNode<T>::init() {
    check_operands((const T *)this);
    internal_assert(this->a.type().is_bool())
        << IRNodeType_string(T::_node_type) << " of a type that is not bool: " << this->a.type() << "\n";
    this->type = this->a.type();
}

template<typename T>
Expr BinaryExprNode<T>::make(Expr a, Expr b) {
    NewNode<T> node;
    node->a = std::move(a);
    node->b = std::move(b);
    return node.finish();
}

#define HALIDE_IR_INSTANTIATE(Base, T)  \
    template struct Base<T>;            \
    template struct BinaryExprNode<T>;
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Add)
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Sub)
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Mul)
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Div)
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Mod)
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Min)
HALIDE_IR_INSTANTIATE(ArithmeticExprNode, Max)
HALIDE_IR_INSTANTIATE(ComparisonExprNode, EQ)
HALIDE_IR_INSTANTIATE(ComparisonExprNode, NE)
HALIDE_IR_INSTANTIATE(ComparisonExprNode, LT)
HALIDE_IR_INSTANTIATE(ComparisonExprNode, LE)
HALIDE_IR_INSTANTIATE(ComparisonExprNode, GT)
HALIDE_IR_INSTANTIATE(ComparisonExprNode, GE)
HALIDE_IR_INSTANTIATE(LogicalExprNode, And)
HALIDE_IR_INSTANTIATE(LogicalExprNode, Or)
#undef HALIDE_IR_INSTANTIATE

Expr Cast::make(Type t, Expr v) {
    NewNode<Cast> node;
    node->type = t;
    node->value = std::move(v);
    return node.finish();
}

Expr Reinterpret::make(Type t, Expr v) {
    NewNode<Reinterpret> node;
    node->type = t;
    node->value = std::move(v);
    return node.finish();
}

void Not::init() {
    check_defined(a, this, "a");
    internal_assert(a.type().is_bool()) << "Not of a type that is not bool: " << a.type() << "\n";
    type = a.type();
}

Expr Not::make(Expr a) {
    NewNode<Not> node;
    node->a = std::move(a);
    return node.finish();
}

void Select::init() {
    check_defined(condition, this, "condition");
    check_defined(true_value, this, "true_value");
    check_defined(false_value, this, "false_value");
    internal_assert(condition.type().is_bool()) << "Select with a condition of type " << condition.type() << "\n";
    internal_assert(true_value.type() == false_value.type())
        << "Select of mismatched types: " << true_value.type() << " and " << false_value.type() << "\n";
    internal_assert(condition.type().is_scalar() || condition.type().lanes() == true_value.type().lanes())
        << "Select of " << true_value.type() << " with a condition of " << condition.type().lanes() << " lanes\n";
    type = true_value.type();
}

Expr Select::make(Expr condition, Expr true_value, Expr false_value) {
    NewNode<Select> node;
    node->condition = std::move(condition);
    node->true_value = std::move(true_value);
    node->false_value = std::move(false_value);
    return node.finish();
}

void Load::init() {
    check_defined(index, this, "index");
    internal_assert(type.lanes() == index.type().lanes())
        << "Load of " << type << " from " << name << " with an index of " << index.type().lanes() << " lanes\n";
    check_predicate(predicate, type.lanes(), this);
}

Expr Load::make(Type type, const std::string &name, Expr index, Buffer<> image, Parameter param, Expr predicate,
                ModulusRemainder alignment, bool is_streaming) {
    NewNode<Load> node;
    node->type = type;
    node->name = name;
    node->index = std::move(index);
    node->predicate = std::move(predicate);
    node->image = std::move(image);
    node->param = std::move(param);
    node->alignment = alignment;
    node->is_streaming = is_streaming;
    return node.finish();
}

Expr Load::make(Type type, const std::string &name, Expr index) {
    return make(type, name, std::move(index), Buffer<>(), Parameter(), const_true(type.lanes()), ModulusRemainder());
}

void Ramp::init() {
    check_defined(base, this, "base");
    check_defined(stride, this, "stride");
    internal_assert(lanes > 1) << "Ramp of " << lanes << " lanes\n";
    internal_assert(stride.type() == base.type())
        << "Ramp of mismatched types: base " << base.type() << ", stride " << stride.type() << "\n";
    type = Type(base.type().code(), base.type().bits(), lanes * base.type().lanes());
}

Expr Ramp::make(Expr base, Expr stride, int lanes) {
    NewNode<Ramp> node;
    node->base = std::move(base);
    node->stride = std::move(stride);
    node->lanes = lanes;
    return node.finish();
}

void Broadcast::init() {
    check_defined(value, this, "value");
    internal_assert(lanes > 1) << "Broadcast to " << lanes << " lanes\n";
    const Type t = value.type();
    type = Type(t.code(), t.bits(), lanes * t.lanes(), t.handle_type());
}

Expr Broadcast::make(Expr value, int lanes) {
    NewNode<Broadcast> node;
    node->value = std::move(value);
    node->lanes = lanes;
    return node.finish();
}

void Let::init() {
    check_defined(value, this, "value");
    check_defined(body, this, "body");
    type = body.type();
}

Expr Let::make(const std::string &name, Expr value, Expr body) {
    NewNode<Let> node;
    node->name = name;
    node->value = std::move(value);
    node->body = std::move(body);
    return node.finish();
}

void LetStmt::init() {
    check_defined(value, this, "value");
    check_defined(body, this, "body");
}

Stmt LetStmt::make(const std::string &name, Expr value, Stmt body) {
    NewNode<LetStmt> node;
    node->name = name;
    node->value = std::move(value);
    node->body = std::move(body);
    return node.finish();
}

void AssertStmt::init() {
    check_defined(condition, this, "condition");
    check_defined(message, this, "message");
    internal_assert(message.type() == Int(32)) << "AssertStmt with a message that is not an error code: " << message
                                               << "\n";
}

Stmt AssertStmt::make(Expr condition, Expr message) {
    NewNode<AssertStmt> node;
    node->condition = std::move(condition);
    node->message = std::move(message);
    return node.finish();
}

void ProducerConsumer::init() {
    check_defined(body, this, "body");
}

Stmt ProducerConsumer::make(const std::string &name, bool is_producer, Stmt body) {
    NewNode<ProducerConsumer> node;
    node->name = name;
    node->is_producer = is_producer;
    node->body = std::move(body);
    return node.finish();
}
Stmt ProducerConsumer::make_produce(const std::string &name, Stmt body) {
    return make(name, true, std::move(body));
}
Stmt ProducerConsumer::make_consume(const std::string &name, Stmt body) {
    return make(name, false, std::move(body));
}

void For::init() {
    check_scalar(min, this, "min");
    check_scalar(max, this, "max");
    check_defined(body, this, "body");
    internal_assert(min.type() == max.type() && min.type().is_int_or_uint())
        << "For " << name << " with bounds of types " << min.type() << " and " << max.type() << "\n";
    internal_assert(hint.kind != UnrollHint::Kind::Factor || hint.factor >= 1)
        << "For " << name << " with an unroll hint of " << hint.factor << "\n";
}

Stmt For::make(const std::string &name, Expr min, Expr max, ForType for_type, Partition partition_policy,
               DeviceAPI device_api, Stmt body, UnrollHint hint) {
    NewNode<For> node;
    node->name = name;
    node->min = std::move(min);
    node->max = std::move(max);
    node->for_type = for_type;
    node->device_api = device_api;
    node->body = std::move(body);
    node->partition_policy = partition_policy;
    node->hint = hint;
    return node.finish();
}

namespace {

// x + 1, folding constants.
Expr one_more(const Expr &e) {
    const Type t = e.type();
    if (auto c = as_const_int(e)) {
        return make_const(t, *c + 1);
    }
    if (const Add *add = e.as<Add>()) {
        if (auto c = as_const_int(add->b)) {
            return *c == -1 ? add->a : Add::make(add->a, make_const(t, *c + 1));
        }
    } else if (const Sub *sub = e.as<Sub>()) {
        if (auto c = as_const_int(sub->b)) {
            return *c == 1 ? sub->a : Sub::make(sub->a, make_const(t, *c - 1));
        }
    }
    return Add::make(e, make_const(t, 1));
}

}  // namespace

Expr For::extent() const {
    const Expr end = one_more(max);
    if (is_const_zero(min)) {
        return end;
    }
    auto min_const = as_const_int(min), end_const = as_const_int(end);
    if (min_const && end_const) {
        return make_const(min.type(), *end_const - *min_const);
    }
    if (equal(min, max)) {
        return make_const(min.type(), 1);
    }
    if (const Add *add = end.as<Add>()) {
        if (equal(add->a, min)) {
            return add->b;
        }
        if (equal(add->b, min)) {
            return add->a;
        }
        // (min + e) + c with c what `one_more` left over.
        if (const Add *inner = add->a.as<Add>()) {
            if (is_const(add->b) && equal(inner->a, min)) {
                return Add::make(inner->b, add->b);
            }
        }
    }
    if (const Sub *sub = end.as<Sub>()) {
        if (const Add *inner = sub->a.as<Add>()) {
            if (is_const(sub->b) && equal(inner->a, min)) {
                return Sub::make(inner->b, sub->b);
            }
        }
    }
    if (equal(end, min)) {
        return make_zero(min.type());
    }
    return Sub::make(end, min);
}

Stmt For::with_hint(const UnrollHint &h) const {
    return h == hint ? Stmt(this) : changed(&For::hint, h);
}

void Acquire::init() {
    check_scalar(semaphore, this, "semaphore");
    check_scalar(count, this, "count");
    check_defined(body, this, "body");
}

Stmt Acquire::make(Expr semaphore, Expr count, Stmt body) {
    NewNode<Acquire> node;
    node->semaphore = std::move(semaphore);
    node->count = std::move(count);
    node->body = std::move(body);
    return node.finish();
}

void Store::init() {
    check_defined(value, this, "value");
    check_defined(index, this, "index");
    internal_assert(value.type().lanes() == index.type().lanes())
        << "Store of " << value.type() << " to " << name << " with an index of " << index.type().lanes() << " lanes\n";
    check_predicate(predicate, value.type().lanes(), this);
}

Stmt Store::make(const std::string &name, Expr value, Expr index, Parameter param, Expr predicate,
                 ModulusRemainder alignment, bool is_streaming) {
    NewNode<Store> node;
    node->name = name;
    node->predicate = std::move(predicate);
    node->value = std::move(value);
    node->index = std::move(index);
    node->param = std::move(param);
    node->alignment = alignment;
    node->is_streaming = is_streaming;
    return node.finish();
}

Stmt Store::make(const std::string &name, Expr value, Expr index) {
    internal_assert(value.defined()) << "Store with undefined value\n";
    Expr predicate = const_true(value.type().lanes());
    return make(name, std::move(value), std::move(index), Parameter(), std::move(predicate), ModulusRemainder());
}

void Provide::init() {
    internal_assert(!values.empty()) << "Provide to " << name << " without values\n";
    check_defined(values, this, "value");
    check_defined(args, this, "argument");
    check_defined(predicate, this, "predicate");
    internal_assert(predicate.type().is_bool()) << "Provide with a predicate of type " << predicate.type() << "\n";
}

Stmt Provide::make(const std::string &name, const std::vector<Expr> &values, const std::vector<Expr> &args,
                   const Expr &predicate) {
    NewNode<Provide> node;
    node->name = name;
    node->values = values;
    node->args = args;
    node->predicate = predicate;
    return node.finish();
}

void Allocate::init() {
    for (const Expr &e : extents) {
        check_scalar(e, this, "extent");
    }
    check_scalar(condition, this, "condition");
    internal_assert(condition.type().is_bool()) << "Allocate with a condition of type " << condition.type() << "\n";
    check_defined(body, this, "body");
    internal_assert(padding >= 0) << "Allocate with negative padding\n";
}

Stmt Allocate::make(const std::string &name, Type type, MemoryType memory_type, const std::vector<Expr> &extents,
                    Expr condition, Stmt body, Expr new_expr, const std::string &free_function, int padding) {
    NewNode<Allocate> node;
    node->name = name;
    node->type = type;
    node->memory_type = memory_type;
    node->extents = extents;
    node->condition = std::move(condition);
    node->new_expr = std::move(new_expr);
    node->free_function = free_function;
    node->padding = padding;
    node->body = std::move(body);
    return node.finish();
}

int32_t Allocate::constant_allocation_size(const std::vector<Expr> &extents, const std::string &name) {
    constexpr int64_t limit = std::numeric_limits<int32_t>::max();
    int64_t product = 1;
    for (const Expr &e : extents) {
        const IntImm *c = e.as<IntImm>();
        if (!c) {
            return 0;
        }
        user_assert(c->value <= limit && product * c->value <= limit)
            << "Total size for allocation " << name << " is constant but exceeds 2^31 - 1.\n";
        product *= c->value;
    }
    return (int32_t)product;
}

int32_t Allocate::constant_allocation_size() const {
    return constant_allocation_size(extents, name);
}

void Free::init() {
}

Stmt Free::make(const std::string &name) {
    NewNode<Free> node;
    node->name = name;
    return node.finish();
}

void Realize::init() {
    check_defined(bounds, this, "bounds");
    for (const Range &r : bounds) {
        check_scalar(r.min, this, "min");
        check_scalar(r.extent, this, "extent");
    }
    check_scalar(condition, this, "condition");
    internal_assert(condition.type().is_bool()) << "Realize with a condition of type " << condition.type() << "\n";
    check_defined(body, this, "body");
    internal_assert(!types.empty()) << "Realize of " << name << " without types\n";
}

Stmt Realize::make(const std::string &name, const std::vector<Type> &types, MemoryType memory_type,
                   const Region &bounds, Expr condition, Stmt body) {
    NewNode<Realize> node;
    node->name = name;
    node->types = types;
    node->memory_type = memory_type;
    node->bounds = bounds;
    node->condition = std::move(condition);
    node->body = std::move(body);
    return node.finish();
}

void Block::init() {
    check_defined(first, this, "first");
    check_defined(rest, this, "rest");
    internal_assert(!first.as<Block>()) << "Block nested to the left\n";
}

Stmt Block::make(Stmt first, Stmt rest) {
    if (!first.defined()) {
        return rest;
    }
    if (!rest.defined()) {
        return first;
    }
    if (first.as<Block>()) {
        std::vector<Stmt> stmts;
        while (const Block *b = first.as<Block>()) {
            stmts.push_back(b->first);
            Stmt next = b->rest;
            first = std::move(next);
        }
        stmts.push_back(std::move(first));
        stmts.push_back(std::move(rest));
        return make(stmts);
    }
    NewNode<Block> node;
    node->first = std::move(first);
    node->rest = std::move(rest);
    return node.finish();
}

Stmt Block::make(const std::vector<Stmt> &stmts) {
    Stmt result;
    for (size_t i = stmts.size(); i > 0; i--) {
        result = make(stmts[i - 1], std::move(result));
    }
    return result;
}

void Fork::init() {
    check_defined(first, this, "first");
    check_defined(rest, this, "rest");
}

Stmt Fork::make(Stmt first, Stmt rest) {
    NewNode<Fork> node;
    node->first = std::move(first);
    node->rest = std::move(rest);
    return node.finish();
}

void IfThenElse::init() {
    check_defined(condition, this, "condition");
    check_defined(then_case, this, "then_case");
    internal_assert(condition.type().is_bool()) << "IfThenElse with a condition of type " << condition.type() << "\n";
}

Stmt IfThenElse::make(Expr condition, Stmt then_case, Stmt else_case) {
    NewNode<IfThenElse> node;
    node->condition = std::move(condition);
    node->then_case = std::move(then_case);
    node->else_case = std::move(else_case);
    return node.finish();
}

void Evaluate::init() {
    check_defined(value, this, "value");
}

Stmt Evaluate::make(Expr v) {
    NewNode<Evaluate> node;
    node->value = std::move(v);
    return node.finish();
}

const char *Call::get_intrinsic_name(IntrinsicOp op) {
    return intrinsic_info(op).name;
}

void Call::init() {
    check_defined(args, this, "argument");
    const IntrinsicInfo *info = is_intrinsic() ? find_intrinsic(name) : nullptr;
    intrinsic_op = info ? info->op : IntrinsicOpCount;
    if (call_type == Halide || call_type == Image) {
        internal_assert(value_index >= 0) << "Call of " << name << " with a negative value index\n";
        for (const Expr &e : args) {
            internal_assert(e.type().element_of() == Int(32))
                << "Call of " << name << " with a coordinate that is not int32: " << e << " has type " << e.type()
                << "\n";
        }
    }
}

Expr Call::make(Type type, IntrinsicOp op, const std::vector<Expr> &args, CallType call_type, FunctionPtr func,
                int value_index, const Buffer<> &image, Parameter param) {
    internal_assert(call_type == Intrinsic || call_type == PureIntrinsic)
        << "Call of an intrinsic with another call type\n";
    return make(type, std::string(get_intrinsic_name(op)), args, call_type, std::move(func), value_index, image,
                std::move(param));
}

Expr Call::make(Type type, const std::string &name, const std::vector<Expr> &args, CallType call_type,
                FunctionPtr func, int value_index, Buffer<> image, Parameter param) {
    NewNode<Call> node;
    node->type = type;
    node->name = name;
    node->args = args;
    node->call_type = call_type;
    node->func = std::move(func);
    node->value_index = value_index;
    node->image = std::move(image);
    node->param = std::move(param);
    return node.finish();
}

Expr Call::make(const Buffer<> &image, const std::vector<Expr> &args) {
    return make(image.type(), image.name(), args, Image, FunctionPtr(), 0, image, Parameter());
}

Expr Call::make(const Parameter &param, const std::vector<Expr> &args) {
    return make(param.type(), param.name(), args, Image, FunctionPtr(), 0, Buffer<>(), param);
}

void Variable::init() {
    internal_assert(!name.empty()) << "Variable without a name\n";
}

Expr Variable::make(Type type, const std::string &name, Buffer<> image, Parameter param,
                    ReductionDomain reduction_domain) {
    NewNode<Variable> node;
    node->type = type;
    node->name = name;
    node->param = std::move(param);
    node->image = std::move(image);
    node->reduction_domain = std::move(reduction_domain);
    return node.finish();
}

void Prefetch::init() {
    check_defined(bounds, this, "bounds");
    check_scalar(condition, this, "condition");
    check_defined(body, this, "body");
}

Stmt Prefetch::make(const std::string &name, const std::vector<Type> &types, const Region &bounds,
                    const PrefetchDirective &prefetch, Expr condition, Stmt body) {
    NewNode<Prefetch> node;
    node->name = name;
    node->types = types;
    node->bounds = bounds;
    node->prefetch = prefetch;
    node->condition = std::move(condition);
    node->body = std::move(body);
    return node.finish();
}

void HoistedStorage::init() {
    check_defined(body, this, "body");
}

Stmt HoistedStorage::make(const std::string &name, Stmt body) {
    NewNode<HoistedStorage> node;
    node->name = name;
    node->body = std::move(body);
    return node.finish();
}

void Atomic::init() {
    check_defined(body, this, "body");
}

Stmt Atomic::make(const std::string &producer_name, const std::string &mutex_name, Stmt body) {
    NewNode<Atomic> node;
    node->producer_name = producer_name;
    node->mutex_name = mutex_name;
    node->body = std::move(body);
    return node.finish();
}

void StreamingStore::init() {
    check_defined(body, this, "body");
}

Stmt StreamingStore::make(const std::string &producer_name, Stmt body) {
    NewNode<StreamingStore> node;
    node->producer_name = producer_name;
    node->body = std::move(body);
    return node.finish();
}

void StreamingLoads::init() {
    check_defined(body, this, "body");
}

Stmt StreamingLoads::make(const std::optional<std::vector<std::string>> &names, Stmt body) {
    NewNode<StreamingLoads> node;
    node->names = names;
    node->body = std::move(body);
    return node.finish();
}

void VectorReduce::init() {
    check_defined(value, this, "value");
    const int in = value.type().lanes(), out = type.lanes();
    internal_assert(out >= 1 && in % out == 0)
        << "VectorReduce from " << in << " lanes to " << out << ", which does not divide them\n";
    internal_assert(value.type().is_bool() || (op != And && op != Or))
        << "VectorReduce by a logical operator on " << value.type() << "\n";
    type = value.type().with_lanes(out);
}

Expr VectorReduce::make(Operator op, Expr vec, int lanes) {
    internal_assert(vec.defined()) << "VectorReduce with undefined value\n";
    if (vec.type().is_bool()) {
        // On one bit these are the logical operators.
        switch (op) {
        case VectorReduce::SaturatingAdd:
        case VectorReduce::Max:
            op = VectorReduce::Or;
            break;
        case VectorReduce::Mul:
        case VectorReduce::Min:
            op = VectorReduce::And;
            break;
        case VectorReduce::Add:
        case VectorReduce::And:
        case VectorReduce::Or:
            break;
        }
    }
    NewNode<VectorReduce> node;
    node->op = op;
    node->value = std::move(vec);
    node->type = node->value.type().with_lanes(lanes);
    return node.finish();
}

}  // namespace Internal
}  // namespace Halide
