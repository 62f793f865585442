#ifndef Colors_h
#define Colors_h

#include <stdint.h>

/// Converts `count` samples of each BT.601 plane to red, green and blue.
void CPlanarShim_pixels_of_row(
    const uint8_t *luma, const uint8_t *blue, const uint8_t *red, int is_limited, int count, uint8_t *pixels);

#endif
