#ifndef CFastPNG_H
#define CFastPNG_H

#include <CPixels.h>

#include <stddef.h>
#include <stdint.h>

// Decodes the still of a PNG file (ISO/IEC 15948) to 8-bit pixels, reduced by whole numbers while rows arrive;
// docs/png.md explains how. The decoder does not reject a file: anything unexpected is a reason to leave the file to
// libpng.

/// The result of a call: done, stopped, or a reason to leave the file to libpng.
typedef enum {
    CFastPNGDone = 0,
    /// `should_stop` returned 1.
    CFastPNGStopped,
    /// Chunks are missing, too many, out of order, or of an unsupported kind or size.
    CFastPNGChunks,
    /// A checksum of a chunk is wrong.
    CFastPNGChecksum,
    /// The compressed data violate RFC 1950 or RFC 1951, or a row has an unknown filter.
    CFastPNGData,
    /// The compressed data end too early.
    CFastPNGEnd,
    /// Memory ran out.
    CFastPNGMemory,
} CFastPNGOutcome;

/// The chunks of a file before its rows. The pointers refer to the file's bytes, which must outlive this.
typedef struct {
    /// Size in pixels.
    int width, height;
    /// Bits of a sample; the color type (section 11.2.2); whether rows are in seven passes.
    int depth, color_type, is_interlaced;
    /// Bands of the decoded pixels: 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    int bands;
    /// The colors of a palette, three bytes each, and their alphas; or the samples of the transparent color, two bytes
    /// each.
    const uint8_t *palette, *transparency;
    int palette_count, transparency_count;
    /// The first chunk of rows, and the end of the file.
    const uint8_t *rows, *end;
} CFastPNGImage;

/// Reads the chunks before the rows.
CFastPNGOutcome CFastPNG_open(const void *file, size_t count, CFastPNGImage *image);

/// Decodes to packed rows at `pixels`: the means of boxes of `level` × `level` pixels, 1, 2, 4 or 8; sides are rounded
/// up.
CFastPNGOutcome CFastPNG_read(const CFastPNGImage *image, int level, uint8_t *pixels, CPixelsWatch watch);

#endif
