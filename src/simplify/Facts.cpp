// What the simplifier knows: bounds and congruences of variables and of subexpressions, and conditions that hold.

#include "analysis/ModulusRemainder.h"
#include "analysis/Transfer.h"
#include "ir/IREquality.h"
#include "ir/StructuralHash.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "simplify/Simplifier.h"
#include "support/Process.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>

namespace Halide {
namespace Internal {

namespace {

// How far a condition is taken apart, and how much of a chain is learned.
constexpr int max_learning_depth = 8;

/// Names of variables, each once. They belong to the expression.
using NameList = SmallVector<const std::string *, 6>;

class Names : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    std::unordered_set<std::string_view> seen;
    void visit(const Variable *op) override {
        if (seen.insert(op->name).second) {
            names.push_back(&op->name);
        }
    }

public:
    NameList names;
};

// Collects the names in a small expression made of operators. @returns false if it is something else.
bool collect_names(const Expr &e, NameList &names, int &fuel) {
    if (fuel-- <= 0) {
        return false;
    }
    const IRNodeType type = e.node_type();
    if (type == IRNodeType::Variable) {
        const std::string &name = e.as<Variable>()->name;
        for (const std::string *known : names) {
            if (*known == name) {
                return true;
            }
        }
        names.push_back(&name);
        return true;
    }
    if (type == IRNodeType::IntImm || type == IRNodeType::UIntImm || type == IRNodeType::FloatImm) {
        return true;
    }
    if (const Cast *cast = e.as<Cast>()) {
        return collect_names(cast->value, names, fuel);
    }
    const auto operands = as_binary_operands(e);
    return operands && collect_names(operands->first, names, fuel) && collect_names(operands->second, names, fuel);
}

NameList names_in(const Expr &e) {
    NameList names;
    int fuel = 24;
    if (!collect_names(e, names, fuel)) {
        Names n;
        e.accept(&n);
        return n.names;
    }
    return names;
}

bool mentions(const Expr &e, const std::string &name) {
    const NameList names = names_in(e);
    return std::any_of(names.begin(), names.end(), [&](const std::string *n) { return *n == name; });
}

class ReadsMemory : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Load *op) override {
        found = true;
    }
    void visit(const Call *op) override {
        if (!op->is_pure() || op->call_type == Call::Image) {
            found = true;
        }
        IRGraphVisitor::visit(op);
    }

public:
    bool found = false;
};

// Proportional forms have one key: divided by the common factor, with the sign that makes the sum of hashes small.
struct FormKey {
    uint64_t hash;
    /// form = factor * normalised form
    int64_t factor;
};

FormKey key_of(const LinearForm &form) {
    const int64_t g = form.common_factor();
    uint64_t sum = 0;
    for (const LinearForm::Term &t : form.terms) {
        const Variable *v = t.atom.as<Variable>();
        const uint64_t h = v ? std::hash<std::string>()(v->name) * 0x9e3779b97f4a7c15ull : structural_hash_of_top(t.atom);
        sum += (h | 1) * (uint64_t)(t.coefficient / g);
    }
    const bool negative = sum >> 63;
    return {negative ? 0 - sum : sum, negative ? -g : g};
}

bool proportional(const LinearForm &a, int64_t factor_a, const LinearForm &b, int64_t factor_b) {
    if (a.terms.size() != b.terms.size()) {
        return false;
    }
    for (const LinearForm::Term &t : a.terms) {
        bool found = false;
        for (const LinearForm::Term &u : b.terms) {
            if (t.coefficient / factor_a == u.coefficient / factor_b && same_expr(t.atom, u.atom)) {
                found = true;
                break;
            }
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

}  // namespace

void tighten(ConstantInterval &a, const ConstantInterval &b) {
    const ConstantInterval r = ConstantInterval::make_intersection(a, b);
    // A contradiction means that the code is not reached: either fact will do.
    if (!(r.is_bounded() && r.min > r.max)) {
        a = r;
    }
}

ConstantInterval divide_inward(const ConstantInterval &i, int64_t c) {
    ConstantInterval r = c > 0 ? i : -i;
    const int64_t d = c > 0 ? c : -c;
    if (r.min_defined && r.min == std::numeric_limits<int64_t>::min()) {
        r.min_defined = false;
    } else if (r.min_defined) {
        r.min = -div_imp<int64_t>(-r.min, d);
    }
    if (r.max_defined) {
        r.max = div_imp<int64_t>(r.max, d);
    }
    return r;
}

Simplifier::Simplifier(const Scope<Interval> &bounds, const Scope<ModulusRemainder> &alignment)
    : given_bounds(bounds), given_alignment(alignment) {
}

Simplifier::FactScope::FactScope(Simplifier &s)
    : s(s), facts(s.facts.size()), truths(s.truths.size()), undo(s.undo_log.size()), outer(s.scope_id) {
    s.scope_id = ++s.last_scope_id;
}

Simplifier::FactScope::~FactScope() {
    while (s.undo_log.size() > undo) {
        Undo &u = s.undo_log.back();
        if (u.fact >= 0) {
            if ((size_t)u.fact < s.facts.size()) {
                s.facts[u.fact].hidden = false;
            }
        } else if (u.truth >= 0) {
            if ((size_t)u.truth < s.truths.size()) {
                s.truths[u.truth].hidden = false;
            }
        } else {
            auto it = s.variables.find(u.name);
            if (it != s.variables.end() && it->second.replacement.defined()) {
                for (const std::string *n : names_in(it->second.replacement)) {
                    s.replaced_by[*n]--;
                }
            }
            if (u.old) {
                if (u.old->replacement.defined()) {
                    for (const std::string *n : names_in(u.old->replacement)) {
                        s.replaced_by[*n]++;
                    }
                }
                s.variables[u.name] = std::move(*u.old);
            } else {
                s.variables.erase(u.name);
            }
        }
        s.undo_log.pop_back();
    }
    auto erase_entry = [](auto &map, uint64_t key, size_t value) {
        auto range = map.equal_range(key);
        for (auto it = range.first; it != range.second; ++it) {
            if (it->second == value) {
                map.erase(it);
                return;
            }
        }
    };
    while (s.facts.size() > facts) {
        const Fact &f = s.facts.back();
        erase_entry(s.facts_by_form, f.hash, s.facts.size() - 1);
        for (const LinearForm::Term &t : f.form.terms) {
            for (const std::string *n : names_in(t.atom)) {
                s.mentioned[*n]--;
            }
            if (const Variable *v = t.atom.as<Variable>()) {
                s.facts_by_name[v->name].pop_back();
            }
        }
        s.facts.pop_back();
    }
    while (s.truths.size() > truths) {
        const Truth &t = s.truths.back();
        erase_entry(s.truths_by_hash, t.hash, s.truths.size() - 1);
        for (const std::string *n : names_in(t.condition)) {
            s.mentioned[*n]--;
        }
        s.truths.pop_back();
    }
    s.scope_id = outer;
}

Simplifier::VariableInfo &Simplifier::change_variable(const std::string &name) {
    auto it = variables.find(name);
    Undo u;
    u.name = name;
    if (it != variables.end()) {
        u.old = it->second;
    }
    undo_log.push_back(std::move(u));
    scope_id = ++last_scope_id;
    return it != variables.end() ? it->second : variables[name];
}

void Simplifier::hide_facts_about(const std::string &name) {
    auto it = mentioned.find(name);
    if (it == mentioned.end() || it->second == 0) {
        return;
    }
    for (size_t i = 0; i < facts.size(); i++) {
        if (facts[i].hidden) {
            continue;
        }
        for (const LinearForm::Term &t : facts[i].form.terms) {
            if (mentions(t.atom, name)) {
                facts[i].hidden = true;
                undo_log.push_back({"", std::nullopt, (int)i, -1});
                break;
            }
        }
    }
    for (size_t i = 0; i < truths.size(); i++) {
        if (!truths[i].hidden && mentions(truths[i].condition, name)) {
            truths[i].hidden = true;
            undo_log.push_back({"", std::nullopt, -1, (int)i});
        }
    }
}

// A name that gets another meaning takes the definitions that use it with it.
void Simplifier::forget_definitions_by(const std::string &name) {
    if (!in_definitions.count(name)) {
        return;
    }
    std::vector<std::string> affected;
    for (const auto &[n, v] : variables) {
        if (v.definition.defined() && mentions(v.definition, name)) {
            affected.push_back(n);
        }
    }
    for (const std::string &n : affected) {
        change_variable(n).definition = Expr();
    }
}

std::string Simplifier::bind(const std::string &name, const Type &type, VariableInfo info) {
    hide_facts_about(name);
    forget_definitions_by(name);
    if (info.definition.defined()) {
        const Expr definition = info.definition;
        for (const std::string *n : names_in(definition)) {
            if (*n == name) {
                info.definition = Expr();
                break;
            }
            in_definitions.insert(*n);
        }
    }
    names_bound++;
    info.bound_here = true;
    std::string inner = name;
    auto captured = replaced_by.find(name);
    if (captured != replaced_by.end() && captured->second > 0 && !info.replacement.defined()) {
        // An outer let is being replaced by an expression of the outer variable of this name.
        for (int i = 1; variables.count(inner) || inner == name; i++) {
            inner = name + "." + std::to_string(i);
        }
        VariableInfo renamed;
        renamed.bounds = info.bounds;
        renamed.alignment = info.alignment;
        renamed.bound_here = true;
        renamed.replacement = Variable::make(type, inner);
        change_variable(inner) = info;
        info = renamed;
    }
    if (info.replacement.defined()) {
        for (const std::string *n : names_in(info.replacement)) {
            replaced_by[*n]++;
        }
    }
    VariableInfo &v = change_variable(name);
    if (v.replacement.defined()) {
        for (const std::string *n : names_in(v.replacement)) {
            replaced_by[*n]--;
        }
    }
    v = std::move(info);
    return inner;
}

// Whether no name in an expression from outside is bound to something else here.
bool Simplifier::means_the_same_here(const Expr &e) {
    if (is_const(e) || names_bound == 0) {
        return true;
    }
    for (const std::string *n : names_in(e)) {
        auto it = variables.find(*n);
        if (it != variables.end() && it->second.bound_here) {
            return false;
        }
    }
    return true;
}

Simplifier::Info Simplifier::info_of_variable(const Variable *v) {
    Info r;
    r.bounds = ConstantInterval::bounds_of_type(v->type);
    auto it = variables.find(v->name);
    if (it != variables.end()) {
        tighten(r.bounds, it->second.bounds);
        r.alignment = it->second.alignment;
        if (it->second.bound_here) {
            return r;
        }
    }
    if (const int lanes = lanes_of_lane_variable(v->name)) {
        r.bounds = ConstantInterval(0, lanes - 1);
        return r;
    }
    if (const ModulusRemainder *m = given_alignment.find(v->name)) {
        r.alignment = ModulusRemainder::intersect(r.alignment, *m);
    }
    // Ends may refer to other variables with ends; a chain is followed a few steps.
    if (looking_up_bounds < 4) {
        if (const Interval *i = given_bounds.find(v->name)) {
            looking_up_bounds++;
            if (i->has_lower_bound() && i->min.type().is_int_or_uint() && means_the_same_here(i->min)) {
                const ConstantInterval b = bounds_of(i->min);
                if (b.min_defined) {
                    tighten(r.bounds, ConstantInterval::bounded_below(b.min));
                }
            }
            if (i->has_upper_bound() && i->max.type().is_int_or_uint() && means_the_same_here(i->max)) {
                const ConstantInterval b = bounds_of(i->max);
                if (b.max_defined) {
                    tighten(r.bounds, ConstantInterval::bounded_above(b.max));
                }
            }
            looking_up_bounds--;
        }
    }
    return r;
}

Simplifier::Info Simplifier::info(const Expr &e) {
    if (!e.type().is_int_or_uint()) {
        return {};
    }
    switch (e.node_type()) {
    case IRNodeType::IntImm:
    case IRNodeType::UIntImm:
        return {constant_bounds_of_node(e, [](const Expr &) { return ConstantInterval(); }),
                modulus_remainder_of_node(e, [](const Expr &) { return ModulusRemainder(); })};
    case IRNodeType::Broadcast:
        return info(e.as<Broadcast>()->value);
    default:
        break;
    }
    const Cached *known = info_cache.find(e.get());
    if (known && known->scope == scope_id) {
        return known->info;
    }
    Info r;
    if (const Variable *v = e.as<Variable>()) {
        r = info_of_variable(v);
    } else if (e.as<Let>()) {
        FactScope scope(*this);
        Expr body = e;
        while (const Let *let = body.as<Let>()) {
            const Info value = info(let->value);
            VariableInfo inner;
            inner.bounds = value.bounds;
            inner.alignment = value.alignment;
            bind(let->name, let->value.type(), inner);
            body = let->body;
        }
        r = info(body);
    } else {
        r.bounds = constant_bounds_of_node(e, [this](const Expr &c) { return info(c).bounds; });
        r.alignment = modulus_remainder_of_node(e, [this](const Expr &c) { return info(c).alignment; });
        if (r.alignment.modulus == 0) {
            tighten(r.bounds, ConstantInterval::single_point(r.alignment.remainder));
        } else if (r.bounds.is_single_point()) {
            r.alignment = ModulusRemainder(0, r.bounds.min);
        }
    }
    if (looking_up_bounds == 0) {
        Cached &c = info_cache[e.get()];
        c.keep = e;
        c.scope = scope_id;
        c.info = r;
    }
    return r;
}

bool Simplifier::reads_memory(const Expr &e) {
    switch (e.node_type()) {
    case IRNodeType::IntImm:
    case IRNodeType::UIntImm:
    case IRNodeType::FloatImm:
    case IRNodeType::StringImm:
    case IRNodeType::Variable:
        return false;
    case IRNodeType::Load:
        return true;
    default:
        break;
    }
    if (const auto *known = memory_cache.find(e.get())) {
        return known->second;
    }
    bool result = false;
    if (auto operands = as_binary_operands(e)) {
        result = reads_memory(operands->first) || reads_memory(operands->second);
    } else {
        ReadsMemory r;
        e.accept(&r);
        result = r.found;
    }
    memory_cache[e.get()] = {e, result};
    return result;
}

void Simplifier::learn_truth(const Expr &condition, bool value) {
    const uint64_t hash = structural_hash_of_top(condition);
    truths_by_hash.emplace(hash, truths.size());
    for (const std::string *n : names_in(condition)) {
        mentioned[*n]++;
    }
    truths.push_back({condition, value, hash});
}

std::optional<bool> Simplifier::known_truth(const Expr &condition) {
    if (truths.empty()) {
        return std::nullopt;
    }
    auto range = truths_by_hash.equal_range(structural_hash_of_top(condition));
    for (auto it = range.first; it != range.second; ++it) {
        const Truth &t = truths[it->second];
        if (!t.hidden && same_expr(t.condition, condition)) {
            return t.value;
        }
    }
    return std::nullopt;
}

void Simplifier::learn_form(LinearForm form, ConstantInterval range) {
    if (!form.valid || form.terms.empty() || form.terms.size() > 8) {
        return;
    }
    range -= form.constant;
    form.constant = 0;
    if (form.terms.size() == 1) {
        // A bound of one variable is kept with the variable.
        const LinearForm::Term t = form.terms[0];
        if (const Variable *v = t.atom.as<Variable>(); v && lanes_of_lane_variable(v->name) == 0) {
            VariableInfo &info = change_variable(v->name);
            tighten(info.bounds, divide_inward(range, t.coefficient));
            return;
        }
    }
    const FormKey key = key_of(form);
    for (const LinearForm::Term &t : form.terms) {
        for (const std::string *n : names_in(t.atom)) {
            mentioned[*n]++;
        }
        if (const Variable *v = t.atom.as<Variable>()) {
            facts_by_name[v->name].push_back(facts.size());
        }
    }
    facts_by_form.emplace(key.hash, facts.size());
    facts.push_back({std::move(form), range, key.hash, key.factor});
}

ConstantInterval Simplifier::bounds_from_facts(const LinearForm &form) {
    ConstantInterval result;
    if (facts.empty() || form.terms.empty()) {
        return result;
    }
    const FormKey key = key_of(form);
    auto range = facts_by_form.equal_range(key.hash);
    for (auto it = range.first; it != range.second; ++it) {
        const Fact &f = facts[it->second];
        if (!f.hidden && proportional(form, key.factor, f.form, f.factor)) {
            // form = key.factor * (f.form / f.factor) + constant
            tighten(result, divide_inward(f.range, f.factor) * key.factor + form.constant);
        }
    }
    return result;
}

void Simplifier::learn_comparison(const Expr &a, const Expr &b, bool strict, int depth) {
    if (depth > 4) {
        return;
    }
    // Below a minimum is below both; above a maximum is above both.
    if (const Min *op = b.as<Min>()) {
        learn_comparison(a, op->a, strict, depth + 1);
        learn_comparison(a, op->b, strict, depth + 1);
    } else if (const Max *op = a.as<Max>()) {
        learn_comparison(op->a, b, strict, depth + 1);
        learn_comparison(op->b, b, strict, depth + 1);
    }
    if (auto form = difference(a, b)) {
        learn_form(*form, ConstantInterval::bounded_above(strict ? -1 : 0));
    }
}

void Simplifier::learn_equal(const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint()) {
        return;
    }
    if (const Mod *mod = a.as<Mod>()) {
        const Variable *v = mod->a.as<Variable>();
        auto m = as_const_int(mod->b), r = as_const_int(b);
        if (v && m && r && *m > 1 && *r >= 0 && *r < *m) {
            VariableInfo &info = change_variable(v->name);
            info.alignment = ModulusRemainder::intersect(info.alignment, ModulusRemainder(*m, *r));
        }
    }
    const Variable *v = a.as<Variable>();
    if (v && a.type().is_scalar() && is_const(b)) {
        VariableInfo &info = change_variable(v->name);
        if (!info.replacement.defined()) {
            info.replacement = b;
        }
    }
    if (auto form = difference(a, b)) {
        learn_form(*form, ConstantInterval::single_point(0));
    }
}

void Simplifier::learn(const Expr &condition, bool value, int depth) {
    if (depth > max_learning_depth || is_const(condition)) {
        return;
    }
    if (const Call *tag = Call::as_tag(condition)) {
        learn(tag->args[0], value, depth);
        return;
    }
    if (const Broadcast *b = condition.as<Broadcast>()) {
        // What holds in every lane of a broadcast holds of its value. (A false vector condition says nothing usable.)
        learn(b->value, value, depth + 1);
        return;
    }
    if (reads_memory(condition)) {
        // What is in memory may change before the fact is used; but parts may be about variables only.
        const And *both = condition.as<And>();
        const Or *either = condition.as<Or>();
        if (value && both) {
            learn(both->a, true, depth + 1);
            learn(both->b, true, depth + 1);
        } else if (!value && either) {
            learn(either->a, false, depth + 1);
            learn(either->b, false, depth + 1);
        }
        return;
    }
    const bool scalar = condition.type().is_scalar();
    if (!scalar) {
        return;
    }
    learn_truth(condition, value);
    switch (condition.node_type()) {
    case IRNodeType::Not:
        learn(condition.as<Not>()->a, !value, depth + 1);
        break;
    case IRNodeType::And:
        if (value) {
            learn(condition.as<And>()->a, true, depth + 1);
            learn(condition.as<And>()->b, true, depth + 1);
        }
        break;
    case IRNodeType::Or:
        if (!value) {
            learn(condition.as<Or>()->a, false, depth + 1);
            learn(condition.as<Or>()->b, false, depth + 1);
        }
        break;
    case IRNodeType::EQ:
        if (value) {
            learn_equal(condition.as<EQ>()->a, condition.as<EQ>()->b);
        } else {
            learn_truth(NE::make(condition.as<EQ>()->a, condition.as<EQ>()->b), true);
        }
        break;
    case IRNodeType::NE:
        if (!value) {
            learn_equal(condition.as<NE>()->a, condition.as<NE>()->b);
        } else {
            learn_truth(EQ::make(condition.as<NE>()->a, condition.as<NE>()->b), false);
        }
        break;
    case IRNodeType::LT: {
        const LT *op = condition.as<LT>();
        value ? learn_comparison(op->a, op->b, true, 0) : learn_comparison(op->b, op->a, false, 0);
        break;
    }
    case IRNodeType::LE: {
        const LE *op = condition.as<LE>();
        value ? learn_comparison(op->a, op->b, false, 0) : learn_comparison(op->b, op->a, true, 0);
        break;
    }
    case IRNodeType::GT: {
        const GT *op = condition.as<GT>();
        value ? learn_comparison(op->b, op->a, true, 0) : learn_comparison(op->a, op->b, false, 0);
        break;
    }
    case IRNodeType::GE: {
        const GE *op = condition.as<GE>();
        value ? learn_comparison(op->b, op->a, false, 0) : learn_comparison(op->a, op->b, true, 0);
        break;
    }
    case IRNodeType::Variable: {
        const Variable *v = condition.as<Variable>();
        VariableInfo &info = change_variable(v->name);
        info.bounds = ConstantInterval::single_point(value);
        const Expr definition = info.definition;
        if (!info.replacement.defined()) {
            info.replacement = make_bool(value);
        }
        if (definition.defined()) {
            learn(definition, value, depth + 1);
        }
        break;
    }
    default:
        break;
    }
    scope_id = ++last_scope_id;
}

void Simplifier::learn_true(const Expr &condition) {
    learn(condition, true, 0);
}

void Simplifier::learn_false(const Expr &condition) {
    learn(condition, false, 0);
}

}  // namespace Internal
}  // namespace Halide
