#pragma once

// Mistakes that pipelines report when they are compiled or run, each with the full text of the report.

#include "Halide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace error_cases {

enum class Kind { Compile, Runtime };

struct Case {
    const char *name;
    Kind kind;
    std::function<void()> mistake;
    std::string message;
};

/// A Func of exactly this name, so that the texts are fixed.
inline Halide::Func named(const char *name) {
    return Halide::Func(Halide::Internal::Function(name));
}

inline std::string report(Kind kind, const std::string &text) {
    return (kind == Kind::Compile ? "CompileError " : "RuntimeError ") + text;
}

inline std::string report_of(const std::function<void()> &mistake) {
    try {
        mistake();
    } catch (const Halide::CompileError &e) {
        return report(Kind::Compile, e.what());
    } catch (const Halide::RuntimeError &e) {
        return report(Kind::Runtime, e.what());
    } catch (const Halide::Error &e) {
        return std::string("InternalError ") + e.what();
    }
    return "no error";
}

/// Makes all mistakes in one process, which goes on afterwards.
inline void check(const std::vector<Case> &cases) {
    for (const Case &c : cases) {
        EXPECT_EQ(report_of(c.mistake), report(c.kind, c.message)) << "case " << c.name;
    }
    Halide::Var x("x");
    Halide::Func f;
    f(x) = x;
    Halide::Buffer<int> b = f.realize({3});
    EXPECT_EQ(b(2), 2);
}

}  // namespace error_cases
