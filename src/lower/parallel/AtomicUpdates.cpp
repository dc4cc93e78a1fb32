#include "lower/parallel/AtomicUpdates.h"

#include <map>
#include <set>
#include <vector>

#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"

namespace Halide::Internal {

namespace {

enum class Method {
    Instruction,  ///< atomic instructions, or compare-and-swap
    MutexPerElement,
    OneMutex,
};

/// What happens in one Atomic node.
class Updates : public IRVisitor {
public:
    std::vector<const Store *> stores;
    std::vector<const Load *> loads;
    bool has_effects = false;

protected:
    using IRVisitor::visit;
    void visit(const Store *op) override {
        stores.push_back(op);
        IRVisitor::visit(op);
    }
    void visit(const Load *op) override {
        loads.push_back(op);
        IRVisitor::visit(op);
    }
    void visit(const Call *op) override {
        has_effects = has_effects || !op->is_pure();
        IRVisitor::visit(op);
    }
    void visit(const For *op) override {
        has_effects = true;
        IRVisitor::visit(op);
    }
};

/// For a vector update, whether it is f[i] = f[i] op value, which can be done lane by lane.
bool is_lanewise(const Store *store) {
    const auto loads_it = [&](const Expr &e) {
        bool found = false;
        visit_with(e, [&](auto *self, const Load *op) {
            found = found || op->name == store->name;
            self->visit_base(op);
        });
        return found;
    };
    const Expr value = store->value;
    if (!loads_it(value)) {
        return true;
    }
    const auto operands = as_binary_operands(value);
    if (!operands) {
        return false;
    }
    const auto is_old = [&](const Expr &e) {
        const Load *l = e.as<Load>();
        return l && l->name == store->name && equal(l->index, store->index);
    };
    return (is_old(operands->first) && !loads_it(operands->second)) ||
           (is_old(operands->second) && !loads_it(operands->first));
}

Method method_of(const Atomic *op) {
    const Stmt body = substitute_in_all_lets(op->body);
    Updates u;
    body.accept(&u);
    bool one_index = true, scalar = true;
    for (const Store *s : u.stores) {
        one_index = one_index && equal(s->index, u.stores[0]->index);
        scalar = scalar && s->value.type().is_scalar();
    }
    std::set<std::string> stored;
    for (const Store *s : u.stores) {
        stored.insert(s->name);
    }
    bool loads_same = true;
    for (const Load *l : u.loads) {
        loads_same = loads_same && (!stored.count(l->name) || equal(l->index, u.stores[0]->index));
    }
    if (u.stores.size() <= 1 && loads_same && !u.has_effects &&
        (u.stores.empty() || scalar || is_lanewise(u.stores[0]))) {
        return Method::Instruction;
    }
    return one_index && scalar && !u.has_effects ? Method::MutexPerElement : Method::OneMutex;
}

/// Whether lanes of one update may hit the same element.
bool lanes_may_meet(const Stmt &s) {
    bool meet = false;
    visit_with(s, [&](auto *self, const Store *op) {
        const Ramp *ramp = op->index.as<Ramp>();
        const bool apart = ramp && ramp->base.type().is_scalar() && is_const(ramp->stride) && !is_const_zero(ramp->stride);
        meet = meet || !(op->index.type().is_scalar() || apart);
        self->visit_base(op);
    });
    return meet;
}

constexpr int mutexes = 1024;

class LowerAtomics : public IRMutator {
    const std::map<std::string, Method> &methods;
    const std::map<std::string, std::string> &mutex_names;
    bool concurrent = false;
    /// Allocated in the innermost task: no other sees them.
    std::set<std::string> of_this_task;

    using IRMutator::visit;

    template<typename Node>
    Stmt in_tasks(const Node *op) {
        ScopedValue<bool> tasks(concurrent, true);
        ScopedValue<std::set<std::string>> none(of_this_task, {});
        return IRMutator::visit(op);
    }

    Stmt visit(const For *op) override {
        return op->for_type == ForType::Parallel ? in_tasks(op) : IRMutator::visit(op);
    }

    Stmt visit(const Fork *op) override {
        return in_tasks(op);
    }

    Stmt visit(const Allocate *op) override {
        ScopedValue<std::set<std::string>> before(of_this_task);
        of_this_task.insert(op->name);
        return IRMutator::visit(op);
    }

    bool others_may_update(const Stmt &body) const {
        bool shared = false;
        visit_with(body, [&](auto *self, const Store *op) {
            shared = shared || !of_this_task.count(op->name);
            self->visit_base(op);
        });
        return concurrent && shared;
    }

    // Lets around the stores are seen by the index of the lock: they are moved out of the locked part.
    Stmt locked(const Atomic *op, const Stmt &body, Method method) {
        if (const LetStmt *let = body.as<LetStmt>()) {
            return LetStmt::make(let->name, let->value, locked(op, let->body, method));
        }
        Expr mutex = Variable::make(Handle(), mutex_names.at(op->producer_name));
        // Evaluated once: the update may change what the index was computed from.
        const std::string index_name = mutex_names.at(op->producer_name) + ".index";
        const Expr entry = Variable::make(Int(32), index_name);
        Expr index = make_const(Int(32), 0);
        if (method == Method::MutexPerElement) {
            Updates u;
            body.accept(&u);
            if (!u.stores.empty()) {
                index = cast<int32_t>(u.stores[0]->index & make_const(u.stores[0]->index.type(), mutexes - 1));
            }
        }
        const auto call = [&](const char *name) {
            return Evaluate::make(Call::make(Int(32), name, {mutex, entry}, Call::Extern));
        };
        return LetStmt::make(index_name, index,
                             Block::make({call("halide_mutex_array_lock"), body, call("halide_mutex_array_unlock")}));
    }

    Stmt visit(const Atomic *op) override {
        const Method method = methods.at(op->producer_name);
        Stmt body = mutate(op->body);
        const bool others = others_may_update(body);
        if (method == Method::Instruction) {
            // Where lanes may meet in one element an update is atomic even if nothing else runs.
            return others || lanes_may_meet(body) ? Atomic::make(op->producer_name, "", body) : body;
        }
        return others ? locked(op, body, method) : body;
    }

public:
    LowerAtomics(const std::map<std::string, Method> &methods, const std::map<std::string, std::string> &mutex_names)
        : methods(methods), mutex_names(mutex_names) {
    }
};

}  // namespace

Stmt lower_atomic_updates(const Stmt &s, const std::function<std::string(const std::string &)> &unique_name) {
    std::map<std::string, Method> methods;
    visit_with(s, [&](auto *self, const Atomic *op) {
        Method &m = methods.emplace(op->producer_name, Method::Instruction).first->second;
        m = std::max(m, method_of(op));
        self->visit_base(op);
    });
    if (methods.empty()) {
        return s;
    }
    std::map<std::string, std::string> mutex_names;
    for (const auto &[producer, method] : methods) {
        if (method != Method::Instruction) {
            mutex_names[producer] = unique_name(producer + ".mutex");
        }
    }
    Stmt result = LowerAtomics(methods, mutex_names)(s);
    for (const auto &[producer, name] : mutex_names) {
        Expr mutex = Variable::make(Handle(), name);
        Expr create = Call::make(Handle(), "halide_mutex_array_create", {make_const(UInt(64), mutexes)}, Call::Extern);
        Expr failed = Call::make(Int(32), "halide_error_out_of_memory", {}, Call::Extern);
        Expr destroy = Call::make(Int(32), Call::register_destructor,
                                  {Expr("halide_mutex_array_destroy"), mutex}, Call::Intrinsic);
        Stmt check = AssertStmt::make(reinterpret<uint64_t>(mutex) != make_const(UInt(64), 0), failed);
        result = LetStmt::make(name, create, Block::make({check, Evaluate::make(destroy), result}));
    }
    return result;
}

}  // namespace Halide::Internal
