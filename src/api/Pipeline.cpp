#include "api/Pipeline.h"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <set>

#include "api/Callable.h"
#include "api/Func.h"
#include "api/InferArguments.h"
#include "api/PipelineContents.h"
#include "func/Environment.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRVisitor.h"
#include "lower/Pipeline.h"
#include "support/Util.h"

namespace Halide {

using namespace Internal;

namespace Internal {

template <>
RefCount &ref_count<CompiledPipeline>(const CompiledPipeline *c) noexcept {
    return c->ref_count;
}
template <>
void destroy<CompiledPipeline>(const CompiledPipeline *c) {
    delete c;
}

template <>
RefCount &ref_count<PipelineContents>(const PipelineContents *p) noexcept {
    return p->ref_count;
}
template <>
void destroy<PipelineContents>(const PipelineContents *p) {
    delete p;
}

const Argument &user_context_argument() {
    static const Argument context("__user_context", Argument::InputScalar, type_of<const void *>(), 0,
                                  ArgumentEstimates{});
    return context;
}

std::string function_name_for(std::string name) {
    for (char &c : name) {
        if (!isalnum((unsigned char)c) && c != '_') {
            c = '_';
        }
    }
    return name;
}

}  // namespace Internal

namespace {

Target with_jit_features(Target t) {
    t.set_feature(Target::JIT);
    t.set_feature(Target::UserContext);
    return t;
}

void check_host_compatible(const Target &target) {
    const Target host = get_host_target();
    user_assert(target.arch == host.arch && target.os == host.os && target.bits == host.bits)
        << "The target " << target.to_string() << " cannot be used for JIT: this process runs on " << host.to_string()
        << ".\n";
    user_assert(!target.has_feature(Target::PTO) && !target.has_feature(Target::PTO_A5))
        << "A target with PTO features cannot be used for JIT: this process has no PTO device.\n"
        << "  Leave the PTO feature away to run the same schedule on the CPU, or emit kernels with compile_to_pto.\n";
}

/// What a run passes to compiled code.
class CallArguments {
    JITUserContext *context = nullptr;
    std::vector<const void *> addresses;

public:
    explicit CallArguments(JITUserContext *c) : context(c), addresses{&context} {}
    CallArguments(const CallArguments &) = delete;
    CallArguments &operator=(const CallArguments &) = delete;

    void add(const void *scalar_address_or_buffer) { addresses.push_back(scalar_address_or_buffer); }
    const void *const *data() const { return addresses.data(); }
};

/// Runs compiled code once. `inputs` overrides the bound buffers of input images where it has an entry.
///
/// @returns the error code, non-zero only if a custom error handler received the message.
int run(const CompiledPipeline &compiled, const JITHandlers &handlers, JITUserContext *user_context,
        const Pipeline::RealizationArg &outputs, const std::vector<Buffer<>> &inputs = {}) {
    JITFuncCallContext call(user_context, handlers);
    CallArguments args(call.context());
    bool is_query = !inputs.empty();
    for (size_t i = 0; i < outputs.size(); i++) {
        const halide_buffer_t *raw = outputs.raw_buffer(i);
        is_query = is_query || (raw && raw->is_bounds_query());
    }
    // Keeps buffers alive that could be unbound by another thread during the run.
    std::vector<Buffer<>> keep;
    for (size_t i = 0; i < compiled.args.size(); i++) {
        const InferredArgument &arg = compiled.args[i];
        if (arg.arg.is_scalar()) {
            user_assert(arg.param.has_scalar_value())
                << "Parameter " << arg.param.name() << " does not have a valid scalar value.\n"
                << "  Give it one with " << arg.param.name() << ".set(...) before the pipeline runs.\n";
            args.add(arg.param.read_only_scalar_address());
            continue;
        }
        Buffer<> buffer = arg.buffer.defined() ? arg.buffer : arg.param.buffer();
        if (i < inputs.size() && inputs[i].defined()) {
            buffer = inputs[i];
        }
        user_assert(buffer.defined()) << "Can't run the pipeline: ImageParam " << arg.arg.name
                                      << " has no buffer bound to it.\n"
                                      << "  Bind one with " << arg.arg.name << ".set(buffer).\n";
        // A buffer without memory asks a pipeline for the size it needs, and then nothing is computed.
        const halide_buffer_t *raw = buffer.raw_buffer();
        user_assert(is_query || !raw->is_bounds_query() || raw->number_of_elements() == 0)
            << "Can't run the pipeline: the buffer bound to ImageParam " << arg.arg.name << " has no memory.\n"
            << "  To find out which sizes the inputs need, use infer_input_bounds().\n";
        keep.push_back(buffer);
        args.add(raw);
    }
    for (size_t i = 0; i < outputs.size(); i++) {
        args.add(outputs.raw_buffer(i));
    }
    const int result = compiled.module.argv_function()(args.data());
    if (!is_query && compiled.target.features_any_of({Target::Profile, Target::ProfileByTimer})) {
        halide_profiler_report(call.context());
        halide_profiler_reset();
    }
    call.finalize(result);
    return result;
}

size_t count_output_values(const std::vector<Function> &outputs) {
    size_t n = 0;
    for (const Function &f : outputs) {
        n += f.outputs();
    }
    return n;
}

void check_output_count(const std::vector<Function> &outputs, const Pipeline::RealizationArg &arg) {
    const size_t n = count_output_values(outputs);
    user_assert(arg.size() == n) << "Can't realize into " << arg.size() << " buffers: the pipeline of "
                                 << outputs[0].name() << (outputs.size() > 1 ? ", ..." : "") << " has " << n
                                 << " output values.\n";
}

/// Buffers without memory, of the sizes asked for: a run with them answers what is really needed.
std::vector<Buffer<>> make_output_queries(const std::vector<Function> &outputs, const std::vector<int32_t> &sizes) {
    std::vector<Buffer<>> result;
    for (const Function &f : outputs) {
        user_assert((int)sizes.size() == f.dimensions())
            << "Func " << f.name() << " is defined with " << f.dimensions()
            << " dimensions, but realize() is requesting a realization with " << sizes.size() << " dimensions.\n";
        std::vector<int> order;
        const std::vector<std::string> args = f.args();
        for (const StorageDim &d : f.schedule().storage_dims()) {
            order.push_back((int)(std::find(args.begin(), args.end(), d.var) - args.begin()));
        }
        for (const Type &t : f.output_types()) {
            std::vector<halide_dimension_t> shape(sizes.size());
            int64_t stride = 1;
            for (int d : order) {
                shape[d] = halide_dimension_t(0, sizes[d], (int32_t)stride);
                stride *= std::max(sizes[d], 0);
            }
            result.emplace_back(t, (void *)nullptr, (int)shape.size(), shape.data());
        }
    }
    return result;
}

/// Whether a buffer has all points from (0, 0, …) of these sizes.
bool covers(const Buffer<> &b, const std::vector<int32_t> &sizes) {
    for (int d = 0; d < b.dimensions(); d++) {
        if (b.dim(d).min() > 0 || (int64_t)b.dim(d).min() + b.dim(d).extent() < sizes[d]) {
            return false;
        }
    }
    return true;
}

bool same_shape(const Buffer<> &a, const Buffer<> &b) {
    for (int d = 0; d < a.dimensions(); d++) {
        if (a.dim(d).min() != b.dim(d).min() || a.dim(d).extent() != b.dim(d).extent() ||
            a.dim(d).stride() != b.dim(d).stride()) {
            return false;
        }
    }
    return true;
}

struct AutoschedulerRegistry {
    std::mutex mutex;
    std::map<std::string, AutoSchedulerFn> functions;
};

AutoschedulerRegistry &autoscheduler_registry() {
    static AutoschedulerRegistry registry;
    return registry;
}

}  // namespace

namespace Internal {

JITModule PipelineContents::externs_module(const Target &target) {
    JITModule module;
    for (auto &e : jit_externs) {
        const Pipeline &p = e.second.pipeline();
        if (!p.defined()) {
            module.add_extern_for_export(e.first, e.second.extern_c_function());
            continue;
        }
        IntrusivePtr<CompiledPipeline> callee = Pipeline::contents_of(p)->compile(target);
        // The C function of a pipeline compiled for JIT: the context, the inputs, the outputs.
        std::vector<Type> types = {type_of<const void *>()};
        for (const InferredArgument &a : callee->args) {
            types.push_back(a.arg.is_scalar() ? a.arg.type : type_of<halide_buffer_t *>());
        }
        types.resize(types.size() + count_output_values(Pipeline::contents_of(p)->outputs),
                     type_of<halide_buffer_t *>());
        module.add_dependency(callee->module);
        module.add_extern_for_export(
            e.first, ExternCFunction(callee->module.main_function(), ExternSignature(Int(32), false, types)));
    }
    return module;
}

IntrusivePtr<CompiledPipeline> PipelineContents::compile(Target target) {
    target = with_jit_features(std::move(target));
    std::lock_guard<std::mutex> lock(mutex);
    if (compiled.defined() && compiled->target == target) {
        return compiled;
    }
    check_host_compatible(target);
    check_outputs();
    for (Function &f : outputs) {
        f.freeze();
    }

    IntrusivePtr<CompiledPipeline> result(new CompiledPipeline);
    result->target = target;
    result->args = infer_arguments(outputs, requirements);
    std::vector<Argument> args = {user_context_argument()};
    for (const InferredArgument &a : result->args) {
        args.push_back(a.arg);
    }
    const std::string name = function_name_for(outputs[0].name());
    const Module module =
        lower(outputs, name, target, args, LinkageType::ExternalPlusArgv, requirements, trace_pipeline, passes());
    std::vector<JITModule> dependencies;
    if (!jit_externs.empty()) {
        dependencies.push_back(externs_module(target));
    }
    result->module = JITModule(module, module.get_function_by_name(name), dependencies);
    compiled = result;
    return result;
}

}  // namespace Internal

Pipeline::RealizationArg::RealizationArg(Realization &r) {
    for (size_t i = 0; i < r.size(); i++) {
        buffers_.push_back(r[i]);
    }
}

Pipeline::RealizationArg::RealizationArg(Realization &&r) : RealizationArg(r) {}

halide_buffer_t *Pipeline::RealizationArg::raw_buffer(size_t i) const {
    if (is_raw_) {
        return raw_;
    }
    user_assert(buffers_[i].defined()) << "Can't realize into an undefined Buffer (number " << i << " of "
                                       << buffers_.size() << ").\n";
    Buffer<> handle = buffers_[i];
    return handle.raw_buffer();
}

Pipeline::Pipeline() = default;

Pipeline::Pipeline(const Func &output) : Pipeline(std::vector<Func>{output}) {}

Pipeline::Pipeline(const std::vector<Func> &outputs) : Pipeline(outputs, {}) {}

Pipeline::Pipeline(const std::vector<Func> &outputs, const std::vector<Stmt> &requirements)
    : contents(new PipelineContents) {
    user_assert(!outputs.empty()) << "A Pipeline has at least one output Func.\n";
    for (const Func &f : outputs) {
        for (const Function &other : contents->outputs) {
            user_assert(!other.same_as(f.function()))
                << "Func " << f.name() << " is listed twice among the outputs of a "
                << "Pipeline.\n";
        }
        contents->outputs.push_back(f.function());
    }
    contents->requirements = requirements;
}

void Pipeline::check_defined(const char *what) const {
    user_assert(defined()) << "Can't " << what << " an undefined Pipeline.\n"
                           << "  Make it from its outputs, as in Pipeline({f, g}).\n";
}

PipelineContents *Pipeline::contents_of(const Pipeline &p) {
    return p.contents.get();
}

std::vector<Func> Pipeline::outputs() const {
    std::vector<Func> result;
    if (defined()) {
        for (const Function &f : contents->outputs) {
            result.emplace_back(f);
        }
    }
    return result;
}

std::vector<Stmt> Pipeline::requirements() const {
    return defined() ? contents->requirements : std::vector<Stmt>();
}

bool Pipeline::defined() const {
    return contents.defined();
}

Func Pipeline::get_func(size_t index) {
    check_defined("take a Func from");
    const std::map<std::string, Function> env = build_environment(contents->outputs);
    const std::vector<std::string> order = topological_order(contents->outputs, env);
    user_assert(index < order.size()) << "Pipeline::get_func(" << index << "): the pipeline computes " << order.size()
                                      << " Funcs.\n";
    return Func(env.at(order[index]));
}

std::vector<Argument> Pipeline::infer_arguments() {
    check_defined("infer arguments of");
    contents->check_outputs();
    std::vector<Argument> result;
    for (const InferredArgument &a : Internal::infer_arguments(contents->outputs, contents->requirements)) {
        if (!a.buffer.defined()) {
            result.push_back(a.arg);
        }
    }
    return result;
}

// ---- Autoschedulers

void Pipeline::add_autoscheduler(const std::string &name, const AutoSchedulerFn &autoscheduler) {
    AutoschedulerRegistry &registry = autoscheduler_registry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    user_assert(registry.functions.emplace(name, autoscheduler).second)
        << "'" << name << "' is already registered as an autoscheduler.\n";
}

AutoSchedulerResults Pipeline::apply_autoscheduler(const Target &target, const AutoschedulerParams &params) const {
    check_defined("schedule");
    AutoSchedulerFn function;
    {
        AutoschedulerRegistry &registry = autoscheduler_registry();
        std::lock_guard<std::mutex> lock(registry.mutex);
        auto it = registry.functions.find(params.name);
        if (it == registry.functions.end()) {
            std::vector<std::string> names;
            for (const auto &f : registry.functions) {
                names.push_back(f.first);
            }
            user_error << "Could not find autoscheduler named '" << params.name
                       << "'.\n  Did you remember to load the plugin? "
                       << "Registered: " << (names.empty() ? std::string("none") : join_strings(names, ", ")) << "\n";
        }
        function = it->second;
    }
    AutoSchedulerResults results;
    results.target = target;
    results.autoscheduler_params = params;
    function(*this, target, params, &results);
    contents->invalidate();
    return results;
}

void Pipeline::apply_runtime_prefixes(const Target &target, const RuntimePrefixParams &params) {
    check_defined("set prefixes of");
    user_assert(!target.has_feature(Target::JIT))
        << "Runtime prefixes are for code compiled ahead of time; code for JIT uses the runtime of this process.\n";
    contents->runtime_prefixes = params.prefixes;
}

// ---- Compilation in this process

Target Pipeline::jit_target(const Target &requested) const {
    if (!requested.has_unknowns()) {
        return requested;
    }
    std::lock_guard<std::mutex> lock(contents->mutex);
    return contents->compiled.defined() ? contents->compiled->target : get_jit_target_from_environment();
}

void Pipeline::compile_jit(const Target &target) {
    check_defined("jit-compile");
    contents->compile(jit_target(target));
}

Callable Pipeline::compile_to_callable(const std::vector<Argument> &args, const Target &target) {
    check_defined("compile");
    Target t = with_jit_features(jit_target(target));
    check_host_compatible(t);
    const std::string name = default_function_name();
    const Module module = compile_to_module(args, name, t, LinkageType::ExternalPlusArgv);
    std::vector<JITModule> dependencies;
    if (!contents->jit_externs.empty()) {
        dependencies.push_back(contents->externs_module(t));
    }
    const LoweredFunc f = module.get_function_by_name(name);
    return Callable(name, contents->jit_handlers, std::vector<Argument>(f.args.begin(), f.args.end()),
                    JITModule(module, f, dependencies));
}

void Pipeline::set_jit_externs(const std::map<std::string, JITExtern> &externs) {
    check_defined("set the externs of");
    contents->invalidate();
    contents->jit_externs = externs;
}

const std::map<std::string, JITExtern> &Pipeline::get_jit_externs() {
    check_defined("get the externs of");
    return contents->jit_externs;
}

JITHandlers &Pipeline::jit_handlers() {
    check_defined("set the handlers of");
    return contents->jit_handlers;
}

void Pipeline::add_custom_lowering_pass(IRMutator *pass, std::function<void()> deleter) {
    check_defined("add a lowering pass to");
    contents->invalidate();
    contents->custom_passes.push_back({pass, std::move(deleter)});
}

void Pipeline::clear_custom_lowering_passes() {
    check_defined("remove the lowering passes of");
    contents->clear_custom_passes();
}

const std::vector<CustomLoweringPass> &Pipeline::custom_lowering_passes() {
    check_defined("list the lowering passes of");
    return contents->custom_passes;
}

// ---- Running

Realization Pipeline::realize(std::vector<int32_t> sizes, const Target &target) {
    return realize(nullptr, std::move(sizes), target);
}

Realization Pipeline::realize(JITUserContext *context, std::vector<int32_t> sizes, const Target &target) {
    check_defined("realize");
    contents->check_outputs();
    std::vector<Buffer<>> buffers = make_output_queries(contents->outputs, sizes);
    const IntrusivePtr<CompiledPipeline> compiled = contents->compile(jit_target(target));

    // The schedule may compute more than was asked for: find out, compute that, and crop.
    int result = 0;
    if (!compiled->target.has_feature(Target::NoBoundsQuery)) {
        result = run(*compiled, contents->jit_handlers, context, RealizationArg(buffers));
    }
    const std::vector<Buffer<>> requested = make_output_queries(contents->outputs, sizes);
    for (size_t i = 0; i < buffers.size(); i++) {
        // A schedule may also compute less than was asked for (`bound`); then the run itself reports the error.
        if (!covers(buffers[i], sizes)) {
            buffers[i] = requested[i];
        }
        buffers[i].allocate();
    }
    if (result == 0) {
        run(*compiled, contents->jit_handlers, context, RealizationArg(buffers));
    }
    for (Buffer<> &b : buffers) {
        for (int d = 0; d < b.dimensions(); d++) {
            if (b.dim(d).min() != 0 || b.dim(d).extent() != sizes[d]) {
                b.crop(d, 0, sizes[d]);
            }
        }
        if (b.device_dirty()) {
            b.copy_to_host(context);
        }
    }
    return Realization(buffers);
}

void Pipeline::realize(RealizationArg output, const Target &target) {
    realize(nullptr, std::move(output), target);
}

void Pipeline::realize(JITUserContext *context, RealizationArg output, const Target &target) {
    check_defined("realize");
    contents->check_outputs();
    check_output_count(contents->outputs, output);
    const IntrusivePtr<CompiledPipeline> compiled = contents->compile(jit_target(target));
    run(*compiled, contents->jit_handlers, context, output);
}

void Pipeline::infer_bounds(JITUserContext *context, const RealizationArg &output, const Target &target) {
    check_defined("infer input bounds of");
    check_output_count(contents->outputs, output);
    user_assert(!target.has_feature(Target::NoBoundsQuery))
        << "Can't infer input bounds: the target feature no_bounds_query leaves out the code that answers.\n";
    const IntrusivePtr<CompiledPipeline> compiled = contents->compile(jit_target(target));

    // One buffer without memory for each image that is to be made.
    std::vector<Buffer<>> queries(compiled->args.size());
    bool any = false;
    for (size_t i = 0; i < queries.size(); i++) {
        const InferredArgument &a = compiled->args[i];
        if (a.arg.is_buffer() && !a.buffer.defined() && !a.param.buffer().defined()) {
            const std::vector<halide_dimension_t> shape(a.arg.dimensions);
            queries[i] = Buffer<>(a.arg.type, (void *)nullptr, a.arg.dimensions, shape.data(), a.arg.name);
            any = true;
        }
    }
    if (!any) {
        return;
    }

    // The sizes of some inputs may follow from those of others (constraints), so ask until nothing changes.
    constexpr int max_rounds = 16;
    bool settled = false;
    for (int round = 0; round < max_rounds && !settled; round++) {
        std::vector<Buffer<>> before(queries.size());
        for (size_t i = 0; i < queries.size(); i++) {
            if (queries[i].defined()) {
                before[i] = queries[i].alias();
            }
        }
        run(*compiled, contents->jit_handlers, context, output, queries);
        settled = true;
        for (size_t i = 0; i < queries.size(); i++) {
            settled = settled && (!queries[i].defined() || same_shape(before[i], queries[i]));
        }
    }
    user_assert(settled) << "Inferring input bounds on Pipeline of " << contents->outputs[0].name()
                         << " didn't converge after " << max_rounds
                         << " rounds: the sizes of its inputs depend on each "
                         << "other in a circle.\n  Give some of them with ImageParam::set.\n";
    for (size_t i = 0; i < queries.size(); i++) {
        if (queries[i].defined()) {
            queries[i].allocate();
            Parameter p = compiled->args[i].param;
            p.set_buffer(queries[i]);
        }
    }
}

void Pipeline::infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target) {
    infer_input_bounds(nullptr, sizes, target);
}

void Pipeline::infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes, const Target &target) {
    check_defined("infer input bounds of");
    contents->check_outputs();
    infer_bounds(context, RealizationArg(make_output_queries(contents->outputs, sizes)), target);
}

void Pipeline::infer_input_bounds(RealizationArg output, const Target &target) {
    infer_bounds(nullptr, output, target);
}

void Pipeline::infer_input_bounds(JITUserContext *context, RealizationArg output, const Target &target) {
    infer_bounds(context, output, target);
}

void Pipeline::invalidate_cache() {
    if (defined()) {
        contents->invalidate();
    }
}

void Pipeline::add_requirement(const Expr &condition, const std::vector<Expr> &error_args) {
    check_defined("add a requirement to");
    user_assert(condition.defined()) << "Pipeline::add_requirement: the condition is undefined.\n";
    std::string varying;
    visit_with(
        condition,
        [&](auto *, const Variable *op) {
            if (!op->param.defined() && !op->image.defined()) {
                varying = (op->reduction_domain.defined() ? "the RVar " : "the Var ") + op->name;
            }
        },
        [&](auto *self, const Call *op) {
            if (op->call_type == Call::Halide) {
                varying = "a call of the Func " + op->name;
            } else {
                self->visit_base(op);
            }
        });
    user_assert(varying.empty()) << "Pipeline::add_requirement(" << condition << "): the condition depends on "
                                 << varying << ", but it is checked once, before anything is computed.\n"
                                 << "  It may use parameters and the shapes of buffers. For values, use require().\n";
    contents->invalidate();
    contents->requirements.push_back(AssertStmt::make(condition, requirement_failed_error(condition, error_args)));
}

void Pipeline::trace_pipeline() {
    check_defined("trace");
    contents->invalidate();
    contents->trace_pipeline = true;
}

JITExtern::JITExtern(const Pipeline &pipeline) : pipeline_(pipeline) {}

JITExtern::JITExtern(const Func &func) : pipeline_(func) {}

JITExtern::JITExtern(const ExternCFunction &extern_c_function) : extern_c_function_(extern_c_function) {}

}  // namespace Halide
