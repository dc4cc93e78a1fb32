#include "ir/IROperator.h"

#include <sstream>
#include <utility>

#include "ir/IR.h"
#include "ir/IRMutator.h"
#include "ir/IRPrinter.h"
#include "ir/LowerIntrinsics.h"

// Printing, requirements, random numbers, tags, and questions about the target.

namespace Halide {

using namespace Internal;

Expr likely(Expr e) {
    user_assert(e.defined()) << "likely of undefined Expr.\n";
    const Type t = e.type();
    return Call::make(t, Call::likely, {std::move(e)}, Call::PureIntrinsic);
}

Expr likely_if_innermost(Expr e) {
    user_assert(e.defined()) << "likely_if_innermost of undefined Expr.\n";
    const Type t = e.type();
    return Call::make(t, Call::likely_if_innermost, {std::move(e)}, Call::PureIntrinsic);
}

Expr undef(Type t) {
    return Call::make(t, Call::undef, {}, Call::PureIntrinsic);
}

namespace {

Expr clamp_promise(Call::IntrinsicOp op, const char *name, const Expr &value, const Expr &min, const Expr &max) {
    user_assert(value.defined()) << name << " of undefined Expr.\n";
    const Type t = value.type();
    Expr low = min.defined() ? lossless_cast(t, min) : t.min();
    Expr high = max.defined() ? lossless_cast(t, max) : t.max();
    user_assert(low.defined()) << "Type mismatch in call to " << name << ". First argument (" << value << ") has type "
                               << t << ", but second argument (" << min << ") has type " << min.type()
                               << ". Use an explicit cast.\n";
    user_assert(high.defined()) << "Type mismatch in call to " << name << ". First argument (" << value
                                << ") has type " << t << ", but third argument (" << max << ") has type "
                                << max.type() << ". Use an explicit cast.\n";
    Expr v = value;
    match_lanes(v, low);
    match_lanes(v, high);
    match_lanes(v, low);
    return Call::make(v.type(), op, {v, low, high}, Call::PureIntrinsic);
}

}  // namespace

Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max) {
    return clamp_promise(Call::unsafe_promise_clamped, "unsafe_promise_clamped", value, min, max);
}

// ---- Printing and requirements --------------------------------------------------------------------------------------

namespace {

void check_print_args(const char *name, const std::vector<Expr> &args) {
    user_assert(!args.empty()) << name << " requires at least one value.\n";
    for (const Expr &e : args) {
        user_assert(e.defined()) << name << " of undefined Expr.\n";
    }
}

/// All values, one space apart.
std::vector<Expr> spaced(const std::vector<Expr> &args) {
    std::vector<Expr> result;
    for (const Expr &e : args) {
        if (!result.empty()) {
            result.emplace_back(std::string(" "));
        }
        result.push_back(e);
    }
    return result;
}

Expr print_call(const std::vector<Expr> &values) {
    std::vector<Expr> text = spaced(values);
    text.emplace_back(std::string("\n"));
    const Expr printed = Call::make(Int(32), "halide_print", {stringify(text)}, Call::Extern);
    return Call::make(values[0].type(), Call::return_second, {printed, values[0]}, Call::PureIntrinsic);
}

}  // namespace

Expr print(const std::vector<Expr> &values) {
    check_print_args("print", values);
    return print_call(values);
}

Expr print_when(Expr condition, const std::vector<Expr> &values) {
    check_print_args("print_when", values);
    user_assert(condition.defined() && condition.type().is_bool())
        << "The condition of print_when must be a boolean.\n";
    return Call::make(values[0].type(), Call::if_then_else, {std::move(condition), print_call(values), values[0]},
                      Call::PureIntrinsic);
}

Expr require(Expr condition, const std::vector<Expr> &values) {
    user_assert(condition.defined()) << "require: the condition is undefined.\n";
    user_assert(condition.type().is_bool())
        << "require: the condition must be a boolean, but " << condition << " has type " << condition.type() << ".\n";
    check_print_args("require", values);
    const Expr error = requirement_failed_error(condition, values);
    return Call::make(values[0].type(), Call::require, {likely(std::move(condition)), values[0], error},
                      Call::PureIntrinsic);
}

namespace Internal {

Expr stringify(const std::vector<Expr> &args) {
    if (args.empty()) {
        return Expr(std::string());
    }
    return Call::make(type_of<const char *>(), Call::stringify, args, Call::PureIntrinsic);
}

Expr requirement_failed_error(Expr condition, const std::vector<Expr> &args) {
    std::ostringstream text;
    text << remove_likelies(condition);
    return Call::make(Int(32), "halide_error_requirement_failed", {Expr(text.str()), stringify(spaced(args))},
                      Call::Extern);
}

Expr memoize_tag_helper(Expr result, const std::vector<Expr> &cache_key_values) {
    user_assert(result.defined()) << "memoize_tag of undefined Expr.\n";
    const Type t = result.type();
    std::vector<Expr> args = {std::move(result)};
    args.insert(args.end(), cache_key_values.begin(), cache_key_values.end());
    return Call::make(t, Call::memoize_expr, args, Call::PureIntrinsic);
}

Expr unreachable(Type t) {
    return Call::make(t, Call::unreachable, {}, Call::Intrinsic);
}

Expr promise_clamped(const Expr &value, const Expr &min, const Expr &max) {
    return clamp_promise(Call::promise_clamped, "promise_clamped", value, min, max);
}

}  // namespace Internal

// ---- Random numbers -------------------------------------------------------------------------------------------------

namespace {

Expr random_call(const char *name, Type t, bool unsigned_seed_allowed, Expr seed) {
    std::vector<Expr> args;
    if (seed.defined()) {
        const Type s = seed.type();
        user_assert(s == Int(32) || (unsigned_seed_allowed && s == UInt(32)))
            << "The seed passed to " << name << " must have type Int(32)"
            << (unsigned_seed_allowed ? " or UInt(32)" : "") << ", but instead is " << seed << " of type " << s
            << ".\n";
        args.push_back(cast(Int(32), std::move(seed)));
    }
    args.emplace_back(next_random_counter(RandomCounter::CallId));
    return Call::make(t, Call::random, args, Call::PureIntrinsic);
}

}  // namespace

Expr random_float(Expr seed) {
    return random_call("random_float", Float(32), false, std::move(seed));
}
Expr random_uint(Expr seed) {
    return random_call("random_uint", UInt(32), true, std::move(seed));
}
Expr random_int(Expr seed) {
    return random_call("random_int", Int(32), false, std::move(seed));
}

namespace Internal {

Expr lower_random(const Expr &e, const std::vector<std::string> &free_vars, int tag) {
    std::vector<Expr> more = {Expr(tag)};
    for (auto v = free_vars.rbegin(); v != free_vars.rend(); ++v) {
        more.push_back(Variable::make(Int(32), *v));
    }
    class LowerRandom : public IRGraphMutator {
        using IRGraphMutator::visit;
        const std::vector<Expr> &more;
        Expr visit(const Call *op) override {
            if (!op->is_intrinsic(Call::random)) {
                return IRGraphMutator::visit(op);
            }
            std::vector<Expr> args = mutate_with_changes(op->args).first;
            args.insert(args.end(), more.begin(), more.end());
            return lower_random_value(op->type, args);
        }

    public:
        explicit LowerRandom(const std::vector<Expr> &more) : more(more) {
        }
    };
    return LowerRandom(more).mutate(e);
}

}  // namespace Internal

// ---- Several places at once -----------------------------------------------------------------------------------------

namespace {

Expr scatter_gather(const char *name, const std::vector<Expr> &args) {
    user_assert(!args.empty()) << name << " requires at least one argument.\n";
    for (const Expr &e : args) {
        user_assert(e.defined()) << name << " of undefined Expr.\n";
        user_assert(e.type() == args[0].type())
            << "All arguments to " << name << " must have the same type: " << args[0] << " has type " << args[0].type()
            << ", " << e << " has type " << e.type() << ".\n";
    }
    return Call::make(args[0].type(), Call::scatter_gather, args, Call::PureIntrinsic);
}

}  // namespace

Expr scatter(const std::vector<Expr> &args) {
    return scatter_gather("scatter", args);
}
Expr gather(const std::vector<Expr> &args) {
    return scatter_gather("gather", args);
}

// ---- The target -----------------------------------------------------------------------------------------------------

Expr target_arch_is(Target::Arch arch) {
    return Call::make(Bool(), Call::target_arch_is, {Expr((int)arch)}, Call::PureIntrinsic);
}
Expr target_os_is(Target::OS os) {
    return Call::make(Bool(), Call::target_os_is, {Expr((int)os)}, Call::PureIntrinsic);
}
Expr target_has_feature(Target::Feature feature) {
    return Call::make(Bool(), Call::target_has_feature, {Expr((int)feature)}, Call::PureIntrinsic);
}
Expr target_bits() {
    return Call::make(Int(32), Call::target_bits, {}, Call::PureIntrinsic);
}
Expr target_natural_vector_size(Type t) {
    return Call::make(Int(32), Call::target_natural_vector_size, {make_zero(t)}, Call::PureIntrinsic);
}

}  // namespace Halide
