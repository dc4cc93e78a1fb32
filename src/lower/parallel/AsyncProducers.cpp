#include "lower/parallel/AsyncProducers.h"

#include <algorithm>
#include <set>

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "ir/IRVisitor.h"
#include "regions/Bounds.h"
#include "runtime/HalideRuntime.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

/// What happens to Funcs in a statement.
class FindFuncs : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void visit(const Call *op) override {
        if (op->call_type == Call::Halide) {
            uses.insert(op->name);
        }
        IRGraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (op->type.is_handle()) {
            uses.insert(op->name.substr(0, op->name.find('.')));
        }
    }
    void visit(const ProducerConsumer *op) override {
        (op->is_producer ? produced : consumed).insert(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Realize *op) override {
        realized.insert(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const HoistedStorage *op) override {
        hoisted.insert(op->name);
        IRGraphVisitor::visit(op);
    }

public:
    std::set<std::string> uses, produced, consumed, realized, hoisted;
};

FindFuncs find_funcs(const Stmt &s) {
    FindFuncs find;
    s.accept(&find);
    return find;
}

/// The produce nodes of some Funcs.
std::vector<Stmt> productions(const Stmt &s, const std::string &func) {
    std::vector<Stmt> result;
    visit_with(s, [&](auto *self, const ProducerConsumer *op) {
        if (op->is_producer && op->name == func) {
            result.emplace_back(op);
        } else {
            self->visit_base(op);
        }
    });
    return result;
}

Stmt nothing() {
    return Evaluate::make(0);
}

/// A counter of finished productions, or of storage that is free again.
struct Semaphore {
    std::string name;
    Expr initial;

    Expr variable() const {
        return Variable::make(type_of<struct halide_semaphore_t *>(), name);
    }
    Stmt release() const {
        return Evaluate::make(Call::make(Int(32), "halide_semaphore_release", {variable(), 1}, Call::Extern));
    }
    Stmt acquire(const Stmt &body) const {
        return Acquire::make(variable(), 1, body);
    }
    Stmt define(const Stmt &body) const {
        const Stmt init = Evaluate::make(Call::make(Int(32), "halide_semaphore_init", {variable(), initial}, Call::Extern));
        const Expr space = Call::make(type_of<struct halide_semaphore_t *>(), Call::alloca,
                                      {(int)sizeof(halide_semaphore_t)}, Call::Intrinsic);
        return LetStmt::make(name, space, Block::make(init, body));
    }
};

/// The Func whose semaphore a statement initializes or releases, or "".
std::string semaphore_owner(const Evaluate *op) {
    const Call *call = op->value.as<Call>();
    const Variable *semaphore =
        call && starts_with(call->name, "halide_semaphore_") ? call->args[0].as<Variable>() : nullptr;
    return semaphore ? semaphore->name.substr(0, semaphore->name.find('.')) : "";
}

/// Drops what has become empty.
class DropEmpty : public IRMutator {
protected:
    using IRMutator::visit;

    Stmt visit(const Block *op) override {
        const Stmt first = mutate(op->first), rest = mutate(op->rest);
        return is_no_op(first) ? rest : is_no_op(rest) ? first : Block::make(first, rest);
    }
    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? nothing() : op->changed(&For::body, body);
    }
    Stmt visit(const LetStmt *op) override {
        std::vector<const LetStmt *> lets;
        Stmt s = op;
        while (const LetStmt *let = s.as<LetStmt>()) {
            lets.push_back(let);
            s = let->body;
        }
        s = mutate(s);
        if (is_no_op(s)) {
            return nothing();
        }
        for (size_t i = lets.size(); i > 0; i--) {
            s = LetStmt::make(lets[i - 1]->name, lets[i - 1]->value, s);
        }
        return s;
    }
    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = mutate(op->then_case);
        const Stmt else_case = op->else_case.defined() ? mutate(op->else_case) : Stmt();
        if (is_no_op(then_case) && (!else_case.defined() || is_no_op(else_case))) {
            return nothing();
        }
        return IfThenElse::make(op->condition, then_case, else_case);
    }
    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? nothing() : op->changed(&Realize::body, body);
    }
    Stmt visit(const HoistedStorage *op) override {
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? nothing() : HoistedStorage::make(op->name, body);
    }
    Stmt visit(const Fork *op) override {
        const Stmt first = mutate(op->first), rest = mutate(op->rest);
        return is_no_op(first) ? rest : is_no_op(rest) ? first : Fork::make(first, rest);
    }
    Stmt visit(const Acquire *op) override {
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? nothing() : op->changed(&Acquire::body, body);
    }
    Stmt visit(const Atomic *op) override {
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? nothing() : op->changed(&Atomic::body, body);
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// One Func whose values pass from the producing task to the consuming one.
struct Channel {
    std::string func;
    /// Counts productions: one for each task that consumes.
    std::vector<Semaphore> ready;
    /// Counts iterations for which storage is free; without a name if storage is not reused.
    Semaphore free;

    bool reuses_storage() const {
        return !free.name.empty();
    }
};

/// The part of the statement that produces.
class ProducerPart : public DropEmpty {
    using DropEmpty::visit;
    const std::map<std::string, Channel> &channels;
    const std::set<std::string> &needed;
    /// Channels whose signals are given around a condition.
    std::set<std::string> conditional;

    static Stmt with_signals(const Channel &c, const Stmt &production) {
        std::vector<Stmt> stmts = {production};
        for (const Semaphore &s : c.ready) {
            stmts.push_back(s.release());
        }
        const Stmt s = Block::make(stmts);
        return c.reuses_storage() ? c.free.acquire(s) : s;
    }

    /// The consumer waits for a production that is skipped, too.
    Stmt visit(const IfThenElse *op) override {
        const FindFuncs inside = find_funcs(op);
        std::vector<std::string> here;
        for (const auto &[name, channel] : channels) {
            if (inside.produced.count(name) && !inside.consumed.count(name) && conditional.insert(name).second) {
                here.push_back(name);
            }
        }
        Stmt s = DropEmpty::visit(op);
        for (const std::string &name : here) {
            conditional.erase(name);
            s = with_signals(channels.at(name), s);
        }
        return s;
    }

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer) {
            if (auto it = channels.find(op->name); it != channels.end() && it->second.func == main) {
                return nothing();
            }
            const Stmt body = mutate(op->body);
            return is_no_op(body) ? nothing() : ProducerConsumer::make(op->name, false, body);
        }
        if (auto it = channels.find(op->name); it != channels.end()) {
            return conditional.count(op->name) ? Stmt(op) : with_signals(it->second, op);
        }
        return needed.count(op->name) ? Stmt(op) : nothing();
    }
    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        const bool used = needed.count(op->name) || channels.count(op->name);
        return is_no_op(body) ? nothing() : used ? op->changed(&Realize::body, body) : body;
    }
    Stmt visit(const Provide *op) override {
        return nothing();
    }
    Stmt visit(const Evaluate *op) override {
        const std::string owner = semaphore_owner(op);
        return needed.count(owner) ? Stmt(op) : nothing();
    }
    Stmt visit(const AssertStmt *op) override {
        return nothing();
    }
    Stmt visit(const Prefetch *op) override {
        return mutate(op->body);
    }

    const std::string &main;

public:
    ProducerPart(const std::map<std::string, Channel> &channels, const std::set<std::string> &needed, const std::string &main)
        : channels(channels), needed(needed), main(main) {
    }
};

/// The part that consumes.
class ConsumerPart : public DropEmpty {
    using DropEmpty::visit;
    std::map<std::string, Channel> &channels;
    /// Funcs that only the producer needs.
    const std::set<std::string> &producer_only;
    size_t branch = 0, branches = 1;

    Stmt visit(const ProducerConsumer *op) override {
        auto it = channels.find(op->name);
        if (op->is_producer) {
            return it != channels.end() || producer_only.count(op->name) ? nothing() : Stmt(op);
        }
        const Stmt body = mutate(op->body);
        if (is_no_op(body)) {
            return nothing();
        }
        if (producer_only.count(op->name)) {
            return body;
        }
        Stmt s = ProducerConsumer::make(op->name, false, body);
        if (it == channels.end()) {
            return s;
        }
        Channel &c = it->second;
        while (c.ready.size() <= branch) {
            c.ready.push_back({c.ready[0].name + "." + std::to_string(c.ready.size()), 0});
        }
        if (c.reuses_storage()) {
            s = Block::make(s, c.free.release());
        }
        return c.ready[branch].acquire(s);
    }
    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? nothing() : producer_only.count(op->name) ? body : op->changed(&Realize::body, body);
    }
    Stmt visit(const Evaluate *op) override {
        return producer_only.count(semaphore_owner(op)) ? nothing() : Stmt(op);
    }
    Stmt visit(const Fork *op) override {
        // Each task counts for itself.
        const Stmt first = mutate(op->first);
        const size_t own = branch;
        branch = branches++;
        const Stmt rest = mutate(op->rest);
        branch = own;
        return is_no_op(first) ? rest : is_no_op(rest) ? first : Fork::make(first, rest);
    }

public:
    ConsumerPart(std::map<std::string, Channel> &channels, const std::set<std::string> &producer_only)
        : channels(channels), producer_only(producer_only) {
    }
};

/// Coordinates as they were before storage was folded: x % factor → x.
Stmt unfold(const Stmt &s, const std::string &func, size_t dim) {
    auto strip = [&](std::vector<Expr> args) {
        if (dim < args.size()) {
            if (const Mod *mod = args[dim].as<Mod>()) {
                args[dim] = mod->a;
            }
        }
        return args;
    };
    return mutate_with(
        s,
        [&](auto *self, const Call *op) -> Expr {
            const Expr e = self->visit_base(op);
            const Call *call = e.template as<Call>();
            return call && call->name == func && call->call_type == Call::Halide ?
                       call->changed(&Call::args, strip(call->args)) :
                       e;
        },
        [&](auto *self, const Provide *op) -> Stmt {
            const Stmt e = self->visit_base(op);
            const Provide *provide = e.template as<Provide>();
            return provide && provide->name == func ? provide->changed(&Provide::args, strip(provide->args)) : e;
        });
}

/// How many iterations the producer may begin before the consumer has finished one, if storage is folded along a
/// dimension by `factor`.
class IterationsAhead : public IRVisitor {
    using IRVisitor::visit;
    const std::string &func;
    const size_t dim;
    const Expr factor;
    const FuncValueBounds &func_bounds;
    std::vector<const For *> loops;
    std::vector<std::pair<std::string, Expr>> lets;

    void visit(const For *op) override {
        loops.push_back(op);
        const size_t outer = lets.size();
        op->body.accept(this);
        lets.resize(outer);
        loops.pop_back();
    }
    void visit(const LetStmt *op) override {
        lets.emplace_back(op->name, op->value);
        op->body.accept(this);
    }
    void visit(const Block *op) override {
        const ProducerConsumer *p = op->first.as<ProducerConsumer>();
        if (!p || !p->is_producer || p->name != func || loops.empty()) {
            IRVisitor::visit(op);
            return;
        }
        const std::string &loop = loops.back()->name;
        const Box written = box_provided(unfold(op->first, func, dim), func, Scope<Interval>::empty_scope(), func_bounds);
        const Box read = box_required(unfold(op->rest, func, dim), func, Scope<Interval>::empty_scope(), func_bounds);
        if (dim >= written.size() || dim >= read.size() || !written[dim].is_bounded() || !read[dim].is_bounded()) {
            return;
        }
        auto expand = [&](Expr e) {
            for (size_t i = lets.size(); i > 0; i--) {
                e = substitute(lets[i - 1].first, lets[i - 1].second, e);
            }
            return e;
        };
        const Expr first_read = expand(read[dim].min), last_written = expand(written[dim].max);
        constexpr int most = 16;
        int ahead = 1;
        while (ahead < most) {
            const Expr later = substitute(loop, Variable::make(Int(32), loop) + ahead, last_written);
            if (!can_prove(later - first_read + 1 <= factor)) {
                break;
            }
            ahead++;
        }
        result = result == 0 ? ahead : std::min(result, ahead);
    }

public:
    int result = 0;
    IterationsAhead(const std::string &func, size_t dim, const Expr &factor, const FuncValueBounds &func_bounds)
        : func(func), dim(dim), factor(factor), func_bounds(func_bounds) {
    }
};

class ForkProducers : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    /// Regions of the realizations around.
    std::map<std::string, Region> outer;
    /// Funcs whose place of allocation is around.
    std::set<std::string> allocated_around;

    const Function *find(const std::string &name) const {
        auto it = ctx.env.find(name);
        return it == ctx.env.end() ? nullptr : &it->second;
    }

    /// Folded dimensions begin at 0 and have the extent of the circle; what is read there is `coordinate % extent`.
    static bool is_folded(const Stmt &s, const std::string &func, const Region &bounds, size_t dim) {
        bool result = false;
        if (!is_const_zero(bounds[dim].min)) {
            return false;
        }
        visit_with(s, [&](auto *self, const Provide *op) {
            if (op->name == func && dim < op->args.size()) {
                const Mod *mod = op->args[dim].as<Mod>();
                result = result || (mod && equal(mod->b, bounds[dim].extent));
            }
            self->visit_base(op);
        });
        return result;
    }

    Channel make_channel(const std::string &main, const std::string &func, const Region &bounds, const Stmt &body) const {
        Channel c;
        c.func = func;
        const std::string prefix = main == func ? func : main + "." + func;
        c.ready.push_back({prefix + ".semaphore", 0});
        int ahead = 0;
        bool folded = false;
        for (size_t d = 0; d < bounds.size(); d++) {
            if (is_folded(body, func, bounds, d)) {
                IterationsAhead iterations(func, d, bounds[d].extent, ctx.func_bounds);
                body.accept(&iterations);
                const int here = std::max(iterations.result, 1);
                ahead = folded ? std::min(ahead, here) : here;
                folded = true;
            }
        }
        if (folded) {
            c.free = {prefix + ".folding_semaphore", ahead};
        }
        const Function *f = find(func);
        if (f && f->schedule().ring_buffer().defined() && main == func) {
            c.free = {prefix + ".ring_buffer.semaphore", cast(Int(32), f->schedule().ring_buffer())};
        }
        return c;
    }

    /// Splits the statement in which `func` is stored into a task that produces it and one that consumes it.
    Stmt fork(const std::string &func, const Region &bounds, const Stmt &body) {
        // What the production needs that is produced here as well, and what the rest needs.
        std::set<std::string> needed;
        const FindFuncs all = find_funcs(body);
        std::vector<std::string> pending = {func};
        while (!pending.empty()) {
            const std::string name = pending.back();
            pending.pop_back();
            for (const Stmt &p : productions(body, name)) {
                const FindFuncs inside = find_funcs(p);
                for (const std::string &g : inside.uses) {
                    if (g != func && all.produced.count(g) && !inside.realized.count(g) && needed.insert(g).second) {
                        pending.push_back(g);
                    }
                }
            }
        }
        std::set<std::string> producer_only = needed;
        const Stmt without = mutate_with(body, [&](auto *self, const ProducerConsumer *op) -> Stmt {
            return op->is_producer && (op->name == func || needed.count(op->name)) ? nothing() : self->visit_base(op);
        });
        pending.clear();
        for (const std::string &g : find_funcs(without).uses) {
            pending.push_back(g);
        }
        while (!pending.empty()) {
            const std::string g = pending.back();
            pending.pop_back();
            // The consumer gets a copy of its own of what is stored in here, with all that it takes to compute it.
            if (producer_only.erase(g) && all.realized.count(g)) {
                for (const Stmt &p : productions(body, g)) {
                    for (const std::string &h : find_funcs(p).uses) {
                        pending.push_back(h);
                    }
                }
            }
        }

        std::map<std::string, Channel> channels;
        channels[func] = make_channel(func, func, bounds, body);
        for (const std::string &g : needed) {
            if (!producer_only.count(g) && !all.realized.count(g)) {
                auto region = outer.find(g);
                channels[g] = make_channel(func, g, region == outer.end() ? Region() : region->second, body);
            }
        }
        ConsumerPart consumer_part(channels, producer_only);
        Stmt consumer = consumer_part.mutate(body);
        ProducerPart producer_part(channels, needed, func);
        Stmt producer = producer_part.mutate(body);
        // What both tasks compute for themselves needs storage of their own, wherever it is allocated.
        for (const std::string &g : needed) {
            if (!producer_only.count(g) && all.realized.count(g) && allocated_around.count(g) && !all.hoisted.count(g)) {
                consumer = allocated_here(g, consumer);
                producer = allocated_here(g, producer);
            }
        }
        Stmt s = is_no_op(producer) ? consumer : is_no_op(consumer) ? producer : Fork::make(producer, consumer);
        for (const auto &[name, c] : channels) {
            if (c.reuses_storage()) {
                s = c.free.define(s);
            }
            for (const Semaphore &r : c.ready) {
                s = r.define(s);
            }
        }
        return s;
    }

    bool is_async(const std::string &name) const {
        const Function *f = find(name);
        return f && f->schedule().async();
    }
    bool has_ring(const std::string &name) const {
        const Function *f = find(name);
        return f && f->schedule().ring_buffer().defined();
    }

    Stmt visit(const Realize *op) override {
        outer[op->name] = op->bounds;
        const Stmt body = mutate(op->body);
        outer.erase(op->name);
        if (!is_async(op->name) || has_ring(op->name)) {
            return body.same_as(op->body) ? Stmt(op) : op->changed(&Realize::body, body);
        }
        return op->changed(&Realize::body, fork(op->name, op->bounds, body));
    }

    /// The place of allocation of a Func; the producers inside of it run as tasks already.
    Stmt allocated_here(const std::string &name, const Stmt &body) {
        return HoistedStorage::make(name, is_async(name) && has_ring(name) ? fork(name, Region(), body) : body);
    }

    Stmt visit(const HoistedStorage *op) override {
        const bool outermost = allocated_around.insert(op->name).second;
        const Stmt body = mutate(op->body);
        if (outermost) {
            allocated_around.erase(op->name);
        }
        // Tasks inside may have taken the storage.
        return find_funcs(body).hoisted.count(op->name) ? body : allocated_here(op->name, body);
    }

public:
    explicit ForkProducers(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt async_producers(const Stmt &s, LowerContext &ctx) {
    const bool any = std::any_of(ctx.env.begin(), ctx.env.end(),
                                 [](const auto &entry) { return entry.second.schedule().async(); });
    return any ? ForkProducers(ctx)(s) : s;
}

}  // namespace Internal
}  // namespace Halide
