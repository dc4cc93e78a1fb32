#include "regions/Associativity.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace Halide {
namespace Internal {

bool AssociativePattern::operator==(const AssociativePattern &other) const {
    if (is_commutative != other.is_commutative || ops.size() != other.ops.size() ||
        identities.size() != other.identities.size()) {
        return false;
    }
    for (size_t i = 0; i < ops.size(); i++) {
        if (!equal(ops[i], other.ops[i]) || !equal(identities[i], other.identities[i])) {
            return false;
        }
    }
    return true;
}

Expr get_associative_identity(const Type &t, IRNodeType op) {
    switch (op) {
    case IRNodeType::Add:
        return make_zero(t);
    case IRNodeType::Mul:
        return make_one(t);
    case IRNodeType::Min:
        return t.max();
    case IRNodeType::Max:
        return t.min();
    case IRNodeType::And:
        return const_true(t.lanes());
    case IRNodeType::Or:
        return const_false(t.lanes());
    default:
        internal_error << "No identity for " << IRNodeType_string(op);
    }
}

namespace {

std::string x_name(size_t i) {
    return "x" + std::to_string(i);
}
std::string y_name(size_t i) {
    return "y" + std::to_string(i);
}
// Names under which the old values stand in the update while it is matched: no program can have them.
std::string old_value_name(size_t i) {
    return "associativity.x" + std::to_string(i);
}

/// Replaces the calls of the function at the place that is updated by variables.
class ReplaceSelfCalls : public IRGraphMutator {
    using IRGraphMutator::visit;
    const std::string &func;
    const std::vector<Expr> &args;

    Expr visit(const Call *op) override {
        if (op->call_type != Call::Halide || op->name != func) {
            return op->is_tag() ? mutate(op->args[0]) : IRGraphMutator::visit(op);
        }
        bool same_place = op->args.size() == args.size();
        for (size_t i = 0; same_place && i < args.size(); i++) {
            same_place = equal(op->args[i], args[i]);
        }
        if (!same_place) {
            elsewhere = true;
            return op;
        }
        calls[op->value_index] = op;
        return Variable::make(op->type, old_value_name(op->value_index));
    }

public:
    bool elsewhere = false;
    std::map<int, Expr> calls;

    ReplaceSelfCalls(const std::string &func, const std::vector<Expr> &args) : func(func), args(args) {
    }
};

/// How one element of the tuple is combined: `op` over x and y of that element.
struct ElementMatch {
    Expr op, identity;
    /// What y stands for; undefined if the element stays what it was.
    Expr y;
    bool commutative = true;
};

/// Matches one element that depends on no other.
class MatchElement {
    const std::string old_name;
    const size_t index;
    const Type type;
    const Expr x, y;

    bool uses_old(const Expr &e) const {
        return expr_uses_var(e, old_name);
    }
    bool is_old(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        return v && v->name == old_name;
    }

    /// The operands of a tree of one operator other than the old value, which must occur among them exactly once.
    template<typename Op>
    bool other_operands(const Expr &e, std::vector<Expr> &others, int &occurrences) const {
        if (const Op *op = e.as<Op>()) {
            return other_operands<Op>(op->a, others, occurrences) && other_operands<Op>(op->b, others, occurrences);
        }
        if (is_old(e)) {
            occurrences++;
            return true;
        }
        others.push_back(e);
        return !uses_old(e);
    }

    template<typename Op>
    std::optional<ElementMatch> match_tree(const Expr &e, IRNodeType node_type) const {
        std::vector<Expr> others;
        int occurrences = 0;
        if (!e.as<Op>() || !other_operands<Op>(e, others, occurrences) || occurrences != 1 || others.empty()) {
            return {};
        }
        ElementMatch m;
        m.op = Op::make(x, y);
        m.identity = get_associative_identity(type, node_type);
        m.y = others[0];
        for (size_t i = 1; i < others.size(); i++) {
            m.y = Op::make(m.y, others[i]);
        }
        return m;
    }

    /// The signed terms of a sum other than the old value.
    bool terms(const Expr &e, bool negative, Expr &sum, int &occurrences) const {
        if (const Add *add = e.as<Add>()) {
            return terms(add->a, negative, sum, occurrences) && terms(add->b, negative, sum, occurrences);
        }
        if (const Sub *sub = e.as<Sub>()) {
            return terms(sub->a, negative, sum, occurrences) && terms(sub->b, !negative, sum, occurrences);
        }
        if (is_old(e)) {
            occurrences++;
            return !negative;
        }
        if (uses_old(e)) {
            return false;
        }
        if (!sum.defined()) {
            sum = negative ? Sub::make(make_zero(e.type()), e) : e;
        } else {
            sum = negative ? Sub::make(sum, e) : Add::make(sum, e);
        }
        return true;
    }

    std::optional<ElementMatch> match_sum(const Expr &e) const {
        Expr sum;
        int occurrences = 0;
        if (!terms(e, false, sum, occurrences) || occurrences != 1 || !sum.defined()) {
            return {};
        }
        ElementMatch m;
        m.op = Add::make(x, y);
        m.identity = make_zero(type);
        m.y = sum;
        return m;
    }

    /// max(f + a, f + b) is f + max(a, b) where sums do not wrap, and max(f + a, f) is f + max(a, 0).
    template <typename Op>
    std::optional<ElementMatch> match_extreme_sum(const Expr &a, const Expr &b) const {
        if (type.can_overflow()) {
            return {};
        }
        const auto addend = [&](const Expr &e) {
            const std::optional<ElementMatch> m = is_old(e) ? std::nullopt : match_sum(e);
            return is_old(e) ? make_zero(type) : m ? m->y : Expr();
        };
        const Expr y0 = addend(a), y1 = addend(b);
        if (!y0.defined() || !y1.defined()) {
            return {};
        }
        ElementMatch m;
        m.op = Add::make(x, y);
        m.identity = make_zero(type);
        m.y = Op::make(y0, y1);
        return m;
    }

    std::optional<ElementMatch> match_call(const Call *call) const {
        struct Known {
            Call::IntrinsicOp op;
            bool all_ones;
        };
        for (const Known &known : {Known{Call::bitwise_and, true}, Known{Call::bitwise_or, false},
                                   Known{Call::bitwise_xor, false}, Known{Call::saturating_add, false}}) {
            // Signed saturation forgets how far it went in one direction: sat(sat(100 + 100) − 100) is 27 as int8, not
            // 100.
            if (!call->is_intrinsic(known.op) || (known.op == Call::saturating_add && !type.is_uint())) {
                continue;
            }
            const bool first = is_old(call->args[0]);
            const Expr &other = call->args[first ? 1 : 0];
            if (uses_old(other) || !(first || is_old(call->args[1]))) {
                // A longer chain: (f & a) & b.
                return match_chain(call, known.op, known.all_ones);
            }
            return make_call_match(known.op, known.all_ones, other);
        }
        return {};
    }

    ElementMatch make_call_match(Call::IntrinsicOp op, bool all_ones, const Expr &other) const {
        ElementMatch m;
        m.op = Call::make(type, op, {x, y}, Call::PureIntrinsic);
        m.identity = !all_ones ? make_zero(type) : type.is_uint() ? type.max() : make_const(type, -1);
        m.y = other;
        return m;
    }

    std::optional<ElementMatch> match_chain(const Call *call, Call::IntrinsicOp op, bool all_ones) const {
        for (int i = 0; i < 2; i++) {
            if (uses_old(call->args[1 - i])) {
                continue;
            }
            if (std::optional<ElementMatch> inner = match(call->args[i])) {
                const Call *inner_op = inner->op.as<Call>();
                if (inner_op && inner_op->is_intrinsic(op) && inner->y.defined()) {
                    return make_call_match(op, all_ones,
                                           Call::make(type, op, {inner->y, call->args[1 - i]}, Call::PureIntrinsic));
                }
            }
        }
        return {};
    }

    /// cast<T>(cast<W>(f) + w), where arithmetic in T wraps: the low bits do not depend on the high ones.
    std::optional<ElementMatch> match_wrapping_cast(const Cast *cast_op) const {
        const Type wide = cast_op->value.type();
        if (!type.can_overflow() || type.is_bool() || !wide.is_int_or_uint() || wide.bits() <= type.bits()) {
            return {};
        }
        // A wide type in which the language does not define overflow has none, so its low bits are those of T's.
        class Narrow : public IRMutator {
            const std::string &old_name;
            const Type type;

        public:
            bool ok = true;
            Narrow(const std::string &old_name, Type type) : old_name(old_name), type(type) {
            }
            using IRMutator::mutate;
            Expr mutate(const Expr &e) override {
                if (!expr_uses_var(e, old_name)) {
                    return cast(type, e);
                }
                if (const Add *op = e.as<Add>()) {
                    return Add::make(mutate(op->a), mutate(op->b));
                }
                if (const Sub *op = e.as<Sub>()) {
                    return Sub::make(mutate(op->a), mutate(op->b));
                }
                if (const Mul *op = e.as<Mul>()) {
                    return Mul::make(mutate(op->a), mutate(op->b));
                }
                const Cast *c = e.as<Cast>();
                if (c && c->value.type() == type && c->value.as<Variable>()) {
                    return c->value;
                }
                ok = false;
                return cast(type, e);
            }
        } narrow(old_name, type);
        const Expr narrowed = narrow.mutate(cast_op->value);
        return narrow.ok ? match(narrowed) : std::nullopt;
    }

public:
    MatchElement(size_t index, Type type)
        : old_name(old_value_name(index)), index(index), type(type), x(Variable::make(type, x_name(index))),
          y(Variable::make(type, y_name(index))) {
    }

    std::optional<ElementMatch> match(const Expr &e) const {
        if (is_old(e) || is_undef(e)) {
            ElementMatch m;
            m.op = x;
            m.identity = make_zero(type);
            return m;
        }
        if (!uses_old(e)) {
            ElementMatch m;
            m.op = y;
            m.identity = make_zero(type);
            m.y = e;
            m.commutative = false;
            return m;
        }
        switch (e.node_type()) {
        case IRNodeType::Add:
        case IRNodeType::Sub:
            return match_sum(e);
        case IRNodeType::Mul:
            return match_tree<Mul>(e, IRNodeType::Mul);
        case IRNodeType::Min: {
            const Min *op = e.as<Min>();
            const std::optional<ElementMatch> m = match_tree<Min>(e, IRNodeType::Min);
            return m ? m : match_extreme_sum<Min>(op->a, op->b);
        }
        case IRNodeType::Max: {
            const Max *op = e.as<Max>();
            const std::optional<ElementMatch> m = match_tree<Max>(e, IRNodeType::Max);
            return m ? m : match_extreme_sum<Max>(op->a, op->b);
        }
        case IRNodeType::And:
            return match_tree<And>(e, IRNodeType::And);
        case IRNodeType::Or:
            return match_tree<Or>(e, IRNodeType::Or);
        case IRNodeType::Call:
            return match_call(e.as<Call>());
        case IRNodeType::Cast:
            return match_wrapping_cast(e.as<Cast>());
        case IRNodeType::Select:
            return match_select(e.as<Select>());
        default:
            return {};
        }
    }

private:
    /// select(c, f + a, f) is f + select(c, a, 0).
    std::optional<ElementMatch> match_select(const Select *op) const {
        if (uses_old(op->condition)) {
            return match_min_max(op);
        }
        std::optional<ElementMatch> a = match(op->true_value), b = match(op->false_value);
        if (!a || !b) {
            return {};
        }
        const bool a_unchanged = !a->y.defined(), b_unchanged = !b->y.defined();
        if (a_unchanged && b_unchanged) {
            return a;
        }
        const ElementMatch &like = a_unchanged ? *b : *a;
        if (!like.commutative || (!a_unchanged && !b_unchanged && !equal(a->op, b->op))) {
            return {};
        }
        ElementMatch m = like;
        m.y = select(op->condition, a_unchanged ? like.identity : a->y, b_unchanged ? like.identity : b->y);
        return m;
    }

    /// select(f < a, f, a) and its relatives.
    std::optional<ElementMatch> match_min_max(const Select *op) const {
        Expr a, b;
        bool less = true;
        if (const LT *c = op->condition.as<LT>()) {
            a = c->a, b = c->b;
        } else if (const LE *c = op->condition.as<LE>()) {
            a = c->a, b = c->b;
        } else if (const GT *c = op->condition.as<GT>()) {
            a = c->a, b = c->b, less = false;
        } else if (const GE *c = op->condition.as<GE>()) {
            a = c->a, b = c->b, less = false;
        } else {
            return {};
        }
        if (equal(op->true_value, b) && equal(op->false_value, a)) {
            less = !less;
        } else if (!equal(op->true_value, a) || !equal(op->false_value, b)) {
            return {};
        }
        return match(less ? Min::make(a, b) : Max::make(a, b));
    }
};

/// A comparison of the old value of one element with something else.
struct KeyComparison {
    size_t key = 0;
    Expr other;
    /// The new element is taken if the condition holds and it is the smaller one (or the larger one).
    bool other_is_less = true;
    bool strict = true;
};

/// The index of the old value that this is, if it is one.
std::optional<size_t> old_value_index(const Expr &e, size_t size) {
    const Variable *v = e.as<Variable>();
    for (size_t i = 0; v && i < size; i++) {
        if (v->name == old_value_name(i)) {
            return i;
        }
    }
    return {};
}

bool uses_any_old(const Expr &e, size_t size) {
    std::set<std::string> names;
    for (size_t i = 0; i < size; i++) {
        names.insert(old_value_name(i));
    }
    return uses_any_var(e, names);
}

std::optional<KeyComparison> match_comparison(const Expr &c, size_t size) {
    Expr a, b;
    bool less = true, strict = true;
    if (const LT *op = c.as<LT>()) {
        a = op->a, b = op->b;
    } else if (const LE *op = c.as<LE>()) {
        a = op->a, b = op->b, strict = false;
    } else if (const GT *op = c.as<GT>()) {
        a = op->a, b = op->b, less = false;
    } else if (const GE *op = c.as<GE>()) {
        a = op->a, b = op->b, less = false, strict = false;
    } else {
        return {};
    }
    KeyComparison result;
    result.strict = strict;
    if (const std::optional<size_t> i = old_value_index(b, size); i && !uses_any_old(a, size)) {
        result.key = *i;
        result.other = a;
        result.other_is_less = less;
        return result;
    }
    if (const std::optional<size_t> i = old_value_index(a, size); i && !uses_any_old(b, size)) {
        result.key = *i;
        result.other = b;
        result.other_is_less = !less;
        return result;
    }
    return {};
}

/// argmin, argmax: all elements are chosen together, by a comparison of one of them.
bool match_keyed_choice(const std::vector<size_t> &elements, const std::vector<Expr> &exprs, AssociativeOp &result) {
    const size_t size = exprs.size();
    Expr condition;
    for (size_t i : elements) {
        if (const Select *s = exprs[i].as<Select>()) {
            condition = s->condition;
            break;
        }
    }
    if (!condition.defined()) {
        return false;
    }
    std::optional<KeyComparison> cmp = match_comparison(condition, size);
    if (!cmp) {
        return false;
    }

    // Whether the old tuple is taken when the condition holds.
    std::optional<bool> old_if_true;
    for (size_t i : elements) {
        Expr other;
        if (const Select *s = exprs[i].as<Select>()) {
            if (!equal(s->condition, condition)) {
                return false;
            }
            const bool old_first = old_value_index(s->true_value, size) == i;
            if (!old_first && old_value_index(s->false_value, size) != i) {
                return false;
            }
            if (old_if_true && *old_if_true != old_first) {
                return false;
            }
            old_if_true = old_first;
            other = old_first ? s->false_value : s->true_value;
        } else {
            if (i != cmp->key) {
                return false;
            }
            continue;
        }
        if (uses_any_old(other, size) || (i == cmp->key && !equal(other, cmp->other))) {
            return false;
        }
        result.ys[i] = {y_name(i), other};
    }
    internal_assert(old_if_true);
    // The new key wins if it is less (or greater).
    const bool new_if_less = cmp->other_is_less != *old_if_true;
    const bool strict = cmp->strict != *old_if_true;
    const size_t k = cmp->key;
    if (std::find(elements.begin(), elements.end(), k) == elements.end()) {
        return false;
    }
    if (!exprs[k].as<Select>()) {
        std::optional<ElementMatch> m = MatchElement(k, exprs[k].type()).match(exprs[k]);
        if (!m || !m->y.defined() || !equal(m->y, cmp->other) || !(new_if_less ? m->op.as<Min>() != nullptr : m->op.as<Max>() != nullptr)) {
            return false;
        }
        result.ys[k] = {y_name(k), cmp->other};
    }

    const Type key_type = exprs[k].type();
    const Expr xk = Variable::make(key_type, x_name(k)), yk = Variable::make(key_type, y_name(k));
    const Expr take_new = new_if_less ? (strict ? yk < xk : yk <= xk) : (strict ? yk > xk : yk >= xk);
    for (size_t i : elements) {
        const Type t = exprs[i].type();
        result.pattern.ops[i] =
            select(take_new, Variable::make(t, y_name(i)), Variable::make(t, x_name(i)));
        result.pattern.identities[i] = i != k ? make_zero(t) : new_if_less ? t.max() : t.min();
    }
    result.choices.push_back({elements, k, new_if_less, strict});
    return true;
}

/// Coefficients of a sum that is linear in two old values.
struct LinearForm {
    Expr c0, c1;
};

bool add_linear(const Expr &e, const std::string &x0, const std::string &x1, bool negative, LinearForm &form) {
    if (const Add *op = e.as<Add>()) {
        return add_linear(op->a, x0, x1, negative, form) && add_linear(op->b, x0, x1, negative, form);
    }
    if (const Sub *op = e.as<Sub>()) {
        return add_linear(op->a, x0, x1, negative, form) && add_linear(op->b, x0, x1, !negative, form);
    }
    auto is_var = [](const Expr &v, const std::string &name) {
        const Variable *var = v.as<Variable>();
        return var && var->name == name;
    };
    Expr factor;
    bool first = false;
    if (const Mul *op = e.as<Mul>()) {
        for (int i = 0; i < 2; i++) {
            const Expr &v = i ? op->b : op->a, &other = i ? op->a : op->b;
            if ((is_var(v, x0) || is_var(v, x1)) && !expr_uses_var(other, x0) && !expr_uses_var(other, x1)) {
                factor = other;
                first = is_var(v, x0);
            }
        }
    } else if (is_var(e, x0) || is_var(e, x1)) {
        factor = make_one(e.type());
        first = is_var(e, x0);
    }
    if (!factor.defined()) {
        return false;
    }
    Expr &c = first ? form.c0 : form.c1;
    if (negative) {
        factor = make_zero(factor.type()) - factor;
    }
    c = c.defined() ? c + factor : factor;
    return true;
}

/// Multiplication of complex numbers, and of a + b·i with i² = 1 or i² = 0:
/// (x0·y0 + k·x1·y1, x1·y0 + x0·y1), k = −1, 1, 0.
bool match_ring_product(const std::vector<size_t> &elements, const std::vector<Expr> &exprs, AssociativeOp &result) {
    if (elements.size() != 2) {
        return false;
    }
    for (int swapped = 0; swapped < 2; swapped++) {
        const size_t re = elements[swapped], im = elements[1 - swapped];
        if (exprs[re].type() != exprs[im].type()) {
            return false;
        }
        LinearForm r, i;
        if (!add_linear(exprs[re], old_value_name(re), old_value_name(im), false, r) ||
            !add_linear(exprs[im], old_value_name(re), old_value_name(im), false, i) || !r.c0.defined() ||
            !i.c0.defined() || !i.c1.defined()) {
            continue;
        }
        const Expr y0 = r.c0, y1 = i.c0;
        auto same = [](const Expr &a, const Expr &b) { return equal(simplify(a), simplify(b)); };
        if (!same(i.c1, y0)) {
            continue;
        }
        int k = 2;
        if (!r.c1.defined()) {
            k = 0;
        } else if (same(r.c1, y1)) {
            k = 1;
        } else if (same(make_zero(y1.type()) - r.c1, y1)) {
            k = -1;
        }
        if (k == 2) {
            continue;
        }
        const Type t = exprs[re].type();
        const Expr xr = Variable::make(t, x_name(re)), xi = Variable::make(t, x_name(im));
        const Expr yr = Variable::make(t, y_name(re)), yi = Variable::make(t, y_name(im));
        result.pattern.ops[re] = k == 0 ? xr * yr : k == 1 ? xr * yr + xi * yi : xr * yr - xi * yi;
        result.pattern.ops[im] = xi * yr + xr * yi;
        result.pattern.identities[re] = make_one(t);
        result.pattern.identities[im] = make_zero(t);
        result.ys[re] = {y_name(re), y0};
        result.ys[im] = {y_name(im), y1};
        return true;
    }
    return false;
}

/// Elements that depend on each other's old values, directly or not, together.
std::vector<std::vector<size_t>> dependent_elements(const std::vector<Expr> &exprs) {
    const size_t n = exprs.size();
    std::vector<size_t> leader(n);
    for (size_t i = 0; i < n; i++) {
        leader[i] = i;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (i != j && leader[i] != leader[j] && expr_uses_var(exprs[i], old_value_name(j))) {
                const size_t from = leader[j], to = leader[i];
                std::replace(leader.begin(), leader.end(), from, to);
            }
        }
    }
    std::map<size_t, std::vector<size_t>> groups;
    for (size_t i = 0; i < n; i++) {
        groups[leader[i]].push_back(i);
    }
    std::vector<std::vector<size_t>> result;
    for (auto &[l, group] : groups) {
        result.push_back(group);
    }
    return result;
}

}  // namespace

AssociativeOp prove_associativity(const std::string &f, std::vector<Expr> args, std::vector<Expr> exprs) {
    const size_t size = exprs.size();
    AssociativeOp result(size);
    result.pattern.is_commutative = true;

    auto normalize = [](const Expr &e) { return remove_likelies(substitute_in_all_lets(e)); };
    for (Expr &arg : args) {
        arg = normalize(arg);
    }
    ReplaceSelfCalls replace(f, args);
    for (const Expr &arg : args) {
        replace(arg);
        if (!replace.calls.empty() || replace.elsewhere) {
            return AssociativeOp(size);
        }
    }
    for (Expr &e : exprs) {
        e = replace(normalize(e));
    }
    if (replace.elsewhere) {
        return AssociativeOp(size);
    }

    for (const std::vector<size_t> &elements : dependent_elements(exprs)) {
        if (elements.size() > 1) {
            if (!match_keyed_choice(elements, exprs, result) && !match_ring_product(elements, exprs, result)) {
                return AssociativeOp(size);
            }
            continue;
        }
        const size_t i = elements[0];
        std::optional<ElementMatch> m = MatchElement(i, exprs[i].type()).match(exprs[i]);
        if (!m) {
            return AssociativeOp(size);
        }
        result.pattern.ops[i] = m->op;
        result.pattern.identities[i] = m->identity;
        result.pattern.is_commutative &= m->commutative;
        if (m->y.defined()) {
            result.ys[i] = {y_name(i), m->y};
        }
    }
    for (size_t i = 0; i < size; i++) {
        bool used = false;
        for (const Expr &op : result.pattern.ops) {
            used |= expr_uses_var(op, x_name(i));
        }
        auto call = replace.calls.find((int)i);
        if (used && call != replace.calls.end()) {
            result.xs[i] = {x_name(i), call->second};
        }
    }
    result.is_associative = true;
    return result;
}

}  // namespace Internal
}  // namespace Halide
