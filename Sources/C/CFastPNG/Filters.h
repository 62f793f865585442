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

/// Reverses the filter of a row of `count` bytes; `step` are the bytes of a pixel, 1 for pixels of less, and `above` is the row before.
void CFastPNG_unfilter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t count, size_t step);

/// Reverses the filters of two rows, one below the other, at the same time, which takes less time than one after the other if each pixel
/// needs the one before; 0 if that is not so. `other_out` may be `above`.
int CFastPNG_unfilter_two(
    const int filters[2], const uint8_t *const rows[2], const uint8_t *above, uint8_t *const outs[2], size_t count, size_t step);

#endif
