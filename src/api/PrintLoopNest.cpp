#include "api/PrintLoopNest.h"

#include <sstream>

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "lower/Pipeline.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

/// A loop's name without Func and stage, cut at `$`.
std::string short_loop_name(const std::string &name) {
    std::vector<std::string> parts = split_string(name, ".");
    if (parts.size() > 2) {
        parts.erase(parts.begin(), parts.begin() + 2);
    }
    for (std::string &p : parts) {
        p = p.substr(0, p.find('$'));
    }
    return join_strings(parts, ".");
}

/// A Func's name without the suffix that makes it unique.
std::string short_func_name(const std::string &name) {
    return name.substr(0, name.find('$'));
}

class LoopNestPrinter : public IRVisitor {
    using IRVisitor::visit;

    const std::map<std::string, Function> &env;
    std::ostringstream &out;
    int indent = 0;
    /// Variables known to be constant.
    Scope<Expr> constants;

    void line(const std::string &text) { out << std::string((size_t)indent * 2, ' ') << text << "\n"; }

    template <typename Body>
    void nested(const Body &body) {
        indent++;
        body.accept(this);
        indent--;
    }

    Expr constant(const Expr &e) const {
        std::map<std::string, Expr> values;
        visit_with(e, [&](auto *, const Variable *op) {
            if (const Expr *v = constants.find(op->name)) {
                values[op->name] = *v;
            }
        });
        Expr result = simplify(substitute(values, e));
        return is_const(result) ? result : Expr();
    }

    void visit(const LetStmt *op) override {
        const Expr value = constant(op->value);
        ScopedBinding<Expr> bind(value.defined(), constants, op->name, value);
        op->body.accept(this);
    }

    void visit(const For *op) override {
        const Expr min = constant(op->min), max = constant(op->max);
        const bool one_iteration = ends_with(op->name, ".__outermost") && op->for_type == ForType::Serial;
        if (one_iteration) {
            op->body.accept(this);
            return;
        }
        std::ostringstream text;
        text << op->for_type << " " << short_loop_name(op->name);
        if (min.defined() && max.defined()) {
            text << " in [" << min << ", " << max << "]";
        }
        text << op->device_api << ":";
        line(text.str());
        nested(op->body);
    }

    void visit(const Realize *op) override {
        // Where memory is allocated is of interest only if it is not where the values are computed.
        auto it = env.find(op->name);
        if (it == env.end() || it->second.schedule().store_level() == it->second.schedule().compute_level()) {
            op->body.accept(this);
            return;
        }
        line("store " + short_func_name(op->name) + ":");
        nested(op->body);
    }

    void visit(const ProducerConsumer *op) override {
        line((op->is_producer ? "produce " : "consume ") + short_func_name(op->name) + ":");
        nested(op->body);
    }

    void visit(const Provide *op) override { line(short_func_name(op->name) + "(...) = ..."); }

    void visit(const AssertStmt *op) override {
        // An extern stage is the check of a call's result.
        IRVisitor::visit(op);
    }

    void visit(const IfThenElse *op) override {
        op->then_case.accept(this);
        if (op->else_case.defined()) {
            op->else_case.accept(this);
        }
    }

public:
    LoopNestPrinter(const std::map<std::string, Function> &env, std::ostringstream &out) : env(env), out(out) {}
};

}  // namespace

std::string loop_nest_text(const std::vector<Function> &outputs) {
    std::ostringstream out;
    run_with_large_stack([&]() {
        LowerContext ctx = make_lower_context(outputs, outputs[0].name(), get_host_target(), {}, {}, false, {});
        const Stmt s = run_lowering_passes(ctx, "schedule-functions");
        LoopNestPrinter printer(ctx.env, out);
        s.accept(&printer);
    });
    return out.str();
}

}  // namespace Internal
}  // namespace Halide
