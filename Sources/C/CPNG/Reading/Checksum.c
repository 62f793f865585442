#include "Checksum.h"

#include <pthread.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// The checksum of each byte followed by 0 to 7 zeros.
static uint32_t tables[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compute(void)
{
    uint32_t value, rest;
    int bit, table;
    for (value = 0; value < 256; value++) {
        rest = value;
        for (bit = 0; bit < 8; bit++)
            rest = rest & 1 ? rest >> 1 ^ 0xEDB88320 : rest >> 1;
        tables[0][value] = rest;
    }
    for (table = 1; table < 8; table++)
        for (value = 0; value < 256; value++) {
            rest = tables[table - 1][value];
            tables[table][value] = rest >> 8 ^ tables[0][rest & 255];
        }
}

/// Eight bytes at a time, by tables. Checksums are inverted.
static uint32_t checksum_by_tables(uint32_t rest, const uint8_t *bytes, size_t count)
{
    pthread_once(&once, compute);
    for (; count >= 8; count -= 8, bytes += 8) {
        uint32_t low = rest ^ (bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16 | (uint32_t) bytes[3] << 24);
        rest = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24]
            ^ tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
    }
    for (; count; count--, bytes++)
        rest = rest >> 8 ^ tables[0][(rest ^ *bytes) & 255];
    return rest;
}

#if defined(__SSE2__)

/// Fewest bytes for folding.
enum { min_folded = 64 };

#define with_folds __attribute__((target("pclmul,sse4.1")))

/// Advances sixteen bytes by the distance of the factors, and adds the bytes there.
with_folds static inline __m128i fold(__m128i sum, __m128i factors, __m128i next)
{
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(sum, factors, 0x00), _mm_clmulepi64_si128(sum, factors, 0x11)), next);
}

/// Folds bytes by carry-less products, as V. Gopal et al. describe ("Fast CRC Computation for Generic Polynomials Using
/// PCLMULQDQ Instruction", Intel 2009): the factors are powers of x modulo the polynomial, with reversed bits. `count`
/// is a multiple of 16.
with_folds static uint32_t checksum_by_folds(uint32_t rest, const uint8_t *bytes, size_t count)
{
    const __m128i over_64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4), over_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const __m128i over_4 = _mm_set_epi64x(0, 0x0163cd6124), quotient = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low = _mm_setr_epi32(-1, 0, -1, 0), *next = (const __m128i *) bytes;
    __m128i sums[4], sum, part;
    int index;
    for (index = 0; index < 4; index++)
        sums[index] = _mm_loadu_si128(next++);
    sums[0] = _mm_xor_si128(sums[0], _mm_cvtsi32_si128((int) rest));
    for (count -= 64; count >= 64; count -= 64)
        for (index = 0; index < 4; index++)
            sums[index] = fold(sums[index], over_64, _mm_loadu_si128(next++));
    sum = sums[0];
    for (index = 1; index < 4; index++)
        sum = fold(sum, over_16, sums[index]);
    for (; count >= 16; count -= 16)
        sum = fold(sum, over_16, _mm_loadu_si128(next++));
    // From 16 bytes to 8, and to 4; then Barrett reduction.
    sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, over_16, 0x10));
    part = _mm_srli_si128(sum, 4);
    sum = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(sum, low), over_4, 0x00), part);
    part = _mm_clmulepi64_si128(_mm_and_si128(sum, low), quotient, 0x10);
    part = _mm_clmulepi64_si128(_mm_and_si128(part, low), quotient, 0x00);
    return (uint32_t) _mm_extract_epi32(_mm_xor_si128(sum, part), 1);
}

#endif

uint32_t CFastPNG_checksum(uint32_t before, const uint8_t *bytes, size_t count)
{
    uint32_t rest = ~before;
#if defined(__SSE2__)
    size_t folded = count / 16 * 16;
    if (folded >= min_folded && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
        rest = checksum_by_folds(rest, bytes, folded);
        bytes += folded;
        count -= folded;
    }
#endif
    return ~checksum_by_tables(rest, bytes, count);
}
