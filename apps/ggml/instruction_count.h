#pragma once

// Instructions that a function executes, counted one by one: exact, on any Linux, and without a performance counter, which
// virtual machines seldom have.

#include <csignal>
#include <functional>

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/// Runs f in a process of its own, step by step. −1 if the system does not allow that. A constant overhead is included:
/// subtract two counts.
inline long count_instructions(const std::function<void()> &f) {
    f();   // what is done once only, as resolving symbols, is done before
    const pid_t child = fork();
    if (child < 0) {
        return -1;
    }
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
            _exit(1);
        }
        raise(SIGSTOP);
        f();
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        return -1;
    }
    long steps = 0;
    while (WIFSTOPPED(status)) {
        if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        steps++;
        if (waitpid(child, &status, 0) != child) {
            return -1;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? steps : -1;
}
