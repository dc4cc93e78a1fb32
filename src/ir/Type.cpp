#include "ir/Type.h"

#include "ir/IR.h"
#include "ir/IRPrinter.h"
#include "support/Error.h"
#include "support/Util.h"

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>

using Halide::Internal::split_string;

halide_handle_cplusplus_type halide_handle_cplusplus_type::make(const halide_cplusplus_type_name &scoped_name,
                                                                std::vector<uint8_t> modifiers,
                                                                ReferenceType reference_type) {
    std::vector<std::string> namespaces;
    const std::string inner = Halide::Internal::extract_namespaces(scoped_name.name, namespaces);
    return halide_handle_cplusplus_type({scoped_name.cpp_type_type, inner}, std::move(namespaces), {},
                                        std::move(modifiers), reference_type);
}

namespace Halide {

namespace Internal {
namespace {

struct HandleTable {
    std::mutex mutex;
    // Entry 0 stands for "no description".
    std::deque<const halide_handle_cplusplus_type *> entries{nullptr};
    std::map<const halide_handle_cplusplus_type *, uint32_t> ids;
};

HandleTable &handle_table() {
    // Never destroyed: types may live in static objects.
    static HandleTable *table = new HandleTable;
    return *table;
}

}  // namespace

uint32_t intern_handle_type(const halide_handle_cplusplus_type *t) {
    if (!t) {
        return 0;
    }
    HandleTable &table = handle_table();
    std::lock_guard<std::mutex> lock(table.mutex);
    auto [it, inserted] = table.ids.try_emplace(t, (uint32_t)table.entries.size());
    if (inserted) {
        table.entries.push_back(t);
    }
    return it->second;
}

const halide_handle_cplusplus_type *interned_handle_type(uint32_t id) {
    HandleTable &table = handle_table();
    std::lock_guard<std::mutex> lock(table.mutex);
    return table.entries[id];
}

namespace {

uint64_t max_of_bits(int bits) {
    return bits == 0 ? 0 : ~(uint64_t)0 >> (64 - bits);
}

// The extreme values of an integer type, the largest as an unsigned number.
uint64_t integer_max(const Type &t) {
    return max_of_bits(t.is_int() ? t.bits() - 1 : t.bits());
}
int64_t integer_min(const Type &t) {
    return t.is_uint() ? 0 : -(int64_t)max_of_bits(t.bits() - 1) - 1;
}

// The largest n such that all integers of magnitude up to 2^n are values of a float type.
int float_precision(const Type &t) {
    if (t.is_bfloat()) {
        return 8;
    }
    return t.bits() == 16 ? 11 : t.bits() == 32 ? 24 : 53;
}

double float_max(const Type &t) {
    if (t.is_bfloat()) {
        return std::ldexp(2.0 - std::ldexp(1.0, -7), 127);
    }
    return t.bits() == 16 ? 65504.0 : t.bits() == 32 ? (double)std::numeric_limits<float>::max() :
                                                       std::numeric_limits<double>::max();
}

double round_to_float_type(const Type &t, double x) {
    if (t.is_bfloat()) {
        return (double)bfloat16_t(x);
    }
    return t.bits() == 16 ? (double)float16_t(x) : t.bits() == 32 ? (double)(float)x : x;
}

Expr broadcast_to_lanes(Expr e, int lanes) {
    return lanes > 1 ? Broadcast::make(std::move(e), lanes) : e;
}

}  // namespace
}  // namespace Internal

using namespace Internal;

Type::Type(halide_type_code_t code, int bits, int lanes, const halide_handle_cplusplus_type *handle_type)
    : type_code((uint8_t)code), type_bits((uint8_t)bits), type_lanes((uint16_t)lanes),
      handle_id(handle_type ? intern_handle_type(handle_type) : 0) {
    internal_assert(bits >= 0 && bits <= 255) << "A type cannot have " << bits << " bits\n";
    user_assert(lanes >= 0 && lanes <= 65535) << "A vector cannot have " << lanes << " lanes: the limit is 65535\n";
    internal_assert(handle_type == nullptr || code == halide_type_handle)
        << "Only handles have a C++ type description\n";
}

halide_type_t Type::to_abi() const {
    internal_assert(type_lanes <= 1) << "The type of a vector has no ABI form: " << *this << "\n";
    return halide_type_t(code(), type_bits);
}

Type Type::widen() const {
    if (type_bits == 1) {
        return with_bits(8);
    }
    if (is_bfloat()) {
        return with_code(Float).with_bits(32);
    }
    internal_assert(type_bits <= 127) << "Cannot widen " << *this << "\n";
    return with_bits(type_bits * 2);
}

Type Type::narrow() const {
    internal_assert(type_bits != 1) << "Cannot narrow a type of one bit\n";
    return with_bits(type_bits == 8 ? 1 : type_bits / 2);
}

bool Type::same_handle_type(const Type &other) const {
    if (handle_id == other.handle_id) {
        return true;
    }
    const halide_handle_cplusplus_type *a = handle_type(), *b = other.handle_type();
    return a && b && *a == *b;
}

bool Type::operator<(const Type &other) const {
    if (type_code != other.type_code) {
        return type_code < other.type_code;
    }
    if (type_bits != other.type_bits) {
        return type_bits < other.type_bits;
    }
    if (type_lanes != other.type_lanes) {
        return type_lanes < other.type_lanes;
    }
    if (same_handle_type(other)) {
        return false;
    }
    // By text, so that the order does not depend on the order of interning.
    const std::string a = type_to_c_type(*this, false), b = type_to_c_type(other, false);
    return a != b ? a < b : handle_id < other.handle_id;
}

bool Type::can_represent(Type other) const {
    if (*this == other) {
        return true;
    }
    if (lanes() != other.lanes()) {
        return false;
    }
    if (is_int()) {
        return (other.is_int() && other.bits() <= bits()) || (other.is_uint() && other.bits() < bits());
    }
    if (is_uint()) {
        return other.is_uint() && other.bits() <= bits();
    }
    if (is_bfloat()) {
        return (other.is_bfloat() && other.bits() <= bits()) || (other.is_int() && other.bits() - 1 <= 8) ||
               (other.is_uint() && other.bits() <= 8);
    }
    if (is_float()) {
        if (other.is_bfloat()) {
            return bits() > other.bits();
        }
        return (other.is_float() && other.bits() <= bits()) ||
               (other.is_int() && other.bits() - 1 <= float_precision(*this)) ||
               (other.is_uint() && other.bits() <= float_precision(*this));
    }
    return false;
}

bool Type::can_represent(int64_t x) const {
    if (is_int()) {
        return x >= integer_min(*this) && x <= (int64_t)integer_max(*this);
    }
    if (is_uint()) {
        return x >= 0 && (uint64_t)x <= integer_max(*this);
    }
    if (is_float()) {
        const double d = round_to_float_type(*this, (double)x);
        // 2^63 is not an int64.
        return d >= -9223372036854775808.0 && d < 9223372036854775808.0 && (int64_t)d == x;
    }
    return false;
}

bool Type::can_represent(uint64_t x) const {
    if (is_int_or_uint()) {
        return x <= integer_max(*this);
    }
    if (is_float()) {
        const double d = round_to_float_type(*this, (double)x);
        return d < 18446744073709551616.0 && (uint64_t)d == x;
    }
    return false;
}

bool Type::can_represent(double x) const {
    if (is_int()) {
        return x >= -9223372036854775808.0 && x < 9223372036854775808.0 && (double)(int64_t)x == x &&
               can_represent((int64_t)x);
    }
    if (is_uint()) {
        return x >= 0 && x < 18446744073709551616.0 && (double)(uint64_t)x == x && can_represent((uint64_t)x);
    }
    if (is_float()) {
        if (std::isnan(x) || std::isinf(x)) {
            return true;
        }
        return std::fabs(x) <= float_max(*this) && round_to_float_type(*this, x) == x;
    }
    return false;
}

bool Type::is_max(uint64_t x) const {
    return is_int_or_uint() && x == integer_max(*this);
}
bool Type::is_max(int64_t x) const {
    return x >= 0 && is_max((uint64_t)x);
}
bool Type::is_min(uint64_t x) const {
    return is_uint() && x == 0;
}
bool Type::is_min(int64_t x) const {
    return is_int_or_uint() && x == integer_min(*this);
}

Expr Type::max() const {
    const Type t = element_of();
    if (is_int()) {
        return broadcast_to_lanes(IntImm::make(t, (int64_t)integer_max(*this)), lanes());
    }
    if (is_uint()) {
        return broadcast_to_lanes(UIntImm::make(t, integer_max(*this)), lanes());
    }
    internal_assert(is_float()) << "The type " << *this << " has no largest value\n";
    return broadcast_to_lanes(FloatImm::make(t, std::numeric_limits<double>::infinity()), lanes());
}

Expr Type::min() const {
    const Type t = element_of();
    if (is_int()) {
        return broadcast_to_lanes(IntImm::make(t, integer_min(*this)), lanes());
    }
    if (is_uint()) {
        return broadcast_to_lanes(UIntImm::make(t, 0), lanes());
    }
    internal_assert(is_float()) << "The type " << *this << " has no smallest value\n";
    return broadcast_to_lanes(FloatImm::make(t, -std::numeric_limits<double>::infinity()), lanes());
}

namespace {

std::string handle_to_c_type(const Type &type, bool c_plus_plus) {
    const halide_handle_cplusplus_type *info = type.handle_type();
    if (!info) {
        return "void *";
    }
    const bool scoped = !info->namespaces.empty() || !info->enclosing_types.empty();
    const auto kind = info->inner_name.cpp_type_type;
    if (!c_plus_plus && (scoped || kind == halide_cplusplus_type_name::Class ||
                         info->reference_type != halide_handle_cplusplus_type::NotReference)) {
        return "void *";
    }
    std::ostringstream text;
    // Scoped names are used only where the user's header has declared them; others may need the keyword.
    if (!scoped) {
        switch (kind) {
        case halide_cplusplus_type_name::Simple:
            break;
        case halide_cplusplus_type_name::Struct:
            text << "struct ";
            break;
        case halide_cplusplus_type_name::Class:
            text << "class ";
            break;
        case halide_cplusplus_type_name::Union:
            text << "union ";
            break;
        case halide_cplusplus_type_name::Enum:
            text << "enum ";
            break;
        }
    } else {
        text << "::";
        for (const std::string &ns : info->namespaces) {
            text << ns << "::";
        }
        for (const halide_cplusplus_type_name &enclosing : info->enclosing_types) {
            text << enclosing.name << "::";
        }
    }
    text << info->inner_name.name;
    for (uint8_t modifier : info->cpp_type_modifiers) {
        if (modifier & halide_handle_cplusplus_type::Const) {
            text << " const";
        }
        if (modifier & halide_handle_cplusplus_type::Volatile) {
            text << " volatile";
        }
        if (modifier & halide_handle_cplusplus_type::Restrict) {
            text << " __restrict";
        }
        if (modifier & halide_handle_cplusplus_type::Pointer) {
            text << " *";
        }
    }
    switch (info->reference_type) {
    case halide_handle_cplusplus_type::NotReference:
        break;
    case halide_handle_cplusplus_type::LValueReference:
        text << " &";
        break;
    case halide_handle_cplusplus_type::RValueReference:
        text << " &&";
        break;
    }
    return text.str();
}

}  // namespace

std::string type_to_c_type(Type type, bool include_space, bool c_plus_plus) {
    std::ostringstream text;
    if (type.is_handle()) {
        const std::string name = handle_to_c_type(type, c_plus_plus);
        text << name;
        const char last = name.back();
        include_space = include_space && last != '*' && last != '&';
    } else if (type.is_bfloat()) {
        text << "bfloat" << type.bits();
        if (type.is_vector()) {
            text << "x" << type.lanes();
        }
        text << "_t";
    } else if (type.is_float()) {
        if (type.is_vector()) {
            text << "float" << type.bits() << "x" << type.lanes() << "_t";
        } else if (type.bits() == 32) {
            text << "float";
        } else if (type.bits() == 64) {
            text << "double";
        } else {
            user_assert(type.bits() == 16) << "Can't represent a float with this many bits in C: " << type << "\n";
            text << "float16_t";
        }
    } else if (type.is_scalar() && type.bits() == 1) {
        text << "bool";
    } else {
        user_assert(type.bits() == 1 || type.bits() == 8 || type.bits() == 16 || type.bits() == 32 ||
                    type.bits() == 64)
            << "Can't represent an integer with this many bits in C: " << type << "\n";
        text << (type.is_uint() ? "uint" : "int") << type.bits();
        if (type.is_vector()) {
            text << "x" << type.lanes();
        }
        text << "_t";
    }
    if (include_space) {
        text << " ";
    }
    return text.str();
}

}  // namespace Halide
