#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/DeviceInterface.h"
#include "ir/Expr.h"
#include "ir/Range.h"
#include "ir/Target.h"
#include "ir/Type.h"
#include "runtime/HalideBuffer.h"
#include "runtime/HalideRuntime.h"
#include "support/Error.h"
#include "support/IntrusivePtr.h"
#include "support/Util.h"

namespace Halide {

constexpr int AnyDims = Halide::Runtime::AnyDims;  // -1

template<typename T = void, int Dims = AnyDims>
class Buffer;

namespace Internal {

struct BufferContents {
    mutable RefCount count;
    /// Untyped storage of every Buffer: the handle's static type is only a view.
    Runtime::Buffer<> buf;
    std::string name;

    explicit BufferContents(Runtime::Buffer<> &&buf, const std::string &name);
};

template<>
RefCount &ref_count<BufferContents>(const BufferContents *t) noexcept;
template<>
void destroy<BufferContents>(const BufferContents *t);

/// An access to a buffer as an expression; `_` among the arguments stands for the dimensions that are left.
Expr buffer_accessor(const Buffer<> &buf, const std::vector<Expr> &args);

/// Sizes followed by an optional name: `Buffer<T>(w, h, "name")`.
template<typename...>
struct all_ints_and_optional_name : std::false_type {};

template<typename First, typename... Rest>
struct all_ints_and_optional_name<First, Rest...>
    : std::bool_constant<(std::is_convertible_v<First, int> && all_ints_and_optional_name<Rest...>::value) ||
                         (sizeof...(Rest) == 0 && std::is_convertible_v<First, std::string>)> {};

template<>
struct all_ints_and_optional_name<> : std::true_type {};

template<typename T,
         typename = std::enable_if_t<!std::is_convertible_v<T, std::string>>>
std::string get_name_from_end_of_parameter_pack(T &&) {
    return "";
}

inline std::string get_name_from_end_of_parameter_pack(const std::string &n) {
    return n;
}

inline std::string get_name_from_end_of_parameter_pack() {
    return "";
}

template<typename First, typename Second, typename... Args>
std::string get_name_from_end_of_parameter_pack(First, Second second, Args &&...rest) {
    return get_name_from_end_of_parameter_pack(second, std::forward<Args>(rest)...);
}

inline void get_shape_from_start_of_parameter_pack_helper(std::vector<int> &, const std::string &) {
}

inline void get_shape_from_start_of_parameter_pack_helper(std::vector<int> &) {
}

template<typename... Args>
void get_shape_from_start_of_parameter_pack_helper(std::vector<int> &result, int x, Args &&...rest) {
    result.push_back(x);
    get_shape_from_start_of_parameter_pack_helper(result, std::forward<Args>(rest)...);
}

template<typename... Args>
std::vector<int> get_shape_from_start_of_parameter_pack(Args &&...args) {
    std::vector<int> result;
    get_shape_from_start_of_parameter_pack_helper(result, std::forward<Args>(args)...);
    return result;
}

/// void*, with the constness of T.
template<typename T>
using add_const_if_T_is_const = std::conditional_t<std::is_const_v<T>, const void, void>;

/// Whether some Buffer<T2, D2> may be a Buffer<T, D>; where a static type is open, the object decides.
template<typename T, int D, typename T2, int D2>
constexpr bool buffer_types_compatible =
    (std::is_void_v<T> || std::is_void_v<T2> || std::is_same_v<std::remove_const_t<T>, std::remove_const_t<T2>>) &&
    (std::is_const_v<T> || !std::is_const_v<T2>) && (D == AnyDims || D2 == AnyDims || D == D2);

/// @throws CompileError unless `from` has this type (if known) and this many dimensions (if not AnyDims).
void check_buffer_type(const Runtime::Buffer<> &from, bool type_known, halide_type_t type, int dims);

}  // namespace Internal

/// An image, or any multi-dimensional array, as Funcs read and write it. Copies refer to the same object, shape
/// included; the object itself is a Runtime::Buffer with a name.
///
/// @tparam T     element type; void: known at run time only.
/// @tparam Dims  number of dimensions; AnyDims: known at run time only.
template<typename T, int Dims>
class Buffer {
    template<typename T2, int D2>
    friend class Buffer;

    using View = Runtime::Buffer<T, Dims, 4>;
    using Element = std::conditional_t<std::is_void_v<T>, std::conditional_t<std::is_const_v<T>, const uint8_t, uint8_t>, T>;
    using Data = Internal::add_const_if_T_is_const<T>;

    static constexpr int less_dims = Dims == AnyDims ? AnyDims : Dims - 1;
    static constexpr int more_dims = Dims == AnyDims ? AnyDims : Dims + 1;

    Internal::IntrusivePtr<Internal::BufferContents> contents;

    /// The object as its static type. Which method needs it, for the message if there is none.
    View &view(const char *method) const {
        user_assert(defined()) << "Undefined buffer calling method " << method << "\n";
        return contents->buf.template as<T, Dims>();
    }

    template<typename T2, int D2, int S2>
    void adopt(Runtime::Buffer<T2, D2, S2> &&buf, const std::string &name) {
        Runtime::Buffer<> untyped(std::move(buf));
        Internal::check_buffer_type(untyped, has_static_halide_type, type_or_none(), Dims);
        contents = new Internal::BufferContents(std::move(untyped), name);
    }

    static halide_type_t type_or_none() {
        if constexpr (has_static_halide_type) {
            return static_halide_type();
        } else {
            return halide_type_t();
        }
    }

    void check_my_type() const {
        if (defined()) {
            Internal::check_buffer_type(contents->buf, has_static_halide_type, type_or_none(), Dims);
        }
    }

public:
    using ElemType = T;

    static constexpr bool has_static_halide_type = !std::is_void_v<T>;
    static constexpr halide_type_t static_halide_type() {
        return Runtime::Buffer<T, Dims>::static_halide_type();
    }
    static constexpr bool has_static_dimensions = Dims != AnyDims;
    static constexpr int static_dimensions() {
        return Dims;
    }

    /// An undefined buffer.
    Buffer() = default;

    Buffer(const Buffer &) = default;
    Buffer(Buffer &&) noexcept = default;
    Buffer &operator=(const Buffer &) = default;
    Buffer &operator=(Buffer &&) noexcept = default;

    /// Another view of the same object.
    template<typename T2, int D2, typename = std::enable_if_t<Internal::buffer_types_compatible<T, Dims, T2, D2>>>
    Buffer(const Buffer<T2, D2> &other)
        : contents(other.contents) {
        check_my_type();
    }
    template<typename T2, int D2, typename = std::enable_if_t<Internal::buffer_types_compatible<T, Dims, T2, D2>>>
    Buffer(Buffer<T2, D2> &&other)
        : contents(std::move(other.contents)) {
        check_my_type();
    }

    /// Takes over a runtime buffer.
    template<typename T2, int D2, int S2,
             typename = std::enable_if_t<Internal::buffer_types_compatible<T, Dims, T2, D2>>>
    Buffer(Runtime::Buffer<T2, D2, S2> &&buf, const std::string &name = "") {
        adopt(std::move(buf), name);
    }

    /// Refers to the memory of a buffer of the C interface without owning it.
    explicit Buffer(const halide_buffer_t &buf, const std::string &name = "") {
        adopt(Runtime::Buffer<>(buf), name);
    }

    /// @name New memory, planar, uninitialized: sizes innermost first, then optionally a name
    /// @{
    template<typename... Args, typename = std::enable_if_t<Internal::all_ints_and_optional_name<Args...>::value>>
    explicit Buffer(Type t, int first, Args... rest)
        : Buffer(t, Internal::get_shape_from_start_of_parameter_pack(first, rest...),
                 Internal::get_name_from_end_of_parameter_pack(first, rest...)) {
    }
    template<typename... Args, typename = std::enable_if_t<Internal::all_ints_and_optional_name<Args...>::value>>
    explicit Buffer(int first, Args... rest)
        : Buffer(Internal::get_shape_from_start_of_parameter_pack(first, rest...),
                 Internal::get_name_from_end_of_parameter_pack(first, rest...)) {
    }
    explicit Buffer(Type t, const std::vector<int> &sizes, const std::string &name = "") {
        adopt(Runtime::Buffer<>(t.to_abi(), sizes), name);
    }
    explicit Buffer(const std::vector<int> &sizes, const std::string &name = "") {
        adopt(Runtime::Buffer<T>(sizes), name);
    }
    /// @param storage_order  the dimensions, innermost first.
    Buffer(Type t, const std::vector<int> &sizes, const std::vector<int> &storage_order, const std::string &name = "") {
        adopt(Runtime::Buffer<>(t.to_abi(), sizes, storage_order), name);
    }
    Buffer(const std::vector<int> &sizes, const std::vector<int> &storage_order, const std::string &name = "") {
        adopt(Runtime::Buffer<T>(sizes, storage_order), name);
    }
    /// Sizes and orders in braces: `Buffer<float> b({3, 4})` is not a copy of Buffer<float>(3, 4), nor is an order a name.
    template<typename Int, typename = std::enable_if_t<std::is_same_v<Int, int>>>
    explicit Buffer(std::initializer_list<Int> sizes, const std::string &name = "")
        : Buffer(std::vector<int>(sizes), name) {
    }
    template<typename Int, typename = std::enable_if_t<std::is_same_v<Int, int>>>
    Buffer(std::initializer_list<Int> sizes, std::initializer_list<Int> storage_order, const std::string &name = "")
        : Buffer(std::vector<int>(sizes), std::vector<int>(storage_order), name) {
    }
    template<typename Int, typename = std::enable_if_t<std::is_same_v<Int, int>>>
    Buffer(const std::vector<int> &sizes, std::initializer_list<Int> storage_order, const std::string &name = "")
        : Buffer(sizes, std::vector<int>(storage_order), name) {
    }
    template<typename Int, typename = std::enable_if_t<std::is_same_v<Int, int>>>
    Buffer(Type t, const std::vector<int> &sizes, std::initializer_list<Int> storage_order,
           const std::string &name = "")
        : Buffer(t, sizes, std::vector<int>(storage_order), name) {
    }
    /// @}

    /// @name Existing memory, not owned
    /// @{
    template<typename Array, size_t N>
    explicit Buffer(Array (&vals)[N], const std::string &name = "") {
        adopt(Runtime::Buffer<T>(vals), name);
    }
    template<typename... Args, typename = std::enable_if_t<Internal::all_ints_and_optional_name<Args...>::value>>
    explicit Buffer(Type t, Data *data, int first, Args &&...rest)
        : Buffer(t, data, Internal::get_shape_from_start_of_parameter_pack(first, rest...),
                 Internal::get_name_from_end_of_parameter_pack(first, rest...)) {
    }
    template<typename... Args, typename = std::enable_if_t<Internal::all_ints_and_optional_name<Args...>::value>>
    explicit Buffer(T *data, int first, Args &&...rest)
        : Buffer(data, Internal::get_shape_from_start_of_parameter_pack(first, rest...),
                 Internal::get_name_from_end_of_parameter_pack(first, rest...)) {
    }
    explicit Buffer(Type t, Data *data, const std::vector<int> &sizes, const std::string &name = "") {
        adopt(Runtime::Buffer<Data>(t.to_abi(), data, sizes), name);
    }
    explicit Buffer(T *data, const std::vector<int> &sizes, const std::string &name = "") {
        adopt(Runtime::Buffer<T>(data, sizes), name);
    }
    explicit Buffer(Type t, Data *data, int d, const halide_dimension_t *shape, const std::string &name = "") {
        adopt(Runtime::Buffer<Data>(t.to_abi(), data, d, shape), name);
    }
    explicit Buffer(T *data, int d, const halide_dimension_t *shape, const std::string &name = "") {
        adopt(Runtime::Buffer<T>(data, d, shape), name);
    }
    explicit Buffer(Type t, Data *data, const std::vector<halide_dimension_t> &shape, const std::string &name = "")
        : Buffer(t, data, (int)shape.size(), shape.data(), name) {
    }
    explicit Buffer(T *data, const std::vector<halide_dimension_t> &shape, const std::string &name = "")
        : Buffer(data, (int)shape.size(), shape.data(), name) {
    }
    /// @}

    /// @name Factories
    /// @{
    static Buffer<T, Dims> make_scalar(const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<T>::make_scalar(), name);
    }
    static Buffer<T, Dims> make_scalar(Type t, const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<>::make_scalar(t.to_abi()), name);
    }
    static Buffer<T, Dims> make_scalar(T *data, const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<T>::make_scalar(data), name);
    }
    /// Channels next to each other: strides channels, channels · width, 1.
    static Buffer<T, Dims> make_interleaved(int width, int height, int channels, const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<T>::make_interleaved(width, height, channels), name);
    }
    static Buffer<T, Dims> make_interleaved(Type t, int width, int height, int channels, const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<>::make_interleaved(t.to_abi(), width, height, channels), name);
    }
    static Buffer<T, Dims> make_interleaved(T *data, int width, int height, int channels,
                                            const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<T>::make_interleaved(data, width, height, channels), name);
    }
    static Buffer<T, Dims> make_interleaved(Type t, Data *data, int width, int height, int channels,
                                            const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<Data>::make_interleaved(t.to_abi(), data, width, height, channels),
                               name);
    }
    /// New memory with the bounds and the order of dimensions of another buffer.
    template<typename T2, int D2>
    static Buffer<T, Dims> make_with_shape_of(Buffer<T2, D2> src, void *(*allocate_fn)(size_t) = nullptr,
                                              void (*deallocate_fn)(void *) = nullptr, const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<T, Dims>::make_with_shape_of(src.view("make_with_shape_of"), allocate_fn,
                                                                            deallocate_fn),
                               name);
    }
    template<typename T2, int D2, int S2>
    static Buffer<T, Dims> make_with_shape_of(const Runtime::Buffer<T2, D2, S2> &src,
                                              void *(*allocate_fn)(size_t) = nullptr,
                                              void (*deallocate_fn)(void *) = nullptr, const std::string &name = "") {
        return Buffer<T, Dims>(Runtime::Buffer<T, Dims>::make_with_shape_of(src, allocate_fn, deallocate_fn), name);
    }
    /// @}

    /// @name Identity
    /// @{
    void set_name(const std::string &n) {
        user_assert(defined()) << "Undefined buffer calling method set_name\n";
        contents->name = n;
    }
    const std::string &name() const {
        user_assert(defined()) << "Undefined buffer calling method name\n";
        return contents->name;
    }
    /// True if both refer to the same object.
    template<typename T2, int D2>
    bool same_as(const Buffer<T2, D2> &other) const {
        return (const void *)contents.get() == (const void *)other.contents.get();
    }
    bool defined() const {
        return contents.defined();
    }
    /// The runtime buffer inside, or null.
    View *get() {
        return defined() ? &view("get") : nullptr;
    }
    const View *get() const {
        return defined() ? &view("get") : nullptr;
    }
    /// Another static type for the same object.
    template<typename T2, int D2 = Dims>
    Buffer<T2, D2> as() const {
        return Buffer<T2, D2>(*this);
    }
    /// A buffer with its own memory: same values, packed.
    Buffer<T, Dims> copy(void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) const {
        return Buffer<T, Dims>(view("copy").copy(allocate_fn, deallocate_fn));
    }
    /// Copies the values of the common region.
    template<typename T2, int D2>
    void copy_from(const Buffer<T2, D2> &other) {
        view("copy_from").copy_from(other.view("copy_from"));
    }
    template<typename T2, int D2, int S2>
    void copy_from(const Runtime::Buffer<T2, D2, S2> &other) {
        view("copy_from").copy_from(other);
    }
    template<typename T2>
    static bool can_convert_from(const Buffer<T2> &other) {
        return Runtime::Buffer<T, Dims>::can_convert_from(*other.get());
    }
    /// @}

    /// @name Shape
    /// @{
    Type type() const {
        return Type(view("type").type());
    }
    int dimensions() const {
        return view("dimensions").dimensions();
    }
    auto dim(int i) const {
        const View &v = view("dim");
        return v.dim(i);
    }
    int width() const {
        return view("width").width();
    }
    int height() const {
        return view("height").height();
    }
    int channels() const {
        return view("channels").channels();
    }
    int min(int i) const {
        return view("min").dim(i).min();
    }
    int extent(int i) const {
        return view("extent").dim(i).extent();
    }
    int stride(int i) const {
        return view("stride").dim(i).stride();
    }
    int left() const {
        return view("left").left();
    }
    int right() const {
        return view("right").right();
    }
    int top() const {
        return view("top").top();
    }
    int bottom() const {
        return view("bottom").bottom();
    }
    size_t number_of_elements() const {
        return view("number_of_elements").number_of_elements();
    }
    size_t size_in_bytes() const {
        return view("size_in_bytes").size_in_bytes();
    }
    template<typename... Args>
    bool contains(Args &&...args) const {
        return const_view("contains").contains(std::forward<Args>(args)...);
    }
    bool contains(const std::vector<int> &coordinates) const {
        return const_view("contains").contains(coordinates);
    }
    /// @}

    /// @name Memory
    /// @{
    T *data() const {
        return (T *)view("data").data();
    }
    /// The lowest address, and the one after the highest.
    T *begin() const {
        return (T *)view("begin").begin();
    }
    T *end() const {
        return (T *)view("end").end();
    }
    halide_buffer_t *raw_buffer() {
        return view("raw_buffer").raw_buffer();
    }
    const halide_buffer_t *raw_buffer() const {
        return const_view("raw_buffer").raw_buffer();
    }
    void allocate(void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) {
        view("allocate").allocate(allocate_fn, deallocate_fn);
    }
    void deallocate() {
        view("deallocate").deallocate();
    }
    void device_deallocate() {
        view("device_deallocate").device_deallocate();
    }
    /// @}

    /// @name Changing the shape of the object
    /// @{
    void crop(int d, int min, int extent) {
        view("crop").crop(d, min, extent);
    }
    void crop(const std::vector<std::pair<int, int>> &rect) {
        view("crop").crop(rect);
    }
    void slice(int d, int pos) {
        view("slice").slice(d, pos);
    }
    void slice(int d) {
        view("slice").slice(d);
    }
    void embed(int d, int pos = 0) {
        view("embed").embed(d, pos);
    }
    template<typename... Args>
    void set_min(Args... mins) {
        view("set_min").set_min(mins...);
    }
    void set_min(const std::vector<int> &mins) {
        view("set_min").set_min(mins);
    }
    void translate(int d, int delta) {
        view("translate").translate(d, delta);
    }
    void translate(const std::vector<int> &delta) {
        view("translate").translate(delta);
    }
    void transpose(int d1, int d2) {
        view("transpose").transpose(d1, d2);
    }
    void transpose(const std::vector<int> &order) {
        view("transpose").transpose(order);
    }
    void add_dimension() {
        view("add_dimension").add_dimension();
    }
    void add_dimension_with_stride(int s) {
        view("add_dimension_with_stride").add_dimension_with_stride(s);
    }
    /// @}

    /// @name Objects of another shape over the same memory
    /// @{
    Buffer<T, Dims> alias() const {
        return Buffer<T, Dims>(view("alias").alias());
    }
    Buffer<T, Dims> cropped(int d, int min, int extent) const {
        return Buffer<T, Dims>(const_view("cropped").cropped(d, min, extent));
    }
    Buffer<T, Dims> cropped(const std::vector<std::pair<int, int>> &rect) const {
        return Buffer<T, Dims>(const_view("cropped").cropped(rect));
    }
    Buffer<T, less_dims> sliced(int d, int pos) const {
        return Buffer<T, less_dims>(const_view("sliced").sliced(d, pos));
    }
    Buffer<T, less_dims> sliced(int d) const {
        return Buffer<T, less_dims>(const_view("sliced").sliced(d));
    }
    Buffer<T, more_dims> embedded(int d, int pos = 0) const {
        return Buffer<T, more_dims>(const_view("embedded").embedded(d, pos));
    }
    Buffer<T, Dims> translated(int d, int delta) const {
        return Buffer<T, Dims>(const_view("translated").translated(d, delta));
    }
    Buffer<T, Dims> translated(const std::vector<int> &delta) const {
        return Buffer<T, Dims>(const_view("translated").translated(delta));
    }
    Buffer<T, Dims> transposed(int d1, int d2) const {
        return Buffer<T, Dims>(const_view("transposed").transposed(d1, d2));
    }
    Buffer<T, Dims> transposed(const std::vector<int> &order) const {
        return Buffer<T, Dims>(const_view("transposed").transposed(order));
    }
    /// @}

    /// @name Device memory; all but the queries return an error code, 0 for success
    /// @{
    bool has_device_allocation() const {
        return const_view("has_device_allocation").has_device_allocation();
    }
    bool host_dirty() const {
        return const_view("host_dirty").host_dirty();
    }
    bool device_dirty() const {
        return const_view("device_dirty").device_dirty();
    }
    void set_host_dirty(bool dirty = true) {
        view("set_host_dirty").set_host_dirty(dirty);
    }
    void set_device_dirty(bool dirty = true) {
        view("set_device_dirty").set_device_dirty(dirty);
    }
    int copy_to_host(void *context = nullptr) {
        return view("copy_to_host").copy_to_host(context);
    }
    int device_sync(void *context = nullptr) {
        return view("device_sync").device_sync(context);
    }
    int device_free(void *context = nullptr) {
        return view("device_free").device_free(context);
    }
    int device_wrap_native(const halide_device_interface_t *device_interface, uint64_t handle,
                           void *context = nullptr) {
        return view("device_wrap_native").device_wrap_native(device_interface, handle, context);
    }
    int device_detach_native(void *context = nullptr) {
        return view("device_detach_native").device_detach_native(context);
    }
    int copy_to_device(const halide_device_interface_t *device_interface, void *context = nullptr) {
        return view("copy_to_device").copy_to_device(device_interface, context);
    }
    int copy_to_device(const Target &t = get_jit_target_from_environment(), void *context = nullptr) {
        return copy_to_device(DeviceAPI::Default_GPU, t, context);
    }
    int copy_to_device(DeviceAPI d, const Target &t = get_jit_target_from_environment(), void *context = nullptr) {
        return view("copy_to_device")
            .copy_to_device(get_device_interface_for_device_api(d, t, "Buffer::copy_to_device"), context);
    }
    int device_malloc(const halide_device_interface_t *device_interface, void *context = nullptr) {
        return view("device_malloc").device_malloc(device_interface, context);
    }
    int device_malloc(const Target &t = get_jit_target_from_environment(), void *context = nullptr) {
        return device_malloc(DeviceAPI::Default_GPU, t, context);
    }
    int device_malloc(DeviceAPI d, const Target &t = get_jit_target_from_environment(), void *context = nullptr) {
        return view("device_malloc")
            .device_malloc(get_device_interface_for_device_api(d, t, "Buffer::device_malloc"), context);
    }
    /// @}

    /// @name All elements
    /// @{
    template<typename Arg>
    Buffer<T, Dims> &fill(Arg &&value_or_function) {
        view("fill").fill(std::forward<Arg>(value_or_function));
        return *this;
    }
    template<typename Arg>
    bool all_equal(Arg value) const {
        return const_view("all_equal").all_equal(value);
    }
    template<typename Fn, typename... Others>
    Buffer<T, Dims> &for_each_value(Fn &&f, Others &&...others) {
        view("for_each_value").for_each_value(std::forward<Fn>(f), runtime_buffer(std::forward<Others>(others))...);
        return *this;
    }
    template<typename Fn, typename... Others>
    const Buffer<T, Dims> &for_each_value(Fn &&f, Others &&...others) const {
        const_view("for_each_value")
            .for_each_value(std::forward<Fn>(f), runtime_buffer(std::forward<Others>(others))...);
        return *this;
    }
    template<typename Fn>
    Buffer<T, Dims> &for_each_element(Fn &&f) {
        view("for_each_element").for_each_element(std::forward<Fn>(f));
        return *this;
    }
    template<typename Fn>
    const Buffer<T, Dims> &for_each_element(Fn &&f) const {
        const_view("for_each_element").for_each_element(std::forward<Fn>(f));
        return *this;
    }
    /// @}

    /// @name One element
    /// @{
    Element &operator()() {
        return view("operator()")();
    }
    const Element &operator()() const {
        return const_view("operator()")();
    }
    template<typename... Args, typename = std::enable_if_t<Internal::all_are_convertible<int, Args...>::value>>
    Element &operator()(int first, Args &&...rest) {
        return view("operator()")(first, (int)rest...);
    }
    template<typename... Args, typename = std::enable_if_t<Internal::all_are_convertible<int, Args...>::value>>
    const Element &operator()(int first, Args &&...rest) const {
        return const_view("operator()")(first, (int)rest...);
    }
    Element &operator()(const int *pos) {
        return view("operator()")(pos);
    }
    const Element &operator()(const int *pos) const {
        return const_view("operator()")(pos);
    }
    /// @}

    /// @name An access as an expression
    /// @{
    Expr operator()(const std::vector<Expr> &args) const {
        return Internal::buffer_accessor(Buffer<>(*this), args);
    }
    template<typename... Args, typename = std::enable_if_t<Internal::all_are_convertible<Expr, Args...>::value>>
    Expr operator()(const Expr &first, Args &&...rest) const {
        return (*this)(std::vector<Expr>{first, Expr(std::forward<Args>(rest))...});
    }
    /// @}

private:
    const View &const_view(const char *method) const {
        return view(method);
    }

    template<typename T2, int D2>
    static auto &runtime_buffer(Buffer<T2, D2> &b) {
        return b.view("for_each_value");
    }
    template<typename T2, int D2>
    static const auto &runtime_buffer(const Buffer<T2, D2> &b) {
        return b.const_view("for_each_value");
    }
    template<typename T2, int D2, int S2>
    static auto &runtime_buffer(Runtime::Buffer<T2, D2, S2> &b) {
        return b;
    }
    template<typename T2, int D2, int S2>
    static const auto &runtime_buffer(const Runtime::Buffer<T2, D2, S2> &b) {
        return b;
    }
};

}  // namespace Halide
