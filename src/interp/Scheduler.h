#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace Halide {
namespace Internal {

/// Runs the branches of forks as threads of which one runs at a time, in an order that does not depend on the machine:
/// a task runs until it waits or ends, then the first that can go on does.
class Scheduler {
    struct Task {
        std::function<bool()> ready;  ///< Empty: it waits for nothing.
        bool done = false;
    };

    std::mutex mutex;
    std::condition_variable turn_changed;
    std::vector<std::unique_ptr<Task>> tasks;
    int turn = 0;
    bool cancelled = false;

    // Called by the task whose turn it is.
    void pass_turn();
    void await_turn(std::unique_lock<std::mutex> &lock, int id);

public:
    /// Thrown in tasks that cannot go on because another one failed.
    struct Cancelled {};

    /// The calling thread is task 0.
    Scheduler();

    /// Starts a task; it runs when the calling one waits.
    int spawn(const std::function<void(int id)> &body, std::thread &thread);

    /// Lets others run until the condition holds.
    /// @throws InterpreterFault if it can never hold.
    void wait_until(int id, std::function<bool()> condition);

    bool is_done(int id) const {
        return tasks[(size_t)id]->done;
    }

    /// Makes all other tasks end, and waits for one of them.
    void cancel_and_join(std::thread &thread);
};

}  // namespace Internal
}  // namespace Halide
