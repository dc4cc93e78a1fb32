#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/LoopDirectives.h"
#include "func/Function.h"

namespace Halide {

/// One stage of a Func, to be scheduled: its pure definition, an update, or a specialization of one of these.
class Stage : public LoopDirectives<Stage> {
    Internal::Function function_;
    Internal::Definition definition_;
    size_t stage_index_ = 0;

    friend class LoopDirectives<Stage>;
    Stage &directive_stage() { return *this; }

public:
    Stage(Internal::Function function, Internal::Definition definition, size_t stage_index)
        : function_(std::move(function)), definition_(std::move(definition)), stage_index_(stage_index) {}

    const Internal::StageSchedule &get_schedule() const;
    Internal::StageSchedule &get_schedule();

    /// `f` for the pure definition, `f.update(k)` for update k.
    std::string name() const;
    /// The loops, innermost first, as messages show them: `Vars: x, y, __outermost`.
    std::string dump_argument_list() const;
    /// The Vars and RVars that are loops of this stage now, innermost first.
    std::vector<std::variant<Var, RVar>> split_vars() const;
    /// Where the definition stands in the program; empty if not known.
    std::string source_location() const { return ""; }

    /// Splits an associative update in two: an intermediate Func, returned to be scheduled, that reduces over
    /// everything but the listed RVars, which become its additional pure dimensions; this stage then combines.
    ///
    /// @throws CompileError  the update is not proved associative (and commutative, if the RVars are not outermost).
    // @{
    Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved);
    Func rfactor(const RVar &r, const Var &v);
    // @}

    /// Says that an update has no schedule on purpose.
    void unscheduled();

    Internal::Function function() const { return function_; }
    Internal::Definition definition() const { return definition_; }
    size_t stage_index() const { return stage_index_; }
};

}  // namespace Halide
