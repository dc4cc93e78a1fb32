#pragma once

/// The class behind `pto_vectorize`; its parts stand in PTOVectorize.cpp (statements), PTOExpressions.cpp,
/// PTOMasks.cpp, PTOAccesses.cpp and PTOConversions.cpp.

#include "ir/IREquality.h"
#include "lower/Pipeline.h"
#include "lower/pto/PTOAnalysis.h"
#include "lower/pto/VMIBuilder.h"

namespace Halide {
namespace Internal {

class PTOVectorizer {
public:
    PTOVectorizer(const PTOKernel &source, VMIKernel &kernel, LowerContext &ctx);
    void run();
    /// Addresses of buffers are not known yet: only errors are wanted.
    bool dry_run = false;

private:
    const PTOKernel &source;
    LowerContext &ctx;
    VMIBuilder b;

    /// The vectorized loop at hand; no lanes outside of one. With `uniform` there is one iteration, computed in all
    /// lanes of a vector.
    struct Lane {
        std::string var;
        int lanes = 0;
        bool uniform = false;
    } lane;

    /// Under which lanes run: no value if all do.
    int guard = -1;
    bool in_scope = false;

    /// A register allocation: per lane (inside a vectorized loop, or as many elements as lanes), or one value for all.
    struct Register {
        Type type;
        int elements = 1;
        bool per_lane = false;
        int value = -1;
        int guard = -1;  ///< under which it was allocated: other lanes of it do not matter
    };
    std::map<std::string, Register> registers;
    std::map<std::string, Type> ub_types;
    Scope<Expr> aliases;              ///< index lets inside vectorized loops, and bools
    Scope<int> vectors;               ///< lets that are vectors
    Scope<ModulusRemainder> facts;
    std::map<int, Expr> prefixes;     ///< masks of the first lanes: how many
    std::map<Expr, int, ExprCompare> memo;  ///< values of nodes of the expression at hand
    std::string func;                 ///< whose stage is being computed, for messages

    // Statements.
    void walk(const Stmt &s);
    void walk_block(const Stmt &s);
    void walk_for(const For *op);
    void walk_vectorized(const For *op);
    void walk_if(const IfThenElse *op);
    void walk_let(const LetStmt *op);
    void walk_allocate(const Allocate *op);
    void walk_store(const Store *op);
    void walk_register_store(const Store *op, Register &r);
    void walk_effect(const Evaluate *op);
    std::set<std::string> outer_registers_stored(const Stmt &s) const;
    int register_value(const std::string &name);

    // Expressions: the value in all lanes.
    int eval(const Expr &e);
    int eval_node(const Expr &e);
    int eval_call(const Call *op);
    int eval_extern(const Call *op);
    int eval_min_max(const Expr &e, const Expr &a, const Expr &b, const char *name);
    int eval_shift(const Call *op);
    int eval_reduce(const VectorReduce *op);
    int eval_rounded(const Expr &x, const std::string &how);
    /// floor or ceil of a float as a 32-bit integer.
    Expr floor_to_int(const Call *op) const;
    Expr divide_integers(const Expr &a, const Expr &c) const;
    Expr remainder_of_integers(const Expr &a, const Expr &c) const;
    /// The product of 32-bit numbers, shifted right by at least 32.
    int eval_high_product(const Expr &a, const Expr &b, int shift);
    int binary(const char *name, const VMIType &t, int a, int c);
    int unary(const char *name, const VMIType &t, int a);
    /// The form with a scalar second operand.
    int with_scalar(const char *name, int a, const Expr &s, const Type &t);
    int splat(const Expr &e);
    int one_lane(int value);
    int to_lanes(int value, int lanes);
    bool is_scalar(const Expr &e) const;
    bool is_splat_leaf(const Expr &e) const;
    bool varies(const Expr &e) const;
    /// With the values of lets that are seen through instead of their names.
    Expr without_aliases(const Expr &e) const;
    VMIType vtype(const Type &t) const {
        return {vmi_elem(t), lane.lanes, false};
    }

    // Masks. `bits`: of the data that the mask will be used on.
    int full_mask(int lanes);
    int mask(const Expr &condition, int bits, int seed);
    int compare(const Expr &e, int bits, int seed);
    int prefix_mask(const Expr &count);
    int choose(int mask, int when_true, int when_false);
    int select_bits(int bits) const;
    int compare_bits(const Expr &condition) const;
    int seed_or_full(int seed);
    int complement(int m, int seed);

    // Order of accesses within one vectorized loop: what sync outside of it cannot see.
    std::map<std::string, std::vector<Expr>> loads_since, stores_since;  ///< indices since the last barrier
    std::set<std::string> stored_here;
    void barrier(const char *kind);
    VMIPlacement before_load(const std::string &buffer, const Expr &index);
    void before_store(const std::string &buffer, const Expr &index);

    // Memory.
    int load(const Load *op);
    int load_irregular(const Load *op, const std::optional<LaneAffine> &affine);
    int load_as(const Load *op, VMIElem elem);
    void store(const Store *op);
    void scatter(const Store *op, int value, const std::optional<LaneAffine> &affine);
    int gather(const std::string &buffer, const Type &t, int offsets, const Expr &first);
    /// The offsets of the lanes from element `first`.
    int offset_vector(const Expr &index, const std::optional<LaneAffine> &affine, Expr &first);
    /// Whether byte index and nibble count through packed pairs, lane by lane; the first byte then.
    Expr first_pair(const Expr &byte_index, const Expr &which);
    int load_bytes_as(const Expr &bytes, VMIElem elem);
    int lane_numbers();

    // Conversions.
    int convert(int v, const Type &from, const Type &to);
    int convert_saturating(const Expr &value, const Type &to);
    int cvt(int v, VMIElem to, const char *rounding = nullptr, const char *saturate = nullptr);
    int as(int v, VMIElem to);
    int float_to_int(int v, const Type &to, const char *rounding);
    int uint32_to_float(int v);
    int float_to_uint32(int v);
    /// Conversions of floats of 8 and 4 bits; to them: as the element type that they have in memory.
    static bool is_narrow_float(const Call *op);
    int eval_narrow_float(const Call *op);

    [[noreturn]] void refuse(const std::string &category, const std::string &what, const std::string &advice) const;
    std::string where() const;
};

}  // namespace Internal
}  // namespace Halide
