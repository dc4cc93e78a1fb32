#include "lower/Pipeline.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>

#include "func/Environment.h"
#include "func/PTOProgram.h"
#include "ir/IRMutator.h"
#include "ir/IROperator.h"
#include "ir/IRPrinter.h"
#include "ir/IRText.h"
#include "ir/IRVisitor.h"
#include "ir/LowerIntrinsics.h"
#include "ir/NarrowFloats.h"
#include "ir/Scope.h"
#include "lower/Environment.h"
#include "lower/bounds/AllocationBounds.h"
#include "lower/bounds/BoundSmallAllocations.h"
#include "lower/bounds/BoundsInference.h"
#include "lower/bounds/ClampUnsafeAccesses.h"
#include "lower/bounds/SkipStages.h"
#include "lower/bounds/SlidingWindow.h"
#include "lower/bounds/StorageFolding.h"
#include "lower/checks/ImageChecks.h"
#include "lower/checks/ParameterChecks.h"
#include "lower/loops/ConstantExtents.h"
#include "lower/loops/ContractFloats.h"
#include "lower/loops/PartitionLoops.h"
#include "lower/loops/RebaseLoops.h"
#include "lower/loops/TrimNoOps.h"
#include "lower/loops/UnrollHints.h"
#include "lower/loops/UnrollLoops.h"
#include "lower/nest/Memoize.h"
#include "lower/nest/NameSharedValues.h"
#include "lower/nest/Prefetch.h"
#include "lower/nest/ScheduleFunctions.h"
#include "lower/nest/Specialize.h"
#include "lower/nest/Tracing.h"
#include "lower/nest/WrapCalls.h"
#include "lower/parallel/AsyncProducers.h"
#include "lower/parallel/InjectProfiling.h"
#include "lower/parallel/LowerParallel.h"
#include "lower/parallel/RingBuffers.h"
#include "lower/pto/HostSchedule.h"
#include "lower/pto/PTOCopies.h"
#include "lower/pto/PTOKernels.h"
#include "lower/pto/PTOLaneLayout.h"
#include "lower/pto/PTOLegalize.h"
#include "lower/pto/PTOMemoryPlan.h"
#include "lower/pto/PTOStage.h"
#include "lower/pto/PTOSync.h"
#include "lower/pto/PTOTrim.h"
#include "lower/pto/PTOUnroll.h"
#include "lower/pto/PTOVerify.h"
#include "lower/storage/DebugToFile.h"
#include "lower/storage/EarlyFree.h"
#include "lower/storage/FlattenStorage.h"
#include "lower/storage/HoistStorage.h"
#include "lower/storage/SplitTuples.h"
#include "lower/storage/UnpackBuffers.h"
#include "lower/vector/FindIntrinsics.h"
#include "lower/vector/GPRStorage.h"
#include "lower/vector/AlternatingLanes.h"
#include "lower/vector/Interleavings.h"
#include "lower/vector/MergeLoads.h"
#include "lower/vector/NarrowIndices.h"
#include "lower/vector/VectorizeLoops.h"
#include "lower/vector/VectorizeSWAR.h"
#include "simplify/CommonSubexpressions.h"
#include "simplify/Simplify.h"
#include "support/Error.h"
#include "support/Util.h"

namespace Halide {
namespace Internal {

namespace {

Stmt simplify_statement(const Stmt &s, LowerContext &ctx) {
    return simplify(s);
}

/// Conversions of 8- and 4-bit floats, which only PTO has as instructions.
Stmt narrow_floats(const Stmt &s, LowerContext &ctx) {
    return lower_narrow_floats(s);
}

Stmt common_subexpressions(const Stmt &s, LowerContext &ctx) {
    return common_subexpression_elimination(s);
}

Stmt find_fixed_point_intrinsics(const Stmt &s, LowerContext &ctx) {
    return find_intrinsics(s);
}

/// Constant folding leaves a mark where a signed 32- or 64-bit operation overflows; where it survives, the program asks
/// for a value that the language does not define.
Stmt check_overflow(const Stmt &s, LowerContext &ctx) {
    class Finder : public IRGraphVisitor {
    protected:
        using IRGraphVisitor::visit;
        void visit(const Call *op) override {
            user_assert(!op->is_intrinsic(Call::signed_integer_overflow))
                << "Signed integer overflow occurred during constant-folding. Signed integer overflow for int32 and "
                   "int64 is undefined behavior in Halide.\n"
                << "  Compute in a wider or an unsigned type.\n";
            IRGraphVisitor::visit(op);
        }
    } finder;
    s.accept(&finder);
    return s;
}

Stmt user_passes(const Stmt &s, LowerContext &ctx) {
    Stmt result = s;
    for (IRMutator *pass : ctx.custom_passes) {
        result = (*pass)(result);
    }
    return result;
}

bool has_custom_passes(const LowerContext &ctx) {
    return !ctx.custom_passes.empty() && for_cpu(ctx);
}

bool profiles_cpu(const LowerContext &ctx) {
    return wants_profiling(ctx) && for_cpu(ctx);
}

bool unrolls_natively(const LowerContext &ctx) {
    return ctx.native_unroll_hints && for_cpu(ctx);
}

using L = Level;

// clang-format off
const std::vector<Pass> table = {
    // name                   function                     needs         gives         applies            optional
    {"contract-floats",       contract_floats,             L::Funcs,     L::Funcs,     nullptr,           true},
    {"schedule-functions",    schedule_functions,          L::Funcs,     L::Nest,      nullptr,           false},
    {"narrow-floats",         narrow_floats,               L::Nest,      L::Nest,      for_cpu,           false},
    {"name-shared-values",    name_shared_values,          L::Nest,      L::Nest,      nullptr,           true},
    {"parameter-checks",      parameter_checks,            L::Nest,      L::Nest,      nullptr,           false},
    {"bounds-inference",      bounds_inference,            L::Nest,      L::Bounded,   nullptr,           false},
    {"split-factor-checks",   split_factor_checks,         L::Bounded,   L::Bounded,   nullptr,           false},
    {"sliding-window",        sliding_window,              L::Bounded,   L::Bounded,   nullptr,           true},
    {"tracing",               inject_tracing,              L::Bounded,   L::Bounded,   nullptr,           false},
    {"memoize",               memoize,                     L::Bounded,   L::Bounded,   nullptr,           false},
    {"simplify-regions",      simplify_statement,          L::Bounded,   L::Bounded,   nullptr,           true},
    {"allocation-bounds",     allocation_bounds_inference, L::Bounded,   L::Bounded,   nullptr,           false},
    {"image-checks",          image_checks,                L::Bounded,   L::Checked,   nullptr,           false},
    {"clamp-unsafe-accesses", clamp_unsafe_accesses,       L::Checked,   L::Checked,   nullptr,           false},
    {"simplify-checks",       simplify_statement,          L::Checked,   L::Checked,   nullptr,           true},
    {"prefetch",              inject_prefetch,             L::Checked,   L::Checked,   nullptr,           false},
    {"storage-folding",       storage_folding,             L::Checked,   L::Checked,   nullptr,           false},
    {"skip-stages",           skip_stages,                 L::Checked,   L::Checked,   nullptr,           true},
    {"ring-buffers",          ring_buffers,                L::Checked,   L::Checked,   nullptr,           false},
    {"async-producers",       async_producers,             L::Checked,   L::Checked,   nullptr,           false},
    {"debug-to-file",         debug_to_file,               L::Checked,   L::Checked,   nullptr,           false},
    {"split-tuples",          split_tuples,                L::Checked,   L::Checked,   nullptr,           false},
    {"pto-trim",              pto_trim,                    L::Checked,   L::Checked,   for_pto,           false},
    {"pto-stage",             pto_stage,                   L::Checked,   L::Checked,   for_pto,           false},
    {"bound-allocations",     bound_small_allocations,     L::Checked,   L::Checked,   nullptr,           false},
    {"flatten-storage",       flatten_storage,             L::Checked,   L::Flat,      nullptr,           false},
    {"memoized-allocations",  memoized_allocations,        L::Flat,      L::Flat,      nullptr,           false},
    {"hoist-storage",         hoist_storage,               L::Flat,      L::Flat,      nullptr,           false},
    {"unpack-buffers",        unpack_buffers,              L::Flat,      L::Flat,      nullptr,           false},
    {"simplify-addresses",    simplify_statement,          L::Flat,      L::Flat,      nullptr,           true},
    {"constant-extents",      constant_extents,            L::Flat,      L::Flat,      nullptr,           true},
    {"unroll-loops",          unroll_loops,                L::Flat,      L::Unrolled,  nullptr,           false},
    {"pto-kernels",           pto_kernels,                 L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-copies",            pto_copies,                  L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-legalize",          pto_legalize,                L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-unroll-hints",      pto_unroll_hints,            L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-lane-layout",       pto_lane_layout,             L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-verify",            pto_verify,                  L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-memory-plan",       pto_memory_plan,             L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-sync",              pto_sync,                    L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"pto-launches",          pto_launches,                L::Unrolled,  L::Unrolled,  for_pto,           false},
    {"vectorize-swar",        vectorize_swar,              L::Unrolled,  L::Unrolled,  for_cpu,           false},
    {"vectorize-loops",       vectorize_loops,             L::Unrolled,  L::Vectors,   for_cpu,           false},
    {"simplify-vectors",      simplify_statement,          L::Vectors,   L::Vectors,   for_cpu,           true},
    {"gpr-storage",           gpr_storage,                 L::Vectors,   L::Vectors,   for_cpu,           false},
    {"partition-loops",       partition_loops,             L::Vectors,   L::Vectors,   for_cpu,           false},
    {"trim-no-ops",           trim_no_ops,                 L::Vectors,   L::Vectors,   for_cpu,           true},
    {"rebase-loops",          rebase_loops,                L::Vectors,   L::Vectors,   for_cpu,           true},
    {"unroll-hints",          expand_unroll_hints,         L::Vectors,   L::Vectors,   unrolls_natively,  false},
    {"simplify-partitions",   simplify_statement,          L::Vectors,   L::Vectors,   for_cpu,           true},
    {"merge-loads",           merge_loads,                 L::Vectors,   L::Vectors,   for_cpu,           true},
    {"alternating-lanes",     alternating_lanes,           L::Vectors,   L::Vectors,   for_cpu,           true},
    {"interleavings",         interleavings,               L::Vectors,   L::Vectors,   for_cpu,           true},
    {"cse",                   common_subexpressions,       L::Vectors,   L::Vectors,   for_cpu,           true},
    {"find-intrinsics",       find_fixed_point_intrinsics, L::Vectors,   L::Vectors,   for_cpu,           true},
    {"check-overflow",        check_overflow,              L::Vectors,   L::Vectors,   for_cpu,           false},
    {"user-passes",           user_passes,                 L::Vectors,   L::Vectors,   has_custom_passes, false},
    {"narrow-indices",        narrow_indices,              L::Vectors,   L::Indices,   for_cpu,           true},
    {"early-free",            early_free,                  L::Indices,   L::Indices,   for_cpu,           false},
    {"profiling",             inject_profiling,            L::Indices,   L::Indices,   profiles_cpu,      false},
    {"lower-parallel",        lower_parallel,              L::Indices,   L::Closed,    for_cpu,           false},
};
// clang-format on

/// Reads and dumps between passes, driven by environment variables (README, "Looking inside").
struct Observer {
    std::set<std::string> dump, skip;
    std::string stop_after;
    bool time = false;

    Observer() {
        dump = list("BROMIDE_DUMP");
        skip = list("BROMIDE_SKIP");
        stop_after = get_env_variable("BROMIDE_STOP_AFTER");
        time = !get_env_variable("BROMIDE_TIME").empty();
    }

    static std::set<std::string> list(const char *variable) {
        std::set<std::string> result;
        for (const std::string &s : split_string(get_env_variable(variable), ",")) {
            if (!s.empty()) {
                result.insert(s);
            }
        }
        return result;
    }
};

class CountNodes : public IRGraphVisitor {
public:
    int64_t count = 0;

protected:
    void include(const Expr &e) override {
        count++;
        IRGraphVisitor::include(e);
    }
    void include(const Stmt &s) override {
        count++;
        IRGraphVisitor::include(s);
    }
};

const char *const main_stmt_end = "early-free";

/// Free names of the lowered statement that no argument defines.
void check_arguments(const Stmt &s, const std::set<std::string> &known, const std::string &pipeline) {
    class FindFree : public IRVisitor {
    public:
        explicit FindFree(const std::set<std::string> &known) : known(known) {}
        std::map<std::string, std::string> missing;

    protected:
        using IRVisitor::visit;
        void visit(const Variable *op) override {
            // Names that begin with "::" are functions of the module.
            if (bound.contains(op->name) || known.count(op->name) || starts_with(op->name, "::")) {
                return;
            }
            const bool buffer = ends_with(op->name, ".buffer");
            std::ostringstream text;
            if (buffer) {
                text << "Generated code refers to image parameter " << op->name.substr(0, op->name.size() - 7)
                     << ", which was not found in the argument list.\n";
            } else if (op->param.defined()) {
                text << "Generated code refers to parameter " << op->name
                     << ", which was not found in the argument list.\n";
            } else {
                internal_error << "The lowered pipeline refers to the undefined symbol " << op->name << "\n";
            }
            missing[op->name] = text.str();
        }
        void visit(const Let *op) override {
            op->value.accept(this);
            ScopedBinding<> bind(bound, op->name);
            op->body.accept(this);
        }
        void visit(const LetStmt *op) override {
            op->value.accept(this);
            ScopedBinding<> bind(bound, op->name);
            op->body.accept(this);
        }
        void visit(const For *op) override {
            op->min.accept(this);
            op->max.accept(this);
            ScopedBinding<> bind(bound, op->name);
            op->body.accept(this);
        }
        void visit(const Allocate *op) override {
            for (const Expr &e : op->extents) {
                e.accept(this);
            }
            op->condition.accept(this);
            ScopedBinding<> bind(bound, op->name);
            op->body.accept(this);
        }

    private:
        const std::set<std::string> &known;
        Scope<> bound;
    } finder(known);
    s.accept(&finder);
    if (finder.missing.empty()) {
        return;
    }
    std::ostringstream text;
    for (const auto &m : finder.missing) {
        text << m.second;
    }
    user_error << text.str() << "  Add what is missing to the arguments of " << pipeline << ".\n";
}

/// Images embedded in the algorithm.
class FindEmbeddedImages : public IRGraphVisitor {
public:
    std::map<std::string, Buffer<>> found;

protected:
    using IRGraphVisitor::visit;
    void visit(const Load *op) override {
        if (op->image.defined()) {
            found.emplace(op->image.name(), op->image);
        }
        IRGraphVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (op->image.defined()) {
            found.emplace(op->image.name(), op->image);
        }
    }
};

void check_outputs(const std::vector<Function> &outputs) {
    for (const Function &f : outputs) {
        user_assert(f.has_pure_definition() || f.has_extern_definition())
            << "Can't lower undefined Func " << f.name() << ".\n  Give it a definition before it is realized or compiled.\n";
    }
}

}  // namespace

std::string LowerContext::unique_name(const std::string &prefix) {
    // In names of Funcs, Vars and the symbols made of them a dot is never followed by '$', so this is free.
    return prefix + ".$" + std::to_string(counters[prefix]++);
}

void LowerContext::explain(const std::string &what) {
    static const bool wanted = !get_env_variable("BROMIDE_EXPLAIN").empty();
    if (wanted) {
        std::cerr << pipeline_name << ": " << what << "\n";
    }
}

const std::vector<Pass> &lowering_passes() {
    return table;
}

Stmt run_lowering_passes(LowerContext &ctx, const std::string &last) {
    Stmt s;
    Observer observer;
    for (const Pass &pass : table) {
        const bool skipped = (pass.applies && !pass.applies(ctx)) || (pass.optional && observer.skip.count(pass.name));
        if (!skipped) {
            const auto start = std::chrono::steady_clock::now();
            s = pass.run(s, ctx);
            if (observer.time) {
                const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
                CountNodes nodes;
                if (s.defined()) {
                    s.accept(&nodes);
                }
                std::cerr << pass.name << ": " << ms.count() << " ms, " << nodes.count << " nodes\n";
            }
            debug(2) << "After " << pass.name << ":\n" << s << "\n";
        }
        if (observer.dump.count(pass.name) || observer.dump.count("all")) {
            std::cerr << "# after " << pass.name << (skipped ? " (skipped)" : "") << "\n" << s << "\n";
        }
#ifdef BROMIDE_VERIFY_PASSES
        // A row for another kind of target says nothing about this statement.
        if (s.defined() && (!skipped || !pass.applies || pass.applies(ctx))) {
            verify(s, pass.gives, ctx, pass.name);
        }
#endif
        if (pass.name == last || observer.stop_after == pass.name) {
            break;
        }
    }
    return s;
}

LowerContext make_lower_context(const std::vector<Function> &outputs, const std::string &pipeline_name,
                                const Target &target, const std::vector<Argument> &args,
                                const std::vector<Stmt> &requirements, bool trace_pipeline,
                                const std::vector<IRMutator *> &custom_passes) {
    check_outputs(outputs);
    LowerContext ctx;
    ctx.pipeline_name = pipeline_name;
    ctx.target = target.with_implied_features();
    ctx.args = args;
    ctx.requirements = requirements;
    ctx.trace_pipeline = trace_pipeline;
    ctx.custom_passes = custom_passes;
    ctx.native_unroll_hints = !get_env_variable("BROMIDE_NATIVE_UNROLL").empty();

    std::tie(ctx.outputs, ctx.env) = deep_copy(outputs, build_environment(outputs));
    for (auto &entry : ctx.env) {
        // Of the copies: locking also fills in levels left at their defaults, which the program may still set.
        entry.second.lock_loop_levels();
    }
    ctx.env = wrap_func_calls(ctx.env);
    lower_environment(ctx);
    adapt_pto_schedules(ctx);
    std::tie(ctx.order, ctx.fused_groups) = realization_order(ctx.outputs, ctx.env);
    simplify_specializations(ctx.env);
    ctx.func_bounds = compute_function_value_bounds(ctx.order, ctx.env);
    return ctx;
}

Module lower(const std::vector<Function> &outputs, const std::string &pipeline_name, const Target &target,
             const std::vector<Argument> &args, LinkageType linkage_type, const std::vector<Stmt> &requirements,
             bool trace_pipeline, const std::vector<IRMutator *> &custom_passes) {
    std::vector<std::string> namespaces;
    Module result(extract_namespaces(pipeline_name, namespaces), target);
    run_with_large_stack([&]() {
        LowerContext ctx = make_lower_context(outputs, pipeline_name, target, args, requirements, trace_pipeline,
                                              custom_passes);
        Stmt s = run_lowering_passes(ctx);

        std::vector<Argument> all_args = args;
        std::set<std::string> known = {"__user_context"};
        for (const Function &f : outputs) {
            for (const Parameter &p : f.output_buffers()) {
                all_args.emplace_back(p.name(), Argument::OutputBuffer, p.type(), p.dimensions(),
                                      p.get_argument_estimates());
            }
        }
        for (const Argument &a : all_args) {
            known.insert(a.is_buffer() ? a.name + ".buffer" : a.name);
        }
        FindEmbeddedImages images;
        s.accept(&images);
        for (const LoweredFunc &f : ctx.closures) {
            f.body.accept(&images);
        }
        for (const auto &image : images.found) {
            if (known.insert(image.first + ".buffer").second) {
                result.append(image.second);
            }
        }
        check_arguments(s, known, pipeline_name);
        for (const LoweredFunc &f : ctx.closures) {
            result.append(f);
        }
        result.append(LoweredFunc(pipeline_name, all_args, s, linkage_type));
        if (ctx.pto) {
            ctx.pto->args = all_args;
            result.set_pto_program(ctx.pto);
        }
    });
    return result;
}

Stmt lower_main_stmt(const std::vector<Function> &outputs, const std::string &pipeline_name, const Target &target,
                     const std::vector<Stmt> &requirements, bool trace_pipeline,
                     const std::vector<IRMutator *> &custom_passes) {
    Stmt s;
    run_with_large_stack([&]() {
        LowerContext ctx =
            make_lower_context(outputs, pipeline_name, target, {}, requirements, trace_pipeline, custom_passes);
        s = run_lowering_passes(ctx, main_stmt_end);
    });
    return s;
}

}  // namespace Internal
}  // namespace Halide
