#include "lower/LoopWords.h"

#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "support/Util.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace Halide {
namespace Internal {

LoopWords::LoopWords(const std::string &loop_name) : func(loop_name), stage(loop_name), dim(loop_name) {
    const std::vector<std::string> parts = split_string(loop_name, ".");
    const bool has_stage = parts.size() >= 3 && parts[1].size() >= 2 && parts[1][0] == 's' &&
                           std::all_of(parts[1].begin() + 1, parts[1].end(), [](char c) { return isdigit(c); });
    if (!has_stage) {
        return;
    }
    const int index = std::stoi(parts[1].substr(1));
    func = parts[0];
    stage = index == 0 ? func : func + ".update(" + std::to_string(index - 1) + ")";
    dim = loop_name.substr(func.size() + parts[1].size() + 2);
}

std::string LoopWords::extent(const Expr &extent) const {
    bool known_names = true;
    visit_with(extent, [&](auto *, const Variable *op) { known_names = known_names && op->param.defined(); });
    std::ostringstream text;
    text << "the extent of " << dim << " is ";
    if (known_names) {
        text << extent << ", which is not a constant";
    } else {
        text << "not known at compile time";
    }
    return text.str();
}

}  // namespace Internal
}  // namespace Halide
