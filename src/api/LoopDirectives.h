#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/VarOrRVar.h"
#include "func/Schedule.h"
#include "ir/Enums.h"
#include "ir/Parameter.h"

namespace Halide {

class Func;
class Stage;

namespace Internal {
class LoopNestEditor;
}

/// The schedule directives that act on the loop nest of one stage. A Stage applies them to itself, a Func to its pure
/// definition; both return themselves, for chaining.
///
/// Errors raised by all: CompileError if a name is not a dimension of the stage (the message lists them), if a new
/// name is taken, or if the change could alter the result.
///
/// @see  `Stage` for updates, `Func` for directives that concern a Func as a whole.
template <typename Self>
class LoopDirectives {
    Self &self() { return *static_cast<Self *>(this); }
    Internal::LoopNestEditor edit();

protected:
    LoopDirectives() = default;

public:
    /// Splits dimension `old` into `outer` and `inner`, so that old = outer * factor + inner + min.
    ///
    /// @param factor  iterations of `inner`, at least 1; may be an expression of parameters.
    /// @param tail    what happens if the extent is no multiple of `factor`; Auto chooses what is safe.
    Self &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner, const Expr &factor,
                TailStrategy tail = TailStrategy::Auto);
    /// Makes one loop of two; `inner` varies fastest.
    Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    /// Gives a loop another name.
    Self &rename(const VarOrRVar &old_name, const VarOrRVar &new_name);

    /// Runs the iterations one after the other (the default).
    Self &serial(const VarOrRVar &var);
    /// Runs the iterations as parallel tasks. With `task_size`, splits first: each task runs that many.
    // @{
    Self &parallel(const VarOrRVar &var);
    Self &parallel(const VarOrRVar &var, const Expr &task_size, TailStrategy tail = TailStrategy::Auto);
    // @}
    /// Turns the iterations into lanes. The extent must be constant; with `factor`, splits first and makes the inner
    /// loop vectors. VectorizeIn::SWAR packs the lanes into one integer register.
    // @{
    Self &vectorize(const VarOrRVar &var);
    Self &vectorize(const VarOrRVar &var, const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    Self &vectorize(const VarOrRVar &var, VectorizeIn where);
    Self &vectorize(const VarOrRVar &var, const Expr &factor, VectorizeIn where,
                    TailStrategy tail = TailStrategy::Auto);
    // @}
    /// Repeats the body instead of looping. The extent must be constant; with `factor`, splits first.
    // @{
    Self &unroll(const VarOrRVar &var);
    Self &unroll(const VarOrRVar &var, const Expr &factor, TailStrategy tail = TailStrategy::Auto);
    // @}
    /// Keeps the loop and tells the compiler behind to unroll it, fully or by a factor. Its bounds may vary.
    ///
    /// Only a serial loop can have a hint, and only one. If the loop is split later, the outer part keeps the hint, as
    /// vectorize(x, 8) leaves a loop called x; a loop with a hint cannot be fused; rename, reorder and rfactor keep it.
    /// Where a loop is cut into prologue, steady state and epilogue, a factor stays with the steady state, a full hint
    /// with all three. A target whose compiler takes no hints has the loop expanded here.
    ///
    /// @param factor  a constant integer, at least 1.
    /// @throws CompileError  the loop is parallel, vectorized, unrolled, a device loop, or has a hint; or the factor is
    ///                       no positive constant. The same if a later directive makes the loop such a one.
    // @{
    Self &unroll_hint(const VarOrRVar &var);
    Self &unroll_hint(const VarOrRVar &var, const Expr &factor);
    // @}

    /// Whether a loop may be cut into prologue, steady state and epilogue.
    Self &partition(const VarOrRVar &var, Partition partition_policy);
    // @{
    Self &never_partition(const std::vector<VarOrRVar> &vars);
    template <typename... Args>
    std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...), Self &> never_partition(const VarOrRVar &x,
                                                                                              Args &&...args) {
        return never_partition(std::vector<VarOrRVar>{x, VarOrRVar(std::forward<Args>(args))...});
    }
    Self &never_partition_all();
    Self &always_partition(const std::vector<VarOrRVar> &vars);
    template <typename... Args>
    std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...), Self &> always_partition(const VarOrRVar &x,
                                                                                               Args &&...args) {
        return always_partition(std::vector<VarOrRVar>{x, VarOrRVar(std::forward<Args>(args))...});
    }
    Self &always_partition_all();
    // @}

    /// Splits two dimensions and reorders to inner tiles inside outer ones. The short form reuses `x` and `y` as the
    /// names of the outer loops.
    // @{
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo, const VarOrRVar &xi,
               const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor,
               const Expr &yfactor, TailStrategy tail = TailStrategy::Auto);
    // @}
    /// The same in any number of dimensions, with one tail strategy for all or one each.
    // @{
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
               const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
               const std::vector<TailStrategy> &tails);
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
               const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
               TailStrategy tail = TailStrategy::Auto);
    Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &inners,
               const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);
    // @}

    /// Permutes the listed loops among the places they have, innermost first. Other loops stay where they are.
    // @{
    Self &reorder(const std::vector<VarOrRVar> &vars);
    template <typename... Args>
    std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...), Self &>
    reorder(const VarOrRVar &x, const VarOrRVar &y, Args &&...args) {
        return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(std::forward<Args>(args))...});
    }
    template <size_t N>
    Self &reorder(const VarOrRVar (&vars)[N]) {
        return reorder(std::vector<VarOrRVar>(vars, vars + N));
    }
    // @}

    /// A copy of the definition, as scheduled so far, that is used when `condition` holds at run time. Directives on
    /// the returned Stage concern the copy.
    Stage specialize(const Expr &condition);
    /// Ends the list of specializations: if none applies, the pipeline fails with this message.
    void specialize_fail(const std::string &message);

    /// Promises that updates to the same place from parallel iterations do no harm.
    Self &allow_race_conditions();
    /// Makes the updates of this stage atomic.
    ///
    /// @param override_associativity_test  believe that the update is associative and commutative.
    Self &atomic(bool override_associativity_test = false);

    /// Merges the outer loops of this stage, down to `var`, with those of another.
    // @{
    Self &compute_with(LoopLevel loop_level, const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    Self &compute_with(LoopLevel loop_level, LoopAlignStrategy align = LoopAlignStrategy::Auto);
    Self &compute_with(const Stage &s, const VarOrRVar &var,
                       const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    Self &compute_with(const Stage &s, const VarOrRVar &var, LoopAlignStrategy align = LoopAlignStrategy::Auto);
    // @}

    /// Inside loop `at`, prefetches what iteration `from` + `offset` will read of a Func or an image.
    // @{
    Self &prefetch(const Func &f, const VarOrRVar &at, const VarOrRVar &from, Expr offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    Self &prefetch(const Parameter &param, const VarOrRVar &at, const VarOrRVar &from, Expr offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
    template <typename T>
    Self &prefetch(const T &image, const VarOrRVar &at, const VarOrRVar &from, Expr offset = 1,
                   PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf) {
        return prefetch(image.parameter(), at, from, std::move(offset), strategy);
    }
    // @}

    /// Stores of this stage, or loads of some producers (all, without argument), bypass the caches.
    // @{
    Self &stream_stores();
    Self &stream_loads();
    Self &stream_loads(const std::vector<Func> &producers);
    // @}

    /// Replaces calls of these pure Funcs by their definitions now. The short form takes them one by one.
    // @{
    Self &eager_inline(const std::vector<Func> &fs);
    template <typename... Args>
    Self &eager_inline(const Func &f, const Args &...args) {
        return eager_inline(std::vector<std::decay_t<decltype(f)>>{f, args...});
    }
    // @}

    /// Device loops. A target without the device refuses them when the pipeline is compiled.
    // @{
    Self &gpu_threads(const VarOrRVar &thread_x, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_threads(const VarOrRVar &thread_x, const VarOrRVar &thread_y,
                      DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_threads(const VarOrRVar &thread_x, const VarOrRVar &thread_y, const VarOrRVar &thread_z,
                      DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_lanes(const VarOrRVar &thread_x, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_single_thread(DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_blocks(const VarOrRVar &block_x, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_blocks(const VarOrRVar &block_x, const VarOrRVar &block_y, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_blocks(const VarOrRVar &block_x, const VarOrRVar &block_y, const VarOrRVar &block_z,
                     DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu(const VarOrRVar &block_x, const VarOrRVar &thread_x, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu(const VarOrRVar &block_x, const VarOrRVar &block_y, const VarOrRVar &thread_x, const VarOrRVar &thread_y,
              DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu(const VarOrRVar &block_x, const VarOrRVar &block_y, const VarOrRVar &block_z, const VarOrRVar &thread_x,
              const VarOrRVar &thread_y, const VarOrRVar &thread_z, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &bx, const VarOrRVar &tx, const Expr &x_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &tx, const Expr &x_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &bx, const VarOrRVar &by,
                   const VarOrRVar &tx, const VarOrRVar &ty, const Expr &x_size, const Expr &y_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &tx, const VarOrRVar &ty, const Expr &x_size,
                   const Expr &y_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, const VarOrRVar &bx, const VarOrRVar &by,
                   const VarOrRVar &bz, const VarOrRVar &tx, const VarOrRVar &ty, const VarOrRVar &tz,
                   const Expr &x_size, const Expr &y_size, const Expr &z_size, TailStrategy tail = TailStrategy::Auto,
                   DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &gpu_tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &z, const VarOrRVar &tx, const VarOrRVar &ty,
                   const VarOrRVar &tz, const Expr &x_size, const Expr &y_size, const Expr &z_size,
                   TailStrategy tail = TailStrategy::Auto, DeviceAPI device_api = DeviceAPI::Default_GPU);
    Self &pto_blocks(const VarOrRVar &block_x);
    Self &pto_blocks(const VarOrRVar &block_x, const VarOrRVar &block_y);
    Self &pto_blocks(const VarOrRVar &block_x, const VarOrRVar &block_y, const VarOrRVar &block_z);
    Self &hexagon(const VarOrRVar &x = Var::outermost());
    Self &sme_streaming(const VarOrRVar &x = Var::outermost());
    Self &host(const VarOrRVar &x = Var::outermost());
    // @}
};

extern template class LoopDirectives<Func>;
extern template class LoopDirectives<Stage>;

}  // namespace Halide
