#ifndef CFastPNG_H
#define CFastPNG_H

#include <stddef.h>
#include <stdint.h>

// Decodes the still of a PNG file (ISO/IEC 15948) to 8-bit pixels, reduced by whole numbers while rows arrive; docs/png.md explains how. The
// decoder does not judge a file: whatever is not as it should be is a reason to leave the file to libpng.

/// The end of a call: done, stopped, or a reason to leave the file to libpng.
typedef enum {
    CFastPNGDone = 0,
    /// `should_stop` answered 1.
    CFastPNGStopped,
    /// Chunks are missing, too many, out of order, or of a kind or size that the decoder does not know.
    CFastPNGChunks,
    /// A checksum of a chunk is wrong.
    CFastPNGChecksum,
    /// The compressed data are not what RFC 1950 and RFC 1951 say, or a row has an unknown filter.
    CFastPNGData,
    /// The compressed data end too early or too late.
    CFastPNGEnd,
    /// There is no memory.
    CFastPNGMemory,
} CFastPNGOutcome;

/// Asks at intervals whether work is to go on: `should_stop` answers 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CFastPNGWatch;

/// The chunks of a file before its rows. The pointers are to its bytes, which must outlive this.
typedef struct {
    /// Size in pixels.
    int width, height;
    /// Bits of a sample; the color type (section 11.2.2); whether rows come in seven passes.
    int depth, color_type, is_interlaced;
    /// Bands of the decoded pixels: 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    int bands;
    /// The colors of a palette, three bytes each, and their alphas; or the samples of the transparent color, two bytes each.
    const uint8_t *palette, *transparency;
    int palette_count, transparency_count;
    /// The first chunk of rows, and the end of the file.
    const uint8_t *rows, *end;
} CFastPNGImage;

/// Reads the chunks before the rows.
CFastPNGOutcome CFastPNG_open(const void *file, size_t count, CFastPNGImage *image);

/// Decodes to rows without gaps, at `pixels`: the means of boxes of `level` × `level` pixels, 1, 2, 4 or 8; sides are rounded up.
CFastPNGOutcome CFastPNG_read(const CFastPNGImage *image, int level, uint8_t *pixels, CFastPNGWatch watch);

#endif
