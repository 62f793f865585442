#include "CPixels.h"

#include "Frames.h"
#include "Gamut.h"

#include <string.h>

/// Pixels of a row that are computed together: a multiple of every vector's length.
enum { block = 64 };

typedef float Row[block];

static inline float clipped(float value)
{
    float least = value > 0 ? value : 0;
    return least < 255 ? least : 255;
}

/// Returns the sum of products for one component.
static inline float product(const float *factors, float summand, float red, float green, float blue)
{
    return clipped(factors[0] * red + factors[1] * green + factors[2] * blue + summand);
}

/// Applies one stage to colors in rows.
static inline void multiply(const CPixelsStage *stage, float *restrict red, float *restrict green, float *restrict blue)
{
    const float *f = stage->factors;
    int i;
    for (i = 0; i < block; i++) {
        float r = red[i], g = green[i], b = blue[i];
        red[i] = product(f, f[9], r, g, b);
        green[i] = product(f + 3, f[10], r, g, b);
        blue[i] = product(f + 6, f[11], r, g, b);
    }
}

/// The sample of black, and the samples per step of 0 to 255.
typedef struct {
    float black, luma, chroma;
} Levels;

static const Levels full = {0, 1, 1}, limited = {16, 219.f / 255, 224.f / 255};

/// A block of a row: its samples, which the result replaces, and its chroma.
typedef struct {
    uint8_t luma[block], bluish[block], reddish[block];
    int step;
    Levels levels;
    /// The chroma of the results, summed over rows that share samples.
    float blue_sums[block], red_sums[block];
} Block;

static inline void widen(const uint8_t *from, int step, float share, float *restrict to)
{
    int i;
    if (step == 1) {
        for (i = 0; i < block; i++)
            to[i] = ((float) from[i] - 128) * share;
    } else {
        for (i = 0; i < block / 2; i++) {
            float value = ((float) from[i] - 128) * share;
            to[2 * i] = value;
            to[2 * i + 1] = value;
        }
    }
}

/// Converts a block's samples to colors.
WIDE static void widen_colors(const Block *part, float *restrict red, float *restrict green, float *restrict blue)
{
    Row bluish, reddish;
    Levels levels = part->levels;
    float share = 1 / levels.luma;
    int i;
    widen(part->bluish, part->step, 1 / levels.chroma, bluish);
    widen(part->reddish, part->step, 1 / levels.chroma, reddish);
    for (i = 0; i < block; i++) {
        float luma = ((float) part->luma[i] - levels.black) * share;
        red[i] = clipped(luma + 1.402f * reddish[i]);
        green[i] = clipped(luma - 0.344136f * bluish[i] - 0.714136f * reddish[i]);
        blue[i] = clipped(luma + 1.772f * bluish[i]);
    }
}

WIDE static void change(const CPixelsGamut *gamut, const CPixelsStages *stages, Block *part)
{
    Row red, green, blue;
    int32_t bytes[block];
    Levels levels = part->levels;
    int i, number;
    widen_colors(part, red, green, blue);
    if (gamut)
        CPixels_change_gamut_of(gamut, red, green, blue, block);
    for (number = 0; number < stages->count; number++)
        multiply(&stages->stages[number], red, green, blue);
    for (i = 0; i < block; i++) {
        float luma = 0.299f * red[i] + 0.587f * green[i] + 0.114f * blue[i];
        bytes[i] = (int32_t) (luma * levels.luma + levels.black + 0.5f);
        part->blue_sums[i] += (blue[i] - luma) * 0.564334f * levels.chroma;
        part->red_sums[i] += (red[i] - luma) * 0.713267f * levels.chroma;
    }
    for (i = 0; i < block; i++)
        part->luma[i] = (uint8_t) bytes[i];
}

/// Writes the means of chroma over `width` pixels and `rows` rows.
WIDE static void store_chroma(const float *sums, int width, int rows, int step, uint8_t *to)
{
    float share = 1 / (float) (step * rows);
    int32_t bytes[block];
    int count = step == 2 ? width / 2 : width, i;
    for (i = 0; i < block / step; i++) {
        float value = (step == 2 ? sums[2 * i] + sums[2 * i + 1] : sums[i]) * share + 128.5f;
        bytes[i] = (int32_t) (value < 255 ? value : 255);
    }
    for (i = 0; i < count; i++)
        to[i] = (uint8_t) bytes[i];
    // The last column of an odd width has its own samples.
    if (step == 2 && width % 2)
        to[count] = in_eight_bits(sums[width - 1] * 2 * share + 128);
}

/// Copies the samples of a row into a block; samples beyond the edge are not used.
static void fill(uint8_t *to, const uint8_t *from, int count)
{
    memcpy(to, from, (size_t) count);
    if (count < block)
        memset(to + count, 128, (size_t) (block - count));
}

int CPixels_color_planes(const CPixelsGamut *gamut, const CPixelsStages *stages, const CPixelsPlanes *planes, CPixelsWatch watch)
{
    int step = planes->step, top, left, y;
    Block part;
    if (!stages->count && !gamut)
        return 0;
    part.step = step;
    part.levels = planes->is_limited ? limited : full;
    for (top = 0; top < planes->height; top += step) {
        int rows = planes->height - top < step ? planes->height - top : step;
        uint8_t *bluish = planes->samples[1] + (size_t) (top / step) * planes->strides[1];
        uint8_t *reddish = planes->samples[2] + (size_t) (top / step) * planes->strides[1];
        if (top % 32 == 0 && watch.should_stop(watch.context))
            return -1;
        for (left = 0; left < planes->width; left += block) {
            int width = planes->width - left < block ? planes->width - left : block;
            int samples = (width + step - 1) / step;
            memset(part.blue_sums, 0, sizeof part.blue_sums);
            memset(part.red_sums, 0, sizeof part.red_sums);
            fill(part.bluish, bluish + left / step, samples);
            fill(part.reddish, reddish + left / step, samples);
            for (y = top; y < top + rows; y++) {
                uint8_t *row = planes->samples[0] + (size_t) y * planes->strides[0] + left;
                fill(part.luma, row, width);
                change(gamut, stages, &part);
                memcpy(row, part.luma, (size_t) width);
            }
            store_chroma(part.blue_sums, width, rows, step, bluish + left / step);
            store_chroma(part.red_sums, width, rows, step, reddish + left / step);
        }
    }
    return 0;
}
