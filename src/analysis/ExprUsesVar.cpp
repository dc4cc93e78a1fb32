#include "analysis/ExprUsesVar.h"

#include "ir/IR.h"
#include "ir/IRVisitor.h"

#include <vector>

namespace Halide {
namespace Internal {

namespace {

class UsesAny : public IRGraphVisitor {
    const std::set<std::string> &names;
    const Scope<Expr> &values;
    std::set<std::string> followed;

    using IRGraphVisitor::include;
    using IRGraphVisitor::visit;

    // Once found, the rest is not looked at.
    void include(const Expr &e) override {
        if (!found && e.defined()) {
            IRGraphVisitor::include(e);
        }
    }
    void include(const Stmt &s) override {
        if (!found && s.defined()) {
            IRGraphVisitor::include(s);
        }
    }

    void use(const std::string &name) {
        if (names.count(name)) {
            found = true;
        } else if (const Expr *value = values.find(name)) {
            // Each name is followed once, which also ends cycles.
            if (followed.insert(name).second) {
                include(*value);
            }
        }
    }

    // A name bound here hides an asked name in the body: the body is asked for the others.
    template<typename Body>
    void in_body_of(const std::string &name, const Body &body) {
        if (!names.count(name)) {
            include(body);
            return;
        }
        std::set<std::string> others = names;
        others.erase(name);
        found = found || uses_any_var(body, others, values);
    }

    void visit(const Variable *op) override {
        use(op->name);
    }
    void visit(const Load *op) override {
        use(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        use(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        use(op->name);
        IRGraphVisitor::visit(op);
    }
    void visit(const Let *op) override {
        // Long chains of lets are walked, not recursed into.
        for (const Let *let = op; let && !found; let = let->body.as<Let>()) {
            include(let->value);
            if (names.count(let->name) || !let->body.as<Let>()) {
                in_body_of(let->name, let->body);
                return;
            }
        }
    }
    void visit(const LetStmt *op) override {
        for (const LetStmt *let = op; let && !found; let = let->body.as<LetStmt>()) {
            include(let->value);
            if (names.count(let->name) || !let->body.as<LetStmt>()) {
                in_body_of(let->name, let->body);
                return;
            }
        }
    }
    void visit(const Block *op) override {
        for (const Block *b = op; b && !found; b = b->rest.as<Block>()) {
            include(b->first);
            if (!b->rest.as<Block>()) {
                include(b->rest);
            }
        }
    }
    void visit(const For *op) override {
        include(op->min);
        include(op->max);
        in_body_of(op->name, op->body);
    }

public:
    bool found = false;

    UsesAny(const std::set<std::string> &names, const Scope<Expr> &values)
        : names(names), values(values) {
    }

    template<typename T>
    bool in(const T &e) {
        include(e);
        return found;
    }
};

}  // namespace

bool uses_any_var(const Expr &e, const std::set<std::string> &names, const Scope<Expr> &values) {
    return !names.empty() && e.defined() && UsesAny(names, values).in(e);
}

bool uses_any_var(const Stmt &s, const std::set<std::string> &names, const Scope<Expr> &values) {
    return !names.empty() && s.defined() && UsesAny(names, values).in(s);
}

}  // namespace Internal
}  // namespace Halide
