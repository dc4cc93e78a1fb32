// Everything that is shared by the whole process and changes: names given out, counters, the error reporter, settings.

#include "support/Process.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/Error.h"
#include "support/Util.h"

extern char **environ;

namespace Halide {

namespace {

std::atomic<CompileTimeErrorReporter *> error_reporter{nullptr};

constexpr size_t stack_size_not_set = SIZE_MAX;
std::atomic<size_t> compiler_stack_size{stack_size_not_set};

std::atomic<int> random_counters[2];

}  // namespace

void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter) {
    error_reporter = reporter;
}

void set_compiler_stack_size(size_t size_in_bytes) {
    compiler_stack_size = size_in_bytes;
}

size_t get_compiler_stack_size() {
    const size_t size = compiler_stack_size;
    if (size != stack_size_not_set) {
        return size;
    }
    const std::string text = Internal::get_env_variable("HL_COMPILER_STACK_SIZE");
    return text.empty() ? default_compiler_stack_size : (size_t)strtoull(text.c_str(), nullptr, 10);
}

void load_plugin(const std::string &name) {
    std::string path = name;
    if (path.find('.') == std::string::npos && path.find('/') == std::string::npos) {
        path = "lib" + path + ".so";
    }
    user_assert(dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr)
        << "Failed to load: " << path << ": " << dlerror() << "\n";
}

namespace Internal {

CompileTimeErrorReporter *custom_compile_time_error_reporter() {
    return error_reporter;
}

// ---- Names ----------------------------------------------------------------------------------------------------------

namespace {

int next_name_number(const std::string &prefix) {
    static std::mutex mutex;
    // Never destroyed: names may be asked for by static objects of the program.
    static auto &counters = *new std::map<std::string, int>;
    std::lock_guard<std::mutex> lock(mutex);
    return counters[prefix]++;
}

bool looks_generated(const std::string &name) {
    if (name.find('$') != std::string::npos) {
        return true;
    }
    if (name.size() < 2 || !isalpha((unsigned char)name[0])) {
        return false;
    }
    for (size_t i = 1; i < name.size(); i++) {
        if (!isdigit((unsigned char)name[i])) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string unique_name(char prefix) {
    // A key of its own: the numbers after one letter are not those of a Func that has this letter as its name.
    return std::string(1, prefix) + std::to_string(next_name_number(std::string(1, prefix) + "#"));
}

std::string unique_name(const std::string &prefix) {
    const int n = next_name_number(prefix);
    if (n == 0 && !looks_generated(prefix)) {
        return prefix;
    }
    return prefix + "$" + std::to_string(n);
}

int next_random_counter(RandomCounter counter) {
    return random_counters[(int)counter]++;
}

void reset_random_counters() {
    random_counters[0] = 0;
    random_counters[1] = 0;
}

// ---- Environment and messages for debugging -------------------------------------------------------------------------

std::string get_env_variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

std::string running_program_name() {
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    const std::string full = n > 0 ? std::string(path, (size_t)n) : "";
    return full.substr(full.rfind('/') + 1);
}

namespace {

/// One rule of HL_DEBUG_CODEGEN: verbosity[,file[:lo[-hi]]][@function].
struct DebugRule {
    int verbosity = 0;
    std::string file, function;
    int first_line = 0, last_line = INT_MAX;

    bool applies_everywhere() const {
        return file.empty() && function.empty();
    }

    bool applies(const char *in_file, int line, const char *in_function) const {
        return (file.empty() || (ends_with(in_file, file) && line >= first_line && line <= last_line)) &&
               (function.empty() || ends_with(in_function, function));
    }
};

DebugRule parse_debug_rule(std::string text) {
    DebugRule rule;
    const size_t at = text.find('@');
    if (at != std::string::npos) {
        rule.function = text.substr(at + 1);
        text.resize(at);
    }
    const size_t comma = text.find(',');
    if (comma != std::string::npos) {
        rule.file = text.substr(comma + 1);
        text.resize(comma);
        const size_t colon = rule.file.rfind(':');
        if (colon != std::string::npos) {
            const std::string lines = rule.file.substr(colon + 1);
            rule.file.resize(colon);
            const size_t dash = lines.find('-');
            rule.first_line = atoi(lines.c_str());
            rule.last_line = dash == std::string::npos ? rule.first_line : atoi(lines.c_str() + dash + 1);
        }
    }
    rule.verbosity = atoi(text.c_str());
    return rule;
}

struct DebugRules {
    std::vector<DebugRule> rules;
    int everywhere = 0;
    std::atomic<int> highest{0};

    DebugRules() {
        const std::string text = get_env_variable("HL_DEBUG_CODEGEN");
        if (text.empty()) {
            return;
        }
        for (const std::string &part : split_string(text, ";")) {
            rules.push_back(parse_debug_rule(part));
            const DebugRule &rule = rules.back();
            highest = std::max(highest.load(), rule.verbosity);
            if (rule.applies_everywhere()) {
                everywhere = std::max(everywhere, rule.verbosity);
            }
        }
    }
};

DebugRules &debug_rules() {
    static DebugRules &rules = *new DebugRules;
    return rules;
}

std::atomic<int> debug_level_override{INT_MIN};

}  // namespace

void set_debug_level(int level) {
    debug_level_override = level;
}

int debug_level() {
    const int overriding = debug_level_override;
    return overriding != INT_MIN ? overriding : debug_rules().everywhere;
}

bool debug_is_active(int verbosity, const char *file, int line, const char *function) {
    if (verbosity <= debug_level()) {
        return true;
    }
    const DebugRules &rules = debug_rules();
    if (verbosity > rules.highest || debug_level_override != INT_MIN) {
        return false;
    }
    for (const DebugRule &rule : rules.rules) {
        if (verbosity <= rule.verbosity && rule.applies(file, line, function)) {
            return true;
        }
    }
    return false;
}

// ---- Stack ----------------------------------------------------------------------------------------------------------

namespace {

thread_local bool on_large_stack = false;

struct LargeStackCall {
    const std::function<void()> &action;
    std::exception_ptr error;
};

void *run_large_stack_call(void *arg) {
    LargeStackCall &call = *(LargeStackCall *)arg;
    on_large_stack = true;
    try {
        call.action();
    } catch (...) {
        call.error = std::current_exception();
    }
    return nullptr;
}

}  // namespace

void run_with_large_stack(const std::function<void()> &action) {
    const size_t size = get_compiler_stack_size();
    if (size == 0 || on_large_stack) {
        action();
        return;
    }
    LargeStackCall call{action, nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    // Sizes are multiples of the page size; less than the minimum is refused.
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t rounded = std::max((size + page - 1) / page * page, (size_t)PTHREAD_STACK_MIN);
    pthread_t thread;
    const bool started = pthread_attr_setstacksize(&attributes, rounded) == 0 &&
                         pthread_create(&thread, &attributes, run_large_stack_call, &call) == 0;
    pthread_attr_destroy(&attributes);
    if (!started) {
        action();
        return;
    }
    pthread_join(thread, nullptr);
    if (call.error) {
        std::rethrow_exception(call.error);
    }
}

// ---- Other programs -------------------------------------------------------------------------------------------------

namespace {

struct Pipe {
    int ends[2] = {-1, -1};
    explicit Pipe(bool wanted) {
        if (wanted && pipe2(ends, O_CLOEXEC) != 0) {
            ends[0] = ends[1] = -1;
        }
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    void close_end(int i) {
        if (ends[i] >= 0) {
            close(ends[i]);
            ends[i] = -1;
        }
    }
};

/// Reads both pipes until the other side has closed them, so that neither can fill up and block the program.
void drain(Pipe &a, std::string *a_text, Pipe &b, std::string *b_text) {
    while (a.ends[0] >= 0 || b.ends[0] >= 0) {
        pollfd fds[2] = {{a.ends[0], POLLIN, 0}, {b.ends[0], POLLIN, 0}};
        if (poll(fds, 2, -1) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        for (int i = 0; i < 2; i++) {
            if (!fds[i].revents) {
                continue;
            }
            char buffer[4096];
            const ssize_t n = read(fds[i].fd, buffer, sizeof(buffer));
            if (n > 0) {
                (i == 0 ? a_text : b_text)->append(buffer, (size_t)n);
            } else if (n == 0 || errno != EINTR) {
                (i == 0 ? a : b).close_end(0);
            }
        }
    }
}

}  // namespace

int run_process(const std::vector<std::string> &args, std::string *stdout_text, std::string *stderr_text) {
    internal_assert(!args.empty()) << "run_process needs a program";
    std::vector<char *> argv;
    for (const std::string &a : args) {
        argv.push_back(const_cast<char *>(a.c_str()));
    }
    argv.push_back(nullptr);

    Pipe out(stdout_text != nullptr), err(stderr_text != nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (out.ends[1] >= 0) {
        posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
    }
    if (err.ends[1] >= 0) {
        posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
    }
    pid_t pid = 0;
    const int failure = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    out.close_end(1);
    err.close_end(1);
    if (failure != 0) {
        return -1;
    }
    drain(out, stdout_text, err, stderr_text);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace Internal
}  // namespace Halide
