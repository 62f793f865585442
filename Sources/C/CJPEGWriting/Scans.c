#include "Scans.h"

#include <stdlib.h>
#include <string.h>

enum {
    /// Maximum size of a block in bytes, including stuffed ones (section B.1.1.5): 63 codes of 16 bits and values of
    /// 10, and one of 16 and 11.
    most_block_bytes = 512,
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

static inline void put_byte(Output *output, unsigned byte)
{
    output->bytes[output->count++] = (uint8_t) byte;
    if (byte == 0xff)
        output->bytes[output->count++] = 0;
}

/// Appends at most 32 bits; `value` must fit into them.
part void put(Output *output, unsigned value, int count)
{
    output->free_bits -= count;
    output->bits |= (uint64_t) value << output->free_bits;
    if (output->free_bits > 32)
        return;
    uint32_t word = (uint32_t) (output->bits >> 32);
    // Whether a byte is 255: then its complement is zero.
    if ((~word - 0x01010101u) & word & 0x80808080u) {
        for (int shift = 24; shift >= 0; shift -= 8)
            put_byte(output, word >> shift & 255);
    } else {
        word = __builtin_bswap32(word);
        memcpy(output->bytes + output->count, &word, sizeof word);
        output->count += sizeof word;
    }
    output->bits <<= 32;
    output->free_bits += 32;
}

/// Pads the last byte with ones (section F.1.2.3).
static void finish(Output *output)
{
    int used = 64 - output->free_bits;
    int rest = (8 - used % 8) % 8;
    if (rest > 0)
        put(output, (1u << rest) - 1, rest);
    for (used = 64 - output->free_bits; used > 0; used -= 8, output->bits <<= 8)
        put_byte(output, (unsigned) (output->bits >> 56));
    output->bits = 0;
    output->free_bits = 64;
}

/// Either counts symbols or writes their codes to an output.
typedef struct {
    Counts *counts;
    /// Whether the coefficients are unquantized, and count as after a plain quantization.
    int is_early;
    const Codes *codes;
    Output *output;
} Sink;

part void add(Sink sink, int table, int symbol, unsigned value, int count)
{
    if (sink.counts) {
        sink.counts[table].counts[symbol]++;
        return;
    }
    const Codes *codes = &sink.codes[table];
    put(sink.output, (unsigned) codes->codes[symbol] << count | value, codes->lengths[symbol] + count);
}

/// Adds a value after its symbol: negative ones minus one, in as many bits (section F.1.2.1).
part void add_value(Sink sink, int table, int run, int value)
{
    int magnitude = value < 0 ? -value : value;
    int count = bits_of(magnitude);
    add(sink, table, run << 4 | count, (unsigned) (value < 0 ? value - 1 : value) & ((1u << count) - 1), count);
}

part void end_run(Sink sink, int table, int *run)
{
    if (*run == 0)
        return;
    // The number without its first bit follows the code.
    int count = bits_of(*run) - 1;
    add(sink, table, count << 4, (unsigned) *run & ((1u << count) - 1), count);
    *run = 0;
}

/// Adds the AC coefficients of a block; `run` is NULL if its end has its own symbol.
part void add_band(Sink sink, int table, const int16_t *values, uint64_t kept, Scan scan, int *run)
{
    int last = scan.first - 1;
    kept &= bits_between(scan.first, scan.last);
    if (kept && run)
        end_run(sink, table, run);
    while (kept) {
        int place = __builtin_ctzll(kept);
        int zeros = place - last - 1;
        for (; zeros > 15; zeros -= 16)
            add(sink, table, zero_run, 0, 0);
        add_value(sink, table, zeros, sink.is_early ? nearest(values[place]) : values[place]);
        last = place;
        kept &= kept - 1;
    }
    if (last == scan.last)
        return;
    if (!run)
        add(sink, table, 0, 0, 0);
    else if (++*run == longest_run)
        end_run(sink, table, run);
}

part void add_block(Sink sink, const Blocks *blocks, int row, int column, Scan scan, int *previous)
{
    size_t number = (size_t) row * (size_t) blocks->all_across + (size_t) column;
    const int16_t *values = blocks->values + number * block_size;
    if (sink.output && !CJPEG_reserve(sink.output, most_block_bytes))
        return;
    if (scan.first == 0) {
        add_value(sink, blocks->kind, 0, values[0] - *previous);
        *previous = values[0];
        scan.first = 1;
    }
    if (scan.last > 0)
        add_band(sink, 2 + blocks->kind, values, blocks->kept[number], scan, NULL);
}

/// Adds the AC coefficients of every `stride`th row of a plane, with one table.
part void add_rows(Sink sink, int table, const Blocks *plane, Scan scan, int stride)
{
    int run = 0;
    for (int row = 0; row < plane->down; row += stride) {
        size_t number = (size_t) row * (size_t) plane->all_across;
        for (int column = 0; column < plane->across; column++, number++) {
            if (sink.output && !CJPEG_reserve(sink.output, most_block_bytes))
                return;
            const int16_t *values = plane->values + number * block_size;
            add_band(sink, table, values, plane->kept[number], scan, scan.has_runs ? &run : NULL);
        }
    }
    end_run(sink, table, &run);
}

/// Adds blocks of several planes in MCUs, or all of one.
part void add_scan(Sink sink, const Blocks *blocks, Scan scan)
{
    const Blocks *plane = &blocks[scan.start];
    int previous[3] = {0, 0, 0};
    if (scan.first > 0) {
        add_rows(sink, 2 + plane->kind, plane, scan, 1);
        return;
    }
    if (scan.end - scan.start == 1) {
        for (int row = 0; row < plane->down; row++)
            for (int column = 0; column < plane->across; column++)
                add_block(sink, plane, row, column, scan, previous);
        return;
    }
    int rows = plane->all_down / plane->sampling, columns = plane->all_across / plane->sampling;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            for (int index = scan.start; index < scan.end; index++) {
                const Blocks *one = &blocks[index];
                for (int block = 0; block < one->sampling * one->sampling; block++)
                    add_block(sink, one, row * one->sampling + block / one->sampling,
                        column * one->sampling + block % one->sampling, scan, &previous[index]);
            }
}

void CJPEG_count_rows(const Blocks *blocks, Scan scan, int stride, Counts *counts)
{
    add_rows((Sink) {counts, 1, NULL, NULL}, 0, blocks, scan, stride);
}

void CJPEG_count_scan(const Blocks *blocks, Scan scan, Counts *counts)
{
    memset(counts, 0, 4 * sizeof *counts);
    add_scan((Sink) {counts, 0, NULL, NULL}, blocks, scan);
}

void CJPEG_write_scan(const Blocks *blocks, Scan scan, const Codes *codes, Output *output)
{
    output->bits = 0;
    output->free_bits = 64;
    add_scan((Sink) {NULL, 0, codes, output}, blocks, scan);
    if (CJPEG_reserve(output, most_block_bytes))
        finish(output);
}
