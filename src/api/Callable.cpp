#include "api/Callable.h"

#include <sstream>

#include "ir/IRPrinter.h"
#include "support/Error.h"

namespace Halide {

using namespace Internal;

namespace Internal {

struct CallableContents {
    mutable RefCount ref_count;
    std::string name;
    JITHandlers jit_handlers;
    /// Without the user context.
    std::vector<Argument> args;
    JITModule module;
};

template <>
RefCount &ref_count<CallableContents>(const CallableContents *c) noexcept {
    return c->ref_count;
}
template <>
void destroy<CallableContents>(const CallableContents *c) {
    delete c;
}

namespace {

/// What is wrong with the arguments of a call or definition; empty if nothing.
std::string mismatch(const CallableContents &c, const std::vector<CallableArgument> &args, const char *verb,
                     bool check_shapes) {
    std::ostringstream text;
    if (args.size() != c.args.size()) {
        text << "Error " << verb << " '" << c.name << "': Expected exactly " << c.args.size() << " arguments, but saw "
             << args.size() << ".";
        return text.str();
    }
    for (size_t i = 0; i < args.size(); i++) {
        const Argument &expected = c.args[i];
        const CallableArgument &given = args[i];
        bool fits = expected.is_buffer() == given.is_buffer;
        if (fits && expected.is_scalar()) {
            fits = expected.type.is_handle() ? given.type.is_handle()
                                             : expected.type.element_of() == given.type.element_of();
        } else if (fits && check_shapes) {
            fits = (!given.has_static_type || given.type == expected.type) &&
                   (given.dimensions < 0 || given.dimensions == expected.dimensions);
        }
        if (!fits) {
            text << "Error " << verb << " '" << c.name << "': Argument " << (i + 1) << " of " << c.args.size() << " ('"
                 << expected.name << "') was expected to be a " << (expected.is_scalar() ? "scalar" : "buffer")
                 << " of type '" << expected.type << "' and dimension " << (int)expected.dimensions << ".";
            return text.str();
        }
    }
    return "";
}

}  // namespace

}  // namespace Internal

Callable::Callable() = default;

Callable::Callable(const std::string &name, const JITHandlers &jit_handlers, const std::vector<Argument> &args,
                   const JITModule &module)
    : contents(new CallableContents) {
    contents->name = name;
    contents->jit_handlers = jit_handlers;
    for (const Argument &a : args) {
        if (a.name != "__user_context") {
            contents->args.push_back(a);
        }
    }
    contents->module = module;
}

bool Callable::defined() const {
    return contents.defined();
}

int Callable::report(JITUserContext *context, const std::string &message) const {
    JITFuncCallContext call(context, contents->jit_handlers);
    call.context()->handlers.custom_error(call.context(), message.c_str());
    call.finalize(halide_error_code_generic_error);
    return halide_error_code_generic_error;
}

int Callable::call(JITUserContext *context, const std::vector<CallableArgument> &args) const {
    user_assert(defined()) << "Cannot call() a default-constructed Callable.\n";
    const std::string problem = mismatch(*contents, args, "calling", false);
    if (!problem.empty()) {
        return report(context, problem);
    }
    std::vector<const void *> argv(args.size() + 1);
    for (size_t i = 0; i < args.size(); i++) {
        argv[i + 1] = args[i].value;
    }
    return call_argv(context, argv);
}

int Callable::call_argv(JITUserContext *context, std::vector<const void *> &argv) const {
    JITFuncCallContext call(context, contents->jit_handlers);
    JITUserContext *c = call.context();
    argv[0] = &c;
    const int result = contents->module.argv_function()(argv.data());
    call.finalize(result);
    return result;
}

int Callable::call_argv_checked(size_t argc, const void *const *argv) const {
    user_assert(defined()) << "Cannot call() a default-constructed Callable.\n";
    JITUserContext *context = argc > 0 ? *(JITUserContext *const *)argv[0] : nullptr;
    if (argc != contents->args.size() + 1) {
        std::ostringstream text;
        text << "Error calling '" << contents->name << "': Expected exactly " << contents->args.size() + 1
             << " arguments, but saw " << argc << ".";
        return report(context, text.str());
    }
    std::vector<const void *> copy(argv, argv + argc);
    return call_argv(context, copy);
}

int Callable::check_definition(const std::vector<CallableArgument> &args) const {
    user_assert(defined()) << "Cannot make a std::function of a default-constructed Callable.\n";
    const std::string problem = mismatch(*contents, args, "defining", true);
    return problem.empty() ? 0 : report(nullptr, problem);
}

}  // namespace Halide
