#pragma once

#include "analysis/ConstantInterval.h"
#include "ir/IR.h"
#include "ir/Interval.h"
#include "ir/ModulusRemainder.h"
#include "ir/Scope.h"
#include "simplify/Linear.h"
#include "simplify/RuleSet.h"
#include "support/PointerMap.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace Halide {
namespace Internal {

/// The simplifier proper. Expressions are rebuilt from the leaves by constructors that simplify (`add`, `lt`, `select`
/// …): each takes simplified operands and gives a simplified result, so nothing is visited twice.
///
/// Constructors try, in this order: folding constants; the rules; what is known of bounds, congruences and facts.
class Simplifier {
public:
    Simplifier(const Scope<Interval> &bounds, const Scope<ModulusRemainder> &alignment);

    Expr mutate(const Expr &e);
    Stmt mutate(const Stmt &s);

    /// From here on, a condition is known to hold (or not to).
    void learn_true(const Expr &condition);
    void learn_false(const Expr &condition);

    /// Tries to prove a simplified condition with case splits.
    bool prove(const Expr &condition, int fuel);
    /// The same with all that is known, also of conditions of selects: only for an answer, not to rewrite by.
    bool prove_thoroughly(const Expr &condition, int fuel) {
        proving = true;
        return prove(condition, fuel);
    }

    // -- Constructors. `original` is what to return if nothing changes.
    Expr binary(IRNodeType type, const Expr &a, const Expr &b, const Expr &original = Expr());
    Expr add(const Expr &a, const Expr &b) {
        return binary(IRNodeType::Add, a, b);
    }
    Expr sub(const Expr &a, const Expr &b) {
        return binary(IRNodeType::Sub, a, b);
    }
    Expr mul(const Expr &a, const Expr &b) {
        return binary(IRNodeType::Mul, a, b);
    }
    Expr div(const Expr &a, const Expr &b) {
        return binary(IRNodeType::Div, a, b);
    }
    Expr mod(const Expr &a, const Expr &b) {
        return binary(IRNodeType::Mod, a, b);
    }
    Expr not_(const Expr &a, const Expr &original = Expr());
    Expr select(const Expr &c, const Expr &t, const Expr &f, const Expr &original = Expr());
    Expr cast(const Type &t, const Expr &value, const Expr &original = Expr());
    Expr reinterpret(const Type &t, const Expr &value, const Expr &original = Expr());
    Expr ramp(const Expr &base, const Expr &stride, int lanes, const Expr &original = Expr());
    Expr broadcast(const Expr &value, int lanes, const Expr &original = Expr());
    Expr shuffle(const std::vector<Expr> &vectors, const std::vector<int> &indices, const Expr &original = Expr());
    Expr reduce(VectorReduce::Operator op, const Expr &value, int lanes, const Expr &original = Expr());
    Expr call(const Call *op, const std::vector<Expr> &args, bool changed);

private:
    // -- Facts (Facts.cpp).
    struct Info {
        ConstantInterval bounds;
        ModulusRemainder alignment;
    };

    struct VariableInfo {
        ConstantInterval bounds;
        ModulusRemainder alignment;
        /// What to write instead.
        Expr replacement;
        /// The value of a boolean that is a let.
        Expr definition;
        bool bound_here = false;
    };

    struct Fact {
        /// Without constant.
        LinearForm form;
        ConstantInterval range;
        /// See key_of.
        uint64_t hash;
        int64_t factor;
        bool hidden = false;
    };

    struct Truth {
        Expr condition;
        bool value;
        uint64_t hash;
        bool hidden = false;
    };

    /// Facts learned, and names bound, until the end of its life.
    class FactScope {
        Simplifier &s;
        size_t facts, truths, undo;
        uint32_t outer;

    public:
        explicit FactScope(Simplifier &s);
        ~FactScope();
        FactScope(const FactScope &) = delete;
        FactScope &operator=(const FactScope &) = delete;
    };
    friend class FactScope;

    const Scope<Interval> &given_bounds;
    const Scope<ModulusRemainder> &given_alignment;

    std::unordered_map<std::string, VariableInfo> variables;
    struct Undo {
        std::string name;
        std::optional<VariableInfo> old;
        /// Or: a fact or truth that was hidden.
        int fact = -1, truth = -1;
    };
    std::vector<Undo> undo_log;
    std::vector<Fact> facts;
    std::vector<Truth> truths;
    std::unordered_multimap<uint64_t, size_t> facts_by_form, truths_by_hash;
    std::unordered_map<std::string, std::vector<size_t>> facts_by_name;
    /// How many facts mention a name, and how many replacements.
    std::unordered_map<std::string, int> mentioned, replaced_by;

    uint32_t scope_id = 0, last_scope_id = 0;
    struct Cached {
        Expr keep;
        uint32_t scope = 0;
        Info info;
    };
    PointerMap<const BaseExprNode *, Cached> info_cache;
    struct Memo {
        Expr keep, result;
        uint32_t scope = 0;
    };
    PointerMap<const BaseExprNode *, Memo> memo;
    PointerMap<const BaseExprNode *, std::pair<Expr, bool>> memory_cache;
    int looking_up_bounds = 0;
    /// Names that some definition of a boolean has mentioned.
    std::set<std::string> in_definitions;
    /// How many names were ever bound.
    int names_bound = 0;
    bool proving = false;

    Info info(const Expr &e);
    Info info_of_variable(const Variable *v);
    ConstantInterval bounds_of(const Expr &e) {
        return info(e).bounds;
    }
    void forget_definitions_by(const std::string &name);
    bool means_the_same_here(const Expr &e);
    VariableInfo &change_variable(const std::string &name);
    /// Binds a name in the present scope. @returns the name to use from here on: another one if it would be captured.
    std::string bind(const std::string &name, const Type &type, VariableInfo info);
    void hide_facts_about(const std::string &name);
    void learn(const Expr &condition, bool value, int depth);
    void learn_comparison(const Expr &a, const Expr &b, bool strict, int depth);
    void learn_equal(const Expr &a, const Expr &b);
    void learn_form(LinearForm form, ConstantInterval range);
    void learn_truth(const Expr &condition, bool value);
    std::optional<bool> known_truth(const Expr &condition);
    bool reads_memory(const Expr &e);

    // -- Proofs (Prove.cpp).
    std::optional<LinearForm> difference(const Expr &a, const Expr &b);
    bool exact_in_type(const LinearForm &form, const Type &t);
    ConstantInterval bounds_of_form(const LinearForm &form, int &fuel, int depth = 0);
    ConstantInterval bounds_of_terms(const LinearForm &form);
    ConstantInterval bounds_from_facts(const LinearForm &form);
    ConstantInterval bounds_by_cases(const LinearForm &form, int &fuel, int depth);
    ConstantInterval bounds_by_division(const LinearForm &form, int &fuel, int depth);
    ConstantInterval bounds_by_elimination(const LinearForm &form, int &fuel, int depth);
    ConstantInterval bounds_of_difference(const Expr &a, const Expr &b, int fuel);
    bool prove_comparison(IRNodeType type, const Expr &a, const Expr &b, int fuel);
    bool refute(const Expr &condition, int fuel);

    // -- Rules (Simplify.cpp).
    Expr apply_rules(const Expr &e);
    Expr build(const RuleSet::Rule &rule, int node, const RuleSet::Bindings &bindings, const Type &expected);

    // -- Arithmetic (Arithmetic.cpp).
    Expr fold(IRNodeType type, const Expr &a, const Expr &b);
    Expr build_sum(const LinearForm &form, const Type &t);
    Expr sum_by_form(IRNodeType type, const Expr &a, const Expr &b);
    bool join_quotient_and_rest(LinearForm &form);
    bool cancel_inside_min_max(LinearForm &form, const Type &t);
    Expr divide_ramp(IRNodeType type, const Ramp *a, int64_t c);
    Expr divide_by_form(IRNodeType type, const Expr &a, const Expr &b);
    Expr min_max_by_form(IRNodeType type, const Expr &a, const Expr &b);
    Expr compare_by_form(IRNodeType type, const Expr &a, const Expr &b);
    Expr arithmetic_by_facts(IRNodeType type, const Expr &a, const Expr &b);
    Expr logic_by_facts(IRNodeType type, const Expr &a, const Expr &b);
    Expr boolean_by_facts(const Expr &e);
    Expr lift_broadcast(IRNodeType type, const Expr &a, const Expr &b);

    // -- Calls and vectors.
    Expr fold_call(const Call *op, const std::vector<Expr> &args);
    Expr fold_bits(const Call *op, const std::vector<Expr> &args);
    Expr fold_float_function(const Call *op, const std::vector<Expr> &args);
    Expr fold_fixed_point(const Call *op, const std::vector<Expr> &args);
    Expr shuffle_of_ramps(const std::vector<Expr> &vectors, const std::vector<int> &indices);
    Expr shuffle_of_loads(const std::vector<Expr> &vectors, const std::vector<int> &indices);

    // -- Nodes with names.
    Expr mutate_node(const Expr &e);
    Expr mutate_logic(IRNodeType type, const Expr &a, const Expr &b, const Expr &original);
    Expr mutate_select(const Select *op);
    Expr mutate_load(const Load *op);
    Expr mutate_call(const Call *op);
    Expr mutate_let(const Expr &e);
    ModulusRemainder alignment_of_first_lane(const Expr &index, const ModulusRemainder &known);

    // -- Statements (Statements.cpp).
    Stmt mutate_let_stmt(const Stmt &s);
    Stmt mutate_block(const Block *op);
    Stmt mutate_for(const For *op);
    Stmt mutate_if(const IfThenElse *op);
    Stmt mutate_store(const Store *op);
    Stmt mutate_provide(const Provide *op);
    Stmt mutate_allocate(const Allocate *op);
    Stmt mutate_realize(const Realize *op);
    Stmt mutate_prefetch(const Prefetch *op);
    Stmt mutate_assert(const AssertStmt *op);
    Region mutate(const Region &r, bool &changed);
    std::vector<Expr> mutate(const std::vector<Expr> &v, bool &changed);
    /// What is known of a let's value in its body; `keep` tells whether the let itself stays.
    VariableInfo info_of_let(const Expr &value, bool &keep);
    void learn_let(const std::string &name, const Expr &value);
    /// If the value of a let is a ramp or broadcast of a scalar that is not trivial: binds a name for the scalar, which is
    /// to be the let, and makes `info` replace the old name by a ramp or broadcast of it.
    bool name_scalar_of_vector(std::string &name, Expr &value, VariableInfo &info);
    std::string unused_name(const std::string &prefix) const;
};

/// Keeps what both intervals allow; the first one alone if they contradict each other, which means unreachable code.
void tighten(ConstantInterval &a, const ConstantInterval &b);

/// The integers v with v * c inside the interval.
ConstantInterval divide_inward(const ConstantInterval &i, int64_t c);

/// Drops lets whose names are not used. Names of buffers that are loaded from or stored to count as used.
Expr remove_dead_lets(const Expr &e);
Stmt remove_dead_lets(const Stmt &s);

}  // namespace Internal
}  // namespace Halide
