#include "ir/Range.h"

#include "ir/IRPrinter.h"
#include "support/Error.h"

namespace Halide {

Range::Range(const Expr &min, const Expr &extent)
    : min(min), extent(extent) {
    user_assert(!min.defined() || !extent.defined() || min.type() == extent.type())
        << "The min and the extent of a range must have one type, but " << min << " has type " << min.type() << " and "
        << extent << " has type " << extent.type() << ".\n";
}

}  // namespace Halide
