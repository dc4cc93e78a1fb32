#include "interp/Arithmetic.h"
#include "interp/Task.h"
#include "ir/BitMoves.h"
#include "ir/IRPrinter.h"
#include "ir/IROperator.h"
#include "ir/LowerIntrinsics.h"
#include "ir/NarrowFloats.h"
#include "support/Util.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace Halide {
namespace Internal {

Value InterpreterTask::call(const Call *op) {
    switch (op->call_type) {
    case Call::Halide:
    case Call::Image:
        return call_stored(op);
    case Call::Intrinsic:
    case Call::PureIntrinsic:
        return intrinsic(op);
    case Call::PureExtern:
        if (const Expr expansion = lower_narrow_float(op); expansion.defined()) {
            return eval(expansion);
        }
        if (const Expr expansion = lower_bit_move(op); expansion.defined()) {
            return eval(expansion);
        }
        return extern_call(op);
    case Call::Extern:
    case Call::ExternCPlusPlus:
        return extern_call(op);
    }
    return Value();
}

// The value of a Func or image at some coordinates.
Value InterpreterTask::call_stored(const Call *op) {
    std::vector<Value> coordinates;
    for (const Expr &e : op->args) {
        coordinates.push_back(eval(e));
    }
    Value result(op->type);
    const Type t = op->type.element_of();
    for (int lane = 0; lane < result.lanes(); lane++) {
        if (!is_active(lane, result.lanes())) {
            result[lane] = from_bits(t, state.random());
            result[lane].undefined = true;
            continue;
        }
        const ElementAddress e =
            element(op->name, coordinates, lane, op->value_index, t, "load from", op->image, op->param);
        result[lane] = InterpreterMemory::read(e.region, e.at, t);
        for (const Value &c : coordinates) {
            result[lane].undefined |= c.lane_or_scalar(lane).undefined;
        }
    }
    return result;
}

Value InterpreterTask::if_then_else(const Call *op) {
    const Value condition = eval(op->args[0]);
    if (condition.lanes() == 1) {
        Value result = condition[0].i         ? eval(op->args[1]) :
                       op->args.size() > 2 ? eval(op->args[2]) :
                                                Value(op->type);
        for (int i = 0; i < result.lanes(); i++) {
            result[i].undefined |= condition[0].undefined;
        }
        return result;
    }
    // Each branch is evaluated for its own lanes; loads of the others do not happen.
    std::vector<char> taken((size_t)condition.lanes());
    for (int i = 0; i < condition.lanes(); i++) {
        taken[(size_t)i] = condition[i].i != 0 && is_active(i, condition.lanes());
    }
    ScopedValue<const std::vector<char> *> outer(active, &taken);
    const Value t = eval(op->args[1]);
    for (int i = 0; i < condition.lanes(); i++) {
        taken[(size_t)i] = condition[i].i == 0;
    }
    const Value f = op->args.size() > 2 ? eval(op->args[2]) : Value(op->type);
    Value result(op->type);
    for (int i = 0; i < result.lanes(); i++) {
        result[i] = condition[i].i ? t[i] : f[i];
        result[i].undefined |= condition[i].undefined;
    }
    return result;
}

Value InterpreterTask::require(const Call *op) {
    const Value condition = eval(op->args[0]);
    for (int i = 0; i < condition.lanes(); i++) {
        if (!condition[i].i && is_active(i, condition.lanes())) {
            throw PipelineStop{(int)integer(op->args[2], "an error code")};
        }
    }
    return eval(op->args[1]);
}

std::string InterpreterTask::text_of(const Value &v) const {
    std::string text;
    for (int i = 0; i < v.lanes(); i++) {
        text += i ? ", " : "";
        const Type t = v.type.element_of();
        char buffer[400];
        if (t.is_float()) {
            snprintf(buffer, sizeof(buffer), t.bits() == 64 ? "%e" : "%f", v[i].f);
            text += buffer;
        } else if (t.is_handle()) {
            const uint64_t address = (uint64_t)v[i].i;
            auto known = std::find_if(state.strings.begin(), state.strings.end(),
                                      [&](const auto &s) { return s.second->address() == address; });
            if (known != state.strings.end()) {
                text += known->first;
            } else {
                snprintf(buffer, sizeof(buffer), "0x%llx", (unsigned long long)address);
                text += buffer;
            }
        } else {
            text += to_string(v[i].i);
        }
    }
    return v.lanes() == 1 ? text : "<" + text + ">";
}

Value InterpreterTask::stringify(const Call *op) {
    std::string text;
    for (const Expr &e : op->args) {
        text += text_of(eval(e));
    }
    return string_value(text);
}

// Fields one after another, each aligned to its size, as a C compiler lays them out.
Value InterpreterTask::make_struct(const Call *op) {
    std::vector<Value> fields;
    std::vector<uint64_t> offsets;
    uint64_t size = 0;
    for (const Expr &e : op->args) {
        fields.push_back(eval(e));
        const uint64_t bytes = (uint64_t)e.type().bytes();
        size = (size + bytes - 1) / bytes * bytes;
        offsets.push_back(size);
        size += bytes * (uint64_t)e.type().lanes();
    }
    if (fields.empty()) {
        return Value(op->type, Scalar());
    }
    MemoryRegion *region = state.memory.allocate("a structure", size, state.random);
    for (size_t i = 0; i < fields.size(); i++) {
        const Type t = fields[i].type.element_of();
        for (int lane = 0; lane < fields[i].lanes(); lane++) {
            uint8_t *at = region->base + offsets[i] + (uint64_t)lane * (uint64_t)t.bytes();
            InterpreterMemory::write(region, at, t, fields[i][lane]);
        }
    }
    return Value(op->type, Scalar::of_int((Int128)region->address()));
}

Value InterpreterTask::dynamic_shuffle(const Call *op) {
    const Value table = eval(op->args[0]), index = eval(op->args[1]);
    Value result(op->type);
    for (int i = 0; i < result.lanes(); i++) {
        if (index[i].i >= 0 && index[i].i < table.lanes()) {
            result[i] = table[(int)index[i].i];
            result[i].undefined |= index[i].undefined;
        } else {
            result[i] = from_bits(result.type.element_of(), state.random());
            result[i].undefined = true;
        }
    }
    return result;
}

// Out of range on either side: the last value.
Value InterpreterTask::mux(const Call *op) {
    const Value index = eval(op->args[0]);
    std::vector<Value> choices;
    for (size_t i = 1; i < op->args.size(); i++) {
        choices.push_back(eval(op->args[i]));
    }
    Value result(op->type);
    for (int i = 0; i < result.lanes(); i++) {
        const Scalar &k = index.lane_or_scalar(i);
        const size_t chosen = k.i < 0 || k.i >= (Int128)choices.size() ? choices.size() - 1 : (size_t)k.i;
        result[i] = choices[chosen].lane_or_scalar(i);
        result[i].undefined |= k.undefined;
    }
    return result;
}

Value InterpreterTask::intrinsic(const Call *op) {
    switch (op->intrinsic_op) {
    case Call::likely:
    case Call::likely_if_innermost:
    case Call::memoize_expr:
    case Call::promise_clamped:
    case Call::unsafe_promise_clamped:
    case Call::cuda_bypass_registers:
        return eval(op->args[0]);
    case Call::if_then_else:
    case Call::if_then_else_mask:
        return if_then_else(op);
    case Call::require:
    case Call::require_mask:
        return require(op);
    case Call::return_second:
        eval(op->args[0]);
        return eval(op->args[1]);
    case Call::undef:
        return undefined_value(op->type);
    case Call::stringify:
        return stringify(op);
    case Call::make_struct:
        return make_struct(op);
    case Call::dynamic_shuffle:
        return dynamic_shuffle(op);
    case Call::mux:
        return mux(op);
    case Call::random: {
        const Expr expansion = lower_random_value(op->type, op->args);
        return eval(expansion);
    }
    case Call::alloca: {
        const int64_t bytes = integer(op->args[0], "the size of an alloca");
        return Value(op->type, Scalar::of_int((Int128)state.memory
                                                  .allocate("an alloca", (uint64_t)std::max<int64_t>(0, bytes),
                                                            state.random)
                                                  ->address()));
    }
    case Call::size_of_halide_buffer_t:
        return Value(op->type, Scalar::of_int((Int128)sizeof(halide_buffer_t)));
    case Call::get_user_context:
        return Value(op->type, Scalar());
    case Call::select_mask: {
        const Value mask = eval(op->args[0]), t = eval(op->args[1]), f = eval(op->args[2]);
        Value result(op->type);
        for (int i = 0; i < result.lanes(); i++) {
            const Scalar &m = mask.lane_or_scalar(i);
            result[i] = m.i ? t[i] : f[i];
            result[i].undefined |= m.undefined;
        }
        return result;
    }
    // Remarks for the compiler, and effects that are not visible in values.
    case Call::prefetch:
    case Call::debug_to_file:
    case Call::declare_allocation:
    case Call::declare_box_required_at_root:
    case Call::declare_box_touched:
    case Call::declare_stage:
    case Call::skip_stages_marker:
    case Call::sliding_window_marker:
    case Call::specialization_branch_marker:
    case Call::add_image_checks_marker:
    case Call::profiling_enable_instance_marker:
    case Call::register_destructor:
    case Call::stream_store_fence: {
        Value result(op->type);
        for (int i = 0; i < result.lanes(); i++) {
            result[i] = op->type.is_float() ? Scalar::of_float(0) : Scalar();
        }
        return result;
    }
    case Call::pto_set_flag:
    case Call::pto_wait_flag:
    case Call::pto_pipe_barrier:
    case Call::pto_mem_bar:
        // Statements run one after another here, so all order that these ask for holds.
        return Value(op->type, Scalar());
    case Call::pto_block_idx:
    case Call::pto_block_num:
        return block_query(op);
    case Call::pto_mte_gm_ub:
    case Call::pto_mte_ub_gm:
        return pto_move(op);
    case Call::unreachable:
        throw InterpreterFault("what must not be reached was evaluated");
    case Call::signed_integer_overflow:
        throw InterpreterFault("a constant that overflowed was evaluated");
    default:
        break;
    }

    std::vector<Value> args;
    std::vector<Type> types;
    for (const Expr &e : op->args) {
        args.push_back(eval(e));
        types.push_back(e.type().element_of());
    }
    Value result(op->type);
    std::vector<Scalar> lane(args.size());
    for (int i = 0; i < result.lanes(); i++) {
        for (size_t j = 0; j < args.size(); j++) {
            lane[j] = args[j].lane_or_scalar(i);
        }
        const std::optional<Scalar> s = elementwise_intrinsic(op->intrinsic_op, op->type, types, lane);
        if (!s) {
            const Expr expansion = op->intrinsic_op == Call::IntrinsicOpCount ? Expr() : lower_intrinsic(op);
            if (!expansion.defined()) {
                throw InterpreterFault("the interpreter does not know the intrinsic " + op->name);
            }
            return eval(expansion);
        }
        result[i] = *s;
    }
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------

namespace {

struct ErrorFunction {
    const char *name;
    int code;
};

// By the names of their functions, without `halide_error_`; what differs by type has a suffix that is cut off.
const ErrorFunction error_functions[] = {
    {"explicit_bounds_too_small", halide_error_code_explicit_bounds_too_small},
    {"bad_type", halide_error_code_bad_type},
    {"bad_dimensions", halide_error_code_bad_dimensions},
    {"access_out_of_bounds", halide_error_code_access_out_of_bounds},
    {"buffer_allocation_too_large", halide_error_code_buffer_allocation_too_large},
    {"buffer_extents_negative", halide_error_code_buffer_extents_negative},
    {"buffer_extents_too_large", halide_error_code_buffer_extents_too_large},
    {"constraints_make_required_region_smaller", halide_error_code_constraints_make_required_region_smaller},
    {"constraint_violated", halide_error_code_constraint_violated},
    {"param_too_small", halide_error_code_param_too_small},
    {"param_too_large", halide_error_code_param_too_large},
    {"out_of_memory", halide_error_code_out_of_memory},
    {"buffer_argument_is_null", halide_error_code_buffer_argument_is_null},
    {"debug_to_file_failed", halide_error_code_debug_to_file_failed},
    {"unaligned_host_ptr", halide_error_code_unaligned_host_ptr},
    {"host_is_null", halide_error_code_host_is_null},
    {"bad_fold", halide_error_code_bad_fold},
    {"bad_extern_fold", halide_error_code_bad_extern_fold},
    {"fold_factor_too_small", halide_error_code_fold_factor_too_small},
    {"requirement_failed", halide_error_code_requirement_failed},
    {"specialize_fail", halide_error_code_specialize_fail},
    {"no_device_interface", halide_error_code_no_device_interface},
    {"device_interface_no_device", halide_error_code_device_interface_no_device},
    {"host_and_device_dirty", halide_error_code_host_and_device_dirty},
    {"buffer_is_null", halide_error_code_buffer_is_null},
    {"device_dirty_with_no_device_support", halide_error_code_device_dirty_with_no_device_support},
    {"storage_bound_too_small", halide_error_code_storage_bound_too_small},
    {"device_crop_failed", halide_error_code_device_crop_failed},
    {"split_factor_not_positive", halide_error_code_split_factor_not_positive},
    {"vscale_invalid", halide_error_code_vscale_invalid},
    {"streaming_vscale_invalid", halide_error_code_streaming_vscale_invalid},
    {"cannot_profile_pipeline", halide_error_code_cannot_profile_pipeline},
};

template<typename T>
T *pointer(const Value &v, const char *what) {
    T *p = (T *)(uintptr_t)(uint64_t)v[0].i;
    if (!p) {
        throw InterpreterFault(std::string(what) + " is null");
    }
    return p;
}

Value integer_value(Type t, int64_t v) {
    return Value(t, Scalar::of_int(v));
}

/// What compiled code computes by an algorithm of ours, in single precision also for halves; undefined for the rest.
Expr function_of_ours(const Call *op) {
    const bool is_exp = starts_with(op->name, "exp_"), is_log = starts_with(op->name, "log_");
    if (!(is_exp || is_log) || op->args.size() != 1 || op->type.bits() == 64) {
        return Expr();
    }
    const Expr x = cast(Float(32, op->type.lanes()), op->args[0]);
    return cast(op->type, is_exp ? halide_exp(x) : halide_log(x));
}

}  // namespace

Value InterpreterTask::error_call(const Call *op, const std::vector<Value> &args) {
    std::string name = op->name.substr(strlen("halide_error_"));
    for (const char *suffix : {"_i64", "_u64", "_f64"}) {
        if (ends_with(name, suffix)) {
            name = name.substr(0, name.size() - 4);
        }
    }
    std::string text;
    for (const Value &v : args) {
        text += (text.empty() ? "" : ", ") + text_of(v);
    }
    if (name == "requirement_failed" && args.size() >= 2) {
        state.error_message = "Requirement Failed: (" + text_of(args[0]) + ") " + text_of(args[1]);
    } else {
        state.error_message = op->name + "(" + text + ")";
    }
    if (name == "bounds_inference_call_failed" || name == "extern_stage_failed") {
        return integer_value(op->type, args.empty() ? -1 : (int64_t)args.back()[0].i);
    }
    for (const ErrorFunction &f : error_functions) {
        if (name == f.name) {
            return integer_value(op->type, f.code);
        }
    }
    return integer_value(op->type, halide_error_code_generic_error);
}

// The accessors of halide_buffer_t.
std::optional<Value> InterpreterTask::buffer_call(const Call *op, const std::vector<Value> &args) {
    const std::string &name = op->name;
    if (!starts_with(name, "_halide_buffer_") || args.empty()) {
        return std::nullopt;
    }
    auto is = [&](const char *n) { return name == n; };
    auto address = [&](const void *p) { return Value(op->type, Scalar::of_int((Int128)(uintptr_t)p)); };
    auto arg = [&](size_t i) { return (int64_t)args.at(i)[0].i; };
    // What is written into a structure is defined from then on.
    auto written = [&](const void *p) {
        MemoryRegion *region = state.memory.find((uint64_t)(uintptr_t)p);
        if (region) {
            std::fill(region->undefined.begin(), region->undefined.end(), 0);
        }
    };
    auto copy_shape = [&](halide_dimension_t *to, const halide_dimension_t *from, int dimensions) {
        for (int d = 0; from && d < dimensions; d++) {
            to[d] = from[d];
        }
        written(to);
    };

    if (is(Call::buffer_is_bounds_query)) {
        const auto *b = pointer<halide_buffer_t>(args[0], "a buffer");
        return integer_value(op->type, b->is_bounds_query());
    }
    if (is(Call::buffer_init)) {
        auto *b = pointer<halide_buffer_t>(args[0], "a buffer");
        memset((void *)b, 0, sizeof(*b));
        b->dim = (halide_dimension_t *)(uintptr_t)(uint64_t)arg(1);
        b->host = (uint8_t *)(uintptr_t)(uint64_t)arg(2);
        b->device = (uint64_t)arg(3);
        b->type = halide_type_t((halide_type_code_t)arg(5), (uint8_t)arg(6));
        b->dimensions = (int32_t)arg(7);
        copy_shape(b->dim, (const halide_dimension_t *)(uintptr_t)(uint64_t)arg(8), b->dimensions);
        b->flags = (uint64_t)arg(9);
        written(b);
        return address(b);
    }
    if (is(Call::buffer_init_from_buffer)) {
        auto *b = pointer<halide_buffer_t>(args[0], "a buffer");
        const auto *source = pointer<halide_buffer_t>(args[2], "a buffer");
        *b = *source;
        b->dim = (halide_dimension_t *)(uintptr_t)(uint64_t)arg(1);
        copy_shape(b->dim, source->dim, b->dimensions);
        written(b);
        return address(b);
    }
    if (is(Call::buffer_crop)) {
        // With or without the user context in front.
        const size_t first = args.size() >= 6 ? 1 : 0;
        auto *b = pointer<halide_buffer_t>(args[first], "a buffer");
        auto *shape = pointer<halide_dimension_t>(args[first + 1], "a shape");
        const auto *source = pointer<halide_buffer_t>(args[first + 2], "a buffer");
        const int32_t *min = (const int32_t *)(uintptr_t)(uint64_t)arg(first + 3);
        const int32_t *extent = (const int32_t *)(uintptr_t)(uint64_t)arg(first + 4);
        *b = *source;
        b->dim = shape;
        int64_t offset = 0;
        for (int d = 0; d < b->dimensions; d++) {
            shape[d] = source->dim[d];
            offset += ((int64_t)min[d] - source->dim[d].min) * source->dim[d].stride;
            shape[d].min = min[d];
            shape[d].extent = extent[d];
        }
        if (b->host) {
            b->host += offset * b->type.bytes();
        }
        written(b);
        written(shape);
        return address(b);
    }

    auto *b = pointer<halide_buffer_t>(args[0], "a buffer");
    auto dim = [&]() -> halide_dimension_t & {
        const int64_t d = arg(1);
        if (d < 0 || d >= b->dimensions) {
            throw InterpreterFault(name + " of dimension " + std::to_string(d) + " of a buffer that has " +
                                   std::to_string(b->dimensions));
        }
        return b->dim[d];
    };
    if (is(Call::buffer_get_dimensions)) {
        return integer_value(op->type, b->dimensions);
    }
    if (is(Call::buffer_get_min)) {
        return integer_value(op->type, dim().min);
    }
    if (is(Call::buffer_get_max)) {
        return integer_value(op->type, (int64_t)dim().min + dim().extent - 1);
    }
    if (is(Call::buffer_get_extent)) {
        return integer_value(op->type, dim().extent);
    }
    if (is(Call::buffer_get_stride)) {
        return integer_value(op->type, dim().stride);
    }
    if (is(Call::buffer_get_host)) {
        return address(b->host);
    }
    if (is(Call::buffer_get_device)) {
        return Value(op->type, Scalar::of_int((Int128)b->device));
    }
    if (is(Call::buffer_get_device_interface)) {
        return address(b->device_interface);
    }
    if (is(Call::buffer_get_shape)) {
        return address(b->dim);
    }
    if (is(Call::buffer_get_host_dirty)) {
        return integer_value(op->type, b->host_dirty());
    }
    if (is(Call::buffer_get_device_dirty)) {
        return integer_value(op->type, b->device_dirty());
    }
    if (is(Call::buffer_get_type)) {
        return Value(op->type, Scalar::of_int((Int128)(b->type.code | (uint32_t)b->type.bits << 8)));
    }
    if (is(Call::buffer_set_host_dirty)) {
        b->set_host_dirty(arg(1) != 0);
        return integer_value(op->type, 0);
    }
    if (is(Call::buffer_set_device_dirty)) {
        b->set_device_dirty(arg(1) != 0);
        return integer_value(op->type, 0);
    }
    if (is(Call::buffer_set_bounds)) {
        dim().min = (int32_t)arg(2);
        dim().extent = (int32_t)arg(3);
        return address(b);
    }
    if (starts_with(name, "_halide_buffer_retire_crop")) {
        return integer_value(op->type, 0);
    }
    return std::nullopt;
}

std::optional<Value> InterpreterTask::runtime_call(const Call *op, const std::vector<Value> &args) {
    const std::string &name = op->name;
    auto arg = [&](size_t i) { return (int64_t)args.at(i)[0].i; };
    if (name == "halide_print") {
        state.printed += text_of(args.at(0));
        return integer_value(op->type, 0);
    }
    if (name == "halide_malloc") {
        MemoryRegion *region = state.memory.allocate("halide_malloc", (uint64_t)arg(0), state.random);
        return Value(op->type, Scalar::of_int((Int128)region->address()));
    }
    if (name == "halide_free" || name == "halide_device_host_nop_free") {
        MemoryRegion *region = arg(0) ? state.memory.find((uint64_t)arg(0)) : nullptr;
        if (region && region->storage) {
            state.memory.release(region);
        }
        return integer_value(op->type, 0);
    }
    if (name == "halide_semaphore_init") {
        state.semaphores[(uint64_t)arg(0)] = arg(1);
        return integer_value(op->type, 0);
    }
    if (name == "halide_semaphore_release") {
        return integer_value(op->type, state.semaphores[(uint64_t)arg(0)] += arg(1));
    }
    if (name == "halide_semaphore_try_acquire") {
        int64_t &count = state.semaphores[(uint64_t)arg(0)];
        const bool enough = count >= arg(1);
        count -= enough ? arg(1) : 0;
        return integer_value(op->type, enough);
    }
    if (name == "halide_memoization_cache_lookup") {
        // Never found: the buffers get memory to be filled.
        const int64_t count = arg(3);
        auto **buffers = pointer<halide_buffer_t *>(args.at(4), "the list of memoized buffers");
        for (int64_t i = 0; i < count; i++) {
            halide_buffer_t *b = buffers[i];
            const uint64_t bytes = (uint64_t)b->size_in_bytes();
            MemoryRegion *region = state.memory.allocate("a memoized buffer", bytes, state.random);
            b->host = region->base;
        }
        return integer_value(op->type, 1);
    }
    static const char *const without_effect[] = {
        "halide_memoization_cache_store", "halide_memoization_cache_release",
        "halide_mutex_array_lock",        "halide_mutex_array_unlock",
        "halide_mutex_array_destroy",     "halide_mutex_lock",
        "halide_mutex_unlock",            "halide_trace_helper",
        "halide_copy_to_host",            "halide_copy_to_device",
        "halide_device_free",             "halide_device_sync",
        "halide_debug_to_file",           "halide_start_clock",
    };
    for (const char *n : without_effect) {
        if (name == n) {
            return integer_value(op->type, 0);
        }
    }
    if (name == "halide_mutex_array_create") {
        MemoryRegion *region = state.memory.allocate("mutexes", 8, state.random);
        return Value(op->type, Scalar::of_int((Int128)region->address()));
    }
    for (const char *prefix : {"halide_msan_", "halide_profiler_", "halide_qurt_", "_halide_prefetch"}) {
        if (starts_with(name, prefix)) {
            return integer_value(op->type, 0);
        }
    }
    return std::nullopt;
}

Value InterpreterTask::extern_call(const Call *op) {
    std::vector<Value> args;
    for (const Expr &e : op->args) {
        args.push_back(eval(e));
    }
    auto known = state.externs.find(op->name);
    if (known != state.externs.end()) {
        Value result(op->type);
        for (int lane = 0; lane < result.lanes(); lane++) {
            std::vector<Interpreter::Argument> scalars;
            bool undefined = false;
            for (const Value &v : args) {
                const Scalar &s = v.lane_or_scalar(lane);
                const Type t = v.type.element_of();
                undefined |= s.undefined;
                scalars.push_back(t.is_float() ? Interpreter::Argument{t, 0, s.f} :
                                                 Interpreter::Argument{t, (int64_t)wrap(t, s.i), 0});
            }
            const Interpreter::Argument r = known->second(scalars);
            result[lane] = op->type.is_float() ? Scalar::of_float(r.f, undefined) :
                                                 Scalar::of_int(wrap(op->type.element_of(), r.i), undefined);
        }
        return result;
    }
    if (starts_with(op->name, "halide_error")) {
        return error_call(op, args);
    }
    if (std::optional<Value> v = buffer_call(op, args)) {
        return *v;
    }
    if (std::optional<Value> v = runtime_call(op, args)) {
        return *v;
    }
    if (Expr e = function_of_ours(op); e.defined()) {
        return eval(e);
    }
    Value result(op->type);
    std::vector<Type> types;
    for (const Value &v : args) {
        types.push_back(v.type.element_of());
    }
    std::vector<Scalar> lane(args.size());
    for (int i = 0; i < result.lanes(); i++) {
        for (size_t j = 0; j < args.size(); j++) {
            lane[j] = args[j].lane_or_scalar(i);
        }
        const std::optional<Scalar> s = math_function(op->name, op->type, types, lane);
        if (!s) {
            throw InterpreterFault("the interpreter does not know the function " + op->name);
        }
        result[i] = *s;
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
