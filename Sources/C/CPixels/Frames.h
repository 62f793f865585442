#ifndef CPixels_Frames_H
#define CPixels_Frames_H

#include "CPixels.h"

// The wider registers halve the time. Both variants compute the same values, because products and sums are rounded
// separately.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CPixels_WITHOUT_VARIANTS
#endif
#endif
#if defined(__x86_64__) && !defined(CPixels_WITHOUT_VARIANTS)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

static inline uint8_t *row_of(const CPixelsFrame *frame, int y)
{
    return frame->pixels + (size_t) y * frame->stride;
}

/// A traversal of a frame in the row order of the frame turned by an EXIF orientation: from `origin`, with these byte
/// distances between pixels and between rows.
typedef struct {
    uint8_t *origin;
    ptrdiff_t across, down;
} Walk;

static inline Walk walk_of(const CPixelsFrame *frame, int orientation)
{
    int is_from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    int is_from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    ptrdiff_t pixel = is_from_right ? -frame->bands : frame->bands, row = (is_from_bottom ? -1 : 1) * (ptrdiff_t) frame->stride;
    uint8_t *origin = row_of(frame, is_from_bottom ? frame->height - 1 : 0) + (is_from_right ? frame->width - 1 : 0) * frame->bands;
    return orientation < 5 ? (Walk) {origin, pixel, row} : (Walk) {origin, row, pixel};
}

static inline int has_alpha(const CPixelsFrame *frame)
{
    return frame->bands == 2 || frame->bands == 4;
}

/// Returns whether to stop before this row.
static inline int is_ended(CPixelsWatch watch, int y)
{
    return y % 32 == 0 && watch.should_stop(watch.context);
}

/// A value rounded and clipped to 8 bits.
static inline uint8_t in_eight_bits(float value)
{
    return (uint8_t) (value > 0 ? value < 255 ? value + 0.5f : 255 : 0);
}

/// Writes a pixel with premultiplied colors, 0 to 1; alpha is 0 to 255.
static inline void put_divided(uint8_t *pixel, const float *colors, float alpha, int bands)
{
    float factor = alpha > 0 ? 255 / alpha : 0;
    int band;
    pixel[bands - 1] = in_eight_bits(alpha);
    for (band = 0; band < bands - 1; band++)
        pixel[band] = pixel[bands - 1] ? in_eight_bits(colors[band] * factor) : 0;
}

#endif
