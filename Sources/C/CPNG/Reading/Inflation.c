#include "Inflation.h"

#include <string.h>

enum {
    /// Bytes to request before reading symbols or the codes of a block: more than one turn of a loop takes.
    symbol_room = 32,
    head_room = 640,
    /// Bytes that may be read ahead after the last one.
    ahead_size = 16,
};

static inline uint64_t little_endian(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/// Ensures at least 56 bits.
#define refill(bits, count, next) \
    do { \
        bits |= little_endian(next) << count; \
        next += (63 - count) >> 3; \
        count |= 56; \
    } while (0)

#define drop(bits, count, number) (bits >>= (number), count -= (number))

/// Takes up to 16 bits; the caller has ensured enough bytes.
static unsigned take(Inflation *inflation, unsigned number)
{
    unsigned value;
    refill(inflation->bits, inflation->count, inflation->next);
    value = (unsigned) inflation->bits & ((1u << number) - 1);
    drop(inflation->bits, inflation->count, number);
    return value;
}

/// Ensures `least` unread bytes, or zeros after the last ones.
static void make_sure(Inflation *inflation, size_t least)
{
    size_t unread = (size_t) (inflation->end - inflation->next), taken;
    // After the last piece, a reader may be within the zeros.
    if (inflation->is_last || unread >= least)
        return;
    memmove(inflation->piece, inflation->next, unread);
    taken = CFastPNG_take(inflation->rows, inflation->piece + unread, piece_size - unread);
    inflation->next = inflation->piece;
    inflation->end = inflation->piece + unread + taken;
    inflation->is_last = inflation->rows->has_ended;
    if (inflation->is_last)
        memset(inflation->end, 0, padding_size);
}

/// Returns the next byte with no bit read.
static const uint8_t *unread_byte(const Inflation *inflation)
{
    return inflation->next - (inflation->count >> 3);
}

static int has_overrun(const Inflation *inflation)
{
    return unread_byte(inflation) > inflation->end;
}

/// Returns to a byte boundary.
static void align(Inflation *inflation)
{
    inflation->next = unread_byte(inflation);
    inflation->bits = 0;
    inflation->count = 0;
}

CFastPNGOutcome CFastPNG_begin_inflation(Inflation *inflation, Rows *rows)
{
    unsigned method, flags;
    inflation->rows = rows;
    inflation->bits = 0;
    inflation->count = 0;
    inflation->is_last = inflation->is_last_block = inflation->has_fixed_codes = 0;
    inflation->place = block_head;
    inflation->next = inflation->end = inflation->piece;
    make_sure(inflation, head_room);
    method = take(inflation, 8), flags = take(inflation, 8);
    inflation->farthest = (size_t) 256 << (method >> 4);
    return (method & 15) == 8 && method >> 4 <= 7 && (method << 8 | flags) % 31 == 0 && !(flags & 0x20) ? CFastPNGDone : CFastPNGData;
}

/// Reads the lengths of a block's codes (section 3.2.7).
static CFastPNGOutcome read_codes(Inflation *inflation)
{
    static const uint8_t order[length_code_count] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    int symbols = (int) take(inflation, 5) + 257, distances = (int) take(inflation, 5) + 1, count = (int) take(inflation, 4) + 4, place;
    uint8_t lengths[max_symbols + max_distances + 138] = {0}, own[length_code_count] = {0};
    uint32_t table[1 << length_code_bits];
    if (symbols > 286 || distances > 30)
        return CFastPNGData;
    for (place = 0; place < count; place++)
        own[order[place]] = (uint8_t) take(inflation, 3);
    if (!CFastPNG_make_length_code(table, own))
        return CFastPNGData;
    for (place = 0; place < symbols + distances;) {
        refill(inflation->bits, inflation->count, inflation->next);
        uint32_t entry = table[inflation->bits & ((1 << length_code_bits) - 1)];
        unsigned symbol = entry >> 16 & 0xFF;
        drop(inflation->bits, inflation->count, entry & 0xFF);
        if (symbol < 16) {
            lengths[place++] = (uint8_t) symbol;
            continue;
        }
        if (symbol == 16 && place == 0)
            return CFastPNGData;
        int times = symbol == 16 ? 3 + (int) take(inflation, 2) : (symbol == 17 ? 3 + (int) take(inflation, 3) : 11 + (int) take(inflation, 7));
        memset(lengths + place, symbol == 16 ? lengths[place - 1] : 0, (size_t) times);
        place += times;
    }
    if (place > symbols + distances || !lengths[256])
        return CFastPNGData;
    return CFastPNG_make_codes(&inflation->codes, lengths, symbols, distances) ? CFastPNGDone : CFastPNGData;
}

static CFastPNGOutcome read_block_head(Inflation *inflation)
{
    CFastPNGOutcome outcome = CFastPNGDone;
    make_sure(inflation, head_room);
    inflation->is_last_block = (int) take(inflation, 1);
    inflation->place = coded_symbols;
    switch (take(inflation, 2)) {
    case 0:
        drop(inflation->bits, inflation->count, inflation->count & 7);
        inflation->stored = take(inflation, 16);
        if ((take(inflation, 16) ^ 0xFFFF) != inflation->stored)
            return CFastPNGData;
        align(inflation);
        inflation->place = stored_bytes;
        break;
    case 1:
        // A file may have millions of such blocks.
        if (!inflation->has_fixed_codes)
            CFastPNG_make_fixed_codes(&inflation->codes);
        inflation->has_fixed_codes = 1;
        break;
    case 2:
        inflation->has_fixed_codes = 0;
        outcome = read_codes(inflation);
        break;
    default: return CFastPNGData;
    }
    return has_overrun(inflation) ? CFastPNGEnd : outcome;
}

static CFastPNGOutcome copy_stored(Inflation *inflation, const uint8_t *limit)
{
    size_t room = (size_t) (limit - inflation->out), unread;
    make_sure(inflation, 1);
    unread = (size_t) (inflation->end - inflation->next);
    if (inflation->stored && !unread)
        return CFastPNGEnd;
    room = room < unread ? room : unread;
    room = room < inflation->stored ? room : inflation->stored;
    memcpy(inflation->out, inflation->next, room);
    inflation->out += room;
    inflation->next += room;
    inflation->stored -= room;
    if (!inflation->stored)
        inflation->place = inflation->is_last_block ? nothing : block_head;
    return CFastPNGDone;
}

typedef struct {
    uint64_t halves[2];
} Sixteen;

static inline void copy_16(uint8_t *out, const uint8_t *from)
{
    Sixteen bytes;
    memcpy(&bytes, from, sizeof bytes);
    memcpy(out, &bytes, sizeof bytes);
}

/// Writes a match, and up to 31 bytes after it.
static inline void copy_match(uint8_t *out, size_t distance, size_t length)
{
    const uint8_t *from = out - distance;
    uint8_t *end = out + length;
    // Written bytes are repeated: the distance grows until it is wide enough.
    while (distance < 16 && out < end) {
        copy_16(out, from);
        out += distance;
        distance *= 2;
    }
    for (; out < end; out += 16, from += 16)
        copy_16(out, from);
}

/// Reads symbols of a block up to its end, to the limit, or to the end of the piece.
static CFastPNGOutcome read_symbols(Inflation *inflation, const uint8_t *limit)
{
    const uint32_t *symbols = inflation->codes.symbols, *distances = inflation->codes.distances;
    const uint8_t *next = inflation->next, *start = inflation->start;
    const uint8_t *end = inflation->is_last ? inflation->end + ahead_size : inflation->end - symbol_room;
    uint8_t *out = inflation->out;
    uint64_t bits = inflation->bits;
    unsigned count = inflation->count;
    CFastPNGOutcome outcome = CFastPNGDone;
#define look_up(BITS) symbols[(BITS) & ((1 << symbol_bits) - 1)]
    uint32_t entry = 0;
    if (next < end && out < limit) {
        refill(bits, count, next);
        entry = look_up(bits);
    }
    // At the start of each turn there are at least 56 bits, and the entry of the next symbol: looked up before the last
    // refill, which takes as long.
    while (next < end && out < limit) {
        size_t length, distance;
        // At most three literals fit into the available bits, two if a symbol follows.
        if (entry & entry_is_literal) {
            drop(bits, count, entry & 0xFF);
            *out++ = (uint8_t) (entry >> 16);
            entry = look_up(bits);
            if (entry & entry_is_literal) {
                drop(bits, count, entry & 0xFF);
                *out++ = (uint8_t) (entry >> 16);
                entry = look_up(bits);
                if (entry & entry_is_literal) {
                    drop(bits, count, entry & 0xFF);
                    *out++ = (uint8_t) (entry >> 16);
                    entry = look_up(bits);
                    refill(bits, count, next);
                    continue;
                }
            }
        }
        if (entry & entry_is_special) {
            if (entry & entry_is_table) {
                drop(bits, count, entry & 0xFF);
                entry = symbols[(entry >> 16 & 0x7FFF) + (bits & ((1u << (entry >> 8 & 31)) - 1))];
                if (entry & entry_is_literal) {
                    drop(bits, count, entry & 0xFF);
                    *out++ = (uint8_t) (entry >> 16);
                    entry = look_up(bits);
                    refill(bits, count, next);
                    continue;
                }
            }
            if (entry & entry_is_special) {
                drop(bits, count, entry & 0xFF);
                if (entry & entry_is_end)
                    inflation->place = inflation->is_last_block ? nothing : block_head;
                else
                    outcome = CFastPNGData;
                break;
            }
        }
        length = (entry >> 16) + ((bits & ((1ull << (entry & 0xFF)) - 1)) >> (entry >> 8 & 31));
        drop(bits, count, entry & 0xFF);
        refill(bits, count, next);
        entry = distances[bits & ((1 << distance_bits) - 1)];
        if (entry & entry_is_special) {
            if (entry & entry_is_table) {
                drop(bits, count, entry & 0xFF);
                entry = distances[(entry >> 16 & 0x7FFF) + (bits & ((1u << (entry >> 8 & 31)) - 1))];
            }
            if (entry & entry_is_special) {
                outcome = CFastPNGData;
                break;
            }
        }
        distance = (entry >> 16) + ((bits & ((1ull << (entry & 0xFF)) - 1)) >> (entry >> 8 & 31));
        drop(bits, count, entry & 0xFF);
        entry = look_up(bits);
        refill(bits, count, next);
        if (distance > (size_t) (out - start) || distance > inflation->farthest) {
            outcome = CFastPNGData;
            break;
        }
        copy_match(out, distance, length);
        out += length;
    }
#undef look_up
    inflation->next = next;
    inflation->bits = bits;
    inflation->count = count;
    inflation->out = out;
    // After the last byte there are only zeros.
    return inflation->is_last && has_overrun(inflation) ? CFastPNGEnd : outcome;
}

CFastPNGOutcome CFastPNG_inflate(Inflation *inflation, const uint8_t *limit)
{
    CFastPNGOutcome outcome = CFastPNGDone;
    while (!outcome && inflation->out < limit && inflation->place != nothing)
        switch (inflation->place) {
        case block_head: outcome = read_block_head(inflation); break;
        case stored_bytes: outcome = copy_stored(inflation, limit); break;
        case coded_symbols:
            make_sure(inflation, 2 * symbol_room);
            outcome = read_symbols(inflation, limit);
            break;
        case nothing: break;
        }
    return inflation->rows->outcome ? inflation->rows->outcome : outcome;
}
