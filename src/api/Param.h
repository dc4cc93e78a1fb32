#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "func/Function.h"
#include "ir/Argument.h"
#include "ir/IROperator.h"
#include "ir/Parameter.h"
#include "support/Error.h"

namespace Halide {

/// A scalar that a pipeline takes at run time. `Param<>` has a type that is chosen at run time too.
template<typename T = void>
class Param {
    Internal::Parameter param;

    static constexpr bool has_static_type = !std::is_void_v<T>;
    /// Stands in for T in declarations that `Param<>` does not have.
    struct NoValue {};
    using Value = std::conditional_t<has_static_type, T, NoValue>;

    void check_name() const {
        _halide_user_assert(param.name() != "__user_context")
            << "Param<> with the name \"__user_context\" is reserved: it names the context that every pipeline gets.\n"
            << "Set a context with realize(context, …) or the target feature user_context.\n";
    }

    template<typename V>
    static void check_conversion(const char *what, const V &val, const Type &type) {
        _halide_user_assert(fits<V>(val)) << what << "(" << val << ") cannot be represented in the type " << type
                                          << " of the Param.\n";
    }
    template<typename V>
    static bool fits(const V &val) {
        if constexpr (std::is_same_v<V, Value>) {
            return true;
        } else {
            const Value there = Internal::StaticCast<Value>::value(val);
            return Internal::StaticCast<V>::value(there) == val;
        }
    }

public:
    static constexpr bool is_dynamic = !has_static_type;

    /// A parameter with a fresh name.
    Param()
        : param(checked_type(), false, 0, Internal::unique_name('p')) {
    }
    explicit Param(const std::string &n)
        : param(checked_type(), false, 0, n) {
        check_name();
    }
    explicit Param(const char *n)
        : Param(std::string(n)) {
    }

    /// A parameter of a type known only at run time.
    // @{
    template<typename T2 = T, typename = std::enable_if_t<std::is_void_v<T2>>>
    explicit Param(Type t)
        : param(t, false, 0, Internal::unique_name('p')) {
    }
    template<typename T2 = T, typename = std::enable_if_t<std::is_void_v<T2>>>
    Param(Type t, const std::string &n)
        : param(t, false, 0, n) {
        check_name();
    }
    // @}

    /// A parameter with a default value, with or without a name and a range.
    // @{
    template<typename T2 = T, typename = std::enable_if_t<!std::is_pointer_v<T2> && !std::is_void_v<T2>>>
    explicit Param(Value val)
        : Param() {
        set(val);
    }
    Param(const std::string &n, Value val)
        : Param(n) {
        set(val);
    }
    Param(Value val, const Expr &min, const Expr &max)
        : Param() {
        set_range(min, max);
        set(val);
    }
    Param(const std::string &n, Value val, const Expr &min, const Expr &max)
        : Param(n) {
        set_range(min, max);
        set(val);
    }
    // @}

    /// The same parameter with or without its type in C++. @throws CompileError  the types differ.
    template<typename OtherT>
    Param(const Param<OtherT> &other)
        : param(other.parameter()) {
        if constexpr (has_static_type) {
            _halide_user_assert(other.type() == type_of<T>())
                << "Param<" << type_of<T>() << "> cannot be made from the Param " << other.name() << " of type "
                << other.type() << ".\n";
        }
    }

    const std::string &name() const {
        return param.name();
    }
    Type type() const {
        return param.type();
    }

    /// The value set for JIT. T2 must be the type of the parameter.
    template<typename T2 = Value>
    T2 get() const {
        if constexpr (has_static_type) {
            return Internal::StaticCast<T2>::value(param.template scalar<T>());
        } else {
            return param.template scalar<T2>();
        }
    }

    /// Sets the value for JIT. @throws CompileError  the type of the parameter does not have this value exactly.
    template<typename V>
    void set(const V &val) {
        if constexpr (has_static_type) {
            check_conversion("Param::set", val, type());
            param.template set_scalar<T>(Internal::StaticCast<Value>::value(val));
        } else {
            Internal::set_dynamic_scalar(param, val);
        }
    }

    /// The range checked when the pipeline runs; an undefined Expr is no limit.
    // @{
    void set_range(const Expr &min, const Expr &max) {
        set_min_value(min);
        set_max_value(max);
    }
    void set_min_value(Expr min) {
        param.set_min_value(cast_if_defined(std::move(min)));
    }
    void set_max_value(Expr max) {
        param.set_max_value(cast_if_defined(std::move(max)));
    }
    Expr min_value() const {
        return param.min_value();
    }
    Expr max_value() const {
        return param.max_value();
    }
    // @}

    /// What the value usually is, for autoschedulers and metadata.
    template<typename V>
    void set_estimate(const V &val) {
        if constexpr (std::is_convertible_v<V, Expr> && !std::is_arithmetic_v<V>) {
            param.set_estimate(cast_if_defined(Expr(val)));
        } else if constexpr (has_static_type) {
            check_conversion("Param::set_estimate", val, type());
            param.set_estimate(Internal::make_const(type(), Internal::StaticCast<Value>::value(val)));
        } else {
            param.set_estimate(Internal::make_const(type(), val));
        }
    }

    operator Expr() const {
        return Internal::Variable::make(param.type(), name(), param);
    }
    operator ExternFuncArgument() const {
        return Expr(*this);
    }
    operator Argument() const {
        return Argument(name(), Argument::InputScalar, type(), 0, param.get_argument_estimates());
    }

    const Internal::Parameter &parameter() const {
        return param;
    }
    Internal::Parameter &parameter() {
        return param;
    }

private:
    static Type checked_type() {
        if constexpr (has_static_type) {
            return type_of<T>();
        } else {
            _halide_user_assert(false) << "Param<> needs a type: write Param<>(Int(32)) or Param<int>().\n";
            return Type();
        }
    }
    Expr cast_if_defined(Expr e) const {
        return e.defined() && e.type() != type() ? cast(type(), std::move(e)) : e;
    }
};

/// The user context of the running pipeline, as a value to pass to extern functions.
inline Expr user_context_value() {
    return Internal::Variable::make(Handle(), "__user_context",
                                    Internal::Parameter(Handle(), false, 0, "__user_context"));
}

}  // namespace Halide
