#include "lower/bounds/ExternBounds.h"

#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

const Type buffer_type() {
    return type_of<struct halide_buffer_t *>();
}

Expr symbol(const std::string &name) {
    return Variable::make(Int(32), name);
}

std::string prefix_of(const Function &f) {
    return f.name() + ".s0.";
}

/// A buffer that an extern stage reads: one value of a Func, an image parameter, or an embedded image.
struct Input {
    std::string name;     // of the Func or image
    std::string query;    // of the buffer in the bounds query
    Type type;
    int dimensions = 0;
    bool is_func = false;
    Expr buffer;          // for images: the real one
};

Expr buffer_variable(const std::string &name, const Parameter &param) {
    return Variable::make(buffer_type(), name + ".buffer", param);
}

std::vector<Input> inputs_of(const Function &f) {
    std::vector<Input> result;
    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        if (arg.is_func()) {
            const Function g(arg.func);
            for (int i = 0; i < g.outputs(); i++) {
                result.push_back({g.name(), g.name() + ".o" + std::to_string(i) + ".bounds_query." + f.name(),
                                  g.output_types()[i], g.dimensions(), true, Expr()});
            }
        } else if (arg.is_image_param()) {
            const Parameter &p = arg.image_param;
            result.push_back({p.name(), p.name() + ".bounds_query." + f.name(), p.type(), p.dimensions(), false,
                              buffer_variable(p.name(), p)});
        } else if (arg.is_buffer()) {
            const Buffer<> &b = arg.buffer;
            result.push_back({b.name(), b.name() + ".bounds_query." + f.name(), b.type(), b.dimensions(), false,
                              Variable::make(buffer_type(), b.name() + ".buffer", b)});
        }
    }
    return result;
}

std::string required_symbol(const Function &f, const Input &in, int d, const char *end) {
    return prefix_of(f) + "requires." + in.query + "." + std::to_string(d) + "." + end;
}

Expr stack_memory(Type t, const Expr &bytes) {
    return Call::make(t, Call::alloca, {bytes}, Call::Intrinsic);
}

Expr new_buffer_struct() {
    return stack_memory(buffer_type(), Call::make(Int(32), Call::size_of_halide_buffer_t, {}, Call::Intrinsic));
}

Expr new_shape(int dimensions) {
    return stack_memory(type_of<struct halide_dimension_t *>(), (int)sizeof(halide_dimension_t) * dimensions);
}

/// A buffer with a shape but no memory.
Expr query_buffer(const Type &t, const std::vector<Expr> &shape) {
    const int dimensions = (int)shape.size() / 4;
    const Expr values =
        Call::make(type_of<struct halide_dimension_t *>(), Call::make_struct, shape, Call::Intrinsic);
    return Call::make(buffer_type(), Call::buffer_init,
                      {new_buffer_struct(), new_shape(dimensions), make_zero(Handle()), make_zero(UInt(64)),
                       make_zero(type_of<const struct halide_device_interface_t *>()), (int)t.code(), t.bits(), dimensions,
                       values, make_zero(UInt(64))},
                      Call::Extern);
}

Expr buffer_end(const Expr &buffer, int d, bool upper) {
    return Call::make(Int(32), upper ? Call::buffer_get_max : Call::buffer_get_min, {buffer, d}, Call::Extern);
}

}  // namespace

void keep_outer(std::vector<BoundsStep> &steps, const std::string &name) {
    steps.push_back({name + ".outer", symbol(name), Stmt()});
}

std::map<std::string, Box> extern_stage_requirements(const Function &f, const Target &target) {
    std::map<std::string, Box> result;
    for (const Input &in : inputs_of(f)) {
        Box box;
        for (int d = 0; d < in.dimensions; d++) {
            box.push_back(Interval(symbol(required_symbol(f, in, d, "min")), symbol(required_symbol(f, in, d, "max"))));
        }
        merge_boxes(result[in.name], box);
    }
    return result;
}

void add_extern_query(std::vector<BoundsStep> &steps, const Function &f, bool at_root, LowerContext &ctx) {
    // The caller has kept the outer region of the stage itself.
    const std::string prefix = prefix_of(f);
    const std::vector<std::string> args = f.args();
    const std::vector<Input> inputs = inputs_of(f);

    std::vector<Expr> shape;
    Expr stride = 1;
    for (const std::string &arg : args) {
        const Expr min = symbol(prefix + arg + ".min"), extent = symbol(prefix + arg + ".max") - min + 1;
        shape.insert(shape.end(), {min, extent, stride, 0});
        stride = stride * extent;
    }
    std::vector<Expr> call_args;
    size_t next_input = 0;
    for (const ExternFuncArgument &arg : f.extern_arguments()) {
        if (arg.is_expr()) {
            call_args.push_back(arg.expr);
            continue;
        }
        const int buffers = arg.is_func() ? Function(arg.func).outputs() : 1;
        for (int i = 0; i < buffers; i++) {
            const Input &in = inputs[next_input++];
            Expr buffer;
            if (in.is_func) {
                buffer = query_buffer(in.type, std::vector<Expr>(4 * in.dimensions, Expr(0)));
            } else {
                // Its shape without its memory: the answer must not change the real one.
                std::vector<Expr> in_shape;
                for (int d = 0; d < in.dimensions; d++) {
                    for (const char *field : {Call::buffer_get_min, Call::buffer_get_extent, Call::buffer_get_stride}) {
                        in_shape.push_back(Call::make(Int(32), field, {in.buffer, d}, Call::Extern));
                    }
                    in_shape.push_back(0);
                }
                buffer = query_buffer(in.type, in_shape);
            }
            steps.push_back({in.query, buffer, Stmt()});
            call_args.push_back(Variable::make(buffer_type(), in.query));
        }
    }
    const std::string output = f.name() + ".o0.bounds_query";
    for (int i = 0; i < f.outputs(); i++) {
        const std::string name = f.name() + ".o" + std::to_string(i) + ".bounds_query";
        steps.push_back({name, query_buffer(f.output_types()[i], shape), Stmt()});
        call_args.push_back(Variable::make(buffer_type(), name));
    }

    const std::string result_name = prefix + "bounds_query_result";
    const Expr result = symbol(result_name);
    const Expr error = Call::make(Int(32), "halide_error_bounds_inference_call_failed",
                                  {Expr(f.extern_function_name()), result}, Call::Extern);
    const Stmt query = LetStmt::make(result_name, f.make_call_to_extern_definition(call_args, ctx.target),
                                     AssertStmt::make(result == 0, error));
    steps.push_back({"", Expr(), query});

    auto read_back = [&](const std::string &min, const std::string &max, const Expr &buffer, int d) {
        Expr low = buffer_end(buffer, d, false), high = buffer_end(buffer, d, true);
        if (!at_root) {
            low = clamp(low, symbol(min + ".outer"), symbol(max + ".outer"));
            high = clamp(high, symbol(min + ".outer"), symbol(max + ".outer"));
        }
        steps.push_back({min, low, Stmt()});
        steps.push_back({max, high, Stmt()});
    };
    const Expr out = Variable::make(buffer_type(), output);
    for (size_t d = 0; d < args.size(); d++) {
        // The region asked for is inside that of the level outside: it may only grow to what was found there.
        read_back(prefix + args[d] + ".min", prefix + args[d] + ".max", out, (int)d);
    }
    for (const Input &in : inputs) {
        const Expr buffer = Variable::make(buffer_type(), in.query);
        for (int d = 0; d < in.dimensions; d++) {
            const std::string min = required_symbol(f, in, d, "min"), max = required_symbol(f, in, d, "max");
            if (!at_root) {
                keep_outer(steps, min);
                keep_outer(steps, max);
            }
            read_back(min, max, buffer, d);
        }
    }
}

std::vector<Interval> extern_region_inside(const Function &f, const Stmt &body) {
    const std::map<std::string, Box> provided = boxes_provided(body);
    auto it = provided.find(f.name());
    return it == provided.end() ? std::vector<Interval>(f.dimensions()) : it->second.bounds;
}

Stmt declare_extern_accesses(const Function &f, const Target &target) {
    std::vector<Stmt> declarations;
    auto declare = [&](const std::string &name, const Box &box) {
        std::vector<Expr> args = {StringImm::make(name)};
        for (const Interval &i : box.bounds) {
            args.push_back(i.min);
            args.push_back(i.max);
        }
        declarations.push_back(
            Evaluate::make(Call::make(Int(32), Call::declare_box_touched, args, Call::Intrinsic)));
    };
    for (const auto &required : extern_stage_requirements(f, target)) {
        declare(required.first, required.second);
    }
    return declarations.empty() ? Stmt() : Block::make(declarations);
}

}  // namespace Internal
}  // namespace Halide
