#ifndef CPalettes_Palette_H
#define CPalettes_Palette_H

#include "CPalettes.h"

/// A pixel's color as a number: red, green, blue and alpha in its bytes from the lowest to the highest.
static inline uint32_t color_of(const uint8_t *pixel, int bands)
{
    switch (bands) {
    case 1: return pixel[0] * 0x010101u | 0xFF000000u;
    case 2: return pixel[0] * 0x010101u | (uint32_t) pixel[1] << 24;
    case 3: return pixel[0] | (uint32_t) pixel[1] << 8 | (uint32_t) pixel[2] << 16 | 0xFF000000u;
    default: return pixel[0] | (uint32_t) pixel[1] << 8 | (uint32_t) pixel[2] << 16 | (uint32_t) pixel[3] << 24;
    }
}

/// Puts the colors into the palette in its order, and replaces the indices, which are places among `colors`.
void CPalettes_sort(CPalettesIndexed *indexed, const uint32_t *colors, size_t pixel_count);

#endif
