#pragma once

#include "lower/Pipeline.h"

namespace Halide {
namespace Internal {

/// Looks results of memoized Funcs up in the runtime's cache before they are computed, and stores them there after.
///
/// Needs:     Level::Bounded: the region computed is known.
/// Gives:     the same; no memoize_expr is left.
/// Position:  after sliding-window; before the first simplification, which may do away with the symbols of the region.
/// Keeps:     values, as long as equal keys mean equal values.
/// Errors:    CompileError if a Func depends on an image or a handle without memoize_tag.
/// Example:   realize f { produce f { nest }  consume f … }   →
///            realize f { let f.cache_key = …  let f.cache_result = halide_memoization_cache_lookup(f.cache_key, …)
///                        produce f { if (f.cache_result != 0) { nest  halide_memoization_cache_store(…) } }  consume f … }
///
/// The key consists of a digest of the program's text and of the values of the parameters that the Func depends on; the
/// region is compared by the cache itself.
Stmt memoize(const Stmt &s, LowerContext &ctx);

/// Makes the storage of memoized Funcs that which the cache provides.
///
/// Needs:     Level::Flat, and memoize before.
/// Gives:     the same.
/// Position:  directly after flatten-storage.
/// Example:   allocate f { let f.buffer = … f …  let f.cache_result = …  rest }   →
///            let f.buffer = … null …  let f.cache_result = …
///            allocate f with new = host of f.buffer, free = halide_memoization_cache_release { rest }
Stmt memoized_allocations(const Stmt &s, LowerContext &ctx);

}  // namespace Internal
}  // namespace Halide
