#include "CPNGShim.h"

static int is_opaque(const uint8_t *pixels, size_t count, size_t bands)
{
    for (size_t index = 0; index < count; index++)
        if (pixels[index * bands + bands - 1] != 255)
            return 0;
    return 1;
}

static int is_grey(const uint8_t *pixels, size_t count, size_t bands)
{
    for (size_t index = 0; index < count; index++, pixels += bands)
        if (pixels[0] != pixels[1] || pixels[0] != pixels[2])
            return 0;
    return 1;
}

int CPNGShim_least_bands(const void *pixels, size_t count, int bands)
{
    int alpha = bands % 2 == 0 && !is_opaque(pixels, count, (size_t) bands);
    int colors = bands < 3 || is_grey(pixels, count, (size_t) bands) ? 1 : 3;
    return colors + alpha;
}

void CPNGShim_narrow(void *to, int to_bands, const void *pixels, size_t count, int bands)
{
    const uint8_t *from = pixels;
    uint8_t *place = to;
    int colors = to_bands < 3 ? 1 : 3;
    for (size_t index = 0; index < count; index++, from += bands) {
        for (int band = 0; band < colors; band++)
            *place++ = from[band];
        if (to_bands % 2 == 0)
            *place++ = from[bands - 1];
    }
}
