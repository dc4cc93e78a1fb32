#include "interp/Memory.h"

#include "interp/Arithmetic.h"
#include "interp/Interpreter.h"

#include <algorithm>
#include <cstring>

namespace Halide {
namespace Internal {

namespace {

// Between regions there is always a gap, so that the end of one is not the start of another.
constexpr uint64_t gap = 128;
constexpr uint64_t max_freed_bytes = (uint64_t)64 << 20;

}  // namespace

std::string to_string(Int128 v) {
    if (v < 0) {
        return "-" + to_string(-v);
    }
    std::string digits;
    do {
        digits.insert(digits.begin(), (char)('0' + (int)(v % 10)));
        v /= 10;
    } while (v > 0);
    return digits;
}

MemoryRegion *InterpreterMemory::allocate(const std::string &name, uint64_t size, std::mt19937_64 &random) {
    auto region = std::make_shared<MemoryRegion>();
    region->name = name;
    region->size = size;
    region->storage.reset(new uint8_t[size + 2 * gap]);
    const uint64_t start = ((uint64_t)(uintptr_t)region->storage.get() + gap - 1) / gap * gap;
    region->base = (uint8_t *)(uintptr_t)start;
    region->undefined.assign(size, 1);
    const uint64_t pattern = random();
    for (uint64_t i = 0; i < size; i++) {
        region->base[i] = (uint8_t)((pattern >> (i % 7 * 8)) ^ i);
    }
    MemoryRegion *result = region.get();
    regions[result->address()] = std::move(region);
    return result;
}

MemoryRegion *InterpreterMemory::adopt(const std::string &name, uint8_t *base, uint64_t size) {
    uint64_t begin = (uint64_t)(uintptr_t)base, end = begin + size;
    std::string names = name;
    for (auto it = regions.begin(); it != regions.end();) {
        MemoryRegion *r = it->second.get();
        const bool overlaps = !r->storage && r->address() < end && begin < r->address() + r->size;
        if (overlaps) {
            begin = std::min(begin, r->address());
            end = std::max(end, r->address() + r->size);
            if (r->name != name) {
                names = r->name + ", " + names;
            }
            it = regions.erase(it);
            last_found = nullptr;
        } else {
            ++it;
        }
    }
    auto region = std::make_shared<MemoryRegion>();
    region->name = names;
    region->base = (uint8_t *)(uintptr_t)begin;
    region->size = end - begin;
    MemoryRegion *result = region.get();
    regions[begin] = std::move(region);
    return result;
}

void InterpreterMemory::release(MemoryRegion *region) {
    if (!region->alive) {
        return;
    }
    region->alive = false;
    freed.push_back(region->address());
    freed_bytes += region->size;
    while (freed_bytes > max_freed_bytes && freed.size() > 1) {
        auto it = regions.find(freed.front());
        freed_bytes -= it->second->size;
        if (last_found == it->second.get()) {
            last_found = nullptr;
        }
        regions.erase(it);
        freed.pop_front();
    }
}

MemoryRegion *InterpreterMemory::find(uint64_t address) {
    auto contains = [&](const MemoryRegion *r) { return address >= r->address() && address <= r->address() + r->size; };
    // Where one buffer ends another may begin.
    if (last_found && contains(last_found) && address < last_found->address() + last_found->size) {
        return last_found;
    }
    auto it = regions.upper_bound(address);
    if (it == regions.begin()) {
        return nullptr;
    }
    MemoryRegion *r = std::prev(it)->second.get();
    if (!contains(r)) {
        return nullptr;
    }
    last_found = r;
    return r;
}

uint8_t *InterpreterMemory::check(MemoryRegion *region, Int128 address, uint64_t size, const char *what,
                                  const std::string &name, Int128 index) {
    auto access = [&] { return std::string(what) + " " + name + "[" + to_string(index) + "]"; };
    if (!region->alive) {
        throw InterpreterFault(access() + ": " + region->name + " has been freed");
    }
    const Int128 begin = region->address(), end = begin + region->size;
    if (address < begin || address + size > end) {
        throw InterpreterFault(access() + " is outside of " + region->name + ", which has " +
                               std::to_string(region->size) + " bytes: at byte " + to_string(address - begin));
    }
    return region->base + (uint64_t)(address - begin);
}

Scalar InterpreterMemory::read(MemoryRegion *region, uint8_t *at, const Type &element) {
    uint64_t bits = 0;
    const int bytes = element.bytes();
    memcpy(&bits, at, (size_t)bytes);
    Scalar s = from_bits(element, bits);
    if (!region->undefined.empty()) {
        const uint8_t *marks = region->undefined.data() + (at - region->base);
        for (int i = 0; i < bytes; i++) {
            s.undefined |= marks[i] != 0;
        }
    }
    return s;
}

void InterpreterMemory::write(MemoryRegion *region, uint8_t *at, const Type &element, const Scalar &value) {
    const uint64_t bits = to_bits(element, value);
    const int bytes = element.bytes();
    memcpy(at, &bits, (size_t)bytes);
    if (value.undefined && region->undefined.empty()) {
        region->undefined.assign(region->size, 0);
    }
    if (!region->undefined.empty()) {
        memset(region->undefined.data() + (at - region->base), value.undefined, (size_t)bytes);
    }
}

}  // namespace Internal
}  // namespace Halide
