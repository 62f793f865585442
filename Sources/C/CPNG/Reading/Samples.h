#ifndef Samples_h
#define Samples_h

#include "CFastPNG.h"

/// How the samples of an image become 8-bit bands.
typedef struct {
    const CFastPNGImage *image;
    /// The pixel for each sample of up to 8 bits, of a palette or gray.
    uint8_t pixels[256][4];
    /// The transparent color, as samples.
    uint8_t transparent[6];
} Samples;

/// Returns whether the samples of a row are already its pixels.
int CFastPNG_are_pixels(const CFastPNGImage *image);

Samples CFastPNG_samples(const CFastPNGImage *image);

/// Converts `width` pixels, starting with the first sample of the row.
void CFastPNG_make_pixels(const Samples *samples, const uint8_t *row, int width, uint8_t *out);

#endif
