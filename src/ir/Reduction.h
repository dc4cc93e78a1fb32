#pragma once

#include <string>
#include <vector>

#include "ir/Expr.h"
#include "support/IntrusivePtr.h"

namespace Halide {
namespace Internal {

class IRMutator;
class IRVisitor;

/// One dimension of a reduction domain.
struct ReductionVariable {
    std::string var;
    Expr min, extent;

    /// Orders by name.
    bool operator<(const ReductionVariable &other) const {
        return var < other.var;
    }
};

struct ReductionDomainContents;

/// The points an update definition runs over: a box and a predicate. Copies share the same domain.
class ReductionDomain {
    IntrusivePtr<ReductionDomainContents> contents;

public:
    ReductionDomain();
    explicit ReductionDomain(const std::vector<ReductionVariable> &domain);
    ReductionDomain(const std::vector<ReductionVariable> &domain, const Expr &predicate, bool frozen);

    /// An equal domain that shares nothing with this one.
    ReductionDomain deep_copy() const;

    bool defined() const;
    bool same_as(const ReductionDomain &other) const;

    /// The dimensions, innermost first.
    const std::vector<ReductionVariable> &domain() const;

    /// Restricts the domain further. @throws CompileError if the domain is frozen.
    void where(Expr predicate);

    Expr predicate() const;
    void set_predicate(const Expr &predicate);

    /// The conditions whose conjunction is the predicate.
    std::vector<Expr> split_predicate() const;

    /// From now on the domain may not change: it was used in a definition.
    void freeze();
    bool frozen() const;

    void accept(IRVisitor *visitor) const;
    void mutate(IRMutator *mutator);
};

}  // namespace Internal
}  // namespace Halide
