#include "lower/parallel/LowerParallel.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "lower/parallel/AtomicUpdates.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide::Internal {

namespace {

/// The free names of a statement with their types: variables, and buffers as pointers.
class FreeNames : public IRVisitor {
public:
    std::map<std::string, Type> names;

protected:
    Scope<> bound;

    using IRVisitor::visit;

    void use(const std::string &name, const Type &t) {
        if (!bound.contains(name)) {
            names.emplace(name, t);
        }
    }
    void visit(const Variable *op) override {
        // Names of functions are not values.
        if (!starts_with(op->name, "::")) {
            use(op->name, op->type);
        }
    }
    void visit(const Load *op) override {
        use(op->name, Handle());
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        use(op->name, Handle());
        IRVisitor::visit(op);
    }
    void visit(const Let *op) override {
        op->value.accept(this);
        ScopedBinding<> scope(bound, op->name);
        op->body.accept(this);
    }
    void visit(const LetStmt *op) override {
        op->value.accept(this);
        ScopedBinding<> scope(bound, op->name);
        op->body.accept(this);
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        ScopedBinding<> scope(bound, op->name);
        op->body.accept(this);
    }
    void visit(const Allocate *op) override {
        for (const Expr &e : op->extents) {
            e.accept(this);
        }
        op->condition.accept(this);
        if (op->new_expr.defined()) {
            op->new_expr.accept(this);
        }
        ScopedBinding<> scope(bound, op->name);
        op->body.accept(this);
    }
};

/// Threads that a statement may block at the same time, itself included; 0 if it never waits for a semaphore.
int blocked_threads(const Stmt &s) {
    class Count : public IRVisitor {
    public:
        int result = 0;

    protected:
        using IRVisitor::visit;
        void visit(const Fork *op) override {
            result = std::max(result, std::max(1, blocked_threads(op->first)) + std::max(1, blocked_threads(op->rest)));
        }
        void visit(const Acquire *op) override {
            result = std::max(result, std::max(1, blocked_threads(op->body)));
        }
    } count;
    s.accept(&count);
    return count.result;
}

bool contains_tasks(const Stmt &s) {
    return blocked_threads(s) > 0;
}

/// One entry of halide_do_parallel_tasks.
struct Task {
    Stmt body;
    std::string loop_var;  ///< empty: run once
    Expr min, extent;
    bool serial = false;
    struct Semaphore {
        Expr semaphore, count;
    };
    std::vector<Semaphore> semaphores;
};

bool uses(const Expr &e, const std::string &name) {
    FreeNames f;
    e.accept(&f);
    return f.names.count(name) != 0;
}

// Semaphores waited for at the very start of a task are waited for by the runtime, without blocking a thread.
void take_leading_semaphores(Task &t) {
    while (const Acquire *a = t.body.as<Acquire>()) {
        if (uses(a->semaphore, t.loop_var) || uses(a->count, t.loop_var)) {
            break;
        }
        t.semaphores.push_back({a->semaphore, a->count});
        t.body = a->body;
    }
}

void find_tasks(const Stmt &s, std::vector<Task> &tasks) {
    if (const Fork *f = s.as<Fork>()) {
        find_tasks(f->first, tasks);
        find_tasks(f->rest, tasks);
        return;
    }
    const For *loop = s.as<For>();
    const bool parallel = loop && loop->for_type == ForType::Parallel;
    const bool serial = loop && loop->for_type == ForType::Serial && loop->body.as<Acquire>();
    Task t;
    if (parallel || serial) {
        t.body = loop->body;
        t.loop_var = loop->name;
        t.min = loop->min;
        t.extent = loop->extent();
        t.serial = serial;
    } else {
        t.body = s;
        t.min = make_zero(Int(32));
        t.extent = make_one(Int(32));
    }
    take_leading_semaphores(t);
    tasks.push_back(t);
}

class LowerParallelTasks : public IRMutator {
    std::vector<LoweredFunc> &closures;
    const std::string &pipeline;
    const std::function<std::string(const std::string &)> &unique_name;
    /// The innermost function being built is a task that knows its parent.
    bool has_task_parent = false;

    using IRMutator::visit;

    static LoweredArgument argument(const std::string &name, const Type &t) {
        return LoweredArgument(name, Argument::InputScalar, t, 0, ArgumentEstimates());
    }

    /// The closure as an expression at the place of the call, and a body that reads its members.
    struct Closure {
        Expr make;
        Stmt body;
    };
    Closure capture(const Stmt &body, const std::set<std::string> &arguments) const {
        FreeNames f;
        body.accept(&f);
        for (const std::string &a : arguments) {
            f.names.erase(a);
        }
        std::vector<Expr> values;
        for (const auto &[name, type] : f.names) {
            values.push_back(Variable::make(type, name));
        }
        Expr make = Call::make(type_of<uint8_t *>(), Call::make_struct, values, Call::Intrinsic);
        Expr closure = Variable::make(type_of<uint8_t *>(), "closure");
        Stmt s = body;
        int i = (int)values.size();
        for (auto it = f.names.rbegin(); it != f.names.rend(); ++it) {
            i--;
            Expr member = Call::make(it->second, Call::load_typed_struct_member, {closure, make, Expr(i)},
                                     Call::Intrinsic);
            s = LetStmt::make(it->first, member, s);
        }
        return {make, s};
    }

    static Stmt check_result(const std::string &name, const Expr &call) {
        Expr result = Variable::make(Int(32), name);
        return LetStmt::make(name, call, AssertStmt::make(result == 0, result));
    }

    Expr add_function(const std::string &name, const std::vector<LoweredArgument> &args, const Stmt &body) {
        closures.emplace_back(name, args, body, LinkageType::Internal, NameMangling::C);
        return Variable::make(Handle(), "::" + name);
    }

    // parallel loop → halide_do_par_for
    Stmt parallel_loop(const For *op) {
        const std::string name = unique_name(pipeline + ".par_for." + op->name);
        Stmt body;
        {
            ScopedValue<bool> scope(has_task_parent, false);
            body = mutate(op->body);
        }
        const Closure c = capture(body, {op->name, "__user_context"});
        Expr f = add_function(name,
                              {argument("__user_context", type_of<void *>()), argument(op->name, Int(32)),
                               argument("closure", type_of<uint8_t *>())},
                              c.body);
        Expr call = Call::make(Int(32), "halide_do_par_for", {f, op->min, op->extent(), c.make}, Call::Extern);
        return check_result(unique_name("result"), call);
    }

    // forks, and loops that wait for semaphores → halide_do_parallel_tasks
    Stmt parallel_tasks(const Stmt &s) {
        std::vector<Task> tasks;
        find_tasks(s, tasks);
        Expr null = reinterpret(Handle(), make_zero(UInt(64)));
        Expr parent = has_task_parent ? Variable::make(Handle(), "__task_parent") : null;
        std::vector<Expr> fields;
        for (const Task &t : tasks) {
            const std::string label = t.loop_var.empty() ? "task" : t.loop_var;
            const std::string name = unique_name(pipeline + ".par_for." + label);
            const int min_threads = blocked_threads(t.body);
            Stmt body;
            {
                ScopedValue<bool> scope(has_task_parent, true);
                body = mutate(t.body);
            }
            const std::string min_name = name + ".min", extent_name = name + ".extent";
            if (!t.loop_var.empty()) {
                Expr min = Variable::make(Int(32), min_name), extent = Variable::make(Int(32), extent_name);
                body = For::make(t.loop_var, min, min + (extent - 1), ForType::Serial, Partition::Never,
                                 DeviceAPI::None, body);
            }
            const Closure c = capture(body, {min_name, extent_name, "__user_context", "__task_parent"});
            Expr f = add_function(name,
                                  {argument("__user_context", type_of<void *>()), argument(min_name, Int(32)),
                                   argument(extent_name, Int(32)), argument("closure", type_of<uint8_t *>()),
                                   argument("__task_parent", Handle())},
                                  c.body);
            std::vector<Expr> semaphores;
            for (const Task::Semaphore &sem : t.semaphores) {
                semaphores.push_back(sem.semaphore);
                semaphores.push_back(sem.count);
            }
            Expr semaphore_array =
                semaphores.empty() ? null : Call::make(Handle(), Call::make_struct, semaphores, Call::Intrinsic);
            // The members of halide_parallel_task_t, task after task.
            const std::vector<Expr> row = {f, c.make, Expr(name), semaphore_array, Expr((int)t.semaphores.size()),
                                           t.min, t.extent, Expr(min_threads), make_bool(t.serial)};
            fields.insert(fields.end(), row.begin(), row.end());
        }
        Expr array = Call::make(Handle(), Call::make_struct, fields, Call::Intrinsic);
        Expr call = Call::make(Int(32), "halide_do_parallel_tasks", {Expr((int)tasks.size()), array, parent},
                               Call::Extern);
        return check_result(unique_name("result"), call);
    }

    Stmt visit(const For *op) override {
        const bool parallel = op->for_type == ForType::Parallel;
        if (!parallel && !(op->for_type == ForType::Serial && op->body.as<Acquire>())) {
            return IRMutator::visit(op);
        }
        // The runtime has tasks that wait; an ordinary parallel loop takes the short way.
        return parallel && !contains_tasks(op->body) ? parallel_loop(op) : parallel_tasks(op);
    }

    Stmt visit(const Fork *op) override {
        return parallel_tasks(op);
    }

    Stmt visit(const Acquire *op) override {
        return parallel_tasks(op);
    }

public:
    LowerParallelTasks(std::vector<LoweredFunc> &closures, const std::string &pipeline,
                       const std::function<std::string(const std::string &)> &unique_name)
        : closures(closures), pipeline(pipeline), unique_name(unique_name) {
    }
};

}  // namespace

Stmt lower_parallel_tasks(const Stmt &s, std::vector<LoweredFunc> &closures, const std::string &name, const Target &,
                          const std::function<std::string(const std::string &)> &unique_name) {
    const Stmt updated = lower_atomic_updates(s, unique_name);
    return LowerParallelTasks(closures, name, unique_name)(updated);
}

Stmt lower_parallel(const Stmt &s, LowerContext &ctx) {
    return lower_parallel_tasks(s, ctx.closures, ctx.pipeline_name, ctx.target,
                                [&](const std::string &prefix) { return ctx.unique_name(prefix); });
}

}  // namespace Halide::Internal
