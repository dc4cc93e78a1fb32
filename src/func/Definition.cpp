#include "func/Definition.h"

#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"

namespace Halide {
namespace Internal {

struct DefinitionContents {
    mutable RefCount ref_count;
    bool is_init = true;
    Expr predicate = const_true();
    std::vector<Expr> args, values;
    StageSchedule stage_schedule;
    std::vector<Specialization> specializations;
};

template<>
RefCount &ref_count<DefinitionContents>(const DefinitionContents *p) noexcept {
    return p->ref_count;
}

template<>
void destroy<DefinitionContents>(const DefinitionContents *p) {
    delete p;
}

Definition::Definition() : contents(nullptr) {
}

Definition::Definition(const IntrusivePtr<DefinitionContents> &c) : contents(c) {
}

Definition::Definition(const std::vector<Expr> &args, const std::vector<Expr> &values, const ReductionDomain &rdom,
                       bool is_init)
    : contents(new DefinitionContents) {
    contents->is_init = is_init;
    contents->args = args;
    contents->values = values;
    if (rdom.defined()) {
        contents->predicate = rdom.predicate();
        contents->stage_schedule.rvars() = rdom.domain();
    }
}

Definition::Definition(bool is_init, const Expr &predicate, const std::vector<Expr> &args,
                       const std::vector<Expr> &values, const StageSchedule &schedule,
                       const std::vector<Specialization> &specializations)
    : contents(new DefinitionContents) {
    contents->is_init = is_init;
    contents->predicate = predicate;
    contents->args = args;
    contents->values = values;
    contents->stage_schedule = schedule;
    contents->specializations = specializations;
}

Definition Definition::get_copy() const {
    internal_assert(defined());
    Definition copy(IntrusivePtr<DefinitionContents>(new DefinitionContents(*contents)));
    copy.contents->stage_schedule = contents->stage_schedule.get_copy();
    for (Specialization &s : copy.contents->specializations) {
        s.definition = s.definition.defined() ? s.definition.get_copy() : s.definition;
    }
    return copy;
}

bool Definition::same_as(const Definition &other) const {
    return contents.same_as(other.contents);
}

bool Definition::defined() const {
    return contents.defined();
}

bool Definition::is_init() const {
    return contents->is_init;
}

void Definition::accept(IRVisitor *v) const {
    if (contents->predicate.defined()) {
        contents->predicate.accept(v);
    }
    for (const Expr &e : contents->values) {
        e.accept(v);
    }
    for (const Expr &e : contents->args) {
        e.accept(v);
    }
    contents->stage_schedule.accept(v);
    for (const Specialization &s : contents->specializations) {
        if (s.condition.defined()) {
            s.condition.accept(v);
        }
        if (s.definition.defined()) {
            s.definition.accept(v);
        }
    }
}

void Definition::mutate(IRMutator *m) {
    if (contents->predicate.defined()) {
        contents->predicate = (*m)(contents->predicate);
    }
    for (Expr &e : contents->values) {
        e = (*m)(e);
    }
    for (Expr &e : contents->args) {
        e = (*m)(e);
    }
    contents->stage_schedule.mutate(m);
    for (Specialization &s : contents->specializations) {
        if (s.condition.defined()) {
            s.condition = (*m)(s.condition);
        }
        if (s.definition.defined()) {
            s.definition.mutate(m);
        }
    }
}

std::vector<Expr> &Definition::args() {
    return contents->args;
}
const std::vector<Expr> &Definition::args() const {
    return contents->args;
}
std::vector<Expr> &Definition::values() {
    return contents->values;
}
const std::vector<Expr> &Definition::values() const {
    return contents->values;
}
Expr &Definition::predicate() {
    return contents->predicate;
}
const Expr &Definition::predicate() const {
    return contents->predicate;
}

std::vector<Expr> Definition::split_predicate() const {
    std::vector<Expr> result;
    split_into_ands(contents->predicate, result);
    return result;
}

StageSchedule &Definition::schedule() {
    return contents->stage_schedule;
}
const StageSchedule &Definition::schedule() const {
    return contents->stage_schedule;
}
std::vector<Specialization> &Definition::specializations() {
    return contents->specializations;
}
const std::vector<Specialization> &Definition::specializations() const {
    return contents->specializations;
}

const Specialization &Definition::add_specialization(const Expr &condition) {
    Specialization s;
    s.condition = condition;
    s.definition = Definition(contents->is_init, contents->predicate, contents->args, contents->values,
                              contents->stage_schedule.get_copy(), {});
    // A stage that will be merged with another one is so in its general form only.
    s.definition.schedule().fuse_level() = FuseLoopLevel();
    contents->specializations.push_back(s);
    return contents->specializations.back();
}

}  // namespace Internal
}  // namespace Halide
