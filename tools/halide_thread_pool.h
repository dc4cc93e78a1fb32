// A plain pool of threads for programs around pipelines; independent of the pool that runs parallel loops.
#ifndef HALIDE_THREAD_POOL_H
#define HALIDE_THREAD_POOL_H

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace Halide {
namespace Tools {

/// Runs functions that return T on a fixed number of threads.
template <typename T>
class ThreadPool {
    std::mutex mutex;
    std::condition_variable wakeup;
    std::deque<std::packaged_task<T()>> tasks;
    std::vector<std::thread> threads;
    bool closing = false;

    void work() {
        for (;;) {
            std::packaged_task<T()> task;
            {
                std::unique_lock<std::mutex> lock(mutex);
                wakeup.wait(lock, [this] { return closing || !tasks.empty(); });
                if (tasks.empty()) {
                    return;
                }
                task = std::move(tasks.front());
                tasks.pop_front();
            }
            task();
        }
    }

public:
    /// Processors of this machine, at least 1.
    static size_t num_processors_online() { return std::max<size_t>(1, std::thread::hardware_concurrency()); }

    explicit ThreadPool(size_t desired_num_threads = num_processors_online()) {
        for (size_t i = 0; i < std::max<size_t>(1, desired_num_threads); i++) {
            threads.emplace_back([this] { work(); });
        }
    }

    /// Finishes all tasks and joins the threads.
    ~ThreadPool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            closing = true;
        }
        wakeup.notify_all();
        for (std::thread &t : threads) {
            t.join();
        }
    }

    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;
    ThreadPool(ThreadPool &&) = delete;
    ThreadPool &operator=(ThreadPool &&) = delete;

    /// Runs func(args…) on one of the threads. The future gives its result or exception.
    template <typename Func, typename... Args>
    std::future<T> async(Func func, Args... args) {
        std::packaged_task<T()> task([func = std::move(func), values = std::tuple<Args...>(std::move(args)...)]() mutable {
            return std::apply(func, values);
        });
        std::future<T> result = task.get_future();
        {
            std::lock_guard<std::mutex> lock(mutex);
            tasks.push_back(std::move(task));
        }
        wakeup.notify_one();
        return result;
    }
};

}  // namespace Tools
}  // namespace Halide

#endif  // HALIDE_THREAD_POOL_H
