// Buffers on devices: checks, and calls through the table of the device API. Copies on the host.
#include "runtime_internal.h"

using namespace Halide::Runtime::Internal;

namespace Halide {
namespace Runtime {
namespace Internal {

/// Guards the state of buffers while they are copied between host and device.
WEAK halide_mutex device_copy_lock = {};
WEAK int gpu_device = 0;
WEAK bool gpu_device_is_set = false;
WEAK bool reuse_device_allocations = true;
WEAK halide_mutex allocation_pools_lock = {};
WEAK halide_device_allocation_pool *allocation_pools = nullptr;

namespace {

struct CopyLoops {
    static constexpr int max_dims = 16;
    int dims = 0;
    int64_t extent[max_dims], src_stride[max_dims], dst_stride[max_dims];
};

void copy_loops(const CopyLoops &l, int d, const uint8_t *src, uint8_t *dst, size_t run) {
    if (d < 0) {
        memmove(dst, src, run);
        return;
    }
    for (int64_t i = 0; i < l.extent[d]; i++) {
        copy_loops(l, d - 1, src + i * l.src_stride[d], dst + i * l.dst_stride[d], run);
    }
}

}  // namespace

WEAK void copy_host_to_host(const halide_buffer_t *src, const halide_buffer_t *dst) {
    const int64_t bytes = src->type.bytes();
    CopyLoops loops;
    int64_t src_offset = 0, dst_offset = 0;
    for (int d = 0; d < src->dimensions && d < dst->dimensions; d++) {
        const halide_dimension_t &s = src->dim[d], &t = dst->dim[d];
        const int64_t s_end = (int64_t)s.min + s.extent, t_end = (int64_t)t.min + t.extent;
        const int64_t begin = s.min > t.min ? s.min : t.min, end = s_end < t_end ? s_end : t_end;
        if (end <= begin) {
            return;
        }
        src_offset += (begin - s.min) * s.stride * bytes;
        dst_offset += (begin - t.min) * t.stride * bytes;
        if (end - begin == 1) {
            continue;
        }
        // Sorted by the stride of the source, the smallest first.
        const int64_t s_stride = s.stride * bytes, t_stride = t.stride * bytes;
        int at = loops.dims++;
        const auto magnitude = [](int64_t v) { return v < 0 ? -v : v; };
        for (; at > 0 && magnitude(loops.src_stride[at - 1]) > magnitude(s_stride); at--) {
            loops.extent[at] = loops.extent[at - 1];
            loops.src_stride[at] = loops.src_stride[at - 1];
            loops.dst_stride[at] = loops.dst_stride[at - 1];
        }
        loops.extent[at] = end - begin;
        loops.src_stride[at] = s_stride;
        loops.dst_stride[at] = t_stride;
    }
    // Dimensions that are dense in both become one run of bytes.
    size_t run = bytes;
    int dense = 0;
    while (dense < loops.dims && loops.src_stride[dense] == (int64_t)run && loops.dst_stride[dense] == (int64_t)run) {
        run *= loops.extent[dense++];
    }
    for (int i = dense; i < loops.dims; i++) {
        loops.extent[i - dense] = loops.extent[i];
        loops.src_stride[i - dense] = loops.src_stride[i];
        loops.dst_stride[i - dense] = loops.dst_stride[i];
    }
    copy_loops(loops, loops.dims - dense - 1, src->host + src_offset, dst->host + dst_offset, run);
}

/// 0, or the error of an inconsistent buffer.
WEAK int check_buffer(void *uc, const halide_buffer_t *buf, const char *routine) {
    if (!buf) {
        return halide_error_buffer_is_null(uc, routine);
    }
    if (buf->device && !buf->device_interface) {
        return halide_error_no_device_interface(uc);
    }
    if (buf->device_interface && !buf->device) {
        return halide_error_device_interface_no_device(uc);
    }
    if (buf->host_dirty() && buf->device_dirty()) {
        return halide_error_host_and_device_dirty(uc);
    }
    return 0;
}

WEAK int fail_with(void *uc, int code, const char *what) {
    halide_error(uc, what);
    return code;
}

WEAK int copy_to_host_locked(void *uc, halide_buffer_t *buf) {
    if (!buf->device_dirty()) {
        return 0;
    }
    const halide_device_interface_t *i = buf->device_interface;
    const int r = i->impl ? i->impl->copy_to_host(uc, buf) : i->copy_to_host(uc, buf);
    if (r != 0) {
        return fail_with(uc, halide_error_code_copy_to_host_failed,
                         "Copying a buffer from the device to the host failed");
    }
    buf->set_device_dirty(false);
    return 0;
}

WEAK int device_malloc_locked(void *uc, halide_buffer_t *buf, const halide_device_interface_t *i) {
    if (buf->device_interface && buf->device_interface != i) {
        return fail_with(uc, halide_error_code_incompatible_device_interface,
                         "The buffer has an allocation of another device API");
    }
    if (buf->device) {
        return 0;
    }
    const int r = i->impl ? i->impl->device_malloc(uc, buf) : i->device_malloc(uc, buf, i);
    return r == 0 ? 0 : fail_with(uc, halide_error_code_device_malloc_failed, "Allocating memory on the device failed");
}

WEAK int copy_to_device_locked(void *uc, halide_buffer_t *buf, const halide_device_interface_t *i) {
    if (!i) {
        i = buf->device_interface;
    }
    if (!i) {
        return halide_error_no_device_interface(uc);
    }
    if (buf->device_interface && buf->device_interface != i) {
        // Data moves to the other device by way of the host.
        int r = copy_to_host_locked(uc, buf);
        r = r ? r : halide_device_free(uc, buf);
        if (r != 0) {
            return r;
        }
        buf->set_host_dirty(true);
    }
    if (!buf->device) {
        const int r = device_malloc_locked(uc, buf, i);
        if (r != 0) {
            return r;
        }
    }
    if (!buf->host_dirty()) {
        return 0;
    }
    const int r = i->impl ? i->impl->copy_to_device(uc, buf) : i->copy_to_device(uc, buf, i);
    if (r != 0) {
        return fail_with(uc, halide_error_code_copy_to_device_failed,
                         "Copying a buffer from the host to the device failed");
    }
    buf->set_host_dirty(false);
    return 0;
}

}  // namespace Internal
}  // namespace Runtime
}  // namespace Halide

extern "C" {

WEAK void halide_device_release(void *uc, const halide_device_interface_t *i) {
    if (!i) {
        return;
    }
    if (i->impl) {
        i->impl->device_release(uc);
    } else {
        i->device_release(uc, i);
    }
}

WEAK int halide_copy_to_host(void *uc, halide_buffer_t *buf) {
    const int r = check_buffer(uc, buf, "halide_copy_to_host");
    if (r != 0 || !buf->device_dirty()) {
        return r;
    }
    Lock hold(device_copy_lock);
    return copy_to_host_locked(uc, buf);
}

WEAK int halide_copy_to_device(void *uc, halide_buffer_t *buf, const halide_device_interface_t *i) {
    const int r = check_buffer(uc, buf, "halide_copy_to_device");
    if (r != 0) {
        return r;
    }
    Lock hold(device_copy_lock);
    return copy_to_device_locked(uc, buf, i);
}

WEAK int halide_device_sync(void *uc, halide_buffer_t *buf) {
    const int r = check_buffer(uc, buf, "halide_device_sync");
    if (r != 0 || !buf->device_interface) {
        return r;
    }
    const halide_device_interface_t *i = buf->device_interface;
    const int s = i->impl ? i->impl->device_sync(uc, buf) : i->device_sync(uc, buf);
    return s == 0 ? 0 : fail_with(uc, halide_error_code_device_sync_failed, "Waiting for the device failed");
}

WEAK int halide_device_sync_global(void *uc, const halide_device_interface_t *i) {
    if (!i) {
        return halide_error_no_device_interface(uc);
    }
    const int s = i->impl ? i->impl->device_sync(uc, nullptr) : i->device_sync(uc, nullptr);
    return s == 0 ? 0 : fail_with(uc, halide_error_code_device_sync_failed, "Waiting for the device failed");
}

WEAK int halide_device_malloc(void *uc, halide_buffer_t *buf, const halide_device_interface_t *i) {
    const int r = check_buffer(uc, buf, "halide_device_malloc");
    if (r != 0) {
        return r;
    }
    return i ? device_malloc_locked(uc, buf, i) : halide_error_no_device_interface(uc);
}

WEAK int halide_device_free(void *uc, halide_buffer_t *buf) {
    const int r = check_buffer(uc, buf, "halide_device_free");
    if (r != 0) {
        return r;
    }
    if (buf->device_interface) {
        const halide_device_interface_t *i = buf->device_interface;
        const int f = i->impl ? i->impl->device_free(uc, buf) : i->device_free(uc, buf);
        if (f != 0) {
            return fail_with(uc, halide_error_code_device_free_failed, "Freeing memory on the device failed");
        }
    }
    buf->set_device_dirty(false);
    return 0;
}

WEAK void halide_device_free_as_destructor(void *uc, void *buf) {
    (void)halide_device_free(uc, (halide_buffer_t *)buf);
}

WEAK int halide_device_and_host_malloc(void *uc, halide_buffer_t *buf, const halide_device_interface_t *i) {
    const int r = check_buffer(uc, buf, "halide_device_and_host_malloc");
    if (r != 0) {
        return r;
    }
    if (!i) {
        return halide_error_no_device_interface(uc);
    }
    if (buf->device_interface && buf->device_interface != i) {
        return fail_with(uc, halide_error_code_incompatible_device_interface,
                         "The buffer has an allocation of another device API");
    }
    const int m = i->impl ? i->impl->device_and_host_malloc(uc, buf) : i->device_and_host_malloc(uc, buf, i);
    return m == 0
               ? 0
               : fail_with(uc, halide_error_code_device_malloc_failed, "Allocating memory on device and host failed");
}

WEAK int halide_device_and_host_free(void *uc, halide_buffer_t *buf) {
    const int r = check_buffer(uc, buf, "halide_device_and_host_free");
    if (r != 0) {
        return r;
    }
    if (const halide_device_interface_t *i = buf->device_interface) {
        const int f = i->impl ? i->impl->device_and_host_free(uc, buf) : i->device_and_host_free(uc, buf);
        if (f != 0) {
            return fail_with(uc, halide_error_code_device_free_failed, "Freeing memory on device and host failed");
        }
    } else if (buf->host) {
        // The plain host memory of a buffer that never reached a device.
        halide_free(uc, buf->host);
        buf->host = nullptr;
    }
    buf->set_host_dirty(false);
    buf->set_device_dirty(false);
    return 0;
}

WEAK void halide_device_and_host_free_as_destructor(void *uc, void *buf) {
    (void)halide_device_and_host_free(uc, (halide_buffer_t *)buf);
}

WEAK int halide_device_wrap_native(void *uc, halide_buffer_t *buf, uint64_t handle,
                                   const halide_device_interface_t *i) {
    const int r = check_buffer(uc, buf, "halide_device_wrap_native");
    if (r != 0) {
        return r;
    }
    if (!i) {
        return halide_error_no_device_interface(uc);
    }
    if (buf->device_interface && buf->device_interface != i) {
        return fail_with(uc, halide_error_code_incompatible_device_interface,
                         "The buffer has an allocation of another device API");
    }
    const int w = i->impl ? i->impl->wrap_native(uc, buf, handle) : i->wrap_native(uc, buf, handle, i);
    return w == 0
               ? 0
               : fail_with(uc, halide_error_code_device_wrap_native_failed, "Wrapping a native device handle failed");
}

WEAK int halide_device_detach_native(void *uc, halide_buffer_t *buf) {
    const int r = check_buffer(uc, buf, "halide_device_detach_native");
    if (r != 0 || !buf->device_interface) {
        return r;
    }
    const halide_device_interface_t *i = buf->device_interface;
    const int d = i->impl ? i->impl->detach_native(uc, buf) : i->detach_native(uc, buf);
    return d == 0 ? 0
                  : fail_with(uc, halide_error_code_device_detach_native_failed,
                              "Detaching a native device handle failed");
}

WEAK int halide_device_crop(void *uc, const halide_buffer_t *src, halide_buffer_t *dst) {
    Lock hold(device_copy_lock);
    if (!src->device) {
        return 0;
    }
    if (dst->device) {
        return fail_with(uc, halide_error_code_device_crop_failed, "The destination of a crop has a device allocation");
    }
    const halide_device_interface_t *i = src->device_interface;
    const int c = i->impl ? i->impl->device_crop(uc, src, dst) : i->device_crop(uc, src, dst);
    return c == 0 ? 0 : halide_error_device_crop_failed(uc);
}

WEAK int halide_device_slice(void *uc, const halide_buffer_t *src, int slice_dim, int slice_pos, halide_buffer_t *dst) {
    Lock hold(device_copy_lock);
    if (!src->device) {
        return 0;
    }
    if (dst->device) {
        return fail_with(uc, halide_error_code_device_crop_failed,
                         "The destination of a slice has a device allocation");
    }
    const halide_device_interface_t *i = src->device_interface;
    const int c = i->impl ? i->impl->device_slice(uc, src, slice_dim, slice_pos, dst)
                          : i->device_slice(uc, src, slice_dim, slice_pos, dst);
    return c == 0 ? 0 : halide_error_device_crop_failed(uc);
}

WEAK int halide_device_release_crop(void *uc, halide_buffer_t *buf) {
    if (!buf->device) {
        return 0;
    }
    Lock hold(device_copy_lock);
    const halide_device_interface_t *i = buf->device_interface;
    const int r = i->impl ? i->impl->device_release_crop(uc, buf) : i->device_release_crop(uc, buf);
    buf->device = 0;
    buf->device_interface = nullptr;
    return r;
}

// A device copies from its own memory or from the host's, to either; what it cannot do goes by way of the host.
WEAK int halide_buffer_copy(void *uc, halide_buffer_t *src, const halide_device_interface_t *dst_interface,
                            halide_buffer_t *dst) {
    int r = check_buffer(uc, src, "halide_buffer_copy source");
    r = r ? r : check_buffer(uc, dst, "halide_buffer_copy destination");
    if (r != 0) {
        return r;
    }
    if (src->type != dst->type || src->dimensions != dst->dimensions || src->dimensions > CopyLoops::max_dims) {
        return fail_with(uc, halide_error_code_device_buffer_copy_failed,
                         "halide_buffer_copy needs two buffers of the same type and number of dimensions");
    }
    Lock hold(device_copy_lock);
    if (dst_interface && dst->device_interface && dst->device_interface != dst_interface) {
        return fail_with(uc, halide_error_code_incompatible_device_interface,
                         "The destination has an allocation of another device API");
    }
    if (dst_interface && !dst->device) {
        r = device_malloc_locked(uc, dst, dst_interface);
        if (r != 0) {
            return r;
        }
    }
    const bool from_device = src->device && (src->device_dirty() || !src->host);
    const halide_device_interface_t *able = from_device ? src->device_interface : dst_interface;
    if (able && (from_device || dst_interface)) {
        r = able->impl ? able->impl->buffer_copy(uc, src, dst_interface, dst)
                       : able->buffer_copy(uc, src, dst_interface, dst);
        if (r == 0) {
            dst->set_device_dirty(dst_interface != nullptr);
            dst->set_host_dirty(dst_interface == nullptr);
            return 0;
        }
        if (r != halide_error_code_incompatible_device_interface) {
            return fail_with(uc, halide_error_code_device_buffer_copy_failed, "Copying between devices failed");
        }
    }
    r = copy_to_host_locked(uc, src);
    r = r ? r : copy_to_host_locked(uc, dst);
    if (r != 0) {
        return r;
    }
    if (!src->host || !dst->host) {
        return halide_error_host_is_null(uc, "halide_buffer_copy");
    }
    copy_host_to_host(src, dst);
    dst->set_host_dirty(true);
    return dst_interface ? copy_to_device_locked(uc, dst, dst_interface) : 0;
}

WEAK void halide_set_gpu_device(int n) {
    gpu_device = n;
    gpu_device_is_set = true;
}

WEAK int halide_get_gpu_device(void *uc) {
    if (!gpu_device_is_set) {
        const char *s = getenv("HL_GPU_DEVICE");
        int n = 0;
        for (; s && *s >= '0' && *s <= '9'; s++) {
            n = n * 10 + (*s - '0');
            gpu_device_is_set = true;
        }
        gpu_device = gpu_device_is_set ? n : -1;
        gpu_device_is_set = true;
    }
    return gpu_device;
}

WEAK int halide_reuse_device_allocations(void *uc, bool flag) {
    __atomic_store_n(&reuse_device_allocations, flag, __ATOMIC_RELEASE);
    int result = 0;
    if (!flag) {
        Lock hold(allocation_pools_lock);
        for (halide_device_allocation_pool *p = allocation_pools; p; p = p->next) {
            const int r = p->release_unused(uc);
            result = r ? r : result;
        }
    }
    return result;
}

WEAK bool halide_can_reuse_device_allocations(void *uc) {
    return __atomic_load_n(&reuse_device_allocations, __ATOMIC_ACQUIRE);
}

WEAK void halide_register_device_allocation_pool(halide_device_allocation_pool *pool) {
    Lock hold(allocation_pools_lock);
    pool->next = allocation_pools;
    allocation_pools = pool;
}

}  // extern "C"
