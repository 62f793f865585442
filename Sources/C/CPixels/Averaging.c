#include "Frames.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Means of boxes of pixels, in integers.

/// The first pixel of a box in one of its rows.
static inline const uint8_t *box_row(const CPixelsBoxes *boxes, int left, int row)
{
    return boxes->rows[row] + (size_t) left * (size_t) boxes->bands;
}

static inline int box_end(const CPixelsBoxes *boxes, int left)
{
    return left + boxes->factor < boxes->width ? left + boxes->factor : boxes->width;
}

/// Samples that are summed down the rows at a time; a multiple of every number of bands times the largest factor.
enum { samples_at_a_time = 12 * 64 };

/// Sums samples down the rows: the sum of 64 has less than 16 bits.
static inline __attribute__((always_inline)) void sum_rows(const CPixelsBoxes *boxes, int rows, size_t first, int count, uint16_t *sums)
{
    int row, place;
    if (__builtin_constant_p(rows)) {
        for (place = 0; place < count; place++) {
            unsigned sum = 0;
            for (row = 0; row < rows; row++)
                sum += boxes->rows[row][first + (size_t) place];
            sums[place] = (uint16_t) sum;
        }
        return;
    }
    memset(sums, 0, (size_t) count * sizeof *sums);
    for (row = 0; row < rows; row++) {
        const uint8_t *samples = boxes->rows[row] + first;
        for (place = 0; place < count; place++)
            sums[place] = (uint16_t) (sums[place] + samples[place]);
    }
}

/// Writes the mean of a box.
static inline __attribute__((always_inline)) void write_box(const uint16_t *pixel, int bands, int width, int rows, uint8_t *out)
{
    unsigned totals[4] = {0, 0, 0, 0}, count = (unsigned) (width * rows);
    for (int x = 0; x < width; x++, pixel += bands)
        for (int band = 0; band < bands; band++)
            totals[band] += pixel[band];
    for (int band = 0; band < bands; band++)
        out[band] = (uint8_t) ((totals[band] + count / 2) / count);
}

/// Averages along a row of boxes, each band separately.
static inline __attribute__((always_inline)) void average_bands(const CPixelsBoxes *boxes, int bands, int factor, int rows, uint8_t *out)
{
    uint16_t sums[samples_at_a_time];
    int width = boxes->width, part = samples_at_a_time / (bands * factor) * factor, start, left;
    for (start = 0; start < width; start += part) {
        int end = width - start < part ? width : start + part;
        sum_rows(boxes, rows, (size_t) start * (size_t) bands, (end - start) * bands, sums);
        for (left = start; left + factor <= end; left += factor, out += bands)
            write_box(sums + (left - start) * bands, bands, factor, rows, out);
        if (left < end)
            write_box(sums + (left - start) * bands, bands, end - left, rows, out);
    }
}

/// Whole boxes have sizes that are compile-time constants, so that no loop is left and quotients are shifts.
static inline __attribute__((always_inline)) void average_boxes(const CPixelsBoxes *boxes, int bands, uint8_t *out)
{
    switch (boxes->count == boxes->factor ? boxes->factor : 0) {
    case 2: average_bands(boxes, bands, 2, 2, out); break;
    case 4: average_bands(boxes, bands, 4, 4, out); break;
    case 8: average_bands(boxes, bands, 8, 8, out); break;
    default: average_bands(boxes, bands, boxes->factor, boxes->count, out);
    }
}

/// The number of bands is a compile-time constant in each call.
WIDE static void average_row(const CPixelsBoxes *boxes, uint8_t *out)
{
    switch (boxes->bands) {
    case 1: average_boxes(boxes, 1, out); break;
    case 2: average_boxes(boxes, 2, out); break;
    case 3: average_boxes(boxes, 3, out); break;
    default: average_boxes(boxes, 4, out);
    }
}

/// Averages boxes from `left` on whose last band is alpha, which weights the others.
static void average_bands_by_alpha(const CPixelsBoxes *boxes, int left, uint8_t *out)
{
    int width = boxes->width, bands = boxes->bands;
    int x, y, band;
    for (; left < width; left += boxes->factor, out += bands) {
        int right = box_end(boxes, left);
        unsigned alphas = 0, sums[3] = {0, 0, 0};
        unsigned count = (unsigned) ((right - left) * boxes->count);
        for (y = 0; y < boxes->count; y++) {
            const uint8_t *pixel = box_row(boxes, left, y);
            for (x = left; x < right; x++, pixel += bands) {
                unsigned alpha = pixel[bands - 1];
                alphas += alpha;
                for (band = 0; band < bands - 1; band++)
                    sums[band] += pixel[band] * alpha;
            }
        }
        for (band = 0; band < bands - 1; band++)
            out[band] = alphas ? (uint8_t) ((sums[band] + alphas / 2) / alphas) : 0;
        out[bands - 1] = (uint8_t) ((alphas + count / 2) / count);
    }
}

#if defined(__SSE2__) || defined(__ARM_NEON)

/// Maximum factor for which floating-point quotients, rounded down, equal integer quotients: dividends are below 2^24,
/// and a quotient below a whole number differs from it by more than half of the last bit.
enum { max_float_factor = 8 };

#endif

#if defined(__SSE2__)

/// Returns the sums of two pixels' premultiplied colors, and the sum of their alphas; the pixels' bytes are
/// interleaved.
static inline __m128i weighted(__m128i pixels)
{
    const __m128i is_color = _mm_setr_epi32(-1, -1, -1, 0), ones = _mm_setr_epi16(0, 0, 0, 0, 0, 0, 1, 1);
    __m128i alphas = _mm_shuffle_epi32(pixels, 0xFF);
    return _mm_madd_epi16(_mm_or_si128(_mm_and_si128(pixels, is_color), ones), alphas);
}

typedef __m128i Sums;

/// The sums of two or of four pixels of four bands.
static inline __m128i weighted_2(const uint8_t *pixels)
{
    __m128i two = _mm_loadl_epi64((const __m128i *) pixels);
    return weighted(_mm_unpacklo_epi8(_mm_unpacklo_epi8(two, _mm_srli_epi64(two, 32)), _mm_setzero_si128()));
}

static inline __m128i weighted_4(const uint8_t *pixels)
{
    __m128i four = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *) pixels), _MM_SHUFFLE(3, 1, 2, 0));
    four = _mm_unpacklo_epi8(four, _mm_srli_si128(four, 8));
    return _mm_add_epi32(
        weighted(_mm_unpacklo_epi8(four, _mm_setzero_si128())), weighted(_mm_unpackhi_epi8(four, _mm_setzero_si128())));
}

/// Writes a mean from the sums of premultiplied colors, and of alphas.
static inline void write_mean(__m128i sums, int count, uint8_t *out)
{
    const __m128i is_color = _mm_setr_epi32(-1, -1, -1, 0);
    __m128i alphas = _mm_shuffle_epi32(sums, 0xFF), divisors, means;
    // If alpha is zero, the sums are zero, and any divisor is right.
    alphas = _mm_or_si128(alphas, _mm_srli_epi32(_mm_cmpeq_epi32(alphas, _mm_setzero_si128()), 31));
    divisors = _mm_or_si128(_mm_and_si128(is_color, alphas), _mm_andnot_si128(is_color, _mm_set1_epi32(count)));
    sums = _mm_add_epi32(sums, _mm_srli_epi32(divisors, 1));
    means = _mm_cvttps_epi32(_mm_div_ps(_mm_cvtepi32_ps(sums), _mm_cvtepi32_ps(divisors)));
    means = _mm_packs_epi32(means, means);
    int four = _mm_cvtsi128_si32(_mm_packus_epi16(means, means));
    memcpy(out, &four, sizeof four);
}

static inline Sums sums_of_row(Sums sums, const uint8_t *pixels, int count)
{
    int x = 0;
    for (; x + 4 <= count; x += 4)
        sums = _mm_add_epi32(sums, weighted_4(pixels + 4 * x));
    return x < count ? _mm_add_epi32(sums, weighted_2(pixels + 4 * x)) : sums;
}

#elif defined(__ARM_NEON)

typedef uint32x4_t Sums;

/// Adds premultiplied colors, and alphas.
static inline Sums sums_of_row(Sums sums, const uint8_t *pixels, int count)
{
    static const uint16_t colors[] = {0xFFFF, 0xFFFF, 0xFFFF, 0, 0xFFFF, 0xFFFF, 0xFFFF, 0};
    static const uint16_t alphas[] = {0, 0, 0, 1, 0, 0, 0, 1};
    int x;
    for (x = 0; x < count; x += 2) {
        uint16x8_t two = vmovl_u8(vld1_u8(pixels + 4 * x));
        uint16x8_t factors = vorrq_u16(vandq_u16(two, vld1q_u16(colors)), vld1q_u16(alphas));
        sums = vmlal_high_laneq_u16(vmlal_laneq_u16(sums, vget_low_u16(factors), two, 3), factors, two, 7);
    }
    return sums;
}

static inline void write_mean(Sums sums, int count, uint8_t *out)
{
    uint32x4_t alphas = vdupq_laneq_u32(sums, 3), divisors, means;
    uint16x4_t narrow;
    uint32_t four;
    alphas = vorrq_u32(alphas, vshrq_n_u32(vceqzq_u32(alphas), 31));
    divisors = vsetq_lane_u32((uint32_t) count, alphas, 3);
    sums = vaddq_u32(sums, vshrq_n_u32(divisors, 1));
    means = vcvtq_u32_f32(vdivq_f32(vcvtq_f32_u32(sums), vcvtq_f32_u32(divisors)));
    narrow = vqmovn_u32(means);
    four = vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(narrow, narrow))), 0);
    memcpy(out, &four, sizeof four);
}

#endif

#if defined(__SSE2__) || defined(__ARM_NEON)

/// Averages whole boxes of four bands with even sides; returns where the first of the others begins.
static inline __attribute__((always_inline)) int average_whole_by_alpha(const CPixelsBoxes *boxes, int factor, uint8_t *out)
{
    int width = boxes->width, left, y;
    for (left = 0; left + factor <= width; left += factor, out += 4) {
        Sums sums = {0};
        for (y = 0; y < boxes->count; y++)
            sums = sums_of_row(sums, box_row(boxes, left, y), factor);
        write_mean(sums, factor * boxes->count, out);
    }
    return left;
}

#endif

static void average_row_by_alpha(const CPixelsBoxes *boxes, uint8_t *out)
{
    int left = 0;
#if defined(__SSE2__) || defined(__ARM_NEON)
    if (boxes->bands == 4 && boxes->factor <= max_float_factor)
        left = boxes->factor == 2 ? average_whole_by_alpha(boxes, 2, out)
            : boxes->factor == 4  ? average_whole_by_alpha(boxes, 4, out)
            : boxes->factor == 8  ? average_whole_by_alpha(boxes, 8, out)
                                  : 0;
#endif
    average_bands_by_alpha(boxes, left, out + left / boxes->factor * boxes->bands);
}

void CPixels_average(const CPixelsBoxes *boxes, uint8_t *out)
{
    if (boxes->has_alpha)
        average_row_by_alpha(boxes, out);
    else
        average_row(boxes, out);
}
