#ifndef BitReader_h
#define BitReader_h

#include "CFastJPEG.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Reads a scan's entropy-coded data as bits (T.81 section F.2.2.5).
//
// Data are copied in pieces, without the stuffed zeros after bytes of 0xFF. Reading within a piece does not test for
// markers: before each unit of blocks, a decoder requests as many bytes as a unit can have, and afterwards checks for
// an overrun.

enum {
    /// Maximum length of a code, and of the bits of the value after it.
    max_code_bits = 16,
    max_dc_bits = 11,
    max_ac_bits = 10,
    coefficient_count = 64,
    max_blocks = 10,
    /// More bytes than any block takes, including bytes read ahead.
    max_block_bytes = 256,
    piece_size = 32 << 10,
};
_Static_assert(
    (max_code_bits + max_dc_bits + (coefficient_count - 1) * (max_code_bits + max_ac_bits)) / 8 + 2 * 16
        <= max_block_bytes,
    "a block does not fit into what is read ahead");

/// A position in the data: the unread bits before the byte at `next`, stored as the highest bits of `bits`.
///
/// The lowest six bits of `count` are the number of these bits; its higher bits are ignored, so that a whole table
/// entry may be subtracted from it. The other bits of `bits` are zero, or are already the bits at `next`.
typedef struct {
    uint64_t bits;
    const uint8_t *next;
    uint32_t count;
} BitReader;

typedef struct {
    /// The next byte to copy, and the file's end.
    const uint8_t *source, *source_end;
    /// The end of the bytes in `piece`.
    uint8_t *end;
    /// Whether they are the last before a marker, at `source`, or before the file's end.
    int is_last;
    /// Bytes without stuffing, and room for bytes read ahead and copied ahead.
    uint8_t piece[piece_size + 2 * max_block_bytes];
} ScanData;

static inline uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/// Ensures at least 56 bits.
static inline void refill(BitReader *reader)
{
    reader->bits |= big_endian(reader->next) >> (reader->count & 63);
    reader->next += (~reader->count & 63) >> 3;
    reader->count |= 56;
}

/// Drops the number of bits in the lowest six bits of `count`.
static inline void drop(BitReader *reader, uint32_t count)
{
    reader->bits <<= count & 63;
    reader->count -= count;
}

/// Takes 0 to 16 available bits.
static inline unsigned take(BitReader *reader, unsigned count)
{
    unsigned value = (unsigned) (reader->bits >> 1 >> (63 - count));
    drop(reader, count);
    return value;
}

/// Returns the value of the highest `size` bits of `bits` (section F.2.2.1, "EXTEND"); 0 for none.
static inline int extended(uint64_t bits, unsigned size)
{
    int value = (int) (bits >> 1 >> (63 - size));
    int is_negative = (int) ~((int64_t) bits >> 63);
    return value + (is_negative & (int) (1 - (1u << size)));
}

/// Returns the position after the bytes of the piece that were read, completely or in part.
static inline const uint8_t *position(const BitReader *reader)
{
    return reader->next - ((reader->count & 63) >> 3);
}

#if defined(__SSE2__)
#define CFastJPEG_copies_runs

/// Copies 16 bytes, and counts those before the first 0xFF.
static inline unsigned copy_run(const uint8_t *from, uint8_t *to)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *) from);
    unsigned marks = (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char) 0xFF)));
    _mm_storeu_si128((__m128i *) to, bytes);
    return marks ? (unsigned) __builtin_ctz(marks) : 16;
}

#elif defined(__ARM_NEON)
#define CFastJPEG_copies_runs

static inline unsigned copy_run(const uint8_t *from, uint8_t *to)
{
    uint8x16_t bytes = vld1q_u8(from);
    // Four bits for each byte.
    uint8x8_t marks = vshrn_n_u16(vreinterpretq_u16_u8(vceqq_u8(bytes, vdupq_n_u8(0xFF))), 4);
    uint64_t marked = vget_lane_u64(vreinterpret_u64_u8(marks), 0);
    vst1q_u8(to, bytes);
    return marked ? (unsigned) __builtin_ctzll(marked) / 4 : 16;
}

#endif

/// Copies bytes until the piece is full, a marker follows, or the file ends.
static inline void unstuff(ScanData *data)
{
    const uint8_t *from = data->source, *from_end = data->source_end;
    uint8_t *to = data->end, *to_end = data->piece + piece_size;
    data->is_last = 0;
    while (to < to_end) {
#if defined(CFastJPEG_copies_runs)
        // A whole register at a time until 0xFF.
        while (from_end - from >= 16 && to < to_end) {
            unsigned count = copy_run(from, to);
            if (count < 16) {
                from += count, to += count;
                break;
            }
            // Constants: the next load does not wait for the count.
            from += 16, to += 16;
        }
        if (to >= to_end)
            break;
#endif
        if (from == from_end) {
            data->is_last = 1;
            break;
        }
        if (*from == 0xFF) {
            if (from_end - from < 2 || from[1] != 0) {
                data->is_last = 1;
                break;
            }
            from++;
            *to++ = 0xFF;
            from++;
            continue;
        }
        *to++ = *from++;
    }
    data->source = from;
    data->end = to;
    memset(to, 0, max_block_bytes);
}

/// Starts reading at `data->source`.
static inline BitReader begin_reading(ScanData *data)
{
    data->end = data->piece;
    unstuff(data);
    return (BitReader) {0, data->piece, 0};
}

/// Recomputes the same bits, at least 49 of them, from their number.
static inline BitReader reloaded(const BitReader *reader)
{
    unsigned count = reader->count & 63;
    unsigned skipped = -count & 7;
    const uint8_t *first = reader->next - (count + 7) / 8;
    return (BitReader) {big_endian(first) << skipped, first + 7, 56 - skipped};
}

/// Continues with the next piece; must be called if less than a block may be left.
static inline void next_piece(ScanData *data, BitReader *reader)
{
    unsigned kept = ((reader->count & 63) + 7) / 8;
    const uint8_t *rest = reader->next - kept;
    size_t count = (size_t) (data->end - rest);
    memmove(data->piece, rest, count);
    data->end = data->piece + count;
    unstuff(data);
    reader->next = data->piece + kept;
    *reader = reloaded(reader);
}

/// Returns the limit of `next` at the start of a block; after it, there is another piece or the end.
static inline const uint8_t *limit(const ScanData *data)
{
    return data->is_last ? data->end + 8 : data->end - max_block_bytes;
}

/// Returns whether more was read than exists.
static inline int has_overrun(const ScanData *data, const BitReader *reader)
{
    return position(reader) > data->end;
}

/// Returns whether only padding of the last byte is left.
static inline int has_ended(ScanData *data, BitReader *reader)
{
    if (!data->is_last)
        next_piece(data, reader);
    return data->is_last && position(reader) == data->end;
}

/// Skips the restart marker (section F.2.1.3.1) with the number `number`, which must be next.
static inline CFastJPEGOutcome restart(ScanData *data, BitReader *reader, unsigned number)
{
    if (!has_ended(data, reader))
        return CFastJPEGEnd;
    if (data->source_end - data->source < 2 || data->source[1] != 0xD0 + (number & 7))
        return CFastJPEGRestart;
    data->source += 2;
    *reader = begin_reading(data);
    return CFastJPEGDone;
}

#endif
