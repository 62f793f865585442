#ifndef CPNGShim_H
#define CPNGShim_H

#include <stddef.h>
#include <stdint.h>

// The compressed rows of a PNG, ended properly where the file does not. zlib is a state machine of macros, so its calls are here.

/// The rows of a picture, or of one pass of an interlaced one.
typedef struct {
    size_t rows;
    /// Bytes of a row, without the one that names its filter.
    size_t row_size;
} CPNGShimPass;

/// Asks every now and then whether work is to go on: `should_stop` answers 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CPNGShimWatch;

/// Counts the bytes of rows that compressed data hold, up to `most`: fewer where they end, or make no sense, before. Stopped where it
/// answers `SIZE_MAX`, also without memory.
size_t CPNGShim_count(const void *data, size_t count, size_t most, CPNGShimWatch watch);

/// Compresses the rows again, with those that are missing filled up by a pixel of `pixel_size` bytes, into `*bytes`, to be released with
/// `free`: the type of a data chunk, and its data; 0 when that worked.
int CPNGShim_complete(
    const void *data, size_t count, const CPNGShimPass *passes, int pass_count, const uint8_t *pixel, size_t pixel_size,
    CPNGShimWatch watch, void **bytes, size_t *byte_count);

/// The checksum of a chunk: of its type and its data.
uint32_t CPNGShim_checksum(const void *bytes, size_t count);

#endif
