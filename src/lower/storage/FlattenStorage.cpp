#include "lower/storage/FlattenStorage.h"

#include <set>
#include <sstream>

#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "regions/EnclosingLets.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

/// The names of all `….buffer` symbols in use: only those realizations need a halide_buffer_t.
class FindBufferSymbols : public IRGraphVisitor {
public:
    std::set<std::string> names;

protected:
    using IRGraphVisitor::visit;
    void visit(const Variable *op) override {
        if (op->type.is_handle() && ends_with(op->name, ".buffer")) {
            names.insert(op->name);
        }
    }
};

/// `f` of the tuple element `f.2`, or the name itself.
const Function *find_function(const std::map<std::string, Function> &env, const std::string &name, int &element) {
    element = 0;
    auto it = env.find(name);
    if (it == env.end()) {
        const size_t dot = name.rfind('.');
        if (dot == std::string::npos) {
            return nullptr;
        }
        it = env.find(name.substr(0, dot));
        element = it == env.end() ? 0 : std::atoi(name.c_str() + dot + 1);
    }
    return it == env.end() ? nullptr : &it->second;
}

class Flatten : public IRMutator {
public:
    Flatten(LowerContext &ctx, std::set<std::string> buffer_symbols)
        : ctx(ctx), buffer_symbols(std::move(buffer_symbols)) {
        for (const Function &f : ctx.outputs) {
            for (const Parameter &p : f.output_buffers()) {
                outputs[p.name()] = p;
            }
        }
    }

protected:
    using IRMutator::visit;

    Expr visit(const Let *op) override {
        return visit_lets<Expr>(op);
    }
    Stmt visit(const LetStmt *op) override {
        return visit_lets<Stmt>(op);
    }

    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), max = mutate(op->max);
        loops++;
        bound_at.push(op->name, loops);
        const Stmt body = mutate(op->body);
        bound_at.pop(op->name);
        loops--;
        return op->with(min, max, body);
    }

    Stmt visit(const Realize *op) override {
        const int dims = (int)op->bounds.size();
        std::vector<Expr> mins, extents, logical_extents;
        for (const Range &r : op->bounds) {
            mins.push_back(mutate(r.min));
            extents.push_back(mutate(r.extent));
        }
        realizations.push(op->name, {mins, loops});
        Stmt body = mutate(op->body);
        realizations.pop(op->name);

        logical_extents = extents;
        const std::vector<int> order = storage_order(op->name, dims, extents);
        Expr condition = mutate(op->condition);

        std::vector<Expr> allocation_extents;
        for (int d : order) {
            allocation_extents.push_back(extents[d]);
        }
        if (buffer_symbols.count(op->name + ".buffer")) {
            body = LetStmt::make(op->name + ".buffer", make_buffer(op->name, op->types[0], dims, logical_extents), body);
        }
        Stmt s = Allocate::make(op->name, op->types[0], op->memory_type, allocation_extents, condition, body);

        // Strides outward from the innermost dimension in memory.
        for (int i = dims - 1; i >= 0; i--) {
            const int d = order[i];
            Expr stride = 1;
            if (i > 0) {
                const int inner = order[i - 1];
                stride = symbol(op->name, "stride", inner) * extents[inner];
            }
            s = LetStmt::make(symbol_name(op->name, "stride", d), stride, s);
        }
        for (int d = dims - 1; d >= 0; d--) {
            s = LetStmt::make(symbol_name(op->name, "min", d), mins[d], s);
        }
        return s;
    }

    Stmt visit(const Provide *op) override {
        std::vector<Expr> args = mutate_all(op->args);
        Expr value = mutate(op->values[0]);
        if (value.type().is_bool()) {
            // A Bool in memory is one byte, 0 or 1.
            value = cast(UInt(8, value.type().lanes()), value);
        }
        Expr predicate = mutate(op->predicate);
        Parameter param;
        if (auto it = outputs.find(op->name); it != outputs.end() && !realizations.contains(op->name)) {
            param = it->second;
        }
        Expr index = flat_index(op->name, args, param);
        return Store::make(op->name, value, index, param, predicate, ModulusRemainder());
    }

    // unsafe_promise_clamped(v, low, high) → require(low <= v && v <= high, v, error)
    Expr checked_promise(const Call *op) {
        const Expr value = mutate(op->args[0]), low = mutate(op->args[1]), high = mutate(op->args[2]);
        Expr condition = const_true(op->type.lanes());
        if (!equal(low, op->type.min())) {
            condition = condition && low <= value;
        }
        if (!equal(high, op->type.max())) {
            condition = condition && value <= high;
        }
        if (is_const_one(condition)) {
            return value;
        }
        std::ostringstream text;
        text << Expr(op) << " is broken: the value is";
        const Expr error = requirement_failed_error(condition, {Expr(text.str()), value});
        return Call::make(op->type, Call::require, {likely(condition), value, error}, Call::PureIntrinsic);
    }

    Expr visit(const Call *op) override {
        if (op->is_intrinsic({Call::promise_clamped, Call::unsafe_promise_clamped})) {
            // Regions are decided: a promise would only hide that an index is affine.
            const bool check =
                op->is_intrinsic(Call::unsafe_promise_clamped) && ctx.target.has_feature(Target::CheckUnsafePromises);
            return check ? checked_promise(op) : mutate(op->args[0]);
        }
        if (op->call_type != Call::Halide && op->call_type != Call::Image) {
            return IRMutator::visit(op);
        }
        std::vector<Expr> args = mutate_all(op->args);
        Type type = op->type.is_bool() ? UInt(8, op->type.lanes()) : op->type;
        Parameter param = op->param;
        if (op->call_type == Call::Halide && !realizations.contains(op->name)) {
            // An update of an output reads the output buffer.
            if (auto it = outputs.find(op->name); it != outputs.end()) {
                param = it->second;
            }
        }
        Expr index = flat_index(op->name, args, param, op->image);
        Expr load = Load::make(type, op->name, index, op->image, param, const_true(type.lanes()), ModulusRemainder());
        return op->type.is_bool() ? load != make_zero(type) : load;
    }

    Stmt visit(const Prefetch *op) override {
        Stmt body = mutate(op->body);
        Expr condition = mutate(op->condition);
        const int dims = (int)op->bounds.size();
        std::vector<Expr> mins;
        for (const Range &r : op->bounds) {
            mins.push_back(mutate(r.min));
        }
        // prefetch(base, offset, extent0, stride0, …): one hint per cache line of the box.
        std::vector<Expr> args = {Variable::make(Handle(), op->name), flat_index(op->name, mins)};
        for (int d = 0; d < dims; d++) {
            args.push_back(mutate(op->bounds[d].extent));
            args.push_back(symbol(op->name, "stride", d));
        }
        Expr hint = Call::make(op->types[0], Call::prefetch, args, Call::Intrinsic);
        Stmt s = Evaluate::make(hint);
        if (!is_const_one(condition)) {
            s = IfThenElse::make(condition, s);
        }
        return Block::make(s, body);
    }

private:
    LowerContext &ctx;
    std::set<std::string> buffer_symbols;
    std::map<std::string, Parameter> outputs;
    /// Where storage begins, and how many loops are around it.
    struct Realization {
        std::vector<Expr> mins;
        int loops;
    };
    Scope<Realization> realizations;
    EnclosingLets lets;
    int loops = 0;
    /// For each variable: see innermost_loop.
    Scope<int> bound_at;

    /// Lets come in long chains: walked by iteration.
    template<typename Body, typename T>
    Body visit_lets(const T *op) {
        std::vector<std::pair<const T *, Expr>> chain;
        Body body;
        for (const T *let = op; let; let = body.template as<T>()) {
            chain.emplace_back(let, mutate(let->value));
            lets.push(let->name, let->value);
            bound_at.push(let->name, innermost_loop(let->value));
            body = let->body;
        }
        body = mutate(body);
        for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
            lets.pop(it->first->name);
            bound_at.pop(it->first->name);
            body = it->first->with(it->second, body);
        }
        return body;
    }

    /// The number of loops around and including the innermost one on whose variable the value depends.
    int innermost_loop(const Expr &e) const {
        class Find : public IRGraphVisitor {
            const Scope<int> &bound_at;

            using IRGraphVisitor::visit;
            void visit(const Variable *op) override {
                const int *bound = bound_at.find(op->name);
                result = std::max(result, bound ? *bound : 0);
            }

        public:
            int result = 0;
            explicit Find(const Scope<int> &bound_at)
                : bound_at(bound_at) {
            }
        } find(bound_at);
        e.accept(&find);
        return find.result;
    }

    static std::string symbol_name(const std::string &name, const char *field, int d) {
        return name + "." + field + "." + std::to_string(d);
    }
    static Expr symbol(const std::string &name, const char *field, int d) {
        return Variable::make(Int(32), symbol_name(name, field, d));
    }

    std::vector<Expr> mutate_all(const std::vector<Expr> &exprs) {
        std::vector<Expr> result;
        result.reserve(exprs.size());
        for (const Expr &e : exprs) {
            result.push_back(mutate(e));
        }
        return result;
    }

    /// Dimensions from innermost to outermost in memory; rounds extents up as align_storage and bound_storage say.
    std::vector<int> storage_order(const std::string &name, int dims, std::vector<Expr> &extents) const {
        std::vector<int> order;
        int element = 0;
        const Function *f = find_function(ctx.env, name, element);
        if (!f) {
            for (int d = 0; d < dims; d++) {
                order.push_back(d);
            }
            return order;
        }
        const std::vector<std::string> args = f->args();
        for (const StorageDim &sd : f->schedule().storage_dims()) {
            for (int d = 0; d < dims && d < (int)args.size(); d++) {
                if (args[d] != sd.var) {
                    continue;
                }
                if (sd.bound.defined()) {
                    extents[d] = sd.bound;
                }
                if (sd.alignment.defined()) {
                    extents[d] = ((extents[d] + sd.alignment - 1) / sd.alignment) * sd.alignment;
                }
                order.push_back(d);
            }
        }
        // Dimensions that the schedule does not name (a ring buffer's) are outermost.
        for (int d = 0; d < dims; d++) {
            if (std::find(order.begin(), order.end(), d) == order.end()) {
                order.push_back(d);
            }
        }
        return order;
    }

    Expr make_buffer(const std::string &name, Type t, int dims, const std::vector<Expr> &extents) const {
        const Type buffer_type = type_of<struct halide_buffer_t *>();
        const Type shape_type = type_of<struct halide_dimension_t *>();
        std::vector<Expr> shape;
        for (int d = 0; d < dims; d++) {
            shape.insert(shape.end(), {symbol(name, "min", d), extents[d], symbol(name, "stride", d), make_zero(Int(32))});
        }
        Expr storage = Call::make(buffer_type, Call::alloca, {Call::make(Int(32), Call::size_of_halide_buffer_t, {}, Call::Intrinsic)},
                                  Call::Intrinsic);
        Expr dim_storage = Call::make(shape_type, Call::alloca, {(int)sizeof(halide_dimension_t) * std::max(dims, 1)}, Call::Intrinsic);
        Expr shape_struct = Call::make(shape_type, Call::make_struct, shape, Call::Intrinsic);
        const Type stored = t.is_bool() ? UInt(8) : t;
        return Call::make(buffer_type, Call::buffer_init,
                          {storage, dim_storage, Variable::make(Handle(), name), make_zero(UInt(64)),
                           make_zero(type_of<const struct halide_device_interface_t *>()), (int)stored.code(),
                           stored.bits(), dims, shape_struct, make_zero(UInt(64))},
                          Call::Extern);
    }

    /// Σ arg·stride − Σ min·stride: the second sum does not depend on loops inside the allocation.
    /// Constant constraints on an input or output hold whether or not they are asserted. Where a coordinate is a constant
    /// distance from where the storage begins, that constant stands alone: LLVM keeps small arrays in registers then.
    Expr flat_index(const std::string &name, const std::vector<Expr> &args, const Parameter &param = Parameter(),
                    const Buffer<> &image = Buffer<>()) const {
        const Type t = ctx.target.has_large_buffers() ? Int(64) : Int(32);
        Expr index = make_zero(t), base = make_zero(t);
        const Realization *storage = realizations.find(name);
        for (int d = 0; d < (int)args.size(); d++) {
            Expr stride = cast(t, symbol(name, "stride", d)), min = cast(t, symbol(name, "min", d));
            if (image.defined()) {
                stride = make_const(t, image.dim(d).stride());
                min = make_const(t, image.dim(d).min());
            } else if (param.defined() && param.is_buffer() && d < param.dimensions()) {
                const Expr required_stride = param.stride_constraint(d), required_min = param.min_constraint(d);
                if (required_stride.defined() && is_const(required_stride)) {
                    stride = cast(t, required_stride);
                }
                if (required_min.defined() && is_const(required_min)) {
                    min = cast(t, required_min);
                }
            }
            if (storage && innermost_loop(args[d]) <= storage->loops) {
                const Expr distance = lets.simplify_to_constant(args[d] - storage->mins[d]);
                if (is_const(distance)) {
                    index = index + cast(t, distance) * stride;
                    continue;
                }
            }
            index = index + cast(t.with_lanes(args[d].type().lanes()), args[d]) * stride;
            base = base + min * stride;
        }
        return index - base;
    }
};

}  // namespace

Stmt flatten_storage(const Stmt &s, LowerContext &ctx) {
    FindBufferSymbols buffers;
    s.accept(&buffers);
    return Flatten(ctx, std::move(buffers.names))(s);
}

}  // namespace Internal
}  // namespace Halide
