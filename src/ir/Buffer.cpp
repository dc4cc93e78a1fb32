#include "ir/Buffer.h"

#include "ir/IR.h"
#include "ir/IRPrinter.h"
#include "ir/Parameter.h"

namespace Halide {
namespace Internal {

template<>
RefCount &ref_count<BufferContents>(const BufferContents *t) noexcept {
    return t->count;
}
template<>
void destroy<BufferContents>(const BufferContents *t) {
    delete t;
}

BufferContents::BufferContents(Runtime::Buffer<> &&buf, const std::string &name)
    : buf(std::move(buf)), name(name.empty() ? unique_name('b') : name) {
}

namespace {

std::string describe(bool type_known, halide_type_t type, int dims) {
    std::string text = "Buffer<" + (type_known ? concat_strings(Type(type)) : std::string("void"));
    return text + (dims == AnyDims ? "" : ", " + std::to_string(dims)) + ">";
}

}  // namespace

void check_buffer_type(const Runtime::Buffer<> &from, bool type_known, halide_type_t type, int dims) {
    const bool type_fits = !type_known || from.type() == type;
    const bool dims_fit = dims == AnyDims || from.dimensions() == dims;
    user_assert(type_fits && dims_fit) << "Type mismatch constructing Buffer. Can't construct "
                                       << describe(type_known, type, dims) << " from "
                                       << describe(true, from.type(), from.dimensions()) << ".\n";
}

namespace {

/// Whether an argument is the placeholder `_`, which stands for any number of implicit variables.
bool is_placeholder(const Expr &e) {
    const Variable *v = e.as<Variable>();
    return v && v->name == "_";
}

}  // namespace

Expr buffer_accessor(const Buffer<> &buf, const std::vector<Expr> &args) {
    user_assert(buf.defined()) << "Undefined Buffer used in an expression.\n";
    const int missing = buf.dimensions() - (int)args.size() + 1;
    std::vector<Expr> expanded;
    bool has_placeholder = false;
    for (const Expr &arg : args) {
        user_assert(arg.defined()) << "An access to the Buffer " << buf.name() << " has an undefined argument.\n";
        if (!is_placeholder(arg)) {
            expanded.push_back(arg);
            continue;
        }
        user_assert(!has_placeholder) << "An access to the Buffer " << buf.name()
                                      << " has more than one placeholder _ among its arguments.\n";
        has_placeholder = true;
        for (int i = 0; i < missing; i++) {
            expanded.push_back(Variable::make(Int(32), "_" + std::to_string(i)));
        }
    }
    check_call_arg_types(buf.name(), &expanded, buf.dimensions());
    return Call::make(buf, expanded);
}

}  // namespace Internal
}  // namespace Halide
