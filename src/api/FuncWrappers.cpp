#include <algorithm>

#include "api/Func.h"
#include "support/Util.h"

// Func::in and Func::clone_in.

namespace Halide {

using namespace Internal;

Func Func::wrapper_for(const std::vector<Func> &consumers, bool clone) {
    const char *directive = clone ? "clone_in" : "in";
    user_assert(defined()) << name() << "." << directive << "(): " << name() << " is not defined.\n";
    invalidate_cache();

    // Nothing named: all consumers, which the empty name stands for.
    std::vector<std::string> keys;
    for (const Func &c : consumers) {
        user_assert(!c.function().same_as(func))
            << name() << "." << directive << "(" << c.name() << "): a Func cannot be wrapped in itself.\n";
        user_assert(c.defined()) << name() << "." << directive << "(" << c.name() << "): " << c.name()
                                 << " is not defined.\n";
        user_assert(std::find(keys.begin(), keys.end(), c.name()) == keys.end())
            << name() << "." << directive << ": " << c.name() << " is listed twice.\n";
        keys.push_back(c.name());
    }
    if (keys.empty()) {
        keys.emplace_back("");
    }

    const std::map<std::string, FunctionPtr> &existing = func.wrappers();
    FunctionPtr shared;
    size_t found = 0;
    for (const std::string &key : keys) {
        auto it = existing.find(key);
        if (it != existing.end()) {
            user_assert(found == 0 || shared.same_as(it->second))
                << name() << "." << directive << "({" << join_strings(keys, ", ")
                << "}): these consumers have different wrappers of " << name() << " already.\n";
            shared = it->second;
            found++;
        }
    }
    user_assert(found == 0 || found == keys.size())
        << name() << "." << directive << "({" << join_strings(keys, ", ")
        << "}): some of these consumers have a wrapper of " << name() << " already, others have none.\n";
    if (found > 0) {
        size_t others = 0;
        for (const auto &w : existing) {
            others += w.second.same_as(shared) && std::find(keys.begin(), keys.end(), w.first) == keys.end();
        }
        user_assert(others == 0) << name() << "." << directive << "({" << join_strings(keys, ", ")
                                 << "}): these consumers share a wrapper of " << name() << " with others already.\n";
        return Func(Function(shared));
    }

    std::string wrapper_name = name() + (keys[0].empty() ? "_global_wrapper" : clone ? "_clone" : "_in");
    if (keys.size() == 1 && !keys[0].empty()) {
        wrapper_name += "_" + keys[0];
    }
    wrapper_name += "$" + std::to_string(existing.size());

    Function wrapper = func.new_function_in_same_group(wrapper_name);
    if (clone) {
        std::map<FunctionPtr, FunctionPtr> copied;
        func.deep_copy(wrapper.get_contents(), copied);
        wrapper.substitute_calls(func, wrapper);
        wrapper.schedule().wrappers().clear();
    } else {
        std::vector<Expr> args, values;
        for (const Var &v : this->args()) {
            args.push_back(v);
        }
        for (int i = 0; i < func.outputs(); i++) {
            values.push_back(Call::make(func, args, i, false));
        }
        wrapper.define(func.args(), values);
    }
    for (const std::string &key : keys) {
        func.add_wrapper(key, wrapper);
    }
    if (keys[0].empty()) {
        func.set_global_wrapper(wrapper);
    }
    for (const Func &c : consumers) {
        c.function().freeze();
    }
    func.freeze();
    return Func(wrapper);
}

Func Func::in(const Func &f) {
    return wrapper_for({f}, false);
}

Func Func::in(const std::vector<Func> &fs) {
    user_assert(!fs.empty()) << "Could not create a in wrapper for an empty list of Funcs: use " << name()
                             << ".in() for all consumers.\n";
    return wrapper_for(fs, false);
}

Func Func::in() {
    return wrapper_for({}, false);
}

Func Func::clone_in(const Func &f) {
    return wrapper_for({f}, true);
}

Func Func::clone_in(const std::vector<Func> &fs) {
    user_assert(!fs.empty()) << "Could not create a clone for an empty list of Funcs.\n";
    return wrapper_for(fs, true);
}

}  // namespace Halide
