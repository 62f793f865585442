#include "Evaluation.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

void CFaces_find_corners(const CFacesCascade *cascade, CFacesSums *sums)
{
    int count = cascade->stages[cascade->stage_count - 1].end;
    for (int index = 0; index < count; index++) {
        const Classifier *classifier = &cascade->classifiers[index];
        for (int corner = 0; corner < 16; corner++) {
            size_t left = (size_t) (classifier->x + corner % 4 * classifier->width);
            size_t top = (size_t) (classifier->y + corner / 4 * classifier->height);
            size_t column = sums->step == 1 ? left : left / 2 + (left % 2) * sums->odd;
            sums->corners[index][corner] = (int32_t) (top * sums->stride + column);
        }
    }
}

/// The neighbors of the block in the middle, clockwise from the top left, which is the highest bit of a pattern.
static const uint8_t neighbors[8][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 2}, {2, 2}, {2, 1}, {2, 0}, {1, 0}};

static unsigned evaluate_scalar(
    const CFacesCascade *cascade, const CFacesSums *sums, int x, int y)
{
    const uint16_t *window = sums->sums + (size_t) y * sums->stride + (size_t) (x / sums->step);
    unsigned passing = (1U << CFaces_lanes) - 1;
    int index = 0;
    for (int stage = 0; stage < cascade->stage_count && passing; stage++) {
        int16_t votes[CFaces_lanes] = {0};
        for (; index < cascade->stages[stage].end; index++) {
            const Classifier *classifier = &cascade->classifiers[index];
            const int32_t *corners = sums->corners[index];
            uint16_t blocks[3][3][CFaces_lanes], pattern[CFaces_lanes] = {0};
            for (int row = 0; row < 3; row++)
                for (int column = 0; column < 3; column++) {
                    const uint16_t *one = window + corners[4 * row + column], *two = window + corners[4 * row + column + 1];
                    const uint16_t *three = window + corners[4 * row + column + 4], *four = window + corners[4 * row + column + 5];
                    for (int lane = 0; lane < CFaces_lanes; lane++)
                        blocks[row][column][lane] = (uint16_t) (four[lane] - three[lane] - two[lane] + one[lane]);
                }
            for (int neighbor = 0; neighbor < 8; neighbor++) {
                const uint16_t *block = blocks[neighbors[neighbor][0]][neighbors[neighbor][1]];
                for (int lane = 0; lane < CFaces_lanes; lane++)
                    pattern[lane] = (uint16_t) (pattern[lane] << 1 | (block[lane] >= blocks[1][1][lane]));
            }
            for (int lane = 0; lane < CFaces_lanes; lane++) {
                int is_listed = classifier->patterns[pattern[lane] >> 3] >> (pattern[lane] & 7) & 1;
                votes[lane] = (int16_t) (votes[lane] + (is_listed ? classifier->vote : classifier->vote_of_others));
            }
        }
        for (int lane = 0; lane < CFaces_lanes; lane++)
            if (votes[lane] < cascade->stages[stage].threshold) passing &= ~(1U << lane);
    }
    return passing;
}

#if defined(__SSE2__)

#define AVX2 __attribute__((target("avx2")))

/// All ones for the lanes whose block is at least as bright as the middle; no sum has the highest bit.
AVX2 static inline __m256i is_bright(__m256i block, __m256i middle)
{
    return _mm256_cmpeq_epi16(_mm256_max_epu16(block, middle), block);
}

AVX2 static inline __m256i patterns_of(const uint16_t *window, const int32_t corners[16])
{
    __m256i rows[4][3], blocks[3][3];
    for (int row = 0; row < 4; row++) {
        __m256i at[4];
        for (int column = 0; column < 4; column++)
            at[column] = _mm256_loadu_si256((const __m256i *) (window + corners[4 * row + column]));
        for (int column = 0; column < 3; column++)
            rows[row][column] = _mm256_sub_epi16(at[column + 1], at[column]);
    }
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            blocks[row][column] = _mm256_sub_epi16(rows[row + 1][column], rows[row][column]);
    __m256i pattern = _mm256_setzero_si256();
    for (int neighbor = 0; neighbor < 8; neighbor++) {
        __m256i bright = is_bright(blocks[neighbors[neighbor][0]][neighbors[neighbor][1]], blocks[1][1]);
        pattern = _mm256_or_si256(pattern, _mm256_and_si256(bright, _mm256_set1_epi16((short) (0x80 >> neighbor))));
    }
    return pattern;
}

/// All ones for the lanes whose pattern is listed.
AVX2 static inline __m256i is_listed(__m256i pattern, const uint8_t patterns[32])
{
    __m256i first = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) patterns));
    __m256i second = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) patterns + 1));
    const __m256i powers = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2, 1));
    // The upper bytes of lanes look up nothing.
    __m256i place = _mm256_or_si256(_mm256_srli_epi16(pattern, 3), _mm256_set1_epi16((short) 0x8000));
    __m256i bytes = _mm256_blendv_epi8(
        _mm256_shuffle_epi8(first, place), _mm256_shuffle_epi8(second, place), _mm256_slli_epi16(place, 3));
    __m256i bit = _mm256_shuffle_epi8(powers, _mm256_and_si256(pattern, _mm256_set1_epi16(7)));
    bit = _mm256_and_si256(bit, _mm256_set1_epi16(0xFF));
    return _mm256_cmpeq_epi16(_mm256_and_si256(bytes, bit), bit);
}

AVX2 static unsigned evaluate_avx2(
    const CFacesCascade *cascade, const CFacesSums *sums, int x, int y)
{
    const uint16_t *window = sums->sums + (size_t) y * sums->stride + (size_t) (x / sums->step);
    __m256i failing = _mm256_setzero_si256();
    int index = 0;
    for (int stage = 0; stage < cascade->stage_count; stage++) {
        __m256i votes = _mm256_setzero_si256();
        for (; index < cascade->stages[stage].end; index++) {
            const Classifier *classifier = &cascade->classifiers[index];
            __m256i listed = is_listed(patterns_of(window, sums->corners[index]), classifier->patterns);
            votes = _mm256_add_epi16(votes,
                _mm256_blendv_epi8(_mm256_set1_epi16(classifier->vote_of_others), _mm256_set1_epi16(classifier->vote), listed));
        }
        failing = _mm256_or_si256(failing, _mm256_cmpgt_epi16(_mm256_set1_epi16((short) cascade->stages[stage].threshold), votes));
        if (_mm256_movemask_epi8(failing) == -1) return 0;
    }
    return ~(unsigned) _mm_movemask_epi8(_mm_packs_epi16(_mm256_castsi256_si128(failing), _mm256_extracti128_si256(failing, 1)))
        & 0xFFFF;
}

#endif

unsigned CFaces_evaluate(const CFacesCascade *cascade, const CFacesSums *sums, int x, int y)
{
#if defined(__SSE2__)
    if (__builtin_cpu_supports("avx2")) return evaluate_avx2(cascade, sums, x, y);
#endif
    return evaluate_scalar(cascade, sums, x, y);
}
