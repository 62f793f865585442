#ifndef Blocks_h
#define Blocks_h

#include "CJPEGWriting.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

enum {
    /// Coefficients of a block.
    block_size = 64,
    /// Fractional bits of an unquantized coefficient, in steps.
    step_bits = 5,
    one_step = 1 << step_bits,
    half_step = one_step / 2,
    /// The least coefficient that a plain quantization keeps.
    plain_least = 18,
    /// Maximum coefficient (T.81 section F.1.2): 10 bits for 8-bit samples.
    max_value = 1023,
};

/// A function that is inlined into its callers, where some arguments are constants.
#define INLINED static inline __attribute__((always_inline))

/// The blocks of a plane.
typedef struct {
    /// The 64 coefficients of each block, in the order of the file (T.81 figure A.6).
    int16_t *values;
    /// For each block, a bit for each nonzero coefficient, the first one in bit 0.
    uint64_t *kept;
    /// Blocks in a row, and rows, that contain samples.
    int across, down;
    /// The same, padded to whole MCUs (section A.2.4).
    int all_across, all_down;
    /// Blocks across and down in an MCU.
    int sampling;
    /// 0 for luma, 1 for chroma.
    int kind;
} Blocks;

/// Returns the bits of coefficients from `first` to `last`.
static inline uint64_t bits_between(int first, int last)
{
    return (~(uint64_t) 0 >> (63 - last)) & (~(uint64_t) 0 << first);
}

/// Returns the bit length of a number; 0 for zero.
static inline int bits_of(int magnitude)
{
    return magnitude == 0 ? 0 : 32 - __builtin_clz((unsigned) magnitude);
}

static inline int magnitude_of(int value)
{
    return value < 0 ? -value : value;
}

/// Returns the quantized value of an unquantized coefficient.
static inline int nearest(int value)
{
    int magnitude = (magnitude_of(value) + half_step) >> step_bits;
    return value < 0 ? -magnitude : magnitude;
}

/// Returns the bits of the coefficients, except the first, whose magnitude is at least `least`.
static inline uint64_t found(const int16_t *values, int least)
{
    uint64_t bits = 0;
#if defined(__SSE2__)
    const __m128i below = _mm_set1_epi16((short) (least - 1)), zero = _mm_setzero_si128();
    for (int index = 0; index < block_size; index += 16) {
        __m128i one = _mm_loadu_si128((const __m128i *) (values + index));
        __m128i two = _mm_loadu_si128((const __m128i *) (values + index + 8));
        one = _mm_cmpgt_epi16(_mm_max_epi16(one, _mm_sub_epi16(zero, one)), below);
        two = _mm_cmpgt_epi16(_mm_max_epi16(two, _mm_sub_epi16(zero, two)), below);
        bits |= (uint64_t) (unsigned) _mm_movemask_epi8(_mm_packs_epi16(one, two)) << index;
    }
#elif defined(__ARM_NEON)
    static const uint8_t powers[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x8_t power = vld1_u8(powers);
    for (int index = 0; index < block_size; index += 8) {
        uint16x8_t far = vcgeq_s16(vabsq_s16(vld1q_s16(values + index)), vdupq_n_s16((int16_t) least));
        bits |= (uint64_t) vaddv_u8(vand_u8(vmovn_u16(far), power)) << index;
    }
#else
    for (int index = 0; index < block_size; index++)
        bits |= (uint64_t) (magnitude_of(values[index]) >= least) << index;
#endif
    return bits & ~(uint64_t) 1;
}

/// The position, in rows of rising vertical frequency, of each coefficient of a file.
extern const uint8_t CJPEG_zigzag[block_size];

/// Factors from transformed samples to steps with `step_bits`, in columns of rising vertical frequency.
typedef struct {
    float factors[block_size];
} Scaling;

Scaling CJPEG_scaling(const uint8_t *steps);

/// Transforms a row of blocks to steps with `step_bits`; beyond the plane, its last samples repeat.
void CJPEG_transform(const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks);

#endif
