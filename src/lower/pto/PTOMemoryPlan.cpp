#include "lower/pto/PTOMemoryPlan.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "func/PTOProgram.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "lower/pto/PTOAnalysis.h"
#include "lower/pto/PTOUtil.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

constexpr int64_t address_unit = 256;

int64_t round_up(int64_t n) {
    return (n + address_unit - 1) / address_unit * address_unit;
}

struct LiveBuffer {
    PTOLocalBuffer buffer;
    int64_t innermost = 1;      // extent of the innermost dimension, for advice
    int first = -1, last = -1;  // positions of uses in the order of the statement
};

/// Finds the buffers of one kernel and from where to where each holds values.
class FindBuffers : public IRVisitor {
    using IRVisitor::visit;
    const std::map<std::string, int64_t> &padded;
    std::map<std::string, size_t> index;
    int position = 0;

    void use(const std::string &name) {
        const auto it = index.find(name);
        if (it != index.end()) {
            LiveBuffer &b = buffers[it->second];
            b.first = b.first < 0 ? position : b.first;
            b.last = position;
        }
    }
    void visit(const Allocate *op) override {
        user_assert(op->memory_type == MemoryType::UB || op->memory_type == MemoryType::Register)
            << "Func " << op->name << " is stored in global memory inside of a kernel, which cannot allocate there.\n"
            << "  Store it in UB, or outside of all loops.\n";
        if (op->memory_type != MemoryType::UB) {
            IRVisitor::visit(op);
            return;
        }
        LiveBuffer b;
        int64_t elements = 1;
        for (const Expr &e : op->extents) {
            const std::optional<int64_t> n = as_const_int(e);
            user_assert(n) << "The allocation of " << op->name << " in the unified buffer has no constant size: its extent is "
                           << e << ".\n  Give it one with bound_storage, or split the loops around it by constants.\n";
            elements *= std::max<int64_t>(*n, 0);
        }
        if (!op->extents.empty()) {
            b.innermost = as_const_int(op->extents[0]).value_or(1);
        }
        const auto reach = padded.find(op->name);
        elements = std::max(elements + op->padding, reach == padded.end() ? 0 : reach->second);
        b.buffer.name = op->name;
        b.buffer.type = op->type;
        b.buffer.bytes = round_up(std::max<int64_t>(elements * pto_element_bytes(op->type), 1));
        user_assert(!index.count(op->name)) << "Two allocations in UB are called " << op->name << ".\n";
        index[op->name] = buffers.size();
        buffers.push_back(b);
        IRVisitor::visit(op);
    }
    void visit(const For *op) override {
        op->min.accept(this);
        op->max.accept(this);
        const int begin = ++position;
        const size_t known = buffers.size();
        std::vector<int> before;
        for (const LiveBuffer &b : buffers) {
            before.push_back(b.last);
        }
        op->body.accept(this);
        const int end = ++position;
        // What was allocated outside and is used inside is alive during all iterations.
        for (size_t i = 0; i < known; i++) {
            if (buffers[i].last > before[i] && buffers[i].last >= begin) {
                buffers[i].first = std::min(buffers[i].first, begin);
                buffers[i].last = end;
            }
        }
    }
    void visit(const Block *op) override {
        op->first.accept(this);
        position++;
        op->rest.accept(this);
    }
    void visit(const Load *op) override {
        use(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        IRVisitor::visit(op);
        use(op->name);
    }
    void visit(const Variable *op) override {
        if (op->type.is_handle()) {
            use(op->name);
        }
    }

public:
    std::vector<LiveBuffer> buffers;
    explicit FindBuffers(const std::map<std::string, int64_t> &padded) : padded(padded) {
    }
};

bool together(const LiveBuffer &a, const LiveBuffer &b) {
    return a.first <= b.last && b.first <= a.last;
}

/// Each buffer at the lowest address where nothing lies that is alive together with it; larger ones first.
int64_t pack(std::vector<LiveBuffer> &buffers) {
    std::vector<LiveBuffer *> order;
    for (LiveBuffer &b : buffers) {
        order.push_back(&b);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const LiveBuffer *a, const LiveBuffer *b) { return a->buffer.bytes > b->buffer.bytes; });
    int64_t total = 0;
    std::vector<LiveBuffer *> placed;
    for (LiveBuffer *b : order) {
        std::vector<std::pair<int64_t, int64_t>> taken;
        for (const LiveBuffer *p : placed) {
            if (together(*b, *p)) {
                taken.emplace_back(p->buffer.address, p->buffer.address + p->buffer.bytes);
            }
        }
        std::sort(taken.begin(), taken.end());
        int64_t address = 0;
        for (const auto &[from, to] : taken) {
            if (address + b->buffer.bytes <= from) {
                break;
            }
            address = std::max(address, to);
        }
        b->buffer.address = address;
        total = std::max(total, address + b->buffer.bytes);
        placed.push_back(b);
    }
    return total;
}

/// The tile that pto-stage made for a buffer is called `in.tile.$0`.
std::string in_words(const std::string &buffer) {
    const size_t tile = buffer.find(".tile");
    return tile == std::string::npos ? buffer : "tile of " + buffer.substr(0, tile);
}

void report_overflow(const std::string &kernel, const std::vector<LiveBuffer> &buffers, int64_t total) {
    std::ostringstream list;
    const LiveBuffer *largest = &buffers[0];
    for (const LiveBuffer &b : buffers) {
        list << "    " << in_words(b.buffer.name) << ": " << b.buffer.bytes << " bytes\n";
        largest = b.buffer.bytes > largest->buffer.bytes ? &b : largest;
    }
    const int64_t fits = largest->innermost * pto_ub_bytes / total / 64 * 64;
    std::ostringstream advice;
    if (fits >= 64) {
        advice << "  Split by " << fits << " or less where " << in_words(largest->buffer.name) << " now has " << largest->innermost
               << " elements in a row.\n";
    } else {
        advice << "  Compute " << in_words(largest->buffer.name) << " further inside, or split the loops around it.\n";
    }
    user_error << "PTO, memory: the buffers of kernel " << kernel << " need " << total << " bytes of the unified buffer, which has "
               << pto_ub_bytes << ":\n" << list.str() << advice.str();
}

/// Unrolling copies allocations with their names: each gets one of its own.
class UniqueAllocations : public IRMutator {
    using IRMutator::visit;
    LowerContext &ctx;
    std::set<std::string> seen;
    std::map<std::string, std::string> renamed;

    const std::string &name_of(const std::string &name) const {
        const auto it = renamed.find(name);
        return it == renamed.end() ? name : it->second;
    }
    Stmt visit(const Allocate *op) override {
        if (seen.insert(op->name).second) {
            return IRMutator::visit(op);
        }
        const std::map<std::string, std::string> outside = renamed;
        renamed[op->name] = ctx.unique_name(op->name);
        seen.insert(renamed[op->name]);
        const std::string name = renamed[op->name];
        Stmt body = mutate(op->body);
        renamed = outside;
        return op->changed(&Allocate::name, name, &Allocate::body, body);
    }
    Stmt visit(const Free *op) override {
        return Free::make(name_of(op->name));
    }
    Expr visit(const Load *op) override {
        const Expr e = IRMutator::visit(op);
        return renamed.count(op->name) ? e.as<Load>()->changed(&Load::name, name_of(op->name)) : e;
    }
    Stmt visit(const Store *op) override {
        const Stmt s = IRMutator::visit(op);
        return renamed.count(op->name) ? s.as<Store>()->changed(&Store::name, name_of(op->name)) : s;
    }
    Expr visit(const Variable *op) override {
        return op->type.is_handle() && renamed.count(op->name) ? Variable::make(op->type, name_of(op->name)) : Expr(op);
    }

public:
    explicit UniqueAllocations(LowerContext &ctx) : ctx(ctx) {
    }
};

void plan_kernel(const For *kernel, LowerContext &ctx) {
    const std::map<std::string, int64_t> padded = pto_padded_elements(kernel->body);
    FindBuffers find(padded);
    kernel->body.accept(&find);
    std::vector<LiveBuffer> &buffers = find.buffers;
    int64_t total = 0;
    for (LiveBuffer &b : buffers) {
        b.buffer.address = total;
        total += b.buffer.bytes;
    }
    if (total > pto_ub_bytes) {
        // Sharing costs waiting, so it is done only where it must be.
        total = pack(buffers);
    }
    if (total > pto_ub_bytes) {
        report_overflow(kernel->name, buffers, total);
    }
    std::vector<PTOLocalBuffer> &result = ctx.pto->local[kernel->name];
    result.clear();
    for (const LiveBuffer &b : buffers) {
        result.push_back(b.buffer);
        const auto f = ctx.env.find(b.buffer.name);
        if (f != ctx.env.end() && f->second.schedule().ring_buffer().defined()) {
            result.back().copies = (int)as_const_int(f->second.schedule().ring_buffer()).value_or(1);
        }
    }
}

}  // namespace

Stmt pto_memory_plan(const Stmt &stmt, LowerContext &ctx) {
    const Stmt s = UniqueAllocations(ctx)(stmt);
    visit_with(s, [&](auto *self, const For *op) {
        if (is_pto_block(op)) {
            plan_kernel(op, ctx);
        } else {
            self->visit_base(op);
        }
    });
    return s;
}

}  // namespace Internal
}  // namespace Halide
