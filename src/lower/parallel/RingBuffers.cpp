#include "lower/parallel/RingBuffers.h"

#include <algorithm>

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// Adds the number of the copy to all accesses of one Func.
class AddIndex : public IRMutator {
    using IRMutator::visit;
    const std::string &func;
    const Expr index;

    std::vector<Expr> with_index(std::vector<Expr> args) const {
        args.push_back(index);
        return args;
    }
    Expr visit(const Call *op) override {
        const Expr e = IRMutator::visit(op);
        const Call *call = e.as<Call>();
        return call && call->call_type == Call::Halide && call->name == func ?
                   call->changed(&Call::args, with_index(call->args)) :
                   e;
    }
    Stmt visit(const Provide *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<Provide>();
        return op && op->name == func ? op->changed(&Provide::args, with_index(op->args)) : s;
    }
    Stmt visit(const Prefetch *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<Prefetch>();
        if (!op || op->name != func) {
            return s;
        }
        Region bounds = op->bounds;
        bounds.emplace_back(index, 1);
        return op->changed(&Prefetch::bounds, bounds);
    }

public:
    AddIndex(const std::string &func, const Expr &index) : func(func), index(index) {
    }
};

class AddRings : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    std::vector<const For *> loops;
    /// For each Func whose storage is hoisted here: how many loops are outside of the place of allocation.
    std::map<std::string, size_t> hoisted;

    Stmt visit(const For *op) override {
        loops.push_back(op);
        const Stmt body = mutate(op->body);
        loops.pop_back();
        return body.same_as(op->body) ? Stmt(op) : op->changed(&For::body, body);
    }

    Stmt visit(const HoistedStorage *op) override {
        hoisted[op->name] = loops.size();
        const Stmt s = IRMutator::visit(op);
        hoisted.erase(op->name);
        return s;
    }

    Stmt visit(const Realize *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<Realize>();
        auto f = ctx.env.find(op->name);
        auto place = hoisted.find(op->name);
        if (f == ctx.env.end() || place == hoisted.end() || !f->second.schedule().ring_buffer().defined()) {
            return s;
        }
        const Expr copies = cast(Int(32), f->second.schedule().ring_buffer());
        // The number of the iteration, counted over all loops in between.
        Expr number = 0;
        for (size_t i = place->second; i < loops.size(); i++) {
            const For *loop = loops[i];
            user_assert(!loop->is_parallel()) << "Func \"" << op->name << "\" has a ring buffer, but the loop " << loop->name
                                              << " between the place of allocation and the place of storage is parallel.\n";
            number = number * loop->extent() + (Variable::make(Int(32), loop->name) - loop->min);
        }
        const std::string index_name = op->name + ".ring_buffer.index";
        Region bounds = op->bounds;
        bounds.emplace_back(0, copies);
        const Stmt body = AddIndex(op->name, Variable::make(Int(32), index_name))(op->body);
        return LetStmt::make(index_name, simplify(number % copies),
                             op->changed(&Realize::bounds, bounds, &Realize::body, body));
    }

public:
    explicit AddRings(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt ring_buffers(const Stmt &s, LowerContext &ctx) {
    const bool any = std::any_of(ctx.env.begin(), ctx.env.end(), [](const auto &entry) {
        return entry.second.schedule().ring_buffer().defined();
    });
    return any ? AddRings(ctx)(s) : s;
}

}  // namespace Internal
}  // namespace Halide
