#include "regions/Bounds.h"

#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "regions/Domain.h"
#include "regions/IndexedBoxes.h"
#include "simplify/Simplify.h"

#include <set>

// Regions that statements touch: a walk that keeps the loops, lets and conditions around it in a Domain, and adds the
// bounds of the coordinates of every call and store to the box of its Func.

namespace Halide {
namespace Internal {

std::ostream &operator<<(std::ostream &stream, const Box &b) {
    stream << "{";
    for (size_t i = 0; i < b.size(); i++) {
        stream << (i ? ", " : "") << "[" << b[i].min << ", " << b[i].max << "]";
    }
    stream << "}";
    if (b.used.defined()) {
        stream << " if " << b.used;
    }
    return stream;
}

namespace {

bool has_min_or_max(const Expr &e) {
    bool found = false;
    visit_with(
        e, [&](auto *, const Min *) { found = true; }, [&](auto *, const Max *) { found = true; });
    return found;
}

/// Whether a <= b because both are built in the same way from operands in that order.
bool is_ordered(const Expr &a, const Expr &b) {
    if (a.same_as(b)) {
        return true;
    }
    const auto ca = as_const_int(a), cb = as_const_int(b);
    if (ca && cb) {
        return *ca <= *cb;
    }
    if (a.node_type() == b.node_type()) {
        switch (a.node_type()) {
        case IRNodeType::Variable:
            return a.as<Variable>()->name == b.as<Variable>()->name;
        case IRNodeType::Min:
            return is_ordered(a.as<Min>()->a, b.as<Min>()->a) && is_ordered(a.as<Min>()->b, b.as<Min>()->b);
        case IRNodeType::Max:
            return is_ordered(a.as<Max>()->a, b.as<Max>()->a) && is_ordered(a.as<Max>()->b, b.as<Max>()->b);
        case IRNodeType::Add:
            return is_ordered(a.as<Add>()->a, b.as<Add>()->a) && is_ordered(a.as<Add>()->b, b.as<Add>()->b);
        case IRNodeType::Sub:
            return is_ordered(a.as<Sub>()->a, b.as<Sub>()->a) && is_ordered(b.as<Sub>()->b, a.as<Sub>()->b);
        case IRNodeType::Mul: {
            const auto ka = as_const_int(a.as<Mul>()->b), kb = as_const_int(b.as<Mul>()->b);
            return ka && ka == kb &&
                   (*ka >= 0 ? is_ordered(a.as<Mul>()->a, b.as<Mul>()->a) : is_ordered(b.as<Mul>()->a, a.as<Mul>()->a));
        }
        case IRNodeType::Div: {
            const auto ka = as_const_int(a.as<Div>()->b), kb = as_const_int(b.as<Div>()->b);
            return ka && ka == kb && *ka > 0 && is_ordered(a.as<Div>()->a, b.as<Div>()->a);
        }
        default:
            return equal(a, b);
        }
    }
    if (const Add *add = a.as<Add>()) {
        const auto c = as_const_int(add->b);
        return c && *c <= 0 && is_ordered(add->a, b);
    }
    if (const Add *add = b.as<Add>()) {
        const auto c = as_const_int(add->b);
        return c && *c >= 0 && is_ordered(a, add->a);
    }
    return false;
}

/// The one of two ends that is further out for certain; undefined if that cannot be told. Looks only at ends like
/// clamp(y - 1, 0, n) and clamp(y + 1, 0, n), of which simplification does not see that they are ordered.
Expr outermost_clamped_end(const Expr &a, const Expr &b, bool upper) {
    constexpr int small = 40;
    if (a.type() != Int(32) || !has_at_most_nodes(a, small) || !has_at_most_nodes(b, small) || !has_min_or_max(a) ||
        !has_min_or_max(b)) {
        return Expr();
    }
    if (is_ordered(a, b)) {
        return upper ? b : a;
    }
    if (is_ordered(b, a)) {
        return upper ? a : b;
    }
    const Expr difference = a - b;
    constexpr int cases = 8;
    const Expr most = find_constant_bound(difference, Direction::Upper, Scope<Interval>::empty_scope(), cases);
    if (most.defined() && !is_positive_const(most)) {
        return upper ? b : a;
    }
    const Expr least = find_constant_bound(difference, Direction::Lower, Scope<Interval>::empty_scope(), cases);
    if (least.defined() && !is_negative_const(least)) {
        return upper ? a : b;
    }
    return Expr();
}

Interval union_of_touched(const Interval &a, const Interval &b) {
    Interval i = interval_union(a, b);
    if (!a.is_bounded() || !b.is_bounded()) {
        return i;
    }
    if (i.min.as<Min>()) {
        const Expr end = outermost_clamped_end(a.min, b.min, false);
        i.min = end.defined() ? end : i.min;
    }
    if (i.max.as<Max>()) {
        const Expr end = outermost_clamped_end(a.max, b.max, true);
        i.max = end.defined() ? end : i.max;
    }
    return i;
}

}  // namespace

void merge_boxes(Box &a, const Box &b) {
    if (b.empty()) {
        return;
    }
    if (a.empty()) {
        a = b;
        return;
    }
    internal_assert(a.size() == b.size()) << "boxes of different dimensions\n";
    const bool a_certain = !a.maybe_unused(), b_certain = !b.maybe_unused();
    const bool same_condition = !a_certain && !b_certain && equal(a.used, b.used);
    // Where only one of the two is certain to be used, the other counts only if it is used.
    for (size_t i = 0; i < a.size(); i++) {
        const Interval both = union_of_touched(a[i], b[i]);
        if (same_condition || (a_certain && b_certain) || !a[i].is_bounded() || !b[i].is_bounded()) {
            a[i] = both;
            continue;
        }
        auto merged = [&](const Expr &u, const Expr &x, const Expr &y) {
            if (equal(x, y)) {
                return x;
            }
            if (a_certain) {
                return u.same_as(x) ? x : select(b.used, u, x);
            }
            if (b_certain) {
                return u.same_as(y) ? y : select(a.used, u, y);
            }
            return select(a.used && b.used, u, a.used, x, y);
        };
        const Expr min = merged(both.min, a[i].min, b[i].min);
        const Expr max = merged(both.max, a[i].max, b[i].max);
        a[i] = a[i].is_single_point() && b[i].is_single_point() && min.same_as(max) ? Interval::single_point(min) :
                                                                                     Interval(min, max);
    }
    if (a_certain || b_certain) {
        a.used = Expr();
    } else if (!same_condition) {
        a.used = simplify(a.used || b.used);
        if (is_const_one(a.used)) {
            a.used = Expr();
        }
    }
}

Box box_union(const Box &a, const Box &b) {
    Box result = a;
    merge_boxes(result, b);
    return result;
}

bool boxes_overlap(const Box &a, const Box &b) {
    if (a.size() != b.size() && (a.empty() || b.empty())) {
        return false;
    }
    internal_assert(a.size() == b.size()) << "boxes of different dimensions\n";
    Expr overlap = const_true();
    if (a.maybe_unused()) {
        overlap = overlap && a.used;
    }
    if (b.maybe_unused()) {
        overlap = overlap && b.used;
    }
    for (size_t i = 0; i < a.size(); i++) {
        if (a[i].is_empty() || b[i].is_empty()) {
            return false;
        }
        if (a[i].has_upper_bound() && b[i].has_lower_bound()) {
            overlap = overlap && b[i].min <= a[i].max;
        }
        if (b[i].has_upper_bound() && a[i].has_lower_bound()) {
            overlap = overlap && a[i].min <= b[i].max;
        }
    }
    return !is_const_zero(simplify(overlap)) && !can_prove(!overlap);
}

Box box_intersection(const Box &a, const Box &b) {
    if (a.empty() || b.empty()) {
        return Box();
    }
    internal_assert(a.size() == b.size()) << "boxes of different dimensions\n";
    Box result(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        result[i] = interval_intersection(a[i], b[i]);
        if (result[i].has_lower_bound()) {
            result[i].min = simplify(result[i].min);
        }
        if (result[i].has_upper_bound()) {
            result[i].max = simplify(result[i].max);
        }
    }
    if (a.maybe_unused() && b.maybe_unused()) {
        result.used = simplify(a.used && b.used);
    } else {
        result.used = a.maybe_unused() ? a.used : b.used;
    }
    return result;
}

bool box_contains(const Box &outer, const Box &inner) {
    if (inner.empty()) {
        return true;
    }
    if (inner.size() > outer.size()) {
        return false;
    }
    Expr inside = const_true();
    for (size_t i = 0; i < inner.size(); i++) {
        if ((outer[i].has_lower_bound() && !inner[i].has_lower_bound()) ||
            (outer[i].has_upper_bound() && !inner[i].has_upper_bound()) || (outer[i].is_empty() && !inner[i].is_empty())) {
            return false;
        }
        if (outer[i].has_lower_bound() && inner[i].has_lower_bound()) {
            inside = inside && outer[i].min <= inner[i].min;
        }
        if (outer[i].has_upper_bound() && inner[i].has_upper_bound()) {
            inside = inside && inner[i].max <= outer[i].max;
        }
    }
    if (outer.maybe_unused()) {
        // Where the outer box is not used, neither may the inner be.
        inside = inside && (inner.maybe_unused() ? !inner.used || outer.used : outer.used);
    }
    return can_prove(inside);
}

namespace {

class FindBoxes : public IRVisitor {
    using IRVisitor::visit;

    const bool reads, writes;
    const std::set<std::string> only;   // empty: all
    SharedExprs shared;
    Domain domain;
    std::map<std::string, Box> boxes;

    /// Statements on the way to an occurrence of `only`; the others need no walk.
    std::set<const IRNode *> relevant;

    bool wanted(const std::string &name) const {
        return only.empty() || only.count(name);
    }

    void touch(const std::string &name, const std::vector<Interval> &bounds) {
        merge_boxes(boxes[name], Box(bounds));
    }

    void touch_args(const std::string &name, const std::vector<Expr> &args) {
        if (!probes.empty()) {
            // Asked for variables, not for coordinates.
            std::vector<Interval> bounds;
            for (const std::string &v : probes) {
                bounds.push_back(shared.expand(domain.bounds(Variable::make(Int(32), v))));
            }
            touch(name, bounds);
            return;
        }
        std::vector<Interval> bounds;
        for (const Expr &arg : args) {
            bounds.push_back(shared.expand(domain.bounds(arg)));
        }
        if (bounds.empty()) {
            zero_dimensional.insert(name);
            return;
        }
        touch(name, bounds);
    }

    void visit(const Call *op) override {
        if (op->is_intrinsic(Call::declare_box_touched)) {
            const StringImm *name = op->args[0].as<StringImm>();
            internal_assert(name) << "declare_box_touched without a name\n";
            if (wanted(name->value)) {
                std::vector<Interval> bounds;
                for (size_t i = 1; i + 1 < op->args.size(); i += 2) {
                    bounds.emplace_back(domain.bounds(op->args[i]).min, domain.bounds(op->args[i + 1]).max);
                }
                touch(name->value, bounds);
            }
            return;
        }
        if (op->is_intrinsic(Call::if_then_else)) {
            op->args[0].accept(this);
            under(op->args[0], [&] { op->args[1].accept(this); });
            if (op->args.size() == 3) {
                under(!op->args[0], [&] { op->args[2].accept(this); });
            }
            return;
        }
        IRVisitor::visit(op);
        if (reads && (op->call_type == Call::Halide || op->call_type == Call::Image) && wanted(op->name)) {
            touch_args(op->name, op->args);
        }
    }

    void visit(const Provide *op) override {
        auto stores = [&] {
            for (const Expr &v : op->values) {
                v.accept(this);
            }
            for (const Expr &a : op->args) {
                a.accept(this);
            }
            if (writes && wanted(op->name)) {
                touch_args(op->name, op->args);
            }
        };
        op->predicate.accept(this);
        if (is_const_one(op->predicate)) {
            stores();
        } else {
            // Only the store is predicated; loads carry their own condition.
            for (const Expr &v : op->values) {
                v.accept(this);
            }
            for (const Expr &a : op->args) {
                a.accept(this);
            }
            if (writes && wanted(op->name)) {
                under(op->predicate, [&] { touch_args(op->name, op->args); });
            }
        }
    }

    void visit(const Let *op) override {
        size_t pushed = 0;
        Expr body;
        for (const Let *let = op; let; let = body.as<Let>()) {
            let->value.accept(this);
            domain.push_let(let->name, let->value);
            pushed++;
            body = let->body;
        }
        body.accept(this);
        while (pushed-- > 0) {
            domain.pop();
        }
    }

    void visit(const LetStmt *op) override {
        size_t pushed = 0;
        Stmt body;
        for (const LetStmt *let = op; let; let = body.as<LetStmt>()) {
            let->value.accept(this);
            domain.push_let(let->name, let->value);
            pushed++;
            body = let->body;
        }
        walk(body);
        while (pushed-- > 0) {
            domain.pop();
        }
    }

    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        domain.push_loop(op->name, op->min, op->max);
        walk(op->body);
        domain.pop();
    }

    void visit(const Block *op) override {
        Stmt rest = op;
        while (const Block *b = rest.as<Block>()) {
            walk(b->first);
            rest = b->rest;
        }
        walk(rest);
    }

    void visit(const ProducerConsumer *op) override {
        walk(op->body);
    }

    void visit(const Realize *op) override {
        // The region of a realization follows from what is touched in it, and is no use of anything itself.
        walk(op->body);
    }

    void visit(const Prefetch *op) override {
        walk(op->body);
    }

    void visit(const IfThenElse *op) override {
        op->condition.accept(this);
        under(op->condition, [&] { walk(op->then_case); });
        if (op->else_case.defined()) {
            under(!op->condition, [&] { walk(op->else_case); });
        }
    }

    void walk(const Stmt &s) {
        if (only.empty() || (index ? mentions_any(s) : relevant.count(s.get()) > 0)) {
            s.accept(this);
        }
    }

    bool mentions_any(const Stmt &s) const {
        for (const std::string &name : only) {
            if (index->may_mention(s, name)) {
                return true;
            }
        }
        return false;
    }

    /// Visits something that happens only if a condition holds. The part of it that is fixed says whether the boxes inside are
    /// used at all; the rest narrows variables.
    template<typename F>
    void under(const Expr &condition, F &&body) {
        std::vector<Expr> conjuncts;
        split_into_ands(simplify(remove_likelies(condition)), conjuncts);
        Expr used = const_true(), varying = const_true();
        for (const Expr &c : conjuncts) {
            const Expr fixed = domain.fixed_value(c);
            used = fixed.defined() ? used && fixed : used;
            varying = fixed.defined() ? varying : varying && c;
        }
        used = simplify(used);
        if (is_const_zero(used)) {
            return;
        }
        std::map<std::string, Box> before;
        if (!is_const_one(used)) {
            before.swap(boxes);
        }
        if (is_const_one(varying)) {
            body();
        } else {
            domain.narrow(varying);
            body();
            domain.widen();
        }
        if (is_const_one(used)) {
            return;
        }
        before.swap(boxes);
        for (auto &entry : before) {
            Box &b = entry.second;
            b.used = b.maybe_unused() ? simplify(used && b.used) : used;
            merge_boxes(boxes[entry.first], b);
        }
    }

    /// Marks the statements that contain what is asked for.
    class MarkRelevant : public IRVisitor {
        using IRVisitor::visit;
        FindBoxes &find;
        bool found = false;
        std::set<const IRNode *> visited_exprs;

        void visit(const Call *op) override {
            if (op->is_intrinsic(Call::declare_box_touched)) {
                const StringImm *name = op->args[0].as<StringImm>();
                found = found || (name && find.only.count(name->value));
            } else if (find.only.count(op->name)) {
                found = true;
            } else {
                IRVisitor::visit(op);
            }
        }
        void visit(const Provide *op) override {
            if (find.only.count(op->name)) {
                found = true;
            } else {
                IRVisitor::visit(op);
            }
        }
        void visit(const Let *op) override {
            Expr e = op;
            while (const Let *let = e.as<Let>()) {
                let->value.accept(this);
                e = let->body;
            }
            e.accept(this);
        }
        void visit(const LetStmt *op) override {
            op->value.accept(this);
            mark(op->body);
        }
        void visit(const For *op) override {
            op->min.accept(this);
            op->max.accept(this);
            mark(op->body);
        }
        void visit(const ProducerConsumer *op) override {
            mark(op->body);
        }
        void visit(const Realize *op) override {
            mark(op->body);
        }
        void visit(const Prefetch *op) override {
            mark(op->body);
        }
        void visit(const Atomic *op) override {
            mark(op->body);
        }
        void visit(const HoistedStorage *op) override {
            mark(op->body);
        }
        void visit(const Acquire *op) override {
            mark(op->body);
        }
        void visit(const StreamingStore *op) override {
            mark(op->body);
        }
        void visit(const StreamingLoads *op) override {
            mark(op->body);
        }
        void visit(const Fork *op) override {
            mark(op->first);
            mark(op->rest);
        }
        void visit(const IfThenElse *op) override {
            op->condition.accept(this);
            mark(op->then_case);
            if (op->else_case.defined()) {
                mark(op->else_case);
            }
        }
        void visit(const Block *op) override {
            mark(op->first);
            mark(op->rest);
        }

    public:
        explicit MarkRelevant(FindBoxes &find) : find(find) {
        }
        void mark(const Stmt &s) {
            const bool before = found;
            found = false;
            s.accept(this);
            if (found) {
                find.relevant.insert(s.get());
            }
            found = found || before;
        }
    };

    // The default visits of statements that only contain others.
    void visit(const Atomic *op) override {
        walk(op->body);
    }
    void visit(const HoistedStorage *op) override {
        walk(op->body);
    }
    void visit(const Acquire *op) override {
        walk(op->body);
    }
    void visit(const StreamingStore *op) override {
        walk(op->body);
    }
    void visit(const StreamingLoads *op) override {
        walk(op->body);
    }
    void visit(const Fork *op) override {
        walk(op->first);
        walk(op->rest);
    }

    std::set<std::string> zero_dimensional;

public:
    /// If not empty: bounds of these variables are found instead of those of coordinates.
    std::vector<std::string> probes;
    /// If given: says where names occur in what is walked.
    const NameIndex *index = nullptr;

    FindBoxes(bool reads, bool writes, const std::set<std::string> &only, const Scope<Interval> &scope,
              const FuncValueBounds &func_bounds)
        : reads(reads), writes(writes), only(only), domain(scope, func_bounds, shared) {
    }

    std::map<std::string, Box> find(const Expr &e) {
        if (e.defined()) {
            e.accept(this);
        }
        return result();
    }

    std::map<std::string, Box> find(const Stmt &s) {
        if (s.defined()) {
            if (!only.empty() && !index) {
                MarkRelevant(*this).mark(s);
            }
            walk(s);
        }
        return result();
    }

    std::map<std::string, Box> result() {
        for (auto &entry : boxes) {
            Box &b = entry.second;
            for (Interval &i : b.bounds) {
                if (i.is_single_point()) {
                    i = Interval::single_point(simplify(shared.close(i.min)));
                    continue;
                }
                if (i.has_lower_bound()) {
                    i.min = simplify(shared.close(i.min));
                }
                if (i.has_upper_bound()) {
                    i.max = simplify(shared.close(i.max));
                }
                if (i.is_bounded() && equal(i.min, i.max)) {
                    i = Interval::single_point(i.min);
                }
            }
            if (b.maybe_unused()) {
                b.used = simplify(shared.close(b.used));
            }
        }
        for (const std::string &name : zero_dimensional) {
            boxes[name];
        }
        return std::move(boxes);
    }
};

template<typename StmtOrExpr>
std::map<std::string, Box> find_boxes(const StmtOrExpr &x, bool reads, bool writes, const std::set<std::string> &only,
                                      const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return FindBoxes(reads, writes, only, scope, func_bounds).find(x);
}

template<typename StmtOrExpr>
Box find_box(const StmtOrExpr &x, bool reads, bool writes, const std::string &name, const Scope<Interval> &scope,
             const FuncValueBounds &func_bounds) {
    auto boxes = find_boxes(x, reads, writes, {name}, scope, func_bounds);
    auto it = boxes.find(name);
    return it == boxes.end() ? Box() : it->second;
}

}  // namespace

std::vector<Interval> bounds_at_stores(const Stmt &s, const std::string &fn, const std::vector<std::string> &vars,
                                       const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    FindBoxes find(false, true, {fn}, scope, func_bounds);
    find.probes = vars;
    if (vars.empty()) {
        return {};
    }
    std::map<std::string, Box> boxes = find.find(s);
    auto it = boxes.find(fn);
    return it == boxes.end() ? std::vector<Interval>(vars.size(), Interval::everything()) : it->second.bounds;
}

std::map<std::string, Box> boxes_required(const Expr &e, const Scope<Interval> &scope,
                                          const FuncValueBounds &func_bounds) {
    return find_boxes(e, true, false, {}, scope, func_bounds);
}
std::map<std::string, Box> boxes_required(Stmt s, const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return find_boxes(s, true, false, {}, scope, func_bounds);
}
std::map<std::string, Box> boxes_provided(const Expr &e, const Scope<Interval> &scope,
                                          const FuncValueBounds &func_bounds) {
    return find_boxes(e, false, true, {}, scope, func_bounds);
}
std::map<std::string, Box> boxes_provided(Stmt s, const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return find_boxes(s, false, true, {}, scope, func_bounds);
}
std::map<std::string, Box> boxes_touched(const Expr &e, const Scope<Interval> &scope,
                                         const FuncValueBounds &func_bounds) {
    return find_boxes(e, true, true, {}, scope, func_bounds);
}
std::map<std::string, Box> boxes_touched(Stmt s, const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return find_boxes(s, true, true, {}, scope, func_bounds);
}

std::map<std::string, Box> boxes_touched(Stmt s, const std::set<std::string> &names, const Scope<Interval> &scope,
                                         const FuncValueBounds &func_bounds) {
    return names.empty() ? std::map<std::string, Box>() : find_boxes(s, true, true, names, scope, func_bounds);
}

Box box_required(const Expr &e, const std::string &fn, const Scope<Interval> &scope,
                 const FuncValueBounds &func_bounds) {
    return find_box(e, true, false, fn, scope, func_bounds);
}
Box box_required(Stmt s, const std::string &fn, const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return find_box(s, true, false, fn, scope, func_bounds);
}
Box box_provided(const Expr &e, const std::string &fn, const Scope<Interval> &scope,
                 const FuncValueBounds &func_bounds) {
    return find_box(e, false, true, fn, scope, func_bounds);
}
Box box_provided(Stmt s, const std::string &fn, const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return find_box(s, false, true, fn, scope, func_bounds);
}
Box box_touched(const Expr &e, const std::string &fn, const Scope<Interval> &scope,
                const FuncValueBounds &func_bounds) {
    return find_box(e, true, true, fn, scope, func_bounds);
}
Box box_touched(Stmt s, const std::string &fn, const Scope<Interval> &scope, const FuncValueBounds &func_bounds) {
    return find_box(s, true, true, fn, scope, func_bounds);
}
Box box_touched(const Stmt &s, const std::string &fn, const NameIndex &index, const FuncValueBounds &func_bounds) {
    FindBoxes find(true, true, {fn}, Scope<Interval>::empty_scope(), func_bounds);
    find.index = &index;
    auto boxes = find.find(s);
    auto it = boxes.find(fn);
    return it == boxes.end() ? Box() : it->second;
}

}  // namespace Internal
}  // namespace Halide
