// Halide::Runtime::Buffer: an image in host memory, and perhaps on a device, that compiled pipelines take as argument.
//
// Header-only and free of libHalide. One class, so one file in spite of its length; the guard is spelled out because
// programs carry copies of this header.
#ifndef HALIDE_RUNTIME_BUFFER_H
#define HALIDE_RUNTIME_BUFFER_H

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "HalideRuntime.h"

/// Alignment in bytes of host memory that a Buffer allocates. A program may define another power of two.
#ifndef HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
#define HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT 128
#endif

/// Whether operator() asserts that coordinates are inside the buffer.
#ifndef HALIDE_RUNTIME_BUFFER_CHECK_INDICES
#ifdef NDEBUG
#define HALIDE_RUNTIME_BUFFER_CHECK_INDICES 0
#else
#define HALIDE_RUNTIME_BUFFER_CHECK_INDICES 1
#endif
#endif

namespace Halide {
namespace Runtime {

template<typename T, int Dims, int InClassDimStorage>
class Buffer;

/// Dimensionality decided at run time.
constexpr int AnyDims = -1;

/// Who frees the device side of a buffer, and how.
enum class BufferDeviceOwnership : int {
    Allocated,               ///< freed by device_free
    WrappedNative,           ///< detached by device_detach_native
    Unmanaged,               ///< not ours
    AllocatedDeviceAndHost,  ///< freed together with the host memory
    Cropped,                 ///< a view of another buffer's allocation
};

/// Stands at the start of each host allocation.
struct AllocationHeader {
    void (*deallocate_fn)(void *);
    std::atomic<int> ref_count;

    explicit AllocationHeader(void (*deallocate_fn)(void *))
        : deallocate_fn(deallocate_fn), ref_count(1) {
    }
};

/// Counts the Buffers that share a device allocation.
struct DeviceRefCount {
    std::atomic<int> count{1};
    BufferDeviceOwnership ownership{BufferDeviceOwnership::Allocated};
    virtual ~DeviceRefCount() = default;
};

namespace BufferInternal {

template<typename... Args>
using AllInts = std::enable_if_t<
    ((std::is_convertible_v<Args, int> && !std::is_floating_point_v<std::remove_reference_t<Args>>)&&...)>;

/// The process-wide defaults of Buffer::allocate.
struct DefaultAllocator {
    static void *(*&allocate())(size_t) {
        static void *(*fn)(size_t) = malloc;
        return fn;
    }
    static void (*&deallocate())(void *) {
        static void (*fn)(void *) = free;
        return fn;
    }
};

template<size_t>
using Int = int;

template<typename Fn, size_t... I>
constexpr bool takes_ints(std::index_sequence<I...>) {
    return std::is_invocable_v<Fn, Int<I>...>;
}

constexpr int arity_pointer = -1, arity_none = -2, max_arity = 16;

template<typename Fn, size_t N = 0>
constexpr int first_int_arity() {
    if constexpr (takes_ints<Fn>(std::make_index_sequence<N>())) {
        return (int)N;
    } else if constexpr (N < (size_t)max_arity) {
        return first_int_arity<Fn, N + 1>();
    } else {
        return arity_none;
    }
}

/// How a function over coordinates wants them: as that many ints, or as a pointer. The static dimensionality goes
/// first because a variadic function would accept any number.
template<typename Fn, int Dims>
constexpr int coordinate_arity() {
    if constexpr (std::is_arithmetic_v<std::decay_t<Fn>>) {
        return arity_none;
    } else {
        if constexpr (Dims >= 0) {
            if constexpr (takes_ints<Fn>(std::make_index_sequence<(size_t)(Dims < 0 ? 0 : Dims)>())) {
                return Dims;
            } else if constexpr (std::is_invocable_v<Fn, const int *>) {
                return arity_pointer;
            } else {
                return first_int_arity<Fn>();
            }
        } else if constexpr (std::is_invocable_v<Fn, const int *>) {
            return arity_pointer;
        } else {
            return first_int_arity<Fn>();
        }
    }
}

template<typename Fn, size_t... I>
decltype(auto) call_with_ints(Fn &&f, const int *pos, std::index_sequence<I...>) {
    return f(pos[I]...);
}

template<int Arity, typename Fn>
decltype(auto) call_at(Fn &&f, const int *pos) {
    if constexpr (Arity == arity_pointer) {
        return f(pos);
    } else {
        return call_with_ints(f, pos, std::make_index_sequence<(size_t)Arity>());
    }
}

/// A stable sort by key for as few items as a buffer has dimensions.
template<typename Item, typename Key>
void sort_few(std::vector<Item> &items, Key key) {
    for (size_t i = 1; i < items.size(); i++) {
        for (size_t j = i; j > 0 && key(items[j]) < key(items[j - 1]); j--) {
            std::swap(items[j], items[j - 1]);
        }
    }
}

}  // namespace BufferInternal

/// An image: typed memory with a shape. Copies share host and device memory (reference counted), but each object has a
/// shape of its own.
///
/// @tparam T     element type; may be const; void means known only at run time.
/// @tparam Dims  number of dimensions, or AnyDims.
/// @tparam InClassDimStorage  dimensions that are stored without an allocation.
template<typename T = void, int Dims = AnyDims, int InClassDimStorage = (Dims == AnyDims ? 4 : std::max(Dims, 1))>
class Buffer {
    template<typename T2, int Dims2, int S2>
    friend class Buffer;

    /// The buffer that is handed to pipelines. Shares `shape` or an array on the heap as its dimensions.
    halide_buffer_t buf = {};
    halide_dimension_t shape[InClassDimStorage];
    /// Null if the host memory is not ours.
    AllocationHeader *alloc = nullptr;
    /// Made when first needed, because pipelines create device allocations behind our back.
    mutable DeviceRefCount *dev_ref_count = nullptr;

    static constexpr bool T_is_void = std::is_same_v<std::remove_const_t<T>, void>;

    template<typename T2>
    using add_const_if_T_is_const = std::conditional_t<std::is_const_v<T>, const T2, T2>;

    using not_void_T = std::conditional_t<T_is_void, add_const_if_T_is_const<uint8_t>, T>;
    using not_const_T = std::remove_const_t<T>;

    /// Keeps the parent of a cropped device allocation alive.
    struct CroppedRefCount : public DeviceRefCount {
        Buffer<T, Dims, InClassDimStorage> cropped_from;
        explicit CroppedRefCount(const Buffer &cropped_from)
            : cropped_from(cropped_from) {
            ownership = BufferDeviceOwnership::Cropped;
        }
    };

public:
    using ElemType = T;

    static constexpr int AnyDims = Halide::Runtime::AnyDims;

    /// True if the element type is known at compile time.
    static constexpr bool has_static_halide_type = !T_is_void;

    static constexpr halide_type_t static_halide_type() {
        return halide_type_of<std::remove_cv_t<not_void_T>>();
    }

    static constexpr bool has_static_dimensions = (Dims != AnyDims);

    static constexpr int static_dimensions() {
        return Dims;
    }

    static_assert(Dims >= AnyDims, "Dims must be AnyDims or at least 0.");

private:
    // ------------------------------------------------------------------------------------------ sharing and shape

    void incref() const {
        if (owns_host_memory()) {
            alloc->ref_count++;
        }
        if (buf.device) {
            if (!dev_ref_count) {
                dev_ref_count = new DeviceRefCount;
            }
            dev_ref_count->count++;
        }
    }

    void decref(bool device_only = false) {
        if (owns_host_memory() && !device_only) {
            const int new_count = --(alloc->ref_count);
            if (new_count == 0) {
                void (*fn)(void *) = alloc->deallocate_fn;
                alloc->~AllocationHeader();
                fn(alloc);
            }
            buf.host = nullptr;
            alloc = nullptr;
            set_host_dirty(false);
        }
        const int new_count = dev_ref_count ? --(dev_ref_count->count) : 0;
        if (new_count == 0) {
            if (buf.device) {
                assert(!(alloc && device_dirty()) &&
                       "Implicitly freeing a dirty device allocation while a host allocation still lives. "
                       "Call device_free explicitly if you want to drop dirty device-side data. "
                       "Call copy_to_host explicitly if you want the data copied to the host allocation "
                       "before the device allocation is freed.");
                int result = 0;
                switch (device_ownership()) {
                case BufferDeviceOwnership::Allocated:
                    result = buf.device_interface->device_free(nullptr, &buf);
                    break;
                case BufferDeviceOwnership::WrappedNative:
                    result = buf.device_interface->detach_native(nullptr, &buf);
                    break;
                case BufferDeviceOwnership::AllocatedDeviceAndHost:
                    result = buf.device_interface->device_and_host_free(nullptr, &buf);
                    break;
                case BufferDeviceOwnership::Cropped:
                    result = buf.device_interface->device_release_crop(nullptr, &buf);
                    break;
                case BufferDeviceOwnership::Unmanaged:
                    break;
                }
                // Nothing useful can be done about a failure here.
                assert(result == 0);
                (void)result;
            }
            delete dev_ref_count;
        }
        dev_ref_count = nullptr;
        buf.device = 0;
        buf.device_interface = nullptr;
    }

    void free_shape_storage() {
        if (buf.dim != shape) {
            delete[] buf.dim;
            buf.dim = nullptr;
        }
    }

    template<int DimsSpecified>
    void make_static_shape_storage() {
        static_assert(Dims == AnyDims || Dims == DimsSpecified,
                      "Number of arguments to Buffer() does not match static dimensionality");
        buf.dimensions = DimsSpecified;
        if constexpr (Dims == AnyDims && DimsSpecified > InClassDimStorage) {
            buf.dim = new halide_dimension_t[DimsSpecified];
        } else {
            static_assert(Dims == AnyDims || InClassDimStorage >= DimsSpecified);
            buf.dim = shape;
        }
    }

    void make_shape_storage(int dimensions) {
        assert((Dims == AnyDims || Dims == dimensions) &&
               "Number of arguments to Buffer() does not match static dimensionality");
        buf.dimensions = dimensions;
        buf.dim = dimensions <= InClassDimStorage ? shape : new halide_dimension_t[dimensions];
    }

    void copy_shape_from(const halide_buffer_t &other) {
        make_shape_storage(other.dimensions);
        std::copy(other.dim, other.dim + other.dimensions, buf.dim);
    }

    template<typename T2, int D2, int S2>
    void move_shape_from(Buffer<T2, D2, S2> &&other) {
        if (other.shape == other.buf.dim) {
            copy_shape_from(other.buf);
        } else {
            buf.dim = other.buf.dim;
            other.buf.dim = nullptr;
        }
    }

    void initialize_from_buffer(const halide_buffer_t &b, BufferDeviceOwnership ownership) {
        buf = b;
        copy_shape_from(b);
        if (b.device) {
            dev_ref_count = new DeviceRefCount;
            dev_ref_count->ownership = ownership;
        }
    }

    void clear_after_move() {
        buf.device = 0;
        buf.device_interface = nullptr;
        buf.host = nullptr;
        buf.flags = 0;
        buf.dimensions = Dims == AnyDims ? 0 : Dims;
        buf.dim = shape;
        std::fill(shape, shape + InClassDimStorage, halide_dimension_t());
        alloc = nullptr;
        dev_ref_count = nullptr;
    }

    template<typename T2, int D2, int S2>
    void take(Buffer<T2, D2, S2> &&other) {
        buf = other.buf;
        alloc = other.alloc;
        dev_ref_count = other.dev_ref_count;
        move_shape_from(std::move(other));
        other.clear_after_move();
    }

    template<typename T2, int D2, int S2>
    void share(const Buffer<T2, D2, S2> &other) {
        other.incref();
        buf = other.buf;
        alloc = other.alloc;
        dev_ref_count = other.dev_ref_count;
        copy_shape_from(other.buf);
    }

    void set_sizes(const int *sizes) {
        int stride = 1;
        for (int i = 0; i < buf.dimensions; i++) {
            buf.dim[i] = halide_dimension_t(0, sizes[i], stride);
            stride *= sizes[i];
        }
    }

    void set_ordered_sizes(const std::vector<int> &sizes, const std::vector<int> &storage_order) {
        assert(sizes.size() == storage_order.size());
        int stride = 1;
        for (size_t i = 0; i < storage_order.size(); i++) {
            const int d = storage_order[i];
            assert(d >= 0 && (size_t)d < sizes.size());
            buf.dim[d] = halide_dimension_t(0, sizes[d], stride);
            stride *= sizes[d];
        }
    }

    static bool any_zero(const std::vector<int> &sizes) {
        return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    }

    void init_type() {
        buf.type = static_halide_type();
    }

    void allocate_unless_empty() {
        for (int i = 0; i < buf.dimensions; i++) {
            if (buf.dim[i].extent == 0) {
                return;
            }
        }
#ifndef NDEBUG
        check_overflow();
#endif
        allocate();
    }

    void assert_static_type(halide_type_t t) const {
        assert((T_is_void || t == static_halide_type()) && "Type given does not match the static type of the Buffer.");
        (void)t;
    }

    // A C array: the last index is dimension 0.
    template<typename Array>
    using scalar_of_array = std::remove_all_extents_t<Array>;

    template<typename Array, int D = (int)std::rank_v<Array>>
    static void set_array_shape(halide_dimension_t *dim) {
        if constexpr (D > 0) {
            int stride = 1;
            if constexpr (D > 1) {
                set_array_shape<std::remove_extent_t<Array>>(dim);
                stride = dim[D - 2].stride * dim[D - 2].extent;
            }
            dim[D - 1] = halide_dimension_t(0, (int)std::extent_v<Array>, stride);
        }
    }

public:
    // ----------------------------------------------------------------------------------------------- construction

    Buffer() {
        buf.type = static_halide_type();
        buf.dimensions = Dims == AnyDims ? 0 : Dims;
        buf.dim = shape;
        if constexpr (T_is_void) {
            buf.type = halide_type_t();
        }
    }

    /// Wraps a halide_buffer_t without owning its host memory.
    explicit Buffer(const halide_buffer_t &buf, BufferDeviceOwnership ownership = BufferDeviceOwnership::Unmanaged) {
        assert(T_is_void || buf.type == static_halide_type());
        initialize_from_buffer(buf, ownership);
    }

    Buffer(const Buffer &that) {
        share(that);
    }

    template<typename T2, int D2, int S2>
    Buffer(const Buffer<T2, D2, S2> &that) {
        assert_can_convert_from(that);
        share(that);
    }

    Buffer(Buffer &&that) noexcept {
        take(std::move(that));
    }

    template<typename T2, int D2, int S2>
    Buffer(Buffer<T2, D2, S2> &&that) {
        assert_can_convert_from(that);
        take(std::move(that));
    }

    template<typename T2, int D2, int S2>
    Buffer &operator=(const Buffer<T2, D2, S2> &other) {
        assert_can_convert_from(other);
        if ((const void *)this == (const void *)&other) {
            return *this;
        }
        other.incref();
        decref();
        free_shape_storage();
        buf = other.buf;
        alloc = other.alloc;
        dev_ref_count = other.dev_ref_count;
        copy_shape_from(other.buf);
        return *this;
    }

    Buffer &operator=(const Buffer &other) {
        return operator=<T, Dims, InClassDimStorage>(other);
    }

    template<typename T2, int D2, int S2>
    Buffer &operator=(Buffer<T2, D2, S2> &&other) {
        assert_can_convert_from(other);
        if ((const void *)this == (const void *)&other) {
            return *this;
        }
        decref();
        free_shape_storage();
        take(std::move(other));
        return *this;
    }

    Buffer &operator=(Buffer &&other) noexcept {
        if (this != &other) {
            decref();
            free_shape_storage();
            take(std::move(other));
        }
        return *this;
    }

    ~Buffer() {
        decref();
        free_shape_storage();
    }

    /// Allocates a planar image of a type given at run time. A size of zero suppresses the allocation.
    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    Buffer(halide_type_t t, int first, Args... rest) {
        assert_static_type(t);
        const int sizes[] = {first, (int)rest...};
        buf.type = t;
        make_static_shape_storage<1 + (int)sizeof...(rest)>();
        set_sizes(sizes);
        allocate_unless_empty();
    }

    /// Allocates a planar image. A size of zero suppresses the allocation.
    explicit Buffer(int first) {
        static_assert(!T_is_void, "To construct an Buffer<void>, pass a halide_type_t as the first argument to the "
                                  "constructor");
        init_type();
        make_static_shape_storage<1>();
        set_sizes(&first);
        allocate_unless_empty();
    }

    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    Buffer(int first, int second, Args... rest) {
        static_assert(!T_is_void, "To construct an Buffer<void>, pass a halide_type_t as the first argument to the "
                                  "constructor");
        const int sizes[] = {first, second, (int)rest...};
        init_type();
        make_static_shape_storage<2 + (int)sizeof...(rest)>();
        set_sizes(sizes);
        allocate_unless_empty();
    }

    Buffer(halide_type_t t, const std::vector<int> &sizes) {
        assert_static_type(t);
        buf.type = t;
        make_shape_storage((int)sizes.size());
        set_sizes(sizes.data());
        allocate_unless_empty();
    }

    explicit Buffer(const std::vector<int> &sizes)
        : Buffer(static_halide_type(), sizes) {
        static_assert(!T_is_void, "To construct an Buffer<void>, pass a halide_type_t as the first argument to the "
                                  "constructor");
    }

    /// @name Sizes in braces
    /// Without these, `Buffer<float> b({3, 4})` could also mean a copy of Buffer(3, 4). Only lists of int take part, so
    /// that `Buffer<float> b{n, m}` with other integer types remains a call of the constructor from sizes.
    /// @{
    template<typename Int, typename = std::enable_if_t<std::is_same_v<Int, int>>>
    explicit Buffer(std::initializer_list<Int> sizes)
        : Buffer(std::vector<int>(sizes)) {
    }
    template<typename Int, typename = std::enable_if_t<std::is_same_v<Int, int>>>
    Buffer(std::initializer_list<Int> sizes, std::initializer_list<Int> storage_order)
        : Buffer(std::vector<int>(sizes), std::vector<int>(storage_order)) {
    }
    /// @}

    /// `storage_order` lists the dimensions, innermost first.
    Buffer(halide_type_t t, const std::vector<int> &sizes, const std::vector<int> &storage_order) {
        assert_static_type(t);
        buf.type = t;
        make_shape_storage((int)sizes.size());
        set_ordered_sizes(sizes, storage_order);
        allocate_unless_empty();
    }

    Buffer(const std::vector<int> &sizes, const std::vector<int> &storage_order)
        : Buffer(static_halide_type(), sizes, storage_order) {
        static_assert(!T_is_void, "To construct an Buffer<void>, pass a halide_type_t as the first argument to the "
                                  "constructor");
    }

    /// Wraps a C array; its last index is dimension 0.
    template<typename Array, size_t N>
    explicit Buffer(Array (&vals)[N]) {
        using Scalar = scalar_of_array<Array>;
        static_assert(T_is_void || std::is_same_v<Scalar, T> || std::is_same_v<const Scalar, T>,
                      "The element type of the array is not that of the Buffer.");
        static_assert(std::is_const_v<T> || !std::is_const_v<Scalar>, "A Buffer of non-const T cannot wrap a const array.");
        constexpr int rank = (int)std::rank_v<Array[N]>;
        buf.type = halide_type_of<std::remove_cv_t<Scalar>>();
        make_static_shape_storage<rank>();
        set_array_shape<Array[N]>(buf.dim);
        buf.host = (uint8_t *)const_cast<std::remove_cv_t<Scalar> *>(reinterpret_cast<const Scalar *>(&vals[0]));
    }

    /// Wraps memory that the caller keeps alive: planar, with the given sizes.
    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    explicit Buffer(halide_type_t t, add_const_if_T_is_const<void> *data, int first, Args &&...rest) {
        assert_static_type(t);
        const int sizes[] = {first, (int)rest...};
        buf.type = t;
        buf.host = (uint8_t *)const_cast<void *>(data);
        make_static_shape_storage<1 + (int)sizeof...(rest)>();
        set_sizes(sizes);
    }

    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    explicit Buffer(T *data, int first, Args &&...rest) {
        const int sizes[] = {first, (int)rest...};
        init_type();
        buf.host = (uint8_t *)const_cast<not_const_T *>(data);
        make_static_shape_storage<1 + (int)sizeof...(rest)>();
        set_sizes(sizes);
    }

    explicit Buffer(T *data, const std::vector<int> &sizes) {
        init_type();
        buf.host = (uint8_t *)const_cast<not_const_T *>(data);
        make_shape_storage((int)sizes.size());
        set_sizes(sizes.data());
    }

    explicit Buffer(halide_type_t t, add_const_if_T_is_const<void> *data, const std::vector<int> &sizes) {
        assert_static_type(t);
        buf.type = t;
        buf.host = (uint8_t *)const_cast<void *>(data);
        make_shape_storage((int)sizes.size());
        set_sizes(sizes.data());
    }

    /// Wraps memory with an arbitrary shape; `data` is the element at the mins.
    explicit Buffer(halide_type_t t, add_const_if_T_is_const<void> *data, int d, const halide_dimension_t *shape) {
        assert_static_type(t);
        buf.type = t;
        buf.host = (uint8_t *)const_cast<void *>(data);
        make_shape_storage(d);
        std::copy(shape, shape + d, buf.dim);
    }

    explicit Buffer(halide_type_t t, add_const_if_T_is_const<void> *data, const std::vector<halide_dimension_t> &shape)
        : Buffer(t, data, (int)shape.size(), shape.data()) {
    }

    explicit Buffer(T *data, int d, const halide_dimension_t *shape) {
        init_type();
        buf.host = (uint8_t *)const_cast<not_const_T *>(data);
        make_shape_storage(d);
        std::copy(shape, shape + d, buf.dim);
    }

    explicit Buffer(T *data, const std::vector<halide_dimension_t> &shape)
        : Buffer(data, (int)shape.size(), shape.data()) {
    }

    /// Whether a Buffer<T2, D2> can become this type; decided as far as possible at compile time.
    template<typename T2, int D2, int S2>
    static bool can_convert_from(const Buffer<T2, D2, S2> &other) {
        static_assert(is_const_compatible<T2>, "Can't convert from a Buffer<const T> to a Buffer<T>");
        static_assert(is_type_compatible<T2>, "type mismatch constructing Buffer");
        static_assert(Dims == AnyDims || D2 == AnyDims || Dims == D2,
                      "Can't convert from a Buffer with static dimensionality to a Buffer with different static "
                      "dimensionality");
        if (Dims != AnyDims && other.dimensions() != Dims) {
            return false;
        }
        return T_is_void || Buffer<T2, D2, S2>::has_static_halide_type || other.type() == static_halide_type();
    }

    /// Asserts it.
    template<typename T2, int D2, int S2>
    static void assert_can_convert_from(const Buffer<T2, D2, S2> &other) {
        assert(can_convert_from(other) && "Type or dimensionality mismatch converting between Buffers.");
        // The compile-time part holds in release builds too.
        (void)sizeof(decltype(can_convert_from(other)));
        static_assert(is_const_compatible<T2> && is_type_compatible<T2>, "type mismatch constructing Buffer");
        static_assert(Dims == AnyDims || D2 == AnyDims || Dims == D2,
                      "Can't convert from a Buffer with static dimensionality to a Buffer with different static "
                      "dimensionality");
        (void)other;
    }

private:
    template<typename T2>
    static constexpr bool is_const_compatible = !std::is_const_v<T2> || std::is_const_v<T>;
    template<typename T2>
    static constexpr bool is_type_compatible =
        T_is_void || std::is_same_v<std::remove_const_t<T2>, void> ||
        std::is_same_v<std::remove_const_t<T2>, std::remove_const_t<T>>;

public:
    // ------------------------------------------------------------------------------------------------- host memory

    /// Sets what allocate uses when no functions are given, for all Buffers of the process. Null restores malloc.
    static void set_default_allocate_fn(void *(*allocate_fn)(size_t)) {
        BufferInternal::DefaultAllocator::allocate() = allocate_fn ? allocate_fn : malloc;
    }
    /// Null restores free.
    static void set_default_deallocate_fn(void (*deallocate_fn)(void *)) {
        BufferInternal::DefaultAllocator::deallocate() = deallocate_fn ? deallocate_fn : free;
    }

    /// Asserts that the size in bytes fits in size_t.
    void check_overflow() {
        size_t size = type().bytes();
        for (int i = 0; i < dimensions(); i++) {
            const size_t extent = (size_t)dim(i).extent();
            assert((extent == 0 || size <= std::numeric_limits<size_t>::max() / extent) &&
                   "Error: Overflow computing total size of buffer.");
            size *= extent;
        }
    }

    /// Allocates host memory for the present shape, dropping what was there.
    void allocate(void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) {
        if (!allocate_fn) {
            allocate_fn = BufferInternal::DefaultAllocator::allocate();
        }
        if (!deallocate_fn) {
            deallocate_fn = BufferInternal::DefaultAllocator::deallocate();
        }
        deallocate();

        // The header stands at the start of the block, which is all that the block's own alignment has to serve; the
        // elements start at the next aligned address.
        constexpr size_t alignment = HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT;
        static_assert((alignment & (alignment - 1)) == 0, "The alignment must be a power of two.");
        const auto align_up = [=](size_t value) { return (value + alignment - 1) & ~(alignment - 1); };
        void *storage = allocate_fn(align_up(size_in_bytes()) + sizeof(AllocationHeader) + alignment - 1);
        assert(storage && "Buffer::allocate: out of memory.");
        alloc = new (storage) AllocationHeader(deallocate_fn);
        uint8_t *base = (uint8_t *)align_up((size_t)(uintptr_t)storage + sizeof(AllocationHeader));
        buf.host = base - buf.begin_offset() * buf.type.bytes();
    }

    /// Drops host and device memory.
    void deallocate() {
        decref();
    }

    /// Drops device memory only.
    void device_deallocate() {
        decref(true);
    }

    bool owns_host_memory() const {
        return alloc != nullptr;
    }

    /// Becomes a default-constructed Buffer.
    void reset() {
        *this = Buffer();
    }

    // ------------------------------------------------------------------------------------------------------- shape

    /// One dimension; iterating over it gives its coordinates.
    class Dimension {
        const halide_dimension_t &d;

    public:
        int min() const {
            return d.min;
        }
        int extent() const {
            return d.extent;
        }
        int stride() const {
            return d.stride;
        }
        int max() const {
            return min() + extent() - 1;
        }

        struct iterator {
            int val;
            int operator*() const {
                return val;
            }
            bool operator!=(const iterator &other) const {
                return val != other.val;
            }
            iterator &operator++() {
                val++;
                return *this;
            }
        };

        iterator begin() const {
            return {min()};
        }
        iterator end() const {
            return {min() + extent()};
        }

        explicit Dimension(const halide_dimension_t &dim)
            : d(dim) {
        }
    };

    Dimension dim(int i) const {
        assert(i >= 0 && i < dimensions());
        return Dimension(buf.dim[i]);
    }

    int min(int i) const {
        return dim(i).min();
    }
    int extent(int i) const {
        return dim(i).extent();
    }
    int stride(int i) const {
        return dim(i).stride();
    }
    size_t number_of_elements() const {
        return buf.number_of_elements();
    }
    int dimensions() const {
        if constexpr (has_static_dimensions) {
            return Dims;
        } else {
            return buf.dimensions;
        }
    }
    halide_type_t type() const {
        return buf.type;
    }
    /// Lowest address.
    T *begin() const {
        assert(buf.host != nullptr);
        return (T *)buf.begin();
    }
    /// One past the highest address.
    T *end() const {
        assert(buf.host != nullptr);
        return (T *)buf.end();
    }
    size_t size_in_bytes() const {
        return buf.size_in_bytes();
    }
    /// Address of the element at the mins.
    T *data() const {
        return (T *)(void *)buf.host;
    }

    /// Extents of dimensions 0, 1, 2; 1 if there is no such dimension.
    int width() const {
        return dimensions() > 0 ? dim(0).extent() : 1;
    }
    int height() const {
        return dimensions() > 1 ? dim(1).extent() : 1;
    }
    int channels() const {
        return dimensions() > 2 ? dim(2).extent() : 1;
    }
    /// First and last coordinate of dimensions 0 and 1.
    int left() const {
        return dim(0).min();
    }
    int right() const {
        return dim(0).max();
    }
    int top() const {
        return dim(1).min();
    }
    int bottom() const {
        return dim(1).max();
    }

    /// Whether coordinates are inside; missing ones count as inside.
    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    bool contains(Args... args) const {
        static_assert(Dims == AnyDims || (int)sizeof...(Args) <= Dims, "Too many coordinates.");
        const int coords[sizeof...(Args) + 1] = {(int)args..., 0};
        return contains_impl(coords, (int)sizeof...(Args));
    }
    bool contains(const std::vector<int> &coords) const {
        return contains_impl(coords.data(), (int)coords.size());
    }

    halide_buffer_t *raw_buffer() {
        return &buf;
    }
    const halide_buffer_t *raw_buffer() const {
        return &buf;
    }
    operator halide_buffer_t *() {
        return &buf;
    }

    // ------------------------------------------------------------------------------------------------- conversions

    /// This object seen as another compatible type; checked at run time where the types do not decide.
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2, InClassDimStorage> &as() & {
        Buffer<T2, D2, InClassDimStorage>::assert_can_convert_from(*this);
        return *((Buffer<T2, D2, InClassDimStorage> *)(void *)this);
    }
    template<typename T2, int D2 = Dims>
    const Buffer<T2, D2, InClassDimStorage> &as() const & {
        Buffer<T2, D2, InClassDimStorage>::assert_can_convert_from(*this);
        return *((const Buffer<T2, D2, InClassDimStorage> *)(const void *)this);
    }
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2, InClassDimStorage> as() && {
        Buffer<T2, D2, InClassDimStorage>::assert_can_convert_from(*this);
        return Buffer<T2, D2, InClassDimStorage>(std::move(*this));
    }

    Buffer<std::add_const_t<T>, Dims, InClassDimStorage> &as_const() & {
        return as<std::add_const_t<T>>();
    }
    const Buffer<std::add_const_t<T>, Dims, InClassDimStorage> &as_const() const & {
        return as<std::add_const_t<T>>();
    }
    Buffer<std::add_const_t<T>, Dims, InClassDimStorage> as_const() && {
        return std::move(*this).template as<std::add_const_t<T>>();
    }

    // --------------------------------------------------------------------------------------------- shape operations

    /// Restricts dimension d to [min, min + extent), which must lie inside.
    void crop(int d, int min, int extent) {
        if (buf.device_interface) {
            *this = cropped(d, min, extent);
        } else {
            crop_host(d, min, extent);
        }
    }
    /// The same for the first rect.size() dimensions, (min, extent) each.
    void crop(const std::vector<std::pair<int, int>> &rect) {
        if (buf.device_interface) {
            *this = cropped(rect);
        } else {
            crop_host(rect);
        }
    }
    Buffer cropped(int d, int min, int extent) const {
        Buffer im = without_device();
        im.crop_host(d, min, extent);
        complete_device_crop(im);
        return im;
    }
    Buffer cropped(const std::vector<std::pair<int, int>> &rect) const {
        Buffer im = without_device();
        im.crop_host(rect);
        complete_device_crop(im);
        return im;
    }

    /// Drops dimension d at coordinate pos.
    void slice(int d, int pos) {
        static_assert(Dims == AnyDims, "Cannot call slice() on a Buffer with static dimensionality.");
        assert(d >= 0 && d < dimensions() && pos >= dim(d).min() && pos <= dim(d).max());
        if (buf.device_interface) {
            *this = sliced(d, pos);
        } else {
            slice_host(d, pos);
        }
    }
    void slice(int d) {
        slice(d, dim(d).min());
    }
    Buffer<T, (Dims == AnyDims ? AnyDims : Dims - 1)> sliced(int d, int pos) const {
        static_assert(Dims == AnyDims || Dims > 0, "Cannot call sliced() on a 0-dimensional Buffer.");
        assert(d >= 0 && d < dimensions() && pos >= dim(d).min() && pos <= dim(d).max());
        Buffer<T, AnyDims, InClassDimStorage> im(without_device());
        im.slice_host(d, pos);
        if (buf.device_interface) {
            complete_device_slice(im, d, pos);
        }
        return im;
    }
    Buffer<T, (Dims == AnyDims ? AnyDims : Dims - 1)> sliced(int d) const {
        return sliced(d, dim(d).min());
    }

    /// Inserts a dimension d of extent 1 at coordinate pos.
    Buffer<T, (Dims == AnyDims ? AnyDims : Dims + 1)> embedded(int d, int pos = 0) const {
        Buffer<T, AnyDims, InClassDimStorage> im(*this);
        im.embed(d, pos);
        return im;
    }
    void embed(int d, int pos = 0) {
        static_assert(Dims == AnyDims, "Cannot call embed() on a Buffer with static dimensionality.");
        assert(d >= 0 && d <= dimensions());
        add_dimension();
        translate(dimensions() - 1, pos);
        for (int i = dimensions() - 1; i > d; i--) {
            transpose(i, i - 1);
        }
    }

    /// Appends a dimension of min 0, extent 1.
    void add_dimension() {
        static_assert(Dims == AnyDims, "Cannot call add_dimension() on a Buffer with static dimensionality.");
        const int dims = buf.dimensions;
        int stride = 1;
        for (int i = 0; i < dims; i++) {
            stride = std::max(stride, std::abs(buf.dim[i].stride) * buf.dim[i].extent);
        }
        add_dimension_with_stride(stride);
    }
    void add_dimension_with_stride(int s) {
        static_assert(Dims == AnyDims, "Cannot call add_dimension_with_stride() on a Buffer with static dimensionality.");
        const int dims = buf.dimensions;
        if (buf.dim != shape || dims == InClassDimStorage) {
            halide_dimension_t *bigger = new halide_dimension_t[dims + 1];
            std::copy(buf.dim, buf.dim + dims, bigger);
            free_shape_storage();
            buf.dim = bigger;
        }
        buf.dim[dims] = halide_dimension_t(0, 1, s);
        buf.dimensions = dims + 1;
    }

    /// Moves the coordinates; the device side, which knows the old ones, is dropped.
    void translate(int d, int delta) {
        assert(d >= 0 && d < dimensions());
        device_deallocate();
        buf.dim[d].min += delta;
    }
    void translate(const std::vector<int> &delta) {
        assert(delta.size() <= (size_t)dimensions());
        device_deallocate();
        for (size_t i = 0; i < delta.size(); i++) {
            buf.dim[i].min += delta[i];
        }
    }
    Buffer translated(int d, int dx) const {
        Buffer im = *this;
        im.translate(d, dx);
        return im;
    }
    Buffer translated(const std::vector<int> &delta) const {
        Buffer im = *this;
        im.translate(delta);
        return im;
    }

    /// Sets the mins of the first dimensions.
    void set_min(const std::vector<int> &mins) {
        assert(mins.size() <= (size_t)dimensions());
        device_deallocate();
        for (size_t i = 0; i < mins.size(); i++) {
            buf.dim[i].min = mins[i];
        }
    }
    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    void set_min(Args... args) {
        static_assert(Dims == AnyDims || (int)sizeof...(Args) <= Dims, "Too many mins.");
        set_min(std::vector<int>{(int)args...});
    }

    /// Exchanges two dimensions; no data moves.
    void transpose(int d1, int d2) {
        assert(d1 >= 0 && d1 < dimensions() && d2 >= 0 && d2 < dimensions());
        std::swap(buf.dim[d1], buf.dim[d2]);
    }
    /// Dimension i becomes what dimension order[i] was.
    void transpose(const std::vector<int> &order) {
        assert((int)order.size() == dimensions());
        std::vector<halide_dimension_t> old(buf.dim, buf.dim + dimensions());
        for (int i = 0; i < dimensions(); i++) {
            assert(order[i] >= 0 && order[i] < dimensions());
            buf.dim[i] = old[order[i]];
        }
    }
    Buffer transposed(int d1, int d2) const {
        Buffer im = *this;
        im.transpose(d1, d2);
        return im;
    }
    Buffer transposed(const std::vector<int> &order) const {
        Buffer im = *this;
        im.transpose(order);
        return im;
    }

    // ----------------------------------------------------------------------------------------------------- copying

    /// A zero-dimensional buffer.
    static Buffer make_scalar() {
        static_assert(Dims == AnyDims || Dims == 0, "make_scalar() gives a 0-dimensional Buffer.");
        static_assert(!T_is_void, "make_scalar() of a Buffer<void> needs a type.");
        return make_scalar(static_halide_type());
    }
    static Buffer make_scalar(halide_type_t t) {
        static_assert(Dims == AnyDims || Dims == 0, "make_scalar() gives a 0-dimensional Buffer.");
        Buffer<T, AnyDims, InClassDimStorage> im(t, 1);
        im.slice(0, 0);
        return im;
    }
    static Buffer make_scalar(T *data) {
        static_assert(Dims == AnyDims || Dims == 0, "make_scalar() gives a 0-dimensional Buffer.");
        Buffer<T, AnyDims, InClassDimStorage> im(data, 1);
        im.slice(0, 0);
        return im;
    }

    /// An image whose channels are innermost in memory.
    static Buffer make_interleaved(halide_type_t t, int width, int height, int channels) {
        static_assert(Dims == AnyDims || Dims == 3, "make_interleaved() must be called on a Buffer that can represent "
                                                    "3 dimensions.");
        Buffer<T, AnyDims, InClassDimStorage> im(t, channels, width, height);
        im.transpose({1, 2, 0});
        return im;
    }
    static Buffer make_interleaved(int width, int height, int channels) {
        static_assert(!T_is_void, "make_interleaved() of a Buffer<void> needs a type.");
        return make_interleaved(static_halide_type(), width, height, channels);
    }
    static Buffer<add_const_if_T_is_const<void>, Dims, InClassDimStorage>
    make_interleaved(halide_type_t t, T *data, int width, int height, int channels) {
        static_assert(Dims == AnyDims || Dims == 3, "make_interleaved() must be called on a Buffer that can represent "
                                                    "3 dimensions.");
        Buffer<add_const_if_T_is_const<void>, AnyDims, InClassDimStorage> im(t, data, channels, width, height);
        im.transpose({1, 2, 0});
        return im;
    }
    static Buffer make_interleaved(T *data, int width, int height, int channels) {
        return make_interleaved(static_halide_type(), data, width, height, channels).template as<T>();
    }

    /// A new dense image with the extents, mins and nesting order of `src`. Keeps its type if T is void.
    template<typename T2, int D2, int S2>
    static Buffer<not_const_T, Dims, InClassDimStorage>
    make_with_shape_of(const Buffer<T2, D2, S2> &src, void *(*allocate_fn)(size_t) = nullptr,
                       void (*deallocate_fn)(void *) = nullptr) {
        static_assert(Dims == D2 || Dims == AnyDims || D2 == AnyDims, "make_with_shape_of: dimensionality mismatch.");
        const int dims = src.dimensions();
        std::vector<halide_dimension_t> new_shape(src.raw_buffer()->dim, src.raw_buffer()->dim + dims);
        std::vector<int> order(dims);
        for (int i = 0; i < dims; i++) {
            order[i] = i;
        }
        BufferInternal::sort_few(order, [&](int d) { return std::abs(new_shape[d].stride); });
        int stride = 1;
        for (int d : order) {
            new_shape[d].stride = stride;
            stride *= new_shape[d].extent;
        }
        const halide_type_t t = T_is_void ? src.type() : static_halide_type();
        Buffer<not_const_T, Dims, InClassDimStorage> dst(t, (void *)nullptr, dims, new_shape.data());
        dst.allocate(allocate_fn, deallocate_fn);
        return dst;
    }

    /// A deep copy that keeps the nesting order and is dense.
    Buffer<not_const_T, Dims, InClassDimStorage> copy(void *(*allocate_fn)(size_t) = nullptr,
                                                      void (*deallocate_fn)(void *) = nullptr) const {
        auto dst = Buffer<not_const_T, Dims, InClassDimStorage>::make_with_shape_of(*this, allocate_fn, deallocate_fn);
        dst.copy_from(*this);
        return dst;
    }
    /// A deep copy of a three-dimensional image with the channels innermost.
    Buffer<not_const_T, Dims, InClassDimStorage> copy_to_interleaved(void *(*allocate_fn)(size_t) = nullptr,
                                                                     void (*deallocate_fn)(void *) = nullptr) const {
        static_assert(Dims == AnyDims || Dims == 3, "copy_to_interleaved() needs 3 dimensions.");
        assert(dimensions() == 3);
        return copy_in_order({2, 0, 1}, allocate_fn, deallocate_fn);
    }
    /// A deep copy with dimension 0 innermost, then 1, 2, …
    Buffer<not_const_T, Dims, InClassDimStorage> copy_to_planar(void *(*allocate_fn)(size_t) = nullptr,
                                                                void (*deallocate_fn)(void *) = nullptr) const {
        std::vector<int> order(dimensions());
        for (int i = 0; i < dimensions(); i++) {
            order[i] = i;
        }
        return copy_in_order(order, allocate_fn, deallocate_fn);
    }
    /// Another Buffer on the same memory.
    Buffer alias() const {
        return *this;
    }

    /// Copies the part of src that lies inside this buffer.
    template<typename T2, int D2, int S2>
    void copy_from(const Buffer<T2, D2, S2> &src) {
        static_assert(!std::is_const_v<T>, "Cannot call copy_from() on a Buffer<const T>");
        static_assert(Dims == AnyDims || D2 == AnyDims || Dims == D2, "copy_from: dimensionality mismatch.");
        assert(!device_dirty() && "Cannot call Halide::Runtime::Buffer::copy_from on a device dirty destination.");
        assert(!src.device_dirty() && "Cannot call Halide::Runtime::Buffer::copy_from on a device dirty source.");
        assert(src.dimensions() == dimensions() && src.type() == type());

        Buffer<T, AnyDims, InClassDimStorage> dst(without_device());
        Buffer<const void, AnyDims, S2> from(src.without_device());
        for (int i = 0; i < dimensions(); i++) {
            const int min_coord = std::max(dst.dim(i).min(), from.dim(i).min());
            const int max_coord = std::min(dst.dim(i).max(), from.dim(i).max());
            if (max_coord < min_coord) {
                return;  // No overlap.
            }
            dst.crop(i, min_coord, max_coord - min_coord + 1);
            from.crop(i, min_coord, max_coord - min_coord + 1);
        }
        // Only the size of an element matters from here on.
        switch (type().bytes()) {
        case 1:
            copy_elements<uint8_t>(dst.buf, from.buf);
            break;
        case 2:
            copy_elements<uint16_t>(dst.buf, from.buf);
            break;
        case 4:
            copy_elements<uint32_t>(dst.buf, from.buf);
            break;
        case 8:
            copy_elements<uint64_t>(dst.buf, from.buf);
            break;
        default:
            assert(false && "type().bytes() must be 1, 2, 4, or 8");
        }
        set_host_dirty();
    }

    // ---------------------------------------------------------------------------------------------------- elements

    /// The element at these coordinates; missing ones are the mins.
    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    const not_void_T &operator()(int first, Args... rest) const {
        static_assert(!T_is_void, "Cannot use operator() on Buffer<void> types");
        assert(!device_dirty());
        return *element(first, rest...);
    }
    template<typename... Args, typename = BufferInternal::AllInts<Args...>>
    not_void_T &operator()(int first, Args... rest) {
        static_assert(!T_is_void, "Cannot use operator() on Buffer<void> types");
        set_host_dirty();
        return *element(first, rest...);
    }
    const not_void_T &operator()() const {
        static_assert(!T_is_void, "Cannot use operator() on Buffer<void> types");
        assert(!device_dirty());
        return *(const not_void_T *)data();
    }
    not_void_T &operator()() {
        static_assert(!T_is_void, "Cannot use operator() on Buffer<void> types");
        set_host_dirty();
        return *(not_void_T *)data();
    }
    /// `pos` holds as many coordinates as there are dimensions.
    const not_void_T &operator()(const int *pos) const {
        static_assert(!T_is_void, "Cannot use operator() on Buffer<void> types");
        assert(!device_dirty());
        return *address_of(pos, dimensions());
    }
    not_void_T &operator()(const int *pos) {
        static_assert(!T_is_void, "Cannot use operator() on Buffer<void> types");
        set_host_dirty();
        return *address_of(pos, dimensions());
    }

    /// Whether every element equals val.
    bool all_equal(not_void_T val) const {
        static_assert(!T_is_void, "Cannot use all_equal() on Buffer<void> types");
        bool all_equal = true;
        for_each_element([&](const int *pos) { all_equal &= (*this)(pos) == val; });
        return all_equal;
    }

    /// Sets every element to val.
    Buffer &fill(not_void_T val) {
        static_assert(!T_is_void, "Cannot use fill() on Buffer<void> types");
        set_host_dirty();
        for_each_value([=](T &v) { v = val; });
        return *this;
    }
    /// Sets each element to f(its coordinates).
    template<typename Fn, typename = std::enable_if_t<BufferInternal::coordinate_arity<Fn &, Dims>() !=
                                                      BufferInternal::arity_none>>
    Buffer &fill(Fn &&f) {
        static_assert(!T_is_void, "Cannot use fill() on Buffer<void> types");
        constexpr int arity = BufferInternal::coordinate_arity<Fn &, Dims>();
        for_each_element([&](const int *pos) { (*this)(pos) = BufferInternal::call_at<arity>(f, pos); });
        return *this;
    }

    /// Calls f(element of this, elements of the others …) at every coordinate, in no particular order. All buffers have
    /// the same extents.
    template<typename Fn, typename... Args>
    const Buffer &for_each_value(Fn &&f, Args &&...other_buffers) const {
        for_each_value_impl<const not_void_T>(f, std::forward<Args>(other_buffers)...);
        return *this;
    }
    template<typename Fn, typename... Args>
    Buffer &for_each_value(Fn &&f, Args &&...other_buffers) {
        for_each_value_impl<not_void_T>(f, std::forward<Args>(other_buffers)...);
        return *this;
    }

    /// Calls f(x, y, …), or f(const int *), for every coordinate, dimension 0 fastest.
    template<typename Fn>
    const Buffer &for_each_element(Fn &&f) const {
        constexpr int arity = BufferInternal::coordinate_arity<Fn &, Dims>();
        static_assert(arity != BufferInternal::arity_none,
                      "for_each_element: the function must take one int per dimension, or a const int *.");
        assert((arity == BufferInternal::arity_pointer || arity == dimensions()) &&
               "for_each_element: the function must take one int per dimension.");
        visit_coordinates<arity>(f);
        return *this;
    }
    template<typename Fn>
    Buffer &for_each_element(Fn &&f) {
        const_cast<const Buffer *>(this)->for_each_element(f);
        return *this;
    }

    // ----------------------------------------------------------------------------------------------------- devices

    bool has_device_allocation() const {
        return buf.device != 0;
    }
    bool host_dirty() const {
        return buf.host_dirty();
    }
    bool device_dirty() const {
        return buf.device_dirty();
    }
    void set_host_dirty(bool v = true) {
        assert((!v || !device_dirty()) && "Cannot set host dirty when device is already dirty. Call copy_to_host() "
                                          "before accessing the buffer from host.");
        buf.set_host_dirty(v);
    }
    void set_device_dirty(bool v = true) {
        assert((!v || !host_dirty()) && "Cannot set device dirty when host is already dirty.");
        buf.set_device_dirty(v);
    }

    /// Makes the host copy current. This and the following return 0 or an error code of the runtime.
    int copy_to_host(void *ctx = nullptr) {
        return device_dirty() ? buf.device_interface->copy_to_host(ctx, &buf) : 0;
    }
    int copy_to_device(const struct halide_device_interface_t *device_interface, void *ctx = nullptr) {
        return host_dirty() || !has_device_allocation() ?
                   device_interface->copy_to_device(ctx, &buf, device_interface) :
                   0;
    }
    int device_malloc(const struct halide_device_interface_t *device_interface, void *ctx = nullptr) {
        return device_interface->device_malloc(ctx, &buf, device_interface);
    }
    int device_free(void *ctx = nullptr) {
        assert_sole_owner(BufferDeviceOwnership::Allocated);
        const int result = buf.device_interface ? buf.device_interface->device_free(ctx, &buf) : 0;
        drop_device_ref_count();
        return result;
    }
    int device_wrap_native(const struct halide_device_interface_t *device_interface, uint64_t handle,
                           void *ctx = nullptr) {
        assert(device_interface);
        dev_ref_count = new DeviceRefCount;
        dev_ref_count->ownership = BufferDeviceOwnership::WrappedNative;
        return device_interface->wrap_native(ctx, &buf, handle, device_interface);
    }
    int device_detach_native(void *ctx = nullptr) {
        assert_sole_owner(BufferDeviceOwnership::WrappedNative);
        const int result = buf.device_interface ? buf.device_interface->detach_native(ctx, &buf) : 0;
        drop_device_ref_count();
        return result;
    }
    int device_and_host_malloc(const struct halide_device_interface_t *device_interface, void *ctx = nullptr) {
        const int result = device_interface->device_and_host_malloc(ctx, &buf, device_interface);
        if (result == 0) {
            assert(!dev_ref_count);
            dev_ref_count = new DeviceRefCount;
            dev_ref_count->ownership = BufferDeviceOwnership::AllocatedDeviceAndHost;
        }
        return result;
    }
    int device_and_host_free(const struct halide_device_interface_t *device_interface = nullptr, void *ctx = nullptr) {
        (void)device_interface;
        assert_sole_owner(BufferDeviceOwnership::AllocatedDeviceAndHost);
        const int result = buf.device_interface ? buf.device_interface->device_and_host_free(ctx, &buf) : 0;
        drop_device_ref_count();
        return result;
    }
    int device_sync(void *ctx = nullptr) {
        return buf.device_sync(ctx);
    }
    BufferDeviceOwnership device_ownership() const {
        return dev_ref_count ? dev_ref_count->ownership : BufferDeviceOwnership::Allocated;
    }

private:
    // ----------------------------------------------------------------------------------------------------- helpers

    void assert_sole_owner(BufferDeviceOwnership ownership) const {
        if (dev_ref_count) {
            assert(dev_ref_count->ownership == ownership && "The device allocation was not made by the matching call.");
            assert(dev_ref_count->count == 1 && "Multiple Halide::Runtime::Buffer objects share this device "
                                                "allocation. Freeing it would create dangling references. "
                                                "Don't call this function.");
        }
        (void)ownership;
    }

    void drop_device_ref_count() {
        delete dev_ref_count;
        dev_ref_count = nullptr;
    }

    bool contains_impl(const int *coords, int n) const {
        assert(n <= dimensions());
        for (int i = 0; i < n; i++) {
            if (coords[i] < dim(i).min() || coords[i] > dim(i).max()) {
                return false;
            }
        }
        return true;
    }

    /// A Buffer on the same host memory that knows nothing of the device.
    Buffer without_device() const {
        Buffer im;
        im.free_shape_storage();
        im.buf = buf;
        im.buf.device = 0;
        im.buf.device_interface = nullptr;
        im.copy_shape_from(buf);
        im.alloc = alloc;
        if (alloc) {
            alloc->ref_count++;
        }
        return im;
    }

    void crop_host(int d, int min, int extent) {
        assert(d >= 0 && d < dimensions() && "crop: no such dimension.");
        assert(min >= dim(d).min() && (int64_t)min + extent <= (int64_t)dim(d).min() + dim(d).extent() &&
               "crop: the new bounds must lie inside the present ones.");
        if (buf.host) {
            buf.host += ((ptrdiff_t)min - dim(d).min()) * dim(d).stride() * type().bytes();
        }
        buf.dim[d].min = min;
        buf.dim[d].extent = extent;
    }
    void crop_host(const std::vector<std::pair<int, int>> &rect) {
        assert(rect.size() <= (size_t)dimensions());
        for (size_t i = 0; i < rect.size(); i++) {
            crop_host((int)i, rect[i].first, rect[i].second);
        }
    }

    void slice_host(int d, int pos) {
        if (buf.host) {
            buf.host += ((ptrdiff_t)pos - dim(d).min()) * dim(d).stride() * type().bytes();
        }
        std::copy(buf.dim + d + 1, buf.dim + buf.dimensions, buf.dim + d);
        buf.dimensions--;
        buf.dim[buf.dimensions] = halide_dimension_t();
    }

    /// Crops of crops refer to the uncropped parent, so that chains do not grow.
    template<typename B>
    void share_device_with(B &im) const {
        const bool is_crop = dev_ref_count && dev_ref_count->ownership == BufferDeviceOwnership::Cropped;
        auto *own = is_crop ? dynamic_cast<CroppedRefCount *>(dev_ref_count) : nullptr;
        im.dev_ref_count = new CroppedRefCount(own ? own->cropped_from : *this);
    }

    void complete_device_crop(Buffer &im) const {
        if (buf.device_interface && buf.device_interface->device_crop(nullptr, &buf, &im.buf) == 0) {
            share_device_with(im);
        }
    }

    template<typename B>
    void complete_device_slice(B &im, int d, int pos) const {
        if (buf.device_interface->device_slice(nullptr, &buf, d, pos, &im.buf) == 0) {
            share_device_with(im);
        }
    }

    Buffer<not_const_T, Dims, InClassDimStorage> copy_in_order(const std::vector<int> &order,
                                                               void *(*allocate_fn)(size_t),
                                                               void (*deallocate_fn)(void *)) const {
        std::vector<halide_dimension_t> new_shape(buf.dim, buf.dim + dimensions());
        int stride = 1;
        for (int d : order) {
            new_shape[d].stride = stride;
            stride *= new_shape[d].extent;
        }
        Buffer<not_const_T, Dims, InClassDimStorage> dst(type(), (void *)nullptr, dimensions(), new_shape.data());
        dst.allocate(allocate_fn, deallocate_fn);
        dst.copy_from(*this);
        return dst;
    }

    template<typename... Args>
    not_void_T *element(Args... args) const {
        static_assert(Dims == AnyDims || (int)sizeof...(Args) <= Dims,
                      "More coordinates than the Buffer has dimensions.");
        const int pos[] = {(int)args...};
        return address_of(pos, (int)sizeof...(Args));
    }

    not_void_T *address_of(const int *pos, int n) const {
#if HALIDE_RUNTIME_BUFFER_CHECK_INDICES
        // Coordinates beyond the dimensions must be 0, so that programs may write buf(0) for a scalar.
        for (int i = dimensions(); i < n; i++) {
            assert(pos[i] == 0);
        }
        n = std::min(n, dimensions());
        for (int i = 0; i < n; i++) {
            assert(pos[i] >= buf.dim[i].min && pos[i] - buf.dim[i].min < buf.dim[i].extent);
        }
#else
        n = std::min(n, dimensions());
#endif
        ptrdiff_t offset = 0;
        for (int i = 0; i < n; i++) {
            offset += ((ptrdiff_t)pos[i] - buf.dim[i].min) * buf.dim[i].stride;
        }
        return (not_void_T *)(void *)buf.host + offset;
    }

    /// Loops over several buffers of one shape, N of them, the smallest strides innermost and dense dimensions fused.
    template<int N>
    struct ValueLoops {
        struct Level {
            ptrdiff_t extent;
            ptrdiff_t stride[N];
        };
        std::vector<Level> levels;

        explicit ValueLoops(const halide_buffer_t *const (&buffers)[N]) {
            const int dims = buffers[0]->dimensions;
            for (int d = 0; d < dims; d++) {
                Level level{buffers[0]->dim[d].extent, {}};
                for (int i = 0; i < N; i++) {
                    assert(buffers[i]->dimensions == dims && buffers[i]->dim[d].extent == buffers[0]->dim[d].extent &&
                           "for_each_value: all buffers must have the same shape.");
                    level.stride[i] = buffers[i]->dim[d].stride;
                }
                levels.push_back(level);
            }
            BufferInternal::sort_few(levels, [](const Level &l) { return std::abs(l.stride[0]); });
            size_t last = 0;
            for (size_t d = 1; d < levels.size(); d++) {
                if (continues(levels[last], levels[d])) {
                    levels[last].extent *= levels[d].extent;
                } else {
                    levels[++last] = levels[d];
                }
            }
            if (!levels.empty()) {
                levels.resize(last + 1);
            }
        }

        static bool continues(const Level &inner, const Level &outer) {
            for (int i = 0; i < N; i++) {
                if (outer.stride[i] != inner.stride[i] * inner.extent) {
                    return false;
                }
            }
            return true;
        }

        bool innermost_is_dense() const {
            return !levels.empty() && std::all_of(levels[0].stride, levels[0].stride + N, [](ptrdiff_t s) { return s == 1; });
        }
    };

    template<bool Dense, typename Fn, int N, size_t... I, typename... Ptr>
    static void run_value_loops(const ValueLoops<N> &loops, int d, Fn &f, std::index_sequence<I...> index,
                                Ptr... ptr) {
        if (d < 0) {
            f(*ptr...);
            return;
        }
        const auto &level = loops.levels[d];
        if (d == 0 && Dense) {
            for (ptrdiff_t i = 0; i < level.extent; i++) {
                f(ptr[i]...);
            }
        } else if (d == 0) {
            for (ptrdiff_t i = 0; i < level.extent; i++) {
                f(ptr[i * level.stride[I]]...);
            }
        } else {
            for (ptrdiff_t i = 0; i < level.extent; i++) {
                run_value_loops<Dense>(loops, d - 1, f, index, (ptr + i * level.stride[I])...);
            }
        }
    }

    template<typename Elem, typename Fn, typename... Args>
    void for_each_value_impl(Fn &f, Args &&...others) const {
        static_assert(!T_is_void, "Cannot use for_each_value() on Buffer<void> types");
        constexpr int n = 1 + (int)sizeof...(Args);
        const halide_buffer_t *const buffers[n] = {&buf, others.raw_buffer()...};
        for (int d = 0; d < dimensions(); d++) {
            if (buf.dim[d].extent <= 0) {
                return;
            }
        }
        const ValueLoops<n> loops(buffers);
        const int d = (int)loops.levels.size() - 1;
        const auto index = std::make_index_sequence<(size_t)n>();
        if (loops.innermost_is_dense()) {
            run_value_loops<true>(loops, d, f, index, (Elem *)data(), others.data()...);
        } else {
            run_value_loops<false>(loops, d, f, index, (Elem *)data(), others.data()...);
        }
    }

    template<int Arity, typename Fn>
    void visit_coordinates(Fn &f) const {
        const int dims = dimensions();
        std::vector<int> pos(dims + 1, 0);
        for (int d = 0; d < dims; d++) {
            if (buf.dim[d].extent <= 0) {
                return;
            }
            pos[d] = buf.dim[d].min;
        }
        if (dims == 0) {
            BufferInternal::call_at<Arity>(f, pos.data());
            return;
        }
        const halide_dimension_t inner = buf.dim[0];
        for (;;) {
            for (int i = 0; i < inner.extent; i++) {
                pos[0] = inner.min + i;
                BufferInternal::call_at<Arity>(f, pos.data());
            }
            int d = 1;
            while (d < dims && pos[d] == dim(d).max()) {
                pos[d] = dim(d).min();
                d++;
            }
            if (d == dims) {
                return;
            }
            pos[d]++;
        }
    }

    template<typename MemType>
    static void copy_elements(const halide_buffer_t &dst, const halide_buffer_t &src) {
        for (int d = 0; d < dst.dimensions; d++) {
            if (dst.dim[d].extent <= 0) {
                return;
            }
        }
        const halide_buffer_t *const buffers[2] = {&dst, &src};
        const ValueLoops<2> loops(buffers);
        copy_level<MemType>(loops, (int)loops.levels.size() - 1, (MemType *)(void *)dst.host,
                            (const MemType *)(const void *)src.host, loops.innermost_is_dense());
    }

    template<typename MemType>
    static void copy_level(const ValueLoops<2> &loops, int d, MemType *dst, const MemType *src, bool dense) {
        if (d < 0) {
            *dst = *src;
            return;
        }
        const auto &level = loops.levels[d];
        if (d == 0 && dense) {
            // memmove, because a copy onto itself is allowed.
            memmove(dst, src, (size_t)level.extent * sizeof(MemType));
            return;
        }
        for (ptrdiff_t i = 0; i < level.extent; i++) {
            copy_level(loops, d - 1, dst + i * level.stride[0], src + i * level.stride[1], dense);
        }
    }
};

}  // namespace Runtime
}  // namespace Halide

#endif  // HALIDE_RUNTIME_BUFFER_H
