#include "ir/Parameter.h"

#include <utility>

#include "ir/Argument.h"
#include "ir/Buffer.h"
#include "ir/IR.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"

namespace Halide {

namespace Internal {

struct ParameterContents {
    mutable RefCount count;
    const Type type;
    const int dimensions;
    const std::string name;
    const bool is_buffer;

    // Of a buffer.
    Buffer<> buffer;
    int host_alignment;
    std::vector<BufferConstraint> constraints;
    MemoryType memory_type = MemoryType::Auto;

    // Of a scalar.
    std::optional<halide_scalar_value_t> value;
    Expr scalar_default, scalar_min, scalar_max, scalar_estimate;

    ParameterContents(Type t, bool is_buffer, int dimensions, const std::string &name)
        : type(t), dimensions(dimensions), name(name), is_buffer(is_buffer), host_alignment(t.bytes()),
          constraints((size_t)(is_buffer ? dimensions : 0)) {
        if (!constraints.empty()) {
            // Dense vector accesses need it; whoever has other data takes it back.
            constraints[0].stride = 1;
        }
    }
};

template<>
RefCount &ref_count<ParameterContents>(const ParameterContents *p) noexcept {
    return p->count;
}
template<>
void destroy<ParameterContents>(const ParameterContents *p) {
    delete p;
}

}  // namespace Internal

using namespace Internal;

Parameter::Parameter() = default;

Parameter::Parameter(const Type &type, bool is_buffer, int dimensions)
    : Parameter(type, is_buffer, dimensions, unique_name('p')) {
}

Parameter::Parameter(const Type &type, bool is_buffer, int dimensions, const std::string &name)
    : contents(new ParameterContents(type, is_buffer, dimensions, name)) {
    internal_assert(is_buffer || dimensions == 0) << "The scalar parameter " << name << " has dimensions";
    internal_assert(dimensions >= 0) << "The parameter " << name << " has a negative number of dimensions";
}

Parameter::Parameter(const Type &type, int dimensions, const std::string &name, const Buffer<void, -1> &buffer,
                     int host_alignment, const std::vector<BufferConstraint> &constraints, MemoryType memory_type)
    : Parameter(type, true, dimensions, name) {
    internal_assert((int)constraints.size() == dimensions)
        << "The parameter " << name << " has " << constraints.size() << " constraints for " << dimensions
        << " dimensions";
    contents->buffer = buffer;
    contents->host_alignment = host_alignment;
    contents->constraints = constraints;
    contents->memory_type = memory_type;
}

Parameter::Parameter(const Type &type, int dimensions, const std::string &name,
                     const std::optional<halide_scalar_value_t> &value, const Expr &scalar_default,
                     const Expr &scalar_min, const Expr &scalar_max, const Expr &scalar_estimate)
    : Parameter(type, false, dimensions, name) {
    contents->value = value;
    contents->scalar_default = scalar_default;
    contents->scalar_min = scalar_min;
    contents->scalar_max = scalar_max;
    contents->scalar_estimate = scalar_estimate;
}

bool Parameter::defined() const {
    return contents.defined();
}

bool Parameter::same_as(const Parameter &other) const {
    return contents.same_as(other.contents);
}

namespace {

void check_defined(const Parameter &p) {
    user_assert(p.defined()) << "A parameter is used before it is defined.\n";
}

}  // namespace

void Parameter::check_is_buffer() const {
    check_defined(*this);
    user_assert(contents->is_buffer) << "The parameter " << name() << " is a scalar, not a buffer.\n";
}

void Parameter::check_is_scalar() const {
    check_defined(*this);
    user_assert(!contents->is_buffer) << "The parameter " << name() << " is a buffer, not a scalar.\n";
}

void Parameter::check_dim_ok(int dim) const {
    check_is_buffer();
    user_assert(dim >= 0 && dim < dimensions())
        << "Dimension " << dim << " is not in the range [0, " << dimensions() - 1 << "] of the parameter " << name()
        << ".\n";
}

void Parameter::check_type(const Type &t) const {
    check_is_scalar();
    // Pointers of any kind are interchangeable here.
    user_assert(t == type() || (t.is_handle() && type().is_handle()))
        << "Param<" << type() << "> " << name() << " cannot be accessed as scalar of type " << t << ".\n";
}

halide_scalar_value_t &Parameter::scalar_storage() const {
    if (!contents->value) {
        contents->value = halide_scalar_value_t{};
    }
    return *contents->value;
}

Type Parameter::type() const {
    check_defined(*this);
    return contents->type;
}

int Parameter::dimensions() const {
    check_defined(*this);
    return contents->dimensions;
}

const std::string &Parameter::name() const {
    check_defined(*this);
    return contents->name;
}

bool Parameter::is_buffer() const {
    check_defined(*this);
    return contents->is_buffer;
}

// ---- Scalars --------------------------------------------------------------------------------------------------------

bool Parameter::has_scalar_value() const {
    return defined() && !contents->is_buffer && contents->value.has_value();
}

namespace {

template<typename T>
Expr constant_from_bits(const halide_scalar_value_t &v) {
    return Expr(reinterpret_bits<T>(v));
}

Expr scalar_as_constant(const Type &t, const halide_scalar_value_t &v) {
    if (t.is_handle()) {
        return reinterpret(t, Expr(reinterpret_bits<uint64_t>(v)));
    }
    if (t.is_float()) {
        return t.is_bfloat()  ? constant_from_bits<bfloat16_t>(v) :
               t.bits() == 16 ? constant_from_bits<float16_t>(v) :
               t.bits() == 32 ? constant_from_bits<float>(v) :
                                constant_from_bits<double>(v);
    }
    if (t.is_bool()) {
        return make_bool(reinterpret_bits<uint8_t>(v) != 0);
    }
    // Little-endian: the value starts at the first byte, and the immediate cuts to its width.
    return t.is_int() ? make_const(t, reinterpret_bits<int64_t>(v)) : make_const(t, reinterpret_bits<uint64_t>(v));
}

}  // namespace

Expr Parameter::scalar_expr() const {
    check_is_scalar();
    user_assert(has_scalar_value()) << "Parameter " << name() << " does not have a valid scalar value.\n";
    return scalar_as_constant(type(), *contents->value);
}

void Parameter::set_scalar(const Type &val_type, halide_scalar_value_t val) {
    check_type(val_type);
    contents->value = val;
}

std::optional<halide_scalar_value_t> Parameter::scalar_data() const {
    check_is_scalar();
    return contents->value;
}

const void *Parameter::read_only_scalar_address() const {
    check_is_scalar();
    user_assert(has_scalar_value()) << "Parameter " << name() << " does not have a valid scalar value.\n";
    return &*contents->value;
}

void *Parameter::scalar_address() const {
    check_is_scalar();
    return &scalar_storage();
}

namespace {

void set_scalar_fact(const Parameter &p, const char *what, Expr &fact, const Expr &e) {
    user_assert(!e.defined() || e.type() == p.type())
        << "Can't set parameter " << p.name() << "'s " << what << " to " << e << ": it has type " << e.type()
        << ", the parameter has type " << p.type() << ".\n";
    fact = e;
}

}  // namespace

void Parameter::set_min_value(const Expr &e) {
    check_is_scalar();
    set_scalar_fact(*this, "min value", contents->scalar_min, e);
}
Expr Parameter::min_value() const {
    check_is_scalar();
    return contents->scalar_min;
}
void Parameter::set_max_value(const Expr &e) {
    check_is_scalar();
    set_scalar_fact(*this, "max value", contents->scalar_max, e);
}
Expr Parameter::max_value() const {
    check_is_scalar();
    return contents->scalar_max;
}
void Parameter::set_estimate(Expr e) {
    check_is_scalar();
    set_scalar_fact(*this, "estimate", contents->scalar_estimate, e);
}
Expr Parameter::estimate() const {
    check_is_scalar();
    return contents->scalar_estimate;
}
void Parameter::set_default_value(const Expr &e) {
    check_is_scalar();
    set_scalar_fact(*this, "default value", contents->scalar_default, e);
}
Expr Parameter::default_value() const {
    check_is_scalar();
    return contents->scalar_default;
}

// ---- Buffers --------------------------------------------------------------------------------------------------------

Buffer<void, -1> Parameter::buffer() const {
    check_is_buffer();
    return contents->buffer;
}

const halide_buffer_t *Parameter::raw_buffer() const {
    const Buffer<> b = buffer();
    return b.defined() ? b.raw_buffer() : nullptr;
}

void Parameter::set_buffer(const Buffer<void, -1> &b) {
    check_is_buffer();
    if (b.defined()) {
        user_assert(b.type() == type()) << "Can't bind Parameter " << name() << " of type " << type() << " to Buffer "
                                        << b.name() << " of type " << b.type() << ".\n";
        user_assert(b.dimensions() == dimensions())
            << "Can't bind Parameter " << name() << " of " << dimensions() << " dimensions to Buffer " << b.name()
            << " of " << b.dimensions() << " dimensions.\n";
    }
    contents->buffer = b;
}

namespace {

void set_constraint(const Parameter &p, const char *what, int dim, Expr &constraint, const Expr &e) {
    user_assert(!e.defined() || (e.type().is_scalar() && Int(32).can_represent(e.type())))
        << "The " << what << " of dimension " << dim << " of the parameter " << p.name() << " can't be " << e
        << " of type " << e.type() << ": it is not an int32.\n";
    constraint = e.defined() ? cast(Int(32), e) : e;
}

}  // namespace

void Parameter::set_min_constraint(int dim, const Expr &e) {
    check_dim_ok(dim);
    set_constraint(*this, "min", dim, contents->constraints[dim].min, e);
}
void Parameter::set_extent_constraint(int dim, const Expr &e) {
    check_dim_ok(dim);
    set_constraint(*this, "extent", dim, contents->constraints[dim].extent, e);
}
void Parameter::set_stride_constraint(int dim, const Expr &e) {
    check_dim_ok(dim);
    set_constraint(*this, "stride", dim, contents->constraints[dim].stride, e);
}
void Parameter::set_min_constraint_estimate(int dim, const Expr &min) {
    check_dim_ok(dim);
    set_constraint(*this, "min estimate", dim, contents->constraints[dim].min_estimate, min);
}
void Parameter::set_extent_constraint_estimate(int dim, const Expr &extent) {
    check_dim_ok(dim);
    set_constraint(*this, "extent estimate", dim, contents->constraints[dim].extent_estimate, extent);
}
void Parameter::set_host_alignment(int bytes) {
    check_is_buffer();
    user_assert(is_power_of_two(bytes)) << "The host alignment of the parameter " << name()
                                        << " must be a power of two, but is " << bytes << ".\n";
    contents->host_alignment = bytes;
}
Expr Parameter::min_constraint(int dim) const {
    check_dim_ok(dim);
    return contents->constraints[dim].min;
}
Expr Parameter::extent_constraint(int dim) const {
    check_dim_ok(dim);
    return contents->constraints[dim].extent;
}
Expr Parameter::stride_constraint(int dim) const {
    check_dim_ok(dim);
    return contents->constraints[dim].stride;
}
Expr Parameter::min_constraint_estimate(int dim) const {
    check_dim_ok(dim);
    return contents->constraints[dim].min_estimate;
}
Expr Parameter::extent_constraint_estimate(int dim) const {
    check_dim_ok(dim);
    return contents->constraints[dim].extent_estimate;
}
int Parameter::host_alignment() const {
    check_is_buffer();
    return contents->host_alignment;
}
const std::vector<BufferConstraint> &Parameter::buffer_constraints() const {
    check_is_buffer();
    return contents->constraints;
}

ArgumentEstimates Parameter::get_argument_estimates() const {
    ArgumentEstimates estimates;
    if (!is_buffer()) {
        estimates.scalar_def = contents->scalar_default;
        estimates.scalar_min = contents->scalar_min;
        estimates.scalar_max = contents->scalar_max;
        estimates.scalar_estimate = contents->scalar_estimate;
        return estimates;
    }
    for (const BufferConstraint &c : contents->constraints) {
        Range range;
        range.min = c.min_estimate;
        range.extent = c.extent_estimate;
        estimates.buffer_estimates.push_back(range);
    }
    return estimates;
}

void Parameter::store_in(MemoryType memory_type) {
    check_is_buffer();
    contents->memory_type = memory_type;
}

MemoryType Parameter::memory_type() const {
    // Scalars are asked too, by code that walks all arguments.
    return defined() ? contents->memory_type : MemoryType::Auto;
}

std::ostream &operator<<(std::ostream &stream, const Parameter &parameter) {
    if (!parameter.defined()) {
        return stream << "(undefined parameter)";
    }
    return stream << parameter.name();
}

// ---- Dimensions -----------------------------------------------------------------------------------------------------

namespace Internal {

Dimension::Dimension(const Parameter &p, int d)
    : param(p), d(d) {
    user_assert(param.defined()) << "Can't access the dimensions of an undefined parameter.\n";
    user_assert(param.is_buffer()) << "Can't access the dimensions of a scalar Parameter\n";
    user_assert(d >= 0) << "Can't access a negative dimension\n";
    user_assert(d < param.dimensions()) << "Can't access dimension " << d << " of the " << param.dimensions()
                                        << "-dimensional Parameter " << param.name() << "\n";
}

namespace {

Expr shape_variable(const Parameter &param, const char *what, int d) {
    return Variable::make(Int(32), param.name() + "." + what + "." + std::to_string(d), param);
}

}  // namespace

Expr Dimension::min() const {
    return shape_variable(param, "min", d);
}
Expr Dimension::extent() const {
    return shape_variable(param, "extent", d);
}
Expr Dimension::max() const {
    return min() + extent() - 1;
}
Expr Dimension::stride() const {
    return shape_variable(param, "stride", d);
}
Expr Dimension::min_estimate() const {
    return param.min_constraint_estimate(d);
}
Expr Dimension::extent_estimate() const {
    return param.extent_constraint_estimate(d);
}
Dimension Dimension::set_min(const Expr &e) {
    param.set_min_constraint(d, e);
    return *this;
}
Dimension Dimension::set_extent(const Expr &e) {
    param.set_extent_constraint(d, e);
    return *this;
}
Dimension Dimension::set_stride(const Expr &e) {
    param.set_stride_constraint(d, e);
    return *this;
}
Dimension Dimension::set_bounds(const Expr &min, const Expr &extent) {
    return set_min(min).set_extent(extent);
}
Dimension Dimension::set_estimate(const Expr &min, const Expr &extent) {
    return set_min_estimate(min).set_extent_estimate(extent);
}
Dimension Dimension::set_min_estimate(const Expr &min) {
    param.set_min_constraint_estimate(d, min);
    return *this;
}
Dimension Dimension::set_extent_estimate(const Expr &extent) {
    param.set_extent_constraint_estimate(d, extent);
    return *this;
}
Dimension Dimension::dim(int i) const {
    return Dimension(param, i);
}

void check_call_arg_types(const std::string &name, std::vector<Expr> *args, int dims) {
    user_assert((int)args->size() == dims)
        << args->size() << "-argument call to \"" << name << "\", which has " << dims << " dimensions.\n";
    for (size_t i = 0; i < args->size(); i++) {
        Expr &arg = (*args)[i];
        user_assert(arg.defined()) << "Argument " << i + 1 << " to call to \"" << name
                                   << "\" is an undefined Expr.\n";
        const Type t = arg.type();
        user_assert(!t.is_float() && !t.is_handle() && Int(32).can_represent(t.element_of()))
            << "Implicit cast from " << t << " to int in argument " << i + 1 << " in call to \"" << name
            << "\" is not allowed: " << arg << ". Use an explicit cast.\n";
        arg = cast(Int(32, t.lanes()), arg);
    }
}

}  // namespace Internal
}  // namespace Halide
