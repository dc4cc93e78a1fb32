#pragma once
// What the sources of the runtime share. They are compiled twice: natively into libHalide, and by clang without any
// system header to bitcode that goes into ahead-of-time objects. Hence: no headers of the C or C++ library, no static
// constructors, no exceptions, no thread_local.
//
// Everything with external linkage is weak. Several objects that carry the runtime can then be linked together and
// share one state, and a strong definition in the program replaces ours.

#define COMPILING_HALIDE_RUNTIME
#include "HalideRuntime.h"

#define WEAK __attribute__((weak))

// The functions of the C library that the runtime uses. Arguments with other layouts on other systems (locks, files)
// only occur as opaque pointers.
extern "C" {
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
void abort(void) __attribute__((noreturn));
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, size_t);
char *getenv(const char *);
#if defined(__linux__) || defined(__APPLE__)
#ifdef __LP64__
typedef long halide_ssize_t;
#else
typedef int halide_ssize_t;
#endif
halide_ssize_t write(int fd, const void *buf, size_t n);
int close(int fd);
int remove(const char *);
int usleep(unsigned);
int getpid(void);
int sched_yield(void);
long sysconf(int);
void *fopen(const char *, const char *);
int fclose(void *);
size_t fwrite(const void *, size_t, size_t, void *);
int fileno(void *);
#endif

// ---------------------------------------------------------------- functions that only compiled code and we call

char *halide_string_to_string(char *dst, char *end, const char *arg);
char *halide_double_to_string(char *dst, char *end, double arg, int scientific);
char *halide_int64_to_string(char *dst, char *end, int64_t arg, int min_digits);
char *halide_uint64_to_string(char *dst, char *end, uint64_t arg, int min_digits);
char *halide_pointer_to_string(char *dst, char *end, const void *arg);
char *halide_type_to_string(char *dst, char *end, const halide_type_t *arg);
char *halide_buffer_to_string(char *dst, char *end, const halide_buffer_t *arg);

halide_dimension_t *_halide_buffer_get_shape(halide_buffer_t *buf);
int _halide_buffer_get_dimensions(const halide_buffer_t *buf);
uint8_t *_halide_buffer_get_host(const halide_buffer_t *buf);
uint64_t _halide_buffer_get_device(const halide_buffer_t *buf);
const halide_device_interface_t *_halide_buffer_get_device_interface(const halide_buffer_t *buf);
int _halide_buffer_get_min(const halide_buffer_t *buf, int d);
int _halide_buffer_get_max(const halide_buffer_t *buf, int d);
int _halide_buffer_get_extent(const halide_buffer_t *buf, int d);
int _halide_buffer_get_stride(const halide_buffer_t *buf, int d);
int _halide_buffer_set_host_dirty(halide_buffer_t *buf, bool val);
int _halide_buffer_set_device_dirty(halide_buffer_t *buf, bool val);
bool _halide_buffer_get_host_dirty(const halide_buffer_t *buf);
bool _halide_buffer_get_device_dirty(const halide_buffer_t *buf);
uint32_t _halide_buffer_get_type(const halide_buffer_t *buf);
bool _halide_buffer_is_bounds_query(const halide_buffer_t *buf);
halide_buffer_t *_halide_buffer_init(halide_buffer_t *dst, void *dst_shape, void *host, uint64_t device,
                                     const halide_device_interface_t *device_interface, int type_code, int type_bits,
                                     int dimensions, halide_dimension_t *shape, uint64_t flags);
halide_buffer_t *_halide_buffer_init_from_buffer(halide_buffer_t *dst, halide_dimension_t *dst_shape,
                                                 const halide_buffer_t *src);
halide_buffer_t *_halide_buffer_crop(void *user_context, halide_buffer_t *dst, halide_dimension_t *dst_shape,
                                     const halide_buffer_t *src, const int *min, const int *extent);
halide_buffer_t *_halide_buffer_set_bounds(halide_buffer_t *buf, int dim, int min, int extent);
int _halide_buffer_retire_crop_after_extern_stage(void *user_context, void *obj);
int _halide_buffer_retire_crops_after_extern_stage(void *user_context, void *obj);

int32_t halide_trace_helper(void *user_context, const char *func, void *value, int32_t *coords, int type_code,
                            int type_bits, int type_lanes, int event, int parent_id, int value_index, int dimensions,
                            const char *trace_tag);

/// Begins a run of a pipeline. `names` has num_funcs entries; `infos` has four ints for each: parent, canonical_id,
/// kind, buffer_func_id. `instance` and `funcs` (num_funcs entries) live on the caller's stack.
int halide_profiler_instance_start(void *user_context, const char *pipeline_name, int num_funcs,
                                   const char *const *names, const int *infos, uint64_t native_vector_bytes,
                                   halide_profiler_instance_state *instance, halide_profiler_func_stats *funcs);
/// Ends it and adds its statistics to those of the pipeline. May be used as a destructor.
void halide_profiler_instance_end(void *user_context, void *instance);
/// Says what the calling thread computes from now on; returns what it was.
int halide_profiler_set_current_func(halide_profiler_instance_state *instance, int func);
int halide_profiler_incr_active_threads(halide_profiler_instance_state *instance);
int halide_profiler_decr_active_threads(halide_profiler_instance_state *instance);
void halide_profiler_memory_allocate(void *user_context, halide_profiler_instance_state *instance, int func,
                                     uint64_t bytes);
void halide_profiler_memory_free(void *user_context, halide_profiler_instance_state *instance, int func,
                                 uint64_t bytes);
/// `peaks` holds the stack use of each Func in bytes.
void halide_profiler_stack_peak_update(void *user_context, halide_profiler_instance_state *instance,
                                       const uint64_t *peaks);
}

/// The operations a device API implements; the public functions check their arguments and then call these.
struct halide_device_interface_impl_t {
    void (*use_module)();
    void (*release_module)();
    int (*device_malloc)(void *user_context, halide_buffer_t *buf);
    int (*device_free)(void *user_context, halide_buffer_t *buf);
    int (*device_sync)(void *user_context, halide_buffer_t *buf);
    int (*device_release)(void *user_context);
    int (*copy_to_host)(void *user_context, halide_buffer_t *buf);
    int (*copy_to_device)(void *user_context, halide_buffer_t *buf);
    int (*device_and_host_malloc)(void *user_context, halide_buffer_t *buf);
    int (*device_and_host_free)(void *user_context, halide_buffer_t *buf);
    int (*buffer_copy)(void *user_context, halide_buffer_t *src, const halide_device_interface_t *dst_device_interface,
                       halide_buffer_t *dst);
    int (*device_crop)(void *user_context, const halide_buffer_t *src, halide_buffer_t *dst);
    int (*device_slice)(void *user_context, const halide_buffer_t *src, int slice_dim, int slice_pos,
                        halide_buffer_t *dst);
    int (*device_release_crop)(void *user_context, halide_buffer_t *buf);
    int (*wrap_native)(void *user_context, halide_buffer_t *buf, uint64_t handle);
    int (*detach_native)(void *user_context, halide_buffer_t *buf);
};

namespace Halide {
namespace Runtime {
namespace Internal {

/// Text that grows as needed. Falls back to cutting it off when there is no memory, since it also serves to report
/// just that.
class Text {
    char local[512];
    char *begin = local, *end = local, *limit = local + sizeof(local) - 1;

    bool reserve(size_t extra) {
        if ((size_t)(limit - end) >= extra) {
            return true;
        }
        const size_t used = end - begin, capacity = 2 * (used + extra) + 1;
        char *bigger = (char *)malloc(capacity);
        if (!bigger) {
            return false;
        }
        memcpy(bigger, begin, used);
        if (begin != local) {
            free(begin);
        }
        begin = bigger;
        end = bigger + used;
        limit = bigger + capacity - 1;
        return true;
    }

public:
    Text() = default;
    Text(const Text &) = delete;
    Text &operator=(const Text &) = delete;
    ~Text() {
        if (begin != local) {
            free(begin);
        }
    }

    Text &append(const char *s, size_t n) {
        if (!reserve(n) && n > (size_t)(limit - end)) {
            n = limit - end;
        }
        memcpy(end, s, n);
        end += n;
        return *this;
    }
    Text &operator<<(const char *s) { return append(s ? s : "<null>", strlen(s ? s : "<null>")); }
    Text &operator<<(int64_t v) {
        reserve(24);
        end = halide_int64_to_string(end, limit, v, 1);
        return *this;
    }
    Text &operator<<(uint64_t v) {
        reserve(24);
        end = halide_uint64_to_string(end, limit, v, 1);
        return *this;
    }
    Text &operator<<(int v) { return *this << (int64_t)v; }
    Text &operator<<(uint32_t v) { return *this << (uint64_t)v; }
    Text &operator<<(double v) {
        reserve(32);
        end = halide_double_to_string(end, limit, v, 1);
        return *this;
    }
    Text &fixed(double v) {
        reserve(330);
        end = halide_double_to_string(end, limit, v, 0);
        return *this;
    }
    Text &operator<<(const void *p) {
        reserve(24);
        end = halide_pointer_to_string(end, limit, p);
        return *this;
    }
    Text &operator<<(const halide_type_t &t) {
        reserve(24);
        end = halide_type_to_string(end, limit, &t);
        return *this;
    }
    Text &pad_to(size_t column, size_t line_start) {
        while (size() < line_start + column) {
            append(" ", 1);
        }
        return *this;
    }
    size_t size() const { return end - begin; }
    char *str() {
        *end = 0;
        return begin;
    }
};

/// Holds a lock for a scope.
class Lock {
    halide_mutex &mutex;

public:
    explicit Lock(halide_mutex &mutex) : mutex(mutex) { halide_mutex_lock(&mutex); }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    ~Lock() { halide_mutex_unlock(&mutex); }
};

/// Exchanges a handler and returns the old one.
template <typename T>
inline T exchange(T &where, T value) {
    return __atomic_exchange_n(&where, value, __ATOMIC_ACQ_REL);
}

inline bool same_dimension(const halide_dimension_t &a, const halide_dimension_t &b) {
    return a.min == b.min && a.extent == b.extent && a.stride == b.stride;
}

/// Copies the intersection of two host buffers of one type and dimensionality.
void copy_host_to_host(const halide_buffer_t *src, const halide_buffer_t *dst);

/// The non-negative number that an environment variable holds, or `missing`.
int64_t environment_number(const char *name, int64_t missing);

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide
