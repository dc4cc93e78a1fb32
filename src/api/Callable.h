#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/llvm/JITModule.h"
#include "ir/Argument.h"
#include "ir/Buffer.h"
#include "runtime/HalideBuffer.h"
#include "support/IntrusivePtr.h"

namespace Halide {

class Pipeline;

namespace Internal {

struct CallableContents;

template <>
RefCount &ref_count<CallableContents>(const CallableContents *) noexcept;
template <>
void destroy<CallableContents>(const CallableContents *);

/// One C++ argument of a Callable: what it is, and the address of its value (a scalar) or the buffer itself.
struct CallableArgument {
    bool is_buffer = false;
    /// Of the scalar, or of the elements if the buffer has a static type.
    Type type;
    bool has_static_type = true;
    /// -1: not known in C++.
    int dimensions = 0;
    const void *value = nullptr;
};

template <typename T>
struct CallableArgumentOf {
    static CallableArgument describe() { return {false, type_of<T>(), true, 0, nullptr}; }
    static CallableArgument make(const T &t) {
        CallableArgument a = describe();
        a.value = &t;
        return a;
    }
};

template <typename B, typename T, int Dims>
struct CallableBufferArgument {
    static CallableArgument describe() {
        CallableArgument a;
        a.is_buffer = true;
        a.dimensions = Dims;
        a.has_static_type = !std::is_void_v<T>;
        if constexpr (!std::is_void_v<T>) {
            a.type = type_of<T>();
        }
        return a;
    }
    static CallableArgument make(const B &b) {
        CallableArgument a = describe();
        a.value = b.raw_buffer();
        return a;
    }
};

template <typename T, int Dims>
struct CallableArgumentOf<Buffer<T, Dims>> : CallableBufferArgument<Buffer<T, Dims>, std::remove_const_t<T>, Dims> {};

template <typename T, int Dims, int Storage>
struct CallableArgumentOf<Runtime::Buffer<T, Dims, Storage>>
    : CallableBufferArgument<Runtime::Buffer<T, Dims, Storage>, std::remove_const_t<T>, Dims> {};

template <>
struct CallableArgumentOf<halide_buffer_t *> {
    static CallableArgument describe() {
        CallableArgument a;
        a.is_buffer = true;
        a.dimensions = -1;
        a.has_static_type = false;
        return a;
    }
    static CallableArgument make(const halide_buffer_t *b) {
        CallableArgument a = describe();
        a.value = b;
        return a;
    }
};

template <>
struct CallableArgumentOf<const halide_buffer_t *> : CallableArgumentOf<halide_buffer_t *> {};

template <typename T>
using CallableArgumentFor = CallableArgumentOf<std::remove_cv_t<std::remove_reference_t<T>>>;

/// Whether a C++ argument is the context of a run instead of an argument of the pipeline.
template <typename T>
constexpr bool is_jit_user_context =
    std::is_pointer_v<std::decay_t<T>> && std::is_base_of_v<JITUserContext, std::remove_pointer_t<std::decay_t<T>>>;

}  // namespace Internal

/// A compiled pipeline as a function: inputs in the order given to `compile_to_callable`, then the outputs.
///
/// Scalars must have exactly the C++ type of the parameter (`int` for Int(32), `bool` for UInt(1), any pointer for
/// handles); buffers are Buffer, Runtime::Buffer or halide_buffer_t *. A pointer to a JITUserContext may come first.
class Callable {
    Internal::IntrusivePtr<Internal::CallableContents> contents;

    friend class Pipeline;
    int call(JITUserContext *context, const std::vector<Internal::CallableArgument> &args) const;
    int call_argv(JITUserContext *context, std::vector<const void *> &argv) const;
    int check_definition(const std::vector<Internal::CallableArgument> &args) const;
    int report(JITUserContext *context, const std::string &message) const;

    template <typename... Args>
    struct StdFunction {
        static std::function<int(Args...)> make(const Callable &c) {
            c.check_definition({Internal::CallableArgumentFor<Args>::describe()...});
            return [c](Args... args) { return c(std::forward<Args>(args)...); };
        }
    };
    template <typename... Args>
    struct StdFunction<JITUserContext *, Args...> {
        static std::function<int(JITUserContext *, Args...)> make(const Callable &c) {
            c.check_definition({Internal::CallableArgumentFor<Args>::describe()...});
            return [c](JITUserContext *context, Args... args) { return c(context, std::forward<Args>(args)...); };
        }
    };

public:
    /// An undefined function; calling it is an error.
    Callable();
    Callable(const std::string &name, const JITHandlers &jit_handlers, const std::vector<Argument> &args,
             const Internal::JITModule &module);

    bool defined() const;

    /// Runs the pipeline. Returns 0, or the error code of the run if a custom error handler took the message.
    ///
    /// @throws RuntimeError  the run failed, or the arguments do not fit.
    // @{
    int operator()() const { return call(nullptr, {}); }
    template <typename First, typename... Rest>
    int operator()(First &&first, Rest &&...rest) const {
        if constexpr (Internal::is_jit_user_context<First>) {
            return call(first, {Internal::CallableArgumentFor<Rest>::make(rest)...});
        } else {
            return call(nullptr, {Internal::CallableArgumentFor<First>::make(first),
                                  Internal::CallableArgumentFor<Rest>::make(rest)...});
        }
    }
    // @}

    /// The same as a std::function whose argument types are checked now. A leading JITUserContext * makes the
    /// context explicit.
    template <typename... Args>
    std::function<int(Args...)> make_std_function() const {
        return StdFunction<Args...>::make(*this);
    }

    /// The call by addresses: of scalars, and the halide_buffer_t * of buffers; args[0] is the address of the context.
    int call_argv_checked(size_t argc, const void *const *argv) const;
};

}  // namespace Halide
