// The runtime where there is no operating system: one thread, and printing, errors and memory from the program, which
// must define halide_print, halide_error, halide_malloc and halide_free.
#include "runtime_internal.h"

struct halide_mutex_array {
    int unused;
};

extern "C" {

// A program that has a C library keeps its own.
WEAK void *malloc(size_t size) {
    return halide_malloc(nullptr, size);
}

WEAK void free(void *p) {
    halide_free(nullptr, p);
}

WEAK void *calloc(size_t n, size_t size) {
    void *p = malloc(n * size);
    return p ? memset(p, 0, n * size) : nullptr;
}

WEAK char *getenv(const char *) {
    return nullptr;
}

WEAK int halide_malloc_alignment(void) {
    return 32;
}

WEAK void halide_mutex_lock(halide_mutex *) {}

WEAK void halide_mutex_unlock(halide_mutex *) {}

WEAK void halide_cond_signal(halide_cond *) {}

WEAK void halide_cond_broadcast(halide_cond *) {}

WEAK void halide_cond_wait(halide_cond *, halide_mutex *) {}

WEAK halide_mutex_array *halide_mutex_array_create(uint64_t) {
    static halide_mutex_array array;
    return &array;
}

WEAK void halide_mutex_array_destroy(void *user_context, void *) {}

WEAK int halide_mutex_array_lock(halide_mutex_array *, int) {
    return 0;
}

WEAK int halide_mutex_array_unlock(halide_mutex_array *, int) {
    return 0;
}

WEAK int halide_default_do_task(void *user_context, halide_task_t f, int idx, uint8_t *closure) {
    return f(user_context, idx, closure);
}

WEAK int halide_do_task(void *user_context, halide_task_t f, int idx, uint8_t *closure) {
    return f(user_context, idx, closure);
}

WEAK int halide_default_do_loop_task(void *user_context, halide_loop_task_t f, int min, int extent, uint8_t *closure,
                                     void *task_parent) {
    return f(user_context, min, extent, closure, task_parent);
}

WEAK int halide_do_loop_task(void *user_context, halide_loop_task_t f, int min, int extent, uint8_t *closure,
                             void *task_parent) {
    return f(user_context, min, extent, closure, task_parent);
}

WEAK int halide_default_do_par_for(void *user_context, halide_task_t f, int min, int size, uint8_t *closure) {
    for (int i = 0; i < size; i++) {
        if (const int r = halide_do_task(user_context, f, min + i, closure)) {
            return r;
        }
    }
    return 0;
}

WEAK int halide_do_par_for(void *user_context, halide_task_t f, int min, int size, uint8_t *closure) {
    return halide_default_do_par_for(user_context, f, min, size, closure);
}

// Tasks that wait for one another in the middle need threads.
WEAK int halide_default_do_parallel_tasks(void *user_context, int num_tasks, halide_parallel_task_t *tasks,
                                          void *task_parent) {
    for (int i = 0; i < num_tasks; i++) {
        if (tasks[i].num_semaphores > 0 || tasks[i].min_threads > 1) {
            halide_error(user_context, "async() and semaphores need a target with threads");
            return halide_error_code_unimplemented;
        }
        if (const int r = halide_do_loop_task(user_context, tasks[i].fn, tasks[i].min, tasks[i].extent,
                                              tasks[i].closure, task_parent)) {
            return r;
        }
    }
    return 0;
}

WEAK int halide_do_parallel_tasks(void *user_context, int num_tasks, halide_parallel_task_t *tasks, void *task_parent) {
    return halide_default_do_parallel_tasks(user_context, num_tasks, tasks, task_parent);
}

WEAK int halide_get_num_threads(void) {
    return 1;
}

WEAK int halide_set_num_threads(int) {
    return 1;
}

WEAK void halide_shutdown_thread_pool(void) {}

WEAK int32_t halide_current_thread_id(void) {
    return 0;
}

WEAK int halide_host_cpu_count(void) {
    return 1;
}

}  // extern "C"
