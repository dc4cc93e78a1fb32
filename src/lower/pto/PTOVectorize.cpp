#include "lower/pto/PTOVectorize.h"

#include "analysis/ExprUsesVar.h"
#include "analysis/ModulusRemainder.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOVectorizer.h"
#include "lower/pto/PTOUtil.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>

namespace Halide {
namespace Internal {

namespace {

/// What is computed once is computed in all lanes of a vector of this many.
constexpr int uniform_lanes = 64;

/// Guards are compared in this width: such masks serve narrower data too, and each other as seeds.
constexpr int guard_bits = 32;

}  // namespace

PTOVectorizer::PTOVectorizer(const PTOKernel &source, VMIKernel &kernel, LowerContext &ctx)
    : source(source), ctx(ctx), b(kernel) {
}

void PTOVectorizer::run() {
    walk(source.body);
    b.kernel.body = b.pop_block();
}

/// Loops are called func.s<stage>.var; what else is in a name tells nobody anything.
std::string PTOVectorizer::where() const {
    std::string text;
    std::string name = lane.var;
    for (const char *suffix : {".lane", ".chunk"}) {
        if (ends_with(name, suffix)) {
            name.resize(name.size() - strlen(suffix));
        }
    }
    const size_t stage = name.find(".s");
    const size_t var = stage == std::string::npos ? stage : name.find('.', stage + 1);
    if (var != std::string::npos && isdigit((unsigned char)name[stage + 2])) {
        const int number = atoi(name.c_str() + stage + 2);
        text = (number == 0 ? "the pure definition of " : "update " + std::to_string(number - 1) + " of ") +
               name.substr(0, stage) + ", vectorized over " + var_of_loop(name) + ", ";
    } else if (!name.empty() && name.find('$') == std::string::npos) {
        text = "the loop vectorized over " + name + ", ";
    } else if (!func.empty()) {
        text = func + ", ";
    }
    return text + "kernel " + source.name;
}

void PTOVectorizer::refuse(const std::string &category, const std::string &what, const std::string &advice) const {
    // The lane has the name of the user's Var.
    std::string text = what;
    if (!lane.var.empty()) {
        const std::string loop = ends_with(lane.var, ".lane") ? lane.var.substr(0, lane.var.size() - 5) : lane.var;
        const std::string var = var_of_loop(loop), chunk = loop + ".chunk*" + std::to_string(lane.lanes) + ")";
        text = replace_all(text, lane.var, var);
        text = replace_all(text, "((" + chunk + " + " + var + ")", var);
        text = replace_all(text, "(" + chunk + " + " + var, var);
    }
    // The tile that pto-stage made for a buffer is called `in.tile.$0`.
    for (size_t at = text.find(".tile.$"); at != std::string::npos; at = text.find(".tile.$", at)) {
        text.erase(at, std::max(text.find_first_not_of("0123456789", at + 7), at + 7) - at);
    }
    user_error << "PTO, " << category << ": " << text << "\n  In " << where() << ".\n"
               << (advice.empty() ? "" : "  " + advice + "\n");
}

void PTOVectorizer::walk(const Stmt &s) {
    if (!s.defined()) {
        return;
    }
    if (!in_scope && lane.lanes == 0) {
        // The outermost statement without a border is one vector scope, together with its neighbours.
        if (!contains_scope_border(s)) {
            in_scope = true;
            b.begin_scope();
            walk(s);
            in_scope = false;
            return;
        }
        const LetStmt *let = s.as<LetStmt>();
        const bool passes = let && loaded_buffers(let->value).empty();
        if (!s.as<Block>() && !s.as<ProducerConsumer>() && !s.as<Allocate>() && !passes) {
            b.border();
        }
    }
    if (const Block *op = s.as<Block>()) {
        walk(op->first);
        walk(op->rest);
    } else if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
        ScopedValue<std::string> name(func, op->is_producer ? op->name : func);
        walk(op->body);
    } else if (const For *op = s.as<For>()) {
        op->for_type == ForType::Vectorized ? walk_vectorized(op) : walk_for(op);
    } else if (const IfThenElse *op = s.as<IfThenElse>()) {
        walk_if(op);
    } else if (const LetStmt *op = s.as<LetStmt>()) {
        walk_let(op);
    } else if (const Allocate *op = s.as<Allocate>()) {
        walk_allocate(op);
    } else if (const Store *op = s.as<Store>()) {
        walk_store(op);
    } else if (const Evaluate *op = s.as<Evaluate>()) {
        walk_effect(op);
    } else if (const Atomic *op = s.as<Atomic>()) {
        walk(op->body);
    } else if (!s.as<Free>()) {
        std::ostringstream text;
        text << s;
        refuse("statement", "a kernel cannot contain `" + text.str() + "`", "");
    }
}

std::set<std::string> PTOVectorizer::outer_registers_stored(const Stmt &s) const {
    std::set<std::string> result;
    if (s.defined()) {
        for (const std::string &name : stored_buffers(s)) {
            if (registers.count(name)) {
                result.insert(name);
            }
        }
    }
    return result;
}

int PTOVectorizer::register_value(const std::string &name) {
    Register &r = registers.at(name);
    if (r.value < 0) {
        // Nothing was stored yet: any value will do, as it does in the language.
        ScopedValue<int> lanes(lane.lanes, r.per_lane && r.elements > 1 ? r.elements :
                                           lane.lanes                   ? lane.lanes :
                                                                          uniform_lanes);
        r.value = splat(make_zero(r.type));
    }
    return r.value;
}

void PTOVectorizer::walk_for(const For *op) {
    if (op->for_type != ForType::Serial) {
        refuse("loop structure", "the loop over " + op->name + " is neither serial nor vectorized inside a kernel",
               "Only block loops, serial loops and vectorized loops run on a vector core.");
    }
    if (lane.lanes && (varies(op->min) || varies(op->max))) {
        refuse("loop structure", "the bounds of the loop over " + op->name + " differ between lanes",
               "Put the loop outside of the vectorized one, or give it bounds that do not depend on the lane.");
    }
    const Expr extent = simplify(op->max + 1 - op->min);
    const bool runs = is_const_one(simplify(extent > 0));
    const std::set<std::string> stored = stored_buffers(op->body);
    const std::set<std::string> carried = outer_registers_stored(op->body);
    VMIInst loop;
    loop.kind = VMIInst::Kind::For;
    loop.name = op->name;
    loop.begin = simplify(without_aliases(op->min));
    loop.end = simplify(without_aliases(op->max + 1));
    loop.hint = op->hint;
    for (const std::string &name : carried) {
        VMIInst::Carried c;
        c.name = name;
        c.init = register_value(name);
        loop.carried.push_back(c);
    }
    for (const std::string &name : stored) {
        b.bump(name);
    }
    b.push_block(runs, false, stored);
    b.define_scalar(op->name);
    for (VMIInst::Carried &c : loop.carried) {
        c.inner = b.new_value(b.type(c.init), c.name);
        registers.at(c.name).value = c.inner;
    }
    if (lane.lanes) {
        // What one iteration stores the next may load.
        const std::set<std::string> loaded = loaded_buffers(op->body);
        bool meet = false;
        for (const std::string &name : stored) {
            meet = meet || (ub_types.count(name) && loaded.count(name));
            if (ub_types.count(name)) {
                stored_here.insert(name);
            }
        }
        if (meet) {
            barrier("VST_VLD");
            barrier("VLD_VST");
        }
    }
    const ScopedBinding<ModulusRemainder> bind(
        facts, op->name, is_const_one(extent) ? modulus_remainder(op->min, facts) : ModulusRemainder());
    walk(op->body);
    for (VMIInst::Carried &c : loop.carried) {
        c.next = registers.at(c.name).value;
    }
    loop.body = b.pop_block();
    for (VMIInst::Carried &c : loop.carried) {
        c.result = b.new_value(b.type(c.init), c.name);
        registers.at(c.name).value = c.result;
    }
    for (const std::string &name : stored) {
        b.bump(name);
    }
    b.append(std::move(loop));
}

void PTOVectorizer::walk_vectorized(const For *op) {
    internal_assert(lane.lanes == 0) << "pto-lane-layout left nested vectorized loops around " << op->name << "\n";
    const auto extent = as_const_int(simplify(op->extent()));
    const auto min = as_const_int(simplify(op->min));
    internal_assert(extent && min && *min == 0 && (*extent == 1 || *extent == 64 || *extent == 128 || *extent == 256))
        << "pto-lane-layout left the vectorized loop " << op->name << " over " << op->min << " to " << op->max << "\n";
    lane = {op->name, *extent == 1 ? uniform_lanes : (int)*extent, *extent == 1};
    loads_since.clear();
    stores_since.clear();
    stored_here.clear();
    if (lane.uniform) {
        walk(substitute(op->name, make_zero(Int(32)), op->body));
    } else {
        walk(op->body);
    }
    lane = Lane();
}

void PTOVectorizer::walk_if(const IfThenElse *op) {
    const Expr condition = without_tags(op->condition);
    if (lane.lanes && varies(condition)) {
        memo.clear();
        const int outer = guard;
        const int m = mask(condition, guard_bits, outer);
        guard = m;
        walk(op->then_case);
        if (op->else_case.defined()) {
            guard = complement(m, outer);
            walk(op->else_case);
        }
        guard = outer;
        return;
    }
    VMIInst branch;
    branch.kind = VMIInst::Kind::If;
    branch.scalar = simplify(without_aliases(condition));
    std::set<std::string> merged = outer_registers_stored(op->then_case);
    for (const std::string &name : outer_registers_stored(op->else_case)) {
        merged.insert(name);
    }
    for (const std::string &name : merged) {
        VMIInst::Carried c;
        c.name = name;
        c.init = register_value(name);
        branch.carried.push_back(c);
    }
    const std::set<std::string> stored = stored_buffers(Stmt(op));
    for (int arm = 0; arm < 2; arm++) {
        for (const VMIInst::Carried &c : branch.carried) {
            registers.at(c.name).value = c.init;
        }
        b.push_block(true, true, stored);
        walk(arm ? op->else_case : op->then_case);
        for (VMIInst::Carried &c : branch.carried) {
            (arm ? c.other : c.next) = registers.at(c.name).value;
        }
        (arm ? branch.else_body : branch.body) = b.pop_block();
        for (const std::string &name : stored) {
            b.bump(name);
        }
    }
    for (VMIInst::Carried &c : branch.carried) {
        c.result = b.new_value(b.type(c.init), c.name);
        registers.at(c.name).value = c.result;
    }
    b.append(std::move(branch));
}

void PTOVectorizer::walk_let(const LetStmt *op) {
    const Type t = op->value.type();
    if (lane.lanes == 0 || is_scalar(op->value)) {
        b.let(op->name, lane.lanes ? without_aliases(op->value) : op->value);
        const ScopedBinding<ModulusRemainder> bind(facts, op->name,
                                                   t.is_int_or_uint() ? modulus_remainder(op->value, facts) :
                                                                        ModulusRemainder());
        walk(op->body);
    } else if (t.is_bool() || (t == Int(32) && loaded_buffers(op->value).empty())) {
        // Indices and conditions are seen through where they are used.
        const ScopedBinding<Expr> bind(aliases, op->name, op->value);
        walk(op->body);
    } else {
        memo.clear();
        const int v = eval(op->value);
        b.set_hint(v, op->name);
        // Indices that use it are seen to be irregular.
        const ScopedBinding<Expr> index(aliases, op->name, op->value);
        const ScopedBinding<int> bind(vectors, op->name, v);
        walk(op->body);
    }
}

void PTOVectorizer::walk_allocate(const Allocate *op) {
    if (op->memory_type != MemoryType::Register) {
        ub_types[op->name] = op->type;
        if (op->type.bits() > 32) {
            std::ostringstream text;
            text << op->type;
            refuse("dtype", op->name + " holds " + text.str() + ", which vectors cannot",
                   "Vectors have elements of at most 32 bits: cast to a 32-bit type.");
        }
        auto address = source.ub_address.find(op->name);
        internal_assert(dry_run || address != source.ub_address.end()) << "No address of the buffer " << op->name << "\n";
        b.kernel.buffers.push_back({op->name, vmi_elem(op->type), dry_run ? 0 : address->second});
        walk(op->body);
        return;
    }
    Register r;
    r.type = op->type;
    r.elements = op->constant_allocation_size();
    r.per_lane = lane.lanes != 0 || r.elements > 1;
    r.guard = guard;
    registers[op->name] = r;
    walk(op->body);
    registers.erase(op->name);
}

void PTOVectorizer::walk_register_store(const Store *op, Register &r) {
    const int outer_lanes = lane.lanes;
    int v = eval(op->value);
    if (guard >= 0 && guard != r.guard && r.value >= 0) {
        v = choose(guard, v, to_lanes(register_value(op->name), outer_lanes));
    }
    b.set_hint(v, op->name);
    r.value = v;
}

void PTOVectorizer::walk_store(const Store *op) {
    memo.clear();
    auto r = registers.find(op->name);
    if (r != registers.end()) {
        if (lane.lanes == 0) {
            ScopedValue<Lane> uniform(lane, Lane{"", uniform_lanes, true});
            walk_register_store(op, r->second);
        } else {
            walk_register_store(op, r->second);
        }
        return;
    }
    if (lane.lanes == 0) {
        VMIInst inst;
        inst.kind = VMIInst::Kind::Store;
        inst.name = op->name;
        inst.begin = op->index;
        inst.scalar = op->value;
        inst.type = op->value.type();
        b.append(std::move(inst));
        b.bump(op->name);
        return;
    }
    const int outer = guard;
    if (!is_const_one(op->predicate)) {
        guard = mask(op->predicate, guard_bits, guard);
    }
    store(op);
    guard = outer;
    b.bump(op->name);
}

void PTOVectorizer::walk_effect(const Evaluate *op) {
    const Call *c = op->value.as<Call>();
    if (!c && (is_const(op->value) || op->value.as<Variable>())) {
        return;
    }
    if (!c || !starts_with(c->name, "pto_")) {
        std::ostringstream text;
        text << op->value;
        refuse("statement", "a kernel cannot evaluate `" + text.str() + "`",
               "Calls of functions outside, prints and assertions run on the host only.");
    }
    if (lane.lanes) {
        refuse("statement", c->name + " stands inside a vectorized loop", "");
    }
    for (const std::string &name : stored_buffers(Stmt(op))) {
        b.bump(name);
    }
    VMIInst inst;
    inst.kind = VMIInst::Kind::Effect;
    inst.scalar = op->value;
    b.append(std::move(inst));
}

namespace {

/// Counts uses; an instruction without effect and without uses goes, which may free others.
class DeadInstructions {
    std::vector<int> uses;

    static void for_each_use(const VMIInst &inst, const std::function<void(int)> &f) {
        for (const VMIOperand &o : inst.operands) {
            if (o.kind == VMIOperand::Kind::Value) {
                f(o.value);
            }
            for (int v : o.values) {
                f(v);
            }
        }
        for (const VMIInst::Carried &c : inst.carried) {
            f(c.init);
            f(c.next);
            if (c.other >= 0) {
                f(c.other);
            }
        }
    }

    void count(const std::vector<VMIInst> &insts) {
        for (const VMIInst &inst : insts) {
            for_each_use(inst, [&](int v) { uses[v]++; });
            count(inst.body);
            count(inst.else_body);
        }
    }

    static bool has_effect(const VMIInst &inst) {
        switch (inst.kind) {
        case VMIInst::Kind::Op:
            return inst.results.empty();
        case VMIInst::Kind::Let:
        case VMIInst::Kind::Store:
        case VMIInst::Kind::Effect:
            return true;
        case VMIInst::Kind::For:
        case VMIInst::Kind::If:
            return !inst.carried.empty() || !inst.body.empty() || !inst.else_body.empty();
        }
        return true;
    }

    bool sweep(std::vector<VMIInst> &insts) {
        bool changed = false;
        for (size_t i = insts.size(); i > 0; i--) {
            VMIInst &inst = insts[i - 1];
            // What a loop carries and nobody reads afterwards or inside.
            for (size_t k = inst.carried.size(); k > 0; k--) {
                const VMIInst::Carried &c = inst.carried[k - 1];
                const bool read_inside = inst.kind == VMIInst::Kind::For && uses[c.inner] > (c.next == c.inner ? 1 : 0);
                if (uses[c.result] == 0 && !read_inside) {
                    uses[c.init]--;
                    uses[c.next]--;
                    if (c.other >= 0) {
                        uses[c.other]--;
                    }
                    inst.carried.erase(inst.carried.begin() + (long)k - 1);
                    changed = true;
                }
            }
            changed = sweep(inst.body) || changed;
            changed = sweep(inst.else_body) || changed;
            bool used = has_effect(inst);
            for (int v : inst.results) {
                used = used || uses[v] > 0;
            }
            if (!used) {
                for_each_use(inst, [&](int v) { uses[v]--; });
                insts.erase(insts.begin() + (long)i - 1);
                changed = true;
            }
        }
        return changed;
    }

public:
    explicit DeadInstructions(VMIKernel &kernel)
        : uses(kernel.values.size(), 0) {
        count(kernel.body);
        while (sweep(kernel.body)) {
        }
    }
};

}  // namespace

void remove_dead_instructions(VMIKernel &kernel) {
    DeadInstructions pass(kernel);
}

void check_vectorizable(const PTOKernel &source, LowerContext &ctx) {
    VMIKernel kernel;
    PTOVectorizer vectorizer(source, kernel, ctx);
    vectorizer.dry_run = true;
    vectorizer.run();
}

VMIKernel pto_vectorize(const PTOKernel &source, LowerContext &ctx) {
    VMIKernel kernel;
    kernel.name = source.name;
    kernel.args = source.args;
    PTOVectorizer vectorizer(source, kernel, ctx);
    vectorizer.run();
    remove_dead_instructions(kernel);
    return kernel;
}

}  // namespace Internal
}  // namespace Halide
