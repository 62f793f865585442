#include "Blocks.h"

#include <string.h>

// The transform of Arai, Agui and Nakajima, in single precision: its scale factors are part of the quantisation. Each operation rounds
// once, in a fixed order, so all processors compute the same.

const uint8_t CJPEG_places[block_size] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/// The same in columns of rising vertical frequency.
static const uint8_t exchanged[block_size] = {
    0, 8, 1, 2, 9, 16, 24, 17, 10, 3, 4, 11, 18, 25, 32, 40, 33, 26, 19, 12, 5, 6, 13, 20, 27, 34, 41, 48, 56, 49, 42, 35,
    28, 21, 14, 7, 15, 22, 29, 36, 43, 50, 57, 58, 51, 44, 37, 30, 23, 31, 38, 45, 52, 59, 60, 53, 46, 39, 47, 54, 61, 62, 55, 63};

typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
typedef int16_t Shorts __attribute__((vector_size(8)));
typedef uint8_t Bytes __attribute__((vector_size(4)));

Scaling CJPEG_scaling(const uint8_t *steps)
{
    // 1, and √2 cos(kπ/16).
    static const double factors[8] = {
        1.0, 1.387039845322148, 1.306562964876377, 1.175875602419359, 1.0, 0.785694958387102, 0.541196100146197, 0.275899379282943};
    Scaling scaling;
    for (int number = 0; number < block_size; number++) {
        int place = CJPEG_places[number], down = place / 8, across = place % 8;
        double step = (double) steps[number] * factors[down] * factors[across] * 8;
        scaling.factors[8 * across + down] = (float) ((1 << step_bits) / step);
    }
    return scaling;
}

/// Transforms four columns at once.
static inline void transform_columns(Floats *rows)
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

/// Exchanges rows and columns of four by four.
static inline void exchange(const Floats *rows, Floats *columns)
{
    Floats a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5), b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    Floats c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5), d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    columns[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    columns[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    columns[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    columns[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// The nearest whole numbers, halves to even ones.
static inline Ints rounded(Floats values)
{
    // At this number a unit is the last place.
    values += 12582912.0f;
    Ints bits;
    memcpy(&bits, &values, sizeof bits);
    return bits - 0x4b400000;
}

static inline Shorts bounded(Ints values)
{
    const int most = most_value << step_bits;
    Ints over = values > most, under = values < -most;
    return __builtin_convertvector((values & ~over & ~under) | (over & most) | (under & -most), Shorts);
}

static inline Floats centred(const uint8_t *samples)
{
    Bytes bytes;
    memcpy(&bytes, samples, sizeof bytes);
    return __builtin_convertvector(bytes, Floats) - 128.0f;
}

/// Transforms a block.
static void transform(const uint8_t *samples, size_t stride, const Scaling *scaling, int16_t *values)
{
    // The left and the right half; then the upper and the lower one, with rows and columns exchanged.
    Floats left[8], right[8], upper[8], lower[8];
    int16_t steps[block_size];
    for (int row = 0; row < 8; row++) {
        left[row] = centred(samples + (size_t) row * stride);
        right[row] = centred(samples + (size_t) row * stride + 4);
    }
    transform_columns(left);
    transform_columns(right);
    exchange(left, upper);
    exchange(left + 4, lower);
    exchange(right, upper + 4);
    exchange(right + 4, lower + 4);
    transform_columns(upper);
    transform_columns(lower);
    for (int across = 0; across < 8; across++) {
        Floats factors[2];
        memcpy(factors, scaling->factors + 8 * across, sizeof factors);
        Shorts whole[2] = {bounded(rounded(upper[across] * factors[0])), bounded(rounded(lower[across] * factors[1]))};
        memcpy(steps + 8 * across, whole, sizeof whole);
    }
    for (int number = 0; number < block_size; number++)
        values[number] = steps[exchanged[number]];
}

void CJPEG_transform(const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks)
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
