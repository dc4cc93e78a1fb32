#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/Func.h"
#include "api/OutputImageParam.h"
#include "api/Var.h"

namespace Halide {

/// An image that a pipeline reads, to be given at run time.
class ImageParam : public OutputImageParam {
    /// Calls the parameter at its implicit Vars; wrappers made with `in` attach to it.
    Func func;

    Func create_func() const;

public:
    ImageParam() = default;
    /// An image of `type` with `dimensions` dimensions, by default with stride 1 in the first one.
    // @{
    ImageParam(Type type, int dimensions);
    ImageParam(Type type, int dimensions, const std::string &name);
    // @}

    /// Binds a buffer for JIT. @throws CompileError  type or number of dimensions differ.
    void set(const Buffer<> &im);
    Buffer<> get() const;
    /// Forgets the bound buffer.
    void reset();

    /// The value at the given coordinates; `_` stands for those not named.
    // @{
    template <typename... Args>
    Expr operator()(Args &&...args) const {
        static_assert((std::is_convertible_v<Args, Expr> && ...), "coordinates of an ImageParam convert to Expr");
        return operator()(std::vector<Expr>{Expr(std::forward<Args>(args))...});
    }
    Expr operator()(std::vector<Expr>) const;
    Expr operator()(std::vector<Var>) const;
    // @}

    /// A Func that reads this image.
    operator Func() const;

    /// A copy of the image for the given consumers, or for all. @see Func::in
    // @{
    Func in(const Func &f);
    Func in(const std::vector<Func> &fs);
    Func in();
    // @}

    void trace_loads();
    ImageParam &add_trace_tag(const std::string &trace_tag);
};

}  // namespace Halide
