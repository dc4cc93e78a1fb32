#pragma once

#include <string>

#include "api/RDom.h"
#include "api/Var.h"

namespace Halide {

/// A loop dimension as schedules take it: a Var or an RVar.
struct VarOrRVar {
    VarOrRVar(const std::string &name, bool is_rvar) : var(name), rvar(name), is_rvar(is_rvar) {}
    VarOrRVar(const Var &v) : var(v), rvar(v.name()), is_rvar(false) {}
    VarOrRVar(const RVar &r) : var(r.name()), rvar(r), is_rvar(true) {}
    VarOrRVar(const RDom &r) : VarOrRVar(RVar(r)) {}
    template <int N>
    VarOrRVar(const ImplicitVar<N> &v) : VarOrRVar(v.to_var()) {}

    const std::string &name() const { return is_rvar ? rvar.name() : var.name(); }

    Var var;
    RVar rvar;
    bool is_rvar;
};

}  // namespace Halide
