#include "lower/vector/NarrowIndices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Scope.h"
#include "lower/vector/IndexRanges.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// A second form of what a let binds, under a name of its own: scalars that addresses need in 64 bits, vectors that they
/// need in 32.
enum class Form {
    None,
    Wide,
    Narrow,
};

struct Twin {
    Form form = Form::None;
    bool used = false;
};

class NarrowIndicesMutator : public IRMutator {
public:
    explicit NarrowIndicesMutator(bool buffers_fit_int32)
        : buffers_fit_int32(buffers_fit_int32) {
    }

protected:
    using IRMutator::visit;

    Expr visit(const Load *op) override {
        const LaneBits bits(*this, op->type);
        Expr predicate = mutate(op->predicate);
        Expr index = address(op->index);
        if (predicate.same_as(op->predicate) && index.same_as(op->index)) {
            return op;
        }
        return op->changed(&Load::index, index, &Load::predicate, predicate);
    }

    Stmt visit(const Store *op) override {
        const LaneBits bits(*this, op->value.type());
        Expr predicate = mutate(op->predicate), value = mutate(op->value);
        Expr index = address(op->index);
        if (predicate.same_as(op->predicate) && index.same_as(op->index) && value.same_as(op->value)) {
            return op;
        }
        return op->changed(&Store::index, index, &Store::predicate, predicate, &Store::value, value);
    }

    Expr visit(const Select *op) override {
        const LaneBits bits(*this, op->type);
        return IRMutator::visit(op);
    }

    Expr visit(const LT *op) override {
        Expr e = count_lanes(op->a, op->b, false);
        return e.defined() ? e : IRMutator::visit(op);
    }
    Expr visit(const LE *op) override {
        Expr e = count_lanes(op->a, op->b, true);
        return e.defined() ? e : IRMutator::visit(op);
    }
    Expr visit(const GT *op) override {
        Expr e = count_lanes(op->b, op->a, false);
        return e.defined() ? e : IRMutator::visit(op);
    }
    Expr visit(const GE *op) override {
        Expr e = count_lanes(op->b, op->a, true);
        return e.defined() ? e : IRMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        return let<Stmt>(op, [&](const Stmt &body) { return mutate(body); });
    }
    Expr visit(const Let *op) override {
        return let<Expr>(op, [&](const Expr &body) { return mutate(body); });
    }

    Stmt visit(const For *op) override {
        Expr min = mutate(op->min), max = mutate(op->max);
        ConstantInterval range = ranges.of(op->min);
        range.include(ranges.of(op->max));
        ScopedBinding<Twin> hide(twins, op->name, Twin());
        const IndexRanges::Binding bind(ranges, op->name, range);
        Stmt body = mutate(op->body);
        if (min.same_as(op->min) && max.same_as(op->max) && body.same_as(op->body)) {
            return op;
        }
        return op->changed(&For::min, min, &For::max, max, &For::body, body);
    }

private:
    /// No element of a buffer is further than Int(32) from its first one.
    const bool buffers_fit_int32;
    IndexRanges ranges;
    Scope<Twin> twins;
    /// Bits of the elements that a condition at hand is about.
    int lane_bits = 32;

    class LaneBits {
    public:
        LaneBits(NarrowIndicesMutator &m, const Type &t)
            : m(m), before(m.lane_bits) {
            m.lane_bits = t.bits() <= 8 ? 8 : t.bits() <= 16 ? 16 : 32;
        }
        ~LaneBits() {
            m.lane_bits = before;
        }
        LaneBits(const LaneBits &) = delete;
        LaneBits &operator=(const LaneBits &) = delete;

    private:
        NarrowIndicesMutator &m;
        const int before;
    };

    // let t = x*4 in … A[t] …   →   let t = x*4, t.wide = i64(x)*4 in … A[t.wide] …
    template<typename T, typename LetNode, typename MutateBody>
    T let(const LetNode *op, const MutateBody &mutate_body) {
        Expr value = mutate(op->value);
        const Form form = form_of(op->value);
        Expr other = form == Form::Wide ? widen(op->value) : form == Form::Narrow ? narrow(op->value) : Expr();
        ScopedBinding<Twin> bind(twins, op->name, Twin{form, false});
        const IndexRanges::Binding bind_range(ranges, op->name, ranges.of(op->value));
        T body = mutate_body(op->body);
        if (twins.get(op->name).used) {
            body = LetNode::make(twin_name(op->name, form), other, body);
        } else if (value.same_as(op->value) && body.same_as(op->body)) {
            return T(op);
        }
        return LetNode::make(op->name, value, body);
    }

    static std::string twin_name(const std::string &name, Form form) {
        return name + (form == Form::Wide ? ".wide" : ".narrow");
    }

    Form form_of(const Expr &value) {
        if (value.type() == Int(32)) {
            switch (value.node_type()) {
            case IRNodeType::Add:
            case IRNodeType::Sub:
            case IRNodeType::Mul:
            case IRNodeType::Min:
            case IRNodeType::Max:
            case IRNodeType::Select:
                return Form::Wide;
            default:
                return Form::None;
            }
        }
        const bool wide_vector = value.type().is_vector() && value.type().element_of() == Int(64);
        return wide_vector && fits_int32(ranges.of(value)) ? Form::Narrow : Form::None;
    }

    /// The variable that holds the other form of a let, if there is one.
    Expr twin(const Variable *op, Form form) {
        const Twin *t = twins.find(op->name);
        if (!t || t->form != form) {
            return Expr();
        }
        twins.ref(op->name).used = true;
        return Variable::make(form == Form::Wide ? Int(64) : Int(32, op->type.lanes()), twin_name(op->name, form));
    }

    // ---- Addresses

    Expr address(const Expr &index) {
        if (!is_index_type(index.type())) {
            return mutate(index);
        }
        if (index.type().is_scalar()) {
            return widen(index);
        }
        if (const Ramp *op = index.as<Ramp>()) {
            return Ramp::make(address(op->base), address(op->stride), op->lanes);
        }
        if (const Broadcast *op = index.as<Broadcast>()) {
            return Broadcast::make(address(op->value), op->lanes);
        }
        if (const Let *op = index.as<Let>()) {
            return let<Expr>(op, [&](const Expr &body) { return address(body); });
        }
        return offsets(index);
    }

    /// The 64-bit form of an exact scalar. Division is left narrow: it is slow, and its operands are leaves.
    Expr widen(const Expr &e) {
        std::map<const IRNode *, Expr> done;
        return widen(e, done);
    }

    Expr widen(const Expr &e, std::map<const IRNode *, Expr> &done) {
        if (!e.type().is_scalar() || !is_index_type(e.type())) {
            return mutate(e);
        }
        if (std::optional<int64_t> c = as_const_int(e)) {
            return make_const(Int(64), *c);
        }
        if (auto it = done.find(e.get()); it != done.end()) {
            return it->second;
        }
        Expr result = widen_node(e, done);
        done.emplace(e.get(), result);
        return result;
    }

    Expr widen_node(const Expr &e, std::map<const IRNode *, Expr> &done) {
        const auto binary = [&](auto *op) {
            Expr a = widen(op->a, done), b = widen(op->b, done);
            return a.same_as(op->a) && b.same_as(op->b) ? e : std::remove_pointer_t<decltype(op)>::make(a, b);
        };
        switch (e.node_type()) {
        case IRNodeType::Variable: {
            Expr wide = twin(e.as<Variable>(), Form::Wide);
            return wide.defined() ? wide : cast(Int(64), e);
        }
        case IRNodeType::Cast:
            if (const Cast *op = e.as<Cast>(); e.type() == Int(64) && op->value.type() == Int(32)) {
                return widen(op->value, done);
            }
            break;
        case IRNodeType::Add:
            return binary(e.as<Add>());
        case IRNodeType::Sub:
            return binary(e.as<Sub>());
        case IRNodeType::Mul:
            return binary(e.as<Mul>());
        case IRNodeType::Min:
            return binary(e.as<Min>());
        case IRNodeType::Max:
            return binary(e.as<Max>());
        case IRNodeType::Select: {
            const Select *op = e.as<Select>();
            return Select::make(mutate(op->condition), widen(op->true_value, done), widen(op->false_value, done));
        }
        case IRNodeType::Let:
            // What was found outside may mean something else inside.
            return let<Expr>(e.as<Let>(), [&](const Expr &body) { return widen(body); });
        default:
            break;
        }
        return cast(Int(64), mutate(e));
    }

    // ---- Vectors of offsets

    struct Term {
        Expr value;
        bool negative;
    };

    static void collect_terms(const Expr &e, bool negative, std::vector<Term> &terms) {
        if (const Add *op = e.as<Add>()) {
            collect_terms(op->a, negative, terms);
            collect_terms(op->b, negative, terms);
        } else if (const Sub *op = e.as<Sub>()) {
            collect_terms(op->a, negative, terms);
            collect_terms(op->b, !negative, terms);
        } else {
            terms.push_back({e, negative});
        }
    }

    static Expr plus(const Expr &sum, const Expr &e, bool negative) {
        if (!sum.defined()) {
            return negative ? make_zero(e.type()) - e : e;
        }
        return negative ? Sub::make(sum, e) : Add::make(sum, e);
    }

    // x8(u) + r(w, 2, 8) + v   →   x8(u + w) + i64x8(r(0, 2, 8) + v), with the sum in the parentheses in 32 bits if it
    // always fits.
    Expr offsets(const Expr &index) {
        const int lanes = index.type().lanes();
        std::vector<Term> terms, varying;
        collect_terms(index, false, terms);
        Expr uniform;
        for (const Term &t : terms) {
            if (const Broadcast *b = t.value.as<Broadcast>(); b && b->value.type().is_scalar()) {
                uniform = plus(uniform, widen(b->value), t.negative);
            } else if (const Ramp *r = t.value.as<Ramp>(); r && r->base.type().is_scalar()) {
                if (!is_const_zero(r->base)) {
                    uniform = plus(uniform, widen(r->base), t.negative);
                }
                varying.push_back({Ramp::make(make_zero(r->base.type()), r->stride, r->lanes), t.negative});
            } else {
                varying.push_back(t);
            }
        }
        if (varying.empty()) {
            return Broadcast::make(uniform, lanes);
        }
        ConstantInterval range = ConstantInterval::single_point(0);
        bool fits = true;
        for (const Term &t : varying) {
            const ConstantInterval r = ranges.of(t.value);
            range = t.negative ? range - r : range + r;
            fits = fits && fits_int32(r) && fits_int32(range);
        }
        Expr sum;
        if (fits) {
            for (const Term &t : varying) {
                sum = plus(sum, narrow(t.value), t.negative);
            }
            sum = cast(Int(64, lanes), sum);
        } else if (buffers_fit_int32 && index.type().bits() == 32) {
            // The index of a live lane fits, so that its low 32 bits say all, and sums and products keep low bits.
            Expr low = wrapped(index);
            return cast(Int(64, lanes), reinterpret(Int(32, lanes), low));
        } else {
            for (const Term &t : varying) {
                sum = plus(sum, wide_vector(t.value), t.negative);
            }
        }
        return uniform.defined() ? Broadcast::make(uniform, lanes) + sum : sum;
    }

    Expr wide_vector(const Expr &e) {
        return cast(Int(64, e.type().lanes()), mutate(e));
    }

    /// The 32-bit form of a vector, or of a scalar in one, whose values fit. What does not fit inside is computed wide.
    Expr narrow(const Expr &e) {
        if (e.type().bits() == 32) {
            return mutate(e);
        }
        const Type t = Int(32, e.type().lanes());
        if (std::optional<int64_t> c = as_const_int(e)) {
            return make_const(t, *c);
        }
        const auto binary = [&](auto *op) {
            const bool fit = fits_int32(ranges.of(op->a)) && fits_int32(ranges.of(op->b));
            return fit ? std::remove_pointer_t<decltype(op)>::make(narrow(op->a), narrow(op->b)) : cast(t, mutate(e));
        };
        switch (e.node_type()) {
        case IRNodeType::Variable: {
            Expr other = twin(e.as<Variable>(), Form::Narrow);
            return other.defined() ? other : cast(t, e);
        }
        case IRNodeType::Cast: {
            const Expr &value = e.as<Cast>()->value;
            return value.type().is_int_or_uint() ? cast(t, mutate(value)) : cast(t, mutate(e));
        }
        case IRNodeType::Add:
            return binary(e.as<Add>());
        case IRNodeType::Sub:
            return binary(e.as<Sub>());
        case IRNodeType::Mul:
            return binary(e.as<Mul>());
        case IRNodeType::Min:
            return binary(e.as<Min>());
        case IRNodeType::Max:
            return binary(e.as<Max>());
        case IRNodeType::Select:
            if (const Select *op = e.as<Select>();
                fits_int32(ranges.of(op->true_value)) && fits_int32(ranges.of(op->false_value))) {
                return Select::make(mutate(op->condition), narrow(op->true_value), narrow(op->false_value));
            }
            break;
        case IRNodeType::Broadcast:
            return Broadcast::make(narrow(e.as<Broadcast>()->value), e.as<Broadcast>()->lanes);
        case IRNodeType::Ramp:
            if (const Ramp *op = e.as<Ramp>(); fits_int32(ranges.of(op->base)) && fits_int32(ranges.of(op->stride))) {
                return Ramp::make(narrow(op->base), narrow(op->stride), op->lanes);
            }
            break;
        default:
            break;
        }
        return cast(t, mutate(e));
    }

    /// The low 32 bits of a vector of sums and products; UInt(32), because these may wrap.
    Expr wrapped(const Expr &e) {
        const Type t = UInt(32, e.type().lanes());
        if (std::optional<int64_t> c = as_const_int(e)) {
            return make_const(t, *c & 0xffffffff);
        }
        switch (e.node_type()) {
        case IRNodeType::Add:
            return Add::make(wrapped(e.as<Add>()->a), wrapped(e.as<Add>()->b));
        case IRNodeType::Sub:
            return Sub::make(wrapped(e.as<Sub>()->a), wrapped(e.as<Sub>()->b));
        case IRNodeType::Mul:
            return Mul::make(wrapped(e.as<Mul>()->a), wrapped(e.as<Mul>()->b));
        case IRNodeType::Broadcast:
            return Broadcast::make(wrapped(e.as<Broadcast>()->value), e.as<Broadcast>()->lanes);
        case IRNodeType::Ramp:
            return Ramp::make(wrapped(e.as<Ramp>()->base), wrapped(e.as<Ramp>()->stride), e.as<Ramp>()->lanes);
        default:
            return cast(t, mutate(e));
        }
    }

    // ---- Lanes

    /// Lane i of a ramp is below a limit if i is below the number of such lanes: one scalar, then a comparison of integers
    /// as wide as the elements.
    /// `a < b`, or `a <= b`: the ramp is on the left, or on the right, where `limit < ramp` is the opposite of
    /// `ramp <= limit`. Undefined if the two do not have that form.
    Expr count_lanes(const Expr &a, const Expr &b, bool or_equal) {
        const bool ramp_is_left = a.as<Ramp>() != nullptr;
        const Ramp *ramp = ramp_is_left ? a.as<Ramp>() : b.as<Ramp>();
        const Broadcast *limit = ramp_is_left ? b.as<Broadcast>() : a.as<Broadcast>();
        if (!ramp || !limit || !is_index_type(a.type()) || !ramp->base.type().is_scalar() ||
            !limit->value.type().is_scalar() || !is_const_one(ramp->stride)) {
            return Expr();
        }
        if (!(ranges.of(limit->value) - ranges.of(ramp->base)).is_bounded()) {
            return Expr();  // the difference may leave 64 bits
        }
        const int lanes = ramp->lanes;
        const int bits = lanes <= 127 ? lane_bits : std::max(lane_bits, lanes <= 32767 ? 16 : 32);
        // i < count, where the ramp is below the limit, or not above it.
        const bool inclusive = ramp_is_left ? or_equal : !or_equal;
        Expr count = widen(limit->value) - widen(ramp->base);
        if (inclusive) {
            count = count + make_one(Int(64));
        }
        count = max(min(count, make_const(Int(64), lanes)), make_zero(Int(64)));
        Expr lane = Ramp::make(make_zero(Int(bits)), make_one(Int(bits)), lanes);
        Expr counts = Broadcast::make(cast(Int(bits), count), lanes);
        return ramp_is_left ? LT::make(lane, counts) : GE::make(lane, counts);
    }
};

}  // namespace

Stmt narrow_indices(const Stmt &s, LowerContext &ctx) {
    if (ctx.target.bits != 64) {
        return s;
    }
    return NarrowIndicesMutator(!ctx.target.has_large_buffers())(s);
}

}  // namespace Internal
}  // namespace Halide
