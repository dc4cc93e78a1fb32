#include "lower/bounds/StorageFolding.h"

#include <algorithm>
#include <set>

#include "analysis/ExprUsesVar.h"
#include "analysis/Monotonic.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

// If what iteration v of a serial loop touches of a Func, along one dimension, is [L(v), U(v)] with L never falling and at
// most n points, then no point that an iteration still reads is n or more below one that it writes: n cells are enough,
// point c in cell c mod n. The same holds mirrored if U never rises.

namespace Halide {
namespace Internal {

namespace {

/// Whether an extern stage sees the memory of a Func: then the layout must be plain.
bool used_by_extern_stage(const Stmt &s, const std::string &func) {
    bool found = false;
    visit_with(s, [&](auto *, const Variable *op) {
        found = found || (op->type.is_handle() && starts_with(op->name, func + ".") && ends_with(op->name, ".buffer"));
    });
    return found;
}

bool produces(const Stmt &s, const std::string &func) {
    bool found = false;
    visit_with(s, [&](auto *self, const ProducerConsumer *op) {
        found = found || (op->is_producer && op->name == func);
        if (!found) {
            self->visit_base(op);
        }
    });
    return found;
}

/// Takes away guards `start <= v` that keep parts of an iteration from running: the window is that of the whole body.
Stmt without_start_guards(const Stmt &s, const std::string &loop) {
    return mutate_with(s, [&](auto *self, const IfThenElse *op) -> Stmt {
        const Expr c = remove_likelies(op->condition);
        const LE *le = c.as<LE>();
        const Variable *v = le ? le->b.as<Variable>() : nullptr;
        if (v && v->name == loop && !op->else_case.defined()) {
            return self->mutate(op->then_case);
        }
        return self->visit_base(op);
    });
}

/// f(x, y) → f(x, y % factor)
class FoldDimension : public IRMutator {
    using IRMutator::visit;
    const std::string &func;
    const size_t dim;
    const Expr &factor;

    std::vector<Expr> fold(std::vector<Expr> args) {
        args[dim] = is_const_one(factor) ? make_zero(args[dim].type()) : args[dim] % factor;
        return args;
    }
    Expr visit(const Call *op) override {
        Expr e = IRMutator::visit(op);
        op = e.as<Call>();
        if (op->name == func && op->call_type == Call::Halide) {
            return op->changed(&Call::args, fold(op->args));
        }
        if (op->is_intrinsic(Call::declare_box_touched) && op->args[0].as<StringImm>()->value == func) {
            std::vector<Expr> args = op->args;
            args[1 + 2 * dim] = make_zero(Int(32));
            args[2 + 2 * dim] = factor - 1;
            return op->changed(&Call::args, args);
        }
        return e;
    }
    Stmt visit(const Provide *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<Provide>();
        return op->name == func ? op->changed(&Provide::args, fold(op->args)) : s;
    }
    Stmt visit(const Prefetch *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<Prefetch>();
        if (op->name != func) {
            return s;
        }
        Region bounds = op->bounds;
        bounds[dim] = Range(0, factor);
        return op->changed(&Prefetch::bounds, bounds);
    }

public:
    FoldDimension(const std::string &func, size_t dim, const Expr &factor) : func(func), dim(dim), factor(factor) {
    }
};

/// Tries to fold one Func: looks at the loops in its realization from the outside in.
class AttemptFolding : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    const Function &f;
    const bool explicit_only;

    Stmt visit(const For *op) override {
        // Values must be produced and used in the same loop.
        if ((op->for_type != ForType::Serial && op->for_type != ForType::Unrolled) || !produces(op->body, f.name())) {
            return op;
        }
        const Stmt window_body = without_start_guards(op->body, op->name);
        const Box box = box_touched(window_body, f.name(), Scope<Interval>::empty_scope(), ctx.func_bounds);
        if (box.empty()) {
            return op;
        }
        Stmt body = op->body;
        for (size_t d = box.size(); d-- > 0;) {
            if (folds.count(d)) {
                continue;
            }
            Stmt checked = body;
            Fold fold;
            if (attempt(op, d, box[d], checked, fold)) {
                folds[d] = fold;
                body = FoldDimension(f.name(), d, fold.factor).mutate(checked);
                return op->changed(&For::body, body);
            }
        }
        // Inside, values must not live from one iteration of this loop to the next.
        const Box provided = box_provided(body, f.name(), Scope<Interval>::empty_scope(), ctx.func_bounds);
        const Box required = box_required(body, f.name(), Scope<Interval>::empty_scope(), ctx.func_bounds);
        if (!provided.empty() && box_contains(provided, required)) {
            body = mutate(body);
        }
        return op->with(op->min, op->max, body);
    }

    struct Fold {
        Expr factor;
    };

    const StorageDim *storage_of(size_t d) const {
        for (const StorageDim &s : f.schedule().storage_dims()) {
            if (s.var == f.args()[d]) {
                return &s;
            }
        }
        return nullptr;
    }

    bool attempt(const For *loop, size_t d, const Interval &window, Stmt &body, Fold &fold) {
        const StorageDim *storage = storage_of(d);
        const bool is_explicit = storage && storage->fold_factor.defined();
        if (!is_explicit && explicit_only) {
            return false;
        }
        if (!window.is_bounded()) {
            return false;
        }
        const Expr min = simplify(window.min), max = simplify(window.max);
        const Monotonic m_min = is_monotonic(min, loop->name), m_max = is_monotonic(max, loop->name);
        const bool forward = m_min == Monotonic::Increasing || m_min == Monotonic::Constant;
        const bool backward = m_max == Monotonic::Decreasing || m_max == Monotonic::Constant;
        const Expr extent = simplify(max - min + 1);

        if (is_explicit) {
            explicit_dims_seen.insert(d);
            const bool moves = expr_uses_var(min, loop->name) || expr_uses_var(max, loop->name);
            if (!moves) {
                return false;
            }
            const bool right_way = storage->fold_forward ? forward : backward;
            if (!right_way) {
                check_direction(loop, d, storage->fold_forward ? min : max, storage->fold_forward, body);
            }
            const Expr factor = storage->fold_factor;
            if (!can_prove(extent <= factor)) {
                const Expr error = Call::make(Int(32), "halide_error_fold_factor_too_small",
                                              {Expr(f.name()), Expr(storage->var), factor, Expr(loop->name), extent},
                                              Call::Extern);
                body = Block::make(AssertStmt::make(extent <= factor, error), body);
            }
            fold.factor = factor;
            return true;
        }
        debug(3) << "Window of " << f.name() << " over " << loop->name << " along " << f.args()[d] << ": [" << min << ", " << max
                 << "], " << m_min << ", " << m_max << ", extent " << extent << "\n";
        if (m_min == Monotonic::Constant && m_max == Monotonic::Constant) {
            // The window does not move: nothing would be gained.
            return false;
        }
        if (!forward && !backward) {
            ctx.explain(f.name() + " is not folded over " + loop->name + ": its window along " + f.args()[d] +
                        " does not move in one direction");
            return false;
        }
        const Expr bound = find_constant_bound(extent, Direction::Upper);
        const auto n = bound.defined() ? as_const_int(bound) : std::nullopt;
        constexpr int64_t largest_fold = 1 << 10;
        if (!n || *n <= 0 || *n > largest_fold) {
            return false;
        }
        int64_t factor = 1;
        while (factor < *n) {
            factor *= 2;
        }
        fold.factor = make_const(Int(32), factor);
        ctx.explain(f.name() + " keeps " + std::to_string(factor) + " of " + f.args()[d] + " in a circular buffer over " +
                    loop->name);
        return true;
    }

    /// A window of which the direction is not known is followed at run time: iteration by iteration, its end must not
    /// go back.
    void check_direction(const For *loop, size_t d, const Expr &end, bool forward, Stmt &body) {
        const std::string track = f.name() + "." + f.args()[d] + (forward ? ".fold_head" : ".fold_tail");
        const Expr previous = Call::make(Int(32), track, {Expr(0)}, Call::Halide);
        const Expr error = Call::make(Int(32), "halide_error_bad_fold",
                                      {Expr(f.name()), Expr(f.args()[d]), Expr(loop->name)}, Call::Extern);
        const Stmt check = AssertStmt::make(forward ? previous <= end : previous >= end, error);
        const Stmt keep = Provide::make(track, {end}, {Expr(0)}, const_true());
        body = Block::make({check, keep, body});
        tracked.push_back({track, forward ? Int(32).min() : Int(32).max()});
    }

public:
    std::map<size_t, Fold> folds;
    std::set<size_t> explicit_dims_seen;
    std::vector<std::pair<std::string, Expr>> tracked;   // run-time records and their first values

    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
    AttemptFolding(LowerContext &ctx, const Function &f, bool explicit_only)
        : ctx(ctx), f(f), explicit_only(explicit_only) {
    }
};

class StorageFolding : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;

    Stmt visit(const Realize *op) override {
        Stmt body = mutate(op->body);
        auto it = ctx.env.find(op->name);
        if (it == ctx.env.end()) {
            return op->with(op->bounds, op->condition, body);
        }
        const Function &f = it->second;
        std::vector<size_t> explicit_dims;
        const std::vector<std::string> args = f.args();
        for (const StorageDim &s : f.schedule().storage_dims()) {
            if (s.fold_factor.defined()) {
                explicit_dims.push_back(std::find(args.begin(), args.end(), s.var) - args.begin());
            }
        }
        // Memory that others see, that outlives this realization, or whose consumer runs at another time, is folded
        // only on demand.
        const bool explicit_only = f.schedule().memoized() || f.schedule().async() ||
                                   f.schedule().ring_buffer().defined() ||
                                   f.schedule().compute_level() == f.schedule().store_level() ||
                                   used_by_extern_stage(body, op->name);
        if (explicit_only && explicit_dims.empty()) {
            return op->with(op->bounds, op->condition, body);
        }
        AttemptFolding attempt(ctx, f, explicit_only);
        Stmt folded = attempt.mutate(body);
        for (size_t d : explicit_dims) {
            user_assert(attempt.folds.count(d))
                << "Could not fold the storage of " << f.name() << " along " << args[d]
                << ": no serial loop between its store and compute levels moves a window along that dimension, "
                << "or iterations of an outer loop share values.\n  Store it further out, or compute it further in.\n";
        }
        if (attempt.folds.empty()) {
            return op->with(op->bounds, op->condition, body);
        }
        Region bounds = op->bounds;
        for (const auto &fold : attempt.folds) {
            bounds[fold.first] = Range(0, fold.second.factor);
        }
        Stmt s = op->changed(&Realize::bounds, bounds, &Realize::body, folded);
        for (const auto &record : attempt.tracked) {
            const Stmt first = Provide::make(record.first, {record.second}, {Expr(0)}, const_true());
            s = Realize::make(record.first, {Int(32)}, MemoryType::Stack, {Range(0, 1)}, const_true(),
                              Block::make(first, s));
        }
        return s;
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
    explicit StorageFolding(LowerContext &ctx) : ctx(ctx) {
    }
};

/// Declarations have served when all regions are known.
Stmt without_declarations(const Stmt &s) {
    return mutate_with(s, [&](auto *self, const Evaluate *op) -> Stmt {
        return Call::as_intrinsic(op->value, {Call::declare_box_touched}) ? Evaluate::make(0) : Stmt(op);
    });
}

}  // namespace

Stmt storage_folding(const Stmt &s, LowerContext &ctx) {
    return without_declarations(StorageFolding(ctx)(s));
}

}  // namespace Internal
}  // namespace Halide
