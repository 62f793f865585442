#ifndef Choice_h
#define Choice_h

#include "Blocks.h"
#include "Codes.h"

/// The costs of a band's symbols, as the distortion that their bits are worth.
typedef struct {
    int first, last;
    /// A value by its bit length and the number of zeros before it; and the end of a block.
    int values[12][block_size - 1];
    int end;
} Rates;

/// Computes costs from the frequencies of symbols in blocks of luma (`kind` 0) or chroma (1).
void CJPEG_rate_band(const Counts *counts, int kind, int first, int last, Rates *rates);

/// Finds which coefficients of a row of blocks a plain quantization keeps: approximately those that the choice keeps.
void CJPEG_keep_plainly(const Blocks *blocks, int row);

/// Quantizes a row of blocks so that the sum of distortion and bit costs is least.
void CJPEG_choose(const Blocks *blocks, int row, const Rates *rates, int bands);

#endif
