#include <sstream>

#include "codegen/pto/PTOOutputs.h"
#include "codegen/pto/PTOTypes.h"
#include "func/PTOProgram.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

constexpr int64_t ub_capacity = 253952;

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        if (c == '\n') {
            result += "\\n";
        } else if ((unsigned char)c >= 0x20) {
            result += c;
        }
    }
    return result + "\"";
}

/// The name of a type in PTODSL.
std::string dtype(const Type &t) {
    if (t.is_bfloat()) {
        return "bf16";
    }
    if (t.is_float()) {
        return "f" + std::to_string(t.bits());
    }
    if (t.is_bool()) {
        return "i1";
    }
    return (t.is_int() ? "si" : "ui") + std::to_string(t.bits());
}

/// A field of a buffer (`f.min.0`) in the form `f.min[0]`; other names as they are.
std::string plan_name(const std::string &name) {
    for (const char *field : {".min.", ".extent.", ".stride."}) {
        const size_t at = name.rfind(field);
        const std::string number = at == std::string::npos ? "" : name.substr(at + std::string(field).size());
        if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
            std::string word = field;
            return name.substr(0, at) + word.substr(0, word.size() - 1) + "[" + number + "]";
        }
    }
    return name;
}

/// Host expressions in the language of the launch plan.
class PlanExpr : public IRVisitor {
public:
    std::string text;

    static std::string of(const Expr &e) {
        PlanExpr p;
        e.accept(&p);
        return p.text;
    }

protected:
    using IRVisitor::visit;

    void visit(const IntImm *op) override {
        text += std::to_string(op->value);
    }
    void visit(const UIntImm *op) override {
        text += std::to_string(op->value);
    }
    void visit(const FloatImm *op) override {
        std::ostringstream s;
        s.precision(17);
        s << op->value;
        text += s.str();
    }
    void visit(const Variable *op) override {
        text += plan_name(op->name);
    }
    void visit(const Cast *op) override {
        // All numbers of a plan have 64 bits.
        op->value.accept(this);
    }
    void visit(const Add *op) override {
        binary(op->a, " + ", op->b);
    }
    void visit(const Sub *op) override {
        binary(op->a, " - ", op->b);
    }
    void visit(const Mul *op) override {
        binary(op->a, " * ", op->b);
    }
    void visit(const Div *op) override {
        binary(op->a, " / ", op->b);
    }
    void visit(const Mod *op) override {
        binary(op->a, " % ", op->b);
    }
    void visit(const Min *op) override {
        function("min", {op->a, op->b});
    }
    void visit(const Max *op) override {
        function("max", {op->a, op->b});
    }
    void visit(const EQ *op) override {
        binary(op->a, " == ", op->b);
    }
    void visit(const NE *op) override {
        binary(op->a, " != ", op->b);
    }
    void visit(const LT *op) override {
        binary(op->a, " < ", op->b);
    }
    void visit(const LE *op) override {
        binary(op->a, " <= ", op->b);
    }
    void visit(const GT *op) override {
        binary(op->a, " > ", op->b);
    }
    void visit(const GE *op) override {
        binary(op->a, " >= ", op->b);
    }
    void visit(const And *op) override {
        binary(op->a, " && ", op->b);
    }
    void visit(const Or *op) override {
        binary(op->a, " || ", op->b);
    }
    void visit(const Not *op) override {
        text += "!(";
        op->a.accept(this);
        text += ")";
    }
    void visit(const Select *op) override {
        function("select", {op->condition, op->true_value, op->false_value});
    }
    void visit(const Call *op) override {
        internal_assert(op->is_tag()) << "The launch plan has no word for " << Expr(op) << "\n";
        op->args[0].accept(this);
    }

private:
    void binary(const Expr &a, const char *sign, const Expr &b) {
        text += "(";
        a.accept(this);
        text += sign;
        b.accept(this);
        text += ")";
    }
    void function(const char *name, const std::vector<Expr> &args) {
        text += std::string(name) + "(";
        for (size_t i = 0; i < args.size(); i++) {
            text += i ? ", " : "";
            args[i].accept(this);
        }
        text += ")";
    }
};

/// A number where it is one, else the text of an expression.
std::string value_text(const Expr &e) {
    const std::string text = PlanExpr::of(e);
    return is_const(e) && !e.type().is_bool() ? text : quoted(text);
}

/// Lists with one entry per line.
class Lines {
    std::ostream &out;
    const std::string indent;
    bool any = false;

public:
    Lines(std::ostream &out, const char *key, const std::string &indent) : out(out), indent(indent) {
        out << indent << quoted(key) << ": [";
    }
    std::ostream &next() {
        out << (any ? ",\n" : "\n") << indent << "  ";
        any = true;
        return out;
    }
    void end(bool last) {
        out << (any ? "\n" + indent : "") << (last ? "]\n" : "],\n");
    }
};

/// From the first element to the last of a buffer whose strides are not negative.
Expr reachable_bytes(const std::string &buffer, int dimensions, const Type &type) {
    Expr last = make_zero(Int(64));
    for (int d = 0; d < dimensions; d++) {
        const std::string n = std::to_string(d);
        const Expr extent = Variable::make(Int(64), buffer + ".extent." + n);
        const Expr stride = Variable::make(Int(64), buffer + ".stride." + n);
        last = d == 0 ? (extent - 1) * stride : last + (extent - 1) * stride;
    }
    return (last + 1) * type.bytes();
}

Expr pointer_bytes(const PTOProgram &program, const std::string &buffer) {
    for (const Argument &a : program.args) {
        if (a.is_buffer() && a.name == buffer) {
            return reachable_bytes(a.name, a.dimensions, a.type);
        }
    }
    for (const PTOTemporary &t : program.temporaries) {
        if (t.name == buffer) {
            return t.elements * t.type.bytes();
        }
    }
    internal_error << "The launch plan does not know the buffer " << buffer << "\n";
}

void write_launch(std::ostream &out, const PTOProgram &program, const PTOLaunch &launch) {
    out << "{\n      \"name\": " << quoted(launch.kernel.name) << ",\n";
    out << "      \"blocks\": " << value_text(launch.blocks) << ",\n";
    Lines args(out, "arguments", "      ");
    for (size_t i = 0; i < launch.values.size(); i++) {
        const PTOKernelArg &a = launch.kernel.args[i];
        const PTOArgumentValue &v = launch.values[i];
        std::ostream &line = args.next();
        line << "{\"name\": " << quoted(pto_plain_name(a.name));
        if (a.is_buffer) {
            line << ", \"pointer\": " << quoted(v.buffer) << ", \"dtype\": " << quoted(dtype(a.type))
                 << ", \"offset\": 0, \"bytes\": " << value_text(pointer_bytes(program, v.buffer))
                 << ", \"access\": " << (v.read ? (v.written ? "\"readwrite\"" : "\"read\"") : "\"write\"") << "}";
        } else {
            line << ", \"dtype\": " << quoted(dtype(a.type)) << ", \"value\": " << value_text(v.value) << "}";
        }
    }
    args.end(false);
    out << "      \"constants\": {},\n      \"ub\": {\n        \"bytes\": " << launch.local_bytes
        << ", \"capacity\": " << ub_capacity << ",\n";
    Lines buffers(out, "buffers", "        ");
    for (const PTOLocalBuffer &b : launch.local) {
        buffers.next() << "{\"name\": " << quoted(pto_plain_name(b.name)) << ", \"address\": " << b.address
                       << ", \"bytes\": " << b.bytes << ", \"dtype\": " << quoted(dtype(b.type))
                       << ", \"copies\": " << b.copies << "}";
    }
    buffers.end(true);
    out << "      }\n    }";
}

}  // namespace

std::string pto_launch_plan(const PTOProgram &program, const std::string &kernel_file) {
    std::ostringstream out;
    out << "{\n  \"version\": 1,\n  \"name\": " << quoted(program.name) << ",\n  \"target\": \"a5\",\n"
        << "  \"kernel_file\": " << quoted(kernel_file) << ",\n";
    Lines args(out, "arguments", "  ");
    for (const Argument &a : program.args) {
        std::ostream &line = args.next();
        line << "{\"name\": " << quoted(a.name);
        if (a.is_buffer()) {
            line << ", \"kind\": \"buffer\", \"direction\": " << (a.is_output() ? "\"out\"" : "\"in\"")
                 << ", \"dtype\": " << quoted(a.type.is_bool() ? "ui8" : dtype(a.type))
                 << ", \"dimensions\": " << (int)a.dimensions << "}";
        } else {
            line << ", \"kind\": \"scalar\", \"dtype\": " << quoted(dtype(a.type)) << "}";
        }
    }
    args.end(false);
    Lines checks(out, "checks", "  ");
    for (const PTOCheck &c : program.checks) {
        checks.next() << "{\"condition\": " << quoted(PlanExpr::of(c.condition))
                      << ", \"message\": " << quoted(c.message) << "}";
    }
    checks.end(false);
    Lines temporaries(out, "temporaries", "  ");
    for (const PTOTemporary &t : program.temporaries) {
        temporaries.next() << "{\"name\": " << quoted(t.name) << ", \"dtype\": " << quoted(dtype(t.type))
                           << ", \"bytes\": " << value_text(t.elements * t.type.bytes()) << "}";
    }
    temporaries.end(false);
    Lines kernels(out, "kernels", "  ");
    for (const PTOLaunch &launch : program.launches) {
        write_launch(kernels.next(), program, launch);
    }
    kernels.end(true);
    out << "}\n";
    return out.str();
}

}  // namespace Internal
}  // namespace Halide
