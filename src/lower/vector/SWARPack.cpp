#include "lower/vector/SWARPack.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "analysis/ConstantBounds.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/LowerIntrinsics.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

bool is_uniform(const Expr &e) {
    const Broadcast *b = e.as<Broadcast>();
    return b && b->value.type().is_scalar();
}

std::optional<uint64_t> constant_bits(const Expr &scalar) {
    const uint64_t mask = scalar.type().bits() >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << scalar.type().bits()) - 1;
    if (const auto i = as_const_int(scalar)) {
        return (uint64_t)*i & mask;
    }
    if (const auto u = as_const_uint(scalar)) {
        return *u & mask;
    }
    return std::nullopt;
}

Expr scalar_bits(const Expr &e) {
    return e.type().is_float() ? reinterpret(UInt(e.type().bits()), e) : e;
}

}  // namespace

SWARPack::SWARPack(LowerContext &ctx, Place place, const Words &words)
    : ops([&ctx, name = place.func + ".word"] { return ctx.unique_name(name); }, place.bit_moves), ctx(ctx),
      place(std::move(place)), words(words) {
}

Stmt SWARPack::with_lets(Stmt s) const {
    for (size_t i = ops.lets.size(); i-- > 0;) {
        s = LetStmt::make(ops.lets[i].first, ops.lets[i].second, s);
    }
    return s;
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

void SWARPack::refuse(const Expr &e, const std::string &why) const {
    user_error << "Func " << place.func << " is vectorized over " << place.loop << " with VectorizeIn::SWAR, but\n    "
               << simplify(lane_of(e, 0)) << "\n  " << why << "\n  Use VectorizeIn::SIMD for this loop.\n";
    internal_error << "An error did not end lowering\n";
    std::abort();
}

void SWARPack::refuse_wide(const Expr &e) const {
    refuse(e, "has " + std::to_string(e.type().bits()) + " bits in each of " + std::to_string(place.lanes) +
                  " lanes, and an integer register has " + std::to_string(place.word_bits) + " bits for all of them.");
}

LaneShape SWARPack::shape(const Expr &e, int bits) const {
    if (!fits(bits)) {
        refuse_wide(e);
    }
    return {bits, place.lanes, std::max(16, (int)std::bit_ceil((unsigned)(bits * place.lanes)))};
}

// ---- What is known of values ----------------------------------------------------------------------------------------

ConstantInterval SWARPack::bounds(const Expr &e) {
    return constant_integer_bounds(e, Scope<ConstantInterval>::empty_scope(), &bounds_cache);
}

/// Whether an expression is made of loop variables only, as indices are: cheap to compute for each lane.
bool SWARPack::is_index(const Expr &e) const {
    bool result = true;
    visit_with(
        e,
        [&](auto *self, const Load *op) { result = result && op->type.is_scalar(); },
        [&](auto *self, const Variable *op) { result = result && op->type.is_scalar(); },
        [&](auto *self, const Call *op) {
            result = result && op->is_pure() && (op->is_intrinsic() || op->type.is_scalar());
            self->visit_base(op);
        });
    return result;
}

std::optional<std::vector<uint64_t>> SWARPack::constant_lanes(const Expr &e) const {
    std::vector<uint64_t> result;
    for (int i = 0; i < place.lanes; i++) {
        const auto c = constant_bits(simplify(lane_of(e, i)));
        if (!c) {
            return std::nullopt;
        }
        result.push_back(*c);
    }
    return result;
}

/// Lane by lane: each one computed as a scalar and put into its place.
LaneWord SWARPack::assemble(const Expr &e, const LaneShape &s) {
    const Type word = s.word_type();
    Expr result = make_zero(word);
    for (int i = 0; i < s.lanes; i++) {
        const Expr scalar = simplify(lane_of(e, i));
        Expr part;
        if (scalar.type().is_bool()) {
            part = Halide::select(scalar, make_const(word, s.lane_mask() << (i * s.bits)), make_zero(word));
        } else {
            part = cast(word, cast(UInt(s.bits), scalar_bits(scalar)));
            part = i == 0 ? part : part << make_const(word, i * s.bits);
        }
        result = i == 0 ? part : result | part;
    }
    return {result, s, s.lane_mask()};
}

// ---- Narrow forms of wide expressions -------------------------------------------------------------------------------

/// A type of so many bits that holds all values, of the first one's signedness if possible.
std::optional<Type> SWARPack::type_within(const std::vector<Expr> &values, int bits) {
    const Type first = values[0].type().element_of();
    for (halide_type_code_t code : {first.code(), first.is_int() ? Type::UInt : Type::Int}) {
        const Type t(code, bits, 1);
        if (std::all_of(values.begin(), values.end(), [&](const Expr &v) { return t.can_represent(bounds(v)); })) {
            return t;
        }
    }
    return std::nullopt;
}

Expr SWARPack::narrowed_operand(const Expr &e, const Type &t, bool forced) {
    const Expr n = narrowed(e, t, forced);
    if (n.defined()) {
        return n;
    }
    return forced || (is_index(e) && !e.type().is_bool()) ? cast(t.with_lanes(e.type().lanes()), e) : Expr();
}

/// The low bits of e, computed in the narrow type t throughout; undefined if that is not possible. Unless forced, only
/// if no operand has to be narrowed for it.
Expr SWARPack::narrowed(const Expr &e, const Type &element, bool forced) {
    const Type t = element.with_lanes(e.type().lanes());
    const auto both = [&](const Expr &a, const Expr &b, const Type &type, auto make) {
        const Expr x = narrowed_operand(a, type, forced);
        const Expr y = x.defined() ? narrowed_operand(b, type, forced) : Expr();
        return y.defined() ? cast(t, make(x, y)) : Expr();
    };
    if (!e.type().is_int_or_uint() || e.type().is_bool()) {
        return Expr();
    }
    if (e.type().bits() <= t.bits()) {
        return cast(t, e);
    }
    if (const Broadcast *b = e.as<Broadcast>()) {
        return Broadcast::make(simplify(cast(element, b->value)), b->lanes);
    }
    if (const Ramp *r = e.as<Ramp>()) {
        return Ramp::make(simplify(cast(element, r->base)), simplify(cast(element, r->stride)), r->lanes);
    }
    if (const Cast *c = e.as<Cast>()) {
        return c->value.type().is_int_or_uint() ? c->value.type().is_bool() || c->value.type().bits() <= t.bits() ?
                                                  cast(t, c->value) :
                                                  narrowed_operand(c->value, element, forced) :
                                                  Expr();
    }
    if (const Add *op = e.as<Add>()) {
        return both(op->a, op->b, element, [](const Expr &x, const Expr &y) { return x + y; });
    }
    if (const Sub *op = e.as<Sub>()) {
        return both(op->a, op->b, element, [](const Expr &x, const Expr &y) { return x - y; });
    }
    if (const Mul *op = e.as<Mul>()) {
        return both(op->a, op->b, element, [](const Expr &x, const Expr &y) { return x * y; });
    }
    if (const Select *op = e.as<Select>()) {
        return both(op->true_value, op->false_value, element,
                    [&](const Expr &x, const Expr &y) { return Select::make(op->condition, x, y); });
    }
    if (const Call *c = Call::as_intrinsic(e, {Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor})) {
        return both(c->args[0], c->args[1], element, [&](const Expr &x, const Expr &y) {
            return c->is_intrinsic(Call::bitwise_and) ? x & y : c->is_intrinsic(Call::bitwise_or) ? x | y : x ^ y;
        });
    }
    if (const Call *c = Call::as_intrinsic(e, {Call::bitwise_not})) {
        const Expr x = narrowed_operand(c->args[0], element, forced);
        return x.defined() ? ~x : Expr();
    }
    if (const Call *c = Call::as_intrinsic(e, {Call::shift_left})) {
        const auto k = constant_bits(is_uniform(c->args[1]) ? c->args[1].as<Broadcast>()->value : c->args[1]);
        const Expr x = k && *k < (uint64_t)t.bits() ? narrowed_operand(c->args[0], element, forced) : Expr();
        return x.defined() ? x << make_const(UInt(t.bits(), t.lanes()), *k) : Expr();
    }
    if (const Call *c = Call::as_intrinsic(e, {Call::widening_add, Call::widening_sub, Call::widening_mul})) {
        return both(c->args[0], c->args[1], element, [&](const Expr &x, const Expr &y) {
            return c->is_intrinsic(Call::widening_add) ? x + y : c->is_intrinsic(Call::widening_sub) ? x - y : x * y;
        });
    }
    // These look at all bits: operands must fit.
    if (const Call *c = Call::as_intrinsic(e, {Call::shift_right})) {
        const auto s = type_within({c->args[0]}, t.bits());
        const auto k = constant_bits(is_uniform(c->args[1]) ? c->args[1].as<Broadcast>()->value : c->args[1]);
        const Expr x = s && k ? narrowed_operand(c->args[0], *s, forced) : Expr();
        return x.defined() ? cast(t, x >> make_const(UInt(t.bits(), t.lanes()), std::min<uint64_t>(*k, t.bits() - 1))) :
                             Expr();
    }
    if (const auto operands = as_binary_operands(e); operands && !e.type().is_bool()) {
        const auto s = type_within({operands->first, operands->second}, t.bits());
        const IRNodeType node = e.node_type();
        return s ? both(operands->first, operands->second, *s,
                        [&](const Expr &x, const Expr &y) { return make_binary_op(node, x, y); }) :
                   Expr();
    }
    return Expr();
}

// ---- Values ---------------------------------------------------------------------------------------------------------

LaneWord SWARPack::pack(const Expr &e) {
    if (const auto it = packed.find(e); it != packed.end()) {
        return it->second;
    }
    LaneWord w = ops.name(pack_node(e));
    if (e.type().is_int_or_uint()) {
        const ConstantInterval known = bounds(e);
        if (known.min_defined && known.max_defined && known.min >= 0) {
            w.top = std::min(w.top, (uint64_t)known.max);
        }
    }
    packed.emplace(e, w);
    return w;
}

LaneWord SWARPack::pack_uniform(const Expr &scalar, const LaneShape &s) {
    if (const auto c = constant_bits(scalar)) {
        return SWAROps::constant(s, s.each(*c & s.lane_mask()));
    }
    const Expr bits = scalar_bits(scalar);
    const ConstantInterval known = constant_integer_bounds(bits);
    const bool bounded = known.min_defined && known.max_defined && known.min >= 0;
    return ops.broadcast(s, bits, bounded ? (uint64_t)known.max : s.lane_mask());
}

LaneWord SWARPack::pack_node(const Expr &e) {
    const Type t = e.type();
    internal_assert(t.lanes() == place.lanes && !t.is_bool()) << "Cannot pack " << e << "\n";
    if (const Cast *op = e.as<Cast>()) {
        return pack_cast(op);
    }
    const LaneShape s = shape(e, t.bits());
    if (const Broadcast *op = e.as<Broadcast>()) {
        return pack_uniform(op->value, s);
    }
    if (const Load *op = e.as<Load>()) {
        return pack_load(op);
    }
    if (const Variable *op = e.as<Variable>()) {
        const auto it = words.find(op->name);
        internal_assert(it != words.end()) << "No word for " << op->name << "\n";
        return it->second;
    }
    if (const Select *op = e.as<Select>()) {
        return pack_select(op, pack(op->true_value), pack(op->false_value));
    }
    if (const Reinterpret *op = e.as<Reinterpret>(); op && op->value.type().lanes() == t.lanes()) {
        return pack(op->value);
    }
    if (Call::as_intrinsic(e, {Call::undef})) {
        return SWAROps::constant(s, 0);
    }
    if (!t.is_int_or_uint()) {
        refuse(e, "is floating-point arithmetic, and an integer register has none.");
    }
    if (is_index(e)) {
        if (const auto lanes = constant_lanes(e)) {
            uint64_t w = 0;
            for (int i = 0; i < s.lanes; i++) {
                w |= (*lanes)[i] << (i * s.bits);
            }
            return SWAROps::constant(s, w);
        }
    }
    const bool is_signed = t.is_int();
    switch (e.node_type()) {
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        uint64_t steps = 0;
        for (int i = 0; i < s.lanes; i++) {
            steps |= (uint64_t)i << (i * s.bits);
        }
        const LaneWord counts = SWAROps::constant(s, steps);
        const auto stride = constant_bits(op->stride);
        std::vector<uint64_t> strides(s.lanes, stride.value_or(0));
        const Expr factor = cast(s.word_type(), cast(UInt(s.bits), op->stride));
        return ops.add(pack_uniform(op->base, s), stride ? ops.multiply(counts, strides) :
                                                           ops.multiply(counts, factor, s.lane_mask()));
    }
    case IRNodeType::Add: return ops.add(pack(e.as<Add>()->a), pack(e.as<Add>()->b));
    case IRNodeType::Sub: return ops.sub(pack(e.as<Sub>()->a), pack(e.as<Sub>()->b));
    case IRNodeType::Mul: return pack_multiply(e, e.as<Mul>()->a, e.as<Mul>()->b);
    case IRNodeType::Div: return pack_divide(e, e.as<Div>()->a, e.as<Div>()->b, false);
    case IRNodeType::Mod: return pack_divide(e, e.as<Mod>()->a, e.as<Mod>()->b, true);
    case IRNodeType::Min: return ops.min(pack(e.as<Min>()->a), pack(e.as<Min>()->b), is_signed);
    case IRNodeType::Max: return ops.max(pack(e.as<Max>()->a), pack(e.as<Max>()->b), is_signed);
    case IRNodeType::Call: return pack_call(e.as<Call>());
    default: refuse(e, "cannot be computed lane by lane in an integer register.");
    }
}

LaneWord SWARPack::pack_cast(const Cast *op) {
    const Expr e = op;
    const Type t = op->type, from = op->value.type();
    const LaneShape s = shape(e, t.bits());
    if (from.is_bool()) {
        const LaneWord m = convert(pack_bool(op->value, t.bits()), e, t.bits());
        return ops.bit_and(m, SWAROps::constant(s, s.ones()));
    }
    if (!from.is_int_or_uint() || !t.is_int_or_uint()) {
        refuse(e, "converts floating-point numbers, which an integer register cannot.");
    }
    if (t.bits() == from.bits()) {
        return pack(op->value);
    }
    if (t.bits() > from.bits()) {
        return ops.widen(pack(op->value), s, from.is_int());
    }
    const Expr direct = narrowed(op->value, t.element_of(), !fits(from.bits()));
    if (direct.defined()) {
        return pack(direct);
    }
    if (is_index(op->value)) {
        return assemble(e, s);
    }
    return ops.narrow(pack(op->value), s);
}

LaneWord SWARPack::pack_multiply(const Expr &e, Expr a, Expr b) {
    if (is_uniform(a) || (is_index(a) && !is_uniform(b))) {
        std::swap(a, b);
    }
    const LaneShape s = shape(e, e.type().bits());
    if (const Broadcast *factor = b.as<Broadcast>()) {
        if (const auto c = constant_bits(factor->value)) {
            return ops.multiply(pack(a), std::vector<uint64_t>(s.lanes, *c));
        }
        const LaneWord once = pack_uniform(factor->value, s);
        return ops.multiply(pack(a), cast(s.word_type(), cast(UInt(s.bits), factor->value)), once.top);
    }
    if (is_index(b)) {
        if (const auto factors = constant_lanes(b)) {
            return ops.multiply(pack(a), *factors);
        }
        // One factor for each lane, known before: one multiplication for each lane.
        const LaneWord x = ops.name(pack(a));
        Expr result;
        for (int i = 0; i < s.lanes; i++) {
            const Expr factor = cast(s.word_type(), cast(UInt(s.bits), simplify(lane_of(b, i))));
            const Expr lane = (ops.extract(x, i) * factor) & make_const(s.word_type(), s.lane_mask());
            result = i == 0 ? lane : result | lane << make_const(s.word_type(), i * s.bits);
        }
        return {result, s, s.lane_mask()};
    }
    // A factor of 0 or 1 selects.
    LaneWord x = pack(a), y = pack(b);
    if (x.top <= 1) {
        std::swap(x, y);
    }
    if (y.top <= 1) {
        return ops.select(ops.mask_of_low_bits(y), x, SWAROps::constant(s, 0));
    }
    refuse(e, "multiplies two values that both vary by lane. Lanes of a word have one factor, or constant ones.");
}

// Euclidean: the remainder is in 0 … |b|−1; the quotient by −b is minus that by b.
LaneWord SWARPack::pack_divide(const Expr &e, const Expr &a, const Expr &b, bool remainder) {
    const Type t = e.type();
    const LaneShape s = shape(e, t.bits());
    const auto c = is_uniform(b) ? constant_bits(b.as<Broadcast>()->value) : std::nullopt;
    if (!c) {
        refuse(e, "divides by a value that is not a constant. Lanes of a word are divided by constants only.");
    }
    if (*c == 0) {
        return SWAROps::constant(s, 0);
    }
    const bool negative = t.is_int() && (*c >> (s.bits - 1)) != 0;
    const uint64_t d = negative ? (~*c + 1) & s.lane_mask() : *c;
    if (remainder && std::has_single_bit(d)) {
        return ops.bit_and(pack(a), SWAROps::constant(s, s.each(d - 1)));
    }
    const LaneWord x = pack(a);
    const LaneWord q = t.is_int() ? ops.divide_signed_floor(x, d) : ops.divide_unsigned(x, d);
    if (remainder) {
        LaneWord r = ops.sub(x, ops.multiply(q, std::vector<uint64_t>(s.lanes, d)));
        r.top = d - 1;
        return r;
    }
    return negative ? ops.negate(q) : q;
}

LaneWord SWARPack::pack_shift(const Call *op, bool left) {
    const Expr e = op, amount = op->args[1];
    const LaneShape s = shape(e, op->type.bits());
    const bool is_signed = op->type.is_int();
    const LaneWord a = pack(op->args[0]);
    if (const auto lanes = is_index(amount) ? constant_lanes(amount) : std::nullopt) {
        // A negative amount shifts the other way; beyond the lane the result is not specified: take the nearest.
        std::vector<int> forward, backward;
        bool both = false;
        for (uint64_t k : *lanes) {
            const int64_t signed_k =
                amount.type().is_int() ? (int64_t)(k << (64 - amount.type().bits())) >> (64 - amount.type().bits()) :
                                         (int64_t)std::min<uint64_t>(k, s.bits);
            const int v = (int)std::clamp<int64_t>(signed_k, 1 - s.bits, s.bits - 1);
            forward.push_back(std::max(v, 0));
            backward.push_back(std::max(-v, 0));
            both = both || v < 0;
        }
        const LaneWord r = ops.shift(a, forward, left, is_signed);
        return both ? ops.shift(ops.name(r), backward, !left, is_signed) : r;
    }
    const ConstantInterval known = bounds(amount);
    const bool not_negative = amount.type().is_uint() || (known.min_defined && known.min >= 0);
    if (const Broadcast *uniform = amount.as<Broadcast>()) {
        const Expr k = uniform->value;
        const auto by = [&](const Expr &n, bool to_left) {
            const Expr wide = cast(s.word_type(), cast(UInt(n.type().bits()), n));
            return to_left ? ops.shift_left(a, wide) : ops.shift_right(a, wide, is_signed);
        };
        if (not_negative) {
            return by(k, left);
        }
        const Expr zero = make_zero(k.type());
        const LaneWord forward = ops.name(by(max(k, zero), left));
        LaneWord r = ops.name(by(max(-k, zero), !left));
        r.word = Select::make(k < zero, r.word, forward.word);
        return r;
    }
    const LaneWord n = ops.name(pack(amount));
    if (not_negative) {
        return ops.shift(a, n, left, is_signed);
    }
    const LaneWord negative = ops.name(ops.sign_mask(n));
    const LaneWord magnitude = ops.abs(n);
    const LaneWord forward = ops.shift(a, magnitude, left, is_signed), back = ops.shift(a, magnitude, !left, is_signed);
    return ops.select(negative, back, forward);
}

/// Clamps to the range of the narrow type; of each end, only if it can be exceeded.
LaneWord SWARPack::pack_saturating_cast(const Call *op) {
    const Type t = op->type, from = op->args[0].type();
    if (!from.is_int_or_uint()) {
        refuse(op, "converts floating-point numbers, which an integer register cannot.");
    }
    Expr v = op->args[0];
    const ConstantInterval range = ConstantInterval::bounds_of_type(t.element_of()), known = bounds(v);
    if (!(known.max_defined && known.max <= range.max) && from.can_represent(range.max)) {
        v = Min::make(v, make_const(from, range.max));
    }
    if (!(known.min_defined && known.min >= range.min) && from.is_int()) {
        v = Max::make(v, make_const(from, range.min));
    }
    return pack(cast(t, v));
}

LaneWord SWARPack::pack_call(const Call *op) {
    const Expr e = op;
    const bool is_signed = op->type.is_int();
    const auto arg = [&](int i) { return pack(op->args[i]); };
    const auto has_own_type = [&] {
        return std::all_of(op->args.begin(), op->args.end(), [&](const Expr &a) { return a.type() == op->type; });
    };
    if (op->is_intrinsic({Call::likely, Call::likely_if_innermost, Call::promise_clamped, Call::unsafe_promise_clamped})) {
        return arg(0);
    }
    if (op->is_intrinsic(Call::bitwise_and)) {
        return ops.bit_and(arg(0), arg(1));
    }
    if (op->is_intrinsic(Call::bitwise_or)) {
        return ops.bit_or(arg(0), arg(1));
    }
    if (op->is_intrinsic(Call::bitwise_xor)) {
        return ops.bit_xor(arg(0), arg(1));
    }
    if (op->is_intrinsic(Call::bitwise_not)) {
        return ops.bit_not(arg(0));
    }
    if (op->is_intrinsic({Call::shift_left, Call::shift_right})) {
        return pack_shift(op, op->is_intrinsic(Call::shift_left));
    }
    if (op->is_intrinsic(Call::abs)) {
        return op->args[0].type().is_int() ? ops.abs(arg(0)) : arg(0);
    }
    if (op->is_intrinsic(Call::absd) && op->args[0].type() == op->args[1].type()) {
        return ops.absd(arg(0), arg(1), op->args[0].type().is_int());
    }
    if (op->is_intrinsic(Call::saturating_add) && has_own_type()) {
        return ops.saturating_add(arg(0), arg(1), is_signed);
    }
    if (op->is_intrinsic(Call::saturating_sub) && has_own_type()) {
        return ops.saturating_sub(arg(0), arg(1), is_signed);
    }
    if (op->is_intrinsic(Call::halving_add) && has_own_type()) {
        return ops.halving_add(arg(0), arg(1), is_signed);
    }
    if (op->is_intrinsic(Call::rounding_halving_add) && has_own_type()) {
        return ops.rounding_halving_add(arg(0), arg(1), is_signed);
    }
    if (op->is_intrinsic(Call::halving_sub) && has_own_type()) {
        return ops.halving_sub(arg(0), arg(1), is_signed);
    }
    if (op->is_intrinsic(Call::saturating_cast)) {
        return pack_saturating_cast(op);
    }
    if (op->is_intrinsic(Call::popcount)) {
        return ops.popcount(arg(0));
    }
    if (op->is_intrinsic(Call::count_leading_zeros)) {
        return ops.count_leading_zeros(arg(0));
    }
    if (op->is_intrinsic(Call::count_trailing_zeros)) {
        return ops.count_trailing_zeros(arg(0));
    }
    const Expr expanded = lower_intrinsic(op);
    if (!expanded.defined()) {
        refuse(e, "calls " + op->name + ", which cannot be computed lane by lane in an integer register.");
    }
    return pack(expanded);
}

LaneWord SWARPack::pack_select(const Select *op, const LaneWord &t, const LaneWord &f) {
    const Expr c = is_uniform(op->condition) ? op->condition.as<Broadcast>()->value : op->condition;
    if (c.type().is_scalar()) {
        return {Select::make(c, t.word, f.word), t.shape, std::max(t.top, f.top)};
    }
    const LaneWord m = convert(pack_bool(c, t.shape.bits), op, t.shape.bits);
    return ops.select(m, t, f);
}

// ---- Masks ----------------------------------------------------------------------------------------------------------

LaneWord SWARPack::convert(const LaneWord &mask, const Expr &e, int bits) {
    return ops.name(ops.convert_mask(mask, shape(e, bits)));
}

LaneWord SWARPack::pack_compare(const Expr &e, const Expr &a, const Expr &b, int bits) {
    const Type t = a.type();
    if (t.is_bool()) {
        const LaneWord x = pack_bool(a, bits);
        return ops.bit_xor(x, convert(pack_bool(b, x.shape.bits), e, x.shape.bits));
    }
    Expr x = a, y = b;
    if (!t.is_int_or_uint()) {
        refuse(e, "compares floating-point numbers, which an integer register cannot.");
    }
    for (int narrow = 8; !fits(x.type().bits()) && narrow < t.bits() && fits(narrow); narrow *= 2) {
        if (const auto s = type_within({a, b}, narrow)) {
            x = narrowed_operand(a, *s, true);
            y = narrowed_operand(b, *s, true);
        }
    }
    if (!fits(x.type().bits())) {
        refuse_wide(a);
    }
    const LaneWord p = pack(x), q = pack(y);
    const bool is_signed = x.type().is_int();
    switch (e.node_type()) {
    case IRNodeType::EQ: return ops.equal(p, q);
    case IRNodeType::NE: return ops.not_equal(p, q);
    case IRNodeType::LT: return ops.less(p, q, is_signed);
    case IRNodeType::GT: return ops.less(q, p, is_signed);
    case IRNodeType::LE: return ops.bit_not(ops.less(q, p, is_signed));
    default: return ops.bit_not(ops.less(p, q, is_signed));
    }
}

LaneWord SWARPack::pack_bool(const Expr &e, int bits) {
    internal_assert(e.type().is_bool()) << "Not a bool: " << e << "\n";
    const auto combined = [&](const Expr &a, const Expr &b, auto f) {
        LaneWord x = pack_bool(a, bits), y = pack_bool(b, bits);
        if (x.shape.bits != y.shape.bits) {
            x = convert(x, e, bits);
            y = convert(y, e, bits);
        }
        return f(x, y);
    };
    if (const Broadcast *op = e.as<Broadcast>()) {
        const LaneShape s = shape(e, bits);
        const Expr all = make_const(s.word_type(), s.word_mask()), none = make_zero(s.word_type());
        return {is_const(op->value) ? (is_const_one(op->value) ? all : none) : Select::make(op->value, all, none), s,
                s.lane_mask()};
    }
    if (is_index(e)) {
        const LaneShape s = shape(e, bits);
        if (const auto lanes = constant_lanes(e)) {
            uint64_t w = 0;
            for (int i = 0; i < s.lanes; i++) {
                w |= ((*lanes)[i] ? s.lane_mask() : 0) << (i * s.bits);
            }
            return SWAROps::constant(s, w);
        }
        return ops.name(assemble(e, s));
    }
    if (const auto operands = as_binary_operands(e)) {
        if (e.as<And>() || e.as<Min>()) {
            return combined(operands->first, operands->second,
                            [&](const LaneWord &x, const LaneWord &y) { return ops.bit_and(x, y); });
        }
        if (e.as<Or>() || e.as<Max>()) {
            return combined(operands->first, operands->second,
                            [&](const LaneWord &x, const LaneWord &y) { return ops.bit_or(x, y); });
        }
        LaneWord m = pack_compare(e, operands->first, operands->second, bits);
        if (e.as<EQ>() && operands->first.type().is_bool()) {
            m = ops.bit_not(m);
        }
        return ops.name(m);
    }
    if (const Not *op = e.as<Not>()) {
        return ops.bit_not(pack_bool(op->a, bits));
    }
    if (const Select *op = e.as<Select>()) {
        const LaneWord t = convert(pack_bool(op->true_value, bits), e, bits);
        const LaneWord f = convert(pack_bool(op->false_value, bits), e, bits);
        return ops.name(pack_select(op, t, f));
    }
    if (const Cast *op = e.as<Cast>(); op && op->value.type().is_int_or_uint()) {
        const bool wide = !fits(op->value.type().bits());
        const Expr low = wide ? narrowed_operand(op->value, UInt(8), true) : op->value;
        return ops.name(ops.mask_of_low_bits(pack(low)));
    }
    if (const Load *op = e.as<Load>()) {
        LaneWord bytes = pack_load(op);
        bytes.top = 1;
        return ops.name(ops.mask_of_low_bits(bytes));
    }
    if (const Variable *op = e.as<Variable>()) {
        const auto it = words.find(op->name);
        internal_assert(it != words.end()) << "No word for " << op->name << "\n";
        return it->second;
    }
    if (const Call *op = e.as<Call>()) {
        if (op->is_intrinsic({Call::likely, Call::likely_if_innermost})) {
            return pack_bool(op->args[0], bits);
        }
        if (op->is_intrinsic({Call::bitwise_and, Call::bitwise_or, Call::bitwise_xor})) {
            return combined(op->args[0], op->args[1], [&](const LaneWord &x, const LaneWord &y) {
                return op->is_intrinsic(Call::bitwise_and) ? ops.bit_and(x, y) :
                       op->is_intrinsic(Call::bitwise_or)  ? ops.bit_or(x, y) :
                                                             ops.bit_xor(x, y);
            });
        }
        if (op->is_intrinsic(Call::bitwise_not)) {
            return ops.bit_not(pack_bool(op->args[0], bits));
        }
    }
    refuse(e, "cannot be computed lane by lane in an integer register.");
}

}  // namespace Internal
}  // namespace Halide
