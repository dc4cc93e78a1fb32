#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

namespace Halide {
namespace Internal {

/// A vector whose first few items lie in the object itself.
template<typename T, size_t Inline>
class SmallVector {
    alignas(T) unsigned char storage[Inline * sizeof(T)];
    T *items = (T *)storage;
    size_t count = 0, room = Inline;

    bool on_heap() const {
        return items != (const T *)storage;
    }
    void reserve(size_t n) {
        if (n <= room) {
            return;
        }
        const size_t wanted = std::max(n, 2 * room);
        T *moved = std::allocator<T>().allocate(wanted);
        std::uninitialized_move(items, items + count, moved);
        std::destroy(items, items + count);
        release();
        items = moved;
        room = wanted;
    }
    void release() {
        if (on_heap()) {
            std::allocator<T>().deallocate(items, room);
            items = (T *)storage;
            room = Inline;
        }
    }

public:
    using value_type = T;
    using iterator = T *;
    using const_iterator = const T *;

    SmallVector() {
    }
    SmallVector(const SmallVector &other) {
        reserve(other.count);
        std::uninitialized_copy(other.begin(), other.end(), items);
        count = other.count;
    }
    SmallVector(SmallVector &&other) noexcept {
        *this = std::move(other);
    }
    SmallVector &operator=(const SmallVector &other) {
        if (this != &other) {
            clear();
            reserve(other.count);
            std::uninitialized_copy(other.begin(), other.end(), items);
            count = other.count;
        }
        return *this;
    }
    SmallVector &operator=(SmallVector &&other) noexcept {
        if (this == &other) {
            return *this;
        }
        clear();
        if (other.on_heap()) {
            release();
            items = std::exchange(other.items, (T *)other.storage);
            room = std::exchange(other.room, Inline);
            count = std::exchange(other.count, 0);
        } else {
            std::uninitialized_move(other.begin(), other.end(), items);
            count = other.count;
            other.clear();
        }
        return *this;
    }
    ~SmallVector() {
        clear();
        release();
    }

    void clear() {
        std::destroy(items, items + count);
        count = 0;
    }
    void push_back(T item) {
        reserve(count + 1);
        new (items + count) T(std::move(item));
        count++;
    }
    void pop_back() {
        items[--count].~T();
    }
    iterator erase(iterator at) {
        std::move(at + 1, end(), at);
        pop_back();
        return at;
    }
    iterator insert(iterator at, T item) {
        const size_t i = at - items;
        push_back(std::move(item));
        std::rotate(items + i, items + count - 1, items + count);
        return items + i;
    }

    size_t size() const {
        return count;
    }
    bool empty() const {
        return count == 0;
    }
    T &operator[](size_t i) {
        return items[i];
    }
    const T &operator[](size_t i) const {
        return items[i];
    }
    T &back() {
        return items[count - 1];
    }
    const T &back() const {
        return items[count - 1];
    }
    iterator begin() {
        return items;
    }
    iterator end() {
        return items + count;
    }
    const_iterator begin() const {
        return items;
    }
    const_iterator end() const {
        return items + count;
    }
};

}  // namespace Internal
}  // namespace Halide
