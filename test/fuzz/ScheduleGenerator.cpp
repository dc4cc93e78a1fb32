// Directives: how they are applied, printed and drawn.

#include "ProgramGenerator.h"

#include <sstream>

#include "ir/IROperator.h"

namespace fuzz {

using namespace Halide;

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Directives

struct TailName {
    TailStrategy tail;
    const char *name;
};
const std::vector<TailName> tail_names = {
    {TailStrategy::RoundUp, "RoundUp"},
    {TailStrategy::GuardWithIf, "GuardWithIf"},
    {TailStrategy::Predicate, "Predicate"},
    {TailStrategy::PredicateLoads, "PredicateLoads"},
    {TailStrategy::PredicateStores, "PredicateStores"},
    {TailStrategy::ShiftInwards, "ShiftInwards"},
    {TailStrategy::ShiftInwardsAndBlend, "ShiftInwardsAndBlend"},
    {TailStrategy::RoundUpAndBlend, "RoundUpAndBlend"},
    {TailStrategy::Auto, "Auto"},
};

std::string tail_text(TailStrategy t) {
    for (const TailName &n : tail_names) {
        if (n.tail == t) {
            return std::string("TailStrategy::") + n.name;
        }
    }
    return "TailStrategy::Auto";
}

/// `x`, or `RVar("r00$x")` for reduction variables.
VarOrRVar var(const std::string &name) {
    if (name.find('$') != std::string::npos || name[0] == 'r') {
        return RVar(name);
    }
    return Var(name);
}

std::string var_text(const std::string &name) {
    return std::string(name.find('$') != std::string::npos || name[0] == 'r' ? "RVar(\"" : "Var(\"") + name + "\")";
}

template <typename Target>
void apply_loop_directive(Target &s, const Directive &d) {
    auto v = [&](int i) { return var(d.vars[i]); };
    if (d.kind == "split") {
        s.split(v(0), v(1), v(2), d.numbers[0], d.tail);
    } else if (d.kind == "fuse") {
        s.fuse(v(0), v(1), v(2));
    } else if (d.kind == "reorder") {
        std::vector<VarOrRVar> vars;
        for (size_t i = 0; i < d.vars.size(); i++) {
            vars.push_back(v((int)i));
        }
        s.reorder(vars);
    } else if (d.kind == "vectorize") {
        s.vectorize(v(0), d.numbers[0], d.tail);
    } else if (d.kind == "vectorize_swar") {
        s.vectorize(v(0), d.numbers[0], VectorizeIn::SWAR, d.tail);
    } else if (d.kind == "unroll") {
        s.unroll(v(0), d.numbers[0], d.tail);
    } else if (d.kind == "parallel") {
        s.parallel(v(0));
    } else if (d.kind == "pto_blocks") {
        s.pto_blocks(v(0));
    } else if (d.kind == "serial") {
        s.serial(v(0));
    } else if (d.kind == "tile") {
        s.tile(v(0), v(1), v(2), v(3), v(4), v(5), d.numbers[0], d.numbers[1], d.tail);
    } else if (d.kind == "rename") {
        s.rename(v(0), v(1));
    } else if (d.kind == "unroll_hint") {
        if (d.numbers.empty()) {
            s.unroll_hint(v(0));
        } else {
            s.unroll_hint(v(0), d.numbers[0]);
        }
    }
}

/// Draws directives that should be legal: keeps the list of loops of each stage.
struct Scheduler {
    const Program &program;
    Random random;
    Schedule schedule;
    std::vector<std::vector<std::string>> loops;  // of pure stages, innermost first
    std::vector<bool> inlined;
    int fresh = 0;

    Scheduler(const Program &p, uint64_t seed) : program(p), random(seed) {}

    static void calls(const Node &n, int func, bool &found) {
        if ((n.op == Node::Call || n.op == Node::CallUpdated) && n.value == func) {
            found = true;
        }
        for (const NodePtr &c : n.children) {
            calls(*c, func, found);
        }
    }

    /// The only Func that calls `func`, if it calls it in its pure definition only; −1 otherwise.
    int only_consumer(int func) const {
        int result = -1;
        for (int i = func + 1; i < (int)program.funcs.size(); i++) {
            bool pure = false, update = false;
            for (const NodePtr &v : program.funcs[i].values) {
                calls(*v, func, pure);
            }
            for (const UpdateSpec &u : program.funcs[i].updates) {
                for (const NodePtr &v : u.values) {
                    calls(*v, func, update);
                }
                if (u.index) {
                    calls(*u.index, func, update);
                }
            }
            if (update || (pure && result >= 0)) {
                return -1;
            }
            if (pure) {
                result = i;
            }
        }
        return result;
    }

    /// Nodes that one point of `func` evaluates, with the Funcs inlined so far substituted.
    int64_t inlined_size(int func) const {
        int64_t size = 0;
        for (const NodePtr &v : program.funcs[func].values) {
            size += node_size(*v);
        }
        return size;
    }
    int64_t node_size(const Node &n) const {
        int64_t size = 1;
        if (n.op == Node::Call) {
            // Schedules are made from the output down, so a callee's fate is not known yet: assume the worst.
            size += program.funcs[n.value].updates.empty() ? inlined_size(n.value) : 1;
        }
        for (const NodePtr &c : n.children) {
            size += node_size(*c);
        }
        return std::min<int64_t>(size, 1000000);
    }

    std::string fresh_name(const std::string &base) { return base + "_" + std::to_string(fresh++); }

    void add(Directive d) { schedule.directives.push_back(std::move(d)); }

    /// Unroll hints on loops of a stage that nothing made parallel. Choices of their own, so that all others stay.
    void unroll_hints(int f, int stage, const std::vector<std::string> &names, size_t first_directive) {
        Random own(program.seed * 7919 + (uint64_t)f * 31 + (uint64_t)(stage + 1) + schedule.directives.size() * 1009);
        std::string parallel;
        for (size_t i = first_directive; i < schedule.directives.size(); i++) {
            if (schedule.directives[i].kind == "parallel") {
                parallel += schedule.directives[i].vars[0] + " ";
            }
        }
        for (const std::string &name : names) {
            // Parts of a parallel loop begin with its name; a fused loop may be one.
            const bool may_be_parallel = !parallel.empty() && (parallel.find(name.substr(0, 1)) != std::string::npos);
            if (may_be_parallel || !own.one_in(4)) {
                continue;
            }
            Directive d;
            d.kind = "unroll_hint";
            d.func = f;
            d.stage = stage;
            d.vars = {name};
            if (own.one_in(3)) {
                add(d);
            } else {
                d.numbers = {own.pick(std::vector<int>{1, 2, 3, 4, 7, 16})};
                add(d);
            }
            if (own.one_in(30)) {
                d.numbers = {own.upto(2)};  // a second hint, or no factor
                add(d);
            }
        }
    }

    /// Words in place of vectors. Choices of their own, so that all others stay.
    void words(int f, int stage, size_t first_directive) {
        Random own(program.seed * 104729 + (uint64_t)f * 37 + (uint64_t)(stage + 1) +
                   schedule.directives.size() * 1013);
        const bool lane_wise = program.values == Values::LaneWise;
        const int bits = program.funcs[f].types[0].bits();
        const std::vector<int> numbers = bits == 8    ? std::vector<int>{2, 3, 4, 8}
                                         : bits == 16 ? std::vector<int>{2, 3, 4}
                                                      : std::vector<int>{2};
        const auto lanes = [&] { return own.pick(numbers); };
        bool vectorized = false, taken = false;
        for (size_t i = first_directive; i < schedule.directives.size(); i++) {
            Directive &d = schedule.directives[i];
            taken = taken || d.kind == "parallel" || d.kind == "unroll_hint";
            if (d.kind == "vectorize") {
                vectorized = true;
                if (lane_wise ? !own.one_in(4) : own.one_in(8)) {
                    d.kind = "vectorize_swar";
                    d.numbers = {lanes()};
                }
            }
        }
        if (!lane_wise || taken) {
            return;
        }
        Directive d;
        d.func = f;
        d.stage = stage;
        if (stage < 0) {
            if (!vectorized && !own.one_in(3)) {
                d.kind = "vectorize_swar";
                d.vars = {loops[f][0]};
                d.numbers = {lanes()};
                add(d);
                vectorized = true;
            }
            if (vectorized && loops[f].size() > 1 && own.one_in(3)) {
                d.kind = "vectorize";
                d.vars = {loops[f][1]};
                d.numbers = {own.between(1, 2) * 2};
                add(d);
            }
            return;
        }
        const UpdateSpec &spec = program.funcs[f].updates[stage];
        if (vectorized || schedule.directives.size() > first_directive) {
            return;
        }
        if (spec.kind == UpdateSpec::PureAdd) {
            d.kind = "vectorize_swar";
            d.vars = {"x"};
        } else if (spec.kind == UpdateSpec::ReduceAdd || spec.kind == UpdateSpec::ReduceMax) {
            d.kind = "atomic_swar";
            d.vars = {"r" + std::to_string(f) + std::to_string(stage) + "$x"};
        } else {
            return;
        }
        d.numbers = {lanes()};
        d.tail = own.one_in(2) ? TailStrategy::GuardWithIf : TailStrategy::Auto;
        add(d);
    }

    /// Storage in registers of Funcs computed inside of others, which needs a constant size: often there if the output
    /// has one.
    void registers() {
        Random own(program.seed * 15485863 + schedule.directives.size());
        const bool lane_wise = program.values == Values::LaneWise;
        std::vector<Directive> more;
        for (const Directive &d : schedule.directives) {
            if (d.kind == "compute_at" && own.one_in(lane_wise ? 2 : 16)) {
                Directive m;
                m.kind = "store_in_gpr";
                m.func = d.func;
                more.push_back(m);
            }
        }
        if (!more.empty() && !own.one_in(4)) {
            for (const bool x : {true, false}) {
                Directive m;
                m.kind = "bound";
                m.func = (int)program.funcs.size() - 1;
                m.vars = {x ? "x" : "y"};
                m.numbers = {0, x ? program.width : program.height};
                more.push_back(m);
            }
        }
        for (const Directive &m : more) {
            add(m);
        }
    }

    void pure_loops(int f) {
        std::vector<std::string> &dims = loops[f];
        static const std::vector<TailStrategy> tails = {TailStrategy::Auto,
                                                        TailStrategy::Auto,
                                                        TailStrategy::RoundUp,
                                                        TailStrategy::GuardWithIf,
                                                        TailStrategy::ShiftInwards,
                                                        TailStrategy::Predicate,
                                                        TailStrategy::PredicateLoads,
                                                        TailStrategy::PredicateStores,
                                                        TailStrategy::RoundUpAndBlend,
                                                        TailStrategy::ShiftInwardsAndBlend};
        const int steps = random.upto(4);
        bool vectorized = false, split_used = false;
        for (int i = 0; i < steps; i++) {
            Directive d;
            d.func = f;
            const int at = random.upto((int)dims.size());
            switch (random.upto(6)) {
            case 0: {
                const std::string outer = fresh_name(dims[at] + "o"), inner = fresh_name(dims[at] + "i");
                d.kind = "split";
                d.vars = {dims[at], outer, inner};
                d.numbers = {random.between(1, 9)};
                d.tail = split_used ? TailStrategy::Auto : random.pick(tails);
                split_used = true;
                dims[at] = inner;
                dims.insert(dims.begin() + at + 1, outer);
                break;
            }
            case 1:
                if (dims.size() >= 2) {
                    d.kind = "fuse";
                    const int a = random.upto((int)dims.size() - 1);
                    const std::string fused = fresh_name("t");
                    d.vars = {dims[a], dims[a + 1], fused};
                    dims[a] = fused;
                    dims.erase(dims.begin() + a + 1);
                }
                break;
            case 2:
                if (dims.size() >= 2) {
                    d.kind = "reorder";
                    std::vector<std::string> order = dims;
                    for (size_t k = order.size() - 1; k > 0; k--) {
                        std::swap(order[k], order[random.upto((int)k + 1)]);
                    }
                    d.vars = order;
                    dims = order;
                }
                break;
            case 3:
                if (!vectorized) {
                    d.kind = "vectorize";
                    d.vars = {dims[0]};
                    d.numbers = {random.pick(std::vector<int>{2, 3, 4, 8, 16})};
                    d.tail = split_used ? TailStrategy::Auto : random.pick(tails);
                    split_used = true;
                    vectorized = true;
                }
                break;
            case 4:
                d.kind = "unroll";
                d.vars = {dims[at]};
                d.numbers = {random.between(2, 4)};
                break;
            case 5:
                d.kind = "parallel";
                d.vars = {dims.back()};
                break;
            }
            if (!d.kind.empty()) {
                add(d);
            }
        }
    }

    void update_loops(int f, int u) {
        const UpdateSpec &spec = program.funcs[f].updates[u];
        std::vector<std::string> pure;
        const std::string r = "r" + std::to_string(f) + std::to_string(u);
        if (spec.kind == UpdateSpec::PureAdd || spec.kind == UpdateSpec::ReduceAdd ||
            spec.kind == UpdateSpec::ReduceMax) {
            pure = {"x", "y"};
        } else if (spec.kind == UpdateSpec::ScanX || spec.kind == UpdateSpec::Histogram) {
            pure = {"y"};
        } else {
            pure = {"x"};
        }
        for (int i = random.upto(3); i > 0; i--) {
            Directive d;
            d.func = f;
            d.stage = u;
            const std::string v = random.pick(pure);
            switch (random.upto(5)) {
            case 0:
                d.kind = "vectorize";
                d.vars = {v};
                d.numbers = {random.pick(std::vector<int>{2, 4, 8})};
                d.tail = random.one_in(2) ? TailStrategy::GuardWithIf : TailStrategy::Auto;
                break;
            case 1:
                d.kind = "unroll";
                d.vars = {v};
                d.numbers = {random.between(2, 3)};
                d.tail = TailStrategy::GuardWithIf;
                break;
            case 2:
                d.kind = "parallel";
                d.vars = {v};
                break;
            case 3:
                if (spec.kind != UpdateSpec::PureAdd) {
                    d.kind = "unroll";
                    d.vars = {r + "$x"};
                    d.numbers = {2};
                }
                break;
            case 4:
                if (spec.kind == UpdateSpec::ReduceAdd || spec.kind == UpdateSpec::ReduceMax) {
                    d.kind = "reorder";
                    d.vars = {"x", r + "$x", r + "$y", "y"};
                }
                break;
            }
            if (d.kind.empty()) {
                continue;
            }
            add(d);
            if (d.kind != "reorder" && d.kind != "parallel") {
                break;  // the split changed the names
            }
        }
    }

    void make() {
        const int count = (int)program.funcs.size();
        loops.assign(count, {"x", "y"});
        inlined.assign(count, false);
        for (int f = count - 1; f >= 0; f--) {
            const FuncSpec &spec = program.funcs[f];
            if (f < count - 1) {
                const int consumer = only_consumer(f);
                const int choice = random.upto(6);
                if (choice == 0 && spec.updates.empty() && inlined_size(f) < 60) {
                    inlined[f] = true;
                    continue;
                }
                if (choice < 4 && consumer >= 0 && !inlined[consumer]) {
                    Directive d;
                    d.func = f;
                    d.kind = "compute_at";
                    d.other = consumer;
                    const int level = random.upto((int)loops[consumer].size());
                    d.vars = {loops[consumer][level]};
                    add(d);
                    if (random.one_in(3)) {
                        Directive s = d;
                        const int store = random.between(level, (int)loops[consumer].size());
                        if (store == (int)loops[consumer].size()) {
                            s.kind = "store_root";
                            s.vars = {};
                        } else {
                            s.kind = "store_at";
                            s.vars = {loops[consumer][store]};
                        }
                        add(s);
                    }
                } else {
                    Directive d;
                    d.func = f;
                    d.kind = "compute_root";
                    add(d);
                }
            }
            size_t first = schedule.directives.size();
            pure_loops(f);
            unroll_hints(f, -1, loops[f], first);
            words(f, -1, first);
            for (size_t u = 0; u < spec.updates.size(); u++) {
                first = schedule.directives.size();
                update_loops(f, (int)u);
                std::vector<std::string> names = {spec.updates[u].kind == UpdateSpec::ScanX ? "y" : "x"};
                if (spec.updates[u].kind != UpdateSpec::PureAdd) {
                    names.push_back("r" + std::to_string(f) + std::to_string(u) + "$x");
                }
                unroll_hints(f, (int)u, names, first);
                words(f, (int)u, first);
            }
            if (f < count - 1 && random.one_in(5)) {
                Directive d;
                d.func = f;
                d.kind = random.pick(
                    std::vector<std::string>{"reorder_storage", "align_storage", "store_in_heap", "align_bounds"});
                if (d.kind == "align_storage") {
                    d.numbers = {random.between(2, 16)};
                } else if (d.kind == "align_bounds") {
                    d.vars = {random.one_in(2) ? "x" : "y"};
                    const int modulus = random.between(2, 6);
                    d.numbers = {modulus, random.upto(modulus)};
                }
                add(d);
            }
        }
        registers();
        if (random.one_in(5)) {
            make_illegal();
        }
    }

    /// Breaks the schedule on purpose: must be refused, or turn out to be legal after all.
    void make_illegal() {
        Directive d;
        d.func = random.upto((int)program.funcs.size());
        switch (random.upto(4)) {
        case 0:
            d.kind = "vectorize";
            d.vars = {"nonexistent"};
            d.numbers = {4};
            break;
        case 1:
            d.kind = "compute_at";
            d.other = random.upto((int)program.funcs.size());
            d.vars = {"x"};
            break;
        case 2:
            d.kind = "split";
            d.vars = {"x", "x", "x"};
            d.numbers = {0};
            break;
        case 3:
            d.kind = "reorder";
            d.vars = {"x", "x"};
            break;
        }
        add(d);
    }
};

}  // namespace

void apply(Built &b, const Directive &d) {
    Func f = b.funcs[d.func];
    if (d.kind == "compute_root") {
        f.compute_root();
    } else if (d.kind == "store_root") {
        f.store_root();
    } else if (d.kind == "compute_at") {
        f.compute_at(b.funcs[d.other], Var(d.vars[0]));
    } else if (d.kind == "store_at") {
        f.store_at(b.funcs[d.other], Var(d.vars[0]));
    } else if (d.kind == "reorder_storage") {
        f.reorder_storage(Var("y"), Var("x"));
    } else if (d.kind == "align_storage") {
        f.align_storage(Var("x"), d.numbers[0]);
    } else if (d.kind == "align_bounds") {
        f.align_bounds(Var(d.vars[0]), d.numbers[0], d.numbers[1]);
    } else if (d.kind == "store_in_heap") {
        f.store_in(MemoryType::Heap);
    } else if (d.kind == "store_in_stack") {
        f.store_in(MemoryType::Stack);
    } else if (d.kind == "store_in_gpr") {
        f.store_in(MemoryType::GPR);
    } else if (d.kind == "store_in_ub") {
        f.store_in(MemoryType::UB);
    } else if (d.kind == "ring") {
        f.hoist_storage(b.funcs[d.other], Var(d.vars[0])).ring_buffer(2).async();
    } else if (d.kind == "bound") {
        f.bound(Var(d.vars[0]), d.numbers[0], d.numbers[1]);
    } else if (d.kind == "atomic_swar") {
        f.update(d.stage).atomic().vectorize(var(d.vars[0]), d.numbers[0], VectorizeIn::SWAR, d.tail);
    } else if (d.stage < 0) {
        apply_loop_directive(f, d);
    } else {
        Stage s = f.update(d.stage);
        apply_loop_directive(s, d);
    }
}

std::string directive_text(const Directive &d) {
    std::ostringstream s;
    s << "f" << d.func;
    if (d.stage >= 0) {
        s << ".update(" << d.stage << ")";
    }
    if (d.kind == "store_in_heap") {
        s << ".store_in(MemoryType::Heap);";
        return s.str();
    }
    if (d.kind == "store_in_stack") {
        s << ".store_in(MemoryType::Stack);";
        return s.str();
    }
    if (d.kind == "store_in_ub") {
        s << ".store_in(MemoryType::UB);";
        return s.str();
    }
    if (d.kind == "ring") {
        s << ".hoist_storage(f" << d.other << ", " << var_text(d.vars[0]) << ").ring_buffer(2).async();";
        return s.str();
    }
    if (d.kind == "store_in_gpr") {
        s << ".store_in(MemoryType::GPR);";
        return s.str();
    }
    if (d.kind == "vectorize_swar" || d.kind == "atomic_swar") {
        s << (d.kind == "atomic_swar" ? ".atomic()" : "") << ".vectorize(" << var_text(d.vars[0]) << ", "
          << d.numbers[0] << ", VectorizeIn::SWAR, " << tail_text(d.tail) << ");";
        return s.str();
    }
    s << "." << d.kind << "(";
    const char *sep = "";
    if (d.kind == "compute_at" || d.kind == "store_at") {
        s << "f" << d.other;
        sep = ", ";
    }
    if (d.kind == "reorder_storage") {
        s << "Var(\"y\"), Var(\"x\")";
    }
    if (d.kind == "align_storage") {
        s << "Var(\"x\")";
        sep = ", ";
    }
    for (const std::string &v : d.vars) {
        s << sep << var_text(v);
        sep = ", ";
    }
    for (int n : d.numbers) {
        s << sep << n;
        sep = ", ";
    }
    if (d.tail != TailStrategy::Auto) {
        s << sep << tail_text(d.tail);
    }
    s << ");";
    return s.str();
}

Schedule make_schedule(const Program &program, uint64_t seed) {
    Scheduler s(program, seed);
    s.make();
    return s.schedule;
}

Schedule plain_schedule(const Program &program) {
    Schedule s;
    for (size_t i = 0; i + 1 < program.funcs.size(); i++) {
        Directive d;
        d.kind = "compute_root";
        d.func = (int)i;
        s.directives.push_back(d);
    }
    return s;
}

}  // namespace fuzz
