#include "lower/vector/LaneStorage.h"

#include "analysis/ModulusRemainder.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "simplify/Simplify.h"

namespace Halide {
namespace Internal {

namespace {

class RewriteLaneStorage : public IRMutator {
public:
    RewriteLaneStorage(const std::string &name, int lanes, const Expr &lane, const Expr &size, const Stmt &body)
        : name(name), lanes(lanes), lane(lane), size(size) {
        find_vectors(body);
    }

protected:
    using IRMutator::visit;

    Expr visit(const Load *op) override {
        Expr e = IRMutator::visit(op);
        const Load *load = e.as<Load>();
        if (!load || load->name != name) {
            return e;
        }
        return load->changed(&Load::index, per_lane(load->index), &Load::alignment, ModulusRemainder());
    }
    Stmt visit(const Store *op) override {
        Stmt s = IRMutator::visit(op);
        const Store *store = s.as<Store>();
        if (!store || store->name != name) {
            return s;
        }
        return store->changed(&Store::index, per_lane(store->index), &Store::alignment, ModulusRemainder());
    }

private:
    const std::string &name;
    const int lanes;
    const Expr lane, size;
    int word = 1;           // elements that stay together
    bool aligned = true;    // vectors start at multiples of that, and have so many lanes

    void find_vectors(const Stmt &body) {
        bool dense = true, any = false;
        const auto look = [&](const std::string &buffer, const Expr &index) {
            if (buffer != name || index.type().is_scalar()) {
                return;
            }
            const Ramp *r = index.as<Ramp>();
            dense = dense && r && is_const_one(r->stride);
            aligned = aligned && (!any || word == index.type().lanes());
            any = true;
            word = index.type().lanes();
            int64_t remainder = 0;
            aligned = aligned && dense && reduce_expr_modulo(r->base, word, &remainder) && remainder == 0;
        };
        visit_with(
            body,
            [&](auto *self, const Load *op) {
                look(op->name, op->index);
                self->visit_base(op);
            },
            [&](auto *self, const Store *op) {
                look(op->name, op->index);
                self->visit_base(op);
            });
        if (!dense || (!aligned && !size.defined())) {
            word = 1;
            aligned = true;
        }
    }

    Expr per_lane(const Expr &index) const {
        const Type t = index.type().element_of();
        const auto place = [&](const Expr &i) {
            const Expr l = cast(t, lane);
            if (!aligned) {
                return l * cast(t, size) + i;
            }
            if (word == 1) {
                return i * make_const(t, lanes) + l;
            }
            const Expr w = make_const(t, word);
            return simplify(i / w * make_const(t, lanes * word) + i % w) + l * w;
        };
        if (const Ramp *r = index.as<Ramp>(); r && (word > 1 || !aligned)) {
            return Ramp::make(place(r->base), r->stride, r->lanes);
        }
        return index.type().is_scalar() ? place(index) :
                                          index * make_const(index.type(), lanes) + cast(index.type(), lane);
    }
};

}  // namespace

Stmt storage_per_lane(const Stmt &body, const std::string &buffer, int lanes, const Expr &lane, const Expr &size) {
    return RewriteLaneStorage(buffer, lanes, lane, size, body)(body);
}

}  // namespace Internal
}  // namespace Halide
