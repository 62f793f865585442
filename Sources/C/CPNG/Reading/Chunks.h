#ifndef Chunks_h
#define Chunks_h

#include "CFastPNG.h"

/// Color types (section 11.2.2).
enum { gray = 0,
    color = 2,
    palette = 3,
    gray_alpha = 4,
    color_alpha = 6 };

/// The data of consecutive row chunks (ISO/IEC 15948 section 11.2.4).
typedef struct {
    /// The next byte and the number of bytes left in the chunk, before its checksum.
    const uint8_t *next;
    size_t left;
    /// The checksum of the bytes so far.
    uint32_t checksum;
    const uint8_t *end;
    /// Why the data ended; "done" after the last chunk.
    CFastPNGOutcome outcome;
    int has_ended;
    /// Checked for each piece.
    CPixelsWatch watch;
} Rows;

/// Returns the data from the image's first row chunk on.
Rows CFastPNG_rows(const CFastPNGImage *image, CPixelsWatch watch);

/// Copies data to `room`, and returns the number of bytes: fewer than `count` only at the end.
size_t CFastPNG_take(Rows *rows, uint8_t *room, size_t count);

/// Reads the chunks after the rows, up to the last one.
CFastPNGOutcome CFastPNG_read_end(Rows *rows);

#endif
