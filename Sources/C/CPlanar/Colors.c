#include "Colors.h"

#include <string.h>

/// The factors from red, green and blue to luma and chroma, in 65536ths.
typedef struct {
    int luma_start, luma[3], blue[3], red[3];
} Matrix;

static const Matrix *matrix_of(int is_limited)
{
    // JFIF's matrix, and the same for limited range.
    static const Matrix full = {0, {19595, 38470, 7471}, {-11059, -21709, 32768}, {32768, -27439, -5329}};
    static const Matrix limited = {16, {16829, 33039, 6416}, {-9714, -19070, 28784}, {28784, -24103, -4681}};
    return is_limited ? &limited : &full;
}

static inline uint8_t in_eight_bits(int value)
{
    return (uint8_t) (value < 0 ? 0 : (value > 255 ? 255 : value));
}

static void write_luma(const uint8_t *pixels, int width, const Matrix *matrix, uint8_t *luma)
{
    for (int x = 0; x < width; x++, pixels += 3) {
        int sum = pixels[0] * matrix->luma[0] + pixels[1] * matrix->luma[1] + pixels[2] * matrix->luma[2];
        luma[x] = in_eight_bits((sum + (matrix->luma_start << 16) + (1 << 15)) >> 16);
    }
}

/// Adds a row of pixels to the sums of its chroma samples. An outermost sample with only one column counts it twice.
static void add_row(const uint8_t *pixels, int width, int step, int before, uint16_t *sums)
{
    int last = (width - 1 + before) / step;
    for (int x = 0; x < width; x++, pixels += 3) {
        int sample = (x + before) / step;
        int is_alone = step == 2 && ((sample == 0 && before) || (sample == last && (width + before) % 2));
        for (int band = 0; band < 3; band++)
            sums[3 * sample + band] += (uint16_t) (pixels[band] << is_alone);
    }
}

/// Writes a row of chroma from the sums of `1 << bits` pixels for each sample.
static void write_chroma(const uint16_t *sums, int width, int bits, const Matrix *matrix, uint8_t *blue, uint8_t *red)
{
    int shift = 16 + bits;
    int start = (128 << shift) + (1 << (shift - 1)) - 1;
    for (int x = 0; x < width; x++, sums += 3) {
        int b = sums[0] * matrix->blue[0] + sums[1] * matrix->blue[1] + sums[2] * matrix->blue[2];
        int r = sums[0] * matrix->red[0] + sums[1] * matrix->red[1] + sums[2] * matrix->red[2];
        blue[x] = in_eight_bits((b + start) >> shift);
        red[x] = in_eight_bits((r + start) >> shift);
    }
}

void CPlanar_planes_of_row(const uint8_t *pixels, const CPlanarColorTarget *target, int row, uint16_t *sums)
{
    const CPlanarPlane *luma = &target->planes[0], *blue = &target->planes[1], *red = &target->planes[2];
    const Matrix *matrix = matrix_of(target->is_limited);
    int step = target->step, place = row + target->rows_before, sample = place / step;
    int is_first = row == 0 || place % step == 0, is_last = row == luma->height - 1 || place % step == step - 1;
    write_luma(pixels, luma->width, matrix, luma->samples + (size_t) row * luma->stride);
    if (is_first)
        memset(sums, 0, 3 * (size_t) blue->width * sizeof *sums);
    // An outermost sample with only one row counts it twice.
    for (int times = step == 2 && is_first && is_last ? 2 : 1; times > 0; times--)
        add_row(pixels, luma->width, step, target->columns_before, sums);
    if (is_last)
        write_chroma(
            sums, blue->width, step == 2 ? 2 : 0, matrix, blue->samples + (size_t) sample * blue->stride,
            red->samples + (size_t) sample * red->stride);
}
