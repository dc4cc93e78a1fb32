#include "api/Tuple.h"

#include "api/FuncRef.h"

namespace Halide {

using namespace Internal;

Tuple::Tuple(Expr e) : exprs{std::move(e)} {}

Tuple::Tuple(const std::vector<Expr> &e) : exprs(e) {
    user_assert(!e.empty()) << "A Tuple has at least one element, but an empty list was given.\n";
}

Tuple::Tuple(const FuncRef &f) : exprs(f.size()) {
    if (exprs.size() == 1) {
        exprs[0] = f;
    } else {
        for (size_t i = 0; i < exprs.size(); i++) {
            exprs[i] = f[(int)i];
        }
    }
}

Expr &Tuple::operator[](size_t x) {
    user_assert(x < exprs.size()) << "Tuple access out of bounds: element " << x << " of a Tuple with " << exprs.size()
                                  << ".\n";
    return exprs[x];
}

Expr Tuple::operator[](size_t x) const {
    user_assert(x < exprs.size()) << "Tuple access out of bounds: element " << x << " of a Tuple with " << exprs.size()
                                  << ".\n";
    return exprs[x];
}

Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value) {
    user_assert(condition.size() == true_value.size() && true_value.size() == false_value.size())
        << "select() on Tuples requires all Tuples to have identical sizes, but they have " << condition.size() << ", "
        << true_value.size() << " and " << false_value.size() << " elements.\n";
    std::vector<Expr> result;
    for (size_t i = 0; i < condition.size(); i++) {
        result.push_back(select(condition[i], true_value[i], false_value[i]));
    }
    return Tuple(result);
}

Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value) {
    return select(Tuple(std::vector<Expr>(true_value.size(), condition)), true_value, false_value);
}

Expr select(const Expr &condition, const FuncRef &true_value, const FuncRef &false_value) {
    user_assert(true_value.size() == 1 && false_value.size() == 1)
        << "select() of calls of Funcs with several values: convert the calls to Tuple explicitly, as in\n"
        << "  select(c, Tuple(" << true_value.function().name() << "(...)), Tuple(" << false_value.function().name()
        << "(...))).\n";
    return select(condition, Expr(true_value), Expr(false_value));
}

Expr mux(const Expr &id, const Tuple &values) {
    return mux(id, values.as_vector());
}

Expr mux(const Expr &id, const std::initializer_list<FuncRef> &values) {
    std::vector<Expr> exprs;
    for (const FuncRef &v : values) {
        exprs.push_back(v);
    }
    return mux(id, exprs);
}

Tuple mux(const Expr &id, const std::vector<Tuple> &values) {
    user_assert(!values.empty()) << "mux() needs at least one value to choose from.\n";
    const size_t size = values[0].size();
    for (const Tuple &v : values) {
        user_assert(v.size() == size) << "mux() on Tuples requires all Tuples to have identical sizes, but one has "
                                      << size << " elements and another " << v.size() << ".\n";
    }
    std::vector<Expr> result;
    for (size_t i = 0; i < size; i++) {
        std::vector<Expr> column;
        for (const Tuple &v : values) {
            column.push_back(v[i]);
        }
        result.push_back(mux(id, column));
    }
    return Tuple(result);
}

Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values) {
    return mux(id, std::vector<Tuple>(values));
}

}  // namespace Halide
