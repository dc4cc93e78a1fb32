#include "lower/nest/WrapCalls.h"

#include "func/Environment.h"
#include "ir/IR.h"
#include "ir/IRVisitor.h"

#include <set>

namespace Halide {
namespace Internal {

namespace {

/// Does `f` itself call `callee`, wrappers of `f` aside?
bool calls_directly(const Function &f, const Function &callee) {
    bool found = false;
    class Find : public IRGraphVisitor {
        using IRGraphVisitor::visit;
        const FunctionPtr &callee;
        bool &found;
        void visit(const Call *op) override {
            IRGraphVisitor::visit(op);
            found |= op->call_type == Call::Halide && op->func.defined() && op->func.same_as(callee);
        }

    public:
        Find(const FunctionPtr &callee, bool &found) : callee(callee), found(found) {
        }
    } find(callee.get_contents(), found);
    f.accept(&find);
    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        found |= arg.is_func() && arg.func.same_as(callee.get_contents());
    }
    return found;
}

}  // namespace

std::map<std::string, Function> wrap_func_calls(const std::map<std::string, Function> &env) {
    std::map<std::string, Function> wrapped_env = env;
    // What each consumer reads instead of what. Decided on the original calls, applied at the end, so that the order of
    // Funcs does not matter.
    std::map<std::string, std::map<FunctionPtr, FunctionPtr>> substitutions;
    std::set<std::string> wrapper_names;
    for (const auto &[name, f] : env) {
        for (const auto &[consumer, wrapper] : f.wrappers()) {
            wrapper_names.insert(wrapper.defined() ? Function(wrapper).name() : "");
        }
    }
    for (const auto &[name, f] : env) {
        const std::map<std::string, FunctionPtr> &wrappers = f.wrappers();
        std::set<std::string> own_wrappers;
        for (const auto &[consumer, wrapper] : wrappers) {
            own_wrappers.insert(Function(wrapper).name());
            wrapped_env.emplace(Function(wrapper).name(), Function(wrapper));
        }
        for (const auto &[consumer, wrapper] : wrappers) {
            if (consumer.empty()) {
                continue;
            }
            auto it = env.find(consumer);
            // A consumer that is not part of this pipeline has nothing to redirect here.
            if (it == env.end()) {
                continue;
            }
            const bool direct = calls_directly(it->second, f);
            // The consumer may reach the Func only through its global wrapper, which stands for it.
            user_assert(direct || find_transitive_calls(it->second).count(name))
                << "Cannot wrap \"" << name << "\" in \"" << consumer << "\" because \"" << consumer
                << "\" does not call \"" << name << "\".\n";
            if (direct) {
                substitutions[consumer][f.get_contents()] = wrapper;
                continue;
            }
            // Consumers on the way from here to the Func that call it themselves read the wrapper.
            for (const auto &[between, g] : find_transitive_calls(it->second)) {
                if (between != name && !own_wrappers.count(between) && calls_directly(g, f)) {
                    substitutions[between].emplace(f.get_contents(), wrapper);
                }
            }
        }
        auto global = wrappers.find("");
        if (global != wrappers.end()) {
            for (const auto &[consumer, g] : env) {
                if (consumer != name && !own_wrappers.count(consumer)) {
                    substitutions[consumer].emplace(f.get_contents(), global->second);
                }
            }
        }
    }
    for (auto &[consumer, map] : substitutions) {
        auto it = wrapped_env.find(consumer);
        if (it != wrapped_env.end()) {
            it->second.substitute_calls(map);
        }
    }
    return wrapped_env;
}

}  // namespace Internal
}  // namespace Halide
