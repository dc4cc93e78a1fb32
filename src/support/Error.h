#pragma once

#include <memory>
#include <ostream>
#include <sstream>
#include <string>

namespace Halide {

/// True if the library reports errors by throwing; false if it prints them and aborts.
bool exceptions_enabled();

/// What the library throws. Deliberately not a std::exception: `catch (std::exception &)` must not swallow it.
struct Error {
    explicit Error(const std::string &message);
    explicit Error(const char *message);
    Error(const Error &);
    Error &operator=(const Error &);
    Error(Error &&) noexcept;
    Error &operator=(Error &&) noexcept;
    virtual ~Error();

    /// The message, starting with "Error:" unless a first line tells where it was raised.
    virtual const char *what() const noexcept;

private:
    std::shared_ptr<const std::string> text;
};

/// Something is wrong with the data a pipeline was run on.
struct RuntimeError final : public Error {
    explicit RuntimeError(const std::string &message);
    explicit RuntimeError(const char *message);
};

/// Something is wrong with the user's program or schedule.
struct CompileError final : public Error {
    explicit CompileError(const std::string &message);
    explicit CompileError(const char *message);
};

/// Something is wrong with this library.
struct InternalError final : public Error {
    explicit InternalError(const std::string &message);
    explicit InternalError(const char *message);
};

/// Receives the errors and warnings raised while a program is defined and compiled.
class CompileTimeErrorReporter {
public:
    virtual ~CompileTimeErrorReporter();
    virtual void warning(const char *message) = 0;
    /// Must not return.
    [[noreturn]] virtual void error(const char *message) = 0;
};

/// Sends errors and warnings to `reporter` (not owned) from now on; null restores throwing and printing.
void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter);

namespace Internal {

/// For std::set_terminate: prints the pending exception and aborts.
[[noreturn]] void unhandled_exception_handler();

enum class ErrorKind {
    User,
    Internal,
    Runtime,
    Warning,
};

/// The text of a report while it is being streamed together.
class ReportStream {
    std::ostringstream text;

public:
    template<typename T>
    ReportStream &operator<<(const T &value) {
        text << value;
        return *this;
    }
    ReportStream &operator<<(std::ostream &(*manipulator)(std::ostream &)) {
        text << manipulator;
        return *this;
    }
    std::string str() const {
        return text.str();
    }
};

[[noreturn]] void raise_error(ErrorKind kind, const char *file, int line, const char *condition,
                              const std::string &message);
void report_warning(const char *file, int line, const std::string &message);

/// `Raise(…) & stream` raises what was streamed. `&` binds less tightly than `<<` and tighter than `?:`, so that a
/// macro can leave a stream open at its end, and its operands are evaluated only if there is something to report.
struct Raise {
    ErrorKind kind;
    const char *file;
    int line;
    const char *condition;

    [[noreturn]] void operator&(const ReportStream &message) const {
        raise_error(kind, file, line, condition, message.str());
    }
};

struct RaiseWarning {
    const char *file;
    int line;

    void operator&(const ReportStream &message) const {
        report_warning(file, line, message.str());
    }
};

/// True if HL_DEBUG_CODEGEN (or set_debug_level) asks for messages of this verbosity at this place.
bool debug_is_active(int verbosity, const char *file, int line, const char *function);

/// The verbosity that applies everywhere.
int debug_level();

void print_debug(const std::string &text);

struct PrintDebug {
    void operator&(const ReportStream &message) const {
        print_debug(message.str());
    }
};

}  // namespace Internal
}  // namespace Halide

#define _halide_raise(kind, condition)                                                                         \
    ::Halide::Internal::Raise{::Halide::Internal::ErrorKind::kind, __FILE__, __LINE__, condition} &           \
        ::Halide::Internal::ReportStream()

#define _halide_user_error _halide_raise(User, nullptr)
#define _halide_internal_error _halide_raise(Internal, nullptr)
#define _halide_runtime_error _halide_raise(Runtime, nullptr)
#define _halide_user_warning                                                                                   \
    ::Halide::Internal::RaiseWarning{__FILE__, __LINE__} & ::Halide::Internal::ReportStream()
#define _halide_user_assert(c) (c) ? (void)0 : _halide_raise(User, #c)
#define _halide_internal_assert(c) (c) ? (void)0 : _halide_raise(Internal, #c)
#define _halide_debug(n)                                                                                       \
    !::Halide::Internal::debug_is_active((n), __FILE__, __LINE__, __FUNCTION__) ?                              \
        (void)0 :                                                                                              \
        ::Halide::Internal::PrintDebug{} & ::Halide::Internal::ReportStream()

// The short forms; the amalgamated Halide.h takes them away at its end unless HALIDE_KEEP_MACROS is defined.
#define user_error _halide_user_error
#define user_warning _halide_user_warning
#define user_assert(c) _halide_user_assert(c)
#define internal_error _halide_internal_error
#define internal_assert(c) _halide_internal_assert(c)
#define halide_runtime_error _halide_runtime_error
#define debug(n) _halide_debug(n)
