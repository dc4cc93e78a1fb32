#include "lower/pto/PTOVectorizer.h"

#include "analysis/ConstantBounds.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/LowerIntrinsics.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOMath.h"
#include "lower/pto/PTOUtil.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

#include <cstring>
#include <sstream>

// Expressions of a vectorized loop: the value of each in all lanes. What is the same in all lanes and an index stays a
// scalar expression as long as it can.

namespace Halide {
namespace Internal {

namespace {

std::string text_of(const Expr &e) {
    std::ostringstream text;
    text << e;
    return text.str();
}

}  // namespace

/// Whether the expression depends on the lane or on something that only vector instructions can read.
bool PTOVectorizer::varies(const Expr &e) const {
    class Finder : public IRGraphVisitor {
    public:
        explicit Finder(const PTOVectorizer &p) : p(p) {}
        bool found = false;

    protected:
        using IRGraphVisitor::visit;
        void visit(const Variable *op) override {
            if (op->name == p.lane.var || p.vectors.contains(op->name)) {
                found = true;
            } else if (const Expr *value = p.aliases.find(op->name)) {
                value->accept(this);
            }
        }
        void visit(const Load *op) override { found = true; }
        void visit(const VectorReduce *op) override { found = true; }

    private:
        const PTOVectorizer &p;
    } finder(*this);
    e.accept(&finder);
    return finder.found;
}

Expr PTOVectorizer::without_aliases(const Expr &e) const {
    class Expand : public IRMutator {
    public:
        explicit Expand(const Scope<Expr> &aliases) : aliases(aliases) {}

    protected:
        using IRMutator::visit;
        Expr visit(const Variable *op) override {
            const Expr *value = aliases.find(op->name);
            return value ? mutate(*value) : Expr(op);
        }

    private:
        const Scope<Expr> &aliases;
    };
    return Expand(aliases).mutate(e);
}

/// Scalars are computed by the scalar unit where it has the operations: 32-bit indices, and whatever needs none.
bool PTOVectorizer::is_scalar(const Expr &e) const {
    return (e.type() == Int(32) || e.type().is_bool() || is_splat_leaf(e)) && !varies(e) && scalar_unit_computes(e);
}

bool PTOVectorizer::is_splat_leaf(const Expr &e) const {
    if (is_const(e)) {
        return true;
    }
    const Variable *v = e.as<Variable>();
    return v && v->name != lane.var && !vectors.contains(v->name) && !aliases.contains(v->name);
}

int PTOVectorizer::splat(const Expr &e) {
    const Expr value = simplify(without_aliases(e));
    return b.op("vbrc", vtype(e.type()), {VMIOperand::scalar_of(value, vmi_elem(e.type()))},
                {vmi_number("size", lane.lanes)}, VMIPlacement::Free);
}

int PTOVectorizer::binary(const char *name, const VMIType &t, int x, int y) {
    return b.op(name, t, {VMIOperand::of(x), VMIOperand::of(y)});
}

int PTOVectorizer::unary(const char *name, const VMIType &t, int x) {
    return b.op(name, t, {VMIOperand::of(x)});
}

int PTOVectorizer::with_scalar(const char *name, int x, const Expr &s, const Type &t) {
    return b.op(name, vtype(t),
                {VMIOperand::of(x), VMIOperand::scalar_of(simplify(without_aliases(s)), vmi_elem(t)), VMIOperand::of(full_mask(lane.lanes))});
}

int PTOVectorizer::lane_numbers() {
    VMIType t{VMIElem::I32, lane.lanes, false};
    const int v = b.op("vci", t, {VMIOperand::scalar_of(make_zero(Int(32)), VMIElem::I32)},
                       {vmi_number("size", lane.lanes)});
    return as(v, VMIElem::SI32);
}

int PTOVectorizer::one_lane(int value) {
    const VMIType t = b.type(value);
    if (t.lanes == 1) {
        return value;
    }
    const int first = b.op("create_mask", VMIType::mask(t.lanes), {VMIOperand::offset(make_one(Int(32)))},
                           {vmi_number("size", t.lanes)}, VMIPlacement::Free);
    return b.op("vcmax", VMIType{t.elem, 1, false}, {VMIOperand::of(value), VMIOperand::of(first)});
}

int PTOVectorizer::to_lanes(int value, int lanes) {
    const VMIType t = b.type(value);
    if (t.lanes == lanes) {
        return value;
    }
    return b.op("vbrc", VMIType{t.elem, lanes, false}, {VMIOperand::of(one_lane(value))}, {vmi_number("size", lanes)});
}

namespace {

/// x of clamp(x, t.min(), t.max()) for a narrow integer type: such a conversion saturates. Undefined if it is something else.
Expr clamped_to_range(const Expr &e, const Type &t) {
    const Max *max = e.as<Max>();
    const Min *min = e.as<Min>();
    max = min ? min->a.as<Max>() : max;
    min = max && !min ? max->a.as<Min>() : min;
    // Integers that become signed bytes have no such conversion.
    const Type from = e.type();
    const bool converts = from.is_float() || (from.is_int() && t.bits() < from.bits() && t != Int(8));
    if (!max || !min || !t.is_int_or_uint() || t.is_bool() || t.bits() > 16 || !converts) {
        return Expr();
    }
    const auto is = [](const Expr &c, const Expr &bound) {
        const std::optional<double> f = as_const_float(c);
        const std::optional<int64_t> i = as_const_int(c);
        const double want = bound.type().is_uint() ? (double)*as_const_uint(bound) : (double)*as_const_int(bound);
        return f ? *f == want : i && (double)*i == want;
    };
    if (!is(min->b, t.max()) || !is(max->b, t.min())) {
        return Expr();
    }
    return e.as<Min>() ? max->a : min->a;
}

bool is_nonnegative_constant(const Expr &e) {
    auto i = as_const_int(e);
    auto u = as_const_uint(e);
    return (i && *i >= 0) || u;
}

Expr constant_count(const Expr &e) {
    auto i = as_const_int(e);
    auto u = as_const_uint(e);
    return make_const(Int(32), i ? *i : (int64_t)*u);
}

}  // namespace

int PTOVectorizer::eval_min_max(const Expr &e, const Expr &x, const Expr &y, const char *name) {
    const Type t = e.type();
    if (is_splat_leaf(y) || (t == Int(32) && is_scalar(y))) {
        return with_scalar(name, eval(x), y, t);
    }
    if (is_splat_leaf(x) || (t == Int(32) && is_scalar(x))) {
        return with_scalar(name, eval(y), x, t);
    }
    return binary(name, vtype(t), eval(x), eval(y));
}

int PTOVectorizer::eval(const Expr &wrapped) {
    // Nodes are shared within an expression: each is computed once.
    const Expr e = without_tags(wrapped);
    auto known = memo.find(e);
    if (known != memo.end()) {
        return known->second;
    }
    const int v = eval_node(e);
    memo[e] = v;
    return v;
}

int PTOVectorizer::eval_node(const Expr &e) {
    const Type t = e.type();
    if (t.bits() > 32) {
        refuse("dtype", "`" + text_of(e) + "` has 64-bit lanes",
               "Vectors have elements of at most 32 bits: cast to a 32-bit type first.");
    }
    internal_assert(!t.is_bool()) << "A condition was asked for as a number: " << e << "\n";
    if (is_scalar(e)) {
        return splat(e);
    }
    auto scalar_operand = [&](const Expr &s) { return is_splat_leaf(s) || (t == Int(32) && is_scalar(s)); };
    if (const Variable *op = e.as<Variable>()) {
        if (op->name == lane.var) {
            return lane_numbers();
        }
        if (const int *v = vectors.find(op->name)) {
            return to_lanes(*v, lane.lanes);
        }
        if (const Expr *value = aliases.find(op->name)) {
            return eval(*value);
        }
        return splat(e);
    }
    if (const Cast *op = e.as<Cast>()) {
        const Type from = op->value.type();
        if (from.is_bool()) {
            return eval(select(op->value, make_one(t), make_zero(t)));
        }
        if (const Expr inside = clamped_to_range(op->value, t); inside.defined()) {
            return convert_saturating(inside, t);
        }
        if (t.is_int_or_uint() && from.is_float()) {
            if (const Call *c = op->value.as<Call>()) {
                if (c->is_intrinsic(Call::round)) {
                    return float_to_int(convert(eval(c->args[0]), from, Float(32)), t, "R");
                }
                if (starts_with(c->name, "trunc_")) {
                    return eval(cast(t, c->args[0]));
                }
                if (starts_with(c->name, "floor_") || starts_with(c->name, "ceil_")) {
                    return eval(cast(t, floor_to_int(c)));
                }
            }
        }
        return convert(eval(op->value), from, t);
    }
    if (const Reinterpret *op = e.as<Reinterpret>()) {
        internal_assert(op->value.type().bits() == t.bits()) << "Reinterpretation between widths: " << e << "\n";
        return as(eval(op->value), vmi_elem(t));
    }
    if (const Add *op = e.as<Add>()) {
        if (scalar_operand(op->b)) {
            return with_scalar("vadd", eval(op->a), op->b, t);
        }
        if (scalar_operand(op->a)) {
            return with_scalar("vadd", eval(op->b), op->a, t);
        }
        return binary("vadd", vtype(t), eval(op->a), eval(op->b));
    }
    if (const Sub *op = e.as<Sub>()) {
        // x − c is x + (−c), with the same bits; of variables for integers only.
        if (is_const(op->b) && (t.is_float() || t.is_int())) {
            return with_scalar("vadd", eval(op->a), simplify(make_zero(t) - op->b), t);
        }
        if (t == Int(32) && is_scalar(op->b)) {
            return with_scalar("vadd", eval(op->a), make_zero(t) - op->b, t);
        }
        return binary("vsub", vtype(t), eval(op->a), eval(op->b));
    }
    if (const Mul *op = e.as<Mul>()) {
        if (t.bits() == 8) {
            const Type wide = t.with_bits(16);
            return eval(cast(t, cast(wide, op->a) * cast(wide, op->b)));
        }
        if (!t.is_bfloat()) {
            if (scalar_operand(op->b)) {
                return with_scalar("vmul", eval(op->a), op->b, t);
            }
            if (scalar_operand(op->a)) {
                return with_scalar("vmul", eval(op->b), op->a, t);
            }
        }
        return binary("vmul", vtype(t), eval(op->a), eval(op->b));
    }
    if (const Div *op = e.as<Div>()) {
        if (t.is_bfloat()) {
            return eval(cast(t, cast(Float(32), op->a) / cast(Float(32), op->b)));
        }
        if (t.is_float()) {
            return binary("vdiv", vtype(t), eval(op->a), eval(op->b));
        }
        return eval(divide_integers(op->a, op->b));
    }
    if (const Mod *op = e.as<Mod>()) {
        if (t.is_float()) {
            return eval(lower_float_mod(op->a, op->b));
        }
        if (is_const(op->b)) {
            return eval(lower_int_uint_mod(op->a, op->b));
        }
        return eval(remainder_of_integers(op->a, op->b));
    }
    if (const Min *op = e.as<Min>()) {
        return eval_min_max(e, op->a, op->b, "vmin");
    }
    if (const Max *op = e.as<Max>()) {
        return eval_min_max(e, op->a, op->b, "vmax");
    }
    if (const Select *op = e.as<Select>()) {
        const int bits = std::max(select_bits(t.bits()), compare_bits(op->condition));
        const int m = mask(op->condition, bits, -1);
        return choose(m, eval(op->true_value), eval(op->false_value));
    }
    if (const Load *op = e.as<Load>()) {
        return load(op);
    }
    if (const Let *op = e.as<Let>()) {
        // The same node means something else where a name is bound to something else.
        memo.clear();
        if (is_scalar(op->value)) {
            b.let(op->name, op->value);
            const int body = eval(op->body);
            memo.clear();
            return body;
        }
        if (op->value.type().is_bool() || loaded_buffers(op->value).empty()) {
            if (op->value.type() == Int(32) || op->value.type().is_bool() || is_splat_leaf(op->value)) {
                const ScopedBinding<Expr> bind(aliases, op->name, op->value);
                const int body = eval(op->body);
                memo.clear();
                return body;
            }
        }
        const int v = eval(op->value);
        b.set_hint(v, op->name);
        const ScopedBinding<Expr> index(aliases, op->name, op->value);
        const ScopedBinding<int> bind(vectors, op->name, v);
        const int body = eval(op->body);
        memo.clear();
        return body;
    }
    if (const VectorReduce *op = e.as<VectorReduce>()) {
        return to_lanes(eval_reduce(op), lane.lanes);
    }
    if (const Call *op = e.as<Call>()) {
        return eval_call(op);
    }
    if (const Broadcast *op = e.as<Broadcast>()) {
        return eval(op->value);
    }
    refuse("expression", "`" + text_of(e) + "` has no vector form", "");
}

/// A reduction of a register with one element per lane.
int PTOVectorizer::eval_reduce(const VectorReduce *op) {
    const Load *acc = op->value.as<Load>();
    auto r = acc ? registers.find(acc->name) : registers.end();
    internal_assert(r != registers.end() && op->type.is_scalar()) << "Reduction of something else than a register: "
                                                                  << Expr(op) << "\n";
    const int v = register_value(acc->name);
    const VMIType t = b.type(v);
    const char *name = op->op == VectorReduce::Add ? "vcadd" :
                       op->op == VectorReduce::Max || op->op == VectorReduce::Or ? "vcmax" : "vcmin";
    std::vector<VMIAttribute> attributes;
    if (op->op == VectorReduce::Add) {
        attributes.push_back(vmi_flag("reassoc"));
    }
    return b.op(name, VMIType{t.elem, 1, false}, {VMIOperand::of(v), VMIOperand::of(full_mask(t.lanes))}, attributes);
}

namespace {

bool is_named(const Call *op, const char *function) {
    const size_t n = strlen(function);
    return op->name.compare(0, n, function) == 0 && op->name.size() > n && op->name[n] == '_' &&
           (op->name.compare(n, std::string::npos, "_f32") == 0 || op->name.compare(n, std::string::npos, "_f16") == 0);
}

}  // namespace

int PTOVectorizer::eval_shift(const Call *op) {
    const Type t = op->type;
    const bool left = op->is_intrinsic(Call::shift_left);
    const char *name = left ? "vshl" : "vshr";
    const Expr &count = op->args[1];
    if (is_nonnegative_constant(count)) {
        return b.op(name, vtype(t),
                    {VMIOperand::of(eval(op->args[0])), VMIOperand::offset(constant_count(count)),
                     VMIOperand::of(full_mask(lane.lanes))});
    }
    if (count.type().is_int()) {
        return eval(left ? lower_signed_shift_left(op->args[0], count) : lower_signed_shift_right(op->args[0], count));
    }
    return binary(name, vtype(t), eval(op->args[0]), eval(cast(t, count)));
}

int PTOVectorizer::eval_call(const Call *op) {
    const Type t = op->type;
    auto arg = [&](int i) { return eval(op->args[i]); };
    switch (op->intrinsic_op) {
    case Call::bitwise_and:
        return binary("vand", vtype(t), arg(0), arg(1));
    case Call::bitwise_or:
        return binary("vor", vtype(t), arg(0), arg(1));
    case Call::bitwise_xor:
        return binary("vxor", vtype(t), arg(0), arg(1));
    case Call::bitwise_not:
        return unary("vnot", vtype(t), arg(0));
    case Call::shift_left:
    case Call::shift_right:
        return eval_shift(op);
    case Call::abs: {
        const Type from = op->args[0].type();
        if (from.is_uint()) {
            return arg(0);
        }
        return as(unary("vabs", vtype(from), arg(0)), vmi_elem(t));
    }
    case Call::absd: {
        // The larger minus the smaller fits without a sign.
        const Expr &x = op->args[0], &y = op->args[1];
        const int high = eval(max(x, y)), low = eval(min(x, y));
        return binary("vsub", vtype(t), as(high, vmi_elem(t)), as(low, vmi_elem(t)));
    }
    case Call::saturating_add:
        if (t.is_uint()) {
            const int x = arg(0);
            const int room = unary("vnot", vtype(t), x);
            return binary("vadd", vtype(t), x, binary("vmin", vtype(t), arg(1), room));
        }
        break;
    case Call::saturating_sub:
        if (t.is_uint()) {
            const int x = arg(0);
            return binary("vsub", vtype(t), x, binary("vmin", vtype(t), x, arg(1)));
        }
        break;
    case Call::saturating_cast:
        return convert_saturating(op->args[0], t);
    case Call::round:
        return eval_rounded(op->args[0], "round");
    case Call::mul_shift_right:
        if (t.bits() == 32) {
            auto q = as_const_uint(op->args[2]);
            auto qi = as_const_int(op->args[2]);
            const int64_t shift = q ? (int64_t)*q : qi ? *qi : 0;
            if (shift >= 32 && shift < 64) {
                return eval_high_product(op->args[0], op->args[1], (int)shift);
            }
        }
        break;
    case Call::strict_add:
        return eval(Add::make(op->args[0], op->args[1]));
    case Call::strict_sub:
        return eval(Sub::make(op->args[0], op->args[1]));
    case Call::strict_mul:
        return eval(Mul::make(op->args[0], op->args[1]));
    case Call::strict_div:
        return eval(Div::make(op->args[0], op->args[1]));
    case Call::strict_min:
        return eval(Min::make(op->args[0], op->args[1]));
    case Call::strict_max:
        return eval(Max::make(op->args[0], op->args[1]));
    case Call::strict_cast:
        return eval(cast(t, op->args[0]));
    case Call::strict_fma:
        return b.op("vmula", vtype(t),
                    {VMIOperand::of(arg(2)), VMIOperand::of(arg(0)), VMIOperand::of(arg(1)),
                     VMIOperand::of(full_mask(lane.lanes))});
    case Call::if_then_else:
        return eval(select(op->args[0], op->args[1], op->args.size() > 2 ? op->args[2] : make_zero(t)));
    case Call::select_mask:
        return eval(select(op->args[0], op->args[1], op->args[2]));
    case Call::undef:
        return splat(make_zero(t));
    case Call::return_second: {
        bool prints = false;
        visit_with(op->args[0], [&](auto *, const Call *call) { prints = prints || call->call_type == Call::Extern; });
        if (prints) {
            refuse("statement", "a kernel cannot print, as the value that is computed here does",
                   "Take print and print_when away, or compile for the CPU, where the same schedule runs.");
        }
        return eval(op->args[1]);
    }
    case Call::div_round_to_zero:
        if (is_const(op->args[1])) {
            return eval(lower_int_uint_div(op->args[0], op->args[1], true));
        }
        break;
    case Call::popcount:
        return eval(lower_popcount(op->args[0]));
    case Call::count_leading_zeros:
        return eval(lower_count_leading_zeros(op->args[0]));
    case Call::count_trailing_zeros:
        return eval(lower_count_trailing_zeros(op->args[0]));
    default:
        break;
    }
    if (is_narrow_float(op)) {
        const int v = eval_narrow_float(op);
        return t.is_float() ? v : as(v, VMIElem::UI8);
    }
    if (op->is_extern()) {
        return eval_extern(op);
    }
    const Expr lowered = lower_intrinsic(op);
    if (!lowered.defined() || equal(lowered, Expr(op))) {
        refuse("expression", "`" + text_of(op) + "` has no vector form", "");
    }
    return eval(lowered);
}

int PTOVectorizer::eval_extern(const Call *op) {
    const Type t = op->type;
    if (t.is_bfloat()) {
        refuse("dtype", op->name + " of bfloat16", "Compute it in float32.");
    }
    auto arg = [&](int i) { return eval(op->args[i]); };
    if (is_named(op, "sqrt")) {
        return unary("vsqrt", vtype(t), arg(0));
    }
    if (is_named(op, "exp")) {
        return unary("vexp", vtype(t), arg(0));
    }
    if (is_named(op, "log")) {
        return unary("vln", vtype(t), arg(0));
    }
    if (is_named(op, "fast_inverse")) {
        return eval(make_one(t) / op->args[0]);
    }
    if (is_named(op, "fast_inverse_sqrt")) {
        return binary("vdiv", vtype(t), splat(make_one(t)), unary("vsqrt", vtype(t), arg(0)));
    }
    if (is_named(op, "floor") || is_named(op, "ceil") || is_named(op, "trunc") || is_named(op, "round")) {
        return eval_rounded(op->args[0], op->name.substr(0, op->name.find('_')));
    }
    if (is_named(op, "tanh")) {
        // 1 − 2 / (exp 2x + 1): right at both ends; near 0 its absolute error is that of one rounding.
        const Expr two = make_const(t, 2), one = make_one(t);
        return eval(one - two / (exp(op->args[0] * two) + one));
    }
    const Expr expanded = expand_pto_math(op);
    if (expanded.defined()) {
        return eval(expanded);
    }
    refuse("call", "`" + text_of(op) + "` is a call that vector code cannot make",
           "Vector code has the mathematical functions of the language; what others compute must be written as expressions.");
}

int PTOVectorizer::eval_high_product(const Expr &x, const Expr &y, int shift) {
    const Type t = x.type();
    const Type u = UInt(32);
    // vmull multiplies without sign; a negative factor counts as itself plus 2^32.
    const int a = as(eval(x), VMIElem::UI32), c = as(eval(y), VMIElem::UI32);
    const std::vector<int> parts = b.op("vmull", std::vector<VMIType>{vtype(u), vtype(u)},
                                        {VMIOperand::of(a), VMIOperand::of(c), VMIOperand::of(full_mask(lane.lanes))}, {},
                                        VMIPlacement::Pure);
    int high = parts[1];
    if (t.is_int()) {
        auto negative = [&](int v) {
            return as(b.op("vshr", VMIType{VMIElem::SI32, lane.lanes, false},
                           {VMIOperand::of(as(v, VMIElem::SI32)), VMIOperand::offset(make_const(Int(32), 31)),
                            VMIOperand::of(full_mask(lane.lanes))}),
                      VMIElem::UI32);
        };
        high = binary("vsub", vtype(u), high, binary("vand", vtype(u), negative(a), c));
        high = binary("vsub", vtype(u), high, binary("vand", vtype(u), negative(c), a));
    }
    high = as(high, vmi_elem(t));
    if (shift == 32) {
        return high;
    }
    return b.op("vshr", vtype(t),
                {VMIOperand::of(high), VMIOperand::offset(make_const(Int(32), shift - 32)),
                 VMIOperand::of(full_mask(lane.lanes))});
}

}  // namespace Internal
}  // namespace Halide
