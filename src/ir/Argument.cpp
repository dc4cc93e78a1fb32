#include "ir/Argument.h"

#include "ir/IREquality.h"
#include "support/Error.h"

namespace Halide {

using namespace Internal;

namespace {

bool equal_or_both_undefined(const Expr &a, const Expr &b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}

}  // namespace

bool ArgumentEstimates::operator==(const ArgumentEstimates &rhs) const {
    if (buffer_estimates.size() != rhs.buffer_estimates.size()) {
        return false;
    }
    for (size_t i = 0; i < buffer_estimates.size(); i++) {
        if (!equal_or_both_undefined(buffer_estimates[i].min, rhs.buffer_estimates[i].min) ||
            !equal_or_both_undefined(buffer_estimates[i].extent, rhs.buffer_estimates[i].extent)) {
            return false;
        }
    }
    return equal_or_both_undefined(scalar_def, rhs.scalar_def) && equal_or_both_undefined(scalar_min, rhs.scalar_min) &&
           equal_or_both_undefined(scalar_max, rhs.scalar_max) &&
           equal_or_both_undefined(scalar_estimate, rhs.scalar_estimate);
}

Argument::Argument(const std::string &name, Kind kind, const Type &type, int dimensions,
                   const ArgumentEstimates &estimates)
    : name(name), kind(kind), dimensions((uint8_t)dimensions), type(type), argument_estimates(estimates) {
    user_assert(dimensions >= 0 && dimensions <= 255)
        << "The Argument " << name << " can't have " << dimensions << " dimensions.\n";
    user_assert(!is_scalar() || dimensions == 0)
        << "The Argument " << name << " is a scalar, but was given " << dimensions << " dimensions.\n";
    if (is_buffer()) {
        user_assert(!estimates.scalar_def.defined() && !estimates.scalar_min.defined() &&
                    !estimates.scalar_max.defined() && !estimates.scalar_estimate.defined())
            << "The Argument " << name << " is a buffer, but has estimates of a scalar.\n";
    }
}

bool Argument::operator==(const Argument &rhs) const {
    return name == rhs.name && kind == rhs.kind && dimensions == rhs.dimensions && type == rhs.type &&
           argument_estimates == rhs.argument_estimates;
}

}  // namespace Halide
