#include "lower/storage/EarlyFree.h"

#include "ir/IRMutator.h"
#include "ir/IRVisitor.h"
#include "support/Util.h"

#include <algorithm>
#include <set>
#include <vector>

namespace Halide {
namespace Internal {

namespace {

/// The allocations that are in use behind a point of the program, or may be.
using Open = std::set<std::string>;

class UsedAllocations : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    const Open &open;

    void use(const std::string &name) {
        if (open.count(name)) {
            used.insert(name);
        }
    }
    void visit(const Load *op) override {
        use(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        use(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        use(op->name);
        if (ends_with(op->name, ".buffer")) {
            use(op->name.substr(0, op->name.size() - 7));
        }
    }

public:
    Open used;
    explicit UsedAllocations(const Open &open) : open(open) {
    }
};

/// Goes through a program backwards: the first use that is met of an allocation is its last.
class InsertFrees {
    /// Allocations around this point of the straight-line code that are not freed yet, by name, and in the order in which
    /// they were made.
    Open open;
    std::vector<std::string> order;

    /// Frees, innermost first, what a piece of the program uses.
    template<typename IR>
    std::vector<Stmt> frees_behind(const IR &ir) {
        std::vector<Stmt> frees;
        if (open.empty()) {
            return frees;
        }
        UsedAllocations uses(open);
        ir.accept(&uses);
        if (uses.used.empty()) {
            return frees;
        }
        for (size_t i = order.size(); i-- > 0;) {
            if (uses.used.count(order[i])) {
                frees.push_back(Free::make(order[i]));
                open.erase(order[i]);
                order.erase(order.begin() + i);
            }
        }
        return frees;
    }

    static Stmt with_frees(const std::vector<Stmt> &frees, const Stmt &after) {
        return frees.empty() ? after : Block::make(Block::make(frees), after);
    }

    Stmt allocate(const Allocate *op) {
        open.insert(op->name);
        order.push_back(op->name);
        Stmt body = straight(op->body);
        if (open.erase(op->name)) {
            order.erase(std::find(order.begin(), order.end(), op->name));
            body = Block::make(body, Free::make(op->name));
        }
        // What its size is computed from is free when it is there.
        std::vector<Stmt> frees;
        std::vector<Expr> exprs = op->extents;
        exprs.push_back(op->condition);
        if (op->new_expr.defined()) {
            exprs.push_back(op->new_expr);
        }
        for (const Expr &e : exprs) {
            const std::vector<Stmt> more = frees_behind(e);
            frees.insert(frees.end(), more.begin(), more.end());
        }
        return op->changed(&Allocate::body, with_frees(frees, body));
    }

    Stmt block(const Block *op) {
        std::vector<Stmt> stmts;
        Stmt rest = op;
        while (const Block *b = rest.as<Block>()) {
            stmts.push_back(b->first);
            rest = b->rest;
        }
        Stmt result = straight(rest);
        while (!stmts.empty()) {
            result = Block::make(straight(stmts.back()), result);
            stmts.pop_back();
        }
        return result;
    }

    /// Statements of which the parts run once, one behind the other; all others are one step.
    Stmt straight(const Stmt &s) {
        if (const Block *b = s.as<Block>()) {
            return block(b);
        }
        if (const ProducerConsumer *pc = s.as<ProducerConsumer>()) {
            return pc->with(straight(pc->body));
        }
        if (const Allocate *a = s.as<Allocate>()) {
            return allocate(a);
        }
        if (const LetStmt *let = s.as<LetStmt>()) {
            const Stmt body = straight(let->body);
            return let->with(let->value, with_frees(frees_behind(let->value), body));
        }
        const std::vector<Stmt> frees = frees_behind(s);
        const Stmt step = inside(s);
        return frees.empty() ? step : Block::make(step, Block::make(frees));
    }

    /// Allocations inside a step are its own.
    static Stmt inside(const Stmt &s) {
        class Inside : public IRMutator {
            bool at_root = true;

        public:
            using IRMutator::mutate;
            Expr mutate(const Expr &e) override {
                return e;
            }
            Stmt mutate(const Stmt &s) override {
                if (at_root) {
                    at_root = false;
                    return IRMutator::mutate(s);
                }
                return s.defined() ? InsertFrees().straight(s) : s;
            }
        };
        return Inside().mutate(s);
    }

public:
    Stmt run(const Stmt &s) {
        return straight(s);
    }
};

}  // namespace

Stmt early_free(const Stmt &s, LowerContext &ctx) {
    return InsertFrees().run(s);
}

}  // namespace Internal
}  // namespace Halide
