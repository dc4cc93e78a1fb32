#include "codegen/pto/PTOTypes.h"

#include "support/Error.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

namespace Halide {
namespace Internal {

std::string pto_dtype(const PTOKernelArg &arg) {
    const Type &t = arg.type;
    if (arg.is_buffer) {
        return t.bits() > 32 ? (t.is_float() ? "f64" : t.is_int() ? "si64" : "ui64") : vmi_name(vmi_elem(t));
    }
    if (t.is_bool()) {
        return "i1";
    }
    if (t.bits() == 64) {
        return "i64";
    }
    return t == Int(32) ? "i32" : vmi_name(vmi_elem(t));
}

std::string pto_float(double value) {
    if (std::isnan(value)) {
        return "float(\"nan\")";
    }
    if (std::isinf(value)) {
        return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
    }
    char text[64];
    snprintf(text, sizeof(text), "%a", value);
    return std::string("float.fromhex(\"") + text + "\")";
}

PTONames::PTONames() {
    // What the file itself uses, and Python's keywords.
    for (const char *word : {"pto", "scalar", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
                             "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
                             "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with",
                             "yield", "None", "True", "False", "float", "print", "range"}) {
        taken[word] = 1;
    }
}

std::string pto_plain_name(const std::string &name) {
    std::string result;
    for (size_t i = 0; i < name.size(); i++) {
        const size_t end = std::min(name.find_first_not_of("0123456789", i + 1), name.size());
        if (name[i] == '$' && end > i + 1) {
            i = end - 1;
        } else {
            result += name[i];
        }
    }
    return result;
}

std::string PTONames::fresh(const std::string &hint) {
    std::string base;
    for (char c : pto_plain_name(hint)) {
        base += isalnum((unsigned char)c) ? c : '_';
    }
    while (base.size() > 1 && base.back() == '_') {
        base.pop_back();
    }
    if (base.empty() || isdigit((unsigned char)base[0])) {
        base = "v" + base;
    }
    int &count = taken[base];
    std::string name = base;
    while (count > 0) {
        name = base + "_" + std::to_string(count++);
        if (taken[name] == 0) {
            break;
        }
    }
    taken[name]++;
    return name;
}

std::string PTONames::of(const std::string &name) {
    auto it = known.find(name);
    if (it == known.end()) {
        it = known.emplace(name, fresh(name)).first;
    }
    return it->second;
}

}  // namespace Internal
}  // namespace Halide
