// Drops lets whose names are not used: bodies before values, so that one pass finds chains of dead lets.

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "simplify/Simplifier.h"

#include <unordered_map>
#include <unordered_set>

namespace Halide {
namespace Internal {

namespace {

class DropDeadLets : public IRMutator {
    std::unordered_set<std::string> used;

    // Shared expressions are looked at once, until a name that they may use is taken out of `used`.
    struct Seen {
        Expr keep, result;
        uint32_t epoch;
    };
    std::unordered_map<const BaseExprNode *, Seen> seen;
    uint32_t epoch = 0;

    using IRMutator::visit;

public:
    using IRMutator::mutate;

    Expr mutate(const Expr &e) override {
        if (!e.defined()) {
            return e;
        }
        if (const Variable *v = e.as<Variable>()) {
            used.insert(v->name);
            return e;
        }
        const bool shared = e.get()->ref_count.value() > 1;
        if (shared) {
            auto it = seen.find(e.get());
            if (it != seen.end() && it->second.epoch == epoch) {
                return it->second.result;
            }
        }
        Expr result = IRMutator::mutate(e);
        if (shared) {
            seen[e.get()] = {e, result, epoch};
        }
        return result;
    }

private:
    bool take_out(const std::string &name) {
        const bool was_used = used.erase(name) > 0;
        epoch += was_used ? 1 : 0;
        return was_used;
    }

    template<typename LetNode, typename Body>
    Body drop(const Body &let) {
        struct Frame {
            const LetNode *op;
            bool used_outside;
        };
        std::vector<Frame> frames;
        Body body = let;
        while (const LetNode *op = body.template as<LetNode>()) {
            frames.push_back({op, take_out(op->name)});
            body = op->body;
        }
        Body result = mutate(body);
        while (!frames.empty()) {
            const Frame f = frames.back();
            frames.pop_back();
            const bool needed = take_out(f.op->name) || !is_pure(f.op->value);
            if (needed) {
                const Expr value = mutate(f.op->value);
                result = f.op->with(value, result);
            }
            if (f.used_outside) {
                used.insert(f.op->name);
            }
        }
        return result;
    }

    Expr visit(const Let *op) override {
        return drop<Let, Expr>(op);
    }
    Stmt visit(const LetStmt *op) override {
        return drop<LetStmt, Stmt>(op);
    }

    Stmt visit(const For *op) override {
        const bool used_outside = take_out(op->name);
        const Stmt body = mutate(op->body);
        take_out(op->name);
        if (used_outside) {
            used.insert(op->name);
        }
        const Expr min = mutate(op->min), max = mutate(op->max);
        return op->with(min, max, body);
    }

    Stmt visit(const Block *op) override {
        std::vector<Stmt> stmts;
        bool changed = false;
        Stmt rest = op;
        while (const Block *b = rest.as<Block>()) {
            stmts.push_back(mutate(b->first));
            changed = changed || !stmts.back().same_as(b->first);
            rest = b->rest;
        }
        stmts.push_back(mutate(rest));
        changed = changed || !stmts.back().same_as(rest);
        return changed ? Block::make(stmts) : Stmt(op);
    }

    // Names of buffers.
    Expr visit(const Load *op) override {
        used.insert(op->name);
        return IRMutator::visit(op);
    }
    Expr visit(const Call *op) override {
        if (!op->is_intrinsic()) {
            used.insert(op->name);
        }
        return IRMutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        used.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const Free *op) override {
        used.insert(op->name);
        return op;
    }
    Stmt visit(const Provide *op) override {
        used.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const Prefetch *op) override {
        used.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        used.insert(op->mutex_name);
        return IRMutator::visit(op);
    }
};

}  // namespace

Expr remove_dead_lets(const Expr &e) {
    return DropDeadLets().mutate(e);
}

Stmt remove_dead_lets(const Stmt &s) {
    return DropDeadLets().mutate(s);
}

}  // namespace Internal
}  // namespace Halide
