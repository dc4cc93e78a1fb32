#include "support/Error.h"

#include <cstdlib>
#include <exception>
#include <iostream>

#include "support/Process.h"

namespace Halide {

bool exceptions_enabled() {
#ifdef __cpp_exceptions
    return true;
#else
    return false;
#endif
}

Error::Error(const std::string &message)
    : text(std::make_shared<const std::string>(message)) {
}
Error::Error(const char *message)
    : Error(std::string(message ? message : "")) {
}
Error::Error(const Error &) = default;
Error &Error::operator=(const Error &) = default;
// A moved-from Error keeps its text: what() must stay callable.
Error::Error(Error &&that) noexcept
    : text(that.text) {
}
Error &Error::operator=(Error &&that) noexcept {
    text = that.text;
    return *this;
}
Error::~Error() = default;

const char *Error::what() const noexcept {
    return text->c_str();
}

RuntimeError::RuntimeError(const std::string &message)
    : Error(message) {
}
RuntimeError::RuntimeError(const char *message)
    : Error(message) {
}
CompileError::CompileError(const std::string &message)
    : Error(message) {
}
CompileError::CompileError(const char *message)
    : Error(message) {
}
InternalError::InternalError(const std::string &message)
    : Error(message) {
}
InternalError::InternalError(const char *message)
    : Error(message) {
}

CompileTimeErrorReporter::~CompileTimeErrorReporter() = default;

namespace Internal {

namespace {

std::string with_newline(std::string s) {
    if (s.empty() || s.back() != '\n') {
        s += '\n';
    }
    return s;
}

std::string place(const char *what, const char *file, int line) {
    return std::string(what) + " at " + file + ":" + std::to_string(line) + "\n";
}

std::string error_text(ErrorKind kind, const char *file, int line, const char *condition, const std::string &message) {
    std::string text;
    if (kind == ErrorKind::Internal) {
        text = place("Internal error", file, line);
        if (condition) {
            text += std::string("Condition failed: ") + condition + "\n";
        }
        return text + with_newline(message) + "This is a bug in the compiler: please report it.\n";
    }
    if (debug_level() >= 1) {
        text = place(kind == ErrorKind::User ? "User error" : "Runtime error", file, line);
    }
    return text + "Error: " + with_newline(message);
}

}  // namespace

void raise_error(ErrorKind kind, const char *file, int line, const char *condition, const std::string &message) {
    const std::string text = error_text(kind, file, line, condition, message);
    if (CompileTimeErrorReporter *reporter = custom_compile_time_error_reporter()) {
        reporter->error(text.c_str());
    }
#ifdef __cpp_exceptions
    switch (kind) {
    case ErrorKind::Runtime:
        throw RuntimeError(text);
    case ErrorKind::Internal:
        throw InternalError(text);
    default:
        throw CompileError(text);
    }
#else
    std::cerr << text << std::flush;
    abort();
#endif
}

void report_warning(const char *file, int line, const std::string &message) {
    std::string text;
    if (debug_level() >= 1) {
        text = place("Warning", file, line);
    }
    text += "Warning: " + with_newline(message);
    if (CompileTimeErrorReporter *reporter = custom_compile_time_error_reporter()) {
        reporter->warning(text.c_str());
    } else {
        std::cerr << text << std::flush;
    }
}

void print_debug(const std::string &text) {
    std::cerr << text << std::flush;
}

void unhandled_exception_handler() {
#ifdef __cpp_exceptions
    if (std::exception_ptr pending = std::current_exception()) {
        try {
            std::rethrow_exception(pending);
        } catch (const Error &e) {
            std::cerr << e.what() << std::flush;
        } catch (const std::exception &e) {
            std::cerr << e.what() << std::endl;
        } catch (...) {
            std::cerr << "An exception of unknown type was not caught." << std::endl;
        }
    }
#endif
    abort();
}

}  // namespace Internal
}  // namespace Halide
