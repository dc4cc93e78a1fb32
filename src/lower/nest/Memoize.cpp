#include "lower/nest/Memoize.h"

#include "func/Environment.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "runtime/HalideRuntime.h"
#include "support/Util.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace Halide {
namespace Internal {

namespace {

/// The values that the results of a Func depend on, besides the region: parameters, and what memoize_tag says.
class FindDependences : public IRGraphVisitor {
    using IRGraphVisitor::visit;
    const std::string &func;
    const std::map<std::string, Function> &env;
    std::set<std::string> followed;

    void visit(const Call *op) override {
        if (op->is_intrinsic(Call::memoize_expr)) {
            // memoize_expr(value, keys…): the keys stand for all that the value depends on.
            internal_assert(!op->args.empty());
            if (op->args.size() == 1) {
                add(op->args[0], op->args[0]);
            }
            for (size_t i = 1; i < op->args.size(); i++) {
                add(op->args[i], op->args[i]);
            }
            return;
        }
        if (op->call_type == Call::Image && op->param.defined()) {
            bad_image(op->param.name());
        }
        // Only what is reached outside of tags counts, so the Funcs are followed from here.
        if (auto callee = env.find(op->name); op->call_type == Call::Halide && callee != env.end()) {
            follow(callee->second);
        }
        IRGraphVisitor::visit(op);
    }

    void visit(const Variable *op) override {
        if (!op->param.defined()) {
            return;
        }
        if (op->type.is_handle()) {
            if (ends_with(op->name, ".buffer")) {
                bad_image(op->param.name());
            }
            user_error << "Func \"" << func << "\" cannot be memoized: it depends on parameter \"" << op->name
                       << "\", a handle, whose value says nothing about what it points to.\n"
                       << "  Name what the result depends on with memoize_tag(value, keys...).\n";
        }
        add(op, op);
    }

    void bad_image(const std::string &image) const {
        user_error << "Func \"" << func << "\" cannot be memoized: it depends on the contents of image \"" << image
                   << "\".\n  Name what the result depends on with memoize_tag(value, keys...).\n";
    }

    void add(const Expr &e, const Expr &value) {
        for (const Expr &known : values) {
            if (equal(known, value)) {
                return;
            }
        }
        values.push_back(value);
    }

public:
    std::vector<Expr> values;
    FindDependences(const std::string &func, const std::map<std::string, Function> &env) : func(func), env(env) {}

    void follow(const Function &f) {
        if (!followed.insert(f.name()).second) {
            return;
        }
        f.accept(this);
        for (const ExternFuncArgument &arg : f.extern_arguments()) {
            if (arg.is_image_param()) {
                bad_image(arg.image_param.name());
            } else if (arg.is_func()) {
                follow(Function(arg.func));
            }
        }
    }
};

/// memoize_expr(value, keys…) → value
class StripTags : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        return op->is_intrinsic(Call::memoize_expr) ? mutate(op->args[0]) : IRMutator::visit(op);
    }
};

bool has_tags(const Stmt &s) {
    class Find : public IRGraphVisitor {
        using IRGraphVisitor::visit;
        void visit(const Call *op) override {
            found |= op->is_intrinsic(Call::memoize_expr);
            IRGraphVisitor::visit(op);
        }

    public:
        bool found = false;
    } find;
    s.accept(&find);
    return find.found;
}

/// Two independent 64-bit digests of a text (FNV-1a with different starting values).
std::pair<uint64_t, uint64_t> digest(const std::string &text) {
    uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
    for (const char c : text) {
        a = (a ^ (uint8_t)c) * 0x100000001b3u;
        b = (b ^ (uint8_t)c) * 0x10000000233u;
    }
    return {a, b};
}

/// A value as a word of the key.
Expr as_word(const Expr &e) {
    const Type t = e.type();
    if (t.is_handle()) {
        return reinterpret(UInt(64), e);
    }
    if (t.is_float()) {
        return cast(UInt(64), reinterpret(UInt(t.bits()), e));
    }
    return cast(UInt(64), e);
}

Type buffer_type() {
    return type_of<struct halide_buffer_t *>();
}

std::string value_name(const Function &f, int i) {
    return f.outputs() > 1 ? f.name() + "." + std::to_string(i) : f.name();
}

/// A buffer without data that describes the region of `f` that is computed.
Expr computed_region(const Function &f) {
    std::vector<Expr> shape;
    for (const std::string &arg : f.args()) {
        const std::string symbol = f.name() + ".s0." + arg;
        const Expr min = Variable::make(Int(32), symbol + ".min"), max = Variable::make(Int(32), symbol + ".max");
        shape.insert(shape.end(), {min, max - min + 1, 0, 0});
    }
    const Type shape_type = type_of<struct halide_dimension_t *>();
    const Expr storage =
        Call::make(buffer_type(), Call::alloca,
                   {Call::make(Int(32), Call::size_of_halide_buffer_t, {}, Call::Intrinsic)}, Call::Intrinsic);
    const Expr dim_storage = Call::make(
        shape_type, Call::alloca, {(int)sizeof(halide_dimension_t) * std::max(f.dimensions(), 1)}, Call::Intrinsic);
    const Expr shape_struct =
        shape.empty() ? make_zero(shape_type) : Call::make(shape_type, Call::make_struct, shape, Call::Intrinsic);
    const Type t = f.output_types()[0];
    return Call::make(buffer_type(), Call::buffer_init,
                      {storage, dim_storage, make_zero(type_of<void *>()), make_zero(UInt(64)),
                       make_zero(type_of<const struct halide_device_interface_t *>()), (int)t.code(), t.bits(),
                       f.dimensions(), shape_struct, make_zero(UInt(64))},
                      Call::Extern);
}

class InjectMemoization : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    const std::pair<uint64_t, uint64_t> program;

    const Function *memoized(const std::string &name) const {
        auto it = ctx.env.find(name);
        return it != ctx.env.end() && it->second.schedule().memoized() ? &it->second : nullptr;
    }

    static Expr symbol(const Function &f, const char *suffix, Type t) { return Variable::make(t, f.name() + suffix); }

    Expr make_key(const Function &f, int &size) const {
        FindDependences find(f.name(), ctx.env);
        find.follow(f);
        const std::pair<uint64_t, uint64_t> name = digest(f.name());
        std::vector<Expr> words = {make_const(UInt(64), program.first), make_const(UInt(64), program.second),
                                   make_const(UInt(64), name.first)};
        StripTags strip;
        for (const Expr &e : find.values) {
            words.push_back(as_word(strip(e)));
        }
        size = (int)words.size() * 8;
        return Call::make(type_of<uint8_t *>(), Call::make_struct, words, Call::Intrinsic);
    }

    std::vector<Expr> cache_arguments(const Function &f, int key_size) const {
        std::vector<Expr> buffers;
        for (int i = 0; i < f.outputs(); i++) {
            buffers.push_back(Variable::make(buffer_type(), value_name(f, i) + ".buffer"));
        }
        return {symbol(f, ".cache_key", type_of<uint8_t *>()), key_size, symbol(f, ".cache_region", buffer_type()),
                f.outputs(),
                Call::make(type_of<struct halide_buffer_t **>(), Call::make_struct, buffers, Call::Intrinsic)};
    }

    Stmt visit(const Realize *op) override {
        const Function *f = memoized(op->name);
        Stmt s = IRMutator::visit(op);
        if (!f) {
            return s;
        }
        op = s.as<Realize>();
        int key_size = 0;
        const Expr key = make_key(*f, key_size);
        const Expr result = symbol(*f, ".cache_result", Int(32));
        Stmt body = op->body;
        body = Block::make(
            AssertStmt::make(result >= 0, Call::make(Int(32), "halide_error_out_of_memory", {}, Call::Extern)), body);
        body = LetStmt::make(
            f->name() + ".cache_result",
            Call::make(Int(32), "halide_memoization_cache_lookup", cache_arguments(*f, key_size), Call::Extern), body);
        body = LetStmt::make(f->name() + ".cache_region", computed_region(*f), body);
        body = LetStmt::make(f->name() + ".cache_key", key, body);
        return op->changed(&Realize::body, body);
    }

    Stmt visit(const ProducerConsumer *op) override {
        const Function *f = op->is_producer ? memoized(op->name) : nullptr;
        Stmt s = IRMutator::visit(op);
        if (!f) {
            return s;
        }
        op = s.as<ProducerConsumer>();
        int key_size = 0;
        make_key(*f, key_size);
        std::vector<Expr> args = cache_arguments(*f, key_size);
        const Expr eviction = f->schedule().memoize_eviction_key();
        args.push_back(make_bool(eviction.defined()));
        args.push_back(eviction.defined() ? as_word(eviction) : make_zero(UInt(64)));
        const std::string stored = f->name() + ".cache_stored";
        Stmt store = AssertStmt::make(Variable::make(Int(32), stored) == 0,
                                      Call::make(Int(32), "halide_error_out_of_memory", {}, Call::Extern));
        store = LetStmt::make(stored, Call::make(Int(32), "halide_memoization_cache_store", args, Call::Extern), store);
        const Stmt body = IfThenElse::make(symbol(*f, ".cache_result", Int(32)) != 0, Block::make(op->body, store));
        return op->changed(&ProducerConsumer::body, body);
    }

public:
    InjectMemoization(LowerContext &ctx, const std::string &text) : ctx(ctx), program(digest(text)) {}
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
};

bool any_memoized(const LowerContext &ctx) {
    return std::any_of(ctx.env.begin(), ctx.env.end(),
                       [](const auto &entry) { return entry.second.schedule().memoized(); });
}

/// Moves the lookup in front of the allocation, and the allocation's memory into the cache.
class MemoizedAllocations : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;

    /// The memoized Func of which this is a value.
    const Function *memoized(const std::string &allocation) const {
        auto it = ctx.env.find(allocation.substr(0, allocation.find('.')));
        return it != ctx.env.end() && it->second.schedule().memoized() ? &it->second : nullptr;
    }

    Stmt visit(const Allocate *op) override {
        const Function *f = memoized(op->name);
        if (!f) {
            return IRMutator::visit(op);
        }
        // One allocation per value, each with lets of its shape, then the lookup.
        std::vector<const Allocate *> allocations;
        std::vector<const LetStmt *> lets;
        Stmt rest = op;
        const std::string last_let = f->name() + ".cache_result";
        for (bool found = false; !found;) {
            if (const Allocate *a = rest.as<Allocate>()) {
                allocations.push_back(a);
                rest = a->body;
            } else if (const LetStmt *let = rest.as<LetStmt>()) {
                lets.push_back(let);
                rest = let->body;
                found = let->name == last_let;
            } else {
                internal_error << "The lookup of memoized Func " << f->name() << " is not in its allocation";
            }
        }
        // The assertion that the lookup succeeded stays in front of the use of its results.
        Stmt check;
        if (const Block *block = rest.as<Block>(); block && block->first.as<AssertStmt>()) {
            check = block->first;
            rest = block->rest;
        }
        Stmt s = mutate(rest);
        for (size_t i = allocations.size(); i > 0; i--) {
            const Allocate *a = allocations[i - 1];
            const Expr host = Call::make(Handle(), Call::buffer_get_host,
                                         {Variable::make(buffer_type(), a->name + ".buffer")}, Call::Extern);
            s = Allocate::make(a->name, a->type, MemoryType::Heap, a->extents, const_true(), s, host,
                               "halide_memoization_cache_release", a->padding);
        }
        if (check.defined()) {
            s = Block::make(check, s);
        }
        for (size_t i = lets.size(); i > 0; i--) {
            s = LetStmt::make(lets[i - 1]->name, without_host(lets[i - 1]->value), s);
        }
        return s;
    }

    /// The buffer's data is what the lookup will find or allocate.
    static Expr without_host(const Expr &e) {
        const Call *call = e.as<Call>();
        if (!call || call->name != Call::buffer_init) {
            return e;
        }
        constexpr int host_arg = 2;
        std::vector<Expr> args = call->args;
        args[host_arg] = make_zero(args[host_arg].type());
        return call->changed(&Call::args, args);
    }

public:
    explicit MemoizedAllocations(LowerContext &ctx) : ctx(ctx) {}
    using IRMutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
};

}  // namespace

Stmt memoize(const Stmt &s, LowerContext &ctx) {
    Stmt result = s;
    if (any_memoized(ctx)) {
        std::ostringstream text;
        text << ctx.pipeline_name << "\n" << s;
        result = InjectMemoization(ctx, text.str())(result);
    }
    return has_tags(result) ? StripTags()(result) : result;
}

Stmt memoized_allocations(const Stmt &s, LowerContext &ctx) {
    return any_memoized(ctx) ? MemoizedAllocations(ctx)(s) : s;
}

}  // namespace Internal
}  // namespace Halide
