#pragma once

#include <string>
#include <vector>

#include "codegen/llvm/CodeGen_LLVM.h"
#include "ir/IROperator.h"

namespace Halide::Internal {

/// Names for the values of operands while an expansion of their operation is generated: an expansion may use them more
/// than once, and must not generate them more than once. Constants stay what they are.
class CodeGen_LLVM::Operands {
    CodeGen_LLVM &generator;
    std::vector<std::string> names;

public:
    explicit Operands(CodeGen_LLVM &generator)
        : generator(generator) {
    }
    ~Operands() {
        for (const std::string &n : names) {
            generator.unbind(n);
        }
    }
    Operands(const Operands &) = delete;
    Operands &operator=(const Operands &) = delete;

    Expr name(const Expr &e) {
        if (is_const(e) || e.as<Variable>()) {
            return e;
        }
        if (const Broadcast *b = e.as<Broadcast>()) {
            return Broadcast::make(name(b->value), b->lanes);
        }
        return name(e.type(), generator.codegen(e));
    }
    Expr name(const Halide::Type &t, llvm::Value *v) {
        names.push_back("t." + std::to_string(generator.temporaries++));
        generator.symbols[names.back()].push_back({v, nullptr});
        return Variable::make(t, names.back());
    }
};

}  // namespace Halide::Internal
