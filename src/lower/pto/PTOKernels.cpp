#include "lower/pto/PTOKernels.h"

#include <algorithm>
#include <set>

#include "analysis/ExprUsesVar.h"
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

/// The launch grid counts in 16 bits; a block takes as many shares as it must.
constexpr int max_blocks = 65535;

bool has_block_loop(const Stmt &s) {
    bool found = false;
    visit_with(s, [&](auto *self, const For *op) {
        found = found || is_pto_block(op);
        self->visit_base(op);
    });
    return found;
}

/// Whether a statement does anything but check.
bool does_work(const Stmt &s) {
    bool found = false;
    visit_with(
        s, [&](auto *, const Store *) { found = true; },
        [&](auto *self, const Call *op) {
            found = found || op->is_intrinsic({Call::pto_mte_gm_ub, Call::pto_mte_ub_gm});
            self->visit_base(op);
        });
    return found;
}

/// Block loops that are not on the grid run one iteration after another in each block.
class SerializeBlocks : public IRMutator {
    using IRMutator::visit;
    Stmt visit(const For *op) override {
        const Stmt s = IRMutator::visit(op);
        op = s.as<For>();
        return op && (is_pto_block(op) || is_unordered_parallel(op->for_type)) ?
                   op->changed(&For::for_type, ForType::Serial, &For::device_api, DeviceAPI::None) :
                   s;
    }

public:
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

/// Buffers in global memory that a statement loads from and stores to.
struct GlobalAccesses : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    Scope<> local;
    std::set<std::string> loaded, stored;
    void visit(const Load *op) override {
        if (!local.contains(op->name)) {
            loaded.insert(op->name);
        }
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        if (!local.contains(op->name)) {
            stored.insert(op->name);
        }
        IRGraphVisitor::visit(op);
    }
    void visit(const Allocate *op) override {
        ScopedBinding<> b(local, op->name);
        IRGraphVisitor::visit(op);
    }
};

/// Checks inside of what becomes a kernel are made by the host before it: of all iterations at once, if a check depends on loops.
class HoistChecks : public IRMutator {
    using IRMutator::visit;
    std::vector<std::pair<std::string, Expr>> lets;
    Scope<Interval> loops;
    std::vector<std::pair<std::string, Expr>> first_iterations;
    std::vector<Expr> guards;

    Expr expand(Expr e) const {
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i].first)) {
                e = substitute(lets[i].first, lets[i].second, e);
            }
        }
        return e;
    }

    Stmt visit(const LetStmt *op) override {
        lets.emplace_back(op->name, op->value);
        Stmt body = mutate(op->body);
        lets.pop_back();
        return op->with(op->value, body);
    }
    Stmt visit(const For *op) override {
        const Interval min = bounds_of_expr_in_scope(expand(op->min), loops);
        const Interval max = bounds_of_expr_in_scope(expand(op->max), loops);
        ScopedBinding<Interval> bind(loops, op->name, Interval(min.min, max.max));
        first_iterations.emplace_back(op->name, op->min);
        Stmt body = mutate(op->body);
        first_iterations.pop_back();
        return op->changed(&For::body, body);
    }
    Stmt visit(const IfThenElse *op) override {
        guards.push_back(op->condition);
        Stmt then_case = mutate(op->then_case);
        guards.back() = !op->condition;
        Stmt else_case = op->else_case.defined() ? mutate(op->else_case) : Stmt();
        guards.pop_back();
        return op->with(op->condition, then_case, else_case);
    }
    Stmt visit(const AssertStmt *op) override {
        Expr condition = op->condition;
        for (const Expr &g : guards) {
            condition = !g || condition;
        }
        condition = simplify(expand(condition));
        const Interval i = bounds_of_expr_in_scope(condition, loops);
        bool loads = false;
        if (i.has_lower_bound()) {
            visit_with(i.min, [&](auto *, const Load *) { loads = true; });
        }
        if (!i.has_lower_bound() || loads) {
            return op;
        }
        Expr message = expand(op->message);
        for (size_t k = first_iterations.size(); k-- > 0;) {
            message = expand(substitute(first_iterations[k].first, first_iterations[k].second, message));
        }
        checks.push_back(AssertStmt::make(simplify(i.min), message));
        return Evaluate::make(0);
    }

public:
    std::vector<Stmt> checks;
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

class MakeKernels {
    LowerContext &ctx;
    int count = 0;
    Expr branch;   // what must hold for the arm at hand to be run

    std::string next_name() {
        return ctx.pipeline_name + "_k" + std::to_string(count++);
    }

    /// One launch in which each block takes every num-th of `total` shares, numbered by `share`.
    Stmt launch(const std::string &share, const Expr &all, const Stmt &body) {
        // In an arm of a branch: no share at all if the other one is taken.
        const Expr total = branch.defined() ? simplify(select(branch, all, make_zero(Int(32)))) : all;
        const std::string name = next_name();
        const std::string turn = name + ".turn", index = name + ".idx", blocks = name + ".num";
        // At least one block runs; said so, since division by what could be negative is not one instruction.
        const Expr idx = Variable::make(Int(32), index), num = Max::make(Variable::make(Int(32), blocks), 1);
        const Expr t = Variable::make(Int(32), turn);
        Stmt s;
        if (is_const_one(all)) {
            s = LetStmt::make(share, 0, body);
            s = IfThenElse::make(branch.defined() ? idx == 0 && branch : idx == 0, s);
        } else {
            s = LetStmt::make(share, idx + t * Variable::make(Int(32), blocks), body);
            s = For::make(turn, 0, (total - 1 - idx) / num, ForType::Serial, Partition::Never, DeviceAPI::None, s);
            s = LetStmt::make(blocks, Call::make(Int(32), Call::pto_block_num, {}, Call::Intrinsic), s);
        }
        s = LetStmt::make(index, Call::make(Int(32), Call::pto_block_idx, {}, Call::Intrinsic), s);
        const Expr launched = simplify(Max::make(Min::make(total, max_blocks), 1));
        return For::make(name, 0, simplify(launched - 1), ForType::GPUBlock, Partition::Never, DeviceAPI::PTO, s);
    }

    /// A kernel and, before it, its checks.
    template<typename Make>
    static Stmt behind_checks(const Stmt &s, const Make &make) {
        HoistChecks hoist;
        const Stmt work = hoist(s);
        std::vector<Stmt> parts = hoist.checks;
        parts.push_back(make(work));
        return Block::make(parts);
    }

    Stmt single_block_kernel(const Stmt &s) {
        return behind_checks(s, [&](const Stmt &work) {
            return launch(ctx.unique_name("share"), 1, SerializeBlocks()(work));
        });
    }

    Stmt grid_kernel(const Stmt &s) {
        return behind_checks(s, [&](const Stmt &nest) { return grid(nest); });
    }

    /// A nest of block loops, perhaps inside serial ones and between lets.
    Stmt grid(const Stmt &nest) {
        struct Layer {
            const For *loop = nullptr;
            const LetStmt *let = nullptr;
        };
        std::vector<Layer> layers;
        Stmt body = nest;
        size_t last_block = 0;
        while (true) {
            if (const For *loop = body.as<For>()) {
                layers.push_back({loop, nullptr});
                if (is_pto_block(loop)) {
                    last_block = layers.size();
                }
                if (!is_pto_block(loop) && !has_block_loop(loop->body)) {
                    layers.pop_back();
                    break;
                }
                body = loop->body;
            } else if (const LetStmt *let = body.as<LetStmt>()) {
                layers.push_back({nullptr, let});
                body = let->body;
            } else if (const ProducerConsumer *pc = body.as<ProducerConsumer>()) {
                body = pc->body;
            } else {
                break;
            }
        }
        // What is inside the last block loop of the nest is the work of one share.
        for (size_t i = layers.size(); i > last_block; i--) {
            const Layer &l = layers[i - 1];
            body = l.loop ? l.loop->changed(&For::body, body) : LetStmt::make(l.let->name, l.let->value, body);
        }
        layers.resize(last_block);
        check_serial_loops(nest, layers.empty() ? nullptr : first_serial(layers));

        // Serial loops stay loops of each block, around its shares; lets stay where their loops are.
        const std::string share = ctx.unique_name("share");
        Expr total = 1, flat = Variable::make(Int(32), share);
        std::vector<std::pair<std::string, Expr>> indices;
        Stmt s = SerializeBlocks()(body);
        std::vector<const For *> blocks;
        for (const Layer &l : layers) {
            if (l.loop && is_pto_block(l.loop)) {
                blocks.push_back(l.loop);
            }
        }
        auto bound = [&](Expr e, const For *b) {
            for (size_t i = layers.size(); i-- > 0;) {
                const Layer &l = layers[i];
                if (l.let && expr_uses_var(e, l.let->name)) {
                    e = substitute(l.let->name, l.let->value, e);
                }
                user_assert(!l.loop || !expr_uses_var(e, l.loop->name))
                    << "PTO, loop structure: " << loop_in_words(b->name) << " goes to the blocks of a launch, but its bounds "
                    << "depend on " << loop_in_words(l.loop->name) << ", which is inside of that launch.\n  Fix them with bound.\n";
            }
            return e;
        };
        // Innermost first: index = flat / (product of inner extents) mod extent; the outermost needs no mod.
        for (size_t i = blocks.size(); i-- > 0;) {
            const Expr min = bound(blocks[i]->min, blocks[i]);
            const Expr extent = simplify(bound(blocks[i]->max, blocks[i]) - min + 1);
            Expr index = is_const_one(total) ? flat : flat / Max::make(total, 1);
            if (i > 0) {
                index = index % Max::make(extent, 1);
            }
            indices.emplace_back(blocks[i]->name, simplify(index + min));
            total = simplify(total * extent);
        }
        for (size_t i = layers.size(); i-- > 0;) {
            const Layer &l = layers[i];
            if (l.let) {
                s = LetStmt::make(l.let->name, l.let->value, s);
            } else if (!is_pto_block(l.loop)) {
                s = l.loop->changed(&For::body, s);
            }
        }
        for (const auto &[name, value] : indices) {
            s = LetStmt::make(name, value, s);
        }
        return launch(share, total, s);
    }

    template <typename Layers>
    static const For *first_serial(const Layers &layers) {
        for (const auto &l : layers) {
            if (l.loop && !is_pto_block(l.loop)) {
                return l.loop;
            }
        }
        return nullptr;
    }

    /// A serial loop around block loops may be inside of the blocks only if its iterations do not meet in global memory.
    static void check_serial_loops(const Stmt &nest, const For *serial) {
        if (!serial) {
            return;
        }
        GlobalAccesses a;
        nest.accept(&a);
        for (const std::string &name : a.stored) {
            user_assert(!a.loaded.count(name))
                << "PTO, loop structure: " << loop_in_words(serial->name) << " is serial and has block loops inside, and its "
                << "iterations pass values of " << name << " on through global memory, where blocks cannot wait for each other.\n"
                << "  Move the block loops outside of " << var_of_loop(serial->name) << ".\n";
        }
    }

    /// Statements one after another: those without block loops between two that have them become one kernel of one block.
    Stmt block(const Stmt &s) {
        std::vector<Stmt> parts;
        Stmt rest = s;
        while (const Block *b = rest.as<Block>()) {
            parts.push_back(b->first);
            rest = b->rest;
        }
        parts.push_back(rest);
        std::vector<Stmt> result, waiting;
        auto flush = [&]() {
            if (!waiting.empty()) {
                result.push_back(single_block_kernel(Block::make(waiting)));
                waiting.clear();
            }
        };
        for (const Stmt &p : parts) {
            if (has_block_loop(p) || !does_work(p)) {
                flush();
                result.push_back(host(p));
            } else {
                waiting.push_back(p);
            }
        }
        flush();
        return Block::make(result);
    }

public:
    explicit MakeKernels(LowerContext &ctx) : ctx(ctx) {
    }

    Stmt host(const Stmt &s) {
        if (!does_work(s)) {
            return s;
        }
        if (!has_block_loop(s) && !any_blocks) {
            return whole(s);
        }
        if (s.as<Block>()) {
            return block(s);
        }
        if (const LetStmt *op = s.as<LetStmt>()) {
            return op->with(op->value, host(op->body));
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            return op->changed(&ProducerConsumer::body, host(op->body));
        }
        if (const Allocate *op = s.as<Allocate>(); op && has_block_loop(op->body)) {
            return op->changed(&Allocate::body, host(op->body));
        }
        if (!has_block_loop(s)) {
            return single_block_kernel(s);
        }
        if (s.as<For>()) {
            return grid_kernel(s);
        }
        if (const IfThenElse *op = s.as<IfThenElse>(); op && is_index_arithmetic(op->condition)) {
            // What a specialization decides is decided again by each kernel, which does nothing in the arm that is not taken.
            const Expr outer = branch, condition = remove_likelies(op->condition);
            branch = outer.defined() ? outer && condition : condition;
            std::vector<Stmt> arms = {host(op->then_case)};
            if (op->else_case.defined()) {
                branch = outer.defined() ? outer && !condition : !condition;
                arms.push_back(host(op->else_case));
            }
            branch = outer;
            return Block::make(arms);
        }
        if (s.as<IfThenElse>()) {
            user_error << "The block loops of this pipeline are inside of a condition that only the host could decide:\n  "
                       << s.as<IfThenElse>()->condition << "\n  Schedule the block loops alike in all specializations, or "
                       << "leave them out of those.\n";
        }
        user_error << "A block loop of a PTO device is inside of a statement that cannot run around a kernel:\n" << s;
    }

    /// The whole pipeline is one kernel; allocations outside of its loops stay with the host if they are in its memory.
    Stmt whole(const Stmt &s) {
        if (const LetStmt *op = s.as<LetStmt>()) {
            return op->with(op->value, whole(op->body));
        }
        if (const Block *op = s.as<Block>(); op && !does_work(op->first)) {
            return Block::make(op->first, whole(op->rest));
        }
        if (const Allocate *op = s.as<Allocate>(); op && op->memory_type == MemoryType::Heap) {
            return op->changed(&Allocate::body, whole(op->body));
        }
        return single_block_kernel(s);
    }

    bool any_blocks = false;
};

}  // namespace

Stmt pto_kernels(const Stmt &s, LowerContext &ctx) {
    MakeKernels make(ctx);
    make.any_blocks = has_block_loop(s);
    return simplify(make.host(s));
}

}  // namespace Internal
}  // namespace Halide
