// Code generation by itself: lowered functions made by hand, run by JIT, against plain C++ arithmetic.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "codegen/llvm/JITModule.h"
#include "func/Module.h"
#include "ir/IR.h"
#include "ir/IROperator.h"
#include "lower/parallel/LowerParallel.h"
#include "support/Util.h"

using namespace Halide;
using namespace Halide::Internal;

namespace {

using Wide = __int128;

Target jit_target() {
    return get_jit_target_from_environment().with_feature(Target::JIT).with_feature(Target::UserContext);
}

Expr host_of(const std::string &name) {
    Expr buffer = Variable::make(type_of<halide_buffer_t *>(), name + ".buffer");
    return Call::make(Handle(), Call::buffer_get_host, {buffer}, Call::Extern);
}

LoweredArgument buffer_argument(const std::string &name, Argument::Kind kind, Type t) {
    return LoweredArgument(name, kind, t, 1, ArgumentEstimates());
}

/// A function of two inputs and an output, compiled.
struct Kernel {
    JITModule code;

    Kernel(const std::vector<Type> &inputs, Type output, const Stmt &body, const Target &t = jit_target()) {
        std::vector<LoweredArgument> args = {
            LoweredArgument("__user_context", Argument::InputScalar, type_of<const void *>(), 0, ArgumentEstimates())};
        Stmt s = LetStmt::make("out", host_of("out"), body);
        for (size_t i = 0; i < inputs.size(); i++) {
            const std::string name = "in" + std::to_string(i);
            args.push_back(buffer_argument(name, Argument::InputBuffer, inputs[i]));
            s = LetStmt::make(name, host_of(name), s);
        }
        args.push_back(buffer_argument("out", Argument::OutputBuffer, output));
        Module m("kernel", t);
        std::vector<LoweredFunc> closures;
        int n = 0;
        s = lower_parallel_tasks(s, closures, "kernel", t,
                                 [&](const std::string &p) { return p + "$" + std::to_string(n++); });
        for (const LoweredFunc &f : closures) {
            m.append(f);
        }
        const LoweredFunc f("kernel", args, s, LinkageType::ExternalPlusArgv);
        m.append(f);
        code = JITModule(m, f);
    }

    int run(const std::vector<Buffer<>> &inputs, const Buffer<> &output, JITUserContext *context = nullptr) const {
        JITFuncCallContext call(context, JITHandlers());
        const void *uc = call.context();
        std::vector<const void *> args = {&uc};
        for (const Buffer<> &b : inputs) {
            args.push_back(b.raw_buffer());
        }
        args.push_back(output.raw_buffer());
        const int result = code.argv_function()(args.data());
        call.finalize(result);
        return result;
    }
};

Expr load(const std::string &name, Type t, Expr index, Expr predicate = Expr()) {
    const int lanes = index.type().lanes();
    return Load::make(t.with_lanes(lanes), name, index, Buffer<>(), Parameter(),
                      predicate.defined() ? predicate : const_true(lanes), ModulusRemainder());
}

Expr dense(Expr base, int lanes) {
    return lanes == 1 ? base : Ramp::make(base, 1, lanes);
}

Wide get(const Buffer<> &b, int i) {
    const Type t = b.type();
    const void *p = (const uint8_t *)b.data() + (size_t)i * t.bytes();
    switch (t.bits()) {
    case 1:
    case 8:
        return t.is_int() ? (Wide) * (const int8_t *)p : (Wide) * (const uint8_t *)p;
    case 16:
        return t.is_int() ? (Wide) * (const int16_t *)p : (Wide) * (const uint16_t *)p;
    case 32:
        return t.is_int() ? (Wide) * (const int32_t *)p : (Wide) * (const uint32_t *)p;
    default:
        return t.is_int() ? (Wide) * (const int64_t *)p : (Wide) * (const uint64_t *)p;
    }
}

Wide wrap(Wide v, Type t) {
    const Wide m = (Wide)1 << t.bits();
    v = ((v % m) + m) % m;
    return t.is_int() && v >= m / 2 ? v - m : v;
}

Wide saturate(Wide v, Type t) {
    const Wide lo = t.is_int() ? -((Wide)1 << (t.bits() - 1)) : 0;
    const Wide hi = t.is_int() ? ((Wide)1 << (t.bits() - 1)) - 1 : ((Wide)1 << t.bits()) - 1;
    return v < lo ? lo : v > hi ? hi : v;
}

Wide floor_shift(Wide v, int by) {
    return v >> by;
}

Wide euclid_mod(Wide a, Wide b) {
    if (b == 0) {
        return 0;
    }
    const Wide r = a % b;
    return r < 0 ? r + (b < 0 ? -b : b) : r;
}

Wide euclid_div(Wide a, Wide b) {
    return b == 0 ? 0 : (a - euclid_mod(a, b)) / b;
}

/// Interesting and random values of a type, as two buffers of pairs.
std::pair<Buffer<>, Buffer<>> pairs_of(Type t, int n) {
    Buffer<> a(t, std::vector<int>{n}), b(t, std::vector<int>{n});
    std::mt19937_64 rng(t.bits() * 2 + t.is_int());
    const auto fill = [&](void *p, uint64_t v, int i) { memcpy((uint8_t *)p + (size_t)i * t.bytes(), &v, t.bytes()); };
    const uint64_t corners[] = {0, 1, 2, 3, ~0ull, ~1ull, 1ull << (t.bits() - 1), (1ull << (t.bits() - 1)) - 1,
                                (1ull << (t.bits() - 1)) + 1, 5, 100};
    constexpr int c = sizeof(corners) / sizeof(corners[0]);
    for (int i = 0; i < n; i++) {
        if (t.bits() == 8) {
            fill(a.data(), (uint64_t)i & 255, i);
            fill(b.data(), (uint64_t)i >> 8, i);
        } else if (i < c * c) {
            fill(a.data(), corners[i / c], i);
            fill(b.data(), corners[i % c], i);
        } else {
            fill(a.data(), rng() >> (rng() % t.bits()), i);
            fill(b.data(), rng() >> (rng() % t.bits()), i);
        }
    }
    return {a, b};
}

struct Operation {
    const char *name;
    std::function<Expr(Expr, Expr)> make;
    /// The value in exact arithmetic, given the operand type; wrapped to the result's type.
    std::function<Wide(Wide, Wide, Type)> reference;
    /// Pairs to which no value is given.
    std::function<bool(Wide, Wide, Type)> skip;
};

const Operation operations[] = {
    {"add", [](Expr a, Expr b) { return Add::make(a, b); }, [](Wide a, Wide b, Type t) { return wrap(a + b, t); }, {}},
    {"sub", [](Expr a, Expr b) { return Sub::make(a, b); }, [](Wide a, Wide b, Type t) { return wrap(a - b, t); }, {}},
    {"mul", [](Expr a, Expr b) { return Mul::make(a, b); }, [](Wide a, Wide b, Type t) { return wrap(a * b, t); }, {}},
    {"div", [](Expr a, Expr b) { return Div::make(a, b); },
     [](Wide a, Wide b, Type t) { return wrap(euclid_div(a, b), t); }, {}},
    {"mod", [](Expr a, Expr b) { return Mod::make(a, b); }, [](Wide a, Wide b, Type t) { return euclid_mod(a, b); }, {}},
    {"div7", [](Expr a, Expr b) { return Div::make(a, make_const(a.type(), 7)); },
     [](Wide a, Wide, Type) { return euclid_div(a, 7); }, {}},
    {"mod7", [](Expr a, Expr b) { return Mod::make(a, make_const(a.type(), 7)); },
     [](Wide a, Wide, Type) { return euclid_mod(a, 7); }, {}},
    {"div8", [](Expr a, Expr b) { return Div::make(a, make_const(a.type(), 8)); },
     [](Wide a, Wide, Type) { return euclid_div(a, 8); }, {}},
    {"mod8", [](Expr a, Expr b) { return Mod::make(a, make_const(a.type(), 8)); },
     [](Wide a, Wide, Type) { return euclid_mod(a, 8); }, {}},
    {"min", [](Expr a, Expr b) { return Min::make(a, b); }, [](Wide a, Wide b, Type) { return a < b ? a : b; }, {}},
    {"max", [](Expr a, Expr b) { return Max::make(a, b); }, [](Wide a, Wide b, Type) { return a > b ? a : b; }, {}},
    {"select", [](Expr a, Expr b) { return Select::make(LT::make(a, b), a, Add::make(b, b)); },
     [](Wide a, Wide b, Type t) { return a < b ? a : wrap(b + b, t); }, {}},
    {"absd", [](Expr a, Expr b) { return absd(a, b); }, [](Wide a, Wide b, Type) { return a > b ? a - b : b - a; }, {}},
    {"saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
     [](Wide a, Wide b, Type t) { return saturate(a + b, t); }, {}},
    {"saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
     [](Wide a, Wide b, Type t) { return saturate(a - b, t); }, {}},
    {"halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
     [](Wide a, Wide b, Type) { return floor_shift(a + b, 1); }, {}},
    {"rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
     [](Wide a, Wide b, Type) { return floor_shift(a + b + 1, 1); }, {}},
    {"halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
     [](Wide a, Wide b, Type t) { return wrap(floor_shift(a - b, 1), t); }, {}},
    {"mul_shift_right", [](Expr a, Expr b) { return mul_shift_right(a, b, a.type().bits() - 1); },
     [](Wide a, Wide b, Type t) { return saturate(floor_shift(a * b, t.bits() - 1), t); },
     [](Wide, Wide, Type t) { return t.bits() > 32; }},
    {"rounding_mul_shift_right", [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, a.type().bits() - 1); },
     [](Wide a, Wide b, Type t) {
         return saturate(floor_shift(a * b + ((Wide)1 << (t.bits() - 2)), t.bits() - 1), t);
     },
     [](Wide, Wide, Type t) { return t.bits() > 32; }},
    {"rounding_shift_right3", [](Expr a, Expr b) { return rounding_shift_right(a, 3); },
     [](Wide a, Wide, Type) { return floor_shift(a + 4, 3); }, {}},
    {"shift_left", [](Expr a, Expr b) { return a << (cast(a.type().with_code(Type::UInt), b) & make_const(a.type().with_code(Type::UInt), 7)); },
     [](Wide a, Wide b, Type t) { return wrap(a << (int)(b & 7), t); }, {}},
    {"shift_right", [](Expr a, Expr b) { return a >> (cast(a.type().with_code(Type::UInt), b) & make_const(a.type().with_code(Type::UInt), 7)); },
     [](Wide a, Wide b, Type) { return floor_shift(a, (int)(b & 7)); }, {}},
    {"popcount", [](Expr a, Expr) { return popcount(a); },
     [](Wide a, Wide, Type t) {
         Wide n = 0;
         for (Wide u = wrap(a, t.with_code(Type::UInt)); u; u >>= 1) {
             n += u & 1;
         }
         return n;
     },
     {}},
    {"clz", [](Expr a, Expr) { return count_leading_zeros(a); },
     [](Wide a, Wide, Type t) {
         Wide n = t.bits();
         for (Wide u = wrap(a, t.with_code(Type::UInt)); u; u >>= 1) {
             n--;
         }
         return n;
     },
     {}},
    {"ctz", [](Expr a, Expr) { return count_trailing_zeros(a); },
     [](Wide a, Wide, Type t) {
         Wide n = 0;
         for (Wide u = wrap(a, t.with_code(Type::UInt)); n < t.bits() && !(u & 1); u >>= 1) {
             n++;
         }
         return n;
     },
     {}},
    {"saturating_cast_u8", [](Expr a, Expr) { return saturating_cast(UInt(8, a.type().lanes()), a); },
     [](Wide a, Wide, Type) { return saturate(a, UInt(8)); }, {}},
    {"saturating_cast_i16", [](Expr a, Expr) { return saturating_cast(Int(16, a.type().lanes()), a); },
     [](Wide a, Wide, Type) { return saturate(a, Int(16)); }, {}},
};

/// All operations on one type in one function: result k of pair i is out[k*n + i].
void check_operations(Type t, int lanes) {
    const int n = t.bits() == 8 ? 65536 : 4096;
    const int whole = n / lanes * lanes;
    const auto [a, b] = pairs_of(t, n);
    std::vector<const Operation *> used;
    Expr i = Variable::make(Int(32), "i");
    Expr index = dense(i * lanes, lanes);
    Stmt body;
    for (const Operation &op : operations) {
        if (op.skip && op.skip(0, 0, t)) {
            continue;
        }
        Expr result = op.make(load("in0", t, index), load("in1", t, index));
        Expr place = dense(i * lanes + (int)used.size() * n, lanes);
        Stmt s = Store::make("out", cast(Int(64, lanes), result), place);
        body = body.defined() ? Block::make(body, s) : s;
        used.push_back(&op);
    }
    body = For::make("i", 0, whole / lanes - 1, ForType::Serial, Partition::Never, DeviceAPI::None, body);
    Buffer<> result(Int(64), std::vector<int>{n * (int)used.size()});
    Kernel({t, t}, Int(64), body).run({a, b}, result);
    for (size_t k = 0; k < used.size(); k++) {
        const Operation &op = *used[k];
        for (int p = 0; p < whole; p++) {
            const Wide x = get(a, p), y = get(b, p);
            if (op.skip && op.skip(x, y, t)) {
                continue;
            }
            ASSERT_EQ((int64_t)op.reference(x, y, t), ((const int64_t *)result.data())[k * n + p])
                << op.name << " of " << (int64_t)x << ", " << (int64_t)y << ", " << (t.is_int() ? "int" : "uint")
                << t.bits() << " x " << lanes;
        }
    }
}

TEST(CodegenLLVM, integer_operations) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)}) {
        for (int lanes : {1, 7, 16}) {
            check_operations(t, lanes);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST(CodegenLLVM, half_to_float_and_back) {
    constexpr int n = 65536;
    Buffer<> halves(UInt(16), std::vector<int>{n});
    for (int i = 0; i < n; i++) {
        ((uint16_t *)halves.data())[i] = (uint16_t)i;
    }
    Buffer<> floats(Float(32), std::vector<int>{n}), doubles(Float(64), std::vector<int>{n});
    std::mt19937 rng(7);
    for (int i = 0; i < n; i++) {
        // Around the halves, and half way between them.
        const float f = (float)float16_t::make_from_bits((uint16_t)i);
        const float g = (float)float16_t::make_from_bits((uint16_t)(i + 1));
        ((float *)floats.data())[i] = i % 3 == 0 ? f : (f + g) / 2;
        ((double *)doubles.data())[i] = ((double)f + (double)g) / 2 * (1 + (i % 5 - 2) * 1e-12);
    }
    const Target native = jit_target();
    Target emulated = native;
    for (auto f : {Target::F16C, Target::AVX2, Target::FMA, Target::AVX512, Target::AVX512_Skylake,
                   Target::AVX512_Cannonlake, Target::AVX512_Zen4, Target::AVX512_SapphireRapids, Target::AVX512_Zen5,
                   Target::AVX512_KNL, Target::AVXVNNI, Target::AVX10_1, Target::ARMFp16}) {
        emulated = emulated.without_feature(f);
    }
    for (const Target &t : {native, emulated}) {
        for (int lanes : {1, 8}) {
            Expr i = Variable::make(Int(32), "i");
            Expr index = dense(i * lanes, lanes);
            const auto loop = [&](const Stmt &s) {
                return For::make("i", 0, n / lanes - 1, ForType::Serial, Partition::Never, DeviceAPI::None, s);
            };
            Buffer<> out(Float(32), std::vector<int>{n});
            Kernel widen({Float(16)}, Float(32),
                         loop(Store::make("out", cast(Float(32, lanes), load("in0", Float(16), index)), index)), t);
            widen.run({halves}, out);
            for (int k = 0; k < n; k++) {
                const float expected = (float)float16_t::make_from_bits((uint16_t)k);
                const float got = ((float *)out.data())[k];
                ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : expected == got) << k;
            }
            Buffer<> out16(UInt(16), std::vector<int>{n});
            Kernel narrow({Float(32)}, Float(16),
                          loop(Store::make("out", cast(Float(16, lanes), load("in0", Float(32), index)), index)), t);
            narrow.run({floats}, out16);
            Kernel narrow64({Float(64)}, Float(16),
                            loop(Store::make("out", cast(Float(16, lanes), load("in0", Float(64), index)), index)), t);
            Buffer<> out64(UInt(16), std::vector<int>{n});
            narrow64.run({doubles}, out64);
            for (int k = 0; k < n; k++) {
                const float f = ((float *)floats.data())[k];
                if (!std::isnan(f)) {
                    ASSERT_EQ(float16_t(f).to_bits(), ((uint16_t *)out16.data())[k]) << f;
                }
                const double d = ((double *)doubles.data())[k];
                if (!std::isnan(d)) {
                    ASSERT_EQ(float16_t(d).to_bits(), ((uint16_t *)out64.data())[k]) << d;
                }
            }
        }
    }
}

TEST(CodegenLLVM, accesses) {
    constexpr int n = 256;
    Buffer<> in(Int(32), std::vector<int>{n});
    for (int i = 0; i < n; i++) {
        ((int32_t *)in.data())[i] = 1000 + i;
    }
    struct Case {
        const char *name;
        Expr index;
        std::function<int(int)> element;
    };
    const Case cases[] = {
        {"dense", Ramp::make(3, 1, 16), [](int i) { return 3 + i; }},
        {"reversed", Ramp::make(40, -1, 16), [](int i) { return 40 - i; }},
        {"stride 2", Ramp::make(5, 2, 16), [](int i) { return 5 + 2 * i; }},
        {"stride 3, odd lanes", Ramp::make(5, 3, 7), [](int i) { return 5 + 3 * i; }},
        {"stride -2", Ramp::make(200, -2, 16), [](int i) { return 200 - 2 * i; }},
        {"stride 4 at the end", Ramp::make(n - 1 - 4 * 15, 4, 16), [](int i) { return n - 1 - 4 * 15 + 4 * i; }},
        {"stride 17", Ramp::make(1, 17, 8), [](int i) { return 1 + 17 * i; }},
        {"broadcast", Broadcast::make(9, 8), [](int) { return 9; }},
        {"rows", Ramp::make(Ramp::make(2, 1, 4), Broadcast::make(32, 4), 4),
         [](int i) { return 2 + i % 4 + 32 * (i / 4); }},
        {"columns", Ramp::make(Ramp::make(2, 16, 4), Broadcast::make(1, 4), 4),
         [](int i) { return 2 + 16 * (i % 4) + i / 4; }},
        {"repeated", Broadcast::make(Ramp::make(7, 1, 4), 3), [](int i) { return 7 + i % 4; }},
        {"gather", Ramp::make(0, 1, 8) * Ramp::make(0, 1, 8) + Broadcast::make(Expr(11), 8),
         [](int i) { return i * i + 11; }},
    };
    for (const Case &c : cases) {
        const int lanes = c.index.type().lanes();
        Stmt s = Store::make("out", load("in0", Int(32), c.index), Ramp::make(0, 1, lanes));
        Buffer<> out(Int(32), std::vector<int>{lanes});
        Kernel({Int(32)}, Int(32), s).run({in}, out);
        for (int i = 0; i < lanes; i++) {
            EXPECT_EQ(1000 + c.element(i), ((int32_t *)out.data())[i]) << c.name << ", lane " << i;
        }
        // The same index as a store: the highest lane wins.
        Stmt scatter = Store::make("out", load("in0", Int(32), Ramp::make(0, 1, lanes)), c.index);
        Buffer<> target(Int(32), std::vector<int>{n}), expected(Int(32), std::vector<int>{n});
        memset(target.data(), 0, n * 4);
        memset(expected.data(), 0, n * 4);
        Kernel({Int(32)}, Int(32), scatter).run({in}, target);
        for (int i = 0; i < lanes; i++) {
            ((int32_t *)expected.data())[c.element(i)] = 1000 + i;
        }
        EXPECT_EQ(0, memcmp(target.data(), expected.data(), n * 4)) << c.name;
    }
}

TEST(CodegenLLVM, predicated_accesses_touch_live_lanes_only) {
    constexpr int n = 64;
    for (const Type &t : {UInt(8), Int(16), Int(32), Int(64), Float(32), Bool()}) {
        for (int lanes : {1, 6, 16}) {
            Buffer<> in(t, std::vector<int>{n}), out(t, std::vector<int>{n}), expected(t, std::vector<int>{n});
            memset(in.data(), 1, in.size_in_bytes());
            for (int stride : {1, -1, 2}) {
                memset(out.data(), 0, out.size_in_bytes());
                memset(expected.data(), 0, out.size_in_bytes());
                const int start = stride < 0 ? 40 : 3;
                Expr lane = dense(0, lanes), index = lanes == 1 ? Expr(start) : Ramp::make(start, stride, lanes);
                Expr live = lanes == 1 ? const_true() && (Variable::make(Int(32), "zero") == 0) :
                                         (lane % 3) != Broadcast::make(1, lanes);
                Stmt s = Store::make("out", load("in0", t, index, live), index, Parameter(), live, ModulusRemainder());
                s = LetStmt::make("zero", Call::make(Int(32), Call::buffer_get_min,
                                                     {Variable::make(type_of<halide_buffer_t *>(), "out.buffer"), 0},
                                                     Call::Extern),
                                  s);
                Kernel({t}, t, s).run({in}, out);
                for (int i = 0; i < lanes; i++) {
                    if (lanes == 1 || i % 3 != 1) {
                        memset((uint8_t *)expected.data() + (start + stride * i) * t.bytes(), 1, t.bytes());
                    }
                }
                EXPECT_EQ(0, memcmp(out.data(), expected.data(), out.size_in_bytes()))
                    << t.bits() << " bits x " << lanes << ", stride " << stride;
            }
        }
    }
}

TEST(CodegenLLVM, reductions) {
    constexpr int n = 96;
    struct Case {
        VectorReduce::Operator op;
        std::function<int64_t(int64_t, int64_t)> combine;
    };
    const Case cases[] = {
        {VectorReduce::Add, [](int64_t a, int64_t b) { return a + b; }},
        {VectorReduce::Mul, [](int64_t a, int64_t b) { return (int64_t)(int32_t)(a * b); }},
        {VectorReduce::Min, [](int64_t a, int64_t b) { return std::min(a, b); }},
        {VectorReduce::Max, [](int64_t a, int64_t b) { return std::max(a, b); }},
    };
    Buffer<> in(Int(32), std::vector<int>{n});
    for (int i = 0; i < n; i++) {
        ((int32_t *)in.data())[i] = (i * 37) % 23 - 7;
    }
    for (const Case &c : cases) {
        for (int factor : {2, 3, 4, 6, 8}) {
            for (int lanes : {1, 2, 4, 5}) {
                Expr v = load("in0", Int(32), Ramp::make(0, 1, factor * lanes));
                Buffer<> out(Int(32), std::vector<int>{lanes});
                Kernel({Int(32)}, Int(32), Store::make("out", VectorReduce::make(c.op, v, lanes), dense(0, lanes)))
                    .run({in}, out);
                for (int j = 0; j < lanes; j++) {
                    int64_t expected = ((int32_t *)in.data())[j * factor];
                    for (int k = 1; k < factor; k++) {
                        expected = c.combine(expected, ((int32_t *)in.data())[j * factor + k]);
                    }
                    EXPECT_EQ(expected, ((int32_t *)out.data())[j]) << factor << " x " << lanes;
                }
            }
        }
    }
}

TEST(CodegenLLVM, dot_products) {
    constexpr int n = 64;
    std::mt19937 rng(1);
    struct Case {
        Type a, b;
        int factor;
    };
    for (const Case &c : {Case{UInt(8), Int(8), 4}, Case{Int(8), Int(8), 4}, Case{UInt(8), UInt(8), 4},
                          Case{Int(16), Int(16), 2}, Case{UInt(8), Int(8), 8}, Case{Int(16), Int(16), 6}}) {
        Buffer<> a(c.a, std::vector<int>{n}), b(c.b, std::vector<int>{n});
        for (size_t i = 0; i < a.size_in_bytes(); i++) {
            ((uint8_t *)a.data())[i] = (uint8_t)rng();
            ((uint8_t *)b.data())[i] = (uint8_t)rng();
        }
        for (int lanes : {1, 3, 4}) {
            const int k = lanes * c.factor;
            Expr x = cast(Int(32, k), load("in0", c.a, Ramp::make(0, 1, k)));
            Expr y = cast(Int(32, k), load("in1", c.b, Ramp::make(0, 1, k)));
            Buffer<> out(Int(32), std::vector<int>{lanes});
            Kernel({c.a, c.b}, Int(32),
                   Store::make("out", VectorReduce::make(VectorReduce::Add, x * y, lanes), dense(0, lanes)))
                .run({a, b}, out);
            for (int j = 0; j < lanes; j++) {
                Wide expected = 0;
                for (int i = 0; i < c.factor; i++) {
                    expected += get(a, j * c.factor + i) * get(b, j * c.factor + i);
                }
                EXPECT_EQ((int64_t)expected, ((int32_t *)out.data())[j]);
            }
        }
    }
}

std::string dot_product_assembly(const std::string &target, Type a, Type b, int factor) {
    const int k = 16 * factor;
    Expr x = cast(Int(32, k), load("in0", a, Ramp::make(0, 1, k)));
    Expr y = cast(Int(32, k), load("in1", b, Ramp::make(0, 1, k)));
    Stmt s = Store::make("out", VectorReduce::make(VectorReduce::Add, x * y, 16), Ramp::make(0, 1, 16));
    std::vector<LoweredArgument> args;
    for (const char *name : {"in0", "in1", "out"}) {
        args.push_back(buffer_argument(name, Argument::InputBuffer, a));
        s = LetStmt::make(name, host_of(name), s);
    }
    Module m("kernel", Target(target + "-no_runtime"));
    m.append(LoweredFunc("kernel", args, s, LinkageType::External));
    const TemporaryFile file("dot", ".s");
    m.compile({{OutputFileType::assembly, file.pathname()}});
    const std::vector<char> text = read_entire_file(file.pathname());
    return std::string(text.begin(), text.end());
}

TEST(CodegenLLVM, dot_product_instructions) {
    const struct {
        const char *target;
        Type a, b;
        int factor;
        const char *instruction;
    } cases[] = {
        {"x86-64-linux-sse41", Int(16), Int(16), 2, "pmaddwd"},
        {"x86-64-linux-avx2", UInt(8), Int(8), 2, "vpmaddwd"},
        {"x86-64-linux-avx512_zen4", UInt(8), Int(8), 4, "vpdpbusd"},
        {"x86-64-linux-avx512_skylake", Int(16), Int(16), 4, "vpmaddwd"},
        {"arm-64-linux-arm_dot_prod", Int(8), Int(8), 4, "sdot"},
        {"arm-64-linux-arm_dot_prod", UInt(8), UInt(8), 8, "udot"},
        {"arm-64-linux-armv86a-arm_dot_prod", UInt(8), Int(8), 4, "usdot"},
    };
    for (const auto &c : cases) {
        EXPECT_NE(std::string::npos, dot_product_assembly(c.target, c.a, c.b, c.factor).find(c.instruction))
            << c.target << ": no " << c.instruction;
    }
}

struct CountingContext : JITUserContext {
    int allocated = 0, freed = 0, errors = 0;
    bool fail = false;
};

void *counting_malloc(JITUserContext *c, size_t size) {
    auto *counts = (CountingContext *)c;
    if (counts->fail) {
        return nullptr;
    }
    counts->allocated++;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

void counting_free(JITUserContext *c, void *p) {
    ((CountingContext *)c)->freed++;
    free(p);
}

void counting_error(JITUserContext *c, const char *) {
    ((CountingContext *)c)->errors++;
}

TEST(CodegenLLVM, errors_free_everything) {
    Expr size = Call::make(Int(32), Call::buffer_get_extent,
                           {Variable::make(type_of<halide_buffer_t *>(), "out.buffer"), 0}, Call::Extern);
    Expr report = Call::make(Int(32), "halide_error_requirement_failed", {Expr("c"), Expr("m")}, Call::Extern);
    Stmt inner = Block::make(AssertStmt::make(size < 10, report), Store::make("b", 1, 0));
    Stmt s = Allocate::make("b", Int(32), MemoryType::Heap, {size * 100}, const_true(), inner);
    s = Allocate::make("a", Int(32), MemoryType::Heap, {size * 50}, const_true(), s);
    Kernel k({}, Int(32), s);
    CountingContext c;
    c.handlers.custom_malloc = counting_malloc;
    c.handlers.custom_free = counting_free;
    c.handlers.custom_error = counting_error;
    EXPECT_EQ(0, k.run({}, Buffer<>(Int(32), std::vector<int>{5}), &c));
    EXPECT_EQ(2, c.allocated);
    EXPECT_EQ(2, c.freed);
    EXPECT_EQ(halide_error_code_requirement_failed, k.run({}, Buffer<>(Int(32), std::vector<int>{20}), &c));
    EXPECT_EQ(4, c.allocated);
    EXPECT_EQ(4, c.freed);
    EXPECT_EQ(1, c.errors);
    c.fail = true;
    EXPECT_EQ(halide_error_code_out_of_memory, k.run({}, Buffer<>(Int(32), std::vector<int>{5}), &c));
    EXPECT_EQ(4, c.freed);
    // Without a handler the message becomes an exception.
    bool raised = false;
    try {
        k.run({}, Buffer<>(Int(32), std::vector<int>{20}));
    } catch (const RuntimeError &e) {
        raised = strstr(e.what(), "Requirement Failed") != nullptr;
    }
    EXPECT_TRUE(raised);
}

TEST(CodegenLLVM, stack_allocations_of_any_size) {
    Expr n = Call::make(Int(32), Call::buffer_get_extent,
                        {Variable::make(type_of<halide_buffer_t *>(), "out.buffer"), 0}, Call::Extern);
    Expr i = Variable::make(Int(32), "i");
    // Grows from one iteration to the next.
    Stmt s = Block::make(Store::make("t", i * 3, i), Store::make("out", load("t", Int(32), i), i));
    s = Allocate::make("t", Int(32), MemoryType::Stack, {i + 1}, const_true(), s);
    s = For::make("i", 0, n - 1, ForType::Serial, Partition::Never, DeviceAPI::None, s);
    Buffer<> out(Int(32), std::vector<int>{100});
    Kernel({}, Int(32), s).run({}, out);
    for (int k = 0; k < 100; k++) {
        EXPECT_EQ(3 * k, ((int32_t *)out.data())[k]);
    }
}

TEST(CodegenLLVM, parallel_loops_nest_and_fail) {
    Expr y = Variable::make(Int(32), "y"), x = Variable::make(Int(32), "x");
    Expr report = Call::make(Int(32), "halide_error_requirement_failed", {Expr("c"), Expr("m")}, Call::Extern);
    Expr limit = Call::make(Int(32), Call::buffer_get_min,
                            {Variable::make(type_of<halide_buffer_t *>(), "out.buffer"), 0}, Call::Extern);
    Stmt s = Block::make(AssertStmt::make(y * 8 + x != Variable::make(Int(32), "limit"), report),
                         Store::make("out", y * 100 + x + load("in0", Int(32), y), y * 8 + x));
    s = For::make("x", 0, 7, ForType::Parallel, Partition::Never, DeviceAPI::None, s);
    s = For::make("y", 0, 15, ForType::Parallel, Partition::Never, DeviceAPI::None, s);
    s = LetStmt::make("limit", limit - 1, s);
    Kernel k({Int(32)}, Int(32), s);
    Buffer<> in(Int(32), std::vector<int>{16}), out(Int(32), std::vector<int>{128});
    for (int i = 0; i < 16; i++) {
        ((int32_t *)in.data())[i] = i;
    }
    k.run({in}, out);
    for (int i = 0; i < 128; i++) {
        EXPECT_EQ(i / 8 * 101 + i % 8, ((int32_t *)out.data())[i]);
    }
    out.raw_buffer()->dim[0].min = 51;
    EXPECT_THROW(k.run({in}, out), RuntimeError);
}

TEST(CodegenLLVM, atomic_updates) {
    Expr i = Variable::make(Int(32), "i");
    struct Case {
        const char *name;
        Type t;
        std::function<Expr(Expr)> update;
        double expected;
    };
    // 1000 updates of each of 4 elements that start at 1.
    const Case cases[] = {
        {"add", Int(32), [](Expr old) { return old + 2; }, 2001},
        {"add u8", UInt(8), [](Expr old) { return old + cast<uint8_t>(1); }, 1001 % 256},
        {"add float", Float(32), [](Expr old) { return old + 1.0f; }, 1001},
        {"mul", UInt(32), [](Expr old) { return old * cast<uint32_t>(3); }, -1},
        {"xor", Int(16), [](Expr old) { return old ^ cast<int16_t>(6); }, 1},
        {"max float", Float(64), [](Expr old) { return max(old, make_const(Float(64), 1.0)) + make_const(Float(64), 0.5); }, 501},
    };
    for (const Case &c : cases) {
        Expr index = i % 4;
        Stmt s = Atomic::make("out", "", Store::make("out", c.update(load("out", c.t, index)), index));
        s = For::make("i", 0, 3999, ForType::Parallel, Partition::Never, DeviceAPI::None, s);
        Buffer<> out(c.t, std::vector<int>{4});
        for (int k = 0; k < 4; k++) {
            if (c.t.is_float()) {
                c.t.bits() == 32 ? (void)(((float *)out.data())[k] = 1) : (void)(((double *)out.data())[k] = 1);
            } else {
                const uint64_t one = 1;
                memcpy((uint8_t *)out.data() + k * c.t.bytes(), &one, c.t.bytes());
            }
        }
        Kernel({}, c.t, s).run({}, out);
        uint32_t power = 1;
        for (int k = 0; k < 1000; k++) {
            power *= 3;
        }
        for (int k = 0; k < 4; k++) {
            const double got = c.t == Float(32) ? ((float *)out.data())[k] :
                               c.t == Float(64) ? ((double *)out.data())[k] :
                                                  (double)get(out, k);
            EXPECT_EQ(c.expected < 0 ? power : c.expected, got) << c.name;
        }
    }
}

TEST(CodegenLLVM, atomic_updates_of_two_buffers_use_a_mutex) {
    Expr i = Variable::make(Int(32), "i");
    Expr index = i % 4;
    // Both halves of the output change together.
    Stmt s = Block::make(Store::make("out", load("out", Int(32), index) + load("in0", Int(32), index), index),
                         Store::make("in0", load("in0", Int(32), index) + 1, index));
    s = Atomic::make("f", "", s);
    s = For::make("i", 0, 3999, ForType::Parallel, Partition::Never, DeviceAPI::None, s);
    Buffer<> a(Int(32), std::vector<int>{4}), out(Int(32), std::vector<int>{4});
    memset(a.data(), 0, 16);
    memset(out.data(), 0, 16);
    Kernel({Int(32)}, Int(32), s).run({a}, out);
    for (int k = 0; k < 4; k++) {
        EXPECT_EQ(1000, ((int32_t *)a.data())[k]);
        EXPECT_EQ(999 * 1000 / 2, ((int32_t *)out.data())[k]);
    }
}

extern "C" int codegen_llvm_throwing_stage(int) {
    throw std::string("thrown by an extern function");
}

TEST(CodegenLLVM, exceptions_cross_compiled_code) {
    Expr call = Call::make(Int(32), "codegen_llvm_throwing_stage", {Expr(3)}, Call::Extern);
    Expr result = Variable::make(Int(32), "result");
    Stmt s = LetStmt::make("result", call, AssertStmt::make(result == 0, result));
    s = Allocate::make("a", Int(32), MemoryType::Heap, {Expr(1000)}, const_true(), s);
    for (bool parallel : {false, true}) {
        Stmt body = parallel ? For::make("i", 0, 7, ForType::Parallel, Partition::Never, DeviceAPI::None, s) : s;
        CountingContext c;
        c.handlers.custom_malloc = counting_malloc;
        c.handlers.custom_free = counting_free;
        Kernel k({}, Int(32), body);
        std::string caught;
        try {
            k.run({}, Buffer<>(Int(32), std::vector<int>{1}), &c);
        } catch (const std::string &text) {
            caught = text;
        }
        EXPECT_EQ("thrown by an extern function", caught);
        EXPECT_EQ(c.allocated, c.freed);
    }
}

TEST(CodegenLLVM, unknown_extern_function_is_named) {
    Stmt s = Evaluate::make(Call::make(Int(32), "no_such_function_anywhere", {}, Call::Extern));
    try {
        Kernel k({}, Int(32), s);
        FAIL();
    } catch (const CompileError &e) {
        EXPECT_NE(nullptr, strstr(e.what(), "no_such_function_anywhere"));
    }
}

TEST(CodegenLLVM, printing) {
    struct Printed : JITUserContext {
        std::string text;
    } c;
    c.handlers.custom_print = [](JITUserContext *context, const char *s) { ((Printed *)context)->text += s; };
    Expr i = Variable::make(Int(32), "i");
    Expr text = Call::make(type_of<const char *>(), Call::stringify,
                           {Expr("i = "), i, Expr(", "), cast<float>(i) / 4.0f, Expr(", "), cast<uint8_t>(i), Expr("\n")},
                           Call::Intrinsic);
    Stmt s = Evaluate::make(Call::make(Int(32), "halide_print", {text}, Call::Extern));
    s = For::make("i", -1, 1, ForType::Serial, Partition::Never, DeviceAPI::None, s);
    Kernel({}, Int(32), s).run({}, Buffer<>(Int(32), std::vector<int>{1}), &c);
    EXPECT_EQ("i = -1, -0.250000, 255\ni = 0, 0.000000, 0\ni = 1, 0.250000, 1\n", c.text);
}

TEST(CodegenLLVM, loop_to_the_largest_integer) {
    Expr i = Variable::make(Int(32), "i");
    const int most = std::numeric_limits<int32_t>::max();
    Stmt s = Store::make("out", i, i - (most - 3));
    s = For::make("i", most - 3, most, ForType::Serial, Partition::Never, DeviceAPI::None, s);
    Buffer<> out(Int(32), std::vector<int>{4});
    Kernel({}, Int(32), s).run({}, out);
    for (int k = 0; k < 4; k++) {
        EXPECT_EQ(most - 3 + k, ((int32_t *)out.data())[k]);
    }
}

}  // namespace
