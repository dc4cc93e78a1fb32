#pragma once

// The words of the exact text of IR, one after the other: what IRTextReader.cpp reads statements from.

#include "ir/IRText.h"
#include "ir/IRTextWords.h"
#include "ir/Type.h"
#include "support/Error.h"

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace Halide {
namespace Internal {

namespace ir_text {

class TextScanner {
protected:
    const std::string &source;
    size_t pos = 0;
    // Open parentheses and brackets: inside them lines may end.
    int depth = 0;

    [[noreturn]] void fail(const std::string &what) {
        int line = 1, column = 1;
        for (size_t i = 0; i < pos && i < source.size(); i++) {
            if (source[i] == '\n') {
                line++;
                column = 1;
            } else {
                column++;
            }
        }
        user_error << "IR text, line " << line << ", column " << column << ": " << what << "\n";
    }

    const char *here() const {
        return source.c_str() + pos;
    }
    bool looking_at(const char *text) const {
        return source.compare(pos, strlen(text), text) == 0;
    }

    void skip_space(bool newlines) {
        while (pos < source.size()) {
            const char c = source[pos];
            if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && newlines)) {
                pos++;
            } else if (looking_at("//")) {
                while (pos < source.size() && source[pos] != '\n') {
                    pos++;
                }
            } else {
                break;
            }
        }
    }
    void skip() {
        skip_space(depth > 0);
    }

    bool accept(const char *text) {
        skip();
        if (!looking_at(text)) {
            return false;
        }
        pos += strlen(text);
        return true;
    }
    void expect(const char *text) {
        if (!accept(text)) {
            fail(std::string("expected `") + text + "`");
        }
    }
    void open(const char *text) {
        expect(text);
        depth++;
    }
    void close(const char *text) {
        expect(text);
        depth--;
    }

    // The word at this place, without taking it; empty if there is none.
    std::string peek_word() {
        skip();
        size_t end = pos;
        if (end < source.size() && is_name_start(source[end])) {
            while (end < source.size() && is_name_char(source[end])) {
                end++;
            }
        }
        return source.substr(pos, end - pos);
    }
    bool accept_word(const char *word) {
        if (peek_word() != word) {
            return false;
        }
        pos += strlen(word);
        return true;
    }
    void expect_word(const char *word) {
        if (!accept_word(word)) {
            fail(std::string("expected `") + word + "`");
        }
    }

    bool at_quoted_name() {
        skip();
        return looking_at("`");
    }
    std::string name() {
        skip();
        if (looking_at("`")) {
            std::string text;
            for (pos++; pos < source.size() && source[pos] != '`'; pos++) {
                if (source[pos] == '\\') {
                    pos++;
                }
                text += source[pos];
            }
            if (pos >= source.size()) {
                fail("the name has no closing backtick");
            }
            pos++;
            return text;
        }
        const std::string word = peek_word();
        if (word.empty()) {
            fail("expected a name");
        }
        pos += word.size();
        return word;
    }

    int64_t integer() {
        skip();
        char *end;
        const int64_t value = strtoll(here(), &end, 10);
        if (end == here()) {
            fail("expected an integer");
        }
        pos += end - here();
        return value;
    }

    Type type() {
        skip();
        Type t;
        const size_t length = scan_type(here(), &t);
        if (!length) {
            fail("expected a type");
        }
        pos += length;
        return t;
    }
    // `:type`, or i32.
    Type ascription() {
        skip();
        // Not the `::` of nothing, and not the ` : ` before a list of types.
        if (looking_at(":") && pos + 1 < source.size() && isalpha((unsigned char)source[pos + 1])) {
            pos++;
            return type();
        }
        return Int(32);
    }

    template<typename E, size_t N>
    E word_from(const std::pair<const char *, E> (&table)[N], const char *what) {
        const std::string word = peek_word();
        const E *value = find_word(table, word);
        if (!value) {
            fail(std::string("expected ") + what);
        }
        pos += word.size();
        return *value;
    }

public:
    explicit TextScanner(const std::string &source)
        : source(source) {
    }
};

}  // namespace ir_text

}  // namespace Internal
}  // namespace Halide
