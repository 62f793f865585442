#ifndef CPNGShim_Rows_H
#define CPNGShim_Rows_H

#include "CPNGShim.h"

/// The bytes of a rectangle's row.
uint8_t *CPNGShim_row(const CPNGShimPart *part, size_t row);

/// The number of filters (section 9 of the standard), and the most bytes of a pixel, which filters read before a row.
enum { CPNGShim_filters = 5,
    CPNGShim_max_step = 4 };

/// Filters a row of `count` bytes with each filter, and returns the one with the least differences.
///
/// `row` and `above` must follow `step` zero bytes, the size of a pixel. `room` has space for all filters' numbers and
/// bytes; `*last` is the filter of the row above, then of this one. Returns the number of the filter and the bytes, in
/// `room`.
const uint8_t *CPNGShim_filter(
    const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *room, int *last);

#endif
