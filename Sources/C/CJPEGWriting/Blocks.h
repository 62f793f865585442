#ifndef Blocks_h
#define Blocks_h

#include "CJPEGWriting.h"

enum {
    /// Coefficients of a block.
    block_size = 64,
    /// Binary digits behind the point of a coefficient that is not quantised yet, in steps.
    step_bits = 5,
    /// Most that a coefficient is (T.81 section F.1.2): one of eight bits has 10.
    most_value = 1023,
};

/// The blocks of a plane.
typedef struct {
    /// Of a block 64 coefficients in the order of the file (T.81 figure A.6).
    int16_t *values;
    /// Of a block one bit for each coefficient that is not zero, the first one in bit 0.
    uint64_t *kept;
    /// Blocks in a row, and rows, that the samples fill.
    int across, down;
    /// The same, filled up to whole MCUs (section A.2.4).
    int all_across, all_down;
    /// Blocks across and down in an MCU.
    int sampling;
    /// 0 for luma, 1 for chroma.
    int kind;
} Blocks;

/// The bits of coefficients from `first` to `last`.
static inline uint64_t bits_between(int first, int last)
{
    return (~(uint64_t) 0 >> (63 - last)) & (~(uint64_t) 0 << first);
}

/// The place, in rows of rising vertical frequency, of each coefficient of a file.
extern const uint8_t CJPEG_places[block_size];

/// Factors from transformed samples to steps with `step_bits`, in columns of rising vertical frequency.
typedef struct {
    float factors[block_size];
} Scaling;

Scaling CJPEG_scaling(const uint8_t *steps);

/// Transforms a row of blocks into steps with `step_bits`; the samples beyond the plane repeat its last ones.
void CJPEG_transform(const CJPEGPlane *plane, const Scaling *scaling, int row, const Blocks *blocks);

#endif
