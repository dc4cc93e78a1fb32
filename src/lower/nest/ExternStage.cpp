#include "lower/nest/ExternStage.h"

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/Scope.h"
#include "ir/Substitute.h"
#include "lower/nest/Inline.h"
#include "lower/nest/StageNest.h"
#include "regions/Bounds.h"
#include "runtime/HalideRuntime.h"
#include "simplify/Simplify.h"

#include <algorithm>

namespace Halide {
namespace Internal {

namespace {

Type buffer_type() {
    return type_of<struct halide_buffer_t *>();
}

std::string value_name(const Function &f, int value) {
    return f.outputs() > 1 ? f.name() + "." + std::to_string(value) : f.name();
}

/// A view of a buffer that is restricted to `region`.
Expr make_crop(const Expr &buffer, const std::vector<Interval> &region) {
    std::vector<Expr> mins, extents;
    for (const Interval &i : region) {
        mins.push_back(i.min);
        extents.push_back(i.max - i.min + 1);
    }
    const int dims = (int)region.size();
    const Expr storage =
        Call::make(buffer_type(), Call::alloca, {Call::make(Int(32), Call::size_of_halide_buffer_t, {}, Call::Intrinsic)},
                   Call::Intrinsic);
    const Expr shape = Call::make(type_of<struct halide_dimension_t *>(), Call::alloca,
                                  {(int)sizeof(halide_dimension_t) * std::max(dims, 1)}, Call::Intrinsic);
    auto list = [](const std::vector<Expr> &values) {
        return Call::make(type_of<const int *>(), Call::make_struct, values, Call::Intrinsic);
    };
    return Call::make(buffer_type(), Call::buffer_crop, {storage, shape, buffer, list(mins), list(extents)}, Call::Extern);
}

/// The loops of an extern stage that are real, with the splits' variables between them, and what the call inside
/// them has to compute.
struct ExternNest {
    StageNest nest;
    std::vector<Interval> region;
    bool has_loops = false;
};

ExternNest build_loops(const Function &f, Inliner &inliner) {
    ExternNest result;
    result.nest = build_stage_nest(f, 0, f.definition(), inliner);
    StageNest &nest = result.nest;

    // Extern dimensions are the call's business: all real loops are outside of them.
    Scope<Interval> inside;
    size_t real = 0;
    for (size_t i = 0; i < nest.loops.size(); i++) {
        const StageNest::Loop &l = nest.loops[i];
        user_assert(!is_vectorized(l.for_type) && l.for_type != ForType::Unrolled)
            << "Extern Func \"" << f.name() << "\" cannot be vectorized or unrolled over " << l.var
            << ": an extern stage computes a whole region in one call.\n";
        if (l.for_type == ForType::Extern) {
            inside.push(l.name, Interval(Variable::make(Int(32), l.name + ".loop_min"),
                                         Variable::make(Int(32), l.name + ".loop_max")));
        } else {
            user_assert(real == i) << "In extern Func \"" << f.name() << "\", the loop over " << l.var
                                   << " is inside of an extern dimension. Reorder it outwards.\n";
            real = i + 1;
            result.has_loops |= l.var != "__outermost";
        }
    }
    nest.loops.resize(real);

    // Variables that depend on extern dimensions cannot be defined outside the call: the region is computed instead.
    std::vector<StageNest::Item> kept, dropped;
    for (const StageNest::Item &item : nest.items) {
        (item.depth > (int)real ? dropped : kept).push_back(item);
    }
    nest.items = kept;
    for (const std::string &arg : f.args()) {
        const std::string name = nest.prefix + arg;
        Expr e = Variable::make(Int(32), name);
        for (size_t i = dropped.size(); i > 0; i--) {
            if (!dropped[i - 1].name.empty()) {
                e = substitute(dropped[i - 1].name, dropped[i - 1].value, e);
            }
        }
        Interval bounds = bounds_of_expr_in_scope(remove_likelies(e), inside);
        const Expr loop_min = Variable::make(Int(32), name + ".loop_min");
        const Expr loop_max = Variable::make(Int(32), name + ".loop_max");
        if (!result.has_loops || !bounds.is_bounded()) {
            bounds = Interval(loop_min, loop_max);
        } else if (f.definition().schedule().splits().empty()) {
            bounds = Interval(simplify(bounds.min), simplify(bounds.max));
        } else {
            // Tails: a part that reaches beyond the end is cut off.
            bounds = Interval(simplify(bounds.min), simplify(min(bounds.max, loop_max)));
        }
        result.region.push_back(bounds);
    }
    return result;
}

}  // namespace

Stmt build_extern_stage(const Function &f, const Target &target, Inliner &inliner) {
    ExternNest loops = build_loops(f, inliner);

    std::vector<Expr> args;
    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        if (arg.is_expr()) {
            args.push_back(inliner.do_inlining(arg.expr));
        } else if (arg.is_func()) {
            const Function input(arg.func);
            const bool crop = !(input.schedule().store_level() == input.schedule().compute_level());
            std::vector<Interval> region;
            for (const std::string &a : input.args()) {
                const std::string symbol = input.name() + ".s" + std::to_string(input.updates().size()) + "." + a;
                region.emplace_back(Variable::make(Int(32), symbol + ".min"), Variable::make(Int(32), symbol + ".max"));
            }
            for (int i = 0; i < input.outputs(); i++) {
                const Expr buffer = Variable::make(buffer_type(), value_name(input, i) + ".buffer");
                args.push_back(crop ? make_crop(buffer, region) : buffer);
            }
        } else if (arg.is_buffer()) {
            args.push_back(Variable::make(buffer_type(), arg.buffer.name() + ".buffer", arg.buffer));
        } else if (arg.is_image_param()) {
            args.push_back(Variable::make(buffer_type(), arg.image_param.name() + ".buffer", arg.image_param));
        } else {
            internal_error << "Undefined argument of extern Func " << f.name();
        }
    }

    const bool crop = loops.has_loops || !(f.schedule().store_level() == f.schedule().compute_level());
    for (int i = 0; i < f.outputs(); i++) {
        const Expr buffer = Variable::make(buffer_type(), value_name(f, i) + ".buffer");
        args.push_back(crop ? make_crop(buffer, loops.region) : buffer);
    }

    const std::string result_name = f.name() + ".extern_result";
    const Expr result = Variable::make(Int(32), result_name);
    const Expr error = Call::make(Int(32), "halide_error_extern_stage_failed",
                                  {StringImm::make(f.extern_function_name()), result}, Call::Extern);
    Stmt call = AssertStmt::make(result == 0, error);
    call = LetStmt::make(result_name, f.make_call_to_extern_definition(args, target), call);

    std::vector<Expr> touched = {StringImm::make(f.name())};
    for (const Interval &i : loops.region) {
        touched.push_back(i.min);
        touched.push_back(i.max);
    }
    const Stmt declare = Evaluate::make(Call::make(Int(32), Call::declare_box_touched, touched, Call::Intrinsic));

    loops.nest.body = Block::make(declare, call);
    return loops.nest.with_bounds(loops.nest.whole());
}

}  // namespace Internal
}  // namespace Halide
