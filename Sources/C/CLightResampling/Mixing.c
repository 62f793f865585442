#include "Mixing.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#if defined(__SSE2__)

/// Two neighboring weights, repeated to fill a register.
static inline int pair_of(const int16_t *weights, int tap, int count)
{
    unsigned second = tap + 1 < count ? (uint16_t) weights[tap + 1] : 0;
    return (int) ((uint16_t) weights[tap] | second << 16);
}

/// Maximum number of rows whose pairs of weights are kept on the stack; more use the plain loop.
enum { max_rows = 128 };

/// Defines a function that mixes rows in registers of `sizeof(VECTOR)` bytes; `OF(load)` is their instruction.
///
/// The halves of a 32-byte register are unpacked and packed alike, so the order of the samples does not change.
#define define_mix_rows(NAME, TARGET, VECTOR, OF, LOAD, STORE) \
    TARGET static void NAME(const int16_t *const *rows, const int *pairs, int count, int16_t *result, int width) \
    { \
        enum { lanes = sizeof(VECTOR) / sizeof(int16_t) }; \
        const VECTOR half = OF(set1_epi32)(CLight_whole / 2); \
        int x, tap; \
        for (x = 0; x < width; x += 2 * lanes) { \
            VECTOR sums[4] = {half, half, half, half}; \
            for (tap = 0; tap < count; tap += 2) { \
                const int16_t *one = rows[tap] + x, *other = rows[tap + 1 < count ? tap + 1 : tap] + x; \
                VECTOR weights = OF(set1_epi32)(pairs[tap / 2]); \
                VECTOR a = LOAD((const VECTOR *) one), b = LOAD((const VECTOR *) other); \
                VECTOR c = LOAD((const VECTOR *) one + 1), d = LOAD((const VECTOR *) other + 1); \
                sums[0] = OF(add_epi32)(sums[0], OF(madd_epi16)(OF(unpacklo_epi16)(a, b), weights)); \
                sums[1] = OF(add_epi32)(sums[1], OF(madd_epi16)(OF(unpackhi_epi16)(a, b), weights)); \
                sums[2] = OF(add_epi32)(sums[2], OF(madd_epi16)(OF(unpacklo_epi16)(c, d), weights)); \
                sums[3] = OF(add_epi32)(sums[3], OF(madd_epi16)(OF(unpackhi_epi16)(c, d), weights)); \
            } \
            for (tap = 0; tap < 2; tap++) \
                STORE( \
                    (VECTOR *) (result + x) + tap, \
                    OF(packs_epi32)(OF(srai_epi32)(sums[2 * tap], 14), OF(srai_epi32)(sums[2 * tap + 1], 14))); \
        } \
    }

#define of_16_bytes(NAME) _mm_##NAME
#define of_32_bytes(NAME) _mm256_##NAME
#define of_64_bytes(NAME) _mm512_##NAME

define_mix_rows(mix_rows_sse2, , __m128i, of_16_bytes, _mm_load_si128, _mm_store_si128)

define_mix_rows(
    mix_rows_avx2, __attribute__((target("avx2"))), __m256i, of_32_bytes, _mm256_load_si256, _mm256_store_si256)

define_mix_rows(
    mix_rows_avx512, __attribute__((target("avx512f,avx512bw"))), __m512i, of_64_bytes, _mm512_load_si512,
    _mm512_store_si512)

#endif

#if defined(__ARM_NEON)

static void mix_rows_scalar(const int16_t *const *rows, const int16_t *weights, int count, int16_t *result, int width)
{
    int x, tap, part;
    for (x = 0; x < width; x += 16) {
        int32x4_t sums[4];
        for (part = 0; part < 4; part++)
            sums[part] = vdupq_n_s32(CLight_whole / 2);
        for (tap = 0; tap < count; tap++) {
            int16x8_t one = vld1q_s16(rows[tap] + x), other = vld1q_s16(rows[tap] + x + 8);
            sums[0] = vmlal_n_s16(sums[0], vget_low_s16(one), weights[tap]);
            sums[1] = vmlal_n_s16(sums[1], vget_high_s16(one), weights[tap]);
            sums[2] = vmlal_n_s16(sums[2], vget_low_s16(other), weights[tap]);
            sums[3] = vmlal_n_s16(sums[3], vget_high_s16(other), weights[tap]);
        }
        for (part = 0; part < 4; part++)
            vst1_s16(result + x + 4 * part, vqshrn_n_s32(sums[part], 14));
    }
}

#else

static void mix_rows_scalar(const int16_t *const *rows, const int16_t *weights, int count, int16_t *result, int width)
{
    int x, tap;
    for (x = 0; x < width; x++) {
        int32_t sum = CLight_whole / 2;
        for (tap = 0; tap < count; tap++)
            sum += rows[tap][x] * weights[tap];
        sum >>= 14;
        result[x] = (int16_t) (sum < INT16_MIN ? INT16_MIN : (sum > INT16_MAX ? INT16_MAX : sum));
    }
}

#endif

void CLight_mix_rows(const int16_t *const *rows, const int16_t *weights, int count, int16_t *result, int width)
{
#if defined(__SSE2__)
    int pairs[max_rows / 2], tap;
    if (count <= max_rows) {
        for (tap = 0; tap < count; tap += 2)
            pairs[tap / 2] = pair_of(weights, tap, count);
        if (__builtin_cpu_supports("avx512bw"))
            mix_rows_avx512(rows, pairs, count, result, width);
        else if (__builtin_cpu_supports("avx2"))
            mix_rows_avx2(rows, pairs, count, result, width);
        else
            mix_rows_sse2(rows, pairs, count, result, width);
        return;
    }
#endif
    mix_rows_scalar(rows, weights, count, result, width);
}

#if defined(__SSE2__)

static inline __m128i products(const int16_t *light, const int16_t *weights)
{
    return _mm_madd_epi16(_mm_loadu_si128((const __m128i *) light), _mm_loadu_si128((const __m128i *) weights));
}

static inline __m128i sum_sse2(const int16_t *light, const int16_t *weights, int taps)
{
    __m128i sum = _mm_setzero_si128();
    for (int tap = 0; tap < taps; tap += 8)
        sum = _mm_add_epi32(sum, products(light + tap, weights + tap));
    return sum;
}

static void mix_columns_sse2(const int16_t *light, const CLightFilter *filter, int first, int end, int32_t *sums)
{
    int taps = filter->taps;
    const int16_t *weights = filter->weights + (size_t) first * (size_t) taps;
    for (int x = first; x < end; x += 4, sums += 4) {
        __m128i four[4];
        for (int next = 0; next < 4; next++, weights += taps)
            four[next] = sum_sse2(light + filter->first[x + next], weights, taps);
        __m128i ab = _mm_add_epi32(_mm_unpacklo_epi32(four[0], four[1]), _mm_unpackhi_epi32(four[0], four[1]));
        __m128i cd = _mm_add_epi32(_mm_unpacklo_epi32(four[2], four[3]), _mm_unpackhi_epi32(four[2], four[3]));
        _mm_storeu_si128((__m128i *) sums, _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd)));
    }
}

#define AVX2 __attribute__((target("avx2")))

/// Joins two halves of a register from memory.
AVX2 static inline __m256i joined(const int16_t *one, const int16_t *other)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) one)), _mm_loadu_si128((const __m128i *) other), 1);
}

AVX2 static inline __m256i added(__m256i sums, __m256i light, __m256i weights)
{
    return _mm256_add_epi32(sums, _mm256_madd_epi16(light, weights));
}

/// Computes the sums of eight columns with a number of weights that the compiler knows, or does not.
AVX2 static inline __attribute__((always_inline)) void mix_eight(
    const int16_t *light, const int *first, const int16_t *weights, int taps, int32_t *sums)
{
    __m256i four[2];
    for (int half = 0; half < 2; half++) {
        __m256i parts[4];
        for (int next = 0; next < 4; next++) {
            // The parts of two columns, four apart, or of one.
            int column = taps % 16 ? next : 4 * half + next, tap = 0;
            const int16_t *samples = light + first[column], *factors = weights + column * taps;
            parts[next] = _mm256_setzero_si256();
            if (taps % 16) {
                for (; tap < taps; tap += 8)
                    parts[next] = added(
                        parts[next], joined(samples + tap, light + first[column + 4] + tap),
                        joined(factors + tap, factors + 4 * taps + tap));
                continue;
            }
            for (; tap < taps; tap += 16)
                parts[next] = added(
                    parts[next], _mm256_loadu_si256((const __m256i *) (samples + tap)),
                    _mm256_loadu_si256((const __m256i *) (factors + tap)));
        }
        four[half] = _mm256_hadd_epi32(_mm256_hadd_epi32(parts[0], parts[1]), _mm256_hadd_epi32(parts[2], parts[3]));
        if (taps % 16) {
            _mm256_storeu_si256((__m256i *) sums, four[0]);
            return;
        }
    }
    _mm256_storeu_si256((__m256i *) sums,
        _mm256_add_epi32(
            _mm256_permute2x128_si256(four[0], four[1], 0x20), _mm256_permute2x128_si256(four[0], four[1], 0x31)));
}

AVX2 static void mix_columns_avx2(const int16_t *light, const CLightFilter *filter, int first, int end, int32_t *sums)
{
    int taps = filter->taps;
    const int16_t *weights = filter->weights + (size_t) first * (size_t) taps;
    for (int x = first; x < end; x += 8, sums += 8, weights += 8 * taps) {
        const int *firsts = filter->first + x;
        switch (taps) {
        case 8: mix_eight(light, firsts, weights, 8, sums); break;
        case 16: mix_eight(light, firsts, weights, 16, sums); break;
        case 24: mix_eight(light, firsts, weights, 24, sums); break;
        default: mix_eight(light, firsts, weights, taps, sums); break;
        }
    }
}

void CLight_mix_columns(
    const int16_t *light, int origin, const CLightFilter *filter, int first, int end, int32_t *sums)
{
    if (__builtin_cpu_supports("avx2"))
        mix_columns_avx2(light - origin, filter, first, end, sums);
    else
        mix_columns_sse2(light - origin, filter, first, end, sums);
}

#else

void CLight_mix_columns(
    const int16_t *light, int origin, const CLightFilter *filter, int first, int end, int32_t *sums)
{
    int x, tap, taps = filter->taps;
    for (x = first; x < end; x++) {
        const int16_t *weights = filter->weights + (size_t) x * (size_t) taps, *samples = light + (filter->first[x] - origin);
#if defined(__ARM_NEON)
        int32x4_t sum = vdupq_n_s32(0);
        for (tap = 0; tap < taps; tap += 8) {
            int16x8_t one = vld1q_s16(samples + tap), other = vld1q_s16(weights + tap);
            sum = vmlal_high_s16(vmlal_s16(sum, vget_low_s16(one), vget_low_s16(other)), one, other);
        }
        *sums++ = vaddvq_s32(sum);
#else
        int32_t sum = 0;
        for (tap = 0; tap < taps; tap++)
            sum += samples[tap] * weights[tap];
        *sums++ = sum;
#endif
    }
}

#endif
