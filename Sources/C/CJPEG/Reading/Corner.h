#ifndef Corner_h
#define Corner_h

#include "CFastJPEG.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// The lowest-frequency coefficients of a block, a square with sides of 1, 2 or 4, and the resulting samples.
//
// At levels 8 and 4, a sample is the mean of its part of the block after the full inverse transform (T.81 section
// A.3.3) of only these coefficients. At level 2 it is midway between this mean and the value in the center of the part.
// Over 4 or 2 samples, the means of cosines are multiples of cosines, so the square needs only a transform of its own
// size. All values are in fixed point: 13 bits for the factors, 2 between columns and rows.
//
// At level 2, the square lacks the frequencies 5 and 6, but the first six of them in the file's order also count, by
// their means. Over pairs of samples, the mean of frequency 5 is a multiple of frequency 3, and the mean of frequency 6
// is a multiple of frequency 2. So these six are multiplied and added to coefficients of the square. (The mean of
// frequency 4 is zero.)

enum {
    /// Maximum number of samples of a block, and of coefficients to keep.
    max_samples = 16,
    max_kept = 24,
    factor_bits = 13,
    kept_bits = 2,
    /// Fractional bits of the factors of frequencies 5 and 6.
    added_bits = 4,
};

/// Returns the side of the square that is read at a level.
static inline int corner_side(int level)
{
    return 8 / level;
}

/// Returns the number of coefficients to keep of a block; the last eight of level 2 are added to others, and two of
/// these are always zero.
static inline unsigned corner_count(int level)
{
    return level == 2 ? max_kept : (unsigned) (corner_side(level) * corner_side(level));
}

/// Returns the last relevant coefficient at a level, in the order of the file (section A.3.6).
static inline int corner_last(int level)
{
    return level == 8 ? 0 : (level == 4 ? 4 : 27);
}

/// Converts a sample of at most 10 bits around zero to 8 bits around 128; of longer ones, the lowest 10 bits count, as
/// in libjpeg.
static inline uint8_t sample(int value)
{
    value = ((value + 512) & 1023) - 512 + 128;
    return (uint8_t) (value < 0 ? 0 : (value > 255 ? 255 : value));
}

static inline int descaled(int64_t value, int bits)
{
    return (int) ((value + ((int64_t) 1 << (bits - 1))) >> bits);
}

static inline int16_t saturated(int value)
{
    return (int16_t) (value < INT16_MIN ? INT16_MIN : (value > INT16_MAX ? INT16_MAX : value));
}

/// Writes one sample from the DC coefficient.
static inline void write_1(int dc, int step, uint8_t *samples)
{
    *samples = sample(descaled(dc * step, 3));
}

/// Twice the means of the odd cosine over the halves of a block; and the contributions of frequencies 1 to 3 to a
/// block's quarters, the outer two and the inner two. Frequency 2 contributes the same to all quarters except for its
/// sign.
enum {
    one = 2 << factor_bits,
    halves_1 = 14846,
    outer_1 = 21201,
    inner_1 = 8782,
    both_2 = 15760,
    outer_3 = 8120,
    inner_3 = -19603,
};

// `write_2` and `write_4` compute 2×2 and 4×4 samples from as many coefficients; the DC coefficient is a separate argument.
// They multiply by `steps` within 16 bits, transform columns into saturated 16 bits, and then rows. `write_4` begins
// with the additions.

#if defined(__SSE2__)

/// Two factors in alternation.
static inline __m128i factors(int first, int second)
{
    return _mm_set1_epi32((int) ((uint32_t) second << 16 | (uint16_t) first));
}

/// Returns rounded sums without this many of their lowest bits.
static inline __m128i descaled_sums(__m128i sums, int shift)
{
    return _mm_srai_epi32(_mm_add_epi32(sums, _mm_set1_epi32(1 << (shift - 1))), shift);
}

/// Packs sixteen samples: of values with more than 10 bits the lowest 10 count, and packing clips to the range of
/// samples.
static inline __m128i samples_of(__m128i first, __m128i last)
{
    const __m128i half = _mm_set1_epi16(128);
    first = _mm_srai_epi16(_mm_slli_epi16(first, 6), 6);
    last = _mm_srai_epi16(_mm_slli_epi16(last, 6), 6);
    return _mm_packus_epi16(_mm_add_epi16(first, half), _mm_add_epi16(last, half));
}

static inline void write_2(int dc, const int16_t *corner, const int16_t *steps, uint8_t *samples, size_t stride)
{
    const __m128i sum = factors(one, halves_1), difference = factors(one, -halves_1);
    __m128i values = _mm_insert_epi16(_mm_loadl_epi64((const __m128i *) corner), dc, 0);
    int four;
    values = _mm_mullo_epi16(values, _mm_loadl_epi64((const __m128i *) steps));
    // Columns, each twice.
    values = _mm_unpacklo_epi16(values, _mm_srli_epi64(values, 32));
    values = _mm_madd_epi16(_mm_unpacklo_epi64(values, values), _mm_unpacklo_epi64(sum, difference));
    values = descaled_sums(values, factor_bits - kept_bits + 1);
    values = _mm_packs_epi32(values, values);
    // Rows, each twice.
    values = _mm_madd_epi16(_mm_unpacklo_epi32(values, values), _mm_unpacklo_epi32(sum, difference));
    values = descaled_sums(values, factor_bits + kept_bits + 3 + 1);
    values = _mm_packs_epi32(values, values);
    four = _mm_cvtsi128_si32(samples_of(values, values));
    memcpy(samples, &four, 2);
    four = (int) ((uint32_t) four >> 16);
    memcpy(samples + stride, &four, 2);
}

/// Transforms four values each, two of which alternate in each of two registers, to rows 0 and 1, and rows 2 and 3.
static inline void transform_4(__m128i even, __m128i odd, int shift, __m128i *upper, __m128i *lower)
{
    __m128i outer = _mm_madd_epi16(even, factors(one, both_2)), inner = _mm_madd_epi16(even, factors(one, -both_2));
    __m128i wide = _mm_madd_epi16(odd, factors(outer_1, outer_3)), narrow = _mm_madd_epi16(odd, factors(inner_1, inner_3));
    *upper = _mm_packs_epi32(
        descaled_sums(_mm_add_epi32(outer, wide), shift), descaled_sums(_mm_add_epi32(inner, narrow), shift));
    *lower = _mm_packs_epi32(
        descaled_sums(_mm_sub_epi32(inner, narrow), shift), descaled_sums(_mm_sub_epi32(outer, wide), shift));
}

/// Transposes four rows, two of which are in each register.
static inline void transpose_4(__m128i *upper, __m128i *lower)
{
    __m128i even = _mm_unpacklo_epi16(*upper, *lower), odd = _mm_unpackhi_epi16(*upper, *lower);
    *upper = _mm_unpacklo_epi16(even, odd);
    *lower = _mm_unpackhi_epi16(even, odd);
}

static inline void write_4(int dc, const int16_t *corner, const int16_t *steps, uint8_t *samples, size_t stride)
{
    const __m128i *from = (const __m128i *) corner, *by = (const __m128i *) steps;
    __m128i upper = _mm_mullo_epi16(_mm_insert_epi16(_mm_loadu_si128(from), dc, 0), _mm_loadu_si128(by));
    __m128i lower = _mm_mullo_epi16(_mm_loadu_si128(from + 1), _mm_loadu_si128(by + 1));
    const __m128i added = _mm_srai_epi16(_mm_mullo_epi16(_mm_loadu_si128(from + 2), _mm_loadu_si128(by + 2)), added_bits);
    const __m128i is_upper = _mm_setr_epi16(0, 0, -1, -1, 0, 0, 0, -1);
    int row, four;
    upper = _mm_add_epi16(upper, _mm_and_si128(is_upper, added));
    lower = _mm_add_epi16(lower, _mm_andnot_si128(is_upper, added));
    transform_4(
        _mm_unpacklo_epi16(upper, lower), _mm_unpackhi_epi16(upper, lower), factor_bits - kept_bits + 1, &upper, &lower);
    transpose_4(&upper, &lower);
    transform_4(
        _mm_unpacklo_epi16(upper, lower), _mm_unpackhi_epi16(upper, lower), factor_bits + kept_bits + 3 + 1, &upper, &lower);
    transpose_4(&upper, &lower);
    upper = samples_of(upper, lower);
    for (row = 0; row < 4; row++, samples += stride) {
        four = _mm_cvtsi128_si32(upper);
        memcpy(samples, &four, sizeof four);
        upper = _mm_srli_si128(upper, 4);
    }
}

#else

static inline void write_2(int dc, const int16_t *corner, const int16_t *steps, uint8_t *samples, size_t stride)
{
    int c[4] = {(int16_t) (dc * steps[0])}, rows[4], index;
    for (index = 1; index < 4; index++)
        c[index] = (int16_t) (corner[index] * steps[index]);
    for (index = 0; index < 2; index++) {
        int64_t even = (int64_t) c[index] * one, odd = (int64_t) c[index + 2] * halves_1;
        rows[index] = saturated(descaled(even + odd, factor_bits - kept_bits + 1));
        rows[index + 2] = saturated(descaled(even - odd, factor_bits - kept_bits + 1));
    }
    for (index = 0; index < 2; index++, samples += stride) {
        int64_t even = (int64_t) rows[2 * index] * one, odd = (int64_t) rows[2 * index + 1] * halves_1;
        samples[0] = sample(descaled(even + odd, factor_bits + kept_bits + 3 + 1));
        samples[1] = sample(descaled(even - odd, factor_bits + kept_bits + 3 + 1));
    }
}

#if defined(__ARM_NEON)

static inline int16x4_t descaled_row(int32x4_t sums, int shift)
{
    return vqmovn_s32(vrshlq_s32(sums, vdupq_n_s32(-shift)));
}

/// Transforms the four values of each column of four rows, and transposes the result.
static inline int16x4x4_t transform_4(int16x4x4_t from, int shift)
{
    int32x4_t even = vmull_n_s16(from.val[0], one);
    int32x4_t outer = vmlal_n_s16(even, from.val[2], both_2), inner = vmlsl_n_s16(even, from.val[2], both_2);
    int32x4_t wide = vmlal_n_s16(vmull_n_s16(from.val[1], outer_1), from.val[3], outer_3);
    int32x4_t narrow = vmlal_n_s16(vmull_n_s16(from.val[1], inner_1), from.val[3], inner_3);
    int16x4x2_t upper = vtrn_s16(
        descaled_row(vaddq_s32(outer, wide), shift), descaled_row(vaddq_s32(inner, narrow), shift));
    int16x4x2_t lower = vtrn_s16(
        descaled_row(vsubq_s32(inner, narrow), shift), descaled_row(vsubq_s32(outer, wide), shift));
    int32x2x2_t first = vtrn_s32(vreinterpret_s32_s16(upper.val[0]), vreinterpret_s32_s16(lower.val[0]));
    int32x2x2_t second = vtrn_s32(vreinterpret_s32_s16(upper.val[1]), vreinterpret_s32_s16(lower.val[1]));
    return (int16x4x4_t) {
        {vreinterpret_s16_s32(first.val[0]), vreinterpret_s16_s32(second.val[0]), vreinterpret_s16_s32(first.val[1]),
            vreinterpret_s16_s32(second.val[1])}};
}

static inline void write_4(int dc, const int16_t *corner, const int16_t *steps, uint8_t *samples, size_t stride)
{
    static const uint16_t upper_ones[] = {0, 0, 0xFFFF, 0xFFFF, 0, 0, 0, 0xFFFF};
    const int16x8_t is_upper = vreinterpretq_s16_u16(vld1q_u16(upper_ones));
    int16x8_t added = vshrq_n_s16(vmulq_s16(vld1q_s16(corner + 16), vld1q_s16(steps + 16)), added_bits);
    int16x8_t upper = vmulq_s16(vsetq_lane_s16((int16_t) dc, vld1q_s16(corner), 0), vld1q_s16(steps));
    int16x8_t lower = vmulq_s16(vld1q_s16(corner + 8), vld1q_s16(steps + 8));
    int16x4x4_t rows;
    int row;
    upper = vaddq_s16(upper, vandq_s16(added, is_upper));
    lower = vaddq_s16(lower, vbicq_s16(added, is_upper));
    rows = (int16x4x4_t) {{vget_low_s16(upper), vget_high_s16(upper), vget_low_s16(lower), vget_high_s16(lower)}};
    rows = transform_4(transform_4(rows, factor_bits - kept_bits + 1), factor_bits + kept_bits + 3 + 1);
    for (row = 0; row < 4; row++, samples += stride) {
        // Values wrap at 10 bits.
        int16x4_t values = vadd_s16(vshr_n_s16(vshl_n_s16(rows.val[row], 6), 6), vdup_n_s16(128));
        uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vqmovun_s16(vcombine_s16(values, values))), 0);
        memcpy(samples, &four, sizeof four);
    }
}

#else

/// Transforms four values that are `step` apart.
static inline void transform_4(const int16_t *from, int step, int shift, int *to)
{
    int64_t outer = (int64_t) from[0] * one + (int64_t) from[2 * step] * both_2;
    int64_t inner = (int64_t) from[0] * one - (int64_t) from[2 * step] * both_2;
    int64_t wide = (int64_t) from[step] * outer_1 + (int64_t) from[3 * step] * outer_3;
    int64_t narrow = (int64_t) from[step] * inner_1 + (int64_t) from[3 * step] * inner_3;
    to[0] = saturated(descaled(outer + wide, shift));
    to[1] = saturated(descaled(inner + narrow, shift));
    to[2] = saturated(descaled(inner - narrow, shift));
    to[3] = saturated(descaled(outer - wide, shift));
}

static inline void write_4(int dc, const int16_t *corner, const int16_t *steps, uint8_t *samples, size_t stride)
{
    static const uint8_t added_to[] = {8, 1, 2, 3, 12, 13, 6, 7};
    int16_t c[max_samples] = {(int16_t) (dc * steps[0])}, rows[max_samples];
    int values[4], index, row;
    for (index = 1; index < max_samples; index++)
        c[index] = (int16_t) (corner[index] * steps[index]);
    for (; index < max_kept; index++)
        c[added_to[index - max_samples]] += (int16_t) ((int16_t) (corner[index] * steps[index]) >> added_bits);
    for (index = 0; index < 4; index++) {
        transform_4(c + index, 4, factor_bits - kept_bits + 1, values);
        for (row = 0; row < 4; row++)
            rows[4 * row + index] = (int16_t) values[row];
    }
    for (row = 0; row < 4; row++, samples += stride) {
        transform_4(rows + 4 * row, 1, factor_bits + kept_bits + 3 + 1, values);
        for (index = 0; index < 4; index++)
            samples[index] = sample(values[index]);
    }
}

#endif

#endif

#endif
