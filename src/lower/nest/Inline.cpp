#include "lower/nest/Inline.h"

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "simplify/CommonSubexpressions.h"
#include "simplify/Simplify.h"

#include <algorithm>

namespace Halide {
namespace Internal {

namespace {

/// Replaces the pure Vars of a Func by the arguments of a call, in its definition as users wrote it.
class ReplaceVars : public IRGraphMutator {
    using IRGraphMutator::visit;
    const std::map<std::string, Expr> &values;

    Expr visit(const Variable *op) override {
        if (op->param.defined() || op->image.defined()) {
            return op;
        }
        auto it = values.find(op->name);
        return it == values.end() ? Expr(op) : it->second;
    }

public:
    explicit ReplaceVars(const std::map<std::string, Expr> &values) : values(values) {
    }
};

class ContainsLet : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Let *op) override {
        found = true;
    }

public:
    bool found = false;
};

/// Index arithmetic that is cheap to simplify: at most `budget` nodes of sums and products of variables.
bool is_small_index(const Expr &e, int &budget) {
    if (--budget < 0) {
        return false;
    }
    if (e.as<Variable>() || is_const(e)) {
        return true;
    }
    if (const auto operands = as_binary_operands(e)) {
        return is_small_index(operands->first, budget) && is_small_index(operands->second, budget);
    }
    return false;
}

}  // namespace

bool Inliner::CompareArgs::operator()(const std::vector<Expr> &a, const std::vector<Expr> &b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const Expr &x, const Expr &y) {
        return !x.same_as(y) && graph_less_than(x, y);
    });
}

void Inliner::inline_func(const Function &f) {
    internal_assert(f.can_be_inlined()) << "Func " << f.name() << " cannot be inlined";
    to_inline.emplace(f.name(), f);
}

Expr Inliner::visit(const Call *op) {
    auto it = op->call_type == Call::Halide ? to_inline.find(op->name) : to_inline.end();
    if (it == to_inline.end()) {
        return IRGraphMutator::visit(op);
    }
    const Function &f = it->second;
    std::vector<Expr> args;
    for (const Expr &arg : op->args) {
        Expr a = mutate(arg);
        int budget = 32;
        if (a.node_type() != IRNodeType::Variable && is_small_index(a, budget)) {
            // Chains of shifted calls then meet at the same points.
            a = simplify(a);
        }
        args.push_back(a);
    }
    inlined_calls++;
    auto &calls = expanded[{op->name, op->value_index}];
    if (auto known = calls.find(args); known != calls.end()) {
        return known->second;
    }

    const std::vector<std::string> names = f.args();
    internal_assert(names.size() == args.size());
    std::map<std::string, Expr> values;
    for (size_t i = 0; i < names.size(); i++) {
        values[names[i]] = args[i];
    }
    Expr body = f.values()[op->value_index];
    ContainsLet lets;
    body.accept(&lets);
    body = lets.found ? substitute(values, body) : ReplaceVars(values)(body);
    body = mutate(body);
    // Recursion may have moved the table.
    expanded[{op->name, op->value_index}].emplace(args, body);
    return body;
}

Stmt Inliner::visit(const Provide *op) {
    const int before = inlined_calls;
    Stmt s = IRGraphMutator::visit(op);
    const Provide *provide = s.as<Provide>();
    if (inlined_calls == before || !provide) {
        return s;
    }
    std::vector<Expr> values, args;
    for (const Expr &e : provide->values) {
        values.push_back(common_subexpression_elimination(e));
    }
    for (const Expr &e : provide->args) {
        args.push_back(common_subexpression_elimination(e));
    }
    return Provide::make(provide->name, values, args, provide->predicate);
}

Expr Inliner::do_inlining(const Expr &e) {
    const Expr result = mutate(e);
    return result.same_as(e) ? result : common_subexpression_elimination(result);
}

Stmt Inliner::do_inlining(const Stmt &s) {
    return mutate(s);
}

void validate_schedule_inlined_function(const Function &f) {
    const FuncSchedule &func_schedule = f.schedule();
    const StageSchedule &stage_schedule = f.definition().schedule();
    user_assert(func_schedule.store_level().is_inlined())
        << "Func \"" << f.name() << "\" is scheduled store_at(" << func_schedule.store_level().to_string()
        << "), but is inlined: it has no storage.\n  Give it a compute_at or compute_root as well.\n";
    user_assert(!func_schedule.memoized())
        << "Cannot memoize Func \"" << f.name() << "\" because the Func is scheduled inline.\n"
        << "  Give it a compute_at or compute_root as well.\n";
    user_assert(!func_schedule.async())
        << "Cannot make Func \"" << f.name() << "\" async because the Func is scheduled inline.\n"
        << "  Give it a compute_at or compute_root as well.\n";
    user_assert(!func_schedule.ring_buffer().defined())
        << "Cannot give Func \"" << f.name() << "\" a ring buffer because the Func is scheduled inline.\n";
    for (const Dim &d : stage_schedule.dims()) {
        const char *what = is_vectorized(d.for_type)               ? "vectorize" :
                           d.for_type == ForType::Unrolled         ? "unroll" :
                           d.for_type == ForType::Parallel         ? "parallelize" :
                           is_gpu(d.for_type)                      ? "map to a device" :
                           d.hint.defined()                        ? "hint how to unroll" :
                                                                     nullptr;
        user_assert(!what) << "Cannot " << what << " dimension " << d.var << " of Func \"" << f.name()
                           << "\" because the Func is scheduled inline.\n"
                           << "  Give it a compute_at or compute_root as well, or drop the directive.\n";
    }
    for (const Split &s : stage_schedule.splits()) {
        if (s.is_rename()) {
            continue;
        }
        user_warning << "It is meaningless to " << (s.is_split() ? "split" : "fuse") << " dimension " << s.old_var
                     << " of Func \"" << f.name() << "\" because the Func is scheduled inline.\n";
    }
    for (const Bound &b : func_schedule.bounds()) {
        user_warning << "It is meaningless to bound dimension " << b.var << " of Func \"" << f.name()
                     << "\" because the Func is scheduled inline.\n";
    }
}

Stmt inline_function(Stmt s, const Function &f) {
    Inliner inliner;
    inliner.inline_func(f);
    return inliner.do_inlining(s);
}

Expr inline_function(Expr e, const Function &f) {
    Inliner inliner;
    inliner.inline_func(f);
    return inliner.do_inlining(e);
}

namespace {

/// An inliner for definitions: introduces the lets at the top of each expression.
class DefinitionInliner : public IRMutator {
    Inliner inliner;

public:
    explicit DefinitionInliner(const Function &f) {
        inliner.inline_func(f);
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return inliner.do_inlining(e);
    }
};

}  // namespace

void inline_function(Function caller, const Function &f) {
    DefinitionInliner inliner(f);
    caller.mutate(&inliner);
    for (const ExternFuncArgument &arg : caller.extern_arguments()) {
        user_assert(!arg.is_func() || !arg.func.same_as(f.get_contents()))
            << "Func \"" << f.name() << "\" cannot be inlined into extern Func \"" << caller.name()
            << "\", which takes it as a buffer.\n";
    }
}

void inline_function(Definition &caller, const Function &f) {
    DefinitionInliner inliner(f);
    caller.mutate(&inliner);
}

}  // namespace Internal
}  // namespace Halide
