#include "KernelCases.h"

#include <functional>

namespace bromide {

using namespace Halide;

namespace {

using Arg = KernelCase::Arg;

Arg in(const std::string &name, Type t, int n, const std::string &fill = "", int limit = 0) {
    return {name, t, n, false, 0, fill, limit};
}
Arg out(const std::string &name, Type t, int n) {
    return {name, t, n, true, 0, "", 0};
}
Arg scalar(const std::string &name, Type t, double value) {
    return {name, t, 0, false, value, "", 0};
}

std::string name_of(Type t) {
    return (t.is_bfloat() ? "bf" : t.is_float() ? "f" : t.is_int() ? "i" : "u") + std::to_string(t.bits());
}

using Cases = std::vector<KernelCase>;

void add(Cases &cases, const std::string &name, std::vector<Arg> args, const std::string &text, int ulp = 0,
         double relative = 0) {
    // Each with the lanes that it gets by itself, and with some that a schedule may ask for.
    for (int lanes : {0, cases.size() % 4 ? 128 : 256}) {
        cases.push_back({name + (lanes ? "_lanes" + std::to_string(lanes) : ""), args, text, lanes, ulp, relative});
    }
}

/// vec i over n: o[i] = value, in which X and Y stand for loads.
std::string each(int n, std::string value, Type t) {
    auto replace = [&](const std::string &what, const std::string &by) {
        for (size_t at = value.find(what); at != std::string::npos; at = value.find(what, at + by.size())) {
            value.replace(at, what.size(), by);
        }
    };
    replace("X", "x.ub[i]:" + name_of(t));
    replace("Y", "y.ub[i]:" + name_of(t));
    return "vectorized i in [0, " + std::to_string(n - 1) + "] { o.ub[i] = " + value + " }";
}

void add_extents(Cases &cases) {
    const Type f32 = Float(32);
    for (int n : {1, 63, 64, 65, 127, 300, 4096}) {
        add(cases, "axpy_" + std::to_string(n),
            {in("x", f32, n), in("y", f32, n), out("o", f32, n), scalar("alpha", f32, 1.5)},
            each(n, "X * alpha:f32 + Y", f32));
    }
    add(cases, "extent_n", {in("x", f32, 300), out("o", f32, 300), scalar("n", Int(32), 200)},
        "vectorized i in [0, n - 1] { o.ub[i] = x.ub[i]:f32 + 1.0 }\n"
        "vectorized j in [256, 299] { o.ub[j] = 0.0 }\nvectorized k in [200, 255] { o.ub[k] = 5.0 }");
    add(cases, "guarded_n", {in("x", f32, 300), out("o", f32, 300), scalar("n", Int(32), 77)},
        "vectorized i in [0, 299] { o.ub[i] = 2.0 }\nvectorized j in [0, 299] { if j < n { o.ub[j] = x.ub[j]:f32 } }");
    add(cases, "rows", {in("x", f32, 5 * 104), out("o", f32, 5 * 104)},
        "for y in [0, 4] { vectorized i in [0, 99] { o.ub[y*104 + i] = x.ub[y*104 + i]:f32 * 3.0 }\n"
        "vectorized j in [0, 3] { o.ub[y*104 + 100 + j] = 1.0 } }");
}

void add_operations(Cases &cases) {
    for (Type t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Float(16), BFloat(16), Float(32)}) {
        const std::string n = name_of(t);
        const int count = 300;
        auto one = [&](const std::string &what, const std::string &value, const std::string &fill = "", int ulp = 0) {
            add(cases, what + "_" + n, {in("x", t, count, fill), in("y", t, count, fill), out("o", t, count)},
                each(count, value, t), ulp);
        };
        one("add", "X + Y");
        one("sub", "X - Y");
        one("mul", "X * Y");
        one("minmax", "min(X, Y) + max(X, Y)");
        one("select", "select(X < Y, X, Y)");
        one("select2", "select((X <= Y && X != Y) || X > " + n + "(20), X, Y)");
        if (t.is_float()) {
            one("abs", "abs(X):" + n);
            one("div", "X / Y", "positive", t.bits() == 16 ? 1 : 0);
            if (!t.is_bfloat()) {
                const std::string s = n;
                one("exp", "pure_extern exp_" + s + "(X):" + s, "", 2);
                one("log", "pure_extern log_" + s + "(X):" + s, "positive", 2);
                one("sqrt", "pure_extern sqrt_" + s + "(X):" + s, "positive", 2);
            }
            if (t.bits() == 32) {
                for (const char *f : {"floor", "ceil", "trunc"}) {
                    one(f, std::string("pure_extern ") + f + "_f32(X):f32");
                }
                one("round", "round(X):f32");
            }
        } else {
            one("and", "bitwise_and(X, Y):" + n + " + bitwise_xor(X, bitwise_not(Y):" + n + "):" + n);
            one("shift", "shift_left(X, 2_u" + std::to_string(t.bits()) + "):" + n + " + shift_right(Y, 3_u" +
                             std::to_string(t.bits()) + "):" + n);
            one("div3", "X / 3_" + n + " + Y % 7_" + n);
            one("div8", "X / 8_" + n + " + Y % 16_" + n);
            one("halving", "halving_add(X, Y):" + n);
            if (t.bits() < 32) {
                one("saturating", "saturating_add(X, Y):" + n + " + saturating_sub(Y, X):" + n);
                one("div", "X / Y", "bits");
            }
            if (t.is_int()) {
                one("absd", n + "(absd(X, Y):u" + std::to_string(t.bits()) + ")");
                one("abs", n + "(abs(X):u" + std::to_string(t.bits()) + ")");
            } else {
                one("absd", "absd(X, Y):" + n);
                if (t.bits() < 32) {
                    one("saturating_u", "saturating_add(X, Y):" + n);
                }
            }
        }
    }
}

void add_conversions(Cases &cases) {
    const std::vector<Type> types = {Int(8),  UInt(8),  Int(16),   UInt(16),   Int(32),
                                     UInt(32), Float(16), BFloat(16), Float(32)};
    for (Type from : types) {
        for (Type to : types) {
            if (from == to || (to.is_bfloat() && from.is_int_or_uint() && from.bits() == 32)) {
                continue;
            }
            const std::string fill = from.is_float() && to.is_uint() ? "positive" : "";
            add(cases, "cast_" + name_of(from) + "_" + name_of(to), {in("x", from, 200, fill), out("o", to, 200)},
                each(200, name_of(to) + "(X)", from));
            if (to.is_int_or_uint()) {
                add(cases, "sat_" + name_of(from) + "_" + name_of(to), {in("x", from, 200), out("o", to, 200)},
                    each(200, "saturating_cast(X):" + name_of(to), from));
            }
        }
    }
    for (const char *how : {"pure_extern floor_f32(X):f32", "pure_extern ceil_f32(X):f32", "pure_extern trunc_f32(X):f32", "round(X):f32"}) {
        const std::string h(how);
        const std::string word = h[0] == 'r' ? "round" : h.substr(12, h.find('_', 12) - 12);
        add(cases, "to_int_" + word, {in("x", Float(32), 200), out("o", Int(32), 200)}, each(200, "i32(" + h + ")", Float(32)));
        add(cases, "to_u8_" + word, {in("x", Float(32), 300), out("o", UInt(8), 300)},
            each(300, "saturating_cast(" + h + "):u8", Float(32)));
    }
    add(cases, "large_u32_f32", {in("x", UInt(32), 200, "bits"), out("o", Float(32), 200)}, each(200, "f32(X)", UInt(32)));
}

void add_narrow_floats(Cases &cases) {
    for (const char *format : {"e4m3", "e5m2"}) {
        const std::string f = std::string("fp8_") + format;
        add(cases, f + "_decode", {in("x", UInt(8), 300, "count", 256), out("o", Float(32), 300)},
            each(300, "pure_extern " + f + "_to_float(X):f32", UInt(8)));
        add(cases, f + "_encode", {in("x", Float(32), 300), out("o", UInt(8), 300)},
            each(300, "pure_extern float_to_" + f + "(X * 70.0):u8", Float(32)));
        add(cases, f + "_encode_small", {in("x", Float(32), 300), out("o", UInt(8), 300)},
            each(300, "pure_extern float_to_" + f + "(X * 0.0009765625):u8", Float(32)));
    }
    for (const char *format : {"e2m1", "e1m2"}) {
        const std::string f = std::string("fp4_") + format;
        add(cases, f + "_decode", {in("x", UInt(8), 300, "count", 256), out("o", Float(32), 600)},
            "vectorized i in [0, 599] { o.ub[i] = pure_extern " + f + "_to_float(x.ub[i / 2]:u8, i % 2):f32 }");
        add(cases, f + "_decode_halves", {in("x", UInt(8), 300, "count", 256), out("o", Float(32), 300)},
            each(300, "(pure_extern " + f + "_to_float(X, 0):f32) + (pure_extern " + f + "_to_float(X, 1):f32) * 16.0", UInt(8)));
        add(cases, f + "_encode", {in("x", Float(32), 300), in("y", Float(32), 300), out("o", UInt(8), 300)},
            each(300, "pure_extern float_to_" + f + "(X * 0.5, Y * 0.25):u8", Float(32)));
    }
}

void add_conditions(Cases &cases) {
    const Type f32 = Float(32), i32 = Int(32);
    add(cases, "select_cut", {out("o", f32, 300), scalar("cut", i32, 77)}, each(300, "select(i < cut, f32(i), -1.0)", f32));
    add(cases, "select_uniform", {in("x", f32, 300), out("o", f32, 300), scalar("flag", i32, 1)},
        each(300, "select(flag > 0, X, X * 2.0)", f32));
    add(cases, "if_varying", {in("x", f32, 300), out("o", f32, 300)},
        "vectorized i in [0, 299] { o.ub[i] = 0.0 }\n"
        "vectorized j in [0, 299] { if j > 3 && j < 280 { o.ub[j] = x.ub[j]:f32 } else { if j > 290 { o.ub[j] = 7.0 } } }\n"
        "vectorized k in [0, 299] { o.ub[k] = select(x.ub[k]:f32 > 1.0 && k > 17, o.ub[k]:f32 + 1.0, o.ub[k]:f32) }");
    add(cases, "if_uniform", {in("x", f32, 300), out("o", f32, 300), scalar("flag", i32, 1)},
        "vectorized j in [0, 299] { if flag == 1 { o.ub[j] = x.ub[j]:f32 } else { o.ub[j] = 7.0 } }");
    add(cases, "bools", {in("x", f32, 300), out("b", UInt(1), 300), out("o", f32, 300)},
        "vectorized i in [0, 299] { b.ub[i] = x.ub[i]:f32 > 1.0 }\n"
        "vectorized j in [0, 299] { o.ub[j] = select(b.ub[j]:bool && j > 3, 1.0, x.ub[j]:f32) }");
    add(cases, "narrow_select", {in("x", UInt(8), 300), in("y", f32, 300), out("o", UInt(8), 300)},
        "vectorized i in [0, 299] { o.ub[i] = select(y.ub[i]:f32 > 0.0, x.ub[i]:u8, 7_u8) }");
    add(cases, "wide_select", {in("x", UInt(8), 300), in("y", f32, 300), out("o", f32, 300)},
        "vectorized i in [0, 299] { o.ub[i] = select(x.ub[i]:u8 > 100_u8, y.ub[i]:f32, 7.0) }");
}

void add_loops(Cases &cases) {
    const Type f32 = Float(32);
    add(cases, "matmul", {in("a", f32, 4 * 32), in("b", f32, 32 * 128), out("o", f32, 4 * 128)},
        "for y in [0, 3] { vectorized x in [0, 127] { o.ub[y*128 + x] = 0.0 }\n"
        "for k in [0, 31] { vectorized x2 in [0, 127] { o.ub[y*128 + x2] = o.ub[y*128 + x2]:f32 + "
        "a.ub[y*32 + k]:f32 * b.ub[k*128 + x2]:f32 } } }");
    add(cases, "fir", {in("x", f32, 320), in("w", f32, 8), out("o", f32, 300)},
        "vectorized i in [0, 299] { o.ub[i] = 0.0 }\n"
        "for k in [0, 7] { vectorized j in [0, 299] { o.ub[j] = o.ub[j]:f32 + w.ub[k]:f32 * x.ub[j + k]:f32 } }");
    add(cases, "horner", {in("x", f32, 300), in("w", f32, 8), out("o", f32, 300)},
        "vectorized i in [0, 299] { o.ub[i] = 0.0 }\n"
        "for k in [0, 7] { vectorized j in [0, 299] { o.ub[j] = o.ub[j]:f32 * x.ub[j]:f32 + w.ub[k]:f32 } }");
    add(cases, "where", {in("x", f32, 512), out("o", f32, 64)},
        "vectorized i in [0, 63] { o.ub[i] = 0.0 }\n"
        "for k in [0, 7] { vectorized j in [0, 63] { if k*8 + 3 > j { o.ub[j] = o.ub[j]:f32 + x.ub[k*64 + j]:f32 } } }");
    add(cases, "recurrence", {in("x", f32, 512), out("o", f32, 512)},
        "vectorized i in [0, 63] { o.ub[i] = x.ub[i]:f32 }\n"
        "for k in [1, 7] { vectorized j in [0, 63] { o.ub[k*64 + j] = o.ub[k*64 - 64 + j]:f32 * 0.5 + x.ub[k*64 + j]:f32 } }");
    add(cases, "producer", {in("x", f32, 300), out("o", f32, 300)},
        "allocate t[f32, 300] in UB\nvectorized i in [0, 299] { t[i] = x.ub[i]:f32 * 2.0 }\n"
        "vectorized j in [0, 299] { o.ub[j] = t[j]:f32 + t[j]:f32 * x.ub[j]:f32 }");
}

void add_reductions(Cases &cases) {
    const Type f32 = Float(32), i32 = Int(32);
    auto reduce = [&](const std::string &name, Type t, Type acc, const std::string &first, const std::string &update,
                      double relative = 0) {
        for (int n : {63, 64, 300}) {
            add(cases, name + "_" + std::to_string(n), {in("x", t, n), out("o", acc, 1)},
                "o.ub[0] = " + first + "\natomic o, `` { vectorized i in [0, " + std::to_string(n - 1) + "] { o.ub[0] = " +
                    update + " } }",
                0, relative);
        }
    };
    reduce("sum", f32, f32, "0.0", "o.ub[0]:f32 + x.ub[i]:f32", 1e-5);
    reduce("max", f32, f32, "-inf_f32", "max(o.ub[0]:f32, x.ub[i]:f32)");
    reduce("min_i16", Int(16), Int(16), "32767_i16", "min(o.ub[0]:i16, x.ub[i]:i16)");
    reduce("sum_u8", UInt(8), UInt(32), "0_u32", "o.ub[0]:u32 + u32(x.ub[i]:u8)");
    reduce("sum_i8", Int(8), i32, "5", "o.ub[0] + i32(x.ub[i]:i8)");
    reduce("sum_wrap", UInt(8), UInt(8), "0_u8", "o.ub[0]:u8 + x.ub[i]:u8");
    reduce("sum_f16", Float(16), Float(16), "0.0_f16", "o.ub[0]:f16 + x.ub[i]:f16", 1e-2);
    reduce("any", f32, UInt(1), "false", "o.ub[0]:bool || x.ub[i]:f32 > 9.7");
    reduce("all", f32, UInt(1), "true", "o.ub[0]:bool && x.ub[i]:f32 < 9.7");
    // The best of each column, then the best of all: what rfactor makes of argmax.
    add(cases, "argmax", {in("x", f32, 512), out("best", f32, 1), out("where", i32, 1)},
        "allocate bv[f32, 64] in UB\nallocate bi[i32, 64] in UB\n"
        "vectorized u in [0, 63] { bv[u] = -inf_f32\nbi[u] = 0 }\n"
        "for r in [0, 7] { vectorized v in [0, 63] { let better = x.ub[r*64 + v]:f32 > bv[v]:f32\n"
        "let i = select(better:bool, r*64 + v, bi[v])\nlet b = select(better:bool, x.ub[r*64 + v]:f32, bv[v]:f32)\n"
        "bv[v] = b:f32\nbi[v] = i } }\n"
        "best.ub[0] = -inf_f32\nwhere.ub[0] = 0\n"
        "for w in [0, 63] { if bv[w]:f32 > best.ub[0]:f32 { where.ub[0] = bi[w]\nbest.ub[0] = bv[w]:f32 } }");
    add(cases, "layer_norm", {in("x", f32, 4 * 256), in("g", f32, 256), in("h", f32, 256), out("o", f32, 4 * 256)},
        "allocate mean[f32, 1] in UB\nallocate var[f32, 1] in UB\n"
        "for y in [0, 3] {\n mean[0] = 0.0\n"
        " vectorized i in [0, 255] { mean[0] = mean[0]:f32 + x.ub[y*256 + i]:f32 }\n"
        " mean[0] = mean[0]:f32 * 0.00390625\n var[0] = 0.0\n"
        " vectorized j in [0, 255] { var[0] = var[0]:f32 + (x.ub[y*256 + j]:f32 - mean[0]:f32)*(x.ub[y*256 + j]:f32 - mean[0]:f32) }\n"
        " var[0] = 1.0 / pure_extern sqrt_f32(var[0]:f32 * 0.00390625 + 0.00001):f32\n"
        " vectorized l in [0, 255] { o.ub[y*256 + l] = (x.ub[y*256 + l]:f32 - mean[0]:f32)*var[0]:f32*g.ub[l]:f32 + h.ub[l]:f32 }\n}",
        0, 1e-5);
    // One pass: a running maximum and a sum that is rescaled with it; and Welford's variance.
    add(cases, "online_softmax", {in("x", f32, 512), out("m", f32, 64), out("s", f32, 64)},
        "vectorized u in [0, 63] { m.ub[u] = -1000.0\ns.ub[u] = 0.0 }\n"
        "for r in [0, 7] { vectorized v in [0, 63] { let t = max(m.ub[v]:f32, x.ub[r*64 + v]:f32)\n"
        "let z = s.ub[v]:f32 * (pure_extern exp_f32(m.ub[v]:f32 - t:f32):f32) + pure_extern exp_f32(x.ub[r*64 + v]:f32 - t:f32):f32\n"
        "m.ub[v] = t:f32\ns.ub[v] = z:f32 } }", 0, 1e-6);
    add(cases, "welford", {in("x", f32, 512), out("mean", f32, 64), out("m2", f32, 64)},
        "vectorized u in [0, 63] { mean.ub[u] = 0.0\nm2.ub[u] = 0.0 }\n"
        "for r in [0, 7] { vectorized v in [0, 63] { let d = x.ub[r*64 + v]:f32 - mean.ub[v]:f32\n"
        "let a = mean.ub[v]:f32 + d:f32 / f32(r + 1)\n"
        "let q = m2.ub[v]:f32 + d:f32*(x.ub[r*64 + v]:f32 - a:f32)\nmean.ub[v] = a:f32\nm2.ub[v] = q:f32 } }", 0, 1e-6);
    add(cases, "softmax", {in("x", f32, 4 * 256), out("o", f32, 4 * 256)},
        "allocate mx[f32, 1] in UB\nallocate sm[f32, 1] in UB\n"
        "for y in [0, 3] {\n mx[0] = -inf_f32\n"
        " atomic mx, `` { vectorized i in [0, 199] { mx[0] = max(mx[0]:f32, x.ub[y*256 + i]:f32) } }\n"
        " vectorized j in [0, 199] { o.ub[y*256 + j] = pure_extern exp_f32(x.ub[y*256 + j]:f32 - mx[0]:f32):f32 }\n"
        " sm[0] = 0.0\n"
        " atomic sm, `` { vectorized k in [0, 199] { sm[0] = sm[0]:f32 + o.ub[y*256 + k]:f32 } }\n"
        " vectorized l in [0, 199] { o.ub[y*256 + l] = o.ub[y*256 + l]:f32 / sm[0]:f32 }\n"
        " vectorized m in [200, 255] { o.ub[y*256 + m] = 0.0 }\n}",
        0, 1e-6);
}

void add_accesses(Cases &cases) {
    const Type f32 = Float(32);
    add(cases, "table", {in("k", Int(32), 300, "index", 100), in("t", f32, 100), out("o", f32, 300)},
        "vectorized i in [0, 299] { o.ub[i] = t.ub[k.ub[i]]:f32 }");
    add(cases, "table_u8", {in("k", UInt(8), 300, "index", 100), in("t", UInt(8), 100), out("o", UInt(8), 300)},
        "vectorized i in [0, 299] { o.ub[i] = t.ub[i32(k.ub[i]:u8)]:u8 }");
    add(cases, "table_i16", {in("k", Int(16), 300, "index", 100), in("t", Int(16), 100), out("o", Int(16), 300)},
        "vectorized i in [0, 299] { o.ub[i] = t.ub[i32(k.ub[i]:i16)]:i16 }");
    add(cases, "shifted", {in("x", f32, 310), out("o", f32, 300)}, each(300, "X + x.ub[i + 1]:f32 + x.ub[i + 2]:f32", f32));
    add(cases, "stride2", {in("x", f32, 600), out("o", f32, 300)}, each(300, "x.ub[i*2]:f32 + x.ub[i*2 + 1]:f32", f32));
    add(cases, "stride3", {in("x", f32, 900), out("o", f32, 300)}, each(300, "x.ub[i*3 + 1]:f32", f32));
    add(cases, "reversed", {in("x", f32, 256), out("o", f32, 256)}, each(256, "x.ub[255 - i]:f32", f32));
    add(cases, "reversed_16", {in("x", Int(16), 256), out("o", Int(16), 256)}, each(256, "x.ub[255 - i]:i16", Int(16)));
    add(cases, "clamped", {in("x", f32, 300), out("o", f32, 300)}, each(300, "x.ub[max(min(i - 2, 250), 0)]:f32", f32));
    add(cases, "scatter", {in("x", f32, 100), out("o", f32, 300)},
        "vectorized i in [0, 299] { o.ub[i] = 0.0 }\nvectorized j in [0, 99] { o.ub[j*3 + 1] = x.ub[j]:f32 }");
    add(cases, "transpose8", {in("x", f32, 64), out("o", f32, 64)},
        "vectorized i in [0, 63] { o.ub[(i % 8)*8 + i / 8] = x.ub[i]:f32 }");
    add(cases, "uniform_u8", {in("x", UInt(8), 300), in("w", UInt(8), 4), out("o", UInt(16), 300)},
        "for k in [0, 3] { vectorized i in [0, 299] { o.ub[i] = u16(x.ub[i]:u8) * u16(w.ub[k]:u8) } }");
}

}  // namespace

std::vector<KernelCase> kernel_cases() {
    Cases cases;
    add_extents(cases);
    add_operations(cases);
    add_conversions(cases);
    add_narrow_floats(cases);
    add_conditions(cases);
    add_loops(cases);
    add_reductions(cases);
    add_accesses(cases);
    return cases;
}

}  // namespace bromide
