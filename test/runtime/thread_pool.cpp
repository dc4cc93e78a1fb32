// The thread pool, semaphores, task graphs, locks.
#include "runtime/HalideRuntime.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

/// Sets the number of threads for a scope.
struct Threads {
    int old;
    explicit Threads(int n) : old(halide_set_num_threads(n)) {}
    ~Threads() { halide_set_num_threads(old); }
};

using Body = std::function<int(int)>;

int call_body(void *, int i, uint8_t *closure) {
    return (*(Body *)closure)(i);
}

int par_for(int min, int size, Body body) {
    return halide_do_par_for(nullptr, call_body, min, size, (uint8_t *)&body);
}

using LoopBody = std::function<int(int min, int extent, void *parent)>;

int call_loop_body(void *, int min, int extent, uint8_t *closure, void *parent) {
    return (*(LoopBody *)closure)(min, extent, parent);
}

struct Task {
    LoopBody body;
    int min, extent;
    std::vector<halide_semaphore_acquire_t> semaphores;
    bool serial = false;
    int min_threads = 1;
};

int run_tasks(std::vector<Task> tasks, void *parent = nullptr) {
    std::vector<halide_parallel_task_t> list;
    for (Task &t : tasks) {
        list.push_back({call_loop_body, (uint8_t *)&t.body, "task", t.semaphores.data(), (int)t.semaphores.size(),
                        t.min, t.extent, t.min_threads, t.serial});
    }
    return halide_do_parallel_tasks(nullptr, (int)list.size(), list.data(), parent);
}

void sleep_ms(int ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

/// Fails the process if the body does not end in time, instead of hanging.
void with_deadline(const std::function<void()> &body) {
    std::atomic<bool> done{false};
    std::thread watch([&] {
        for (int i = 0; i < 6000 && !done; i++) {
            sleep_ms(10);
        }
        if (!done) {
            fprintf(stderr, "deadlock\n");
            abort();
        }
    });
    body();
    done = true;
    watch.join();
}

}  // namespace

TEST(ThreadPool, EveryIterationOnce) {
    for (int threads : {1, 2, 4, 16}) {
        Threads t(threads);
        for (int min : {0, -1000, 7}) {
            std::vector<std::atomic<int>> counts(500);
            EXPECT_EQ(par_for(min, 500, [&](int i) { return counts[i - min]++, 0; }), 0);
            for (auto &c : counts) {
                ASSERT_EQ(c, 1);
            }
        }
        EXPECT_EQ(par_for(0, 0, [](int) { return 1; }), 0);
        EXPECT_EQ(par_for(0, -5, [](int) { return 1; }), 0);
        EXPECT_EQ(par_for(INT32_MAX - 3, 3, [](int i) { return i < 0; }), 0);
    }
}

TEST(ThreadPool, ThatManyThreadsRunAtOnce) {
    with_deadline([] {
        for (int threads : {2, 3, 8}) {
            Threads t(threads);
            std::atomic<int> arrived{0};
            // All must be inside at the same time to get on.
            EXPECT_EQ(par_for(0, threads,
                              [&](int) {
                                  arrived++;
                                  while (arrived < threads) {
                                      sleep_ms(1);
                                  }
                                  return 0;
                              }),
                      0);
        }
    });
}

TEST(ThreadPool, NotMoreThanThatMany) {
    for (int threads : {1, 2, 3}) {
        Threads t(threads);
        std::atomic<int> inside{0}, most{0};
        par_for(0, 40, [&](int) {
            const int now = ++inside;
            int m = most;
            while (m < now && !most.compare_exchange_weak(m, now)) {
            }
            sleep_ms(1);
            inside--;
            return 0;
        });
        EXPECT_LE(most, threads);
    }
}

TEST(ThreadPool, NestedLoops) {
    with_deadline([] {
        for (int threads : {1, 2, 4}) {
            Threads t(threads);
            std::atomic<int> count{0};
            EXPECT_EQ(par_for(0, 10,
                              [&](int) {
                                  return par_for(0, 10,
                                                 [&](int) { return par_for(0, 10, [&](int) { return count++, 0; }); });
                              }),
                      0);
            EXPECT_EQ(count, 1000);
        }
    });
}

TEST(ThreadPool, NestedLoopsAreHelpedByOuterThreads) {
    // One outer iteration is long and parallel inside; the threads that are through must join it.
    with_deadline([] {
        Threads t(4);
        std::atomic<int> inside{0};
        EXPECT_EQ(par_for(0, 4,
                          [&](int i) {
                              if (i != 0) {
                                  return 0;
                              }
                              return par_for(0, 4, [&](int) {
                                  inside++;
                                  while (inside < 4) {
                                      sleep_ms(1);
                                  }
                                  return 0;
                              });
                          }),
                  0);
    });
}

TEST(ThreadPool, FirstErrorWins) {
    for (int threads : {1, 2, 8}) {
        Threads t(threads);
        std::atomic<int> ran{0};
        const int r = par_for(0, 100000, [&](int i) {
            ran++;
            return i == 50 ? -7 : 0;
        });
        EXPECT_EQ(r, -7);
        EXPECT_LT(ran, 100000);
        EXPECT_EQ(par_for(0, 8, [&](int) { return par_for(0, 8, [](int j) { return j == 3 ? 42 : 0; }); }), 42);
        EXPECT_EQ(par_for(0, 100, [](int) { return 0; }), 0) << "the pool still works";
    }
}

TEST(ThreadPool, NumberOfThreads) {
    const int before = halide_get_num_threads();
    EXPECT_EQ(halide_set_num_threads(3), before);
    EXPECT_EQ(halide_get_num_threads(), 3);
    EXPECT_EQ(halide_set_num_threads(100000), 3);
    EXPECT_EQ(halide_get_num_threads(), 256);
    unsetenv("HL_NUMTHREADS");
    setenv("HL_NUM_THREADS", "5", 1);
    halide_set_num_threads(0);
    EXPECT_EQ(halide_get_num_threads(), 5);
    setenv("HL_NUMTHREADS", "7", 1);
    halide_set_num_threads(0);
    EXPECT_EQ(halide_get_num_threads(), 5);
    unsetenv("HL_NUM_THREADS");
    halide_set_num_threads(0);
    EXPECT_EQ(halide_get_num_threads(), 7);
    setenv("HL_NUMTHREADS", "garbage", 1);
    halide_set_num_threads(0);
    EXPECT_EQ(halide_get_num_threads(), std::min(256, halide_host_cpu_count()));
    unsetenv("HL_NUMTHREADS");

    static std::string error;
    error.clear();
    const auto old = halide_set_error_handler([](void *, const char *msg) { error = msg; });
    const int unchanged = halide_get_num_threads();
    EXPECT_EQ(halide_set_num_threads(-1), unchanged);
    EXPECT_NE(error.find("must not be negative"), std::string::npos);
    EXPECT_EQ(halide_get_num_threads(), unchanged);
    halide_set_error_handler(old);
    halide_set_num_threads(before);
    EXPECT_GE(halide_host_cpu_count(), 1);
}

TEST(ThreadPool, Resize) {
    with_deadline([] {
        Threads t(8);
        for (int n : {8, 2, 1, 6, 3, 0, 4}) {
            halide_set_num_threads(n);
            std::atomic<int> count{0};
            EXPECT_EQ(par_for(0, 200, [&](int) { return count++, 0; }), 0);
            EXPECT_EQ(count, 200);
        }
        // Also while a loop runs.
        std::atomic<int> count{0};
        par_for(0, 300, [&](int i) {
            halide_set_num_threads(1 + i % 9);
            return count++, 0;
        });
        EXPECT_EQ(count, 300);
    });
}

TEST(ThreadPool, ShutdownAndRestart) {
    with_deadline([] {
        Threads t(4);
        for (int i = 0; i < 20; i++) {
            std::atomic<int> count{0};
            EXPECT_EQ(par_for(0, 50, [&](int) { return count++, 0; }), 0);
            EXPECT_EQ(count, 50);
            halide_shutdown_thread_pool();
            if (i % 3 == 0) {
                halide_shutdown_thread_pool();
            }
        }
        // From inside a task it has no effect, but does not hang either.
        EXPECT_EQ(par_for(0, 10, [](int) { return halide_shutdown_thread_pool(), 0; }), 0);
        // While another thread runs loops.
        std::atomic<bool> stop{false};
        std::thread other([&] {
            while (!stop) {
                std::atomic<int> count{0};
                par_for(0, 20, [&](int) { return count++, 0; });
                ASSERT_EQ(count, 20);
            }
        });
        for (int i = 0; i < 50; i++) {
            halide_shutdown_thread_pool();
        }
        stop = true;
        other.join();
    });
}

TEST(ThreadPool, ManyCallers) {
    with_deadline([] {
        Threads t(4);
        std::vector<std::thread> callers;
        std::atomic<int> total{0};
        for (int c = 0; c < 8; c++) {
            callers.emplace_back([&] {
                for (int i = 0; i < 200; i++) {
                    par_for(0, 16, [&](int) { return total++, 0; });
                }
            });
        }
        for (auto &c : callers) {
            c.join();
        }
        EXPECT_EQ(total, 8 * 200 * 16);
    });
}

TEST(ThreadPool, Fork) {
    Threads t(4);
    par_for(0, 100, [](int) { return 0; });
    for (int i = 0; i < 5; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            std::atomic<int> count{0};
            const int r = par_for(0, 100, [&](int) { return count++, 0; });
            halide_shutdown_thread_pool();
            _exit(r == 0 && count == 100 && halide_get_num_threads() == 4 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        EXPECT_EQ(par_for(0, 100, [](int) { return 0; }), 0);
    }
}

TEST(ThreadPool, ExitInsideATask) {
    EXPECT_EXIT(
        {
            Threads t(4);
            alarm(20);
            par_for(0, 4, [](int i) {
                if (i == 2) {
                    exit(3);
                }
                sleep_ms(50);
                return 0;
            });
        },
        testing::ExitedWithCode(3), "");
}

TEST(ThreadPool, CustomTaskAndLoop) {
    static std::atomic<int> tasks;
    tasks = 0;
    const auto old = halide_set_custom_do_task([](void *uc, halide_task_t f, int i, uint8_t *closure) {
        tasks++;
        return f(uc, i, closure);
    });
    Threads t(4);
    EXPECT_EQ(par_for(0, 10, [](int) { return 0; }), 0);
    EXPECT_EQ(tasks, 10);
    halide_set_custom_do_task(old);

    const auto old_loop =
        halide_set_custom_do_par_for([](void *uc, halide_task_t f, int min, int size, uint8_t *closure) {
            for (int i = min + size - 1; i >= min; i--) {
                halide_do_task(uc, f, i, closure);
            }
            return 0;
        });
    std::vector<int> order;
    par_for(0, 3, [&](int i) { return order.push_back(i), 0; });
    EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
    halide_set_custom_do_par_for(old_loop);
}

// ------------------------------------------------------------------------------------------------------- task graphs

TEST(Semaphore, Counts) {
    halide_semaphore_t s = {};
    EXPECT_FALSE(halide_semaphore_try_acquire(&s, 1));
    EXPECT_TRUE(halide_semaphore_try_acquire(&s, 0));
    EXPECT_EQ(halide_semaphore_init(&s, 3), 3);
    EXPECT_FALSE(halide_semaphore_try_acquire(&s, 4));
    EXPECT_TRUE(halide_semaphore_try_acquire(&s, 2));
    EXPECT_EQ(halide_semaphore_release(&s, 5), 6);
    EXPECT_TRUE(halide_semaphore_try_acquire(&s, 6));
    EXPECT_FALSE(halide_semaphore_try_acquire(&s, 1));
}

TEST(ParallelTasks, SlicesCoverTheLoop) {
    for (int threads : {1, 4}) {
        Threads t(threads);
        std::vector<std::atomic<int>> counts(1000);
        std::atomic<int> calls{0};
        EXPECT_EQ(run_tasks({{[&](int min, int extent, void *) {
                                  calls++;
                                  for (int i = min; i < min + extent; i++) {
                                      counts[i + 100]++;
                                  }
                                  return 0;
                              },
                              -100,
                              1000,
                              {}}}),
                  0);
        for (auto &c : counts) {
            ASSERT_EQ(c, 1);
        }
        EXPECT_LT(calls, 1000);
    }
}

TEST(ParallelTasks, SerialIsInOrder) {
    with_deadline([] {
        Threads t(4);
        halide_semaphore_t s = {};
        halide_semaphore_init(&s, 0);
        std::vector<int> order;
        EXPECT_EQ(run_tasks({{[&](int min, int extent, void *) {
                                  EXPECT_EQ(extent, 1);
                                  order.push_back(min);  // No lock: never two at a time.
                                  return 0;
                              },
                              0,
                              50,
                              {{&s, 1}},
                              true},
                             {[&](int min, int extent, void *) {
                                  for (int i = 0; i < extent; i++) {
                                      halide_semaphore_release(&s, 1);
                                  }
                                  return 0;
                              },
                              0,
                              50,
                              {}}}),
                  0);
        ASSERT_EQ(order.size(), 50u);
        for (int i = 0; i < 50; i++) {
            EXPECT_EQ(order[i], i);
        }
    });
}

TEST(ParallelTasks, ProducerAndConsumerWithALimitedBuffer) {
    with_deadline([] {
        for (int threads : {1, 2, 4}) {
            for (int slots : {1, 3}) {
                Threads t(threads);
                halide_semaphore_t full = {}, empty = {};
                halide_semaphore_init(&full, 0);
                halide_semaphore_init(&empty, slots);
                std::vector<int> ring(slots), seen;
                EXPECT_EQ(run_tasks({{[&](int i, int, void *) {
                                          ring[i % slots] = i * i;
                                          return halide_semaphore_release(&full, 1), 0;
                                      },
                                      0,
                                      200,
                                      {{&empty, 1}},
                                      true},
                                     {[&](int i, int, void *) {
                                          seen.push_back(ring[i % slots]);
                                          return halide_semaphore_release(&empty, 1), 0;
                                      },
                                      0,
                                      200,
                                      {{&full, 1}},
                                      true}}),
                          0);
                ASSERT_EQ(seen.size(), 200u);
                for (int i = 0; i < 200; i++) {
                    ASSERT_EQ(seen[i], i * i);
                }
            }
        }
    });
}

TEST(ParallelTasks, TasksThatBlockInsideOnNestedTasks) {
    // Each side waits in the middle of its body, as async() inside a loop does; one thread must be enough.
    with_deadline([] {
        for (int threads : {1, 2, 4}) {
            Threads t(threads);
            halide_semaphore_t full = {}, empty = {};
            halide_semaphore_init(&full, 0);
            halide_semaphore_init(&empty, 1);
            int slot = 0, sum = 0;
            EXPECT_EQ(run_tasks({{[&](int, int, void *parent) {
                                      for (int i = 0; i < 30; i++) {
                                          const int r = run_tasks({{[&](int, int, void *) {
                                                                        slot = i;
                                                                        return halide_semaphore_release(&full, 1), 0;
                                                                    },
                                                                    0,
                                                                    1,
                                                                    {{&empty, 1}},
                                                                    true}},
                                                                  parent);
                                          if (r) {
                                              return r;
                                          }
                                      }
                                      return 0;
                                  },
                                  0,
                                  1,
                                  {},
                                  true,
                                  2},
                                 {[&](int, int, void *parent) {
                                      for (int i = 0; i < 30; i++) {
                                          const int r = run_tasks({{[&](int, int, void *) {
                                                                        sum += slot;
                                                                        return halide_semaphore_release(&empty, 1), 0;
                                                                    },
                                                                    0,
                                                                    1,
                                                                    {{&full, 1}},
                                                                    true}},
                                                                  parent);
                                          if (r) {
                                              return r;
                                          }
                                      }
                                      return 0;
                                  },
                                  0,
                                  1,
                                  {},
                                  true,
                                  2}}),
                      0);
            EXPECT_EQ(sum, 29 * 30 / 2);
        }
    });
}

TEST(ParallelTasks, ManyBlockedTasksInsideALoop) {
    with_deadline([] {
        for (int threads : {1, 2}) {
            Threads t(threads);
            std::atomic<int> done{0};
            EXPECT_EQ(par_for(0, 12,
                              [&](int) {
                                  halide_semaphore_t s = {};
                                  halide_semaphore_init(&s, 0);
                                  return run_tasks(
                                      {{[&](int, int, void *parent) {
                                            return run_tasks(
                                                {{[&](int, int, void *) { return done++, 0; }, 0, 1, {{&s, 3}}}},
                                                parent);
                                        },
                                        0,
                                        1,
                                        {},
                                        true,
                                        2},
                                       {[&](int, int extent, void *) {
                                            for (int i = 0; i < extent; i++) {
                                                halide_semaphore_release(&s, 1);
                                            }
                                            return 0;
                                        },
                                        0,
                                        3,
                                        {}}});
                              }),
                      0);
            EXPECT_EQ(done, 12);
        }
    });
}

TEST(ParallelTasks, AnErrorReleasesWhoWaits) {
    with_deadline([] {
        for (int threads : {1, 2, 4}) {
            Threads t(threads);
            halide_semaphore_t never = {};
            halide_semaphore_init(&never, 0);
            // A sibling that waits at the start, and one that waits in the middle.
            const int r =
                run_tasks({{[&](int, int, void *) { return 0; }, 0, 10, {{&never, 1}}, true},
                           {[&](int, int, void *parent) {
                                return run_tasks({{[](int, int, void *) { return 0; }, 0, 1, {{&never, 1}}}}, parent);
                            },
                            0,
                            1,
                            {},
                            true,
                            2},
                           {[&](int, int, void *) {
                                sleep_ms(5);
                                return -5;
                            },
                            0,
                            1,
                            {},
                            true}});
            EXPECT_EQ(r, -5);
            EXPECT_EQ(par_for(0, 20, [](int) { return 0; }), 0);
        }
    });
}

TEST(ParallelTasks, MoreTasksThanFitOnTheStack) {
    Threads t(4);
    std::atomic<int> count{0};
    std::vector<Task> tasks;
    for (int i = 0; i < 40; i++) {
        tasks.push_back({[&](int, int extent, void *) { return count += extent, 0; }, 0, i, {}});
    }
    EXPECT_EQ(run_tasks(tasks), 0);
    EXPECT_EQ(count, 39 * 40 / 2);
    EXPECT_EQ(run_tasks({}), 0);
}

TEST(ParallelTasks, SeveralSemaphores) {
    with_deadline([] {
        Threads t(4);
        halide_semaphore_t a = {}, b = {};
        halide_semaphore_init(&a, 0);
        halide_semaphore_init(&b, 0);
        std::atomic<int> joined{0};
        EXPECT_EQ(run_tasks({{[&](int, int, void *) { return joined++, 0; }, 0, 30, {{&a, 1}, {&b, 2}}},
                             {[&](int, int n, void *) { return halide_semaphore_release(&a, n), 0; }, 0, 30, {}},
                             {[&](int, int n, void *) { return halide_semaphore_release(&b, 2 * n), 0; }, 0, 30, {}}}),
                  0);
        EXPECT_EQ(joined, 30);
        EXPECT_FALSE(halide_semaphore_try_acquire(&a, 1));
        EXPECT_FALSE(halide_semaphore_try_acquire(&b, 1));
    });
}

// -------------------------------------------------------------------------------------------------------------- locks

TEST(Synchronization, MutexAndCondition) {
    halide_mutex mutex = {};
    halide_cond cond = {};
    int64_t counter = 0;
    int turn = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5000; i++) {
                halide_mutex_lock(&mutex);
                counter++;
                halide_mutex_unlock(&mutex);
            }
            for (int i = 0; i < 200; i++) {
                halide_mutex_lock(&mutex);
                while (turn % 4 != t) {
                    halide_cond_wait(&cond, &mutex);
                }
                turn++;
                halide_cond_broadcast(&cond);
                halide_mutex_unlock(&mutex);
            }
        });
    }
    for (auto &t : threads) {
        t.join();
    }
    EXPECT_EQ(counter, 20000);
    EXPECT_EQ(turn, 800);
}

TEST(Synchronization, SignalWakesOne) {
    halide_mutex mutex = {};
    halide_cond cond = {};
    int tokens = 0, taken = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++) {
        threads.emplace_back([&] {
            halide_mutex_lock(&mutex);
            while (tokens == 0) {
                halide_cond_wait(&cond, &mutex);
            }
            tokens--;
            taken++;
            halide_mutex_unlock(&mutex);
        });
    }
    for (int i = 0; i < 3; i++) {
        halide_mutex_lock(&mutex);
        tokens++;
        halide_cond_signal(&cond);
        halide_mutex_unlock(&mutex);
    }
    for (auto &t : threads) {
        t.join();
    }
    EXPECT_EQ(taken, 3);
}

TEST(Synchronization, MutexArray) {
    halide_mutex_array *array = halide_mutex_array_create(10);
    ASSERT_NE(array, nullptr);
    Threads t(4);
    int counts[10] = {};
    par_for(0, 2000, [&](int i) {
        halide_mutex_array_lock(array, i % 10);
        counts[i % 10]++;
        halide_mutex_array_unlock(array, i % 10);
        return 0;
    });
    for (int c : counts) {
        EXPECT_EQ(c, 200);
    }
    halide_mutex_array_destroy(nullptr, array);
    halide_mutex_array_destroy(nullptr, nullptr);
    array = halide_mutex_array_create((uint64_t)1 << 40);
    ASSERT_NE(array, nullptr) << "a few thousand mutexes serve any number of elements";
    EXPECT_EQ(halide_mutex_array_lock(array, 123456789), 0);
    EXPECT_EQ(halide_mutex_array_unlock(array, 123456789), 0);
    halide_mutex_array_destroy(nullptr, array);
}

TEST(Synchronization, SpawnedThreads) {
    static int ran;
    ran = 0;
    halide_thread *t = halide_spawn_thread([](void *p) { *(int *)p = 5; }, &ran);
    ASSERT_NE(t, nullptr);
    halide_join_thread(t);
    EXPECT_EQ(ran, 5);
    const int32_t here = halide_current_thread_id();
    EXPECT_EQ(halide_current_thread_id(), here);
    int32_t there = here;
    std::thread([&] { there = halide_current_thread_id(); }).join();
    EXPECT_NE(here, there);
}

TEST(Clock, GoesForward) {
    EXPECT_EQ(halide_start_clock(nullptr), 0);
    const int64_t a = halide_current_time_ns(nullptr);
    halide_sleep_us(nullptr, 2000);
    const int64_t b = halide_current_time_ns(nullptr);
    EXPECT_GE(b - a, 1900000);
    EXPECT_LT(b - a, 10000000000);
}
