#pragma once

#include "ir/IR.h"

#include <string>

namespace Halide {
namespace Internal {

/// The exact text of an expression or statement, types included: parsing it gives an equal one. Parameters, images,
/// reduction domains and functions are kept as names only. The grammar is in IRText.cpp.
std::string to_text(const Expr &e);
std::string to_text(const Stmt &s);

/// Reads what `to_text` writes. A text that is not such is a CompileError that names line and column.
Expr parse_expr(const std::string &text);
Stmt parse_stmt(const std::string &text);

}  // namespace Internal
}  // namespace Halide
