#ifndef Choice_h
#define Choice_h

#include "Blocks.h"
#include "Codes.h"

/// The costs of the symbols of a band of coefficients, as distortion that is worth their bits.
typedef struct {
    int first, last;
    /// A value by the bits that it has, behind so many zeros; and the end of a block.
    int values[12][block_size - 1];
    int end;
} Rates;

/// The costs of symbols that occur so often in blocks of luma (`kind` 0) or chroma (1).
void CJPEG_rate_band(const Counts *counts, int kind, int first, int last, Rates *rates);

/// Finds which coefficients of a row of blocks a plain quantization keeps: about those that the choice keeps.
void CJPEG_keep_plainly(const Blocks *blocks, int row);

/// Quantizes a row of blocks so that their distortion and the costs of their bits are least together.
void CJPEG_choose(const Blocks *blocks, int row, const Rates *rates, int bands);

#endif
