#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/IR.h"
#include "ir/Target.h"
#include "ir/Type.h"
#include "runtime/HalideRuntime.h"

namespace llvm {
class Module;
}

namespace Halide {

class Module;

/// The C signature of a function that compiled code calls: a return type (or void) and argument types.
/// Scalars are passed by value, `halide_buffer_t *` as a handle.
class ExternSignature {
    Type ret_type_;
    bool is_void_return_ = false;
    std::vector<Type> arg_types_;

public:
    ExternSignature() = default;
    ExternSignature(const Type &ret_type, bool is_void_return, const std::vector<Type> &arg_types)
        : ret_type_(ret_type), is_void_return_(is_void_return), arg_types_(arg_types) {
    }

    /// The signature of a C function pointer.
    template<typename RT, typename... Args>
    explicit ExternSignature(RT (*)(Args... args))
        : is_void_return_(std::is_void<RT>::value), arg_types_({type_of<Args>()...}) {
        if constexpr (!std::is_void<RT>::value) {
            ret_type_ = type_of<RT>();
        }
    }

    /// The return type; an internal error for a function that returns void.
    const Type &ret_type() const;

    bool is_void_return() const {
        return is_void_return_;
    }

    const std::vector<Type> &arg_types() const {
        return arg_types_;
    }

    friend std::ostream &operator<<(std::ostream &stream, const ExternSignature &f);
};

/// A C function together with its signature.
struct ExternCFunction {
private:
    void *address_ = nullptr;
    ExternSignature signature_;

public:
    ExternCFunction() = default;
    ExternCFunction(void *address, const ExternSignature &signature)
        : address_(address), signature_(signature) {
    }

    template<typename RT, typename... Args>
    ExternCFunction(RT (*f)(Args... args))
        : ExternCFunction(reinterpret_cast<void *>(f), ExternSignature(f)) {
    }

    void *address() const {
        return address_;
    }
    const ExternSignature &signature() const {
        return signature_;
    }
};

struct JITUserContext;

/// Services of the runtime that a program replaces for code compiled by JIT. A null member inherits: first from the
/// handlers of the Func or Pipeline, then from the defaults of the process.
struct JITHandlers {
    /// Prints a text; default: standard error.
    void (*custom_print)(JITUserContext *, const char *){nullptr};
    /// Allocates bytes with the alignment the runtime promises; may return null.
    void *(*custom_malloc)(JITUserContext *, size_t){nullptr};
    /// Frees what custom_malloc returned.
    void (*custom_free)(JITUserContext *, void *){nullptr};
    /// Runs one iteration of a parallel loop.
    int (*custom_do_task)(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int, uint8_t *){nullptr};
    /// Runs a parallel loop: all of [min, min + size).
    int (*custom_do_par_for)(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int, int, uint8_t *){nullptr};
    /// Receives every error message; if set, `realize` returns normally after an error.
    void (*custom_error)(JITUserContext *, const char *){nullptr};
    /// Receives trace events; returns the id of the event.
    int32_t (*custom_trace)(JITUserContext *, const halide_trace_event_t *){nullptr};
    /// Finds a symbol in the process.
    void *(*custom_get_symbol)(const char *name){nullptr};
    /// Opens a shared library.
    void *(*custom_load_library)(const char *name){nullptr};
    /// Finds a symbol in a shared library.
    void *(*custom_get_library_symbol)(void *lib, const char *name){nullptr};
    /// Makes the CUDA context of a run current.
    int32_t (*custom_cuda_acquire_context)(JITUserContext *user_context, void **cuda_context_ptr, bool create){nullptr};
    /// Ends what custom_cuda_acquire_context began.
    int32_t (*custom_cuda_release_context)(JITUserContext *user_context){nullptr};
    /// The CUDA stream of a run.
    int32_t (*custom_cuda_get_stream)(JITUserContext *user_context, void *cuda_context, void **stream_ptr){nullptr};
};

namespace Internal {
struct JITErrorBuffer;
}

/// What one run of JIT code knows of its caller. Programs derive from it to pass data to their handlers.
struct JITUserContext {
    Internal::JITErrorBuffer *error_buffer{nullptr};
    JITHandlers handlers;
};

namespace Internal {

struct LoweredFunc;
class JITModuleContents;

/// Collects the errors of one run: messages up to a fixed size, and the first exception that a handler or an extern
/// function threw (compiled code cannot be unwound, so it waits here until the run is over).
struct JITErrorBuffer {
    static constexpr size_t max_size = 4096;

    /// Appends a message; what exceeds the size is dropped.
    void concat(const char *message);
    /// Keeps the exception being handled, unless there is one already.
    void keep_current_exception();
    /// The collected text.
    std::string str() const;
    /// The kept exception or null.
    std::exception_ptr exception() const;

private:
    mutable std::mutex mutex;
    std::string text;
    std::exception_ptr thrown;
};

/// One run of JIT code from the side of the caller: merges handlers, owns the error buffer, and turns what happened
/// into an exception at the end. Use: construct, pass `context()` as the user context, call, `finalize(result)`.
class JITFuncCallContext {
    JITErrorBuffer error_buffer;
    JITUserContext own;
    JITUserContext *context_;
    JITUserContext saved, *outer;
    bool custom_error_handler;
    void end();

public:
    /// Handlers of `context` (may be null) come before those of the pipeline, those before the process defaults.
    JITFuncCallContext(JITUserContext *context, const JITHandlers &pipeline_handlers);
    ~JITFuncCallContext();
    JITFuncCallContext(const JITFuncCallContext &) = delete;
    JITFuncCallContext &operator=(const JITFuncCallContext &) = delete;

    /// The context to pass to compiled code; never null.
    JITUserContext *context() const {
        return context_;
    }
    /// Rethrows an exception that a handler threw; else raises a RuntimeError if the run failed and no custom error
    /// handler received the message.
    void finalize(int exit_status);
};

/// Compiled code and symbols that live together. A handle: copies share the code, which is freed with the last one.
class JITModule {
    std::shared_ptr<JITModuleContents> contents;

public:
    struct Symbol {
        void *address = nullptr;
        Symbol() = default;
        explicit Symbol(void *address)
            : address(address) {
        }
    };
    using argv_wrapper = int (*)(const void *const *args);

    JITModule();
    /// Compiles a lowered module. `fn` is its entry point; symbols are searched in the dependencies first.
    JITModule(const Module &m, const LoweredFunc &fn, const std::vector<JITModule> &dependencies = {});

    /// All symbols that other modules may use.
    const std::map<std::string, Symbol> &exports() const;
    /// Address of the entry point, with its C signature.
    void *main_function() const;
    Symbol entrypoint_symbol() const;
    Symbol argv_entrypoint_symbol() const;
    /// The entry point that takes an array of pointers to arguments (buffers: the `halide_buffer_t *` itself).
    argv_wrapper argv_function() const;

    void add_dependency(JITModule &dep);
    void add_symbol_for_export(const std::string &name, const Symbol &extern_symbol);
    void add_extern_for_export(const std::string &name, const ExternCFunction &extern_c_function);
    /// Exports a compiled pipeline as an extern function `name`: it is called with `args` (buffers as handles), and runs
    /// with the user context of the calling run.
    void add_pipeline_for_export(const std::string &name, const JITModule &pipeline, const std::vector<Type> &args);
    /// Searches the exports of this module, then those of its dependencies.
    Symbol find_symbol_by_name(const std::string &name) const;

    /// Compiles LLVM code. An unresolved function is a CompileError that names it.
    void compile_module(std::unique_ptr<llvm::Module> m, const std::string &function_name, const Target &target,
                        const std::vector<JITModule> &dependencies = {},
                        const std::vector<std::string> &requested_exports = {});

    void memoization_cache_set_size(int64_t size) const;
    void memoization_cache_evict(uint64_t eviction_key) const;
    void reuse_device_allocations(bool) const;
    int get_num_threads() const;
    int set_num_threads(int) const;

    /// Whether there is code in it.
    bool compiled() const;
};

/// The runtime that all JIT code of this process shares. It is a native part of the library.
class JITSharedRuntime {
public:
    /// Modules to link with code for `target`. `for_module` is not needed and may be null.
    static std::vector<JITModule> get(llvm::Module *for_module, const Target &target, bool create = true);

    /// Fills the null members of the context's handlers: from `handlers`, then from the process defaults.
    static void populate_jit_handlers(JITUserContext *context, const JITHandlers &handlers);

    /// Replaces the process defaults by the non-null members; returns the previous defaults.
    static JITHandlers set_default_handlers(const JITHandlers &handlers);

    /// Bytes that memoized Funcs may keep; 0 is the default size.
    static void memoization_cache_set_size(int64_t size);
    /// Drops the entries stored under a key of `Func::memoize(EvictionKey)`.
    static void memoization_cache_evict(uint64_t eviction_key);
    static void reuse_device_allocations(bool);

    /// Joins the threads of the pool and empties the caches.
    static void release_all();

    static int get_num_threads();
    /// Sets the size of the thread pool, 0 for the default; returns the previous size.
    static int set_num_threads(int);

    /// Address of a runtime function in this process, or null.
    static void *find_symbol(const Target &target, const std::string &name);
};

}  // namespace Internal
}  // namespace Halide
