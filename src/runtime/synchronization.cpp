// Mutexes, condition variables, semaphores, and threads of the operating system.
//
// halide_mutex and halide_cond are one word that must be valid as zero, so they are built on the kernel's wait queues
// for words (futex). Elsewhere waiting falls back to yielding.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

extern "C" {
int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);
int pthread_join(unsigned long, void **);
int pthread_key_create(unsigned *, void (*)(void *));
void *pthread_getspecific(unsigned);
int pthread_setspecific(unsigned, const void *);
#ifdef __linux__
long syscall(long, ...);
#endif
}

struct halide_thread {
    unsigned long handle;
    void (*f)(void *);
    void *closure;
};

struct halide_mutex_array {
    uint64_t size;
    halide_mutex *mutexes;
};

namespace {

// States of a mutex. Contended: the owner has to wake somebody.
enum : uint32_t { unlocked = 0, locked = 1, contended = 2 };

constexpr int spins_before_sleep = 64;

uint32_t *word(uintptr_t *w) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint32_t *)w + (sizeof(uintptr_t) / sizeof(uint32_t) - 1);
#else
    return (uint32_t *)w;
#endif
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __asm__ __volatile__("pause");
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

#ifdef __linux__
#if defined(__x86_64__)
constexpr long sys_futex = 202;
#elif defined(__i386__) || defined(__arm__)
constexpr long sys_futex = 240;
#elif defined(__powerpc__)
constexpr long sys_futex = 221;
#else
constexpr long sys_futex = 98;
#endif
constexpr int futex_wait_private = 128, futex_wake_private = 129;

void wait_while(uint32_t *address, uint32_t value) {
    syscall(sys_futex, address, futex_wait_private, value, nullptr, nullptr, 0);
}

void wake(uint32_t *address, int count) {
    syscall(sys_futex, address, futex_wake_private, count, nullptr, nullptr, 0);
}
#else
void wait_while(uint32_t *address, uint32_t value) {
    if (__atomic_load_n(address, __ATOMIC_ACQUIRE) == value) {
        sched_yield();
    }
}

void wake(uint32_t *, int) {}
#endif

void lock_as(uint32_t *state, uint32_t how) {
    while (__atomic_exchange_n(state, how, __ATOMIC_ACQUIRE) != unlocked) {
        how = contended;
        wait_while(state, contended);
    }
}

void *run_thread(void *arg) {
    halide_thread *t = (halide_thread *)arg;
    t->f(t->closure);
    return nullptr;
}

}  // namespace

namespace Halide {
namespace Runtime {
namespace Internal {

/// Key of a per-thread number plus one; 0 means the key was not made yet.
WEAK unsigned thread_id_key = 0;
WEAK int32_t next_thread_id = 0;

/// Makes a key for per-thread data on first use. `key` holds the key plus one.
WEAK unsigned thread_key(unsigned *key) {
    unsigned k = __atomic_load_n(key, __ATOMIC_ACQUIRE);
    if (k == 0) {
        unsigned made;
        if (pthread_key_create(&made, nullptr) != 0) {
            abort();
        }
        // If another thread was faster, our key is lost; there are at most as many of those as threads.
        unsigned expected = 0;
        k = made + 1;
        if (!__atomic_compare_exchange_n(key, &expected, k, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            k = expected;
        }
    }
    return k - 1;
}

WEAK void *get_thread_value(unsigned *key) {
    return pthread_getspecific(thread_key(key));
}

WEAK void set_thread_value(unsigned *key, void *value) {
    pthread_setspecific(thread_key(key), value);
}

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

extern "C" {

WEAK void halide_mutex_lock(halide_mutex *mutex) {
    uint32_t *state = word(mutex->_private);
    for (int i = 0; i < spins_before_sleep; i++) {
        uint32_t expected = unlocked;
        if (__atomic_compare_exchange_n(state, &expected, locked, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
        if (expected == contended) {
            break;
        }
        pause();
    }
    lock_as(state, contended);
}

WEAK void halide_mutex_unlock(halide_mutex *mutex) {
    uint32_t *state = word(mutex->_private);
    if (__atomic_exchange_n(state, unlocked, __ATOMIC_RELEASE) == contended) {
        wake(state, 1);
    }
}

// A condition variable is a counter of signals: who waits sleeps while it stays as it was under the lock.
WEAK void halide_cond_wait(halide_cond *cond, halide_mutex *mutex) {
    uint32_t *counter = word(cond->_private);
    const uint32_t seen = __atomic_load_n(counter, __ATOMIC_RELAXED);
    halide_mutex_unlock(mutex);
    wait_while(counter, seen);
    // Others may have been woken with us and queue for the lock.
    lock_as(word(mutex->_private), contended);
}

WEAK void halide_cond_signal(halide_cond *cond) {
    uint32_t *counter = word(cond->_private);
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    wake(counter, 1);
}

WEAK void halide_cond_broadcast(halide_cond *cond) {
    uint32_t *counter = word(cond->_private);
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    wake(counter, INT32_MAX);
}

WEAK halide_mutex_array *halide_mutex_array_create(uint64_t sz) {
    halide_mutex_array *array = (halide_mutex_array *)malloc(sizeof(halide_mutex_array));
    if (!array) {
        return nullptr;
    }
    // One mutex may serve several elements; more than a few thousand do not make collisions rarer in practice.
    const uint64_t limit = 4096;
    array->size = sz == 0 ? 1 : sz < limit ? sz : limit;
    array->mutexes = (halide_mutex *)calloc((size_t)array->size, sizeof(halide_mutex));
    if (!array->mutexes) {
        free(array);
        return nullptr;
    }
    return array;
}

WEAK void halide_mutex_array_destroy(void *user_context, void *array) {
    if (array) {
        free(((halide_mutex_array *)array)->mutexes);
        free(array);
    }
}

WEAK int halide_mutex_array_lock(halide_mutex_array *array, int entry) {
    halide_mutex_lock(&array->mutexes[(uint32_t)entry % array->size]);
    return 0;
}

WEAK int halide_mutex_array_unlock(halide_mutex_array *array, int entry) {
    halide_mutex_unlock(&array->mutexes[(uint32_t)entry % array->size]);
    return 0;
}

WEAK halide_thread *halide_spawn_thread(void (*f)(void *), void *closure) {
    halide_thread *t = (halide_thread *)malloc(sizeof(halide_thread));
    if (!t) {
        return nullptr;
    }
    t->f = f;
    t->closure = closure;
    if (pthread_create(&t->handle, nullptr, run_thread, t) != 0) {
        free(t);
        return nullptr;
    }
    return t;
}

WEAK void halide_join_thread(halide_thread *t) {
    if (t) {
        pthread_join(t->handle, nullptr);
        free(t);
    }
}

WEAK int32_t halide_current_thread_id(void) {
    void *id = get_thread_value(&thread_id_key);
    if (!id) {
        id = (void *)(intptr_t)(__atomic_fetch_add(&next_thread_id, 1, __ATOMIC_RELAXED) + 1);
        set_thread_value(&thread_id_key, id);
    }
    return (int32_t)((intptr_t)id - 1);
}

}  // extern "C"
