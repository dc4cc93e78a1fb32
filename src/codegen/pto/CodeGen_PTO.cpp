#include "codegen/pto/CodeGen_PTO.h"

#include "codegen/pto/PTOTypes.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "support/Error.h"
#include "support/Util.h"

#include <set>
#include <sstream>

namespace Halide {
namespace Internal {

namespace {

/// Scalar expressions as PTODSL. A loop variable is an `index`, an argument an i32; mixed arithmetic is `index`.
class ScalarText {
public:
    PTONames &names;
    std::set<std::string> index_names;

    explicit ScalarText(PTONames &names) : names(names) {}

    bool is_index(const Expr &e) const {
        class Finder : public IRGraphVisitor {
        public:
            explicit Finder(const std::set<std::string> &index_names) : index_names(index_names) {}
            bool found = false;

        protected:
            using IRGraphVisitor::visit;
            void visit(const Variable *op) override { found = found || index_names.count(op->name); }
            void visit(const Load *) override {}
            void visit(const Cast *op) override {
                if (op->type == Int(32) || op->type == Int(64)) {
                    IRGraphVisitor::visit(op);
                }
            }
            // The value of a select has the type of its arms, whatever is compared.
            void visit(const Select *op) override {
                op->true_value.accept(this);
                op->false_value.accept(this);
            }

        private:
            const std::set<std::string> &index_names;
        } finder(index_names);
        e.accept(&finder);
        return finder.found;
    }

    /// With the type that the language gives it: as an operand of a vector operation, or a stored value.
    std::string typed(const Expr &e, const char *dtype) const {
        const std::string type = std::string("pto.") + dtype;
        if (auto f = as_const_float(e)) {
            return type + "(" + pto_float(*f) + ")";
        }
        if (auto i = as_const_int(e)) {
            return type + "(" + std::to_string(*i) + ")";
        }
        if (auto u = as_const_uint(e)) {
            return type + "(" + std::to_string(*u) + ")";
        }
        const std::string text = operand(e);
        if (e.type() == Int(32)) {
            const std::string i32 = is_index(e) ? "scalar.index_cast(pto.i32, " + text + ")" : text;
            return std::string(dtype) == "i32" ? i32 : "scalar.cast(" + i32 + ", " + type + ")";
        }
        return text;
    }

    std::string operand(const Expr &e) const {
        return text(e);
    }

    std::string binary(const Expr &a, const char *op, const Expr &b) const {
        return "(" + text(a) + " " + op + " " + text(b) + ")";
    }

    /// For functions, whose arguments are not unified: all index, or none.
    std::string unified(const Expr &e, bool index) const {
        if (auto i = as_const_int(e); i && (e.type() == Int(32) || e.type() == Int(64))) {
            return index ? "pto.const(" + std::to_string(*i) + ")" : "pto.i32(" + std::to_string(*i) + ")";
        }
        if (is_const(e)) {
            return typed(e, vmi_name(vmi_elem(e.type())));
        }
        return index && !is_index(e) ? "scalar.index_cast(" + text(e) + ")" : text(e);
    }

    std::string condition(const Expr &e) const {
        return text(e);
    }

    /// Without the parentheses around the whole.
    std::string bare(const Expr &e) const {
        const std::string s = text(e);
        if (s.size() < 2 || s[0] != '(' || s.back() != ')') {
            return s;
        }
        int depth = 0;
        for (size_t i = 0; i + 1 < s.size(); i++) {
            depth += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
            if (depth == 0) {
                return s;
            }
        }
        return s.substr(1, s.size() - 2);
    }

    std::string text(const Expr &e) const {
        if (const IntImm *op = e.as<IntImm>()) {
            return std::to_string(op->value);
        }
        if (const UIntImm *op = e.as<UIntImm>()) {
            return e.type().is_bool() ? "pto.i1(" + std::to_string(op->value) + ")" : std::to_string(op->value);
        }
        if (is_const(e)) {
            return typed(e, vmi_name(vmi_elem(e.type())));
        }
        if (const Variable *op = e.as<Variable>()) {
            return names.of(op->name);
        }
        if (const Add *op = e.as<Add>()) {
            auto c = as_const_int(op->b);
            return c && *c < 0 && *c > INT32_MIN ? "(" + text(op->a) + " - " + std::to_string(-*c) + ")" : binary(op->a, "+", op->b);
        }
        if (const Sub *op = e.as<Sub>()) {
            return binary(op->a, "-", op->b);
        }
        if (const Mul *op = e.as<Mul>()) {
            return binary(op->a, "*", op->b);
        }
        if (const Div *op = e.as<Div>()) {
            return divide(op);
        }
        if (const Mod *op = e.as<Mod>()) {
            // The remainder of the machine has the sign of the dividend.
            const Max *least = op->b.as<Max>();
            const std::optional<int64_t> known = as_const_int(least ? least->b : op->b);
            const bool positive = (known && *known > 0) || is_const(op->b);
            if (!positive) {
                const Expr zero = make_zero(op->type);
                return text(Select::make(op->b == zero, zero, op->a - Div::make(op->a, op->b) * op->b));
            }
            const std::string a = text(op->a), c = text(op->b);
            return "(" + a + " - " + a + " // " + c + " * " + c + ")";
        }
        if (const Min *op = e.as<Min>()) {
            return function("min", op->a, op->b);
        }
        if (const Max *op = e.as<Max>()) {
            return function("max", op->a, op->b);
        }
        if (const EQ *op = e.as<EQ>()) {
            return binary(op->a, "==", op->b);
        }
        if (const NE *op = e.as<NE>()) {
            return binary(op->a, "!=", op->b);
        }
        if (const LT *op = e.as<LT>()) {
            return binary(op->a, "<", op->b);
        }
        if (const LE *op = e.as<LE>()) {
            return binary(op->a, "<=", op->b);
        }
        if (const GT *op = e.as<GT>()) {
            return binary(op->a, ">", op->b);
        }
        if (const GE *op = e.as<GE>()) {
            return binary(op->a, ">=", op->b);
        }
        if (const And *op = e.as<And>()) {
            return binary(op->a, "&", op->b);
        }
        if (const Or *op = e.as<Or>()) {
            return binary(op->a, "|", op->b);
        }
        if (const Not *op = e.as<Not>()) {
            return "(" + text(op->a) + " ^ pto.i1(1))";
        }
        if (const Select *op = e.as<Select>()) {
            const bool index = is_index(op->true_value) || is_index(op->false_value);
            return "scalar.select(" + bare(op->condition) + ", " + unified(op->true_value, index) + ", " +
                   unified(op->false_value, index) + ")";
        }
        if (const Cast *op = e.as<Cast>()) {
            return cast_text(op);
        }
        if (const Load *op = e.as<Load>()) {
            // Integers of the language are signed in memory, and signless when the scalar unit computes with them.
            const std::string value = "scalar.load(" + names.of(op->name) + ", " + bare(op->index) + ")";
            return op->type == Int(32) ? "scalar.cast(" + value + ", pto.i32)" : value;
        }
        if (const Let *op = e.as<Let>()) {
            return text(substitute_let(op));
        }
        if (const Call *op = e.as<Call>()) {
            return call(op);
        }
        unsupported(e);
    }

private:
    static Expr substitute_let(const Let *op);

    [[noreturn]] static void unsupported(const Expr &e) {
        std::ostringstream text;
        text << e;
        user_error << "PTO, expression: `" << text.str() << "` has no form on the scalar unit of a vector core\n"
                   << "  Compute it in a vectorized loop, or pass it to the kernel as an argument.\n";
    }

    std::string function(const char *name, const Expr &a, const Expr &b) const {
        const bool index = is_index(a) || is_index(b);
        return std::string("scalar.") + name + "(" + unified(a, index) + ", " + unified(b, index) + ")";
    }

    std::string divide(const Div *op) const {
        if (op->type.is_float()) {
            return binary(op->a, "/", op->b);
        }
        auto c = as_const_int(op->b);
        const Max *at_least = op->b.as<Max>();
        const std::optional<int64_t> least = at_least ? as_const_int(at_least->b) : std::nullopt;
        if (op->type.is_uint() || (c && *c > 0) || (least && *least > 0)) {
            return binary(op->a, "//", op->b);
        }
        // The machine rounds down; ours leaves no negative remainder, and divides by zero to zero.
        const Expr zero = make_zero(op->type), one = make_one(op->type);
        const Expr down = Div::make(op->a, Max::make(op->b, one));
        const Expr up = zero - Div::make(op->a, Max::make(zero - op->b, one));
        return text(Select::make(op->b > zero, down, Select::make(op->b < zero, up, zero)));
    }

    std::string cast_text(const Cast *op) const {
        const Type from = op->value.type(), to = op->type;
        if (from.is_float() != to.is_float()) {
            unsupported(op);
        }
        const bool index = from == Int(32) && is_index(op->value);
        if ((from == Int(32) && to == Int(64)) || (from == Int(64) && to == Int(32))) {
            // Index arithmetic is exact.
            return index || from == Int(64) ? text(op->value) : "scalar.cast(" + text(op->value) + ", pto.i64)";
        }
        const std::string value = index ? "scalar.index_cast(pto.i32, " + text(op->value) + ")" : text(op->value);
        return "scalar.cast(" + value + ", pto." + pto_dtype({"", to, false}) + ")";
    }

    std::string call(const Call *op) const {
        if (op->name == "pto_block_idx") {
            return "scalar.cast(pto.get_block_idx(), pto.i32)";
        }
        if (op->name == "pto_block_num") {
            return "scalar.cast(pto.get_block_num(), pto.i32)";
        }
        if (op->is_tag() || op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped})) {
            return text(op->args[0]);
        }
        if (op->is_intrinsic(Call::bitwise_and)) {
            return binary(op->args[0], "&", op->args[1]);
        }
        if (op->is_intrinsic(Call::bitwise_or)) {
            return binary(op->args[0], "|", op->args[1]);
        }
        if (op->is_intrinsic(Call::bitwise_xor)) {
            return binary(op->args[0], "^", op->args[1]);
        }
        if (op->is_intrinsic({Call::shift_left, Call::shift_right})) {
            auto i = as_const_int(op->args[1]);
            auto u = as_const_uint(op->args[1]);
            const int64_t count = i ? *i : u ? (int64_t)*u : -1;
            if (count >= 0 && count < 31) {
                return "(" + text(op->args[0]) + (op->is_intrinsic(Call::shift_left) ? " * " : " // ") +
                       std::to_string((int64_t)1 << count) + ")";
            }
        }
        const std::string name = op->name.substr(0, op->name.rfind('_'));
        if (op->is_extern() && (name == "exp" || name == "log" || name == "sqrt")) {
            return "scalar." + name + "(" + text(op->args[0]) + ")";
        }
        if (op->is_intrinsic(Call::abs)) {
            return "scalar.abs(" + text(op->args[0]) + ")";
        }
        unsupported(op);
    }
};

Expr ScalarText::substitute_let(const Let *op) {
    return Internal::graph_substitute(op->name, op->value, op->body);
}

class PTODSLPrinter {
    std::ostringstream out;
    const PTOTextOptions &options;
    const VMIKernel *kernel = nullptr;
    PTONames names;
    ScalarText scalars;
    int indent = 0;
    std::map<int, std::string> values;
    std::map<std::string, std::string> pointers;
    std::map<std::string, VMIElem> buffer_elems;
    std::map<std::string, Type> gm_types;

    void line(const std::string &text) {
        out << std::string((size_t)indent * 4, ' ') << text << "\n";
    }

    std::string value(int v) {
        auto it = values.find(v);
        internal_assert(it != values.end()) << "VMI value " << v << " is used before it is made\n";
        return it->second;
    }

    std::string define(int v) {
        const std::string &hint = kernel->hints[v];
        const std::string name = names.fresh(!hint.empty() ? hint : kernel->values[v].is_mask ? "m" : "v");
        values[v] = name;
        return name;
    }

    static std::string pointer_key(const std::string &buffer, VMIElem elem) {
        return buffer + ":" + vmi_name(elem);
    }

    /// UB buffers under the element types with which they are used.
    void collect_pointers(const std::vector<VMIInst> &insts, std::set<std::pair<std::string, VMIElem>> &used) {
        for (const VMIInst &inst : insts) {
            for (const VMIOperand &o : inst.operands) {
                if (o.kind == VMIOperand::Kind::Pointer) {
                    used.insert({o.buffer, o.elem});
                }
            }
            collect_pointers(inst.body, used);
            collect_pointers(inst.else_body, used);
        }
    }

    std::string operand(const VMIOperand &o) {
        switch (o.kind) {
        case VMIOperand::Kind::Value:
            return value(o.value);
        case VMIOperand::Kind::Values: {
            std::string text = "[";
            for (size_t i = 0; i < o.values.size(); i++) {
                text += (i ? ", " : "") + value(o.values[i]);
            }
            return text + "]";
        }
        case VMIOperand::Kind::Scalar:
            return o.typed ? scalars.typed(o.scalar, vmi_name(o.elem)) : scalars.bare(o.scalar);
        case VMIOperand::Kind::Pointer: {
            const std::string p = pointers.at(pointer_key(o.buffer, o.elem));
            return o.scalar.defined() && !is_const_zero(o.scalar) ? "pto.addptr(" + p + ", " + scalars.bare(o.scalar) + ")" : p;
        }
        }
        return "";
    }

    static std::string attribute(const VMIAttribute &a) {
        switch (a.kind) {
        case VMIAttribute::Kind::Number:
            return a.name + "=" + std::to_string(a.number);
        case VMIAttribute::Kind::Word:
            return a.name + "=\"" + a.word + "\"";
        case VMIAttribute::Kind::Element:
            return std::string("pto.") + vmi_name(a.elem);
        case VMIAttribute::Kind::Flag:
            return a.name + "=True";
        }
        return "";
    }

    void print_op(const VMIInst &inst) {
        std::string args;
        auto add = [&](const std::string &text) { args += (args.empty() ? "" : ", ") + text; };
        for (const VMIOperand &o : inst.operands) {
            add(operand(o));
        }
        for (const VMIAttribute &a : inst.attributes) {
            // The predicate of a comparison and the type of a conversion stand in their places.
            add(a.name == "cmp" ? "\"" + a.word + "\"" : attribute(a));
        }
        std::string results;
        for (int r : inst.results) {
            results += (results.empty() ? "" : ", ") + define(r);
        }
        line((results.empty() ? "" : results + " = ") + "pto.vmi." + inst.op + "(" + args + ")");
    }

    std::string loop_head(const VMIInst &inst) {
        std::string text = "pto.for_(" + scalars.bare(inst.begin) + ", " + scalars.bare(inst.end) +
                           ", step=" + std::to_string(inst.step);
        if (options.unroll_keywords && inst.hint.kind == UnrollHint::Kind::Full) {
            text += ", unroll=\"full\"";
        } else if (options.unroll_keywords && inst.hint.kind == UnrollHint::Kind::Factor) {
            text += ", unroll_factor=" + std::to_string(inst.hint.factor);
        }
        return text + ")";
    }

    void print_body(const std::vector<VMIInst> &insts) {
        indent++;
        if (insts.empty()) {
            line("pass");
        }
        print(insts);
    }

    void print_for(const VMIInst &inst) {
        scalars.index_names.insert(inst.name);
        const std::string head = loop_head(inst);
        if (inst.carried.empty()) {
            line("with " + head + " as " + names.of(inst.name) + ":");
            print_body(inst.body);
            indent--;
            return;
        }
        const std::string loop = names.fresh("loop");
        std::vector<std::string> fields;
        std::string inits;
        for (const VMIInst::Carried &c : inst.carried) {
            fields.push_back(names.fresh(c.name));
            inits += (inits.empty() ? "" : ", ") + fields.back() + "=" + value(c.init);
        }
        line(loop + " = " + head + ".carry(" + inits + ")");
        line("with " + loop + ":");
        indent++;
        line(names.of(inst.name) + " = " + loop + ".iv");
        indent--;
        for (size_t i = 0; i < fields.size(); i++) {
            values[inst.carried[i].inner] = loop + "." + fields[i];
        }
        print_body(inst.body);
        std::string updates;
        for (size_t i = 0; i < fields.size(); i++) {
            updates += (i ? ", " : "") + fields[i] + "=" + value(inst.carried[i].next);
        }
        line(loop + ".update(" + updates + ")");
        indent--;
        for (size_t i = 0; i < fields.size(); i++) {
            values[inst.carried[i].result] = loop + ".final(\"" + fields[i] + "\")";
        }
    }

    void print_arm(const VMIInst &inst, const std::string &branch, const char *arm, const std::vector<VMIInst> &body,
                   const std::vector<std::string> &fields, bool other) {
        line("with " + branch + "." + arm + ":");
        indent++;
        print(body);
        std::string yields;
        for (size_t i = 0; i < fields.size(); i++) {
            yields += (i ? ", " : "") + fields[i] + "=" +
                      value(other ? inst.carried[i].other : inst.carried[i].next);
        }
        if (!yields.empty()) {
            line(branch + ".assign(" + yields + ")");
        } else if (body.empty()) {
            line("pass");
        }
        indent--;
    }

    void print_if(const VMIInst &inst) {
        const std::string branch = names.fresh("br");
        line("with pto.if_(" + scalars.bare(inst.scalar) + ") as " + branch + ":");
        std::vector<std::string> fields;
        for (const VMIInst::Carried &c : inst.carried) {
            fields.push_back(names.fresh(c.name));
        }
        indent++;
        print_arm(inst, branch, "then_", inst.body, fields, false);
        if (!inst.else_body.empty() || !fields.empty()) {
            print_arm(inst, branch, "else_", inst.else_body, fields, true);
        }
        indent--;
        for (size_t i = 0; i < fields.size(); i++) {
            values[inst.carried[i].result] = branch + "." + fields[i];
        }
    }

    std::string bytes(const Expr &elements, int size) {
        if (auto c = as_const_int(elements)) {
            return std::to_string(*c * size);
        }
        return size == 1 ? scalars.bare(elements) : scalars.text(elements) + " * " + std::to_string(size);
    }

    const Variable *handle(const Call *c, size_t i) {
        const Variable *v = i < c->args.size() ? c->args[i].as<Variable>() : nullptr;
        internal_assert(v) << "Not a buffer: argument " << i << " of " << Expr(c) << "\n";
        return v;
    }

    int element_bytes(const std::string &buffer) {
        auto gm = gm_types.find(buffer);
        return gm != gm_types.end() ? gm->second.bytes() : vmi_bits(buffer_elems.at(buffer)) / 8;
    }

    std::string pointer_at(const std::string &buffer, const Expr &offset) {
        const std::string p = gm_types.count(buffer) ? names.of(buffer) : pointers.at(pointer_key(buffer, buffer_elems.at(buffer)));
        return is_const_zero(offset) ? p : "pto.addptr(" + p + ", " + scalars.bare(offset) + ")";
    }

    /// pto_mte_gm_ub(gm, gm offset, ub, ub offset, length, {count, gm stride, ub stride} …), in elements, inner
    /// repetitions first; pto_mte_ub_gm has the same operands.
    void print_move(const Call *c) {
        const bool in = c->name == "pto_mte_gm_ub";
        const std::string gm = handle(c, 0)->name, ub = handle(c, 2)->name;
        const int size = element_bytes(ub);
        const std::string from = pointer_at(gm, c->args[1]), to = pointer_at(ub, c->args[3]);
        std::string args = in ? from + ", " + to + ", 0" : to + ", " + from;
        args += ", " + bytes(c->args[4], size);
        std::vector<std::string> levels;
        for (size_t i = 5; i + 2 < c->args.size(); i += 3) {
            const std::string gm_stride = bytes(c->args[i + 1], size), ub_stride = bytes(c->args[i + 2], size);
            levels.push_back("(" + scalars.bare(c->args[i]) + ", " + (in ? gm_stride : ub_stride) + ", " +
                             (in ? ub_stride : gm_stride) + ")");
        }
        args += ", nburst=" + (levels.empty() ? "(1, 0, 0)" : levels[0]);
        if (levels.size() > 1) {
            args += ", loops=[";
            for (size_t i = 1; i < levels.size(); i++) {
                args += (i > 1 ? ", " : "") + levels[i];
            }
            args += "]";
        }
        line(std::string("pto.") + (in ? "mte_gm_ub(" : "mte_ub_gm(") + args + ")");
    }

    std::string word(const Call *c, size_t i) {
        const StringImm *s = i < c->args.size() ? c->args[i].as<StringImm>() : nullptr;
        internal_assert(s) << "Not a word: argument " << i << " of " << Expr(c) << "\n";
        return s->value;
    }

    void print_effect(const Call *c) {
        if (c->name == "pto_mte_gm_ub" || c->name == "pto_mte_ub_gm") {
            print_move(c);
        } else if (c->name == "pto_set_flag" || c->name == "pto_wait_flag") {
            line("pto." + c->name.substr(4) + "(\"" + word(c, 0) + "\", \"" + word(c, 1) +
                 "\", event_id=" + scalars.bare(c->args[2]) + ")");
        } else if (c->name == "pto_pipe_barrier") {
            line("pto.pipe_barrier(pto.Pipe." + (c->args.empty() ? std::string("ALL") : word(c, 0)) + ")");
        } else if (c->name == "pto_mem_bar") {
            line("pto.mem_bar(pto.BarrierType." + word(c, 0) + ")");
        } else {
            internal_error << "No text for " << Expr(c) << "\n";
        }
    }

    void print(const std::vector<VMIInst> &insts) {
        for (const VMIInst &inst : insts) {
            switch (inst.kind) {
            case VMIInst::Kind::Op:
                print_op(inst);
                break;
            case VMIInst::Kind::Let:
                if (scalars.is_index(inst.scalar)) {
                    scalars.index_names.insert(inst.name);
                }
                line(names.of(inst.name) + " = " +
                     (is_const(inst.scalar) ? scalars.unified(inst.scalar, false) : scalars.bare(inst.scalar)));
                break;
            case VMIInst::Kind::For:
                print_for(inst);
                break;
            case VMIInst::Kind::If:
                print_if(inst);
                break;
            case VMIInst::Kind::Store: {
                const std::string p = gm_types.count(inst.name) ? names.of(inst.name) :
                                                                  pointers.at(pointer_key(inst.name, buffer_elems.at(inst.name)));
                line("scalar.store(" + scalars.typed(inst.scalar, vmi_name(vmi_elem(inst.type))) + ", " + p + ", " +
                     scalars.bare(inst.begin) + ")");
                break;
            }
            case VMIInst::Kind::Effect:
                print_effect(inst.scalar.as<Call>());
                break;
            }
        }
    }

    void print_kernel(const VMIKernel &k) {
        kernel = &k;
        const std::string name = names.fresh(k.name);
        line("@pto.jit(name=\"" + name + "\", target=\"a5\", mode=\"explicit\", kernel_kind=\"vector\")");
        std::string parameters;
        for (const PTOKernelArg &a : k.args) {
            const std::string dtype = "pto." + pto_dtype(a);
            parameters += (parameters.empty() ? "" : ", ") + names.of(a.name) + ": " +
                          (a.is_buffer ? "pto.ptr(" + dtype + ", \"gm\")" : dtype);
            if (a.is_buffer) {
                gm_types[a.name] = a.type;
            }
        }
        line("def " + name + "(" + parameters + "):");
        indent++;
        std::set<std::pair<std::string, VMIElem>> used;
        collect_pointers(k.body, used);
        for (const VMIBuffer &buffer : k.buffers) {
            buffer_elems[buffer.name] = buffer.elem;
            const std::string base = names.of(buffer.name);
            pointers[pointer_key(buffer.name, buffer.elem)] = base;
            line(base + " = pto.castptr(pto.const(" + std::to_string(buffer.address) + ", dtype=pto.i64), pto.ptr(pto." +
                 vmi_name(buffer.elem) + ", \"ub\"))");
            for (const auto &[user, elem] : used) {
                if (user == buffer.name && elem != buffer.elem) {
                    const std::string view = names.fresh(base + "_" + vmi_name(elem));
                    pointers[pointer_key(user, elem)] = view;
                    line(view + " = pto.castptr(pto.const(" + std::to_string(buffer.address) +
                         ", dtype=pto.i64), pto.ptr(pto." + vmi_name(elem) + ", \"ub\"))");
                }
            }
        }
        print(k.body);
        if (k.buffers.empty() && k.body.empty()) {
            line("pass");
        }
        indent--;
    }

public:
    explicit PTODSLPrinter(const PTOTextOptions &options) : options(options), scalars(names) {}

    std::string run(const VMIKernel &k) {
        print_kernel(k);
        return out.str();
    }
};

}  // namespace

std::string emit_ptodsl(const std::vector<VMIKernel> &kernels, const PTOTextOptions &options) {
    std::string text = "from ptodsl import pto, scalar\n";
    for (const VMIKernel &k : kernels) {
        PTODSLPrinter printer(options);
        text += "\n\n" + printer.run(k);
    }
    return text;
}

}  // namespace Internal
}  // namespace Halide
