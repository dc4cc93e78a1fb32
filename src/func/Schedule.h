#pragma once

#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/FunctionPtr.h"
#include "ir/Parameter.h"
#include "ir/Prefetch.h"
#include "ir/Reduction.h"
#include "support/IntrusivePtr.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace Halide {

class Func;
struct VarOrRVar;

namespace Internal {
class Function;
class IRVisitor;
class IRMutator;
struct LoopLevelContents;
struct FuncScheduleContents;
struct StageScheduleContents;
}  // namespace Internal

/// A place in the loop nests of a program: just inside one loop of one Func, or at the root, or "inlined".
///
/// A LoopLevel is a shared handle: `set` changes every copy. Until lowering locks it, it can be set again;
/// reading where it points needs it locked, because only then is the answer final.
class LoopLevel {
    Internal::IntrusivePtr<Internal::LoopLevelContents> contents;

    explicit LoopLevel(Internal::IntrusivePtr<Internal::LoopLevelContents> c) : contents(std::move(c)) {
    }
    void check_defined() const;
    void check_locked() const;
    void check_defined_and_locked() const;

public:
    /// The stage index that stands for "any stage that has this loop".
    static constexpr int any_stage = -1;

    /// The loop over `v` of stage `stage_index` of `f` (-1: any stage that has such a loop).
    LoopLevel(const Internal::Function &f, const VarOrRVar &v, int stage_index = any_stage);
    LoopLevel(const Func &f, const VarOrRVar &v, int stage_index = any_stage);

    /// The same by names; how the compiler itself makes one.
    LoopLevel(const std::string &func_name, const std::string &var_name, bool is_rvar, int stage_index = any_stage,
              bool locked = false);

    /// A level to be `set` before lowering.
    LoopLevel();

    /// The place where the Func is substituted into its users.
    static LoopLevel inlined();

    /// The place outside of all loops.
    static LoopLevel root();

    /// The stage of the Func that this loop belongs to, -1 for any. Needs a locked level.
    int stage_index() const;

    /// Makes this level, and all copies of it, mean what `other` means now.
    void set(const LoopLevel &other);

    /// Freezes the level: it can be read from now on, and not set any more.
    LoopLevel &lock();
    bool locked() const;

    /// True unless this is a default-constructed level that was never set.
    bool defined() const;

    /// @name Reading a locked level. Names are errors on root and inlined levels.
    // @{
    std::string func() const;
    VarOrRVar var() const;
    std::string func_name() const;
    std::string var_name() const;
    bool is_rvar() const;
    int get_stage_index() const;
    bool is_inlined() const;
    bool is_root() const;
    /// "f.x", "f.s1.x" with a stage, or the words for root and inlined.
    std::string to_string() const;
    // @}

    /// True if a loop of this full name (`f.s0.x`) is the one meant.
    bool match(const std::string &loop) const;

    /// True if both mean the same place, where an undefined stage matches any.
    bool match(const LoopLevel &other) const;

    /// Exact equality of the places meant. Allowed on unlocked levels.
    bool operator==(const LoopLevel &other) const;
    bool operator!=(const LoopLevel &other) const {
        return !(*this == other);
    }
};

/// Where a stage's outer loops are merged with those of another stage (`compute_with`).
struct FuseLoopLevel {
    LoopLevel level;
    /// How the loops are aligned, by dimension name; a missing entry is Auto.
    std::map<std::string, LoopAlignStrategy> align;

    FuseLoopLevel() : level(LoopLevel::inlined().lock()) {
    }
    FuseLoopLevel(const LoopLevel &level, std::map<std::string, LoopAlignStrategy> align)
        : level(level), align(std::move(align)) {
    }
};

namespace Internal {

/// One step in the construction of a loop nest: a split, a rename, or a fusion of two dimensions.
struct Split {
    /// For FuseVars, `old_var` is the new, fused loop, made from `outer` and `inner`.
    /// For RenameVar, `outer` is the new name.
    std::string old_var, outer, inner;
    Expr factor;
    /// The iterations must be exactly the original ones: no rounding up, no repetition.
    bool exact = false;
    TailStrategy tail = TailStrategy::Auto;

    enum SplitType { SplitVar = 0, RenameVar, FuseVars };
    SplitType split_type = SplitVar;

    bool is_rename() const {
        return split_type == RenameVar;
    }
    bool is_split() const {
        return split_type == SplitVar;
    }
    bool is_fuse() const {
        return split_type == FuseVars;
    }
};

/// What is known about the order in which the iterations of a dimension may run.
enum class DimType {
    /// A Var: any order.
    PureVar = 0,
    /// An RVar whose iterations are proven independent: any order.
    PureRVar,
    /// An RVar: in order.
    ImpureRVar,
};

/// One loop of a stage.
struct Dim {
    std::string var;
    ForType for_type = ForType::Serial;
    DeviceAPI device_api = DeviceAPI::None;
    DimType dim_type = DimType::PureVar;
    Partition partition_policy = Partition::Auto;
    UnrollHint hint = {};

    bool is_pure() const {
        return dim_type == DimType::PureVar || dim_type == DimType::PureRVar;
    }
    bool is_rvar() const {
        return dim_type == DimType::PureRVar || dim_type == DimType::ImpureRVar;
    }
    bool is_unordered_parallel() const {
        return Halide::Internal::is_unordered_parallel(for_type);
    }
    bool is_parallel() const {
        return Halide::Internal::is_parallel(for_type);
    }
};

/// A bound on a dimension of a Func: from `bound`, `align_bounds`, or an estimate.
/// Undefined parts do not constrain.
struct Bound {
    std::string var;
    Expr min, extent;
    Expr modulus, remainder;
};

/// One dimension of the storage of a Func, innermost first.
struct StorageDim {
    std::string var;
    /// Round the extent in memory up to a multiple of this.
    Expr alignment;
    /// Allocate exactly this much.
    Expr bound;
    /// Store in a circular buffer of this extent.
    Expr fold_factor;
    bool fold_forward = true;
};

/// Two stages whose loops down to `var_name` are merged; the first runs first.
struct FusedPair {
    std::string func_1, func_2;
    size_t stage_1 = 0, stage_2 = 0;
    std::string var_name;

    FusedPair() = default;
    FusedPair(const std::string &f1, size_t s1, const std::string &f2, size_t s2, const std::string &var)
        : func_1(f1), func_2(f2), stage_1(s1), stage_2(s2), var_name(var) {
    }

    bool operator==(const FusedPair &other) const;
    bool operator<(const FusedPair &other) const;
};

/// The part of a schedule that concerns a Func as a whole: where and how it is computed and stored.
class FuncSchedule {
    IntrusivePtr<FuncScheduleContents> contents;

public:
    FuncSchedule();
    explicit FuncSchedule(IntrusivePtr<FuncScheduleContents> c);
    FuncSchedule(const FuncSchedule &other);
    FuncSchedule &operator=(const FuncSchedule &other);
    ~FuncSchedule();

    /// A copy that shares no mutable state with this one, except LoopLevels. Wrappers are replaced by their copies; those
    /// that `copied_map` does not know are left out.
    FuncSchedule deep_copy(const std::map<FunctionPtr, FunctionPtr> &copied_map) const;

    /// Results are kept in the process-wide cache.
    bool &memoized();
    bool memoized() const;

    /// What identifies entries to `memoization_cache_evict`.
    Expr &memoize_eviction_key();
    Expr memoize_eviction_key() const;

    /// The Func is produced by a task of its own.
    bool &async();
    bool async() const;

    /// Number of copies of the storage, undefined for one.
    Expr &ring_buffer();
    Expr ring_buffer() const;

    /// Conditions, with their messages, under which a change of type keeps all values.
    std::vector<std::pair<Expr, std::string>> &type_change_checks();
    const std::vector<std::pair<Expr, std::string>> &type_change_checks() const;

    std::vector<StorageDim> &storage_dims();
    const std::vector<StorageDim> &storage_dims() const;

    MemoryType &memory_type();
    MemoryType memory_type() const;

    std::vector<Bound> &bounds();
    const std::vector<Bound> &bounds() const;

    std::vector<Bound> &estimates();
    const std::vector<Bound> &estimates() const;

    /// Wrappers of this Func, by the name of the consumer that shall read them; "" is the global one.
    std::map<std::string, FunctionPtr> &wrappers();
    const std::map<std::string, FunctionPtr> &wrappers() const;
    void add_wrapper(const std::string &f, const FunctionPtr &wrapper);

    LoopLevel &store_level();
    const LoopLevel &store_level() const;
    LoopLevel &compute_level();
    const LoopLevel &compute_level() const;
    LoopLevel &hoist_storage_level();
    const LoopLevel &hoist_storage_level() const;

    /// Visits, or rewrites, every Expr in the schedule.
    void accept(IRVisitor *v) const;
    void mutate(IRMutator *m);
};

/// The part of a schedule that concerns one stage: its loop nest.
class StageSchedule {
    IntrusivePtr<StageScheduleContents> contents;

public:
    StageSchedule();
    explicit StageSchedule(IntrusivePtr<StageScheduleContents> c);
    StageSchedule(const std::vector<ReductionVariable> &rvars, const std::vector<Split> &splits,
                  const std::vector<Dim> &dims, const std::vector<PrefetchDirective> &prefetches,
                  const FuseLoopLevel &fuse_level, const std::vector<FusedPair> &fused_pairs, bool touched,
                  bool allow_race_conditions, bool atomic, bool override_atomic_associativity_test);
    StageSchedule(const StageSchedule &other);
    StageSchedule &operator=(const StageSchedule &other);
    ~StageSchedule();

    StageSchedule get_copy() const;

    /// Some directive was applied, or the stage was marked as deliberately unscheduled.
    bool &touched();
    bool touched() const;

    /// The reduction variables, with bounds; RVars made by rfactor included.
    std::vector<ReductionVariable> &rvars();
    const std::vector<ReductionVariable> &rvars() const;

    /// Splits, renames and fusions in the order in which they were asked for.
    std::vector<Split> &splits();
    const std::vector<Split> &splits() const;

    /// The loops, innermost first; the last is `__outermost`.
    std::vector<Dim> &dims();
    const std::vector<Dim> &dims() const;

    std::vector<PrefetchDirective> &prefetches();
    const std::vector<PrefetchDirective> &prefetches() const;

    FuseLoopLevel &fuse_level();
    const FuseLoopLevel &fuse_level() const;

    /// Filled by `realization_order`: the stages merged into this one.
    std::vector<FusedPair> &fused_pairs();
    const std::vector<FusedPair> &fused_pairs() const;

    bool &allow_race_conditions();
    bool allow_race_conditions() const;

    bool &atomic();
    bool atomic() const;

    bool &override_atomic_associativity_test();
    bool override_atomic_associativity_test() const;

    bool &stream_stores();
    bool stream_stores() const;

    /// Producers whose loads bypass the cache: none (no value), all (an empty list), or those named.
    std::optional<std::vector<std::string>> &stream_loads_names();
    const std::optional<std::vector<std::string>> &stream_loads_names() const;

    void accept(IRVisitor *v) const;
    void mutate(IRMutator *m);
};

}  // namespace Internal
}  // namespace Halide
