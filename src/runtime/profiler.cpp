// The profiler: a thread that looks every millisecond at what each running pipeline computes.
//
// A run in progress keeps its statistics on its own stack; they are added to those of the pipeline when it ends.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK halide_profiler_state profiler_state = {{{0}}, nullptr, nullptr, nullptr, nullptr, 1, 0};
/// The process that the sampling thread belongs to; after a fork, the child has none.
WEAK int profiler_process = 0;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

namespace {

/// The plain counters of a Func, which are simply added up.
constexpr uint64_t halide_profiler_func_stats::*const counters[] = {
    &halide_profiler_func_stats::memory_total,
    &halide_profiler_func_stats::active_threads_numerator,
    &halide_profiler_func_stats::active_threads_denominator,
    &halide_profiler_func_stats::num_allocs,
    &halide_profiler_func_stats::parallel_loops,
    &halide_profiler_func_stats::parallel_tasks,
    &halide_profiler_func_stats::points_required_at_root,
    &halide_profiler_func_stats::points_computed,
    &halide_profiler_func_stats::scalar_loads,
    &halide_profiler_func_stats::vector_loads,
    &halide_profiler_func_stats::gathers,
    &halide_profiler_func_stats::bytes_loaded,
    &halide_profiler_func_stats::scalar_stores,
    &halide_profiler_func_stats::vector_stores,
    &halide_profiler_func_stats::scatters,
    &halide_profiler_func_stats::bytes_stored,
};

struct NamedCounter {
    const char *name;
    uint64_t halide_profiler_func_stats::*counter;
};

constexpr NamedCounter work_counters[] = {
    {"parallel_loops", &halide_profiler_func_stats::parallel_loops},
    {"parallel_tasks", &halide_profiler_func_stats::parallel_tasks},
    {"points_required_at_root", &halide_profiler_func_stats::points_required_at_root},
    {"points_computed", &halide_profiler_func_stats::points_computed},
    {"scalar_loads", &halide_profiler_func_stats::scalar_loads},
    {"vector_loads", &halide_profiler_func_stats::vector_loads},
    {"gathers", &halide_profiler_func_stats::gathers},
    {"bytes_loaded", &halide_profiler_func_stats::bytes_loaded},
    {"scalar_stores", &halide_profiler_func_stats::scalar_stores},
    {"vector_stores", &halide_profiler_func_stats::vector_stores},
    {"scatters", &halide_profiler_func_stats::scatters},
    {"bytes_stored", &halide_profiler_func_stats::bytes_stored},
};

void maximize(uint64_t &a, uint64_t b) {
    a = a > b ? a : b;
}

void atomic_maximize(uint64_t *a, uint64_t b) {
    uint64_t old = __atomic_load_n(a, __ATOMIC_RELAXED);
    while (old < b && !__atomic_compare_exchange_n(a, &old, b, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void sampling_thread(void *) {
    halide_profiler_state *s = &profiler_state;
    uint64_t previous = (uint64_t)halide_current_time_ns(nullptr);
    halide_mutex_lock(&s->lock);
    while (!s->shutdown) {
        const int sleep_ms = halide_profiler_sample(s, &previous);
        halide_mutex_unlock(&s->lock);
        if (sleep_ms < 0) {
            return;
        }
        halide_sleep_us(nullptr, 1000 * sleep_ms);
        halide_mutex_lock(&s->lock);
    }
    halide_mutex_unlock(&s->lock);
}

halide_profiler_pipeline_stats *find_pipeline(const char *name, int num_funcs) {
    auto *p = profiler_state.pipelines;
    while (p && (strcmp(p->name, name) != 0 || (num_funcs >= 0 && p->num_funcs != num_funcs))) {
        p = (halide_profiler_pipeline_stats *)p->next;
    }
    return p;
}

char *copy_name(char *&to, const char *name) {
    char *const result = to;
    const size_t n = strlen(name) + 1;
    memcpy(to, name, n);
    to += n;
    return result;
}

/// Names are copied: those of the code may vanish with it.
halide_profiler_pipeline_stats *make_pipeline(const char *name, const halide_profiler_func_stats *funcs, int num_funcs,
                                              uint64_t native_vector_bytes) {
    size_t text = strlen(name) + 1;
    for (int i = 0; i < num_funcs; i++) {
        text += strlen(funcs[i].name) + 1;
    }
    auto *p = (halide_profiler_pipeline_stats *)calloc(1, sizeof(halide_profiler_pipeline_stats) +
                                                              num_funcs * sizeof(halide_profiler_func_stats) + text);
    if (!p) {
        return nullptr;
    }
    p->funcs = (halide_profiler_func_stats *)(p + 1);
    char *names = (char *)(p->funcs + num_funcs);
    p->name = copy_name(names, name);
    p->num_funcs = num_funcs;
    p->native_vector_bytes = native_vector_bytes;
    for (int i = 0; i < num_funcs; i++) {
        p->funcs[i] = funcs[i];
        p->funcs[i].name = copy_name(names, funcs[i].name);
    }
    p->next = profiler_state.pipelines;
    profiler_state.pipelines = p;
    return p;
}

double per(uint64_t a, uint64_t b) {
    return b ? (double)a / (double)b : 0;
}

/// A number with one or two decimals, which is all that the tables need.
void number(Text &t, double v, int decimals) {
    uint64_t scale = decimals == 1 ? 10 : 100;
    const uint64_t scaled = (uint64_t)(v * (double)scale + 0.5);
    t << scaled / scale << ".";
    if (decimals == 2 && scaled % scale < 10) {
        t << "0";
    }
    t << scaled % scale;
}

void report_func(Text &t, const halide_profiler_pipeline_stats *p, const halide_profiler_func_stats &f,
                 uint64_t all_time) {
    const size_t start = t.size();
    t << "  " << f.name << ":";
    t.pad_to(26, start) << " ";
    number(t, (double)f.time / 1e6 / p->runs, 2);
    t << "ms";
    t.pad_to(38, start) << " (";
    number(t, 100 * per(f.time, all_time), 1);
    t << "%)";
    t.pad_to(48, start);
    if (f.active_threads_denominator && per(f.active_threads_numerator, f.active_threads_denominator) > 0) {
        t << " threads: ";
        number(t, per(f.active_threads_numerator, f.active_threads_denominator), 1);
    }
    if (f.num_allocs) {
        t.pad_to(62, start) << " peak: " << f.memory_peak;
        t.pad_to(80, start) << " num: " << f.num_allocs / p->runs;
        t.pad_to(92, start) << " avg: " << f.memory_total / f.num_allocs;
    }
    if (f.stack_peak) {
        t.pad_to(62, start) << " stack: " << f.stack_peak;
    }
    t << "\n";
}

bool worth_a_line(const halide_profiler_func_stats &f) {
    return f.kind == halide_profiler_func_kind_func || f.time != 0;
}

void report_pipeline(void *user_context, const halide_profiler_pipeline_stats *p) {
    Text t;
    uint64_t all_time = 0;
    for (int i = 0; i < p->num_funcs; i++) {
        all_time += p->funcs[i].time;
    }
    t << p->name << "\n total time: ";
    number(t, (double)p->time / 1e6, 2);
    t << " ms  samples: " << p->samples << "  runs: " << p->runs << "  time per run: ";
    number(t, (double)p->time / 1e6 / p->runs, 2);
    t << " ms\n average threads used: ";
    number(t, per(p->active_threads_numerator, p->active_threads_denominator), 2);
    t << "\n heap allocations: " << p->num_allocs << "  peak heap usage: " << p->memory_peak << " bytes\n";
    for (int i = 0; i < p->num_funcs; i++) {
        if (worth_a_line(p->funcs[i])) {
            report_func(t, p, p->funcs[i], all_time);
        }
    }
    halide_print(user_context, t.str());
}

void json_string(Text &t, const char *s) {
    t << "\"";
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            t << "\\";
        }
        t.append(s, 1);
    }
    t << "\"";
}

void json_field(Text &t, const char *name, uint64_t value) {
    t << ", \"" << name << "\": " << value;
}

void json_func(Text &t, const halide_profiler_func_stats &f) {
    t << "    {\"name\": ";
    json_string(t, f.name);
    t << ", \"parent\": " << f.parent << ", \"canonical_id\": " << f.canonical_id << ", \"kind\": " << (int)f.kind
      << ", \"buffer_func_id\": " << f.buffer_func_id;
    json_field(t, "counters_approximated", f.counters_approximated);
    json_field(t, "time_ns", f.time);
    json_field(t, "memory_current", f.memory_current);
    json_field(t, "memory_peak", f.memory_peak);
    json_field(t, "memory_total", f.memory_total);
    json_field(t, "stack_peak", f.stack_peak);
    json_field(t, "active_threads_numerator", f.active_threads_numerator);
    json_field(t, "active_threads_denominator", f.active_threads_denominator);
    json_field(t, "num_allocs", f.num_allocs);
    for (const NamedCounter &c : work_counters) {
        json_field(t, c.name, f.*c.counter);
    }
    t << "}";
}

void write_json(void *user_context, const char *filename) {
    Text t;
    t << "{\"pipelines\": [";
    for (auto *p = profiler_state.pipelines; p; p = (halide_profiler_pipeline_stats *)p->next) {
        t << (p == profiler_state.pipelines ? "\n" : ",\n") << "  {\"name\": ";
        json_string(t, p->name);
        json_field(t, "time_ns", p->time);
        json_field(t, "memory_current", p->memory_current);
        json_field(t, "memory_peak", p->memory_peak);
        json_field(t, "memory_total", p->memory_total);
        json_field(t, "active_threads_numerator", p->active_threads_numerator);
        json_field(t, "active_threads_denominator", p->active_threads_denominator);
        json_field(t, "native_vector_bytes", p->native_vector_bytes);
        json_field(t, "runs", (uint64_t)p->runs);
        json_field(t, "billed_runs", (uint64_t)p->billed_runs);
        json_field(t, "samples", (uint64_t)p->samples);
        json_field(t, "num_allocs", (uint64_t)p->num_allocs);
        t << ", \"funcs\": [";
        for (int i = 0; i < p->num_funcs; i++) {
            t << (i == 0 ? "\n" : ",\n");
            json_func(t, p->funcs[i]);
        }
        t << "]}";
    }
    t << "\n]}\n";
    void *f = fopen(filename, "wb");
    const bool written = f && fwrite(t.str(), t.size(), 1, f) == 1;
    if ((f && fclose(f) != 0) || !written) {
        Text e;
        e << "Could not write the profile to " << filename << "\n";
        halide_print(user_context, e.str());
    }
}

void report_locked(void *user_context) {
    for (auto *p = profiler_state.pipelines; p; p = (halide_profiler_pipeline_stats *)p->next) {
        if (p->runs > 0) {
            report_pipeline(user_context, p);
        }
    }
    if (const char *json = getenv("HL_PROFILER_JSON_OUTPUT")) {
        if (profiler_state.pipelines) {
            write_json(user_context, json);
        }
    }
}

void reset_locked() {
    while (auto *p = profiler_state.pipelines) {
        profiler_state.pipelines = (halide_profiler_pipeline_stats *)p->next;
        free(p);
    }
}

/// Times are sampled; scaled so that those of one run add up to what the clock says.
void add_to_pipeline(halide_profiler_pipeline_stats *p, const halide_profiler_instance_state *in, uint64_t elapsed) {
    p->time += elapsed;
    p->runs++;
    p->billed_runs += in->samples > 0;
    p->samples += in->samples;
    p->memory_current += in->memory_current;
    maximize(p->memory_peak, in->memory_peak);
    p->memory_total += in->memory_total;
    p->num_allocs += in->num_allocs;
    p->active_threads_numerator += in->active_threads_numerator;
    p->active_threads_denominator += in->active_threads_denominator;
    const double scale = per(elapsed, in->billed_time);
    for (int i = 0; i < p->num_funcs; i++) {
        halide_profiler_func_stats &to = p->funcs[i];
        const halide_profiler_func_stats &from = in->funcs[i];
        to.time += (uint64_t)((double)from.time * scale);
        to.counters_approximated |= from.counters_approximated;
        to.memory_current += from.memory_current;
        maximize(to.memory_peak, from.memory_peak);
        maximize(to.stack_peak, from.stack_peak);
        for (const auto counter : counters) {
            to.*counter += from.*counter;
        }
    }
}

}  // namespace

extern "C" {

WEAK halide_profiler_state *halide_profiler_get_state(void) {
    return &profiler_state;
}

WEAK halide_profiler_pipeline_stats *halide_profiler_get_pipeline_state(const char *pipeline_name) {
    Lock hold(profiler_state.lock);
    return find_pipeline(pipeline_name, -1);
}

WEAK void halide_profiler_lock(halide_profiler_state *state) {
    halide_mutex_lock(&state->lock);
}

WEAK void halide_profiler_unlock(halide_profiler_state *state) {
    halide_mutex_unlock(&state->lock);
}

WEAK int halide_profiler_sample(halide_profiler_state *s, uint64_t *prev_t) {
    const uint64_t now = (uint64_t)halide_current_time_ns(nullptr);
    const uint64_t passed = now - *prev_t;
    for (auto *in = s->instances; in; in = in->next) {
        int func = __atomic_load_n(&in->current_func, __ATOMIC_RELAXED);
        int threads = __atomic_load_n(&in->active_threads, __ATOMIC_RELAXED);
        if (s->get_remote_profiler_state) {
            s->get_remote_profiler_state(&func, &threads);
        }
        if (func < 0 || func >= in->pipeline_stats->num_funcs || !in->should_collect_statistics) {
            continue;
        }
        // A run that began since the last sample did not take all of that time.
        const uint64_t since_start = now - in->start_time;
        const uint64_t time = passed < since_start ? passed : since_start;
        in->billed_time += time;
        in->samples++;
        in->active_threads_numerator += threads;
        in->active_threads_denominator++;
        in->funcs[func].time += time;
        in->funcs[func].active_threads_numerator += threads;
        in->funcs[func].active_threads_denominator++;
    }
    *prev_t = now;
    return s->sleep_time;
}

WEAK int halide_profiler_instance_start(void *user_context, const char *pipeline_name, int num_funcs,
                                        const char *const *names, const int *infos, uint64_t native_vector_bytes,
                                        halide_profiler_instance_state *instance, halide_profiler_func_stats *funcs) {
    memset(instance, 0, sizeof(*instance));
    memset(funcs, 0, num_funcs * sizeof(*funcs));
    for (int i = 0; i < num_funcs; i++) {
        funcs[i].name = names[i];
        funcs[i].parent = infos[4 * i];
        funcs[i].canonical_id = infos[4 * i + 1];
        funcs[i].kind = (halide_profiler_func_kind)infos[4 * i + 2];
        funcs[i].buffer_func_id = infos[4 * i + 3];
    }
    instance->funcs = funcs;
    instance->active_threads = 1;
    instance->should_collect_statistics = 1;

    halide_profiler_state *s = &profiler_state;
    Lock hold(s->lock);
    auto *p = find_pipeline(pipeline_name, num_funcs);
    p = p ? p : make_pipeline(pipeline_name, funcs, num_funcs, native_vector_bytes);
    if (!p) {
        return halide_error_out_of_memory(user_context);
    }
    if (!s->sampling_thread || profiler_process != getpid()) {
        s->shutdown = 0;
        profiler_process = getpid();
        s->sampling_thread = halide_spawn_thread(sampling_thread, nullptr);
        if (!s->sampling_thread) {
            halide_error(user_context, "The profiler could not start its sampling thread");
            return halide_error_code_cannot_profile_pipeline;
        }
    }
    instance->pipeline_stats = p;
    instance->start_time = (uint64_t)halide_current_time_ns(user_context);
    instance->next = s->instances;
    instance->prev_next = &s->instances;
    if (s->instances) {
        s->instances->prev_next = &instance->next;
    }
    s->instances = instance;
    return 0;
}

WEAK void halide_profiler_instance_end(void *user_context, void *obj) {
    auto *in = (halide_profiler_instance_state *)obj;
    if (!in || !in->pipeline_stats) {
        return;
    }
    const uint64_t now = (uint64_t)halide_current_time_ns(user_context);
    Lock hold(profiler_state.lock);
    *in->prev_next = in->next;
    if (in->next) {
        in->next->prev_next = in->prev_next;
    }
    add_to_pipeline(in->pipeline_stats, in, now - in->start_time);
    in->pipeline_stats = nullptr;
}

WEAK int halide_profiler_set_current_func(halide_profiler_instance_state *in, int func) {
    return __atomic_exchange_n(&in->current_func, func, __ATOMIC_RELAXED);
}

WEAK int halide_profiler_incr_active_threads(halide_profiler_instance_state *in) {
    return __atomic_fetch_add(&in->active_threads, 1, __ATOMIC_RELAXED);
}

WEAK int halide_profiler_decr_active_threads(halide_profiler_instance_state *in) {
    return __atomic_fetch_sub(&in->active_threads, 1, __ATOMIC_RELAXED);
}

WEAK void halide_profiler_memory_allocate(void *user_context, halide_profiler_instance_state *in, int func,
                                          uint64_t bytes) {
    if (bytes == 0) {
        return;
    }
    halide_profiler_func_stats &f = in->funcs[func];
    __atomic_fetch_add(&in->num_allocs, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&in->memory_total, bytes, __ATOMIC_RELAXED);
    atomic_maximize(&in->memory_peak, __atomic_add_fetch(&in->memory_current, bytes, __ATOMIC_RELAXED));
    __atomic_fetch_add(&f.num_allocs, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f.memory_total, bytes, __ATOMIC_RELAXED);
    atomic_maximize(&f.memory_peak, __atomic_add_fetch(&f.memory_current, bytes, __ATOMIC_RELAXED));
}

WEAK void halide_profiler_memory_free(void *user_context, halide_profiler_instance_state *in, int func,
                                      uint64_t bytes) {
    __atomic_fetch_sub(&in->memory_current, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&in->funcs[func].memory_current, bytes, __ATOMIC_RELAXED);
}

WEAK void halide_profiler_stack_peak_update(void *user_context, halide_profiler_instance_state *in,
                                            const uint64_t *peaks) {
    for (int i = 0; i < in->pipeline_stats->num_funcs; i++) {
        if (peaks[i]) {
            atomic_maximize(&in->funcs[i].stack_peak, peaks[i]);
        }
    }
}

WEAK void halide_profiler_report(void *user_context) {
    Lock hold(profiler_state.lock);
    report_locked(user_context);
}

WEAK void halide_profiler_reset(void) {
    Lock hold(profiler_state.lock);
    reset_locked();
}

WEAK void halide_profiler_shutdown(void) {
    halide_profiler_state *s = &profiler_state;
    halide_mutex_lock(&s->lock);
    halide_thread *thread = s->sampling_thread;
    s->sampling_thread = nullptr;
    s->shutdown = 1;
    halide_mutex_unlock(&s->lock);
    if (profiler_process == getpid()) {
        halide_join_thread(thread);
    }
}

// What was not reported yet is reported when the process ends. A run that is still going on (exit was called from
// inside a pipeline) would be sampled after its stack is gone, hence the order.
__attribute__((destructor)) static void report_profile_at_exit() {
    if (!profiler_state.sampling_thread || profiler_process != getpid()) {
        return;
    }
    halide_profiler_shutdown();
    halide_profiler_report(nullptr);
}

}  // extern "C"
