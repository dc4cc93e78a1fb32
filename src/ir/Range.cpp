#include "ir/Range.h"

#include "ir/IRPrinter.h"
#include "support/Error.h"

namespace Halide {

Range::Range(const Expr &min, const Expr &extent)
    : min(min), extent(extent) {
    internal_assert(!min.defined() || !extent.defined() || min.type() == extent.type())
        << "A Range has ends of different types: " << min << " of type " << min.type() << ", " << extent
        << " of type " << extent.type();
}

}  // namespace Halide
