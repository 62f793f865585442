#include "CPixels.h"

#include "Frames.h"

#include <math.h>
#include <stdlib.h>

/// Four components: premultiplied colors, and alpha.
typedef float Pixel __attribute__((vector_size(16)));

/// Pixels of the border color around the image, as many as a filter reads beyond it.
enum { margin = 3 };

/// Returns the image in floating point with margins of one color.
static Pixel *widened(const CPixelsFrame *frame, Pixel color, size_t *row_length)
{
    size_t width = (size_t) frame->width + 2 * margin, height = (size_t) frame->height + 2 * margin, index;
    Pixel *pixels = aligned_alloc(16, width * height * sizeof *pixels);
    int bands = frame->bands, x, y;
    if (!pixels)
        return NULL;
    for (index = 0; index < width * height; index++)
        pixels[index] = color;
    for (y = 0; y < frame->height; y++) {
        const uint8_t *from = row_of(frame, y);
        Pixel *to = pixels + (size_t) (y + margin) * width + margin;
        for (x = 0; x < frame->width; x++, from += bands) {
            float alpha = has_alpha(frame) ? from[bands - 1] : 255, share = alpha / 255;
            if (bands < 3)
                to[x] = (Pixel) {from[0] * share, 0, 0, alpha};
            else
                to[x] = (Pixel) {from[0] * share, from[1] * share, from[2] * share, alpha};
        }
    }
    *row_length = width;
    return pixels;
}

/// Computes Catmull-Rom's weights of the two pixels before a position and the two after it.
static void weigh(float place, float *weights)
{
    float square = place * place, cube = square * place;
    weights[0] = 0.5f * (-cube + 2 * square - place);
    weights[1] = 0.5f * (3 * cube - 5 * square + 2);
    weights[2] = 0.5f * (-3 * cube + 4 * square + place);
    weights[3] = 0.5f * (cube - square);
}

static Pixel value_at(const Pixel *pixels, size_t row_length, float x, float y)
{
    float across[4], down[4];
    int left = (int) floorf(x), top = (int) floorf(y), row;
    const Pixel *from = pixels + (ptrdiff_t) (top - 1) * (ptrdiff_t) row_length + (left - 1);
    Pixel sum = {0, 0, 0, 0};
    weigh(x - (float) left, across);
    weigh(y - (float) top, down);
    for (row = 0; row < 4; row++, from += row_length)
        sum += down[row] * (from[0] * across[0] + from[1] * across[1] + from[2] * across[2] + from[3] * across[3]);
    return sum;
}

/// Writes a pixel, clipping the filter's overshoot.
static void put(uint8_t *to, Pixel value, int bands)
{
    float alpha = value[3], colors[3] = {value[0], value[1], value[2]};
    int band;
    if (alpha > 255) {
        for (band = 0; band < 3; band++)
            colors[band] *= 255 / alpha;
        alpha = 255;
    }
    if (bands == 2 || bands == 4)
        put_divided(to, colors, alpha, bands);
    else
        for (band = 0; band < bands; band++)
            to[band] = in_eight_bits(colors[band]);
}

int CPixels_rotate(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsRotation *rotation = settings;
    double cosine = cos(rotation->angle), sine = sin(rotation->angle);
    const uint8_t *around = rotation->color;
    float share = around[3] / 255.0f;
    Pixel color = {around[0] * share, around[1] * share, around[2] * share, around[3]};
    size_t row_length = 0;
    Pixel *pixels = widened(in, color, &row_length);
    int x, y;
    if (!pixels)
        return -1;
    for (y = 0; y < out->height; y++) {
        uint8_t *to = row_of(out, y);
        double down = y + 0.5 - out->height / 2.0;
        if (is_ended(watch, y))
            break;
        for (x = 0; x < out->width; x++, to += out->bands) {
            double across = x + 0.5 - out->width / 2.0;
            double from_x = across * cosine + down * sine + in->width / 2.0 - 0.5;
            double from_y = down * cosine - across * sine + in->height / 2.0 - 0.5;
            if (from_x <= -2 || from_y <= -2 || from_x >= in->width + 1 || from_y >= in->height + 1)
                put(to, color, out->bands);
            else
                put(to, value_at(pixels, row_length, (float) from_x + margin, (float) from_y + margin), out->bands);
        }
    }
    free(pixels);
    return y < out->height ? -1 : 0;
}
