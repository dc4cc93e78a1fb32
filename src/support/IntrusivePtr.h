#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace Halide {
namespace Internal {

/// The reference count that lives inside an object owned by IntrusivePtr.
class RefCount {
    std::atomic<int> count{0};

public:
    RefCount() noexcept = default;
    /// A copied object starts without owners: the count belongs to the object, not to its value.
    RefCount(const RefCount &) noexcept {
    }
    RefCount &operator=(const RefCount &) noexcept {
        return *this;
    }

    int increment() noexcept {
        return count.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    int decrement() noexcept {
        return count.fetch_sub(1, std::memory_order_acq_rel) - 1;
    }
    bool is_zero() const noexcept {
        return count.load(std::memory_order_acquire) == 0;
    }
    bool is_const_one() const noexcept {
        return count.load(std::memory_order_acquire) == 1;
    }
    int value() const noexcept {
        return count.load(std::memory_order_acquire);
    }
};

/// Where the count of a T is. Specialized for each counted type, so that a pointer to an incomplete type can be held.
template<typename T>
RefCount &ref_count(const T *t) noexcept;

/// Deletes a T. Specialized beside ref_count.
template<typename T>
void destroy(const T *t);

/// A shared pointer to an object that holds its own count: one word, thread-safe counting, usable with incomplete types.
template<typename T>
struct IntrusivePtr {
    T *ptr = nullptr;

    IntrusivePtr() noexcept = default;

    IntrusivePtr(T *p) noexcept
        : ptr(p) {
        acquire(ptr);
    }

    IntrusivePtr(const IntrusivePtr &other) noexcept
        : ptr(other.ptr) {
        acquire(ptr);
    }

    IntrusivePtr(IntrusivePtr &&other) noexcept
        : ptr(std::exchange(other.ptr, nullptr)) {
    }

    IntrusivePtr &operator=(const IntrusivePtr &other) {
        // The new object is taken first: it may be owned by the old one.
        T *previous = ptr;
        acquire(other.ptr);
        ptr = other.ptr;
        release(previous);
        return *this;
    }

    IntrusivePtr &operator=(IntrusivePtr &&other) noexcept {
        std::swap(ptr, other.ptr);
        return *this;
    }

    ~IntrusivePtr() {
        release(ptr);
    }

    T *get() const noexcept {
        return ptr;
    }
    T &operator*() const {
        return *ptr;
    }
    T *operator->() const {
        return ptr;
    }

    /// True if there is an object.
    bool defined() const noexcept {
        return ptr != nullptr;
    }

    /// True if both point to the same object.
    bool same_as(const IntrusivePtr &other) const noexcept {
        return ptr == other.ptr;
    }

    bool operator==(const IntrusivePtr &other) const noexcept {
        return ptr == other.ptr;
    }
    bool operator!=(const IntrusivePtr &other) const noexcept {
        return ptr != other.ptr;
    }

    /// Order by address: for containers only, never for output.
    bool operator<(const IntrusivePtr &other) const noexcept {
        return ptr < other.ptr;
    }

private:
    static void acquire(T *p) noexcept {
        if (p) {
            ref_count(p).increment();
        }
    }
    static void release(T *p) {
        if (p && ref_count(p).decrement() == 0) {
            destroy(p);
        }
    }
};

}  // namespace Internal
}  // namespace Halide
