#include "CPixels.h"

#include "Frames.h"

#include <stdlib.h>
#include <string.h>

static int within(int value, int count)
{
    return value < 0 ? 0 : (value < count ? value : count - 1);
}

/// Adds `factor` times a row, shifted by `shift` pixels; the outermost pixels repeat beyond the edges.
WIDE static void add_row(const uint8_t *row, int width, int bands, int shift, float factor, float *restrict sums)
{
    int first = shift < 0 ? (-shift < width ? -shift : width) : 0;
    int end = shift > 0 ? (width > shift ? width - shift : 0) : width, x, band, i;
    for (x = 0; x < first; x++)
        for (band = 0; band < bands; band++)
            sums[x * bands + band] += factor * (float) row[within(x + shift, width) * bands + band];
    row += (ptrdiff_t) shift * bands;
    for (i = first * bands; i < end * bands; i++)
        sums[i] += factor * (float) row[i];
    row -= (ptrdiff_t) shift * bands;
    for (x = end > first ? end : first; x < width; x++)
        for (band = 0; band < bands; band++)
            sums[x * bands + band] += factor * (float) row[within(x + shift, width) * bands + band];
}

int CPixels_convolve(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsKernel *kernel = settings;
    int alpha = has_alpha(in), bands = in->bands, x, y, row, column, band;
    float *sums = malloc((size_t) in->width * (size_t) bands * sizeof *sums);
    if (!sums)
        return -1;
    for (y = 0; y < in->height; y++) {
        const uint8_t *from = row_of(in, y);
        uint8_t *to = row_of(out, y);
        // A kernel may have hundreds of factors, so each row is a lot of work.
        if (watch.should_stop(watch.context))
            break;
        memset(sums, 0, (size_t) in->width * (size_t) bands * sizeof *sums);
        for (row = 0; row < kernel->rows; row++) {
            const uint8_t *source = row_of(in, within(y + row - kernel->rows / 2, in->height));
            for (column = 0; column < kernel->columns; column++)
                add_row(source, in->width, bands, column - kernel->columns / 2,
                    kernel->factors[row * kernel->columns + column], sums);
        }
        for (x = 0; x < in->width; x++)
            for (band = 0; band < bands; band++)
                to[x * bands + band] =
                    alpha && band == bands - 1 ? from[x * bands + band] : in_eight_bits(sums[x * bands + band]);
    }
    free(sums);
    return y < in->height ? -1 : 0;
}
