#ifndef CPixels_Frames_H
#define CPixels_Frames_H

#include "CPixels.h"

// The wider registers halve the time. Both variants compute the same values, because products and sums are rounded apart.
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

static inline int has_alpha(const CPixelsFrame *frame)
{
    return frame->bands == 2 || frame->bands == 4;
}

/// Whether to stop before this row.
static inline int is_ended(CPixelsWatch watch, int y)
{
    return y % 32 == 0 && watch.should_stop(watch.context);
}

/// A value rounded and clipped to 8 bits.
static inline uint8_t in_eight_bits(float value)
{
    return (uint8_t) (value > 0 ? value < 255 ? value + 0.5f : 255 : 0);
}

/// Writes a pixel whose colours have been multiplied by alpha, 0 to 1; alpha is 0 to 255.
static inline void put_divided(uint8_t *pixel, const float *colors, float alpha, int bands)
{
    float factor = alpha > 0 ? 255 / alpha : 0;
    int band;
    pixel[bands - 1] = in_eight_bits(alpha);
    for (band = 0; band < bands - 1; band++)
        pixel[band] = pixel[bands - 1] ? in_eight_bits(colors[band] * factor) : 0;
}

#endif
