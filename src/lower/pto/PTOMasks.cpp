#include "lower/pto/PTOVectorizer.h"

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

#include <algorithm>
#include <sstream>

// Conditions as masks. Comparisons with the lane number give the masks of the first lanes; all others compare vectors,
// in the width of the data that the mask will be used on (spec pto-vmi.md 8 and 11).

namespace Halide {
namespace Internal {

int PTOVectorizer::full_mask(int lanes) {
    const int m = b.op("create_mask", VMIType::mask(lanes), {VMIOperand::offset(make_const(Int(32), lanes))},
                       {vmi_number("size", lanes)}, VMIPlacement::Free);
    b.set_hint(m, "full");
    return m;
}

int PTOVectorizer::prefix_mask(const Expr &lanes) {
    const Expr count = without_aliases(lanes);
    const int m = b.op("create_mask", VMIType::mask(lane.lanes), {VMIOperand::offset(count)},
                       {vmi_number("size", lane.lanes)}, VMIPlacement::Free);
    prefixes[m] = count;
    return m;
}

int PTOVectorizer::seed_or_full(int seed) {
    return seed >= 0 ? seed : full_mask(lane.lanes);
}

/// The lanes of `seed` that are not in m.
int PTOVectorizer::complement(int m, int seed) {
    const int inverse = b.op("vnot", VMIType::mask(lane.lanes), {VMIOperand::of(m)});
    return seed < 0 ? inverse :
                      b.op("vand", VMIType::mask(lane.lanes), {VMIOperand::of(inverse), VMIOperand::of(seed)});
}

/// The narrowest width, not below `bits`, in which compares and selects exist at this number of lanes.
int PTOVectorizer::select_bits(int bits) const {
    return std::max(std::max(bits, 8), 2048 / lane.lanes);
}

int PTOVectorizer::compare_bits(const Expr &condition) const {
    class Widest : public IRGraphVisitor {
    public:
        int bits = 8;

    protected:
        using IRGraphVisitor::visit;
        void operands(const Expr &a, const Expr &b) {
            if (!a.type().is_bool()) {
                bits = std::max(bits, a.type().is_bfloat() ? 32 : a.type().bits());
            }
            include(a);
            include(b);
        }
        void visit(const EQ *op) override { operands(op->a, op->b); }
        void visit(const NE *op) override { operands(op->a, op->b); }
        void visit(const LT *op) override { operands(op->a, op->b); }
        void visit(const LE *op) override { operands(op->a, op->b); }
        void visit(const GT *op) override { operands(op->a, op->b); }
        void visit(const GE *op) override { operands(op->a, op->b); }
        void visit(const Call *op) override {
            for (const Expr &arg : op->args) {
                if (op->type.is_bool() && !arg.type().is_bool()) {
                    bits = std::max(bits, arg.type().bits());
                }
            }
            IRGraphVisitor::visit(op);
        }
        void visit(const Load *) override {}
    } widest;
    condition.accept(&widest);
    return select_bits(std::min(widest.bits, 32));
}

int PTOVectorizer::mask(const Expr &wrapped, int bits, int seed) {
    const Expr e = without_tags(wrapped);
    const VMIType t = VMIType::mask(lane.lanes);
    if (is_const_one(e)) {
        return seed_or_full(seed);
    }
    if (const And *op = e.as<And>()) {
        return mask(op->b, bits, mask(op->a, bits, seed));
    }
    if (const Or *op = e.as<Or>()) {
        return b.op("vor", t, {VMIOperand::of(mask(op->a, bits, seed)), VMIOperand::of(mask(op->b, bits, seed))});
    }
    if (const Not *op = e.as<Not>()) {
        return complement(mask(op->a, bits, -1), seed);
    }
    if (!varies(e) && is_scalar(e)) {
        const Expr count = simplify(select(e, make_const(Int(32), lane.lanes), make_zero(Int(32))));
        const int m = prefix_mask(count);
        return seed < 0 ? m : b.op("vand", t, {VMIOperand::of(m), VMIOperand::of(seed)});
    }
    if (const Variable *op = e.as<Variable>()) {
        if (const Expr *value = aliases.find(op->name)) {
            return mask(*value, bits, seed);
        }
    }
    if (const Let *op = e.as<Let>()) {
        memo.clear();
        if (is_scalar(op->value)) {
            b.let(op->name, op->value);
            const int m = mask(op->body, bits, seed);
            memo.clear();
            return m;
        }
        if (op->value.type().is_bool() || op->value.type() == Int(32)) {
            const ScopedBinding<Expr> bind(aliases, op->name, op->value);
            const int m = mask(op->body, bits, seed);
            memo.clear();
            return m;
        }
        const int v = eval(op->value);
        const ScopedBinding<Expr> index(aliases, op->name, op->value);
        const ScopedBinding<int> bind(vectors, op->name, v);
        const int m = mask(op->body, bits, seed);
        memo.clear();
        return m;
    }
    if (const Select *op = e.as<Select>()) {
        return mask((op->condition && op->true_value) || (!op->condition && op->false_value), bits, seed);
    }
    if (const Cast *op = e.as<Cast>()) {
        return mask(op->value.type().is_bool() ? op->value : op->value != make_zero(op->value.type()), bits, seed);
    }
    if (const Load *op = e.as<Load>()) {
        // Bools are bytes in memory.
        const int wide = convert(load_as(op, VMIElem::UI8), UInt(8), UInt(select_bits(bits)));
        return b.op("vcmps", t,
                    {VMIOperand::of(wide), VMIOperand::scalar_of(make_zero(UInt(8)), b.type(wide).elem),
                     VMIOperand::of(seed_or_full(seed)), },
                    {vmi_word("cmp", "ne")});
    }
    if (const Call *op = e.as<Call>()) {
        if (op->is_intrinsic(Call::bitwise_and) && e.type().is_bool()) {
            return mask(op->args[0] && op->args[1], bits, seed);
        }
        if (op->is_intrinsic(Call::bitwise_or) && e.type().is_bool()) {
            return mask(op->args[0] || op->args[1], bits, seed);
        }
        if (op->is_intrinsic(Call::bitwise_not) && e.type().is_bool()) {
            return mask(!op->args[0], bits, seed);
        }
        if (op->is_intrinsic({Call::strict_lt, Call::strict_le, Call::strict_eq})) {
            const Expr c = op->is_intrinsic(Call::strict_lt) ? LT::make(op->args[0], op->args[1]) :
                           op->is_intrinsic(Call::strict_le) ? LE::make(op->args[0], op->args[1]) :
                                                               EQ::make(op->args[0], op->args[1]);
            return compare(c, bits, seed);
        }
        if (op->is_intrinsic(Call::bool_to_mask) || op->is_intrinsic(Call::cast_mask)) {
            return mask(op->args[0], bits, seed);
        }
        const std::string name = op->name.substr(0, op->name.rfind('_'));
        if (name == "is_nan") {
            return complement(compare(EQ::make(op->args[0], op->args[0]), bits, -1), seed);
        }
        if (name == "is_inf" || name == "is_finite") {
            const Expr x = Call::make(op->args[0].type(), Call::abs, {op->args[0]}, Call::PureIntrinsic);
            const Expr inf = op->args[0].type().max();
            return compare(name == "is_inf" ? EQ::make(x, inf) : LT::make(x, inf), bits, seed);
        }
    }
    if ((e.as<EQ>() && e.as<EQ>()->a.type().is_bool()) || (e.as<NE>() && e.as<NE>()->a.type().is_bool())) {
        const bool equal = e.as<EQ>();
        const Expr x = equal ? e.as<EQ>()->a : e.as<NE>()->a, y = equal ? e.as<EQ>()->b : e.as<NE>()->b;
        return mask(equal ? (x && y) || (!x && !y) : (x && !y) || (!x && y), bits, seed);
    }
    if (e.as<EQ>() || e.as<NE>() || e.as<LT>() || e.as<LE>() || e.as<GT>() || e.as<GE>()) {
        return compare(e, bits, seed);
    }
    std::ostringstream text;
    text << e;
    refuse("expression", "the condition `" + text.str() + "` has no vector form", "");
}

namespace {

struct Comparison {
    const char *name;
    const char *swapped;
    Expr a, b;
};

Comparison comparison_of(const Expr &e) {
    if (const EQ *op = e.as<EQ>()) {
        return {"eq", "eq", op->a, op->b};
    }
    if (const NE *op = e.as<NE>()) {
        return {"ne", "ne", op->a, op->b};
    }
    if (const LT *op = e.as<LT>()) {
        return {"lt", "gt", op->a, op->b};
    }
    if (const LE *op = e.as<LE>()) {
        return {"le", "ge", op->a, op->b};
    }
    if (const GT *op = e.as<GT>()) {
        return {"gt", "lt", op->a, op->b};
    }
    const GE *op = e.as<GE>();
    internal_assert(op) << "Not a comparison: " << e << "\n";
    return {"ge", "le", op->a, op->b};
}

}  // namespace

int PTOVectorizer::compare(const Expr &e, int bits, int seed) {
    Comparison c = comparison_of(e);
    const Type t = c.a.type();
    const std::string name = c.name;
    if (t == Int(32) && name != "eq" && name != "ne" && !lane.uniform) {
        // A difference below zero: lane + base < 0 holds for the first −base lanes.
        const bool greater = name == "gt" || name == "ge", strict = name == "lt" || name == "gt";
        const Expr difference = greater ? c.b - c.a : c.a - c.b;
        if (auto d = lane_affine(strict ? difference : difference - 1, lane.var, aliases)) {
            if (d->stride == 1 && is_scalar(d->base)) {
                const Expr count = simplify(0 - d->base);
                auto outer = prefixes.find(seed);
                if (outer != prefixes.end()) {
                    return prefix_mask(simplify(min(count, outer->second)));
                }
                const int m = prefix_mask(count);
                return seed < 0 ? m :
                                  b.op("vand", VMIType::mask(lane.lanes), {VMIOperand::of(m), VMIOperand::of(seed)});
            }
            if (d->stride == -1 && is_scalar(d->base)) {
                return complement(prefix_mask(simplify(d->base + 1)), seed);
            }
        }
    }
    int width = std::max(select_bits(t.bits()), std::min(bits, 32));
    if (t.is_bfloat() || (t.is_float() && t.bits() < width)) {
        width = 32;
    }
    const Type wide = t.is_bfloat() ? Float(32) : t.with_bits(width);
    if (is_splat_leaf(c.a) && !is_splat_leaf(c.b)) {
        std::swap(c.a, c.b);
        c.name = c.swapped;
    }
    const int x = convert(eval(c.a), t, wide);
    const std::vector<VMIAttribute> attributes = {vmi_word("cmp", c.name)};
    const VMIType m = VMIType::mask(lane.lanes);
    if (is_const(c.b) || (is_splat_leaf(c.b) && wide == t) || (t == Int(32) && is_scalar(c.b))) {
        return b.op("vcmps", m,
                    {VMIOperand::of(x), VMIOperand::scalar_of(simplify(cast(wide, c.b)), vmi_elem(wide)),
                     VMIOperand::of(seed_or_full(seed))},
                    attributes);
    }
    const int y = convert(eval(c.b), t, wide);
    return b.op("vcmp", m, {VMIOperand::of(x), VMIOperand::of(y), VMIOperand::of(seed_or_full(seed))}, attributes);
}

namespace {

Type type_of_elem(VMIElem e) {
    switch (e) {
    case VMIElem::SI8: return Int(8);
    case VMIElem::SI16: return Int(16);
    case VMIElem::SI32: return Int(32);
    case VMIElem::UI16: return UInt(16);
    case VMIElem::UI32: return UInt(32);
    case VMIElem::F16: return Float(16);
    case VMIElem::BF16: return BFloat(16);
    case VMIElem::F32: return Float(32);
    default: return UInt(8);
    }
}

}  // namespace

int PTOVectorizer::choose(int m, int when_true, int when_false) {
    const VMIType t = b.type(when_true);
    auto vsel = [&](const VMIType &type, int x, int y) {
        return b.op("vsel", type, {VMIOperand::of(m), VMIOperand::of(x), VMIOperand::of(y)});
    };
    if (t.bits() >= 2048) {
        return vsel(t, when_true, when_false);
    }
    // Selects exist for full vectors only: widen, choose, narrow.
    const Type narrow = type_of_elem(t.elem);
    const Type wide = narrow.is_float() ? Float(32) : narrow.with_bits(2048 / t.lanes);
    const int v = vsel(VMIType{vmi_elem(wide), t.lanes, false}, convert(when_true, narrow, wide),
                       convert(when_false, narrow, wide));
    return convert(v, wide, narrow);
}

}  // namespace Internal
}  // namespace Halide
