#include "func/Module.h"
#include "ir/IRPrinter.h"

#include <ostream>

namespace Halide {
namespace Internal {

// external_plus_metadata func f (in, f) { … }
std::ostream &operator<<(std::ostream &stream, const LoweredFunc &f) {
    stream << f.linkage << " func " << f.name << " (";
    const char *separator = "";
    for (const LoweredArgument &a : f.args) {
        stream << separator << a.name;
        separator = ", ";
    }
    return stream << ") {\n" << f.body << "}\n\n";
}

}  // namespace Internal

std::ostream &operator<<(std::ostream &stream, const Module &m) {
    for (const Module &s : m.submodules()) {
        stream << s << "\n";
    }
    stream << "module name=" << m.name() << ", target=" << m.target().to_string() << "\n";
    for (const Buffer<> &b : m.buffers()) {
        stream << "buffer " << b.name() << " = {...}\n";
    }
    for (const Internal::LoweredFunc &f : m.functions()) {
        stream << f;
    }
    return stream;
}

}  // namespace Halide
