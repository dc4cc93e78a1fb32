#include "api/InlineReductions.h"

#include <map>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"

namespace Halide {

using namespace Internal;

namespace {

/// What an inline reduction is made of: its domain, its free variables under the names that they have inside it, and
/// what they stand for outside.
class Reduction : public IRGraphMutator {
    using IRGraphMutator::visit;

    bool domain_given;
    const char *function;
    Scope<> lets;
    std::map<std::string, Expr> free;

    Expr add_free(const Variable *op, const std::string &name) {
        auto it = free.find(op->name);
        if (it == free.end()) {
            it = free.emplace(op->name, Variable::make(op->type, name)).first;
            free_vars.emplace_back(name);
            call_args.emplace_back(op);
        }
        return it->second;
    }

    Expr visit(const Let *op) override {
        Expr v = mutate(op->value);
        ScopedBinding<> bind(lets, op->name);
        Expr body = mutate(op->body);
        return v.same_as(op->value) && body.same_as(op->body) ? Expr(op) : Let::make(op->name, v, body);
    }

    Expr visit(const Variable *op) override {
        if (op->param.defined() || op->image.defined() || lets.contains(op->name)) {
            return op;
        }
        if (!op->reduction_domain.defined()) {
            return add_free(op, op->name);
        }
        if (!domain.defined()) {
            domain = RDom(op->reduction_domain);
        }
        if (op->reduction_domain.same_as(domain.domain())) {
            return op;
        }
        user_assert(domain_given) << "Inline reduction \"" << function
                                  << "\" must contain variables of one RDom only, but its expression uses " << op->name
                                  << " and " << domain[0].name() << ".\n"
                                  << "  Pass the RDom to reduce over as the first argument.\n";
        // A variable of an outer reduction does not vary in here: it becomes an ordinary argument.
        auto it = free.find(op->name);
        return it != free.end() ? it->second : add_free(op, unique_name('v'));
    }

public:
    RDom domain;
    Expr value;
    std::vector<Var> free_vars;
    std::vector<Expr> call_args;

    Reduction(const RDom &r, const Expr &e, const char *function, const Func &f)
        : domain_given(r.defined()), function(function), domain(r) {
        user_assert(e.defined()) << "Inline reduction \"" << function << "\": the expression is undefined.\n";
        user_assert(!f.defined()) << "Inline reduction \"" << function << "\": the Func passed to hold it, " << f.name()
                                  << ", must not have a definition yet.\n";
        value = mutate(e);
        user_assert(domain.defined() && domain.dimensions() > 0)
            << "Inline reduction \"" << function << "\" must contain a reduction variable, but " << e
            << " has none.\n  Use the variables of an RDom in it, or pass an RDom as the first argument.\n";
        // Pure Vars may also occur in the predicate only.
        if (domain.domain().predicate().defined()) {
            mutate(domain.domain().predicate());
        }
    }
};

enum class Kind { Sum, SaturatingSum, Product, Maximum, Minimum };

Expr reduce(Kind kind, const char *name, const RDom &dom, const Expr &e, Func f) {
    Reduction r(dom, e, name, f);
    const Expr initial = kind == Kind::Maximum   ? r.value.type().min()
                         : kind == Kind::Minimum ? r.value.type().max()
                         : kind == Kind::Product ? make_one(r.value.type())
                                                 : make_zero(r.value.type());
    f(r.free_vars) = initial;
    const Expr old = f(r.free_vars);
    const Expr combined = kind == Kind::Sum             ? old + r.value
                          : kind == Kind::SaturatingSum ? saturating_add(old, r.value)
                          : kind == Kind::Product       ? old * r.value
                          : kind == Kind::Maximum       ? max(old, r.value)
                                                        : min(old, r.value);
    // The value need not depend on the domain (`sum(r, 1)` counts), so the domain is named.
    f.function().define_update(std::vector<Expr>(r.free_vars.begin(), r.free_vars.end()), {combined},
                               r.domain.domain());
    return f(r.call_args);
}

Tuple reduce_arg(bool greatest, const char *name, const RDom &dom, const Expr &e, Func f) {
    Reduction r(dom, e, name, f);
    const int n = r.domain.dimensions();
    std::vector<Expr> initial, update;
    for (int i = 0; i < n; i++) {
        initial.emplace_back(0);
        update.push_back(r.domain[i]);
    }
    initial.push_back(greatest ? r.value.type().min() : r.value.type().max());
    update.push_back(r.value);
    f(r.free_vars) = Tuple(initial);

    FuncRef old = f(r.free_vars);
    const Expr old_value = old[n];
    const Expr better = greatest ? r.value > old_value : r.value < old_value;
    for (int i = 0; i <= n; i++) {
        update[i] = select(better, update[i], Expr(old[i]));
    }
    f(r.free_vars) = Tuple(update);
    return f(r.call_args);
}

}  // namespace

Expr sum(Expr e, const std::string &name) {
    return reduce(Kind::Sum, "sum", RDom(), e, Func(name));
}

Expr sum(const RDom &r, Expr e, const std::string &name) {
    return reduce(Kind::Sum, "sum", r, e, Func(name));
}

Expr sum(Expr e, const Func &f) {
    return reduce(Kind::Sum, "sum", RDom(), e, f);
}

Expr sum(const RDom &r, Expr e, const Func &f) {
    return reduce(Kind::Sum, "sum", r, e, f);
}

Expr saturating_sum(Expr e, const std::string &name) {
    return reduce(Kind::SaturatingSum, "saturating_sum", RDom(), e, Func(name));
}

Expr saturating_sum(const RDom &r, Expr e, const std::string &name) {
    return reduce(Kind::SaturatingSum, "saturating_sum", r, e, Func(name));
}

Expr saturating_sum(Expr e, const Func &f) {
    return reduce(Kind::SaturatingSum, "saturating_sum", RDom(), e, f);
}

Expr saturating_sum(const RDom &r, Expr e, const Func &f) {
    return reduce(Kind::SaturatingSum, "saturating_sum", r, e, f);
}

Expr product(Expr e, const std::string &name) {
    return reduce(Kind::Product, "product", RDom(), e, Func(name));
}

Expr product(const RDom &r, Expr e, const std::string &name) {
    return reduce(Kind::Product, "product", r, e, Func(name));
}

Expr product(Expr e, const Func &f) {
    return reduce(Kind::Product, "product", RDom(), e, f);
}

Expr product(const RDom &r, Expr e, const Func &f) {
    return reduce(Kind::Product, "product", r, e, f);
}

Expr maximum(Expr e, const std::string &name) {
    return reduce(Kind::Maximum, "maximum", RDom(), e, Func(name));
}

Expr maximum(const RDom &r, Expr e, const std::string &name) {
    return reduce(Kind::Maximum, "maximum", r, e, Func(name));
}

Expr maximum(Expr e, const Func &f) {
    return reduce(Kind::Maximum, "maximum", RDom(), e, f);
}

Expr maximum(const RDom &r, Expr e, const Func &f) {
    return reduce(Kind::Maximum, "maximum", r, e, f);
}

Expr minimum(Expr e, const std::string &name) {
    return reduce(Kind::Minimum, "minimum", RDom(), e, Func(name));
}

Expr minimum(const RDom &r, Expr e, const std::string &name) {
    return reduce(Kind::Minimum, "minimum", r, e, Func(name));
}

Expr minimum(Expr e, const Func &f) {
    return reduce(Kind::Minimum, "minimum", RDom(), e, f);
}

Expr minimum(const RDom &r, Expr e, const Func &f) {
    return reduce(Kind::Minimum, "minimum", r, e, f);
}

Tuple argmax(Expr e, const std::string &name) {
    return reduce_arg(true, "argmax", RDom(), e, Func(name));
}

Tuple argmax(const RDom &r, Expr e, const std::string &name) {
    return reduce_arg(true, "argmax", r, e, Func(name));
}

Tuple argmax(Expr e, const Func &f) {
    return reduce_arg(true, "argmax", RDom(), e, f);
}

Tuple argmax(const RDom &r, Expr e, const Func &f) {
    return reduce_arg(true, "argmax", r, e, f);
}

Tuple argmin(Expr e, const std::string &name) {
    return reduce_arg(false, "argmin", RDom(), e, Func(name));
}

Tuple argmin(const RDom &r, Expr e, const std::string &name) {
    return reduce_arg(false, "argmin", r, e, Func(name));
}

Tuple argmin(Expr e, const Func &f) {
    return reduce_arg(false, "argmin", RDom(), e, f);
}

Tuple argmin(const RDom &r, Expr e, const Func &f) {
    return reduce_arg(false, "argmin", r, e, f);
}

}  // namespace Halide
