#ifndef HALIDE_HALIDERUNTIMEHEXAGONDMA_H
#define HALIDE_HALIDERUNTIMEHEXAGONDMA_H

// Moving tiles between DDR and L2 of Hexagon by DMA.

#include "HalideRuntime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HALIDE_RUNTIME_HEXAGON_DMA

typedef enum {
    halide_hexagon_fmt_RawData,
    halide_hexagon_fmt_NV12,
    halide_hexagon_fmt_NV12_Y,
    halide_hexagon_fmt_NV12_UV,
    halide_hexagon_fmt_P010,
    halide_hexagon_fmt_P010_Y,
    halide_hexagon_fmt_P010_UV,
    halide_hexagon_fmt_TP10,
    halide_hexagon_fmt_TP10_Y,
    halide_hexagon_fmt_TP10_UV,
    halide_hexagon_fmt_NV124R,
    halide_hexagon_fmt_NV124R_Y,
    halide_hexagon_fmt_NV124R_UV
} halide_hexagon_image_fmt_t;

extern const struct halide_device_interface_t *halide_hexagon_dma_device_interface(void);

/// Makes host memory the device side of a buffer.
extern int halide_hexagon_dma_device_wrap_native(void *user_context, struct halide_buffer_t *buf, uint64_t mem);
extern int halide_hexagon_dma_device_detach_native(void *user_context, struct halide_buffer_t *buf);
extern int halide_hexagon_dma_allocate_engine(void *user_context, void **dma_engine);
extern int halide_hexagon_dma_deallocate_engine(void *user_context, void *dma_engine);
extern int halide_hexagon_dma_prepare_for_copy_to_host(void *user_context, struct halide_buffer_t *buf,
                                                       void *dma_engine, bool is_ubwc, halide_hexagon_image_fmt_t fmt);
extern int halide_hexagon_dma_prepare_for_copy_to_device(void *user_context, struct halide_buffer_t *buf,
                                                         void *dma_engine, bool is_ubwc,
                                                         halide_hexagon_image_fmt_t fmt);
extern int halide_hexagon_dma_unprepare(void *user_context, struct halide_buffer_t *buf);
extern int halide_hexagon_dma_power_mode_voting(void *user_context, int cornercase);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HALIDE_HALIDERUNTIMEHEXAGONDMA_H
