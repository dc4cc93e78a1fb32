#include "codegen/llvm/JITContext.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <utility>

#include "runtime/RuntimeSymbols.h"
#include "support/Error.h"

namespace Halide {

const Type &ExternSignature::ret_type() const {
    internal_assert(!is_void_return_) << "The function returns void";
    return ret_type_;
}

std::ostream &operator<<(std::ostream &stream, const ExternSignature &f) {
    if (f.is_void_return_) {
        stream << "void";
    } else {
        stream << type_to_c_type(f.ret_type_, false);
    }
    stream << " (*)(";
    const char *separator = "";
    for (const Type &t : f.arg_types_) {
        stream << separator << type_to_c_type(t, false);
        separator = ", ";
    }
    return stream << ")";
}

namespace Internal {

void JITErrorBuffer::concat(const char *message) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::string piece = message;
    if (!piece.empty() && piece.back() != '\n') {
        piece += '\n';
    }
    text += piece.substr(0, max_size - std::min(max_size, text.size()));
}

void JITErrorBuffer::keep_current_exception() {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!thrown) {
        thrown = std::current_exception();
    }
}

std::string JITErrorBuffer::str() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return text;
}

std::exception_ptr JITErrorBuffer::exception() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return thrown;
}

namespace {

thread_local JITUserContext *current_context = nullptr;

/// While alive, the thread works for this context.
struct WorkFor {
    JITUserContext *before = current_context;
    explicit WorkFor(JITUserContext *c) {
        if (c) {
            current_context = c;
        }
    }
    ~WorkFor() {
        current_context = before;
    }
    WorkFor(const WorkFor &) = delete;
    WorkFor &operator=(const WorkFor &) = delete;
};

void keep_exception(JITUserContext *c) {
    c = c ? c : current_context;
    if (c && c->error_buffer) {
        c->error_buffer->keep_current_exception();
    } else {
        unhandled_exception_handler();
    }
}

// No exception may pass compiled code: it waits in the context of the run, and the caller sees a failure.
template<typename R, typename F>
R guarded(JITUserContext *c, R on_exception, F &&f) {
    try {
        return f();
    } catch (...) {
        keep_exception(c);
        return on_exception;
    }
}

template<typename F>
void guarded(JITUserContext *c, F &&f) {
    guarded(c, 0, [&] {
        f();
        return 0;
    });
}

// What was set by set_default_handlers. The runtime's own defaults stand behind it.
std::mutex defaults_mutex;
JITHandlers default_handlers;

JITHandlers defaults() {
    const std::lock_guard<std::mutex> lock(defaults_mutex);
    return default_handlers;
}

template<typename Member>
auto handler(JITUserContext *c, Member member) {
    auto f = c ? c->handlers.*member : nullptr;
    return f ? f : defaults().*member;
}

void on_print(void *uc, const char *message) {
    auto *c = (JITUserContext *)uc;
    guarded(c, [&] {
        auto f = handler(c, &JITHandlers::custom_print);
        f ? f(c, message) : halide_default_print(uc, message);
    });
}

void on_error(void *uc, const char *message) {
    auto *c = (JITUserContext *)uc;
    guarded(c, [&] {
        auto f = handler(c, &JITHandlers::custom_error);
        f ? f(c, message) : halide_default_error(uc, message);
    });
}

void *on_malloc(void *uc, size_t size) {
    auto *c = (JITUserContext *)uc;
    return guarded(c, (void *)nullptr, [&] {
        auto f = handler(c, &JITHandlers::custom_malloc);
        return f ? f(c, size) : halide_default_malloc(uc, size);
    });
}

void on_free(void *uc, void *p) {
    auto *c = (JITUserContext *)uc;
    guarded(c, [&] {
        auto f = handler(c, &JITHandlers::custom_free);
        f ? f(c, p) : halide_default_free(uc, p);
    });
}

using ContextTask = int (*)(JITUserContext *, int, uint8_t *);

int on_do_task(void *uc, halide_task_t task, int index, uint8_t *closure) {
    auto *c = (JITUserContext *)uc;
    const WorkFor work(c);
    return guarded(c, (int)halide_error_code_generic_error, [&] {
        auto f = handler(c, &JITHandlers::custom_do_task);
        return f ? f(c, (ContextTask)task, index, closure) : halide_default_do_task(uc, task, index, closure);
    });
}

int on_do_par_for(void *uc, halide_task_t task, int min, int size, uint8_t *closure) {
    auto *c = (JITUserContext *)uc;
    return guarded(c, (int)halide_error_code_generic_error, [&] {
        auto f = handler(c, &JITHandlers::custom_do_par_for);
        return f ? f(c, (ContextTask)task, min, size, closure) :
                   halide_default_do_par_for(uc, task, min, size, closure);
    });
}

int on_do_loop_task(void *uc, halide_loop_task_t task, int min, int extent, uint8_t *closure, void *parent) {
    auto *c = (JITUserContext *)uc;
    const WorkFor work(c);
    return guarded(c, (int)halide_error_code_generic_error,
                   [&] { return halide_default_do_loop_task(uc, task, min, extent, closure, parent); });
}

int32_t on_trace(void *uc, const halide_trace_event_t *event) {
    auto *c = (JITUserContext *)uc;
    return guarded(c, (int32_t)0, [&] {
        auto f = handler(c, &JITHandlers::custom_trace);
        return f ? f(c, event) : halide_default_trace(uc, event);
    });
}

void *on_get_symbol(const char *name) {
    auto f = defaults().custom_get_symbol;
    return guarded(nullptr, (void *)nullptr, [&] { return f ? f(name) : halide_default_get_symbol(name); });
}

void *on_load_library(const char *name) {
    auto f = defaults().custom_load_library;
    return guarded(nullptr, (void *)nullptr, [&] { return f ? f(name) : halide_default_load_library(name); });
}

void *on_get_library_symbol(void *library, const char *name) {
    auto f = defaults().custom_get_library_symbol;
    return guarded(nullptr, (void *)nullptr,
                   [&] { return f ? f(library, name) : halide_default_get_library_symbol(library, name); });
}

void inherit(JITHandlers &h, const JITHandlers &from) {
    const auto take = [&](auto member) {
        if (!(h.*member)) {
            h.*member = from.*member;
        }
    };
    take(&JITHandlers::custom_print);
    take(&JITHandlers::custom_malloc);
    take(&JITHandlers::custom_free);
    take(&JITHandlers::custom_do_task);
    take(&JITHandlers::custom_do_par_for);
    take(&JITHandlers::custom_error);
    take(&JITHandlers::custom_trace);
    take(&JITHandlers::custom_get_symbol);
    take(&JITHandlers::custom_load_library);
    take(&JITHandlers::custom_get_library_symbol);
    take(&JITHandlers::custom_cuda_acquire_context);
    take(&JITHandlers::custom_cuda_release_context);
    take(&JITHandlers::custom_cuda_get_stream);
}

void collect_error(JITUserContext *c, const char *message) {
    if (c && c->error_buffer) {
        c->error_buffer->concat(message);
    }
}

}  // namespace

void install_jit_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        halide_set_custom_print(on_print);
        halide_set_error_handler(on_error);
        halide_set_custom_malloc(on_malloc);
        halide_set_custom_free(on_free);
        halide_set_custom_do_task(on_do_task);
        halide_set_custom_do_par_for(on_do_par_for);
        halide_set_custom_do_loop_task(on_do_loop_task);
        halide_set_custom_trace(on_trace);
        halide_set_custom_get_symbol(on_get_symbol);
        halide_set_custom_load_library(on_load_library);
        halide_set_custom_get_library_symbol(on_get_library_symbol);
    });
}

JITUserContext *current_jit_context() {
    return current_context;
}

extern "C" void halide_jit_caught_exception(void *exception) {
    abi::__cxa_begin_catch(exception);
    keep_exception(nullptr);
    abi::__cxa_end_catch();
}

extern "C" void *halide_jit_current_context() {
    return current_context;
}

JITFuncCallContext::JITFuncCallContext(JITUserContext *context, const JITHandlers &pipeline_handlers)
    : context_(context ? context : &own), saved(*context_), outer(current_context) {
    install_jit_handlers();
    JITSharedRuntime::populate_jit_handlers(context_, pipeline_handlers);
    context_->error_buffer = &error_buffer;
    custom_error_handler = context_->handlers.custom_error != nullptr;
    if (!custom_error_handler) {
        context_->handlers.custom_error = collect_error;
    }
    current_context = context_;
}

JITFuncCallContext::~JITFuncCallContext() {
    end();
}

void JITFuncCallContext::end() {
    if (context_) {
        context_->error_buffer = saved.error_buffer;
        context_->handlers = saved.handlers;
        context_ = nullptr;
        current_context = outer;
    }
}

void JITFuncCallContext::finalize(int exit_status) {
    end();
    if (std::exception_ptr e = error_buffer.exception()) {
        std::rethrow_exception(e);
    }
    if (exit_status == 0 || custom_error_handler) {
        return;
    }
    std::string text = error_buffer.str();
    if (text.empty()) {
        text = "The pipeline returned exit status " + std::to_string(exit_status) + " but halide_error was never called.\n";
    }
    halide_runtime_error << text;
}

void JITSharedRuntime::populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers) {
    inherit(context->handlers, handlers);
    inherit(context->handlers, defaults());
}

JITHandlers JITSharedRuntime::set_default_handlers(const JITHandlers &handlers) {
    install_jit_handlers();
    const std::lock_guard<std::mutex> lock(defaults_mutex);
    return std::exchange(default_handlers, handlers);
}

void JITSharedRuntime::memoization_cache_set_size(int64_t size) {
    install_jit_handlers();
    halide_memoization_cache_set_size(size);
}

void JITSharedRuntime::memoization_cache_evict(uint64_t eviction_key) {
    halide_memoization_cache_evict(nullptr, eviction_key);
}

void JITSharedRuntime::reuse_device_allocations(bool b) {
    halide_reuse_device_allocations(nullptr, b);
}

void JITSharedRuntime::release_all() {
    halide_shutdown_thread_pool();
    halide_memoization_cache_cleanup();
}

int JITSharedRuntime::get_num_threads() {
    return halide_get_num_threads();
}

int JITSharedRuntime::set_num_threads(int n) {
    return halide_set_num_threads(n);
}

void *JITSharedRuntime::find_symbol(const Target &, const std::string &name) {
    install_jit_handlers();
    return Runtime::Internal::find_runtime_symbol(name.c_str());
}

}  // namespace Internal
}  // namespace Halide
