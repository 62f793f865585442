#include "Scans.h"

#include <stdlib.h>
#include <string.h>

enum {
    /// Maximum number of symbols that a block adds: a run's end, and zero runs and values of all coefficients.
    max_block_symbols = 1 + block_size,
    /// Where a list begins, so that no code overwrites a symbol that is still needed.
    first_symbol = 2,
    zero_run = 0xf0,
    longest_run = 0x7fff,
};

int CJPEG_reserve(Output *output, size_t bytes)
{
    if (output->bytes && output->capacity - output->count >= bytes)
        return 1;
    if (!output->bytes && output->capacity)
        return 0;
    size_t capacity = 2 * output->capacity + bytes;
    uint8_t *grown = realloc(output->bytes, capacity);
    if (!grown)
        free(output->bytes);
    output->bytes = grown;
    output->capacity = capacity;
    return grown != NULL;
}

/// Counts symbols, and lists them unless `symbols` is NULL.
typedef struct {
    Counts *counts;
    /// Whether the coefficients are unquantized, and count as after a plain quantization.
    int is_early;
    Symbols *symbols;
} Sink;

/// Makes room for a block's symbols; returns whether that succeeded.
INLINED int begin_block(Sink sink)
{
    Symbols *symbols = sink.symbols;
    if (!symbols || symbols->count + max_block_symbols <= symbols->capacity)
        return 1;
    size_t capacity = 2 * symbols->capacity + 64 * max_block_symbols;
    uint32_t *grown = realloc(symbols->list, capacity * sizeof *grown);
    if (!grown)
        return 0;
    symbols->list = grown;
    symbols->capacity = capacity;
    return 1;
}

INLINED void add(Sink sink, int table, int symbol, unsigned value)
{
    sink.counts[table].counts[symbol]++;
    if (sink.symbols)
        sink.symbols->list[sink.symbols->count++] = (uint32_t) (table << 24 | symbol << 16) | value;
}

/// Adds a value after its symbol: negative ones minus one, in as many bits (section F.1.2.1).
INLINED void add_value(Sink sink, int table, int run, int value)
{
    int count = bits_of(magnitude_of(value));
    add(sink, table, run << 4 | count, (unsigned) (value < 0 ? value - 1 : value) & ((1u << count) - 1));
}

INLINED void end_run(Sink sink, int table, int *run)
{
    if (*run == 0)
        return;
    // The number without its first bit follows the code.
    int count = bits_of(*run) - 1;
    add(sink, table, count << 4, (unsigned) *run & ((1u << count) - 1));
    *run = 0;
}

/// Adds the AC coefficients of a block; `run` is NULL if its end has its own symbol.
INLINED void add_band(Sink sink, int table, const int16_t *values, uint64_t kept, Scan scan, int *run)
{
    int last = scan.first - 1;
    kept &= bits_between(scan.first, scan.last);
    if (kept && run)
        end_run(sink, table, run);
    while (kept) {
        int index = __builtin_ctzll(kept);
        int zeros = index - last - 1;
        for (; zeros > 15; zeros -= 16)
            add(sink, table, zero_run, 0);
        add_value(sink, table, zeros, sink.is_early ? nearest(values[index]) : values[index]);
        last = index;
        kept &= kept - 1;
    }
    if (last == scan.last)
        return;
    if (!run)
        add(sink, table, 0, 0);
    else if (++*run == longest_run)
        end_run(sink, table, run);
}

INLINED int add_block(Sink sink, const Blocks *blocks, int row, int column, Scan scan, int *previous)
{
    size_t number = (size_t) row * (size_t) blocks->all_across + (size_t) column;
    const int16_t *values = blocks->values + number * block_size;
    if (!begin_block(sink))
        return 0;
    if (scan.first == 0) {
        add_value(sink, blocks->kind, 0, values[0] - *previous);
        *previous = values[0];
        scan.first = 1;
    }
    if (scan.last > 0)
        add_band(sink, 2 + blocks->kind, values, blocks->kept[number], scan, NULL);
    return 1;
}

/// Adds the AC coefficients of every `stride`th row of a plane, with one table.
INLINED int add_rows(Sink sink, int table, const Blocks *plane, Scan scan, int stride)
{
    int run = 0;
    for (int row = 0; row < plane->down; row += stride) {
        size_t number = (size_t) row * (size_t) plane->all_across;
        for (int column = 0; column < plane->across; column++, number++) {
            if (!begin_block(sink))
                return 0;
            const int16_t *values = plane->values + number * block_size;
            add_band(sink, table, values, plane->kept[number], scan, scan.has_runs ? &run : NULL);
        }
    }
    end_run(sink, table, &run);
    return 1;
}

/// Adds blocks of several planes in MCUs, or all of one.
INLINED int add_scan(Sink sink, const Blocks *blocks, Scan scan)
{
    const Blocks *plane = &blocks[scan.start];
    int previous[3] = {0, 0, 0};
    if (scan.first > 0)
        return add_rows(sink, 2 + plane->kind, plane, scan, 1);
    if (scan.end - scan.start == 1) {
        for (int row = 0; row < plane->down; row++)
            for (int column = 0; column < plane->across; column++)
                if (!add_block(sink, plane, row, column, scan, previous))
                    return 0;
        return 1;
    }
    int rows = plane->all_down / plane->sampling, columns = plane->all_across / plane->sampling;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            for (int index = scan.start; index < scan.end; index++) {
                const Blocks *one = &blocks[index];
                for (int block = 0; block < one->sampling * one->sampling; block++)
                    if (!add_block(sink, one, row * one->sampling + block / one->sampling,
                            column * one->sampling + block % one->sampling, scan, &previous[index]))
                        return 0;
            }
    return 1;
}

void CJPEG_count_rows(const Blocks *blocks, Scan scan, int stride, Counts *counts)
{
    add_rows((Sink) {counts, 1, NULL}, 0, blocks, scan, stride);
}

int CJPEG_list_scan(const Blocks *blocks, Scan scan, Counts *counts, Symbols *symbols)
{
    memset(counts, 0, table_count * sizeof *counts);
    symbols->count = first_symbol;
    Sink sink = {counts, 0, symbols};
    // For one symbol more, so that their number is even.
    return add_scan(sink, blocks, scan) && begin_block(sink);
}

/// The bits of a symbol's code, with room for the value after it; and the number of all these bits.
typedef struct {
    uint32_t bits, count;
} Code;

/// No symbol, which takes no bits.
static const uint32_t nothing = (uint32_t) table_count * symbol_count << 16;

/// Replaces a list of symbols by their codes; returns the number of bytes.
///
/// A symbol takes four bytes, and its code and value at most 30 bits.
static size_t replace_by_codes(Symbols *symbols, const Code *codes)
{
    const uint32_t *list = symbols->list;
    uint8_t *bytes = (uint8_t *) symbols->list;
    uint64_t bits = 0;
    unsigned used = 0;
    if (symbols->count % 2)
        symbols->list[symbols->count++] = nothing;
    for (size_t number = first_symbol; number < symbols->count; number += 2) {
        uint32_t one = list[number], other = list[number + 1];
        Code first = codes[one >> 16], second = codes[other >> 16];
        uint64_t next;
        bits |= (uint64_t) (first.bits | (one & 0xffff)) << (64 - used - first.count);
        used += first.count;
        if (used + second.count > 63) {
            next = __builtin_bswap64(bits);
            memcpy(bytes, &next, sizeof next / 2);
            bytes += 4, bits <<= 32, used -= 32;
        }
        bits |= second.count ? (uint64_t) (second.bits | (other & 0xffff)) << (64 - used - second.count) : 0;
        used += second.count;
        next = __builtin_bswap64(bits);
        memcpy(bytes, &next, sizeof next);
        bytes += used / 8, bits <<= used / 8 * 8, used %= 8;
    }
    // Ones fill the last byte (section F.1.2.3).
    if (used > 0)
        *bytes++ = (uint8_t) (bits >> 56 | 0xffu >> used);
    return (size_t) (bytes - (uint8_t *) symbols->list);
}

/// Appends bytes, with a zero after each 255 (section B.1.1.5).
static void put_stuffed(Output *output, const uint8_t *bytes, size_t count)
{
    const uint8_t *end = bytes + count;
    size_t stuffed = 0;
    for (size_t index = 0; index < count; index++)
        stuffed += bytes[index] == 0xff;
    if (!CJPEG_reserve(output, count + stuffed))
        return;
    while (bytes < end) {
        const uint8_t *found = memchr(bytes, 0xff, (size_t) (end - bytes));
        size_t length = (size_t) ((found ? found + 1 : end) - bytes);
        memcpy(output->bytes + output->count, bytes, length);
        output->count += length;
        bytes += length;
        if (found)
            output->bytes[output->count++] = 0;
    }
}

void CJPEG_write_scan(Symbols *symbols, const Codes *codes, Output *output)
{
    Code all[table_count * symbol_count + 1];
    all[table_count * symbol_count] = (Code) {0, 0};
    for (int table = 0; table < table_count; table++)
        for (int number = 0; number < codes[table].count; number++) {
            int symbol = codes[table].symbols[number], behind = CJPEG_bits_behind(symbol);
            all[table * symbol_count + symbol] =
                (Code) {(uint32_t) codes[table].codes[symbol] << behind, (uint32_t) (codes[table].lengths[symbol] + behind)};
        }
    size_t count = replace_by_codes(symbols, all);
    put_stuffed(output, (const uint8_t *) symbols->list, count);
}
