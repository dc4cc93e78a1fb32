#include "interp/Arithmetic.h"
#include "interp/Task.h"
#include "support/Util.h"

#include <cstring>

namespace Halide {
namespace Internal {

void InterpreterState::add_buffer(const std::string &name, const Buffer<> &owner, halide_buffer_t *raw) {
    buffers[name] = {owner, raw};
    if (raw && raw->host && raw->number_of_elements() > 0) {
        memory.adopt(name, raw->begin(), (uint64_t)raw->size_in_bytes());
    }
}

Value InterpreterTask::string_value(const std::string &text) {
    MemoryRegion *&region = state.strings[text];
    if (!region) {
        region = state.memory.allocate("a string", text.size() + 1, state.random);
        memcpy(region->base, text.c_str(), text.size() + 1);
        region->undefined.clear();
    }
    return Value(type_of<const char *>(), Scalar::of_int((Int128)region->address()));
}

halide_buffer_t *InterpreterTask::find_buffer(const std::string &name, const Buffer<> &image,
                                              const Parameter &param) {
    auto it = state.buffers.find(name);
    if (it != state.buffers.end()) {
        return it->second.raw;
    }
    // Images that are embedded in the program, and inputs bound to it, need not be named from outside.
    Buffer<> bound = image;
    if (!bound.defined() && param.defined() && param.is_buffer()) {
        bound = param.buffer();
    }
    if (!bound.defined()) {
        return nullptr;
    }
    state.add_buffer(name, bound, bound.raw_buffer());
    return bound.raw_buffer();
}

// `b`, `b.buffer`, `b.min.0`, `b.extent.0`, `b.stride.0` of buffers that are known.
std::optional<Value> InterpreterTask::external_symbol(const std::string &name, Type type) {
    auto address = [&](const void *p) { return Value(type, Scalar::of_int((Int128)(uintptr_t)p)); };
    auto it = state.buffers.find(name);
    if (it != state.buffers.end()) {
        return address(it->second.raw ? it->second.raw->host : nullptr);
    }
    if (ends_with(name, ".buffer")) {
        it = state.buffers.find(name.substr(0, name.size() - 7));
        if (it != state.buffers.end()) {
            return address(it->second.raw);
        }
        return std::nullopt;
    }
    for (const char *field : {"min", "extent", "stride"}) {
        const std::string pattern = std::string(".") + field + ".";
        const size_t at = name.rfind(pattern);
        if (at == std::string::npos) {
            continue;
        }
        it = state.buffers.find(name.substr(0, at));
        const int d = atoi(name.c_str() + at + pattern.size());
        if (it == state.buffers.end() || !it->second.raw || d >= it->second.raw->dimensions) {
            continue;
        }
        const halide_dimension_t &dim = it->second.raw->dim[d];
        return Value(type, Scalar::of_int(*field == 'm' ? dim.min : *field == 'e' ? dim.extent : dim.stride));
    }
    return std::nullopt;
}

Value InterpreterTask::variable(const std::string &name, Type type, const Buffer<> &image, const Parameter &param) {
    auto it = values.find(name);
    if (it != values.end() && !it->second.empty()) {
        return it->second.back();
    }
    auto scalar = state.scalars.find(name);
    if (scalar != state.scalars.end()) {
        Value v(type);
        for (int i = 0; i < v.lanes(); i++) {
            v[i] = cast_scalar(type.element_of(), scalar->second.type, scalar->second[0]);
        }
        return v;
    }
    if (image.defined()) {
        find_buffer(image.name(), image, param);
    } else if (param.defined() && param.is_buffer()) {
        find_buffer(param.name(), image, param);
    } else if (param.defined() && param.has_scalar_value()) {
        return eval(param.scalar_expr());
    }
    if (std::optional<Value> v = external_symbol(name, type)) {
        return *v;
    }
    if (name == "__user_context") {
        return Value(type, Scalar());
    }
    throw InterpreterFault("nothing binds the name " + name);
}

InterpreterTask::ElementAddress InterpreterTask::element(const std::string &name,
                                                         const std::vector<Value> &coordinates, int lane,
                                                         int value_index, const Type &type, const char *what,
                                                         const Buffer<> &image, const Parameter &param) {
    auto describe = [&] {
        std::string text = std::string(what) + " " + name + "(";
        for (size_t d = 0; d < coordinates.size(); d++) {
            text += (d ? ", " : "") + to_string(coordinates[d].lane_or_scalar(lane).i);
        }
        return text + ")";
    };
    auto check_dimension = [&](size_t d, int64_t min, int64_t extent) {
        const Int128 c = coordinates[d].lane_or_scalar(lane).i;
        if (c < min || c >= (Int128)min + extent) {
            throw InterpreterFault(describe() + ": dimension " + std::to_string(d) + " goes from " +
                                   std::to_string(min) + " to " + to_string((Int128)min + extent - 1));
        }
        return c - min;
    };
    auto check_count = [&](size_t count) {
        if (coordinates.size() != count) {
            throw InterpreterFault(describe() + ": it has " + std::to_string(count) + " dimensions");
        }
    };
    Int128 offset = 0;

    auto it = realizations.find(name);
    if (it != realizations.end() && !it->second.empty()) {
        const Realization &r = *it->second.back();
        check_count(r.dims.size());
        if ((size_t)value_index >= r.memory.size() || r.types[(size_t)value_index].bytes() != type.bytes()) {
            throw InterpreterFault(describe() + ": it is realized with another type");
        }
        for (size_t d = 0; d < r.dims.size(); d++) {
            offset += check_dimension(d, r.dims[d].min, r.dims[d].extent) * r.dims[d].stride;
        }
        MemoryRegion *region = r.memory[(size_t)value_index];
        if (!region) {
            throw InterpreterFault(describe() + ": its realization was skipped");
        }
        const Int128 address = (Int128)region->address() + offset * type.bytes();
        return {region, InterpreterMemory::check(region, address, (uint64_t)type.bytes(), what, name, offset)};
    }

    // The elements of a tuple are buffers of their own.
    halide_buffer_t *buffer = find_buffer(name, image, param);
    if (!buffer) {
        buffer = find_buffer(name + "." + std::to_string(value_index), image, param);
    }
    if (!buffer) {
        throw InterpreterFault(describe() + ": nothing realizes it");
    }
    check_count((size_t)buffer->dimensions);
    if (buffer->type.bytes() != type.bytes()) {
        throw InterpreterFault(describe() + ": the buffer has another type");
    }
    for (size_t d = 0; d < coordinates.size(); d++) {
        offset += check_dimension(d, buffer->dim[d].min, buffer->dim[d].extent) * buffer->dim[d].stride;
    }
    MemoryRegion *region = buffer->host ? state.memory.find((uint64_t)(uintptr_t)buffer->host) : nullptr;
    if (!region) {
        throw InterpreterFault(describe() + ": the buffer has no host memory");
    }
    const Int128 address = (Int128)(uintptr_t)buffer->host + offset * type.bytes();
    return {region, InterpreterMemory::check(region, address, (uint64_t)type.bytes(), what, name, offset)};
}

}  // namespace Internal
}  // namespace Halide
