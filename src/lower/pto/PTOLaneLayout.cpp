#include "lower/pto/PTOLaneLayout.h"

#include "analysis/ExprUsesVar.h"
#include "func/PTOProgram.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOAnalysis.h"
#include "lower/pto/PTOReductions.h"
#include "lower/pto/PTOUtil.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

#include <algorithm>
#include <sstream>

namespace Halide {
namespace Internal {

namespace {

/// Index lets are replaced by their values: an address then says by itself how it depends on the lane.
class InlineIndexLets : public IRMutator {
protected:
    using IRMutator::visit;
    Stmt visit(const LetStmt *op) override {
        if (op->value.type() == Int(32) && loaded_buffers(op->value).empty()) {
            return mutate(substitute(op->name, op->value, op->body));
        }
        return IRMutator::visit(op);
    }
};

/// The types of the values that are computed, without those of addresses.
class ValueTypes : public IRGraphVisitor {
public:
    int widest = 0, narrowest = 32;
    bool selects = false, packed_pairs = false;

protected:
    using IRGraphVisitor::visit;
    void include(const Expr &e) override {
        const Type t = e.type();
        if (!t.is_bool() && !t.is_handle() && !is_const(e)) {
            widest = std::max(widest, t.bits());
            narrowest = std::min(narrowest, t.bits());
        }
        IRGraphVisitor::include(e);
    }
    void visit(const Load *op) override {}
    void visit(const Call *op) override {
        packed_pairs = packed_pairs || (starts_with(op->name, "fp4_") && op->args.size() == 2 && !is_const(op->args[1]));
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        include(op->value);
    }
    void visit(const For *op) override {
        IRGraphVisitor::include(op->body);
    }
    void visit(const IfThenElse *op) override {
        selects = true;
        IRGraphVisitor::include(op->then_case);
        if (op->else_case.defined()) {
            IRGraphVisitor::include(op->else_case);
        }
    }
};

/// How many values are alive at once while an expression is computed, operands that need more first.
int live_values(const Expr &e, std::map<Expr, int, ExprCompare> &memo) {
    auto it = memo.find(e);
    if (it != memo.end()) {
        return it->second;
    }
    memo[e] = 1;
    class Children : public IRVisitor {
    public:
        std::vector<Expr> children;
        bool root = true;

    protected:
        void include_child(const Expr &e) { children.push_back(e); }
        using IRVisitor::visit;
#define PTO_BINARY(T)                      \
    void visit(const T *op) override {     \
        children = {op->a, op->b};         \
    }
        PTO_BINARY(Add)
        PTO_BINARY(Sub)
        PTO_BINARY(Mul)
        PTO_BINARY(Div)
        PTO_BINARY(Min)
        PTO_BINARY(Max)
#undef PTO_BINARY
        void visit(const Cast *op) override { children = {op->value}; }
        void visit(const Select *op) override { children = {op->true_value, op->false_value}; }
        void visit(const Call *op) override { children = op->args; }
        void visit(const Let *op) override { children = {op->value, op->body}; }
        void visit(const Load *) override {}
    } find;
    e.accept(&find);
    std::vector<int> needs;
    for (const Expr &c : find.children) {
        if (!is_const(c)) {
            needs.push_back(live_values(c, memo));
        }
    }
    std::sort(needs.rbegin(), needs.rend());
    int result = 1;
    for (size_t i = 0; i < needs.size(); i++) {
        result = std::max(result, needs[i] + (int)i);
    }
    return memo[e] = result;
}

class LiveEstimate : public IRVisitor {
public:
    int live = 0, registers = 0;

protected:
    using IRVisitor::visit;
    void visit(const Store *op) override {
        std::map<Expr, int, ExprCompare> memo;
        live = std::max(live, live_values(op->value, memo));
    }
    void visit(const Allocate *op) override {
        registers += op->memory_type == MemoryType::Register ? 1 : 0;
        IRVisitor::visit(op);
    }
    void visit(const LetStmt *op) override {
        registers += 1;
        IRVisitor::visit(op);
    }
};

class LayOut : public IRMutator {
public:
    LayOut(const std::map<std::string, int> &preferred, LowerContext &ctx) : preferred(preferred), ctx(ctx) {}

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Vectorized) {
            ScopedBinding<Interval> bind(known, op->name, Interval(op->min, op->max));
            return IRMutator::visit(op);
        }
        if (contains_vector_loop(op->body)) {
            // Of two nested vectorized loops the inner one is the lanes.
            return mutate(For::make(op->name, op->min, op->max, ForType::Serial, op->partition_policy, op->device_api,
                                    op->body));
        }
        return chunk(op);
    }

    Stmt visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::Register) {
            registers.insert(op->name);
        } else {
            unified.insert(op->name);
        }
        return IRMutator::visit(op);
    }

    /// A store outside of vectorized loops that vector instructions can make is computed by them: then nothing has to
    /// wait for the scalar unit.
    Stmt visit(const Store *op) override {
        const bool here = unified.count(op->name) || registers.count(op->name);
        bool loads_here = true;
        for (const std::string &name : loaded_buffers(op->value)) {
            loads_here = loads_here && (unified.count(name) || registers.count(name));
        }
        if (!here || !loads_here || !loaded_buffers(op->index).empty() || op->value.type().bits() > 32 ||
            (reads_data_as_address(op->value) && scalar_unit_computes(op->value))) {
            return op;
        }
        return For::make(ctx.unique_name("once"), 0, 0, ForType::Vectorized, Partition::Auto, DeviceAPI::None, op);
    }

    /// Shared values that the scalar unit cannot compute go to where they are used.
    Stmt visit(const LetStmt *op) override {
        if (op->value.type().is_handle() || scalar_unit_computes(op->value)) {
            return IRMutator::visit(op);
        }
        if (loaded_buffers(op->value).empty()) {
            return mutate(substitute(op->name, op->value, op->body));
        }
        if (!only_stores_here(op)) {
            return IRMutator::visit(op);
        }
        return For::make(ctx.unique_name("once"), 0, 0, ForType::Vectorized, Partition::Auto, DeviceAPI::None, op);
    }

    Stmt visit(const IfThenElse *op) override {
        if (loaded_buffers(op->condition).empty()) {
            return IRMutator::visit(op);
        }
        // A branch on data is a mask, if vector instructions can do all that it guards; else it stays scalar.
        if (!only_stores_here(op)) {
            return op;
        }
        return For::make(ctx.unique_name("once"), 0, 0, ForType::Vectorized, Partition::Auto, DeviceAPI::None, op);
    }

private:
    const std::map<std::string, int> &preferred;
    LowerContext &ctx;
    std::set<std::string> registers, unified;
    Scope<Interval> known;  // serial loops around

    bool only_stores_here(const Stmt &s) const {
        if (const Block *op = s.as<Block>()) {
            return only_stores_here(op->first) && only_stores_here(op->rest);
        }
        if (const IfThenElse *op = s.as<IfThenElse>()) {
            return reads_here(op->condition) && only_stores_here(op->then_case) &&
                   (!op->else_case.defined() || only_stores_here(op->else_case));
        }
        if (const LetStmt *op = s.as<LetStmt>()) {
            return reads_here(op->value) && only_stores_here(op->body);
        }
        const Store *op = s.as<Store>();
        return op && (unified.count(op->name) || registers.count(op->name)) && reads_here(op->value) &&
               loaded_buffers(op->index).empty() && op->value.type().bits() <= 32;
    }

    bool reads_here(const Expr &e) const {
        if (reads_data_as_address(e)) {
            return false;
        }
        for (const std::string &name : loaded_buffers(e)) {
            if (!unified.count(name) && !registers.count(name)) {
                return false;
            }
        }
        return true;
    }

    static bool reads_data_as_address(const Expr &e) {
        class Finder : public IRGraphVisitor {
        public:
            bool found = false;

        protected:
            using IRGraphVisitor::visit;
            void visit(const Load *op) override { found = found || !loaded_buffers(op->index).empty(); }
        } finder;
        e.accept(&finder);
        return finder.found;
    }

    int choose_lanes(const For *op, const Stmt &body) {
        auto wanted = preferred.find(op->name);
        ValueTypes types;
        body.accept(&types);
        LiveEstimate live;
        body.accept(&live);
        const int bits = std::max(types.widest, 8);
        const bool pure = types.widest == types.narrowest;
        int lanes = pure ? std::clamp(2048 / bits, 64, 256) : 64;
        std::string reason = pure ? "one register of " + std::to_string(bits) + "-bit elements" :
                                    "widths from " + std::to_string(types.narrowest) + " to " + std::to_string(bits) + " bits";
        if (types.packed_pairs) {
            // A vector of packed pairs has at least 64 bytes.
            lanes = 128;
            reason = "two values per byte";
        }
        auto extent = as_const_int(simplify(op->extent()));
        if (wanted != preferred.end()) {
            int w = wanted->second;
            while (extent && w > 64 && *extent <= w / 2 && !types.packed_pairs) {
                w /= 2;
            }
            const int k = std::max(1, bits * w / 2048);
            if ((w == 64 && types.packed_pairs) ||
                (w != 64 && w != 128 && w != 256)) {
                reason += ", and " + std::to_string(w) + " lanes cannot be had";
            } else if (k * (live.live + live.registers) <= 24) {
                lanes = w;
                reason = "the schedule says so";
            } else {
                reason += ", and " + std::to_string(w) + " lanes would need " +
                          std::to_string(k * (live.live + live.registers)) + " of 32 registers";
            }
        } else if (extent && *extent < lanes && !types.packed_pairs) {
            while (lanes > 64 && *extent <= lanes / 2) {
                lanes /= 2;
            }
        }
        ctx.explain("PTO: " + op->name + " has " + std::to_string(lanes) + " lanes (" + reason + ")");
        return lanes;
    }

    /// A serial loop whose bounds differ between the lanes runs from the least to the greatest, and in each iteration for those
    /// lanes that are inside of their bounds.
    class SameBounds : public IRMutator {
    public:
        SameBounds(const std::string &lane, int lanes) { range.push(lane, Interval(0, lanes - 1)); }

    protected:
        using IRMutator::visit;
        Stmt visit(const For *op) override {
            const Stmt body = mutate(op->body);
            auto find = [&](const Expr &e) {
                const bool fixed = !uses(e) || !loaded_buffers(e).empty();
                return fixed ? Interval(e, e) : bounds_of_expr_in_scope(e, range);
            };
            const Interval min = find(op->min), max = find(op->max);
            if (!min.has_lower_bound() || !max.has_upper_bound() || (min.min.same_as(op->min) && max.max.same_as(op->max))) {
                return op->changed(&For::body, body);
            }
            const Expr i = Variable::make(Int(32), op->name);
            return For::make(op->name, simplify(min.min), simplify(max.max), op->for_type, op->partition_policy, op->device_api,
                             IfThenElse::make(op->min <= i && i <= op->max, body), op->hint);
        }
        Stmt visit(const LetStmt *op) override {
            if (!uses(op->value) || op->value.type() != Int(32) || !loaded_buffers(op->value).empty()) {
                return IRMutator::visit(op);
            }
            ScopedBinding<Interval> bind(range, op->name, bounds_of_expr_in_scope(op->value, range));
            return IRMutator::visit(op);
        }

    private:
        Scope<Interval> range;

        bool uses(const Expr &e) const { return expr_uses_vars(e, range); }
    };

    /// The lanes of one chunk that starts at `start`; `live` of them run if it is defined.
    static Stmt lanes_of(const For *op, const Stmt &body, int lanes, const Expr &start, const Expr &live) {
        const std::string name = op->name + ".lane";
        const Expr lane = Variable::make(Int(32), name);
        Stmt s = SameBounds(name, lanes).mutate(substitute(op->name, simplify(start) + lane, body));
        if (live.defined()) {
            s = IfThenElse::make(lane < live, s);
        }
        return For::make(name, 0, lanes - 1, ForType::Vectorized, Partition::Auto, op->device_api, simplify_exprs(s));
    }

    Stmt chunk(const For *original) {
        Stmt body = InlineIndexLets().mutate(original->body);
        Expr min = simplify(original->min), max = simplify(original->max);
        body = tighten(original->name, body, max);
        const Stmt tight = For::make(original->name, min, max, ForType::Vectorized, original->partition_policy,
                                     original->device_api, body, original->hint);
        const For *op = tight.as<For>();
        const Expr extent = simplify(max - min + 1);
        auto constant = as_const_int(extent);
        if (constant && *constant <= 0) {
            return Evaluate::make(0);
        }
        if (constant && *constant == 1 && !contains_scope_border(body)) {
            return For::make(op->name + ".lane", 0, 0, ForType::Vectorized, Partition::Auto, op->device_api,
                             substitute(op->name, min, body));
        }
        const int lanes = choose_lanes(op, body);
        VectorReductions reductions = find_vector_reductions(op, body, lanes, ctx);
        body = reductions.body;
        std::vector<Stmt> parts;
        const std::string q_name = op->name + ".chunk";
        const Expr q = Variable::make(Int(32), q_name);
        auto loop = [&](const Expr &from, const Expr &to, const Expr &live) {
            const auto trips = as_const_int(simplify(to - from));
            if (trips && *trips < 0) {
                return;
            }
            if (trips && *trips == 0) {
                parts.push_back(lanes_of(op, body, lanes, min + from * lanes, live.defined() ? simplify(substitute(q_name, from, live)) : live));
                return;
            }
            // The hint of the loop that is now cut into chunks goes on to the full ones.
            parts.push_back(For::make(q_name, from, to, ForType::Serial, Partition::Never, op->device_api,
                                      lanes_of(op, body, lanes, min + q * lanes, live)));
        };
        // The range may be empty, and its extent then be negative, as of the pieces that a condition leaves of a row: the first
        // of the masked chunks must not come before 0.
        const Interval size = bounds_of_expr_in_scope(extent, known);
        const bool counts = size.has_lower_bound() && can_prove(size.min >= 0);
        const Expr full = simplify(counts ? extent / lanes : Halide::max(extent / lanes, 0));
        loop(make_zero(Int(32)), simplify(full - 1), Expr());
        if (!is_const_zero(simplify(extent % lanes))) {
            loop(full, simplify((extent + (lanes - 1)) / lanes - 1), simplify(extent - q * lanes));
        }
        return reductions.wrap(Block::make(parts));
    }

    /// `if (x < e) …` as the whole body of a loop over x bounds the loop instead.
    static Stmt tighten(const std::string &var, const Stmt &body, Expr &max) {
        const IfThenElse *branch = body.as<IfThenElse>();
        if (!branch || branch->else_case.defined()) {
            return body;
        }
        std::vector<Expr> pending = {branch->condition}, rest;
        while (!pending.empty()) {
            const Expr c = without_tags(pending.back());
            pending.pop_back();
            if (const And *op = c.as<And>()) {
                pending.push_back(op->b);
                pending.push_back(op->a);
                continue;
            }
            Expr difference;
            if (const LT *op = c.as<LT>()) {
                difference = op->a - op->b;
            } else if (const LE *op = c.as<LE>()) {
                difference = op->a - op->b - 1;
            } else if (const GT *op = c.as<GT>()) {
                difference = op->b - op->a;
            } else if (const GE *op = c.as<GE>()) {
                difference = op->b - op->a - 1;
            }
            const auto d = difference.defined() && difference.type() == Int(32) ? lane_affine(difference, var) : std::nullopt;
            if (d && d->stride == 1) {
                const Expr last = simplify(-1 - d->base);
                max = can_prove(last <= max) ? last : can_prove(max <= last) ? max : simplify(Halide::min(max, last));
            } else {
                rest.push_back(c);
            }
        }
        Expr condition;
        for (const Expr &c : rest) {
            condition = condition.defined() ? condition && c : c;
        }
        const Stmt inner = condition.defined() ? IfThenElse::make(condition, branch->then_case) : branch->then_case;
        return condition.defined() ? inner : tighten(var, inner, max);
    }
};

class AddPadding : public IRMutator {
public:
    explicit AddPadding(const std::map<std::string, int64_t> &padded) : padded(padded) {}

protected:
    using IRMutator::visit;
    Stmt visit(const Allocate *op) override {
        Stmt body = mutate(op->body);
        auto it = padded.find(op->name);
        const int64_t own = op->constant_allocation_size();
        if (it == padded.end() || own == 0 || it->second <= own + op->padding) {
            return op->changed(&Allocate::body, body);
        }
        return op->changed(&Allocate::padding, (int)(it->second - own), &Allocate::body, body);
    }

private:
    const std::map<std::string, int64_t> &padded;
};

class Kernels : public IRMutator {
public:
    Kernels(const std::map<std::string, int> &preferred, LowerContext &ctx) : preferred(preferred), ctx(ctx) {}

protected:
    using IRMutator::visit;
    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUBlock && op->device_api == DeviceAPI::PTO) {
            return op->changed(&For::body, lay_out_lanes(op->body, preferred, ctx));
        }
        return IRMutator::visit(op);
    }

private:
    const std::map<std::string, int> &preferred;
    LowerContext &ctx;
};

}  // namespace

Stmt lay_out_lanes(const Stmt &kernel, const std::map<std::string, int> &preferred, LowerContext &ctx) {
    const Stmt s = LayOut(preferred, ctx).mutate(kernel);
    return AddPadding(pto_padded_elements(s)).mutate(s);
}

Stmt pto_lane_layout(const Stmt &s, LowerContext &ctx) {
    const std::map<std::string, int> none;
    return Kernels(ctx.pto ? ctx.pto->lanes : none, ctx).mutate(s);
}

}  // namespace Internal
}  // namespace Halide
