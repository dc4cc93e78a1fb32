#include "codegen/pto/CodeGen_PTO.h"

#include "codegen/pto/PTOTypes.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Substitute.h"
#include "support/Error.h"
#include "support/Float16.h"

#include <cstdio>
#include <cstring>
#include <sstream>

namespace Halide {
namespace Internal {

namespace {

/// Writes a program as MLIR text (spec pto-vmi.md 21). All scalar integers are `index` inside, since index arithmetic is
/// exact; other types appear where an operation wants them.
class AssemblyPrinter {
    std::ostringstream out;
    const PTOTextOptions &options;
    const VMIKernel *kernel = nullptr;
    int indent = 2;
    int next = 0;
    std::map<int, std::string> values;
    std::map<std::string, std::string> names;     ///< of scalars and pointers
    std::map<std::string, std::string> types;     ///< of names, in MLIR
    std::vector<std::map<std::string, std::string>> known = {{}};
    std::map<std::string, VMIElem> buffers;
    std::map<std::string, Type> global;

    void line(const std::string &text) {
        out << std::string((size_t)indent * 2, ' ') << text << "\n";
    }
    std::string fresh() {
        return "%" + std::to_string(next++);
    }
    /// The result of an operation without effects, made once per block.
    std::string pure(const std::string &text) {
        for (const auto &table : known) {
            auto it = table.find(text);
            if (it != table.end()) {
                return it->second;
            }
        }
        const std::string name = fresh();
        line(name + " = " + text);
        known.back()[text] = name;
        return name;
    }

    static std::string elem_text(VMIElem e) {
        const std::string n = vmi_name(e);
        return n == "vmi.bf16x2" ? "!pto.vmi.bf16x2" : n == "f8e4m3" ? "f8E4M3FN" : n == "f8e5m2" ? "f8E5M2" : n[0] == 'f' && n[1] == '4' ? "!pto." + n : n;
    }
    static std::string type_text(const VMIType &t) {
        return t.is_mask ? "!pto.vmi.mask<" + std::to_string(t.lanes) + "xpred>" :
                           "!pto.vmi.vreg<" + std::to_string(t.lanes) + "x" + elem_text(t.elem) + ">";
    }
    static std::string pointer_type(VMIElem e, const char *space) {
        return "!pto.ptr<" + elem_text(e) + ", " + space + ">";
    }
    std::string type_of(int v) const {
        return type_text(kernel->values[v]);
    }
    std::string value(int v) {
        auto it = values.find(v);
        internal_assert(it != values.end()) << "VMI value " << v << " is used before it is made\n";
        return it->second;
    }

    // ---- Scalars ----------------------------------------------------------------------------------------------------

    std::string constant(int64_t v, const std::string &type) {
        return pure("arith.constant " + std::to_string(v) + " : " + type);
    }

    std::string arith(const char *op, const Expr &a, const Expr &b, const std::string &type = "index") {
        const std::string x = index(a), y = index(b);
        return pure(std::string("arith.") + op + " " + x + ", " + y + " : " + type);
    }

    std::string compare(const char *predicate, const Expr &a, const Expr &b) {
        const std::string x = index(a), y = index(b);
        return pure(std::string("arith.cmpi ") + predicate + ", " + x + ", " + y + " : index");
    }

    std::string logic(const char *op, const Expr &a, const Expr &b) {
        const std::string x = condition(a), y = condition(b);
        return pure(std::string("arith.") + op + " " + x + ", " + y + " : i1");
    }

    [[noreturn]] static void unsupported(const Expr &e) {
        std::ostringstream text;
        text << e;
        user_error << "PTO, expression: `" << text.str() << "` has no form on the scalar unit of a vector core\n"
                   << "  Compute it in a vectorized loop, or pass it to the kernel as an argument.\n";
    }

    std::string condition(const Expr &e) {
        if (is_const(e)) {
            return constant(is_const_one(e) ? 1 : 0, "i1");
        }
        if (const EQ *op = e.as<EQ>()) {
            return compare("eq", op->a, op->b);
        }
        if (const NE *op = e.as<NE>()) {
            return compare("ne", op->a, op->b);
        }
        if (const LT *op = e.as<LT>()) {
            return compare("slt", op->a, op->b);
        }
        if (const LE *op = e.as<LE>()) {
            return compare("sle", op->a, op->b);
        }
        if (const GT *op = e.as<GT>()) {
            return compare("sgt", op->a, op->b);
        }
        if (const GE *op = e.as<GE>()) {
            return compare("sge", op->a, op->b);
        }
        if (const And *op = e.as<And>()) {
            return logic("andi", op->a, op->b);
        }
        if (const Or *op = e.as<Or>()) {
            return logic("ori", op->a, op->b);
        }
        if (const Not *op = e.as<Not>()) {
            return logic("xori", op->a, const_true());
        }
        if (const Variable *op = e.as<Variable>()) {
            return names.at(op->name);
        }
        if (const Call *tag = Call::as_tag(e)) {
            return condition(tag->args[0]);
        }
        if (const Let *op = e.as<Let>()) {
            return condition(graph_substitute(op->name, op->value, op->body));
        }
        unsupported(e);
    }

    static bool is_positive(const Expr &divisor) {
        const Max *least = divisor.as<Max>();
        const std::optional<int64_t> known = as_const_int(least ? least->b : divisor);
        return known && *known > 0;
    }

    /// The quotient whose remainder is not negative, in quotients by positive numbers; 0 for the divisor 0.
    static Expr divide(const Expr &a, const Expr &b) {
        const Expr zero = make_zero(a.type()), one = make_one(a.type());
        const Expr by_positive = Div::make(a, Max::make(b, one)), by_negative = Div::make(a, Max::make(zero - b, one));
        return Select::make(b == zero, zero, Select::make(b > zero, by_positive, zero - by_negative));
    }

    /// Casts to index take integers without a sign of their own.
    std::string to_index(const std::string &name, const std::string &type) {
        if (type == "index") {
            return name;
        }
        const bool is_signed = type[0] == 's', is_unsigned = type[0] == 'u';
        const std::string plain = is_signed || is_unsigned ? type.substr(1) : type;
        const std::string bits =
            plain == type ? name : pure("builtin.unrealized_conversion_cast " + name + " : " + type + " to " + plain);
        return pure((is_unsigned ? "arith.index_castui " : "arith.index_cast ") + bits + " : " + plain + " to index");
    }

    std::string index(const Expr &e) {
        if (auto c = as_const_int(e)) {
            return constant(*c, "index");
        }
        if (auto c = as_const_uint(e)) {
            return constant((int64_t)*c, "index");
        }
        if (const Variable *op = e.as<Variable>()) {
            const std::string name = names.at(op->name), type = types.at(op->name);
            return to_index(name, type);
        }
        if (const Add *op = e.as<Add>()) {
            return arith("addi", op->a, op->b);
        }
        if (const Sub *op = e.as<Sub>()) {
            return arith("subi", op->a, op->b);
        }
        if (const Mul *op = e.as<Mul>()) {
            return arith("muli", op->a, op->b);
        }
        if (const Div *op = e.as<Div>()) {
            return is_positive(op->b) ? arith("floordivsi", op->a, op->b) : index(divide(op->a, op->b));
        }
        if (const Mod *op = e.as<Mod>()) {
            if (!is_positive(op->b)) {
                const Expr zero = make_zero(op->type);
                return index(Select::make(op->b == zero, zero, op->a - divide(op->a, op->b) * op->b));
            }
            const std::string a = index(op->a), c = index(op->b), q = arith("floordivsi", op->a, op->b);
            const std::string whole = pure("arith.muli " + q + ", " + c + " : index");
            return pure("arith.subi " + a + ", " + whole + " : index");
        }
        if (const Min *op = e.as<Min>()) {
            return arith("minsi", op->a, op->b);
        }
        if (const Max *op = e.as<Max>()) {
            return arith("maxsi", op->a, op->b);
        }
        if (const Select *op = e.as<Select>()) {
            const std::string c = condition(op->condition), t = index(op->true_value), f = index(op->false_value);
            return pure("arith.select " + c + ", " + t + ", " + f + " : index");
        }
        if (const Cast *op = e.as<Cast>()) {
            if (op->value.type().is_bool()) {
                return index(Select::make(op->value, make_one(op->type), make_zero(op->type)));
            }
            if (op->value.type().is_int_or_uint() && op->type.is_int_or_uint() && op->type.bits() >= 32) {
                return index(op->value);
            }
            unsupported(e);
        }
        if (const Load *op = e.as<Load>()) {
            const std::string loaded = load(op);
            const std::string type = elem_text(vmi_elem(op->type));
            return to_index(loaded, type);
        }
        if (const Let *op = e.as<Let>()) {
            return index(graph_substitute(op->name, op->value, op->body));
        }
        if (const Call *op = e.as<Call>()) {
            if (op->name == "pto_block_idx" || op->name == "pto_block_num") {
                const std::string query = pure(op->name == "pto_block_idx" ? "pto.get_block_idx : i64" : "pto.get_block_num : i64");
                return pure("arith.index_cast " + query + " : i64 to index");
            }
            if (op->is_tag() || op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped})) {
                return index(op->args[0]);
            }
            if (op->is_intrinsic(Call::bitwise_and)) {
                return arith("andi", op->args[0], op->args[1]);
            }
            if (op->is_intrinsic(Call::bitwise_or)) {
                return arith("ori", op->args[0], op->args[1]);
            }
            if (op->is_intrinsic(Call::bitwise_xor)) {
                return arith("xori", op->args[0], op->args[1]);
            }
            if (op->is_intrinsic(Call::abs) && op->args[0].type().is_int()) {
                return index(Max::make(op->args[0], Sub::make(make_zero(op->args[0].type()), op->args[0])));
            }
            if (op->is_intrinsic(Call::if_then_else) && op->args.size() == 3) {
                return index(Select::make(op->args[0], op->args[1], op->args[2]));
            }
        }
        unsupported(e);
    }

    std::string load(const Load *op) {
        const std::string i = index(op->index);
        const bool is_global = global.count(op->name) > 0;
        const VMIElem elem = vmi_elem(op->type);
        const std::string name = fresh();
        line(name + " = pto.load_scalar " + names.at(op->name) + "[" + i + "] : " + pointer_type(elem, is_global ? "gm" : "ub") +
             " -> " + elem_text(elem));
        return name;
    }

    static std::string float_text(double v, VMIElem elem) {
        // The bits say exactly which value it is.
        char text[32];
        if (elem == VMIElem::F32) {
            const float f = (float)v;
            uint32_t bits;
            memcpy(&bits, &f, 4);
            snprintf(text, sizeof(text), "0x%08X", bits);
        } else {
            const uint16_t bits = elem == VMIElem::BF16 ? bfloat16_t((float)v).to_bits() : float16_t((float)v).to_bits();
            snprintf(text, sizeof(text), "0x%04X", bits);
        }
        return text;
    }

    /// A scalar of an element type.
    std::string typed(const Expr &e, VMIElem elem) {
        const std::string type = elem_text(elem);
        if (auto f = as_const_float(e)) {
            return pure("arith.constant " + float_text(*f, elem) + " : " + type);
        }
        if (e.type().is_float()) {
            if (const Variable *op = e.as<Variable>()) {
                return names.at(op->name);
            }
            if (const Load *op = e.as<Load>()) {
                return load(op);
            }
            if (const Let *op = e.as<Let>()) {
                return typed(graph_substitute(op->name, op->value, op->body), elem);
            }
            if (const Select *op = e.as<Select>()) {
                const std::string c = condition(op->condition), t = typed(op->true_value, elem), f = typed(op->false_value, elem);
                return pure("arith.select " + c + ", " + t + ", " + f + " : " + type);
            }
            const Call *op = e.as<Call>();
            if (op && (op->is_tag() || op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped}))) {
                return typed(op->args[0], elem);
            }
            if (op && op->is_intrinsic(Call::if_then_else) && op->args.size() == 3) {
                return typed(Select::make(op->args[0], op->args[1], op->args[2]), elem);
            }
            unsupported(e);
        }
        const std::string plain = "i" + std::to_string(vmi_bits(elem));
        const Variable *v = e.as<Variable>();
        std::string s;
        if (v && types.at(v->name) == type) {
            return names.at(v->name);
        }
        if (auto c = as_const_int(e)) {
            s = constant(*c, plain);
        } else if (auto u = as_const_uint(e)) {
            s = constant((int64_t)*u, plain);
        } else {
            s = pure("arith.index_cast " + index(e) + " : index to " + plain);
        }
        return type == plain ? s : pure("builtin.unrealized_conversion_cast " + s + " : " + plain + " to " + type);
    }

    // ---- Operations -------------------------------------------------------------------------------------------------

    std::string pointer(const VMIOperand &o) {
        std::string p = names.at(o.buffer);
        const std::string type = pointer_type(o.elem, "ub");
        if (buffers.at(o.buffer) != o.elem) {
            p = names.at(o.buffer + ":" + vmi_name(o.elem));
        }
        if (o.scalar.defined() && !is_const_zero(o.scalar)) {
            p = pure("pto.addptr " + p + ", " + index(o.scalar) + " : " + type + " -> " + type);
        }
        return p;
    }

    static std::string attributes(const std::vector<VMIAttribute> &attributes) {
        std::string text;
        for (const VMIAttribute &a : attributes) {
            if (a.kind == VMIAttribute::Kind::Word) {
                text += (text.empty() ? "" : ", ") + a.name + " = \"" + a.word + "\"";
            } else if (a.kind == VMIAttribute::Kind::Flag) {
                text += (text.empty() ? "" : ", ") + a.name;
            }
        }
        return text.empty() ? "" : " {" + text + "}";
    }

    std::string define(const VMIInst &inst, std::string &result_types) {
        std::string text;
        for (int r : inst.results) {
            values[r] = fresh();
            text += (text.empty() ? "" : ", ") + values[r];
            result_types += (result_types.empty() ? "" : ", ") + type_of(r);
        }
        return text;
    }

    void print_op(const VMIInst &inst) {
        std::string name = inst.op, args, arg_types, places, place_types;
        bool address = false;
        for (size_t i = 0; i < inst.operands.size(); i++) {
            const VMIOperand &o = inst.operands[i];
            std::string text, type;
            switch (o.kind) {
            case VMIOperand::Kind::Value:
                text = value(o.value);
                type = type_of(o.value);
                break;
            case VMIOperand::Kind::Pointer:
                text = pointer(o);
                type = pointer_type(o.elem, "ub");
                address = true;
                break;
            case VMIOperand::Kind::Scalar: {
                const bool shift = name == "vshl" || name == "vshr";
                text = o.typed ? typed(o.scalar, o.elem) : shift ? constant(*as_const_int(o.scalar), "i16") : index(o.scalar);
                type = o.typed ? elem_text(o.elem) : shift ? "i16" : "index";
                if (i == 1 && (shift || name == "vadd" || name == "vmul" || name == "vmax" || name == "vmin")) {
                    name += "s";
                }
                break;
            }
            default:
                internal_error << "No text for an operand of " << inst.op << "\n";
            }
            // What follows a pointer is its place.
            if (address && o.kind != VMIOperand::Kind::Pointer) {
                args += "[" + text + "]";
                address = false;
                if (o.kind == VMIOperand::Kind::Scalar) {
                    continue;
                }
            } else {
                args += (args.empty() ? " " : ", ") + text;
            }
            arg_types += (arg_types.empty() ? "" : ", ") + type;
        }
        std::string result_types;
        const std::string results = define(inst, result_types);
        line((results.empty() ? "" : results + " = ") + "pto.vmi." + name + args + attributes(inst.attributes) + " : " + arg_types +
             (results.empty() ? "" : " -> " + result_types));
    }

    void print_block(const std::vector<VMIInst> &insts) {
        indent++;
        known.emplace_back();
        print(insts);
    }
    void end_block() {
        known.pop_back();
        indent--;
    }

    void yield(const VMIInst &inst, bool other) {
        if (inst.carried.empty()) {
            return;
        }
        std::string list, type_list;
        for (const VMIInst::Carried &c : inst.carried) {
            list += (list.empty() ? "" : ", ") + value(other ? c.other : c.next);
            type_list += (type_list.empty() ? "" : ", ") + type_of(c.result);
        }
        line("scf.yield " + list + " : " + type_list);
    }

    /// `%a, %b = ` for what a loop or branch yields, and the list of types.
    std::string results_of(const VMIInst &inst, std::string &type_list) {
        std::string text;
        for (const VMIInst::Carried &c : inst.carried) {
            values[c.result] = fresh();
            text += (text.empty() ? "" : ", ") + values[c.result];
            type_list += (type_list.empty() ? "" : ", ") + type_of(c.result);
        }
        return text.empty() ? "" : text + " = ";
    }

    void print_for(const VMIInst &inst) {
        const std::string lo = index(inst.begin), hi = index(inst.end), step = constant(inst.step, "index");
        const std::string iv = fresh();
        std::string inits, type_list;
        for (const VMIInst::Carried &c : inst.carried) {
            values[c.inner] = fresh();
            inits += (inits.empty() ? "" : ", ") + values[c.inner] + " = " + value(c.init);
        }
        const std::string results = results_of(inst, type_list);
        line(results + "scf.for " + iv + " = " + lo + " to " + hi + " step " + step +
             (inits.empty() ? "" : " iter_args(" + inits + ") -> (" + type_list + ")") + " {");
        names[inst.name] = iv;
        types[inst.name] = "index";
        print_block(inst.body);
        yield(inst, false);
        end_block();
        std::string hint;
        if (options.unroll_keywords && inst.hint.kind == UnrollHint::Kind::Full) {
            hint = " {pto.unroll = \"full\"}";
        } else if (options.unroll_keywords && inst.hint.kind == UnrollHint::Kind::Factor) {
            hint = " {pto.unroll_factor = " + std::to_string(inst.hint.factor) + " : i32}";
        }
        line("}" + hint);
    }

    void print_if(const VMIInst &inst) {
        const std::string c = condition(inst.scalar);
        std::string type_list;
        const std::string results = results_of(inst, type_list);
        line(results + "scf.if " + c + (type_list.empty() ? "" : " -> (" + type_list + ")") + " {");
        print_block(inst.body);
        yield(inst, false);
        end_block();
        if (!inst.else_body.empty() || !inst.carried.empty()) {
            line("} else {");
            print_block(inst.else_body);
            yield(inst, true);
            end_block();
        }
        line("}");
    }

    std::string at(const std::string &buffer, const Expr &offset, const std::string &type) {
        const std::string p = names.at(buffer);
        return is_const_zero(offset) ? p : pure("pto.addptr " + p + ", " + index(offset) + " : " + type + " -> " + type);
    }

    std::string bytes(const Expr &elements, int size) {
        return pure("arith.index_cast " + index(size == 1 ? elements : elements * size) + " : index to i64");
    }

    void print_move(const Call *c) {
        const bool in = c->name == "pto_mte_gm_ub";
        const std::string gm = c->args[0].as<Variable>()->name, ub = c->args[2].as<Variable>()->name;
        const VMIElem elem = buffers.at(ub);
        const int size = vmi_bits(elem) / 8;
        const std::string gm_type = pointer_type(elem, "gm"), ub_type = pointer_type(elem, "ub");
        const std::string g = at(gm, c->args[1], gm_type), u = at(ub, c->args[3], ub_type);
        std::string text = in ? "pto.mte_gm_ub " + g + ", " + u + ", " + constant(0, "i64") : "pto.mte_ub_gm " + u + ", " + g;
        std::string type_list = in ? gm_type + ", " + ub_type + ", i64" : ub_type + ", " + gm_type;
        text += ", " + bytes(c->args[4], size);
        type_list += ", i64";
        std::vector<Expr> levels(c->args.begin() + 5, c->args.end());
        if (levels.empty()) {
            levels = {1, 0, 0};
        }
        for (size_t i = 0; i + 2 < levels.size(); i += 3) {
            const std::string count = bytes(levels[i], 1), gs = bytes(levels[i + 1], size), us = bytes(levels[i + 2], size);
            text += std::string(i ? " loop(" : " nburst(") + count + ", " + (in ? gs : us) + ", " + (in ? us : gs) + ")";
            type_list += ", i64, i64, i64";
        }
        line(text + " : " + type_list);
    }

    void print_effect(const Call *c) {
        auto word = [&](size_t i) { return c->args[i].as<StringImm>()->value; };
        if (c->name == "pto_mte_gm_ub" || c->name == "pto_mte_ub_gm") {
            print_move(c);
        } else if (c->name == "pto_set_flag" || c->name == "pto_wait_flag") {
            auto id = as_const_int(c->args[2]);
            const std::string event = id ? "<EVENT_ID" + std::to_string(*id) + ">" : index(c->args[2]);
            line("pto." + c->name.substr(4) + "[<PIPE_" + word(0) + ">, <PIPE_" + word(1) + ">, " + event + "]");
        } else if (c->name == "pto_mem_bar") {
            line("pto.mem_bar \"" + word(0) + "\"");
        } else {
            line("pto.barrier <PIPE_ALL>");
        }
    }

    void print(const std::vector<VMIInst> &insts) {
        for (const VMIInst &inst : insts) {
            switch (inst.kind) {
            case VMIInst::Kind::Op:
                print_op(inst);
                break;
            case VMIInst::Kind::Let:
                if (inst.scalar.type().is_bool()) {
                    names[inst.name] = condition(inst.scalar);
                    types[inst.name] = "i1";
                } else if (inst.scalar.type().is_float()) {
                    names[inst.name] = typed(inst.scalar, vmi_elem(inst.scalar.type()));
                    types[inst.name] = elem_text(vmi_elem(inst.scalar.type()));
                } else {
                    names[inst.name] = index(inst.scalar);
                    types[inst.name] = "index";
                }
                break;
            case VMIInst::Kind::For:
                print_for(inst);
                break;
            case VMIInst::Kind::If:
                print_if(inst);
                break;
            case VMIInst::Kind::Store: {
                const VMIElem elem = vmi_elem(inst.type);
                const std::string v = typed(inst.scalar, elem), i = index(inst.begin);
                line("pto.store_scalar " + v + ", " + names.at(inst.name) + "[" + i + "] : " +
                     pointer_type(elem, global.count(inst.name) ? "gm" : "ub") + ", " + elem_text(elem));
                break;
            }
            case VMIInst::Kind::Effect:
                print_effect(inst.scalar.as<Call>());
                break;
            }
        }
    }

    void collect_views(const std::vector<VMIInst> &insts, std::map<std::string, std::pair<std::string, VMIElem>> &views) {
        for (const VMIInst &inst : insts) {
            for (const VMIOperand &o : inst.operands) {
                if (o.kind == VMIOperand::Kind::Pointer && buffers.at(o.buffer) != o.elem) {
                    views[o.buffer + ":" + vmi_name(o.elem)] = {o.buffer, o.elem};
                }
            }
            collect_views(inst.body, views);
            collect_views(inst.else_body, views);
        }
    }

public:
    AssemblyPrinter(const PTOTextOptions &options) : options(options) {}

    std::string run(const VMIKernel &k) {
        kernel = &k;
        PTONames identifiers;
        const std::string name = identifiers.fresh(k.name);
        std::string parameters;
        for (const PTOKernelArg &a : k.args) {
            const std::string id = "%" + identifiers.of(a.name);
            names[a.name] = id;
            types[a.name] = a.is_buffer ? pointer_type(vmi_elem(a.type), "gm") : pto_dtype(a);
            parameters += (parameters.empty() ? "" : ", ") + id + ": " + types[a.name];
            if (a.is_buffer) {
                global[a.name] = a.type;
            }
        }
        line("func.func @" + name + "(" + parameters + ") attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {");
        indent++;
        for (const VMIBuffer &buffer : k.buffers) {
            buffers[buffer.name] = buffer.elem;
        }
        std::map<std::string, std::pair<std::string, VMIElem>> views;
        collect_views(k.body, views);
        for (const VMIBuffer &buffer : k.buffers) {
            const std::string address = constant(buffer.address, "i64");
            names[buffer.name] = pure("pto.castptr " + address + " : i64 -> " + pointer_type(buffer.elem, "ub"));
            for (const auto &[key, view] : views) {
                if (view.first == buffer.name) {
                    names[key] = pure("pto.castptr " + address + " : i64 -> " + pointer_type(view.second, "ub"));
                }
            }
        }
        print(k.body);
        line("return");
        indent--;
        line("}");
        return out.str();
    }
};

}  // namespace

std::string emit_pto_assembly(const std::vector<VMIKernel> &kernels, const PTOTextOptions &options) {
    std::string text = "module attributes {pto.target_arch = \"a5\"} {\n"
                       "  module attributes {pto.backend = \"vpto\", pto.kernel_kind = #pto.kernel_kind<vector>, "
                       "pto.target_arch = \"a5\"} {\n";
    for (const VMIKernel &k : kernels) {
        AssemblyPrinter printer(options);
        text += printer.run(k);
    }
    return text + "  }\n}\n";
}

}  // namespace Internal
}  // namespace Halide
