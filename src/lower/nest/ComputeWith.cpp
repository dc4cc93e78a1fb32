#include "lower/nest/ComputeWith.h"

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "lower/nest/ExternStage.h"
#include "lower/nest/StageNest.h"
#include "support/Util.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace Halide {
namespace Internal {

namespace {

/// A stage in the tree of those that are merged.
struct Member {
    Function f;
    int stage = 0;
    StageNest nest;
    /// The member that this one is attached to; -1 for the root of a tree.
    int parent = -1;
    /// How many loops, from the outermost, are shared with the parent.
    int shared = 0;
    /// By how much the coordinates of the merged loops exceed those of this stage, per shared loop.
    std::vector<Expr> shift;
    std::vector<int> children;
};

class FusedStages {
    const std::vector<Function> &group;
    const Target &target;
    Inliner &inliner;
    std::vector<Member> members;
    std::map<std::pair<std::string, int>, int> index;

    Definition definition(const Member &m) const {
        return m.stage == 0 ? m.f.definition() : m.f.update(m.stage - 1);
    }

    static std::string last_component(const std::string &name) {
        const size_t dot = name.rfind('.');
        return dot == std::string::npos ? name : name.substr(dot + 1);
    }

    static Expr symbol(const StageNest::Loop &l, const char *suffix) {
        return Variable::make(Int(32), l.name + suffix);
    }

    int shared_loops(const Member &m, const std::string &var) const {
        for (size_t i = 0; i < m.nest.loops.size(); i++) {
            const std::string &name = m.nest.loops[i].var;
            if (name == var || ends_with(name, "." + var)) {
                return (int)i + 1;
            }
        }
        internal_error << "No loop over " << var << " in " << m.f.name();
    }

    void attach(const Member &parent_stage, const FusedPair &pair) {
        const int parent = index.at({pair.func_1, (int)pair.stage_1}), child = index.at({pair.func_2, (int)pair.stage_2});
        Member &c = members[child];
        c.parent = parent;
        c.shared = shared_loops(parent_stage, pair.var_name);
    }

    /// Shifts of the coordinates of `child`, given those of the stage that it is aligned with.
    void align(Member &child, const Member &with) const {
        const std::map<std::string, LoopAlignStrategy> &strategies =
            definition(child).schedule().fuse_level().align;
        for (int i = 0; i < child.shared; i++) {
            const StageNest::Loop &a = with.nest.loops[i], &b = child.nest.loops[i];
            const Expr base = i < (int)with.shift.size() ? with.shift[i] : Expr(0);
            LoopAlignStrategy strategy = LoopAlignStrategy::Auto;
            for (const auto &[var, s] : strategies) {
                if (last_component(var) == last_component(b.var)) {
                    strategy = s;
                }
            }
            switch (strategy) {
            case LoopAlignStrategy::AlignStart:
                child.shift.push_back(base + symbol(a, ".loop_min") - symbol(b, ".loop_min"));
                break;
            case LoopAlignStrategy::AlignEnd:
                child.shift.push_back(base + symbol(a, ".loop_max") - symbol(b, ".loop_max"));
                break;
            case LoopAlignStrategy::NoAlign:
            case LoopAlignStrategy::Auto:
                child.shift.push_back(base);
                break;
            }
        }
    }

    void build_members() {
        for (const Function &f : group) {
            for (int stage = 0; stage <= (int)f.updates().size(); stage++) {
                Member m;
                m.f = f;
                m.stage = stage;
                index[{f.name(), stage}] = (int)members.size();
                if (!(stage == 0 && f.has_extern_definition())) {
                    m.nest = build_stage_nest(f, stage, definition(m), inliner);
                }
                members.push_back(m);
            }
        }
        for (const Member &m : members) {
            for (const FusedPair &pair : definition(m).schedule().fused_pairs()) {
                attach(m, pair);
            }
        }
        // Parents before children, so that alignment can be added up.
        std::vector<bool> done(members.size(), false);
        std::function<void(int)> finish = [&](int i) {
            if (done[i]) {
                return;
            }
            done[i] = true;
            Member &m = members[i];
            if (m.parent < 0) {
                return;
            }
            finish(m.parent);
            align(m, members[m.parent]);
            // A stage that shares no more loops than its parent does runs beside its parent, in the same loops.
            while (members[m.parent].parent >= 0 && m.shared <= members[m.parent].shared) {
                m.parent = members[m.parent].parent;
            }
        };
        for (size_t i = 0; i < members.size(); i++) {
            finish((int)i);
        }
        for (size_t i = 0; i < members.size(); i++) {
            if (members[i].parent >= 0) {
                members[members[i].parent].children.push_back((int)i);
            }
        }
    }

    void collect(int root, std::vector<int> &tree) const {
        tree.push_back(root);
        for (int c : members[root].children) {
            collect(c, tree);
        }
    }

    /// The part of `m` inside the first `depth` loops, whose merged coordinates are `vars`, only where it is needed.
    Stmt own_part(const Member &m, int depth, const std::vector<Expr> &vars, bool keep_loops, Stmt inside) const {
        Expr in_range;
        for (int i = depth - 1; i >= 0; i--) {
            const StageNest::Loop &l = m.nest.loops[i];
            const Expr shift = i < (int)m.shift.size() ? m.shift[i] : Expr(0);
            const Expr own = is_const_zero(shift) ? vars[i] : vars[i] - shift;
            if (keep_loops) {
                inside = For::make(l.name, own, own, ForType::Serial, l.partition_policy, l.device_api, inside);
            } else {
                inside = LetStmt::make(l.name, own, inside);
            }
            const Expr here = own >= symbol(l, ".loop_min") && own <= symbol(l, ".loop_max");
            in_range = in_range.defined() ? here && in_range : here;
        }
        return in_range.defined() ? IfThenElse::make(likely(in_range), inside) : inside;
    }

    /// The smallest or largest coordinate of merged loop `i` that any of these needs.
    Expr fused_end(const std::vector<int> &stages, int i, bool upper) const {
        Expr result;
        for (int s : stages) {
            const Member &m = members[s];
            Expr end = symbol(m.nest.loops[i], upper ? ".loop_max" : ".loop_min");
            if (i < (int)m.shift.size() && !is_const_zero(m.shift[i])) {
                end = end + m.shift[i];
            }
            result = !result.defined() ? end : upper ? max(result, end) : min(result, end);
        }
        return result;
    }

    /// Members below `root` that take part in its loop number `i`.
    void sharing(int root, int i, std::vector<int> &result) const {
        for (int c : members[root].children) {
            if (members[c].shared > i) {
                result.push_back(c);
                sharing(c, i, result);
            }
        }
    }

    /// The stage and all below it, inside the loops with merged coordinates `vars`.
    Stmt emit(int root, const std::vector<Expr> &vars, std::vector<std::pair<std::string, Expr>> &lets) const {
        const Member &m = members[root];
        int deepest = (int)vars.size();
        for (int c : m.children) {
            deepest = std::max(deepest, members[c].shared);
        }
        return emit_loops(root, vars, deepest, lets);
    }

    Stmt emit_loops(int root, const std::vector<Expr> &vars, int deepest,
                    std::vector<std::pair<std::string, Expr>> &lets) const {
        const Member &m = members[root];
        const int depth = (int)vars.size();
        if (depth == deepest) {
            Stmt s = own_part(m, depth, vars, m.parent >= 0, m.nest.inner(depth));
            return with_children(root, s, vars, lets);
        }
        const StageNest::Loop &l = m.nest.loops[depth];
        const std::string name = m.nest.prefix + "fused." + l.var;
        std::vector<int> stages = {root};
        sharing(root, depth, stages);
        lets.emplace_back(name + ".loop_min", fused_end(stages, depth, false));
        lets.emplace_back(name + ".loop_max", fused_end(stages, depth, true));
        lets.emplace_back(name + ".loop_extent", Variable::make(Int(32), name + ".loop_max") -
                                                     Variable::make(Int(32), name + ".loop_min") + 1);
        std::vector<Expr> inner_vars = vars;
        inner_vars.push_back(Variable::make(Int(32), name));
        const Stmt body = emit_loops(root, inner_vars, deepest, lets);
        const Stmt loop = For::make(name, Variable::make(Int(32), name + ".loop_min"),
                                    Variable::make(Int(32), name + ".loop_max"), l.for_type, l.partition_policy,
                                    l.device_api, body, l.hint);
        return with_children(root, loop, vars, lets);
    }

    /// `s`, followed by the children that share exactly the loops around it.
    Stmt with_children(int root, Stmt s, const std::vector<Expr> &vars,
                       std::vector<std::pair<std::string, Expr>> &lets) const {
        std::vector<Stmt> stmts = {s};
        for (int c : members[root].children) {
            if (members[c].shared == (int)vars.size()) {
                stmts.push_back(emit(c, vars, lets));
            }
        }
        return stmts.size() == 1 ? s : Block::make(stmts);
    }

    Stmt emit_tree(int root) const {
        const Member &m = members[root];
        if (m.children.empty()) {
            if (m.stage == 0 && m.f.has_extern_definition()) {
                return build_extern_stage(m.f, target, inliner);
            }
            return build_stage(m.f, m.stage, inliner);
        }
        std::vector<std::pair<std::string, Expr>> lets;
        Stmt s = emit(root, {}, lets);
        for (size_t i = lets.size(); i > 0; i--) {
            s = LetStmt::make(lets[i - 1].first, lets[i - 1].second, s);
        }
        std::vector<int> tree;
        collect(root, tree);
        for (int i : tree) {
            s = members[i].nest.with_bounds(s);
        }
        return s;
    }

public:
    FusedStages(const std::vector<Function> &group, const Target &target, Inliner &inliner)
        : group(group), target(target), inliner(inliner) {
    }

    Stmt build() {
        build_members();

        // Trees in an order in which all stages of each Func come one after the other.
        std::vector<int> root_of(members.size());
        std::vector<int> roots;
        for (size_t i = 0; i < members.size(); i++) {
            if (members[i].parent < 0) {
                roots.push_back((int)i);
                std::vector<int> tree;
                collect((int)i, tree);
                for (int m : tree) {
                    root_of[m] = (int)i;
                }
            }
        }
        std::vector<Stmt> stmts;
        std::set<int> open, done;
        std::function<void(int)> visit = [&](int root) {
            if (done.count(root)) {
                return;
            }
            user_assert(open.insert(root).second)
                << "Invalid compute_with: the merged stages of Func \"" << members[root].f.name()
                << "\" and the others that are computed with it cannot be put in an order in which the stages of each Func "
                << "run one after the other.\n";
            std::vector<int> tree;
            collect(root, tree);
            for (int m : tree) {
                for (int stage = 0; stage < members[m].stage; stage++) {
                    const int before = root_of[index.at({members[m].f.name(), stage})];
                    if (before != root) {
                        visit(before);
                    }
                }
            }
            done.insert(root);
            stmts.push_back(emit_tree(root));
        };
        for (int root : roots) {
            visit(root);
        }
        return stmts.size() == 1 ? stmts[0] : Block::make(stmts);
    }
};

}  // namespace

Stmt build_fused_stages(const std::vector<Function> &group, const Target &target, Inliner &inliner) {
    return FusedStages(group, target, inliner).build();
}

}  // namespace Internal
}  // namespace Halide
