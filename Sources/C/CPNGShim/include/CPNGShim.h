#ifndef CPNGShim_H
#define CPNGShim_H

#include <stddef.h>
#include <stdint.h>

// Completes the compressed rows of a truncated PNG file, and writes files. zlib's functions are macros, which Swift cannot call, so its
// calls are here.

/// The rows of an image, or of one pass of an interlaced image.
typedef struct {
    size_t rows;
    /// Bytes of a row, without the byte of its filter.
    size_t row_size;
} CPNGShimPass;

/// Asks at intervals whether the work is to continue: `should_stop` returns 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CPNGShimWatch;

/// Counts the bytes of rows in compressed data, up to `most`; fewer if the data end or are damaged before. Returns `SIZE_MAX` if it was
/// stopped, or there is no memory.
size_t CPNGShim_count(const void *data, size_t count, size_t most, CPNGShimWatch watch);

/// Compresses the rows again, with missing rows filled with a pixel of `pixel_size` bytes. Puts the type of a data chunk and its data into
/// `*bytes`, to be released with `free`; returns 0 on success.
int CPNGShim_complete(
    const void *data, size_t count, const CPNGShimPass *passes, int pass_count, const uint8_t *pixel, size_t pixel_size,
    CPNGShimWatch watch, void **bytes, size_t *byte_count);

/// The size of an interlaced image, and the bits of a pixel.
typedef struct {
    size_t width, height;
    int bits;
} CPNGShimPassed;

/// Writes an interlaced image whose data end early as rows without passes: pixels of the passes that are there fill the places of those
/// that are missing, and a pixel of `pixel_size` bytes fills the rest. The result is as that of `CPNGShim_complete`.
int CPNGShim_spread(
    const void *data, size_t count, const CPNGShimPassed *image, const uint8_t *pixel, size_t pixel_size, CPNGShimWatch watch,
    void **bytes, size_t *byte_count);

/// The checksum of bytes that follow those with the checksum `before`, 0 for none. A chunk's is over its type and its data.
uint32_t CPNGShim_checksum(uint32_t before, const void *bytes, size_t count);

/// A rectangle of a canvas of interleaved bytes without gaps: gray or three colors, and alpha if the number of bands is even.
typedef struct {
    uint8_t *canvas;
    size_t canvas_width;
    int bands;
    size_t left, top, width, height;
} CPNGShimPart;

/// Copies the rectangle to `rows`, without gaps.
void CPNGShim_save(const CPNGShimPart *part, void *rows);

/// Makes the rectangle black, or transparent if the canvas has alpha.
void CPNGShim_clear(const CPNGShimPart *part);

/// Puts rows without gaps into the rectangle: in place of its pixels, or laid over them. They have the canvas's colors, and alpha or
/// not; rows of other colors change nothing.
void CPNGShim_put(const CPNGShimPart *part, const void *rows, int bands, int is_blended);

/// Finds the rectangle outside of which two images of one size are equal; returns 0 if they are equal everywhere.
int CPNGShim_differ(const void *one, const void *other, size_t width, size_t height, int bands, CPNGShimPart *part);

/// The least number of bands that hold pixels of 1 to 4 bands exactly: without alpha if all are opaque, and gray if all are.
int CPNGShim_least_bands(const void *pixels, size_t count, int bands);

/// How a file holds pixels.
typedef struct {
    /// The bands that it keeps: at least as many as hold the pixels exactly.
    int bands;
    /// Red, green, blue and alpha of which the pixels, of one band, are indices, those with transparency first; null for samples.
    const uint8_t (*colors)[4];
    /// At most 256.
    int color_count;
    /// zlib's level.
    int level;
} CPNGShimForm;

/// Writes a rectangle as a file: samples of 8 bits, each row with the filter that suits it; or as few bits for a pixel as the colors
/// allow, with a palette, or as gray if that needs no more. Puts the file into `*bytes`, to be released with `free`, and the bits of a
/// component into `*depth`; returns 0 on success.
int CPNGShim_write(
    const CPNGShimPart *part, const CPNGShimForm *form, CPNGShimWatch watch, void **bytes, size_t *byte_count, int *depth);

#endif
