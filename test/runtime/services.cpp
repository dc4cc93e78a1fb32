// Memoization, tracing, debug_to_file, device copies, profiler, CPU features, sanitizer hooks, symbols.
#include "runtime/HalideBuffer.h"
#include "runtime/RuntimeSymbols.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "halide_image_io.h"

using Halide::Runtime::Buffer;
namespace fs = std::filesystem;

extern "C" {
int halide_profiler_instance_start(void *, const char *, int, const char *const *, const int *, uint64_t,
                                   halide_profiler_instance_state *, halide_profiler_func_stats *);
void halide_profiler_instance_end(void *, void *);
int halide_profiler_set_current_func(halide_profiler_instance_state *, int);
int halide_profiler_incr_active_threads(halide_profiler_instance_state *);
void halide_profiler_memory_allocate(void *, halide_profiler_instance_state *, int, uint64_t);
void halide_profiler_memory_free(void *, halide_profiler_instance_state *, int, uint64_t);
void halide_profiler_stack_peak_update(void *, halide_profiler_instance_state *, const uint64_t *);
}

namespace {

std::string printed, reported;

void record_print(void *, const char *msg) {
    printed += msg;
}

void record_error(void *, const char *msg) {
    reported += msg;
}

/// Records what is printed and reported while it lives.
struct Recorder {
    halide_print_t print = halide_set_custom_print(record_print);
    halide_error_handler_t error = halide_set_error_handler(record_error);
    Recorder() {
        printed.clear();
        reported.clear();
    }
    ~Recorder() {
        halide_set_custom_print(print);
        halide_set_error_handler(error);
    }
};

struct TemporaryFile {
    std::string name;
    explicit TemporaryFile(const std::string &extension)
        : name((fs::temp_directory_path() / ("bromide-" + std::to_string(getpid()) + extension)).string()) {}
    ~TemporaryFile() {
        std::error_code ignored;
        fs::remove(name, ignored);
    }
    std::string read() const {
        std::ifstream f(name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(f), {});
    }
};

}  // namespace

// -------------------------------------------------------------------------------------------------------- memoization

namespace {

std::atomic<int> live_blocks{0};
bool refuse = false;

void *counting_malloc(void *uc, size_t n) {
    if (refuse) {
        return nullptr;
    }
    live_blocks++;
    return halide_default_malloc(uc, n);
}

void counting_free(void *uc, void *p) {
    live_blocks -= p != nullptr;
    halide_default_free(uc, p);
}

/// An empty cache of a given size, with counted allocations.
struct Cache {
    halide_malloc_t old_malloc = halide_set_custom_malloc(counting_malloc);
    halide_free_t old_free = halide_set_custom_free(counting_free);
    explicit Cache(int64_t bytes = 0) {
        halide_memoization_cache_cleanup();
        halide_memoization_cache_set_size(bytes);
        live_blocks = 0;
    }
    ~Cache() {
        halide_memoization_cache_cleanup();
        halide_memoization_cache_set_size(0);
        EXPECT_EQ(live_blocks, 0);
        halide_set_custom_malloc(old_malloc);
        halide_set_custom_free(old_free);
    }
};

struct Entry {
    std::string key;
    int min, extent;
    Buffer<int32_t> buf;
    halide_buffer_t *bufs[1];

    Entry(const std::string &key, int min, int extent) : key(key), min(min), extent(extent), buf(nullptr, extent) {
        buf.set_min(min);
        bufs[0] = buf.raw_buffer();
    }
    int lookup() {
        return halide_memoization_cache_lookup(nullptr, (const uint8_t *)key.data(), (int)key.size(), buf.raw_buffer(),
                                               1, bufs);
    }
    int store(bool has_eviction_key = false, uint64_t eviction_key = 0) {
        return halide_memoization_cache_store(nullptr, (const uint8_t *)key.data(), (int)key.size(), buf.raw_buffer(),
                                              1, bufs, has_eviction_key, eviction_key);
    }
    void release() {
        halide_memoization_cache_release(nullptr, buf.data());
        buf.raw_buffer()->host = nullptr;
    }
    void compute(int value, bool has_eviction_key = false, uint64_t eviction_key = 0) {
        ASSERT_EQ(lookup(), 1);
        buf.fill(value);
        ASSERT_EQ(store(has_eviction_key, eviction_key), 0);
        release();
    }
    bool cached() {
        const int r = lookup();
        release();
        return r == 0;
    }
};

}  // namespace

TEST(Memoization, HitsAndMisses) {
    Cache cache;
    Entry a("key", 0, 10);
    EXPECT_EQ(a.lookup(), 1);
    EXPECT_EQ((uintptr_t)a.buf.data() % (size_t)halide_malloc_alignment(), 0u);
    a.buf.fill(42);
    EXPECT_EQ(a.store(), 0);
    int32_t *host = a.buf.data();
    a.release();

    Entry b("key", 0, 10);
    EXPECT_EQ(b.lookup(), 0);
    EXPECT_EQ(b.buf.data(), host);
    EXPECT_EQ(b.buf(9), 42);
    b.release();
    EXPECT_FALSE(Entry("kez", 0, 10).cached());
    EXPECT_FALSE(Entry("ke", 0, 10).cached());
    EXPECT_FALSE(Entry("key", 1, 10).cached());
    EXPECT_FALSE(Entry("key", 0, 11).cached());
    EXPECT_TRUE(Entry("key", 0, 10).cached());
}

TEST(Memoization, LeastRecentlyUsedGoesFirst) {
    Cache cache(1000);
    Entry("a", 0, 100).compute(1);
    Entry("b", 0, 100).compute(2);
    EXPECT_TRUE(Entry("a", 0, 100).cached());
    Entry("c", 0, 100).compute(3);  // 1200 bytes: b goes.
    EXPECT_TRUE(Entry("a", 0, 100).cached());
    EXPECT_FALSE(Entry("b", 0, 100).cached());
    EXPECT_TRUE(Entry("c", 0, 100).cached());
    halide_memoization_cache_set_size(500);
    EXPECT_FALSE(Entry("a", 0, 100).cached());
    EXPECT_TRUE(Entry("c", 0, 100).cached());
    EXPECT_EQ(live_blocks, 1);
}

TEST(Memoization, EntriesInUseStay) {
    Cache cache(100);
    Entry a("a", 0, 100);
    EXPECT_EQ(a.lookup(), 1);
    a.buf.fill(5);
    EXPECT_EQ(a.store(), 0);
    Entry b("a", 0, 100);
    EXPECT_EQ(b.lookup(), 0) << "larger than the cache, but in use";
    a.release();
    EXPECT_EQ(b.buf(50), 5);
    b.release();
    EXPECT_FALSE(Entry("a", 0, 100).cached());
}

TEST(Memoization, Eviction) {
    Cache cache;
    Entry("a", 0, 10).compute(1, true, 7);
    Entry("b", 0, 10).compute(2, true, 8);
    Entry("c", 0, 10).compute(3);
    Entry in_use("a", 0, 10);
    EXPECT_EQ(in_use.lookup(), 0);
    halide_memoization_cache_evict(nullptr, 7);
    EXPECT_EQ(in_use.buf(3), 1) << "still valid for who has it";
    EXPECT_FALSE(Entry("a", 0, 10).cached());
    in_use.release();
    EXPECT_TRUE(Entry("b", 0, 10).cached());
    halide_memoization_cache_evict(nullptr, 0);
    EXPECT_TRUE(Entry("c", 0, 10).cached()) << "has no eviction key, not even 0";
}

TEST(Memoization, StoredTwice) {
    Cache cache;
    Entry a("k", 0, 10), b("k", 0, 10);
    EXPECT_EQ(a.lookup(), 1);
    EXPECT_EQ(b.lookup(), 1);
    a.buf.fill(1);
    b.buf.fill(1);
    EXPECT_EQ(a.store(), 0);
    EXPECT_EQ(b.store(), 0);
    a.release();
    b.release();
    EXPECT_EQ(live_blocks, 1);
    EXPECT_TRUE(Entry("k", 0, 10).cached());
}

TEST(Memoization, Tuples) {
    Cache cache;
    Buffer<int32_t> a(nullptr, 10), a2(nullptr, 10);
    Buffer<double> b(nullptr, 10), b2(nullptr, 10);
    halide_buffer_t *bufs[2] = {a, b}, *bufs2[2] = {a2, b2};
    const uint8_t key[3] = {1, 0, 3};
    EXPECT_EQ(halide_memoization_cache_lookup(nullptr, key, 3, a, 2, bufs), 1);
    a.fill(1);
    b.fill(2.5);
    EXPECT_EQ(halide_memoization_cache_store(nullptr, key, 3, a, 2, bufs, false, 0), 0);
    EXPECT_EQ(halide_memoization_cache_lookup(nullptr, key, 3, a, 2, bufs2), 0);
    EXPECT_EQ(b2(9), 2.5);
    for (void *host : {(void *)a.data(), (void *)b.data(), (void *)a2.data(), (void *)b2.data()}) {
        halide_memoization_cache_release(nullptr, host);
    }
    halide_memoization_cache_release(nullptr, nullptr);
}

TEST(Memoization, OutOfMemory) {
    Recorder recorder;
    Cache cache;
    refuse = true;
    EXPECT_EQ(Entry("a", 0, 10).lookup(), halide_error_code_out_of_memory);
    refuse = false;
    EXPECT_EQ(reported, "Out of memory (halide_malloc returned nullptr)");
}

TEST(Memoization, ManyThreads) {
    Cache cache(20000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([t] {
            for (int i = 0; i < 2000; i++) {
                const int k = (i * 7 + t) % 40;
                Entry e("key" + std::to_string(k), 0, 200);
                const int r = e.lookup();
                ASSERT_GE(r, 0);
                if (r == 1) {
                    e.buf.fill(k);
                    e.store(true, (uint64_t)k);
                } else {
                    ASSERT_EQ(e.buf(199), k);
                }
                e.release();
                if (i % 97 == 0) {
                    halide_memoization_cache_evict(nullptr, (uint64_t)k);
                }
            }
        });
    }
    for (auto &t : threads) {
        t.join();
    }
}

// ------------------------------------------------------------------------------------------------------------ tracing

namespace {

halide_trace_event_t event(halide_trace_event_code_t code, const char *func, std::vector<int32_t> &coordinates,
                           void *value = nullptr, halide_type_t type = halide_type_t(), int lanes = 1) {
    halide_trace_event_t e;
    e.event = code;
    e.func = func;
    e.coordinates = coordinates.data();
    e.dimensions = (int32_t)coordinates.size();
    e.value = value;
    e.type = type;
    e.lanes = lanes;
    return e;
}

}  // namespace

TEST(Tracing, Text) {
    Recorder recorder;
    halide_set_trace_file(0);
    std::vector<int32_t> none, point = {1, 2}, lanes = {0, 1, 0, 0}, range = {0, 10};
    int32_t three = 3, ints[2] = {0, 1};
    float half = 0.5f;
    double d = 0.5;
    uint8_t byte = 200;
    int8_t minus = -5;
    const halide_type_t i32 = halide_type_of<int32_t>();
    const struct {
        halide_trace_event_t e;
        const char *text;
    } cases[] = {
        {event(halide_trace_store, "f", point, &three, i32), "Store f.0(1, 2) = 3\n"},
        {event(halide_trace_load, "f", point, &half, halide_type_of<float>()), "Load f.0(1, 2) = 0.500000\n"},
        {event(halide_trace_load, "f", none, &d, halide_type_of<double>()), "Load f.0() = 5.000000e-01\n"},
        {event(halide_trace_load, "f", none, &byte, halide_type_of<uint8_t>()), "Load f.0() = 200\n"},
        {event(halide_trace_load, "f", none, &minus, halide_type_of<int8_t>()), "Load f.0() = -5\n"},
        {event(halide_trace_store, "f", lanes, ints, i32, 2), "Store f.0(<0, 1>, <0, 0>) = <0, 1>\n"},
        {event(halide_trace_begin_realization, "f", range), "Begin realization f.0(0, 10)\n"},
        {event(halide_trace_end_realization, "f", range), "End realization f.0(0, 10)\n"},
        {event(halide_trace_produce, "f", range), "Produce f.0(0, 10)\n"},
        {event(halide_trace_end_produce, "f", range), "End produce f.0(0, 10)\n"},
        {event(halide_trace_consume, "f", range), "Consume f.0(0, 10)\n"},
        {event(halide_trace_end_consume, "f", range), "End consume f.0(0, 10)\n"},
        {event(halide_trace_begin_pipeline, "p", none), "Begin pipeline p.0()\n"},
        {event(halide_trace_end_pipeline, "p", none), "End pipeline p.0()\n"},
    };
    int32_t last = 0;
    for (const auto &c : cases) {
        printed.clear();
        const int32_t id = halide_trace(nullptr, &c.e);
        EXPECT_GT(id, last);
        last = id;
        EXPECT_EQ(printed, c.text);
    }
    printed.clear();
    halide_trace_event_t tag = event(halide_trace_tag, "f", none);
    tag.trace_tag = "func_type_and_dim: 1 0 32 1 2 0 2 0 1";
    halide_trace(nullptr, &tag);
    EXPECT_EQ(printed, "Tag f.0() tag = \"func_type_and_dim: 1 0 32 1 2 0 2 0 1\"\n");
}

TEST(Tracing, Packets) {
    TemporaryFile file(".trace");
    FILE *f = fopen(file.name.c_str(), "wb");
    halide_set_trace_file(fileno(f));
    EXPECT_EQ(halide_get_trace_file(nullptr), fileno(f));
    std::vector<int32_t> lanes = {4, 5, 6, 7};
    uint16_t values[2] = {1000, 2000};
    halide_trace_event_t store = event(halide_trace_store, "func", lanes, values, halide_type_of<uint16_t>(), 2);
    store.parent_id = 77;
    store.value_index = 1;
    store.trace_tag = "tag";
    const int32_t store_id = halide_trace(nullptr, &store);
    std::vector<int32_t> none;
    halide_trace_event_t begin = event(halide_trace_begin_pipeline, "a rather long pipeline name", none);
    const int32_t begin_id = halide_trace(nullptr, &begin);
    fclose(f);
    halide_set_trace_file(0);
    EXPECT_EQ(begin_id, store_id + 1);

    const std::string bytes = file.read();
    const auto *p = (const halide_trace_packet_t *)bytes.data();
    EXPECT_EQ(sizeof(*p), 24u);
    EXPECT_EQ(p->size % 4, 0u);
    EXPECT_EQ(p->event, halide_trace_store);
    EXPECT_EQ(p->parent_id, 77);
    EXPECT_EQ(p->value_index, 1);
    EXPECT_EQ(p->dimensions, 4);
    EXPECT_EQ(p->coordinates()[3], 7);
    EXPECT_EQ(p->lanes, 2);
    EXPECT_EQ(p->type(), halide_type_of<uint16_t>());
    EXPECT_EQ(p->value_bytes(), 4u);
    EXPECT_EQ(memcmp(p->value(), values, 4), 0);
    EXPECT_STREQ(p->func(), "func");
    EXPECT_STREQ(p->trace_tag(), "tag");
    const auto *q = (const halide_trace_packet_t *)(bytes.data() + p->size);
    EXPECT_EQ(p->size + q->size, bytes.size());
    EXPECT_EQ(q->id, begin_id);
    EXPECT_STREQ(q->func(), "a rather long pipeline name");
    EXPECT_STREQ(q->trace_tag(), "");
}

TEST(Tracing, FileFromTheEnvironment) {
    TemporaryFile file(".trace");
    setenv("HL_TRACE_FILE", file.name.c_str(), 1);
    halide_set_trace_file(-1);
    std::vector<int32_t> none;
    const halide_trace_event_t e = event(halide_trace_begin_pipeline, "p", none);
    EXPECT_GT(halide_trace(nullptr, &e), 0);
    EXPECT_EQ(halide_shutdown_trace(), 0);
    unsetenv("HL_TRACE_FILE");
    EXPECT_EQ(file.read().size(), 28u);
    EXPECT_EQ(halide_get_trace_file(nullptr), 0);
}

// ------------------------------------------------------------------------------------------------------ debug_to_file

TEST(DebugToFile, ReadBackByImageIO) {
    Buffer<uint16_t> im(7, 5, 3);
    im.fill([](int x, int y, int c) { return (uint16_t)(x + 100 * y + 10000 * c); });
    Buffer<uint16_t> views[] = {im, im.cropped({{1, 4}, {2, 3}}), im.copy_to_interleaved()};
    for (Buffer<uint16_t> &view : views) {
        for (const char *extension : {".tmp", ".mat"}) {
            TemporaryFile file(extension);
            ASSERT_EQ(halide_debug_to_file(nullptr, file.name.c_str(), view), 0);
            Buffer<uint16_t> back = Halide::Tools::load_image(file.name);
            ASSERT_EQ(back.width(), view.width());
            back.for_each_element([&](int x, int y, int c) {
                ASSERT_EQ(back(x, y, c), view(x + view.dim(0).min(), y + view.dim(1).min(), c));
            });
        }
    }
}

TEST(DebugToFile, TiffIsTheSameAsOfImageIO) {
    Buffer<float> grey(6, 5);
    grey.fill([](int x, int y) { return x + 0.5f * y; });
    Buffer<uint8_t> rgb(6, 5, 3);
    rgb.fill([](int x, int y, int c) { return (uint8_t)(x + 10 * y + 70 * c); });
    // The layouts differ, what a reader finds does not: the elements end both files.
    for (halide_buffer_t *b : {grey.raw_buffer(), rgb.raw_buffer()}) {
        TemporaryFile ours(".tiff"), theirs(".tif");
        ASSERT_EQ(halide_debug_to_file(nullptr, ours.name.c_str(), b), 0);
        Halide::Tools::save_image(Buffer<>(*b), theirs.name);
        const std::string x = ours.read(), y = theirs.read();
        EXPECT_EQ(x.substr(x.size() - b->size_in_bytes()), y.substr(y.size() - b->size_in_bytes()));
        EXPECT_EQ(x.substr(0, 8), y.substr(0, 8));
    }
    Buffer<uint8_t> pages(4, 4, 2, 3);
    pages.fill(1);
    TemporaryFile file(".tiff");
    EXPECT_EQ(halide_debug_to_file(nullptr, file.name.c_str(), pages), 0);
}

TEST(DebugToFile, Errors) {
    Recorder recorder;
    Buffer<int32_t> im(4, 4);
    const struct {
        std::function<int()> run;
        const char *text;
    } cases[] = {
        {[&] { return halide_debug_to_file(nullptr, "/tmp/x.gif", im); },
         "debug_to_file: /tmp/x.gif: the extension must be .tiff, .tif, .mat or .tmp"},
        {[&] { return halide_debug_to_file(nullptr, "/no/such/x.tmp", im); },
         "debug_to_file: /no/such/x.tmp: the file could not be opened for writing"},
        {[&] { return halide_debug_to_file(nullptr, "x.tmp", Buffer<int32_t>(nullptr, 3)); },
         "debug_to_file: x.tmp: the buffer is a bounds query"},
        {[&] { return halide_debug_to_file(nullptr, "x.tmp", Buffer<int32_t>(1, 1, 1, 1, 1)); },
         "debug_to_file: x.tmp: the buffer has more than four dimensions"},
        {[&] { return halide_debug_to_file(nullptr, "x.mat", Buffer<>(halide_type_t(halide_type_bfloat, 16), 3)); },
         "debug_to_file: x.mat: this format has no such element type"},
    };
    for (const auto &c : cases) {
        reported.clear();
        EXPECT_EQ(c.run(), halide_error_code_debug_to_file_failed);
        EXPECT_EQ(reported, c.text);
    }
}

// ------------------------------------------------------------------------------------------------------------ devices

namespace {

struct FakeDevice {
    int mallocs = 0, frees = 0, to_host = 0, to_device = 0;
    bool fail = false;
} fake;

int device_malloc(void *, halide_buffer_t *b, const halide_device_interface_t *i) {
    if (fake.fail) {
        return -1;
    }
    b->device = (uint64_t)(uintptr_t)new uint8_t[b->size_in_bytes() + 1];
    b->device_interface = i;
    fake.mallocs++;
    return 0;
}
int device_free(void *, halide_buffer_t *b) {
    delete[] (uint8_t *)(uintptr_t)b->device;
    b->device = 0;
    b->device_interface = nullptr;
    fake.frees++;
    return 0;
}
int device_sync(void *, halide_buffer_t *) {
    return fake.fail ? -1 : 0;
}
void device_release(void *, const halide_device_interface_t *) {}
int copy_to_host(void *, halide_buffer_t *b) {
    fake.to_host++;
    memcpy(b->host, (void *)(uintptr_t)b->device, b->size_in_bytes());
    return fake.fail ? -1 : 0;
}
int copy_to_device(void *, halide_buffer_t *b, const halide_device_interface_t *) {
    fake.to_device++;
    memcpy((void *)(uintptr_t)b->device, b->host, b->size_in_bytes());
    return fake.fail ? -1 : 0;
}
int buffer_copy(void *, halide_buffer_t *, const halide_device_interface_t *, halide_buffer_t *) {
    return halide_error_code_incompatible_device_interface;
}

const halide_device_interface_t device_a = {
    device_malloc, device_free, device_sync, device_release, copy_to_host, copy_to_device, device_malloc, device_free,
    buffer_copy,   nullptr,     nullptr,     nullptr,        nullptr,      nullptr,        nullptr,       nullptr};
const halide_device_interface_t device_b = device_a;

}  // namespace

TEST(Device, TrivialWithoutDevice) {
    Buffer<int32_t> b(4, 4);
    EXPECT_EQ(halide_copy_to_host(nullptr, b), 0);
    EXPECT_EQ(halide_device_sync(nullptr, b), 0);
    EXPECT_EQ(halide_device_free(nullptr, b), 0);
    EXPECT_EQ(halide_device_detach_native(nullptr, b), 0);
    EXPECT_EQ(halide_device_release_crop(nullptr, b), 0);
}

TEST(Device, Inconsistencies) {
    Recorder recorder;
    halide_buffer_t b = {};
    EXPECT_EQ(halide_copy_to_host(nullptr, nullptr), halide_error_code_buffer_is_null);
    b.device = 1;
    EXPECT_EQ(halide_copy_to_host(nullptr, &b), halide_error_code_no_device_interface);
    b.device = 0;
    b.device_interface = &device_a;
    EXPECT_EQ(halide_device_sync(nullptr, &b), halide_error_code_device_interface_no_device);
    b.device_interface = nullptr;
    b.flags = 3;
    EXPECT_EQ(halide_device_free(nullptr, &b), halide_error_code_host_and_device_dirty);
    b.flags = 0;
    EXPECT_EQ(halide_device_malloc(nullptr, &b, nullptr), halide_error_code_no_device_interface);
    EXPECT_EQ(halide_copy_to_device(nullptr, &b, nullptr), halide_error_code_no_device_interface);
    Buffer<int32_t> c(4, 4);
    EXPECT_EQ(halide_device_malloc(nullptr, c, &device_a), 0);
    EXPECT_EQ(halide_device_malloc(nullptr, c, &device_b), halide_error_code_incompatible_device_interface);
    fake.fail = true;
    EXPECT_EQ(halide_device_sync(nullptr, c), halide_error_code_device_sync_failed);
    c.set_host_dirty();
    EXPECT_EQ(halide_copy_to_device(nullptr, c, &device_a), halide_error_code_copy_to_device_failed);
    c.set_host_dirty(false);
    c.set_device_dirty();
    EXPECT_EQ(halide_copy_to_host(nullptr, c), halide_error_code_copy_to_host_failed);
    Buffer<int32_t> d(4, 4);
    EXPECT_EQ(halide_device_malloc(nullptr, d, &device_a), halide_error_code_device_malloc_failed);
    fake.fail = false;
    c.set_device_dirty(false);
}

TEST(Device, CopiesOnlyWhenDirty) {
    fake = FakeDevice();
    Buffer<int32_t> b(4, 4);
    b.fill(7);
    EXPECT_EQ(halide_copy_to_device(nullptr, b, &device_a), 0);
    EXPECT_EQ(halide_copy_to_device(nullptr, b, &device_a), 0);
    EXPECT_EQ(fake.to_device, 1);
    memset(b.data(), 0, b.size_in_bytes());
    b.set_device_dirty();
    EXPECT_EQ(halide_copy_to_host(nullptr, b), 0);
    EXPECT_EQ(halide_copy_to_host(nullptr, b), 0);
    EXPECT_EQ(fake.to_host, 1);
    EXPECT_TRUE(b.all_equal(7));
    // Moving to another device goes by way of the host.
    b.set_device_dirty();
    EXPECT_EQ(halide_copy_to_device(nullptr, b, &device_b), 0);
    EXPECT_EQ(b.raw_buffer()->device_interface, &device_b);
    EXPECT_EQ(fake.frees, 1);
}

TEST(Device, BufferCopyOnTheHost) {
    Buffer<int32_t> src(8, 6), dst(8, 6);
    src.fill([](int x, int y) { return x + 10 * y; });
    dst.fill(-1);
    dst.set_min(2, -1);
    EXPECT_EQ(halide_buffer_copy(nullptr, src, nullptr, dst), 0);
    dst.for_each_element([&](int x, int y) { ASSERT_EQ(dst(x, y), src.contains(x, y) ? x + 10 * y : -1); });
    Buffer<int32_t> turned(6, 8);
    turned.transpose(0, 1);
    EXPECT_EQ(halide_buffer_copy(nullptr, src, nullptr, turned), 0);
    EXPECT_EQ(turned(7, 5), 57);
    Recorder recorder;
    Buffer<int16_t> other(8, 6);
    EXPECT_EQ(halide_buffer_copy(nullptr, src, nullptr, other), halide_error_code_device_buffer_copy_failed);
    // To a device.
    Buffer<int32_t> on_device(8, 6);
    EXPECT_EQ(halide_buffer_copy(nullptr, src, &device_a, on_device), 0);
    EXPECT_TRUE(on_device.has_device_allocation());
    EXPECT_EQ(on_device(3, 4), 43);
}

TEST(Device, AllocationPools) {
    static int released;
    released = 0;
    static halide_device_allocation_pool pool = {[](void *) { return released++, 0; }, nullptr};
    halide_register_device_allocation_pool(&pool);
    EXPECT_TRUE(halide_can_reuse_device_allocations(nullptr));
    EXPECT_EQ(halide_reuse_device_allocations(nullptr, false), 0);
    EXPECT_FALSE(halide_can_reuse_device_allocations(nullptr));
    EXPECT_EQ(released, 1);
    EXPECT_EQ(halide_reuse_device_allocations(nullptr, true), 0);
    halide_set_gpu_device(3);
    EXPECT_EQ(halide_get_gpu_device(nullptr), 3);
}

// ----------------------------------------------------------------------------------------------------------- profiler

TEST(Profiler, StatisticsOfARun) {
    Recorder recorder;
    EXPECT_EQ(sizeof(halide_profiler_func_stats), 192u);
    EXPECT_EQ(sizeof(halide_profiler_pipeline_stats), 104u);
    const char *names[3] = {"overhead", "f", "g"};
    const int infos[12] = {-1, 0, 1, -1, 0, 1, 0, -1, 0, 2, 0, -1};
    EXPECT_EQ(halide_profiler_get_pipeline_state("p"), nullptr);
    for (int run = 0; run < 2; run++) {
        halide_profiler_instance_state instance;
        halide_profiler_func_stats funcs[3];
        ASSERT_EQ(halide_profiler_instance_start(nullptr, "p", 3, names, infos, 32, &instance, funcs), 0);
        EXPECT_EQ(halide_profiler_set_current_func(&instance, 1), 0);
        halide_profiler_incr_active_threads(&instance);
        halide_profiler_memory_allocate(nullptr, &instance, 1, 1000);
        halide_profiler_memory_allocate(nullptr, &instance, 2, 500);
        halide_sleep_us(nullptr, 30000);
        halide_profiler_memory_free(nullptr, &instance, 1, 1000);
        halide_profiler_memory_free(nullptr, &instance, 2, 500);
        EXPECT_EQ(halide_profiler_set_current_func(&instance, 2), 1);
        const uint64_t stack[3] = {0, 0, 256};
        halide_profiler_stack_peak_update(nullptr, &instance, stack);
        funcs[1].bytes_stored += 64;
        halide_sleep_us(nullptr, 10000);
        halide_profiler_instance_end(nullptr, &instance);
        halide_profiler_instance_end(nullptr, &instance);  // as a destructor after the normal end
    }
    const halide_profiler_pipeline_stats *p = halide_profiler_get_pipeline_state("p");
    ASSERT_NE(p, nullptr);
    EXPECT_STREQ(p->name, "p");
    EXPECT_EQ(p->runs, 2);
    EXPECT_EQ(p->num_funcs, 3);
    EXPECT_EQ(p->native_vector_bytes, 32u);
    EXPECT_GE(p->time, 80000000u);
    EXPECT_GT(p->samples, 0);
    EXPECT_EQ(p->num_allocs, 4);
    EXPECT_EQ(p->memory_peak, 1500u);
    EXPECT_EQ(p->memory_total, 3000u);
    EXPECT_EQ(p->memory_current, 0u);
    const halide_profiler_func_stats &f = p->funcs[1], &g = p->funcs[2];
    EXPECT_STREQ(f.name, "f");
    EXPECT_EQ(f.memory_peak, 1000u);
    EXPECT_EQ(f.bytes_stored, 128u);
    EXPECT_EQ(g.stack_peak, 256u);
    EXPECT_GT(f.time, g.time);
    EXPECT_NEAR((double)(p->funcs[0].time + f.time + g.time), (double)p->time, 0.01 * (double)p->time);
    EXPECT_NEAR((double)f.active_threads_numerator / (double)f.active_threads_denominator, 2.0, 0.01);

    TemporaryFile json(".json");
    setenv("HL_PROFILER_JSON_OUTPUT", json.name.c_str(), 1);
    halide_profiler_report(nullptr);
    unsetenv("HL_PROFILER_JSON_OUTPUT");
    for (const char *part : {"p\n total time: ", "  runs: 2", "\n  f: ", " threads: 2.0 ", " peak: 1000 ", " num: 1 ",
                             " avg: 1000\n", " stack: 256\n"}) {
        EXPECT_NE(printed.find(part), std::string::npos) << part << "\n" << printed;
    }
    EXPECT_NE(json.read().find("\"bytes_stored\": 128"), std::string::npos);
    EXPECT_NE(json.read().find("\"runs\": 2"), std::string::npos);

    halide_profiler_reset();
    EXPECT_EQ(halide_profiler_get_pipeline_state("p"), nullptr);
    EXPECT_EQ(halide_profiler_get_state()->pipelines, nullptr);
    EXPECT_EQ(halide_profiler_get_state()->sleep_time, 1);
    halide_profiler_shutdown();
    EXPECT_EQ(halide_profiler_get_state()->sampling_thread, nullptr);
    halide_profiler_shutdown();
}

// ------------------------------------------------------------------------------------------------------- CPU features

namespace {

int can_use(std::initializer_list<int> features) {
    uint64_t words[(halide_target_feature_end + 63) / 64] = {};
    for (int f : features) {
        words[f / 64] |= 1ull << (f % 64);
    }
    return halide_can_use_target_features((halide_target_feature_end + 63) / 64, words);
}

}  // namespace

TEST(CpuFeatures, MatchTheMachine) {
    EXPECT_EQ(can_use({}), 1);
    EXPECT_EQ(can_use({halide_target_feature_user_context, halide_target_feature_large_buffers,
                       halide_target_feature_cuda, halide_target_feature_hlsl_sm69}),
              1)
        << "needs nothing from the processor";
    EXPECT_EQ(can_use({halide_target_feature_hvx_v66}), 0);
    EXPECT_EQ(can_use({halide_target_feature_wasm_simd128}), 0);
#ifdef __x86_64__
    __builtin_cpu_init();
    EXPECT_EQ(can_use({halide_target_feature_sse41}), __builtin_cpu_supports("sse4.1") ? 1 : 0);
    EXPECT_EQ(can_use({halide_target_feature_avx}), __builtin_cpu_supports("avx") ? 1 : 0);
    EXPECT_EQ(can_use({halide_target_feature_avx2}), __builtin_cpu_supports("avx2") ? 1 : 0);
    EXPECT_EQ(can_use({halide_target_feature_fma}), __builtin_cpu_supports("fma") ? 1 : 0);
    EXPECT_EQ(can_use({halide_target_feature_avx512}),
              __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") ? 1 : 0);
    EXPECT_EQ(can_use({halide_target_feature_avx512_skylake}),
              __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq")
                  ? 1
                  : 0);
    EXPECT_EQ(can_use({halide_target_feature_sse41, halide_target_feature_sve}), 0);
    EXPECT_EQ(can_use({halide_target_feature_rvv}), 0);
#endif
    EXPECT_EQ(can_use({halide_target_feature_arm_dot_prod, halide_target_feature_sse41}), 0);
}

TEST(CpuFeatures, CustomAndWrongCount) {
    const auto old = halide_set_custom_can_use_target_features([](int, const uint64_t *) { return 3; });
    EXPECT_EQ(can_use({halide_target_feature_sve}), halide_can_use_target_for_the_moment);
    halide_set_custom_can_use_target_features(old);
    Recorder recorder;
    const uint64_t words[1] = {0};
    EXPECT_EQ(halide_can_use_target_features(1, words), 0);
    EXPECT_NE(reported.find("another version of the runtime"), std::string::npos);
}

TEST(CpuFeatures, Numbers) {
    // The words of halide_can_use_target_features are part of the binary interface.
    EXPECT_EQ(halide_target_feature_jit, 0);
    EXPECT_EQ(halide_target_feature_sse41, 5);
    EXPECT_EQ(halide_target_feature_avx2, 7);
    EXPECT_EQ(halide_target_feature_user_context, 33);
    EXPECT_EQ(halide_target_feature_pto, halide_target_feature_hlsl_sm69 + 1);
    EXPECT_EQ(halide_target_feature_end, halide_target_feature_pto_unroll_ptodsl + 1);
}

// ------------------------------------------------------------------------------------------------ sanitizers, symbols

TEST(Msan, HooksReturnZero) {
    Buffer<int32_t> b(4, 4);
    b.fill(0);
    EXPECT_EQ(halide_msan_annotate_memory_is_initialized(nullptr, b.data(), 64), 0);
    EXPECT_EQ(halide_msan_annotate_buffer_is_initialized(nullptr, b), 0);
    EXPECT_EQ(halide_msan_check_buffer_is_initialized(nullptr, b, "b"), 0);
    EXPECT_EQ(halide_msan_check_memory_is_initialized(nullptr, b.data(), 64, "b"), 0);
    halide_msan_annotate_buffer_is_initialized_as_destructor(nullptr, b.raw_buffer());
    EXPECT_EQ(halide_msan_annotate_buffer_is_initialized(nullptr, Buffer<int>(nullptr, 4)), 0);
}

TEST(Symbols, OfTheProcess) {
    EXPECT_NE(halide_get_symbol("malloc"), nullptr);
    EXPECT_EQ(halide_get_symbol("there_is_no_such_function"), nullptr);
    void *lib = halide_load_library("libm.so.6");
    ASSERT_NE(lib, nullptr);
    EXPECT_NE(halide_get_library_symbol(lib, "cos"), nullptr);
    EXPECT_EQ(halide_load_library("/no/such/library.so"), nullptr);
    const auto old = halide_set_custom_get_symbol([](const char *) -> void * { return &printed; });
    EXPECT_EQ(halide_get_symbol("x"), &printed);
    EXPECT_EQ(halide_set_custom_get_symbol(old)("y"), &printed);
}

TEST(Symbols, TableHoldsTheWholeHeader) {
    using namespace Halide::Runtime::Internal;
    std::map<std::string, void *> table;
    std::string previous;
    for (const RuntimeSymbol *s = runtime_symbols(); s->name; s++) {
        EXPECT_LT(previous, s->name) << "sorted, for binary search";
        previous = s->name;
        table[s->name] = s->address;
        EXPECT_EQ(find_runtime_symbol(s->name), s->address);
    }
    EXPECT_EQ(find_runtime_symbol("no_such_function"), nullptr);
    EXPECT_EQ(find_runtime_symbol("halide_error"), (void *)&halide_error);
    int declared = 0;
    for (const char *header : {"HalideRuntime.h", "runtime_internal.h"}) {
        std::ifstream f(std::string(BROMIDE_SOURCE_DIR) + "/src/runtime/" + header);
        ASSERT_TRUE(f.good());
        // A declaration stands at the start of a line and has the name directly before its first parenthesis.
        for (std::string line; std::getline(f, line);) {
            const size_t parenthesis = line.find('(');
            const std::string head = line.substr(0, parenthesis);
            const size_t name_at = head.find_last_of(" *") + 1;
            const std::string name = head.substr(name_at);
            if (parenthesis == std::string::npos || line[0] == ' ' || line[0] == '/' || line[0] == '#' ||
                name_at == 0 || line.compare(0, 7, "typedef") == 0 || line.compare(0, 9, "constexpr") == 0 ||
                name.find("halide_") == std::string::npos) {
                continue;
            }
            // That one is defined by the program.
            if (name != "halide_register_argv_and_metadata") {
                EXPECT_TRUE(table.count(name)) << name;
                declared++;
            }
        }
    }
    EXPECT_GT(declared, 170);
}
