#include "api/Stage.h"

#include "api/Func.h"
#include "api/LoopNestEditor.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

const StageSchedule &Stage::get_schedule() const {
    return definition_.schedule();
}

StageSchedule &Stage::get_schedule() {
    return definition_.schedule();
}

std::string Stage::name() const {
    return stage_index_ == 0 ? function_.name()
                             : function_.name() + ".update(" + std::to_string(stage_index_ - 1) + ")";
}

std::string Stage::dump_argument_list() const {
    std::vector<std::string> names;
    for (const Dim &d : definition_.schedule().dims()) {
        names.push_back(d.var);
    }
    return "Vars: " + join_strings(names, ", ") + "\n";
}

std::vector<std::variant<Var, RVar>> Stage::split_vars() const {
    std::vector<std::variant<Var, RVar>> result;
    for (const Dim &d : definition_.schedule().dims()) {
        const std::string last = split_string(d.var, ".").back();
        if (d.is_rvar()) {
            result.emplace_back(RVar(last));
        } else {
            result.emplace_back(Var(last));
        }
    }
    return result;
}

void Stage::unscheduled() {
    StageSchedule &schedule = definition_.schedule();
    user_assert(!schedule.touched()) << name() << ".unscheduled(): this stage has a schedule already.\n";
    schedule.touched() = true;
}

Func Stage::rfactor(const RVar &r, const Var &v) {
    return rfactor({{r, v}});
}

}  // namespace Halide
