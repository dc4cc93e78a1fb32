// Statements: dead code, single iterations, facts of loops and branches.

#include "analysis/ExprUsesVar.h"
#include "ir/IREquality.h"
#include "ir/IROperator.h"
#include "simplify/Simplifier.h"

#include <algorithm>

namespace Halide {
namespace Internal {

namespace {

Stmt no_op() {
    return Evaluate::make(0);
}

bool is_unreachable(const Stmt &s) {
    const Evaluate *e = s.as<Evaluate>();
    return e && Call::as_intrinsic(e->value, {Call::unreachable});
}

std::vector<Stmt> statements_of(const Stmt &s) {
    std::vector<Stmt> result;
    std::vector<Stmt> pending = {s};
    while (!pending.empty()) {
        const Stmt next = pending.back();
        pending.pop_back();
        if (const Block *b = next.as<Block>()) {
            pending.push_back(b->rest);
            pending.push_back(b->first);
        } else if (next.defined()) {
            result.push_back(next);
        }
    }
    return result;
}

Stmt block_of(const Stmt &a, const Stmt &b) {
    return !a.defined() ? b : !b.defined() ? a : Block::make(a, b);
}

}  // namespace

Stmt Simplifier::mutate(const Stmt &s) {
    if (!s.defined()) {
        return s;
    }
    switch (s.node_type()) {
    case IRNodeType::LetStmt:
        return mutate_let_stmt(s);
    case IRNodeType::AssertStmt:
        return mutate_assert(s.as<AssertStmt>());
    case IRNodeType::For:
        return mutate_for(s.as<For>());
    case IRNodeType::Store:
        return mutate_store(s.as<Store>());
    case IRNodeType::Provide:
        return mutate_provide(s.as<Provide>());
    case IRNodeType::Allocate:
        return mutate_allocate(s.as<Allocate>());
    case IRNodeType::Realize:
        return mutate_realize(s.as<Realize>());
    case IRNodeType::Block:
        return mutate_block(s.as<Block>());
    case IRNodeType::IfThenElse:
        return mutate_if(s.as<IfThenElse>());
    case IRNodeType::Prefetch:
        return mutate_prefetch(s.as<Prefetch>());
    case IRNodeType::Free:
        return s;
    case IRNodeType::Evaluate: {
        const Evaluate *op = s.as<Evaluate>();
        if (is_no_op(s)) {
            return s;
        }
        const Expr value = mutate(op->value);
        return is_pure(value) ? no_op() : op->with(value);
    }
    case IRNodeType::ProducerConsumer: {
        const ProducerConsumer *op = s.as<ProducerConsumer>();
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? body : op->with(body);
    }
    case IRNodeType::HoistedStorage: {
        const HoistedStorage *op = s.as<HoistedStorage>();
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? body : op->with(body);
    }
    case IRNodeType::Atomic: {
        const Atomic *op = s.as<Atomic>();
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? body : op->with(body);
    }
    case IRNodeType::StreamingStore: {
        const StreamingStore *op = s.as<StreamingStore>();
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? body : op->with(body);
    }
    case IRNodeType::StreamingLoads: {
        const StreamingLoads *op = s.as<StreamingLoads>();
        const Stmt body = mutate(op->body);
        return is_no_op(body) ? body : op->with(body);
    }
    case IRNodeType::Acquire: {
        const Acquire *op = s.as<Acquire>();
        const Expr semaphore = mutate(op->semaphore), count = mutate(op->count);
        return op->with(semaphore, count, mutate(op->body));
    }
    case IRNodeType::Fork: {
        const Fork *op = s.as<Fork>();
        const Stmt first = mutate(op->first), rest = mutate(op->rest);
        return is_no_op(first) ? rest : is_no_op(rest) ? first : op->with(first, rest);
    }
    default:
        internal_error << "simplify: unexpected statement " << IRNodeType_string(s.node_type()) << "\n";
    }
}

Stmt Simplifier::mutate_let_stmt(const Stmt &s) {
    struct Frame {
        const LetStmt *op;
        std::string name;
        Expr value;
        bool keep;
    };
    std::vector<Frame> frames;
    Stmt body = s, result;
    bool changed = false;
    {
        FactScope scope(*this);
        while (const LetStmt *op = body.as<LetStmt>()) {
            Frame f{op, op->name, mutate(op->value), true};
            VariableInfo info = info_of_let(f.value, f.keep);
            if (!name_scalar_of_vector(f.name, f.value, info)) {
                f.name = bind(op->name, f.value.type(), info);
            }
            if (f.keep) {
                learn_let(f.name, f.value);
            }
            changed = changed || !f.keep || f.name != op->name || !f.value.same_as(op->value);
            frames.push_back(std::move(f));
            body = op->body;
        }
        result = mutate(body);
    }
    if (!changed && result.same_as(body) && !is_no_op(result)) {
        return s;
    }
    while (!frames.empty()) {
        const Frame &f = frames.back();
        // A name that is replaced may still be the name of a buffer: whether the let is dead is decided at the end.
        const bool names_buffer = f.value.type().is_handle();
        if (is_no_op(result) && is_pure(f.value)) {
            // Nothing left to name.
        } else if (f.keep || names_buffer) {
            result = LetStmt::make(f.name, f.value, result);
        }
        frames.pop_back();
    }
    return result;
}

Stmt Simplifier::mutate_assert(const AssertStmt *op) {
    const Expr condition = mutate(op->condition);
    if (is_const_one(condition)) {
        return no_op();
    }
    FactScope scope(*this);
    learn_false(condition);
    return op->with(condition, mutate(op->message));
}

Stmt Simplifier::mutate_block(const Block *op) {
    const std::vector<Stmt> stmts = statements_of(op);
    std::vector<Stmt> result;
    bool changed = false;
    FactScope scope(*this);
    for (size_t i = 0; i < stmts.size(); i++) {
        const Stmt s = mutate(stmts[i]);
        changed = changed || !s.same_as(stmts[i]);
        if (const AssertStmt *a = s.as<AssertStmt>()) {
            learn_true(a->condition);
        }
        for (const Stmt &part : statements_of(s)) {
            if (is_no_op(part)) {
                changed = true;
                continue;
            }
            if (!result.empty()) {
                const IfThenElse *a = result.back().as<IfThenElse>(), *b = part.as<IfThenElse>();
                if (a && b && !reads_memory(a->condition) && same_expr(a->condition, b->condition)) {
                    result.back() = IfThenElse::make(a->condition, block_of(a->then_case, b->then_case),
                                                     block_of(a->else_case, b->else_case));
                    changed = true;
                    continue;
                }
                const LetStmt *x = result.back().as<LetStmt>(), *y = part.as<LetStmt>();
                if (x && y && x->name == y->name && !reads_memory(x->value) && same_expr(x->value, y->value)) {
                    result.back() = LetStmt::make(x->name, x->value, Block::make(x->body, y->body));
                    changed = true;
                    continue;
                }
            }
            result.push_back(part);
        }
        if (is_unreachable(s)) {
            changed = changed || i + 1 < stmts.size();
            break;
        }
    }
    if (!changed) {
        return op;
    }
    return result.empty() ? no_op() : Block::make(result);
}

Stmt Simplifier::mutate_for(const For *op) {
    const Expr min = mutate(op->min), max = mutate(op->max);
    const ConstantInterval more = bounds_of_difference(max, min, 8);
    if (more < 0) {
        return no_op();
    }
    const bool host = op->device_api == DeviceAPI::None || op->device_api == DeviceAPI::Host;
    if (more.is_single_point(0) && host && !is_gpu(op->for_type) && op->for_type != ForType::Extern) {
        return mutate_let_stmt(LetStmt::make(op->name, min, op->body));
    }
    Stmt body;
    std::string name;
    {
        FactScope scope(*this);
        if (!(more >= 0)) {
            // Where the body runs there is an iteration.
            learn_true(binary(IRNodeType::LE, min, max));
        }
        VariableInfo info;
        const ConstantInterval lo = bounds_of(min), hi = bounds_of(max);
        info.bounds.min = lo.min;
        info.bounds.min_defined = lo.min_defined;
        info.bounds.max = hi.max;
        info.bounds.max_defined = hi.max_defined;
        name = bind(op->name, min.type(), info);
        const Expr v = Variable::make(min.type(), name);
        for (const Expr *end : {&min, &max}) {
            if (!is_const(*end) && !reads_memory(*end) && !expr_uses_var(*end, name)) {
                end == &min ? learn_comparison(min, v, false, 0) : learn_comparison(v, max, false, 0);
            }
        }
        scope_id = ++last_scope_id;
        body = mutate(op->body);
    }
    if (is_no_op(body)) {
        return body;
    }
    if (name != op->name) {
        return For::make(name, min, max, op->for_type, op->partition_policy, op->device_api, body, op->hint);
    }
    return op->with(min, max, body);
}

Stmt Simplifier::mutate_if(const IfThenElse *op) {
    const Expr condition = mutate(op->condition);
    if (is_const(condition)) {
        if (!is_const_zero(condition)) {
            return mutate(op->then_case);
        }
        return op->else_case.defined() ? mutate(op->else_case) : no_op();
    }
    Stmt then_case, else_case;
    {
        FactScope scope(*this);
        learn_true(condition);
        then_case = mutate(op->then_case);
    }
    if (op->else_case.defined()) {
        FactScope scope(*this);
        learn_false(condition);
        else_case = mutate(op->else_case);
        if (is_no_op(else_case)) {
            else_case = Stmt();
        }
    }
    if (is_unreachable(then_case)) {
        return else_case.defined() ? else_case : no_op();
    }
    if (else_case.defined() && is_unreachable(else_case)) {
        return then_case;
    }
    if (is_no_op(then_case)) {
        if (!else_case.defined()) {
            return is_pure(condition) ? no_op() : Evaluate::make(condition);
        }
        return IfThenElse::make(not_(condition), else_case);
    }
    if (else_case.defined()) {
        if (is_pure(condition) && equal(then_case, else_case)) {
            return then_case;
        }
        if (const Not *n = condition.as<Not>()) {
            return IfThenElse::make(n->a, else_case, then_case);
        }
        // What both cases do around their difference is done around the branch.
        const ProducerConsumer *p = then_case.as<ProducerConsumer>(), *q = else_case.as<ProducerConsumer>();
        if (p && q && p->name == q->name && p->is_producer == q->is_producer) {
            return ProducerConsumer::make(p->name, p->is_producer, IfThenElse::make(condition, p->body, q->body));
        }
        const LetStmt *x = then_case.as<LetStmt>(), *y = else_case.as<LetStmt>();
        if (x && y && x->name == y->name && same_expr(x->value, y->value) && !reads_memory(x->value) &&
            !expr_uses_var(condition, x->name)) {
            return LetStmt::make(x->name, x->value, IfThenElse::make(condition, x->body, y->body));
        }
        const Block *a = then_case.as<Block>(), *b = else_case.as<Block>();
        if (a && b && !reads_memory(condition) && equal(a->first, b->first)) {
            return Block::make(a->first, IfThenElse::make(condition, a->rest, b->rest));
        }
        if (a && b && equal(a->rest, b->rest)) {
            return Block::make(IfThenElse::make(condition, a->first, b->first), a->rest);
        }
    }
    if (condition.same_as(op->condition) && then_case.same_as(op->then_case) && else_case.same_as(op->else_case)) {
        return op;
    }
    return IfThenElse::make(condition, then_case, else_case);
}

Stmt Simplifier::mutate_store(const Store *op) {
    const Expr predicate = mutate(op->predicate);
    const Expr value = mutate(op->value);
    const Expr index = mutate(op->index);
    if (is_const_zero(predicate) || is_undef(value)) {
        return no_op();
    }
    // Storing what was just read there. Not for indices that may coincide: the last lane wins.
    const Load *load = value.as<Load>();
    const bool distinct = index.type().is_scalar() || (index.as<Ramp>() && index.as<Ramp>()->base.type().is_scalar() &&
                                                       is_const(index.as<Ramp>()->stride) &&
                                                       !is_const_zero(index.as<Ramp>()->stride));
    if (load && distinct && load->name == op->name && is_const_one(load->predicate) && same_expr(load->index, index) &&
        is_pure(index)) {
        return no_op();
    }
    const ModulusRemainder alignment = alignment_of_first_lane(index, op->alignment);
    if (predicate.same_as(op->predicate) && value.same_as(op->value) && index.same_as(op->index) &&
        alignment == op->alignment) {
        return op;
    }
    return Store::make(op->name, value, index, op->param, predicate, alignment, op->is_streaming);
}

Stmt Simplifier::mutate_provide(const Provide *op) {
    bool changed = false;
    const std::vector<Expr> values = mutate(op->values, changed);
    const std::vector<Expr> args = mutate(op->args, changed);
    const Expr predicate = mutate(op->predicate);
    const bool nothing = std::all_of(values.begin(), values.end(), [](const Expr &v) { return is_undef(v); });
    if (nothing || is_const_zero(predicate)) {
        return no_op();
    }
    if (!changed && predicate.same_as(op->predicate)) {
        return op;
    }
    return Provide::make(op->name, values, args, predicate);
}

Stmt Simplifier::mutate_allocate(const Allocate *op) {
    bool changed = false;
    const std::vector<Expr> extents = mutate(op->extents, changed);
    const Expr condition = mutate(op->condition);
    const Expr new_expr = mutate(op->new_expr);
    const Stmt body = mutate(op->body);
    const Free *free = body.as<Free>();
    if (is_no_op(body) || (free && free->name == op->name)) {
        return no_op();
    }
    if (!changed && condition.same_as(op->condition) && new_expr.same_as(op->new_expr) && body.same_as(op->body)) {
        return op;
    }
    return Allocate::make(op->name, op->type, op->memory_type, extents, condition, body, new_expr, op->free_function,
                          op->padding);
}

Stmt Simplifier::mutate_realize(const Realize *op) {
    bool changed = false;
    const Region bounds = mutate(op->bounds, changed);
    const Expr condition = mutate(op->condition);
    const Stmt body = mutate(op->body);
    if (is_no_op(body)) {
        return body;
    }
    if (!changed && condition.same_as(op->condition) && body.same_as(op->body)) {
        return op;
    }
    return Realize::make(op->name, op->types, op->memory_type, bounds, condition, body);
}

Stmt Simplifier::mutate_prefetch(const Prefetch *op) {
    bool changed = false;
    const Region bounds = mutate(op->bounds, changed);
    const Expr condition = mutate(op->condition);
    const Stmt body = mutate(op->body);
    if (is_no_op(body) || is_const_zero(condition)) {
        return body;
    }
    if (!changed && condition.same_as(op->condition) && body.same_as(op->body)) {
        return op;
    }
    return Prefetch::make(op->name, op->types, bounds, op->prefetch, condition, body);
}

}  // namespace Internal
}  // namespace Halide
