#include "lower/parallel/InjectProfiling.h"

#include <algorithm>

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "runtime/HalideRuntime.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

constexpr const char *instance_name = "profiler_instance", *funcs_name = "profiler_funcs";
// Constant allocations up to this size are on the stack (spec language.md 5.5).
constexpr int64_t most_stack_bytes = 16384;

Expr instance() {
    return Variable::make(type_of<struct halide_profiler_instance_state *>(), instance_name);
}

Stmt call(const std::string &name, std::vector<Expr> args) {
    args.insert(args.begin(), instance());
    return Evaluate::make(Call::make(Int(32), name, args, Call::Extern));
}

bool produces(const Stmt &s) {
    class Find : public IRVisitor {
        using IRVisitor::visit;
        void visit(const ProducerConsumer *op) override {
            found = true;
        }
        void visit(const Evaluate *op) override {
        }

    public:
        bool found = false;
    } find;
    s.accept(&find);
    return find.found;
}

class Inject : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    /// The entry being billed, and the Func of each allocation in scope.
    int current = 0;
    std::map<std::string, int> allocations;

    struct Entry {
        std::string name;
        int parent;
    };

    std::string func_of(const std::string &name) const {
        return name.substr(0, name.find('.'));
    }

    /// The entry of a Func: one for each, made at first sight.
    int entry(const std::string &func) {
        for (size_t i = 0; i < entries.size(); i++) {
            if (entries[i].name == func) {
                return (int)i;
            }
        }
        entries.push_back({func, current == 0 ? -1 : current});
        stack_peaks.push_back(0);
        return (int)entries.size() - 1;
    }

    bool is_billed(const std::string &func) const {
        auto it = ctx.env.find(func);
        return it != ctx.env.end() && !it->second.should_not_profile();
    }

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer || !is_billed(op->name)) {
            return IRMutator::visit(op);
        }
        const int outer = current;
        current = entry(op->name);
        Stmt body = mutate(op->body);
        body = Block::make({call("halide_profiler_set_current_func", {current}), body,
                            call("halide_profiler_set_current_func", {outer})});
        current = outer;
        return ProducerConsumer::make(op->name, true, body);
    }

    /// The calling thread waits while the tasks work.
    Stmt around_tasks(const Stmt &s) const {
        return Block::make({call("halide_profiler_decr_active_threads", {}), s,
                            call("halide_profiler_incr_active_threads", {}),
                            call("halide_profiler_set_current_func", {current})});
    }
    Stmt task(const Stmt &s) const {
        return Block::make({call("halide_profiler_incr_active_threads", {}),
                            call("halide_profiler_set_current_func", {current}), s,
                            call("halide_profiler_decr_active_threads", {})});
    }

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Parallel) {
            return op->device_api == DeviceAPI::None || op->device_api == DeviceAPI::Host ? IRMutator::visit(op) :
                                                                                            Stmt(op);
        }
        return around_tasks(op->changed(&For::body, task(mutate(op->body))));
    }

    Stmt visit(const Fork *op) override {
        // One task stays on this thread as far as counting goes; nested forks add one each.
        return around_tasks(Fork::make(task(mutate(op->first)), task(mutate(op->rest))));
    }

    Stmt visit(const Allocate *op) override {
        const std::string func = func_of(op->name);
        const int id = is_billed(func) ? entry(func) : current;
        Expr bytes = make_const(UInt(64), op->type.bytes());
        for (const Expr &e : op->extents) {
            bytes = bytes * cast(UInt(64), e);
        }
        const int64_t constant = (int64_t)op->constant_allocation_size() * op->type.bytes();
        const bool on_stack = constant > 0 && (op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register ||
                                               op->memory_type == MemoryType::GPR ||
                                               (op->memory_type == MemoryType::Auto && constant <= most_stack_bytes));
        if (on_stack || op->memory_type == MemoryType::Stack) {
            stack_peaks[id] += (uint64_t)std::max<int64_t>(constant, 0);
            return IRMutator::visit(op);
        }
        if (!is_const_one(op->condition)) {
            bytes = select(op->condition, bytes, make_zero(UInt(64)));
        }
        const std::string size_name = op->name + ".profiler_bytes";
        const Expr size = Variable::make(UInt(64), size_name);
        allocations[op->name] = id;
        const Stmt body = mutate(op->body);
        allocations.erase(op->name);
        Stmt s = Block::make(call("halide_profiler_memory_allocate", {id, size}), body);
        return LetStmt::make(size_name, bytes, op->changed(&Allocate::body, s));
    }

    Stmt visit(const Free *op) override {
        auto it = allocations.find(op->name);
        if (it == allocations.end()) {
            return op;
        }
        const Expr size = Variable::make(UInt(64), op->name + ".profiler_bytes");
        return Block::make(call("halide_profiler_memory_free", {it->second, size}), op);
    }

    /// Puts the beginning and the end around what computes, inside the checks of arguments.
    Stmt wrap(const Stmt &s) {
        if (const LetStmt *let = s.as<LetStmt>()) {
            return LetStmt::make(let->name, let->value, wrap(let->body));
        }
        if (const Block *block = s.as<Block>(); block && !produces(block->first)) {
            return Block::make(block->first, wrap(block->rest));
        }
        if (const IfThenElse *choice = s.as<IfThenElse>()) {
            const bool first = produces(choice->then_case);
            const bool second = choice->else_case.defined() && produces(choice->else_case);
            if (first != second) {
                return IfThenElse::make(choice->condition, first ? wrap(choice->then_case) : choice->then_case,
                                        second ? wrap(choice->else_case) : choice->else_case);
            }
        }
        return with_instance(mutate(s));
    }

    Stmt with_instance(const Stmt &body) const {
        const int count = (int)entries.size();
        std::vector<Expr> names, infos, peaks;
        bool any_stack = false;
        for (int i = 0; i < count; i++) {
            names.emplace_back(entries[i].name);
            const int kind = i == 0 ? halide_profiler_func_kind_overhead : halide_profiler_func_kind_func;
            infos.insert(infos.end(), {entries[i].parent, i, kind, -1});
            peaks.push_back(make_const(UInt(64), stack_peaks[i]));
            any_stack = any_stack || stack_peaks[i] != 0;
        }
        auto list = [](const std::vector<Expr> &values, Type t) {
            return Call::make(t, Call::make_struct, values, Call::Intrinsic);
        };
        auto space = [](Type t, size_t bytes) { return Call::make(t, Call::alloca, {(int)bytes}, Call::Intrinsic); };
        const Type instance_type = type_of<struct halide_profiler_instance_state *>();
        const Type funcs_type = type_of<struct halide_profiler_func_stats *>();
        const Expr native_bytes = make_const(UInt(64), ctx.target.natural_vector_size(UInt(8)));
        const Expr start = Call::make(Int(32), "halide_profiler_instance_start",
                                      {Expr(ctx.pipeline_name), count, list(names, type_of<const char **>()),
                                       list(infos, type_of<const int *>()), native_bytes, instance(),
                                       Variable::make(funcs_type, funcs_name)},
                                      Call::Extern);
        const Expr started = Variable::make(Int(32), "profiler_started");
        std::vector<Stmt> stmts = {
            AssertStmt::make(started == 0, started),
            Evaluate::make(Call::make(Int(32), Call::register_destructor,
                                      {Expr(std::string("halide_profiler_instance_end")), instance()}, Call::Intrinsic))};
        if (any_stack) {
            stmts.push_back(call("halide_profiler_stack_peak_update", {list(peaks, type_of<const uint64_t *>())}));
        }
        stmts.push_back(body);
        Stmt s = LetStmt::make("profiler_started", start, Block::make(stmts));
        s = LetStmt::make(funcs_name, space(funcs_type, sizeof(halide_profiler_func_stats) * (size_t)count), s);
        return LetStmt::make(instance_name, space(instance_type, sizeof(halide_profiler_instance_state)), s);
    }

    std::vector<Entry> entries = {{"overhead", -1}};
    std::vector<uint64_t> stack_peaks = {0};

public:
    explicit Inject(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }

    Stmt run(const Stmt &s) {
        return wrap(s);
    }
};

}  // namespace

bool wants_profiling(const LowerContext &ctx) {
    return ctx.target.features_any_of({Target::Profile, Target::ProfileByTimer});
}

Stmt inject_profiling(const Stmt &s, LowerContext &ctx) {
    return Inject(ctx).run(s);
}

}  // namespace Internal
}  // namespace Halide
