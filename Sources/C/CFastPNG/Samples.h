#ifndef Samples_h
#define Samples_h

#include "CFastPNG.h"

/// How the samples of an image become bands of 8 bits.
typedef struct {
    const CFastPNGImage *image;
    /// The pixel of each sample of up to 8 bits, of a palette and of gray.
    uint8_t pixels[256][4];
    /// The transparent color, as samples have it.
    uint8_t transparent[6];
} Samples;

/// Whether the samples of a row are its pixels already.
int CFastPNG_are_pixels(const CFastPNGImage *image);

Samples CFastPNG_samples(const CFastPNGImage *image);

/// Makes `width` pixels, the first of them from the first sample of the row.
void CFastPNG_make_pixels(const Samples *samples, const uint8_t *row, int width, uint8_t *out);

#endif
