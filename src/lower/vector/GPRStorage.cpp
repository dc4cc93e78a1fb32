#include "lower/vector/GPRStorage.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/Scope.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

class GPRStorage : public IRMutator {
public:
    explicit GPRStorage(const Target &target) : word_bits(std::min(64, target.bits)) {}

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        const bool device = op->device_api != DeviceAPI::None && op->device_api != DeviceAPI::Host;
        ScopedValue<std::string> scope(device_loop, device ? op->name : device_loop);
        return IRMutator::visit(op);
    }

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::GPR) {
            ScopedBinding<Memory> hide(allocations, op->name, Memory());
            return IRMutator::visit(op);
        }
        user_assert(device_loop.empty())
            << "Func " << func_of(op->name) << " is stored in MemoryType::GPR inside of the loop " << device_loop
            << ", which runs on a device. General-purpose registers are storage on CPUs only.\n"
            << "  Use MemoryType::Register there.\n";
        const int64_t size = op->extents.empty() ? 1 : op->constant_allocation_size();
        user_assert(size > 0) << "Func " << func_of(op->name)
                              << " is stored in MemoryType::GPR, but its size is not a constant.\n"
                              << "  Give it constant bounds, or use another MemoryType.\n";
        const int bits = bits_of(op->type);
        Memory m;
        m.element = op->type;
        m.is_gpr = true;
        if (size * bits <= word_bits) {
            m.elements = (int)std::bit_ceil((uint64_t)size);
        }
        ScopedBinding<Memory> bind(allocations, op->name, m);
        const Stmt body = mutate(op->body);
        if (!allocations.get(op->name).as_word) {
            return op->changed(&Allocate::body, body);
        }
        return op->changed(&Allocate::body, body, &Allocate::extents, std::vector<Expr>{m.elements});
    }

    // A[i]   →   the word of A, shifted
    Expr visit(const Load *op) override {
        check_width(op->name, op->type, op->index);
        const Expr e = IRMutator::visit(op);
        const Load *load = e.as<Load>();
        if (!load || !in_word(op->name, op->type, op->index)) {
            return e;
        }
        const Memory m = use_as_word(op->name, op->type);
        const Expr shifted = word_of(op->name, m) >> shift_of(m, load->index);
        return from_bits(m.element, cast(UInt(bits_of(m.element)), shifted));
    }

    // A[i] = v   →   the word of A with some of its bits replaced
    Stmt visit(const Store *op) override {
        check_width(op->name, op->value.type(), op->index);
        const Stmt s = IRMutator::visit(op);
        const Store *store = s.as<Store>();
        if (!store || !in_word(op->name, op->value.type(), op->index) || !is_const_one(op->predicate)) {
            return s;
        }
        const Memory m = use_as_word(op->name, op->value.type());
        const Expr old = word_of(op->name, m), shift = shift_of(m, store->index);
        const int bits = bits_of(m.element);
        const Type word = old.type();
        const uint64_t lane = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
        const Expr mask = make_const(word, lane) << shift;
        const Expr value = cast(word, to_bits(store->value)) << shift;
        const Type stored = m.element.is_bool() ? UInt(8) : m.element;
        Expr all = (old & ~mask) | value;
        if (m.elements > 1) {
            all = Reinterpret::make(stored.with_lanes(m.elements), all);
        } else {
            all = reinterpret(stored, all);
        }
        all = m.element.is_bool() ? Cast::make(Bool(m.elements), all) : all;
        return store->changed(&Store::value, all, &Store::index, dense_index(m), &Store::predicate,
                              const_true(m.elements), &Store::alignment, ModulusRemainder());
    }

private:
    struct Memory {
        Type element;
        bool is_gpr = false;
        int elements = 0;       // of the word that holds all of it; 0 if none does
        bool as_word = false;   // an access asked for that
    };

    const int word_bits;
    Scope<Memory> allocations;
    std::string device_loop;

    static std::string func_of(const std::string &buffer) { return buffer.substr(0, buffer.find('.')); }

    static int bits_of(const Type &t) { return t.is_bool() ? 8 : t.bits(); }

    void check_width(const std::string &name, const Type &t, const Expr &index) const {
        const Memory *m = allocations.find(name);
        if (!m || !m->is_gpr || t.is_scalar()) {
            return;
        }
        const Ramp *r = index.as<Ramp>();
        if (!r || !is_const_one(r->stride)) {
            return;
        }
        user_assert(t.lanes() * bits_of(t) <= word_bits)
            << "Func " << func_of(name) << " is stored in MemoryType::GPR, but " << t.lanes() << " elements of type "
            << t.element_of() << " are accessed at once, and an integer register has " << word_bits << " bits.\n"
            << "  Vectorize accesses of " << func_of(name) << " by at most " << word_bits / bits_of(t)
            << ", or use MemoryType::Register.\n";
    }

    bool in_word(const std::string &name, const Type &t, const Expr &index) const {
        const Memory *m = allocations.find(name);
        return m && m->elements > 0 && t.is_scalar() && !is_const(index);
    }

    /// A bool in memory may be accessed as a byte.
    Memory use_as_word(const std::string &name, const Type &accessed) {
        allocations.ref(name).as_word = true;
        Memory m = allocations.get(name);
        m.element = accessed.element_of();
        return m;
    }

    static Expr dense_index(const Memory &m) {
        return m.elements == 1 ? make_zero(Int(32)) : Ramp::make(make_zero(Int(32)), make_one(Int(32)), m.elements);
    }

    static Expr to_bits(const Expr &e) {
        const Type bits = UInt(bits_of(e.type()));
        return e.type().is_bool() || e.type().is_int_or_uint() ? cast(bits, e) : reinterpret(bits, e);
    }
    static Expr from_bits(const Type &t, const Expr &e) {
        return t.is_bool() || t.is_int_or_uint() ? cast(t, e) : reinterpret(t, e);
    }

    static Expr word_of(const std::string &name, const Memory &m) {
        const Expr load = Load::make(m.element.with_lanes(m.elements), name, dense_index(m));
        const Expr numbers = m.element.is_bool() ? cast(UInt(8, m.elements), load) : load;
        const Type word = UInt(bits_of(m.element) * m.elements);
        return numbers.type() == word ? numbers : Reinterpret::make(word, numbers);
    }

    static Expr shift_of(const Memory &m, const Expr &index) {
        const int bits = bits_of(m.element);
        return cast(UInt(bits * m.elements), index) * make_const(UInt(bits * m.elements), bits);
    }
};

}  // namespace

Stmt gpr_storage(const Stmt &s, LowerContext &ctx) {
    return GPRStorage(ctx.target)(s);
}

}  // namespace Internal
}  // namespace Halide
