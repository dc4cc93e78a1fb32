#include "api/ImageParam.h"

#include "ir/IRPrinter.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace {

Parameter make_image(const Type &type, int dimensions, const std::string &name) {
    user_assert(dimensions >= 0) << "ImageParam " << name << ": the number of dimensions is " << dimensions
                                 << ", but it cannot be negative.\n";
    return Parameter(type, true, dimensions, name);
}

}  // namespace

ImageParam::ImageParam(Type type, int dimensions) : ImageParam(type, dimensions, unique_name('p')) {}

ImageParam::ImageParam(Type type, int dimensions, const std::string &name)
    : OutputImageParam(make_image(type, dimensions, name), Argument::InputBuffer), func(create_func()) {}

Func ImageParam::create_func() const {
    std::vector<Var> args;
    std::vector<Expr> coordinates;
    for (int i = 0; i < dimensions(); i++) {
        args.push_back(Var::implicit(i));
        coordinates.push_back(Var::implicit(i));
    }
    Func f(name() + "_im");
    f(args) = Call::make(param, coordinates);
    return f;
}

void ImageParam::set(const Buffer<> &im) {
    user_assert(defined()) << "ImageParam::set: the parameter is undefined.\n";
    if (im.defined()) {
        user_assert(im.type() == type() && im.dimensions() == dimensions())
            << "Can't bind ImageParam " << name() << " of type " << type() << " and dimensionality " << dimensions()
            << " to Buffer " << im.name() << " of type " << im.type() << " and dimensionality " << im.dimensions()
            << ".\n";
    }
    param.set_buffer(im);
}

Buffer<> ImageParam::get() const {
    return param.buffer();
}

void ImageParam::reset() {
    set(Buffer<>());
}

Expr ImageParam::operator()(std::vector<Expr> args) const {
    user_assert(defined()) << "A call of an undefined ImageParam.\n";
    return func(std::move(args));
}

Expr ImageParam::operator()(std::vector<Var> args) const {
    user_assert(defined()) << "A call of an undefined ImageParam.\n";
    return func(std::move(args));
}

ImageParam::operator Func() const {
    return func;
}

Func ImageParam::in(const Func &f) {
    return func.in(f);
}

Func ImageParam::in(const std::vector<Func> &fs) {
    return func.in(fs);
}

Func ImageParam::in() {
    return func.in();
}

void ImageParam::trace_loads() {
    user_assert(func.defined()) << "ImageParam::trace_loads: the parameter is undefined.\n";
    func.trace_loads();
}

ImageParam &ImageParam::add_trace_tag(const std::string &trace_tag) {
    user_assert(func.defined()) << "ImageParam::add_trace_tag: the parameter is undefined.\n";
    func.add_trace_tag(trace_tag);
    return *this;
}

}  // namespace Halide
