#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/HalideRuntime.h"
#include "support/Float16.h"

/// The name of a C++ type and the keyword that declares it: what C++ name mangling and generated headers need.
struct halide_cplusplus_type_name {
    enum CPPTypeType {
        Simple,  ///< "int", or any type not otherwise classified
        Struct,
        Class,
        Union,
        Enum,
    } cpp_type_type = Simple;

    std::string name;

    halide_cplusplus_type_name() = default;
    halide_cplusplus_type_name(CPPTypeType cpp_type_type, std::string name)
        : cpp_type_type(cpp_type_type), name(std::move(name)) {
    }

    bool operator==(const halide_cplusplus_type_name &rhs) const {
        return cpp_type_type == rhs.cpp_type_type && name == rhs.name;
    }
    bool operator!=(const halide_cplusplus_type_name &rhs) const {
        return !(*this == rhs);
    }
    bool operator<(const halide_cplusplus_type_name &rhs) const {
        return std::tie(cpp_type_type, name) < std::tie(rhs.cpp_type_type, rhs.name);
    }
};

/// Maps a C++ type to its name. Specialized by the HALIDE_DECLARE_EXTERN_* macros below.
template<typename T>
struct halide_c_type_to_name {
    static constexpr bool known_type = false;
    static halide_cplusplus_type_name name() {
        return {halide_cplusplus_type_name::Simple, "void"};
    }
};

#define HALIDE_DECLARE_EXTERN_TYPE(TypeType, T)                              \
    template<>                                                               \
    struct halide_c_type_to_name<T> {                                        \
        static constexpr bool known_type = true;                             \
        static halide_cplusplus_type_name name() {                           \
            return {halide_cplusplus_type_name::TypeType, #T};               \
        }                                                                    \
    }

// Each declares a user type (at global scope; the name may be qualified), so that pointers to it have a known C++ name.
#define HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(T) HALIDE_DECLARE_EXTERN_TYPE(Simple, T)
#define HALIDE_DECLARE_EXTERN_STRUCT_TYPE(T) HALIDE_DECLARE_EXTERN_TYPE(Struct, T)
#define HALIDE_DECLARE_EXTERN_CLASS_TYPE(T) HALIDE_DECLARE_EXTERN_TYPE(Class, T)
#define HALIDE_DECLARE_EXTERN_UNION_TYPE(T) HALIDE_DECLARE_EXTERN_TYPE(Union, T)
#define HALIDE_DECLARE_EXTERN_ENUM_TYPE(T) HALIDE_DECLARE_EXTERN_TYPE(Enum, T)

HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(bool);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(int8_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(uint8_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(int16_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(uint16_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(int32_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(uint32_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(int64_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(uint64_t);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(char);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(float);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(double);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(void);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(Halide::float16_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(Halide::bfloat16_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_buffer_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_dimension_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_device_interface_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_filter_metadata_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_semaphore_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_semaphore_acquire_t);
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(halide_parallel_task_t);

/// The C++ type behind a handle.
struct halide_handle_cplusplus_type {
    /// The name without scopes, qualifiers and indirections.
    halide_cplusplus_type_name inner_name;
    /// Outermost first.
    std::vector<std::string> namespaces;
    /// Outermost first.
    std::vector<halide_cplusplus_type_name> enclosing_types;

    enum Modifier : uint8_t {
        Const = 1 << 0,
        Volatile = 1 << 1,
        Restrict = 1 << 2,
        Pointer = 1 << 3,
        FunctionTypedef = 1 << 4,
    };
    /// One entry per level of indirection, innermost first. The qualifiers of an entry apply to what the entry's
    /// Pointer points to: `char const *` is {Const | Pointer}, `char **` is {Pointer, Pointer}.
    std::vector<uint8_t> cpp_type_modifiers;

    enum ReferenceType : uint8_t {
        NotReference = 0,
        LValueReference = 1,
        RValueReference = 2,
    };
    ReferenceType reference_type = NotReference;

    halide_handle_cplusplus_type(halide_cplusplus_type_name inner_name, std::vector<std::string> namespaces = {},
                                 std::vector<halide_cplusplus_type_name> enclosing_types = {},
                                 std::vector<uint8_t> modifiers = {}, ReferenceType reference_type = NotReference)
        : inner_name(std::move(inner_name)), namespaces(std::move(namespaces)),
          enclosing_types(std::move(enclosing_types)), cpp_type_modifiers(std::move(modifiers)),
          reference_type(reference_type) {
    }

    bool operator==(const halide_handle_cplusplus_type &other) const {
        return inner_name == other.inner_name && namespaces == other.namespaces &&
               enclosing_types == other.enclosing_types && cpp_type_modifiers == other.cpp_type_modifiers &&
               reference_type == other.reference_type;
    }
    bool operator!=(const halide_handle_cplusplus_type &other) const {
        return !(*this == other);
    }

    /// The description of a C++ pointer or reference type.
    template<typename T>
    static halide_handle_cplusplus_type make();

    /// From a possibly qualified name, which is cut into namespaces and inner name.
    static halide_handle_cplusplus_type make(const halide_cplusplus_type_name &scoped_name,
                                             std::vector<uint8_t> modifiers, ReferenceType reference_type);

private:
    template<typename T>
    static halide_cplusplus_type_name describe(std::vector<uint8_t> &modifiers) {
        if constexpr (std::is_pointer_v<T>) {
            using Pointee = std::remove_pointer_t<T>;
            halide_cplusplus_type_name name = describe<std::remove_cv_t<Pointee>>(modifiers);
            modifiers.push_back((uint8_t)(Pointer | (std::is_const_v<Pointee> ? Const : 0) |
                                          (std::is_volatile_v<Pointee> ? Volatile : 0)));
            return name;
        } else {
            return halide_c_type_to_name<T>::name();
        }
    }
};

template<typename T>
halide_handle_cplusplus_type halide_handle_cplusplus_type::make() {
    using NoRef = std::remove_reference_t<T>;
    std::vector<uint8_t> modifiers;
    halide_cplusplus_type_name name = describe<std::remove_cv_t<NoRef>>(modifiers);
    const uint8_t outer = (uint8_t)((std::is_const_v<NoRef> ? Const : 0) | (std::is_volatile_v<NoRef> ? Volatile : 0));
    if (outer && std::is_reference_v<T>) {
        modifiers.push_back(outer);
    }
    return make(name, std::move(modifiers),
                std::is_lvalue_reference_v<T> ? LValueReference :
                std::is_rvalue_reference_v<T> ? RValueReference :
                                                NotReference);
}

/// The handle description that goes with a C++ type: null means "not a handle, or void *".
template<typename T>
struct halide_handle_traits {
    static const halide_handle_cplusplus_type *type_info() {
        if constexpr ((std::is_pointer_v<T> || std::is_reference_v<T>) && !std::is_same_v<std::remove_cv_t<T>, void *>) {
            static const halide_handle_cplusplus_type info = halide_handle_cplusplus_type::make<T>();
            static const bool is_void_pointer =
                info == halide_handle_cplusplus_type({halide_cplusplus_type_name::Simple, "void"}, {}, {},
                                                     {halide_handle_cplusplus_type::Pointer});
            return is_void_pointer ? nullptr : &info;
        } else {
            return nullptr;
        }
    }
};

namespace Halide {

struct Expr;
struct Type;

namespace Internal {
struct ConstantInterval;

/// Handle descriptions are kept in a process-wide table so that a Type can name one in four bytes.
uint32_t intern_handle_type(const halide_handle_cplusplus_type *t);
const halide_handle_cplusplus_type *interned_handle_type(uint32_t id);
}  // namespace Internal

/// The type of an expression: what kind of number, how wide, how many lanes.
struct Type {
private:
    uint8_t type_code = halide_type_handle;
    uint8_t type_bits = 0;
    uint16_t type_lanes = 0;
    uint32_t handle_id = 0;

public:
    static constexpr halide_type_code_t Int = halide_type_int;
    static constexpr halide_type_code_t UInt = halide_type_uint;
    static constexpr halide_type_code_t Float = halide_type_float;
    static constexpr halide_type_code_t BFloat = halide_type_bfloat;
    static constexpr halide_type_code_t Handle = halide_type_handle;

    /// "No type": a handle of no bits and no lanes.
    Type() = default;

    Type(halide_type_code_t code, int bits, int lanes, const halide_handle_cplusplus_type *handle_type = nullptr);

    /// A scalar type as the C ABI describes it.
    Type(const halide_type_t &that, const halide_handle_cplusplus_type *handle_type = nullptr)
        : Type((halide_type_code_t)that.code, that.bits, 1, handle_type) {
    }

    halide_type_code_t code() const {
        return (halide_type_code_t)type_code;
    }
    int bits() const {
        return type_bits;
    }
    int lanes() const {
        return type_lanes;
    }
    /// Bytes that one lane takes in memory.
    int bytes() const {
        return (type_bits + 7) / 8;
    }

    /// The ABI's name for this type, which must have one lane (or none).
    halide_type_t to_abi() const;

    const halide_handle_cplusplus_type *handle_type() const {
        return handle_id ? Internal::interned_handle_type(handle_id) : nullptr;
    }

    Type with_code(halide_type_code_t new_code) const {
        Type t = *this;
        if (new_code != code()) {
            t.type_code = (uint8_t)new_code;
            t.handle_id = 0;
        }
        return t;
    }
    Type with_bits(int new_bits) const {
        Type t = *this;
        t.type_bits = (uint8_t)new_bits;
        return t;
    }
    Type with_lanes(int new_lanes) const {
        Type t = *this;
        t.type_lanes = (uint16_t)new_lanes;
        return t;
    }
    Type element_of() const {
        return with_lanes(1);
    }

    /// The next wider type of the same kind: 1 bit becomes 8, bfloat16 becomes float32.
    Type widen() const;
    /// The next narrower type of the same kind; a type of one bit has none.
    Type narrow() const;

    bool is_bool() const {
        return type_code == halide_type_uint && type_bits == 1;
    }
    bool is_vector() const {
        return type_lanes != 1;
    }
    bool is_scalar() const {
        return type_lanes == 1;
    }
    /// Any floating point, bfloat included.
    bool is_float() const {
        return type_code == halide_type_float || type_code == halide_type_bfloat;
    }
    bool is_bfloat() const {
        return type_code == halide_type_bfloat;
    }
    bool is_int() const {
        return type_code == halide_type_int;
    }
    bool is_uint() const {
        return type_code == halide_type_uint;
    }
    bool is_int_or_uint() const {
        return type_code == halide_type_int || type_code == halide_type_uint;
    }
    bool is_handle() const {
        return type_code == halide_type_handle;
    }

    /// Signed, and narrow enough for overflow to wrap by definition.
    bool can_overflow_int() const {
        return is_int() && type_bits <= 16;
    }
    /// Arithmetic on this type wraps by definition.
    bool can_overflow() const {
        return is_uint() || can_overflow_int();
    }

    bool same_handle_type(const Type &other) const;

    bool operator==(const Type &other) const {
        return type_code == other.type_code && type_bits == other.type_bits && type_lanes == other.type_lanes &&
               (handle_id == other.handle_id || same_handle_type(other));
    }
    bool operator!=(const Type &other) const {
        return !(*this == other);
    }
    bool operator==(const halide_type_t &other) const {
        return type_code == other.code && type_bits == other.bits && type_lanes == 1;
    }
    bool operator!=(const halide_type_t &other) const {
        return !(*this == other);
    }
    /// Some total order that ignores handle descriptions only if they are equal.
    bool operator<(const Type &other) const;

    /// Whether every value of the other type is a value of this one.
    bool can_represent(Type other) const;
    bool can_represent(const Internal::ConstantInterval &in) const;

    /// Whether this value is exactly a value of this type.
    bool can_represent(double x) const;
    bool can_represent(int64_t x) const;
    bool can_represent(uint64_t x) const;
    bool can_represent(int32_t x) const {
        return can_represent((int64_t)x);
    }

    bool is_max(uint64_t) const;
    bool is_max(int64_t) const;
    bool is_min(uint64_t) const;
    bool is_min(int64_t) const;

    /// The largest and smallest values; infinities for floats.
    Expr max() const;
    Expr min() const;
};
static_assert(sizeof(Type) == 8, "A Type is passed around by value.");

inline Type Int(int bits, int lanes = 1) {
    return Type(Type::Int, bits, lanes);
}
inline Type UInt(int bits, int lanes = 1) {
    return Type(Type::UInt, bits, lanes);
}
inline Type Float(int bits, int lanes = 1) {
    return Type(Type::Float, bits, lanes);
}
inline Type BFloat(int bits, int lanes = 1) {
    return Type(Type::BFloat, bits, lanes);
}
inline Type Bool(int lanes = 1) {
    return UInt(1, lanes);
}
inline Type Handle(int lanes = 1, const halide_handle_cplusplus_type *handle_type = nullptr) {
    return Type(Type::Handle, 64, lanes, handle_type);
}
inline Type Handle(const halide_handle_cplusplus_type *handle_type) {
    return Type(Type::Handle, 64, 1, handle_type);
}

/// The Type of a C++ type.
template<typename T>
inline Type type_of() {
    return Type(halide_type_of<T>(), halide_handle_traits<T>::type_info());
}

enum AppendSpaceIfNeeded {
    DoNotAppendSpace,
    AppendSpace,
};

/// How C or C++ writes this type; with `include_space`, followed by a space unless it ends in `*` or `&`.
std::string type_to_c_type(Type type, bool include_space, bool c_plus_plus = true);

}  // namespace Halide
