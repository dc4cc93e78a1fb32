#include "lower/pto/HostSchedule.h"

#include <algorithm>

#include "func/PTOProgram.h"
#include "ir/IROperator.h"
#include "lower/pto/PTOUtil.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// A vectorize directive asks for at most this many lanes; a larger factor is a tile that the user chose.
constexpr int max_lanes = 256;

template <typename Change>
void for_each_definition(Definition def, const Change &change) {
    change(def);
    for (const Specialization &s : def.specializations()) {
        if (s.failure_message.empty()) {
            for_each_definition(s.definition, change);
        }
    }
}

template <typename Change>
void for_each_stage(Function &f, const Change &change) {
    if (!f.has_pure_definition()) {
        return;
    }
    for_each_definition(f.definition(), [&](Definition &d) { change(d, 0); });
    for (int i = 0; i < (int)f.updates().size(); i++) {
        for_each_definition(f.update(i), [&](Definition &d) { change(d, i + 1); });
    }
}

void run_blocks_on_threads(Definition &def) {
    for (Dim &d : def.schedule().dims()) {
        if (d.device_api == DeviceAPI::PTO) {
            d.device_api = DeviceAPI::None;
            if (d.for_type == ForType::GPUBlock) {
                d.for_type = ForType::Parallel;
            }
        }
    }
}

void refuse_threads(const Function &f, const Definition &def) {
    for (const Dim &d : def.schedule().dims()) {
        user_assert(d.for_type != ForType::GPUThread && d.for_type != ForType::GPULane)
            << "PTO, loop structure: " << f.name() << " runs its loop over " << var_of_loop(d.var)
            << " on the threads of a GPU, which a vector core does not have.\n  Vectorize " << var_of_loop(d.var) << " instead.\n";
    }
}

void refuse_extern_stage(const Function &f) {
    user_assert(!f.has_extern_definition())
        << "PTO, call: " << f.name() << " is computed by the extern function " << f.extern_function_name()
        << ", which kernels cannot call.\n  Compute it before the pipeline, and pass it as an ImageParam.\n";
}

void refuse_tracing(const Function &f) {
    user_assert(!f.is_tracing_loads() && !f.is_tracing_stores() && !f.is_tracing_realizations())
        << "PTO, statement: " << f.name() << " is traced, but a kernel has nobody to report to.\n"
        << "  Take trace_loads, trace_stores and trace_realizations away, or compile for the CPU, where the same schedule runs.\n";
}

bool is_site(const LowerContext &ctx, const std::string &loop) {
    auto at = [&](const LoopLevel &level) {
        return level.defined() && !level.is_inlined() && !level.is_root() && level.match(loop);
    };
    return std::any_of(ctx.env.begin(), ctx.env.end(), [&](const auto &entry) {
        const FuncSchedule &s = entry.second.schedule();
        return at(s.compute_level()) || at(s.store_level()) || at(s.hoist_storage_level());
    });
}

/// split(x, xo, xi, 64) with xi vectorized and only xo around it   →   x vectorized, 64 lanes preferred.
void merge_vector_splits(LowerContext &ctx, const Function &f, Definition &def, int stage) {
    StageSchedule &schedule = def.schedule();
    if (!schedule.fused_pairs().empty() || !schedule.fuse_level().level.is_inlined()) {
        return;
    }
    const std::string prefix = f.name() + ".s" + std::to_string(stage) + ".";
    std::vector<Dim> &dims = schedule.dims();
    std::vector<Split> &splits = schedule.splits();
    for (Split &s : splits) {
        // Moved inwards, tiles would begin anywhere; a guard costs nothing where lanes have masks.
        const bool moves = s.tail == TailStrategy::ShiftInwards || s.tail == TailStrategy::ShiftInwardsAndBlend ||
                           s.tail == TailStrategy::RoundUpAndBlend;
        s.tail = moves ? TailStrategy::GuardWithIf : s.tail;
    }
    for (size_t i = 0; i + 1 < dims.size(); i++) {
        const Dim inner = dims[i], outer = dims[i + 1];
        if (inner.for_type != ForType::Vectorized || outer.for_type != ForType::Serial || outer.hint.defined()) {
            continue;
        }
        const auto split = std::find_if(splits.begin(), splits.end(), [&](const Split &s) {
            return s.is_split() && s.inner == inner.var && s.outer == outer.var;
        });
        if (split == splits.end() || is_site(ctx, prefix + outer.var) || is_site(ctx, prefix + inner.var)) {
            continue;
        }
        const std::optional<int64_t> lanes = as_const_int(split->factor);
        if (!lanes || *lanes > max_lanes) {
            continue;
        }
        dims[i].var = split->old_var;
        dims[i].dim_type = outer.dim_type;
        dims.erase(dims.begin() + (ptrdiff_t)i + 1);
        ctx.pto->lanes[prefix + split->old_var] = (int)*lanes;
        splits.erase(split);
    }
}

}  // namespace

bool for_pto(const LowerContext &ctx) {
    return ctx.target.has_feature(Target::PTO);
}

bool for_cpu(const LowerContext &ctx) {
    return !for_pto(ctx);
}

void adapt_pto_schedules(LowerContext &ctx) {
    if (for_cpu(ctx)) {
        for (auto &entry : ctx.env) {
            Function &f = entry.second;
            if (f.schedule().memory_type() == MemoryType::UB) {
                f.schedule().memory_type() = MemoryType::Auto;
            }
            for_each_stage(f, [](Definition &d, int) { run_blocks_on_threads(d); });
        }
        return;
    }
    ctx.pto = std::make_shared<PTOProgram>();
    ctx.pto->name = ctx.pipeline_name;
    // The host asks the launch plan, not the kernels.
    ctx.target.set_feature(Target::NoBoundsQuery);
    for (auto &entry : ctx.env) {
        entry.second.schedule().async() = false;
        refuse_extern_stage(entry.second);
        refuse_tracing(entry.second);
        for_each_stage(entry.second, [&](Definition &d, int) { refuse_threads(entry.second, d); });
        for_each_stage(entry.second,
                       [&](Definition &d, int stage) { merge_vector_splits(ctx, entry.second, d, stage); });
    }
}

}  // namespace Internal
}  // namespace Halide
