#pragma once

#include "support/IntrusivePtr.h"

namespace Halide {
namespace Internal {

/// The functions that are destroyed together: one, or several that call each other. Defined in func.
struct FunctionGroup;
/// What a function is. Defined in func.
struct FunctionContents;

template<>
RefCount &ref_count<FunctionGroup>(const FunctionGroup *) noexcept;
template<>
void destroy<FunctionGroup>(const FunctionGroup *);

/// A handle to one function of a group.
///
/// A definition that calls its own function would own itself and never be freed; such calls, and all calls within a
/// group, hold a weak handle: it names the group without keeping it alive.
struct FunctionPtr {
    IntrusivePtr<FunctionGroup> strong;
    FunctionGroup *weak = nullptr;
    /// Which function of the group.
    int idx = 0;

    FunctionGroup *group() const {
        return weak ? weak : strong.get();
    }

    /// Defined in func.
    FunctionContents *get() const;
    FunctionContents &operator*() const {
        return *get();
    }
    FunctionContents *operator->() const {
        return get();
    }

    void weaken() {
        weak = group();
        strong = IntrusivePtr<FunctionGroup>();
    }
    void strengthen() {
        strong = IntrusivePtr<FunctionGroup>(group());
        weak = nullptr;
    }

    bool defined() const {
        return group() != nullptr;
    }

    /// The same function, however it is held.
    bool same_as(const FunctionPtr &other) const {
        return idx == other.idx && group() == other.group();
    }
    bool operator==(const FunctionPtr &other) const {
        return same_as(other);
    }
    bool operator!=(const FunctionPtr &other) const {
        return !same_as(other);
    }
    /// Order by address: for containers only, never for output.
    bool operator<(const FunctionPtr &other) const {
        return group() != other.group() ? group() < other.group() : idx < other.idx;
    }
};

}  // namespace Internal
}  // namespace Halide
