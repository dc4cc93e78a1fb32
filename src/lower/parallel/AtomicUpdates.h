#pragma once

#include <functional>
#include <string>

#include "ir/IR.h"

namespace Halide::Internal {

/// Decides how the updates in Atomic nodes become atomic.
///
/// Nodes outside of parallel loops lose their mark, and so do those whose memory only the task they run in can see. Updates of
/// one element that one instruction or a compare-and-swap
/// loop can do keep it. All others are enclosed in lock and unlock of one of an array of mutexes, chosen by the element;
/// the decision is made once per Func, since all its updates must exclude each other.
///
/// Example:   atomic (f) { f.0[i] = …;  f.1[i] = … }
///            →  halide_mutex_array_lock(f.mutex, i & 1023) … halide_mutex_array_unlock(f.mutex, i & 1023)
Stmt lower_atomic_updates(const Stmt &s, const std::function<std::string(const std::string &)> &unique_name);

}  // namespace Halide::Internal
