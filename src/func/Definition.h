#pragma once

#include "func/Schedule.h"
#include "ir/Expr.h"
#include "ir/Reduction.h"
#include "support/IntrusivePtr.h"

#include <string>
#include <vector>

namespace Halide {
namespace Internal {

struct DefinitionContents;
struct Specialization;
class IRVisitor;
class IRMutator;

/// One stage of a Func: left side, right side, predicate, and the schedule of its loop nest.
///
/// A shared handle; copies refer to the same stage.
class Definition {
    IntrusivePtr<DefinitionContents> contents;

public:
    Definition();
    explicit Definition(const IntrusivePtr<DefinitionContents> &c);

    /// A new stage over the RVars of `rdom`. Function adds its loops.
    Definition(const std::vector<Expr> &args, const std::vector<Expr> &values, const ReductionDomain &rdom,
               bool is_init);

    /// Makes one from its parts.
    Definition(bool is_init, const Expr &predicate, const std::vector<Expr> &args, const std::vector<Expr> &values,
               const StageSchedule &schedule, const std::vector<Specialization> &specializations);

    /// A copy that shares no mutable state, specializations included.
    Definition get_copy() const;

    bool same_as(const Definition &other) const;
    bool defined() const;

    /// True for the pure definition (stage 0), false for updates.
    bool is_init() const;

    void accept(IRVisitor *v) const;
    void mutate(IRMutator *m);

    std::vector<Expr> &args();
    const std::vector<Expr> &args() const;

    std::vector<Expr> &values();
    const std::vector<Expr> &values() const;

    /// Points where this is false are skipped.
    Expr &predicate();
    const Expr &predicate() const;

    /// The predicate cut into the operands of its outermost `&&`s.
    std::vector<Expr> split_predicate() const;

    StageSchedule &schedule();
    const StageSchedule &schedule() const;

    std::vector<Specialization> &specializations();
    const std::vector<Specialization> &specializations() const;

    /// Adds a copy of this stage, as scheduled so far, to be used where `condition` holds.
    const Specialization &add_specialization(const Expr &condition);
};

/// An alternative version of a stage, used if `condition` holds at run time.
/// With a `failure_message`, reaching it is a runtime error.
struct Specialization {
    Expr condition;
    Definition definition;
    std::string failure_message;
};

}  // namespace Internal
}  // namespace Halide
