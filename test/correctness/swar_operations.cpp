// Every operation of SWAR loops against the same program without vectors: exhaustively over operands of 8 bits, each pair
// in every lane; at random for wider ones.

#include "Halide.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace Halide;

namespace {

/// What an operation may use. All images have one dimension and type t, but for `wide` (twice the bits) and `flag` (bool).
struct Operands {
    Type t;
    ImageParam a, b, wide, flag;
    Param<int> amount{"amount"};   // 0 … bits − 1
    Param<int> seed{"seed"};
    Var x{"x"};
    Expr p;                        // a value of type t that is known at run time only

    explicit Operands(Type t)
        : t(t), a(t, 1, "a"), b(t, 1, "b"), wide(t.with_bits(2 * std::min(t.bits(), 32)), 1, "wide"), flag(Bool(), 1, "flag"),
          p(cast(t, seed)) {}

    Expr c(int v) const { return cast(t, v); }
};

struct Operation {
    std::string name;
    std::function<Expr(const Operands &, Expr a, Expr b)> make;
    enum Needs { Any, Signed, WideFits } needs = Any;
};

std::vector<Operation> operations() {
    using O = Operands;
    const auto low_bits = [](const O &o, Expr b) { return b & cast(o.t, o.t.bits() - 1); };
    std::vector<Operation> ops = {
        {"copy", [](const O &, Expr a, Expr) { return a; }},
        {"uniform", [](const O &o, Expr, Expr) { return o.p; }},
        {"ramp", [](const O &o, Expr a, Expr) { return cast(o.t, o.x % 100) + (a & 1); }},
        {"and", [](const O &, Expr a, Expr b) { return a & b; }},
        {"or", [](const O &, Expr a, Expr b) { return a | b; }},
        {"xor", [](const O &, Expr a, Expr b) { return a ^ b; }},
        {"not", [](const O &, Expr a, Expr) { return ~a; }},
        {"add", [](const O &, Expr a, Expr b) { return a + b; }},
        {"add constant", [](const O &o, Expr a, Expr) { return a + o.c(77); }},
        {"add without carry", [](const O &, Expr a, Expr b) { return (a & 63) + (b & 31); }},
        {"add to small", [](const O &, Expr a, Expr b) { return a + (b & 31); }},
        {"sub", [](const O &, Expr a, Expr b) { return a - b; }},
        {"sub constant", [](const O &o, Expr a, Expr) { return a - o.c(100); }},
        {"sub from constant", [](const O &o, Expr a, Expr) { return o.c(100) - a; }},
        {"sub small", [](const O &, Expr a, Expr b) { return a - (b & 31); }},
        {"sub from small", [](const O &, Expr a, Expr b) { return (b & 31) - a; }},
        {"sub small from small", [](const O &, Expr a, Expr b) { return (b & 31) - (a & 31); }},
        {"negate", [](const O &o, Expr a, Expr) { return o.c(0) - a; }},
        {"mul 2", [](const O &, Expr a, Expr) { return a * 2; }},
        {"mul 3", [](const O &, Expr a, Expr) { return a * 3; }},
        {"mul 13 small", [](const O &, Expr a, Expr) { return (a & 7) * 13; }},
        {"mul 101", [](const O &, Expr a, Expr) { return a * 101; }},
        {"mul by lane", [](const O &o, Expr a, Expr) { return a * cast(o.t, select(o.x % 2 == 0, 3, 5)); }},
        {"mul run time", [](const O &o, Expr a, Expr) { return a * o.p; }},
        {"mul bool", [](const O &o, Expr a, Expr b) { return a * cast(o.t, b > o.c(9)); }},
        {"shl 3", [](const O &, Expr a, Expr) { return a << 3; }},
        {"shl 1 small", [](const O &, Expr a, Expr) { return (a & 15) << 2; }},
        {"shr 1", [](const O &, Expr a, Expr) { return a >> 1; }},
        {"shr 5", [](const O &, Expr a, Expr) { return a >> 5; }},
        {"shr all", [](const O &o, Expr a, Expr) { return a >> (o.t.bits() - 1); }},
        {"shl run time", [](const O &o, Expr a, Expr) { return a << cast(UInt(o.t.bits()), o.amount); }},
        {"shr run time", [](const O &o, Expr a, Expr) { return a >> cast(UInt(o.t.bits()), o.amount); }},
        {"shl signed run time", [](const O &o, Expr a, Expr) { return a << cast(Int(o.t.bits()), o.amount - 3); }},
        {"shl by lane", [](const O &o, Expr a, Expr) { return a << cast(UInt(o.t.bits()), select(o.x % 4 == 1, 2, 5)); }},
        {"shr by lane", [](const O &o, Expr a, Expr) { return a >> cast(UInt(o.t.bits()), select(o.x % 2 == 1, 0, 3)); }},
        {"shl by other", [low_bits](const O &o, Expr a, Expr b) { return a << cast(UInt(o.t.bits()), low_bits(o, b)); }},
        {"shr by other", [low_bits](const O &o, Expr a, Expr b) { return a >> cast(UInt(o.t.bits()), low_bits(o, b)); }},
        {"shl by signed other",
         [low_bits](const O &o, Expr a, Expr b) {
             const Expr n = cast(Int(o.t.bits()), low_bits(o, b));
             return a << select((b & 64) != 0, -n, n);
         }},
        {"rounding shr", [](const O &, Expr a, Expr) { return rounding_shift_right(a, 3); }},
        {"div 8", [](const O &, Expr a, Expr) { return a / 8; }},
        {"mod 8", [](const O &, Expr a, Expr) { return a % 8; }},
        {"div -8", [](const O &, Expr a, Expr) { return a / -8; }, Operation::Signed},
        {"mod -8", [](const O &, Expr a, Expr) { return a % -8; }, Operation::Signed},
        {"div least", [](const O &o, Expr a, Expr) { return a / o.t.min(); }, Operation::Signed},
        {"div 3", [](const O &, Expr a, Expr) { return a / 3; }},
        {"mod 3", [](const O &, Expr a, Expr) { return a % 3; }},
        {"div 7", [](const O &, Expr a, Expr) { return a / 7; }},
        {"div 100", [](const O &, Expr a, Expr) { return a / 100; }},
        {"mod 10", [](const O &, Expr a, Expr) { return a % 10; }},
        {"div -7", [](const O &, Expr a, Expr) { return a / -7; }, Operation::Signed},
        {"mod -7", [](const O &, Expr a, Expr) { return a % -7; }, Operation::Signed},
        {"select eq", [](const O &o, Expr a, Expr b) { return select(a == b, o.c(3), a); }},
        {"select ne small", [](const O &o, Expr a, Expr b) { return select((a & 3) != (b & 3), b, o.p); }},
        {"select lt", [](const O &, Expr a, Expr b) { return select(a < b, a, b ^ 3); }},
        {"select le constant", [](const O &o, Expr a, Expr b) { return select(a <= o.c(31), a, b); }},
        {"select gt 0", [](const O &o, Expr a, Expr b) { return select(a > o.c(0), a, b); }},
        {"select sign", [](const O &o, Expr a, Expr b) { return select(a < o.c(0), a, b); }, Operation::Signed},
        {"select ge small", [](const O &, Expr a, Expr b) { return select((a & 15) >= (b & 31), a, b); }},
        {"select small lt", [](const O &, Expr a, Expr b) { return select((a & 15) < b, a, b); }},
        {"select lt small", [](const O &, Expr a, Expr b) { return select(a < (b & 15), a, b); }},
        {"select by lane", [](const O &o, Expr a, Expr b) { return select(o.x % 2 == 0, a, b); }},
        {"select by place", [](const O &o, Expr a, Expr b) { return select(o.x < 77, a, b); }},
        {"select uniform", [](const O &o, Expr a, Expr b) { return select(o.seed > 3, a, b); }},
        {"select bools", [](const O &o, Expr a, Expr b) { return select((a < b && a != o.c(7)) || !(b > o.p), a, b); }},
        {"select flag", [](const O &o, Expr a, Expr b) { return select(o.flag(o.x), a, b); }},
        {"bool", [](const O &, Expr a, Expr b) { return a < b; }},
        {"bool xor", [](const O &o, Expr a, Expr b) { return (a < b) ^ o.flag(o.x); }},
        {"bool to int", [](const O &o, Expr a, Expr b) { return cast(o.t, a != b) + cast(o.t, o.flag(o.x)); }},
        {"int to bool", [](const O &, Expr a, Expr) { return cast<bool>(a); }},
        {"min", [](const O &, Expr a, Expr b) { return min(a, b); }},
        {"max", [](const O &, Expr a, Expr b) { return max(a, b); }},
        {"clamp", [](const O &o, Expr a, Expr) { return clamp(a, o.c(5), o.c(99)); }},
        {"abs", [](const O &, Expr a, Expr) { return abs(a); }, Operation::Signed},
        {"absd", [](const O &, Expr a, Expr b) { return absd(a, b); }},
        {"saturating add", [](const O &, Expr a, Expr b) { return saturating_add(a, b); }},
        {"saturating sub", [](const O &, Expr a, Expr b) { return saturating_sub(a, b); }},
        {"halving add", [](const O &, Expr a, Expr b) { return halving_add(a, b); }},
        {"rounding halving add", [](const O &, Expr a, Expr b) { return rounding_halving_add(a, b); }},
        {"halving sub", [](const O &, Expr a, Expr b) { return halving_sub(a, b); }},
        {"popcount", [](const O &, Expr a, Expr) { return popcount(a); }},
        {"clz", [](const O &, Expr a, Expr) { return count_leading_zeros(a); }},
        {"ctz", [](const O &, Expr a, Expr) { return count_trailing_zeros(a); }},
        {"other sign", [](const O &o, Expr a, Expr b) {
             const Type u = o.t.with_code(o.t.is_int() ? Type::UInt : Type::Int);
             return cast(u, a) >> 2 ^ cast(u, b);
         }},
    };
    // Those that need lanes of twice the width in the same word.
    const std::vector<Operation> wide = {
        {"widen", [](const O &o, Expr a, Expr) { return cast(o.wide.type(), a); }},
        {"widening add", [](const O &o, Expr a, Expr b) { return cast(o.wide.type(), a) + b; }},
        {"narrow", [](const O &o, Expr a, Expr) { return cast(o.t, o.wide(o.x)) + a; }},
        {"saturating narrow", [](const O &o, Expr, Expr) { return saturating_cast(o.t, o.wide(o.x)); }},
        {"average", [](const O &o, Expr a, Expr b) {
             const Type w = o.wide.type();
             return cast(o.t, (cast(w, a) + cast(w, b) * 3 + 2) >> 2);
         }},
        {"wide compare", [](const O &o, Expr a, Expr b) { return select(o.wide(o.x) < o.wide(o.x + 1), a, b); }},
        {"wide bools", [](const O &o, Expr a, Expr b) { return select(o.wide(o.x) < 99 && a < b, o.wide(o.x), 3); }},
    };
    for (Operation op : wide) {
        op.needs = Operation::WideFits;
        ops.push_back(op);
    }
    return ops;
}

/// How the loop over x is scheduled.
struct Composition {
    enum Kind { Alone, InsideSIMD, Update } kind = Alone;
    TailStrategy tail = TailStrategy::Auto;
    bool exhaustive = true;
    /// Every how many operations one is run: what a tail does hardly depends on the operation. BROMIDE_SWAR_FULL runs all.
    int step = 1;
};

constexpr int margin = 64;   // images are readable beyond what is compared, for tails that round up

struct Images {
    Buffer<> a, b, wide;
    Buffer<bool> flag;
    int size = 0;
};

Images make_images(Type t, int lanes, bool exhaustive) {
    std::mt19937 random(t.bits() * 8 + lanes);
    Images im;
    const int pairs = 256 * 256;
    im.size = (t.bits() == 8 && exhaustive ? pairs * lanes : 400) + 5;
    const int total = im.size + margin;
    im.a = Buffer<>(t, total), im.b = Buffer<>(t, total);
    im.wide = Buffer<>(t.with_bits(2 * std::min(t.bits(), 32)), total);
    im.flag = Buffer<bool>(total);
    std::vector<int> order(pairs);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const auto number = [&]() -> uint32_t {
        const uint32_t r = random();
        // Int(32) must not overflow.
        const uint32_t most = t == Int(32) ? 1 << 22 : ~0u;
        switch (random() % 8) {
        case 0: return r % 4;
        case 1: return ~(r % 4);
        case 2: return t.bits() == 32 ? r % most : 1u << (t.bits() - 1);
        default: return t == Int(32) ? (r % most) - most / 2 : r;
        }
    };
    for (int i = 0; i < total; i++) {
        // Each round starts one lane later, so that each pair comes to each lane.
        const int pair = order[(i + i / pairs) % pairs];
        const uint32_t va = t.bits() == 8 && exhaustive ? pair & 255 : number();
        const uint32_t vb = t.bits() == 8 && exhaustive ? pair >> 8 : number();
        const uint64_t w = ((uint64_t)number() << (t.bits() % 32)) ^ number();
        std::memcpy((char *)im.a.data() + i * t.bytes(), &va, t.bytes());
        std::memcpy((char *)im.b.data() + i * t.bytes(), &vb, t.bytes());
        const int bytes = im.wide.type().bytes();
        std::memcpy((char *)im.wide.data() + i * bytes, &w, bytes);
        im.flag(i) = random() & 1;
    }
    return im;
}

/// All operations in one Func.
Func make_func(const Operands &o, const std::vector<Operation> &ops, bool update) {
    Func f;
    std::vector<Expr> initial, values;
    for (const Operation &op : ops) {
        values.push_back(op.make(o, o.a(o.x), o.b(o.x)));
        initial.push_back(cast(values.back().type(), 0));
    }
    f(o.x) = Tuple(update ? initial : values);
    if (update) {
        for (size_t i = 0; i < ops.size(); i++) {
            values[i] = select(o.seed != 0, values[i], f(o.x)[(int)i]);
        }
        f(o.x) = Tuple(values);
    }
    return f;
}

Realization run(Operands &o, Func f, const Images &im) {
    o.a.set(im.a), o.b.set(im.b), o.wide.set(im.wide), o.flag.set(im.flag);
    o.amount.set(o.t.bits() / 2 + 1), o.seed.set(201);
    return f.realize({im.size});
}

/// Whether what is computed has to be larger than what is used.
bool writes_beyond(TailStrategy t) {
    return t == TailStrategy::RoundUp || t == TailStrategy::RoundUpAndBlend || t == TailStrategy::PredicateLoads;
}

void schedule(Func f, Var x, int lanes, const Composition &c) {
    const VectorizeIn swar = VectorizeIn::SWAR;
    if (c.tail == TailStrategy::RoundUp) {
        // The places of lanes are known then.
        f.align_bounds(x, 32, 0);
    }
    switch (c.kind) {
    case Composition::Alone:
        f.vectorize(x, lanes, swar, c.tail);
        break;
    case Composition::InsideSIMD: {
        Var xo("xo"), xi("xi");
        f.split(x, xo, xi, lanes, c.tail).vectorize(xi, swar).vectorize(xo, 4, c.tail);
        break;
    }
    case Composition::Update:
        f.update().vectorize(x, lanes, swar, c.tail);
        break;
    }
}

/// The first element that differs.
void compare(const Operation &op, const Composition &c, int lanes, const Images &im, const Buffer<> &expected,
             const Buffer<> &got) {
    const Type t = im.a.type();
    const int bytes = expected.type().bytes();
    if (std::memcmp(expected.data(), got.data(), (size_t)im.size * bytes) == 0) {
        return;
    }
    for (int i = 0; i < im.size; i++) {
        const char *pe = (const char *)expected.data() + i * bytes, *pg = (const char *)got.data() + i * bytes;
        if (std::memcmp(pe, pg, bytes) != 0) {
            uint64_t x = 0, y = 0, va = 0, vb = 0;
            std::memcpy(&x, pe, bytes), std::memcpy(&y, pg, bytes);
            std::memcpy(&va, (const char *)im.a.data() + i * t.bytes(), t.bytes());
            std::memcpy(&vb, (const char *)im.b.data() + i * t.bytes(), t.bytes());
            ADD_FAILURE() << op.name << " of " << t << ", " << lanes << " lanes, composition " << c.kind << ", tail "
                          << (int)c.tail << ", at " << i << ": " << va << ", " << vb << " gives " << y
                          << " instead of " << x;
            return;
        }
    }
}

void check(const std::vector<Composition> &compositions) {
    for (Type t : {UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32)}) {
        for (int lanes : {32 / t.bits(), 64 / t.bits()}) {
            if (lanes < 2) {
                continue;
            }
            const bool exhaustive = compositions[0].exhaustive;
            const Images im = make_images(t, lanes, exhaustive);
            // Several operations per program save time.
            const std::vector<Operation> all = operations();
            constexpr size_t chunk = 8;
            std::vector<Operation> ops;
            const bool full = std::getenv("BROMIDE_SWAR_FULL") != nullptr;
            for (size_t k = 0; k < all.size(); k++) {
                const Operation &op = all[k];
                const bool fits = op.needs != Operation::WideFits || 2 * t.bits() * lanes <= 64;
                if (fits && (op.needs != Operation::Signed || t.is_int())) {
                    ops.push_back(op);
                }
                if (ops.size() < 2 || (ops.size() < chunk && k + 1 < all.size())) {
                    continue;
                }
                Operands o(t);
                try {
                    const Realization expected = run(o, make_func(o, ops, false), im);
                    for (size_t number = 0; number < compositions.size(); number++) {
                        const Composition &c = compositions[number];
                        if (!full && (k + number) % (size_t)c.step != 0) {
                            continue;
                        }
                        Func f = make_func(o, ops, c.kind == Composition::Update);
                        schedule(f, o.x, lanes, c);
                        if (writes_beyond(c.tail)) {
                            Func g;
                            g(o.x) = Tuple(f(o.x));
                            f.compute_root();
                            f = g;
                        }
                        const Realization r = run(o, f, im);
                        for (size_t i = 0; i < ops.size(); i++) {
                            compare(ops[i], c, lanes, im, expected[i], r[i]);
                        }
                    }
                } catch (const Error &error) {
                    ADD_FAILURE() << t << ", " << lanes << " lanes: " << error.what();
                }
                ops.clear();
            }
        }
    }
}

TEST(SWAR, exhaustive) {
    check({{Composition::Alone},
           {Composition::InsideSIMD, TailStrategy::RoundUp},
           {Composition::Update, TailStrategy::Auto, true, 4}});
}

// Few points, so that tails count.
TEST(SWAR, tails) {
    check({{Composition::Update, TailStrategy::Auto, false, 2},
           {Composition::InsideSIMD, TailStrategy::GuardWithIf, false, 5},
           {Composition::Alone, TailStrategy::GuardWithIf, false, 5},
           {Composition::Alone, TailStrategy::Predicate, false, 5},
           {Composition::Alone, TailStrategy::PredicateLoads, false, 5},
           {Composition::Alone, TailStrategy::PredicateStores, false, 5},
           {Composition::Alone, TailStrategy::RoundUp, false, 5},
           {Composition::Update, TailStrategy::GuardWithIf, false, 5},
           {Composition::Update, TailStrategy::RoundUpAndBlend, false, 5},
           {Composition::Update, TailStrategy::ShiftInwardsAndBlend, false, 5}});
}

}  // namespace
