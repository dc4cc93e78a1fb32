#include "ir/Reduction.h"

#include <utility>

#include "ir/IRConstants.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"

namespace Halide {
namespace Internal {

struct ReductionDomainContents {
    mutable RefCount count;
    std::vector<ReductionVariable> domain;
    Expr predicate = const_true();
    bool frozen = false;
};

template<>
RefCount &ref_count<ReductionDomainContents>(const ReductionDomainContents *p) noexcept {
    return p->count;
}
template<>
void destroy<ReductionDomainContents>(const ReductionDomainContents *p) {
    delete p;
}

namespace {

/// Collects and checks what `where` is given: variables of the domain become variables of the domain that say so.
class UseReductionVariables : public IRMutator {
    const ReductionDomain &domain;

    using IRMutator::visit;
    Expr visit(const Variable *op) override {
        if (op->reduction_domain.defined() || op->param.defined()) {
            return op;
        }
        for (const ReductionVariable &v : domain.domain()) {
            if (v.var == op->name) {
                return Variable::make(op->type, op->name, domain);
            }
        }
        return op;
    }

public:
    explicit UseReductionVariables(const ReductionDomain &domain)
        : domain(domain) {
    }
};

/// Takes the domain off its own variables again: the contents must not own themselves.
class DropDomain : public IRMutator {
    const ReductionDomain &domain;

    using IRMutator::visit;
    Expr visit(const Variable *op) override {
        return op->reduction_domain.same_as(domain) && op->reduction_domain.defined() ?
                   Variable::make(op->type, op->name) :
                   Expr(op);
    }

public:
    explicit DropDomain(const ReductionDomain &domain)
        : domain(domain) {
    }
};

}  // namespace

ReductionDomain::ReductionDomain() = default;

ReductionDomain::ReductionDomain(const std::vector<ReductionVariable> &domain)
    : contents(new ReductionDomainContents) {
    contents->domain = domain;
}

ReductionDomain::ReductionDomain(const std::vector<ReductionVariable> &domain, const Expr &predicate, bool frozen)
    : ReductionDomain(domain) {
    set_predicate(predicate);
    contents->frozen = frozen;
}

ReductionDomain ReductionDomain::deep_copy() const {
    return defined() ? ReductionDomain(contents->domain, contents->predicate, contents->frozen) : ReductionDomain();
}

bool ReductionDomain::defined() const {
    return contents.defined();
}

bool ReductionDomain::same_as(const ReductionDomain &other) const {
    return contents.same_as(other.contents);
}

const std::vector<ReductionVariable> &ReductionDomain::domain() const {
    internal_assert(defined()) << "The dimensions of an undefined ReductionDomain were asked for";
    return contents->domain;
}

void ReductionDomain::where(Expr predicate) {
    user_assert(defined()) << "RDom::where on an undefined RDom.\n";
    user_assert(predicate.defined() && predicate.type().is_bool())
        << "The predicate given to RDom::where must be a boolean, but " << predicate << " is not.\n";
    user_assert(!contents->frozen) << "RDom::where(" << predicate
                                   << ") comes after the RDom was used in a definition. Call where before that.\n";
    set_predicate(is_const_one(contents->predicate) ? std::move(predicate) :
                                                      And::make(contents->predicate, std::move(predicate)));
}

Expr ReductionDomain::predicate() const {
    internal_assert(defined()) << "The predicate of an undefined ReductionDomain was asked for";
    return UseReductionVariables(*this).mutate(contents->predicate);
}

void ReductionDomain::set_predicate(const Expr &predicate) {
    contents->predicate = DropDomain(*this).mutate(predicate);
}

std::vector<Expr> ReductionDomain::split_predicate() const {
    std::vector<Expr> conditions;
    split_into_ands(predicate(), conditions);
    return conditions;
}

void ReductionDomain::freeze() {
    internal_assert(defined()) << "An undefined ReductionDomain was frozen";
    contents->frozen = true;
}

bool ReductionDomain::frozen() const {
    internal_assert(defined()) << "An undefined ReductionDomain was asked whether it is frozen";
    return contents->frozen;
}

void ReductionDomain::accept(IRVisitor *visitor) const {
    if (!defined()) {
        return;
    }
    for (const ReductionVariable &v : contents->domain) {
        if (v.min.defined()) {
            v.min.accept(visitor);
        }
        if (v.extent.defined()) {
            v.extent.accept(visitor);
        }
    }
    contents->predicate.accept(visitor);
}

void ReductionDomain::mutate(IRMutator *mutator) {
    if (!defined()) {
        return;
    }
    for (ReductionVariable &v : contents->domain) {
        v.min = (*mutator)(v.min);
        v.extent = (*mutator)(v.extent);
    }
    set_predicate((*mutator)(predicate()));
}

}  // namespace Internal
}  // namespace Halide
