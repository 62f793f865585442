#include "Rows.h"

#include <string.h>

/// Returns the prediction of the Paeth filter: the nearest of the bytes to the left, above and in the corner to left +
/// above − corner.
static inline uint8_t expected(int left, int above, int corner)
{
    int from_left = above - corner, from_above = left - corner, from_corner = from_left + from_above;
    from_left = from_left < 0 ? -from_left : from_left;
    from_above = from_above < 0 ? -from_above : from_above;
    from_corner = from_corner < 0 ? -from_corner : from_corner;
    int other = from_above <= from_corner ? above : corner;
    return (uint8_t) (from_left <= from_above && from_left <= from_corner ? left : other);
}

static void filter(int kind, const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *restrict out)
{
    const uint8_t *left = row - step, *corner = above - step;
    switch (kind) {
    case 0: memcpy(out, row, count); break;
    case 1:
        for (size_t index = 0; index < count; index++)
            out[index] = (uint8_t) (row[index] - left[index]);
        break;
    case 2:
        for (size_t index = 0; index < count; index++)
            out[index] = (uint8_t) (row[index] - above[index]);
        break;
    case 3:
        for (size_t index = 0; index < count; index++)
            out[index] = (uint8_t) (row[index] - (left[index] + above[index]) / 2);
        break;
    default:
        for (size_t index = 0; index < count; index++)
            out[index] = (uint8_t) (row[index] - expected(left[index], above[index], corner[index]));
    }
}

/// The sum of the bytes' distances from zero, as signed numbers.
static size_t sum_of(const uint8_t *bytes, size_t count)
{
    size_t sum = 0;
    while (count > 0) {
        // So that a 32-bit sum suffices.
        size_t part = count < 1 << 20 ? count : 1 << 20;
        uint32_t distances = 0;
        for (size_t index = 0; index < part; index++)
            distances += bytes[index] < 128 ? bytes[index] : 256u - bytes[index];
        sum += distances;
        bytes += part;
        count -= part;
    }
    return sum;
}

const uint8_t *CPNG_filter(
    const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *scratch, int *last)
{
    size_t least = SIZE_MAX;
    int best = 0;
    for (int kind = 0; kind < CPNG_filters; kind++) {
        uint8_t *out = scratch + (size_t) kind * (count + 1);
        out[0] = (uint8_t) kind;
        filter(kind, row, above, step, count, out + 1);
        size_t sum = sum_of(out + 1, count);
        // Rows of drawings compress better with the filter of the row above.
        if (kind == *last)
            sum -= sum / 8;
        if (sum < least) {
            least = sum;
            best = kind;
        }
    }
    *last = best;
    return scratch + (size_t) best * (count + 1);
}
