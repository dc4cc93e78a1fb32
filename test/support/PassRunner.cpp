#include "PassRunner.h"

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "ir/IRText.h"
#include "lower/Pipeline.h"
#include "simplify/Simplify.h"
#include "support/Util.h"

namespace bromide {

using namespace Halide;
using namespace Halide::Internal;

GoldenCase read_golden_case(const std::string &path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error(path + ": cannot be read");
    }
    GoldenCase c;
    std::string *section = nullptr;
    std::string line;
    while (std::getline(file, line)) {
        if (line.rfind("// RUN:", 0) == 0) {
            c.run_line = line.substr(7);
        } else if (line == "in:") {
            section = &c.input;
        } else if (line == "out:") {
            section = &c.expected;
        } else if (line == "out: same") {
            c.not_fired = true;
            section = nullptr;
        } else if (line.rfind("//", 0) == 0) {
            continue;
        } else if (section) {
            *section += line + "\n";
        }
    }
    if (c.run_line.empty() || c.input.empty()) {
        throw std::runtime_error(path + ": needs a `// RUN:` line and an `in:` section");
    }
    return c;
}

std::string rename_generated(const std::string &text) {
    std::string result;
    std::map<std::string, int> names;
    for (size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, ".$") != 0) {
            result += text[i++];
            continue;
        }
        // The whole name is what stands before, back to a character that no name has.
        size_t begin = result.size();
        auto is_name = [](char ch) { return isalnum((unsigned char)ch) || ch == '_' || ch == '.' || ch == '$'; };
        while (begin > 0 && is_name(result[begin - 1])) {
            begin--;
        }
        size_t end = i + 2;
        while (end < text.size() && isdigit((unsigned char)text[end])) {
            end++;
        }
        const std::string name = result.substr(begin) + text.substr(i, end - i);
        const int number = names.emplace(name, (int)names.size()).first->second;
        result += ".$" + std::to_string(number);
        i = end;
    }
    return result;
}

std::string run_golden_case(const GoldenCase &c) {
    std::string target = "x86-64-linux-sse41";
    std::vector<std::string> passes;
    std::istringstream words(c.run_line);
    std::string word;
    while (words >> word) {
        if (word.rfind("passes=", 0) == 0) {
            passes = split_string(word.substr(7), ",");
        } else if (word.rfind("target=", 0) == 0) {
            target = word.substr(7);
        } else {
            passes.push_back(word);
        }
    }
    Stmt s = parse_stmt(c.input);
    LowerContext ctx;
    ctx.pipeline_name = "golden";
    ctx.target = Target(target).with_implied_features();
    for (const std::string &name : passes) {
        if (name == "simplify") {
            s = simplify(s);
            continue;
        }
        const Pass *found = nullptr;
        for (const Pass &p : lowering_passes()) {
            if (name == p.name) {
                found = &p;
            }
        }
        if (!found) {
            throw std::runtime_error("no pass is called " + name);
        }
        verify(s, found->needs, ctx, "the test's input");
        s = found->run(s, ctx);
        verify(s, found->gives, ctx, name);
    }
    return rename_generated(to_text(s));
}

std::string pass_table() {
    std::ostringstream out;
    for (const Pass &p : lowering_passes()) {
        std::string name = p.name;
        name.resize(24, ' ');
        std::string needs = level_name(p.needs);
        needs.resize(10, ' ');
        out << name << needs << "-> " << level_name(p.gives) << (p.optional ? "   (optional)" : "")
            << (p.applies ? "   (only if it applies)" : "") << "\n";
    }
    return out.str();
}

}  // namespace bromide
