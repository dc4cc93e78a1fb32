#include "lower/nest/Specialize.h"

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// What a condition that holds says about expressions: each left side equals its right side.
void collect_facts(const Expr &condition, std::vector<std::pair<Expr, Expr>> &facts) {
    if (const And *both = condition.as<And>()) {
        collect_facts(both->a, facts);
        collect_facts(both->b, facts);
    } else if (const Call *tag = Call::as_tag(condition)) {
        collect_facts(tag->args[0], facts);
    } else if (const EQ *eq = condition.as<EQ>()) {
        if (is_const(eq->b) || (eq->a.as<Variable>() && !eq->a.type().is_float())) {
            if (!is_const(eq->a) && !eq->a.type().is_float()) {
                facts.emplace_back(eq->a, eq->b);
            }
        } else if (eq->b.as<Variable>() && !eq->b.type().is_float()) {
            facts.emplace_back(eq->b, eq->a);
        }
        facts.emplace_back(condition, const_true());
    } else if (const Not *negated = condition.as<Not>()) {
        facts.emplace_back(negated->a, const_false());
    } else if (!is_const(condition)) {
        facts.emplace_back(condition, const_true());
    }
}

/// The negation of a condition known to be false, with what follows.
void collect_negated_facts(const Expr &condition, std::vector<std::pair<Expr, Expr>> &facts) {
    if (const Or *either = condition.as<Or>()) {
        collect_negated_facts(either->a, facts);
        collect_negated_facts(either->b, facts);
    } else if (const NE *ne = condition.as<NE>()) {
        collect_facts(EQ::make(ne->a, ne->b), facts);
    } else if (const Not *negated = condition.as<Not>()) {
        collect_facts(negated->a, facts);
    } else if (!is_const(condition)) {
        facts.emplace_back(condition, const_false());
    }
}

class ApplyFacts : public IRMutator {
    const std::vector<std::pair<Expr, Expr>> &facts;

public:
    explicit ApplyFacts(const std::vector<std::pair<Expr, Expr>> &facts) : facts(facts) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        Expr result = e;
        for (const auto &[find, replacement] : facts) {
            result = substitute(find, replacement, result);
        }
        return result.same_as(e) ? e : simplify(result);
    }
};

void apply_facts(const std::vector<std::pair<Expr, Expr>> &facts, Definition &def) {
    if (!facts.empty()) {
        ApplyFacts replace(facts);
        def.mutate(&replace);
    }
}

void simplify_definition(Definition &def) {
    std::vector<Specialization> &alternatives = def.specializations();
    for (size_t i = 0; i < alternatives.size(); i++) {
        Specialization &a = alternatives[i];
        if (!a.failure_message.empty()) {
            break;
        }
        a.condition = simplify(a.condition);
        std::vector<std::pair<Expr, Expr>> facts, negated;
        collect_facts(a.condition, facts);
        apply_facts(facts, a.definition);
        simplify_definition(a.definition);

        if (is_const_one(a.condition)) {
            // Always taken: whatever comes later is not reached. The alternative becomes the stage itself.
            alternatives.erase(alternatives.begin() + i + 1, alternatives.end());
            break;
        }
        collect_negated_facts(a.condition, negated);
        for (size_t j = i + 1; j < alternatives.size(); j++) {
            if (alternatives[j].failure_message.empty()) {
                ApplyFacts replace(negated);
                alternatives[j].condition = replace.mutate(alternatives[j].condition);
                apply_facts(negated, alternatives[j].definition);
            }
        }
        if (is_const_zero(a.condition)) {
            alternatives.erase(alternatives.begin() + i);
            i--;
        }
    }
}

}  // namespace

void simplify_specializations(std::map<std::string, Function> &env) {
    for (auto &[name, f] : env) {
        if (f.has_pure_definition()) {
            simplify_definition(f.definition());
        }
        for (size_t i = 0; i < f.updates().size(); i++) {
            simplify_definition(f.update((int)i));
        }
    }
}

}  // namespace Internal
}  // namespace Halide
