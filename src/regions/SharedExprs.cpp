// Names for subexpressions of ends: bounds built from them stay linear in the size of the graph.

#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/ExprBounds.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

/// Small enough that repeating it costs nothing, and lets simplification see through it.
bool is_cheap(const Expr &e) {
    if (is_const(e) || e.as<Variable>()) {
        return true;
    }
    return has_at_most_nodes(e, 12);
}

/// Names of the variables in an expression, those bound inside included.
class CollectNames : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Let *op) override {
        names.insert(op->name);
        IRGraphVisitor::visit(op);
    }

public:
    std::set<std::string> names;
};

}  // namespace

Expr SharedExprs::share(const Expr &e) {
    if (is_cheap(e) || e.same_as(Interval::pos_inf()) || e.same_as(Interval::neg_inf())) {
        return e;
    }
    const std::string name = "@" + std::to_string(bindings.size());
    bindings.emplace_back(name, e);
    return Variable::make(e.type(), name);
}

Interval SharedExprs::share(const Interval &i) {
    if (i.is_single_point()) {
        return Interval::single_point(share(i.min));
    }
    return Interval(share(i.min), share(i.max));
}

Expr SharedExprs::close(const Expr &e) const {
    if (bindings.empty() || e.same_as(Interval::pos_inf()) || e.same_as(Interval::neg_inf())) {
        return e;
    }
    CollectNames used;
    e.accept(&used);
    std::vector<size_t> needed;
    for (size_t i = bindings.size(); i-- > 0;) {
        if (used.names.count(bindings[i].first)) {
            needed.push_back(i);
            bindings[i].second.accept(&used);
        }
    }
    if (needed.empty()) {
        return e;
    }
    // In the order of their definition. What became small, or is used once, is put in its place; the others get names that are
    // not used inside, so that no Let hides what an end refers to.
    std::map<std::string, int> uses;
    auto count = [&](const Expr &x) {
        visit_with(x, [&](auto *, const Variable *op) { uses[op->name]++; });
    };
    count(e);
    for (size_t i : needed) {
        count(bindings[i].second);
    }
    std::map<std::string, Expr> meaning;
    std::vector<std::pair<std::string, Expr>> lets;
    int counter = 0;
    for (auto it = needed.rbegin(); it != needed.rend(); ++it) {
        const std::string &inner_name = bindings[*it].first;
        const Expr value = simplify(substitute(meaning, bindings[*it].second));
        if (uses[inner_name] <= 1 || is_cheap(value)) {
            meaning[inner_name] = value;
            continue;
        }
        std::string name;
        do {
            name = "b" + std::to_string(counter++);
        } while (used.names.count(name));
        lets.emplace_back(name, value);
        meaning[inner_name] = Variable::make(value.type(), name);
    }
    Expr result = substitute(meaning, e);
    for (size_t i = lets.size(); i-- > 0;) {
        result = Let::make(lets[i].first, lets[i].second, result);
    }
    return result;
}

Expr SharedExprs::expand(const Expr &e) const {
    constexpr int small = 40;
    Expr result = e;
    while (!bindings.empty() && has_at_most_nodes(result, small)) {
        std::map<std::string, Expr> meaning;
        visit_with(result, [&](auto *, const Variable *op) {
            if (op->name[0] == '@') {
                meaning[op->name] = bindings[std::stoul(op->name.substr(1))].second;
            }
        });
        if (meaning.empty()) {
            return simplify(result);
        }
        result = substitute(meaning, result);
    }
    return e;
}

Interval SharedExprs::expand(const Interval &i) const {
    if (i.is_single_point()) {
        return Interval::single_point(expand(i.min));
    }
    return Interval(i.has_lower_bound() ? expand(i.min) : i.min, i.has_upper_bound() ? expand(i.max) : i.max);
}

Interval SharedExprs::close(const Interval &i) const {
    if (i.is_single_point()) {
        return Interval::single_point(close(i.min));
    }
    return Interval(close(i.min), close(i.max));
}

}  // namespace Internal
}  // namespace Halide
