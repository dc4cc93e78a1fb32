#include "lower/pto/PTOCopies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/ExprUsesVar.h"
#include "func/PTOProgram.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOUtil.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// One loop of a copy.
struct CopyLoop {
    std::string name;
    Expr min, max;

    Expr extent() const {
        return simplify(max - min + 1);
    }
};

/// for loops (outermost first): if (guard) store.
struct Copy {
    std::vector<CopyLoop> loops;
    Expr guard;
    Stmt leaf;   // a Store of a Load, or of a choice among Loads and constants
};

/// A condition of the form var < at (var >= at if false): where the value of a choice changes.
struct Break {
    size_t loop = 0;
    Expr at;               // first iteration of the upper part
    Expr node;             // the choice, or the condition
    Expr below, above;     // what it is in both parts
};

Stmt nothing() {
    return Evaluate::make(0);
}

bool does_nothing(const Stmt &s) {
    const Evaluate *e = s.as<Evaluate>();
    return e && is_pure(e->value);
}

/// Finds one place where an expression changes its form along one of the loops.
class FindBreak : public IRVisitor {
    using IRVisitor::visit;
    const std::vector<CopyLoop> &loops;

    /// The loop that `difference` grows (sign 1) or falls (-1) by one with; the break is where it becomes positive.
    bool place(const Expr &difference, const Expr &node, const Expr &if_not_positive, const Expr &if_positive) {
        for (size_t i = loops.size(); i-- > 0;) {
            const Expr step = linear_coefficient(difference, loops[i].name);
            const std::optional<int64_t> k = step.defined() ? as_const_int(step) : std::nullopt;
            if (!k || (*k != 1 && *k != -1)) {
                continue;
            }
            const Expr at_zero = simplify(substitute(loops[i].name, make_zero(Int(32)), difference));
            bool inner = false;
            for (size_t j = i + 1; j < loops.size(); j++) {
                inner = inner || expr_uses_var(at_zero, loops[j].name);
            }
            if (inner) {
                continue;
            }
            Break b;
            b.loop = i;
            b.node = node;
            if (*k == 1) {
                // x + c > 0 from x = 1 - c on.
                b.at = simplify(1 - at_zero);
                b.below = if_not_positive;
                b.above = if_positive;
            } else {
                // c - x > 0 up to x = c - 1.
                b.at = at_zero;
                b.below = if_positive;
                b.above = if_not_positive;
            }
            found = b;
            return true;
        }
        return false;
    }

    bool varies(const Expr &e) const {
        return std::any_of(loops.begin(), loops.end(), [&](const CopyLoop &l) { return expr_uses_var(e, l.name); });
    }

    template <typename Node>
    void choice(const Node *op, const Expr &if_a_greater, const Expr &otherwise) {
        IRVisitor::visit(op);
        if (!found && op->type.is_scalar() && !op->type.is_float() && (varies(op->a) || varies(op->b))) {
            place(op->a - op->b, Expr(op), otherwise, if_a_greater);
        }
    }
    void visit(const Min *op) override {
        choice(op, op->b, op->a);
    }
    void visit(const Max *op) override {
        choice(op, op->a, op->b);
    }
    template <typename Node>
    void comparison(const Node *op, const Expr &positive) {
        IRVisitor::visit(op);
        if (!found && op->a.type() == Int(32) && (varies(op->a) || varies(op->b))) {
            place(positive, Expr(op), const_false(), const_true());
        }
    }
    void visit(const LT *op) override {
        comparison(op, op->b - op->a);
    }
    void visit(const LE *op) override {
        comparison(op, op->b - op->a + 1);
    }
    void visit(const GT *op) override {
        comparison(op, op->a - op->b);
    }
    void visit(const GE *op) override {
        comparison(op, op->a - op->b + 1);
    }
    // Conditions of loads are found in the loads' indices.
    void visit(const Load *op) override {
        IRVisitor::visit(op);
    }

public:
    std::optional<Break> found;
    explicit FindBreak(const std::vector<CopyLoop> &loops) : loops(loops) {
    }
};

/// What is known of the kernel's buffers.
struct Local {
    Type type;
    int stores = 0;   // statements that write it
};

class FindCopies : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    const std::map<std::string, int> &stores;
    std::map<std::string, Type> local;    // in UB
    Scope<> registers;
    Scope<Interval> bounds;
    std::vector<std::pair<std::string, Expr>> around;   // definitions, outermost first
    int vectors = 0, kernels = 0;

    // ---- Recognition

    bool is_local(const std::string &name) const {
        return local.count(name) > 0;
    }
    bool is_global(const std::string &name) const {
        return !is_local(name) && !registers.contains(name);
    }

    /// A value that is a load after all choices are made: the loads that it may be.
    bool leaf_value(const Expr &e, std::vector<const Load *> &loads) const {
        if (const Load *l = e.as<Load>()) {
            loads.push_back(l);
            return is_const_one(l->predicate) && is_index_arithmetic(l->index);
        }
        if (is_const(e)) {
            return true;
        }
        if (const Call *c = e.as<Call>()) {
            if (c->is_tag()) {
                return leaf_value(c->args[0], loads);
            }
            if (c->is_intrinsic(Call::if_then_else) && c->args.size() == 3) {
                return is_index_arithmetic(c->args[0]) && leaf_value(c->args[1], loads) && leaf_value(c->args[2], loads);
            }
            return false;
        }
        if (const Select *s = e.as<Select>()) {
            return is_index_arithmetic(s->condition) && leaf_value(s->true_value, loads) &&
                   leaf_value(s->false_value, loads);
        }
        // Constants of the surroundings (a parameter as the value outside of an image).
        return e.as<Variable>() != nullptr;
    }

    /// Loops around one store that copies between the two memories.
    std::optional<Copy> match(Stmt s) const {
        Copy copy;
        copy.guard = const_true();
        std::vector<std::pair<std::string, Expr>> lets;
        auto expand = [&](Expr e) {
            for (size_t i = lets.size(); i-- > 0;) {
                if (expr_uses_var(e, lets[i].first)) {
                    e = substitute(lets[i].first, lets[i].second, e);
                }
            }
            return e;
        };
        while (true) {
            if (const For *f = s.as<For>()) {
                if (f->for_type != ForType::Serial || !is_index_arithmetic(f->min) || !is_index_arithmetic(f->max)) {
                    return std::nullopt;
                }
                copy.loops.push_back({f->name, simplify(expand(f->min)), simplify(expand(f->max))});
                s = f->body;
            } else if (const LetStmt *l = s.as<LetStmt>()) {
                if (!is_index_arithmetic(l->value)) {
                    return std::nullopt;
                }
                lets.emplace_back(l->name, l->value);
                s = l->body;
            } else if (const IfThenElse *i = s.as<IfThenElse>()) {
                if (i->else_case.defined() || !is_index_arithmetic(i->condition)) {
                    return std::nullopt;
                }
                copy.guard = copy.guard && expand(i->condition);
                s = i->then_case;
            } else if (const ProducerConsumer *p = s.as<ProducerConsumer>()) {
                s = p->body;
            } else {
                break;
            }
        }
        const Store *store = s.as<Store>();
        std::vector<const Load *> loads;
        if (!store || !is_const_one(store->predicate) || !store->value.type().is_scalar() ||
            !is_index_arithmetic(store->index) || !leaf_value(store->value, loads) || loads.empty()) {
            return std::nullopt;
        }
        for (const Load *l : loads) {
            const bool in = is_local(store->name) && is_global(l->name);
            const bool out = is_global(store->name) && is_local(l->name);
            if (!in && !out) {
                return std::nullopt;
            }
        }
        copy.guard = simplify(remove_likelies(copy.guard));
        copy.leaf = Store::make(store->name, simplify(remove_likelies(expand(store->value))), simplify(expand(store->index)),
                                store->param, const_true(), ModulusRemainder());
        return copy;
    }

    // ---- Cutting at breaks

    static Expr replace_choice(const Expr &e, const Break &b, bool above) {
        return simplify(graph_substitute(b.node, above ? b.above : b.below, e));
    }

    Stmt lower(const Copy &copy, int depth) {
        if (is_const_zero(copy.guard)) {
            return nothing();
        }
        FindBreak find(copy.loops);
        const Store *store = copy.leaf.as<Store>();
        copy.guard.accept(&find);
        if (!find.found) {
            copy.leaf.accept(&find);
        }
        if (!find.found || depth > 12) {
            return emit(copy);
        }
        const Break &b = *find.found;
        std::vector<Stmt> parts;
        for (const bool above : {false, true}) {
            Copy part = copy;
            CopyLoop &loop = part.loops[b.loop];
            if (above) {
                loop.min = simplify(Max::make(loop.min, b.at));
            } else {
                loop.max = simplify(Min::make(loop.max, b.at - 1));
            }
            part.guard = replace_choice(copy.guard, b, above);
            part.leaf = Store::make(store->name, replace_choice(store->value, b, above),
                                    replace_choice(store->index, b, above), store->param, const_true(), ModulusRemainder());
            const Expr some = simplify(loop.min <= loop.max);
            if (is_const_zero(some)) {
                continue;
            }
            const Stmt s = lower(part, depth + 1);
            if (!does_nothing(s)) {
                // What a move leaves behind its last element is overwritten later: by single elements, or by the part above.
                const bool first = is_move(s) && std::none_of(parts.begin(), parts.end(), is_move);
                parts.insert(first ? parts.begin() : parts.end(), s);
            }
        }
        return parts.empty() ? nothing() : Block::make(parts);
    }

    static bool is_move(const Stmt &s) {
        bool move = false;
        visit_with(s, [&](auto *self, const Call *op) {
            move = move || op->is_intrinsic({Call::pto_mte_gm_ub, Call::pto_mte_ub_gm});
            self->visit_base(op);
        });
        return move;
    }

    // ---- One piece without breaks

    Stmt element_by_element(const Copy &copy) const {
        Stmt s = copy.leaf;
        if (!is_const_one(copy.guard)) {
            s = IfThenElse::make(copy.guard, s);
        }
        for (size_t i = copy.loops.size(); i-- > 0;) {
            s = For::make(copy.loops[i].name, copy.loops[i].min, copy.loops[i].max, ForType::Serial, Partition::Never,
                          DeviceAPI::None, s);
        }
        return s;
    }

    struct Dimension {
        size_t loop;
        Expr count, gm, ub;
        int64_t ub_stride = 0;
    };

    Stmt emit(const Copy &copy) {
        // A loop that bounds of others depend on runs around moves of what is inside: a move has the same extents everywhere.
        for (size_t i = 0; i < copy.loops.size(); i++) {
            const CopyLoop around = copy.loops[i];
            const bool bounds_others = std::any_of(copy.loops.begin(), copy.loops.end(), [&](const CopyLoop &l) {
                return expr_uses_var(l.min, around.name) || expr_uses_var(l.max, around.name);
            });
            if (bounds_others) {
                Copy inside = copy;
                inside.loops.erase(inside.loops.begin() + (ptrdiff_t)i);
                return For::make(around.name, around.min, around.max, ForType::Serial, Partition::Never, DeviceAPI::None, emit(inside));
            }
        }
        const Store *store = copy.leaf.as<Store>();
        const Load *load = store->value.as<Load>();
        if (!load) {
            return fill(copy);
        }
        const bool in = is_local(store->name);
        const Type type = load->type;
        Expr gm = in ? load->index : store->index, ub = in ? store->index : load->index;
        const std::string gm_name = in ? load->name : store->name, ub_name = in ? store->name : load->name;

        std::vector<Dimension> dims;
        std::vector<bool> used(copy.loops.size(), false);
        for (size_t i = 0; i < copy.loops.size(); i++) {
            const Expr g = linear_coefficient(gm, copy.loops[i].name), u = linear_coefficient(ub, copy.loops[i].name);
            const std::optional<int64_t> stride = u.defined() ? as_const_int(u) : std::nullopt;
            if (!g.defined() || !stride || uses_loops(g, copy) || uses_loops(copy.loops[i].min, copy) ||
                uses_loops(copy.loops[i].max, copy) || uses(copy.guard, copy.loops[i].name)) {
                continue;
            }
            dims.push_back({i, copy.loops[i].extent(), g, u, *stride});
        }
        std::stable_sort(dims.begin(), dims.end(),
                         [](const Dimension &a, const Dimension &b) { return a.ub_stride < b.ub_stride; });
        const int64_t align = pto_align_elements(type);
        // The burst: next to each other in both memories. Dimensions that continue it are part of it.
        Expr len = make_const(Int(32), 1);
        std::vector<Dimension> outer;
        for (const Dimension &d : dims) {
            if (can_prove_equal(d.gm, len) && can_prove_equal(d.ub, len)) {
                len = simplify(len * d.count);
                used[d.loop] = true;
            } else if (d.ub_stride > 0 && d.ub_stride % align == 0) {
                outer.push_back(d);
                used[d.loop] = true;
            }
        }
        std::vector<Expr> counts;
        for (size_t i = 0; i < copy.loops.size(); i++) {
            if (used[i]) {
                gm = substitute(copy.loops[i].name, copy.loops[i].min, gm);
                ub = substitute(copy.loops[i].name, copy.loops[i].min, ub);
                counts.push_back(copy.loops[i].extent());
            }
        }
        gm = simplify(gm);
        ub = simplify(ub);
        if (!is_aligned(ub, type)) {
            // Where rows begin often shows only in the terms of the loops around.
            Expr written_out = ub;
            for (size_t i = around.size(); i-- > 0;) {
                if (expr_uses_var(written_out, around[i].first) && is_index_arithmetic(around[i].second)) {
                    written_out = substitute(around[i].first, around[i].second, written_out);
                }
            }
            written_out = simplify(written_out);
            ub = is_aligned(written_out, type) ? written_out : ub;
        }
        const bool single = is_const_one(len) && outer.empty() && !copy.loops.empty();
        if (single) {
            return refuse_or_elements(copy, gm_name, ub_name);
        }
        Move m = {in, type, gm_name, ub_name, gm, ub, len, outer};
        Stmt s = aligned_move(m, exclusive(ub_name));
        if (!s.defined()) {
            return element_by_element(copy);
        }
        for (const Expr &n : counts) {
            const Expr some = simplify(n > 0);
            if (!is_const_one(some)) {
                s = IfThenElse::make(some, s);
            }
        }
        if (!is_const_one(copy.guard)) {
            s = IfThenElse::make(copy.guard, s);
        }
        for (size_t i = copy.loops.size(); i-- > 0;) {
            if (!used[i]) {
                s = For::make(copy.loops[i].name, copy.loops[i].min, copy.loops[i].max, ForType::Serial, Partition::Never,
                              DeviceAPI::None, s);
            }
        }
        return s;
    }

    Stmt refuse_or_elements(const Copy &copy, const std::string &gm_name, const std::string &ub_name) {
        ctx.explain(ub_name + ": copied from or to " + gm_name +
                    " element by element, because neighbours there are not neighbours in the unified buffer");
        return element_by_element(copy);
    }

    static bool uses(const Expr &e, const std::string &name) {
        return expr_uses_var(e, name);
    }
    static bool uses_loops(const Expr &e, const Copy &copy) {
        return std::any_of(copy.loops.begin(), copy.loops.end(),
                           [&](const CopyLoop &l) { return expr_uses_var(e, l.name); });
    }
    static bool can_prove_equal(const Expr &a, const Expr &b) {
        return is_const_zero(simplify(a - b));
    }

    /// Whether nothing but this copy writes the buffer, so that it may leave anything behind a row.
    bool exclusive(const std::string &ub_name) const {
        const auto it = stores.find(ub_name);
        return it == stores.end() || it->second <= 1 || ctx.pto->tiles.count(ub_name);
    }

    struct Move {
        bool in;
        Type type;
        std::string gm_name, ub_name;
        Expr gm, ub, len;
        std::vector<Dimension> outer;
    };

    static Expr call(const Move &m, const Expr &skip, const Expr &len, const std::vector<Dimension> &repetitions) {
        std::vector<Expr> args = {Variable::make(Handle(), m.gm_name), simplify(m.gm + skip),
                                  Variable::make(Handle(), m.ub_name), simplify(m.ub + skip), len};
        for (const Dimension &d : repetitions) {
            args.insert(args.end(), {d.count, d.gm, d.ub});
        }
        return Call::make(m.type, m.in ? Call::pto_mte_gm_ub : Call::pto_mte_ub_gm, args, Call::Intrinsic);
    }

    /// A burst as one move, or as several pieces where its length does not fit the field.
    Stmt bursts(const Move &m, const Expr &skip, const Expr &len) {
        const int64_t most = pto_max_burst_bytes / pto_element_bytes(m.type);
        const Expr bound = constant_upper_bound(len, around, bounds);
        const std::optional<int64_t> limit = bound.defined() ? as_const_int(bound) : std::nullopt;
        if (limit && *limit <= most) {
            return Evaluate::make(call(m, skip, len, m.outer));
        }
        const int64_t piece = most / 256 * 256 / 2;
        const Expr p = make_const(Int(32), piece);
        std::vector<Dimension> repetitions = {{0, simplify(len / p), p, p, piece}};
        repetitions.insert(repetitions.end(), m.outer.begin(), m.outer.end());
        auto if_some = [](const Expr &n, const Stmt &s) {
            const Expr some = simplify(n > 0);
            return is_const_one(some) ? s : is_const_zero(some) ? nothing() : IfThenElse::make(some, s);
        };
        const Expr rest = simplify(len % p);
        return Block::make(if_some(repetitions[0].count, Evaluate::make(call(m, skip, p, repetitions))),
                           if_some(rest, Evaluate::make(call(m, simplify(skip + len / p * p), rest, m.outer))));
    }

    Stmt single_elements(const Move &m, const Expr &first, const Expr &count) {
        const std::string name = ctx.unique_name(m.ub_name + ".element");
        const Expr i = Variable::make(Int(32), name);
        Expr gm = m.gm + first + i, ub = m.ub + first + i;
        std::vector<std::pair<std::string, Expr>> around;
        for (const Dimension &d : m.outer) {
            around.emplace_back(ctx.unique_name(m.ub_name + ".row"), d.count);
            const Expr row = Variable::make(Int(32), around.back().first);
            gm = gm + row * d.gm;
            ub = ub + row * d.ub;
        }
        const std::string &from = m.in ? m.gm_name : m.ub_name, &to = m.in ? m.ub_name : m.gm_name;
        const Expr load = Load::make(m.type, from, simplify(m.in ? gm : ub), Buffer<>(), Parameter(), const_true(),
                                     ModulusRemainder());
        Stmt s = Store::make(to, load, simplify(m.in ? ub : gm), Parameter(), const_true(), ModulusRemainder());
        s = For::make(name, 0, simplify(count - 1), ForType::Serial, Partition::Never, DeviceAPI::None, s);
        for (const auto &[row, n] : around) {
            s = For::make(row, 0, simplify(n - 1), ForType::Serial, Partition::Never, DeviceAPI::None, s);
        }
        return s;
    }

    /// Moves begin at multiples of 32 bytes in UB, and an inward move spoils what follows up to the next one.
    Stmt aligned_move(const Move &m, bool may_spoil) {
        const int64_t align = pto_align_elements(m.type);
        const Expr a = make_const(Int(32), align);
        Expr head = make_zero(Int(32));
        if (!is_aligned(m.ub, m.type)) {
            head = simplify(Min::make((a - m.ub % a) % a, m.len));
        }
        Expr body = simplify(m.len - head), tail = make_zero(Int(32));
        if (m.in && !may_spoil) {
            tail = simplify(body % a);
            body = simplify(body - tail);
        }
        if (is_const_zero(body)) {
            return Stmt();
        }
        Stmt s = bursts(m, head, body);
        if (!is_const_zero(head) || !is_const_zero(tail)) {
            const Expr some = simplify(body > 0);
            s = is_const_one(some) ? s : IfThenElse::make(some, s);
        }
        if (!is_const_zero(head)) {
            s = Block::make(s, single_elements(m, 0, head));
        }
        if (!is_const_zero(tail)) {
            s = Block::make(s, single_elements(m, simplify(head + body), tail));
        }
        return s;
    }

    /// A constant in many places: vector stores where whole aligned rows are filled, else one by one.
    Stmt fill(const Copy &copy) {
        const Store *store = copy.leaf.as<Store>();
        if (!is_local(store->name) || copy.loops.empty() || !is_const_one(copy.guard) || uses_loops(store->value, copy)) {
            return element_by_element(copy);
        }
        const CopyLoop &inner = copy.loops.back();
        const Expr step = linear_coefficient(store->index, inner.name);
        const Expr begin = simplify(substitute(inner.name, inner.min, store->index));
        if (!step.defined() || !is_const_one(step) || !is_aligned(begin, store->value.type())) {
            return element_by_element(copy);
        }
        Stmt s = For::make(inner.name, inner.min, inner.max, ForType::Vectorized, Partition::Never, DeviceAPI::None,
                           copy.leaf);
        for (size_t i = copy.loops.size() - 1; i-- > 0;) {
            s = For::make(copy.loops[i].name, copy.loops[i].min, copy.loops[i].max, ForType::Serial, Partition::Never,
                          DeviceAPI::None, s);
        }
        return s;
    }

    // ---- The walk

    Stmt try_copy(const Stmt &s) {
        if (vectors > 0 || kernels == 0) {
            return Stmt();
        }
        const std::optional<Copy> copy = match(s);
        if (!copy) {
            return Stmt();
        }
        Stmt result = lower(*copy, 0);
        return does_nothing(result) ? result : simplify(result);
    }

    Interval constant_bounds(const Expr &low, const Expr &high) {
        Interval i;
        const Expr min = find_constant_bound(low, Direction::Lower, bounds);
        const Expr max = find_constant_bound(high, Direction::Upper, bounds);
        i.min = min.defined() ? min : i.min;
        i.max = max.defined() ? max : i.max;
        return i;
    }

    Stmt visit(const For *op) override {
        if (const Stmt s = try_copy(op); s.defined()) {
            return s;
        }
        const bool kernel = is_pto_block(op), vector = op->for_type == ForType::Vectorized;
        kernels += kernel;
        vectors += vector;
        ScopedBinding<Interval> bind(bounds, op->name, constant_bounds(op->min, op->max));
        Stmt s = IRMutator::visit(op);
        kernels -= kernel;
        vectors -= vector;
        return s;
    }
    Stmt visit(const Store *op) override {
        const Stmt s = try_copy(op);
        return s.defined() ? s : Stmt(op);
    }
    Stmt visit(const IfThenElse *op) override {
        const Stmt s = try_copy(op);
        return s.defined() ? s : IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        const Interval i = op->value.type() == Int(32) ? constant_bounds(op->value, op->value) : Interval();
        ScopedBinding<Interval> bind(bounds, op->name, i);
        around.emplace_back(op->name, op->value);
        const Stmt body = mutate(op->body);
        around.pop_back();
        return op->with(op->value, body);
    }
    Stmt visit(const Allocate *op) override {
        const bool ub = op->memory_type == MemoryType::UB;
        const bool is_register = op->memory_type == MemoryType::Register;
        if (ub) {
            local[op->name] = op->type;
        }
        if (is_register) {
            registers.push(op->name);
        }
        Stmt s = IRMutator::visit(op);
        if (is_register) {
            registers.pop(op->name);
        }
        if (ub) {
            local.erase(op->name);
        }
        return s;
    }

public:
    FindCopies(LowerContext &ctx, const std::map<std::string, int> &stores) : ctx(ctx), stores(stores) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// Indices into UB in the terms of the loops around, where definitions hide that they begin at aligned places.
class WriteOutIndices : public IRMutator {
    using IRMutator::visit;
    std::vector<std::pair<std::string, Expr>> lets;
    Scope<> local;

    Expr written_out(const Expr &index) const {
        Expr e = index;
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i].first)) {
                e = substitute(lets[i].first, lets[i].second, e);
            }
        }
        return simplify(e);
    }
    Stmt visit(const LetStmt *op) override {
        const bool usable = op->value.type() == Int(32) && is_index_arithmetic(op->value);
        const Expr value = mutate(op->value);
        if (usable) {
            lets.emplace_back(op->name, op->value);
        }
        const Stmt body = mutate(op->body);
        if (usable) {
            lets.pop_back();
        }
        return op->with(value, body);
    }
    Stmt visit(const Allocate *op) override {
        ScopedBinding<> b(local, op->name);
        return IRMutator::visit(op);
    }
    Expr visit(const Load *op) override {
        const Expr e = IRMutator::visit(op);
        op = e.as<Load>();
        return local.contains(op->name) ? op->changed(&Load::index, written_out(op->index)) : e;
    }
    Stmt visit(const Store *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<Store>();
        return local.contains(op->name) ? op->changed(&Store::index, written_out(op->index)) : s;
    }
};

}  // namespace

Stmt pto_copies(const Stmt &s, LowerContext &ctx) {
    std::map<std::string, int> stores;
    visit_with(s, [&](auto *self, const Store *op) {
        stores[op->name]++;
        self->visit_base(op);
    });
    return WriteOutIndices()(FindCopies(ctx, stores)(s));
}

}  // namespace Internal
}  // namespace Halide
