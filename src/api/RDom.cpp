#include "api/RDom.h"

#include "api/OutputImageParam.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace {

/// The names of dimensions 0, 1, ….
std::string dimension_name(const std::string &domain, size_t i) {
    static const char *const letters[] = {"x", "y", "z", "w"};
    return domain + "$" + (i < 4 ? letters[i] : std::to_string(i));
}

/// What an expression depends on that has a value only inside a definition; empty if nothing.
std::string loop_dependence(const Expr &e) {
    std::string found;
    Scope<> inner;
    visit_with(
        e,
        [&](auto *self, const Let *op) {
            (*self)(op->value);
            ScopedBinding<> bind(inner, op->name);
            (*self)(op->body);
        },
        [&](auto *self, const Variable *op) {
            if (!op->param.defined() && !op->image.defined() && !inner.contains(op->name)) {
                found = (op->reduction_domain.defined() ? "the RVar " : "the Var ") + op->name;
            }
        },
        [&](auto *self, const Call *op) {
            if (op->call_type == Call::Halide) {
                found = "a call of the Func " + op->name;
            } else {
                self->visit_base(op);
            }
        });
    return found;
}

/// A bound of a reduction domain as an Int(32).
Expr checked_bound(const Expr &e, const char *what, const std::string &dim) {
    user_assert(e.defined()) << "RDom: the " << what << " of " << dim << " is undefined.\n";
    Expr bound = lossless_cast(Int(32), e);
    user_assert(bound.defined()) << "RDom: the " << what << " of " << dim << ", " << e << ", has type " << e.type()
                                 << " and cannot be represented as an int32.\n  Write cast<int>(...) around it.\n";
    const std::string dependence = loop_dependence(bound);
    user_assert(dependence.empty())
        << "RDom: the bounds of an RDom may depend on parameters and buffer sizes only, but the " << what << " of "
        << dim << ", " << bound << ", depends on " << dependence
        << ".\n  Use larger bounds, and leave points out with RDom::where.\n";
    return bound;
}

}  // namespace

RVar::RVar() : name_(unique_name('r')) {}

RVar::RVar(ReductionDomain domain, int index) : domain_(std::move(domain)), index_(index) {}

const ReductionVariable &RVar::var() const {
    user_assert(domain_.defined()) << "The RVar " << name_
                                   << " is only a name for a loop: it has no bounds and no value.\n"
                                   << "  Values come from the dimensions of an RDom.\n";
    return domain_.domain()[index_];
}

Expr RVar::min() const {
    return domain_.defined() ? var().min : Expr();
}

Expr RVar::extent() const {
    return domain_.defined() ? var().extent : Expr();
}

const std::string &RVar::name() const {
    return domain_.defined() ? var().var : name_;
}

RVar::operator Expr() const {
    user_assert(domain_.defined()) << "Use of undefined RDom dimension: " << (name_.empty() ? "<unknown>" : name_)
                                   << ".\n"
                                   << "  An RVar has a value if it is a dimension of an RDom.\n";
    return Variable::make(Int(32), name(), domain_);
}

void RDom::initialize(const Region &region, std::string name) {
    if (name.empty()) {
        name = unique_name('r');
    }
    std::vector<ReductionVariable> vars;
    for (size_t i = 0; i < region.size(); i++) {
        const std::string dim = dimension_name(name, i);
        vars.push_back({dim, checked_bound(region[i].min, "min", dim), checked_bound(region[i].extent, "extent", dim)});
    }
    dom = ReductionDomain(vars);
    set_members();
}

void RDom::set_members() {
    RVar *members[] = {&x, &y, &z, &w};
    const int n = dom.defined() ? (int)dom.domain().size() : 0;
    for (int i = 0; i < 4 && i < n; i++) {
        *members[i] = RVar(dom, i);
    }
}

RDom::RDom() : x(""), y(""), z(""), w("") {}

RDom::RDom(const Region &region, const std::string &name) : RDom() {
    initialize(region, name);
}

RDom::RDom(const Buffer<void, -1> &buffer) : RDom() {
    user_assert(buffer.defined()) << "RDom(Buffer): the buffer is undefined.\n";
    user_assert(buffer.dimensions() <= 4) << "RDom(Buffer): " << buffer.name() << " has " << buffer.dimensions()
                                          << " dimensions, an RDom made from an image at most four.\n";
    Region region;
    for (int i = 0; i < buffer.dimensions(); i++) {
        region.emplace_back(Expr(buffer.dim(i).min()), Expr(buffer.dim(i).extent()));
    }
    initialize(region, "");
}

RDom::RDom(const OutputImageParam &image) : RDom() {
    user_assert(image.defined()) << "RDom(ImageParam): the parameter is undefined.\n";
    user_assert(image.dimensions() <= 4) << "RDom(ImageParam): " << image.name() << " has " << image.dimensions()
                                         << " dimensions, an RDom made from an image at most four.\n";
    Region region;
    for (int i = 0; i < image.dimensions(); i++) {
        region.emplace_back(image.dim(i).min(), image.dim(i).extent());
    }
    initialize(region, image.name());
}

RDom::RDom(const ReductionDomain &domain) : RDom() {
    dom = domain;
    set_members();
}

int RDom::dimensions() const {
    return dom.defined() ? (int)dom.domain().size() : 0;
}

RVar RDom::operator[](int i) const {
    user_assert(i >= 0 && i < dimensions())
        << "RDom index out of bounds: dimension " << i << " of an RDom with " << dimensions() << ".\n";
    return RVar(dom, i);
}

RDom::operator RVar() const {
    user_assert(dimensions() == 1) << "Error: Can't treat the multidimensional RDom as an RVar: it has " << dimensions()
                                   << " dimensions. Name one, as in r.x or r[0].\n";
    return x;
}

RDom::operator Expr() const {
    user_assert(dimensions() == 1) << "Error: Can't treat the multidimensional RDom as an Expr: it has " << dimensions()
                                   << " dimensions. Name one, as in r.x or r[0].\n";
    return Expr(x);
}

void RDom::where(Expr predicate) {
    user_assert(dom.defined()) << "RDom::where: the RDom is undefined.\n";
    user_assert(predicate.defined()) << "RDom::where: the predicate is undefined.\n";
    user_assert(!dom.frozen()) << "RDom::where(" << predicate << "): the RDom of " << x.name()
                               << " has been used in a definition already.\n"
                               << "  Call where() before the first use.\n";
    dom.where(predicate.type().is_bool() ? predicate : predicate != 0);
}

std::ostream &operator<<(std::ostream &stream, const RVar &v) {
    return stream << v.name() << "(" << v.min() << ", " << v.extent() << ")";
}

std::ostream &operator<<(std::ostream &stream, const RDom &dom) {
    stream << "RDom(\n";
    for (int i = 0; i < dom.dimensions(); i++) {
        stream << "  " << dom[i] << "\n";
    }
    stream << ")";
    if (dom.defined() && dom.domain().predicate().defined() && !is_const_one(dom.domain().predicate())) {
        stream << " where (\n  " << dom.domain().predicate() << ")";
    }
    return stream << "\n";
}

}  // namespace Halide
