#ifndef CPalettes_H
#define CPalettes_H

#include <CPixels.h>

#include <stddef.h>
#include <stdint.h>

// Converts interleaved 8-bit pixels to indices of a palette: exactly, if they have few colors, or with the best colors.

enum { CPalettes_max_colors = 256 };

/// Packed rows: 1 band is gray, 2 are gray and alpha, 3 are color, 4 are color and alpha.
typedef struct {
    const uint8_t *samples;
    int width, height, bands;
} CPalettesPixels;

/// An image as indices: one byte for each pixel, in packed rows.
typedef struct {
    /// To be released with `free`.
    uint8_t *indices;
    /// Red, green, blue and alpha. Colors with transparency come first, then colors from dark to light.
    uint8_t colors[CPalettes_max_colors][4];
    int count;
} CPalettesIndexed;

typedef enum {
    CPalettesDone,
    /// The image has more than 256 colors.
    CPalettesManyColors,
    /// The watch ended the work, or memory ran out.
    CPalettesFailed,
} CPalettesStatus;

/// Reads the colors of an image; stops at the 257th one. Every pixel keeps its exact color and alpha.
CPalettesStatus CPalettes_read(const CPalettesPixels *pixels, CPalettesIndexed *out, CPixelsWatch watch);

/// Chooses the fewest colors, at most 256, whose root mean square error is at most `error`, in levels of 0 to 255 and
/// weighted by channel, and assigns one to each pixel. Differences are diffused to neighboring pixels (Floyd and
/// Steinberg).
CPalettesStatus CPalettes_choose(const CPalettesPixels *pixels, double error, CPalettesIndexed *out, CPixelsWatch watch);

#endif
