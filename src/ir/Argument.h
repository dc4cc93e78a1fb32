#pragma once

#include <string>

#include "ir/Buffer.h"
#include "ir/Expr.h"
#include "ir/Range.h"
#include "ir/Type.h"

namespace Halide {

/// What is known or guessed about the values of an argument.
struct ArgumentEstimates {
    /// Scalars: default, allowed range, typical value. Undefined if not given.
    Expr scalar_def, scalar_min, scalar_max, scalar_estimate;

    /// Buffers: typical bounds, one range per dimension. Empty if not given.
    Region buffer_estimates;

    bool operator==(const ArgumentEstimates &rhs) const;
};

/// An argument of a compiled pipeline.
struct Argument {
    std::string name;

    enum Kind {
        InputScalar = halide_argument_kind_input_scalar,
        InputBuffer = halide_argument_kind_input_buffer,
        OutputBuffer = halide_argument_kind_output_buffer
    };
    Kind kind = InputScalar;

    /// Of a buffer; 0 for a scalar.
    uint8_t dimensions = 0;

    /// The type of the scalar or of a buffer element.
    Type type;

    ArgumentEstimates argument_estimates;

    Argument() = default;
    Argument(const std::string &name, Kind kind, const Type &type, int dimensions, const ArgumentEstimates &estimates);

    /// From anything that has a name, a type and dimensions and stands for an input buffer.
    template<typename T>
    explicit Argument(const Buffer<T> &image)
        : name(image.name()), kind(InputBuffer), dimensions((uint8_t)image.dimensions()), type(image.type()) {
    }

    bool is_buffer() const {
        return kind == InputBuffer || kind == OutputBuffer;
    }
    bool is_scalar() const {
        return kind == InputScalar;
    }
    bool is_input() const {
        return kind == InputScalar || kind == InputBuffer;
    }
    bool is_output() const {
        return kind == OutputBuffer;
    }

    bool operator==(const Argument &rhs) const;
};

}  // namespace Halide
