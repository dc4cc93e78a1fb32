#include "KernelCases.h"

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRText.h"
#include "ir/IRVisitor.h"
#include "lower/Pipeline.h"
#include "lower/pto/PTOAnalysis.h"
#include "lower/pto/PTOLaneLayout.h"
#include "lower/pto/PTOLegalize.h"

#include <algorithm>
#include <sstream>

namespace bromide {

using namespace Halide;
using namespace Halide::Internal;

namespace {

Stmt barrier(const char *kind) {
    return Evaluate::make(Call::make(Int(32), "pto_mem_bar", {Expr(std::string(kind))}, Call::Extern));
}

/// Barriers between all statements that touch the same buffers: the planner's passes have their own tests.
class AddBarriers : public IRMutator {
protected:
    using IRMutator::visit;

    static bool meet(const std::set<std::string> &a, const std::set<std::string> &b) {
        return std::any_of(a.begin(), a.end(), [&](const std::string &s) { return b.count(s) > 0; });
    }
    Stmt visit(const Block *op) override {
        const bool raw = meet(stored_buffers(op->first), loaded_buffers(op->rest));
        const bool war = meet(loaded_buffers(op->first), stored_buffers(op->rest));
        const bool waw = meet(stored_buffers(op->first), stored_buffers(op->rest));
        std::vector<Stmt> parts = {mutate(op->first)};
        if (contains_vector_loop(op->first) && contains_vector_loop(op->rest)) {
            if (raw) {
                parts.push_back(barrier("VST_VLD"));
            }
            if (war) {
                parts.push_back(barrier("VLD_VST"));
            }
            if (waw) {
                parts.push_back(barrier("VST_VST"));
            }
        }
        parts.push_back(mutate(op->rest));
        return Block::make(parts);
    }
    Stmt visit(const For *op) override {
        if (op->for_type == ForType::Vectorized) {
            return op;
        }
        Stmt body = mutate(op->body);
        if (contains_vector_loop(op->body) && meet(stored_buffers(op->body), loaded_buffers(op->body))) {
            body = Block::make({body, barrier("VST_VLD"), barrier("VLD_VST"), barrier("VST_VST")});
        }
        return op->changed(&For::body, body);
    }
};

/// One UB address after the other.
class Addresses : public IRVisitor {
public:
    std::map<std::string, int64_t> result;
    int64_t next = 0;

protected:
    using IRVisitor::visit;
    void visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::Register) {
            result[op->name] = next;
            const int64_t bytes = (int64_t)(op->constant_allocation_size() + op->padding) * op->type.bytes();
            next += (bytes + 255) / 256 * 256;
        }
        IRVisitor::visit(op);
    }
};

std::string type_name(const Type &t) {
    return (t.is_bfloat() ? "bf" : t.is_float() ? "f" : t.is_int() ? "i" : "u") + std::to_string(t.bits());
}

/// Allocations `name.ub` for all buffers, the moves, and the flags between the pipes.
std::string with_moves(const KernelCase &c) {
    std::ostringstream text;
    for (const KernelCase::Arg &a : c.args) {
        if (a.elements) {
            text << "allocate " << a.name << ".ub[" << type_name(a.type) << ", " << a.elements << "] in UB\n";
        }
    }
    for (const KernelCase::Arg &a : c.args) {
        if (a.elements && !a.output) {
            text << "evaluate extern pto_mte_gm_ub(" << a.name << ":handle, 0, " << a.name << ".ub:handle, 0, "
                 << a.elements << "):" << type_name(a.type) << "\n";
        }
    }
    text << "evaluate extern pto_set_flag(\"MTE2\", \"V\", 0)\nevaluate extern pto_wait_flag(\"MTE2\", \"V\", 0)\n";
    text << "{\n" << c.text << "\n}\n";
    text << "evaluate extern pto_set_flag(\"V\", \"MTE3\", 0)\nevaluate extern pto_wait_flag(\"V\", \"MTE3\", 0)\n";
    for (const KernelCase::Arg &a : c.args) {
        if (a.output) {
            text << "evaluate extern pto_mte_ub_gm(" << a.name << ":handle, 0, " << a.name << ".ub:handle, 0, "
                 << a.elements << "):" << type_name(a.type) << "\n";
        }
    }
    return text.str();
}

}  // namespace

Stmt kernel_statement(const KernelCase &c) {
    return parse_stmt(with_moves(c));
}

PTOKernel prepare_kernel(const KernelCase &c) {
    PTOKernel k;
    k.name = c.name;
    for (const KernelCase::Arg &a : c.args) {
        k.args.push_back({a.name, a.type, a.elements > 0});
    }
    LowerContext ctx;
    class Loops : public IRVisitor {
    public:
        explicit Loops(int lanes) : lanes(lanes) {}
        std::map<std::string, int> preferred;

    protected:
        using IRVisitor::visit;
        void visit(const For *op) override {
            preferred[op->name] = lanes;
            IRVisitor::visit(op);
        }

    private:
        const int lanes;
    } loops(c.lanes);
    if (c.lanes) {
        kernel_statement(c).accept(&loops);
    }
    k.body = AddBarriers().mutate(lay_out_lanes(shape_vector_regions(kernel_statement(c), ctx), loops.preferred, ctx));
    Addresses addresses;
    k.body.accept(&addresses);
    k.ub_address = addresses.result;
    return k;
}

}  // namespace bromide
