#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/Enums.h"
#include "ir/Expr.h"
#include "ir/Range.h"
#include "ir/Type.h"
#include "runtime/HalideRuntime.h"
#include "support/Error.h"
#include "support/IntrusivePtr.h"
#include "support/Util.h"

namespace Halide {

struct ArgumentEstimates;
template<typename T, int D>
class Buffer;
class OutputImageParam;

namespace Internal {
struct ParameterContents;
}

/// What is required of, and guessed about, one dimension of a buffer parameter. Undefined: nothing.
struct BufferConstraint {
    Expr min, extent, stride;
    Expr min_estimate, extent_estimate;
};

/// An input or output of a pipeline: a scalar, or a buffer of which only type and dimensionality are fixed.
/// Copies refer to the same parameter.
class Parameter {
    void check_is_buffer() const;
    void check_is_scalar() const;
    void check_dim_ok(int dim) const;
    void check_type(const Type &t) const;
    halide_scalar_value_t &scalar_storage() const;

    Internal::IntrusivePtr<Internal::ParameterContents> contents;

public:
    /// An undefined parameter.
    Parameter();
    /// With an automatic name.
    Parameter(const Type &type, bool is_buffer, int dimensions);
    Parameter(const Type &type, bool is_buffer, int dimensions, const std::string &name);

    /// A buffer parameter with everything that can be known about it.
    Parameter(const Type &type, int dimensions, const std::string &name, const Buffer<void, -1> &buffer,
              int host_alignment, const std::vector<BufferConstraint> &constraints, MemoryType memory_type);
    /// A scalar parameter with everything that can be known about it.
    Parameter(const Type &type, int dimensions, const std::string &name,
              const std::optional<halide_scalar_value_t> &value, const Expr &scalar_default, const Expr &scalar_min,
              const Expr &scalar_max, const Expr &scalar_estimate);

    Parameter(const Parameter &) = default;
    Parameter(Parameter &&) = default;
    Parameter &operator=(const Parameter &) = default;
    Parameter &operator=(Parameter &&) = default;

    bool defined() const;
    bool same_as(const Parameter &other) const;

    Type type() const;
    int dimensions() const;
    const std::string &name() const;
    bool is_buffer() const;

    /// @name Value of a scalar parameter for JIT runs
    /// @{
    bool has_scalar_value() const;

    /// The value. @throws CompileError if none was set, or T is not the parameter's type.
    template<typename T>
    T scalar() const {
        check_type(type_of<T>());
        user_assert(has_scalar_value()) << "Parameter " << name() << " does not have a valid scalar value.\n";
        return Internal::reinterpret_bits<T>(scalar_storage());
    }

    /// The value as a constant.
    Expr scalar_expr() const;

    template<typename T>
    void set_scalar(T val) {
        halide_scalar_value_t value = {};
        memcpy((void *)&value, &val, sizeof(val));
        set_scalar(type_of<T>(), value);
    }
    void set_scalar(const Type &val_type, halide_scalar_value_t val);

    std::optional<halide_scalar_value_t> scalar_data() const;
    const void *read_only_scalar_address() const;
    /// Where the value is stored, for reading by JIT code; counts as set from now on.
    void *scalar_address() const;
    /// @}

    /// @name Buffer bound to a buffer parameter for JIT runs
    /// @{
    Buffer<void, -1> buffer() const;
    const halide_buffer_t *raw_buffer() const;
    void set_buffer(const Buffer<void, -1> &b);
    /// @}

    /// @name Requirements on a buffer, checked at entry; estimates are not checked
    /// @{
    void set_min_constraint(int dim, const Expr &e);
    void set_extent_constraint(int dim, const Expr &e);
    void set_stride_constraint(int dim, const Expr &e);
    void set_min_constraint_estimate(int dim, const Expr &min);
    void set_extent_constraint_estimate(int dim, const Expr &extent);
    void set_host_alignment(int bytes);
    Expr min_constraint(int dim) const;
    Expr extent_constraint(int dim) const;
    Expr stride_constraint(int dim) const;
    Expr min_constraint_estimate(int dim) const;
    Expr extent_constraint_estimate(int dim) const;
    int host_alignment() const;
    const std::vector<BufferConstraint> &buffer_constraints() const;
    /// @}

    /// @name Range, estimate and default of a scalar
    /// @{
    void set_min_value(const Expr &e);
    Expr min_value() const;
    void set_max_value(const Expr &e);
    Expr max_value() const;
    void set_estimate(Expr e);
    Expr estimate() const;
    void set_default_value(const Expr &e);
    Expr default_value() const;
    /// @}

    ArgumentEstimates get_argument_estimates() const;

    /// Where the memory behind a buffer parameter lies.
    void store_in(MemoryType memory_type);
    MemoryType memory_type() const;

    /// Order by identity: for containers only.
    bool operator<(const Parameter &other) const {
        return contents < other.contents;
    }
};

std::ostream &operator<<(std::ostream &stream, const Parameter &parameter);

namespace Internal {

using Halide::Parameter;

/// One dimension of a buffer parameter: its bounds as expressions, and requirements on them.
class Dimension {
    Parameter param;
    int d;

    friend class ::Halide::OutputImageParam;

public:
    Dimension(const Parameter &p, int d);

    Expr min() const;
    Expr extent() const;
    Expr max() const;
    Expr stride() const;

    Expr min_estimate() const;
    Expr extent_estimate() const;

    /// Require a value; an undefined Expr takes a requirement back.
    Dimension set_min(const Expr &e);
    Dimension set_extent(const Expr &e);
    Dimension set_stride(const Expr &e);
    Dimension set_bounds(const Expr &min, const Expr &extent);

    Dimension set_estimate(const Expr &min, const Expr &extent);
    Dimension set_min_estimate(const Expr &min);
    Dimension set_extent_estimate(const Expr &extent);

    /// Another dimension of the same buffer.
    Dimension dim(int i) const;
};

/// Checks the number and the types of the arguments of a call, and casts them to Int(32).
/// Arguments whose type does not fit in Int(32) are a CompileError.
void check_call_arg_types(const std::string &name, std::vector<Expr> *args, int dims);

}  // namespace Internal
}  // namespace Halide
