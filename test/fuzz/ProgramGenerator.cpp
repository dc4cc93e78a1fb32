#include "ProgramGenerator.h"

#include <map>
#include <sstream>

#include "ir/IROperator.h"

namespace fuzz {

using namespace Halide;

namespace {

const std::vector<Type> element_types = {UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32)};

std::string cpp_type(const Type &t) {
    return std::string(t.is_uint() ? "uint" : "int") + std::to_string(t.bits()) + "_t";
}

/// Int(32) arithmetic must not overflow: its leaves are small and its operators few and shallow.
bool may_overflow(const Type &t) {
    return t.is_int() && t.bits() == 32;
}

struct Generator {
    Random random;
    Program program;

    explicit Generator(uint64_t seed) : random(seed) { program.seed = seed; }

    NodePtr leaf(const Type &t, int funcs_so_far) {
        auto n = std::make_shared<Node>();
        n->type = t;
        const int choice = random.upto(10);
        if (choice < 5 && funcs_so_far > 0) {
            n->op = Node::Call;
            n->value = random.one_in(3) ? random.upto(funcs_so_far) : funcs_so_far - 1;
            n->element = random.upto((int)program.funcs[n->value].types.size());
            n->dx = random.between(-2, 2);
            n->dy = random.between(-2, 2);
            n->scale = random.one_in(6) ? random.between(1, 3) : 0;
        } else if (choice < 8) {
            n->op = Node::Input;
            n->value = random.upto((int)program.inputs.size());
            n->dx = random.between(-2, 2);
            n->dy = random.between(-2, 2);
        } else if (choice == 8) {
            n->op = random.one_in(2) ? Node::CoordX : Node::CoordY;
        } else {
            n->op = Node::Constant;
            n->value = random.between(0, 100);
        }
        return n;
    }

    NodePtr expr(const Type &t, int depth, int funcs_so_far) {
        if (depth == 0 || random.one_in(5)) {
            return leaf(t, funcs_so_far);
        }
        auto n = std::make_shared<Node>();
        n->type = t;
        static const std::vector<Node::Op> any = {
            Node::Add, Node::Sub, Node::Mul, Node::Div, Node::Mod, Node::Min, Node::Max, Node::And, Node::Or, Node::Xor,
            Node::ShiftLeft, Node::ShiftRight, Node::AbsDiff, Node::SaturatingAdd, Node::SaturatingSub,
            Node::HalvingAdd, Node::RoundingHalvingAdd, Node::SelectLess, Node::SelectEqual, Node::Clamp, Node::Widened,
            Node::Add, Node::Min, Node::Max, Node::SelectLess};
        static const std::vector<Node::Op> bounded = {Node::Div, Node::Mod, Node::Min, Node::Max, Node::And, Node::Or,
                                                      Node::Xor, Node::ShiftRight, Node::SelectLess, Node::SelectEqual,
                                                      Node::Clamp, Node::HalvingAdd, Node::SaturatingAdd};
        n->op = random.pick(may_overflow(t) ? bounded : any);
        const int operands = n->op == Node::SelectLess || n->op == Node::SelectEqual ? 4 : n->op == Node::Clamp ? 1 : 2;
        if (n->op == Node::ShiftLeft || n->op == Node::ShiftRight) {
            n->value = random.upto(t.bits());
            n->children = {expr(t, depth - 1, funcs_so_far)};
            return n;
        }
        if (n->op == Node::Clamp) {
            n->value = random.between(1, 60);
        }
        for (int i = 0; i < operands; i++) {
            n->children.push_back(expr(t, depth - 1, funcs_so_far));
        }
        return n;
    }

    UpdateSpec update(const FuncSpec &f, int funcs_so_far) {
        UpdateSpec u;
        static const std::vector<UpdateSpec::Kind> kinds = {UpdateSpec::PureAdd, UpdateSpec::ReduceAdd, UpdateSpec::ReduceMax,
                                                            UpdateSpec::Histogram, UpdateSpec::ScanX, UpdateSpec::ScanY};
        u.kind = random.pick(kinds);
        for (const Type &t : f.types) {
            u.values.push_back(expr(t, 1, funcs_so_far));
        }
        u.extent_x = random.between(1, 5);
        u.extent_y = random.between(1, 4);
        u.where = random.one_in(4);
        if (u.kind == UpdateSpec::Histogram) {
            u.index = expr(UInt(8), 1, funcs_so_far);
        }
        return u;
    }

    void make() {
        program.width = random.between(5, 40);
        program.height = random.between(3, 20);
        for (int i = random.between(1, 2); i > 0; i--) {
            program.inputs.push_back(random.pick(element_types));
        }
        const int count = random.between(1, 6);
        for (int i = 0; i < count; i++) {
            FuncSpec f;
            const int values = random.one_in(6) ? 2 : 1;
            for (int v = 0; v < values; v++) {
                f.types.push_back(random.pick(element_types));
            }
            for (const Type &t : f.types) {
                f.values.push_back(expr(t, random.between(1, 3), i));
            }
            for (int u = random.one_in(3) ? random.between(1, 2) : 0; u > 0; u--) {
                f.updates.push_back(update(f, i));
            }
            program.funcs.push_back(f);
        }
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// One walk makes both the Expr and its C++ text, so that they cannot disagree.

struct Both {
    Expr e;
    std::string text;
};

struct Environment {
    std::vector<Func> *funcs = nullptr;
    std::vector<Func> *inputs = nullptr;
    Both x, y;       // the current point
};

Both cast_to(const Type &t, const Both &b) {
    return {cast(t, b.e), "cast<" + cpp_type(t) + ">(" + b.text + ")"};
}

Both constant(const Type &t, int v) {
    return {Internal::make_const(t, v), "cast<" + cpp_type(t) + ">(" + std::to_string(v) + ")"};
}

Both offset(const Both &b, int d) {
    if (d == 0) {
        return b;
    }
    return {b.e + d, "(" + b.text + (d < 0 ? " - " : " + ") + std::to_string(d < 0 ? -d : d) + ")"};
}

/// Values of wider types are cut down before they enter Int(32) arithmetic.
Both into(const Type &t, const Type &from, const Both &b) {
    if (may_overflow(t) && from.bits() == 32) {
        Both narrow = cast_to(Int(16), b);
        return cast_to(t, narrow);
    }
    return cast_to(t, b);
}

Both walk(const Node &n, const Program &p, const Environment &env) {
    auto child = [&](int i) { return walk(*n.children[i], p, env); };
    auto call2 = [&](const char *name, Expr (*f)(Expr, Expr)) {
        Both a = child(0), b = child(1);
        return Both{f(a.e, b.e), std::string(name) + "(" + a.text + ", " + b.text + ")"};
    };
    auto infix = [&](const char *op, Expr (*f)(Expr, Expr)) {
        Both a = child(0), b = child(1);
        return Both{f(a.e, b.e), "(" + a.text + " " + op + " " + b.text + ")"};
    };
    switch (n.op) {
    case Node::Constant:
        return constant(n.type, n.value);
    case Node::CoordX:
        return cast_to(n.type, env.x);
    case Node::CoordY:
        return cast_to(n.type, env.y);
    case Node::Call:
    case Node::CallUpdated: {
        Both x = offset(env.x, n.dx), y = offset(env.y, n.dy);
        if (n.scale == 1) {
            x = {x.e / 2, "(" + x.text + " / 2)"};
        } else if (n.scale == 2) {
            x = {x.e * 2, "(" + x.text + " * 2)"};
        } else if (n.scale == 3) {
            x = {clamp(x.e, 0, 7), "clamp(" + x.text + ", 0, 7)"};
            y = {clamp(y.e, -1, 5), "clamp(" + y.text + ", -1, 5)"};
        }
        const FuncSpec &f = p.funcs[n.value];
        const std::string name = "f" + std::to_string(n.value);
        Func func = (*env.funcs)[n.value];
        Both v;
        if (f.types.size() == 1) {
            v = {func(x.e, y.e), name + "(" + x.text + ", " + y.text + ")"};
        } else {
            v = {func(x.e, y.e)[n.element], name + "(" + x.text + ", " + y.text + ")[" + std::to_string(n.element) + "]"};
        }
        return into(n.type, f.types[n.element], v);
    }
    case Node::Input: {
        Both x = offset(env.x, n.dx), y = offset(env.y, n.dy);
        Both v = {(*env.inputs)[n.value](x.e, y.e), "in" + std::to_string(n.value) + "(" + x.text + ", " + y.text + ")"};
        return into(n.type, p.inputs[n.value], v);
    }
    case Node::Add: return infix("+", [](Expr a, Expr b) { return a + b; });
    case Node::Sub: return infix("-", [](Expr a, Expr b) { return a - b; });
    case Node::Mul: return infix("*", [](Expr a, Expr b) { return a * b; });
    case Node::Div: return infix("/", [](Expr a, Expr b) { return a / b; });
    case Node::Mod: return infix("%", [](Expr a, Expr b) { return a % b; });
    case Node::And: return infix("&", [](Expr a, Expr b) { return a & b; });
    case Node::Or: return infix("|", [](Expr a, Expr b) { return a | b; });
    case Node::Xor: return infix("^", [](Expr a, Expr b) { return a ^ b; });
    case Node::Min: return call2("min", [](Expr a, Expr b) { return min(a, b); });
    case Node::Max: return call2("max", [](Expr a, Expr b) { return max(a, b); });
    case Node::SaturatingAdd: return call2("saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); });
    case Node::SaturatingSub: return call2("saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); });
    case Node::HalvingAdd: return call2("halving_add", [](Expr a, Expr b) { return halving_add(a, b); });
    case Node::RoundingHalvingAdd:
        return call2("rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); });
    case Node::AbsDiff:
        return cast_to(n.type, call2("absd", [](Expr a, Expr b) { return absd(a, b); }));
    case Node::ShiftLeft: {
        Both a = child(0);
        return {a.e << n.value, "(" + a.text + " << " + std::to_string(n.value) + ")"};
    }
    case Node::ShiftRight: {
        Both a = child(0);
        return {a.e >> n.value, "(" + a.text + " >> " + std::to_string(n.value) + ")"};
    }
    case Node::SelectLess: {
        Both a = child(0), b = child(1), c = child(2), d = child(3);
        return {select(a.e < b.e, c.e, d.e), "select(" + a.text + " < " + b.text + ", " + c.text + ", " + d.text + ")"};
    }
    case Node::SelectEqual: {
        Both a = child(0), b = child(1), c = child(2), d = child(3);
        return {select(a.e == b.e, c.e, d.e), "select(" + a.text + " == " + b.text + ", " + c.text + ", " + d.text + ")"};
    }
    case Node::Clamp: {
        Both a = child(0), lo = constant(n.type, n.value / 2), hi = constant(n.type, n.value);
        return {clamp(a.e, lo.e, hi.e), "clamp(" + a.text + ", " + lo.text + ", " + hi.text + ")"};
    }
    case Node::Widened: {
        // A sum in double width, brought back by a shift: the shape of fixed-point code.
        Both a = child(0), b = child(1);
        const Type wide = n.type.widen();
        Both wa = cast_to(wide, a), wb = cast_to(wide, b);
        Both sum = {(wa.e + wb.e + Internal::make_const(wide, 1)) >> 1,
                    "((" + wa.text + " + " + wb.text + " + " + constant(wide, 1).text + ") >> 1)"};
        return cast_to(n.type, sum);
    }
    default:
        return constant(n.type, 1);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Definitions

struct Text {
    std::ostringstream *out = nullptr;
    template<typename T>
    Text &operator<<(const T &v) {
        if (out) {
            *out << v;
        }
        return *this;
    }
};

std::string tuple_text(const std::vector<Both> &values) {
    if (values.size() == 1) {
        return values[0].text;
    }
    std::string s = "Tuple(";
    for (size_t i = 0; i < values.size(); i++) {
        s += (i ? ", " : "") + values[i].text;
    }
    return s + ")";
}

void define(FuncRef ref, const std::vector<Both> &values) {
    if (values.size() == 1) {
        ref = values[0].e;
    } else {
        std::vector<Expr> exprs;
        for (const Both &b : values) {
            exprs.push_back(b.e);
        }
        ref = Tuple(exprs);
    }
}

void define_update(Func f, int index, const UpdateSpec &u, const FuncSpec &spec, int update, const Program &p,
                   const Environment &env, Text text) {
    const std::string name = "f" + std::to_string(index), r_name = "r" + std::to_string(index) + std::to_string(update);
    const bool scan = u.kind == UpdateSpec::ScanX || u.kind == UpdateSpec::ScanY;
    const int ex = scan ? u.extent_x + 3 : u.extent_x;
    const int ey = scan ? 1 : u.extent_y;
    auto combine = [&](const Both &old, const Both &v, const Type &t) {
        if (u.kind == UpdateSpec::ReduceMax) {
            return Both{max(old.e, v.e), "max(" + old.text + ", " + v.text + ")"};
        }
        if (may_overflow(t)) {
            return Both{old.e ^ v.e, "(" + old.text + " ^ " + v.text + ")"};
        }
        return Both{old.e + v.e, "(" + old.text + " + " + v.text + ")"};
    };
    auto element = [&](const Both &x, const Both &y, size_t i) {
        const std::string at = name + "(" + x.text + ", " + y.text + ")";
        return spec.types.size() == 1 ? Both{f(x.e, y.e), at} :
                                        Both{f(x.e, y.e)[(int)i], at + "[" + std::to_string(i) + "]"};
    };
    Environment inner = env;
    Both lhs_x = env.x, lhs_y = env.y, old_x = env.x, old_y = env.y;
    if (u.kind != UpdateSpec::PureAdd) {
        RDom r(0, ex, 0, ey, r_name);
        text << "    RDom " << r_name << "(0, " << ex << ", 0, " << ey << ", \"" << r_name << "\");\n";
        Both rx = {r.x, r_name + ".x"}, ry = {r.y, r_name + ".y"};
        if (u.where) {
            r.where(r.x + r.y < ex);
            text << "    " << r_name << ".where(" << r_name << ".x + " << r_name << ".y < " << ex << ");\n";
        }
        if (u.kind == UpdateSpec::ReduceAdd || u.kind == UpdateSpec::ReduceMax) {
            inner.x = {env.x.e + r.x, "(" + env.x.text + " + " + rx.text + ")"};
            inner.y = {env.y.e + r.y, "(" + env.y.text + " + " + ry.text + ")"};
        } else if (u.kind == UpdateSpec::Histogram) {
            inner.x = rx;
            inner.y = ry;
            Both i = walk(*u.index, p, inner);
            lhs_x = old_x = {cast<int>(i.e) % 8, "(cast<int>(" + i.text + ") % 8)"};
        } else if (u.kind == UpdateSpec::ScanX) {
            lhs_x = {r.x + 1, "(" + rx.text + " + 1)"};
            old_x = rx;
            inner.x = rx;
        } else {
            lhs_y = {r.x + 1, "(" + rx.text + " + 1)"};
            old_y = rx;
            inner.y = rx;
        }
    }
    std::vector<Both> values;
    for (size_t i = 0; i < spec.types.size(); i++) {
        Both v = walk(*u.values[i], p, inner);
        values.push_back(combine(element(old_x, old_y, i), v, spec.types[i]));
    }
    text << "    " << name << "(" << lhs_x.text << ", " << lhs_y.text << ") = " << tuple_text(values) << ";\n";
    define(f(lhs_x.e, lhs_y.e), values);
}

std::vector<Buffer<>> make_inputs(const Program &p) {
    std::vector<Buffer<>> inputs;
    for (size_t i = 0; i < p.inputs.size(); i++) {
        Buffer<> b(p.inputs[i], std::vector<int>{p.width + 3, p.height + 2}, "input" + std::to_string(i));
        uint32_t state = (uint32_t)(p.seed * 31 + i);
        uint8_t *bytes = (uint8_t *)b.data();
        for (size_t k = 0; k < b.size_in_bytes(); k++) {
            bytes[k] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
        }
        inputs.push_back(b);
    }
    return inputs;
}

Built build_algorithm(const Program &p, Text text) {
    Built built;
    built.inputs = make_inputs(p);
    std::vector<Func> inputs;
    for (size_t i = 0; i < built.inputs.size(); i++) {
        inputs.push_back(BoundaryConditions::repeat_edge(built.inputs[i]));
        text << "    Buffer<" << cpp_type(p.inputs[i]) << "> input" << i << " = make_input<" << cpp_type(p.inputs[i]) << ">("
             << p.width + 3 << ", " << p.height + 2 << ", " << (uint32_t)(p.seed * 31 + i) << "u);\n"
             << "    Func in" << i << " = BoundaryConditions::repeat_edge(input" << i << ");\n";
    }
    Var x("x"), y("y");
    Environment env{&built.funcs, &inputs, {x, "x"}, {y, "y"}};
    for (size_t i = 0; i < p.funcs.size(); i++) {
        const std::string name = "f" + std::to_string(i);
        Func f("fz" + std::to_string(i) + "_");
        built.funcs.push_back(f);
        text << "    Func " << name << "(\"" << name << "_\");\n";
        std::vector<Both> values;
        for (const NodePtr &n : p.funcs[i].values) {
            values.push_back(walk(*n, p, env));
        }
        text << "    " << name << "(x, y) = " << tuple_text(values) << ";\n";
        define(f(x, y), values);
        for (size_t u = 0; u < p.funcs[i].updates.size(); u++) {
            define_update(f, (int)i, p.funcs[i].updates[u], p.funcs[i], (int)u, p, env, text);
        }
    }
    return built;
}

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

template<typename Target>
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
    } else if (d.kind == "unroll") {
        s.unroll(v(0), d.numbers[0], d.tail);
    } else if (d.kind == "parallel") {
        s.parallel(v(0));
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

/// Draws directives that should be legal: keeps the list of loops of each stage.
struct Scheduler {
    const Program &program;
    Random random;
    Schedule schedule;
    std::vector<std::vector<std::string>> loops;    // of pure stages, innermost first
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
                d.numbers = {own.upto(2)};   // a second hint, or no factor
                add(d);
            }
        }
    }

    void pure_loops(int f) {
        std::vector<std::string> &dims = loops[f];
        static const std::vector<TailStrategy> tails = {
            TailStrategy::Auto,        TailStrategy::Auto,        TailStrategy::RoundUp,        TailStrategy::GuardWithIf,
            TailStrategy::ShiftInwards, TailStrategy::Predicate,   TailStrategy::PredicateLoads, TailStrategy::PredicateStores,
            TailStrategy::RoundUpAndBlend, TailStrategy::ShiftInwardsAndBlend};
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
        if (spec.kind == UpdateSpec::PureAdd || spec.kind == UpdateSpec::ReduceAdd || spec.kind == UpdateSpec::ReduceMax) {
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
                break;   // the split changed the names
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
            for (size_t u = 0; u < spec.updates.size(); u++) {
                first = schedule.directives.size();
                update_loops(f, (int)u);
                std::vector<std::string> names = {spec.updates[u].kind == UpdateSpec::ScanX ? "y" : "x"};
                if (spec.updates[u].kind != UpdateSpec::PureAdd) {
                    names.push_back("r" + std::to_string(f) + std::to_string(u) + "$x");
                }
                unroll_hints(f, (int)u, names, first);
            }
            if (f < count - 1 && random.one_in(5)) {
                Directive d;
                d.func = f;
                d.kind = random.pick(std::vector<std::string>{"reorder_storage", "align_storage", "store_in_heap", "align_bounds"});
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

Program make_program(uint64_t seed) {
    Generator g(seed);
    g.make();
    return g.program;
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

Built build(const Program &program, const Schedule &schedule) {
    Built b = build_algorithm(program, Text());
    for (const Directive &d : schedule.directives) {
        apply(b, d);
    }
    return b;
}

std::string print(const Program &program, const Schedule &schedule) {
    std::ostringstream out;
    out << "// seed " << program.seed << "\n#include \"Halide.h\"\n#include <cstdio>\nusing namespace Halide;\n\n"
        << "template<typename T>\nBuffer<T> make_input(int w, int h, uint32_t state) {\n    Buffer<T> b(w, h);\n"
        << "    uint8_t *bytes = (uint8_t *)b.data();\n    for (size_t k = 0; k < b.size_in_bytes(); k++) {\n"
        << "        bytes[k] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);\n    }\n    return b;\n}\n\n"
        << "Realization run(bool scheduled) {\n    Var x(\"x\"), y(\"y\");\n";
    build_algorithm(program, Text{&out});
    out << "    if (scheduled) {\n";
    for (const Directive &d : schedule.directives) {
        out << "        " << directive_text(d) << "\n";
    }
    out << "    }\n    return f" << program.funcs.size() - 1 << ".realize({" << program.width << ", " << program.height
        << "});\n}\n\nint main() {\n    Realization a = run(false), b = run(true);\n    int differences = 0;\n"
        << "    for (size_t i = 0; i < a.size(); i++) {\n"
        << "        for (int y = 0; y < " << program.height << "; y++) {\n            for (int x = 0; x < " << program.width
        << "; x++) {\n                int p[] = {x, y};\n"
        << "                if (memcmp(a[i].raw_buffer()->address_of(p), b[i].raw_buffer()->address_of(p), a[i].type().bytes())) "
           "{\n                    printf(\"element %d differs at (%d, %d)\\n\", (int)i, x, y);\n                    "
           "differences++;\n                }\n            }\n        }\n    }\n    return differences != 0;\n}\n";
    return out.str();
}

}  // namespace fuzz
