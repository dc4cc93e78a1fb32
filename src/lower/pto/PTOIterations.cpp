#include "lower/pto/PTOIterations.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/ExprUsesVar.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOUtil.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// The window of a buffer that one iteration touches: from `anchor` + low to `anchor` + high, moving by `step`.
struct Window {
    Expr anchor;
    int64_t low = 0, high = 0, step = 0;
};

class FindWindows : public IRVisitor {
    using IRVisitor::visit;
    const For *loop;
    Scope<Interval> inner;
    std::vector<std::pair<std::string, Expr>> lets;
    std::set<std::string> allocated;

    Expr expand(Expr e) const {
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i].first)) {
                e = substitute(lets[i].first, lets[i].second, e);
            }
        }
        return e;
    }

    /// Adds an access; the buffer is lost if its place is not understood.
    void access(const std::string &name, const Expr &index) {
        if (lost.count(name)) {
            return;
        }
        const Expr e = simplify(expand(index));
        const Expr step = linear_coefficient(e, loop->name);
        const std::optional<int64_t> s = step.defined() ? as_const_int(step) : std::nullopt;
        if (!s || *s == 0) {
            lost.insert(name);
            return;
        }
        const Interval range = bounds_of_expr_in_scope(substitute(loop->name, make_zero(Int(32)), e), inner);
        if (!range.is_bounded()) {
            lost.insert(name);
            return;
        }
        const bool first = !windows.count(name);
        Window &w = windows[name];
        if (first) {
            w.anchor = range.min;
            w.step = *s;
        }
        const std::optional<int64_t> low = as_const_int(simplify(range.min - w.anchor));
        const std::optional<int64_t> high = as_const_int(simplify(range.max - w.anchor));
        if (!low || !high || w.step != *s) {
            lost.insert(name);
            return;
        }
        w.low = first ? *low : std::min(w.low, *low);
        w.high = first ? *high : std::max(w.high, *high);
    }

    void visit(const Load *op) override {
        IRVisitor::visit(op);
        access(op->name, op->index);
    }
    void visit(const Store *op) override {
        IRVisitor::visit(op);
        access(op->name, op->index);
    }
    void visit(const Variable *op) override {
        if (op->type.is_handle()) {
            lost.insert(op->name);
        }
    }
    void visit(const LetStmt *op) override {
        op->value.accept(this);
        lets.emplace_back(op->name, op->value);
        op->body.accept(this);
        lets.pop_back();
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        const Interval min = bounds_of_expr_in_scope(expand(op->min), inner);
        const Interval max = bounds_of_expr_in_scope(expand(op->max), inner);
        ScopedBinding<Interval> bind(inner, op->name, Interval(min.min, max.max));
        op->body.accept(this);
    }
    void visit(const IfThenElse *op) override {
        op->condition.accept(this);
        // if (lane < n): fewer iterations of the loop over lanes.
        const LT *less = op->condition.as<LT>();
        const Variable *v = less ? less->a.as<Variable>() : nullptr;
        const Interval *known = v ? inner.find(v->name) : nullptr;
        if (known && is_const(less->b)) {
            ScopedBinding<Interval> bind(inner, v->name, Interval(known->min, simplify(min(known->max, less->b - 1))));
            op->then_case.accept(this);
        } else {
            op->then_case.accept(this);
        }
        if (op->else_case.defined()) {
            op->else_case.accept(this);
        }
    }

public:
    std::map<std::string, Window> windows;
    std::set<std::string> lost;
    explicit FindWindows(const For *loop) : loop(loop) {
    }
};

}  // namespace

std::set<std::string> buffers_apart_in_iterations(const For *loop) {
    FindWindows find(loop);
    loop->body.accept(&find);
    std::set<std::string> result;
    for (const auto &[name, w] : find.windows) {
        if (!find.lost.count(name) && w.high - w.low < std::abs(w.step)) {
            result.insert(name);
        }
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
