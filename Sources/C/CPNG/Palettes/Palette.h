#ifndef CPalettes_Palette_H
#define CPalettes_Palette_H

#include "CPalettes.h"

/// Packs a pixel's color: red, green, blue and alpha from the lowest byte to the highest.
static inline uint32_t color_of(const uint8_t *pixel, int bands)
{
    switch (bands) {
    case 1: return pixel[0] * 0x010101u | 0xFF000000u;
    case 2: return pixel[0] * 0x010101u | (uint32_t) pixel[1] << 24;
    case 3: return pixel[0] | (uint32_t) pixel[1] << 8 | (uint32_t) pixel[2] << 16 | 0xFF000000u;
    default: return pixel[0] | (uint32_t) pixel[1] << 8 | (uint32_t) pixel[2] << 16 | (uint32_t) pixel[3] << 24;
    }
}

/// Sorts the colors into the palette, and updates the indices, which refer to `colors`.
void CPalettes_sort(CPalettesIndexed *indexed, const uint32_t *colors, size_t pixel_count);

#endif
