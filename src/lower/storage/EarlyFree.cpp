#include "lower/storage/EarlyFree.h"

#include "ir/IRMutator.h"
#include "ir/IRVisitor.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

class UsesAllocation : public IRGraphVisitor {
public:
    explicit UsesAllocation(const std::string &name) : name(name) {}
    bool found = false;

protected:
    using IRGraphVisitor::visit;
    void visit(const Load *op) override {
        found = found || op->name == name;
        IRGraphVisitor::visit(op);
    }
    void visit(const Store *op) override {
        found = found || op->name == name;
        IRGraphVisitor::visit(op);
    }
    void visit(const Variable *op) override { found = found || op->name == name || op->name == name + ".buffer"; }

private:
    const std::string &name;
};

bool uses(const Stmt &s, const std::string &name) {
    UsesAllocation u(name);
    s.accept(&u);
    return u.found;
}

/// Puts the Free behind the last statement that uses the allocation, looking into blocks, produce/consume nodes and
/// lets, which all run their body once.
Stmt insert_free(const Stmt &s, const std::string &name) {
    if (const Block *b = s.as<Block>()) {
        if (uses(b->rest, name)) {
            return Block::make(b->first, insert_free(b->rest, name));
        }
        return Block::make(insert_free(b->first, name), b->rest);
    }
    if (const ProducerConsumer *pc = s.as<ProducerConsumer>()) {
        return ProducerConsumer::make(pc->name, pc->is_producer, insert_free(pc->body, name));
    }
    if (const LetStmt *let = s.as<LetStmt>()) {
        // The let of `f.buffer` itself must not outlive the memory it describes; its uses are all inside.
        return LetStmt::make(let->name, let->value, insert_free(let->body, name));
    }
    return Block::make(s, Free::make(name));
}

class EarlyFreeMutator : public IRMutator {
protected:
    using IRMutator::visit;
    Stmt visit(const Allocate *op) override {
        Stmt s = IRMutator::visit(op);
        op = s.as<Allocate>();
        internal_assert(op);
        return Allocate::make(op->name, op->type, op->memory_type, op->extents, op->condition,
                              insert_free(op->body, op->name), op->new_expr, op->free_function, op->padding);
    }
};

}  // namespace

Stmt early_free(const Stmt &s, LowerContext &ctx) {
    return EarlyFreeMutator()(s);
}

}  // namespace Internal
}  // namespace Halide
