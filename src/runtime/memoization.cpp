// The cache of memoized Funcs.
//
// The memory of a cached buffer is preceded by a header that leads from the host pointer, which is all that compiled
// code gives back, to the entry. Entries stand in a hash table and in a list by time of last use.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

struct CacheEntry {
    CacheEntry *next_in_bucket;
    CacheEntry *older, *newer;
    uint64_t hash;
    int32_t key_size;
    int32_t tuple_count;
    int32_t dimensions;  // of realized_bounds
    int32_t in_use;      // buffers handed out
    bool has_eviction_key;
    bool dropped;  // not in the table any more; freed by the last release
    uint64_t eviction_key;
    uint64_t bytes;
    uint8_t *key;  // these three point behind the entry
    halide_dimension_t *bounds;
    halide_buffer_t *buffers;  // and their dims behind them
};

/// Directly in front of a buffer's elements.
struct CacheHeader {
    CacheEntry *entry;  // null if the buffer did not get into the cache
};

constexpr int num_buckets = 256;
constexpr int64_t default_max_bytes = 1 << 20;

WEAK halide_mutex cache_lock = {};
WEAK CacheEntry *cache_buckets[num_buckets] = {};
WEAK CacheEntry *cache_newest = nullptr, *cache_oldest = nullptr;
WEAK int64_t cache_max_bytes = default_max_bytes;
WEAK int64_t cache_bytes = 0;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

namespace {

size_t header_bytes() {
    const size_t alignment = halide_malloc_alignment();
    return (sizeof(CacheHeader) + alignment - 1) & ~(alignment - 1);
}

CacheHeader *header_of(void *host) {
    return (CacheHeader *)((uint8_t *)host - header_bytes());
}

uint64_t hash_of(const uint8_t *key, int32_t size) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (int32_t i = 0; i < size; i++) {
        h = (h ^ key[i]) * 0x100000001b3ull;
    }
    return h ^ (h >> 32);
}

bool same_region(const halide_dimension_t *a, const halide_dimension_t *b, int n) {
    for (int i = 0; i < n; i++) {
        if (!same_dimension(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

bool matches(const CacheEntry *e, uint64_t hash, const uint8_t *key, int32_t size, const halide_buffer_t *bounds,
             int32_t tuple_count, halide_buffer_t *const *buffers) {
    if (e->hash != hash || e->key_size != size || e->tuple_count != tuple_count ||
        e->dimensions != bounds->dimensions || memcmp(e->key, key, size) != 0 ||
        !same_region(e->bounds, bounds->dim, e->dimensions)) {
        return false;
    }
    for (int i = 0; i < tuple_count; i++) {
        const halide_buffer_t &b = e->buffers[i];
        if (b.type != buffers[i]->type || b.dimensions != buffers[i]->dimensions ||
            !same_region(b.dim, buffers[i]->dim, b.dimensions)) {
            return false;
        }
    }
    return true;
}

void link_as_newest(CacheEntry *e) {
    e->newer = nullptr;
    e->older = cache_newest;
    *(cache_newest ? &cache_newest->newer : &cache_oldest) = e;
    cache_newest = e;
}

void unlink_from_list(CacheEntry *e) {
    *(e->newer ? &e->newer->older : &cache_newest) = e->older;
    *(e->older ? &e->older->newer : &cache_oldest) = e->newer;
}

void free_entry(void *uc, CacheEntry *e) {
    for (int i = 0; i < e->tuple_count; i++) {
        (void)halide_device_free(uc, &e->buffers[i]);
        halide_free(uc, header_of(e->buffers[i].host));
    }
    free(e);
}

/// Takes an entry out of the table; frees it unless it is in use.
void drop(void *uc, CacheEntry *e) {
    CacheEntry **link = &cache_buckets[e->hash % num_buckets];
    while (*link != e) {
        link = &(*link)->next_in_bucket;
    }
    *link = e->next_in_bucket;
    unlink_from_list(e);
    cache_bytes -= e->bytes;
    e->dropped = true;
    if (e->in_use == 0) {
        free_entry(uc, e);
    }
}

void shrink_to_limit(void *uc) {
    for (CacheEntry *e = cache_oldest; e && cache_bytes > cache_max_bytes;) {
        CacheEntry *const newer = e->newer;
        if (e->in_use == 0) {
            drop(uc, e);
        }
        e = newer;
    }
}

CacheEntry *find(uint64_t hash, const uint8_t *key, int32_t size, const halide_buffer_t *bounds, int32_t tuple_count,
                 halide_buffer_t *const *buffers) {
    CacheEntry *e = cache_buckets[hash % num_buckets];
    while (e && !matches(e, hash, key, size, bounds, tuple_count, buffers)) {
        e = e->next_in_bucket;
    }
    return e;
}

CacheEntry *make_entry(const uint8_t *key, int32_t size, const halide_buffer_t *bounds, int32_t tuple_count,
                       halide_buffer_t *const *buffers) {
    size_t dims = bounds->dimensions;
    for (int i = 0; i < tuple_count; i++) {
        dims += buffers[i]->dimensions;
    }
    CacheEntry *e = (CacheEntry *)calloc(1, sizeof(CacheEntry) + tuple_count * sizeof(halide_buffer_t) +
                                                dims * sizeof(halide_dimension_t) + size);
    if (!e) {
        return nullptr;
    }
    e->buffers = (halide_buffer_t *)(e + 1);
    halide_dimension_t *dim = (halide_dimension_t *)(e->buffers + tuple_count);
    e->bounds = dim;
    e->dimensions = bounds->dimensions;
    memcpy(dim, bounds->dim, bounds->dimensions * sizeof(halide_dimension_t));
    dim += bounds->dimensions;
    for (int i = 0; i < tuple_count; i++) {
        e->buffers[i] = *buffers[i];
        e->buffers[i].dim = dim;
        memcpy(dim, buffers[i]->dim, buffers[i]->dimensions * sizeof(halide_dimension_t));
        dim += buffers[i]->dimensions;
        e->bytes += buffers[i]->size_in_bytes();
    }
    e->key = (uint8_t *)dim;
    e->key_size = size;
    memcpy(e->key, key, size);
    e->tuple_count = tuple_count;
    e->in_use = tuple_count;
    return e;
}

}  // namespace

extern "C" {

WEAK void halide_memoization_cache_set_size(int64_t size) {
    Lock hold(cache_lock);
    cache_max_bytes = size == 0 ? default_max_bytes : size;
    shrink_to_limit(nullptr);
}

WEAK int halide_memoization_cache_lookup(void *uc, const uint8_t *key, int32_t size, halide_buffer_t *realized_bounds,
                                         int32_t tuple_count, halide_buffer_t **buffers) {
    const uint64_t hash = hash_of(key, size);
    {
        Lock hold(cache_lock);
        if (CacheEntry *e = find(hash, key, size, realized_bounds, tuple_count, buffers)) {
            unlink_from_list(e);
            link_as_newest(e);
            e->in_use += tuple_count;
            for (int i = 0; i < tuple_count; i++) {
                halide_dimension_t *const dim = buffers[i]->dim;
                *buffers[i] = e->buffers[i];
                buffers[i]->dim = dim;
            }
            return 0;
        }
    }
    // The user's malloc may take long or call us: not under the lock.
    for (int i = 0; i < tuple_count; i++) {
        uint8_t *block = (uint8_t *)halide_malloc(uc, buffers[i]->size_in_bytes() + header_bytes());
        if (!block) {
            while (i-- > 0) {
                halide_free(uc, header_of(buffers[i]->host));
                buffers[i]->host = nullptr;
            }
            return halide_error_out_of_memory(uc);
        }
        ((CacheHeader *)block)->entry = nullptr;
        buffers[i]->host = block + header_bytes();
    }
    return 1;
}

WEAK int halide_memoization_cache_store(void *uc, const uint8_t *key, int32_t size, halide_buffer_t *realized_bounds,
                                        int32_t tuple_count, halide_buffer_t **buffers, bool has_eviction_key,
                                        uint64_t eviction_key) {
    const uint64_t hash = hash_of(key, size);
    Lock hold(cache_lock);
    // Somebody may have stored the same meanwhile; then these buffers stay outside and release frees them. The same
    // if there is no memory for an entry.
    if (find(hash, key, size, realized_bounds, tuple_count, buffers)) {
        return 0;
    }
    CacheEntry *e = make_entry(key, size, realized_bounds, tuple_count, buffers);
    if (!e) {
        return 0;
    }
    e->hash = hash;
    e->has_eviction_key = has_eviction_key;
    e->eviction_key = eviction_key;
    for (int i = 0; i < tuple_count; i++) {
        header_of(buffers[i]->host)->entry = e;
    }
    e->next_in_bucket = cache_buckets[hash % num_buckets];
    cache_buckets[hash % num_buckets] = e;
    link_as_newest(e);
    cache_bytes += e->bytes;
    shrink_to_limit(uc);
    return 0;
}

WEAK void halide_memoization_cache_release(void *uc, void *host) {
    if (!host) {
        return;
    }
    CacheHeader *header = header_of(host);
    if (!header->entry) {
        halide_free(uc, header);
        return;
    }
    Lock hold(cache_lock);
    CacheEntry *e = header->entry;
    if (--e->in_use == 0) {
        if (e->dropped) {
            free_entry(uc, e);
        } else {
            shrink_to_limit(uc);
        }
    }
}

WEAK void halide_memoization_cache_evict(void *uc, uint64_t eviction_key) {
    Lock hold(cache_lock);
    for (CacheEntry *e = cache_oldest; e;) {
        CacheEntry *const newer = e->newer;
        if (e->has_eviction_key && e->eviction_key == eviction_key) {
            drop(uc, e);
        }
        e = newer;
    }
}

WEAK void halide_memoization_cache_cleanup(void) {
    Lock hold(cache_lock);
    while (cache_oldest) {
        drop(nullptr, cache_oldest);
    }
}

}  // extern "C"
