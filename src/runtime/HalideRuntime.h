// The C interface between compiled pipelines, the runtime and the program around them.
//
// One file in spite of its length: its text is copied into every generated header so that such a header stands alone.
// For the same reason it has an include guard (a copy must exclude the original) instead of `#pragma once`.
#ifndef HALIDE_HALIDERUNTIME_H
#define HALIDE_HALIDERUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef COMPILING_HALIDE_RUNTIME
#include <string.h>
#endif

#define HALIDE_VERSION_MAJOR 22
#define HALIDE_VERSION_MINOR 0
#define HALIDE_VERSION_PATCH 0

#ifdef _MSC_VER
#define HALIDE_ALWAYS_INLINE __forceinline
#define HALIDE_NEVER_INLINE __declspec(noinline)
#define HALIDE_ATTRIBUTE_ALIGN(x) __declspec(align(x))
#define HALIDE_ATTRIBUTE_DEPRECATED(x) __declspec(deprecated(x))
#else
#define HALIDE_ALWAYS_INLINE inline __attribute__((always_inline))
#define HALIDE_NEVER_INLINE __attribute__((noinline))
#define HALIDE_ATTRIBUTE_ALIGN(x) __attribute__((aligned(x)))
#define HALIDE_ATTRIBUTE_DEPRECATED(x) __attribute__((deprecated(x)))
#endif

#ifndef HALIDE_MUST_USE_RESULT
#if defined(__has_attribute)
#if __has_attribute(warn_unused_result)
#define HALIDE_MUST_USE_RESULT __attribute__((warn_unused_result))
#endif
#endif
#ifndef HALIDE_MUST_USE_RESULT
#define HALIDE_MUST_USE_RESULT
#endif
#endif

// Put before the declaration of each compiled pipeline; programs may define it first.
#ifndef HALIDE_FUNCTION_ATTRS
#define HALIDE_FUNCTION_ATTRS
#endif

#ifndef HALIDE_EXPORT_SYMBOL
#ifdef _MSC_VER
#define HALIDE_EXPORT_SYMBOL __declspec(dllexport)
#else
#define HALIDE_EXPORT_SYMBOL __attribute__((visibility("default")))
#endif
#endif

// Defined where the C++ compiler has a usable _Float16 (x86-64 and AArch64; C++ support came with gcc 13, clang 15).
#if !defined(HALIDE_CPP_COMPILER_HAS_FLOAT16) && !defined(COMPILING_HALIDE_RUNTIME) && defined(__cplusplus) && \
    (defined(__x86_64__) || defined(__aarch64__)) && defined(__FLT16_MAX__)
#if defined(__clang__)
#if __clang_major__ >= 15
#define HALIDE_CPP_COMPILER_HAS_FLOAT16
#endif
#elif defined(__GNUC__)
#if __GNUC__ >= 13
#define HALIDE_CPP_COMPILER_HAS_FLOAT16
#endif
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------- types

/// The class of a scalar type.
typedef enum halide_type_code_t
#if defined(__cplusplus)
    : uint8_t
#endif
{
    halide_type_int = 0,     ///< signed integer
    halide_type_uint = 1,    ///< unsigned integer; bool is uint of 1 bit
    halide_type_float = 2,   ///< IEEE floating point
    halide_type_handle = 3,  ///< opaque pointer, 64 bits
    halide_type_bfloat = 4   ///< bfloat16
} halide_type_code_t;

/// A scalar type at run time: 4 bytes, compares as one uint32.
struct halide_type_t {
#if defined(__cplusplus)
    halide_type_code_t code;
#else
    uint8_t code;
#endif
    uint8_t bits;
    /// Always 0.
    uint16_t reserved;

#ifdef __cplusplus
    constexpr halide_type_t()
        : code(halide_type_int), bits(0), reserved(0) {
    }
    constexpr halide_type_t(halide_type_code_t code, uint8_t bits)
        : code(code), bits(bits), reserved(0) {
    }
    /// The type as one word: code | bits << 8 | reserved << 16.
    constexpr uint32_t as_u32() const {
        return (uint32_t)code | ((uint32_t)bits << 8) | ((uint32_t)reserved << 16);
    }
    constexpr operator uint32_t() const {
        return as_u32();
    }
    constexpr bool operator==(const halide_type_t &other) const {
        return as_u32() == other.as_u32();
    }
    constexpr bool operator!=(const halide_type_t &other) const {
        return as_u32() != other.as_u32();
    }
    /// An arbitrary total order, for use in containers.
    constexpr bool operator<(const halide_type_t &other) const {
        return as_u32() < other.as_u32();
    }
    /// Bytes that one element takes in memory.
    constexpr int bytes() const {
        return (bits + 7) / 8;
    }
#endif
};

/// One dimension of a buffer; strides count elements and may be zero or negative.
typedef struct halide_dimension_t {
    int32_t min, extent, stride;
    /// Reserved, 0.
    uint32_t flags;

#ifdef __cplusplus
    constexpr halide_dimension_t()
        : min(0), extent(0), stride(0), flags(0) {
    }
    constexpr halide_dimension_t(int32_t min, int32_t extent, int32_t stride, uint32_t flags = 0)
        : min(min), extent(extent), stride(stride), flags(flags) {
    }
    constexpr bool operator==(const halide_dimension_t &other) const {
        return min == other.min && extent == other.extent && stride == other.stride && flags == other.flags;
    }
    constexpr bool operator!=(const halide_dimension_t &other) const {
        return !(*this == other);
    }
#endif
} halide_dimension_t;

struct halide_device_interface_t;
struct halide_device_interface_impl_t;
struct halide_buffer_t;

/// The operations of one device API on buffers. The public functions further below go through it.
struct halide_device_interface_t {
    int (*device_malloc)(void *user_context, struct halide_buffer_t *buf,
                         const struct halide_device_interface_t *device_interface);
    int (*device_free)(void *user_context, struct halide_buffer_t *buf);
    int (*device_sync)(void *user_context, struct halide_buffer_t *buf);
    void (*device_release)(void *user_context, const struct halide_device_interface_t *device_interface);
    int (*copy_to_host)(void *user_context, struct halide_buffer_t *buf);
    int (*copy_to_device)(void *user_context, struct halide_buffer_t *buf,
                          const struct halide_device_interface_t *device_interface);
    int (*device_and_host_malloc)(void *user_context, struct halide_buffer_t *buf,
                                  const struct halide_device_interface_t *device_interface);
    int (*device_and_host_free)(void *user_context, struct halide_buffer_t *buf);
    int (*buffer_copy)(void *user_context, struct halide_buffer_t *src,
                       const struct halide_device_interface_t *dst_device_interface, struct halide_buffer_t *dst);
    int (*device_crop)(void *user_context, const struct halide_buffer_t *src, struct halide_buffer_t *dst);
    int (*device_slice)(void *user_context, const struct halide_buffer_t *src, int slice_dim, int slice_pos,
                        struct halide_buffer_t *dst);
    int (*device_release_crop)(void *user_context, struct halide_buffer_t *buf);
    int (*wrap_native)(void *user_context, struct halide_buffer_t *buf, uint64_t handle,
                       const struct halide_device_interface_t *device_interface);
    int (*detach_native)(void *user_context, struct halide_buffer_t *buf);
    int (*compute_capability)(void *user_context, int *major, int *minor);
    const struct halide_device_interface_impl_t *impl;
};

/// Bits of halide_buffer_t::flags.
typedef enum {
    halide_buffer_flag_host_dirty = 1,   ///< host holds newer data than the device
    halide_buffer_flag_device_dirty = 2  ///< the device holds newer data than host
} halide_buffer_flags;

/// What pipelines pass around: memory on host and/or device, and its shape. 56 bytes on 64-bit systems.
typedef struct halide_buffer_t {
    /// Handle of the device allocation, 0 if none.
    uint64_t device;
    /// How to talk to that device, null if none.
    const struct halide_device_interface_t *device_interface;
    /// Address of the element at the mins of all dimensions (not the lowest address if strides are negative).
    uint8_t *host;
    /// halide_buffer_flags.
    uint64_t flags;
    struct halide_type_t type;
    int32_t dimensions;
    /// `dimensions` entries, innermost first.
    halide_dimension_t *dim;
    /// Pads the structure to a multiple of 8; null.
    void *padding;

#ifdef __cplusplus
    bool get_flag(halide_buffer_flags flag) const {
        return (flags & flag) != 0;
    }
    void set_flag(halide_buffer_flags flag, bool value) {
        if (value) {
            flags |= flag;
        } else {
            flags &= ~(uint64_t)flag;
        }
    }
    bool host_dirty() const {
        return get_flag(halide_buffer_flag_host_dirty);
    }
    bool device_dirty() const {
        return get_flag(halide_buffer_flag_device_dirty);
    }
    void set_host_dirty(bool v = true) {
        set_flag(halide_buffer_flag_host_dirty, v);
    }
    void set_device_dirty(bool v = true) {
        set_flag(halide_buffer_flag_device_dirty, v);
    }
    /// Product of the extents.
    size_t number_of_elements() const {
        size_t s = 1;
        for (int i = 0; i < dimensions; i++) {
            s *= dim[i].extent;
        }
        return s;
    }
    /// Offset in elements, ≤ 0, from host to the lowest address.
    ptrdiff_t begin_offset() const {
        ptrdiff_t index = 0;
        for (int i = 0; i < dimensions; i++) {
            if (dim[i].stride < 0) {
                index += (ptrdiff_t)dim[i].stride * (dim[i].extent - 1);
            }
        }
        return index;
    }
    /// Offset in elements from host to one past the highest address.
    ptrdiff_t end_offset() const {
        ptrdiff_t index = 0;
        for (int i = 0; i < dimensions; i++) {
            if (dim[i].stride > 0) {
                index += (ptrdiff_t)dim[i].stride * (dim[i].extent - 1);
            }
        }
        return index + 1;
    }
    /// Lowest address.
    uint8_t *begin() const {
        return host + begin_offset() * type.bytes();
    }
    /// One past the highest address.
    uint8_t *end() const {
        return host + end_offset() * type.bytes();
    }
    /// Bytes spanned, gaps between elements included; 0 if an extent is 0.
    size_t size_in_bytes() const {
        for (int i = 0; i < dimensions; i++) {
            if (dim[i].extent == 0) {
                return 0;
            }
        }
        return (size_t)(end_offset() - begin_offset()) * type.bytes();
    }
    /// Address of the element at `pos`, one coordinate per dimension.
    uint8_t *address_of(const int *pos) const {
        ptrdiff_t index = 0;
        for (int i = 0; i < dimensions; i++) {
            index += (ptrdiff_t)dim[i].stride * (pos[i] - dim[i].min);
        }
        return host + index * type.bytes();
    }
    /// Waits for outstanding device work on this buffer.
    int device_sync(void *ctx = nullptr) {
        if (device_interface && device_interface->device_sync) {
            return device_interface->device_sync(ctx, this);
        }
        return 0;
    }
    /// True if a pipeline called with this buffer shall only report the shape it needs.
    bool is_bounds_query() const {
        return host == nullptr && device == 0;
    }
#endif
} halide_buffer_t;

/// A scalar of any type, as used in metadata.
struct halide_scalar_value_t {
    union {
        bool b;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        void *handle;
    } u;
#ifdef __cplusplus
    halide_scalar_value_t() {
        u.u64 = 0;
    }
#endif
};

// ------------------------------------------------------------------------------------- printing, errors, allocation

/// Prints `msg`. Default: standard error.
extern void halide_print(void *user_context, const char *msg);
extern void halide_default_print(void *user_context, const char *msg);
typedef void (*halide_print_t)(void *, const char *);
/// Replaces the print function and returns the previous one.
extern halide_print_t halide_set_custom_print(halide_print_t print);

/// Called with the text of each run-time error. Default: print and abort. If it returns, the pipeline unwinds.
extern void halide_error(void *user_context, const char *msg);
extern void halide_default_error(void *user_context, const char *msg);
typedef void (*halide_error_handler_t)(void *, const char *);
/// Replaces the error handler and returns the previous one.
extern halide_error_handler_t halide_set_error_handler(halide_error_handler_t handler);

/// Allocates memory for intermediates. A replacement must align as the default does (64 bytes on most systems), round
/// the size up to that alignment, and leave 8 readable bytes on both sides. Null means out of memory.
extern void *halide_malloc(void *user_context, size_t size);
extern void halide_free(void *user_context, void *ptr);
extern void *halide_default_malloc(void *user_context, size_t size);
extern void halide_default_free(void *user_context, void *ptr);
typedef void *(*halide_malloc_t)(void *, size_t);
typedef void (*halide_free_t)(void *, void *);
extern halide_malloc_t halide_set_custom_malloc(halide_malloc_t user_malloc);
extern halide_free_t halide_set_custom_free(halide_free_t user_free);
/// The alignment in bytes that halide_malloc guarantees.
extern int halide_malloc_alignment(void);

// --------------------------------------------------------------------------------------------------------- threads

/// A mutex; valid when zero-initialised.
struct halide_mutex {
    uintptr_t _private[1];
};
/// A condition variable; valid when zero-initialised.
struct halide_cond {
    uintptr_t _private[1];
};
extern void halide_mutex_lock(struct halide_mutex *mutex);
extern void halide_mutex_unlock(struct halide_mutex *mutex);
extern void halide_cond_signal(struct halide_cond *cond);
extern void halide_cond_broadcast(struct halide_cond *cond);
extern void halide_cond_wait(struct halide_cond *cond, struct halide_mutex *mutex);

/// An array of mutexes, used for atomic updates of elements.
struct halide_mutex_array;
extern struct halide_mutex_array *halide_mutex_array_create(uint64_t sz);
extern void halide_mutex_array_destroy(void *user_context, void *array);
extern int halide_mutex_array_lock(struct halide_mutex_array *array, int entry);
extern int halide_mutex_array_unlock(struct halide_mutex_array *array, int entry);

/// One iteration of a parallel loop; non-zero is an error code.
typedef int (*halide_task_t)(void *user_context, int task_number, uint8_t *closure);
/// Runs f for min … min + size - 1 in parallel; the first non-zero result is returned.
extern int halide_do_par_for(void *user_context, halide_task_t task, int min, int size, uint8_t *closure);
/// Calls one task; the place to hook into every iteration.
extern int halide_do_task(void *user_context, halide_task_t f, int idx, uint8_t *closure);
/// Joins the worker threads. They start again on the next parallel loop.
extern void halide_shutdown_thread_pool(void);

/// A counting semaphore; zero-initialised is valid and means count 0.
struct halide_semaphore_t {
    uint64_t _private[2];
};
/// `count` units of a semaphore, to be acquired before a task starts.
struct halide_semaphore_acquire_t {
    struct halide_semaphore_t *semaphore;
    int count;
};
extern int halide_semaphore_init(struct halide_semaphore_t *s, int n);
/// Adds n and returns the new count.
extern int halide_semaphore_release(struct halide_semaphore_t *s, int n);
/// Takes n if that many are there, else nothing.
extern bool halide_semaphore_try_acquire(struct halide_semaphore_t *s, int n);
typedef int (*halide_semaphore_init_t)(struct halide_semaphore_t *, int);
typedef int (*halide_semaphore_release_t)(struct halide_semaphore_t *, int);
typedef bool (*halide_semaphore_try_acquire_t)(struct halide_semaphore_t *, int);

/// A slice [min, min + extent) of a loop.
typedef int (*halide_loop_task_t)(void *user_context, int min, int extent, uint8_t *closure, void *task_parent);

/// One task of a task graph, see halide_do_parallel_tasks.
struct halide_parallel_task_t {
    halide_loop_task_t fn;
    uint8_t *closure;
    /// For debugging.
    const char *name;
    /// Acquired before each call of fn; null if there are none.
    struct halide_semaphore_acquire_t *semaphores;
    int num_semaphores;
    int min;
    int extent;
    /// Threads that must be available before the task may start, because it blocks on tasks of its own.
    int min_threads;
    /// Iterations run in order, one at a time.
    bool serial;
};

/// Runs all tasks and returns when they are done; the first non-zero result wins.
extern int halide_do_parallel_tasks(void *user_context, int num_tasks, struct halide_parallel_task_t *tasks,
                                    void *task_parent);
extern int halide_do_loop_task(void *user_context, halide_loop_task_t f, int min, int extent, uint8_t *closure,
                               void *task_parent);

extern int halide_default_do_par_for(void *user_context, halide_task_t task, int min, int size, uint8_t *closure);
extern int halide_default_do_task(void *user_context, halide_task_t f, int idx, uint8_t *closure);
extern int halide_default_do_loop_task(void *user_context, halide_loop_task_t f, int min, int extent, uint8_t *closure,
                                       void *task_parent);
extern int halide_default_do_parallel_tasks(void *user_context, int num_tasks, struct halide_parallel_task_t *tasks,
                                            void *task_parent);
extern int halide_default_semaphore_init(struct halide_semaphore_t *s, int n);
extern int halide_default_semaphore_release(struct halide_semaphore_t *s, int n);
extern bool halide_default_semaphore_try_acquire(struct halide_semaphore_t *s, int n);

typedef int (*halide_do_par_for_t)(void *, halide_task_t, int, int, uint8_t *);
typedef int (*halide_do_task_t)(void *, halide_task_t, int, uint8_t *);
typedef int (*halide_do_loop_task_t)(void *, halide_loop_task_t, int, int, uint8_t *, void *);
typedef int (*halide_do_parallel_tasks_t)(void *, int, struct halide_parallel_task_t *, void *task_parent);
extern halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t do_par_for);
extern halide_do_task_t halide_set_custom_do_task(halide_do_task_t do_task);
extern halide_do_loop_task_t halide_set_custom_do_loop_task(halide_do_loop_task_t do_loop_task);
/// Replaces everything about parallelism at once.
extern void halide_set_custom_parallel_runtime(halide_do_par_for_t, halide_do_task_t, halide_do_loop_task_t,
                                               halide_do_parallel_tasks_t, halide_semaphore_init_t,
                                               halide_semaphore_try_acquire_t, halide_semaphore_release_t);

/// A thread started by halide_spawn_thread.
struct halide_thread;
extern struct halide_thread *halide_spawn_thread(void (*f)(void *), void *closure);
extern void halide_join_thread(struct halide_thread *thread);
/// A small number that identifies the calling thread.
extern int32_t halide_current_thread_id(void);

/// Number of threads that work on parallel loops, the caller included.
extern int halide_get_num_threads(void);
/// Sets it: 0 = default, 1 = serial, negative is an error. Returns the previous number.
extern int halide_set_num_threads(int n);
/// CPUs that this process may use.
extern int halide_host_cpu_count(void);

/// Starts the clock that halide_current_time_ns reads.
extern int halide_start_clock(void *user_context);
/// Nanoseconds since an arbitrary moment, never decreasing.
extern int64_t halide_current_time_ns(void *user_context);
extern void halide_sleep_us(void *user_context, int us);

// --------------------------------------------------------------------------------------------------------- symbols

/// Address of a symbol of the process, null if there is none.
extern void *halide_get_symbol(const char *name);
extern void *halide_load_library(const char *name);
extern void *halide_get_library_symbol(void *lib, const char *name);
extern void *halide_default_get_symbol(const char *name);
extern void *halide_default_load_library(const char *name);
extern void *halide_default_get_library_symbol(void *lib, const char *name);
typedef void *(*halide_get_symbol_t)(const char *name);
typedef void *(*halide_load_library_t)(const char *name);
typedef void *(*halide_get_library_symbol_t)(void *lib, const char *name);
extern halide_get_symbol_t halide_set_custom_get_symbol(halide_get_symbol_t user_get_symbol);
extern halide_load_library_t halide_set_custom_load_library(halide_load_library_t user_load_library);
extern halide_get_library_symbol_t halide_set_custom_get_library_symbol(halide_get_library_symbol_t user_get);

/// Writes a buffer of up to four dimensions to a .tiff, .tif, .mat or .tmp file.
extern int32_t halide_debug_to_file(void *user_context, const char *filename, struct halide_buffer_t *buf);

// --------------------------------------------------------------------------------------------------------- tracing

typedef enum halide_trace_event_code_t {
    halide_trace_load = 0,
    halide_trace_store = 1,
    halide_trace_begin_realization = 2,
    halide_trace_end_realization = 3,
    halide_trace_produce = 4,
    halide_trace_end_produce = 5,
    halide_trace_consume = 6,
    halide_trace_end_consume = 7,
    halide_trace_begin_pipeline = 8,
    halide_trace_end_pipeline = 9,
    halide_trace_tag = 10,
    halide_trace_begin_parallel_task = 11,
    halide_trace_end_parallel_task = 12
} halide_trace_event_code_t;

struct halide_trace_event_t {
    /// Name of the Func; of the pipeline for begin_pipeline and end_pipeline.
    const char *func;
    /// For loads and stores: `lanes` values of `type`.
    void *value;
    /// Coordinate of dimension d in lane l at [d * lanes + l]; (min, extent) pairs for realizations.
    int32_t *coordinates;
    const char *trace_tag;
    struct halide_type_t type;
    int32_t lanes;
    enum halide_trace_event_code_t event;
    int32_t parent_id;
    int32_t thread_id;
    /// Which element of a Tuple.
    int32_t value_index;
    /// Number of coordinates.
    int32_t dimensions;

#ifdef __cplusplus
    halide_trace_event_t()
        : func(nullptr), value(nullptr), coordinates(nullptr), trace_tag(nullptr), type(), lanes(1),
          event(halide_trace_load), parent_id(0), thread_id(0), value_index(0), dimensions(0) {
    }
#endif
};

/// Reports an event and returns its id, the `parent_id` of its children.
extern int32_t halide_trace(void *user_context, const struct halide_trace_event_t *event);
extern int32_t halide_default_trace(void *user_context, const struct halide_trace_event_t *event);
typedef int32_t (*halide_trace_t)(void *user_context, const struct halide_trace_event_t *);
extern halide_trace_t halide_set_custom_trace(halide_trace_t trace);

/// Head of a packet in a trace file. Coordinates, value, Func name and trace tag follow it.
struct halide_trace_packet_t {
    /// Bytes of the whole packet, a multiple of 4.
    uint32_t size;
    enum halide_trace_event_code_t event;
    int32_t parent_id;
#ifdef __GNUC__
    __extension__
#endif
        union {
        int32_t id;
        /// Loads and stores.
        int32_t value_index;
    };
#ifdef __GNUC__
    __extension__
#endif
        union {
        /// Loads and stores.
#ifdef __GNUC__
        __extension__
#endif
            struct {
            uint8_t type_code;
            uint8_t type_bits;
            uint16_t lanes;
        };
        /// Begin of a parallel task.
        int32_t thread_id;
    };
    int32_t dimensions;

#ifdef __cplusplus
    bool has_value() const {
        return event == halide_trace_load || event == halide_trace_store;
    }
    const int *coordinates() const {
        return (const int *)(this + 1);
    }
    int *coordinates() {
        return (int *)(this + 1);
    }
    const void *value() const {
        return (const void *)(coordinates() + dimensions);
    }
    void *value() {
        return (void *)(coordinates() + dimensions);
    }
    halide_type_t type() const {
        return has_value() ? halide_type_t((halide_type_code_t)type_code, type_bits) : halide_type_t();
    }
    size_t value_bytes() const {
        return has_value() ? (size_t)lanes * type().bytes() : 0;
    }
    const char *func() const {
        return (const char *)value() + value_bytes();
    }
    char *func() {
        return (char *)value() + value_bytes();
    }
    const char *trace_tag() const {
        const char *f = func();
        while (*f++) {
        }
        return f;
    }
    char *trace_tag() {
        char *f = func();
        while (*f++) {
        }
        return f;
    }
#endif
};

/// File descriptor that binary packets go to, 0 if tracing prints text.
extern int halide_get_trace_file(void *user_context);
extern void halide_set_trace_file(int fd);
/// Closes the file that HL_TRACE_FILE opened.
extern int halide_shutdown_trace(void);

// ---------------------------------------------------------------------------------------------- devices and copies

/// Frees all resources of a device API.
extern void halide_device_release(void *user_context, const struct halide_device_interface_t *device_interface);
/// Makes the host copy current. Trivial for buffers without a device side, as the other functions here.
extern int halide_copy_to_host(void *user_context, struct halide_buffer_t *buf);
extern int halide_copy_to_device(void *user_context, struct halide_buffer_t *buf,
                                 const struct halide_device_interface_t *device_interface);
/// Copies the intersection of both regions; dst_device_interface null means to the host.
extern int halide_buffer_copy(void *user_context, struct halide_buffer_t *src,
                              const struct halide_device_interface_t *dst_device_interface, struct halide_buffer_t *dst);
extern int halide_device_crop(void *user_context, const struct halide_buffer_t *src, struct halide_buffer_t *dst);
extern int halide_device_slice(void *user_context, const struct halide_buffer_t *src, int slice_dim, int slice_pos,
                               struct halide_buffer_t *dst);
extern int halide_device_release_crop(void *user_context, struct halide_buffer_t *buf);
extern int halide_device_sync(void *user_context, struct halide_buffer_t *buf);
extern int halide_device_sync_global(void *user_context, const struct halide_device_interface_t *device_interface);
extern int halide_device_malloc(void *user_context, struct halide_buffer_t *buf,
                                const struct halide_device_interface_t *device_interface);
extern int halide_device_free(void *user_context, struct halide_buffer_t *buf);
extern int halide_device_wrap_native(void *user_context, struct halide_buffer_t *buf, uint64_t handle,
                                     const struct halide_device_interface_t *device_interface);
extern int halide_device_detach_native(void *user_context, struct halide_buffer_t *buf);
extern int halide_device_and_host_malloc(void *user_context, struct halide_buffer_t *buf,
                                         const struct halide_device_interface_t *device_interface);
extern int halide_device_and_host_free(void *user_context, struct halide_buffer_t *buf);
/// For use as the destructor of a buffer on the stack of compiled code.
extern void halide_device_free_as_destructor(void *user_context, void *buf);
extern void halide_device_and_host_free_as_destructor(void *user_context, void *buf);

/// Selects the GPU by number; -1 lets the device API choose. Default: HL_GPU_DEVICE.
extern void halide_set_gpu_device(int n);
extern int halide_get_gpu_device(void *user_context);

/// Whether freed device allocations may be kept for reuse.
extern int halide_reuse_device_allocations(void *user_context, bool flag);
extern bool halide_can_reuse_device_allocations(void *user_context);
struct halide_device_allocation_pool {
    int (*release_unused)(void *user_context);
    struct halide_device_allocation_pool *next;
};
extern void halide_register_device_allocation_pool(struct halide_device_allocation_pool *pool);

// ----------------------------------------------------------------------------------------------------- memoization

/// Sets the size of the cache of memoized Funcs in bytes; 0 = default (1 MiB).
extern void halide_memoization_cache_set_size(int64_t size);
/// 0: hit, the buffers are filled in. 1: miss, memory is allocated for them. Negative: error.
extern int halide_memoization_cache_lookup(void *user_context, const uint8_t *cache_key, int32_t size,
                                           struct halide_buffer_t *realized_bounds, int32_t tuple_count,
                                           struct halide_buffer_t **tuple_buffers);
extern int halide_memoization_cache_store(void *user_context, const uint8_t *cache_key, int32_t size,
                                          struct halide_buffer_t *realized_bounds, int32_t tuple_count,
                                          struct halide_buffer_t **tuple_buffers, bool has_eviction_key,
                                          uint64_t eviction_key);
/// Ends the use of a buffer that lookup returned.
extern void halide_memoization_cache_release(void *user_context, void *host);
/// Drops all entries stored with this eviction key.
extern void halide_memoization_cache_evict(void *user_context, uint64_t eviction_key);
/// Frees everything; no entry may be in use.
extern void halide_memoization_cache_cleanup(void);

// ------------------------------------------------------------------------------------------------------ sanitizers

extern int halide_msan_check_memory_is_initialized(void *user_context, const void *ptr, uint64_t len, const char *name);
extern int halide_msan_check_buffer_is_initialized(void *user_context, struct halide_buffer_t *buffer,
                                                   const char *buf_name);
extern int halide_msan_annotate_memory_is_initialized(void *user_context, const void *ptr, uint64_t len);
extern int halide_msan_annotate_buffer_is_initialized(void *user_context, struct halide_buffer_t *buffer);
extern void halide_msan_annotate_buffer_is_initialized_as_destructor(void *user_context, void *buffer);

// ---------------------------------------------------------------------------------------------------------- errors

enum halide_error_code_t {
    halide_error_code_success = 0,
    halide_error_code_generic_error = -1,
    halide_error_code_explicit_bounds_too_small = -2,
    halide_error_code_bad_type = -3,
    halide_error_code_access_out_of_bounds = -4,
    halide_error_code_buffer_allocation_too_large = -5,
    halide_error_code_buffer_extents_too_large = -6,
    halide_error_code_constraints_make_required_region_smaller = -7,
    halide_error_code_constraint_violated = -8,
    halide_error_code_param_too_small = -9,
    halide_error_code_param_too_large = -10,
    halide_error_code_out_of_memory = -11,
    halide_error_code_buffer_argument_is_null = -12,
    halide_error_code_debug_to_file_failed = -13,
    halide_error_code_copy_to_host_failed = -14,
    halide_error_code_copy_to_device_failed = -15,
    halide_error_code_device_malloc_failed = -16,
    halide_error_code_device_sync_failed = -17,
    halide_error_code_device_free_failed = -18,
    halide_error_code_no_device_interface = -19,
    halide_error_code_unimplemented = -20,
    halide_error_code_symbol_not_found = -21,
    halide_error_code_internal_error = -22,
    halide_error_code_device_run_failed = -23,
    halide_error_code_unaligned_host_ptr = -24,
    halide_error_code_bad_fold = -25,
    halide_error_code_fold_factor_too_small = -26,
    halide_error_code_requirement_failed = -27,
    halide_error_code_buffer_extents_negative = -28,
    halide_error_code_gpu_device_error = -29,
    halide_error_code_trace_failed = -30,
    halide_error_code_specialize_fail = -31,
    halide_error_code_device_wrap_native_failed = -32,
    halide_error_code_device_detach_native_failed = -33,
    halide_error_code_host_is_null = -34,
    halide_error_code_bad_extern_fold = -35,
    halide_error_code_device_interface_no_device = -36,
    halide_error_code_host_and_device_dirty = -37,
    halide_error_code_buffer_is_null = -38,
    halide_error_code_device_buffer_copy_failed = -39,
    halide_error_code_device_crop_unsupported = -40,
    halide_error_code_device_crop_failed = -41,
    halide_error_code_incompatible_device_interface = -42,
    halide_error_code_bad_dimensions = -43,
    halide_error_code_device_dirty_with_no_device_support = -44,
    halide_error_code_storage_bound_too_small = -45,
    halide_error_code_split_factor_not_positive = -46,
    halide_error_code_vscale_invalid = -47,
    halide_error_code_cannot_profile_pipeline = -48,
    halide_error_code_streaming_vscale_invalid = -49
};

// Each formats a message, calls halide_error and returns the code.
extern int halide_error_bounds_inference_call_failed(void *user_context, const char *extern_stage_name, int result);
extern int halide_error_extern_stage_failed(void *user_context, const char *extern_stage_name, int result);
extern int halide_error_explicit_bounds_too_small(void *user_context, const char *func_name, const char *var_name,
                                                  int min_bound, int max_bound, int min_required, int max_required);
extern int halide_error_bad_type(void *user_context, const char *func_name, uint32_t type_given,
                                 uint32_t correct_type);
extern int halide_error_bad_dimensions(void *user_context, const char *func_name, int32_t dimensions_given,
                                       int32_t correct_dimensions);
extern int halide_error_access_out_of_bounds(void *user_context, const char *func_name, int dimension, int min_touched,
                                             int max_touched, int min_valid, int max_valid);
extern int halide_error_buffer_allocation_too_large(void *user_context, const char *buffer_name,
                                                    uint64_t allocation_size, uint64_t max_size);
extern int halide_error_buffer_extents_negative(void *user_context, const char *buffer_name, int dimension, int extent);
extern int halide_error_buffer_extents_too_large(void *user_context, const char *buffer_name, int64_t actual_size,
                                                 int64_t max_size);
extern int halide_error_constraints_make_required_region_smaller(void *user_context, const char *buffer_name,
                                                                 int dimension, int constrained_min,
                                                                 int constrained_extent, int required_min,
                                                                 int required_extent);
extern int halide_error_constraint_violated(void *user_context, const char *var, int val, const char *constrained_var,
                                            int constrained_val);
extern int halide_error_param_too_small_i64(void *user_context, const char *param_name, int64_t val, int64_t min_val);
extern int halide_error_param_too_small_u64(void *user_context, const char *param_name, uint64_t val, uint64_t min_val);
extern int halide_error_param_too_small_f64(void *user_context, const char *param_name, double val, double min_val);
extern int halide_error_param_too_large_i64(void *user_context, const char *param_name, int64_t val, int64_t max_val);
extern int halide_error_param_too_large_u64(void *user_context, const char *param_name, uint64_t val, uint64_t max_val);
extern int halide_error_param_too_large_f64(void *user_context, const char *param_name, double val, double max_val);
extern int halide_error_out_of_memory(void *user_context);
extern int halide_error_buffer_argument_is_null(void *user_context, const char *buffer_name);
extern int halide_error_debug_to_file_failed(void *user_context, const char *func, const char *filename,
                                             int error_code);
extern int halide_error_unaligned_host_ptr(void *user_context, const char *func_name, int alignment);
extern int halide_error_host_is_null(void *user_context, const char *func_name);
extern int halide_error_bad_fold(void *user_context, const char *func_name, const char *var_name,
                                 const char *loop_name);
extern int halide_error_bad_extern_fold(void *user_context, const char *func_name, int dim, int min, int extent,
                                        int valid_min, int fold_factor);
extern int halide_error_fold_factor_too_small(void *user_context, const char *func_name, const char *var_name,
                                              int fold_factor, const char *loop_name, int required_extent);
extern int halide_error_requirement_failed(void *user_context, const char *condition, const char *message);
extern int halide_error_specialize_fail(void *user_context, const char *message);
extern int halide_error_no_device_interface(void *user_context);
extern int halide_error_device_interface_no_device(void *user_context);
extern int halide_error_host_and_device_dirty(void *user_context);
extern int halide_error_buffer_is_null(void *user_context, const char *routine);
extern int halide_error_device_dirty_with_no_device_support(void *user_context, const char *buffer_name);
extern int halide_error_storage_bound_too_small(void *user_context, const char *func_name, const char *var_name,
                                                int provided_size, int required_size);
extern int halide_error_device_crop_failed(void *user_context);
extern int halide_error_split_factor_not_positive(void *user_context, const char *func_name, const char *orig,
                                                  const char *outer, const char *inner, const char *factor_str,
                                                  int factor);
extern int halide_error_vscale_invalid(void *user_context, const char *func_name, int runtime_vscale,
                                       int compiletime_vscale);
extern int halide_error_streaming_vscale_invalid(void *user_context, const char *func_name, int runtime_vscale,
                                                 int compiletime_vscale);

// ------------------------------------------------------------------------------------------------- target features

/// Optional features of a compilation target, in the order of Target::Feature.
typedef enum halide_target_feature_t {
    halide_target_feature_jit = 0,
    halide_target_feature_debug,
    halide_target_feature_enable_backtraces,
    halide_target_feature_no_asserts,
    halide_target_feature_no_bounds_query,
    halide_target_feature_sse41,
    halide_target_feature_avx,
    halide_target_feature_avx2,
    halide_target_feature_avxvnni,
    halide_target_feature_fma,
    halide_target_feature_fma4,
    halide_target_feature_f16c,
    halide_target_feature_armv7s,
    halide_target_feature_no_neon,
    halide_target_feature_vsx,
    halide_target_feature_power_arch_2_07,
    halide_target_feature_cuda,
    halide_target_feature_cuda_capability30,
    halide_target_feature_cuda_capability32,
    halide_target_feature_cuda_capability35,
    halide_target_feature_cuda_capability50,
    halide_target_feature_cuda_capability61,
    halide_target_feature_cuda_capability70,
    halide_target_feature_cuda_capability75,
    halide_target_feature_cuda_capability80,
    halide_target_feature_cuda_capability86,
    halide_target_feature_cuda_capability89,
    halide_target_feature_cuda_capability90,
    halide_target_feature_cuda_capability100,
    halide_target_feature_cuda_capability120,
    halide_target_feature_opencl,
    halide_target_feature_cl_doubles,
    halide_target_feature_cl_atomic64,
    halide_target_feature_user_context,
    halide_target_feature_profile,
    halide_target_feature_no_runtime,
    halide_target_feature_metal,
    halide_target_feature_c_plus_plus_mangling,
    halide_target_feature_large_buffers,
    halide_target_feature_hvx_128,
    halide_target_feature_hvx_v62,
    halide_target_feature_fuzz_float_stores,
    halide_target_feature_soft_float_abi,
    halide_target_feature_msan,
    halide_target_feature_avx512,
    halide_target_feature_avx512_knl,
    halide_target_feature_avx512_skylake,
    halide_target_feature_avx512_cannonlake,
    halide_target_feature_avx512_zen4,
    halide_target_feature_avx512_zen5,
    halide_target_feature_avx512_sapphirerapids,
    halide_target_feature_trace_loads,
    halide_target_feature_trace_stores,
    halide_target_feature_trace_realizations,
    halide_target_feature_trace_pipeline,
    halide_target_feature_hvx_v65,
    halide_target_feature_hvx_v66,
    halide_target_feature_hvx_v68,
    halide_target_feature_cl_half,
    halide_target_feature_strict_float,
    halide_target_feature_tsan,
    halide_target_feature_asan,
    halide_target_feature_d3d12compute,
    halide_target_feature_check_unsafe_promises,
    halide_target_feature_hexagon_dma,
    halide_target_feature_embed_bitcode,
    halide_target_feature_enable_llvm_loop_opt,
    halide_target_feature_wasm_mvponly,
    halide_target_feature_wasm_simd128,
    halide_target_feature_wasm_threads,
    halide_target_feature_wasm_bulk_memory,
    halide_target_feature_webgpu,
    halide_target_feature_sve,
    halide_target_feature_sve2,
    halide_target_feature_sme2,
    halide_target_feature_sme_svl128,
    halide_target_feature_sme_svl256,
    halide_target_feature_sme_svl512,
    halide_target_feature_sme_svl1024,
    halide_target_feature_sme_svl2048,
    halide_target_feature_egl,
    halide_target_feature_arm_dot_prod,
    halide_target_feature_arm_fp16,
    halide_llvm_large_code_model,
    halide_target_feature_rvv,
    halide_target_feature_armv8a,
    halide_target_feature_armv81a,
    halide_target_feature_armv82a,
    halide_target_feature_armv83a,
    halide_target_feature_armv84a,
    halide_target_feature_armv85a,
    halide_target_feature_armv86a,
    halide_target_feature_armv87a,
    halide_target_feature_armv88a,
    halide_target_feature_armv89a,
    halide_target_feature_sanitizer_coverage,
    halide_target_feature_profile_by_timer,
    halide_target_feature_spirv,
    halide_target_feature_vulkan,
    halide_target_feature_vulkan_int8,
    halide_target_feature_vulkan_int16,
    halide_target_feature_vulkan_int64,
    halide_target_feature_vulkan_float16,
    halide_target_feature_vulkan_float64,
    halide_target_feature_vulkan_version10,
    halide_target_feature_vulkan_version12,
    halide_target_feature_vulkan_version13,
    halide_target_feature_semihosting,
    halide_target_feature_avx10_1,
    halide_target_feature_x86_apx,
    halide_target_feature_simulator,
    halide_target_feature_hlsl_sm60,
    halide_target_feature_hlsl_sm61,
    halide_target_feature_hlsl_sm62,
    halide_target_feature_hlsl_sm63,
    halide_target_feature_hlsl_sm64,
    halide_target_feature_hlsl_sm65,
    halide_target_feature_hlsl_sm66,
    halide_target_feature_hlsl_sm67,
    halide_target_feature_hlsl_sm68,
    halide_target_feature_hlsl_sm69,
    halide_target_feature_pto,
    halide_target_feature_pto_a5,
    halide_target_feature_pto_unroll_none,
    halide_target_feature_pto_unroll_ptodsl,
    halide_target_feature_end  ///< number of features
} halide_target_feature_t;

/// Whether this machine can run code compiled with the features (bit i of word i / 64 is feature i): 1 if every one
/// that needs hardware is there.
extern int halide_can_use_target_features(int count, const uint64_t *features);
extern int halide_default_can_use_target_features(int count, const uint64_t *features);
typedef int (*halide_can_use_target_features_t)(int count, const uint64_t *features);
extern halide_can_use_target_features_t
halide_set_custom_can_use_target_features(halide_can_use_target_features_t can_use);

/// Answers of halide_can_use_target_features.
typedef enum {
    halide_can_use_target_never = 0,
    halide_can_use_target_always = 1,
    halide_can_use_target_not_right_now = 2,
    halide_can_use_target_for_the_moment = 3
} halide_can_use_target_t;

// -------------------------------------------------------------------------------------------------------- metadata

enum halide_argument_kind_t {
    halide_argument_kind_input_scalar = 0,
    halide_argument_kind_input_buffer = 1,
    halide_argument_kind_output_buffer = 2
};

/// One argument of a compiled pipeline. Pointers are null where nothing was said.
struct halide_filter_argument_t {
    const char *name;
    int32_t kind;
    int32_t dimensions;
    struct halide_type_t type;
    const struct halide_scalar_value_t *scalar_def, *scalar_min, *scalar_max, *scalar_estimate;
    /// 2 * dimensions entries: min, extent of each dimension.
    int64_t const *const *buffer_estimates;
};

/// Describes a compiled pipeline; `<pipeline>_metadata()` returns it.
struct halide_filter_metadata_t {
#ifdef __cplusplus
    static const int32_t VERSION = 1;
#endif
    int32_t version;
    int32_t num_arguments;
    const struct halide_filter_argument_t *arguments;
    const char *target;
    const char *name;
};

/// Defined by a program that links registration files; called once per pipeline before main.
extern void halide_register_argv_and_metadata(int (*filter_argv_call)(void **),
                                              const struct halide_filter_metadata_t *filter_metadata,
                                              const char *const *extra_key_value_pairs);

// -------------------------------------------------------------------------------------------------------- profiler

enum halide_profiler_func_kind {
    halide_profiler_func_kind_func = 0,
    halide_profiler_func_kind_overhead = 1,
    halide_profiler_func_kind_thread_idle = 2,
    halide_profiler_func_kind_malloc = 3,
    halide_profiler_func_kind_free = 4,
    halide_profiler_func_kind_copy_to_host = 5,
    halide_profiler_func_kind_copy_to_device = 6,
    halide_profiler_func_kind_allocation = 7
};

/// What is known about one Func of a pipeline. Times in nanoseconds, sizes in bytes.
struct HALIDE_ATTRIBUTE_ALIGN(8) halide_profiler_func_stats {
    const char *name;
    /// Entry that this one runs inside, -1 if none.
    int parent;
    /// First entry of the same Func.
    int canonical_id;
    enum halide_profiler_func_kind kind;
    /// Entry whose buffer an allocation, free or copy concerns, -1 if none.
    int buffer_func_id;
    /// Bit per counter that is an estimate.
    uint32_t counters_approximated;
    uint64_t time;
    uint64_t memory_current;
    uint64_t memory_peak;
    uint64_t stack_peak;
    uint64_t memory_total;
    uint64_t active_threads_numerator;
    uint64_t active_threads_denominator;
    uint64_t num_allocs;
    uint64_t parallel_loops;
    uint64_t parallel_tasks;
    uint64_t points_required_at_root;
    uint64_t points_computed;
    uint64_t scalar_loads;
    uint64_t vector_loads;
    uint64_t gathers;
    uint64_t bytes_loaded;
    uint64_t scalar_stores;
    uint64_t vector_stores;
    uint64_t scatters;
    uint64_t bytes_stored;
};

/// What is known about all runs of one pipeline.
struct HALIDE_ATTRIBUTE_ALIGN(8) halide_profiler_pipeline_stats {
    uint64_t time;
    uint64_t memory_current;
    uint64_t memory_peak;
    uint64_t memory_total;
    uint64_t active_threads_numerator;
    uint64_t active_threads_denominator;
    uint64_t native_vector_bytes;
    const char *name;
    /// `num_funcs` entries; entry 0 is overhead.
    struct halide_profiler_func_stats *funcs;
    /// Next pipeline in the list.
    void *next;
    int num_funcs;
    int runs;
    int billed_runs;
    int samples;
    int num_allocs;
};

/// One run in progress.
struct HALIDE_ATTRIBUTE_ALIGN(8) halide_profiler_instance_state {
    uint64_t billed_time;
    uint64_t start_time;
    uint64_t memory_current;
    uint64_t memory_peak;
    uint64_t memory_total;
    uint64_t active_threads_numerator;
    uint64_t active_threads_denominator;
    struct halide_profiler_instance_state *next;
    /// The pointer that points here.
    struct halide_profiler_instance_state **prev_next;
    struct halide_profiler_pipeline_stats *pipeline_stats;
    struct halide_profiler_func_stats *funcs;
    int current_func;
    int active_threads;
    int samples;
    int num_allocs;
    int should_collect_statistics;
};

/// Everything the profiler knows.
struct halide_profiler_state {
    struct halide_mutex lock;
    struct halide_profiler_pipeline_stats *pipelines;
    struct halide_thread *sampling_thread;
    struct halide_profiler_instance_state *instances;
    /// Where work on a remote processor is, null if there is none.
    void (*get_remote_profiler_state)(int *func, int *active_threads);
    /// Milliseconds between samples.
    int sleep_time;
    int shutdown;
};

extern struct halide_profiler_state *halide_profiler_get_state(void);
/// Null if that pipeline never ran.
extern struct halide_profiler_pipeline_stats *halide_profiler_get_pipeline_state(const char *pipeline_name);
/// Prints all statistics. HL_PROFILER_JSON_OUTPUT names a file for raw data.
extern void halide_profiler_report(void *user_context);
/// Forgets all statistics; no profiled pipeline may run.
extern void halide_profiler_reset(void);
/// Stops the sampling thread.
extern void halide_profiler_shutdown(void);
extern void halide_profiler_lock(struct halide_profiler_state *state);
extern void halide_profiler_unlock(struct halide_profiler_state *state);
/// Takes one sample now; `prev_t` holds the time of the previous one. Returns milliseconds to sleep, negative to stop.
extern int halide_profiler_sample(struct halide_profiler_state *state, uint64_t *prev_t);

// --------------------------------------------------------------------------------------------------------- float16

extern float halide_float16_bits_to_float(uint16_t bits);
extern double halide_float16_bits_to_double(uint16_t bits);

#ifdef __cplusplus
}  // extern "C"

/// Maps a C++ type to its class and number of bits. The alternatives are spelled out because the header has to work
/// where no standard library is.
template<typename T>
struct halide_type_of_helper;
template<typename T>
struct halide_type_of_helper<T *> {
    static constexpr halide_type_t value{halide_type_handle, 64};
};
template<typename T>
struct halide_type_of_helper<T &> {
    static constexpr halide_type_t value{halide_type_handle, 64};
};
template<typename T>
struct halide_type_of_helper<const T> : halide_type_of_helper<T> {};
template<typename T>
struct halide_type_of_helper<volatile T> : halide_type_of_helper<T> {};
template<typename T>
struct halide_type_of_helper<const volatile T> : halide_type_of_helper<T> {};
template<>
struct halide_type_of_helper<bool> {
    static constexpr halide_type_t value{halide_type_uint, 1};
};
template<>
struct halide_type_of_helper<signed char> {
    static constexpr halide_type_t value{halide_type_int, 8};
};
template<>
struct halide_type_of_helper<unsigned char> {
    static constexpr halide_type_t value{halide_type_uint, 8};
};
template<>
struct halide_type_of_helper<short> {
    static constexpr halide_type_t value{halide_type_int, 16};
};
template<>
struct halide_type_of_helper<unsigned short> {
    static constexpr halide_type_t value{halide_type_uint, 16};
};
template<>
struct halide_type_of_helper<int> {
    static constexpr halide_type_t value{halide_type_int, 32};
};
template<>
struct halide_type_of_helper<unsigned int> {
    static constexpr halide_type_t value{halide_type_uint, 32};
};
template<>
struct halide_type_of_helper<long> {
    static constexpr halide_type_t value{halide_type_int, (uint8_t)(8 * sizeof(long))};
};
template<>
struct halide_type_of_helper<unsigned long> {
    static constexpr halide_type_t value{halide_type_uint, (uint8_t)(8 * sizeof(long))};
};
template<>
struct halide_type_of_helper<long long> {
    static constexpr halide_type_t value{halide_type_int, 64};
};
template<>
struct halide_type_of_helper<unsigned long long> {
    static constexpr halide_type_t value{halide_type_uint, 64};
};
template<>
struct halide_type_of_helper<float> {
    static constexpr halide_type_t value{halide_type_float, 32};
};
template<>
struct halide_type_of_helper<double> {
    static constexpr halide_type_t value{halide_type_float, 64};
};
#ifdef HALIDE_CPP_COMPILER_HAS_FLOAT16
template<>
struct halide_type_of_helper<_Float16> {
    static constexpr halide_type_t value{halide_type_float, 16};
};
#endif

/// The run-time type of a C++ type. May be specialised for types that look like one of ours in memory.
template<typename T>
constexpr halide_type_t halide_type_of() {
    return halide_type_of_helper<T>::value;
}
#endif

#endif  // HALIDE_HALIDERUNTIME_H
