#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/Error.h"
#include "support/Process.h"

namespace Halide {
namespace Internal {

/// The bits of `from` as a `DstType`; the types may differ in size (the rest is zero).
template<typename DstType, typename SrcType>
DstType reinterpret_bits(const SrcType &from) {
    DstType to{};
    constexpr size_t n = sizeof(DstType) < sizeof(SrcType) ? sizeof(DstType) : sizeof(SrcType);
    memcpy((void *)&to, (const void *)&from, n);
    return to;
}

/// Converts between number types without undefined behaviour: integers wrap, out-of-range floats saturate, NaN is 0.
template<typename DstType, typename SrcType>
constexpr DstType safe_numeric_cast(SrcType value) {
    if constexpr (std::is_integral_v<DstType> && std::is_floating_point_v<SrcType>) {
        if (value != value) {
            return 0;
        }
        if (value <= static_cast<SrcType>(std::numeric_limits<DstType>::min())) {
            return std::numeric_limits<DstType>::min();
        }
        if (value >= static_cast<SrcType>(std::numeric_limits<DstType>::max())) {
            return std::numeric_limits<DstType>::max();
        }
        return static_cast<DstType>(value);
    } else {
        return static_cast<DstType>(value);
    }
}

/// Conversion of a value given for a parameter: to bool it tests against zero, otherwise like static_cast.
template<typename T>
struct StaticCast {
    template<typename From>
    static constexpr T value(From from) {
        if constexpr (std::is_same_v<T, bool> && !std::is_same_v<From, bool>) {
            return from != 0;
        } else {
            return static_cast<T>(from);
        }
    }
};

/// Whether a value survives the conversion to T and back.
template<typename T>
struct IsRoundtrippable {
    template<typename From>
    static constexpr bool value(From from) {
        if constexpr (std::is_convertible_v<From, T> && std::is_arithmetic_v<From> && std::is_arithmetic_v<T> &&
                      !std::is_same_v<From, T>) {
            const T converted = StaticCast<T>::value(from);
            return static_cast<From>(converted) == from && (converted < T(0)) == (from < From(0));
        } else {
            return true;
        }
    }
};

/// @name Strings
/// @{
bool starts_with(const std::string &str, const std::string &prefix);
bool ends_with(const std::string &str, const std::string &suffix);
std::string replace_all(const std::string &str, const std::string &find, const std::string &replace);
/// The pieces of `source` between occurrences of `delim`; n occurrences give n + 1 pieces.
std::vector<std::string> split_string(const std::string &source, const std::string &delim);

template<typename T>
std::string join_strings(const std::vector<T> &sources, const std::string &delim) {
    std::ostringstream text;
    const char *separator = "";
    for (const T &s : sources) {
        text << separator << s;
        separator = delim.c_str();
    }
    return text.str();
}

/// The printed forms of all arguments, one after the other.
template<typename... Args>
std::string concat_strings(Args &&...args) {
    std::ostringstream text;
    (text << ... << std::forward<Args>(args));
    return text.str();
}

/// A valid C identifier made from `name`: other characters become underscores, and a letter comes first.
std::string c_print_name(const std::string &name, bool prefix_underscore = true);

/// Splits `a::b::f`: the namespaces go to `namespaces`, the last part is returned.
std::string extract_namespaces(const std::string &name, std::vector<std::string> &namespaces);
/// @}

/// @name Files
/// @{
struct FileStat {
    uint64_t file_size;
    uint32_t mod_time;
    uint32_t uid;
    uint32_t gid;
    uint32_t mode;
};

bool file_exists(const std::string &name);
void assert_file_exists(const std::string &name);
void assert_no_file_exists(const std::string &name);
void ensure_no_file_exists(const std::string &name);
void file_unlink(const std::string &name);
void dir_rmdir(const std::string &name);
FileStat file_stat(const std::string &name);
/// Makes an empty file with an unused name in the directory for temporary files.
std::string file_make_temp(const std::string &prefix, const std::string &suffix);
/// Makes a directory of its own for temporary files.
std::string dir_make_temp();
std::vector<char> read_entire_file(const std::string &pathname);
void write_entire_file(const std::string &pathname, const void *source, size_t source_len);
inline void write_entire_file(const std::string &pathname, const std::vector<char> &source) {
    write_entire_file(pathname, source.data(), source.size());
}

/// A file that is deleted with this object.
class TemporaryFile final {
    const std::string path;
    bool do_unlink = true;

public:
    TemporaryFile(const std::string &prefix, const std::string &suffix)
        : path(file_make_temp(prefix, suffix)) {
    }
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    TemporaryFile(TemporaryFile &&) = delete;
    TemporaryFile &operator=(TemporaryFile &&) = delete;

    const std::string &pathname() const {
        return path;
    }
    /// Keeps the file.
    void detach() {
        do_unlink = false;
    }
};
/// @}

/// Gives a variable a value for the lifetime of this object.
template<typename T>
struct ScopedValue {
    T &var;
    T old_value;

    ScopedValue(T &var)
        : var(var), old_value(var) {
    }
    ScopedValue(T &var, T new_value)
        : var(var), old_value(std::move(var)) {
        var = std::move(new_value);
    }
    ~ScopedValue() {
        var = std::move(old_value);
    }
    /// The value to come back.
    operator T() const {
        return old_value;
    }
    ScopedValue(const ScopedValue &) = delete;
    ScopedValue(ScopedValue &&) = delete;
    ScopedValue &operator=(const ScopedValue &) = delete;
    ScopedValue &operator=(ScopedValue &&) = delete;
};

template<typename T>
struct reverse_adaptor {
    T &range;
};

template<typename T>
auto begin(reverse_adaptor<T> i) {
    return std::rbegin(i.range);
}

template<typename T>
auto end(reverse_adaptor<T> i) {
    return std::rend(i.range);
}

/// For range-based for loops from the back.
template<typename T>
reverse_adaptor<T> reverse_view(T &&range) {
    return {range};
}

/// @name Type lists
/// @{
template<typename...>
struct meta_and : std::true_type {};

template<typename T1, typename... Args>
struct meta_and<T1, Args...> : std::bool_constant<T1::value && meta_and<Args...>::value> {};

template<typename...>
struct meta_or : std::false_type {};

template<typename T1, typename... Args>
struct meta_or<T1, Args...> : std::bool_constant<T1::value || meta_or<Args...>::value> {};

template<typename To, typename... Args>
struct all_are_convertible : meta_and<std::is_convertible<Args, To>...> {};
/// @}

/// @name Integers
/// @{
/// Whether the result leaves the range of a signed integer of so many bits.
bool add_would_overflow(int bits, int64_t a, int64_t b);
bool sub_would_overflow(int bits, int64_t a, int64_t b);
bool mul_would_overflow(int bits, int64_t a, int64_t b);

/// The result, stored if it stays in range. @returns false if it does not.
bool add_with_overflow(int bits, int64_t a, int64_t b, int64_t *result);
bool sub_with_overflow(int bits, int64_t a, int64_t b, int64_t *result);
bool mul_with_overflow(int bits, int64_t a, int64_t b, int64_t *result);

/// Leading and trailing zeros of x, 64 if it is 0; number of set bits.
int clz64(uint64_t x);
int ctz64(uint64_t x);
int popcount64(uint64_t x);

inline bool is_power_of_two(int64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

/// The smallest power of two that is ≥ x.
inline int64_t next_power_of_two(int64_t x) {
    int64_t result = 1;
    while (result < x) {
        result <<= 1;
    }
    return result;
}

/// The smallest multiple of n that is ≥ x.
template<typename T>
inline T align_up(T x, int n) {
    return (x + n - 1) / n * n;
}
/// @}

/// Calls f with each coordinate of a box that starts at 0; the first dimension runs fastest.
template<typename Fn>
void for_each_coordinate(const std::vector<int> &sizes, Fn &&f) {
    for (int s : sizes) {
        if (s <= 0) {
            return;
        }
    }
    std::vector<int> position(sizes.size(), 0);
    while (true) {
        f(const_cast<const std::vector<int> &>(position));
        size_t d = 0;
        while (d < sizes.size() && ++position[d] == sizes[d]) {
            position[d++] = 0;
        }
        if (d == sizes.size()) {
            return;
        }
    }
}

/// Combines hashes of strings and numbers (FNV-1a), the same on every machine.
uint64_t stable_hash(uint64_t seed, const void *bytes, size_t size);

/// The version of the LLVM in use, as 10 · major + minor.
int get_llvm_version();

}  // namespace Internal
}  // namespace Halide
