#include "api/LoopDirectives.h"

#include <limits>

#include "api/Func.h"
#include "api/LoopNestEditor.h"
#include "api/Stage.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "simplify/Simplify.h"

namespace Halide {

using namespace Internal;

namespace {

/// A fresh loop of the same kind as v.
VarOrRVar fresh(const VarOrRVar &v) {
    return v.is_rvar ? VarOrRVar(RVar()) : VarOrRVar(Var());
}

void set_gpu(LoopNestEditor editor, ForType type, DeviceAPI api, const char *directive,
             const std::vector<VarOrRVar> &vars) {
    for (const VarOrRVar &v : vars) {
        editor.set_device_api(v, api, directive);
        editor.set_loop_type(v, type, directive);
    }
}

}  // namespace

template <typename Self>
LoopNestEditor LoopDirectives<Self>::edit() {
    return LoopNestEditor(self().directive_stage());
}

template <typename Self>
Self &LoopDirectives<Self>::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                                  const Expr &factor, TailStrategy tail) {
    edit().split(old, outer, inner, factor, tail);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused) {
    edit().fuse(inner, outer, fused);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::rename(const VarOrRVar &old_name, const VarOrRVar &new_name) {
    edit().rename(old_name, new_name);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::serial(const VarOrRVar &var) {
    edit().set_loop_type(var, ForType::Serial, "serial");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::parallel(const VarOrRVar &var) {
    edit().set_loop_type(var, ForType::Parallel, "parallel");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::parallel(const VarOrRVar &var, const Expr &task_size, TailStrategy tail) {
    return split(var, var, fresh(var), task_size, tail).parallel(var);
}

template <typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &var) {
    return vectorize(var, VectorizeIn::SIMD);
}

template <typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &var, const Expr &factor, TailStrategy tail) {
    return vectorize(var, factor, VectorizeIn::SIMD, tail);
}

template <typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &var, VectorizeIn where) {
    edit().set_loop_type(var, where == VectorizeIn::SWAR ? ForType::VectorizedSWAR : ForType::Vectorized, "vectorize");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &var, const Expr &factor, VectorizeIn where, TailStrategy tail) {
    const VarOrRVar inner = fresh(var);
    return split(var, var, inner, factor, tail).vectorize(inner, where);
}

template <typename Self>
Self &LoopDirectives<Self>::unroll(const VarOrRVar &var) {
    edit().set_loop_type(var, ForType::Unrolled, "unroll");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::unroll(const VarOrRVar &var, const Expr &factor, TailStrategy tail) {
    const VarOrRVar inner = fresh(var);
    return split(var, var, inner, factor, tail).unroll(inner);
}

template <typename Self>
Self &LoopDirectives<Self>::unroll_hint(const VarOrRVar &var) {
    edit().set_hint(var, UnrollHint::full());
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::unroll_hint(const VarOrRVar &var, const Expr &factor) {
    const Expr simple = factor.defined() ? simplify(factor) : factor;
    const auto value = factor.defined() ? as_const_int(simple) : std::nullopt;
    user_assert(value && *value >= 1 && *value <= std::numeric_limits<int>::max())
        << edit().name() << ".unroll_hint(" << var.name() << ", " << simple
        << "): the factor must be a constant int of at least 1.\n";
    edit().set_hint(var, UnrollHint::by((int)*value));
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::partition(const VarOrRVar &var, Partition policy) {
    edit().set_partition({var}, policy, "partition");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::never_partition(const std::vector<VarOrRVar> &vars) {
    edit().set_partition(vars, Partition::Never, "never_partition");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::never_partition_all() {
    edit().set_all_partitions(Partition::Never);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::always_partition(const std::vector<VarOrRVar> &vars) {
    edit().set_partition(vars, Partition::Always, "always_partition");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::always_partition_all() {
    edit().set_all_partitions(Partition::Always);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
                                 const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
                                 TailStrategy tail) {
    return tile({x, y}, {xo, yo}, {xi, yi}, {xfactor, yfactor}, tail);
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
                                 const Expr &xfactor, const Expr &yfactor, TailStrategy tail) {
    return tile({x, y}, {x, y}, {xi, yi}, {xfactor, yfactor}, tail);
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
                                 const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
                                 const std::vector<TailStrategy> &tails) {
    const size_t n = previous.size();
    user_assert(n > 0) << edit().name() << ".tile: no loops are given.\n";
    user_assert(outers.size() == n && inners.size() == n && factors.size() == n && tails.size() == n)
        << edit().name() << ".tile: the lists have different lengths: " << n << " loops to tile, " << outers.size()
        << " outer and " << inners.size() << " inner names, " << factors.size() << " factors and " << tails.size()
        << " tail strategies.\n";
    for (size_t i = 0; i < n; i++) {
        split(previous[i], outers[i], inners[i], factors[i], tails[i]);
    }
    std::vector<VarOrRVar> order = inners;
    order.insert(order.end(), outers.begin(), outers.end());
    edit().reorder(order, "tile");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
                                 const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
                                 TailStrategy tail) {
    return tile(previous, outers, inners, factors, std::vector<TailStrategy>(previous.size(), tail));
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &inners,
                                 const std::vector<Expr> &factors, TailStrategy tail) {
    return tile(previous, previous, inners, factors, tail);
}

template <typename Self>
Self &LoopDirectives<Self>::reorder(const std::vector<VarOrRVar> &vars) {
    edit().reorder(vars);
    return self();
}

template <typename Self>
Stage LoopDirectives<Self>::specialize(const Expr &condition) {
    return edit().specialize(condition);
}

template <typename Self>
void LoopDirectives<Self>::specialize_fail(const std::string &message) {
    edit().specialize_fail(message);
}

template <typename Self>
Self &LoopDirectives<Self>::allow_race_conditions() {
    edit().allow_race_conditions();
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::atomic(bool override_associativity_test) {
    edit().atomic(override_associativity_test);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(LoopLevel loop_level,
                                         const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    edit().compute_with(loop_level, align);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(LoopLevel loop_level, LoopAlignStrategy align) {
    loop_level.lock();
    std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> aligns;
    if (!loop_level.is_inlined() && !loop_level.is_root()) {
        aligns.emplace_back(loop_level.var(), align);
    }
    edit().compute_with(loop_level, aligns);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const Stage &s, const VarOrRVar &var,
                                         const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
    edit().compute_with(LoopLevel(s.function(), var, (int)s.stage_index()), align);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const Stage &s, const VarOrRVar &var, LoopAlignStrategy align) {
    edit().compute_with(LoopLevel(s.function(), var, (int)s.stage_index()), {{var, align}});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::prefetch(const Func &f, const VarOrRVar &at, const VarOrRVar &from, Expr offset,
                                     PrefetchBoundStrategy strategy) {
    edit().prefetch(f.name(), at, from, offset, strategy, Parameter());
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::prefetch(const Parameter &param, const VarOrRVar &at, const VarOrRVar &from, Expr offset,
                                     PrefetchBoundStrategy strategy) {
    edit().prefetch(param.name(), at, from, offset, strategy, param);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::stream_stores() {
    edit().stream_stores();
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::stream_loads() {
    edit().stream_loads({});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::stream_loads(const std::vector<Func> &producers) {
    edit().stream_loads(producers);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::eager_inline(const std::vector<Func> &fs) {
    edit().eager_inline(fs);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_threads(const VarOrRVar &x, DeviceAPI api) {
    set_gpu(edit(), ForType::GPUThread, api, "gpu_threads", {x});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_threads(const VarOrRVar &x, const VarOrRVar &y, DeviceAPI api) {
    set_gpu(edit(), ForType::GPUThread, api, "gpu_threads", {x, y});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_threads(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, DeviceAPI api) {
    set_gpu(edit(), ForType::GPUThread, api, "gpu_threads", {x, y, z});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_lanes(const VarOrRVar &x, DeviceAPI api) {
    set_gpu(edit(), ForType::GPULane, api, "gpu_lanes", {x});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_single_thread(DeviceAPI api) {
    // One block of one thread outside of all loops.
    const Var block, thread;
    split(Var::outermost(), Var::outermost(), thread, 1);
    split(Var::outermost(), Var::outermost(), block, 1);
    return gpu_blocks(block, api).gpu_threads(thread, api);
}

/// How the user spells loops over blocks of a device.
static const char *blocks_directive(DeviceAPI api) {
    return api == DeviceAPI::PTO ? "pto_blocks" : "gpu_blocks";
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_blocks(const VarOrRVar &x, DeviceAPI api) {
    set_gpu(edit(), ForType::GPUBlock, api, blocks_directive(api), {x});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_blocks(const VarOrRVar &x, const VarOrRVar &y, DeviceAPI api) {
    set_gpu(edit(), ForType::GPUBlock, api, blocks_directive(api), {x, y});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_blocks(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, DeviceAPI api) {
    set_gpu(edit(), ForType::GPUBlock, api, blocks_directive(api), {x, y, z});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::gpu(const VarOrRVar &bx, const VarOrRVar &tx, DeviceAPI api) {
    return gpu_blocks(bx, api).gpu_threads(tx, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &tx, const VarOrRVar &ty,
                                DeviceAPI api) {
    return gpu_blocks(bx, by, api).gpu_threads(tx, ty, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu(const VarOrRVar &bx, const VarOrRVar &by, const VarOrRVar &bz, const VarOrRVar &tx,
                                const VarOrRVar &ty, const VarOrRVar &tz, DeviceAPI api) {
    return gpu_blocks(bx, by, bz, api).gpu_threads(tx, ty, tz, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &bx, const VarOrRVar &tx, const Expr &x_size,
                                     TailStrategy tail, DeviceAPI api) {
    return split(x, bx, tx, x_size, tail).gpu(bx, tx, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &tx, const Expr &x_size, TailStrategy tail,
                                     DeviceAPI api) {
    return gpu_tile(x, x, tx, x_size, tail, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &bx, const VarOrRVar &by,
                                     const VarOrRVar &tx, const VarOrRVar &ty, const Expr &x_size, const Expr &y_size,
                                     TailStrategy tail, DeviceAPI api) {
    return tile({x, y}, {bx, by}, {tx, ty}, {x_size, y_size}, tail).gpu(bx, by, tx, ty, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &tx, const VarOrRVar &ty,
                                     const Expr &x_size, const Expr &y_size, TailStrategy tail, DeviceAPI api) {
    return gpu_tile(x, y, x, y, tx, ty, x_size, y_size, tail, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, const VarOrRVar &bx,
                                     const VarOrRVar &by, const VarOrRVar &bz, const VarOrRVar &tx, const VarOrRVar &ty,
                                     const VarOrRVar &tz, const Expr &x_size, const Expr &y_size, const Expr &z_size,
                                     TailStrategy tail, DeviceAPI api) {
    return tile({x, y, z}, {bx, by, bz}, {tx, ty, tz}, {x_size, y_size, z_size}, tail).gpu(bx, by, bz, tx, ty, tz, api);
}

template <typename Self>
Self &LoopDirectives<Self>::gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, const VarOrRVar &tx,
                                     const VarOrRVar &ty, const VarOrRVar &tz, const Expr &x_size, const Expr &y_size,
                                     const Expr &z_size, TailStrategy tail, DeviceAPI api) {
    return gpu_tile(x, y, z, x, y, z, tx, ty, tz, x_size, y_size, z_size, tail, api);
}

template <typename Self>
Self &LoopDirectives<Self>::pto_blocks(const VarOrRVar &x) {
    return gpu_blocks(x, DeviceAPI::PTO);
}

template <typename Self>
Self &LoopDirectives<Self>::pto_blocks(const VarOrRVar &x, const VarOrRVar &y) {
    return gpu_blocks(x, y, DeviceAPI::PTO);
}

template <typename Self>
Self &LoopDirectives<Self>::pto_blocks(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z) {
    return gpu_blocks(x, y, z, DeviceAPI::PTO);
}

template <typename Self>
Self &LoopDirectives<Self>::hexagon(const VarOrRVar &x) {
    edit().set_device_api(x, DeviceAPI::Hexagon, "hexagon");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::sme_streaming(const VarOrRVar &x) {
    edit().set_device_api(x, DeviceAPI::SMEStreaming, "sme_streaming");
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::host(const VarOrRVar &x) {
    edit().set_device_api(x, DeviceAPI::Host, "host");
    return self();
}

template class LoopDirectives<Func>;
template class LoopDirectives<Stage>;

}  // namespace Halide
