#include "CPlanar.h"

#include <stdlib.h>
#include <string.h>

// The stabilizing constants of structural similarity, times 256 because the sums over 16 samples are not divided. They
// are smaller than usual: with the usual ones, losses in smooth areas count too little.
static const float mean_constant = 256 * 6.5025f;
static const float variance_constant = 256 * 11.7f;

/// Sums over squares of two by two samples of two images.
typedef struct {
    int32_t *one;
    int32_t *other;
    /// Sums of the squares of both.
    int32_t *squares;
    int32_t *products;
} Sums;

static Sums sums_at(int32_t *memory, int count)
{
    Sums sums = {memory, memory + count, memory + 2 * (size_t) count, memory + 3 * (size_t) count};
    return sums;
}

static void add_squares(const uint8_t *a, const uint8_t *b, size_t a_stride, size_t b_stride, Sums sums, int count)
{
    int x;
    for (x = 0; x < count; x++) {
        int a0 = a[2 * x], a1 = a[2 * x + 1], a2 = a[a_stride + 2 * x], a3 = a[a_stride + 2 * x + 1];
        int b0 = b[2 * x], b1 = b[2 * x + 1], b2 = b[b_stride + 2 * x], b3 = b[b_stride + 2 * x + 1];
        sums.one[x] = a0 + a1 + a2 + a3;
        sums.other[x] = b0 + b1 + b2 + b3;
        sums.squares[x] = a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3 + b0 * b0 + b1 * b1 + b2 * b2 + b3 * b3;
        sums.products[x] = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3;
    }
}

/// Squares of each window's dissimilarity; a window is two squares of each of two rows.
static void compare(Sums upper, Sums lower, float *lacks, int count)
{
    int x;
    for (x = 0; x < count; x++) {
        int32_t a = upper.one[x] + upper.one[x + 1] + lower.one[x] + lower.one[x + 1];
        int32_t b = upper.other[x] + upper.other[x + 1] + lower.other[x] + lower.other[x + 1];
        int32_t squares = upper.squares[x] + upper.squares[x + 1] + lower.squares[x] + lower.squares[x + 1];
        int32_t products = upper.products[x] + upper.products[x + 1] + lower.products[x] + lower.products[x + 1];
        float variances = (float) (16 * squares - a * a - b * b) + variance_constant;
        float covariance = (float) (2 * (16 * products - a * b)) + variance_constant;
        float means = (float) (a * a + b * b) + mean_constant;
        float product = (float) (2 * a * b) + mean_constant;
        float lack = 1 - covariance * product / (variances * means);
        lacks[x] = lack * lack;
    }
}

/// Sets the scale so that 0.98 is about two points of SSIMULACRA2 below quality 80 (docs/quality.md).
static const double Scale = 0.6;

double CPlanar_dissimilarity(const CPlanarPlane *one, const CPlanarPlane *other)
{
    int across = one->width / 2, down = one->height / 2, y, x;
    double sum = 0;
    int32_t *memory;
    float *lacks;
    if (across < 2 || down < 2)
        return 1;
    memory = malloc((size_t) across * (8 * sizeof *memory + sizeof *lacks));
    if (!memory)
        return 1;
    lacks = (float *) (memory + 8 * (size_t) across);
    for (y = 0; y < down; y++) {
        Sums upper = sums_at(memory + (y % 2 ? 0 : 4) * (size_t) across, across);
        Sums lower = sums_at(memory + (y % 2 ? 4 : 0) * (size_t) across, across);
        add_squares(one->samples + 2 * (size_t) y * one->stride, other->samples + 2 * (size_t) y * other->stride,
            one->stride, other->stride, lower, across);
        if (y == 0)
            continue;
        compare(upper, lower, lacks, across - 1);
        for (x = 0; x < across - 1; x++)
            sum += lacks[x];
    }
    free(memory);
    return Scale * sum / ((double) (across - 1) * (down - 1));
}

void CPlanar_component(const uint8_t *pixels, int bands, int kind, int is_limited, const CPlanarPlane *plane)
{
    // JFIF's matrix in 65536ths, and the offset of the sums.
    static const int factors[3][3] = {{19595, 38470, 7471}, {-11059, -21709, 32768}, {32768, -27439, -5329}};
    const int *factor = factors[kind];
    int start = kind ? (128 << 16) + 32767 : 32768, least = kind ? 128 * (255 - 224) : 16 * 255, range = kind ? 224 : 219;
    int x, y, has_alpha = bands == 2 || bands == 4;
    for (y = 0; y < plane->height; y++) {
        uint8_t *row = plane->samples + (size_t) y * plane->stride;
        for (x = 0; x < plane->width; x++, pixels += bands) {
            int value = bands < 3 ? pixels[0] : (factor[0] * pixels[0] + factor[1] * pixels[1] + factor[2] * pixels[2] + start) >> 16;
            if (has_alpha)
                value = (value * pixels[bands - 1] + 128 * (255 - pixels[bands - 1]) + 127) / 255;
            row[x] = (uint8_t) (is_limited ? (least + range * value + 127) / 255 : value);
        }
    }
}
