#include "interp/Scheduler.h"

#include "interp/Interpreter.h"

namespace Halide {
namespace Internal {

Scheduler::Scheduler() {
    tasks.push_back(std::make_unique<Task>());
}

void Scheduler::pass_turn() {
    for (size_t i = 0; i < tasks.size(); i++) {
        Task &t = *tasks[i];
        if (!t.done && (!t.ready || t.ready())) {
            turn = (int)i;
            turn_changed.notify_all();
            return;
        }
    }
    // All that are left wait for each other.
    cancelled = true;
    turn_changed.notify_all();
}

void Scheduler::await_turn(std::unique_lock<std::mutex> &lock, int id) {
    turn_changed.wait(lock, [&] { return turn == id || cancelled; });
}

int Scheduler::spawn(const std::function<void(int)> &body, std::thread &thread) {
    std::unique_lock<std::mutex> lock(mutex);
    const int id = (int)tasks.size();
    tasks.push_back(std::make_unique<Task>());
    thread = std::thread([this, id, body] {
        {
            std::unique_lock<std::mutex> own_lock(mutex);
            await_turn(own_lock, id);
        }
        if (!cancelled) {
            body(id);
        }
        std::unique_lock<std::mutex> own_lock(mutex);
        tasks[(size_t)id]->done = true;
        if (!cancelled) {
            pass_turn();
        }
    });
    return id;
}

void Scheduler::wait_until(int id, std::function<bool()> condition) {
    std::unique_lock<std::mutex> lock(mutex);
    if (cancelled) {
        throw Cancelled();
    }
    if (condition()) {
        return;
    }
    Task &task = *tasks[(size_t)id];
    task.ready = std::move(condition);
    pass_turn();
    const bool deadlock = cancelled;
    await_turn(lock, id);
    task.ready = nullptr;
    if (deadlock) {
        throw InterpreterFault("deadlock: every task waits for a semaphore that none releases");
    }
    if (cancelled) {
        throw Cancelled();
    }
}

void Scheduler::cancel_and_join(std::thread &thread) {
    {
        std::unique_lock<std::mutex> lock(mutex);
        cancelled = true;
        turn_changed.notify_all();
    }
    thread.join();
}

}  // namespace Internal
}  // namespace Halide
