#include "lower/checks/ImageChecks.h"

#include <optional>
#include <set>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "regions/Bounds.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// One buffer of the pipeline's interface, or one embedded in its algorithm.
struct CheckedBuffer {
    std::string name;
    Type type;
    int dimensions = 0;
    bool is_output = false;
    Parameter param;          // undefined for embedded images
    Buffer<> image;           // undefined for parameters
    std::string func;         // outputs: the Func whose box this is
    std::string shaped_like;  // later elements of a tuple: the first one, whose mins and extents they have
};

/// Finds the images that a statement reads.
class FindImages : public IRGraphVisitor {
public:
    std::map<std::string, CheckedBuffer> found;

protected:
    using IRGraphVisitor::visit;

    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        if (op->call_type != Call::Image) {
            return;
        }
        CheckedBuffer b;
        b.name = op->name;
        b.type = op->type.element_of();
        b.dimensions = (int)op->args.size();
        b.param = op->param;
        b.image = op->image;
        found.emplace(op->name, b);
    }

    void visit(const Variable *op) override {
        if (op->param.defined() && op->param.is_buffer()) {
            add_parameter(op->param);
        } else if (op->image.defined()) {
            CheckedBuffer b;
            b.name = op->image.name();
            b.type = op->image.type();
            b.dimensions = op->image.dimensions();
            b.image = op->image;
            found.emplace(b.name, b);
        }
    }

private:
    void add_parameter(const Parameter &p) {
        CheckedBuffer b;
        b.name = p.name();
        b.type = p.type();
        b.dimensions = p.dimensions();
        b.param = p;
        found.emplace(b.name, b);
    }
};

Expr int_symbol(const std::string &name) {
    return Variable::make(Int(32), name);
}

Expr buffer_symbol(const CheckedBuffer &b) {
    return Variable::make(type_of<struct halide_buffer_t *>(), b.name + ".buffer");
}

Expr buffer_call(Type t, const char *name, const CheckedBuffer &b) {
    return Call::make(t, name, {buffer_symbol(b)}, Call::Extern);
}

Expr error_call(const char *name, const std::vector<Expr> &args) {
    return Call::make(Int(32), name, args, Call::Extern);
}

std::string symbol(const CheckedBuffer &b, const char *field, int d) {
    return b.name + "." + field + "." + std::to_string(d);
}

/// Everything derived for one buffer: which region the pipeline touches, and the asserts about it.
class BufferChecks {
public:
    BufferChecks(const CheckedBuffer &b, const Box &touched, const LowerContext &ctx) : b(b), touched(touched), ctx(ctx) {
        error_name = Expr((b.is_output ? "Output" : "Input") + std::string(" buffer ") + b.name);
        const Type wide = Int(64);
        max_size = make_const(wide, (int64_t)ctx.target.maximum_buffer_size());
        is_query = Variable::make(Bool(), b.name + ".is_query");
    }

    /// Lets that define `b.min.d.required` and `b.extent.d.required`.
    void required_lets(std::vector<std::pair<std::string, Expr>> &lets) const {
        for (int d = 0; d < b.dimensions; d++) {
            Expr min = int_symbol(symbol(b, "min", d)), extent = int_symbol(symbol(b, "extent", d));
            if (d < (int)touched.bounds.size()) {
                const Interval &i = touched.bounds[d];
                user_assert(i.is_bounded()) << "Buffer " << b.name << " may be accessed in an unbounded way in dimension "
                                            << d << ".\n  Clamp the index, or bound the Func that computes it.\n";
                Expr box_min = i.min, box_extent = i.max + 1 - i.min;
                if (touched.used.defined() && !is_const_one(touched.used)) {
                    // Nothing is touched unless `used` holds: then any region inside the buffer will do.
                    box_min = select(touched.used, box_min, min);
                    box_extent = select(touched.used, box_extent, make_zero(Int(32)));
                }
                min = box_min;
                extent = box_extent;
            }
            lets.emplace_back(symbol(b, "min", d) + ".required", simplify(min));
            lets.emplace_back(symbol(b, "extent", d) + ".required", simplify(extent));
        }
    }

    /// Adds the symbols of its mins and extents with what is required, and with their constraints.
    void required_shape(std::map<std::string, Expr> &required, std::map<std::string, Expr> &constraints) const {
        for (int d = 0; d < b.dimensions; d++) {
            for (const auto &[field, get] : {std::make_pair("min", &Parameter::min_constraint),
                                             std::make_pair("extent", &Parameter::extent_constraint)}) {
                const std::string name = symbol(b, field, d);
                required[name] = int_symbol(name + ".required");
                if (const Expr c = constraint(get, d); c.defined()) {
                    constraints[name] = c;
                }
            }
        }
    }

    /// The shape to write if this buffer is a bounds query: what is required, as far as the constraints allow.
    void proposed_lets(const std::map<std::string, Expr> &to_required,
                       std::vector<std::pair<std::string, Expr>> &lets) const {
        Expr stride = 1;
        for (int d = 0; d < b.dimensions; d++) {
            Expr min = int_symbol(symbol(b, "min", d) + ".required");
            Expr extent = int_symbol(symbol(b, "extent", d) + ".required");
            if (Expr c = constraint(&Parameter::min_constraint, d); c.defined()) {
                min = substitute(to_required, c);
            }
            if (Expr c = constraint(&Parameter::extent_constraint, d); c.defined()) {
                extent = substitute(to_required, c);
            }
            if (Expr c = constraint(&Parameter::stride_constraint, d); c.defined()) {
                stride = substitute(to_required, c);
            }
            lets.emplace_back(symbol(b, "min", d) + ".proposed", min);
            lets.emplace_back(symbol(b, "extent", d) + ".proposed", extent);
            lets.emplace_back(symbol(b, "stride", d) + ".proposed", stride);
            stride = int_symbol(symbol(b, "stride", d) + ".proposed") * int_symbol(symbol(b, "extent", d) + ".proposed");
        }
    }

    /// `if (b is a query) { assert that the constraints leave room; write the proposed shape }`
    Stmt answer_query() const {
        std::vector<Stmt> stmts;
        std::vector<Expr> shape;
        for (int d = 0; d < b.dimensions; d++) {
            Expr min = int_symbol(symbol(b, "min", d) + ".proposed");
            Expr extent = int_symbol(symbol(b, "extent", d) + ".proposed");
            Expr stride = int_symbol(symbol(b, "stride", d) + ".proposed");
            Expr min_req = int_symbol(symbol(b, "min", d) + ".required");
            Expr extent_req = int_symbol(symbol(b, "extent", d) + ".required");
            shape.insert(shape.end(), {min, extent, stride, make_zero(Int(32))});
            if (constraint(&Parameter::min_constraint, d).defined() ||
                constraint(&Parameter::extent_constraint, d).defined()) {
                stmts.push_back(AssertStmt::make(
                    min <= min_req && min + extent >= min_req + extent_req,
                    error_call("halide_error_constraints_make_required_region_smaller",
                               {error_name, d, min, extent, min_req, extent_req})));
            }
        }
        const Type handle = Handle();
        Expr shape_struct = Call::make(type_of<struct halide_dimension_t *>(), Call::make_struct, shape, Call::Intrinsic);
        std::vector<Expr> args = {buffer_symbol(b),
                                  buffer_call(type_of<struct halide_dimension_t *>(), Call::buffer_get_shape, b),
                                  make_zero(handle),
                                  make_zero(UInt(64)),
                                  make_zero(type_of<const struct halide_device_interface_t *>()),
                                  (int)b.type.code(),
                                  b.type.bits(),
                                  b.dimensions,
                                  shape_struct,
                                  make_zero(UInt(64))};
        stmts.push_back(Evaluate::make(
            Call::make(type_of<struct halide_buffer_t *>(), Call::buffer_init, args, Call::Extern)));
        return IfThenElse::make(is_query, Block::make(stmts));
    }

    void type_asserts(std::vector<Stmt> &asserts) const {
        const uint32_t code = (uint32_t)b.type.code() | ((uint32_t)b.type.bits() << 8);
        Expr correct_type = make_const(UInt(32), code);
        Expr given_type = buffer_call(UInt(32), Call::buffer_get_type, b);
        asserts.push_back(AssertStmt::make(given_type == correct_type,
                                           error_call("halide_error_bad_type", {error_name, given_type, correct_type})));
        Expr given_dims = buffer_call(Int(32), Call::buffer_get_dimensions, b);
        asserts.push_back(AssertStmt::make(
            given_dims == b.dimensions, error_call("halide_error_bad_dimensions", {error_name, given_dims, b.dimensions})));
    }

    /// `b.stride.0 == 1` and the like; what was asserted replaces the symbol in the body.
    void constraint_asserts(std::vector<Stmt> &asserts, std::map<std::string, Expr> &known) const {
        struct Kind {
            const char *field;
            Expr (Parameter::*get)(int) const;
        };
        static const Kind kinds[] = {{"stride", &Parameter::stride_constraint},
                                     {"min", &Parameter::min_constraint},
                                     {"extent", &Parameter::extent_constraint}};
        for (int d = 0; d < b.dimensions; d++) {
            for (const Kind &k : kinds) {
                Expr c = constraint(k.get, d);
                if (!c.defined()) {
                    continue;
                }
                const std::string name = symbol(b, k.field, d);
                Expr var = int_symbol(name);
                std::ostringstream text;
                text << c;
                asserts.push_back(AssertStmt::make(
                    var == c, error_call("halide_error_constraint_violated", {name, var, Expr(text.str()), c})));
                known.emplace(name, c);
            }
        }
    }

    void region_asserts(std::vector<Stmt> &asserts) const {
        for (int d = 0; d < b.dimensions; d++) {
            Expr min = int_symbol(symbol(b, "min", d)), extent = int_symbol(symbol(b, "extent", d));
            Expr min_req = int_symbol(symbol(b, "min", d) + ".required");
            Expr extent_req = int_symbol(symbol(b, "extent", d) + ".required");
            Expr max = min + extent - 1, max_req = min_req + extent_req - 1;
            if (d < (int)touched.bounds.size()) {
                Expr inside = min_req >= min && max_req <= max;
                if (touched.used.defined() && !is_const_one(touched.used)) {
                    inside = inside || !touched.used;
                }
                asserts.push_back(
                    AssertStmt::make(inside, error_call("halide_error_access_out_of_bounds",
                                                        {error_name, d, min_req, max_req, min, max})));
            }
            asserts.push_back(AssertStmt::make(
                extent >= 0, error_call("halide_error_buffer_extents_negative", {error_name, d, extent})));
        }
    }

    /// Bytes between the first and the last row of each dimension, and the product of extents, must be addressable.
    void size_asserts(std::vector<Stmt> &asserts) const {
        Expr total;
        for (int d = 0; d < b.dimensions; d++) {
            Expr extent = cast<int64_t>(int_symbol(symbol(b, "extent", d)));
            Expr stride = cast<int64_t>(int_symbol(symbol(b, "stride", d)));
            Expr signed_size = extent * stride * make_const(Int(64), b.type.bytes());
            Expr size = select(signed_size < make_zero(Int(64)), make_zero(Int(64)) - signed_size, signed_size);
            asserts.push_back(AssertStmt::make(size <= max_size,
                                               error_call("halide_error_buffer_allocation_too_large",
                                                          {Expr(b.name), cast<uint64_t>(size), cast<uint64_t>(max_size)})));
            if (!total.defined()) {
                total = extent;
                continue;
            }
            // Each factor is a 31-bit number and the running product was just checked, so with the 2^31 limit the
            // product cannot leave 64 bits; with the 2^63 limit the division test replaces the product.
            Expr fits;
            if (ctx.target.has_large_buffers()) {
                fits = extent == make_zero(Int(64)) ||
                       total <= max_size / max(extent, make_one(Int(64)));
            } else {
                fits = total * extent <= max_size;
            }
            total = total * extent;
            asserts.push_back(AssertStmt::make(
                fits, error_call("halide_error_buffer_extents_too_large", {Expr(b.name), total, max_size})));
        }
    }

    void pointer_asserts(std::vector<Stmt> &asserts) const {
        Expr host = buffer_call(Handle(), Call::buffer_get_host, b);
        if (b.param.defined() && b.param.host_alignment() > b.type.bytes()) {
            const int alignment = b.param.host_alignment();
            Expr address = reinterpret(UInt(64), host);
            asserts.push_back(
                AssertStmt::make(address % make_const(UInt(64), alignment) == make_zero(UInt(64)),
                                 error_call("halide_error_unaligned_host_ptr", {error_name, alignment})));
        }
        if (!b.is_output) {
            Expr dirty = buffer_call(Bool(), Call::buffer_get_device_dirty, b);
            asserts.push_back(AssertStmt::make(
                !dirty, error_call("halide_error_device_dirty_with_no_device_support", {error_name})));
        }
        asserts.push_back(AssertStmt::make(reinterpret(UInt(64), host) != make_zero(UInt(64)),
                                           error_call("halide_error_host_is_null", {error_name})));
    }

    Stmt mark_host_dirty() const {
        return Evaluate::make(
            Call::make(Int(32), Call::buffer_set_host_dirty, {buffer_symbol(b), const_true()}, Call::Extern));
    }

    /// True if the caller gave no memory.
    Expr query_condition() const { return buffer_call(Bool(), Call::buffer_is_bounds_query, b); }

    const CheckedBuffer b;

private:
    Box touched;
    const LowerContext &ctx;
    Expr error_name, max_size, is_query;

    /// What the program requires. An image that is part of the program has the shape that it has now.
    Expr constraint(Expr (Parameter::*get)(int) const, int d) const {
        if (b.param.defined()) {
            Expr c = (b.param.*get)(d);
            if (!c.defined() && !b.shaped_like.empty() && get != &Parameter::stride_constraint) {
                c = int_symbol(b.shaped_like + (get == &Parameter::min_constraint ? ".min." : ".extent.") +
                               std::to_string(d));
            }
            return c;
        }
        if (!b.image.defined()) {
            return Expr();
        }
        const auto dim = b.image.dim(d);
        return get == &Parameter::min_constraint    ? Expr(dim.min()) :
               get == &Parameter::extent_constraint ? Expr(dim.extent()) :
                                                      Expr(dim.stride());
    }
};

std::vector<CheckedBuffer> buffers_in_order(const Stmt &s, const LowerContext &ctx) {
    FindImages images;
    s.accept(&images);
    std::vector<CheckedBuffer> result;
    for (const Function &f : ctx.outputs) {
        for (const Parameter &p : f.output_buffers()) {
            CheckedBuffer b;
            b.name = p.name();
            b.type = p.type();
            b.dimensions = p.dimensions();
            b.is_output = true;
            b.param = p;
            b.func = f.name();
            if (&p != &f.output_buffers()[0]) {
                b.shaped_like = f.output_buffers()[0].name();
            }
            images.found.erase(b.name);
            result.push_back(b);
        }
    }
    for (auto &entry : images.found) {
        result.push_back(entry.second);
    }
    return result;
}

Stmt wrap_lets(const std::vector<std::pair<std::string, Expr>> &lets, Stmt s) {
    for (size_t i = lets.size(); i > 0; i--) {
        s = LetStmt::make(lets[i - 1].first, lets[i - 1].second, s);
    }
    return s;
}

/// The value to propose for a min or extent when buffers ask for their bounds. In a circle of constraints, what is
/// required decides.
Expr resolve_constraints(const std::string &name, const std::map<std::string, Expr> &required,
                         const std::map<std::string, Expr> &constraints, std::set<std::string> &open) {
    const auto c = constraints.find(name);
    if (c == constraints.end() || !open.insert(name).second) {
        return required.at(name);
    }
    const Expr value = mutate_with(c->second, [&](auto *, const Variable *op) -> Expr {
        return required.count(op->name) ? resolve_constraints(op->name, required, constraints, open) : Expr(op);
    });
    open.erase(name);
    return value;
}

Stmt check_here(const Stmt &s, LowerContext &ctx) {
    const bool asserts_wanted = !ctx.target.has_feature(Target::NoAsserts);
    const bool queries_wanted = !ctx.target.has_feature(Target::NoBoundsQuery);

    const std::vector<CheckedBuffer> checked = buffers_in_order(s, ctx);
    std::set<std::string> names;
    for (const CheckedBuffer &b : checked) {
        names.insert(b.is_output ? b.func : b.name);
    }
    std::map<std::string, Box> boxes = boxes_touched(s, names, Scope<Interval>::empty_scope(), ctx.func_bounds);
    std::vector<BufferChecks> buffers;
    for (const CheckedBuffer &b : checked) {
        buffers.emplace_back(b, boxes[b.is_output ? b.func : b.name], ctx);
    }

    std::vector<std::pair<std::string, Expr>> lets;
    std::map<std::string, Expr> to_required, constraints, known;
    for (const BufferChecks &c : buffers) {
        c.required_lets(lets);
        c.required_shape(to_required, constraints);
    }
    for (auto &[name, value] : to_required) {
        // A size that is constrained is what the constraint says, and so on through the sizes in it.
        std::set<std::string> open;
        value = resolve_constraints(name, to_required, constraints, open);
    }

    std::vector<Stmt> checks;
    for (const BufferChecks &c : buffers) {
        c.type_asserts(checks);
    }
    for (const BufferChecks &c : buffers) {
        c.constraint_asserts(checks, known);
    }
    for (const BufferChecks &c : buffers) {
        c.region_asserts(checks);
        c.size_asserts(checks);
    }
    for (const BufferChecks &c : buffers) {
        c.pointer_asserts(checks);
    }
    if (!asserts_wanted) {
        checks.clear();
    }
    for (const BufferChecks &c : buffers) {
        if (c.b.is_output) {
            checks.push_back(c.mark_host_dirty());
        }
    }

    Stmt body = substitute(known, s);
    if (!checks.empty()) {
        body = Block::make(Block::make(checks), body);
    }

    if (queries_wanted && !buffers.empty()) {
        std::vector<std::pair<std::string, Expr>> proposed, queries;
        std::vector<Stmt> answers;
        Expr any_query = const_false();
        for (const BufferChecks &c : buffers) {
            if (c.b.image.defined() && !c.b.param.defined()) {
                continue;   // embedded images always have memory
            }
            c.proposed_lets(to_required, proposed);
            answers.push_back(c.answer_query());
            queries.emplace_back(c.b.name + ".is_query", c.query_condition());
            any_query = any_query || Variable::make(Bool(), c.b.name + ".is_query");
        }
        if (!answers.empty()) {
            body = IfThenElse::make(any_query, wrap_lets(proposed, Block::make(answers)), body);
            body = wrap_lets(queries, body);
        }
    }
    return wrap_lets(lets, body);
}

}  // namespace

Stmt image_checks(const Stmt &s, LowerContext &ctx) {
    // Where extern stages have been asked what they need, the checks come after the answers.
    bool found = false;
    Stmt checked = mutate_with(s, [&](auto *self, const Block *op) -> Stmt {
        const Evaluate *e = op->first.as<Evaluate>();
        if (e && Call::as_intrinsic(e->value, {Call::add_image_checks_marker})) {
            found = true;
            return check_here(op->rest, ctx);
        }
        return self->visit_base(op);
    });
    return found ? checked : check_here(s, ctx);
}

}  // namespace Internal
}  // namespace Halide
