#include "lower/pto/PTOLegalize.h"

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "lower/pto/PTOAnalysis.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

#include <algorithm>

namespace Halide {
namespace Internal {

namespace {

/// One access of memory inside a vectorized loop.
struct Access {
    std::string buffer;
    Expr index;
    bool is_store = false;
    std::set<std::string> inner;  ///< loop variables and lets between the vectorized loop and the access
};

/// Index lets are replaced by their values, so that equal addresses look equal.
class InlineIndexLets : public IRMutator {
    bool inside = false;

protected:
    using IRMutator::visit;
    Stmt visit(const For *op) override {
        ScopedValue<bool> in(inside, inside || op->for_type == ForType::Vectorized);
        return IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        class Calls : public IRVisitor {
        public:
            bool found = false;

        protected:
            using IRVisitor::visit;
            void visit(const Call *) override { found = true; }
        } calls;
        op->value.accept(&calls);
        if (op->value.type() == Int(32) && loaded_buffers(op->value).empty() && !calls.found &&
            (inside || contains_vector_loop(op->body))) {
            return mutate(substitute(op->name, op->value, op->body));
        }
        return IRMutator::visit(op);
    }
};

class CollectAccesses : public IRVisitor {
public:
    std::vector<Access> accesses;
    bool simple = true;

protected:
    using IRVisitor::visit;

    void visit(const Load *op) override {
        accesses.push_back({op->name, op->index, false, inner});
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        accesses.push_back({op->name, op->index, true, inner});
        IRVisitor::visit(op);
    }
    void visit(const For *op) override {
        simple = simple && op->for_type == ForType::Serial;
        bind(op->name, op);
    }
    void visit(const LetStmt *op) override { bind(op->name, op); }
    void visit(const Let *op) override { bind(op->name, op); }
    void visit(const Allocate *op) override {
        simple = simple && op->memory_type == MemoryType::Register;
        IRVisitor::visit(op);
    }
    void visit(const Call *op) override {
        simple = simple && (op->is_pure() || op->is_intrinsic(Call::undef));
        IRVisitor::visit(op);
    }
    void visit(const AssertStmt *op) override { simple = false; }

private:
    std::set<std::string> inner;

    template<typename T>
    void bind(const std::string &name, const T *op) {
        const bool added = inner.insert(name).second;
        IRVisitor::visit(op);
        if (added) {
            inner.erase(name);
        }
    }
};

CollectAccesses accesses_of(const Stmt &s) {
    CollectAccesses c;
    s.accept(&c);
    return c;
}

bool same_value(const Expr &a, const Expr &b) {
    return equal(a, b) || is_const_zero(simplify(a - b));
}

/// Whether both accesses reach an element in the same iteration of `var` only: different iterations touch different
/// elements, and equal iterations the same.
bool same_lane(const Access &a, const Access &b, const std::string &var) {
    if (uses_any_var(a.index, a.inner) || uses_any_var(b.index, b.inner)) {
        return false;
    }
    const auto x = lane_affine(a.index, var), y = lane_affine(b.index, var);
    return x && y && x->stride != 0 && x->stride == y->stride && same_value(x->base, y->base);
}

std::set<std::string> names_stored(const std::vector<Access> &accesses) {
    std::set<std::string> names;
    for (const Access &a : accesses) {
        if (a.is_store) {
            names.insert(a.buffer);
        }
    }
    return names;
}

const For *as_vectorized(const Stmt &s) {
    const For *loop = s.as<For>();
    return loop && loop->for_type == ForType::Vectorized && !contains_vector_loop(loop->body) ? loop : nullptr;
}

// ---- Neighbours -----------------------------------------------------------------------------------------------------

/// vec x {A}; vec y {B}  →  vec x {A; B[x/y]}: legal if what one stores and the other touches is touched in the same
/// iteration.
Stmt join(const For *first, const For *second) {
    if (!same_value(first->min, second->min) || !same_value(first->max, second->max)) {
        return Stmt();
    }
    const Stmt body = substitute(second->name, Variable::make(Int(32), first->name), second->body);
    const CollectAccesses a = accesses_of(first->body), b = accesses_of(body);
    if (!a.simple || !b.simple) {
        return Stmt();
    }
    bool share = false;
    for (const Access &x : a.accesses) {
        for (const Access &y : b.accesses) {
            if (x.buffer != y.buffer) {
                continue;
            }
            share = true;
            if ((x.is_store || y.is_store) && !same_lane(x, y, first->name)) {
                return Stmt();
            }
        }
    }
    if (!share) {
        return Stmt();
    }
    return first->changed(&For::body, Block::make(first->body, body));
}

// ---- Serial loops around --------------------------------------------------------------------------------------------

/// for k { vec x {B} }  →  vec x { for k {B} }, if B accumulates into elements that depend on x and not on k, and
/// different x have nothing to do with each other.
Stmt interchange(const For *serial) {
    const For *vector = as_vectorized(serial->body);
    if (!vector || serial->for_type != ForType::Serial) {
        return Stmt();
    }
    if (expr_uses_var(vector->min, serial->name) || expr_uses_var(vector->max, serial->name)) {
        return Stmt();
    }
    const CollectAccesses c = accesses_of(vector->body);
    if (!c.simple) {
        return Stmt();
    }
    bool accumulates = false;
    for (const std::string &name : names_stored(c.accesses)) {
        const Access *first = nullptr;
        bool loaded = false;
        for (const Access &a : c.accesses) {
            if (a.buffer != name) {
                continue;
            }
            first = first ? first : &a;
            loaded = loaded || !a.is_store;
            if (expr_uses_var(a.index, serial->name) || !same_lane(*first, a, vector->name)) {
                return Stmt();
            }
        }
        accumulates = accumulates || loaded;
    }
    if (!accumulates) {
        return Stmt();
    }
    const Stmt inner = For::make(serial->name, serial->min, serial->max, ForType::Serial, serial->partition_policy,
                                 serial->device_api, vector->body, serial->hint);
    return vector->changed(&For::body, inner);
}

// ---- Accumulators ---------------------------------------------------------------------------------------------------

class ReplaceAccesses : public IRMutator {
public:
    ReplaceAccesses(const std::string &buffer, const std::string &by) : buffer(buffer), by(by) {}

protected:
    using IRMutator::visit;
    Expr visit(const Load *op) override {
        if (op->name == buffer) {
            return Load::make(op->type, by, make_zero(Int(32)));
        }
        return IRMutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        if (op->name == buffer) {
            return Store::make(by, mutate(op->value), make_zero(Int(32)), Parameter(), mutate(op->predicate), ModulusRemainder());
        }
        return IRMutator::visit(op);
    }

private:
    const std::string &buffer, &by;
};

Type type_of_buffer(const Stmt &s, const std::string &buffer) {
    class Finder : public IRVisitor {
    public:
        explicit Finder(const std::string &buffer) : buffer(buffer) {}
        Type type;

    protected:
        using IRVisitor::visit;
        void visit(const Store *op) override {
            if (op->name == buffer) {
                type = op->value.type();
            }
            IRVisitor::visit(op);
        }

    private:
        const std::string &buffer;
    } finder(buffer);
    s.accept(&finder);
    return finder.type;
}

/// Inside a vectorized loop: for k { f[i] = f[i] + … }  →  acc = f[i]; for k { acc = acc + … }; f[i] = acc, for every
/// buffer that the loop reaches at one element only.
class Accumulate : public IRMutator {
public:
    explicit Accumulate(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        const bool added = registers.insert(op->name).second;
        Stmt s = IRMutator::visit(op);
        if (added) {
            registers.erase(op->name);
        }
        return s;
    }

    Stmt visit(const For *op) override {
        Stmt body = op->body;
        const CollectAccesses c = accesses_of(op);
        std::vector<std::pair<std::string, Expr>> found;
        for (const std::string &name : names_stored(c.accesses)) {
            if (registers.count(name)) {
                continue;
            }
            const Access *first = nullptr;
            bool loaded = false, fixed = true;
            for (const Access &a : c.accesses) {
                if (a.buffer == name) {
                    first = first ? first : &a;
                    loaded = loaded || !a.is_store;
                    fixed = fixed && !uses_any_var(a.index, a.inner) && loaded_buffers(a.index).empty() &&
                            same_value(first->index, a.index);
                }
            }
            if (loaded && fixed) {
                found.emplace_back(name, first->index);
            }
        }
        std::vector<std::string> accumulators;
        std::vector<Type> types;
        for (const auto &[buffer, index] : found) {
            accumulators.push_back(ctx.unique_name(buffer + ".acc"));
            types.push_back(type_of_buffer(op, buffer));
            body = ReplaceAccesses(buffer, accumulators.back()).mutate(body);
        }
        body = mutate(body);
        std::vector<Stmt> parts;
        for (size_t i = 0; i < found.size(); i++) {
            parts.push_back(Store::make(accumulators[i], Load::make(types[i], found[i].first, found[i].second),
                                        make_zero(Int(32))));
        }
        parts.push_back(op->changed(&For::body, body));
        for (size_t i = 0; i < found.size(); i++) {
            parts.push_back(Store::make(found[i].first, Load::make(types[i], accumulators[i], make_zero(Int(32))),
                                        found[i].second));
        }
        Stmt s = Block::make(parts);
        for (size_t i = found.size(); i > 0; i--) {
            s = Allocate::make(accumulators[i - 1], types[i - 1], MemoryType::Register, {1}, const_true(), s);
        }
        return s;
    }

private:
    LowerContext &ctx;
    std::set<std::string> registers;
};

// ---- Values instead of memory ---------------------------------------------------------------------------------------

/// Within the body of a vectorized loop, loads of what was just stored become the value.
class Forward : public IRMutator {
public:
    explicit Forward(LowerContext &ctx) : ctx(ctx) {}

    Stmt run(const Stmt &body) {
        std::vector<Stmt> items;
        flatten(body, items);
        return sequence(items, 0);
    }

private:
    LowerContext &ctx;

    static void flatten(const Stmt &s, std::vector<Stmt> &items) {
        if (const Block *op = s.as<Block>()) {
            flatten(op->first, items);
            flatten(op->rest, items);
        } else {
            items.push_back(s);
        }
    }

    struct Known {
        std::string buffer;
        Expr index, value;
    };

    class ReplaceLoads : public IRMutator {
    public:
        explicit ReplaceLoads(const Known &known) : known(known) {}
        int count = 0;

    protected:
        using IRMutator::visit;
        Expr visit(const Load *op) override {
            if (op->name == known.buffer && is_const_one(op->predicate) && same_value(op->index, known.index)) {
                count++;
                return known.value;
            }
            return IRMutator::visit(op);
        }

    private:
        const Known &known;
    };

    /// Replaces loads in items from `i` on, as far as nothing stores to the buffer.
    static int forward(std::vector<Stmt> &items, size_t i, const Known &known) {
        int count = 0;
        for (; i < items.size(); i++) {
            ReplaceLoads replace(known);
            const Store *store = items[i].as<Store>();
            const bool stores = stored_buffers(items[i]).count(known.buffer) > 0;
            if (stores && !store) {
                // Behind an allocation stands a block of its own.
                const Allocate *a = items[i].as<Allocate>();
                if (!a) {
                    break;
                }
                std::vector<Stmt> inner;
                flatten(a->body, inner);
                count += forward(inner, 0, known);
                items[i] = a->changed(&Allocate::body, Block::make(inner));
                break;
            }
            items[i] = replace.mutate(items[i]);
            count += replace.count;
            if (stores) {
                break;
            }
        }
        return count;
    }

    Stmt sequence(std::vector<Stmt> items, size_t from) {
        for (size_t i = from; i < items.size(); i++) {
            if (const Allocate *a = items[i].as<Allocate>()) {
                items[i] = a->changed(&Allocate::body, run(a->body));
                continue;
            }
            if (const LetStmt *let = items[i].as<LetStmt>()) {
                // What follows sees the let's stores: it may stand inside as well.
                std::vector<Stmt> inner;
                flatten(let->body, inner);
                inner.insert(inner.end(), items.begin() + (long)i + 1, items.end());
                items.erase(items.begin() + (long)i + 1, items.end());
                items[i] = let->changed(&LetStmt::body, sequence(inner, 0));
                continue;
            }
            const Store *store = items[i].as<Store>();
            if (!store || !is_const_one(store->predicate) || i + 1 == items.size()) {
                continue;
            }
            if (is_const(store->value)) {
                forward(items, i + 1, {store->name, store->index, store->value});
                continue;
            }
            const std::string name = ctx.unique_name(store->name + ".value");
            const Expr value = Variable::make(store->value.type(), name);
            std::vector<Stmt> rest(items.begin() + (long)i + 1, items.end());
            if (forward(rest, 0, {store->name, store->index, value}) == 0) {
                continue;
            }
            rest.insert(rest.begin(), Store::make(store->name, value, store->index));
            const Stmt tail = LetStmt::make(name, store->value, sequence(rest, 1));
            items.erase(items.begin() + (long)i, items.end());
            items.push_back(tail);
            break;
        }
        return Block::make(items);
    }
};

/// Drops stores that a later one of the same block overwrites before anything reads them.
class DropOverwritten : public IRMutator {
protected:
    using IRMutator::visit;

    static bool overwrites(const Stmt &s, const Store *old, bool &read) {
        if (const Block *op = s.as<Block>()) {
            return overwrites(op->first, old, read) || (!read && overwrites(op->rest, old, read));
        }
        if (const Allocate *op = s.as<Allocate>()) {
            return overwrites(op->body, old, read);
        }
        if (const LetStmt *op = s.as<LetStmt>()) {
            read = read || loaded_buffers(op->value).count(old->name);
            return !read && overwrites(op->body, old, read);
        }
        if (loaded_buffers(s).count(old->name)) {
            read = true;
            return false;
        }
        const Store *store = s.as<Store>();
        return store && store->name == old->name && is_const_one(store->predicate) && same_value(store->index, old->index);
    }

    Stmt visit(const Block *op) override {
        const Store *store = op->first.as<Store>();
        bool read = false;
        if (store && overwrites(op->rest, store, read)) {
            return mutate(op->rest);
        }
        return IRMutator::visit(op);
    }
};

// ---- Buffers that became values -------------------------------------------------------------------------------------

class Uses : public IRVisitor {
public:
    std::set<std::string> used;

protected:
    using IRVisitor::visit;
    void visit(const Load *op) override {
        used.insert(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Variable *op) override { used.insert(op->name); }
};

class DropUnread : public IRMutator {
    std::set<std::string> unread;

    using IRMutator::visit;
    Stmt visit(const Allocate *op) override {
        Uses uses;
        op->body.accept(&uses);
        if (op->new_expr.defined() || uses.used.count(op->name)) {
            return IRMutator::visit(op);
        }
        unread.insert(op->name);
        return mutate(op->body);
    }
    Stmt visit(const Store *op) override { return unread.count(op->name) ? Evaluate::make(0) : Stmt(op); }
    Stmt visit(const Free *op) override { return unread.count(op->name) ? Evaluate::make(0) : Stmt(op); }
    Stmt visit(const Block *op) override {
        const Stmt first = mutate(op->first), rest = mutate(op->rest);
        auto nothing = [](const Stmt &s) { return s.as<Evaluate>() && is_const(s.as<Evaluate>()->value); };
        return nothing(first) ? rest : nothing(rest) ? first : op->with(first, rest);
    }
    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        const Evaluate *e = body.as<Evaluate>();
        return e && is_const(e->value) ? body : op->changed(&For::body, body);
    }
};

// ---------------------------------------------------------------------------------------------------------------------

class Shape : public IRMutator {
public:
    explicit Shape(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;

    // Names of loops tell whose stage they belong to; the marks only stand between neighbours.
    Stmt visit(const ProducerConsumer *op) override { return mutate(op->body); }

    // One core runs a kernel alone. That a reduction may be reordered is known from its being vectorized.
    Stmt visit(const Atomic *op) override { return mutate(op->body); }

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::Vectorized) {
            return contains_vector_loop(op->body) ? IRMutator::visit(op) : Stmt(op);
        }
        const Stmt s = IRMutator::visit(op);
        const For *loop = s.as<For>();
        const Stmt moved = loop ? interchange(loop) : Stmt();
        return moved.defined() ? moved : s;
    }

    Stmt visit(const Block *op) override {
        std::vector<Stmt> items;
        Stmt rest = op;
        while (const Block *b = rest.as<Block>()) {
            flatten(mutate(b->first), items);
            rest = b->rest;
        }
        flatten(mutate(rest), items);
        // An allocation reaches to the end of the block: what it holds may stand beside its neighbours.
        std::vector<Stmt> allocations, all;
        for (size_t i = 0; i < items.size(); i++) {
            const Allocate *a = items[i].as<Allocate>();
            if (a && i + 1 == items.size() && !contains_free(a->body)) {
                allocations.push_back(items[i]);
                items.pop_back();
                flatten(a->body, items);
                i--;
                continue;
            }
            all.push_back(items[i]);
        }
        Stmt result = Block::make(join_all(all));
        for (size_t i = allocations.size(); i > 0; i--) {
            result = allocations[i - 1].as<Allocate>()->changed(&Allocate::body, result);
        }
        return result;
    }

private:
    LowerContext &ctx;

    static bool contains_free(const Stmt &s) {
        class Finder : public IRVisitor {
        public:
            bool found = false;

        protected:
            using IRVisitor::visit;
            void visit(const Free *) override { found = true; }
        } finder;
        s.accept(&finder);
        return finder.found;
    }

    static std::vector<Stmt> join_all(const std::vector<Stmt> &items) {
        std::vector<Stmt> joined;
        for (const Stmt &s : items) {
            const For *previous = joined.empty() ? nullptr : as_vectorized(joined.back());
            const For *next = as_vectorized(s);
            const Store *store = s.as<Store>();
            const Stmt both = previous && next ? join(previous, next) : Stmt();
            if (both.defined()) {
                joined.back() = both;
            } else if (previous && store && is_const(store->value) && loaded_buffers(store->index).empty() &&
                       !loaded_buffers(joined.back()).count(store->name) && !stored_buffers(joined.back()).count(store->name)) {
                // The start of a reduction may come earlier: then its loop stands next to the one before.
                joined.insert(joined.end() - 1, s);
            } else {
                joined.push_back(s);
            }
        }
        return joined;
    }

    static void flatten(const Stmt &s, std::vector<Stmt> &items) {
        if (const Block *op = s.as<Block>()) {
            flatten(op->first, items);
            flatten(op->rest, items);
        } else {
            items.push_back(s);
        }
    }
};

class Bodies : public IRMutator {
public:
    explicit Bodies(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;
    Stmt visit(const For *op) override {
        if (!as_vectorized(op)) {
            return IRMutator::visit(op);
        }
        Stmt body = op->body;
        if (accesses_of(body).simple) {
            body = Accumulate(ctx).mutate(body);
            body = Forward(ctx).run(body);
            body = DropOverwritten().mutate(body);
        }
        return op->changed(&For::body, body);
    }

private:
    LowerContext &ctx;
};

class Kernels : public IRMutator {
public:
    explicit Kernels(LowerContext &ctx) : ctx(ctx) {}

protected:
    using IRMutator::visit;
    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUBlock && op->device_api == DeviceAPI::PTO) {
            return op->changed(&For::body, shape_vector_regions(op->body, ctx));
        }
        return IRMutator::visit(op);
    }

private:
    LowerContext &ctx;
};

}  // namespace

Stmt shape_vector_regions(const Stmt &kernel, LowerContext &ctx) {
    Stmt s = InlineIndexLets().mutate(kernel);
    s = Shape(ctx).mutate(s);
    s = Bodies(ctx).mutate(s);
    return DropUnread().mutate(s);
}

Stmt pto_legalize(const Stmt &s, LowerContext &ctx) {
    return Kernels(ctx).mutate(s);
}

}  // namespace Internal
}  // namespace Halide
