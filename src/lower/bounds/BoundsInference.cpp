#include "lower/bounds/BoundsInference.h"

#include <algorithm>
#include <set>

#include "analysis/ExprUsesVar.h"
#include "func/Function.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/bounds/ExternBounds.h"
#include "lower/nest/Inline.h"
#include "lower/nest/NameSharedValues.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

// Each stage is looked at once: its definition, with its loop variables ranging over the symbols f.s0.x.min … f.s0.x.max,
// gives the boxes that it requires of every Func, in terms of those symbols. At each loop that Funcs are produced in, the symbols
// are then defined one by one, consumers first, each in terms of the ones before it. So the expressions stay as small as the
// definitions, however deep the pipeline.

namespace Halide {
namespace Internal {

namespace {

Expr symbol(const std::string &name) {
    return Variable::make(Int(32), name);
}

/// One stage of a Func that has loops of its own.
struct Stage {
    Function func;
    int index = 0;
    std::string prefix;                 // "f.s0."
    std::vector<ReductionVariable> rvars;
    std::map<std::string, Box> touched; // by what it reads (and itself, by what it writes), in terms of the symbols

    bool is_last() const {
        return index == (int)func.updates().size();
    }
    std::string describe() const {
        return index == 0 ? "The pure definition of Function " + func.name() :
                            "Update definition " + std::to_string(index - 1) + " of Function " + func.name();
    }
};

/// Which stage a loop or let belongs to: "f.s1.x" → f, 1.
bool parse_stage_name(const std::string &name, std::string &func, int &stage) {
    const size_t dot = name.find(".s");
    if (dot == std::string::npos) {
        return false;
    }
    size_t i = dot + 2;
    int k = 0;
    while (i < name.size() && isdigit((unsigned char)name[i])) {
        k = k * 10 + (name[i++] - '0');
    }
    if (i == dot + 2 || i >= name.size() || name[i] != '.') {
        return false;
    }
    func = name.substr(0, dot);
    stage = k;
    return true;
}

std::set<std::string> find_productions(const Stmt &s) {
    std::set<std::string> result;
    visit_with(s, [&](auto *self, const ProducerConsumer *op) {
        if (op->is_producer) {
            result.insert(op->name);
        }
        self->visit_base(op);
    });
    return result;
}

/// What a stage does, as a statement: the definition under its predicate, or that of the first specialization whose condition
/// holds.
Stmt work_of(const Function &f, const Definition &def, Inliner &inliner) {
    std::vector<Expr> args, values;
    for (const Expr &e : def.args()) {
        args.push_back(name_shared_values(inliner.do_inlining(e)));
    }
    for (const Expr &e : def.values()) {
        values.push_back(name_shared_values(inliner.do_inlining(e)));
    }
    Stmt s = Provide::make(f.name(), values, args, const_true());
    if (!is_const_one(def.predicate())) {
        s = IfThenElse::make(inliner.do_inlining(def.predicate()), s);
    }
    const std::vector<Specialization> &alternatives = def.specializations();
    for (size_t i = alternatives.size(); i-- > 0;) {
        const Specialization &a = alternatives[i];
        if (a.failure_message.empty()) {
            s = IfThenElse::make(a.condition, work_of(f, a.definition, inliner), s);
        } else {
            s = Evaluate::make(0);
        }
    }
    return s;
}

class AtLoops;

class Inference {
public:
    explicit Inference(LowerContext &ctx, const Stmt &s) : ctx(ctx) {
        const std::set<std::string> realized = find_productions(s);
        Inliner inliner;
        for (const std::string &name : ctx.order) {
            if (!realized.count(name)) {
                inliner.inline_func(ctx.env.at(name));
            }
        }
        for (const std::string &name : ctx.order) {
            if (realized.count(name)) {
                add_stages(ctx.env.at(name), inliner);
            }
        }
        for (const Function &f : ctx.outputs) {
            outputs.insert(f.name());
        }
    }

    /// Defines symbols at the root, and inside.
    Stmt whole(const Stmt &s) {
        produced_inside = find_productions(s);
        return inside_loop(s, {}, produced_inside);
    }

    bool any_extern() const {
        return std::any_of(stages.begin(), stages.end(),
                           [](const Stage &s) { return s.index == 0 && s.func.has_extern_definition(); });
    }

private:
    friend class AtLoops;

    LowerContext &ctx;
    std::vector<Stage> stages;                       // producers first, stages of a Func in order
    std::map<std::string, std::vector<size_t>> by_func;
    std::set<std::string> outputs, produced_inside;

    void add_stages(const Function &f, Inliner &inliner) {
        for (int i = 0; i <= (int)f.updates().size(); i++) {
            Stage stage;
            stage.func = f;
            stage.index = i;
            stage.prefix = f.name() + ".s" + std::to_string(i) + ".";
            if (i == 0 && f.has_extern_definition()) {
                // What it reads is found out by asking it.
                stage.touched = extern_stage_requirements(f, ctx.target);
            } else {
                const Definition &def = i == 0 ? f.definition() : f.update(i - 1);
                stage.rvars = def.schedule().rvars();
                Scope<Interval> scope;
                auto bind = [&](const std::string &var) {
                    scope.push(var, Interval(symbol(stage.prefix + var + ".min"), symbol(stage.prefix + var + ".max")));
                };
                for (const std::string &arg : f.args()) {
                    bind(arg);
                }
                for (const ReductionVariable &rv : stage.rvars) {
                    bind(rv.var);
                }
                stage.touched = boxes_touched(work_of(f, def, inliner), scope, ctx.func_bounds);
            }
            if (i == 0) {
                stage.touched.erase(f.name());
            }
            by_func[f.name()].push_back(stages.size());
            stages.push_back(stage);
        }
    }

    /// What is put around the body of a loop, outermost first: LetStmts, and statements that run before it.
    using Wrapping = std::vector<BoundsStep>;

    void define(Wrapping &w, const std::string &prefix, const std::string &var, const Interval &i) {
        w.push_back({prefix + var + ".min", i.min, Stmt()});
        w.push_back({prefix + var + ".max", i.is_single_point() ? symbol(prefix + var + ".min") : i.max, Stmt()});
    }

    /// Redefines the symbols of a stage, some loops of which are outside of `body`, as what the body computes of it.
    void define_current(Wrapping &w, const Stage &stage, const Stmt &body) {
        if (stage.index == 0 && stage.func.has_extern_definition()) {
            std::vector<Interval> box = extern_region_inside(stage.func, body);
            for (size_t d = 0; d < box.size(); d++) {
                if (box[d].is_bounded()) {
                    define(w, stage.prefix, stage.func.args()[d], box[d]);
                }
            }
            return;
        }
        std::vector<std::string> probes, names;
        const std::vector<std::string> args = stage.func.args();
        const Definition &def = stage.index == 0 ? stage.func.definition() : stage.func.update(stage.index - 1);
        for (size_t d = 0; d < args.size(); d++) {
            const Variable *v = def.args()[d].as<Variable>();
            if (v && v->name == args[d]) {
                probes.push_back(stage.prefix + args[d]);
                names.push_back(args[d]);
            }
        }
        for (const ReductionVariable &rv : stage.rvars) {
            probes.push_back(stage.prefix + rv.var);
            names.push_back(rv.var);
        }
        const std::vector<Interval> bounds =
            bounds_at_stores(body, stage.func.name(), probes, Scope<Interval>::empty_scope(), ctx.func_bounds);
        // A value may use symbols that are hidden by then: those keep their old meaning under another name.
        std::set<std::string> hidden;
        std::map<std::string, Expr> outer;
        auto outside = [&](const Expr &e) {
            visit_with(e, [&](auto *, const Variable *v) {
                if (hidden.count(v->name) && !outer.count(v->name)) {
                    outer[v->name] = symbol(v->name + ".outer");
                }
            });
            return substitute(outer, e);
        };
        Wrapping renewed;
        for (size_t i = 0; i < bounds.size(); i++) {
            if (bounds[i].is_bounded()) {
                const Expr min = outside(bounds[i].min);
                hidden.insert(stage.prefix + names[i] + ".min");
                const Expr max = bounds[i].is_single_point() ? min : outside(bounds[i].max);
                define(renewed, stage.prefix, names[i], Interval(min, max));
                hidden.insert(stage.prefix + names[i] + ".max");
            }
        }
        for (const auto &old : outer) {
            w.push_back({old.first + ".outer", symbol(old.first), Stmt()});
        }
        w.insert(w.end(), renewed.begin(), renewed.end());
    }

    /// What the consumers among `current` stages and `produced` Funcs need of all stages of `f`.
    Box required_by_consumers(const Function &f, const std::vector<size_t> &current,
                              const std::set<std::string> &produced) {
        Box box;
        auto add = [&](const Stage &consumer) {
            auto it = consumer.touched.find(f.name());
            if (it == consumer.touched.end() || consumer.func.name() == f.name()) {
                return;
            }
            check_bounded(consumer, f, it->second);
            merge_boxes(box, it->second);
        };
        for (size_t i = stages.size(); i-- > 0;) {
            const bool is_current = std::find(current.begin(), current.end(), i) != current.end();
            if (is_current || produced.count(stages[i].func.name())) {
                add(stages[i]);
            }
        }
        return box;
    }

    void check_bounded(const Stage &consumer, const Function &f, const Box &box) {
        for (size_t d = 0; d < box.size(); d++) {
            bool fixed_by_schedule = false;
            for (const Bound &b : f.schedule().bounds()) {
                fixed_by_schedule = fixed_by_schedule || (b.var == f.args()[d] && b.min.defined() && b.extent.defined());
            }
            user_assert(box[d].is_bounded() || fixed_by_schedule)
                << consumer.describe() << " calls function " << f.name() << " in an unbounded way in dimension " << d
                << ".\n  Clamp the index, or give the variables in it bounds.\n";
        }
    }

    /// The buffers of an output say what is needed of it.
    Box region_of_output(const Function &f) {
        Box box;
        const std::string buffer = f.outputs() > 1 ? f.name() + ".0" : f.name();
        for (int d = 0; d < f.dimensions(); d++) {
            const std::string dim = std::to_string(d);
            const Expr min = symbol(buffer + ".min." + dim), extent = symbol(buffer + ".extent." + dim);
            box.push_back(Interval(min, min + extent - 1));
        }
        return box;
    }

    /// Regions given in the schedule replace, or round, what is needed.
    Box apply_explicit_bounds(Wrapping &w, const Stage &stage, Box box) {
        const std::vector<std::string> args = stage.func.args();
        std::set<std::string> recorded;
        for (const Bound &b : stage.func.schedule().bounds()) {
            const size_t d = std::find(args.begin(), args.end(), b.var) - args.begin();
            internal_assert(d < args.size()) << "bound on " << b.var << ", which is no dimension\n";
            const std::string name = stage.prefix + b.var;
            Interval &i = box[d];
            if (!i.is_bounded()) {
                i = Interval(b.min, simplify(b.min + b.extent - 1));
            }
            if (recorded.insert(b.var).second) {
                w.push_back({name + ".min_unbounded", i.min, Stmt()});
                w.push_back({name + ".max_unbounded", i.max, Stmt()});
                i = Interval(symbol(name + ".min_unbounded"), symbol(name + ".max_unbounded"));
            }
            if (b.extent.defined()) {
                const Expr min = b.min.defined() ? b.min : i.min;
                i = Interval(min, simplify(min + b.extent - 1));
            }
            if (b.modulus.defined()) {
                Expr min = i.min;
                if (b.remainder.defined()) {
                    // Down to the next point of the grid.
                    min = ((i.min - b.remainder) / b.modulus) * b.modulus + b.remainder;
                }
                const Expr extent = ((i.max - min + b.modulus) / b.modulus) * b.modulus;
                i = Interval(simplify(min), simplify(min + extent - 1));
            }
        }
        return box;
    }

    /// Defines the symbols of all stages of a Func that is produced in the body of a loop.
    void define_produced(Wrapping &w, const std::string &name, const std::vector<size_t> &current,
                         const std::set<std::string> &produced, bool at_root) {
        const std::vector<size_t> &own = by_func.at(name);
        const Function &f = stages[own.front()].func;
        Box needed = required_by_consumers(f, current, produced);
        if (at_root && outputs.count(name)) {
            merge_boxes(needed, region_of_output(f));
        }
        if (needed.empty() && f.dimensions() > 0) {
            // Nobody reads it here: a Func produced only for its effects, or consumers that are specialized away.
            for (int d = 0; d < f.dimensions(); d++) {
                needed.push_back(Interval(0, 0));
            }
        }
        const std::vector<std::string> args = f.args();
        for (size_t k = own.size(); k-- > 0;) {
            const Stage &stage = stages[own[k]];
            if (k + 1 < own.size()) {
                // Later stages need all that consumers need, and what they touch themselves.
                const Stage &later = stages[own[k + 1]];
                Box box;
                for (const std::string &arg : args) {
                    box.push_back(Interval(symbol(later.prefix + arg + ".min"), symbol(later.prefix + arg + ".max")));
                }
                auto self = later.touched.find(name);
                if (self != later.touched.end() && !self->second.empty()) {
                    check_bounded(later, f, self->second);
                    // Also where the update runs only under a condition: the values must be there whenever it does.
                    merge_boxes(box, self->second);
                }
                needed = box;
            }
            needed = apply_explicit_bounds(w, stage, needed);
            for (Interval &i : needed.bounds) {
                const bool point = i.is_single_point();
                i.min = simplify(i.min);
                i.max = point ? i.min : simplify(i.max);
                if (!point && equal(i.min, i.max)) {
                    i = Interval::single_point(i.min);
                }
            }
            const bool is_extern = stage.index == 0 && f.has_extern_definition();
            for (size_t d = 0; d < args.size() && is_extern && !at_root; d++) {
                keep_outer(w, stage.prefix + args[d] + ".min");
                keep_outer(w, stage.prefix + args[d] + ".max");
            }
            for (size_t d = 0; d < args.size(); d++) {
                define(w, stage.prefix, args[d], needed[d]);
            }
            for (const ReductionVariable &rv : stage.rvars) {
                define(w, stage.prefix, rv.var, Interval(rv.min, simplify(rv.min + rv.extent - 1)));
            }
            if (is_extern) {
                add_extern_query(w, f, at_root, ctx);
            }
        }
    }

    /// Stages outside of `body` (their Func is not produced in it) of which it computes a part.
    std::vector<size_t> find_current(const Stmt &body, const std::string &loop) {
        std::set<std::pair<std::string, int>> found;
        auto add = [&](const std::string &name) {
            std::string func;
            int stage;
            if (parse_stage_name(name, func, stage)) {
                found.insert({func, stage});
            }
        };
        if (!loop.empty()) {
            add(loop);
        }
        visit_with(
            body, [&](auto *self, const ProducerConsumer *op) {
                if (!op->is_producer) {
                    self->visit_base(op);
                }
            },
            [&](auto *self, const For *op) {
                add(op->name);
                (*self)(op->body);
            },
            [&](auto *self, const LetStmt *op) {
                if (!ends_with(op->name, ".min") && !ends_with(op->name, ".max")) {
                    add(op->name);
                }
                (*self)(op->body);
            });
        std::vector<size_t> result;
        for (size_t i = 0; i < stages.size(); i++) {
            if (found.count({stages[i].func.name(), stages[i].index})) {
                result.push_back(i);
            }
        }
        return result;
    }

    Stmt inside_loop(const Stmt &body, const std::string &loop, const std::set<std::string> &produced);
};

/// Goes to the loops inside a statement.
class AtLoops : public IRMutator {
    using IRMutator::visit;
    Inference &inference;

    Stmt visit(const For *op) override;
    Stmt visit(const ProducerConsumer *op) override;
    Expr visit(const Call *op) override {
        return op;
    }

public:
    using IRMutator::mutate;
    explicit AtLoops(Inference &inference) : inference(inference) {
    }
    Expr mutate(const Expr &e) override {
        // There are no statements in expressions.
        return e;
    }
    Stmt inside(const Stmt &body, const std::string &loop, const std::set<std::string> &produced);
    Stmt explicit_bounds_checks(const std::string &name);
};

Stmt Inference::inside_loop(const Stmt &body, const std::string &loop, const std::set<std::string> &produced) {
    return AtLoops(*this).inside(body, loop, produced);
}

Stmt AtLoops::visit(const For *op) {
    const std::set<std::string> produced = find_productions(op->body);
    if (produced.empty() || op->for_type == ForType::Extern) {
        return op;
    }
    return op->changed(&For::body, inside(op->body, op->name, produced));
}

/// Definitions for everything produced in the body of a loop (of the whole program, if `loop` is empty).
Stmt AtLoops::inside(const Stmt &whole_body, const std::string &loop, const std::set<std::string> &produced) {
    // Lets that do not depend on what is defined here stay outside: their names make shorter bounds.
    std::vector<std::pair<std::string, Expr>> lets;
    Stmt body = whole_body;
    while (const LetStmt *let = loop.empty() ? nullptr : body.as<LetStmt>()) {
        bool depends = false;
        visit_with(let->value, [&](auto *, const Variable *v) {
            const size_t dot = v->name.find('.');
            depends = depends || (dot != std::string::npos && produced.count(v->name.substr(0, dot)));
        });
        if (depends) {
            break;
        }
        lets.emplace_back(let->name, let->value);
        body = let->body;
    }

    Inference::Wrapping wrapping;
    // If there is nothing but another loop, that one defines everything again.
    if (!body.as<For>() || loop.empty()) {
        std::vector<size_t> current;
        for (size_t i : inference.find_current(body, loop)) {
            if (!produced.count(inference.stages[i].func.name())) {
                current.push_back(i);
            }
        }
        for (size_t i : current) {
            inference.define_current(wrapping, inference.stages[i], body);
        }
        for (size_t i = inference.ctx.order.size(); i-- > 0;) {
            const std::string &name = inference.ctx.order[i];
            if (produced.count(name)) {
                inference.define_produced(wrapping, name, current, produced, loop.empty());
            }
        }
    }
    body = mutate(body);
    if (loop.empty() && inference.any_extern()) {
        // The regions of images may follow from answers of extern stages: image-checks has to look at them from here.
        body = Block::make(
            Evaluate::make(Call::make(Int(32), Call::add_image_checks_marker, {}, Call::Intrinsic)), body);
    }
    for (size_t i = wrapping.size(); i-- > 0;) {
        const BoundsStep &step = wrapping[i];
        if (step.before.defined()) {
            body = Block::make(step.before, body);
        } else {
            body = LetStmt::make(step.name, step.value, body);
        }
    }
    for (size_t i = lets.size(); i-- > 0;) {
        body = LetStmt::make(lets[i].first, lets[i].second, body);
    }
    return body;
}

Stmt AtLoops::visit(const ProducerConsumer *op) {
    Stmt body = mutate(op->body);
    if (op->is_producer) {
        const Function &f = inference.ctx.env.at(op->name);
        if (f.has_extern_definition()) {
            Stmt accesses = declare_extern_accesses(f, inference.ctx.target);
            body = accesses.defined() ? Block::make(accesses, body) : body;
        }
        Stmt checks = explicit_bounds_checks(op->name);
        body = checks.defined() ? Block::make(checks, body) : body;
    }
    return op->with(body);
}

/// Asserts that the regions given by `bound` cover what is needed.
Stmt AtLoops::explicit_bounds_checks(const std::string &name) {
    if (inference.ctx.target.has_feature(Target::NoAsserts)) {
        return Stmt();
    }
    std::vector<Stmt> checks;
    for (size_t i : inference.by_func.at(name)) {
        const Stage &stage = inference.stages[i];
        for (const Bound &b : stage.func.schedule().bounds()) {
            if (!b.extent.defined()) {
                continue;
            }
            const Expr min_required = symbol(stage.prefix + b.var + ".min_unbounded");
            const Expr max_required = symbol(stage.prefix + b.var + ".max_unbounded");
            const Expr min = b.min.defined() ? b.min : min_required;
            const Expr max = min + b.extent - 1;
            const Expr error = Call::make(Int(32), "halide_error_explicit_bounds_too_small",
                                          {Expr(name), Expr(b.var), min, max, min_required, max_required}, Call::Extern);
            checks.push_back(AssertStmt::make(min <= min_required && max >= max_required, error));
        }
    }
    return checks.empty() ? Stmt() : Block::make(checks);
}

}  // namespace

Stmt bounds_inference(const Stmt &s, LowerContext &ctx) {
    return Inference(ctx, s).whole(s);
}

}  // namespace Internal
}  // namespace Halide
