/// Modules and lowered functions as text for people.

#include "func/LoweredFunc.h"
#include "func/Module.h"
#include "ir/IRPrinter.h"

namespace Halide {

namespace Internal {

namespace {

/// Prints the body of a function one level further in.
class BodyPrinter : public IRPrinter {
public:
    explicit BodyPrinter(std::ostream &stream) : IRPrinter(stream) {
        indent = 1;
    }
};

}  // namespace

std::ostream &operator<<(std::ostream &stream, const LoweredFunc &function) {
    stream << function.linkage << " func " << function.name << " (";
    const char *separator = "";
    for (const LoweredArgument &arg : function.args) {
        stream << separator << arg.name;
        separator = ", ";
    }
    stream << ") {\n";
    BodyPrinter(stream).print(function.body);
    return stream << "}\n\n";
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
        stream << f << "\n";
    }
    return stream;
}

}  // namespace Halide
