#include "Blocks.h"

#include <string.h>

// The Arai, Agui and Nakajima transform in single precision; its scale factors are part of the quantization. Each
// operation rounds once, in a fixed order, so that all processors compute the same.

const uint8_t CJPEG_zigzag[block_size] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// Puts coefficients in columns of rising vertical frequency into the order of a file.
#define in_order(BLOCK) \
    __builtin_shufflevector( \
        BLOCK, BLOCK, 0, 8, 1, 2, 9, 16, 24, 17, 10, 3, 4, 11, 18, 25, 32, 40, 33, 26, 19, 12, 5, 6, 13, 20, 27, 34, 41, 48, 56, 49, \
        42, 35, 28, 21, 14, 7, 15, 22, 29, 36, 43, 50, 57, 58, 51, 44, 37, 30, 23, 31, 38, 45, 52, 59, 60, 53, 46, 39, 47, 54, 61, \
        62, 55, 63)

// Registers of 32 bytes, which the compiler splits where unavailable.
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Ints __attribute__((vector_size(32)));
typedef int16_t Shorts __attribute__((vector_size(16)));
typedef uint8_t Bytes __attribute__((vector_size(8)));
typedef int16_t Block __attribute__((vector_size(128)));

Scaling CJPEG_scaling(const uint8_t *steps)
{
    // 1, and √2 cos(kπ/16).
    static const double factors[8] = {
        1.0, 1.387039845322148, 1.306562964876377, 1.175875602419359, 1.0, 0.785694958387102, 0.541196100146197, 0.275899379282943};
    Scaling scaling;
    for (int number = 0; number < block_size; number++) {
        int index = CJPEG_zigzag[number], down = index / 8, across = index % 8;
        double step = (double) steps[number] * factors[down] * factors[across] * 8;
        scaling.factors[8 * across + down] = (float) ((1 << step_bits) / step);
    }
    return scaling;
}

/// Transforms the columns of a block.
INLINED void transform_columns(Floats *rows)
{
    Floats sum0 = rows[0] + rows[7], difference0 = rows[0] - rows[7];
    Floats sum1 = rows[1] + rows[6], difference1 = rows[1] - rows[6];
    Floats sum2 = rows[2] + rows[5], difference2 = rows[2] - rows[5];
    Floats sum3 = rows[3] + rows[4], difference3 = rows[3] - rows[4];
    Floats even0 = sum0 + sum3, even3 = sum0 - sum3, even1 = sum1 + sum2, even2 = sum1 - sum2;
    Floats half = (even2 + even3) * 0.707106781f;
    rows[0] = even0 + even1;
    rows[4] = even0 - even1;
    rows[2] = even3 + half;
    rows[6] = even3 - half;
    Floats odd0 = difference3 + difference2, odd1 = difference2 + difference1, odd2 = difference1 + difference0;
    Floats turn = (odd0 - odd2) * 0.382683433f;
    Floats low = odd0 * 0.541196100f + turn, high = odd2 * 1.306562965f + turn, middle = odd1 * 0.707106781f;
    Floats after = difference0 + middle, before = difference0 - middle;
    rows[5] = before + low;
    rows[3] = before - low;
    rows[1] = after + high;
    rows[7] = after - high;
}

/// Transposes a block.
INLINED void exchange(const Floats *rows, Floats *columns)
{
    Floats pairs[8], fours[8];
    for (int two = 0; two < 8; two += 2) {
        pairs[two] = __builtin_shufflevector(rows[two], rows[two + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pairs[two + 1] = __builtin_shufflevector(rows[two], rows[two + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int half = 0; half < 8; half += 4)
        for (int odd = 0; odd < 2; odd++) {
            fours[half + 2 * odd] = __builtin_shufflevector(pairs[half + odd], pairs[half + 2 + odd], 0, 1, 8, 9, 4, 5, 12, 13);
            fours[half + 2 * odd + 1] = __builtin_shufflevector(pairs[half + odd], pairs[half + 2 + odd], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int column = 0; column < 4; column++) {
        columns[column] = __builtin_shufflevector(fours[column], fours[column + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        columns[column + 4] = __builtin_shufflevector(fours[column], fours[column + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/// Transforms a block.
INLINED void transform(const uint8_t *samples, size_t stride, const Scaling *scaling, int16_t *values)
{
    const int most = max_value << step_bits;
    Floats rows[8], columns[8];
    Bytes bytes;
    int16_t steps[block_size];
    for (int row = 0; row < 8; row++) {
        memcpy(&bytes, samples + (size_t) row * stride, sizeof bytes);
        rows[row] = __builtin_convertvector(bytes, Floats) - 128.0f;
    }
    transform_columns(rows);
    exchange(rows, columns);
    transform_columns(columns);
    for (int across = 0; across < 8; across++) {
        Floats factors;
        Ints whole;
        memcpy(&factors, scaling->factors + 8 * across, sizeof factors);
        // Rounds half to even: in the number that is added, a unit is the last place.
        factors = columns[across] * factors + 12582912.0f;
        memcpy(&whole, &factors, sizeof whole);
        whole -= 0x4b400000;
        Ints over = whole > most, under = whole < -most;
        Shorts bounded = __builtin_convertvector((whole & ~over & ~under) | (over & most) | (under & -most), Shorts);
        memcpy(steps + 8 * across, &bounded, sizeof bounded);
    }
    Block block;
    memcpy(&block, steps, sizeof block);
    block = in_order(block);
    memcpy(values, &block, sizeof block);
}

INLINED void transform_row(const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks)
{
    int16_t *values = blocks->values + (size_t) row * (size_t) blocks->all_across * block_size;
    int whole = 8 * (row + 1) <= plane->height ? plane->width / 8 : 0;
    for (int block = 0; block < blocks->across; block++, values += block_size) {
        const uint8_t *samples = plane->samples + 8 * (size_t) row * plane->stride + 8 * (size_t) block;
        uint8_t filled[block_size];
        if (block < whole) {
            transform(samples, plane->stride, scaling, values);
            continue;
        }
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++) {
                int down = 8 * row + y < plane->height ? 8 * row + y : plane->height - 1;
                int across = 8 * block + x < plane->width ? 8 * block + x : plane->width - 1;
                filled[8 * y + x] = plane->samples[(size_t) down * plane->stride + (size_t) across];
            }
        transform(filled, 8, scaling, values);
    }
}

#if defined(__SSE2__)
__attribute__((target("avx2"))) static void transform_row_avx2(
    const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks)
{
    transform_row(plane, scaling, row, blocks);
}

__attribute__((target("avx512f,avx512bw,avx512vl"))) static void transform_row_avx512(
    const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks)
{
    transform_row(plane, scaling, row, blocks);
}
#endif

void CJPEG_transform(const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks)
{
#if defined(__SSE2__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        transform_row_avx512(plane, scaling, row, blocks);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        transform_row_avx2(plane, scaling, row, blocks);
        return;
    }
#endif
    transform_row(plane, scaling, row, blocks);
}
