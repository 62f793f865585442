#ifndef CPNGWriting_H
#define CPNGWriting_H

#include <CPixels.h>

#include <stddef.h>
#include <stdint.h>

// Completes the compressed rows of truncated PNG files, and writes files. zlib's functions are macros, which Swift
// cannot call, so its calls are here.

/// The rows of an image, or of one pass of an interlaced image.
typedef struct {
    size_t rows;
    /// Bytes of a row, without the byte of its filter.
    size_t row_size;
} CPNGPass;

/// The data of a chunk: an offset in the file, and bytes, below 4 GiB.
typedef struct {
    size_t start, count;
} CPNGSpan;

/// Counts the bytes of rows in the compressed data of chunks, up to `most`; fewer if the data end early or are damaged.
/// Returns `SIZE_MAX` if it was stopped, or memory ran out.
size_t CPNG_count(const void *file, const CPNGSpan *spans, size_t span_count, size_t most, CPixelsWatch watch);

/// Compresses the rows again, with missing rows filled with a pixel of `pixel_size` bytes. Stores the type of a data
/// chunk and its data in `*bytes`, to be released with `free`; returns 0 on success.
int CPNG_complete(
    const void *data, size_t count, const CPNGPass *passes, int pass_count, const uint8_t *pixel, size_t pixel_size,
    CPixelsWatch watch, void **bytes, size_t *byte_count);

/// The size of an interlaced image, and the bits of a pixel.
typedef struct {
    size_t width, height;
    int bits;
} CPNGPassed;

/// Writes an interlaced image whose data end early as rows without passes: pixels of available passes fill the places
/// of missing ones, and a pixel of `pixel_size` bytes fills the rest. Returns the same as `CPNG_complete`.
int CPNG_spread(
    const void *data, size_t count, const CPNGPassed *image, const uint8_t *pixel, size_t pixel_size, CPixelsWatch watch,
    void **bytes, size_t *byte_count);

/// Returns the checksum of bytes that follow bytes with the checksum `before`, 0 for none. A chunk's checksum covers
/// its type and its data.
uint32_t CPNG_checksum(uint32_t before, const void *bytes, size_t count);

/// A rectangle of a canvas of packed interleaved bytes: gray or three colors, and alpha if the number of bands is even.
typedef struct {
    uint8_t *canvas;
    size_t canvas_width;
    int bands;
    size_t left, top, width, height;
} CPNGPart;

/// Copies the rectangle to packed `rows`.
void CPNG_save(const CPNGPart *part, void *rows);

/// Makes the rectangle black, or transparent if the canvas has alpha.
void CPNG_clear(const CPNGPart *part);

/// Writes packed rows to the rectangle, replacing or blending over its pixels. They must have the canvas's colors, with
/// or without alpha; rows of other colors change nothing.
void CPNG_put(const CPNGPart *part, const void *rows, int bands, int is_blended);

/// Finds the smallest rectangle outside which two images of one size are equal; returns 0 if they are equal everywhere.
int CPNG_differ(const void *one, const void *other, size_t width, size_t height, int bands, CPNGPart *part);

/// Returns the least number of bands that represent pixels of 1 to 4 bands exactly: without alpha if all are opaque,
/// and gray if all are.
int CPNG_min_bands(const void *pixels, size_t count, int bands);

/// The pixel format of a file.
typedef struct {
    /// The bands to keep: at least as many as represent the pixels exactly.
    int bands;
    /// Red, green, blue and alpha by index, colors with transparency first, if the pixels are indices of one band; NULL
    /// for samples.
    const uint8_t (*colors)[4];
    /// At most 256.
    int color_count;
    /// zlib's level, for colors and for large images.
    int level;
} CPNGForm;

/// Writes a rectangle as a file: 8-bit samples with the best filter for each row, or as few bits per pixel as the
/// colors allow, with a palette, or as gray if that needs no more. Stores the file in `*bytes`, to be released with
/// `free`, and the bits of a component in `*depth`; returns 0 on success.
int CPNG_write(
    const CPNGPart *part, const CPNGForm *form, CPixelsWatch watch, void **bytes, size_t *byte_count, int *depth);

/// The version of the library that compresses samples.
const char *CPNG_compressor_version(void);

#endif
