#include "api/BoundaryConditions.h"

#include "ir/IROperator.h"

namespace Halide {
namespace BoundaryConditions {

namespace {

/// One limited dimension of an image.
struct Limits {
    Expr min, extent;

    Expr last() const { return min + extent - 1; }
    Expr is_outside(const Expr &x) const { return x < min || x >= min + extent; }
    Expr clamped(const Expr &x) const { return clamp(x, min, last()); }
    /// The coordinate itself inside the image, which is the usual case, and `outside` elsewhere. Clamping tells bounds
    /// inference that the source is not read outside of the image.
    Expr inside_or(const Expr &x, const Expr &outside) const {
        return select(is_outside(x), clamped(outside), likely(clamped(likely(x))));
    }
};

void check_bounds(const Func &source, const Region &bounds, const char *function) {
    user_assert(source.defined()) << function << ": the source " << source.name() << " is not defined.\n";
    user_assert((int)bounds.size() <= source.dimensions())
        << function << " called with more bounds (" << bounds.size() << ") than dimensions (" << source.dimensions()
        << ") of the source " << source.name() << ".\n";
    for (size_t i = 0; i < bounds.size(); i++) {
        user_assert(bounds[i].min.defined() == bounds[i].extent.defined())
            << function << ": of the bounds of dimension " << i << " of " << source.name() << ", "
            << (bounds[i].min.defined() ? "min is defined and extent is not" : "extent is defined and min is not")
            << ".\n  Give both, or {Expr(), Expr()} for a dimension without limits.\n";
    }
}

/// Reads the source at coordinates that `map` makes, in dimensions that have limits.
template <typename Map>
Func remap(const Func &source, const Region &bounds, const char *function, Map map) {
    check_bounds(source, bounds, function);
    const std::vector<Var> args = source.args();
    std::vector<Expr> coordinates(args.begin(), args.end());
    for (size_t i = 0; i < bounds.size(); i++) {
        if (bounds[i].min.defined()) {
            coordinates[i] = map(coordinates[i], Limits{bounds[i].min, bounds[i].extent});
        }
    }
    Func result(function);
    result(args) = source(coordinates);
    return result;
}

}  // namespace

Func repeat_edge(const Func &source, const Region &bounds) {
    return remap(source, bounds, "repeat_edge", [](const Expr &x, const Limits &l) { return l.clamped(likely(x)); });
}

Func constant_exterior(const Func &source, const Tuple &value, const Region &bounds) {
    check_bounds(source, bounds, "constant_exterior");
    const std::vector<Var> args = source.args();
    Expr outside = Internal::const_false();
    for (size_t i = 0; i < bounds.size(); i++) {
        if (bounds[i].min.defined()) {
            outside = outside || Limits{bounds[i].min, bounds[i].extent}.is_outside(args[i]);
        }
    }
    const Tuple interior = repeat_edge(source, bounds)(args);
    user_assert(interior.size() == value.size())
        << "constant_exterior: the exterior value has " << value.size() << " elements, but " << source.name() << " has "
        << interior.size() << " values.\n";
    std::vector<Expr> values;
    for (size_t i = 0; i < interior.size(); i++) {
        values.push_back(select(outside, value[i], likely(interior[i])));
    }
    Func result("constant_exterior");
    result(args) = Tuple(values);
    return result;
}

Func constant_exterior(const Func &source, const Expr &value, const Region &bounds) {
    return constant_exterior(source, Tuple(value), bounds);
}

Func repeat_image(const Func &source, const Region &bounds) {
    return remap(source, bounds, "repeat_image",
                 [](const Expr &x, const Limits &l) { return l.inside_or(x, l.min + (x - l.min) % l.extent); });
}

Func mirror_image(const Func &source, const Region &bounds) {
    return remap(source, bounds, "mirror_image", [](const Expr &x, const Limits &l) {
        const Expr phase = (x - l.min) % (2 * l.extent);
        return l.inside_or(x, l.min + select(phase >= l.extent, 2 * l.extent - 1 - phase, phase));
    });
}

Func mirror_interior(const Func &source, const Region &bounds) {
    return remap(source, bounds, "mirror_interior", [](const Expr &x, const Limits &l) {
        const Expr half = l.extent - 1;
        const Expr phase = (x - l.min) % (2 * half);
        return l.inside_or(x, l.min + half - cast<int>(abs(phase - half)));
    });
}

}  // namespace BoundaryConditions
}  // namespace Halide
