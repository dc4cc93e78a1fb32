#include "lower/vector/WordArithmetic.h"

#include "ir/IROperator.h"

namespace Halide {
namespace Internal {

namespace {

uint64_t mask_of(const Expr &e) {
    return e.type().bits() == 64 ? ~(uint64_t)0 : ((uint64_t)1 << e.type().bits()) - 1;
}

template<typename F>
Expr fold(const Expr &a, const Expr &b, F f) {
    const auto x = as_const_uint(a), y = as_const_uint(b);
    return x && y ? make_const(a.type(), f(*x, *y) & mask_of(a)) : Expr();
}

}  // namespace

bool is_word(const Expr &e, uint64_t v) {
    const auto c = as_const_uint(e);
    return c && *c == v;
}

Expr w_and(const Expr &a, const Expr &b) {
    if (Expr c = fold(a, b, [](uint64_t x, uint64_t y) { return x & y; }); c.defined()) {
        return c;
    }
    if (is_word(a, 0) || is_word(b, mask_of(b))) {
        return a;
    }
    return is_word(b, 0) || is_word(a, mask_of(a)) ? b : a & b;
}

Expr w_or(const Expr &a, const Expr &b) {
    if (Expr c = fold(a, b, [](uint64_t x, uint64_t y) { return x | y; }); c.defined()) {
        return c;
    }
    if (is_word(b, 0) || is_word(a, mask_of(a))) {
        return a;
    }
    return is_word(a, 0) || is_word(b, mask_of(b)) ? b : a | b;
}

Expr w_not(const Expr &a) {
    const auto c = as_const_uint(a);
    return c ? make_const(a.type(), ~*c & mask_of(a)) : ~a;
}

Expr w_xor(const Expr &a, const Expr &b) {
    if (Expr c = fold(a, b, [](uint64_t x, uint64_t y) { return x ^ y; }); c.defined()) {
        return c;
    }
    if (is_word(b, 0)) {
        return a;
    }
    if (is_word(a, 0)) {
        return b;
    }
    return is_word(b, mask_of(b)) ? w_not(a) : a ^ b;
}

Expr w_add(const Expr &a, const Expr &b) {
    if (Expr c = fold(a, b, [](uint64_t x, uint64_t y) { return x + y; }); c.defined()) {
        return c;
    }
    return is_word(b, 0) ? a : is_word(a, 0) ? b : a + b;
}

Expr w_sub(const Expr &a, const Expr &b) {
    if (Expr c = fold(a, b, [](uint64_t x, uint64_t y) { return x - y; }); c.defined()) {
        return c;
    }
    return is_word(b, 0) ? a : a - b;
}

Expr w_mul(const Expr &a, const Expr &b) {
    if (Expr c = fold(a, b, [](uint64_t x, uint64_t y) { return x * y; }); c.defined()) {
        return c;
    }
    return is_word(b, 1) || is_word(a, 0) ? a : is_word(a, 1) || is_word(b, 0) ? b : a * b;
}

Expr w_shl(const Expr &a, int k) {
    const auto c = as_const_uint(a);
    return k == 0 ? a : c ? make_const(a.type(), (*c << k) & mask_of(a)) : a << make_const(a.type(), k);
}

Expr w_shr(const Expr &a, int k) {
    const auto c = as_const_uint(a);
    return k == 0 ? a : c ? make_const(a.type(), *c >> k) : a >> make_const(a.type(), k);
}

bool fits_product(uint64_t a, uint64_t b, uint64_t most) {
    return a == 0 || b <= most / a;
}

}  // namespace Internal
}  // namespace Halide
