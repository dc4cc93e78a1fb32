#include "interp/Arithmetic.h"
#include "interp/Task.h"
#include "ir/IRPrinter.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <sstream>

namespace Halide {
namespace Internal {

// Names and memory that live to the end of a chain of statements.
class InterpreterTask::Bindings {
    InterpreterTask &task;
    std::vector<const std::string *> names, realized;
    // A region that is freed early may be forgotten before the end of its scope.
    std::vector<std::shared_ptr<MemoryRegion>> memory;

public:
    explicit Bindings(InterpreterTask &task)
        : task(task) {
    }
    Bindings(const Bindings &) = delete;
    Bindings &operator=(const Bindings &) = delete;

    void bind(const std::string &name, Value v) {
        task.values[name].push_back(std::move(v));
        names.push_back(&name);
    }
    void bind(const std::string &name, std::shared_ptr<Realization> r) {
        for (MemoryRegion *region : r->memory) {
            own(region);
        }
        task.realizations[name].push_back(std::move(r));
        realized.push_back(&name);
    }
    void own(MemoryRegion *region) {
        if (region) {
            memory.push_back(region->shared_from_this());
        }
    }
    ~Bindings() {
        for (const std::string *name : names) {
            task.values[*name].pop_back();
        }
        for (const std::string *name : realized) {
            task.realizations[*name].pop_back();
        }
        for (const std::shared_ptr<MemoryRegion> &region : memory) {
            task.state.memory.release(region.get());
        }
    }
};

bool InterpreterTask::branch(const Expr &condition, const char *what) {
    const Value v = eval(condition);
    if (v.lanes() != 1) {
        std::ostringstream text;
        text << what << " on a vector: " << condition;
        throw InterpreterFault(text.str());
    }
    if (v[0].undefined && state.undefined_branch.empty()) {
        std::ostringstream text;
        text << what << " on an undefined value: " << condition;
        state.undefined_branch = text.str();
    }
    return v[0].i != 0;
}

int64_t InterpreterTask::integer(const Expr &e, const char *what) {
    const Value v = eval(e);
    if (v[0].undefined && state.undefined_branch.empty()) {
        std::ostringstream text;
        text << what << " is an undefined value: " << e;
        state.undefined_branch = text.str();
    }
    if (!fits(Int(64), v[0].i)) {
        std::ostringstream text;
        text << what << " is " << to_string(v[0].i) << ": " << e;
        throw InterpreterFault(text.str());
    }
    return (int64_t)v[0].i;
}

void InterpreterTask::run_for(const For *op) {
    const int64_t min = integer(op->min, "the start of a loop"), max = integer(op->max, "the end of a loop");
    if (min > max) {
        return;
    }
    const Type t = op->min.type();
    Bindings device(*this);
    const bool launch = op->for_type == ForType::GPUBlock && op->device_api == DeviceAPI::PTO;
    if (launch) {
        // What the blocks of a launch ask for: their place among all.
        device.bind(pto_block_num, Value(Int(32), Scalar::of_int(max - min + 1)));
        device.bind(pto_block_idx, Value(Int(32), Scalar()));
    }
    std::vector<Value> &stack = values[op->name];
    auto run_iteration = [&](int64_t i) {
        stack.emplace_back(t, Scalar::of_int(i));
        if (launch) {
            values[pto_block_idx].back() = Value(Int(32), Scalar::of_int(i - min));
        }
        struct Pop {
            std::vector<Value> &stack;
            ~Pop() {
                stack.pop_back();
            }
        } pop{stack};
        run(op->body);
    };
    const bool unordered = op->is_unordered_parallel();
    if (unordered && state.order == Interpreter::ParallelOrder::Descending) {
        for (int64_t i = max;; i--) {
            run_iteration(i);
            if (i == min) {
                break;
            }
        }
    } else if (unordered && state.order == Interpreter::ParallelOrder::Shuffled) {
        std::vector<int64_t> iterations((size_t)(max - min + 1));
        std::iota(iterations.begin(), iterations.end(), min);
        std::shuffle(iterations.begin(), iterations.end(), state.random);
        for (int64_t i : iterations) {
            run_iteration(i);
        }
    } else {
        for (int64_t i = min;; i++) {
            run_iteration(i);
            if (i == max) {
                break;
            }
        }
    }
}

void InterpreterTask::run_store(const Store *op) {
    // Everything is read before anything is written.
    const Value predicate = eval(op->predicate), value = eval(op->value), index = eval(op->index);
    const Type element = op->value.type().element_of();
    MemoryRegion *region = nullptr;
    Int128 base = 0;
    for (int i = 0; i < value.lanes(); i++) {
        if (!predicate[i].i) {
            continue;
        }
        if (!region) {
            base = variable(op->name, Handle(), Buffer<>(), op->param)[0].i;
            region = state.memory.find((uint64_t)base);
            if (!region) {
                throw InterpreterFault("store to " + op->name + ", which is " +
                                       (base ? "not in memory that the statement may touch" : "null"));
            }
        }
        const Int128 address = base + index[i].i * element.bytes();
        uint8_t *at =
            InterpreterMemory::check(region, address, (uint64_t)element.bytes(), "store to", op->name, index[i].i);
        Scalar s = value[i];
        s.undefined |= index[i].undefined || predicate[i].undefined;
        InterpreterMemory::write(region, at, element, s);
    }
}

void InterpreterTask::run_provide(const Provide *op) {
    const Value predicate = eval(op->predicate);
    std::vector<Value> new_values, coordinates;
    int lanes = predicate.lanes();
    for (const Expr &e : op->values) {
        new_values.push_back(eval(e));
        lanes = std::max(lanes, new_values.back().lanes());
    }
    for (const Expr &e : op->args) {
        coordinates.push_back(eval(e));
        lanes = std::max(lanes, coordinates.back().lanes());
    }
    for (int lane = 0; lane < lanes; lane++) {
        const Scalar &p = predicate.lane_or_scalar(lane);
        if (!p.i) {
            continue;
        }
        for (size_t v = 0; v < new_values.size(); v++) {
            const Call *undef = op->values[v].as<Call>();
            if (undef && undef->is_intrinsic(Call::undef)) {
                continue;
            }
            const Type t = new_values[v].type.element_of();
            const ElementAddress e =
                element(op->name, coordinates, lane, (int)v, t, "store to", Buffer<>(), Parameter());
            Scalar s = new_values[v].lane_or_scalar(lane);
            s.undefined |= p.undefined;
            InterpreterMemory::write(e.region, e.at, t, s);
        }
    }
}

std::shared_ptr<Realization> InterpreterTask::make_realization(const Realize *op) {
    auto r = std::make_shared<Realization>();
    r->name = op->name;
    r->types = op->types;
    int64_t stride = 1;
    for (const Range &range : op->bounds) {
        const int64_t min = integer(range.min, "the min of a realization");
        const int64_t extent = std::max<int64_t>(0, integer(range.extent, "the extent of a realization"));
        r->dims.push_back({min, extent, stride});
        stride *= extent;
    }
    const bool exists = branch(op->condition, "the condition of a realization");
    for (const Type &t : op->types) {
        r->memory.push_back(
            exists ? state.memory.allocate(op->name, (uint64_t)stride * (uint64_t)t.bytes(), state.random) : nullptr);
    }
    return r;
}

MemoryRegion *InterpreterTask::run_allocate(const Allocate *op, Value &address) {
    address = Value(Handle(), Scalar());
    if (op->new_expr.defined()) {
        address = eval(op->new_expr);
        return nullptr;
    }
    int64_t elements = op->type.lanes();
    for (const Expr &e : op->extents) {
        elements *= std::max<int64_t>(0, integer(e, "the extent of an allocation"));
    }
    if (!branch(op->condition, "the condition of an allocation")) {
        return nullptr;
    }
    const uint64_t bytes = (uint64_t)(elements + op->padding) * (uint64_t)op->type.bytes();
    if (bytes > (uint64_t)1 << 36) {
        throw InterpreterFault("allocate " + op->name + " with " + std::to_string(bytes) + " bytes");
    }
    MemoryRegion *region = state.memory.allocate(op->name, bytes, state.random);
    address[0].i = (Int128)region->address();
    return region;
}

void InterpreterTask::run_fork(const Fork *op) {
    std::exception_ptr failure;
    std::thread thread;
    Scheduler &scheduler = *state.scheduler;
    const int child = scheduler.spawn(
        [&](int child_id) {
            try {
                InterpreterTask(*this, child_id).run(op->rest);
            } catch (Scheduler::Cancelled &) {
            } catch (...) {
                failure = std::current_exception();
            }
        },
        thread);
    try {
        run(op->first);
        scheduler.wait_until(id, [&] { return scheduler.is_done(child); });
    } catch (PipelineStop &) {
        scheduler.cancel_and_join(thread);
        throw;
    } catch (...) {
        // If the other branch failed, that is why this one could not go on.
        scheduler.cancel_and_join(thread);
        if (failure) {
            std::rethrow_exception(failure);
        }
        throw;
    }
    thread.join();
    if (failure) {
        std::rethrow_exception(failure);
    }
}

void InterpreterTask::run(const Stmt &stmt) {
    Bindings bindings(*this);
    Stmt s = stmt;
    while (s.defined()) {
        switch (s.node_type()) {
        case IRNodeType::Block: {
            const Block *op = s.as<Block>();
            run(op->first);
            s = Stmt(op->rest);
            continue;
        }
        case IRNodeType::LetStmt: {
            const LetStmt *op = s.as<LetStmt>();
            bindings.bind(op->name, eval(op->value));
            s = Stmt(op->body);
            continue;
        }
        case IRNodeType::ProducerConsumer:
            s = Stmt(s.as<ProducerConsumer>()->body);
            continue;
        case IRNodeType::HoistedStorage:
            s = Stmt(s.as<HoistedStorage>()->body);
            continue;
        case IRNodeType::Atomic:
            s = Stmt(s.as<Atomic>()->body);
            continue;
        case IRNodeType::StreamingStore:
            s = Stmt(s.as<StreamingStore>()->body);
            continue;
        case IRNodeType::StreamingLoads:
            s = Stmt(s.as<StreamingLoads>()->body);
            continue;
        case IRNodeType::Prefetch:
            s = Stmt(s.as<Prefetch>()->body);
            continue;
        case IRNodeType::IfThenElse: {
            const IfThenElse *op = s.as<IfThenElse>();
            s = Stmt(branch(op->condition, "a branch") ? op->then_case : op->else_case);
            continue;
        }
        case IRNodeType::Realize: {
            const Realize *op = s.as<Realize>();
            bindings.bind(op->name, make_realization(op));
            s = Stmt(op->body);
            continue;
        }
        case IRNodeType::Allocate: {
            const Allocate *op = s.as<Allocate>();
            Value address;
            bindings.own(run_allocate(op, address));
            bindings.bind(op->name, address);
            s = Stmt(op->body);
            continue;
        }
        case IRNodeType::Acquire: {
            const Acquire *op = s.as<Acquire>();
            const uint64_t semaphore = (uint64_t)eval(op->semaphore)[0].i;
            const int64_t count = integer(op->count, "the count of a semaphore");
            state.scheduler->wait_until(id, [&] { return state.semaphores[semaphore] >= count; });
            state.semaphores[semaphore] -= count;
            s = Stmt(op->body);
            continue;
        }
        case IRNodeType::AssertStmt: {
            const AssertStmt *op = s.as<AssertStmt>();
            if (!branch(op->condition, "an assertion")) {
                throw PipelineStop{(int)integer(op->message, "an error code")};
            }
            return;
        }
        case IRNodeType::For:
            run_for(s.as<For>());
            return;
        case IRNodeType::Store:
            run_store(s.as<Store>());
            return;
        case IRNodeType::Provide:
            run_provide(s.as<Provide>());
            return;
        case IRNodeType::Free: {
            const Value address = variable(s.as<Free>()->name, Handle(), Buffer<>(), Parameter());
            MemoryRegion *region = address[0].i ? state.memory.find((uint64_t)address[0].i) : nullptr;
            if (region && region->storage) {
                if (!region->alive) {
                    throw InterpreterFault("free of " + s.as<Free>()->name + ", which has been freed");
                }
                state.memory.release(region);
            }
            return;
        }
        case IRNodeType::Fork:
            run_fork(s.as<Fork>());
            return;
        case IRNodeType::Evaluate:
            eval(s.as<Evaluate>()->value);
            return;
        default:
            internal_error << "not a statement: " << IRNodeType_string(s.node_type()) << "\n";
        }
    }
}

}  // namespace Internal
}  // namespace Halide
