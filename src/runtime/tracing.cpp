// Trace events: as text through halide_print, or as binary packets to a file.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

WEAK halide_trace_t custom_trace = halide_default_trace;
WEAK int32_t trace_ids = 1;
/// Keeps packets and lines of different threads apart.
WEAK halide_mutex trace_lock = {};
/// -1: not decided yet, 0: text.
WEAK int trace_fd = -1;
/// What HL_TRACE_FILE opened.
WEAK void *trace_file = nullptr;

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

namespace {

bool has_value(const halide_trace_event_t *e) {
    return e->event == halide_trace_load || e->event == halide_trace_store;
}

const char *event_name(halide_trace_event_code_t event) {
    switch (event) {
    case halide_trace_load:
        return "Load";
    case halide_trace_store:
        return "Store";
    case halide_trace_begin_realization:
        return "Begin realization";
    case halide_trace_end_realization:
        return "End realization";
    case halide_trace_produce:
        return "Produce";
    case halide_trace_end_produce:
        return "End produce";
    case halide_trace_consume:
        return "Consume";
    case halide_trace_end_consume:
        return "End consume";
    case halide_trace_begin_pipeline:
        return "Begin pipeline";
    case halide_trace_end_pipeline:
        return "End pipeline";
    case halide_trace_tag:
        return "Tag";
    case halide_trace_begin_parallel_task:
        return "Begin parallel task";
    case halide_trace_end_parallel_task:
        return "End parallel task";
    }
    return "Unknown event";
}

template <typename T>
T read(const void *p, int i) {
    T v;
    memcpy(&v, (const char *)p + i * sizeof(T), sizeof(T));
    return v;
}

void print_value(Text &t, const halide_type_t &type, const void *p, int lane) {
    switch (type.code) {
    case halide_type_int:
        switch (type.bytes()) {
        case 1:
            t << (int64_t)read<int8_t>(p, lane);
            break;
        case 2:
            t << (int64_t)read<int16_t>(p, lane);
            break;
        case 4:
            t << (int64_t)read<int32_t>(p, lane);
            break;
        default:
            t << read<int64_t>(p, lane);
        }
        break;
    case halide_type_uint:
        switch (type.bytes()) {
        case 1:
            t << (uint64_t)read<uint8_t>(p, lane);
            break;
        case 2:
            t << (uint64_t)read<uint16_t>(p, lane);
            break;
        case 4:
            t << (uint64_t)read<uint32_t>(p, lane);
            break;
        default:
            t << read<uint64_t>(p, lane);
        }
        break;
    case halide_type_float:
        if (type.bits == 16) {
            t.fixed(halide_float16_bits_to_double(read<uint16_t>(p, lane)));
        } else if (type.bits == 32) {
            t.fixed(read<float>(p, lane));
        } else {
            t << read<double>(p, lane);
        }
        break;
    case halide_type_bfloat: {
        const uint32_t bits = (uint32_t)read<uint16_t>(p, lane) << 16;
        t.fixed(read<float>(&bits, 0));
        break;
    }
    case halide_type_handle:
        t << read<const void *>(p, lane);
        break;
    }
}

template <typename Print>
void print_lanes(Text &t, int lanes, Print print) {
    if (lanes > 1) {
        t << "<";
    }
    for (int l = 0; l < lanes; l++) {
        if (l > 0) {
            t << ", ";
        }
        print(l);
    }
    if (lanes > 1) {
        t << ">";
    }
}

void print_event(void *user_context, const halide_trace_event_t *e) {
    Text t;
    const int lanes = e->lanes > 1 ? e->lanes : 1;
    t << event_name(e->event) << " " << e->func << "." << e->value_index << "(";
    for (int d = 0; d < e->dimensions / lanes; d++) {
        if (d > 0) {
            t << ", ";
        }
        print_lanes(t, lanes, [&](int l) { t << e->coordinates[d * lanes + l]; });
    }
    t << ")";
    if (has_value(e) && e->value) {
        t << " = ";
        print_lanes(t, lanes, [&](int l) { print_value(t, e->type, e->value, l); });
    }
    if (e->trace_tag && *e->trace_tag) {
        t << " tag = \"" << e->trace_tag << "\"";
    }
    t << "\n";
    Lock hold(trace_lock);
    halide_print(user_context, t.str());
}

/// Whether everything could be written.
bool write_all(int fd, const void *data, size_t bytes) {
    while (bytes > 0) {
        const halide_ssize_t n = write(fd, data, bytes);
        if (n <= 0) {
            return false;
        }
        data = (const char *)data + n;
        bytes -= n;
    }
    return true;
}

int write_packet(void *user_context, int fd, const halide_trace_event_t *e, int32_t id) {
    const size_t coordinate_bytes = e->dimensions * sizeof(int32_t);
    const size_t value_bytes = has_value(e) ? (size_t)e->lanes * e->type.bytes() : 0;
    const char *tag = e->trace_tag ? e->trace_tag : "";
    const size_t func_bytes = strlen(e->func) + 1, tag_bytes = strlen(tag) + 1;
    const size_t used = sizeof(halide_trace_packet_t) + coordinate_bytes + value_bytes + func_bytes + tag_bytes;
    const size_t total = (used + 3) & ~(size_t)3;

    char local[4096];
    char *bytes = total <= sizeof(local) ? local : (char *)malloc(total);
    if (!bytes) {
        return halide_error_out_of_memory(user_context);
    }
    memset(bytes, 0, total);
    halide_trace_packet_t *p = (halide_trace_packet_t *)bytes;
    p->size = (uint32_t)total;
    p->event = e->event;
    p->parent_id = e->parent_id;
    p->id = id;
    p->dimensions = e->dimensions;
    if (has_value(e)) {
        p->value_index = e->value_index;
        p->type_code = e->type.code;
        p->type_bits = e->type.bits;
        p->lanes = (uint16_t)e->lanes;
    } else if (e->event == halide_trace_begin_parallel_task) {
        p->thread_id = e->thread_id;
    }
    char *at = bytes + sizeof(halide_trace_packet_t);
    if (e->coordinates) {
        memcpy(at, e->coordinates, coordinate_bytes);
    }
    at += coordinate_bytes;
    if (e->value) {
        memcpy(at, e->value, value_bytes);
    }
    at += value_bytes;
    memcpy(at, e->func, func_bytes);
    memcpy(at + func_bytes, tag, tag_bytes);

    bool ok;
    {
        Lock hold(trace_lock);
        ok = write_all(fd, bytes, total);
    }
    if (bytes != local) {
        free(bytes);
    }
    if (!ok) {
        halide_error(user_context, "Could not write to the trace file");
        return halide_error_code_trace_failed;
    }
    return id;
}

}  // namespace

extern "C" {

WEAK int halide_get_trace_file(void *user_context) {
    int fd = __atomic_load_n(&trace_fd, __ATOMIC_ACQUIRE);
    if (fd >= 0) {
        return fd;
    }
    const char *failed_to_open = nullptr;
    {
        Lock hold(trace_lock);
        if (trace_fd < 0) {
            const char *name = getenv("HL_TRACE_FILE");
            trace_file = name ? fopen(name, "ab") : nullptr;
            failed_to_open = name && !trace_file ? name : nullptr;
            __atomic_store_n(&trace_fd, trace_file ? fileno(trace_file) : 0, __ATOMIC_RELEASE);
        }
        fd = trace_fd;
    }
    if (failed_to_open) {
        Text t;
        t << "Could not open the trace file " << failed_to_open;
        halide_error(user_context, t.str());
    }
    return fd;
}

WEAK void halide_set_trace_file(int fd) {
    __atomic_store_n(&trace_fd, fd, __ATOMIC_RELEASE);
}

WEAK int halide_shutdown_trace(void) {
    Lock hold(trace_lock);
    if (!trace_file) {
        return 0;
    }
    const int result = fclose(trace_file);
    trace_file = nullptr;
    trace_fd = 0;
    return result == 0 ? 0 : halide_error_code_trace_failed;
}

WEAK int32_t halide_default_trace(void *user_context, const halide_trace_event_t *e) {
    const int32_t id = __atomic_fetch_add(&trace_ids, 1, __ATOMIC_RELAXED);
    const int fd = halide_get_trace_file(user_context);
    if (fd > 0) {
        return write_packet(user_context, fd, e, id);
    }
    print_event(user_context, e);
    return id;
}

WEAK int32_t halide_trace(void *user_context, const halide_trace_event_t *e) {
    return custom_trace(user_context, e);
}

WEAK halide_trace_t halide_set_custom_trace(halide_trace_t trace) {
    return exchange(custom_trace, trace ? trace : halide_default_trace);
}

WEAK int32_t halide_trace_helper(void *user_context, const char *func, void *value, int32_t *coords, int type_code,
                                 int type_bits, int type_lanes, int event, int parent_id, int value_index,
                                 int dimensions, const char *trace_tag) {
    halide_trace_event_t e;
    e.func = func;
    e.value = value;
    e.coordinates = coords;
    e.trace_tag = trace_tag;
    e.type = halide_type_t((halide_type_code_t)type_code, (uint8_t)type_bits);
    e.lanes = type_lanes;
    e.event = (halide_trace_event_code_t)event;
    e.parent_id = parent_id;
    e.thread_id = halide_current_thread_id();
    e.value_index = value_index;
    e.dimensions = dimensions;
    halide_msan_annotate_memory_is_initialized(user_context, &e, sizeof(e));
    halide_msan_annotate_memory_is_initialized(user_context, value, (uint64_t)type_lanes * e.type.bytes());
    halide_msan_annotate_memory_is_initialized(user_context, coords, (uint64_t)dimensions * sizeof(int32_t));
    return halide_trace(user_context, &e);
}

__attribute__((destructor)) static void close_trace_file_at_exit() {
    halide_shutdown_trace();
}

}  // extern "C"
