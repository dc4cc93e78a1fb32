#include "api/FuncRef.h"

#include <algorithm>
#include <set>

#include "api/Stage.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "ir/Scope.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace {

/// How many implicit Vars a list of values needs: the highest index that occurs, plus one.
int count_implicit_vars(const std::vector<Expr> &values) {
    struct Counter : public IRGraphVisitor {
        int count = 0;
        using IRGraphVisitor::visit;
        void visit(const Variable *op) override { count = std::max(count, Var::implicit_index(op->name) + 1); }
    } counter;
    for (const Expr &v : values) {
        if (v.defined()) {
            v.accept(&counter);
        }
    }
    return counter.count;
}

bool is_defined(const Function &f) {
    return f.has_pure_definition() || f.has_extern_definition();
}

/// Whether an expression is a Var and nothing else.
const Variable *as_bare_var(const Expr &e) {
    const Variable *v = e.as<Variable>();
    return v && !v->param.defined() && !v->image.defined() && !v->reduction_domain.defined() ? v : nullptr;
}

Expr apply(IRNodeType op, const Expr &a, const Expr &b) {
    switch (op) {
    case IRNodeType::Add:
        return a + b;
    case IRNodeType::Sub:
        return a - b;
    case IRNodeType::Mul:
        return a * b;
    default:
        return a / b;
    }
}

std::vector<Expr> as_values(const FuncRef &f) {
    return Tuple(f).as_vector();
}

}  // namespace

FuncRef::FuncRef(const Function &f, const std::vector<Expr> &a, int placeholder_pos, int count)
    : func(f), implicit_placeholder_pos(placeholder_pos), implicit_count(count), args(a) {
    check_call_arg_types(f.name(), &args, (int)args.size());
}

FuncRef::FuncRef(Function f, const std::vector<Var> &a, int placeholder_pos, int count)
    : func(std::move(f)), implicit_placeholder_pos(placeholder_pos), implicit_count(count), args(a.begin(), a.end()) {}

std::vector<Expr> FuncRef::args_with_implicit_vars(const std::vector<Expr> &values) const {
    for (size_t i = 0; i < values.size(); i++) {
        user_assert(values[i].defined()) << func.name() << "(...) = ...: "
                                         << (values.size() == 1 ? "the right side"
                                                                : "element " + std::to_string(i) + " of the right side")
                                         << " is undefined.\n";
    }
    std::vector<Expr> result = args;
    const int count = count_implicit_vars(values);
    if (count == 0) {
        return result;
    }
    if (is_defined(func)) {
        user_assert(count <= implicit_count || implicit_placeholder_pos < 0)
            << func.name() << ": the right side of this update uses " << count
            << " implicit Vars, but `_` on the left stands for " << implicit_count << ".\n";
    } else if (implicit_placeholder_pos >= 0) {
        for (int i = 0; i < count; i++) {
            result.insert(result.begin() + implicit_placeholder_pos + i, Var::implicit(i));
        }
    }
    for (int i = 0; i < count; i++) {
        const std::string name = Var::implicit(i).name();
        const bool found = std::any_of(result.begin(), result.end(), [&](const Expr &a) {
            const Variable *v = a.as<Variable>();
            return v && v->name == name;
        });
        user_assert(found) << func.name() << ": the right side of this definition uses the implicit Var " << name
                           << ", which is not among the arguments on the left.\n  Put `_` where the implicit Vars "
                           << "belong, as in " << func.name() << "(_) = ...\n";
    }
    return result;
}

Stage FuncRef::define(const std::vector<Expr> &values) {
    const std::vector<Expr> full_args = args_with_implicit_vars(values);
    if (is_defined(func)) {
        func.define_update(full_args, values);
        const size_t index = func.updates().size() - 1;
        return Stage(func, func.update((int)index), index);
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < full_args.size(); i++) {
        const Variable *v = as_bare_var(full_args[i]);
        user_assert(v) << "Argument " << i << " of the pure definition of " << func.name() << ", " << full_args[i]
                       << ", is not a Var.\n  The first definition of a Func gives its values everywhere, as in "
                       << func.name() << "(x, y) = ...; single places are set by updates after it.\n";
        names.push_back(v->name);
    }
    func.define(names, values);
    return Stage(func, func.definition(), 0);
}

Stage FuncRef::update(IRNodeType op, const std::vector<Expr> &values) {
    const std::vector<Expr> full_args = args_with_implicit_vars(values);
    if (!is_defined(func)) {
        std::vector<Expr> initial;
        const bool sum = op == IRNodeType::Add || op == IRNodeType::Sub;
        for (size_t i = 0; i < values.size(); i++) {
            const std::vector<Type> &required = func.required_types();
            const Type t = required.size() == values.size() ? required[i] : values[i].type();
            initial.push_back(sum ? make_zero(t) : make_one(t));
        }
        std::vector<Var> pure_args;
        std::set<std::string> taken;
        for (const Expr &a : full_args) {
            const Variable *v = as_bare_var(a);
            pure_args.push_back(v && taken.insert(v->name).second ? Var(v->name) : Var());
        }
        FuncRef(func, pure_args).define(initial);
    }
    user_assert((size_t)func.outputs() == values.size())
        << func.name() << " has " << func.outputs() << " values, but the right side of this update has "
        << values.size() << ".\n";
    // In full_args, `_` is already written out.
    FuncRef self(func, full_args);
    std::vector<Expr> results;
    for (size_t i = 0; i < values.size(); i++) {
        const Expr old_value = values.size() == 1 ? Expr(self) : Expr(self[(int)i]);
        results.push_back(apply(op, old_value, values[i]));
    }
    return self.define(results);
}

Stage FuncRef::operator=(const Expr &e) {
    return define({e});
}
Stage FuncRef::operator=(const Tuple &e) {
    return define(e.as_vector());
}
Stage FuncRef::operator=(const FuncRef &e) {
    return define(as_values(e));
}

Stage FuncRef::operator+=(const Expr &e) {
    return update(IRNodeType::Add, {e});
}
Stage FuncRef::operator+=(const Tuple &e) {
    return update(IRNodeType::Add, e.as_vector());
}
Stage FuncRef::operator+=(const FuncRef &e) {
    return update(IRNodeType::Add, as_values(e));
}
Stage FuncRef::operator-=(const Expr &e) {
    return update(IRNodeType::Sub, {e});
}
Stage FuncRef::operator-=(const Tuple &e) {
    return update(IRNodeType::Sub, e.as_vector());
}
Stage FuncRef::operator-=(const FuncRef &e) {
    return update(IRNodeType::Sub, as_values(e));
}
Stage FuncRef::operator*=(const Expr &e) {
    return update(IRNodeType::Mul, {e});
}
Stage FuncRef::operator*=(const Tuple &e) {
    return update(IRNodeType::Mul, e.as_vector());
}
Stage FuncRef::operator*=(const FuncRef &e) {
    return update(IRNodeType::Mul, as_values(e));
}
Stage FuncRef::operator/=(const Expr &e) {
    return update(IRNodeType::Div, {e});
}
Stage FuncRef::operator/=(const Tuple &e) {
    return update(IRNodeType::Div, e.as_vector());
}
Stage FuncRef::operator/=(const FuncRef &e) {
    return update(IRNodeType::Div, as_values(e));
}

FuncRef::operator Expr() const {
    user_assert(is_defined(func)) << "Can't call Func \"" << func.name() << "\" because it has not yet been defined.\n";
    user_assert(func.outputs() == 1) << "Can't convert a reference to Func \"" << func.name()
                                     << "\" to an Expr, because " << func.name() << " returns a Tuple of "
                                     << func.outputs() << " values.\n  Choose one, as in " << func.name()
                                     << "(...)[0].\n";
    return Call::make(func, args);
}

FuncTupleElementRef FuncRef::operator[](int i) const {
    user_assert(is_defined(func)) << "Can't call Func \"" << func.name() << "\" because it has not yet been defined.\n";
    user_assert(func.outputs() != 1) << "Can't index into a reference to Func \"" << func.name()
                                     << "\", because it does not return a Tuple.\n";
    user_assert(i >= 0 && i < func.outputs()) << "Tuple index out of range in reference to Func \"" << func.name()
                                              << "\": element " << i << " of " << func.outputs() << ".\n";
    return FuncTupleElementRef(*this, args, i);
}

size_t FuncRef::size() const {
    return (size_t)func.outputs();
}

bool FuncRef::equivalent_to(const FuncRef &other) const {
    if (!func.same_as(other.func) || args.size() != other.args.size()) {
        return false;
    }
    for (size_t i = 0; i < args.size(); i++) {
        if (!can_prove(args[i] == other.args[i])) {
            return false;
        }
    }
    return true;
}

const Type &FuncRef::type() const {
    const std::vector<Type> &all = types();
    user_assert(all.size() == 1) << "Can't ask for the type of a call of \"" << func.name()
                                 << "\", because it returns a Tuple: use types().\n";
    return all[0];
}

const std::vector<Type> &FuncRef::types() const {
    user_assert(!func.output_types().empty())
        << "Can't ask for the types of a call of \"" << func.name() << "\", which has not yet been defined.\n";
    return func.output_types();
}

FuncTupleElementRef::FuncTupleElementRef(const FuncRef &ref, const std::vector<Expr> &args, int idx)
    : func_ref(ref), args(args), idx(idx) {}

Tuple FuncTupleElementRef::values_with_undef(const Expr &e) const {
    std::vector<Expr> values;
    for (size_t i = 0; i < func_ref.size(); i++) {
        values.push_back((int)i == idx ? e : undef(func_ref.function().output_types()[i]));
    }
    return Tuple(values);
}

Stage FuncTupleElementRef::operator=(const Expr &e) {
    return func_ref = values_with_undef(e);
}
Stage FuncTupleElementRef::operator+=(const Expr &e) {
    return func_ref = values_with_undef(Expr(*this) + e);
}
Stage FuncTupleElementRef::operator-=(const Expr &e) {
    return func_ref = values_with_undef(Expr(*this) - e);
}
Stage FuncTupleElementRef::operator*=(const Expr &e) {
    return func_ref = values_with_undef(Expr(*this) * e);
}
Stage FuncTupleElementRef::operator/=(const Expr &e) {
    return func_ref = values_with_undef(Expr(*this) / e);
}
Stage FuncTupleElementRef::operator=(const FuncRef &e) {
    return func_ref = values_with_undef(Expr(e));
}

FuncTupleElementRef::operator Expr() const {
    return Call::make(func_ref.function(), args, idx);
}

}  // namespace Halide
