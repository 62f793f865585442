#include "CPixels.h"

#include "Frames.h"

#include <string.h>

/// Side of the squares in which a frame is turned, so that the rows of both frames stay in the level 1 cache.
enum { square = 16 };

/// Copies one square; `step` and `line` are the byte distances in the source between pixels and between rows of the
/// result.
static void turn_square(
    const CPixelsFrame *out, const uint8_t *origin, ptrdiff_t step, ptrdiff_t line, int left, int top)
{
    int right = left + square < out->width ? left + square : out->width;
    int bottom = top + square < out->height ? top + square : out->height;
    int bands = out->bands, x, y, band;
    for (y = top; y < bottom; y++) {
        uint8_t *to = row_of(out, y) + left * bands;
        const uint8_t *from = origin + y * line + left * step;
        for (x = left; x < right; x++, from += step)
            for (band = 0; band < bands; band++)
                *to++ = from[band];
    }
}

int CPixels_turn(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    Walk walk = walk_of(in, ((const CPixelsTurn *) settings)->orientation);
    int left, top;
    for (top = 0; top < out->height; top += square) {
        if (is_ended(watch, top))
            return -1;
        for (left = 0; left < out->width; left += square)
            turn_square(out, walk.origin, walk.across, walk.down, left, top);
    }
    return 0;
}
