#include "ir/WellFormed.h"

#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"

#include <map>
#include <set>
#include <sstream>

namespace Halide {
namespace Internal {

namespace {

class Checker : public IRVisitor {
    struct BufferInfo {
        Type type;
        bool freed = false;
    };

    const WellFormedOptions &options;
    Scope<> variables;
    Scope<BufferInfo> allocations;
    Scope<std::vector<Type>> realizations;
    std::vector<std::string> loops;
    Stmt statement;
    // Expressions of the statement at hand that have been checked: they may be shared within it.
    std::set<const IRNode *> checked;

    void report(const std::string &what) {
        if (!statement.defined()) {
            findings.push_back(what);
            return;
        }
        std::ostringstream text;
        IRPrinter(text).print_summary(statement);
        std::string where = text.str();
        while (!where.empty() && where.back() == '\n') {
            where.pop_back();
        }
        findings.push_back(what + ", in: " + where);
    }

    void enter(const BaseStmtNode *op) {
        statement = op;
        checked.clear();
    }

    // Undefined children would stop the walk itself.
    bool has_children(const IRNode *n) {
        switch (n->node_type) {
#define HALIDE_IR_CASE(T) \
    case IRNodeType::T:   \
        return children_defined((const T *)n);
            HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_CASE)
#undef HALIDE_IR_CASE
        }
        return true;
    }

    template<typename T>
    bool children_defined(const T *op) {
        bool ok = true;
        if constexpr (!std::is_same_v<T, IntImm> && !std::is_same_v<T, UIntImm> && !std::is_same_v<T, FloatImm> &&
                      !std::is_same_v<T, StringImm>) {
            for_each_child_field<T>([&](auto field, auto) { ok = ok && field_defined(op->*field); });
        }
        if constexpr (std::is_same_v<T, IfThenElse>) {
            ok = op->condition.defined() && op->then_case.defined();
        }
        if constexpr (std::is_same_v<T, Allocate>) {
            ok = field_defined(op->extents) && op->condition.defined() && op->body.defined();
        }
        if (!ok) {
            report(std::string(IRNodeType_string(op->node_type)) + " with an undefined child");
        }
        return ok;
    }
    static bool field_defined(const IRHandle &h) {
        return h.defined();
    }
    static bool field_defined(const std::vector<Expr> &exprs) {
        for (const Expr &e : exprs) {
            if (!e.defined()) {
                return false;
            }
        }
        return true;
    }
    static bool field_defined(const Region &bounds) {
        for (const Range &r : bounds) {
            if (!r.min.defined() || !r.extent.defined()) {
                return false;
            }
        }
        return true;
    }

    void check_type(const BaseExprNode *e) {
        const Type t = e->type;
        if (t.lanes() < 1) {
            std::ostringstream text;
            text << IRNodeType_string(e->node_type) << " of type " << t << " has no lanes";
            report(text.str());
        }
    }

    void check_access(const std::string &name, const Type &t, const char *what) {
        const BufferInfo *info = allocations.find(name);
        if (!info) {
            return;
        }
        if (info->freed) {
            report(std::string(what) + " " + name + " after it is freed");
        }
        if (info->type.bytes() != t.bytes()) {
            std::ostringstream text;
            text << what << " " << name << " as " << t << ", which is allocated as " << info->type;
            report(text.str());
        }
    }

    template<typename T>
    void default_visit(const T *op) {
        if constexpr (std::is_base_of_v<BaseExprNode, T>) {
            if (!checked.insert(op).second) {
                return;
            }
            check_type(op);
        }
        if (!has_children(op)) {
            return;
        }
        IRVisitor::visit(op);
    }

#define HALIDE_IR_VISIT(T)             \
    void visit(const T *op) override { \
        default_visit(op);             \
    }
    HALIDE_IR_VISIT(IntImm)
    HALIDE_IR_VISIT(UIntImm)
    HALIDE_IR_VISIT(FloatImm)
    HALIDE_IR_VISIT(StringImm)
    HALIDE_IR_VISIT(Broadcast)
    HALIDE_IR_VISIT(Cast)
    HALIDE_IR_VISIT(Reinterpret)
    HALIDE_IR_VISIT(Add)
    HALIDE_IR_VISIT(Sub)
    HALIDE_IR_VISIT(Mod)
    HALIDE_IR_VISIT(Mul)
    HALIDE_IR_VISIT(Div)
    HALIDE_IR_VISIT(Min)
    HALIDE_IR_VISIT(Max)
    HALIDE_IR_VISIT(EQ)
    HALIDE_IR_VISIT(NE)
    HALIDE_IR_VISIT(LT)
    HALIDE_IR_VISIT(LE)
    HALIDE_IR_VISIT(GT)
    HALIDE_IR_VISIT(GE)
    HALIDE_IR_VISIT(And)
    HALIDE_IR_VISIT(Or)
    HALIDE_IR_VISIT(Not)
    HALIDE_IR_VISIT(Select)
    HALIDE_IR_VISIT(Ramp)
    HALIDE_IR_VISIT(Shuffle)
    HALIDE_IR_VISIT(VectorReduce)
    HALIDE_IR_VISIT(ProducerConsumer)
    HALIDE_IR_VISIT(Acquire)
    HALIDE_IR_VISIT(Block)
    HALIDE_IR_VISIT(Fork)
    HALIDE_IR_VISIT(Prefetch)
    HALIDE_IR_VISIT(Atomic)
    HALIDE_IR_VISIT(StreamingStore)
    HALIDE_IR_VISIT(StreamingLoads)
    HALIDE_IR_VISIT(HoistedStorage)
#undef HALIDE_IR_VISIT

    void visit(const Variable *op) override {
        check_type(op);
        if (!options.allow_free_variables && !variables.contains(op->name) && !op->param.defined() &&
            !op->image.defined() && !op->reduction_domain.defined()) {
            report("nothing binds the variable " + op->name);
        }
    }

    void visit(const Load *op) override {
        if (has_children(op)) {
            check_type(op);
            check_access(op->name, op->type, "load from");
            IRVisitor::visit(op);
        }
    }

    void visit(const Call *op) override {
        if (!has_children(op)) {
            return;
        }
        if (op->call_type == Call::Halide) {
            if (const std::vector<Type> *types = realizations.find(op->name)) {
                if ((size_t)op->value_index >= types->size()) {
                    report("call of " + op->name + " for a tuple element that it does not have");
                } else if (op->type.element_of() != (*types)[op->value_index].element_of()) {
                    std::ostringstream text;
                    text << "call of " << op->name << " as " << op->type << ", which is realized as "
                         << (*types)[op->value_index];
                    report(text.str());
                }
            }
        }
        IRVisitor::visit(op);
    }

    void visit(const Let *op) override {
        if (has_children(op)) {
            op->value.accept(this);
            ScopedBinding<> bind(variables, op->name);
            op->body.accept(this);
        }
    }

    void visit(const LetStmt *op) override {
        if (has_children(op)) {
            enter(op);
            op->value.accept(this);
            ScopedBinding<> bind(variables, op->name);
            op->body.accept(this);
        }
    }

    void visit(const AssertStmt *op) override {
        if (has_children(op)) {
            enter(op);
            if (!op->condition.type().is_bool() || op->condition.type().is_vector()) {
                report("the condition of an assertion is not one bool");
            }
            IRVisitor::visit(op);
        }
    }

    void visit(const For *op) override {
        if (has_children(op)) {
            enter(op);
            for (const std::string &outer : loops) {
                if (outer == op->name) {
                    report("a loop over " + op->name + " inside another one");
                }
            }
            if (op->hint.defined() && op->for_type != ForType::Serial) {
                report("an unroll hint on a loop that is not serial");
            }
            op->min.accept(this);
            op->max.accept(this);
            loops.push_back(op->name);
            ScopedBinding<> bind(variables, op->name);
            op->body.accept(this);
            loops.pop_back();
        }
    }

    void visit(const Store *op) override {
        if (has_children(op)) {
            enter(op);
            check_access(op->name, op->value.type(), "store to");
            IRVisitor::visit(op);
        }
    }

    void visit(const Provide *op) override {
        if (has_children(op)) {
            enter(op);
            if (const std::vector<Type> *types = realizations.find(op->name)) {
                if (types->size() != op->values.size()) {
                    report("a tuple of another size than that of " + op->name);
                } else {
                    for (size_t i = 0; i < types->size(); i++) {
                        if (op->values[i].type().element_of() != (*types)[i].element_of()) {
                            std::ostringstream text;
                            text << "a value of type " << op->values[i].type() << " for " << op->name
                                 << ", which is realized as " << (*types)[i];
                            report(text.str());
                        }
                    }
                }
            }
            IRVisitor::visit(op);
        }
    }

    void visit(const Allocate *op) override {
        if (has_children(op)) {
            enter(op);
            for (const Expr &e : op->extents) {
                e.accept(this);
            }
            op->condition.accept(this);
            if (op->new_expr.defined()) {
                op->new_expr.accept(this);
            }
            ScopedBinding<BufferInfo> bind(allocations, op->name, BufferInfo{op->type});
            // The allocation's address is a value of its own name.
            ScopedBinding<> address(variables, op->name);
            op->body.accept(this);
        }
    }

    void visit(const Free *op) override {
        enter(op);
        if (!allocations.contains(op->name)) {
            report("free of " + op->name + ", which is not allocated");
        } else if (BufferInfo *info = allocations.shallow_find(op->name)) {
            if (info->freed) {
                report("second free of " + op->name);
            }
            info->freed = true;
        }
    }

    void visit(const Realize *op) override {
        if (has_children(op)) {
            enter(op);
            for (const Range &r : op->bounds) {
                r.min.accept(this);
                r.extent.accept(this);
            }
            op->condition.accept(this);
            ScopedBinding<std::vector<Type>> bind(realizations, op->name, op->types);
            op->body.accept(this);
        }
    }

    void visit(const IfThenElse *op) override {
        if (has_children(op)) {
            enter(op);
            op->condition.accept(this);
            // What one branch frees, the other may use.
            visit_branch(op->then_case);
            if (op->else_case.defined()) {
                visit_branch(op->else_case);
            }
        }
    }

    void visit_branch(const Stmt &s) {
        std::map<std::string, bool> before;
        for (auto it = allocations.cbegin(); it != allocations.cend(); ++it) {
            before[it.name()] = it.value().freed;
        }
        s.accept(this);
        for (const auto &[name, freed] : before) {
            allocations.ref(name).freed = freed;
        }
    }

    void visit(const Evaluate *op) override {
        if (has_children(op)) {
            enter(op);
            IRVisitor::visit(op);
        }
    }

public:
    std::vector<std::string> findings;

    explicit Checker(const WellFormedOptions &options)
        : options(options) {
    }
};

template<typename IR>
std::vector<std::string> check(const IR &ir, const WellFormedOptions &options) {
    if (!ir.defined()) {
        return {"it is undefined"};
    }
    Checker checker(options);
    ir.accept(&checker);
    return std::move(checker.findings);
}

}  // namespace

std::vector<std::string> check_well_formed(const Stmt &s, const WellFormedOptions &options) {
    return check(s, options);
}

std::vector<std::string> check_well_formed(const Expr &e, const WellFormedOptions &options) {
    return check(e, options);
}

}  // namespace Internal
}  // namespace Halide
