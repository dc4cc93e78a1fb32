#include "lower/storage/SplitTuples.h"

#include <set>

#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRVisitor.h"
#include "support/Error.h"

namespace Halide {
namespace Internal {

namespace {

std::string element_name(const std::string &func, int i) {
    return func + "." + std::to_string(i);
}

class SplitTuplesMutator : public IRMutator {
public:
    explicit SplitTuplesMutator(LowerContext &ctx) : ctx(ctx) {
        for (const auto &entry : ctx.env) {
            if (entry.second.outputs() > 1) {
                tuples.emplace(entry.first, entry.second.outputs());
            }
        }
    }

protected:
    using IRMutator::visit;

    Expr visit(const Call *op) override {
        Expr e = IRMutator::visit(op);
        const Call *call = e.as<Call>();
        if (call && call->call_type == Call::Halide && tuples.count(call->name)) {
            return Call::make(call->type, element_name(call->name, call->value_index), call->args, Call::Halide,
                              call->func, 0, call->image, call->param);
        }
        return e;
    }

    // realize f {A, B}   →   realize f.0 { realize f.1 { … } }
    Stmt visit(const Realize *op) override {
        if (op->types.size() <= 1) {
            return IRMutator::visit(op);
        }
        Region bounds;
        for (const Range &r : op->bounds) {
            bounds.emplace_back(mutate(r.min), mutate(r.extent));
        }
        Stmt body = mutate(op->body);
        Expr condition = mutate(op->condition);
        for (int i = (int)op->types.size() - 1; i >= 0; i--) {
            body = Realize::make(element_name(op->name, i), {op->types[i]}, op->memory_type, bounds, condition, body);
        }
        return body;
    }

    Stmt visit(const Prefetch *op) override {
        if (op->types.size() <= 1) {
            return IRMutator::visit(op);
        }
        Stmt body = mutate(op->body);
        Expr condition = mutate(op->condition);
        Region bounds;
        for (const Range &r : op->bounds) {
            bounds.emplace_back(mutate(r.min), mutate(r.extent));
        }
        for (int i = (int)op->types.size() - 1; i >= 0; i--) {
            body = Prefetch::make(element_name(op->name, i), {op->types[i]}, bounds, op->prefetch, condition, body);
        }
        return body;
    }

    Stmt visit(const Provide *op) override {
        if (op->values.size() <= 1) {
            return IRMutator::visit(op);
        }
        std::vector<std::pair<std::string, Expr>> lets;
        // A value or an index that reads the Func would see elements already stored; everything of that kind is
        // evaluated first. Inside Atomic nodes too: there the whole statement is protected by a mutex.
        auto evaluate_first = [&](const Expr &e) {
            Expr m = mutate(e);
            if (!reads(e, op->name)) {
                return m;
            }
            std::string name = ctx.unique_name(op->name + ".value");
            lets.emplace_back(name, m);
            return Variable::make(m.type(), name);
        };
        std::vector<Expr> args, values;
        for (const Expr &a : op->args) {
            args.push_back(evaluate_first(a));
        }
        for (const Expr &v : op->values) {
            values.push_back(is_undef(v) ? v : evaluate_first(v));
        }
        Expr predicate = evaluate_first(op->predicate);
        std::vector<Stmt> stores;
        for (size_t i = 0; i < values.size(); i++) {
            if (!is_undef(values[i])) {
                stores.push_back(Provide::make(element_name(op->name, (int)i), {values[i]}, args, predicate));
            }
        }
        if (stores.empty()) {
            return Evaluate::make(0);
        }
        Stmt s = Block::make(stores);
        for (size_t i = lets.size(); i > 0; i--) {
            s = LetStmt::make(lets[i - 1].first, lets[i - 1].second, s);
        }
        return s;
    }

private:
    LowerContext &ctx;
    std::map<std::string, int> tuples;

    static bool reads(const Expr &e, const std::string &func) {
        class Finder : public IRGraphVisitor {
        public:
            explicit Finder(const std::string &func) : func(func) {}
            bool found = false;

        protected:
            using IRGraphVisitor::visit;
            void visit(const Call *op) override {
                found = found || (op->call_type == Call::Halide && op->name == func);
                IRGraphVisitor::visit(op);
            }

        private:
            const std::string &func;
        } finder(func);
        e.accept(&finder);
        return finder.found;
    }
};

/// Drops stores of undefined values. An expression with an undefined part is undefined, except that a select with
/// one undefined arm stores only where the other arm is chosen.
class RemoveUndef : public IRMutator {
protected:
    using IRMutator::visit;

    Expr visit(const Call *op) override {
        if (op->is_intrinsic(Call::undef)) {
            undefined = true;
            return op;
        }
        return IRMutator::visit(op);
    }

    Expr visit(const Select *op) override {
        Expr condition = mutate(op->condition);
        const bool outer = undefined;
        undefined = false;
        Expr t = mutate(op->true_value);
        const bool t_undefined = undefined;
        undefined = false;
        Expr f = mutate(op->false_value);
        const bool f_undefined = undefined;
        undefined = outer;
        if (t_undefined && f_undefined) {
            undefined = true;
            return op;
        }
        if (t_undefined || f_undefined) {
            Expr chosen = t_undefined ? !condition : condition;
            predicate = predicate.defined() ? predicate && chosen : chosen;
            return t_undefined ? f : t;
        }
        return Select::make(condition, t, f);
    }

    Expr visit(const Let *op) override {
        const bool outer = undefined;
        undefined = false;
        Expr value = mutate(op->value);
        const bool value_undefined = undefined;
        undefined = outer;
        if (value_undefined) {
            undefined_names.insert(op->name);
        }
        Expr body = mutate(op->body);
        undefined_names.erase(op->name);
        if (value_undefined) {
            return body;
        }
        // A predicate found in the body may use this name: it is kept around the whole.
        if (predicate.defined()) {
            predicate = Let::make(op->name, value, predicate);
        }
        return Let::make(op->name, value, body);
    }

    Expr visit(const Variable *op) override {
        if (undefined_names.count(op->name)) {
            undefined = true;
        }
        return op;
    }

    Stmt visit(const LetStmt *op) override {
        undefined = false;
        Expr value = mutate(op->value);
        const bool value_undefined = undefined;
        predicate = Expr();
        undefined = false;
        if (value_undefined) {
            undefined_names.insert(op->name);
            Stmt body = mutate(op->body);
            undefined_names.erase(op->name);
            return body;
        }
        Stmt body = mutate(op->body);
        if (value.same_as(op->value) && body.same_as(op->body)) {
            return op;
        }
        return LetStmt::make(op->name, value, body);
    }

    Stmt visit(const Provide *op) override {
        undefined = false;
        predicate = Expr();
        Expr value = mutate(op->values[0]);
        Stmt result = op;
        if (undefined) {
            result = Evaluate::make(0);
        } else if (predicate.defined()) {
            result = IfThenElse::make(predicate, Provide::make(op->name, {value}, op->args, op->predicate));
        }
        undefined = false;
        predicate = Expr();
        return result;
    }

private:
    bool undefined = false;
    Expr predicate;
    std::set<std::string> undefined_names;
};

bool has_undef(const Stmt &s) {
    class Finder : public IRGraphVisitor {
    public:
        bool found = false;

    protected:
        using IRGraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || op->is_intrinsic(Call::undef);
            IRGraphVisitor::visit(op);
        }
    } finder;
    s.accept(&finder);
    return finder.found;
}

}  // namespace

Stmt split_tuples(const Stmt &s, LowerContext &ctx) {
    Stmt result = SplitTuplesMutator(ctx)(s);
    if (has_undef(result)) {
        result = RemoveUndef()(result);
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
