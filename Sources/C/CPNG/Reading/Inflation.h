#ifndef Inflation_h
#define Inflation_h

#include "Chunks.h"
#include "Codes.h"

enum {
    /// Farthest distance of a match.
    history_size = 32 << 10,
    /// Room after the limit: for the longest match, the literals before it, and bytes copied ahead.
    overrun_size = 258 + 3 + 32,
    piece_size = 32 << 10,
    /// Zeros after the last piece: more than the lengths of a block's codes take.
    padding_size = 1 << 10,
};

/// The next part of the compressed data.
typedef enum { block_head,
    stored_bytes,
    coded_symbols,
    nothing } Place;

/// Compressed rows (RFC 1950, RFC 1951), inflated a portion at a time.
typedef struct {
    Rows *rows;
    /// The unread bits, lowest first: `count` of them, and possibly some of those at `next`.
    uint64_t bits;
    unsigned count;
    /// The unread bytes of the piece.
    const uint8_t *next;
    uint8_t *end;
    /// Whether the piece is the last one.
    int is_last;
    Place place;
    int is_last_block;
    /// Bytes left in a stored block.
    size_t stored;
    /// Farthest distance that the header declares.
    size_t farthest;
    /// The output position, and the bytes before it: as many as matches may refer to, or all.
    uint8_t *out;
    const uint8_t *start;
    Codes codes;
    int has_fixed_codes;
    uint8_t piece[piece_size + padding_size];
} Inflation;

/// Reads the header of the data.
CFastPNGOutcome CFastPNG_begin_inflation(Inflation *inflation, Rows *rows);

/// Writes bytes until `limit` is reached or exceeded, by at most `overrun_size` including bytes written ahead, or until
/// the data end.
CFastPNGOutcome CFastPNG_inflate(Inflation *inflation, const uint8_t *limit);

#endif
