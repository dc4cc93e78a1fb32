#include "ir/Substitute.h"

#include <utility>

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/Scope.h"

namespace Halide {
namespace Internal {

namespace {

/// Replaces free variables. `lookup(name)` gives the replacement or null.
template<typename Lookup>
class SubstituteVariables : public IRMutator {
    Lookup lookup;
    /// Names bound at this place, which hide what would be replaced.
    Scope<> hidden;

    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        const Expr *replacement = lookup(op->name);
        return replacement && !hidden.contains(op->name) ? *replacement : Expr(op);
    }

    /// Lets come in long chains: walked by iteration.
    template<typename T, typename Body>
    Body visit_lets(const T *op) {
        struct Frame {
            const T *op;
            Expr value;
            bool hides;
        };
        std::vector<Frame> frames;
        Body body;
        bool changed = false;
        for (const T *let = op; let; let = body.template as<T>()) {
            Expr value = mutate(let->value);
            changed = changed || !value.same_as(let->value);
            const bool hides = lookup(let->name) != nullptr;
            if (hides) {
                hidden.push(let->name);
            }
            frames.push_back({let, std::move(value), hides});
            body = let->body;
        }
        const Body innermost = body;
        body = mutate(body);
        changed = changed || !body.same_as(innermost);
        for (auto f = frames.rbegin(); f != frames.rend(); ++f) {
            if (f->hides) {
                hidden.pop(f->op->name);
            }
            // Parts of the chain that did not change are kept.
            body = body.same_as(f->op->body) && f->value.same_as(f->op->value) ? Body(f->op) :
                                                                                T::make(f->op->name, f->value, body);
        }
        return changed ? body : Body(op);
    }

    Expr visit(const Let *op) override {
        return visit_lets<Let, Expr>(op);
    }
    Stmt visit(const LetStmt *op) override {
        return visit_lets<LetStmt, Stmt>(op);
    }

    Stmt visit(const For *op) override {
        if (!lookup(op->name)) {
            return IRMutator::visit(op);
        }
        const Expr min = mutate(op->min), max = mutate(op->max);
        hidden.push(op->name);
        const Stmt body = mutate(op->body);
        hidden.pop(op->name);
        return op->with(min, max, body);
    }

public:
    explicit SubstituteVariables(Lookup lookup)
        : lookup(std::move(lookup)) {
    }
};

template<typename IR>
IR substitute_one(const std::string &name, const Expr &replacement, const IR &ir) {
    const auto lookup = [&](const std::string &n) { return n == name ? &replacement : nullptr; };
    return SubstituteVariables<decltype(lookup)>(lookup).mutate(ir);
}

template<typename IR>
IR substitute_many(const std::map<std::string, Expr> &replacements, const IR &ir) {
    if (replacements.empty()) {
        return ir;
    }
    const auto lookup = [&](const std::string &n) {
        const auto it = replacements.find(n);
        return it == replacements.end() ? nullptr : &it->second;
    };
    return SubstituteVariables<decltype(lookup)>(lookup).mutate(ir);
}

/// Replaces whole subexpressions. Base: IRMutator, or IRGraphMutator with an equality that knows about sharing.
template<typename Base, bool (*same)(const Expr &, const Expr &)>
class SubstituteExpr : public Base {
    const Expr &find;
    const Expr &replacement;

public:
    SubstituteExpr(const Expr &find, const Expr &replacement)
        : find(find), replacement(replacement) {
    }

    using Base::mutate;
    Expr mutate(const Expr &e) override {
        return e.defined() && same(e, find) ? replacement : Base::mutate(e);
    }
};

using SubstituteTree = SubstituteExpr<IRMutator, equal>;
using SubstituteGraph = SubstituteExpr<IRGraphMutator, graph_equal>;

class SubstituteVariableGraph : public IRGraphMutator {
    const std::string &name;
    const Expr &replacement;

    using IRGraphMutator::visit;
    Expr visit(const Variable *op) override {
        return op->name == name ? replacement : Expr(op);
    }

public:
    SubstituteVariableGraph(const std::string &name, const Expr &replacement)
        : name(name), replacement(replacement) {
    }
};

class SubstituteLets : public IRGraphMutator {
    Scope<Expr> values;

    using IRGraphMutator::visit;

    Expr visit(const Variable *op) override {
        const Expr *value = values.find(op->name);
        return value ? *value : Expr(op);
    }

    Expr visit(const Let *op) override {
        ScopedBinding<Expr> bind(values, op->name, mutate(op->value));
        // A node may mean something else under another binding: remembered results hold in one scope only.
        std::map<Expr, Expr, ExprCompare> remembered;
        std::swap(remembered, expr_replacements);
        Expr body = mutate(op->body);
        std::swap(remembered, expr_replacements);
        return body;
    }
};

}  // namespace

Expr substitute(const std::string &name, const Expr &replacement, const Expr &expr) {
    return substitute_one(name, replacement, expr);
}
Stmt substitute(const std::string &name, const Expr &replacement, const Stmt &stmt) {
    return substitute_one(name, replacement, stmt);
}
Expr substitute(const std::map<std::string, Expr> &replacements, const Expr &expr) {
    return substitute_many(replacements, expr);
}
Stmt substitute(const std::map<std::string, Expr> &replacements, const Stmt &stmt) {
    return substitute_many(replacements, stmt);
}
Expr substitute(const Expr &find, const Expr &replacement, const Expr &expr) {
    return SubstituteTree(find, replacement).mutate(expr);
}
Stmt substitute(const Expr &find, const Expr &replacement, const Stmt &stmt) {
    return SubstituteTree(find, replacement).mutate(stmt);
}
Expr graph_substitute(const std::string &name, const Expr &replacement, const Expr &expr) {
    return SubstituteVariableGraph(name, replacement).mutate(expr);
}
Stmt graph_substitute(const std::string &name, const Expr &replacement, const Stmt &stmt) {
    return SubstituteVariableGraph(name, replacement).mutate(stmt);
}
Expr graph_substitute(const Expr &find, const Expr &replacement, const Expr &expr) {
    return SubstituteGraph(find, replacement).mutate(expr);
}
Stmt graph_substitute(const Expr &find, const Expr &replacement, const Stmt &stmt) {
    return SubstituteGraph(find, replacement).mutate(stmt);
}
Expr substitute_in_all_lets(const Expr &expr) {
    return SubstituteLets().mutate(expr);
}
Stmt substitute_in_all_lets(const Stmt &stmt) {
    return SubstituteLets().mutate(stmt);
}

}  // namespace Internal
}  // namespace Halide
