#ifndef CPNG_Rows_H
#define CPNG_Rows_H

#include "CPNGWriting.h"

/// The bytes of a rectangle's row.
uint8_t *CPNG_row(const CPNGPart *part, size_t row);

/// The number of filters (section 9 of the standard), and the most bytes of a pixel, which filters read before a row.
enum { CPNG_filters = 5,
    CPNG_max_step = 4 };

/// Filters a row of `count` bytes with each filter, and returns the one with the least differences.
///
/// `row` and `above` must follow `step` zero bytes, the size of a pixel. `scratch` has space for all filters' numbers and
/// bytes; `*last` is the filter of the row above, then of this one. Returns the number of the filter and the bytes, in
/// `scratch`.
const uint8_t *CPNG_filter(
    const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *scratch, int *last);

#endif
