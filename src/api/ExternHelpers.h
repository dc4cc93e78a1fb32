#pragma once

#include <string>
#include <vector>

#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

/// A call of a C function whose parameter types are known.
///
/// @throws CompileError  an argument does not have exactly the type of its parameter.
Expr make_extern_call(const Type &return_type, const std::string &name, const std::vector<Type> &parameter_types,
                      const std::vector<Expr> &args, bool pure);

}  // namespace Internal
}  // namespace Halide

// Each declares `Expr name(Expr, …)`, a call of the C function of that name. Pure ones may be moved, merged and
// dropped.

#define HalideExtern_1(rt, name, t1)                                                                                   \
    ::Halide::Expr name(const ::Halide::Expr &a1) {                                                                    \
        return ::Halide::Internal::make_extern_call(::Halide::type_of<rt>(), #name, {::Halide::type_of<t1>()}, {a1},   \
                                                    false);                                                            \
    }
#define HalidePureExtern_1(rt, name, t1)                                                                               \
    ::Halide::Expr name(const ::Halide::Expr &a1) {                                                                    \
        return ::Halide::Internal::make_extern_call(::Halide::type_of<rt>(), #name, {::Halide::type_of<t1>()}, {a1},   \
                                                    true);                                                             \
    }

#define HalideExtern_2(rt, name, t1, t2)                                                                               \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2) {                                          \
        return ::Halide::Internal::make_extern_call(                                                                   \
            ::Halide::type_of<rt>(), #name, {::Halide::type_of<t1>(), ::Halide::type_of<t2>()}, {a1, a2}, false);      \
    }
#define HalidePureExtern_2(rt, name, t1, t2)                                                                           \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2) {                                          \
        return ::Halide::Internal::make_extern_call(                                                                   \
            ::Halide::type_of<rt>(), #name, {::Halide::type_of<t1>(), ::Halide::type_of<t2>()}, {a1, a2}, true);       \
    }

#define HalideExtern_3(rt, name, t1, t2, t3)                                                                           \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2, const ::Halide::Expr &a3) {                \
        return ::Halide::Internal::make_extern_call(                                                                   \
            ::Halide::type_of<rt>(), #name,                                                                            \
            {::Halide::type_of<t1>(), ::Halide::type_of<t2>(), ::Halide::type_of<t3>()}, {a1, a2, a3}, false);         \
    }
#define HalidePureExtern_3(rt, name, t1, t2, t3)                                                                       \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2, const ::Halide::Expr &a3) {                \
        return ::Halide::Internal::make_extern_call(                                                                   \
            ::Halide::type_of<rt>(), #name,                                                                            \
            {::Halide::type_of<t1>(), ::Halide::type_of<t2>(), ::Halide::type_of<t3>()}, {a1, a2, a3}, true);          \
    }

#define HalideExtern_4(rt, name, t1, t2, t3, t4)                                                                       \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2, const ::Halide::Expr &a3,                  \
                        const ::Halide::Expr &a4) {                                                                    \
        return ::Halide::Internal::make_extern_call(                                                                   \
            ::Halide::type_of<rt>(), #name,                                                                            \
            {::Halide::type_of<t1>(), ::Halide::type_of<t2>(), ::Halide::type_of<t3>(), ::Halide::type_of<t4>()},      \
            {a1, a2, a3, a4}, false);                                                                                  \
    }
#define HalidePureExtern_4(rt, name, t1, t2, t3, t4)                                                                   \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2, const ::Halide::Expr &a3,                  \
                        const ::Halide::Expr &a4) {                                                                    \
        return ::Halide::Internal::make_extern_call(                                                                   \
            ::Halide::type_of<rt>(), #name,                                                                            \
            {::Halide::type_of<t1>(), ::Halide::type_of<t2>(), ::Halide::type_of<t3>(), ::Halide::type_of<t4>()},      \
            {a1, a2, a3, a4}, true);                                                                                   \
    }

#define HalideExtern_5(rt, name, t1, t2, t3, t4, t5)                                                                   \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2, const ::Halide::Expr &a3,                  \
                        const ::Halide::Expr &a4, const ::Halide::Expr &a5) {                                          \
        return ::Halide::Internal::make_extern_call(::Halide::type_of<rt>(), #name,                                    \
                                                    {::Halide::type_of<t1>(), ::Halide::type_of<t2>(),                 \
                                                     ::Halide::type_of<t3>(), ::Halide::type_of<t4>(),                 \
                                                     ::Halide::type_of<t5>()},                                         \
                                                    {a1, a2, a3, a4, a5}, false);                                      \
    }
#define HalidePureExtern_5(rt, name, t1, t2, t3, t4, t5)                                                               \
    ::Halide::Expr name(const ::Halide::Expr &a1, const ::Halide::Expr &a2, const ::Halide::Expr &a3,                  \
                        const ::Halide::Expr &a4, const ::Halide::Expr &a5) {                                          \
        return ::Halide::Internal::make_extern_call(::Halide::type_of<rt>(), #name,                                    \
                                                    {::Halide::type_of<t1>(), ::Halide::type_of<t2>(),                 \
                                                     ::Halide::type_of<t3>(), ::Halide::type_of<t4>(),                 \
                                                     ::Halide::type_of<t5>()},                                         \
                                                    {a1, a2, a3, a4, a5}, true);                                       \
    }
