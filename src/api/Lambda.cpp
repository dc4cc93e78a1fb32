#include "api/Lambda.h"

namespace Halide {

namespace {

Func define(const std::vector<Var> &args, const Expr &e) {
    Func f("lambda");
    f(args) = e;
    return f;
}

}  // namespace

Func lambda(const Expr &e) {
    return define({_}, e);
}

Func lambda(const Var &x, const Expr &e) {
    return define({x}, e);
}

Func lambda(const Var &x, const Var &y, const Expr &e) {
    return define({x, y}, e);
}

Func lambda(const Var &x, const Var &y, const Var &z, const Expr &e) {
    return define({x, y, z}, e);
}

Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &e) {
    return define({x, y, z, w}, e);
}

Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v, const Expr &e) {
    return define({x, y, z, w, v}, e);
}

}  // namespace Halide
