#include "CPlanar.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/// Differences between neighboring chroma samples above this count.
enum { strong = 32 };

/// The samples of a row and of the row below.
typedef struct {
    const uint8_t *samples, *below;
} Rows;

static Rows rows_of(const CPlanarPlane *plane, int y)
{
    const uint8_t *row = plane->samples + (size_t) y * plane->stride;
    return (Rows) {row, row + plane->stride};
}

static inline int differ(const uint8_t *one, const uint8_t *other)
{
    int difference = *one - *other;
    return difference > strong || difference < -strong;
}

static inline int is_edge(Rows rows, int x)
{
    return differ(rows.samples + x, rows.samples + x + 1) || differ(rows.samples + x, rows.below + x);
}

static size_t count_edges_plain(Rows blue, Rows red, int count)
{
    size_t found = 0;
    for (int x = 0; x < count; x++)
        found += is_edge(blue, x) || is_edge(red, x);
    return found;
}

#if defined(__SSE2__)

/// Samples in a register.
enum { lanes = sizeof(__m128i) };

static inline __m128i load(const uint8_t *samples)
{
    return _mm_loadu_si128((const __m128i *) samples);
}

static inline __m128i distance(__m128i one, __m128i other)
{
    return _mm_or_si128(_mm_subs_epu8(one, other), _mm_subs_epu8(other, one));
}

/// Returns the larger of each sample's distances to the right and down.
static inline __m128i distances(Rows rows, int x)
{
    __m128i samples = load(rows.samples + x);
    return _mm_max_epu8(distance(samples, load(rows.samples + x + 1)), distance(samples, load(rows.below + x)));
}

/// Returns 1 for each sample from `x` on that is an edge in either plane, otherwise 0.
static inline __m128i edges(Rows blue, Rows red, int x)
{
    __m128i largest = _mm_max_epu8(distances(blue, x), distances(red, x));
    return _mm_min_epu8(_mm_subs_epu8(largest, _mm_set1_epi8(strong)), _mm_set1_epi8(1));
}

static size_t count_edges(Rows blue, Rows red, int count)
{
    // Ones after zeros, loaded at an offset that excludes samples counted before.
    static const uint8_t masks[2 * lanes] = {[lanes] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    __m128i sums = _mm_setzero_si128();
    int x = 0;
    if (count < lanes)
        return count_edges_plain(blue, red, count);
    for (; x + lanes <= count; x += lanes)
        sums = _mm_add_epi64(sums, _mm_sad_epu8(edges(blue, red, x), _mm_setzero_si128()));
    if (x < count) {
        __m128i last = _mm_and_si128(edges(blue, red, count - lanes), load(masks + (count - x)));
        sums = _mm_add_epi64(sums, _mm_sad_epu8(last, _mm_setzero_si128()));
    }
    return (size_t) (_mm_cvtsi128_si32(sums) + _mm_cvtsi128_si32(_mm_srli_si128(sums, 8)));
}

#elif defined(__ARM_NEON)

static inline uint8x16_t distances(Rows rows, int x)
{
    uint8x16_t samples = vld1q_u8(rows.samples + x);
    return vmaxq_u8(
        vabdq_u8(samples, vld1q_u8(rows.samples + x + 1)), vabdq_u8(samples, vld1q_u8(rows.below + x)));
}

static size_t count_edges(Rows blue, Rows red, int count)
{
    size_t found = 0;
    int x = 0;
    for (; x + 16 <= count; x += 16) {
        uint8x16_t is_strong = vcgtq_u8(vmaxq_u8(distances(blue, x), distances(red, x)), vdupq_n_u8(strong));
        found += vaddvq_u8(vandq_u8(is_strong, vdupq_n_u8(1)));
    }
    return found
        + count_edges_plain((Rows) {blue.samples + x, blue.below + x}, (Rows) {red.samples + x, red.below + x}, count - x);
}

#else

static size_t count_edges(Rows blue, Rows red, int count)
{
    return count_edges_plain(blue, red, count);
}

#endif

size_t CPlanar_color_edges(const CPlanarPlane *blue, const CPlanarPlane *red)
{
    size_t found = 0;
    for (int y = 0; y + 1 < blue->height; y++)
        found += count_edges(rows_of(blue, y), rows_of(red, y), blue->width - 1);
    return found;
}
