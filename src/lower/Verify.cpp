#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "ir/WellFormed.h"
#include "lower/Pipeline.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// Everything that `verify` checks, beyond the structure of single nodes (ir/WellFormed):
///
///  * from Flat on: no Provide, no Realize, no call of a Func or image; every Load and Store has as many lanes in its
///    index, value and predicate.
///  * from Unrolled on: no loop is marked unrolled.
///  * from Vectors on: no loop is marked vectorized; loop bounds and conditions of statements are scalar.
///  * at Closed: no parallel loop.
class LevelVerifier : public IRGraphVisitor {
public:
    LevelVerifier(Level level, const std::string &pass) : level(level), pass(pass) {}

protected:
    using IRGraphVisitor::visit;

    void visit(const Provide *op) override {
        check(level < Level::Flat, "a Provide is left", op);
        IRGraphVisitor::visit(op);
    }
    void visit(const Realize *op) override {
        check(level < Level::Flat, "a Realize is left", op);
        IRGraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        const bool function = op->call_type == Call::Halide || op->call_type == Call::Image;
        check(level < Level::Flat || !function, "a call of a Func is left", op);
        IRGraphVisitor::visit(op);
    }
    void visit(const For *op) override {
        check(level < Level::Unrolled || op->for_type != ForType::Unrolled, "a loop is still marked unrolled", op);
        if (level >= Level::Vectors) {
            check(!is_vectorized(op->for_type), "a loop is still marked vectorized", op);
            check(op->min.type().is_scalar() && op->max.type().is_scalar(), "loop bounds are vectors", op);
        }
        check(!op->hint.defined() || op->for_type == ForType::Serial, "a loop that is not serial has an unroll hint", op);
        check(level < Level::Closed || op->for_type != ForType::Parallel, "a parallel loop is left", op);
        IRGraphVisitor::visit(op);
    }
    void visit(const IfThenElse *op) override {
        check(level < Level::Vectors || op->condition.type().is_scalar(), "the condition of a statement is a vector", op);
        IRGraphVisitor::visit(op);
    }

private:
    const Level level;
    const std::string &pass;

    template<typename Node>
    void check(bool ok, const char *what, const Node *op) const {
        if (ok) {
            return;
        }
        std::ostringstream text;
        if constexpr (std::is_base_of_v<BaseStmtNode, Node>) {
            text << Stmt(op);
        } else {
            text << Expr(op);
        }
        internal_error << "After " << pass << " (level " << level_name(level) << "): " << what << " in\n"
                       << text.str() << "\n";
    }
};

}  // namespace

const char *level_name(Level level) {
    switch (level) {
    case Level::Funcs: return "Funcs";
    case Level::Nest: return "Nest";
    case Level::Bounded: return "Bounded";
    case Level::Checked: return "Checked";
    case Level::Flat: return "Flat";
    case Level::Unrolled: return "Unrolled";
    case Level::Vectors: return "Vectors";
    case Level::Indices: return "Indices";
    case Level::Closed: return "Closed";
    }
    return "unknown";
}

void verify(const Stmt &s, Level level, const LowerContext &ctx, const std::string &after_pass) {
    const std::vector<std::string> problems = check_well_formed(s);
    internal_assert(problems.empty()) << "After " << after_pass << ": " << problems[0] << "\n";
    LevelVerifier v(level, after_pass);
    s.accept(&v);
}

}  // namespace Internal
}  // namespace Halide
