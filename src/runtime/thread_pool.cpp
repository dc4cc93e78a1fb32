// The thread pool.
//
// Every parallel loop or task graph becomes a *group* of *jobs* on the stack of the thread that asked for it, its
// owner. Jobs stand in one list under one lock, the most recent first; iterations of ordinary loops are handed out by
// an atomic counter, so the lock is taken once per thread and loop, not per iteration. Workers steal iterations from
// any job. An owner that has to wait takes iterations of its own group and of what descends from it.
//
// Why this cannot deadlock: what an owner runs while it waits is needed to finish its own group, so whatever that work
// waits for is not on the owner's stack below. And an owner that finds nothing to do stops counting as running, which
// lets another thread start; threads are made for that as needed. So as long as any job can run, some thread takes it.
// Neither an order of tasks nor min_threads is needed for that.
//
// Exactly `desired` threads run at a time if there is work for them, callers included.
#include "runtime_internal.h"

namespace Halide {
namespace Runtime {
namespace Internal {

void *get_thread_value(unsigned *key);
void set_thread_value(unsigned *key, void *value);

struct Group;

struct Job {
    halide_task_t task;            // an iteration of a loop, or
    halide_loop_task_t loop_task;  // a slice of one
    uint8_t *closure;
    void *user_context;
    halide_semaphore_acquire_t *semaphores;
    int num_semaphores;
    bool serial;
    int64_t end;
    Group *group;
    Job *previous, *next;  // in the list

    // Under the lock.
    bool listed;
    bool finished;
    int workers;              // threads inside
    int semaphores_acquired;  // for the next iteration

    // First iteration that nobody took; written by all threads, so on a cache line of its own.
    HALIDE_ATTRIBUTE_ALIGN(64) int64_t next_iteration;

    bool has_steps() const { return num_semaphores > 0 || serial; }
    int64_t left() const { return end - __atomic_load_n(&next_iteration, __ATOMIC_RELAXED); }
    bool exhausted() const { return left() <= 0; }
};

struct Group {
    Job *parent;     // the job inside which the owner runs, null at the top
    int unfinished;  // jobs
    int result;      // first error
    bool sleeping;   // the owner waits for `wake`
    halide_cond wake;
    Group *next_sleeping;
};

struct Worker {
    halide_thread *thread;
    Worker *next;
    int generation;
    bool done;
};

struct Pool {
    halide_mutex lock;
    int process;         // id of the process that the threads belong to
    int desired;         // threads wanted; 0 = not decided yet
    int running;         // threads that work
    int idle;            // workers that wait for `work`
    int generation;      // shutting down starts a new one; workers of old ones leave
    int semaphore_jobs;  // listed jobs with semaphores
    uint32_t news;       // changes whenever there may be something to do
    Job *jobs;
    Group *sleeping;
    Worker *workers;
    Worker *lost;  // those of the process that this one was forked from
    halide_cond work;
};

WEAK Pool pool;
WEAK unsigned current_job_key = 0;

WEAK halide_do_par_for_t custom_do_par_for = halide_default_do_par_for;
WEAK halide_do_task_t custom_do_task = halide_default_do_task;
WEAK halide_do_loop_task_t custom_do_loop_task = halide_default_do_loop_task;
WEAK halide_do_parallel_tasks_t custom_do_parallel_tasks = halide_default_do_parallel_tasks;
WEAK halide_semaphore_init_t custom_semaphore_init = halide_default_semaphore_init;
WEAK halide_semaphore_try_acquire_t custom_semaphore_try_acquire = halide_default_semaphore_try_acquire;
WEAK halide_semaphore_release_t custom_semaphore_release = halide_default_semaphore_release;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

using namespace Halide::Runtime::Internal;

namespace {

constexpr int max_threads = 256;
constexpr int spins_before_sleep = 256;

void worker_main(void *arg);

int default_num_threads() {
    int64_t n = environment_number("HL_NUM_THREADS", 0);
    n = n ? n : environment_number("HL_NUMTHREADS", 0);
    n = n ? n : halide_host_cpu_count();
    return (int)(n < 1 ? 1 : n > max_threads ? max_threads : n);
}

/// After a fork the child has none of the threads, and the state is what it happened to be. Called without the lock
/// before anything else, so that the child starts afresh.
void enter_process() {
    const int me = getpid();
    int seen = __atomic_load_n(&pool.process, __ATOMIC_ACQUIRE);
    while (seen != me) {
        if (seen != -1 &&
            __atomic_compare_exchange_n(&pool.process, &seen, -1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            if (seen != 0) {
                const int desired = pool.desired;
                Worker *const lost = pool.workers;
                memset(&pool, 0, sizeof(pool));
                pool.process = -1;
                pool.desired = desired;
                // Their memory is given up: a thread may have been changing the list when the process was forked.
                pool.lost = lost;
            }
            __atomic_store_n(&pool.process, me, __ATOMIC_RELEASE);
            return;
        }
        sched_yield();
        seen = __atomic_load_n(&pool.process, __ATOMIC_ACQUIRE);
    }
}

// ------------------------------------------------------------------------------------------ with the lock held

int desired_threads() {
    if (pool.desired == 0) {
        pool.desired = default_num_threads();
    }
    return pool.desired;
}

void list(Job *j) {
    j->listed = true;
    j->previous = nullptr;
    j->next = pool.jobs;
    if (pool.jobs) {
        pool.jobs->previous = j;
    }
    pool.jobs = j;
    __atomic_fetch_add(&pool.semaphore_jobs, j->num_semaphores > 0, __ATOMIC_SEQ_CST);
}

void unlist(Job *j) {
    if (!j->listed) {
        return;
    }
    j->listed = false;
    *(j->previous ? &j->previous->next : &pool.jobs) = j->next;
    if (j->next) {
        j->next->previous = j->previous;
    }
    __atomic_fetch_sub(&pool.semaphore_jobs, j->num_semaphores > 0, __ATOMIC_SEQ_CST);
}

void announce_news() {
    __atomic_fetch_add(&pool.news, 1, __ATOMIC_RELEASE);
}

void wake_owner(Group *g) {
    if (g->sleeping) {
        announce_news();
        halide_cond_signal(&g->wake);
    }
}

void reap_finished_workers() {
    for (Worker **w = &pool.workers; *w;) {
        Worker *dead = *w;
        if (!dead->done) {
            w = &dead->next;
            continue;
        }
        *w = dead->next;
        halide_join_thread(dead->thread);
        free(dead);
    }
}

bool start_worker() {
    reap_finished_workers();
    Worker *w = (Worker *)calloc(1, sizeof(Worker));
    if (!w) {
        return false;
    }
    w->generation = pool.generation;
    w->thread = halide_spawn_thread(worker_main, w);
    if (!w->thread) {
        free(w);
        return false;
    }
    w->next = pool.workers;
    pool.workers = w;
    return true;
}

/// Brings up to n more threads to look for work: idle workers, else new ones.
void call_for_help(int n) {
    const int room = desired_threads() - pool.running;
    n = n < room ? n : room;
    if (n <= 0) {
        return;
    }
    announce_news();
    for (int i = 0; i < n && i < pool.idle; i++) {
        halide_cond_signal(&pool.work);
    }
    for (int i = pool.idle; i < n && start_worker(); i++) {
    }
}

/// A job that failed, or is exhausted, leaves the list; when nobody is inside any more it is finished.
void retire(Job *j) {
    unlist(j);
    if (j->workers == 0 && !j->finished) {
        j->finished = true;
        if (--j->group->unfinished == 0) {
            wake_owner(j->group);
        }
    }
}

bool failed(const Group *g) {
    return __atomic_load_n(&g->result, __ATOMIC_RELAXED) != 0;
}

/// The error of the group or of what it runs inside.
int inherited_failure(const Group *g) {
    for (; g; g = g->parent ? g->parent->group : nullptr) {
        if (const int r = __atomic_load_n(&g->result, __ATOMIC_RELAXED)) {
            return r;
        }
    }
    return 0;
}

bool descends(const Job *j, const Group *ancestor) {
    for (const Group *g = j->group; g; g = g->parent ? g->parent->group : nullptr) {
        if (g == ancestor) {
            return true;
        }
    }
    return false;
}

/// Whether an iteration could start now. Semaphores acquired on the way stay acquired for it.
bool ready(Job *j) {
    if (j->exhausted() || (j->serial && j->workers > 0)) {
        return false;
    }
    while (j->semaphores_acquired < j->num_semaphores) {
        const halide_semaphore_acquire_t &a = j->semaphores[j->semaphores_acquired];
        if (!halide_semaphore_try_acquire(a.semaphore, a.count)) {
            return false;
        }
        j->semaphores_acquired++;
    }
    return true;
}

/// The most recent job that is ready and, if a group is given, descends from it.
Job *find_job(const Group *ancestor) {
    for (Job *j = pool.jobs; j;) {
        Job *const next = j->next;
        if (failed(j->group) || j->exhausted()) {
            retire(j);
        } else if ((!ancestor || descends(j, ancestor)) && ready(j)) {
            return j;
        }
        j = next;
    }
    return nullptr;
}

/// Wakes who waits inside something that has failed.
void wake_all_sleeping() {
    for (Group *g = pool.sleeping; g; g = g->next_sleeping) {
        wake_owner(g);
    }
}

void fail(Group *g, int result) {
    if (!failed(g)) {
        __atomic_store_n(&g->result, result, __ATOMIC_RELAXED);
        wake_all_sleeping();
    }
}

// ------------------------------------------------------------------------------------------------- running jobs

/// Runs iterations until there are none left. Lock-free inside.
int run_iterations(Job *j) {
    while (!failed(j->group)) {
        int64_t left = j->left(), slice = 1;
        if (j->loop_task && left > 0) {
            // Large slices first, so that few are needed, small ones at the end, so that all threads end together.
            slice = left / (4 * (int64_t)halide_get_num_threads());
            slice = slice < 1 ? 1 : slice;
        }
        const int64_t i = __atomic_fetch_add(&j->next_iteration, slice, __ATOMIC_RELAXED);
        left = j->end - i;
        if (left <= 0) {
            return 0;
        }
        slice = slice < left ? slice : left;
        const int r = j->task ? halide_do_task(j->user_context, j->task, (int)i, j->closure)
                              : halide_do_loop_task(j->user_context, j->loop_task, (int)i, (int)slice, j->closure, j);
        if (r) {
            return r;
        }
    }
    return 0;
}

/// Runs a slice of a job that hands them out under the lock.
int run_step(Job *j, int64_t first, int64_t extent) {
    return j->task ? halide_do_task(j->user_context, j->task, (int)first, j->closure)
                   : halide_do_loop_task(j->user_context, j->loop_task, (int)first, (int)extent, j->closure, j);
}

/// Takes part in a job that find_job returned. The lock is held on entry and exit.
void run(Job *j) {
    int64_t first = 0, extent = 1;
    j->workers++;
    if (j->has_steps()) {
        j->semaphores_acquired = 0;
        first = j->next_iteration;
        extent = j->num_semaphores == 0 && j->loop_task ? j->end - first : 1;
        __atomic_store_n(&j->next_iteration, first + extent, __ATOMIC_RELAXED);
        if (j->exhausted()) {
            unlist(j);
        }
    }
    halide_mutex_unlock(&pool.lock);

    void *const outer = get_thread_value(&current_job_key);
    set_thread_value(&current_job_key, j);
    const int r = j->has_steps() ? run_step(j, first, extent) : run_iterations(j);
    set_thread_value(&current_job_key, outer);

    halide_mutex_lock(&pool.lock);
    if (r) {
        fail(j->group, r);
    }
    j->workers--;
    if (failed(j->group) || j->exhausted()) {
        retire(j);
    }
}

/// Sleeps until there is news. The lock is held on entry and exit. Looks a little before it sleeps, because the end of
/// a loop is usually near.
void wait_for_news(halide_cond *cond) {
    const uint32_t seen = pool.news;
    halide_mutex_unlock(&pool.lock);
    for (int i = 0; i < spins_before_sleep && __atomic_load_n(&pool.news, __ATOMIC_ACQUIRE) == seen; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __asm__ __volatile__("pause");
#elif defined(__aarch64__)
        __asm__ __volatile__("yield");
#endif
    }
    halide_mutex_lock(&pool.lock);
    if (pool.news == seen) {
        halide_cond_wait(cond, &pool.lock);
    }
}

void worker_main(void *arg) {
    Worker *const me = (Worker *)arg;
    halide_mutex_lock(&pool.lock);
    while (me->generation == pool.generation) {
        Job *j = pool.running < desired_threads() ? find_job(nullptr) : nullptr;
        if (j) {
            pool.running++;
            // Others may be needed as well; each thread that starts calls the next.
            if (j->next || (!j->has_steps() && j->left() > 1)) {
                call_for_help(1);
            }
            run(j);
            pool.running--;
        } else if (pool.idle >= desired_threads()) {
            break;
        } else {
            pool.idle++;
            wait_for_news(&pool.work);
            pool.idle--;
        }
    }
    me->done = true;
    halide_mutex_unlock(&pool.lock);
}

void sleep_as_owner(Group *g) {
    g->sleeping = true;
    g->next_sleeping = pool.sleeping;
    pool.sleeping = g;
    pool.running--;
    if (find_job(nullptr)) {
        call_for_help(1);
    }
    // find_job may have retired the last job of this group.
    if (g->unfinished > 0) {
        wait_for_news(&g->wake);
    }
    pool.running++;
    g->sleeping = false;
    Group **link = &pool.sleeping;
    while (*link != g) {
        link = &(*link)->next_sleeping;
    }
    *link = g->next_sleeping;
}

/// Runs the group's jobs with all the help there is. Owner's part.
int run_group(Group *g, Job *jobs, int num_jobs) {
    enter_process();
    g->parent = (Job *)get_thread_value(&current_job_key);
    g->unfinished = 0;
    int64_t useful_threads = 0;

    halide_mutex_lock(&pool.lock);
    // The first job ends up first in the list.
    for (int i = num_jobs - 1; i >= 0; i--) {
        Job *j = jobs + i;
        const int64_t extent = j->end - j->next_iteration;
        if (extent > 0) {
            j->group = g;
            g->unfinished++;
            useful_threads += j->serial ? 1 : extent;
            list(j);
        }
    }
    if (!g->parent) {
        pool.running++;
    }
    for (Job *p = g->parent; p && pool.running < desired_threads(); p = p->group->parent) {
        wake_owner(p->group);
    }
    call_for_help((int)(useful_threads - 1 < max_threads ? useful_threads - 1 : max_threads));

    while (g->unfinished > 0) {
        if (const int r = inherited_failure(g)) {
            // No need to wake anybody: the failure that is inherited did.
            __atomic_store_n(&g->result, r, __ATOMIC_RELAXED);
            for (int i = 0; i < num_jobs; i++) {
                if (jobs[i].listed) {
                    retire(&jobs[i]);
                }
            }
        }
        if (Job *j = find_job(g)) {
            run(j);
        } else if (g->unfinished > 0) {
            sleep_as_owner(g);
        }
    }
    if (!g->parent) {
        pool.running--;
    }
    if (pool.jobs && find_job(nullptr)) {
        call_for_help(1);
    }
    halide_mutex_unlock(&pool.lock);
    return g->result;
}

/// Joins the present workers. With `at_exit`, only if they have nothing to do: the process may end inside a task.
/// A task cannot join the thread it runs on, so there this does nothing.
void stop_workers(bool at_exit) {
    if (__atomic_load_n(&pool.process, __ATOMIC_ACQUIRE) != getpid() || get_thread_value(&current_job_key)) {
        return;
    }
    halide_mutex_lock(&pool.lock);
    if (at_exit && (pool.running > 0 || pool.jobs)) {
        halide_mutex_unlock(&pool.lock);
        return;
    }
    Worker *workers = pool.workers;
    pool.workers = nullptr;
    pool.generation++;
    announce_news();
    halide_cond_broadcast(&pool.work);
    halide_mutex_unlock(&pool.lock);
    while (workers) {
        Worker *next = workers->next;
        halide_join_thread(workers->thread);
        free(workers);
        workers = next;
    }
}

__attribute__((destructor)) void stop_workers_at_exit() {
    stop_workers(true);
}

}  // namespace

extern "C" {

#ifdef __linux__
int sched_getaffinity(int pid, size_t size, void *mask);
#endif

WEAK int halide_host_cpu_count(void) {
#ifdef __linux__
    uint64_t mask[64];
    memset(mask, 0, sizeof(mask));
    int n = 0;
    if (sched_getaffinity(0, sizeof(mask), mask) == 0) {
        for (uint64_t word : mask) {
            for (; word; word &= word - 1) {
                n++;
            }
        }
    }
    if (n > 0) {
        return n;
    }
    constexpr int sc_nprocessors_online = 84;
#else
    constexpr int sc_nprocessors_online = 58;
#endif
    const long online = sysconf(sc_nprocessors_online);
    return online > 0 ? (int)online : 1;
}

WEAK int halide_default_do_task(void *user_context, halide_task_t f, int idx, uint8_t *closure) {
    return f(user_context, idx, closure);
}

WEAK int halide_default_do_loop_task(void *user_context, halide_loop_task_t f, int min, int extent, uint8_t *closure,
                                     void *task_parent) {
    return f(user_context, min, extent, closure, task_parent);
}

WEAK int halide_default_do_par_for(void *user_context, halide_task_t f, int min, int size, uint8_t *closure) {
    if (size <= 0) {
        return 0;
    }
    if (size == 1 || halide_get_num_threads() == 1) {
        for (int i = 0; i < size; i++) {
            if (const int r = halide_do_task(user_context, f, min + i, closure)) {
                return r;
            }
        }
        return 0;
    }
    Group group = {};
    Job job = {};
    job.task = f;
    job.closure = closure;
    job.user_context = user_context;
    job.next_iteration = min;
    job.end = (int64_t)min + size;
    return run_group(&group, &job, 1);
}

WEAK int halide_default_do_parallel_tasks(void *user_context, int num_tasks, halide_parallel_task_t *tasks,
                                          void *task_parent) {
    if (num_tasks == 1 && (!tasks->semaphores || tasks->num_semaphores == 0) && tasks->extent > 0 &&
        (tasks->serial || tasks->extent == 1 || halide_get_num_threads() == 1)) {
        return halide_do_loop_task(user_context, tasks->fn, tasks->min, tasks->extent, tasks->closure, task_parent);
    }
    constexpr int few = 8;
    Job on_stack[few];
    Job *jobs = on_stack;
    void *block = nullptr;
    if (num_tasks > few) {
        block = malloc(sizeof(Job) * num_tasks + 64);
        if (!block) {
            return halide_error_out_of_memory(user_context);
        }
        jobs = (Job *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    }
    for (int i = 0; i < num_tasks; i++) {
        const halide_parallel_task_t &t = tasks[i];
        Job &j = jobs[i];
        memset(&j, 0, sizeof(j));
        j.loop_task = t.fn;
        j.closure = t.closure;
        j.user_context = user_context;
        j.semaphores = t.semaphores;
        j.num_semaphores = t.semaphores ? t.num_semaphores : 0;
        j.serial = t.serial;
        j.next_iteration = t.min;
        j.end = (int64_t)t.min + t.extent;
    }
    Group group = {};
    const int result = run_group(&group, jobs, num_tasks);
    free(block);
    return result;
}

// The count is the first word. What the semaphore lets start is found under the lock of the pool.
WEAK int halide_default_semaphore_init(halide_semaphore_t *s, int n) {
    __atomic_store_n((int *)s->_private, n, __ATOMIC_RELEASE);
    return n;
}

WEAK bool halide_default_semaphore_try_acquire(halide_semaphore_t *s, int n) {
    int *count = (int *)s->_private;
    int have = __atomic_load_n(count, __ATOMIC_SEQ_CST);
    while (have >= n) {
        if (__atomic_compare_exchange_n(count, &have, have - n, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            return true;
        }
    }
    return n <= 0;
}

WEAK int halide_default_semaphore_release(halide_semaphore_t *s, int n) {
    const int count = __atomic_add_fetch((int *)s->_private, n, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.semaphore_jobs, __ATOMIC_SEQ_CST) > 0) {
        enter_process();
        Lock hold(pool.lock);
        for (Job *j = pool.jobs; j; j = j->next) {
            if (j->num_semaphores > 0 && ready(j)) {
                if (j->group->sleeping) {
                    wake_owner(j->group);
                } else {
                    call_for_help(1);
                }
            }
        }
    }
    return count;
}

WEAK int halide_do_par_for(void *user_context, halide_task_t f, int min, int size, uint8_t *closure) {
    return custom_do_par_for(user_context, f, min, size, closure);
}

WEAK int halide_do_task(void *user_context, halide_task_t f, int idx, uint8_t *closure) {
    return custom_do_task(user_context, f, idx, closure);
}

WEAK int halide_do_loop_task(void *user_context, halide_loop_task_t f, int min, int extent, uint8_t *closure,
                             void *task_parent) {
    return custom_do_loop_task(user_context, f, min, extent, closure, task_parent);
}

WEAK int halide_do_parallel_tasks(void *user_context, int num_tasks, halide_parallel_task_t *tasks, void *task_parent) {
    return custom_do_parallel_tasks(user_context, num_tasks, tasks, task_parent);
}

WEAK int halide_semaphore_init(halide_semaphore_t *s, int n) {
    return custom_semaphore_init(s, n);
}

WEAK int halide_semaphore_release(halide_semaphore_t *s, int n) {
    return custom_semaphore_release(s, n);
}

WEAK bool halide_semaphore_try_acquire(halide_semaphore_t *s, int n) {
    return custom_semaphore_try_acquire(s, n);
}

WEAK halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t f) {
    return exchange(custom_do_par_for, f ? f : halide_default_do_par_for);
}

WEAK halide_do_task_t halide_set_custom_do_task(halide_do_task_t f) {
    return exchange(custom_do_task, f ? f : halide_default_do_task);
}

WEAK halide_do_loop_task_t halide_set_custom_do_loop_task(halide_do_loop_task_t f) {
    return exchange(custom_do_loop_task, f ? f : halide_default_do_loop_task);
}

WEAK void halide_set_custom_parallel_runtime(halide_do_par_for_t do_par_for, halide_do_task_t do_task,
                                             halide_do_loop_task_t do_loop_task,
                                             halide_do_parallel_tasks_t do_parallel_tasks,
                                             halide_semaphore_init_t semaphore_init,
                                             halide_semaphore_try_acquire_t semaphore_try_acquire,
                                             halide_semaphore_release_t semaphore_release) {
    halide_set_custom_do_par_for(do_par_for);
    halide_set_custom_do_task(do_task);
    halide_set_custom_do_loop_task(do_loop_task);
    custom_do_parallel_tasks = do_parallel_tasks ? do_parallel_tasks : halide_default_do_parallel_tasks;
    custom_semaphore_init = semaphore_init ? semaphore_init : halide_default_semaphore_init;
    custom_semaphore_try_acquire = semaphore_try_acquire ? semaphore_try_acquire : halide_default_semaphore_try_acquire;
    custom_semaphore_release = semaphore_release ? semaphore_release : halide_default_semaphore_release;
}

WEAK int halide_get_num_threads(void) {
    // Deciding takes the lock once; afterwards this is only a load.
    const int n = __atomic_load_n(&pool.desired, __ATOMIC_RELAXED);
    if (n > 0) {
        return n;
    }
    enter_process();
    Lock hold(pool.lock);
    return desired_threads();
}

WEAK int halide_set_num_threads(int n) {
    enter_process();
    if (n < 0) {
        halide_error(nullptr,
                     "halide_set_num_threads: the number of threads must not be negative (0 means the default)");
        return halide_get_num_threads();
    }
    const int wanted = n == 0 ? default_num_threads() : n > max_threads ? max_threads : n;
    Lock hold(pool.lock);
    const int previous = desired_threads();
    __atomic_store_n(&pool.desired, wanted, __ATOMIC_RELAXED);
    return previous;
}

WEAK void halide_shutdown_thread_pool(void) {
    stop_workers(false);
}

}  // extern "C"
