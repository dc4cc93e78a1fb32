#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace Halide {

/// Stack size used when nothing else was asked for.
constexpr size_t default_compiler_stack_size = 32 * 1024 * 1024;

/// Sets how much stack the compiler runs on. Zero: the stack of the caller.
void set_compiler_stack_size(size_t size_in_bytes);

/// The stack size in use: set_compiler_stack_size, else HL_COMPILER_STACK_SIZE, else the default.
size_t get_compiler_stack_size();

/// Opens the shared library `name` (`lib<name>.so` if it has neither a path nor an extension), whose static
/// initializers register what it provides.
void load_plugin(const std::string &name);

class CompileTimeErrorReporter;

namespace Internal {

/// The reporter in use, or null.
CompileTimeErrorReporter *custom_compile_time_error_reporter();

/// Calls `action` on a stack of get_compiler_stack_size() bytes; exceptions come through to the caller.
void run_with_large_stack(const std::function<void()> &action);

/// A name that was not given out before: `prefix` followed by a number. Counters are per prefix and process-wide.
std::string unique_name(char prefix);

/// `prefix` itself the first time, then `prefix$1`, `prefix$2` …. A prefix that looks generated (a letter and digits,
/// or anything with a `$`) always gets a suffix.
std::string unique_name(const std::string &prefix);

enum class RandomCounter {
    CallId,
    DefinitionTag,
};

/// The next value of one of the counters that random numbers depend on.
int next_random_counter(RandomCounter counter);

/// Restarts both random counters, so that the next target of a multi-target build gets the same numbers.
void reset_random_counters();

/// The value of an environment variable, or "".
std::string get_env_variable(const char *name);

/// Overrides the verbosity given by HL_DEBUG_CODEGEN.
void set_debug_level(int level);

/// The name of the running executable.
std::string running_program_name();

/// Runs a program and waits for it. The first argument is the program; it is looked up in PATH.
/// @param stdout_text, stderr_text  receive what it prints, if not null.
/// @returns its exit code, 128 + the signal that ended it, or −1 if it could not be started.
int run_process(const std::vector<std::string> &args, std::string *stdout_text = nullptr,
                std::string *stderr_text = nullptr);

}  // namespace Internal
}  // namespace Halide
