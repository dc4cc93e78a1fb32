#pragma once

/// Vectors of a SWAR loop as words: which operation of SWAROps computes which expression.

#include "analysis/ConstantInterval.h"
#include "ir/IR.h"
#include "ir/IREquality.h"
#include "lower/Pipeline.h"
#include "lower/vector/LaneOf.h"
#include "lower/vector/SWAROps.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// Packs the expressions of one statement of a SWAR loop.
class SWARPack {
public:
    /// Where a statement stands, for errors.
    struct Place {
        std::string func, loop;
        int lanes = 0;
        int word_bits = 64;   ///< the widest word
        bool bit_moves = false;   ///< the target has instructions for moving the bits of a word
    };

    /// Words that stand for vectors which are bound outside of the statement, by name.
    using Words = std::map<std::string, LaneWord>;

    /// @param words  must outlive this.
    SWARPack(LowerContext &ctx, Place place, const Words &words);

    /// The lanes of an integer or float vector, as bits.
    LaneWord pack(const Expr &e);
    /// The lanes of a bool vector, as masks. @param bits  the width of lanes if the expression does not decide it.
    LaneWord pack_bool(const Expr &e, int bits);
    /// All lanes in one scalar.
    Expr reduce(const VectorReduce *op);
    Stmt store(const Store *op);

    /// Binds the names that the results refer to around a statement.
    Stmt with_lets(Stmt s) const;

    SWAROps ops;

private:
    LowerContext &ctx;
    const Place place;
    const Words &words;
    std::map<Expr, LaneWord, ExprCompare> packed;
    std::map<Expr, ConstantInterval, ExprCompare> bounds_cache;

    bool fits(int bits) const { return bits * place.lanes <= place.word_bits; }
    LaneShape shape(const Expr &e, int bits) const;
    [[noreturn]] void refuse(const Expr &e, const std::string &why) const;
    [[noreturn]] void refuse_wide(const Expr &e) const;

    ConstantInterval bounds(const Expr &e);
    bool is_index(const Expr &e) const;
    std::optional<std::vector<uint64_t>> constant_lanes(const Expr &e) const;
    LaneWord assemble(const Expr &e, const LaneShape &s);

    LaneWord pack_node(const Expr &e);
    LaneWord pack_cast(const Cast *op);
    LaneWord pack_multiply(const Expr &e, Expr a, Expr b);
    LaneWord pack_divide(const Expr &e, const Expr &a, const Expr &b, bool remainder);
    LaneWord pack_shift(const Call *op, bool left);
    LaneWord pack_call(const Call *op);
    LaneWord pack_saturating_cast(const Call *op);
    LaneWord pack_uniform(const Expr &scalar, const LaneShape &s);
    LaneWord pack_select(const Select *op, const LaneWord &t, const LaneWord &f);
    LaneWord pack_compare(const Expr &e, const Expr &a, const Expr &b, int bits);
    LaneWord pack_load(const Load *op);
    LaneWord convert(const LaneWord &mask, const Expr &e, int bits);

    Expr load_run(const Load *op, const Expr &index, int elements) const;
    std::optional<std::vector<int>> offsets(const Expr &index) const;

    Expr narrowed(const Expr &e, const Type &t, bool forced);
    Expr narrowed_operand(const Expr &e, const Type &t, bool forced);
    std::optional<Type> type_within(const std::vector<Expr> &values, int bits);
};

}  // namespace Internal
}  // namespace Halide
