#include "api/OutputImageParam.h"

#include "support/Error.h"

namespace Halide {

using namespace Internal;

OutputImageParam::OutputImageParam(const Parameter &p, Argument::Kind k) : param(p), kind(k) {}

const std::string &OutputImageParam::name() const {
    return param.name();
}

Type OutputImageParam::type() const {
    return param.type();
}

bool OutputImageParam::defined() const {
    return param.defined();
}

Dimension OutputImageParam::dim(int i) {
    user_assert(defined()) << "dim(" << i << ") of an undefined image parameter.\n";
    user_assert(i >= 0 && i < dimensions())
        << name() << ".dim(" << i << "): " << name() << " has " << dimensions() << " dimensions, counted from 0.\n";
    return Dimension(param, i);
}

const Dimension OutputImageParam::dim(int i) const {
    return const_cast<OutputImageParam *>(this)->dim(i);
}

int OutputImageParam::host_alignment() const {
    return param.host_alignment();
}

OutputImageParam &OutputImageParam::set_host_alignment(int bytes) {
    param.set_host_alignment(bytes);
    return *this;
}

int OutputImageParam::dimensions() const {
    return param.dimensions();
}

Expr OutputImageParam::left() const {
    return dim(0).min();
}

Expr OutputImageParam::right() const {
    return dim(0).max();
}

Expr OutputImageParam::top() const {
    return dim(1).min();
}

Expr OutputImageParam::bottom() const {
    return dim(1).max();
}

Expr OutputImageParam::width() const {
    return dim(0).extent();
}

Expr OutputImageParam::height() const {
    return dim(1).extent();
}

Expr OutputImageParam::channels() const {
    return dim(2).extent();
}

Parameter OutputImageParam::parameter() const {
    return param;
}

OutputImageParam::operator Argument() const {
    return Argument(name(), kind, type(), dimensions(), param.get_argument_estimates());
}

OutputImageParam::operator ExternFuncArgument() const {
    return ExternFuncArgument(param);
}

OutputImageParam &OutputImageParam::set_estimates(const Region &estimates) {
    user_assert((int)estimates.size() == dimensions())
        << name() << ".set_estimates: the image has " << dimensions() << " dimensions, but estimates are given for "
        << estimates.size() << ".\n";
    for (int i = 0; i < dimensions(); i++) {
        dim(i).set_estimate(estimates[i].min, estimates[i].extent);
    }
    return *this;
}

OutputImageParam &OutputImageParam::store_in(MemoryType type) {
    param.store_in(type);
    return *this;
}

}  // namespace Halide
