#include "codegen/llvm/CHeader.h"

#include <set>
#include <sstream>
#include <vector>

#include "support/Error.h"
#include "support/Util.h"

/// The text of HalideRuntime.h (RuntimeBitcode.cmake embeds it).
extern "C" const char bromide_runtime_header_begin[], bromide_runtime_header_end[];

namespace Halide::Internal {

namespace {

bool is_public(const LoweredFunc &f) {
    return f.linkage != LinkageType::Internal;
}

bool has_metadata(const LoweredFunc &f) {
    return f.linkage == LinkageType::ExternalPlusMetadata;
}

bool has_argv(const LoweredFunc &f) {
    return f.linkage == LinkageType::ExternalPlusMetadata || f.linkage == LinkageType::ExternalPlusArgv;
}

bool is_mangled(const LoweredFunc &f, const Target &t) {
    return f.name_mangling == NameMangling::CPlusPlus ||
           (f.name_mangling == NameMangling::Default && t.has_feature(Target::CPlusPlusMangling));
}

std::string argument_declaration(const LoweredArgument &a) {
    if (a.is_buffer()) {
        return "struct halide_buffer_t *" + c_print_name(a.name) + "_buffer";
    }
    if (a.name == "__user_context") {
        return "void const *__user_context";
    }
    return type_to_c_type(a.type, true) + c_print_name(a.name);
}

// Types behind handles that only their name is known of.
void forward_declarations(const LoweredFunc &f, std::set<std::string> &done, std::ostream &out) {
    for (const LoweredArgument &a : f.args) {
        const halide_handle_cplusplus_type *h = a.type.handle_type();
        if (!a.type.is_handle() || !h || a.is_buffer() || !h->enclosing_types.empty()) {
            continue;
        }
        const char *keyword = nullptr;
        switch (h->inner_name.cpp_type_type) {
        case halide_cplusplus_type_name::Struct:
            keyword = "struct";
            break;
        case halide_cplusplus_type_name::Class:
            keyword = "class";
            break;
        case halide_cplusplus_type_name::Union:
            keyword = "union";
            break;
        default:
            continue;
        }
        std::string open, close;
        for (const std::string &n : h->namespaces) {
            open += "namespace " + n + " { ";
            close += " }";
        }
        const std::string line = open + keyword + " " + h->inner_name.name + ";" + close + "\n";
        if (done.insert(line).second) {
            out << line;
        }
    }
}

std::string guard_name(const Module &m) {
    return "HALIDE_" + c_print_name(m.name()) + "_h";
}

}  // namespace

std::string c_declaration(const LoweredFunc &f, const std::string &name) {
    std::string out = "int " + name + "(";
    const char *separator = "";
    for (const LoweredArgument &a : f.args) {
        out += separator + argument_declaration(a);
        separator = ", ";
    }
    return out + (f.args.empty() ? "void)" : ")");
}

std::string c_header(const Module &m) {
    std::ostringstream out;
    const std::string guard = guard_name(m);
    const Target &t = m.target();
    out << "#ifndef " << guard << "\n#define " << guard << "\n"
        << "#include <stdint.h>\n\n"
        << "// Declares the pipelines of " << m.name() << ", compiled for " << t.to_string() << ".\n"
        << "// Each returns 0, or one of the negative halide_error_code_t.\n\n";
    if (t.has_feature(Target::NoRuntime)) {
        out << "#ifndef HALIDE_FUNCTION_ATTRS\n"
            << "#if defined(__has_attribute) && defined(HALIDE_MUST_USE_RESULT_IN_GENERATED_CODE)\n"
            << "#define HALIDE_FUNCTION_ATTRS __attribute__((warn_unused_result))\n"
            << "#else\n#define HALIDE_FUNCTION_ATTRS\n#endif\n#endif\n\n"
            << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
            << "struct halide_buffer_t;\nstruct halide_filter_metadata_t;\n"
            << "#ifdef __cplusplus\n}\n#endif\n\n";
    } else {
        out << std::string(bromide_runtime_header_begin, bromide_runtime_header_end) << "\n";
    }
    std::set<std::string> declared;
    std::ostringstream types;
    for (const LoweredFunc &f : m.functions()) {
        if (is_public(f)) {
            forward_declarations(f, declared, types);
        }
    }
    if (!types.str().empty()) {
        out << "#ifdef __cplusplus\n" << types.str() << "#endif\n\n";
    }
    for (const LoweredFunc &f : m.functions()) {
        if (!is_public(f)) {
            continue;
        }
        std::vector<std::string> namespaces;
        const std::string name = extract_namespaces(f.name, namespaces);
        const bool mangled = is_mangled(f, t);
        const auto close_namespaces = [&] {
            for (size_t i = 0; i < namespaces.size(); i++) {
                out << "}  // namespace " << namespaces[namespaces.size() - 1 - i] << "\n";
            }
        };
        const auto open_namespaces = [&] {
            for (const std::string &n : namespaces) {
                out << "namespace " << n << " {\n";
            }
        };
        if (mangled) {
            open_namespaces();
            out << "HALIDE_FUNCTION_ATTRS\n" << c_declaration(f, name) << ";\n";
            close_namespaces();
            out << "\n";
        }
        // What is not mangled can be declared in C as well, except that C has no namespaces.
        if (!namespaces.empty()) {
            out << "#ifdef __cplusplus\n";
            open_namespaces();
        }
        out << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
        if (!mangled) {
            out << "HALIDE_FUNCTION_ATTRS\n" << c_declaration(f, name) << ";\n\n";
        }
        if (!mangled || namespaces.empty()) {
            if (has_argv(f)) {
                out << "HALIDE_FUNCTION_ATTRS\nint " << name << "_argv(void **args);\n\n";
            }
            if (has_metadata(f)) {
                out << "HALIDE_FUNCTION_ATTRS\nconst struct halide_filter_metadata_t *" << name << "_metadata(void);\n\n";
            }
        }
        out << "#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n";
        if (!namespaces.empty()) {
            close_namespaces();
            out << "#endif\n";
        }
        out << "\n";
    }
    out << "#endif  // " << guard << "\n";
    return out.str();
}

std::string function_info_header(const Module &m) {
    std::ostringstream out;
    const std::string guard = guard_name(m) + "_function_info";
    out << "#ifndef " << guard << "\n#define " << guard << "\n\n"
        << "#include <array>\n#include <cstdint>\n#include <string_view>\n\n"
        << "#include \"HalideRuntime.h\"\n\n"
        << "#ifndef HALIDE_FUNCTION_INFO_TYPES\n#define HALIDE_FUNCTION_INFO_TYPES\n"
        << "namespace HalideFunctionInfo {\n\n"
        << "enum ArgumentKind {\n    InputScalar = 0,\n    InputBuffer = 1,\n    OutputBuffer = 2,\n};\n\n"
        << "/// One argument of a compiled pipeline, in the order of the call.\n"
        << "struct ArgumentInfo {\n"
        << "    std::string_view name;\n    ArgumentKind kind;\n"
        << "    int32_t dimensions;  // of a buffer; 0 for a scalar\n    halide_type_t type;\n};\n\n"
        << "}  // namespace HalideFunctionInfo\n#endif\n\n";
    const auto type_code = [](const Type &t) {
        switch (t.code()) {
        case Type::Int:
            return "halide_type_int";
        case Type::UInt:
            return "halide_type_uint";
        case Type::Float:
            return "halide_type_float";
        case Type::BFloat:
            return "halide_type_bfloat";
        default:
            return "halide_type_handle";
        }
    };
    const MetadataNameMap renamed = m.get_metadata_name_map();
    for (const LoweredFunc &f : m.functions()) {
        if (!has_metadata(f)) {
            continue;
        }
        std::vector<std::string> namespaces;
        const std::string name = extract_namespaces(f.name, namespaces);
        for (const std::string &n : namespaces) {
            out << "namespace " << n << " {\n";
        }
        out << "inline constexpr std::array<::HalideFunctionInfo::ArgumentInfo, " << f.args.size() << "> " << name
            << "_argument_info() {\n    return {{\n";
        for (const LoweredArgument &a : f.args) {
            const auto it = renamed.find(a.name);
            const char *kind = a.is_scalar() ? "InputScalar" : a.is_input() ? "InputBuffer" : "OutputBuffer";
            out << "        {\"" << (it == renamed.end() ? a.name : it->second) << "\", ::HalideFunctionInfo::" << kind
                << ", " << (int)a.dimensions << ", halide_type_t{" << type_code(a.type) << ", " << a.type.bits()
                << "}},\n";
        }
        out << "    }};\n}\n";
        for (size_t i = 0; i < namespaces.size(); i++) {
            out << "}  // namespace " << namespaces[namespaces.size() - 1 - i] << "\n";
        }
        out << "\n";
    }
    out << "#endif  // " << guard << "\n";
    return out.str();
}

std::string registration_source(const Module &m) {
    std::ostringstream out;
    out << "// Registers the pipelines of " << m.name() << " when the program starts.\n\n"
        << "struct halide_filter_metadata_t;\n\n"
        << "extern \"C\" {\n"
        << "void halide_register_argv_and_metadata(int (*filter_argv_call)(void **), "
        << "const struct halide_filter_metadata_t *filter_metadata, const char *const *extra_key_value_pairs);\n"
        << "}\n\n"
        << "#ifdef HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC\n"
        << "extern const char *const *HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC();\n"
        << "#endif\n\n";
    for (const LoweredFunc &f : m.functions()) {
        if (!has_metadata(f)) {
            continue;
        }
        std::vector<std::string> namespaces;
        const std::string name = extract_namespaces(f.name, namespaces);
        out << "extern \"C\" {\n"
            << "extern int " << name << "_argv(void **args);\n"
            << "extern const struct halide_filter_metadata_t *" << name << "_metadata();\n"
            << "}\n\n"
            << "namespace {\n"
            << "struct Register_" << name << " {\n"
            << "    Register_" << name << "() {\n"
            << "#ifdef HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC\n"
            << "        const char *const *pairs = HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC();\n"
            << "#else\n"
            << "        const char *const *pairs = nullptr;\n"
            << "#endif\n"
            << "        halide_register_argv_and_metadata(::" << name << "_argv, ::" << name << "_metadata(), pairs);\n"
            << "    }\n"
            << "} register_" << name << ";\n"
            << "}  // namespace\n\n";
    }
    return out.str();
}

}  // namespace Halide::Internal
