#include "simplify/Simplify.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "simplify/Simplifier.h"
#include "support/Process.h"

#include <iostream>

namespace Halide {
namespace Internal {

namespace {

// Forms looked at for one condition that is to be proved.
constexpr int proof_fuel = 200;

bool trace() {
    static const bool on = get_env_variable("BROMIDE_TRACE") == "simplify";
    return on;
}

// The type of a part of a rule's right side, as far as it follows from what is bound; a type without lanes if not.
Type type_of_part(const RuleSet::Rule &rule, int index, const RuleSet::Bindings &bindings) {
    const RuleSet::Node &n = rule.nodes[index];
    if (n.kind == RuleSet::Kind::Wildcard) {
        return bindings.wildcard[n.slot]->type();
    }
    if (n.kind != RuleSet::Kind::Node) {
        return Type();
    }
    auto first_known = [&](std::initializer_list<int> children) {
        for (int c : children) {
            const Type t = type_of_part(rule, n.child[c], bindings);
            if (t.lanes() > 0) {
                return t;
            }
        }
        return Type();
    };
    switch (n.node) {
    case IRNodeType::Select:
        return first_known({1, 2});
    case IRNodeType::Ramp:
    case IRNodeType::Broadcast: {
        const Type t = n.node == IRNodeType::Ramp ? first_known({0, 1}) : first_known({0});
        const auto lanes = RuleSet::compute(rule, n.child[n.children - 1], bindings);
        return t.lanes() > 0 && lanes ? t.with_lanes((int)(t.lanes() * *lanes)) : Type();
    }
    case IRNodeType::Not:
        return first_known({0});
    case IRNodeType::EQ:
    case IRNodeType::NE:
    case IRNodeType::LT:
    case IRNodeType::LE:
    case IRNodeType::GT:
    case IRNodeType::GE: {
        const Type t = first_known({0, 1});
        return t.lanes() > 0 ? Bool(t.lanes()) : t;
    }
    default:
        return first_known({0, 1});
    }
}

}  // namespace

Expr Simplifier::apply_rules(const Expr &e) {
    const RuleSet &set = RuleSet::get();
    RuleSet::Bindings bindings;
    const RuleSet::Shape shape = set.shape_of(e);
    for (uint16_t i : set.candidates(shape)) {
        if (!set.may_match(i, shape)) {
            continue;
        }
        const RuleSet::Rule &rule = set.all()[i];
        if (!RuleSet::match(rule, e, bindings)) {
            continue;
        }
        if (trace()) {
            std::cerr << rule.name << ": " << e << "\n";
        }
        const Expr result = build(rule, rule.after, bindings, e.type());
        if (result.defined() && result.type() == e.type()) {
            if (trace()) {
                std::cerr << rule.name << ": -> " << result << "\n";
            }
            return result;
        }
    }
    return Expr();
}

Expr Simplifier::build(const RuleSet::Rule &rule, int index, const RuleSet::Bindings &bindings, const Type &expected) {
    const RuleSet::Node &n = rule.nodes[index];
    if (n.kind == RuleSet::Kind::Wildcard) {
        return *bindings.wildcard[n.slot];
    }
    if (n.computed) {
        if (expected.lanes() == 0) {
            return Expr();
        }
        const auto value = expected.is_bool() ? RuleSet::compute(rule, index, bindings) :
                                                RuleSet::compute_in(rule, index, bindings, expected.element_of());
        return value ? make_const(expected, *value) : Expr();
    }
    auto child = [&](int i, const Type &t) { return build(rule, n.child[i], bindings, t); };
    switch (n.node) {
    case IRNodeType::Not: {
        const Expr a = child(0, expected);
        return a.defined() ? not_(a) : a;
    }
    case IRNodeType::Select: {
        const Expr c = child(0, Bool(expected.lanes()));
        const Expr t = c.defined() ? child(1, expected) : Expr();
        const Expr f = t.defined() ? child(2, expected) : Expr();
        return f.defined() ? select(c, t, f) : Expr();
    }
    case IRNodeType::Ramp:
    case IRNodeType::Broadcast: {
        const auto lanes = RuleSet::compute(rule, n.child[n.children - 1], bindings);
        if (!lanes || *lanes < 1 || expected.lanes() % *lanes != 0) {
            return Expr();
        }
        const Type inner = expected.with_lanes(expected.lanes() / (int)*lanes);
        const Expr a = child(0, inner);
        if (!a.defined() || n.node == IRNodeType::Broadcast) {
            return a.defined() ? broadcast(a, (int)*lanes) : a;
        }
        const Expr stride = child(1, inner);
        return stride.defined() ? ramp(a, stride, (int)*lanes) : Expr();
    }
    default: {
        const bool compares = n.node >= IRNodeType::EQ && n.node <= IRNodeType::GE;
        const Type t = compares ? type_of_part(rule, index, bindings).lanes() == 0 ?
                                  Type() :
                                  [&] {
                                      const Type left = type_of_part(rule, n.child[0], bindings);
                                      return left.lanes() ? left : type_of_part(rule, n.child[1], bindings);
                                  }() :
                                  expected;
        const Expr a = child(0, t);
        const Expr b = a.defined() ? child(1, t) : Expr();
        return b.defined() && a.type() == b.type() ? binary(n.node, a, b) : Expr();
    }
    }
}

Expr Simplifier::mutate(const Expr &e) {
    if (!e.defined()) {
        return e;
    }
    switch (e.node_type()) {
    case IRNodeType::IntImm:
    case IRNodeType::UIntImm:
    case IRNodeType::FloatImm:
    case IRNodeType::StringImm:
        return e;
    case IRNodeType::Variable: {
        const Variable *v = e.as<Variable>();
        auto it = variables.find(v->name);
        if (it != variables.end() && it->second.replacement.defined()) {
            const Expr &r = it->second.replacement;
            return r.type() == v->type ? r : e;
        }
        if (v->type.is_int_or_uint() && v->type.is_scalar()) {
            const ConstantInterval b = bounds_of(e);
            if (b.is_single_point() && v->type.can_represent(b.min)) {
                return make_const(v->type, b.min);
            }
        }
        return e;
    }
    default:
        break;
    }
    // A node that stands in several places is simplified once per set of facts.
    const bool shared = e.get()->ref_count.value() > 1;
    if (shared) {
        const Memo *known = memo.find(e.get());
        if (known && known->scope == scope_id) {
            return known->result;
        }
    }
    const uint32_t scope = scope_id;
    Expr result = mutate_node(e);
    if (shared && scope == scope_id) {
        memo[e.get()] = {e, result, scope};
    }
    return result;
}

Expr Simplifier::mutate_node(const Expr &e) {
    switch (e.node_type()) {
    case IRNodeType::And:
        return mutate_logic(IRNodeType::And, e.as<And>()->a, e.as<And>()->b, e);
    case IRNodeType::Or:
        return mutate_logic(IRNodeType::Or, e.as<Or>()->a, e.as<Or>()->b, e);
    case IRNodeType::Not:
        return not_(mutate(e.as<Not>()->a), e);
    case IRNodeType::Select:
        return mutate_select(e.as<Select>());
    case IRNodeType::Cast:
        return cast(e.type(), mutate(e.as<Cast>()->value), e);
    case IRNodeType::Reinterpret:
        return reinterpret(e.type(), mutate(e.as<Reinterpret>()->value), e);
    case IRNodeType::Ramp: {
        const Ramp *op = e.as<Ramp>();
        const Expr base = mutate(op->base);
        return ramp(base, mutate(op->stride), op->lanes, e);
    }
    case IRNodeType::Broadcast:
        return broadcast(mutate(e.as<Broadcast>()->value), e.as<Broadcast>()->lanes, e);
    case IRNodeType::Shuffle: {
        const Shuffle *op = e.as<Shuffle>();
        bool changed = false;
        const std::vector<Expr> vectors = mutate(op->vectors, changed);
        return shuffle(vectors, op->indices, changed ? Expr() : e);
    }
    case IRNodeType::VectorReduce: {
        const VectorReduce *op = e.as<VectorReduce>();
        return reduce(op->op, mutate(op->value), op->type.lanes(), e);
    }
    case IRNodeType::Load:
        return mutate_load(e.as<Load>());
    case IRNodeType::Call:
        return mutate_call(e.as<Call>());
    case IRNodeType::Let:
        return mutate_let(e);
    default: {
        const auto operands = as_binary_operands(e);
        internal_assert(operands) << "simplify: unexpected node " << IRNodeType_string(e.node_type()) << "\n";
        const Expr a = mutate(operands->first);
        return binary(e.node_type(), a, mutate(operands->second), e);
    }
    }
}

// In a && b, b only matters where a holds. But what b reads from memory is read anyway: then nothing may be assumed.
Expr Simplifier::mutate_logic(IRNodeType type, const Expr &a, const Expr &b, const Expr &original) {
    const bool conjunction = type == IRNodeType::And;
    const Expr x = mutate(a);
    if (is_const(x)) {
        if (is_const_zero(x) == conjunction) {
            return x;
        }
        return mutate(b);
    }
    Expr y;
    if (x.type().is_scalar() && !reads_memory(b)) {
        FactScope scope(*this);
        conjunction ? learn_true(x) : learn_false(x);
        y = mutate(b);
    } else {
        y = mutate(b);
    }
    // The other way round, for what can be decided at once.
    const bool small = !x.as<And>() && !x.as<Or>() && !y.as<And>() && !y.as<Or>();
    if (small && !is_const(y) && x.type().is_scalar() && !reads_memory(x)) {
        FactScope scope(*this);
        conjunction ? learn_true(y) : learn_false(y);
        if (conjunction ? prove(x, 2) : refute(x, 2)) {
            return y;
        }
    }
    return binary(type, x, y, original);
}

Expr Simplifier::mutate_select(const Select *op) {
    const Expr c = mutate(op->condition);
    if (is_const(c)) {
        return mutate(is_const_zero(c) ? op->false_value : op->true_value);
    }
    // The arms are simplified without the condition: both count for the bounds of an index, and a clamp that the condition
    // makes redundant is what keeps the arm that is not chosen inside its limits.
    const Expr t = mutate(op->true_value);
    const Expr f = mutate(op->false_value);
    return select(c, t, f, op);
}

std::vector<Expr> Simplifier::mutate(const std::vector<Expr> &v, bool &changed) {
    std::vector<Expr> result;
    result.reserve(v.size());
    for (const Expr &e : v) {
        result.push_back(mutate(e));
        changed = changed || !result.back().same_as(e);
    }
    return result;
}

Region Simplifier::mutate(const Region &r, bool &changed) {
    Region result;
    result.reserve(r.size());
    for (const Range &range : r) {
        result.emplace_back(mutate(range.min), mutate(range.extent));
        changed = changed || !result.back().min.same_as(range.min) || !result.back().extent.same_as(range.extent);
    }
    return result;
}

// What a let's name stands for in its body. Constants, names, and names plus a constant are written instead of it.
Simplifier::VariableInfo Simplifier::info_of_let(const Expr &value, bool &keep) {
    VariableInfo info;
    keep = true;
    if (value.type().is_int_or_uint()) {
        const Info i = this->info(value);
        info.bounds = i.bounds;
        info.alignment = i.alignment;
    }
    Expr v = value;
    while (const Broadcast *b = v.as<Broadcast>()) {
        v = b->value;
    }
    auto leaf = [](const Expr &e) { return is_const(e) || e.as<Variable>() || e.as<StringImm>(); };
    auto offset = [&](const Expr &e) {
        const Add *add = e.as<Add>();
        return leaf(e) || (add && e.type().is_int_or_uint() && add->a.as<Variable>() && is_const(add->b));
    };
    const Ramp *r = v.as<Ramp>();
    if (offset(v) || (r && offset(r->base) && leaf(r->stride))) {
        info.replacement = value;
        keep = false;
    } else if (value.type().is_bool() && value.type().is_scalar() && !reads_memory(value)) {
        info.definition = value;
    }
    return info;
}

std::string Simplifier::unused_name(const std::string &prefix) const {
    std::string name = prefix;
    for (int i = 1; variables.count(name) || mentioned.count(name) || replaced_by.count(name); i++) {
        name = prefix + "." + std::to_string(i);
    }
    return name;
}

// let v = r(a * b, 1, 8) in body → let v.base = a * b in body with r(v.base, 1, 8) for v: so that dense accesses show.
bool Simplifier::name_scalar_of_vector(std::string &name, Expr &value, VariableInfo &info) {
    if (!value.type().is_vector() || info.replacement.defined()) {
        return false;
    }
    std::vector<Expr> layers;
    Expr scalar = value;
    for (;;) {
        const Ramp *r = scalar.as<Ramp>();
        const Broadcast *b = scalar.as<Broadcast>();
        Expr stride = r ? r->stride : Expr();
        while (stride.defined() && stride.as<Broadcast>()) {
            stride = stride.as<Broadcast>()->value;
        }
        if (!b && !(r && (is_const(stride) || stride.as<Variable>()))) {
            break;
        }
        layers.push_back(scalar);
        scalar = r ? r->base : b->value;
    }
    if (layers.empty() || !scalar.type().is_scalar()) {
        return false;
    }
    const std::string scalar_name = unused_name(name + ".base");
    VariableInfo inner;
    if (scalar.type().is_int_or_uint()) {
        const Info i = this->info(scalar);
        inner.bounds = i.bounds;
        inner.alignment = i.alignment;
    }
    bind(scalar_name, scalar.type(), inner);
    Expr replacement = Variable::make(scalar.type(), scalar_name);
    for (size_t i = layers.size(); i-- > 0;) {
        const Ramp *r = layers[i].as<Ramp>();
        replacement = r ? Ramp::make(replacement, r->stride, r->lanes) :
                          Broadcast::make(replacement, layers[i].as<Broadcast>()->lanes);
    }
    info.replacement = replacement;
    bind(name, value.type(), info);
    name = scalar_name;
    value = scalar;
    return true;
}

// The name equals its value, is at most what its value is the minimum of, and so on.
void Simplifier::learn_let(const std::string &name, const Expr &value) {
    const Type t = value.type();
    if (!t.is_int() || t.bits() < 32 || !t.is_scalar() || reads_memory(value) || expr_uses_var(value, name)) {
        return;
    }
    const Expr v = Variable::make(t, name);
    if (const Min *op = value.as<Min>()) {
        learn_comparison(v, op->a, false, 0);
        learn_comparison(v, op->b, false, 0);
    } else if (const Max *op = value.as<Max>()) {
        learn_comparison(op->a, v, false, 0);
        learn_comparison(op->b, v, false, 0);
    }
    if (value.as<Min>() || value.as<Max>() || value.as<Add>() || value.as<Sub>() || value.as<Mul>() ||
        value.as<Div>()) {
        if (auto form = difference(v, value)) {
            learn_form(*form, ConstantInterval::single_point(0));
        }
    }
    scope_id = ++last_scope_id;
}

Expr Simplifier::mutate_let(const Expr &e) {
    struct Frame {
        const Let *op;
        std::string name;
        Expr value;
        bool keep;
    };
    std::vector<Frame> frames;
    Expr body = e, result;
    bool changed = false;
    {
        FactScope scope(*this);
        while (const Let *op = body.as<Let>()) {
            Frame f{op, op->name, mutate(op->value), true};
            VariableInfo info = info_of_let(f.value, f.keep);
            if (!name_scalar_of_vector(f.name, f.value, info)) {
                f.name = bind(op->name, f.value.type(), info);
            }
            if (f.keep) {
                learn_let(f.name, f.value);
            }
            changed = changed || !f.keep || f.name != op->name || !f.value.same_as(op->value);
            frames.push_back(std::move(f));
            body = op->body;
        }
        result = mutate(body);
    }
    if (!changed && result.same_as(body)) {
        return e;
    }
    while (!frames.empty()) {
        const Frame &f = frames.back();
        if (f.keep) {
            result = Let::make(f.name, f.value, result);
        }
        frames.pop_back();
    }
    return result;
}

Expr simplify(const Expr &e, const Scope<Interval> &bounds, const Scope<ModulusRemainder> &alignment,
              const std::vector<Expr> &assumptions) {
    if (!e.defined()) {
        return e;
    }
    Simplifier s(bounds, alignment);
    for (const Expr &a : assumptions) {
        s.learn_true(s.mutate(a));
    }
    return remove_dead_lets(s.mutate(e));
}

Stmt simplify(const Stmt &stmt, const Scope<Interval> &bounds, const Scope<ModulusRemainder> &alignment,
              const std::vector<Expr> &assumptions) {
    if (!stmt.defined()) {
        return stmt;
    }
    Simplifier s(bounds, alignment);
    for (const Expr &a : assumptions) {
        s.learn_true(s.mutate(a));
    }
    return remove_dead_lets(s.mutate(stmt));
}

bool can_prove(Expr e, const Scope<Interval> &bounds) {
    internal_assert(e.defined() && e.type().is_bool()) << "can_prove of something that is not a bool: " << e << "\n";
    e = remove_likelies(e);
    Simplifier s(bounds, Scope<ModulusRemainder>::empty_scope());
    const Expr simpler = s.mutate(e);
    if (is_const(simpler)) {
        return is_const_one(simpler);
    }
    return s.prove_thoroughly(simpler, proof_fuel);
}

Stmt simplify_exprs(const Stmt &s) {
    class SimplifyExprs : public IRMutator {
    public:
        using IRMutator::mutate;
        Expr mutate(const Expr &e) override {
            return simplify(e);
        }
    };
    return SimplifyExprs()(s);
}

}  // namespace Internal
}  // namespace Halide
