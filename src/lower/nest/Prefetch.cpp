#include "lower/nest/Prefetch.h"

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/Substitute.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

#include <algorithm>

namespace Halide {
namespace Internal {

namespace {

/// A name that is defined around the statement being looked at: a loop, or a let with its value.
struct Binding {
    std::string name;
    Expr value;
};

/// The loop of stage `prefix` whose variable a program calls `var`.
bool is_loop(const std::string &name, const std::string &prefix, const std::string &var) {
    return starts_with(name, prefix) && (name == prefix + var || ends_with(name, "." + var));
}

class InjectPrefetch : public IRMutator {
    using IRMutator::visit;

    LowerContext &ctx;
    std::vector<Binding> bindings;
    std::map<std::string, Region> realizations;

    struct StageDirective {
        std::string prefix;
        PrefetchDirective directive;
    };
    std::vector<StageDirective> directives;

    void collect(const std::string &prefix, const Definition &def) {
        for (const PrefetchDirective &p : def.schedule().prefetches()) {
            directives.push_back({prefix, p});
        }
    }

    /// The index of the innermost binding that is this loop, or -1.
    int find_loop(const std::string &prefix, const std::string &var) const {
        for (int i = (int)bindings.size() - 1; i >= 0; i--) {
            if (!bindings[i].value.defined() && is_loop(bindings[i].name, prefix, var)) {
                return i;
            }
        }
        return -1;
    }

    /// What iteration `from + offset` needs instead of the current one.
    Expr shift(Expr e, int from, const Expr &offset) const {
        if (!e.defined()) {
            return e;
        }
        // Names defined inside of that loop may depend on it.
        for (int i = (int)bindings.size() - 1; i > from; i--) {
            if (bindings[i].value.defined()) {
                e = substitute(bindings[i].name, bindings[i].value, e);
            }
        }
        const std::string &loop = bindings[from].name;
        return simplify(substitute(loop, Variable::make(Int(32), loop) + offset, e));
    }

    /// Where the data that may be touched is: of an image or of a realization; empty if there is none here.
    Region valid_region(const PrefetchDirective &p, size_t dims) const {
        auto it = realizations.find(p.name);
        if (it != realizations.end()) {
            return it->second;
        }
        Region region;
        for (size_t d = 0; d < dims; d++) {
            const std::string suffix = std::to_string(d);
            region.emplace_back(Variable::make(Int(32), p.name + ".min." + suffix, p.param),
                                Variable::make(Int(32), p.name + ".extent." + suffix, p.param));
        }
        return region;
    }

    std::vector<Type> types_of(const PrefetchDirective &p) const {
        if (p.param.defined()) {
            return {p.param.type()};
        }
        auto it = ctx.env.find(p.name);
        return it == ctx.env.end() ? std::vector<Type>() : it->second.output_types();
    }

    Stmt make_prefetch(const StageDirective &d, const Box &box, const Stmt &body) const {
        const PrefetchDirective &p = d.directive;
        const int from = find_loop(d.prefix, p.from);
        user_assert(from >= 0) << "Prefetch of " << p.name << " in loop " << p.at << " of "
                               << d.prefix.substr(0, d.prefix.find('.')) << ": the loop over " << p.from
                               << " is not around it.\n  Look ahead in " << p.at << " or in a loop outside of it.\n";
        const std::vector<Type> types = types_of(p);
        const bool is_output = std::any_of(ctx.outputs.begin(), ctx.outputs.end(),
                                           [&](const Function &f) { return f.name() == p.name; });
        if (types.empty() || box.empty() || (!p.param.defined() && !is_output && !realizations.count(p.name))) {
            return body;
        }
        const Region valid = valid_region(p, box.size());
        Expr condition = box.maybe_unused() ? shift(box.used, from, p.offset) : const_true();
        Region bounds;
        for (size_t i = 0; i < box.size(); i++) {
            if (!box[i].is_bounded()) {
                return body;
            }
            Expr min = shift(box[i].min, from, p.offset), max = shift(box[i].max, from, p.offset);
            const Expr valid_min = valid[i].min, valid_max = valid[i].min + valid[i].extent - 1;
            switch (p.strategy) {
            case PrefetchBoundStrategy::Clamp:
                min = Halide::max(min, valid_min);
                max = Halide::min(max, valid_max);
                break;
            case PrefetchBoundStrategy::GuardWithIf:
                condition = condition && min >= valid_min && max <= valid_max;
                break;
            case PrefetchBoundStrategy::NonFaulting:
                break;
            }
            bounds.emplace_back(simplify(min), simplify(max - min + 1));
        }
        return Prefetch::make(p.name, types, bounds, p, simplify(condition), body);
    }

    Stmt visit(const For *op) override {
        bindings.push_back({op->name, Expr()});
        Stmt body = mutate(op->body);
        for (const StageDirective &d : directives) {
            if (is_loop(op->name, d.prefix, d.directive.at)) {
                const Box box = box_required(op->body, d.directive.name, Scope<Interval>::empty_scope(), ctx.func_bounds);
                body = make_prefetch(d, box, body);
            }
        }
        bindings.pop_back();
        return body.same_as(op->body) ? Stmt(op) : op->changed(&For::body, body);
    }

    Stmt visit(const LetStmt *op) override {
        // Iterative: nests begin with many of them.
        std::vector<const LetStmt *> lets;
        Stmt body = op;
        while (const LetStmt *let = body.as<LetStmt>()) {
            bindings.push_back({let->name, let->value});
            lets.push_back(let);
            body = let->body;
        }
        Stmt result = mutate(body);
        bindings.resize(bindings.size() - lets.size());
        if (result.same_as(body)) {
            return op;
        }
        for (size_t i = lets.size(); i > 0; i--) {
            result = LetStmt::make(lets[i - 1]->name, lets[i - 1]->value, result);
        }
        return result;
    }

    Stmt visit(const Realize *op) override {
        realizations[op->name] = op->bounds;
        Stmt s = IRMutator::visit(op);
        realizations.erase(op->name);
        return s;
    }

public:
    explicit InjectPrefetch(LowerContext &ctx) : ctx(ctx) {
        for (const auto &[name, f] : ctx.env) {
            if (f.has_pure_definition()) {
                collect(name + ".s0.", f.definition());
            }
            for (size_t i = 0; i < f.updates().size(); i++) {
                collect(name + ".s" + std::to_string(i + 1) + ".", f.update((int)i));
            }
        }
    }

    bool anything_to_do() const {
        return !directives.empty();
    }

    using IRMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }
};

}  // namespace

Stmt inject_prefetch(const Stmt &s, LowerContext &ctx) {
    InjectPrefetch inject(ctx);
    return inject.anything_to_do() ? inject(s) : s;
}

}  // namespace Internal
}  // namespace Halide
