#ifndef Filters_h
#define Filters_h

#include <stddef.h>
#include <stdint.h>

/// The filters of rows (ISO/IEC 15948 section 9.2).
enum { filter_none,
    filter_sub,
    filter_up,
    filter_average,
    filter_paeth,
    filter_count };

/// Reverses the filter of a row of `count` bytes; `step` is the bytes per pixel, at least 1, and `above` is the row
/// before. Up to seven bytes after each row are read and written.
void CFastPNG_unfilter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t step);

/// Reverses the filters of two consecutive rows in parallel, which is faster if each pixel depends on the one before;
/// returns 0 if that is not so. `other_out` may be `above`.
int CFastPNG_unfilter_two(
    const int filters[2], const uint8_t *const rows[2], const uint8_t *above, uint8_t *const outs[2], size_t count, size_t step);

#endif
