#pragma once

#include "ir/Expr.h"
#include "support/SmallVector.h"

#include <cstdint>
#include <string>

namespace Halide {
namespace Internal {

/// A sum of atoms with integer coefficients, plus a constant: how equal parts of two expressions are found wherever
/// they stand. An atom is any expression that is not a sum, difference or multiple.
struct LinearForm {
    struct Term {
        Expr atom;
        int64_t coefficient;
    };
    SmallVector<Term, 4> terms;
    int64_t constant = 0;
    /// False if a coefficient left int64: the form means nothing.
    bool valid = true;
    /// How many terms met one that was there already.
    int merged = 0;

    enum class Use {
        /// The form will be built again: vectors are atoms.
        Rebuild,
        /// Only its value matters: tags are dropped, and vectors are taken apart into one lane, whose number in each
        /// dimension is an atom too (`lane_name`). Atoms of broadcasts are scalars then.
        Value,
    };

    /// Adds factor * e. Sums below a certain depth or number of terms are taken as atoms.
    void add(const Expr &e, int64_t factor, Use use);
    void add_term(const Expr &atom, int64_t factor);
    void add_constant(int64_t c, int64_t factor = 1);
    void add(const LinearForm &other, int64_t factor);
    /// This form without term i.
    LinearForm without(size_t i) const;
    void scale(int64_t factor);
    /// Greatest common divisor of the coefficients; 0 if there are no terms.
    int64_t common_factor() const;

private:
    void collect(const Expr &e, int64_t factor, Use use, int depth);
};

/// The names of lane numbers: of a dimension of `lanes` lanes, each of which has `inner_lanes` lanes. The name cannot
/// be written by a user.
Expr lane_variable(int inner_lanes, int lanes);
/// The number of lanes of the dimension that such a name stands for, or 0 if it is another name.
int lanes_of_lane_variable(const std::string &name);

/// Same structure; cheap for different things.
bool same_expr(const Expr &a, const Expr &b);

}  // namespace Internal
}  // namespace Halide
