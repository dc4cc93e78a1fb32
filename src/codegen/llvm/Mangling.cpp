#include "codegen/llvm/Mangling.h"

#include <algorithm>

#include "support/Error.h"

namespace Halide::Internal {

namespace {

/// One mangled name in the making. Components that were written before are referred to by number, in the order in
/// which they were completed.
class Mangler {
    std::vector<std::string> components;
    const Target &target;

    static std::string source_name(const std::string &s) {
        return std::to_string(s.size()) + s;
    }

    std::string remembered(const std::string &component) const {
        const auto it = std::find(components.begin(), components.end(), component);
        if (it == components.end()) {
            return "";
        }
        const size_t n = it - components.begin();
        if (n == 0) {
            return "S_";
        }
        std::string digits;
        for (size_t rest = n - 1, first = 1; first || rest; first = 0, rest /= 36) {
            const size_t d = rest % 36;
            digits.insert(digits.begin(), (char)(d < 10 ? '0' + d : 'A' + d - 10));
        }
        return "S" + digits + "_";
    }

    // `full` is the component without abbreviations, which identifies it; `text` how it is written if it is new.
    std::string substitute(const std::string &full, const std::string &text) {
        const std::string s = remembered(full);
        if (!s.empty()) {
            return s;
        }
        components.push_back(full);
        return text;
    }

    std::string builtin(const std::string &name) const {
        const bool long_is_64 = target.bits == 64 && target.os != Target::OSX && target.os != Target::IOS;
        if (name == "void") {
            return "v";
        } else if (name == "bool") {
            return "b";
        } else if (name == "char") {
            return "c";
        } else if (name == "int8_t") {
            return "a";
        } else if (name == "uint8_t") {
            return "h";
        } else if (name == "int16_t") {
            return "s";
        } else if (name == "uint16_t") {
            return "t";
        } else if (name == "int32_t" || name == "int") {
            return "i";
        } else if (name == "uint32_t") {
            return "j";
        } else if (name == "int64_t") {
            return long_is_64 ? "l" : "x";
        } else if (name == "uint64_t") {
            return long_is_64 ? "m" : "y";
        } else if (name == "float") {
            return "f";
        } else if (name == "double") {
            return "d";
        }
        return "";
    }

    // A class or similar in its namespaces; returns the full text through `full`.
    std::string class_name(const halide_handle_cplusplus_type &t, std::string *full) {
        std::vector<std::string> scopes = t.namespaces;
        for (const auto &e : t.enclosing_types) {
            scopes.push_back(e.name);
        }
        const std::string last = source_name(t.inner_name.name);
        if (scopes.empty()) {
            *full = last;
            return substitute(last, last);
        }
        const bool in_std = scopes.size() == 1 && scopes[0] == "std";
        if (in_std) {
            *full = "St" + last;
            return substitute(*full, *full);
        }
        std::string prefix_full, prefix_text;
        for (size_t i = 0; i < scopes.size(); i++) {
            if (i == 0 && scopes[i] == "std") {
                prefix_full = prefix_text = "St";
                continue;
            }
            const std::string part = source_name(scopes[i]);
            prefix_full += part;
            prefix_text = substitute(prefix_full, prefix_text + part);
        }
        *full = "N" + prefix_full + last + "E";
        const std::string s = remembered(*full);
        if (!s.empty()) {
            return s;
        }
        components.push_back(*full);
        return "N" + prefix_text + last + "E";
    }

    std::string handle(const halide_handle_cplusplus_type &t) {
        std::string full = t.namespaces.empty() && t.enclosing_types.empty() ? builtin(t.inner_name.name) : "";
        std::string text = full.empty() ? class_name(t, &full) : full;
        using H = halide_handle_cplusplus_type;
        const auto wrap = [&](const std::string &code) {
            full = code + full;
            text = substitute(full, code + text);
        };
        for (uint8_t m : t.cpp_type_modifiers) {
            std::string qualifiers;
            qualifiers += m & H::Restrict ? "r" : "";
            qualifiers += m & H::Volatile ? "V" : "";
            qualifiers += m & H::Const ? "K" : "";
            if (!qualifiers.empty()) {
                wrap(qualifiers);
            }
            if (m & H::Pointer) {
                wrap("P");
            }
        }
        if (t.reference_type == H::LValueReference) {
            wrap("R");
        } else if (t.reference_type == H::RValueReference) {
            wrap("O");
        }
        return text;
    }

public:
    explicit Mangler(const Target &target)
        : target(target) {
    }

    std::string type(const Type &t) {
        if (t.is_handle()) {
            if (const halide_handle_cplusplus_type *h = t.handle_type()) {
                return handle(*h);
            }
            return substitute("Pv", "Pv");
        }
        if (t.is_bool()) {
            return "b";
        }
        if (t.is_bfloat()) {
            return "DF16b";
        }
        if (t.is_float()) {
            return t.bits() == 16 ? "DF16_" : t.bits() == 32 ? "f" : "d";
        }
        return builtin((t.is_int() ? "int" : "uint") + std::to_string(t.bits()) + "_t");
    }

    std::string function(const std::string &name, const std::vector<std::string> &namespaces,
                         const std::vector<Type> &args) {
        std::string out = "_Z";
        if (namespaces.empty()) {
            out += source_name(name);
        } else {
            std::string full, text;
            for (const std::string &n : namespaces) {
                full += source_name(n);
                text = substitute(full, text + source_name(n));
            }
            // Nothing was remembered before the name, so the text has no references.
            out += "N" + full + source_name(name) + "E";
        }
        if (args.empty()) {
            return out + "v";
        }
        for (const Type &t : args) {
            out += type(t);
        }
        return out;
    }
};

}  // namespace

std::string mangle_cplusplus_name(const std::string &name, const std::vector<std::string> &namespaces, const Type &,
                                  const std::vector<Type> &args, const Target &target) {
    user_assert(target.os != Target::Windows)
        << "The C++ name of " << name << " cannot be made for Windows: only the Itanium ABI is supported.\n"
        << "  Use NameMangling::C.";
    return Mangler(target).function(name, namespaces, args);
}

std::string cplusplus_function_mangled_name(const std::string &name, const std::vector<std::string> &namespaces,
                                            Type return_type, const std::vector<ExternFuncArgument> &args,
                                            const Target &target) {
    std::vector<Type> types;
    for (const ExternFuncArgument &a : args) {
        types.push_back(a.is_expr() ? a.expr.type() : type_of<halide_buffer_t *>());
    }
    return mangle_cplusplus_name(name, namespaces, return_type, types, target);
}

}  // namespace Halide::Internal
