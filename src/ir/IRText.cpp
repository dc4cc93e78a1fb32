#include "ir/IRText.h"

#include "ir/IRConstants.h"
#include "ir/IRPrinter.h"
#include "ir/IRTextWords.h"
#include "ir/Intrinsics.h"
#include "support/Util.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

// The grammar. Spaces separate words; a statement ends at the end of its line (unless brackets are open), at `;` or at
// `}`. `//` starts a comment.
//
//   type       i8 u16 f32 bf16 bool handle none, lanes as in f32x8; a handle with a C++ type: handle<struct name *>
//   name       letters, digits, `_`, `.`, `$`; anything else, and words of the grammar, in backticks
//   constants  3   -3   3_u8   5_i64   2.5_f32   inf_f64   nan_f16   nan_f64(0x7ff8000000000001)   true   "text"
//   variable   x   x:u8                     what has no type is i32
//   load       A[i]:f32   A[i]:f32x8 aligned(8, 0) streaming when p
//   operators  || && == != < <= > >= ++ + - * / % !        `u ++ v` concatenates
//   forms      min(a, b)  max(a, b)  select(c, t, f)  r(base, stride, lanes)  x⟨lanes⟩  v.lanes(begin, stride, count)
//              reduce(op, v, lanes)  interleave(u, v)  shuffle(u, v; 0, 2, 1)  f32x8(x)  reinterpret<i32>(x)
//              (let x = v in e)
//   calls      f(x, y):f32   f(x)#1:u8      of Funcs; of pure intrinsics, by their names; and, after a keyword:
//              func image extern extern_cpp pure_extern intrinsic pure_intrinsic
//
//   let x = v                                         holds to the end of the braces around it, as do:
//   allocate A[f32, extent, …] in Heap if c new e free name padding n
//   prefetch f[min, extent]… : f32, u8 at loop from loop offset e strategy Clamp if c
//   A[i] aligned(8, 0) streaming when p = v           f(x, y) when p = v           f(x) = {a, b}
//   for x in [min, max] on CUDA partition Never unroll_hint 4 { }
//   assert c, message     evaluate e     free A     if c { } else { }     produce f { }     consume f { }
//   realize f[min, extent]… : f32, u8 in Heap if c { }     acquire semaphore, count { }     fork { } { }
//   atomic f, mutex { }     streaming_store f { }     streaming_loads f, g { }     streaming_loads * { }
//   hoisted_storage f { }     { }

namespace Halide {
namespace Internal {

namespace {

using namespace ir_text;

class Writer : public IRVisitor {
    std::ostringstream out;
    int indent = 0;
    // The expression at hand stands where an operator needs no parentheses.
    bool bare = false;

    static std::string quoted(const std::string &name) {
        std::string text = "`";
        for (char c : name) {
            if (c == '`' || c == '\\') {
                text += '\\';
            }
            text += c;
        }
        return text + "`";
    }

    static bool is_plain(const std::string &name) {
        if (name.empty() || !is_name_start(name[0])) {
            return false;
        }
        for (char c : name) {
            if (!is_name_char(c)) {
                return false;
            }
        }
        return true;
    }

    // Where any name may stand.
    static std::string any_name(const std::string &name) {
        return is_plain(name) ? name : quoted(name);
    }
    // Where an expression may stand.
    static std::string variable_name(const std::string &name) {
        return is_plain(name) && !is_reserved_name(name) ? name : quoted(name);
    }
    // Where a statement may stand.
    static std::string target_name(const std::string &name) {
        return is_plain(name) && !is_statement_word(name) ? name : quoted(name);
    }

    static std::string ascription(const Type &t) {
        return t == Int(32) ? "" : ":" + type_text(t);
    }

    void put(const Expr &e) {
        ScopedValue<bool> b(bare, false);
        e.accept(this);
    }
    void put_bare(const Expr &e) {
        ScopedValue<bool> b(bare, true);
        e.accept(this);
    }
    void put_list(const std::vector<Expr> &exprs) {
        const char *separator = "";
        for (const Expr &e : exprs) {
            out << separator;
            put_bare(e);
            separator = ", ";
        }
    }
    // In parentheses, so that something can be put behind it.
    void put_enclosed(const Expr &e) {
        out << "(";
        put_bare(e);
        out << ")";
    }
    void put_call(const char *name, const std::vector<Expr> &args) {
        out << name << "(";
        put_list(args);
        out << ")";
    }

    void binary(const Expr &a, const char *op, const Expr &b) {
        const bool parens = !bare;
        out << (parens ? "(" : "");
        put(a);
        out << " " << op << " ";
        put(b);
        out << (parens ? ")" : "");
    }

    void number(double x, const Type &t) {
        const std::string suffix = "_" + type_text(t);
        if (std::isnan(x)) {
            uint64_t bits, plain;
            const Expr plain_constant = FloatImm::make(t, std::nan(""));
            const double plain_nan = plain_constant.as<FloatImm>()->value;
            memcpy(&bits, &x, 8);
            memcpy(&plain, &plain_nan, 8);
            out << "nan" << suffix;
            if (bits != plain) {
                out << "(0x" << std::hex << bits << std::dec << ")";
            }
            return;
        }
        if (std::isinf(x)) {
            out << (x < 0 ? "-inf" : "inf") << suffix;
            return;
        }
        char text[64];
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, sizeof(text), "%.*g", digits, x);
            if (strtod(text, nullptr) == x) {
                break;
            }
        }
        out << text << suffix;
    }

    void visit(const IntImm *op) override {
        out << op->value;
        if (op->type.bits() != 32) {
            out << "_" << type_text(op->type);
        }
    }
    void visit(const UIntImm *op) override {
        if (op->type.is_bool()) {
            out << (op->value ? "true" : "false");
        } else {
            out << op->value << "_" << type_text(op->type);
        }
    }
    void visit(const FloatImm *op) override {
        number(op->value, op->type);
    }
    void visit(const StringImm *op) override {
        IRPrinter(out).print(Expr(op));
    }
    void visit(const Broadcast *op) override {
        // Text before the bracket must not end in a type, which could be taken for `x8` of it.
        const bool simple = op->value.as<IntImm>() || op->value.as<UIntImm>() || op->value.as<FloatImm>() ||
                            op->value.as<Broadcast>() || op->value.as<Ramp>() ||
                            (op->value.as<Variable>() && op->value.type() == Int(32));
        if (simple) {
            put(op->value);
        } else {
            put_enclosed(op->value);
        }
        out << start_of_broadcast << op->lanes << end_of_broadcast;
    }
    void visit(const Cast *op) override {
        put_call(type_text(op->type).c_str(), {op->value});
    }
    void visit(const Reinterpret *op) override {
        put_call(("reinterpret<" + type_text(op->type) + ">").c_str(), {op->value});
    }
    void visit(const Variable *op) override {
        out << variable_name(op->name) << ascription(op->type);
    }
    void visit(const Add *op) override {
        binary(op->a, "+", op->b);
    }
    void visit(const Sub *op) override {
        binary(op->a, "-", op->b);
    }
    void visit(const Mod *op) override {
        binary(op->a, "%", op->b);
    }
    void visit(const Mul *op) override {
        binary(op->a, "*", op->b);
    }
    void visit(const Div *op) override {
        binary(op->a, "/", op->b);
    }
    void visit(const EQ *op) override {
        binary(op->a, "==", op->b);
    }
    void visit(const NE *op) override {
        binary(op->a, "!=", op->b);
    }
    void visit(const LT *op) override {
        binary(op->a, "<", op->b);
    }
    void visit(const LE *op) override {
        binary(op->a, "<=", op->b);
    }
    void visit(const GT *op) override {
        binary(op->a, ">", op->b);
    }
    void visit(const GE *op) override {
        binary(op->a, ">=", op->b);
    }
    void visit(const And *op) override {
        binary(op->a, "&&", op->b);
    }
    void visit(const Or *op) override {
        binary(op->a, "||", op->b);
    }
    void visit(const Min *op) override {
        put_call("min", {op->a, op->b});
    }
    void visit(const Max *op) override {
        put_call("max", {op->a, op->b});
    }
    void visit(const Not *op) override {
        out << "!";
        put(op->a);
    }
    void visit(const Select *op) override {
        put_call("select", {op->condition, op->true_value, op->false_value});
    }

    void access_attributes(const ModulusRemainder &alignment, bool is_streaming, const Expr &predicate) {
        if (alignment != ModulusRemainder()) {
            out << " aligned(" << alignment.modulus << ", " << alignment.remainder << ")";
        }
        if (is_streaming) {
            out << " streaming";
        }
        if (!is_plain_true(predicate)) {
            out << " when ";
            put(predicate);
        }
    }
    // What a missing predicate stands for.
    static bool is_plain_true(const Expr &p) {
        const Broadcast *b = p.as<Broadcast>();
        const UIntImm *c = (b ? b->value : p).as<UIntImm>();
        return c && c->value == 1;
    }

    void visit(const Load *op) override {
        out << variable_name(op->name) << "[";
        put_bare(op->index);
        out << "]" << ascription(op->type);
        access_attributes(op->alignment, op->is_streaming, op->predicate);
    }
    void visit(const Ramp *op) override {
        out << "r(";
        put_list({op->base, op->stride});
        out << ", " << op->lanes << ")";
    }
    void visit(const Call *op) override {
        const bool named_by_itself = op->call_type == Call::Halide        ? !is_reserved_call(op->name) :
                                     op->call_type == Call::PureIntrinsic ? find_intrinsic(op->name) != nullptr :
                                                                            false;
        if (!named_by_itself) {
            out << word_of(call_types, op->call_type) << " ";
        }
        put_call(any_name(op->name).c_str(), op->args);
        if (op->value_index) {
            out << "#" << op->value_index;
        }
        out << ascription(op->type);
    }
    void visit(const Let *op) override {
        out << "(";
        while (true) {
            out << "let " << any_name(op->name) << " = ";
            put_bare(op->value);
            out << " in ";
            const Let *next = op->body.as<Let>();
            if (!next) {
                break;
            }
            op = next;
        }
        put_bare(op->body);
        out << ")";
    }
    void visit(const Shuffle *op) override {
        if (op->is_concat()) {
            const bool parens = !bare;
            out << (parens ? "(" : "");
            const char *separator = "";
            for (const Expr &v : op->vectors) {
                out << separator;
                put(v);
                separator = " ++ ";
            }
            out << (parens ? ")" : "");
        } else if (op->is_interleave()) {
            put_call("interleave", op->vectors);
        } else if (op->vectors.size() == 1 && (op->is_slice() || op->is_extract_element())) {
            put_enclosed(op->vectors[0]);
            out << ".lanes(" << op->slice_begin() << ", " << op->slice_stride() << ", " << op->indices.size() << ")";
        } else {
            out << "shuffle(";
            put_list(op->vectors);
            out << "; " << join_strings(op->indices, ", ") << ")";
        }
    }
    void visit(const VectorReduce *op) override {
        out << "reduce(" << word_of(reduce_ops, op->op) << ", ";
        put_bare(op->value);
        out << ", " << op->type.lanes() << ")";
    }

    void line(const std::string &text = "") {
        for (int i = 0; i < indent; i++) {
            out << "  ";
        }
        out << text;
    }
    void braced(const Stmt &s) {
        out << "{\n";
        indent++;
        sequence(s);
        indent--;
        line("}");
    }
    void condition(const Expr &c) {
        if (!is_plain_true(c)) {
            out << " if ";
            put(c);
        }
    }
    void region(const Region &bounds) {
        for (const Range &r : bounds) {
            out << "[";
            put_list({r.min, r.extent});
            out << "]";
        }
    }
    void types(const std::vector<Type> &ts) {
        const char *separator = " : ";
        for (const Type &t : ts) {
            out << separator << type_text(t);
            separator = ", ";
        }
    }

    // A statement that is followed by nothing before the closing brace.
    void sequence(Stmt s) {
        while (true) {
            if (const Block *block = s.as<Block>()) {
                item(block->first);
                s = Stmt(block->rest);
            } else if (const LetStmt *let = s.as<LetStmt>()) {
                line("let ");
                out << any_name(let->name) << " = ";
                put_bare(let->value);
                out << "\n";
                s = Stmt(let->body);
            } else if (const Allocate *a = s.as<Allocate>()) {
                line("allocate ");
                out << any_name(a->name) << "[" << type_text(a->type);
                for (const Expr &e : a->extents) {
                    out << ", ";
                    put_bare(e);
                }
                out << "] in " << word_of(memory_types, a->memory_type);
                condition(a->condition);
                if (a->new_expr.defined()) {
                    out << " new ";
                    put(a->new_expr);
                }
                if (!a->free_function.empty()) {
                    out << " free " << any_name(a->free_function);
                }
                if (a->padding) {
                    out << " padding " << a->padding;
                }
                out << "\n";
                s = Stmt(a->body);
            } else if (const Prefetch *p = s.as<Prefetch>()) {
                line("prefetch ");
                out << any_name(p->name);
                region(p->bounds);
                types(p->types);
                out << " directive " << quoted(p->prefetch.name) << " at " << quoted(p->prefetch.at) << " from "
                    << quoted(p->prefetch.from);
                if (p->prefetch.offset.defined()) {
                    out << " offset ";
                    put(p->prefetch.offset);
                }
                out << " strategy " << word_of(prefetch_strategies, p->prefetch.strategy);
                condition(p->condition);
                out << "\n";
                s = Stmt(p->body);
            } else {
                item(s);
                return;
            }
        }
    }

    // A statement that may be followed by others.
    void item(const Stmt &s) {
        if (s.as<Block>() || s.as<LetStmt>() || s.as<Allocate>() || s.as<Prefetch>()) {
            line();
            braced(s);
            out << "\n";
        } else {
            s.accept(this);
        }
    }

    void visit(const LetStmt *op) override {
        sequence(op);
    }
    void visit(const Allocate *op) override {
        sequence(op);
    }
    void visit(const Prefetch *op) override {
        sequence(op);
    }
    void visit(const Block *op) override {
        sequence(op);
    }
    void visit(const AssertStmt *op) override {
        line("assert ");
        put_list({op->condition, op->message});
        out << "\n";
    }
    void visit(const ProducerConsumer *op) override {
        line(op->is_producer ? "produce " : "consume ");
        out << any_name(op->name) << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const For *op) override {
        line(word_of(for_types, op->for_type));
        out << " " << any_name(op->name) << " in [";
        put_list({op->min, op->max});
        out << "]";
        if (op->device_api != DeviceAPI::None) {
            out << " on " << word_of(device_apis, op->device_api);
        }
        if (op->partition_policy != Partition::Auto) {
            out << " partition " << word_of(partitions, op->partition_policy);
        }
        if (op->hint.kind == UnrollHint::Kind::Full) {
            out << " unroll_hint full";
        } else if (op->hint.kind == UnrollHint::Kind::Factor) {
            out << " unroll_hint " << op->hint.factor;
        }
        out << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const Acquire *op) override {
        line("acquire ");
        put_list({op->semaphore, op->count});
        out << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const Store *op) override {
        line(target_name(op->name));
        out << "[";
        put_bare(op->index);
        out << "]";
        access_attributes(op->alignment, op->is_streaming, op->predicate);
        out << " = ";
        put_bare(op->value);
        out << "\n";
    }
    void visit(const Provide *op) override {
        line(target_name(op->name));
        out << "(";
        put_list(op->args);
        out << ")";
        if (!is_plain_true(op->predicate) || op->predicate.type().is_vector()) {
            out << " when ";
            put(op->predicate);
        }
        out << " = ";
        if (op->values.size() == 1) {
            put_bare(op->values[0]);
        } else {
            out << "{";
            put_list(op->values);
            out << "}";
        }
        out << "\n";
    }
    void visit(const Free *op) override {
        line("free ");
        out << any_name(op->name) << "\n";
    }
    void visit(const Realize *op) override {
        line("realize ");
        out << any_name(op->name);
        region(op->bounds);
        types(op->types);
        out << " in " << word_of(memory_types, op->memory_type);
        condition(op->condition);
        out << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const Fork *op) override {
        line("fork ");
        braced(op->first);
        out << " ";
        braced(op->rest);
        out << "\n";
    }
    void visit(const IfThenElse *op) override {
        line("if ");
        while (true) {
            put_bare(op->condition);
            out << " ";
            braced(op->then_case);
            if (!op->else_case.defined()) {
                break;
            }
            out << " else ";
            const IfThenElse *next = op->else_case.as<IfThenElse>();
            if (!next) {
                braced(op->else_case);
                break;
            }
            out << "if ";
            op = next;
        }
        out << "\n";
    }
    void visit(const Evaluate *op) override {
        line("evaluate ");
        put_bare(op->value);
        out << "\n";
    }
    void visit(const Atomic *op) override {
        line("atomic ");
        out << any_name(op->producer_name) << ", " << any_name(op->mutex_name) << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const StreamingStore *op) override {
        line("streaming_store ");
        out << any_name(op->producer_name) << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const StreamingLoads *op) override {
        line("streaming_loads ");
        if (op->names) {
            for (const std::string &name : *op->names) {
                out << any_name(name) << ", ";
            }
        } else {
            out << "* ";
        }
        braced(op->body);
        out << "\n";
    }
    void visit(const HoistedStorage *op) override {
        line("hoisted_storage ");
        out << any_name(op->name) << " ";
        braced(op->body);
        out << "\n";
    }

public:
    std::string text(const Expr &e) {
        put_bare(e);
        return out.str();
    }
    std::string text(const Stmt &s) {
        sequence(s);
        return out.str();
    }
};

}  // namespace

std::string to_text(const Expr &e) {
    internal_assert(e.defined()) << "to_text of an undefined Expr\n";
    return Writer().text(e);
}

std::string to_text(const Stmt &s) {
    internal_assert(s.defined()) << "to_text of an undefined Stmt\n";
    return Writer().text(s);
}

}  // namespace Internal
}  // namespace Halide
