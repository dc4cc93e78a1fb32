#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "ir/IR.h"

namespace Halide {

/// A dimension of a Func: a name, and at the same time the Int(32) expression that stands for the coordinate.
/// Two Vars with the same name are the same Var.
class Var {
    Expr e;

public:
    /// A Var with the given name. Names containing `$` or `.` are reserved for the compiler's own.
    Var(const std::string &name);
    /// A Var with a fresh name (`v0`, `v1`, …).
    Var();

    const std::string &name() const;

    bool same_as(const Var &other) const { return name() == other.name(); }

    /// The implicit Var number n, named `_n`; `_` in an argument list stands for the first few of them.
    static Var implicit(int n);
    static bool is_implicit(const std::string &name);
    bool is_implicit() const { return is_implicit(name()); }
    /// The number of an implicit Var, or -1.
    static int implicit_index(const std::string &name);
    int implicit_index() const { return implicit_index(name()); }
    /// Whether the name is `_`, which expands to as many implicit Vars as needed.
    static bool is_placeholder(const std::string &name);
    bool is_placeholder() const { return is_placeholder(name()); }

    operator const Expr &() const { return e; }

    /// The pseudo-dimension outside all loops of a stage.
    static Var outermost();
};

std::ostream &operator<<(std::ostream &stream, const Var &v);

/// The type of `_` (N = -1) and of `_0` … `_9`: constants that convert to the Var or Expr they stand for.
template <int N = -1>
struct ImplicitVar {
    Var to_var() const {
        if (N >= 0) {
            return Var::implicit(N);
        } else {
            return Var("_");
        }
    }

    operator Var() const { return to_var(); }
    operator Expr() const { return to_var(); }
};

/// Placeholder for all dimensions that a call or definition does not name.
static constexpr ImplicitVar<> _;
static constexpr ImplicitVar<0> _0;
static constexpr ImplicitVar<1> _1;
static constexpr ImplicitVar<2> _2;
static constexpr ImplicitVar<3> _3;
static constexpr ImplicitVar<4> _4;
static constexpr ImplicitVar<5> _5;
static constexpr ImplicitVar<6> _6;
static constexpr ImplicitVar<7> _7;
static constexpr ImplicitVar<8> _8;
static constexpr ImplicitVar<9> _9;

namespace Internal {

/// The Vars `_0` … of a Func that has this many dimensions.
std::vector<Var> make_argument_list(int dimensionality);

}  // namespace Internal
}  // namespace Halide
