#include "ProgramGenerator.h"

#include "api/ImageParam.h"

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

    std::vector<Type> types = element_types;  // of Funcs and inputs

    Generator(uint64_t seed, Values values) : random(seed) {
        program.seed = seed;
        program.values = values;
        if (lane_wise()) {
            const int bits = random.pick(std::vector<int>{8, 8, 8, 16, 16, 32});
            types = {UInt(bits), UInt(bits), Int(bits)};
            if (random.one_in(5)) {
                types.push_back(UInt(bits == 8 ? 16 : 8));
            }
        }
    }

    bool lane_wise() const { return program.values == Values::LaneWise; }

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

    static int operands_of(Node::Op op) {
        switch (op) {
        case Node::SelectLess:
        case Node::SelectEqual:
        case Node::SelectBoth:
            return 4;
        case Node::Clamp:
        case Node::MulConstant:
        case Node::DivConstant:
        case Node::ModConstant:
        case Node::Not:
        case Node::Popcount:
            return 1;
        default:
            return 2;
        }
    }

    NodePtr expr(const Type &t, int depth, int funcs_so_far) {
        if (depth == 0 || random.one_in(5)) {
            return leaf(t, funcs_so_far);
        }
        auto n = std::make_shared<Node>();
        n->type = t;
        static const std::vector<Node::Op> any = {Node::Add,
                                                  Node::Sub,
                                                  Node::Mul,
                                                  Node::Div,
                                                  Node::Mod,
                                                  Node::Min,
                                                  Node::Max,
                                                  Node::And,
                                                  Node::Or,
                                                  Node::Xor,
                                                  Node::ShiftLeft,
                                                  Node::ShiftRight,
                                                  Node::AbsDiff,
                                                  Node::SaturatingAdd,
                                                  Node::SaturatingSub,
                                                  Node::HalvingAdd,
                                                  Node::RoundingHalvingAdd,
                                                  Node::SelectLess,
                                                  Node::SelectEqual,
                                                  Node::Clamp,
                                                  Node::Widened,
                                                  Node::Add,
                                                  Node::Min,
                                                  Node::Max,
                                                  Node::SelectLess};
        static const std::vector<Node::Op> bounded = {
            Node::Div,   Node::Mod,        Node::Min,          Node::Max,        Node::And,
            Node::Or,    Node::Xor,        Node::ShiftRight,   Node::SelectLess, Node::SelectEqual,
            Node::Clamp, Node::HalvingAdd, Node::SaturatingAdd};
        static const std::vector<Node::Op> any_lane_wise = {Node::Add,
                                                            Node::Sub,
                                                            Node::Min,
                                                            Node::Max,
                                                            Node::And,
                                                            Node::Or,
                                                            Node::Xor,
                                                            Node::Not,
                                                            Node::ShiftLeft,
                                                            Node::ShiftRight,
                                                            Node::ShiftLeftBy,
                                                            Node::ShiftRightBy,
                                                            Node::AbsDiff,
                                                            Node::SaturatingAdd,
                                                            Node::SaturatingSub,
                                                            Node::HalvingAdd,
                                                            Node::RoundingHalvingAdd,
                                                            Node::SelectLess,
                                                            Node::SelectEqual,
                                                            Node::SelectBoth,
                                                            Node::Clamp,
                                                            Node::MulConstant,
                                                            Node::DivConstant,
                                                            Node::ModConstant,
                                                            Node::Popcount,
                                                            Node::Widened};
        static const std::vector<Node::Op> bounded_lane_wise = {
            Node::Min,         Node::Max,        Node::And,           Node::Or,         Node::Xor,   Node::Not,
            Node::ShiftRight,  Node::SelectLess, Node::SelectEqual,   Node::SelectBoth, Node::Clamp, Node::DivConstant,
            Node::ModConstant, Node::HalvingAdd, Node::SaturatingAdd, Node::Popcount};
        n->op = random.pick(may_overflow(t) ? (lane_wise() ? bounded_lane_wise : bounded)
                                            : (lane_wise() ? any_lane_wise : any));
        const int operands = operands_of(n->op);
        if (n->op == Node::ShiftLeft || n->op == Node::ShiftRight) {
            n->value = random.upto(t.bits());
            n->children = {expr(t, depth - 1, funcs_so_far)};
            return n;
        }
        if (n->op == Node::Clamp) {
            n->value = random.between(1, 60);
        }
        if (n->op == Node::MulConstant || n->op == Node::DivConstant || n->op == Node::ModConstant) {
            n->value = random.one_in(3) ? 1 << random.upto(7) : random.between(1, 120);
            n->value = t.is_int() && !may_overflow(t) && random.one_in(4) ? -n->value : n->value;
        }
        for (int i = 0; i < operands; i++) {
            n->children.push_back(expr(t, depth - 1, funcs_so_far));
        }
        return n;
    }

    UpdateSpec update(const FuncSpec &f, int funcs_so_far) {
        UpdateSpec u;
        static const std::vector<UpdateSpec::Kind> kinds = {UpdateSpec::PureAdd,   UpdateSpec::ReduceAdd,
                                                            UpdateSpec::ReduceMax, UpdateSpec::Histogram,
                                                            UpdateSpec::ScanX,     UpdateSpec::ScanY};
        u.kind = random.pick(kinds);
        if (u.kind == UpdateSpec::Histogram && lane_wise()) {
            u.kind = UpdateSpec::ReduceAdd;
        }
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
            program.inputs.push_back(random.pick(types));
        }
        const int count = random.between(1, 6);
        for (int i = 0; i < count; i++) {
            FuncSpec f;
            const int values = random.one_in(6) ? 2 : 1;
            for (int v = 0; v < values; v++) {
                f.types.push_back(random.pick(types));
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
    Both x, y;  // the current point
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
            v = {func(x.e, y.e)[n.element],
                 name + "(" + x.text + ", " + y.text + ")[" + std::to_string(n.element) + "]"};
        }
        return into(n.type, f.types[n.element], v);
    }
    case Node::Input: {
        Both x = offset(env.x, n.dx), y = offset(env.y, n.dy);
        Both v = {(*env.inputs)[n.value](x.e, y.e),
                  "in" + std::to_string(n.value) + "(" + x.text + ", " + y.text + ")"};
        return into(n.type, p.inputs[n.value], v);
    }
    case Node::Add:
        return infix("+", [](Expr a, Expr b) { return a + b; });
    case Node::Sub:
        return infix("-", [](Expr a, Expr b) { return a - b; });
    case Node::Mul:
        return infix("*", [](Expr a, Expr b) { return a * b; });
    case Node::Div:
        return infix("/", [](Expr a, Expr b) { return a / b; });
    case Node::Mod:
        return infix("%", [](Expr a, Expr b) { return a % b; });
    case Node::And:
        return infix("&", [](Expr a, Expr b) { return a & b; });
    case Node::Or:
        return infix("|", [](Expr a, Expr b) { return a | b; });
    case Node::Xor:
        return infix("^", [](Expr a, Expr b) { return a ^ b; });
    case Node::Min:
        return call2("min", [](Expr a, Expr b) { return min(a, b); });
    case Node::Max:
        return call2("max", [](Expr a, Expr b) { return max(a, b); });
    case Node::SaturatingAdd:
        return call2("saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); });
    case Node::SaturatingSub:
        return call2("saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); });
    case Node::HalvingAdd:
        return call2("halving_add", [](Expr a, Expr b) { return halving_add(a, b); });
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
    case Node::ShiftLeftBy:
    case Node::ShiftRightBy: {
        Both a = child(0), b = child(1);
        const Type amounts = UInt(n.type.bits());
        Both by = cast_to(amounts, b);
        const Both most = constant(amounts, n.type.bits() - 1);
        by = {by.e & most.e, "(" + by.text + " & " + most.text + ")"};
        return n.op == Node::ShiftLeftBy ? Both{a.e << by.e, "(" + a.text + " << " + by.text + ")"}
                                         : Both{a.e >> by.e, "(" + a.text + " >> " + by.text + ")"};
    }
    case Node::MulConstant: {
        Both a = child(0), b = constant(n.type, n.value);
        return {a.e * b.e, "(" + a.text + " * " + b.text + ")"};
    }
    case Node::DivConstant: {
        Both a = child(0), b = constant(n.type, n.value);
        return {a.e / b.e, "(" + a.text + " / " + b.text + ")"};
    }
    case Node::ModConstant: {
        Both a = child(0), b = constant(n.type, n.value);
        return {a.e % b.e, "(" + a.text + " % " + b.text + ")"};
    }
    case Node::Not: {
        Both a = child(0);
        return {~a.e, "(~" + a.text + ")"};
    }
    case Node::Popcount: {
        Both a = child(0);
        return {popcount(a.e), "popcount(" + a.text + ")"};
    }
    case Node::SelectBoth: {
        Both a = child(0), b = child(1), c = child(2), d = child(3);
        return {select(a.e <= b.e && c.e != d.e, a.e, d.e), "select(" + a.text + " <= " + b.text + " && " + c.text +
                                                                " != " + d.text + ", " + a.text + ", " + d.text + ")"};
    }
    case Node::SelectLess: {
        Both a = child(0), b = child(1), c = child(2), d = child(3);
        return {select(a.e < b.e, c.e, d.e), "select(" + a.text + " < " + b.text + ", " + c.text + ", " + d.text + ")"};
    }
    case Node::SelectEqual: {
        Both a = child(0), b = child(1), c = child(2), d = child(3);
        return {select(a.e == b.e, c.e, d.e),
                "select(" + a.text + " == " + b.text + ", " + c.text + ", " + d.text + ")"};
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
    template <typename T>
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
        return spec.types.size() == 1 ? Both{f(x.e, y.e), at}
                                      : Both{f(x.e, y.e)[(int)i], at + "[" + std::to_string(i) + "]"};
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
        if (p.parameters) {
            ImageParam parameter(p.inputs[i], 2, built.inputs[i].name());
            parameter.set(built.inputs[i]);
            inputs.push_back(BoundaryConditions::repeat_edge(parameter));
        } else {
            inputs.push_back(BoundaryConditions::repeat_edge(built.inputs[i]));
        }
        text << "    Buffer<" << cpp_type(p.inputs[i]) << "> input" << i << " = make_input<" << cpp_type(p.inputs[i])
             << ">(" << p.width + 3 << ", " << p.height + 2 << ", " << (uint32_t)(p.seed * 31 + i) << "u);\n"
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

}  // namespace

Program make_program(uint64_t seed, Values values) {
    Generator g(seed, values);
    g.make();
    return g.program;
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
        << "        for (int y = 0; y < " << program.height << "; y++) {\n            for (int x = 0; x < "
        << program.width << "; x++) {\n                int p[] = {x, y};\n"
        << "                if (memcmp(a[i].raw_buffer()->address_of(p), b[i].raw_buffer()->address_of(p), "
           "a[i].type().bytes())) "
           "{\n                    printf(\"element %d differs at (%d, %d)\\n\", (int)i, x, y);\n                    "
           "differences++;\n                }\n            }\n        }\n    }\n    return differences != 0;\n}\n";
    return out.str();
}

}  // namespace fuzz
