#include "ir/IRVisitor.h"

namespace Halide {
namespace Internal {

namespace {

// Calls `visit` for each child of a node, in the order of its fields.
template<typename Visit>
struct ForEachChild {
    Visit visit;

    template<typename T>
    void operator()(const T *op) {
        if constexpr (!is_immediate<T>) {
            for_each_child_field<T>([&](auto field, auto) { field_children(op->*field); });
        }
    }

private:
    template<typename T>
    static constexpr bool is_immediate = std::is_same_v<T, IntImm> || std::is_same_v<T, UIntImm> ||
                                         std::is_same_v<T, FloatImm> || std::is_same_v<T, StringImm>;

    template<typename Handle>
    void field_children(const Handle &h) {
        // Undefined children are optional ones: an else case, a custom allocation.
        if (h.defined()) {
            visit(h);
        }
    }
    void field_children(const std::vector<Expr> &exprs) {
        for (const Expr &e : exprs) {
            visit(e);
        }
    }
    void field_children(const Region &bounds) {
        for (const Range &r : bounds) {
            visit(r.min);
            visit(r.extent);
        }
    }
};

template<typename T, typename Visit>
void for_each_child(const T *op, Visit visit) {
    ForEachChild<Visit>{visit}(op);
}

}  // namespace

#define HALIDE_IR_VISIT(T)                                                   \
    void IRVisitor::visit(const T *op) {                                     \
        for_each_child(op, [this](const IRHandle &h) { h.accept(this); });   \
    }
HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT

void IRGraphVisitor::include(const Expr &e) {
    // What has one owner is met once, with its owner.
    if (e.get()->ref_count.value() == 1 || visited.insert(e).second) {
        e.accept(this);
    }
}

void IRGraphVisitor::include(const Stmt &s) {
    if (s.get()->ref_count.value() == 1 || visited.insert(s).second) {
        s.accept(this);
    }
}

#define HALIDE_IR_VISIT(T)                                               \
    void IRGraphVisitor::visit(const T *op) {                            \
        for_each_child(op, [this](const auto &h) { this->include(h); }); \
    }
HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT

}  // namespace Internal
}  // namespace Halide
