// Parts are taken where loads are, and merged as late as possible: an operation on merged vectors becomes a merge of
// operations on their parts. ramp(x + j, k, n)/k is ramp((x + j)/k, 1, n) whatever the remainder of x. If that is
// known, conditions on it have one value in each part, and only one branch of a select remains.

#include "lower/vector/AlternatingLanes.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/ModulusRemainder.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Intrinsics.h"
#include "ir/Scope.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// More parts than this are no faster than a gather.
constexpr int max_parts = 4;

using Residues = Scope<ModulusRemainder>;

bool is_index_type(const Type &t) {
    return t.is_int() && t.bits() >= 32;
}

/// A shift or mask of an index as the division or remainder that it is.
Expr as_div_or_mod(const Call *op) {
    if (op->args.size() != 2 || !is_index_type(op->type)) {
        return Expr();
    }
    if (const auto c = as_const_int(op->args[1]); c && *c > 0) {
        if (op->is_intrinsic(Call::shift_right) && *c < 8) {
            return op->args[0] / make_const(op->type, int64_t(1) << *c);
        }
        if (op->is_intrinsic(Call::bitwise_and) && *c < 256 && (*c & (*c + 1)) == 0) {
            return op->args[0] % make_const(op->type, *c + 1);
        }
    }
    return Expr();
}

bool is_elementwise(const Call *op) {
    const bool known = op->intrinsic_op == Call::IntrinsicOpCount ? op->call_type == Call::PureExtern
                                                                  : intrinsic_info(op->intrinsic_op).elementwise;
    if (!known || !op->is_pure()) {
        return false;
    }
    for (const Expr &a : op->args) {
        if (a.type().is_vector() && a.type().lanes() != op->type.lanes()) {
            return false;
        }
    }
    return true;
}

/// The number of parts into which the divisions and remainders in an index fall; 0 if there are none, or several.
class FindPeriod : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void found(const Expr &a, const Expr &b) {
        const Ramp *r = a.as<Ramp>();
        const auto k = as_const_int(b);
        const int64_t stride = r && r->base.type().is_scalar() ? as_const_int(r->stride).value_or(0) : 0;
        if (!k || *k < 2 || *k > max_parts || !stride || stride % *k == 0 || r->lanes % *k != 0 || r->lanes / *k < 2) {
            return;
        }
        ambiguous = ambiguous || (period != 0 && period != *k);
        period = (int)*k;
    }
    void visit(const Div *op) override {
        found(op->a, op->b);
        IRGraphVisitor::visit(op);
    }
    void visit(const Mod *op) override {
        found(op->a, op->b);
        IRGraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        if (const Expr e = as_div_or_mod(op); e.defined()) {
            e.accept(this);
        } else {
            IRGraphVisitor::visit(op);
        }
    }
    void visit(const Load *) override { loads = true; }

    bool ambiguous = false, loads = false;

public:
    int period = 0;
    /// Of an expression without loads.
    static int of(const Expr &e) {
        FindPeriod find;
        e.accept(&find);
        return find.ambiguous || find.loads ? 0 : find.period;
    }
};

/// Lanes begin, begin + stride, … of a vector.
class TakeLanes : public IRGraphMutator {
    const int begin, stride;
    const Residues &residues;
    int from = 0;  // lanes of the whole

    using IRGraphMutator::visit;

    int lanes() const { return from / stride; }
    Expr slice(const Expr &e) const { return Shuffle::make_slice(e, begin, stride, lanes()); }
    Expr simpler(const Expr &e) const { return simplify(e, Scope<Interval>::empty_scope(), residues); }

    Expr visit(const Variable *op) override { return slice(op); }
    Expr visit(const Broadcast *op) override {
        return op->value.type().is_scalar() ? Broadcast::make(op->value, lanes()) : slice(op);
    }
    Expr visit(const Ramp *op) override {
        if (op->base.type().is_vector()) {
            return slice(op);
        }
        return Ramp::make(op->base + op->stride * begin, op->stride * stride, lanes());
    }
    Expr visit(const Cast *op) override { return Cast::make(op->type.with_lanes(lanes()), mutate(op->value)); }
    Expr visit(const Reinterpret *op) override {
        if (op->value.type().lanes() != op->type.lanes()) {
            return slice(op);
        }
        return Reinterpret::make(op->type.with_lanes(lanes()), mutate(op->value));
    }
    Expr visit(const Select *op) override {
        const Expr condition = simpler(mutate(op->condition));
        if (is_const_one(condition)) {
            return mutate(op->true_value);
        }
        if (is_const_zero(condition)) {
            return mutate(op->false_value);
        }
        return Select::make(condition, mutate(op->true_value), mutate(op->false_value));
    }
    Expr visit(const Load *op) override {
        const Expr index = simpler(mutate(op->index)), predicate = simpler(mutate(op->predicate));
        const Type t = op->type.with_lanes(lanes());
        const Broadcast *same = index.as<Broadcast>();
        if (same && same->value.type().is_scalar() && is_const_one(predicate)) {
            return Broadcast::make(Load::make(op->type.element_of(), op->name, same->value, op->image, op->param,
                                              const_true(), modulus_remainder(same->value, residues), op->is_streaming),
                                   lanes());
        }
        const Ramp *ramp = index.as<Ramp>();
        const ModulusRemainder alignment =
            ramp && ramp->base.type().is_scalar() ? modulus_remainder(ramp->base, residues) : ModulusRemainder();
        return Load::make(t, op->name, index, op->image, op->param, predicate, alignment, op->is_streaming);
    }
    Expr visit(const Call *op) override {
        if (const Expr e = as_div_or_mod(op); e.defined()) {
            return mutate(e);
        }
        if (!is_elementwise(op)) {
            return slice(op);
        }
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            args.push_back(mutate(a));
        }
        return op->changed(&Call::type, op->type.with_lanes(lanes()), &Call::args, args);
    }
    Expr visit(const Let *op) override { return Let::make(op->name, op->value, mutate(op->body)); }
    Expr visit(const Shuffle *op) override {
        return op->is_interleave() && (int)op->vectors.size() == stride ? op->vectors[begin] : slice(op);
    }
    Expr visit(const VectorReduce *op) override { return slice(op); }

public:
    TakeLanes(int begin, int stride, int from, const Residues &residues)
        : begin(begin), stride(stride), residues(residues), from(from) {}
    using IRGraphMutator::mutate;
    Expr mutate(const Expr &e) override { return !e.defined() || e.type().is_scalar() ? e : IRGraphMutator::mutate(e); }
};

std::vector<Expr> parts_of(const Expr &e, int count, const Residues &residues) {
    std::vector<Expr> parts;
    for (int j = 0; j < count; j++) {
        parts.push_back(TakeLanes(j, count, e.type().lanes(), residues).mutate(e));
    }
    return parts;
}

/// Whether a load reads without a gather.
bool is_regular(const Expr &part) {
    const Load *load = part.as<Load>();
    if (!load) {
        return true;  // one element for all lanes
    }
    const Ramp *r = load->index.as<Ramp>();
    const int64_t stride = r && r->base.type().is_scalar() ? as_const_int(r->stride).value_or(0) : 0;
    return stride >= 1 && stride <= max_parts;
}

/// 1 for what is the same in all parts, k for k merged parts, 0 for all else.
int parts_in(const Expr &e) {
    if (e.type().is_scalar() || e.as<Broadcast>() || is_const(e)) {
        return 1;
    }
    const Shuffle *s = e.as<Shuffle>();
    return s && s->is_interleave() && s->vectors.size() <= max_parts ? (int)s->vectors.size() : 0;
}

/// Names defined inside an expression; false if a name means different things in it.
class DefinesNamesOnce : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    std::set<std::string> defined, visible, free;

    void visit(const Let *op) override {
        op->value.accept(this);
        result = result && defined.insert(op->name).second && !free.count(op->name);
        visible.insert(op->name);
        op->body.accept(this);
        visible.erase(op->name);
    }
    void visit(const Variable *op) override {
        if (!visible.count(op->name)) {
            free.insert(op->name);
            result = result && !defined.count(op->name);
        }
    }

public:
    bool result = true;
};

class SplitAlternating : public IRGraphMutator {
    const Residues &residues;
    std::map<std::string, Expr> meaning;  // of vectors that are defined inside

    using IRGraphMutator::visit;

    /// Definitions of addresses written out, so that ramps are seen, and merged parts in place of names that are gone.
    Expr opened(const Expr &e) {
        if (meaning.empty()) {
            return e;
        }
        class Open : public IRGraphMutator {
            const std::map<std::string, Expr> &meaning;
            using IRGraphMutator::visit;
            Expr visit(const Variable *op) override {
                auto it = meaning.find(op->name);
                return it == meaning.end() ? Expr(op) : it->second;
            }

        public:
            explicit Open(const std::map<std::string, Expr> &meaning) : meaning(meaning) {}
        };
        return Open(meaning).mutate(e);
    }

    Expr merged(const Expr &e, int count) { return Shuffle::make_interleave(parts_of(e, count, residues)); }

    /// Moves a merge of operands behind the operation.
    Expr hoist(const Expr &e, const std::vector<Expr> &operands) {
        int count = 1;
        for (const Expr &o : operands) {
            const int k = parts_in(o);
            if (k == 0 || (k > 1 && count > 1 && k != count)) {
                return e;
            }
            count = std::max(count, k);
        }
        return count > 1 ? merged(e, count) : e;
    }

    template <typename T>
    Expr binary(const T *op) {
        const Expr e = IRGraphMutator::visit(op);
        const T *b = e.as<T>();
        return b ? hoist(e, {b->a, b->b}) : e;
    }
    Expr visit(const Add *op) override { return binary(op); }
    Expr visit(const Sub *op) override { return binary(op); }
    Expr visit(const Mul *op) override { return binary(op); }
    Expr visit(const Div *op) override { return binary(op); }
    Expr visit(const Mod *op) override { return binary(op); }
    Expr visit(const Min *op) override { return binary(op); }
    Expr visit(const Max *op) override { return binary(op); }
    Expr visit(const EQ *op) override { return binary(op); }
    Expr visit(const NE *op) override { return binary(op); }
    Expr visit(const LT *op) override { return binary(op); }
    Expr visit(const LE *op) override { return binary(op); }
    Expr visit(const GT *op) override { return binary(op); }
    Expr visit(const GE *op) override { return binary(op); }
    Expr visit(const And *op) override { return binary(op); }
    Expr visit(const Or *op) override { return binary(op); }
    Expr visit(const Not *op) override {
        const Expr e = IRGraphMutator::visit(op);
        return hoist(e, {e.as<Not>()->a});
    }
    Expr visit(const Cast *op) override {
        const Expr e = IRGraphMutator::visit(op);
        return hoist(e, {e.as<Cast>()->value});
    }
    Expr visit(const Select *op) override {
        const Expr condition = opened(op->condition);
        const Expr c = mutate(condition), t = mutate(op->true_value), f = mutate(op->false_value);
        const Expr e = c.same_as(op->condition) && t.same_as(op->true_value) && f.same_as(op->false_value)
                           ? Expr(op)
                           : Select::make(c, t, f);
        const int k = FindPeriod::of(condition);
        if (k > 1 && (parts_in(t) == k || parts_in(f) == k)) {
            return merged(e, k);
        }
        return hoist(e, {c, t, f});
    }
    Expr visit(const Call *op) override {
        if (!is_elementwise(op)) {
            // Parts of what is evaluated conditionally would not be.
            return opened(op);
        }
        const Expr e = IRGraphMutator::visit(op);
        const Call *call = e.as<Call>();
        return call ? hoist(e, call->args) : e;
    }
    Expr visit(const Load *op) override {
        const Expr index = opened(op->index);
        if (const int k = FindPeriod::of(index); k > 1) {
            const Expr whole = index.same_as(op->index) ? Expr(op) : op->changed(&Load::index, index);
            const std::vector<Expr> parts = parts_of(whole, k, residues);
            if (std::all_of(parts.begin(), parts.end(), is_regular)) {
                found = true;
                return Shuffle::make_interleave(parts);
            }
            return opened(op);
        }
        return IRGraphMutator::visit(op);
    }

    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        const Type t = value.type();
        if (t.is_vector() && (is_index_type(t) || t.is_bool()) && is_address(op->value)) {
            meaning[op->name] = opened(op->value);
        } else if (const int k = parts_in(value); k > 1) {
            const Shuffle *merge = value.as<Shuffle>();
            std::vector<Expr> names;
            for (int j = 0; j < k; j++) {
                names.push_back(Variable::make(merge->vectors[j].type(),
                                               op->name + "." + std::to_string(k) + "." + std::to_string(j)));
            }
            meaning[op->name] = Shuffle::make_interleave(names);
            Expr body = mutate(op->body);
            for (int j = k; j-- > 0;) {
                body = Let::make(names[j].as<Variable>()->name, merge->vectors[j], body);
            }
            return body;
        }
        const Expr body = mutate(op->body);
        return value.same_as(op->value) && body.same_as(op->body) ? Expr(op) : Let::make(op->name, value, body);
    }
    Expr visit(const Variable *op) override {
        auto it = meaning.find(op->name);
        return it == meaning.end() ? Expr(op) : it->second;
    }

    static bool is_address(const Expr &e) {
        bool result = true;
        class Find : public IRGraphVisitor {
            bool &result;
            using IRGraphVisitor::visit;
            void visit(const Load *) override { result = false; }
            void visit(const Let *) override { result = false; }
            void visit(const VectorReduce *) override { result = false; }
            void visit(const Call *op) override {
                result = result && is_elementwise(op) && op->intrinsic_op != Call::IntrinsicOpCount;
                IRGraphVisitor::visit(op);
            }

        public:
            explicit Find(bool &result) : result(result) {}
        } find(result);
        e.accept(&find);
        return result;
    }

public:
    bool found = false;
    explicit SplitAlternating(const Residues &residues) : residues(residues) {}
    using IRGraphMutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined()) {
            return e;
        }
        // Scalars have no lanes, but may reduce vectors.
        return e.type().is_scalar() ? opened(e) : IRGraphMutator::mutate(e);
    }
};

class AlternatingLanes : public IRMutator {
    Residues residues;

    using IRMutator::visit;

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        const bool known = is_index_type(op->value.type()) && op->value.type().is_scalar();
        ScopedBinding<ModulusRemainder> bind(known, residues, op->name,
                                             known ? modulus_remainder(op->value, residues) : ModulusRemainder());
        return op->with(value, mutate(op->body));
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined() || e.type().is_scalar()) {
            return e;
        }
        DefinesNamesOnce names;
        e.accept(&names);
        if (!names.result) {
            return e;
        }
        SplitAlternating split(residues);
        const Expr result = split.mutate(e);
        return split.found ? simplify(result, Scope<Interval>::empty_scope(), residues) : e;
    }
};

}  // namespace

Stmt alternating_lanes(const Stmt &s, LowerContext &) {
    return AlternatingLanes().mutate(s);
}

}  // namespace Internal
}  // namespace Halide
