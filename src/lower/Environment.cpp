#include "lower/Environment.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

class AnswerTargetQueries : public IRGraphMutator {
public:
    explicit AnswerTargetQueries(const Target &t) : t(t) {}
    bool strict = false;

protected:
    using IRGraphMutator::visit;

    Expr visit(const Call *op) override {
        auto number = [&](int i) {
            std::optional<int64_t> v = as_const_int(op->args[i]);
            internal_assert(v) << "Target query with a variable argument: " << Expr(op) << "\n";
            return *v;
        };
        if (op->is_intrinsic(Call::target_arch_is)) {
            return make_bool((int)t.arch == number(0));
        }
        if (op->is_intrinsic(Call::target_os_is)) {
            return make_bool((int)t.os == number(0));
        }
        if (op->is_intrinsic(Call::target_has_feature)) {
            return make_bool(t.has_feature((Target::Feature)number(0)));
        }
        if (op->is_intrinsic(Call::target_bits)) {
            return t.bits;
        }
        if (op->is_intrinsic(Call::target_natural_vector_size)) {
            return t.natural_vector_size(op->args[0].type());
        }
        return IRGraphMutator::visit(op);
    }

private:
    const Target &t;
};

class MakeStrict : public IRGraphMutator {
public:
    using IRGraphMutator::mutate;
    Expr mutate(const Expr &e) override { return e.defined() ? strictify_float(e) : e; }
};

}  // namespace

void lower_environment(LowerContext &ctx) {
    AnswerTargetQueries queries(ctx.target);
    for (auto &entry : ctx.env) {
        entry.second.mutate(&queries);
    }
    if (ctx.target.has_feature(Target::StrictFloat)) {
        MakeStrict strict;
        for (auto &entry : ctx.env) {
            entry.second.mutate(&strict);
        }
    }
}

}  // namespace Internal
}  // namespace Halide
