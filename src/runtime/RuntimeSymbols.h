#pragma once

namespace Halide {
namespace Runtime {
namespace Internal {

/// A function of the native runtime, which JIT code binds to by address because it is hidden in libHalide.
struct RuntimeSymbol {
    const char *name;
    void *address;
};

/// All of them, sorted by name; the last entry has a null name.
const RuntimeSymbol *runtime_symbols();

/// Address of one of them, null if there is none of that name.
void *find_runtime_symbol(const char *name);

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide
