#ifndef CPalettes_H
#define CPalettes_H

#include <stddef.h>
#include <stdint.h>

// Interleaved 8-bit pixels as indices of a palette: exactly, if they have few colours, or with the colours that fit them best.

enum { CPalettes_most_colors = 256 };

/// Rows without gaps: 1 band is grey, 2 are grey and alpha, 3 are colour, 4 are colour and alpha.
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
    /// Red, green, blue and alpha. The colours with transparency come first, then they are ordered from dark to light.
    uint8_t colors[CPalettes_most_colors][4];
    int count;
} CPalettesIndexed;

typedef enum {
    CPalettesDone,
    /// The image has more than 256 colours.
    CPalettesManyColors,
    /// The watch ended the work, or there is no memory.
    CPalettesFailed,
} CPalettesStatus;

/// Reads the colours of an image; stops at the 257th one. Every pixel keeps its exact colour and alpha.
CPalettesStatus CPalettes_read(const CPalettesPixels *pixels, CPalettesIndexed *out, CPalettesWatch watch);

/// Chooses the fewest colours, at most 256, for which the root mean square of the differences is at most `error`, in levels of 0 to 255
/// and weighted by channel, and gives each pixel one of them. What a pixel differs is added to its neighbours (Floyd and Steinberg).
CPalettesStatus CPalettes_choose(const CPalettesPixels *pixels, double error, CPalettesIndexed *out, CPalettesWatch watch);

#endif
