#ifndef Chunks_h
#define Chunks_h

#include "CFastPNG.h"

/// Color types (section 11.2.2).
enum { grey = 0,
    color = 2,
    palette = 3,
    grey_alpha = 4,
    color_alpha = 6 };

/// The data of the chunks of rows (ISO/IEC 15948 section 11.2.4), one after the other.
typedef struct {
    /// The next byte and the bytes that are left of the chunk, behind which its checksum stands.
    const uint8_t *next;
    size_t left;
    /// The checksum of what was taken.
    uint32_t checksum;
    const uint8_t *end;
    /// Why no more data come; "done" behind the last chunk.
    CFastPNGOutcome outcome;
    int has_ended;
    /// Asked for each piece that is taken.
    CFastPNGWatch watch;
} Rows;

/// The data from the image's first chunk of rows on.
Rows CFastPNG_rows(const CFastPNGImage *image, CFastPNGWatch watch);

/// Copies data to `room`, and returns the number of bytes: fewer than `count` only if there are no more.
size_t CFastPNG_take(Rows *rows, uint8_t *room, size_t count);

/// Reads the chunks behind the rows, up to the last one.
CFastPNGOutcome CFastPNG_read_end(const Rows *rows);

#endif
