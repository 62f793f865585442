#include "CPixels.h"

#include "Frames.h"

#include <string.h>

/// Pixels that are computed together, in a form that the compiler vectorizes.
enum { block = 64 };

/// Replaces each component but alpha by its entry in `table`.
static void look_up(const uint8_t *table, const uint8_t *from, uint8_t *to, int width, int bands)
{
    int alpha = bands == 2 || bands == 4, x, count = width * bands;
    if (!alpha) {
        for (x = 0; x < count; x++)
            to[x] = table[from[x]];
    } else if (bands == 2) {
        for (x = 0; x < count; x += 2) {
            to[x] = table[from[x]];
            to[x + 1] = from[x + 1];
        }
    } else {
        for (x = 0; x < count; x += 4) {
            to[x] = table[from[x]];
            to[x + 1] = table[from[x + 1]];
            to[x + 2] = table[from[x + 2]];
            to[x + 3] = from[x + 3];
        }
    }
}

static float clipped(float value)
{
    float least = value > 0 ? value : 0;
    return least < 255 ? least : 255;
}

static void multiply(const float *matrix, float *restrict red, float *restrict green, float *restrict blue)
{
    int i;
    for (i = 0; i < block; i++) {
        float r = red[i], g = green[i], b = blue[i];
        red[i] = clipped(matrix[0] * r + matrix[1] * g + matrix[2] * b);
        green[i] = clipped(matrix[3] * r + matrix[4] * g + matrix[5] * b);
        blue[i] = clipped(matrix[6] * r + matrix[7] * g + matrix[8] * b);
    }
}

/// Applies a scale and an offset, and rounds.
static void finish(const CPixelsColors *colors, const float *restrict values, int32_t *restrict bytes)
{
    int i;
    for (i = 0; i < block; i++)
        bytes[i] = (int32_t) (clipped(values[i] * colors->scale + colors->offset) + 0.5f);
}

static void transform(const CPixelsColors *colors, const uint8_t *from, uint8_t *to, int width, int bands)
{
    float red[block] = {0}, green[block] = {0}, blue[block] = {0};
    int32_t bytes[3][block];
    int start, i, matrix;
    for (start = 0; start < width; start += block, from += block * bands, to += block * bands) {
        int count = width - start < block ? width - start : block;
        for (i = 0; i < count; i++) {
            red[i] = colors->table[from[i * bands]];
            green[i] = colors->table[from[i * bands + 1]];
            blue[i] = colors->table[from[i * bands + 2]];
        }
        for (matrix = 0; matrix < colors->count; matrix++)
            multiply(colors->matrices[matrix], red, green, blue);
        finish(colors, red, bytes[0]);
        finish(colors, green, bytes[1]);
        finish(colors, blue, bytes[2]);
        for (i = 0; i < count; i++) {
            to[i * bands] = (uint8_t) bytes[0][i];
            to[i * bands + 1] = (uint8_t) bytes[1][i];
            to[i * bands + 2] = (uint8_t) bytes[2][i];
        }
        if (bands == 4)
            for (i = 0; i < count; i++)
                to[i * 4 + 3] = from[i * 4 + 3];
    }
}

int CPixels_color(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsColors *colors = settings;
    uint8_t table[256];
    int y, value;
    for (value = 0; value < 256; value++)
        table[value] = in_eight_bits(colors->table[value] * colors->scale + colors->offset);
    for (y = 0; y < in->height; y++) {
        if (is_ended(watch, y))
            return -1;
        // Equal components stay equal: the rows of all matrices here sum to one.
        if (colors->count && in->bands >= 3)
            transform(colors, row_of(in, y), row_of(out, y), in->width, in->bands);
        else
            look_up(table, row_of(in, y), row_of(out, y), in->width, in->bands);
    }
    return 0;
}
