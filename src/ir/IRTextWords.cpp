#include "ir/IRTextWords.h"

#include "ir/Intrinsics.h"
#include "support/Util.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

namespace Halide {
namespace Internal {
namespace ir_text {

bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_';
}
bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

namespace {

bool is_type_name(const std::string &name) {
    Type t;
    return scan_type(name.c_str(), &t) == name.size();
}

}  // namespace

bool is_reserved_name(const std::string &name) {
    static const std::set<std::string> words = {"true", "false", "let"};
    auto is_special_float = [&](const char *prefix) {
        return starts_with(name, prefix) && is_type_name(name.substr(4));
    };
    return words.count(name) || find_word(call_types, name) || is_special_float("inf_") || is_special_float("nan_");
}

bool is_reserved_call(const std::string &name) {
    static const std::set<std::string> words = {"min",     "max",        "select", "r",           "ramp",
                                                "broadcast", "reduce", "shuffle", "interleave", "reinterpret"};
    return words.count(name) || is_type_name(name) || find_intrinsic(name) || is_reserved_name(name);
}

bool is_statement_word(const std::string &name) {
    static const std::set<std::string> words = {"let",     "allocate",        "prefetch",        "assert",
                                                "free",    "evaluate",        "if",              "produce",
                                                "consume", "realize",         "acquire",         "fork",
                                                "atomic",  "streaming_store", "streaming_loads", "hoisted_storage"};
    return words.count(name) || find_word(for_types, name);
}

namespace {

const std::pair<const char *, halide_cplusplus_type_name::CPPTypeType> cpp_kinds[] = {
    {"struct", halide_cplusplus_type_name::Struct},
    {"class", halide_cplusplus_type_name::Class},
    {"union", halide_cplusplus_type_name::Union},
    {"enum", halide_cplusplus_type_name::Enum},
};
const std::pair<const char *, halide_handle_cplusplus_type::Modifier> cpp_modifiers[] = {
    {"const", halide_handle_cplusplus_type::Const},
    {"volatile", halide_handle_cplusplus_type::Volatile},
    {"restrict", halide_handle_cplusplus_type::Restrict},
    {"function", halide_handle_cplusplus_type::FunctionTypedef},
    {"*", halide_handle_cplusplus_type::Pointer},
};

// namespace ns  enclosing struct outer  struct name  | const *  | *  &
std::string handle_description(const halide_handle_cplusplus_type &info) {
    std::ostringstream text;
    auto put_name = [&](const halide_cplusplus_type_name &n) {
        for (const auto &[word, kind] : cpp_kinds) {
            if (kind == n.cpp_type_type) {
                text << word << " ";
            }
        }
        text << n.name;
    };
    for (const std::string &ns : info.namespaces) {
        text << "namespace " << ns << " ";
    }
    for (const halide_cplusplus_type_name &outer : info.enclosing_types) {
        text << "enclosing ";
        put_name(outer);
        text << " ";
    }
    put_name(info.inner_name);
    for (uint8_t modifiers : info.cpp_type_modifiers) {
        text << " |";
        for (const auto &[word, bit] : cpp_modifiers) {
            if (modifiers & bit) {
                text << " " << word;
            }
        }
    }
    if (info.reference_type == halide_handle_cplusplus_type::LValueReference) {
        text << " &";
    } else if (info.reference_type == halide_handle_cplusplus_type::RValueReference) {
        text << " &&";
    }
    return text.str();
}

// The same object for the same text: types keep pointers to these for ever.
const halide_handle_cplusplus_type *parse_handle_description(const std::string &text) {
    static std::mutex mutex;
    static auto &known = *new std::map<std::string, std::unique_ptr<halide_handle_cplusplus_type>>;
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<halide_handle_cplusplus_type> &entry = known[text];
    if (entry) {
        return entry.get();
    }
    std::istringstream words(text);
    halide_handle_cplusplus_type info{halide_cplusplus_type_name()};
    std::string word;
    auto read_name = [&] {
        halide_cplusplus_type_name n;
        if (const auto *kind = find_word(cpp_kinds, word)) {
            n.cpp_type_type = *kind;
            words >> word;
        }
        n.name = word;
        return n;
    };
    while (words >> word) {
        if (word == "namespace") {
            words >> word;
            info.namespaces.push_back(word);
        } else if (word == "enclosing") {
            words >> word;
            info.enclosing_types.push_back(read_name());
        } else if (word == "|") {
            info.cpp_type_modifiers.push_back(0);
        } else if (word == "&") {
            info.reference_type = halide_handle_cplusplus_type::LValueReference;
        } else if (word == "&&") {
            info.reference_type = halide_handle_cplusplus_type::RValueReference;
        } else if (const auto *bit = find_word(cpp_modifiers, word); bit && !info.cpp_type_modifiers.empty()) {
            info.cpp_type_modifiers.back() |= *bit;
        } else {
            info.inner_name = read_name();
        }
    }
    entry = std::make_unique<halide_handle_cplusplus_type>(info);
    return entry.get();
}

}  // namespace

std::string type_text(const Type &t) {
    std::ostringstream text;
    if (t == Type()) {
        return "none";
    }
    switch (t.code()) {
    case halide_type_int:
        text << "i" << t.bits();
        break;
    case halide_type_uint:
        if (t.bits() == 1) {
            text << "bool";
        } else {
            text << "u" << t.bits();
        }
        break;
    case halide_type_float:
        text << "f" << t.bits();
        break;
    case halide_type_bfloat:
        text << "bf" << t.bits();
        break;
    default:
        text << "handle";
        if (t.bits() != 64) {
            text << t.bits();
        }
        if (t.handle_type()) {
            text << "<" << handle_description(*t.handle_type()) << ">";
        }
        break;
    }
    if (t.lanes() != 1) {
        text << "x" << t.lanes();
    }
    return text.str();
}

size_t scan_type(const char *text, Type *type) {
    static const std::pair<const char *, halide_type_code_t> kinds[] = {
        {"bool", halide_type_uint}, {"handle", halide_type_handle}, {"bf", halide_type_bfloat},
        {"i", halide_type_int},     {"u", halide_type_uint},        {"f", halide_type_float},
    };
    const char *p = text;
    auto ends_here = [&] { return !isalnum((unsigned char)*p) && *p != '_' && *p != '$'; };
    if (strncmp(p, "none", 4) == 0) {
        p += 4;
        *type = Type();
        return ends_here() ? 4 : 0;
    }
    for (const auto &[word, code] : kinds) {
        if (strncmp(p, word, strlen(word)) != 0) {
            continue;
        }
        p += strlen(word);
        int bits = strcmp(word, "bool") == 0 ? 1 : strcmp(word, "handle") == 0 ? 64 : 0;
        if (isdigit((unsigned char)*p) && bits != 1) {
            char *end;
            bits = (int)strtol(p, &end, 10);
            p = end;
        }
        if (bits <= 0 || bits > 255) {
            return 0;
        }
        const halide_handle_cplusplus_type *info = nullptr;
        if (code == halide_type_handle && *p == '<') {
            const char *close = strchr(p, '>');
            if (!close) {
                return 0;
            }
            info = parse_handle_description(std::string(p + 1, close));
            p = close + 1;
        }
        int lanes = 1;
        if (*p == 'x' && isdigit((unsigned char)p[1])) {
            char *end;
            lanes = (int)strtol(p + 1, &end, 10);
            p = end;
        }
        if (!ends_here() || lanes > 65535) {
            return 0;
        }
        *type = Type(code, bits, lanes, info);
        return (size_t)(p - text);
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing.

}  // namespace ir_text
}  // namespace Internal
}  // namespace Halide
