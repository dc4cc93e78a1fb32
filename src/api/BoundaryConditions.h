#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "api/Func.h"
#include "api/Lambda.h"
#include "api/Tuple.h"
#include "ir/Range.h"

namespace Halide {

/// Funcs that continue an image outside its bounds.
///
/// The source is anything that can be called with `_`. Bounds are those of the source, or a Region, or pairs of min
/// and extent; dimensions without bounds, or with `{Expr(), Expr()}`, are not limited.
namespace BoundaryConditions {

/// The source inside the bounds, a value outside.
// @{
Func constant_exterior(const Func &source, const Tuple &value, const Region &bounds);
Func constant_exterior(const Func &source, const Expr &value, const Region &bounds);
// @}
/// The nearest point of the image.
Func repeat_edge(const Func &source, const Region &bounds);
/// The image again and again.
Func repeat_image(const Func &source, const Region &bounds);
/// The image and its mirror image in turn; the edge occurs twice.
Func mirror_image(const Func &source, const Region &bounds);
/// The same with the edge once.
Func mirror_interior(const Func &source, const Region &bounds);

}  // namespace BoundaryConditions

namespace Internal {

/// A Func for anything that can be called with `_`.
template <typename T>
inline Func func_like_to_func(const T &source) {
    if constexpr (std::is_convertible_v<T, Func>) {
        return source;
    } else {
        return lambda(Halide::_, source(Halide::_));
    }
}

inline Func func_like_to_func(const Func &source) {
    return source;
}

/// The bounds of an image.
template <typename T>
inline Region bounds_of_image(const T &source) {
    Region bounds;
    for (int i = 0; i < source.dimensions(); i++) {
        bounds.emplace_back(Expr(source.dim(i).min()), Expr(source.dim(i).extent()));
    }
    return bounds;
}

inline void collect_bounds(Region &) {}

template <typename... Rest>
inline void collect_bounds(Region &region, const Expr &min, const Expr &extent, Rest &&...rest) {
    Range r;
    r.min = min;
    r.extent = extent;
    region.push_back(r);
    collect_bounds(region, std::forward<Rest>(rest)...);
}

template <typename... Bounds>
inline Region bounds_from_arguments(Bounds &&...bounds) {
    static_assert(sizeof...(Bounds) % 2 == 0, "bounds are pairs of min and extent");
    Region region;
    collect_bounds(region, std::forward<Bounds>(bounds)...);
    return region;
}

template <typename... Bounds>
using IfBounds = std::enable_if_t<(sizeof...(Bounds) > 0) && (std::is_convertible_v<Bounds, Expr> && ...), Func>;

}  // namespace Internal

namespace BoundaryConditions {

// @{
template <typename T>
inline Func constant_exterior(const T &source, const Tuple &value) {
    return constant_exterior(Internal::func_like_to_func(source), value, Internal::bounds_of_image(source));
}
template <typename T>
inline Func constant_exterior(const T &source, const Expr &value) {
    return constant_exterior(source, Tuple(value));
}
template <typename T>
inline std::enable_if_t<!std::is_same_v<T, Func>, Func> constant_exterior(const T &source, const Tuple &value,
                                                                          const Region &bounds) {
    return constant_exterior(Internal::func_like_to_func(source), value, bounds);
}
template <typename T>
inline std::enable_if_t<!std::is_same_v<T, Func>, Func> constant_exterior(const T &source, const Expr &value,
                                                                          const Region &bounds) {
    return constant_exterior(Internal::func_like_to_func(source), value, bounds);
}
template <typename T, typename... Bounds>
inline Internal::IfBounds<Bounds...> constant_exterior(const T &source, const Tuple &value, Bounds &&...bounds) {
    return constant_exterior(Internal::func_like_to_func(source), value,
                             Internal::bounds_from_arguments(std::forward<Bounds>(bounds)...));
}
template <typename T, typename... Bounds>
inline Internal::IfBounds<Bounds...> constant_exterior(const T &source, const Expr &value, Bounds &&...bounds) {
    return constant_exterior(source, Tuple(value), std::forward<Bounds>(bounds)...);
}
template <typename T>
inline Func repeat_edge(const T &source) {
    return repeat_edge(Internal::func_like_to_func(source), Internal::bounds_of_image(source));
}
template <typename T>
inline std::enable_if_t<!std::is_same_v<T, Func>, Func> repeat_edge(const T &source, const Region &bounds) {
    return repeat_edge(Internal::func_like_to_func(source), bounds);
}
template <typename T, typename... Bounds>
inline Internal::IfBounds<Bounds...> repeat_edge(const T &source, Bounds &&...bounds) {
    return repeat_edge(Internal::func_like_to_func(source),
                       Internal::bounds_from_arguments(std::forward<Bounds>(bounds)...));
}
template <typename T>
inline Func repeat_image(const T &source) {
    return repeat_image(Internal::func_like_to_func(source), Internal::bounds_of_image(source));
}
template <typename T>
inline std::enable_if_t<!std::is_same_v<T, Func>, Func> repeat_image(const T &source, const Region &bounds) {
    return repeat_image(Internal::func_like_to_func(source), bounds);
}
template <typename T, typename... Bounds>
inline Internal::IfBounds<Bounds...> repeat_image(const T &source, Bounds &&...bounds) {
    return repeat_image(Internal::func_like_to_func(source),
                        Internal::bounds_from_arguments(std::forward<Bounds>(bounds)...));
}
template <typename T>
inline Func mirror_image(const T &source) {
    return mirror_image(Internal::func_like_to_func(source), Internal::bounds_of_image(source));
}
template <typename T>
inline std::enable_if_t<!std::is_same_v<T, Func>, Func> mirror_image(const T &source, const Region &bounds) {
    return mirror_image(Internal::func_like_to_func(source), bounds);
}
template <typename T, typename... Bounds>
inline Internal::IfBounds<Bounds...> mirror_image(const T &source, Bounds &&...bounds) {
    return mirror_image(Internal::func_like_to_func(source),
                        Internal::bounds_from_arguments(std::forward<Bounds>(bounds)...));
}
template <typename T>
inline Func mirror_interior(const T &source) {
    return mirror_interior(Internal::func_like_to_func(source), Internal::bounds_of_image(source));
}
template <typename T>
inline std::enable_if_t<!std::is_same_v<T, Func>, Func> mirror_interior(const T &source, const Region &bounds) {
    return mirror_interior(Internal::func_like_to_func(source), bounds);
}
template <typename T, typename... Bounds>
inline Internal::IfBounds<Bounds...> mirror_interior(const T &source, Bounds &&...bounds) {
    return mirror_interior(Internal::func_like_to_func(source),
                           Internal::bounds_from_arguments(std::forward<Bounds>(bounds)...));
}
// @}

}  // namespace BoundaryConditions
}  // namespace Halide
