#ifndef Inflation_h
#define Inflation_h

#include "Chunks.h"
#include "Codes.h"

enum {
    /// Farthest distance of a match.
    history_size = 32 << 10,
    /// Room behind the limit: of the longest match, the literals before it, and what is copied ahead.
    overrun_size = 258 + 3 + 32,
    piece_size = 32 << 10,
    /// Zeros behind the last piece: more than the lengths of a block's codes take.
    padding_size = 1 << 10,
};

/// The part of the compressed data that comes next.
typedef enum { block_head,
    stored_bytes,
    coded_symbols,
    nothing } Place;

/// Compressed rows (RFC 1950, RFC 1951), inflated a portion at a time.
typedef struct {
    Rows *rows;
    /// The unread bits, the lowest first: `count` of them, and perhaps some of those at `next` already.
    uint64_t bits;
    unsigned count;
    /// The unread bytes of the piece.
    const uint8_t *next;
    uint8_t *end;
    /// Whether the piece is the last one.
    int is_last;
    Place place;
    int is_last_block;
    /// Bytes that are left of a stored block.
    size_t stored;
    /// Farthest distance that the data announce.
    size_t farthest;
    /// Where the bytes go, and the bytes before them: as many as matches may reach back to, or all.
    uint8_t *out;
    const uint8_t *start;
    Codes codes;
    int has_fixed_codes;
    uint8_t piece[piece_size + padding_size];
} Inflation;

/// Reads the head of the data.
CFastPNGOutcome CFastPNG_begin_inflation(Inflation *inflation, Rows *rows);

/// Writes bytes until `limit` is reached or passed, by at most `overrun_size` with what is written ahead, or until the data end.
CFastPNGOutcome CFastPNG_inflate(Inflation *inflation, const uint8_t *limit);

/// Whether the data have ended where the chunks end.
CFastPNGOutcome CFastPNG_end_inflation(Inflation *inflation);

#endif
