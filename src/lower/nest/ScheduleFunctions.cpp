#include "lower/nest/ScheduleFunctions.h"

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "lower/nest/CheckSchedule.h"
#include "lower/nest/ComputeWith.h"
#include "lower/nest/Inline.h"

#include <algorithm>
#include <set>

namespace Halide {
namespace Internal {

namespace {

/// Funcs that are produced together: one, or several merged by compute_with.
struct Group {
    std::vector<Function> functions;
    /// All their stages, without produce nodes.
    Stmt stages;

    const LoopLevel &compute_level() const {
        return functions[0].schedule().compute_level();
    }
};

Stmt produce(const Group &g) {
    Stmt s = g.stages;
    for (size_t i = g.functions.size(); i > 0; i--) {
        s = ProducerConsumer::make_produce(g.functions[i - 1].name(), s);
    }
    return s;
}

/// The production of the group, and then its consumer, which may be nothing.
Stmt produce_and_consume(const Group &g, Stmt consumer) {
    const Stmt producer = produce(g);
    if (!consumer.defined() || is_no_op(consumer)) {
        return producer;
    }
    for (size_t i = g.functions.size(); i > 0; i--) {
        consumer = ProducerConsumer::make_consume(g.functions[i - 1].name(), consumer);
    }
    return Block::make(producer, consumer);
}

Stmt realize(const Function &f, const Stmt &s) {
    Region bounds;
    for (const std::string &arg : f.args()) {
        const std::string name = f.name() + "." + arg;
        bounds.emplace_back(Variable::make(Int(32), name + ".min_realized"),
                            Variable::make(Int(32), name + ".extent_realized"));
    }
    return Realize::make(f.name(), f.output_types(), f.schedule().memory_type(), bounds, const_true(), s);
}

bool calls_a_func(const Expr &e) {
    class Find : public IRGraphVisitor {
        using IRGraphVisitor::visit;
        void visit(const Call *op) override {
            found |= op->call_type == Call::Halide;
            if (!found) {
                IRGraphVisitor::visit(op);
            }
        }

    public:
        bool found = false;
    } find;
    e.accept(&find);
    return find.found;
}

/// Applies `wrap` to the body of a loop, inside the lets that it begins with: they define what the body computes. A let
/// that reads a Func is not among them: it may be the Func to be realized here.
template<typename Wrap>
Stmt wrap_inside_lets(const Stmt &body, Wrap wrap) {
    std::vector<const LetStmt *> lets;
    Stmt inner = body;
    while (const LetStmt *let = inner.as<LetStmt>()) {
        if (calls_a_func(let->value)) {
            break;
        }
        lets.push_back(let);
        inner = let->body;
    }
    Stmt s = wrap(inner);
    if (s.same_as(inner)) {
        return body;
    }
    for (size_t i = lets.size(); i > 0; i--) {
        s = LetStmt::make(lets[i - 1]->name, lets[i - 1]->value, s);
    }
    return s;
}

/// Rewrites the bodies of all loops that a level means.
template<typename Wrap>
class AtLevel : public IRMutator {
    using IRMutator::visit;
    const LoopLevel &level;
    Wrap wrap;

    Stmt visit(const For *op) override {
        if (!level.match(op->name)) {
            return IRMutator::visit(op);
        }
        const Stmt body = wrap_inside_lets(op->body, wrap);
        return body.same_as(op->body) ? Stmt(op) : op->changed(&For::body, body);
    }
    Stmt visit(const Provide *op) override {
        return op;
    }
    Stmt visit(const Evaluate *op) override {
        return op;
    }

public:
    // Loops do not occur in expressions.
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }

    AtLevel(const LoopLevel &level, Wrap wrap) : level(level), wrap(std::move(wrap)) {
    }
};

template<typename Wrap>
Stmt wrap_at_level(const Stmt &s, const LoopLevel &level, Wrap wrap) {
    if (level.is_root()) {
        return wrap(s);
    }
    return AtLevel<Wrap>(level, wrap)(s);
}

/// Does a statement produce or use `f`?
bool mentions(const Stmt &s, const Function &f) {
    class Find : public IRGraphVisitor {
        using IRGraphVisitor::visit;
        const std::string &name;
        void visit(const ProducerConsumer *op) override {
            found |= op->name == name;
            if (!found) {
                IRGraphVisitor::visit(op);
            }
        }
        void include(const Expr &) override {
        }
        void include(const Stmt &s) override {
            if (!found) {
                IRGraphVisitor::include(s);
            }
        }

    public:
        bool found = false;
        explicit Find(const std::string &name) : name(name) {
        }
    } find(f.name());
    s.accept(&find);
    return find.found;
}

/// Realizes a Func that is left at the default level but cannot be substituted, around each statement that uses it.
class RealizeAtUses : public IRMutator {
    using IRMutator::visit;
    const Group &group;

    bool used_in(const Expr &e) const {
        return uses_func(e, group.functions[0]);
    }
    Stmt realize_around(const Stmt &s) const {
        return realize(group.functions[0], produce_and_consume(group, s));
    }

    Stmt visit(const Provide *op) override {
        return uses_func(Stmt(op), group.functions[0]) ? realize_around(op) : Stmt(op);
    }
    Stmt visit(const Evaluate *op) override {
        return used_in(op->value) ? realize_around(op) : Stmt(op);
    }
    Stmt visit(const AssertStmt *op) override {
        return used_in(op->condition) ? realize_around(op) : Stmt(op);
    }
    Stmt visit(const LetStmt *op) override {
        return used_in(op->value) ? realize_around(op) : IRMutator::visit(op);
    }
    Stmt visit(const IfThenElse *op) override {
        return used_in(op->condition) ? realize_around(op) : IRMutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        // Not under the lock.
        return uses_func(op->body, group.functions[0]) ? realize_around(op) : Stmt(op);
    }
    Stmt visit(const For *op) override {
        // A call of a C function has no vector form.
        if (group.functions[0].has_extern_definition() && op->is_vectorized() &&
            uses_func(op->body, group.functions[0])) {
            return realize_around(op);
        }
        return IRMutator::visit(op);
    }

public:
    explicit RealizeAtUses(const Group &group) : group(group) {
    }
};

/// Names of Funcs that a statement uses.
class CollectUses : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    std::set<std::string> &names;

    void visit(const Call *op) override {
        if (op->call_type == Call::Halide) {
            names.insert(op->name);
        }
        IRGraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (op->type.is_handle()) {
            names.insert(op->name.substr(0, op->name.find('.')));
        }
    }

public:
    explicit CollectUses(std::set<std::string> &names) : names(names) {
    }
};

class Scheduler {
    const std::map<std::string, Function> &env;
    const Target &target;
    std::set<std::string> outputs;
    /// Funcs used by what has been built so far.
    std::set<std::string> used;
    Inliner inliner;
    Stmt s;

    bool is_output(const Function &f) const {
        return outputs.count(f.name());
    }

    bool is_inlined(const Function &f) const {
        return !is_output(f) && f.can_be_inlined() && f.schedule().compute_level().is_inlined();
    }

    void add(const std::vector<std::string> &names) {
        Group g;
        bool any_used = false, any_output = false;
        for (const std::string &name : names) {
            const Function &f = env.at(name);
            any_used |= is_output(f) || used.count(name);
            any_output |= is_output(f);
            g.functions.push_back(f);
        }
        if (!any_used) {
            return;
        }
        g.stages = build_fused_stages(g.functions, target, inliner);
        CollectUses collect(used);
        g.stages.accept(&collect);

        for (const Function &f : g.functions) {
            if (!is_output(f) && !g.compute_level().is_inlined() && s.defined()) {
                check_levels(f, s);
            }
        }
        if (any_output || g.compute_level().is_root()) {
            s = produce_and_consume(g, s);
        } else if (g.compute_level().is_inlined()) {
            internal_assert(g.functions.size() == 1);
            s = RealizeAtUses(g)(s);
            return;
        } else {
            s = wrap_at_level(s, g.compute_level(), [&](const Stmt &body) {
                const bool here = std::any_of(g.functions.begin(), g.functions.end(),
                                              [&](const Function &f) { return uses_func(body, f); });
                return here ? produce_and_consume(g, body) : body;
            });
        }
        for (size_t i = g.functions.size(); i > 0; i--) {
            store(g.functions[i - 1]);
        }
    }

    void store(const Function &f) {
        if (is_output(f)) {
            return;
        }
        const FuncSchedule &schedule = f.schedule();
        s = wrap_at_level(s, schedule.store_level(),
                          [&](const Stmt &body) { return mentions(body, f) ? realize(f, body) : body; });
        if (!(schedule.hoist_storage_level() == schedule.store_level())) {
            s = wrap_at_level(s, schedule.hoist_storage_level(), [&](const Stmt &body) {
                return mentions(body, f) ? HoistedStorage::make(f.name(), body) : body;
            });
        }
    }

public:
    Scheduler(const std::vector<Function> &output_funcs, const std::map<std::string, Function> &env,
              const Target &target)
        : env(env), target(target) {
        for (const Function &f : output_funcs) {
            outputs.insert(f.name());
        }
    }

    Stmt run(const std::vector<std::vector<std::string>> &groups, bool &any_memoized) {
        for (const std::vector<std::string> &group : groups) {
            for (const std::string &name : group) {
                const Function &f = env.at(name);
                check_schedule(f, is_output(f), target);
                if (is_inlined(f)) {
                    validate_schedule_inlined_function(f);
                    inliner.inline_func(f);
                }
                any_memoized |= f.schedule().memoized();
            }
        }
        // Consumers first: a Func can only be placed in loops that exist.
        for (size_t i = groups.size(); i > 0; i--) {
            if (groups[i - 1].size() == 1 && is_inlined(env.at(groups[i - 1][0]))) {
                continue;
            }
            add(groups[i - 1]);
        }
        // What the checks of a change of type say must hold before anything is computed.
        for (const auto &[name, f] : env) {
            for (const auto &[condition, message] : f.schedule().type_change_checks()) {
                const Expr error = requirement_failed_error(condition, {Expr(message)});
                s = Block::make(AssertStmt::make(condition, error), s);
            }
        }
        return s;
    }
};

}  // namespace

Stmt schedule_functions(const std::vector<Function> &outputs,
                        const std::vector<std::vector<std::string>> &fused_groups,
                        const std::map<std::string, Function> &env, const Target &target, bool &any_memoized) {
    any_memoized = false;
    return Scheduler(outputs, env, target).run(fused_groups, any_memoized);
}

Stmt schedule_functions(const Stmt &, LowerContext &ctx) {
    bool any_memoized = false;
    return schedule_functions(ctx.outputs, ctx.fused_groups, ctx.env, ctx.target, any_memoized);
}

}  // namespace Internal
}  // namespace Halide
