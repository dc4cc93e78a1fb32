#include "lower/checks/ParameterChecks.h"

#include <sstream>

#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

class FindParameters : public IRGraphVisitor {
public:
    std::map<std::string, Parameter> found;

protected:
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        if (op->param.defined() && !op->param.is_buffer()) {
            found.emplace(op->name, op->param);
        }
    }
};

/// The widest type of the same kind, which the error functions take.
Type widest(const Type &t) {
    return t.is_float() ? Float(64) : t.with_bits(64);
}

std::string error_name(const char *what, const Type &t) {
    return std::string("halide_error_param_") + what + (t.is_float() ? "_f64" : t.is_int() ? "_i64" : "_u64");
}

Stmt assert_bound(const std::string &name, const Expr &value, const Expr &bound, bool is_min) {
    Expr condition = is_min ? value >= bound : value <= bound;
    const Type wide = widest(value.type());
    Expr error = Call::make(Int(32), error_name(is_min ? "too_small" : "too_large", value.type()),
                            {Expr(name), cast(wide, value), cast(wide, bound)}, Call::Extern);
    return AssertStmt::make(condition, error);
}

void check_definition(const Function &f, const Definition &def, std::vector<Stmt> &asserts) {
    for (const Split &split : def.schedule().splits()) {
        if (!split.is_split() || !split.factor.defined() || is_positive_const(split.factor)) {
            continue;
        }
        std::ostringstream text;
        text << split.factor;
        Expr error = Call::make(Int(32), "halide_error_split_factor_not_positive",
                                {Expr(f.name()), Expr(split.old_var), Expr(split.outer), Expr(split.inner),
                                 Expr(text.str()), cast<int>(split.factor)},
                                Call::Extern);
        asserts.push_back(AssertStmt::make(split.factor > 0, error));
    }
    for (const Specialization &s : def.specializations()) {
        if (s.definition.defined()) {
            check_definition(f, s.definition, asserts);
        }
    }
}

Stmt prepend(const std::vector<Stmt> &asserts, const Stmt &s) {
    return asserts.empty() ? s : Block::make(Block::make(asserts), s);
}

}  // namespace

Stmt parameter_checks(const Stmt &s, LowerContext &ctx) {
    if (ctx.target.has_feature(Target::NoAsserts)) {
        return s;
    }
    FindParameters params;
    s.accept(&params);
    std::vector<Stmt> asserts;
    for (const auto &entry : params.found) {
        Expr value = Variable::make(entry.second.type(), entry.first, entry.second);
        if (Expr lo = entry.second.min_value(); lo.defined()) {
            asserts.push_back(assert_bound(entry.first, value, lo, true));
        }
        if (Expr hi = entry.second.max_value(); hi.defined()) {
            asserts.push_back(assert_bound(entry.first, value, hi, false));
        }
    }
    asserts.insert(asserts.end(), ctx.requirements.begin(), ctx.requirements.end());
    return prepend(asserts, s);
}

Stmt split_factor_checks(const Stmt &s, LowerContext &ctx) {
    if (ctx.target.has_feature(Target::NoAsserts)) {
        return s;
    }
    std::vector<Stmt> asserts;
    for (const std::string &name : ctx.order) {
        const Function &f = ctx.env.at(name);
        if (f.definition().defined()) {
            check_definition(f, f.definition(), asserts);
        }
        for (const Definition &def : f.updates()) {
            check_definition(f, def, asserts);
        }
    }
    return prepend(asserts, s);
}

}  // namespace Internal
}  // namespace Halide
