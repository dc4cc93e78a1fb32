#include "ir/IRConstants.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"

namespace Halide {
namespace Internal {

// ---- Recognizing constants ------------------------------------------------------------------------------------------

namespace {

/// What a (nested) broadcast repeats.
const Expr &broadcast_value(const Expr &e) {
    const Expr *value = &e;
    while (const Broadcast *b = value->as<Broadcast>()) {
        value = &b->value;
    }
    return *value;
}

template<typename T>
const T *as_immediate(const Expr &e) {
    return e.defined() ? broadcast_value(e).as<T>() : nullptr;
}

}  // namespace

bool is_const(const Expr &e) {
    if (!e.defined()) {
        return false;
    }
    switch (broadcast_value(e).node_type()) {
    case IRNodeType::IntImm:
    case IRNodeType::UIntImm:
    case IRNodeType::FloatImm:
    case IRNodeType::StringImm:
        return true;
    default:
        return false;
    }
}

bool is_const(const Expr &e, int64_t v) {
    if (const IntImm *i = as_immediate<IntImm>(e)) {
        return i->value == v;
    }
    if (const UIntImm *i = as_immediate<UIntImm>(e)) {
        return v >= 0 && i->value == (uint64_t)v;
    }
    if (const FloatImm *f = as_immediate<FloatImm>(e)) {
        return f->value == (double)v;
    }
    return false;
}

std::optional<int64_t> as_const_int(const Expr &e) {
    const IntImm *i = as_immediate<IntImm>(e);
    return i ? std::optional<int64_t>(i->value) : std::nullopt;
}

std::optional<uint64_t> as_const_uint(const Expr &e) {
    const UIntImm *i = as_immediate<UIntImm>(e);
    return i ? std::optional<uint64_t>(i->value) : std::nullopt;
}

std::optional<double> as_const_float(const Expr &e) {
    const FloatImm *f = as_immediate<FloatImm>(e);
    return f ? std::optional<double>(f->value) : std::nullopt;
}

std::optional<int> is_const_power_of_two_integer(uint64_t v) {
    return v != 0 && (v & (v - 1)) == 0 ? std::optional<int>(ctz64(v)) : std::nullopt;
}

std::optional<int> is_const_power_of_two_integer(int64_t v) {
    return v > 0 ? is_const_power_of_two_integer((uint64_t)v) : std::nullopt;
}

std::optional<int> is_const_power_of_two_integer(const Expr &e) {
    if (auto i = as_const_int(e)) {
        return is_const_power_of_two_integer(*i);
    }
    if (auto u = as_const_uint(e)) {
        return is_const_power_of_two_integer(*u);
    }
    return std::nullopt;
}

bool is_positive_const(const Expr &e) {
    if (auto i = as_const_int(e)) {
        return *i > 0;
    }
    if (auto u = as_const_uint(e)) {
        return *u > 0;
    }
    auto f = as_const_float(e);
    return f && *f > 0;
}

bool is_negative_const(const Expr &e) {
    if (auto i = as_const_int(e)) {
        return *i < 0;
    }
    auto f = as_const_float(e);
    return f && *f < 0;
}

bool is_const_zero(const Expr &e) {
    return is_const(e, 0);
}

bool is_const_one(const Expr &e) {
    return is_const(e, 1);
}

bool is_undef(const Expr &e) {
    return Call::as_intrinsic(e, {Call::undef}) != nullptr;
}

bool is_no_op(const Stmt &s) {
    if (!s.defined()) {
        return true;
    }
    const Evaluate *e = s.as<Evaluate>();
    return e && is_pure(e->value);
}

namespace {

class FindImpure : public IRGraphVisitor {
    using IRGraphVisitor::include;
    using IRGraphVisitor::visit;

    void include(const Expr &e) override {
        if (pure) {
            IRGraphVisitor::include(e);
        }
    }

    void visit(const Call *op) override {
        if (op->is_pure()) {
            IRGraphVisitor::visit(op);
        } else {
            pure = false;
        }
    }

    void visit(const Load *op) override {
        // The content of an input does not change while a pipeline runs; that of anything else does.
        if (op->image.defined() || op->param.defined()) {
            IRGraphVisitor::visit(op);
        } else {
            pure = false;
        }
    }

public:
    bool pure = true;
};

}  // namespace

bool is_pure(const Expr &e) {
    FindImpure finder;
    e.accept(&finder);
    return finder.pure;
}

// ---- Making constants -----------------------------------------------------------------------------------------------

namespace {

/// The nearest value of a float type, as a double: rounded once, also where double is not exact.
double round_to_float(Type t, int64_t v) {
    return t.is_bfloat()    ? (double)bfloat16_t(v) :
           t.bits() == 16   ? (double)float16_t(v) :
           t.bits() == 32   ? (double)(float)v :
                              (double)v;
}

double round_to_float(Type t, uint64_t v) {
    return t.is_bfloat()    ? (double)bfloat16_t(v) :
           t.bits() == 16   ? (double)float16_t(v) :
           t.bits() == 32   ? (double)(float)v :
                              (double)v;
}

template<typename T>
Expr make_const_from_integer(Type t, T v) {
    if (t.is_vector()) {
        return Broadcast::make(make_const_from_integer(t.element_of(), v), t.lanes());
    }
    if (t.is_int()) {
        return Expr(IntImm::make(t, (int64_t)v));
    }
    if (t.is_uint()) {
        return Expr(UIntImm::make(t, (uint64_t)v));
    }
    if (t.is_float()) {
        return Expr(FloatImm::make(t, round_to_float(t, v)));
    }
    return Reinterpret::make(t, Expr(UIntImm::make(UInt(64), (uint64_t)v)));
}

}  // namespace

Expr make_const_int(Type t, int64_t v) {
    return make_const_from_integer(t, v);
}

Expr make_const_uint(Type t, uint64_t v) {
    return make_const_from_integer(t, v);
}

Expr make_const_float(Type t, double v) {
    if (t.is_vector()) {
        return Broadcast::make(make_const_float(t.element_of(), v), t.lanes());
    }
    if (t.is_float()) {
        return Expr(FloatImm::make(t, v));
    }
    return t.is_uint() && v >= 0 ? make_const_uint(t, safe_numeric_cast<uint64_t>(v)) :
                                   make_const_int(t, safe_numeric_cast<int64_t>(v));
}

Expr make_bool(bool val, int lanes) {
    return make_const_uint(UInt(1, lanes), val);
}

Expr make_zero(Type t) {
    return make_const_int(t, 0);
}

Expr make_one(Type t) {
    return make_const_int(t, 1);
}

Expr make_two(Type t) {
    return make_const_int(t, 2);
}

Expr const_true(int lanes) {
    return make_bool(true, lanes);
}

Expr const_false(int lanes) {
    return make_bool(false, lanes);
}

Expr make_signed_integer_overflow(Type type) {
    // Each is a node of its own: two overflows are not known to be equal.
    static std::atomic<int> counter{0};
    return Call::make(type, Call::signed_integer_overflow, {Expr(counter++)}, Call::Intrinsic);
}

bool is_signed_integer_overflow(const Expr &expr) {
    return Call::as_intrinsic(expr, {Call::signed_integer_overflow}) != nullptr;
}

void check_representable(Type t, int64_t v) {
    user_assert(!t.is_handle()) << "Integer constant " << v << " can't be used as a " << t << ".\n";
    user_assert(t.element_of().can_represent(v))
        << "Integer constant " << v << " would be converted to type " << t << " of the other operand"
        << ", but it is not exactly representable in that type. Cast one of them explicitly.\n";
}

Expr make_matching_const(const Expr &other, int v) {
    user_assert(other.defined()) << "An undefined Expr is combined with the constant " << v << ".\n";
    check_representable(other.type(), v);
    return make_const_int(other.type(), v);
}

// ---- Making types agree ---------------------------------------------------------------------------------------------

void match_lanes(Expr &a, Expr &b) {
    if (a.type().lanes() == b.type().lanes()) {
        return;
    }
    if (a.type().is_scalar()) {
        a = Broadcast::make(std::move(a), b.type().lanes());
    } else if (b.type().is_scalar()) {
        b = Broadcast::make(std::move(b), a.type().lanes());
    } else {
        user_error << "Can't match types of differing widths: " << a << " has type " << a.type() << ", " << b
                   << " has type " << b.type() << "\n";
    }
}

namespace {

/// The element type two operands meet in. They differ, and neither is a handle.
Type common_type(Type a, Type b) {
    if (a.is_float() != b.is_float()) {
        return a.is_float() ? a : b;
    }
    if (a.is_float()) {
        return a.bits() > b.bits() ? a : b;
    }
    const int bits = std::max(a.bits(), b.bits());
    return a.is_uint() && b.is_uint() ? a.with_bits(bits) : Int(bits);
}

}  // namespace

void match_types(Expr &a, Expr &b) {
    if (a.type() == b.type()) {
        return;
    }
    user_assert(!a.type().is_handle() && !b.type().is_handle())
        << "Can't do arithmetic on opaque pointer types: " << a << " of type " << a.type() << ", " << b << " of type "
        << b.type() << "\n";
    match_lanes(a, b);
    if (a.type() != b.type()) {
        const Type t = common_type(a.type().element_of(), b.type().element_of()).with_lanes(a.type().lanes());
        a = cast(t, std::move(a));
        b = cast(t, std::move(b));
    }
}

void match_types_bitwise(Expr &a, Expr &b, const char *op_name) {
    user_assert(a.defined() && b.defined()) << op_name << " of undefined Expr.\n";
    user_assert(a.type().is_int_or_uint() && b.type().is_int_or_uint())
        << "The operands of " << op_name << " must be integers: " << a << " has type " << a.type() << ", " << b
        << " has type " << b.type() << ".\n";
    match_lanes(a, b);
    if (a.type() == b.type()) {
        return;
    }
    user_assert(a.type().code() == b.type().code())
        << "The operands of " << op_name << " must both be signed or both be unsigned: " << a << " has type "
        << a.type() << ", " << b << " has type " << b.type() << ". Cast one of them.\n";
    match_bits(a, b);
}

void match_bits(Expr &a, Expr &b) {
    // The types are taken first: arguments are evaluated in no particular order, and a moved Expr has none.
    const int bits = std::max(a.type().bits(), b.type().bits());
    const Type a_type = a.type().with_bits(bits), b_type = b.type().with_bits(bits);
    a = cast(a_type, std::move(a));
    b = cast(b_type, std::move(b));
}

// ---- Smaller tools --------------------------------------------------------------------------------------------------

Expr raise_to_integer_power(Expr x, int64_t p) {
    if (p < 0) {
        internal_assert(p != INT64_MIN) << "raise_to_integer_power by " << p;
        const Expr one = make_one(x.type());
        return one / raise_to_integer_power(std::move(x), -p);
    }
    // Square and multiply, from the least significant bit.
    Expr result;
    for (Expr power = std::move(x);; power = power * power) {
        if (p & 1) {
            result = result.defined() ? result * power : power;
        }
        p >>= 1;
        if (p == 0) {
            return result.defined() ? result : make_one(power.type());
        }
    }
}

void split_into_ands(const Expr &cond, std::vector<Expr> &result) {
    if (!cond.defined()) {
        return;
    }
    internal_assert(cond.type().is_bool()) << "split_into_ands: " << cond << " is not a condition";
    // A chain of && may be long: no recursion along it.
    std::vector<Expr> pending = {cond};
    while (!pending.empty()) {
        const Expr e = pending.back();
        pending.pop_back();
        if (const And *a = e.as<And>()) {
            pending.push_back(a->b);
            pending.push_back(a->a);
        } else if (!is_const_one(e)) {
            result.push_back(e);
        }
    }
}

Expr strided_ramp_base(const Expr &e, int stride) {
    const Ramp *r = e.as<Ramp>();
    return r && r->base.type().is_scalar() && is_const(r->stride, stride) ? r->base : Expr();
}

Expr peel_lets(const Expr &e, LetList &lets) {
    Expr body = e;
    while (const Let *let = body.as<Let>()) {
        lets.emplace_back(let->name, let->value);
        body = let->body;
    }
    return body;
}

Expr rewrap_all_lets(const Expr &e, const LetList &lets) {
    Expr result = e;
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
        result = Let::make(it->first, it->second, result);
    }
    return result;
}

namespace {

/// The names of all variables in an expression, bound ones included.
class CollectNames : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }

public:
    std::set<std::string> names;
};

}  // namespace

Expr rewrap_used_lets(const Expr &e, const LetList &lets) {
    CollectNames used;
    e.accept(&used);
    LetList needed;
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
        if (used.names.count(it->first)) {
            it->second.accept(&used);
            needed.push_back(*it);
        }
    }
    return rewrap_all_lets(e, LetList(needed.rbegin(), needed.rend()));
}

namespace {

template<typename IR>
IR remove_tags(const IR &ir, std::initializer_list<Call::IntrinsicOp> tags) {
    return mutate_with(ir, [&](auto *self, const Call *op) -> Expr {
        return op->is_intrinsic(tags) ? self->mutate(op->args[0]) : self->visit_base(op);
    });
}

}  // namespace

Expr remove_likelies(const Expr &e) {
    return remove_tags(e, {Call::likely, Call::likely_if_innermost});
}
Stmt remove_likelies(const Stmt &s) {
    return remove_tags(s, {Call::likely, Call::likely_if_innermost});
}
Expr remove_promises(const Expr &e) {
    return remove_tags(e, {Call::promise_clamped, Call::unsafe_promise_clamped});
}
Stmt remove_promises(const Stmt &s) {
    return remove_tags(s, {Call::promise_clamped, Call::unsafe_promise_clamped});
}

Expr unwrap_tags(const Expr &e) {
    Expr result = e;
    while (const Call *tag = Call::as_intrinsic(result, {Call::likely, Call::likely_if_innermost, Call::promise_clamped,
                                                         Call::unsafe_promise_clamped})) {
        result = tag->args[0];
    }
    return result;
}

namespace {

template<typename T>
std::pair<Expr, Expr> operands(const Expr &e) {
    const T *op = e.as<T>();
    return {op->a, op->b};
}

}  // namespace

std::optional<std::pair<Expr, Expr>> as_binary_operands(const Expr &e) {
    switch (e.node_type()) {
    case IRNodeType::Add:
        return operands<Add>(e);
    case IRNodeType::Sub:
        return operands<Sub>(e);
    case IRNodeType::Mul:
        return operands<Mul>(e);
    case IRNodeType::Div:
        return operands<Div>(e);
    case IRNodeType::Mod:
        return operands<Mod>(e);
    case IRNodeType::Min:
        return operands<Min>(e);
    case IRNodeType::Max:
        return operands<Max>(e);
    case IRNodeType::EQ:
        return operands<EQ>(e);
    case IRNodeType::NE:
        return operands<NE>(e);
    case IRNodeType::LT:
        return operands<LT>(e);
    case IRNodeType::LE:
        return operands<LE>(e);
    case IRNodeType::GT:
        return operands<GT>(e);
    case IRNodeType::GE:
        return operands<GE>(e);
    case IRNodeType::And:
        return operands<And>(e);
    case IRNodeType::Or:
        return operands<Or>(e);
    default:
        return std::nullopt;
    }
}

Expr make_binary_op(IRNodeType type, Expr a, Expr b) {
    switch (type) {
    case IRNodeType::Add:
        return Add::make(std::move(a), std::move(b));
    case IRNodeType::Sub:
        return Sub::make(std::move(a), std::move(b));
    case IRNodeType::Mul:
        return Mul::make(std::move(a), std::move(b));
    case IRNodeType::Div:
        return Div::make(std::move(a), std::move(b));
    case IRNodeType::Mod:
        return Mod::make(std::move(a), std::move(b));
    case IRNodeType::Min:
        return Min::make(std::move(a), std::move(b));
    case IRNodeType::Max:
        return Max::make(std::move(a), std::move(b));
    case IRNodeType::EQ:
        return EQ::make(std::move(a), std::move(b));
    case IRNodeType::NE:
        return NE::make(std::move(a), std::move(b));
    case IRNodeType::LT:
        return LT::make(std::move(a), std::move(b));
    case IRNodeType::LE:
        return LE::make(std::move(a), std::move(b));
    case IRNodeType::GT:
        return GT::make(std::move(a), std::move(b));
    case IRNodeType::GE:
        return GE::make(std::move(a), std::move(b));
    case IRNodeType::And:
        return And::make(std::move(a), std::move(b));
    case IRNodeType::Or:
        return Or::make(std::move(a), std::move(b));
    default:
        internal_error << IRNodeType_string(type) << " is not a node with two operands";
    }
}

}  // namespace Internal
}  // namespace Halide
