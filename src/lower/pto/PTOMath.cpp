#include "lower/pto/PTOMath.h"

#include "ir/IROperator.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

namespace {

// Nodes are made as they stand where the order of roundings matters: simplified, the small differences would vanish.

Expr number(double v) {
    return make_const(Float(32), v);
}

Expr fused(const Expr &a, const Expr &b, const Expr &c) {
    return Call::make(Float(32), Call::strict_fma, {a, b, c}, Call::PureIntrinsic);
}

/// c[0] + c[1]·x + c[2]·x² + …
Expr polynomial(const Expr &x, const std::vector<double> &c) {
    Expr result = number(c.back());
    for (size_t i = c.size() - 1; i-- > 0;) {
        result = fused(result, x, number(c[i]));
    }
    return result;
}

/// |x|, with the sign of s.
Expr with_sign_of(const Expr &s, const Expr &x) {
    return select(s < number(0), Sub::make(number(0), x), x);
}

constexpr double pi = 3.14159265358979323846;

/// sin x or cos x: the nearest multiple k·π/2 is taken away, π/2 in three parts of which the first two have few digits; what is
/// left is at most π/4, where few terms of the series do, and k says which of both series it is and its sign.
Expr sine(const Expr &x, int quarter) {
    const Expr k = cast(Int(32), round(x * number(2 / pi)));
    const Expr n = cast(Float(32), k);
    Expr rest = fused(n, number(-1.5703125), x);
    rest = fused(n, number(-4.83751296997e-4), rest);
    rest = fused(n, number(-7.5497900e-8), rest);
    const Expr square = rest * rest;
    const Expr odd = fused(rest * square, polynomial(square, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880}), rest);
    const Expr even = polynomial(square, {1, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320});
    const Expr phase = quarter ? k + quarter : k;
    const Expr value = select((phase & 1) == 0, odd, even);
    return select((phase & 2) == 0, value, Sub::make(number(0), value));
}

/// atan x: beyond 1 by the reciprocal, beyond tan π/8 by the difference from 1; then the series.
Expr arc_tangent(const Expr &x) {
    const Expr a = abs(x);
    const Expr beyond = a > number(1);
    const Expr t = select(beyond, Div::make(number(1), a), a);
    const Expr far = t > number(0.41421356237309503);
    const Expr u = select(far, Div::make(Sub::make(t, number(1)), Add::make(t, number(1))), t);
    const Expr square = u * u;
    Expr series = polynomial(square, {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17});
    series = fused(u * square, series, u);
    const Expr small = select(far, series + number(pi / 4), series);
    return with_sign_of(x, select(beyond, number(pi / 2) - small, small));
}

/// log(1 + u) without losing a small u: the rounding of 1 + u is made good by the factor.
Expr log_of_one_plus(const Expr &u) {
    const Expr w = Add::make(number(1), u);
    const Expr safe = select(w == number(1), number(2), w);
    return select(w == number(1), u, log(w) * Div::make(u, Sub::make(safe, number(1))));
}

Expr hyperbolic_sine(const Expr &x) {
    const Expr a = abs(x), e = exp(a);
    const Expr square = x * x;
    const Expr small = fused(x * square, polynomial(square, {1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880}), x);
    return select(a < number(1), small, with_sign_of(x, number(0.5) * e - Div::make(number(0.5), e)));
}

/// x ^ y: negative numbers have powers of whole exponents only.
Expr power(const Expr &x, const Expr &y) {
    const Expr a = abs(x);
    const Expr value = exp(y * log(a));
    const Expr whole = trunc(y) == y;
    const Expr half = y * number(0.5);
    const Expr odd = whole && trunc(half) != half;
    const Expr nan = Div::make(x - x, x - x);
    const Expr of_negative = select(!whole, nan, odd, Sub::make(number(0), value), value);
    return select(y == number(0), number(1), x < number(0), of_negative, value);
}

Expr expand(const std::string &name, const std::vector<Expr> &args) {
    using Function = std::function<Expr(const std::vector<Expr> &)>;
    static const std::map<std::string, Function> functions = {
        {"sin", [](const auto &v) { return sine(v[0], 0); }},
        {"cos", [](const auto &v) { return sine(v[0], 1); }},
        {"tan", [](const auto &v) { return Div::make(sine(v[0], 0), sine(v[0], 1)); }},
        {"atan", [](const auto &v) { return arc_tangent(v[0]); }},
        {"asin",
         [](const auto &v) {
             const Expr &x = v[0];
             return arc_tangent(Div::make(x, sqrt(Sub::make(number(1), x) * Add::make(number(1), x))));
         }},
        {"acos",
         [](const auto &v) {
             const Expr &x = v[0];
             return number(2) * arc_tangent(sqrt(Div::make(Sub::make(number(1), x), Add::make(number(1), x))));
         }},
        {"atan2",
         [](const auto &v) {
             const Expr &y = v[0], &x = v[1];
             const Expr turned = arc_tangent(Div::make(y, x)) + with_sign_of(y, number(pi));
             return select(x == number(0) && y == number(0), number(0), x < number(0), turned, arc_tangent(Div::make(y, x)));
         }},
        {"sinh", [](const auto &v) { return hyperbolic_sine(v[0]); }},
        {"cosh",
         [](const auto &v) {
             const Expr e = exp(abs(v[0]));
             return number(0.5) * e + Div::make(number(0.5), e);
         }},
        {"asinh",
         [](const auto &v) {
             const Expr a = abs(v[0]), square = a * a;
             const Expr more = Div::make(square, Add::make(number(1), sqrt(Add::make(number(1), square))));
             return with_sign_of(v[0], log_of_one_plus(Add::make(a, more)));
         }},
        {"acosh",
         [](const auto &v) {
             const Expr t = Sub::make(v[0], number(1));
             return log_of_one_plus(Add::make(t, sqrt(t * Add::make(t, number(2)))));
         }},
        {"atanh",
         [](const auto &v) {
             const Expr a = abs(v[0]);
             return with_sign_of(v[0], number(0.5) * log_of_one_plus(Div::make(number(2) * a, Sub::make(number(1), a))));
         }},
        {"pow", [](const auto &v) { return power(v[0], v[1]); }},
    };
    const auto f = functions.find(name);
    return f == functions.end() ? Expr() : f->second(args);
}

}  // namespace

Expr expand_pto_math(const Call *op) {
    const size_t type = op->name.rfind('_');
    const std::string suffix = type == std::string::npos ? "" : op->name.substr(type);
    if (suffix != "_f32" && suffix != "_f16") {
        return Expr();
    }
    std::vector<Expr> args;
    for (const Expr &e : op->args) {
        args.push_back(cast(Float(32), e));
    }
    const Expr e = expand(op->name.substr(0, type), args);
    return e.defined() ? cast(op->type, e) : e;
}

}  // namespace Internal
}  // namespace Halide
