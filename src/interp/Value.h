#pragma once

#include "ir/Type.h"

#include <vector>

namespace Halide {
namespace Internal {

__extension__ typedef __int128 Int128;

/// One lane of a value.
struct Scalar {
    union {
        Int128 i;  ///< integers, bools, handles
        double f;  ///< floats
    };
    /// The program leaves this value open.
    bool undefined = false;

    Scalar()
        : i(0) {
    }
    static Scalar of_int(Int128 v, bool undefined = false) {
        Scalar s;
        s.i = v;
        s.undefined = undefined;
        return s;
    }
    static Scalar of_float(double v, bool undefined = false) {
        Scalar s;
        s.f = v;
        s.undefined = undefined;
        return s;
    }
};

/// The value of an expression: scalars are common and need no memory.
class Value {
    Scalar one;
    std::vector<Scalar> many;

public:
    Type type;

    Value() = default;
    explicit Value(Type t)
        : many(t.lanes() == 1 ? 0 : (size_t)t.lanes()), type(t) {
    }
    Value(Type t, Scalar s)
        : one(s), type(t) {
    }

    int lanes() const {
        return type.lanes();
    }
    Scalar &operator[](int i) {
        return many.empty() ? one : many[i];
    }
    const Scalar &operator[](int i) const {
        return many.empty() ? one : many[i];
    }
    /// The lane, or the only lane.
    const Scalar &lane_or_scalar(int i) const {
        return many.empty() ? one : many[i];
    }
};

}  // namespace Internal
}  // namespace Halide
