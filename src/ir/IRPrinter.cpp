#include "ir/IRPrinter.h"

#include "ir/IRConstants.h"
#include "support/Util.h"

#include <cmath>
#include <cstdio>
#include <sstream>

namespace Halide {

using namespace Internal;

std::ostream &operator<<(std::ostream &stream, const Expr &e) {
    if (!e.defined()) {
        return stream << "(undefined)";
    }
    IRPrinter(stream).print(e);
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const Target &target) {
    return stream << target.to_string();
}

namespace Internal {

std::ostream &operator<<(std::ostream &stream, const Stmt &s) {
    if (!s.defined()) {
        return stream << "(undefined)\n";
    }
    IRPrinter(stream).print(s);
    return stream;
}

std::ostream &operator<<(std::ostream &stream, const Indentation &indentation) {
    for (int i = 0; i < indentation.indent; i++) {
        stream << " ";
    }
    return stream;
}

IRPrinter::IRPrinter(std::ostream &s)
    : stream(s) {
}

void IRPrinter::print(const Expr &e) {
    ScopedValue<bool> needs_parens(implicit_parens, false);
    e.accept(this);
}

void IRPrinter::print_no_parens(const Expr &e) {
    ScopedValue<bool> needs_none(implicit_parens, true);
    e.accept(this);
}

void IRPrinter::print(const Stmt &s) {
    s.accept(this);
}

void IRPrinter::print_summary(const Stmt &s) {
    ScopedValue<bool> summary(is_summary, true);
    s.accept(this);
}

void IRPrinter::print_list(const std::vector<Expr> &exprs) {
    const char *separator = "";
    for (const Expr &e : exprs) {
        stream << separator;
        print_no_parens(e);
        separator = ", ";
    }
}

void IRPrinter::print_binary(const Expr &a, const char *op, const Expr &b) {
    const bool parens = !implicit_parens;
    stream << (parens ? "(" : "");
    print(a);
    stream << op;
    print(b);
    stream << (parens ? ")" : "");
}

void IRPrinter::print_type_prefix(const std::string &name, const Type &type) {
    if (type != Int(32) && !known_type.contains(name)) {
        stream << "(" << type << ")";
    }
}

void IRPrinter::print_braced(const Stmt &s) {
    if (is_summary) {
        stream << "{ ... }";
        return;
    }
    stream << "{\n";
    indent++;
    print(s);
    indent--;
    stream << get_indent() << "}";
}

void IRPrinter::print_region(const Region &bounds) {
    const char *separator = "";
    for (const Range &r : bounds) {
        stream << separator << "[";
        print_no_parens(r.min);
        stream << ", ";
        print_no_parens(r.extent);
        stream << "]";
        separator = ", ";
    }
}

void IRPrinter::visit(const IntImm *op) {
    stream << op->value;
    if (op->type.bits() != 32) {
        stream << "_i" << op->type.bits();
    }
}

void IRPrinter::visit(const UIntImm *op) {
    if (op->type.is_bool()) {
        stream << (op->value ? "true" : "false");
    } else {
        stream << op->value << "_u" << op->type.bits();
    }
}

void IRPrinter::visit(const FloatImm *op) {
    char text[400];
    snprintf(text, sizeof(text), "%f", op->value);
    stream << text;
    if (op->type.is_bfloat()) {
        stream << "bf";
    } else if (op->type.bits() == 32) {
        stream << "f";
    } else if (op->type.bits() == 16) {
        stream << "h";
    }
}

void IRPrinter::visit(const StringImm *op) {
    stream << '"';
    for (unsigned char c : op->value) {
        switch (c) {
        case '"':
            stream << "\\\"";
            break;
        case '\\':
            stream << "\\\\";
            break;
        case '\n':
            stream << "\\n";
            break;
        case '\t':
            stream << "\\t";
            break;
        case '\r':
            stream << "\\r";
            break;
        default:
            if (c >= ' ' && c != 127) {
                stream << c;
            } else {
                char hex[8];
                snprintf(hex, sizeof(hex), "\\x%02X", c);
                stream << hex;
            }
        }
    }
    stream << '"';
}

void IRPrinter::visit(const Cast *op) {
    stream << op->type << "(";
    print_no_parens(op->value);
    stream << ")";
}

void IRPrinter::visit(const Reinterpret *op) {
    stream << "reinterpret<" << op->type << ">(";
    print_no_parens(op->value);
    stream << ")";
}

void IRPrinter::visit(const Variable *op) {
    print_type_prefix(op->name, op->type);
    stream << op->name;
}

void IRPrinter::visit(const Add *op) {
    print_binary(op->a, " + ", op->b);
}
void IRPrinter::visit(const Sub *op) {
    print_binary(op->a, " - ", op->b);
}
void IRPrinter::visit(const Mul *op) {
    print_binary(op->a, "*", op->b);
}
void IRPrinter::visit(const Div *op) {
    print_binary(op->a, "/", op->b);
}
void IRPrinter::visit(const Mod *op) {
    print_binary(op->a, " % ", op->b);
}
void IRPrinter::visit(const EQ *op) {
    print_binary(op->a, " == ", op->b);
}
void IRPrinter::visit(const NE *op) {
    print_binary(op->a, " != ", op->b);
}
void IRPrinter::visit(const LT *op) {
    print_binary(op->a, " < ", op->b);
}
void IRPrinter::visit(const LE *op) {
    print_binary(op->a, " <= ", op->b);
}
void IRPrinter::visit(const GT *op) {
    print_binary(op->a, " > ", op->b);
}
void IRPrinter::visit(const GE *op) {
    print_binary(op->a, " >= ", op->b);
}
void IRPrinter::visit(const And *op) {
    print_binary(op->a, " && ", op->b);
}
void IRPrinter::visit(const Or *op) {
    print_binary(op->a, " || ", op->b);
}

void IRPrinter::visit(const Min *op) {
    stream << "min(";
    print_list({op->a, op->b});
    stream << ")";
}
void IRPrinter::visit(const Max *op) {
    stream << "max(";
    print_list({op->a, op->b});
    stream << ")";
}

void IRPrinter::visit(const Not *op) {
    stream << "!";
    print(op->a);
}

void IRPrinter::visit(const Select *op) {
    stream << "select(";
    print_list({op->condition, op->true_value, op->false_value});
    stream << ")";
}

void IRPrinter::visit(const Load *op) {
    const bool has_predicate = !is_const_one(op->predicate);
    const bool parens = has_predicate && !implicit_parens;
    stream << (parens ? "(" : "");
    print_type_prefix(op->name, op->type);
    stream << op->name << "[";
    print_no_parens(op->index);
    if (op->type.is_vector() && op->alignment.modulus > 1) {
        stream << " aligned" << op->alignment;
    }
    stream << "]";
    if (op->is_streaming) {
        stream << " streaming";
    }
    if (has_predicate) {
        stream << " if ";
        print(op->predicate);
    }
    stream << (parens ? ")" : "");
}

void IRPrinter::visit(const Ramp *op) {
    stream << "ramp(";
    print_list({op->base, op->stride});
    stream << ", " << op->lanes << ")";
}

void IRPrinter::visit(const Broadcast *op) {
    stream << "x" << op->lanes << "(";
    print_no_parens(op->value);
    stream << ")";
}

void IRPrinter::visit(const Call *op) {
    static const std::pair<Call::IntrinsicOp, const char *> infix[] = {
        {Call::bitwise_and, " & "},
        {Call::bitwise_or, " | "},
        {Call::bitwise_xor, " ^ "},
    };
    if (op->args.size() == 2) {
        for (const auto &[intrinsic, text] : infix) {
            if (op->is_intrinsic(intrinsic)) {
                print_binary(op->args[0], text, op->args[1]);
                return;
            }
        }
    }
    if (op->is_intrinsic(Call::bitwise_not) && op->args.size() == 1) {
        stream << "~";
        print(op->args[0]);
        return;
    }
    print_type_prefix(op->name, op->type);
    stream << op->name << "(";
    print_list(op->args);
    stream << ")";
    if (op->value_index > 0) {
        stream << "[" << op->value_index << "]";
    }
}

void IRPrinter::print_lets(const Let *let) {
    // A chain of Lets may be long: names are kept for the body and taken back together.
    std::vector<ScopedBinding<>> bound;
    const bool parens = !implicit_parens;
    stream << (parens ? "(" : "");
    while (true) {
        stream << "let " << let->name << " = ";
        print_no_parens(let->value);
        bound.emplace_back(known_type, let->name);
        stream << " in ";
        const Let *next = let->body.as<Let>();
        if (!next) {
            break;
        }
        let = next;
    }
    print(let->body);
    while (!bound.empty()) {
        bound.pop_back();
    }
    stream << (parens ? ")" : "");
}

void IRPrinter::visit(const Let *op) {
    print_lets(op);
}

void IRPrinter::visit(const Shuffle *op) {
    if (op->is_concat()) {
        stream << "concat_vectors(";
        print_list(op->vectors);
        stream << ")";
    } else if (op->is_interleave()) {
        stream << "interleave_vectors(";
        print_list(op->vectors);
        stream << ")";
    } else if (op->is_extract_element()) {
        stream << "extract_element(";
        print_list(op->vectors);
        stream << ", " << op->indices[0] << ")";
    } else if (op->is_slice()) {
        stream << "slice_vectors(";
        print_list(op->vectors);
        stream << ", " << op->slice_begin() << ", " << op->slice_stride() << ", " << op->indices.size() << ")";
    } else if (op->is_transpose()) {
        stream << "transpose_vector(";
        print_list(op->vectors);
        stream << ", " << op->transpose_factor() << ")";
    } else {
        stream << "shuffle(";
        print_list(op->vectors);
        for (int i : op->indices) {
            stream << ", " << i;
        }
        stream << ")";
    }
}

void IRPrinter::visit(const VectorReduce *op) {
    static const char *const names[] = {"add", "saturating_add", "mul", "min", "max", "and", "or"};
    stream << "(" << op->type << ")vector_reduce_" << names[op->op] << "(";
    print_no_parens(op->value);
    stream << ")";
}

void IRPrinter::visit(const LetStmt *op) {
    // As for Let.
    std::vector<ScopedBinding<>> bound;
    while (true) {
        stream << get_indent() << "let " << op->name << " = ";
        print_no_parens(op->value);
        stream << "\n";
        bound.emplace_back(known_type, op->name);
        const LetStmt *next = op->body.as<LetStmt>();
        if (!next || is_summary) {
            break;
        }
        op = next;
    }
    if (!is_summary) {
        print(op->body);
    }
    while (!bound.empty()) {
        bound.pop_back();
    }
}

void IRPrinter::visit(const AssertStmt *op) {
    stream << get_indent() << "assert(";
    print_list({op->condition, op->message});
    stream << ")\n";
}

void IRPrinter::visit(const ProducerConsumer *op) {
    stream << get_indent() << (op->is_producer ? "produce " : "consume ") << op->name << " ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const For *op) {
    ScopedBinding<> bound(known_type, op->name);
    stream << get_indent() << op->for_type << op->partition_policy << op->device_api << op->hint << " (" << op->name
           << ", ";
    print_list({op->min, op->max});
    stream << ") ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const Acquire *op) {
    stream << get_indent() << "acquire (";
    print_list({op->semaphore, op->count});
    stream << ") ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const Store *op) {
    stream << get_indent() << op->name << "[";
    print_no_parens(op->index);
    if (op->value.type().is_vector() && op->alignment.modulus > 1) {
        stream << " aligned" << op->alignment;
    }
    stream << "]" << (op->is_streaming ? " streaming" : "") << " = ";
    print_no_parens(op->value);
    if (!is_const_one(op->predicate)) {
        stream << " if ";
        print(op->predicate);
    }
    stream << "\n";
}

void IRPrinter::visit(const Provide *op) {
    stream << get_indent() << op->name << "(";
    print_list(op->args);
    stream << ") = ";
    if (op->values.size() > 1) {
        stream << "{";
    }
    print_list(op->values);
    if (op->values.size() > 1) {
        stream << "}";
    }
    if (!is_const_one(op->predicate)) {
        stream << " if ";
        print(op->predicate);
    }
    stream << "\n";
}

void IRPrinter::visit(const Allocate *op) {
    ScopedBinding<> bound(known_type, op->name);
    stream << get_indent() << "allocate " << op->name << "[" << op->type;
    for (const Expr &e : op->extents) {
        stream << " * ";
        print(e);
    }
    stream << "]";
    if (op->memory_type != MemoryType::Auto) {
        stream << " in " << op->memory_type;
    }
    if (!is_const_one(op->condition)) {
        stream << " if ";
        print(op->condition);
    }
    if (op->padding) {
        stream << " padding " << op->padding;
    }
    if (op->new_expr.defined()) {
        stream << " custom_new { ";
        print_no_parens(op->new_expr);
        stream << " }";
    }
    if (!op->free_function.empty()) {
        stream << " custom_delete { " << op->free_function << "(" << op->name << "); }";
    }
    stream << "\n";
    if (!is_summary) {
        print(op->body);
    }
}

void IRPrinter::visit(const Free *op) {
    stream << get_indent() << "free " << op->name << "\n";
}

void IRPrinter::visit(const Realize *op) {
    ScopedBinding<> bound(known_type, op->name);
    stream << get_indent() << "realize " << op->name << "(";
    print_region(op->bounds);
    stream << ")";
    if (op->memory_type != MemoryType::Auto) {
        stream << " in " << op->memory_type;
    }
    if (!is_const_one(op->condition)) {
        stream << " if ";
        print(op->condition);
    }
    stream << " ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const Prefetch *op) {
    stream << get_indent() << "prefetch " << op->name << "(";
    print_region(op->bounds);
    stream << ")";
    if (!is_const_one(op->condition)) {
        stream << " if ";
        print(op->condition);
    }
    stream << "\n";
    if (!is_summary) {
        print(op->body);
    }
}

void IRPrinter::visit(const Block *op) {
    while (true) {
        print(op->first);
        const Block *next = op->rest.as<Block>();
        if (!next) {
            break;
        }
        op = next;
    }
    print(op->rest);
}

void IRPrinter::visit(const Fork *op) {
    stream << get_indent() << "fork ";
    print_braced(op->first);
    stream << " ";
    print_braced(op->rest);
    stream << "\n";
}

void IRPrinter::visit(const IfThenElse *op) {
    stream << get_indent();
    while (true) {
        stream << "if (";
        print_no_parens(op->condition);
        stream << ") ";
        print_braced(op->then_case);
        if (!op->else_case.defined()) {
            break;
        }
        stream << " else ";
        const IfThenElse *next = op->else_case.as<IfThenElse>();
        if (!next) {
            print_braced(op->else_case);
            break;
        }
        op = next;
    }
    stream << "\n";
}

void IRPrinter::visit(const Evaluate *op) {
    stream << get_indent();
    print_no_parens(op->value);
    stream << "\n";
}

void IRPrinter::visit(const Atomic *op) {
    stream << get_indent() << "atomic (" << op->producer_name;
    if (!op->mutex_name.empty()) {
        stream << ", " << op->mutex_name;
    }
    stream << ") ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const StreamingStore *op) {
    stream << get_indent() << "streaming_store (" << op->producer_name << ") ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const StreamingLoads *op) {
    stream << get_indent() << "streaming_loads (";
    if (op->names) {
        stream << join_strings(*op->names, ", ");
    } else {
        stream << "*";
    }
    stream << ") ";
    print_braced(op->body);
    stream << "\n";
}

void IRPrinter::visit(const HoistedStorage *op) {
    stream << get_indent() << "hoisted_storage " << op->name << " ";
    print_braced(op->body);
    stream << "\n";
}

}  // namespace Internal
}  // namespace Halide
