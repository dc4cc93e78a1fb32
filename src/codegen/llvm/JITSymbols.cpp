/// Where JIT code finds functions of this process.

#include "codegen/llvm/JITContext.h"

#include <dlfcn.h>

#include <set>
#include <unordered_map>

#include "runtime/RuntimeSymbols.h"
#include "support/Util.h"

#ifdef __linux__
#include <elf.h>
#include <link.h>
#endif

namespace Halide::Internal {

namespace {

#ifdef __linux__

using ElfHeader = ElfW(Ehdr);
using ElfSection = ElfW(Shdr);
using ElfSymbol = ElfW(Sym);

/// Functions of the main executable, from its symbol table on disk: they are there even if the program was linked
/// without -rdynamic.
std::unordered_map<std::string, void *> read_own_symbols() {
    std::unordered_map<std::string, void *> result;
    std::vector<char> file;
    try {
        file = read_entire_file("/proc/self/exe");
    } catch (...) {
        return result;
    }
    const auto at = [&](size_t offset, size_t size) -> const char * {
        return offset <= file.size() && size <= file.size() - offset ? file.data() + offset : nullptr;
    };
    const auto *header = (const ElfHeader *)at(0, sizeof(ElfHeader));
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfSection)) {
        return result;
    }
    const auto *sections = (const ElfSection *)at(header->e_shoff, (size_t)header->e_shnum * sizeof(ElfSection));
    if (!sections) {
        return result;
    }
    // A position independent program was moved from the addresses in its file.
    uintptr_t base = 0;
    if (header->e_type == ET_DYN) {
        dl_iterate_phdr(
            [](dl_phdr_info *info, size_t, void *data) {
                *(uintptr_t *)data = info->dlpi_addr;
                return 1;  // the first entry is the program
            },
            &base);
    }
    for (size_t i = 0; i < header->e_shnum; i++) {
        const ElfSection &s = sections[i];
        if (s.sh_type != SHT_SYMTAB || s.sh_link >= header->e_shnum) {
            continue;
        }
        const ElfSection &names = sections[s.sh_link];
        const auto *symbols = (const ElfSymbol *)at(s.sh_offset, s.sh_size);
        const char *text = at(names.sh_offset, names.sh_size);
        if (!symbols || !text) {
            continue;
        }
        for (size_t k = 0; k < s.sh_size / sizeof(ElfSymbol); k++) {
            const ElfSymbol &sym = symbols[k];
            const int type = sym.st_info & 0xf, binding = sym.st_info >> 4;
            const bool usable = (type == STT_FUNC || type == STT_OBJECT) && binding != STB_LOCAL &&
                                sym.st_shndx != SHN_UNDEF && sym.st_name < names.sh_size;
            if (usable) {
                result.emplace(text + sym.st_name, (void *)(base + sym.st_value));
            }
        }
    }
    return result;
}

#else

std::unordered_map<std::string, void *> read_own_symbols() {
    return {};
}

#endif

/// This library with everything it is linked with, in case it was opened without making its symbols global.
void *own_library() {
    static void *handle = [] {
        Dl_info info;
        if (dladdr((void *)&find_process_symbol, &info) && info.dli_fname) {
            return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
        }
        return (void *)nullptr;
    }();
    return handle;
}

}  // namespace

void *find_process_symbol(const std::string &name) {
    if (name == "halide_jit_caught_exception") {
        return (void *)&halide_jit_caught_exception;
    }
    if (name == "halide_jit_current_context") {
        return (void *)&halide_jit_current_context;
    }
    if (void *p = Runtime::Internal::find_runtime_symbol(name.c_str())) {
        return p;
    }
    if (void *p = dlsym(RTLD_DEFAULT, name.c_str())) {
        return p;
    }
    if (void *library = own_library()) {
        if (void *p = dlsym(library, name.c_str())) {
            return p;
        }
    }
    static const std::unordered_map<std::string, void *> own = read_own_symbols();
    const auto it = own.find(name);
    return it == own.end() ? nullptr : it->second;
}

bool is_c_library_function(const std::string &name) {
    static const std::set<std::string> names = {
        "acos",  "acosf", "acosh",  "acoshf", "asin",   "asinf",  "asinh", "asinhf", "atan",    "atan2",   "atan2f",
        "atanf", "atanh", "atanhf", "ceil",   "ceilf",  "cos",    "cosf",  "cosh",   "coshf",   "erf",     "erff",
        "exp",   "expf",  "floor",  "floorf", "fma",    "fmaf",   "fmod",  "fmodf",  "hypot",   "hypotf",  "log",
        "logf",  "memcmp", "memcpy", "memmove", "memset", "pow",   "powf",  "sin",    "sinf",    "sinh",    "sinhf",
        "sqrt",  "sqrtf", "strlen", "tan",    "tanf",   "tanh",   "tanhf", "trunc",  "truncf",
    };
    return names.count(name) != 0;
}

}  // namespace Halide::Internal
