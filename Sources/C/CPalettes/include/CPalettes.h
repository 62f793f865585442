#ifndef CPalettes_H
#define CPalettes_H

#include <stddef.h>
#include <stdint.h>

// Interleaved 8-bit pixels as indices of a palette: exactly, if they have few colors, or with the colors that fit them best.

enum { CPalettes_most_colors = 256 };

/// Rows without gaps: 1 band is gray, 2 are gray and alpha, 3 are color, 4 are color and alpha.
typedef struct {
    const uint8_t *samples;
    int width, height, bands;
} CPalettesPixels;

/// Asks at intervals whether the work is to continue: `should_stop` returns 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CPalettesWatch;

/// An image as indices: one byte for each pixel, rows without gaps.
typedef struct {
    /// To be released with `free`.
    uint8_t *indices;
    /// Red, green, blue and alpha. The colors with transparency come first, then they are ordered from dark to light.
    uint8_t colors[CPalettes_most_colors][4];
    int count;
} CPalettesIndexed;

typedef enum {
    CPalettesDone,
    /// The image has more than 256 colors.
    CPalettesManyColors,
    /// The watch ended the work, or there is no memory.
    CPalettesFailed,
} CPalettesStatus;

/// Reads the colors of an image; stops at the 257th one. Every pixel keeps its exact color and alpha.
CPalettesStatus CPalettes_read(const CPalettesPixels *pixels, CPalettesIndexed *out, CPalettesWatch watch);

/// Chooses the fewest colors, at most 256, for which the root mean square of the differences is at most `error`, in levels of 0 to 255
/// and weighted by channel, and gives each pixel one of them. What a pixel differs is added to its neighbors (Floyd and Steinberg).
CPalettesStatus CPalettes_choose(const CPalettesPixels *pixels, double error, CPalettesIndexed *out, CPalettesWatch watch);

#endif
