#pragma once

#include "interp/Value.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// A piece of memory that a statement may touch.
struct MemoryRegion : public std::enable_shared_from_this<MemoryRegion> {
    std::string name;
    uint8_t *base = nullptr;
    uint64_t size = 0;
    bool alive = true;
    /// Ours, or that of somebody's buffer.
    std::unique_ptr<uint8_t[]> storage;
    /// For each byte whether the program leaves its value open. Empty: none does.
    std::vector<uint8_t> undefined;

    uint64_t address() const {
        return (uint64_t)(uintptr_t)base;
    }
};

/// All memory of one interpreter. Addresses are real, so that structures can hold them.
class InterpreterMemory {
    std::map<uint64_t, std::shared_ptr<MemoryRegion>> regions;
    /// Freed regions, oldest first: kept for a while so that late accesses are recognized.
    std::deque<uint64_t> freed;
    uint64_t freed_bytes = 0;
    MemoryRegion *last_found = nullptr;

public:
    /// New memory with random contents, which are undefined.
    MemoryRegion *allocate(const std::string &name, uint64_t size, std::mt19937_64 &random);

    /// Memory of a buffer. What overlaps is joined.
    MemoryRegion *adopt(const std::string &name, uint8_t *base, uint64_t size);

    void release(MemoryRegion *region);

    /// The region that this address is in (its end included); null if there is none.
    MemoryRegion *find(uint64_t address);

    /// The bytes at this address, which must be in the living region.
    /// @throws InterpreterFault  that says what is accessed.
    static uint8_t *check(MemoryRegion *region, Int128 address, uint64_t size, const char *what,
                          const std::string &name, Int128 index);

    static Scalar read(MemoryRegion *region, uint8_t *at, const Type &element);
    static void write(MemoryRegion *region, uint8_t *at, const Type &element, const Scalar &value);
};

std::string to_string(Int128 v);

}  // namespace Internal
}  // namespace Halide
