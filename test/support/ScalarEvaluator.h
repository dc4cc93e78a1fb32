#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "support/Util.h"

// Evaluates one lane of an expression in exact integers, independently of the compiler's own interpreter, and notices
// where an expression does what the language leaves undefined.

namespace ScalarEvaluator {

using namespace Halide;
using namespace Halide::Internal;

using Wide = __int128;

/// The value that v has in type t.
inline Wide wrap(const Type &t, Wide v) {
    const Wide modulus = (Wide)1 << t.bits();
    Wide r = v & (modulus - 1);
    if (t.is_int() && r >= modulus / 2) {
        r -= modulus;
    }
    return r;
}

inline Wide max_of(const Type &t) {
    return ((Wide)1 << (t.bits() - (t.is_int() ? 1 : 0))) - 1;
}
inline Wide min_of(const Type &t) {
    return t.is_int() ? -((Wide)1 << (t.bits() - 1)) : 0;
}
inline Wide saturate(const Type &t, Wide v) {
    return v < min_of(t) ? min_of(t) : v > max_of(t) ? max_of(t) : v;
}
inline Wide floor_div(Wide a, Wide b) {
    const Wide q = a / b;
    return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

struct Value {
    Wide i = 0;
    double f = 0;
};

class Evaluator {
    // Expressions, not addresses: the address of an expression that dies may come back as another.
    std::map<Expr, Value, ExprCompare> done;

public:
    std::map<std::string, Value> variables;
    /// What the expression did that it must not do; empty if nothing.
    std::string undefined;

    void set(const std::string &name, Wide v) {
        variables[name].i = v;
        done.clear();
    }
    void set_float(const std::string &name, double v) {
        variables[name].f = v;
        done.clear();
    }

    Wide integer(const Expr &e) {
        return eval(e).i;
    }
    double real(const Expr &e) {
        return eval(e).f;
    }

    Value eval(const Expr &e) {
        auto it = done.find(e);
        if (it != done.end()) {
            return it->second;
        }
        const Value v = compute(e);
        done[e] = v;
        return v;
    }

private:
    void fail(const Expr &e, const std::string &what) {
        if (undefined.empty()) {
            undefined = concat_strings(what, " in ", e);
        }
    }

    Value number(const Expr &e, Wide v) {
        const Type t = e.type();
        Value result;
        result.i = wrap(t, v);
        if (t.is_int() && t.bits() >= 32 && result.i != v) {
            fail(e, "overflow");
        }
        return result;
    }

    static Value wrapped(const Expr &e, Wide v) {
        Value result;
        result.i = wrap(e.type(), v);
        return result;
    }

    static Value real_number(const Type &t, double v) {
        Value result;
        result.f = t.is_bfloat()  ? (double)bfloat16_t(v) :
                   t.bits() == 16 ? (double)float16_t(v) :
                   t.bits() == 32 ? (double)(float)v :
                                    v;
        return result;
    }

    template<typename Node, typename IntOp, typename FloatOp>
    Value arithmetic(const Expr &e, IntOp int_op, FloatOp float_op) {
        const Node *op = e.as<Node>();
        const Value a = eval(op->a), b = eval(op->b);
        return e.type().is_float() ? real_number(e.type(), float_op(a.f, b.f)) : number(e, int_op(a.i, b.i));
    }

    template<typename Node, typename Op>
    Value compare(const Expr &e, Op compare_op) {
        const Node *op = e.as<Node>();
        const Value a = eval(op->a), b = eval(op->b);
        Value result;
        result.i = op->a.type().is_float() ? compare_op(a.f, b.f) : compare_op(a.i, b.i);
        return result;
    }

    static uint64_t bits_of(const Type &t, const Value &v) {
        if (!t.is_float()) {
            return (uint64_t)v.i;
        }
        return t.is_bfloat()  ? bfloat16_t(v.f).to_bits() :
               t.bits() == 16 ? float16_t(v.f).to_bits() :
               t.bits() == 32 ? reinterpret_bits<uint32_t>((float)v.f) :
                                reinterpret_bits<uint64_t>(v.f);
    }

    static Value from_bits(const Type &t, uint64_t bits) {
        Value v;
        if (!t.is_float()) {
            v.i = wrap(t, (Wide)bits);
            return v;
        }
        v.f = t.is_bfloat()  ? (double)bfloat16_t::make_from_bits((uint16_t)bits) :
              t.bits() == 16 ? (double)float16_t::make_from_bits((uint16_t)bits) :
              t.bits() == 32 ? (double)reinterpret_bits<float>((uint32_t)bits) :
                               reinterpret_bits<double>(bits);
        return v;
    }

    Value convert(const Expr &e, const Expr &from) {
        const Value v = eval(from);
        const Type t = e.type();
        if (t.is_float()) {
            if (from.type().is_float()) {
                return real_number(t, v.f);
            }
            // Rounded once.
            Value result;
            result.f = t.bits() == 32 && !t.is_bfloat() ? (double)(float)v.i : real_number(t, (double)v.i).f;
            return result;
        }
        return wrapped(e, from.type().is_float() ? (Wide)v.f : v.i);
    }

    Value shift(const Expr &e, bool left) {
        const Call *op = e.as<Call>();
        const Wide a = eval(op->args[0]).i;
        Wide n = eval(op->args[1]).i;
        if (n < 0) {
            left = !left;
            n = -n;
        }
        if (n >= e.type().bits()) {
            // Unspecified: only an expression whose value is not used may do this. Any value will do.
            return wrapped(e, 0x5a);
        }
        return wrapped(e, left ? (Wide)((unsigned __int128)a << (int)n) : a >> (int)n);
    }

    Value call(const Expr &e) {
        const Call *op = e.as<Call>();
        const auto arg = [&](int i) { return eval(op->args[i]); };
        const Type t = e.type();
        switch (op->intrinsic_op) {
        case Call::shift_left:
            return shift(e, true);
        case Call::shift_right:
            return shift(e, false);
        case Call::bitwise_and:
            return wrapped(e, arg(0).i & arg(1).i);
        case Call::bitwise_or:
            return wrapped(e, arg(0).i | arg(1).i);
        case Call::bitwise_xor:
            return wrapped(e, arg(0).i ^ arg(1).i);
        case Call::bitwise_not:
            return wrapped(e, ~arg(0).i);
        case Call::div_round_to_zero:
        case Call::mod_round_to_zero: {
            const Wide a = arg(0).i, b = arg(1).i;
            if (b == 0 || (t.is_int() && b == -1 && a == min_of(t))) {
                fail(e, "undefined division");
                return Value();
            }
            return number(e, op->is_intrinsic(Call::div_round_to_zero) ? a / b : a % b);
        }
        case Call::strict_add:
            return real_number(t, arg(0).f + arg(1).f);
        case Call::strict_sub:
            return real_number(t, arg(0).f - arg(1).f);
        case Call::strict_lt:
            return wrapped(e, arg(0).f < arg(1).f);
        case Call::strict_eq:
            return wrapped(e, arg(0).f == arg(1).f);
        case Call::abs:
            return e.type().is_float() ? real_number(t, std::fabs(arg(0).f)) : wrapped(e, arg(0).i < 0 ? -arg(0).i : arg(0).i);
        default: {
            if (op->name == "floor_f32" || op->name == "floor_f64") {
                return real_number(t, std::floor(arg(0).f));
            }
            if (op->name == "trunc_f32" || op->name == "trunc_f64") {
                return real_number(t, std::trunc(arg(0).f));
            }
            if (op->call_type == Call::Image && op->image.defined()) {
                const int position[] = {(int)arg(0).i};
                const Buffer<> image = op->image;
                Value v;
                v.i = t.bits() == 8 ? (Wide)image.as<const uint8_t>()(position) :
                                      (Wide)image.as<const uint32_t>()(position);
                return v;
            }
            fail(e, "a call that the evaluator does not know");
            return Value();
        }
        }
    }

    Value compute(const Expr &e) {
        switch (e.node_type()) {
        case IRNodeType::IntImm: {
            Value v;
            v.i = e.as<IntImm>()->value;
            return v;
        }
        case IRNodeType::UIntImm: {
            Value v;
            v.i = e.as<UIntImm>()->value;
            return v;
        }
        case IRNodeType::FloatImm: {
            Value v;
            v.f = e.as<FloatImm>()->value;
            return v;
        }
        case IRNodeType::Variable:
            return variables.at(e.as<Variable>()->name);
        case IRNodeType::Broadcast:
            return eval(e.as<Broadcast>()->value);
        case IRNodeType::Cast:
            return convert(e, e.as<Cast>()->value);
        case IRNodeType::Reinterpret: {
            const Expr from = e.as<Reinterpret>()->value;
            return from_bits(e.type(), bits_of(from.type(), eval(from)));
        }
        case IRNodeType::Add:
            return arithmetic<Add>(e, [](Wide a, Wide b) { return a + b; }, [](double a, double b) { return a + b; });
        case IRNodeType::Sub:
            return arithmetic<Sub>(e, [](Wide a, Wide b) { return a - b; }, [](double a, double b) { return a - b; });
        case IRNodeType::Mul:
            return arithmetic<Mul>(
                e, [](Wide a, Wide b) { return (Wide)((unsigned __int128)a * (unsigned __int128)b); },
                [](double a, double b) { return a * b; });
        case IRNodeType::Div:
            // Euclidean; the smallest number divided by −1 wraps by definition.
            if (!e.type().is_float()) {
                const Wide a = eval(e.as<Div>()->a).i, b = eval(e.as<Div>()->b).i;
                return wrapped(e, b == 0 ? 0 : b > 0 ? floor_div(a, b) : -floor_div(a, -b));
            }
            return arithmetic<Div>(e, [](Wide a, Wide b) { return a; }, [](double a, double b) { return a / b; });
        case IRNodeType::Mod: {
            const Wide a = eval(e.as<Mod>()->a).i, b = eval(e.as<Mod>()->b).i;
            return wrapped(e, b == 0 ? 0 : a - (b > 0 ? b : -b) * floor_div(a, b > 0 ? b : -b));
        }
        case IRNodeType::Min:
            return arithmetic<Min>(
                e, [](Wide a, Wide b) { return a < b ? a : b; }, [](double a, double b) { return a < b ? a : b; });
        case IRNodeType::Max:
            return arithmetic<Max>(
                e, [](Wide a, Wide b) { return a > b ? a : b; }, [](double a, double b) { return a > b ? a : b; });
        case IRNodeType::EQ:
            return compare<EQ>(e, [](auto a, auto b) { return a == b; });
        case IRNodeType::NE:
            return compare<NE>(e, [](auto a, auto b) { return a != b; });
        case IRNodeType::LT:
            return compare<LT>(e, [](auto a, auto b) { return a < b; });
        case IRNodeType::LE:
            return compare<LE>(e, [](auto a, auto b) { return a <= b; });
        case IRNodeType::GT:
            return compare<GT>(e, [](auto a, auto b) { return a > b; });
        case IRNodeType::GE:
            return compare<GE>(e, [](auto a, auto b) { return a >= b; });
        case IRNodeType::And:
            return compare<And>(e, [](auto a, auto b) { return a != 0 && b != 0; });
        case IRNodeType::Or:
            return compare<Or>(e, [](auto a, auto b) { return a != 0 || b != 0; });
        case IRNodeType::Not: {
            Value v;
            v.i = eval(e.as<Not>()->a).i == 0;
            return v;
        }
        case IRNodeType::Select:
            return select_value(e);
        case IRNodeType::Let: {
            const Let *op = e.as<Let>();
            variables[op->name] = eval(op->value);
            return eval(op->body);
        }
        case IRNodeType::Call:
            return call(e);
        default:
            fail(e, "a node that the evaluator does not know");
            return Value();
        }
    }

    Value select_value(const Expr &e) {
        const Select *op = e.as<Select>();
        const bool condition = eval(op->condition).i != 0;
        // Both sides run, but arithmetic that overflows matters only where its value is used. A division that traps
        // matters always.
        const std::string before = undefined;
        eval(condition ? op->false_value : op->true_value);
        if (undefined.compare(0, 8, "overflow") == 0) {
            undefined = before;
        }
        return eval(condition ? op->true_value : op->false_value);
    }
};

}  // namespace ScalarEvaluator
