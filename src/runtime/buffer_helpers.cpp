// Accessors of halide_buffer_t for compiled code. Small, so that they inline there.
#include "runtime_internal.h"

namespace {

halide_buffer_t *copy_shape(halide_buffer_t *dst, halide_dimension_t *dst_shape, const halide_dimension_t *shape) {
    dst->dim = dst_shape;
    for (int i = 0; shape != dst_shape && i < dst->dimensions; i++) {
        dst_shape[i] = shape[i];
    }
    return dst;
}

}  // namespace

extern "C" {

WEAK halide_dimension_t *_halide_buffer_get_shape(halide_buffer_t *buf) {
    return buf->dim;
}

WEAK int _halide_buffer_get_dimensions(const halide_buffer_t *buf) {
    return buf->dimensions;
}

WEAK uint8_t *_halide_buffer_get_host(const halide_buffer_t *buf) {
    return buf->host;
}

WEAK uint64_t _halide_buffer_get_device(const halide_buffer_t *buf) {
    return buf->device;
}

WEAK const halide_device_interface_t *_halide_buffer_get_device_interface(const halide_buffer_t *buf) {
    return buf->device_interface;
}

WEAK int _halide_buffer_get_min(const halide_buffer_t *buf, int d) {
    return buf->dim[d].min;
}

WEAK int _halide_buffer_get_max(const halide_buffer_t *buf, int d) {
    return buf->dim[d].min + buf->dim[d].extent - 1;
}

WEAK int _halide_buffer_get_extent(const halide_buffer_t *buf, int d) {
    return buf->dim[d].extent;
}

WEAK int _halide_buffer_get_stride(const halide_buffer_t *buf, int d) {
    return buf->dim[d].stride;
}

WEAK int _halide_buffer_set_host_dirty(halide_buffer_t *buf, bool val) {
    buf->set_host_dirty(val);
    return 0;
}

WEAK int _halide_buffer_set_device_dirty(halide_buffer_t *buf, bool val) {
    buf->set_device_dirty(val);
    return 0;
}

WEAK bool _halide_buffer_get_host_dirty(const halide_buffer_t *buf) {
    return buf->host_dirty();
}

WEAK bool _halide_buffer_get_device_dirty(const halide_buffer_t *buf) {
    return buf->device_dirty();
}

WEAK uint32_t _halide_buffer_get_type(const halide_buffer_t *buf) {
    return buf->type.as_u32();
}

WEAK bool _halide_buffer_is_bounds_query(const halide_buffer_t *buf) {
    return buf->is_bounds_query();
}

WEAK halide_buffer_t *_halide_buffer_init(halide_buffer_t *dst, void *dst_shape, void *host, uint64_t device,
                                          const halide_device_interface_t *device_interface, int type_code,
                                          int type_bits, int dimensions, halide_dimension_t *shape, uint64_t flags) {
    dst->device = device;
    dst->device_interface = device_interface;
    dst->host = (uint8_t *)host;
    dst->flags = flags;
    dst->type = halide_type_t((halide_type_code_t)type_code, (uint8_t)type_bits);
    dst->dimensions = dimensions;
    dst->padding = nullptr;
    return copy_shape(dst, (halide_dimension_t *)dst_shape, shape);
}

WEAK halide_buffer_t *_halide_buffer_init_from_buffer(halide_buffer_t *dst, halide_dimension_t *dst_shape,
                                                      const halide_buffer_t *src) {
    *dst = *src;
    return copy_shape(dst, dst_shape, src->dim);
}

WEAK halide_buffer_t *_halide_buffer_crop(void *user_context, halide_buffer_t *dst, halide_dimension_t *dst_shape,
                                          const halide_buffer_t *src, const int *min, const int *extent) {
    *dst = *src;
    dst->dim = dst_shape;
    int64_t offset = 0;
    for (int i = 0; i < dst->dimensions; i++) {
        dst_shape[i] = src->dim[i];
        offset += ((int64_t)min[i] - src->dim[i].min) * src->dim[i].stride;
        dst_shape[i].min = min[i];
        dst_shape[i].extent = extent[i];
    }
    if (dst->host) {
        dst->host += offset * src->type.bytes();
    }
    if (dst->device_interface) {
        dst->device_interface->device_crop(user_context, src, dst);
    }
    return dst;
}

WEAK halide_buffer_t *_halide_buffer_set_bounds(halide_buffer_t *buf, int dim, int min, int extent) {
    buf->dim[dim].min = min;
    buf->dim[dim].extent = extent;
    return buf;
}

// An extern stage may have put its result on the device: bring it into the allocation that the crop belongs to.
// `obj` points to a pair (crop, parent).
WEAK int _halide_buffer_retire_crop_after_extern_stage(void *user_context, void *obj) {
    halide_buffer_t **buffers = (halide_buffer_t **)obj;
    halide_buffer_t *crop = buffers[0], *parent = buffers[1];
    if (!crop->device) {
        return 0;
    }
    if (!parent->device) {
        // The stage made its own device allocation.
        if (crop->device_dirty()) {
            const int result = halide_copy_to_host(user_context, crop);
            if (result != 0) {
                return result;
            }
        }
        return halide_device_free(user_context, crop);
    }
    if (crop->device_dirty()) {
        parent->set_device_dirty();
    }
    return halide_device_release_crop(user_context, crop);
}

// The same for a null-terminated list of pairs.
WEAK int _halide_buffer_retire_crops_after_extern_stage(void *user_context, void *obj) {
    int result = 0;
    for (halide_buffer_t **pair = (halide_buffer_t **)obj; *pair; pair += 2) {
        const int r = _halide_buffer_retire_crop_after_extern_stage(user_context, pair);
        result = result ? result : r;
    }
    return result;
}

}  // extern "C"
