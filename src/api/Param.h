#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "func/Function.h"
#include "ir/Argument.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Parameter.h"
#include "support/Error.h"

namespace Halide {

namespace Internal {

template <typename T, typename V>
void set_scalar_as(Parameter &param, const V &val) {
    if constexpr (std::is_pointer_v<V>) {
        _halide_user_error << "A pointer was given as the value of Param " << param.name() << " of type "
                           << param.type() << ".\n";
    } else {
        _halide_user_assert(IsRoundtrippable<T>::value(val))
            << "The value " << val << " of Param " << param.name() << " cannot be losslessly converted to its type, "
            << param.type() << ".\n";
        param.set_scalar<T>(StaticCast<T>::value(val));
    }
}

/// Sets a parameter whose type is known only at run time.
template <typename V>
void set_dynamic_scalar(Parameter &param, const V &val) {
    const Type t = param.type();
    if (t.is_handle()) {
        if constexpr (std::is_pointer_v<V>) {
            param.set_scalar<uint64_t>((uint64_t)(uintptr_t)val);
        } else {
            param.set_scalar<uint64_t>((uint64_t)val);
        }
        return;
    }
    switch (((int)t.code() << 8) | t.bits()) {
#define BROMIDE_SET_SCALAR(code, bits, T)                                                                              \
    case (code << 8) | bits:                                                                                           \
        set_scalar_as<T>(param, val);                                                                                  \
        return;
        BROMIDE_SET_SCALAR(halide_type_float, 32, float)
        BROMIDE_SET_SCALAR(halide_type_float, 64, double)
        BROMIDE_SET_SCALAR(halide_type_int, 8, int8_t)
        BROMIDE_SET_SCALAR(halide_type_int, 16, int16_t)
        BROMIDE_SET_SCALAR(halide_type_int, 32, int32_t)
        BROMIDE_SET_SCALAR(halide_type_int, 64, int64_t)
        BROMIDE_SET_SCALAR(halide_type_uint, 1, bool)
        BROMIDE_SET_SCALAR(halide_type_uint, 8, uint8_t)
        BROMIDE_SET_SCALAR(halide_type_uint, 16, uint16_t)
        BROMIDE_SET_SCALAR(halide_type_uint, 32, uint32_t)
        BROMIDE_SET_SCALAR(halide_type_uint, 64, uint64_t)
        BROMIDE_SET_SCALAR(halide_type_float, 16, float16_t)
        BROMIDE_SET_SCALAR(halide_type_bfloat, 16, bfloat16_t)
#undef BROMIDE_SET_SCALAR
    default:
        _halide_user_error << "Param " << param.name() << " of type " << t << " cannot have a value.\n";
    }
}

}  // namespace Internal

/// A scalar that a pipeline takes at run time. `Param<>` has a type that is chosen at run time too.
template <typename T = void>
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

    template <typename V>
    void check_conversion(const V &val) const {
        _halide_user_assert(Internal::IsRoundtrippable<Value>::value(val))
            << "The value " << val << " of Param " << name() << " cannot be losslessly converted to its type, "
            << type() << ".\n";
    }

public:
    static constexpr bool is_dynamic = !has_static_type;

    /// A parameter with a fresh name.
    Param() : param(checked_type(), false, 0, Internal::unique_name('p')) {}
    explicit Param(const std::string &n) : param(checked_type(), false, 0, n) { check_name(); }
    explicit Param(const char *n) : Param(std::string(n)) {}

    /// A parameter of a type known only at run time.
    // @{
    template <typename T2 = T, typename = std::enable_if_t<std::is_void_v<T2>>>
    explicit Param(Type t) : param(t, false, 0, Internal::unique_name('p')) {}
    template <typename T2 = T, typename = std::enable_if_t<std::is_void_v<T2>>>
    Param(Type t, const std::string &n) : param(t, false, 0, n) {
        check_name();
    }
    // @}

    /// A parameter with a default value, with or without a name and a range.
    // @{
    template <typename T2 = T, typename = std::enable_if_t<!std::is_pointer_v<T2> && !std::is_void_v<T2>>>
    explicit Param(Value val) : Param() {
        set(val);
    }
    Param(const std::string &n, Value val) : Param(n) { set(val); }
    Param(Value val, const Expr &min, const Expr &max) : Param() {
        set_range(min, max);
        set(val);
    }
    Param(const std::string &n, Value val, const Expr &min, const Expr &max) : Param(n) {
        set_range(min, max);
        set(val);
    }
    // @}

    /// The same parameter with or without its type in C++. @throws CompileError  the types differ.
    template <typename OtherT>
    Param(const Param<OtherT> &other) : param(other.parameter()) {
        if constexpr (has_static_type) {
            _halide_user_assert(other.type() == type_of<T>())
                << "Param<" << type_of<T>() << "> cannot be made from the Param " << other.name() << " of type "
                << other.type() << ".\n";
        }
    }

    const std::string &name() const { return param.name(); }
    Type type() const { return param.type(); }

    /// The value set for JIT. T2 must be the type of the parameter.
    template <typename T2 = Value>
    T2 get() const {
        if constexpr (has_static_type) {
            return Internal::StaticCast<T2>::value(param.template scalar<T>());
        } else {
            return param.template scalar<T2>();
        }
    }

    /// Sets the value for JIT. @throws CompileError  the type of the parameter does not have this value exactly.
    template <typename V>
    void set(const V &val) {
        if constexpr (has_static_type) {
            check_conversion(val);
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
    void set_min_value(Expr min) { param.set_min_value(cast_if_defined(std::move(min))); }
    void set_max_value(Expr max) { param.set_max_value(cast_if_defined(std::move(max))); }
    Expr min_value() const { return param.min_value(); }
    Expr max_value() const { return param.max_value(); }
    // @}

    /// What the value usually is, for autoschedulers and metadata.
    template <typename V>
    void set_estimate(const V &val) {
        if constexpr (std::is_convertible_v<V, Expr> && !std::is_arithmetic_v<V>) {
            param.set_estimate(cast_if_defined(Expr(val)));
        } else if constexpr (has_static_type) {
            check_conversion(val);
            param.set_estimate(Internal::make_const(type(), Internal::StaticCast<Value>::value(val)));
        } else {
            param.set_estimate(Internal::make_const(type(), val));
        }
    }

    operator Expr() const { return Internal::Variable::make(param.type(), name(), param); }
    operator ExternFuncArgument() const { return Expr(*this); }
    operator Argument() const {
        return Argument(name(), Argument::InputScalar, type(), 0, param.get_argument_estimates());
    }

    const Internal::Parameter &parameter() const { return param; }
    Internal::Parameter &parameter() { return param; }

private:
    static Type checked_type() {
        if constexpr (has_static_type) {
            return type_of<T>();
        } else {
            _halide_user_assert(false) << "Param<> needs a type: write Param<>(Int(32)) or Param<int>().\n";
            return Type();
        }
    }
    Expr cast_if_defined(Expr e) const { return e.defined() && e.type() != type() ? cast(type(), std::move(e)) : e; }
};

/// The user context of the running pipeline, as a value to pass to extern functions.
inline Expr user_context_value() {
    return Internal::Variable::make(Handle(), "__user_context",
                                    Internal::Parameter(Handle(), false, 0, "__user_context"));
}

}  // namespace Halide
