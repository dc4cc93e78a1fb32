#include <algorithm>
#include <set>
#include <sstream>

#include "analysis/ExprUsesVar.h"
#include "func/PTOProgram.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOKernels.h"
#include "lower/pto/PTOUtil.h"
#include "lower/pto/PTOVectorize.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

/// _halide_buffer_get_extent(f.buffer, 0)  →  f.extent.0
class NameFields : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        static const std::pair<const char *, const char *> fields[] = {
            {Call::buffer_get_min, ".min."}, {Call::buffer_get_extent, ".extent."}, {Call::buffer_get_stride, ".stride."}};
        for (const auto &[function, field] : fields) {
            const Variable *buffer = op->name == function ? op->args[0].as<Variable>() : nullptr;
            const std::optional<int64_t> d = buffer ? as_const_int(op->args[1]) : std::nullopt;
            if (d && ends_with(buffer->name, ".buffer")) {
                const std::string name = buffer->name.substr(0, buffer->name.size() - 7);
                return Variable::make(op->type, name + field + std::to_string(*d));
            }
        }
        return op->is_tag() ? mutate(op->args[0]) : IRMutator::visit(op);
    }
};

/// Whether the launch plan has words for a value: integer arithmetic on scalars and fields, or a float by its name.
bool is_plan_value(const Expr &e) {
    if (!e.type().is_scalar() || e.type().is_handle()) {
        return false;
    }
    if (e.type().is_float()) {
        return e.as<Variable>() || is_const(e);
    }
    bool ok = true;
    visit_with(
        e, [&](auto *, const Load *) { ok = false; }, [&](auto *, const Call *) { ok = false; },
        [&](auto *, const Let *) { ok = false; },
        [&](auto *self, const Cast *op) {
            const bool wide = (op->type.is_int() && op->type.bits() >= 32) || op->type == UInt(64);
            ok = ok && wide && op->value.type().is_int_or_uint();
            self->visit_base(op);
        },
        [&](auto *, const Variable *op) { ok = ok && !op->type.is_handle() && !op->type.is_float(); },
        [&](auto *, const Reinterpret *) { ok = false; }, [&](auto *, const StringImm *) { ok = false; },
        [&](auto *, const FloatImm *) { ok = false; });
    return ok;
}

/// halide_error_access_out_of_bounds("Input buffer in", 0, …)  →  access out of bounds: Input buffer in, 0, …
std::string message_of(const Expr &e) {
    std::ostringstream text;
    const Call *call = e.as<Call>();
    if (!call) {
        text << e;
        return text.str();
    }
    std::string name = call->name;
    const std::string prefix = "halide_error_";
    if (starts_with(name, prefix)) {
        name = name.substr(prefix.size());
    }
    text << replace_all(name, "_", " ");
    bool first = true;
    for (const Expr &a : call->args) {
        text << (first ? ": " : ", ");
        first = false;
        if (const StringImm *s = a.as<StringImm>()) {
            text << s->value;
        } else {
            text << a;
        }
    }
    return text.str();
}

class Collect : public IRVisitor {
    using IRVisitor::visit;
    LowerContext &ctx;
    std::vector<std::pair<std::string, Expr>> lets;
    std::map<std::string, Type> temporaries;

    Expr expand(const Expr &value) const {
        Expr e = NameFields()(value);
        for (size_t i = lets.size(); i-- > 0;) {
            if (expr_uses_var(e, lets[i].first)) {
                const Variable *self = lets[i].second.as<Variable>();
                if (!self || self->name != lets[i].first) {
                    e = substitute(lets[i].first, lets[i].second, e);
                }
            }
        }
        return simplify(e);
    }

    void visit(const LetStmt *op) override {
        lets.emplace_back(op->name, NameFields()(op->value));
        op->body.accept(this);
        lets.pop_back();
    }
    void visit(const AssertStmt *op) override {
        const Expr condition = expand(op->condition);
        if (is_plan_value(condition) && !is_const_one(condition)) {
            ctx.pto->checks.push_back({condition, message_of(op->message)});
        }
    }
    void visit(const Allocate *op) override {
        Expr elements = make_one(Int(64));
        for (const Expr &e : op->extents) {
            elements = elements * cast(Int(64), e);
        }
        const Expr size = expand(elements);
        user_assert(is_plan_value(size)) << "PTO, memory: the size of " << op->name << ", which kernels pass on in global memory, is " << size
                                         << ", which the host cannot compute before they run.\n"
                                         << "  Give it bounds with bound or bound_storage.\n";
        ctx.pto->temporaries.push_back({op->name, op->type.is_bool() ? UInt(8) : op->type, size});
        temporaries[op->name] = op->type.is_bool() ? UInt(8) : op->type;
        op->body.accept(this);
    }
    void visit(const For *op) override {
        internal_assert(is_pto_block(op)) << "a loop around kernels: " << op->name << "\n";
        add_launch(op);
    }

    /// The type of elements, and how a kernel uses the buffer.
    struct Use {
        Type type;
        bool read = false, written = false;
    };

    std::map<std::string, Use> uses_of(const Stmt &s) const {
        std::map<std::string, Use> uses;
        visit_with(
            s,
            [&](auto *self, const Load *op) {
                uses[op->name].read = true;
                uses[op->name].type = op->type.element_of();
                self->visit_base(op);
            },
            [&](auto *self, const Store *op) {
                uses[op->name].written = true;
                uses[op->name].type = op->value.type().element_of();
                self->visit_base(op);
            },
            [&](auto *self, const Call *op) {
                const bool in = op->is_intrinsic(Call::pto_mte_gm_ub);
                if (in || op->is_intrinsic(Call::pto_mte_ub_gm)) {
                    Use &u = uses[op->args[0].as<Variable>()->name];
                    u.type = op->type;
                    (in ? u.read : u.written) = true;
                }
                self->visit_base(op);
            });
        return uses;
    }

    const Expr *let_value(const std::string &name) const {
        for (size_t i = lets.size(); i-- > 0;) {
            if (lets[i].first == name) {
                return &lets[i].second;
            }
        }
        return nullptr;
    }

    void add_launch(const For *op) {
        PTOLaunch launch;
        launch.kernel.name = op->name;
        launch.blocks = expand(op->max + 1);
        user_assert(is_plan_value(launch.blocks)) << "PTO, loop structure: the number of blocks of kernel " << op->name << " is " << launch.blocks
                                                  << ", which the host cannot compute.\n  Give the block loops bounds.\n";
        Stmt body = op->body;
        // What the launch plan cannot say is computed in the kernel, from the innermost let outward.
        for (size_t i = lets.size(); i-- > 0;) {
            const auto &[name, value] = lets[i];
            if (stmt_uses_var(body, name) && !value.type().is_handle() && !is_plan_value(expand(value))) {
                body = LetStmt::make(name, value, body);
            }
        }
        const std::map<std::string, Use> uses = uses_of(body);
        for (const auto &[name, type] : free_variables(body)) {
            PTOKernelArg arg{name, type, false};
            PTOArgumentValue value;
            if (type.is_handle()) {
                const auto use = uses.find(name);
                internal_assert(use != uses.end()) << "kernel " << op->name << " uses the handle " << name << "\n";
                arg.is_buffer = true;
                arg.type = use->second.type;
                value.buffer = name;
                value.read = use->second.read;
                value.written = use->second.written;
            } else {
                const Expr *known = let_value(name);
                value.value = known ? expand(*known) : Variable::make(type, name);
            }
            launch.kernel.args.push_back(arg);
            launch.values.push_back(value);
        }
        launch.kernel.body = body;
        launch.local = ctx.pto->local[op->name];
        for (const PTOLocalBuffer &b : launch.local) {
            launch.kernel.ub_address[b.name] = b.address;
            launch.local_bytes = std::max(launch.local_bytes, b.address + b.bytes);
        }
        launch.code = pto_vectorize(launch.kernel, ctx);
        ctx.pto->launches.push_back(launch);
    }

public:
    explicit Collect(LowerContext &ctx) : ctx(ctx) {
    }
};

}  // namespace

Stmt pto_launches(const Stmt &s, LowerContext &ctx) {
    Collect collect(ctx);
    s.accept(&collect);
    return s;
}

}  // namespace Internal
}  // namespace Halide
