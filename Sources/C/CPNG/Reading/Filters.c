#include "Filters.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Returns the neighbor nearest to left + above - above left; of equally near ones the first of these three.
static inline int nearest(int left, int above, int corner)
{
    int to_left = above - corner, to_above = left - corner, to_corner = to_left + to_above;
    to_left = to_left < 0 ? -to_left : to_left;
    to_above = to_above < 0 ? -to_above : to_above;
    to_corner = to_corner < 0 ? -to_corner : to_corner;
    if (to_above < to_left) {
        to_left = to_above;
        left = above;
    }
    return to_corner < to_left ? corner : left;
}

static void unfilter_bytes(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t step)
{
    size_t place, first = count < step ? count : step;
    switch (filter) {
    case filter_none: memcpy(out, row, count); break;
    case filter_sub:
        memcpy(out, row, first);
        for (place = first; place < count; place++)
            out[place] = (uint8_t) (row[place] + out[place - step]);
        break;
    case filter_up:
        for (place = 0; place < count; place++)
            out[place] = (uint8_t) (row[place] + above[place]);
        break;
    case filter_average:
        for (place = 0; place < first; place++)
            out[place] = (uint8_t) (row[place] + above[place] / 2);
        for (; place < count; place++)
            out[place] = (uint8_t) (row[place] + (out[place - step] + above[place]) / 2);
        break;
    default:
        for (place = 0; place < first; place++)
            out[place] = (uint8_t) (row[place] + above[place]);
        for (; place < count; place++)
            out[place] = (uint8_t) (row[place] + nearest(out[place - step], above[place], above[place - step]));
    }
}

#if defined(__SSE2__)

#define always_inline inline __attribute__((always_inline))

/// Loads a pixel of up to eight bytes into 16-bit lanes. Also reads the bytes after it, which do not matter.
static always_inline __m128i load(const uint8_t *bytes, size_t count)
{
    if (count > 4)
        return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *) bytes), _mm_setzero_si128());
    int four;
    memcpy(&four, bytes, sizeof four);
    return _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128());
}

/// Writes a pixel, and for three or six bytes also the bytes after it.
static always_inline void store(uint8_t *bytes, size_t count, __m128i pixel)
{
    __m128i packed = _mm_packus_epi16(pixel, pixel);
    if (count == 1) {
        *bytes = (uint8_t) _mm_cvtsi128_si32(packed);
    } else if (count == 2) {
        uint16_t two = (uint16_t) _mm_cvtsi128_si32(packed);
        memcpy(bytes, &two, sizeof two);
    } else if (count > 4) {
        _mm_storel_epi64((__m128i *) bytes, packed);
    } else {
        int four = _mm_cvtsi128_si32(packed);
        memcpy(bytes, &four, sizeof four);
    }
}

/// The neighbors of the next pixel of a row.
typedef struct {
    __m128i left, corner;
} Neighbors;

/// Returns the unfiltered pixel.
///
/// Paeth's filter without distances, so that few steps depend on the pixel to the left: with t = 3 c - (a + b) it is
/// the smaller of a and b if t is no less than both, the larger one if t is no more than both, otherwise c.
static always_inline __m128i pixel_of(int filter, __m128i row, __m128i above, Neighbors *neighbors)
{
    const __m128i byte = _mm_set1_epi16(255);
    __m128i left = neighbors->left, corner = neighbors->corner, value;
    if (filter == filter_sub) {
        value = left;
    } else if (filter == filter_average) {
        value = _mm_srli_epi16(_mm_add_epi16(left, above), 1);
    } else {
        __m128i tripled = _mm_sub_epi16(_mm_add_epi16(_mm_add_epi16(corner, corner), corner), above);
        __m128i edge = _mm_sub_epi16(tripled, left);
        __m128i least = _mm_min_epi16(left, above), most = _mm_max_epi16(left, above);
        __m128i is_not_least = _mm_cmpgt_epi16(most, edge), is_not_most = _mm_cmpgt_epi16(edge, least);
        value = _mm_or_si128(
            _mm_or_si128(_mm_andnot_si128(is_not_least, least), _mm_andnot_si128(is_not_most, most)),
            _mm_and_si128(corner, _mm_and_si128(is_not_least, is_not_most)));
    }
    value = _mm_and_si128(_mm_add_epi16(value, row), byte);
    *neighbors = (Neighbors) {value, above};
    return value;
}

/// Writes the last pixel of a row, after which no memory may be accessed.
static always_inline void put_last(
    int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t step, Neighbors *neighbors)
{
    uint8_t bytes[3][8] = {{0}};
    memcpy(bytes[0], row, step);
    memcpy(bytes[1], above, step);
    store(bytes[2], step, pixel_of(filter, load(bytes[0], step), load(bytes[1], step), neighbors));
    memcpy(out, bytes[2], step);
}

static always_inline void unfilter_pixels(
    int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t step)
{
    Neighbors neighbors = {_mm_setzero_si128(), _mm_setzero_si128()};
    size_t place;
    for (place = 0; place + 8 <= count; place += step)
        store(out + place, step, pixel_of(filter, load(row + place, step), load(above + place, step), &neighbors));
    for (; place < count; place += step)
        put_last(filter, row + place, above + place, out + place, step, &neighbors);
}

/// The second row follows one pixel behind the first, so that the processor works on both in parallel.
static always_inline void unfilter_two(
    int first, int second, const uint8_t *const rows[2], const uint8_t *above, uint8_t *const outs[2], size_t count, size_t step)
{
    Neighbors upper = {_mm_setzero_si128(), _mm_setzero_si128()}, lower = upper;
    const uint8_t *one = rows[0], *two = rows[1];
    uint8_t *out = outs[0], *other = outs[1];
    __m128i pixel = pixel_of(first, load(one, step), load(above, step), &upper);
    size_t place;
    store(out, step, pixel);
    for (place = step; place + 8 <= count; place += step) {
        __m128i next = pixel_of(first, load(one + place, step), load(above + place, step), &upper);
        store(other + place - step, step, pixel_of(second, load(two + place - step, step), pixel, &lower));
        store(out + place, step, next);
        pixel = next;
    }
    for (; place < count; place += step) {
        put_last(first, one + place, above + place, out + place, step, &upper);
        store(other + place - step, step, pixel_of(second, load(two + place - step, step), pixel, &lower));
        pixel = upper.left;
    }
    put_last(second, two + place - step, out + place - step, other + place - step, step, &lower);
}

/// Returns whether each pixel depends on the one before.
static int is_chained(int filter)
{
    return filter == filter_sub || filter == filter_average || filter == filter_paeth;
}

/// Calls a function with a constant filter.
#define for_filter(FILTER, CALL) \
    switch (FILTER) { \
    case filter_sub: CALL(filter_sub); break; \
    case filter_average: CALL(filter_average); break; \
    default: CALL(filter_paeth); \
    }

/// Defines functions for pixels of `STEP` bytes.
#define define_filters(STEP) \
    static void unfilter_##STEP(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count) \
    { \
        for_filter(filter, one_row_##STEP) \
    } \
    static void unfilter_two_##STEP( \
        int first, int second, const uint8_t *const rows[2], const uint8_t *above, uint8_t *const outs[2], size_t count) \
    { \
        switch (first * filter_count + second) { \
            both_rows(STEP, filter_sub, filter_sub) both_rows(STEP, filter_sub, filter_average) \
                both_rows(STEP, filter_sub, filter_paeth) both_rows(STEP, filter_average, filter_sub) \
                    both_rows(STEP, filter_average, filter_average) both_rows(STEP, filter_average, filter_paeth) \
                        both_rows(STEP, filter_paeth, filter_sub) both_rows(STEP, filter_paeth, filter_average) \
                            both_rows(STEP, filter_paeth, filter_paeth) \
        } \
    }
#define both_rows(STEP, FIRST, SECOND) \
    case FIRST *filter_count + SECOND: \
        unfilter_two(FIRST, SECOND, rows, above, outs, count, STEP); \
        break;
#define one_row_1(FILTER) unfilter_pixels(FILTER, row, above, out, count, 1)
#define one_row_2(FILTER) unfilter_pixels(FILTER, row, above, out, count, 2)
#define one_row_3(FILTER) unfilter_pixels(FILTER, row, above, out, count, 3)
#define one_row_4(FILTER) unfilter_pixels(FILTER, row, above, out, count, 4)
#define one_row_6(FILTER) unfilter_pixels(FILTER, row, above, out, count, 6)
#define one_row_8(FILTER) unfilter_pixels(FILTER, row, above, out, count, 8)

define_filters(1)
    define_filters(2)
        define_filters(3)
            define_filters(4)
                define_filters(6)
                    define_filters(8)

/// Calls the function for pixels of `step` bytes.
#define for_step(NAME, ...) \
    switch (step) { \
    case 1: NAME##_1(__VA_ARGS__); break; \
    case 2: NAME##_2(__VA_ARGS__); break; \
    case 3: NAME##_3(__VA_ARGS__); break; \
    case 4: NAME##_4(__VA_ARGS__); break; \
    case 6: NAME##_6(__VA_ARGS__); break; \
    default: NAME##_8(__VA_ARGS__); \
    }

                        void CFastPNG_unfilter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t step)
{
    if (is_chained(filter))
        for_step(unfilter, filter, row, above, out, count) else unfilter_bytes(filter, row, above, out, count, step);
}

int CFastPNG_unfilter_two(
    const int filters[2], const uint8_t *const rows[2], const uint8_t *above, uint8_t *const outs[2], size_t count, size_t step)
{
    if (!is_chained(filters[0]) || !is_chained(filters[1]) || count < 8)
        return 0;
    for_step(unfilter_two, filters[0], filters[1], rows, above, outs, count) return 1;
}

#else

void CFastPNG_unfilter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t step)
{
    unfilter_bytes(filter, row, above, out, count, step);
}

int CFastPNG_unfilter_two(
    const int filters[2], const uint8_t *const rows[2], const uint8_t *above, uint8_t *const outs[2], size_t count, size_t step)
{
    (void) filters, (void) rows, (void) above, (void) outs, (void) count, (void) step;
    return 0;
}

#endif
