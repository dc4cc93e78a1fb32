#pragma once

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/Buffer.h"
#include "ir/IROperator.h"
#include "ir/Range.h"
#include "ir/Reduction.h"

namespace Halide {

class OutputImageParam;

/// One dimension of a reduction domain, or (made from a name) a loop over a part of one, for use in schedules.
class RVar {
    std::string name_;
    Internal::ReductionDomain domain_;
    int index_ = -1;

    const Internal::ReductionVariable &var() const;

public:
    /// A reduction variable with a fresh name.
    RVar();
    /// A name for a loop that a schedule makes out of a reduction variable.
    explicit RVar(const std::string &name) : name_(name) {}
    /// Dimension number `index` of a domain.
    RVar(Internal::ReductionDomain domain, int index);

    /// First value. Only for dimensions of a domain.
    Expr min() const;
    /// Number of values. Only for dimensions of a domain.
    Expr extent() const;
    Internal::ReductionDomain domain() const { return domain_; }
    const std::string &name() const;

    operator Expr() const;
};

/// A reduction domain: the box of points that an update definition walks through, first dimension innermost, and
/// optionally a predicate that leaves points out.
class RDom {
    Internal::ReductionDomain dom;

    void initialize(const Region &region, std::string name);
    template <typename... Args>
    void collect(Region &region, std::string &name, const Expr &min, const Expr &extent, Args &&...args) {
        region.emplace_back(min, extent);
        collect(region, name, std::forward<Args>(args)...);
    }
    void collect(Region &, std::string &name, const std::string &n) { name = n; }
    void collect(Region &, std::string &) {}
    void set_members();

public:
    /// An undefined domain.
    RDom();

    /// The box with a min and an extent for each dimension; a name may follow them.
    ///
    /// @throws CompileError  a bound is not losslessly an Int(32), or depends on a Var, an RVar or a Func.
    template <typename... Args>
    RDom(const Expr &min, const Expr &extent, Args &&...args) : RDom() {
        Region region;
        std::string name;
        collect(region, name, min, extent, std::forward<Args>(args)...);
        initialize(region, name);
    }
    explicit RDom(const Region &region, const std::string &name = "");

    /// The points of a buffer (at most four dimensions).
    RDom(const Buffer<void, -1> &buffer);
    template <typename T, int Dims>
    RDom(const Buffer<T, Dims> &buffer) : RDom(Buffer<void, -1>(buffer)) {}
    /// The points of an image parameter (at most four dimensions).
    RDom(const OutputImageParam &image);
    RDom(const Internal::ReductionDomain &domain);

    Internal::ReductionDomain domain() const { return dom; }
    bool defined() const { return dom.defined(); }
    bool same_as(const RDom &other) const { return dom.same_as(other.dom); }
    int dimensions() const;
    /// Dimension number i. @throws CompileError  there is no such dimension.
    RVar operator[](int i) const;

    /// A one-dimensional domain is also its only variable.
    operator RVar() const;
    operator Expr() const;

    /// Leaves out the points for which `predicate` is false. Several calls add up.
    ///
    /// @throws CompileError  the domain has been used in a definition already.
    void where(Expr predicate);

    /// The first four dimensions.
    RVar x, y, z, w;
};

std::ostream &operator<<(std::ostream &stream, const RVar &v);
std::ostream &operator<<(std::ostream &stream, const RDom &dom);

}  // namespace Halide
