/// Statements as a page: the printed text, with a fold for each pair of braces.

#include <sstream>

#include "codegen/llvm/CompileOutputs.h"
#include "ir/IRPrinter.h"
#include "support/Util.h"

namespace Halide::Internal {

namespace {

std::string escaped(const std::string &s) {
    std::string out;
    for (char c : s) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

// One line with keywords, numbers, strings marked.
std::string highlighted(const std::string &line) {
    static const char *const keywords[] = {"for",      "parallel", "vectorized", "unrolled", "let",   "if",   "else",
                                           "allocate", "free",     "produce",    "consume",  "func",  "assert",
                                           "module",   "atomic",   "fork",       "acquire",  "ramp",  "in"};
    std::string out;
    size_t i = 0;
    while (i < line.size()) {
        if (line[i] == '"') {
            size_t end = i + 1;
            while (end < line.size() && line[end] != '"') {
                end += line[end] == '\\' ? 2 : 1;
            }
            end = std::min(end + 1, line.size());
            out += "<span class=s>" + escaped(line.substr(i, end - i)) + "</span>";
            i = end;
        } else if (is_word(line[i])) {
            size_t end = i;
            while (end < line.size() && is_word(line[end])) {
                end++;
            }
            const std::string word = line.substr(i, end - i);
            const char *style = isdigit((unsigned char)word[0]) ? "n" : nullptr;
            for (const char *k : keywords) {
                if (word == k) {
                    style = "k";
                }
            }
            const std::string text = escaped(word);
            out += style ? std::string("<span class=") + style + ">" + text + "</span>" : text;
            i = end;
        } else {
            out += escaped(line.substr(i, 1));
            i++;
        }
    }
    return out;
}

std::string page(const std::string &title, const std::string &text) {
    std::ostringstream out;
    out << "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" << escaped(title) << "</title>\n<style>\n"
        << "body { font-family: monospace; white-space: pre; background: #fff; color: #222; }\n"
        << "details { margin-left: 0; } summary { cursor: pointer; list-style-position: outside; }\n"
        << ".k { color: #00f; font-weight: bold; } .n { color: #098658; } .s { color: #a31515; }\n"
        << "summary:hover, div:hover { background: #eef; }\n"
        << "</style></head><body><h3>" << escaped(title) << "</h3>";
    int open = 0;
    for (const std::string &line : split_string(text, "\n")) {
        const size_t last = line.find_last_not_of(' ');
        const size_t first = line.find_first_not_of(' ');
        if (last == std::string::npos) {
            continue;
        }
        const bool closes = line[first] == '}';
        const bool opens = line[last] == '{';
        if (closes && open > 0) {
            out << "</details>";
            open--;
        }
        if (opens) {
            out << "<details open><summary>" << highlighted(line) << "</summary>";
            open++;
        } else {
            out << "<div>" << highlighted(line) << "</div>";
        }
    }
    while (open-- > 0) {
        out << "</details>";
    }
    out << "</body></html>\n";
    return out.str();
}

}  // namespace

std::string module_to_html(const Module &m) {
    std::ostringstream text;
    text << m;
    return page(m.name(), text.str());
}

std::string stmt_to_html(const std::string &title, const Stmt &s) {
    std::ostringstream text;
    text << s;
    return page(title, text.str());
}

}  // namespace Halide::Internal
