#include "api/InferArguments.h"

#include <algorithm>
#include <map>

#include "func/Environment.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"

namespace Halide {
namespace Internal {

namespace {

class Finder : public IRGraphVisitor {
    using IRGraphVisitor::visit;

    void add(const Parameter &p) {
        if (!p.defined() || p.name() == "__user_context" || is_output(p)) {
            return;
        }
        InferredArgument a;
        a.arg = Argument(p.name(), p.is_buffer() ? Argument::InputBuffer : Argument::InputScalar, p.type(),
                         p.dimensions(), p.get_argument_estimates());
        a.param = p;
        const auto [it, is_new] = found.emplace(p.name(), a);
        if (!is_new) {
            user_assert(it->second.param.same_as(p)) << "Two different parameters of a pipeline have the name "
                                                     << p.name() << ".\n  Give one of them another name.\n";
            return;
        }
        // What is required of a parameter may depend on others.
        if (p.is_buffer()) {
            for (const BufferConstraint &c : p.buffer_constraints()) {
                include_if_defined(c.min);
                include_if_defined(c.extent);
                include_if_defined(c.stride);
            }
        } else {
            include_if_defined(p.min_value());
            include_if_defined(p.max_value());
        }
    }

    void add(const Buffer<> &b) {
        if (!b.defined()) {
            return;
        }
        InferredArgument a;
        a.arg = Argument(b);
        a.buffer = b;
        const auto [it, is_new] = found.emplace(b.name(), a);
        user_assert(is_new || it->second.buffer.same_as(b))
            << "Two different inputs of a pipeline have the name " << b.name() << ", at least one of them a Buffer.\n"
            << "  Give one of them another name.\n";
    }

    bool is_output(const Parameter &p) const {
        return std::any_of(outputs.begin(), outputs.end(), [&](const Parameter &o) { return o.same_as(p); });
    }

    void include_if_defined(const Expr &e) {
        if (e.defined()) {
            include(e);
        }
    }

    void visit(const Load *op) override {
        IRGraphVisitor::visit(op);
        add(op->param);
        add(op->image);
    }
    void visit(const Variable *op) override {
        add(op->param);
        add(op->image);
    }
    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        add(op->param);
        add(op->image);
    }

    std::vector<Parameter> outputs;
    std::map<std::string, InferredArgument> found;

public:
    void add_output(const Function &f) {
        for (const Parameter &p : f.output_buffers()) {
            outputs.push_back(p);
        }
    }

    void add_function(const Function &f) {
        f.accept(this);
        for (const ExternFuncArgument &a : f.extern_arguments()) {
            if (a.is_buffer()) {
                add(a.buffer);
            } else if (a.is_image_param()) {
                add(a.image_param);
            }
        }
        for (const Parameter &p : f.output_buffers()) {
            for (const BufferConstraint &c : p.buffer_constraints()) {
                include_if_defined(c.min);
                include_if_defined(c.extent);
                include_if_defined(c.stride);
            }
        }
    }

    void add_requirement(const Stmt &s) { include(s); }

    std::vector<InferredArgument> result() const {
        std::vector<InferredArgument> all;
        for (const bool buffers : {true, false}) {
            for (const auto &a : found) {
                if (a.second.arg.is_buffer() == buffers) {
                    all.push_back(a.second);
                }
            }
        }
        return all;
    }
};

}  // namespace

std::vector<InferredArgument> infer_arguments(const std::vector<Function> &outputs,
                                              const std::vector<Stmt> &requirements) {
    Finder finder;
    for (const Function &f : outputs) {
        finder.add_output(f);
    }
    for (const auto &f : build_environment(outputs)) {
        finder.add_function(f.second);
    }
    for (const Stmt &s : requirements) {
        finder.add_requirement(s);
    }
    return finder.result();
}

}  // namespace Internal
}  // namespace Halide
