#pragma once

#include "ir/IR.h"
#include "ir/IRVisitor.h"
#include "ir/Interval.h"
#include "ir/Scope.h"

#include <ostream>
#include <string>
#include <vector>

// Text for people, in the shape that Halide programs know. For text that can be read back, see ir/IRText.h.

/// Prints a run-time type as the compiler's: uint8, float32, (void *).
std::ostream &operator<<(std::ostream &stream, const halide_type_t &);

namespace Halide {

class Module;

std::ostream &operator<<(std::ostream &stream, const Expr &);
std::ostream &operator<<(std::ostream &stream, const Type &);
std::ostream &operator<<(std::ostream &stream, const DeviceAPI &);
std::ostream &operator<<(std::ostream &stream, const Target &);
std::ostream &operator<<(std::ostream &stream, const MemoryType &);
std::ostream &operator<<(std::ostream &stream, const NameMangling &);
std::ostream &operator<<(std::ostream &stream, const TailStrategy &);
std::ostream &operator<<(std::ostream &stream, const LoopAlignStrategy &);
std::ostream &operator<<(std::ostream &stream, const Partition &);
std::ostream &operator<<(std::ostream &stream, const PrefetchBoundStrategy &);
std::ostream &operator<<(std::ostream &stream, const VectorizeIn &);
std::ostream &operator<<(std::ostream &stream, const LinkageType &);
/// Defined in func.
std::ostream &operator<<(std::ostream &stream, const Module &);

namespace Internal {

struct LoweredFunc;

std::ostream &operator<<(std::ostream &stream, const Stmt &);
std::ostream &operator<<(std::ostream &stream, const ForType &);
std::ostream &operator<<(std::ostream &stream, const UnrollHint &);
std::ostream &operator<<(std::ostream &stream, const IRNodeType &);
std::ostream &operator<<(std::ostream &stream, const VectorReduce::Operator &);
std::ostream &operator<<(std::ostream &stream, const Call::CallType &);
std::ostream &operator<<(std::ostream &stream, const Interval &);
/// Defined in func.
std::ostream &operator<<(std::ostream &stream, const LoweredFunc &);

struct Indentation {
    int indent;
};
std::ostream &operator<<(std::ostream &stream, const Indentation &);

/// Writes IR to a stream. Derived classes may print some nodes differently.
class IRPrinter : public IRVisitor {
public:
    explicit IRPrinter(std::ostream &s);

    void print(const Expr &e);
    void print(const Stmt &s);
    /// Without the parentheses that would be around the outermost operator.
    void print_no_parens(const Expr &e);
    /// Without the bodies of the loops and branches in it.
    void print_summary(const Stmt &s);
    /// Separated by commas.
    void print_list(const std::vector<Expr> &exprs);

protected:
    std::ostream &stream;
    int indent = 0;
    /// The next operator stands where it needs no parentheses: after a bracket, a comma or an equals sign.
    bool implicit_parens = false;
    bool is_summary = false;
    /// Names bound so far: their types need not be shown.
    Scope<> known_type;

    Indentation get_indent() const {
        return Indentation{indent};
    }

    /// `(a op b)`, the parentheses only where needed.
    void print_binary(const Expr &a, const char *op, const Expr &b);
    /// `(type)` before a name whose type a reader cannot know.
    void print_type_prefix(const std::string &name, const Type &type);
    /// A statement inside braces, one level deeper.
    void print_braced(const Stmt &s);
    void print_region(const Region &bounds);
    void print_lets(const Let *let);

#define HALIDE_IR_VISIT(T) void visit(const T *) override;
    HALIDE_FOR_EACH_IR_NODE(HALIDE_IR_VISIT)
#undef HALIDE_IR_VISIT
};

}  // namespace Internal
}  // namespace Halide
