/// Atomic updates.

#include "codegen/llvm/CodeGen_LLVM.h"

#include <functional>

#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "ir/Substitute.h"
#include "support/Error.h"

namespace Halide::Internal {

namespace {

bool always_true(const Expr &predicate) {
    return !predicate.defined() || is_const_one(predicate);
}

bool loads_from(const Expr &e, const std::string &name) {
    bool found = false;
    visit_with(e, [&](auto *self, const Load *op) {
        found = found || op->name == name;
        self->visit_base(op);
    });
    return found;
}

bool is_load_of(const Expr &e, const std::string &name, const Expr &index) {
    const Load *l = e.as<Load>();
    return l && l->name == name && equal(l->index, index);
}

}  // namespace

// A vector store in an atomic node: lane by lane, in order. The value was computed from loads that happened before all
// of the stores, so lanes that may hit the same element must have been reduced before; what is left has distinct
// addresses or does not load.
void CodeGen_LLVM::store_atomic(const Store *op) {
    const Expr value_expr = substitute_in_all_lets(op->value);
    const Expr index_expr = substitute_in_all_lets(op->index);
    const int lanes = op->value.type().lanes();
    if (lanes == 1) {
        if (always_true(op->predicate)) {
            store_atomic_scalar(op, index_expr, value_expr);
            return;
        }
        llvm::BasicBlock *store = new_block("store"), *after = new_block("stored");
        builder->CreateCondBr(codegen(op->predicate), store, after);
        builder->SetInsertPoint(store);
        store_atomic_scalar(op, index_expr, value_expr);
        builder->CreateBr(after);
        builder->SetInsertPoint(after);
        return;
    }
    // f[v] = f[v] op x: bind x and the index once, then update each lane.
    const auto update_lanes = [&](const Expr &x, const std::function<Expr(const Expr &, const Expr &)> &make) {
        llvm::Value *index = codegen(index_expr);
        llvm::Value *mask = mask_of(op->predicate, lanes);
        llvm::Value *v = x.defined() ? codegen(x) : nullptr;
        for (int i = 0; i < lanes; i++) {
            const std::string index_name = op->name + ".lane.index", value_name = op->name + ".lane.value";
            llvm::BasicBlock *after = nullptr;
            if (mask) {
                llvm::BasicBlock *store = new_block("store");
                after = new_block("stored");
                builder->CreateCondBr(builder->CreateExtractElement(mask, (uint64_t)i), store, after);
                builder->SetInsertPoint(store);
            }
            bind(index_name, builder->CreateExtractElement(index, (uint64_t)i));
            bind(value_name, builder->CreateExtractElement(v, (uint64_t)i));
            Expr at = Variable::make(index_expr.type().element_of(), index_name);
            Expr scalar = Variable::make(x.type().element_of(), value_name);
            const Halide::Type t = op->value.type().element_of();
            Expr old = Load::make(t, op->name, at, Buffer<>(), op->param, const_true(), ModulusRemainder());
            store_atomic_scalar(op, at, make(old, scalar));
            unbind(index_name);
            unbind(value_name);
            if (after) {
                builder->CreateBr(after);
                builder->SetInsertPoint(after);
            }
        }
    };
    if (!loads_from(value_expr, op->name)) {
        update_lanes(value_expr, [](const Expr &, const Expr &x) { return x; });
        return;
    }
    if (const auto operands = as_binary_operands(value_expr)) {
        const IRNodeType node = value_expr.node_type();
        const auto rebuild = [node](const Expr &a, const Expr &b) { return make_binary_op(node, a, b); };
        if (is_load_of(operands->first, op->name, index_expr) && !loads_from(operands->second, op->name)) {
            update_lanes(operands->second, rebuild);
            return;
        }
        if (is_load_of(operands->second, op->name, index_expr) && !loads_from(operands->first, op->name)) {
            update_lanes(operands->first, [rebuild](const Expr &a, const Expr &b) { return rebuild(b, a); });
            return;
        }
    }
    user_error << "The update of " << op->name
               << " is vectorized under atomic(), but is not of the form f(i) = f(i) op value, so its lanes cannot be "
                  "updated one by one.\n  Leave out vectorize for this stage, or use rfactor.";
}

bool CodeGen_LLVM::try_atomic_rmw(const Store *op, const Expr &index, const Expr &e) {
    const Halide::Type t = e.type();
    const auto operands = as_binary_operands(e);
    if (!operands || t.is_bool() || t.is_handle()) {
        return false;
    }
    const bool left = is_load_of(operands->first, op->name, index) && !loads_from(operands->second, op->name);
    const bool right = is_load_of(operands->second, op->name, index) && !loads_from(operands->first, op->name);
    if (!left && !right) {
        return false;
    }
    using RMW = llvm::AtomicRMWInst;
    RMW::BinOp rmw = RMW::BAD_BINOP;
    if (t.is_int_or_uint()) {
        switch (e.node_type()) {
        case IRNodeType::Add:
            rmw = RMW::Add;
            break;
        case IRNodeType::Sub:
            rmw = left ? RMW::Sub : RMW::BAD_BINOP;
            break;
        case IRNodeType::Min:
            rmw = t.is_int() ? RMW::Min : RMW::UMin;
            break;
        case IRNodeType::Max:
            rmw = t.is_int() ? RMW::Max : RMW::UMax;
            break;
        default:
            break;
        }
    } else if (native_type(t) && t.bits() >= 32) {
        rmw = e.node_type() == IRNodeType::Add           ? RMW::FAdd :
              e.node_type() == IRNodeType::Sub && left ? RMW::FSub :
                                                           RMW::BAD_BINOP;
    }
    if (rmw == RMW::BAD_BINOP) {
        return false;
    }
    llvm::Value *x = codegen(left ? operands->second : operands->first);
    Access a{op->name, t, ModulusRemainder(), op->param, false};
    llvm::Value *p = element_address(a, codegen_index(index));
    mark(builder->CreateAtomicRMW(rmw, p, x, llvm::Align((uint64_t)t.bytes()), llvm::AtomicOrdering::Monotonic),
         op->name);
    return true;
}

void CodeGen_LLVM::store_atomic_scalar(const Store *op, const Expr &index, const Expr &e) {
    if (try_atomic_rmw(op, index, e)) {
        return;
    }
    const Halide::Type t = e.type();
    Access a{op->name, t, ModulusRemainder(), op->param, false};
    const llvm::Align align((uint64_t)std::max(1, t.bytes()));
    llvm::Type *bits_type = llvm::Type::getIntNTy(context, (unsigned)std::max(8, t.bits()));
    const auto as_bits = [&](llvm::Value *v) {
        v = to_memory(v, t);
        return t.is_handle() ? builder->CreatePtrToInt(v, bits_type) : builder->CreateBitCast(v, bits_type);
    };
    const auto as_value = [&](llvm::Value *v) {
        if (t.is_handle()) {
            return builder->CreateIntToPtr(v, ptr_t);
        }
        return from_memory(builder->CreateBitCast(v, memory_type(t)), t);
    };
    llvm::Value *p = element_address(a, codegen_index(index));
    if (!loads_from(e, op->name)) {
        llvm::StoreInst *store = builder->CreateAlignedStore(as_bits(codegen(e)), p, align);
        store->setAtomic(llvm::AtomicOrdering::Monotonic);
        mark(store, op->name);
        return;
    }
    // Compute from the value seen, try to replace it, start over if it changed meanwhile.
    llvm::LoadInst *first = builder->CreateAlignedLoad(bits_type, p, align);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    mark(first, op->name);
    llvm::BasicBlock *before = builder->GetInsertBlock();
    llvm::BasicBlock *retry = new_block("retry"), *done = new_block("updated");
    builder->CreateBr(retry);
    builder->SetInsertPoint(retry);
    llvm::PHINode *seen = builder->CreatePHI(bits_type, 2);
    seen->addIncoming(first, before);
    const AtomicLoad current{op->name, index, as_value(seen)};
    llvm::Value *desired = nullptr;
    {
        ScopedValue<const AtomicLoad *> scope(atomic_load, &current);
        ScopedValue<bool> not_nested(in_atomic, false);
        desired = as_bits(codegen(e));
    }
    llvm::Value *swap = mark(builder->CreateAtomicCmpXchg(p, seen, desired, align, llvm::AtomicOrdering::Monotonic,
                                                          llvm::AtomicOrdering::Monotonic),
                             op->name);
    seen->addIncoming(builder->CreateExtractValue(swap, 0), builder->GetInsertBlock());
    builder->CreateCondBr(builder->CreateExtractValue(swap, 1), done, retry,
                          llvm::MDBuilder(context).createLikelyBranchWeights());
    builder->SetInsertPoint(done);
}

}  // namespace Halide::Internal
