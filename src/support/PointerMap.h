#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace Halide {
namespace Internal {

/// A hash table keyed by addresses, for caches that are filled and dropped as a whole: nothing is ever erased, and
/// entries lie in one array. Adding an entry moves the others.
template<typename Key, typename Value>
class PointerMap {
    std::vector<std::pair<Key, Value>> slots;
    size_t used = 0;

    /// The slot of a key, or the empty one where it belongs.
    size_t position(Key key) const {
        const size_t mask = slots.size() - 1;
        size_t i = (size_t)(((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15ull >> 20) & mask;
        while (slots[i].first && slots[i].first != key) {
            i = (i + 1) & mask;
        }
        return i;
    }

    void grow() {
        constexpr size_t smallest = 16;
        std::vector<std::pair<Key, Value>> old(slots.empty() ? smallest : 2 * slots.size());
        old.swap(slots);
        for (std::pair<Key, Value> &entry : old) {
            if (entry.first) {
                slots[position(entry.first)] = std::move(entry);
            }
        }
    }

public:
    /// The value of a key (which is not null), or null.
    Value *find(Key key) {
        if (slots.empty()) {
            return nullptr;
        }
        std::pair<Key, Value> &slot = slots[position(key)];
        return slot.first ? &slot.second : nullptr;
    }

    /// The value of a key, made if there is none.
    Value &operator[](Key key) {
        if (4 * (used + 1) > 3 * slots.size()) {
            grow();
        }
        std::pair<Key, Value> &slot = slots[position(key)];
        if (!slot.first) {
            slot.first = key;
            used++;
        }
        return slot.second;
    }

    size_t size() const {
        return used;
    }
};

}  // namespace Internal
}  // namespace Halide
