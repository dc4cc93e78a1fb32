#include "lower/pto/PTOStage.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOTiles.h"
#include "lower/pto/PTOUtil.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

bool has_block_loops(const Stmt &s) {
    bool found = false;
    visit_with(s, [&](auto *self, const For *op) {
        found = found || is_pto_block(op);
        self->visit_base(op);
    });
    return found;
}

/// Where values live: inside kernels UB, or a register for one element; around kernels the heap.
class PlaceStorage : public IRMutator {
    using IRMutator::visit;
    const bool whole_pipeline;
    int loops = 0, blocks = 0, vectors = 0;
    bool nest_has_blocks = false;   // the outermost loop around
    std::vector<std::pair<std::string, Expr>> lets;

    Stmt visit(const LetStmt *op) override {
        lets.emplace_back(op->name, op->value);
        Stmt s = IRMutator::visit(op);
        lets.pop_back();
        return s;
    }

    /// Outside of all loops, what has no constant size passes through global memory.
    bool belongs_to_host(const Realize *op) const {
        return whole_pipeline && loops == 0 && std::any_of(op->bounds.begin(), op->bounds.end(), [&](const Range &r) {
            return !constant_upper_bound(r.extent, lets, Scope<Interval>::empty_scope()).defined();
        });
    }

    /// Loops without blocks are a kernel of one block.
    bool in_kernel() const {
        return whole_pipeline || blocks > 0 || (loops > 0 && !nest_has_blocks);
    }

    Stmt visit(const For *op) override {
        const bool block = is_pto_block(op), vector = is_vectorized(op->for_type);
        nest_has_blocks = loops == 0 ? has_block_loops(op) : nest_has_blocks;
        loops++;
        blocks += block;
        vectors += vector;
        Stmt s = IRMutator::visit(op);
        loops--;
        blocks -= block;
        vectors -= vector;
        return s;
    }

    Stmt visit(const Realize *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<Realize>();
        MemoryType where = op->memory_type;
        if (!in_kernel()) {
            user_assert(where != MemoryType::UB)
                << "PTO, memory: " << op->name << " is stored in UB, but outside of all block loops. The unified buffer belongs "
                << "to one core while it runs one kernel.\n  Store " << op->name
                << " inside a block loop with store_at or compute_at, or leave its storage to Auto.\n";
            where = MemoryType::Heap;
        } else if (where == MemoryType::Auto && belongs_to_host(op)) {
            where = MemoryType::Heap;
        } else if (where == MemoryType::Auto || where == MemoryType::Stack || where == MemoryType::UB) {
            where = vectors > 0 && has_one_element(op) ? MemoryType::Register : MemoryType::UB;
        } else {
            user_assert(where == MemoryType::Heap || where == MemoryType::Register)
                << "PTO, memory: " << op->name << " is computed in a kernel, which has no memory of the kind " << where << ".\n  Use store_in(MemoryType::UB), or leave it to Auto.\n";
        }
        if (where == MemoryType::Heap) {
            user_assert(!in_kernel() || (whole_pipeline && blocks == 0 && vectors == 0))
                << "PTO, memory: " << op->name << " is stored in global memory (MemoryType::Heap) inside of a kernel, which cannot "
                << "allocate there.\n  Use store_in(MemoryType::UB), or compute it outside of the block loops.\n";
        }
        return where == op->memory_type ? s : op->changed(&Realize::memory_type, where);
    }

    static bool has_one_element(const Realize *op) {
        return std::all_of(op->bounds.begin(), op->bounds.end(),
                           [](const Range &r) { return is_const_one(simplify(r.extent)); });
    }

public:
    explicit PlaceStorage(bool whole_pipeline) : whole_pipeline(whole_pipeline) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// A Func in UB that is nothing but a copy of something in global memory: how to say the value there instead.
struct CopyOf {
    std::vector<std::string> vars;
    Expr source;
};

/// Loads of a copied Func at a place that is not aligned for vectors go to its source instead: the move into a tile of
/// their own aligns them.
class RedirectUnaligned : public IRMutator {
    using IRMutator::visit;
    const std::map<std::string, CopyOf> &copies;
    std::map<std::string, Region> regions;
    std::string lane;
    Expr lane_min;
    std::vector<std::pair<std::string, Expr>> lets;

    Stmt visit(const Realize *op) override {
        if (copies.count(op->name)) {
            regions[op->name] = op->bounds;
        }
        return IRMutator::visit(op);
    }
    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Vectorized) {
            return IRMutator::visit(op);
        }
        ScopedValue<std::string> name(lane, op->name);
        ScopedValue<Expr> min(lane_min, op->min);
        return IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        Expr value = mutate(op->value);
        lets.emplace_back(op->name, op->value);
        Stmt body = mutate(op->body);
        lets.pop_back();
        return op->with(value, body);
    }
    Expr expand(Expr e) const {
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i].first)) {
                e = substitute(lets[i].first, lets[i].second, e);
            }
        }
        return e;
    }

    Expr visit(const Call *op) override {
        const Expr e = IRMutator::visit(op);
        op = e.as<Call>();
        const auto copy = op && op->call_type == Call::Halide ? copies.find(op->name) : copies.end();
        if (lane.empty() || copy == copies.end() || op->args.empty()) {
            return e;
        }
        const auto region = regions.find(op->name);
        if (region == regions.end()) {
            return e;
        }
        const Expr index = expand(op->args[0]);
        if (!expr_uses_var(index, lane)) {
            return e;
        }
        const Expr next = substitute(lane, Variable::make(Int(32), lane) + 1, index);
        if (!is_const_one(simplify(next - index))) {
            return e;
        }
        const Expr at = simplify(expand(substitute(lane, lane_min, index) - expand(region->second[0].min)));
        if (is_aligned(at, op->type)) {
            return e;
        }
        std::map<std::string, Expr> values;
        for (size_t i = 0; i < copy->second.vars.size(); i++) {
            values[copy->second.vars[i]] = op->args[i];
        }
        return substitute(values, copy->second.source);
    }

public:
    explicit RedirectUnaligned(const std::map<std::string, CopyOf> &copies) : copies(copies) {
    }
};

/// Funcs in UB of which the only store copies a value in global memory.
class FindCopiedFuncs : public IRVisitor {
    using IRVisitor::visit;
    const LowerContext &ctx;
    std::set<std::string> local;
    std::map<std::string, size_t> depth;        // of a Func's Realize among the names bound so far
    std::vector<std::string> names;             // bound by loops and lets, outermost first
    std::set<std::string> stored;

    void visit(const Realize *op) override {
        if (op->memory_type != MemoryType::UB) {
            IRVisitor::visit(op);
            return;
        }
        local.insert(op->name);
        depth[op->name] = names.size();
        IRVisitor::visit(op);
        local.erase(op->name);
    }
    void visit(const For *op) override {
        names.push_back(op->name);
        op->body.accept(this);
        names.pop_back();
    }
    void visit(const LetStmt *op) override {
        names.push_back(op->name);
        op->body.accept(this);
        names.pop_back();
    }
    void visit(const Provide *op) override {
        if (!local.count(op->name)) {
            return;
        }
        if (!stored.insert(op->name).second) {
            found.erase(op->name);
            return;
        }
        const Call *source = op->values.size() == 1 ? op->values[0].as<Call>() : nullptr;
        const auto f = ctx.env.find(op->name);
        const bool turns = f != ctx.env.end() && f->second.schedule().ring_buffer().defined();
        if (!source || turns || (source->call_type != Call::Image && source->call_type != Call::Halide) ||
            local.count(source->name) || !is_const_one(op->predicate)) {
            return;
        }
        CopyOf copy;
        copy.source = source;
        for (const Expr &e : op->args) {
            const Variable *v = e.as<Variable>();
            if (!v) {
                return;
            }
            copy.vars.push_back(v->name);
        }
        for (const Expr &e : source->args) {
            if (!is_index_arithmetic(e)) {
                return;
            }
            for (size_t i = depth[op->name]; i < names.size(); i++) {
                const bool own = std::find(copy.vars.begin(), copy.vars.end(), names[i]) != copy.vars.end();
                if (!own && expr_uses_var(e, names[i])) {
                    return;
                }
            }
        }
        found[op->name] = copy;
    }

public:
    std::map<std::string, CopyOf> found;
    explicit FindCopiedFuncs(const LowerContext &ctx) : ctx(ctx) {
    }
};

/// Realizations that nobody reads any more, with what fills them.
class DropUnread : public IRMutator {
    using IRMutator::visit;
    std::set<std::string> unread;

    Stmt visit(const Realize *op) override {
        bool read = !candidates.count(op->name);
        if (!read) {
            visit_with(op->body, [&](auto *self, const Call *call) {
                read = read || (call->call_type == Call::Halide && call->name == op->name);
                self->visit_base(call);
            });
        }
        if (read) {
            return IRMutator::visit(op);
        }
        unread.insert(op->name);
        Stmt body = mutate(op->body);
        unread.erase(op->name);
        return body;
    }
    Stmt visit(const Provide *op) override {
        return unread.count(op->name) ? Evaluate::make(0) : Stmt(op);
    }

public:
    const std::map<std::string, CopyOf> &candidates;
    explicit DropUnread(const std::map<std::string, CopyOf> &candidates) : candidates(candidates) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// Finds the outermost vectorized loops of kernels and gives them their tiles.
class StageLoops : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    TileScope scope;

    Stmt visit(const Realize *op) override {
        const bool local = op->memory_type == MemoryType::UB || op->memory_type == MemoryType::Register;
        if (local) {
            scope.local.push(op->name);
        }
        Stmt s = IRMutator::visit(op);
        if (local) {
            scope.local.pop(op->name);
        }
        return op->memory_type == MemoryType::UB ? with_constant_size(s.as<Realize>()) : s;
    }
    /// bound-allocations reports what has no bound.
    Stmt with_constant_size(const Realize *op) const {
        Region region = op->bounds;
        for (Range &r : region) {
            const Expr n = is_const(r.extent) ? r.extent : constant_upper_bound(r.extent, scope.lets, scope.bounds);
            r.extent = n.defined() ? n : r.extent;
        }
        return op->changed(&Realize::bounds, region);
    }
    Stmt visit(const LetStmt *op) override {
        const Interval i = op->value.type() == Int(32) ? constant_bounds(op->value, op->value) : Interval();
        ScopedBinding<Interval> bind(scope.bounds, op->name, i);
        scope.lets.emplace_back(op->name, op->value);
        Stmt body = mutate(op->body);
        scope.lets.pop_back();
        return op->with(op->value, body);
    }
    Interval constant_bounds(const Expr &low, const Expr &high) {
        Interval i;
        const Expr min = find_constant_bound(low, Direction::Lower, scope.bounds);
        const Expr max = find_constant_bound(high, Direction::Upper, scope.bounds);
        i.min = min.defined() ? min : i.min;
        i.max = max.defined() ? max : i.max;
        return i;
    }
    Stmt visit(const For *op) override {
        user_assert(op->for_type != ForType::VectorizedSWAR)
            << "PTO, lanes: " << loop_in_words(op->name) << " packs lanes into words (VectorizeIn::SWAR), but a PTO device has "
            << "vectors of its own.\n  Leave VectorizeIn::SWAR away.\n";
        if (op->for_type == ForType::Vectorized) {
            return stage_vector_loop(op, scope, ctx);
        }
        ScopedBinding<Interval> bind(scope.bounds, op->name, constant_bounds(op->min, op->max));
        return IRMutator::visit(op);
    }

    /// What the scalar unit has no operation for is computed by one lane of a vector.
    Stmt visit(const Provide *op) override {
        bool global = !scope.local.contains(op->name), known_places = true;
        const auto check = [&](const std::string &name, const std::vector<Expr> &args) {
            const bool here = scope.local.contains(name);
            global = global || !here;
            known_places = known_places && (here || std::all_of(args.begin(), args.end(), is_index_arithmetic));
        };
        check(op->name, op->args);
        const bool vector = op->values.size() == 1 && !scalar_unit_computes(op->values[0]);
        if (vector) {
            visit_with(op->values[0], [&](auto *self, const Call *call) {
                if (call->call_type == Call::Halide || call->call_type == Call::Image) {
                    check(call->name, call->args);
                }
                self->visit_base(call);
            });
        }
        if (!vector || !global || !known_places) {
            return op;
        }
        const Stmt once = For::make(ctx.unique_name(op->name + ".once"), 0, 0, ForType::Vectorized, Partition::Never,
                                    DeviceAPI::None, op);
        return stage_vector_loop(once.as<For>(), scope, ctx);
    }

public:
    explicit StageLoops(LowerContext &ctx) : ctx(ctx) {
    }
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

void refuse_embedded_buffers(const Stmt &s, const LowerContext &ctx) {
    visit_with(s, [&](auto *self, const Call *op) {
        user_assert(op->call_type != Call::Image || !op->image.defined())
            << "PTO, memory: " << ctx.pipeline_name << " reads the Buffer " << op->name
            << ", which is part of the program, but a kernel gets its data as arguments.\n  Make it an ImageParam.\n";
        self->visit_base(op);
    });
}

}  // namespace

Stmt pto_stage(const Stmt &s, LowerContext &ctx) {
    refuse_embedded_buffers(s, ctx);
    const bool whole_pipeline = !has_block_loops(s);
    Stmt result = PlaceStorage(whole_pipeline)(s);
    FindCopiedFuncs find(ctx);
    result.accept(&find);
    const std::map<std::string, CopyOf> &copies = find.found;
    if (!copies.empty()) {
        result = RedirectUnaligned(copies)(result);
        result = DropUnread(copies)(result);
    }
    return simplify(StageLoops(ctx)(result));
}

}  // namespace Internal
}  // namespace Halide
