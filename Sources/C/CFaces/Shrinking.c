#include "CFaces.h"

#include <stdlib.h>
#include <string.h>

int CFaces_reduction(int width, int height, int enough)
{
    int64_t pixels = (int64_t) width * height;
    int reduction = 1;
    while ((int64_t) (reduction + 1) * (reduction + 1) * enough <= pixels && reduction < 255)
        reduction++;
    return reduction;
}

static unsigned luma_of(const uint8_t *pixel, int bands)
{
    unsigned luma = pixel[0];
    if (bands > 2) luma = (77U * pixel[0] + 150U * pixel[1] + 29U * pixel[2] + 128) >> 8;
    if (bands % 2 == 0) {
        unsigned alpha = pixel[bands - 1];
        luma = 255 - alpha + (luma * alpha + 127) / 255;
    }
    return luma;
}

/// Adds whole squares' samples of a row to `sums`.
static void add_row(const uint8_t *pixel, int bands, int count, uint16_t *sums)
{
    if (bands == 1)
        for (int x = 0; x < count; x++)
            sums[x] = (uint16_t) (sums[x] + pixel[x]);
    else
        for (int x = 0; x < count; x++)
            sums[x] = (uint16_t) (sums[x] + luma_of(pixel + x * bands, bands));
}

int CFaces_shrink(
    const uint8_t *samples, size_t stride, int width, int height, int bands, int reduction, uint8_t *luma)
{
    unsigned area = (unsigned) reduction * (unsigned) reduction;
    int count = width / reduction * reduction;
    // At most 255 rows of 255.
    uint16_t *sums = malloc((size_t) count * sizeof *sums + 1);
    if (!sums) return 0;
    for (int y = 0; y < height / reduction; y++) {
        memset(sums, 0, (size_t) count * sizeof *sums);
        for (int row = 0; row < reduction; row++)
            add_row(samples + (size_t) (y * reduction + row) * stride, bands, count, sums);
        for (int x = 0; x < count; x += reduction) {
            unsigned sum = area / 2;
            for (int column = 0; column < reduction; column++)
                sum += sums[x + column];
            *luma++ = (uint8_t) (sum / area);
        }
    }
    free(sums);
    return 1;
}
