#pragma once

#include <string>

#include "func/Function.h"
#include "ir/Argument.h"
#include "ir/Parameter.h"
#include "ir/Range.h"

namespace Halide {

/// What a pipeline may know beforehand of a buffer it reads or writes: bounds, strides, alignment.
class OutputImageParam {
protected:
    Internal::Parameter param;
    Argument::Kind kind = Argument::InputScalar;

public:
    OutputImageParam() = default;
    OutputImageParam(const Internal::Parameter &p, Argument::Kind k);

    const std::string &name() const;
    Type type() const;
    bool defined() const;

    /// Expressions for the shape, and the place to constrain it. @throws CompileError  there is no such dimension.
    // @{
    Internal::Dimension dim(int i);
    const Internal::Dimension dim(int i) const;
    // @}

    /// Alignment of the first element, in bytes.
    // @{
    int host_alignment() const;
    OutputImageParam &set_host_alignment(int bytes);
    // @}

    int dimensions() const;
    /// Min and max of the first two dimensions, extents of the first three.
    // @{
    Expr left() const;
    Expr right() const;
    Expr top() const;
    Expr bottom() const;
    Expr width() const;
    Expr height() const;
    Expr channels() const;
    // @}

    Internal::Parameter parameter() const;
    operator Argument() const;
    operator ExternFuncArgument() const;

    /// Estimates of all dimensions at once.
    OutputImageParam &set_estimates(const Region &estimates);
    OutputImageParam &store_in(MemoryType type);
};

}  // namespace Halide
