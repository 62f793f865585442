#ifndef Colors_h
#define Colors_h

#include "CPlanar.h"

/// Converts `count` samples of each BT.601 plane to red, green and blue.
void CPlanar_pixels_of_row(
    const uint8_t *luma, const uint8_t *blue, const uint8_t *red, int is_limited, int count, uint8_t *pixels);

/// Writes a row of pixels to the target's luma, and the row of chroma that it completes. Rows come in order, and `sums`
/// has room for three numbers for each chroma sample, which persist between rows.
void CPlanar_planes_of_row(const uint8_t *pixels, const CPlanarColorTarget *target, int row, uint16_t *sums);

#endif
