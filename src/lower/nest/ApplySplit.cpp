#include "lower/nest/ApplySplit.h"

#include "ir/IR.h"
#include "ir/IROperator.h"
#include "simplify/Simplify.h"
#include "support/Error.h"

#include <set>

namespace Halide {
namespace Internal {

namespace {

Expr loop_symbol(const std::string &name, const char *suffix = "") {
    return Variable::make(Int(32), name + suffix);
}

/// Is the extent of the dimension known to be a multiple of `factor`?
bool divides_extent(const Expr &factor, const std::string &var, const std::map<std::string, Expr> &alignment) {
    auto it = alignment.find(var);
    return it != alignment.end() && is_const_zero(simplify(it->second % factor));
}

/// x → xo, xi. In all strategies the value of x is a base plus xi.
void apply_split_var(const Split &split, const std::string &prefix, std::map<std::string, Expr> &alignment,
                     std::vector<ApplySplitResult> &result) {
    using Result = ApplySplitResult;
    const std::string old_name = prefix + split.old_var;
    const Expr outer = loop_symbol(prefix + split.outer), inner = loop_symbol(prefix + split.inner);
    const Expr old_min = loop_symbol(old_name, ".loop_min"), old_max = loop_symbol(old_name, ".loop_max");
    const Expr old_extent = loop_symbol(old_name, ".loop_extent");
    const std::string base_name = prefix + split.inner + ".base", rebased_name = old_name + ".rebased";
    const Expr base = loop_symbol(base_name), rebased = loop_symbol(rebased_name);
    const Expr plain_base = outer * split.factor + old_min;

    const bool no_tail = divides_extent(split.factor, split.old_var, alignment);
    alignment[split.inner] = split.factor;
    if (no_tail) {
        alignment[split.outer] = simplify(alignment.at(split.old_var) / split.factor);
        result.emplace_back(base_name, plain_base, Result::LetStmt);
        result.emplace_back(old_name, base + inner, Result::LetStmt);
        return;
    }

    // The condition for being inside the original extent, in terms of one variable, so that analysis of bounds
    // understands it as a limit of that variable.
    const Expr inside = likely(rebased < old_extent);

    switch (split.tail) {
    case TailStrategy::RoundUp:
        result.emplace_back(base_name, plain_base, Result::LetStmt);
        result.emplace_back(old_name, base + inner, Result::LetStmt);
        return;
    case TailStrategy::GuardWithIf:
    case TailStrategy::Predicate:
        result.emplace_back(rebased_name, outer * split.factor + inner, Result::LetStmt);
        result.emplace_back(inside, Result::Predicate);
        // What is computed for one iteration stands outside of the condition: it learns of the end by a promise.
        result.emplace_back(old_name,
                            Call::make(Int(32), Call::promise_clamped, {rebased + old_min, rebased + old_min, old_max},
                                       Call::PureIntrinsic),
                            Result::LetStmt);
        return;
    case TailStrategy::PredicateLoads:
    case TailStrategy::PredicateStores:
    case TailStrategy::RoundUpAndBlend:
        result.emplace_back(rebased_name, outer * split.factor + inner, Result::LetStmt);
        result.emplace_back(old_name, rebased + old_min, Result::LetStmt);
        result.emplace_back(inside, split.tail == TailStrategy::PredicateLoads  ? Result::PredicateCalls :
                                    split.tail == TailStrategy::PredicateStores ? Result::PredicateProvides :
                                                                                  Result::BlendProvides);
        return;
    case TailStrategy::ShiftInwards:
    case TailStrategy::ShiftInwardsAndBlend: {
        // The last tile is moved to end at old_max.
        const Expr shifted = min(likely_if_innermost(plain_base), old_max + (1 - split.factor));
        result.emplace_back(base_name, shifted, Result::LetStmt);
        result.emplace_back(old_name, base + inner, Result::LetStmt);
        if (split.tail == TailStrategy::ShiftInwardsAndBlend) {
            // Only the points from the unmoved base on are new.
            result.emplace_back(likely(plain_base <= loop_symbol(old_name)), Result::BlendProvides);
        }
        return;
    }
    case TailStrategy::Auto:
        internal_error << "Tail strategy of the split of " << old_name << " was not resolved";
    }
}

}  // namespace

std::vector<ApplySplitResult> apply_split(const Split &split, const std::string &prefix,
                                          std::map<std::string, Expr> &alignment) {
    std::vector<ApplySplitResult> result;
    switch (split.split_type) {
    case Split::SplitVar:
        apply_split_var(split, prefix, alignment, result);
        break;
    case Split::RenameVar: {
        auto it = alignment.find(split.old_var);
        if (it != alignment.end()) {
            const Expr known = it->second;
            alignment[split.outer] = known;
        }
        result.emplace_back(prefix + split.old_var, loop_symbol(prefix + split.outer), ApplySplitResult::LetStmt);
        break;
    }
    case Split::FuseVars: {
        const std::string inner = prefix + split.inner, outer = prefix + split.outer;
        const Expr fused = loop_symbol(prefix + split.old_var), extent = loop_symbol(inner, ".loop_extent");
        auto inner_it = alignment.find(split.inner), outer_it = alignment.find(split.outer);
        if (inner_it != alignment.end() && outer_it != alignment.end()) {
            const Expr known = inner_it->second * outer_it->second;
            alignment[split.old_var] = known;
        }
        result.emplace_back(inner, fused % extent + loop_symbol(inner, ".loop_min"), ApplySplitResult::LetStmt);
        result.emplace_back(outer, fused / extent + loop_symbol(outer, ".loop_min"), ApplySplitResult::LetStmt);
        break;
    }
    }
    return result;
}

std::vector<std::pair<std::string, Expr>> compute_loop_bounds_after_split(const Split &split,
                                                                          const std::string &prefix) {
    std::vector<std::pair<std::string, Expr>> lets;
    auto add = [&](const std::string &var, const Expr &min, const Expr &max, const Expr &extent) {
        lets.emplace_back(prefix + var + ".loop_min", min);
        lets.emplace_back(prefix + var + ".loop_max", max);
        lets.emplace_back(prefix + var + ".loop_extent", extent);
    };
    auto symbol = [&](const std::string &var, const char *suffix) { return loop_symbol(prefix + var, suffix); };

    switch (split.split_type) {
    case Split::SplitVar: {
        const Expr tiles = (symbol(split.old_var, ".loop_max") - symbol(split.old_var, ".loop_min") + split.factor) /
                           split.factor;
        add(split.inner, 0, split.factor - 1, split.factor);
        add(split.outer, 0, tiles - 1, tiles);
        break;
    }
    case Split::RenameVar:
        add(split.outer, symbol(split.old_var, ".loop_min"), symbol(split.old_var, ".loop_max"),
            symbol(split.old_var, ".loop_extent"));
        break;
    case Split::FuseVars: {
        const Expr extent = symbol(split.inner, ".loop_extent") * symbol(split.outer, ".loop_extent");
        add(split.old_var, 0, extent - 1, extent);
        break;
    }
    }
    return lets;
}

namespace {

const char *tail_name(TailStrategy t) {
    switch (t) {
    case TailStrategy::RoundUp:
        return "RoundUp";
    case TailStrategy::GuardWithIf:
        return "GuardWithIf";
    case TailStrategy::Predicate:
        return "Predicate";
    case TailStrategy::PredicateLoads:
        return "PredicateLoads";
    case TailStrategy::PredicateStores:
        return "PredicateStores";
    case TailStrategy::ShiftInwards:
        return "ShiftInwards";
    case TailStrategy::ShiftInwardsAndBlend:
        return "ShiftInwardsAndBlend";
    case TailStrategy::RoundUpAndBlend:
        return "RoundUpAndBlend";
    case TailStrategy::Auto:
        return "Auto";
    }
    return "?";
}

bool is_one_sided(TailStrategy t) {
    return t == TailStrategy::PredicateLoads || t == TailStrategy::PredicateStores;
}

/// What earlier splits made of the dimensions.
struct Ancestry {
    /// Dimensions that stem from the inner part of a split.
    std::set<std::string> inner;
    /// Dimensions that stem from any split.
    std::set<std::string> any;
    /// Dimensions that stem from a split with PredicateLoads or PredicateStores.
    std::set<std::string> one_sided;
    /// Dimensions that stem from the outer part of a ShiftInwards split, with its factor.
    std::map<std::string, Expr> shifted;

    explicit Ancestry(const std::vector<Split> &splits) {
        for (const Split &s : splits) {
            if (s.is_fuse()) {
                const bool from_inner = inner.count(s.inner) || inner.count(s.outer);
                const bool from_any = any.count(s.inner) || any.count(s.outer);
                const bool from_one_sided = one_sided.count(s.inner) || one_sided.count(s.outer);
                set(inner, s.old_var, from_inner);
                set(any, s.old_var, from_any);
                set(one_sided, s.old_var, from_one_sided);
                shifted.erase(s.old_var);
                continue;
            }
            const bool from_inner = inner.count(s.old_var);
            const bool from_any = any.count(s.old_var) || s.is_split();
            const bool from_one_sided = one_sided.count(s.old_var) || (s.is_split() && is_one_sided(s.tail));
            Expr shift;
            if (auto it = shifted.find(s.old_var); it != shifted.end()) {
                shift = it->second;
            }
            if (s.is_split() && (s.tail == TailStrategy::ShiftInwards || s.tail == TailStrategy::ShiftInwardsAndBlend)) {
                shift = s.factor;
            }
            set(inner, s.outer, from_inner);
            set(any, s.outer, from_any);
            set(one_sided, s.outer, from_one_sided);
            shifted.erase(s.outer);
            if (shift.defined()) {
                shifted[s.outer] = shift;
            }
            if (s.is_split()) {
                inner.insert(s.inner);
                any.insert(s.inner);
                set(one_sided, s.inner, from_one_sided);
                shifted.erase(s.inner);
            }
        }
    }

private:
    static void set(std::set<std::string> &names, const std::string &name, bool value) {
        if (value) {
            names.insert(name);
        } else {
            names.erase(name);
        }
    }
};

}  // namespace

TailStrategy resolve_tail_strategy(TailStrategy tail, const std::string &old_var, const Expr &factor, bool is_rvar,
                                   bool is_update, const std::vector<Split> &splits, const std::string &stage_name) {
    const Ancestry ancestry(splits);
    const bool from_inner = ancestry.inner.count(old_var);
    const std::string head = "In schedule for " + stage_name + ", can't split " + old_var + " with TailStrategy::" +
                             tail_name(tail) + ": ";

    user_assert(!ancestry.one_sided.count(old_var))
        << "In schedule for " << stage_name << ", can't split " << old_var
        << " because it results from a split with TailStrategy::PredicateLoads or PredicateStores.\n";
    if (is_rvar) {
        user_assert(tail == TailStrategy::Auto || tail == TailStrategy::GuardWithIf || tail == TailStrategy::Predicate)
            << head << "it is an RVar, whose iterations must be exactly the original ones.\n"
            << "  Use GuardWithIf, Predicate or Auto.\n";
        return tail == TailStrategy::Auto ? TailStrategy::GuardWithIf : tail;
    }
    if (is_update) {
        // Rounding up the inner part of an earlier split would repeat points of its neighbours.
        user_assert(tail != TailStrategy::RoundUp || !from_inner)
            << head << "it stems from the inner part of an earlier split, so that rounding up would compute some points "
            << "twice, which an update definition must not.\n  Use GuardWithIf.\n";
        user_assert(tail != TailStrategy::ShiftInwards)
            << head << "shifting would compute some points twice, which an update definition must not.\n"
            << "  Use GuardWithIf, RoundUp or ShiftInwardsAndBlend.\n";
    }
    if (is_one_sided(tail) || (is_update && tail == TailStrategy::RoundUpAndBlend && from_inner)) {
        user_assert(!ancestry.any.count(old_var))
            << head << "it must be the outermost split of its dimension, but " << old_var
            << " results from an earlier split.\n";
    }
    if (tail != TailStrategy::Auto) {
        return tail;
    }
    if (is_update) {
        return from_inner ? TailStrategy::GuardWithIf : TailStrategy::RoundUp;
    }
    // Where an earlier split has already moved the last tile inwards, the extent of its tiles need not be exact.
    auto it = ancestry.shifted.find(old_var);
    if (it != ancestry.shifted.end() && can_prove(it->second >= factor)) {
        return TailStrategy::RoundUp;
    }
    return TailStrategy::ShiftInwards;
}

}  // namespace Internal
}  // namespace Halide
