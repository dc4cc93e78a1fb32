#include "func/Environment.h"

#include "ir/IR.h"
#include "ir/IRVisitor.h"
#include "support/Util.h"

#include <algorithm>
#include <functional>
#include <set>

namespace Halide {
namespace Internal {

namespace {

void add_function(std::map<std::string, Function> &to, const Function &f) {
    auto [it, inserted] = to.emplace(f.name(), f);
    user_assert(inserted || it->second.same_as(f))
        << "There are multiple Funcs with the name \"" << f.name() << "\" in one pipeline.\n";
}

/// Collects the functions called in expressions.
class FindCalls : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        if (op->call_type == Call::Halide && op->func.defined()) {
            add_function(calls, Function(op->func));
        }
    }

public:
    std::map<std::string, Function> calls;
};

}  // namespace

std::map<std::string, Function> find_direct_calls(const Function &f) {
    FindCalls find;
    f.accept(&find);
    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        if (arg.is_func()) {
            add_function(find.calls, Function(arg.func));
        }
    }
    for (const auto &[consumer, wrapper] : f.wrappers()) {
        add_function(find.calls, Function(wrapper));
    }
    return find.calls;
}

std::map<std::string, Function> build_environment(const std::vector<Function> &funcs) {
    std::map<std::string, Function> env;
    std::vector<Function> pending;
    auto add = [&](const Function &f) {
        const size_t before = env.size();
        add_function(env, f);
        if (env.size() > before) {
            pending.push_back(f);
        }
    };
    for (const Function &f : funcs) {
        add(f);
    }
    while (!pending.empty()) {
        const Function f = pending.back();
        pending.pop_back();
        for (const auto &[name, callee] : find_direct_calls(f)) {
            add(callee);
        }
    }
    return env;
}

std::map<std::string, Function> find_transitive_calls(const Function &f) {
    return build_environment({f});
}

namespace {

using Graph = std::map<std::string, std::vector<std::string>>;

/// What each function calls, in alphabetical order, without itself and without wrappers that nobody calls yet.
Graph call_graph(const std::map<std::string, Function> &env) {
    Graph graph;
    for (const auto &[name, f] : env) {
        FindCalls find;
        f.accept(&find);
        for (const ExternFuncArgument &arg : f.extern_arguments()) {
            if (arg.is_func()) {
                add_function(find.calls, Function(arg.func));
            }
        }
        std::vector<std::string> &callees = graph[name];
        for (const auto &[callee, function] : find.calls) {
            if (callee != name) {
                callees.push_back(callee);
            }
        }
    }
    return graph;
}

/// Appends the nodes reachable from `start` to `order`, callees first, without recursion.
/// @returns  a node on a cycle, or "".
std::string visit_callees_first(const std::string &start, const Graph &graph, std::map<std::string, int> &state,
                                std::vector<std::string> &order) {
    enum { New = 0, Open, Done };
    std::vector<std::pair<std::string, size_t>> stack;
    if (state[start] != New) {
        return "";
    }
    stack.emplace_back(start, 0);
    state[start] = Open;
    while (!stack.empty()) {
        auto &[node, next] = stack.back();
        auto it = graph.find(node);
        internal_assert(it != graph.end()) << "Function not in environment: " << node;
        if (next < it->second.size()) {
            const std::string &callee = it->second[next++];
            int &s = state[callee];
            if (s == Open) {
                return callee;
            }
            if (s == New) {
                s = Open;
                stack.emplace_back(callee, 0);
            }
        } else {
            state[node] = Done;
            order.push_back(node);
            stack.pop_back();
        }
    }
    return "";
}

Definition &stage_definition(Function &f, size_t stage) {
    return stage == 0 ? f.definition() : f.update((int)stage - 1);
}

std::string stage_name(const std::string &func, size_t stage) {
    return stage == 0 ? func : func + ".update(" + std::to_string(stage - 1) + ")";
}

/// The dimension of a stage that a directive calls `var`: the whole name or its last components.
const Dim *find_dim(const std::vector<Dim> &dims, const std::string &var, size_t *index = nullptr) {
    for (size_t i = 0; i < dims.size(); i++) {
        if (dims[i].var == var || ends_with(dims[i].var, "." + var)) {
            if (index) {
                *index = i;
            }
            return &dims[i];
        }
    }
    return nullptr;
}

std::string last_component(const std::string &name) {
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? name : name.substr(dot + 1);
}

/// The stage that `child` shall be merged with.
struct FusedStage {
    std::string parent;
    size_t parent_stage = 0;
    std::string var;
};

/// Checks one compute_with (spec language.md 5.7).
FusedStage check_fused_stage(Function &child, size_t child_stage, std::map<std::string, Function> &env,
                             const std::set<std::string> &outputs) {
    Definition &def = stage_definition(child, child_stage);
    const LoopLevel &level = def.schedule().fuse_level().level;
    const std::string child_name = stage_name(child.name(), child_stage);
    FusedStage result;
    result.parent = level.func();
    result.parent_stage = level.get_stage_index() == LoopLevel::any_stage ? 0 : (size_t)level.get_stage_index();
    result.var = level.var_name();

    const std::string head = "Invalid compute_with: " + child_name + " with " +
                             stage_name(result.parent, result.parent_stage) + ", " + result.var + ": ";
    auto it = env.find(result.parent);
    user_assert(it != env.end()) << head << "Func \"" << result.parent << "\" is not part of this pipeline.\n";
    Function &parent = it->second;
    user_assert(result.parent_stage <= parent.updates().size())
        << head << "Func \"" << parent.name() << "\" has no update " << result.parent_stage << ".\n";
    user_assert(!(parent.name() == child.name() && result.parent_stage == child_stage))
        << head << "a stage cannot be computed with itself.\n";
    user_assert(!(parent.name() == child.name() && result.parent_stage > child_stage))
        << head << "a stage cannot be computed with a later stage of the same Func.\n";
    // Outputs left at the default level are computed at the root.
    auto level_of = [&](const Function &f) {
        return outputs.count(f.name()) ? LoopLevel::root().lock() : f.schedule().compute_level();
    };
    for (Function *f : {&parent, &child}) {
        user_assert(!f->has_extern_definition()) << head << f->name() << " has an extern definition.\n";
        user_assert(!level_of(*f).is_inlined()) << head << f->name() << " is inlined.\n";
    }
    user_assert(level_of(parent) == level_of(child))
        << head << "the compute levels differ: " << level_of(parent).to_string() << " and "
        << level_of(child).to_string() << ".\n";
    Definition &parent_def = stage_definition(parent, result.parent_stage);
    for (Definition *d : {&parent_def, &def}) {
        user_assert(d->specializations().empty()) << head << "one of the stages has specializations.\n";
    }

    const std::vector<Dim> &pd = parent_def.schedule().dims(), &cd = def.schedule().dims();
    size_t pi = 0, ci = 0;
    user_assert(find_dim(pd, result.var, &pi))
        << head << stage_name(parent.name(), result.parent_stage) << " has no loop over " << result.var << ".\n";
    user_assert(find_dim(cd, result.var, &ci)) << head << child_name << " has no loop over " << result.var << ".\n";
    user_assert(pd.size() - pi == cd.size() - ci)
        << head << "the number of loops from the outermost to " << result.var << " differs.\n";
    for (size_t i = 0; i < pd.size() - pi; i++) {
        const Dim &a = pd[pi + i], &b = cd[ci + i];
        user_assert(last_component(a.var) == last_component(b.var) && a.for_type == b.for_type &&
                    a.device_api == b.device_api && a.dim_type == b.dim_type)
            << head << "the loops " << a.var << " and " << b.var
            << " do not match in name, kind of loop, device, or kind of dimension.\n";
        user_assert(!b.hint.defined() || a.hint == b.hint)
            << head << "the loop " << b.var << " of " << child_name << " has an unroll hint that " << a.var << " of "
            << stage_name(parent.name(), result.parent_stage) << " does not have.\n"
            << "  The two loops become one, scheduled as the latter says: give the hint there.\n";
    }
    return result;
}

}  // namespace

std::vector<std::string> topological_order(const std::vector<Function> &outputs,
                                           const std::map<std::string, Function> &env) {
    const Graph graph = call_graph(env);
    std::map<std::string, int> state;
    std::vector<std::string> order;
    for (const Function &f : outputs) {
        const std::string cycle = visit_callees_first(f.name(), graph, state, order);
        user_assert(cycle.empty()) << "Func \"" << cycle << "\" depends on itself through other Funcs.\n";
    }
    return order;
}

std::pair<std::vector<std::string>, std::vector<std::vector<std::string>>> realization_order(
    const std::vector<Function> &outputs, std::map<std::string, Function> &env) {
    const Graph graph = call_graph(env);

    // Which functions are merged, directly or not: the groups are the connected components.
    std::map<std::string, std::string> leader;
    std::function<std::string(const std::string &)> find_leader = [&](const std::string &f) {
        std::string l = f;
        while (leader[l] != l) {
            l = leader[l];
        }
        return leader[f] = l;
    };
    for (auto &[name, f] : env) {
        leader[name] = name;
    }

    // Functions that the outputs do not reach (wrappers that nobody reads) have no say.
    std::map<std::string, int> reach_state;
    std::vector<std::string> reachable;
    for (const Function &f : outputs) {
        const std::string cycle = visit_callees_first(f.name(), graph, reach_state, reachable);
        user_assert(cycle.empty()) << "Func \"" << cycle << "\" depends on itself through other Funcs.\n";
    }

    struct Edge {
        std::string child;
        size_t child_stage;
        FusedStage to;
    };
    std::vector<Edge> edges;
    std::set<std::string> output_names;
    for (const Function &f : outputs) {
        output_names.insert(f.name());
    }
    for (const std::string &name : reachable) {
        Function &f = env.at(name);
        for (size_t stage = 0; stage <= f.updates().size(); stage++) {
            if (stage == 0 && !f.has_pure_definition()) {
                continue;
            }
            stage_definition(f, stage).schedule().fused_pairs().clear();
        }
    }
    for (const std::string &name : reachable) {
        Function &f = env.at(name);
        for (size_t stage = 0; stage <= f.updates().size(); stage++) {
            if (stage == 0 && !f.has_pure_definition() && !f.has_extern_definition()) {
                continue;
            }
            LoopLevel &level = stage_definition(f, stage).schedule().fuse_level().level;
            if (!level.locked()) {
                level.lock();
            }
            if (level.is_inlined() || level.is_root()) {
                continue;
            }
            f.lock_loop_levels();
            auto it = env.find(level.func());
            if (it != env.end()) {
                it->second.lock_loop_levels();
            }
            edges.push_back({name, stage, check_fused_stage(f, stage, env, output_names)});
        }
    }
    for (const Edge &e : edges) {
        Function &parent = env.at(e.to.parent);
        stage_definition(parent, e.to.parent_stage)
            .schedule()
            .fused_pairs()
            .emplace_back(e.to.parent, e.to.parent_stage, e.child, e.child_stage, e.to.var);
        const std::string a = find_leader(e.child), b = find_leader(e.to.parent);
        if (a != b) {
            // The alphabetically first name leads, so that the order of declaration does not matter.
            leader[std::max(a, b)] = std::min(a, b);
        }
    }

    // A function can be merged into several loops only if the stages stay in order.
    for (const Edge &e : edges) {
        for (const Edge &o : edges) {
            if (e.child == o.child && e.to.parent == o.to.parent && e.child != e.to.parent &&
                e.child_stage < o.child_stage) {
                user_assert(e.to.parent_stage <= o.to.parent_stage)
                    << "Invalid compute_with: " << stage_name(e.child, e.child_stage) << " is computed with "
                    << stage_name(e.to.parent, e.to.parent_stage) << ", but the later stage "
                    << stage_name(o.child, o.child_stage) << " with the earlier stage "
                    << stage_name(o.to.parent, o.to.parent_stage) << ": the stages of a Func run in order.\n";
            }
        }
    }

    // Order the groups. Edges inside a group come from compute_with: parents first.
    std::map<std::string, std::vector<std::string>> members;
    for (const std::string &name : reachable) {
        members[find_leader(name)].push_back(name);
    }
    Graph group_graph, inside;
    for (const std::string &name : reachable) {
        const std::string group = find_leader(name);
        std::vector<std::string> &callees = group_graph[group];
        inside[name];
        for (const std::string &callee : graph.at(name)) {
            const std::string other = find_leader(callee);
            if (other != group) {
                callees.push_back(other);
            } else {
                user_error << "Invalid compute_with: Func \"" << name << "\" uses Func \"" << callee
                           << "\", with which its loops are merged: there is a cyclic dependence inside the merged "
                              "loops.\n";
            }
        }
    }
    for (auto &[group, callees] : group_graph) {
        std::sort(callees.begin(), callees.end());
        callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
    }
    // Stages may be attached in a zigzag, f to g here and g to f there, but not in a circle.
    std::map<std::pair<std::string, size_t>, std::pair<std::string, size_t>> attached_to;
    for (const Edge &e : edges) {
        attached_to[{e.child, e.child_stage}] = {e.to.parent, e.to.parent_stage};
    }
    for (const auto &[stage, parent] : attached_to) {
        auto at = attached_to.find(parent);
        for (size_t steps = 0; at != attached_to.end(); at = attached_to.find(at->second)) {
            user_assert(at->first != stage && steps++ <= attached_to.size())
                << "Invalid compute_with: \"" << stage.first << "\" is computed with itself through other Funcs.\n";
        }
    }
    // In a zigzag the first stages decide which Func comes first.
    const std::function<bool(const std::string &, const std::string &)> reaches = [&](const std::string &from,
                                                                                     const std::string &to) {
        return from == to || std::any_of(inside[from].begin(), inside[from].end(),
                                         [&](const std::string &next) { return reaches(next, to); });
    };
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge &a, const Edge &b) { return a.child_stage < b.child_stage; });
    for (const Edge &e : edges) {
        if (!reaches(e.to.parent, e.child)) {
            inside[e.child].push_back(e.to.parent);
        }
    }

    std::map<std::string, int> state;
    std::vector<std::string> group_order;
    for (const Function &f : outputs) {
        const std::string cycle = visit_callees_first(find_leader(f.name()), group_graph, state, group_order);
        user_assert(cycle.empty()) << "Invalid compute_with: merging the loops of \"" << cycle
                                   << "\" creates a cyclic dependence between Funcs.\n";
    }

    std::vector<std::string> order;
    std::vector<std::vector<std::string>> groups;
    for (const std::string &group : group_order) {
        std::map<std::string, int> inside_state;
        std::vector<std::string> group_members;
        for (const std::string &name : members[group]) {
            const std::string cycle = visit_callees_first(name, inside, inside_state, group_members);
            user_assert(cycle.empty()) << "Invalid compute_with: \"" << cycle << "\" is computed with itself through "
                                       << "other Funcs.\n";
        }
        order.insert(order.end(), group_members.begin(), group_members.end());
        groups.push_back(group_members);
    }
    return {order, groups};
}

std::pair<std::vector<Function>, std::map<std::string, Function>> deep_copy(
    const std::vector<Function> &outputs, const std::map<std::string, Function> &env) {
    // All copies live in one group and refer to each other weakly, so that circles cannot leak. The handles returned
    // keep the group alive.
    std::map<FunctionPtr, FunctionPtr> copied;
    std::map<std::string, Function> copy_env;
    Function first;
    for (const auto &[name, f] : env) {
        Function copy;
        if (copy_env.empty()) {
            copy = Function(name);
            first = copy;
        } else {
            copy = first.new_function_in_same_group(name);
        }
        copied[f.get_contents()] = copy.get_contents();
        copy_env.emplace(name, copy);
    }
    for (const auto &[name, f] : env) {
        f.deep_copy(copy_env.at(name).get_contents(), copied);
    }
    for (auto &[name, copy] : copy_env) {
        copy.substitute_calls(copied);
        for (auto &[consumer, wrapper] : copy.schedule().wrappers()) {
            wrapper.weaken();
        }
    }
    std::vector<Function> copy_outputs;
    for (const Function &f : outputs) {
        auto it = copy_env.find(f.name());
        internal_assert(it != copy_env.end()) << "Output not in environment: " << f.name();
        copy_outputs.push_back(it->second);
    }
    return {copy_outputs, copy_env};
}

}  // namespace Internal
}  // namespace Halide
