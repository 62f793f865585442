#ifndef CPNGShim_Rows_H
#define CPNGShim_Rows_H

#include "CPNGShim.h"

/// The bytes of a rectangle's row.
uint8_t *CPNGShim_row(const CPNGShimPart *part, size_t row);

/// The number of filters (section 9 of the standard), and how far before a row its filters read: a pixel has at most so many bytes.
enum { CPNGShim_filters = 5,
    CPNGShim_most_step = 4 };

/// Filters a row of `count` bytes with each filter, of which it takes the one whose differences are least.
///
/// Before `row` and `above` lie `step` bytes of zero: those of a pixel. `room` has place for all filters' numbers and bytes; `*last` is the
/// filter of the row above, then that of this one. Returns the number of the filter and the bytes, in `room`.
const uint8_t *CPNGShim_filter(
    const uint8_t *row, const uint8_t *above, size_t step, size_t count, uint8_t *room, int *last);

#endif
