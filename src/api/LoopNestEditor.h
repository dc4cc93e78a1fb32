#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/Stage.h"

namespace Halide {
namespace Internal {

/// The primitive changes of one stage's loop nest, with their legality. Directives are made of these; not public.
class LoopNestEditor {
    Function function;
    Definition definition;
    StageSchedule &schedule;
    size_t stage_index;
    std::string stage_name;

    /// Position of a dimension, or -1.
    int find(const std::string &name) const;
    /// Position of a dimension; an error that names the directive if there is none.
    int get(const VarOrRVar &v, const std::string &directive) const;
    /// `f.split(x)`: how messages name what the user wrote.
    std::string call(const std::string &directive, const std::string &arguments) const;
    std::string loops() const;
    /// Errors if a new loop name is one of the existing dimensions other than those at the given positions.
    void check_new_name(const VarOrRVar &v, const std::string &what_was_called, const std::vector<int> &replaced) const;
    bool may_reorder(const std::vector<std::string> &rvars) const;
    void check_parallel_is_legal(const Dim &dim, const std::string &what_was_called) const;
    void check_blend_is_legal() const;
    std::vector<std::string> roots_of(const std::string &dim, std::vector<std::string> *on_the_way = nullptr) const;

public:
    explicit LoopNestEditor(const Stage &stage);

    void split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner, const Expr &factor,
               TailStrategy tail);
    void fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
    void rename(const VarOrRVar &old_name, const VarOrRVar &new_name);
    void reorder(const std::vector<VarOrRVar> &vars, const std::string &directive = "reorder");
    void set_loop_type(const VarOrRVar &v, ForType type, const std::string &directive);
    void set_device_api(const VarOrRVar &v, DeviceAPI api, const std::string &directive);
    void set_hint(const VarOrRVar &v, const UnrollHint &hint);
    void set_partition(const std::vector<VarOrRVar> &vars, Partition policy, const std::string &directive);
    void set_all_partitions(Partition policy);
    Stage specialize(const Expr &condition);
    void specialize_fail(const std::string &message);
    void allow_race_conditions();
    void atomic(bool override_associativity_test);
    void compute_with(const LoopLevel &level, const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
    void prefetch(const std::string &name, const VarOrRVar &at, const VarOrRVar &from, const Expr &offset,
                  PrefetchBoundStrategy strategy, const Parameter &param);
    void stream_stores();
    void stream_loads(const std::vector<Func> &producers);
    void eager_inline(const std::vector<Func> &fs);

    const std::string &name() const { return stage_name; }
};

/// Whether a dimension's full name (`x.xo.xoi`) is meant by the name in a directive (`xoi`).
bool dim_name_matches(const std::string &full_name, const std::string &name);

}  // namespace Internal
}  // namespace Halide
