#include "HuffmanTables.h"

/// Reads a file's table; returns 0 if libjpeg would not accept it.
static int read_codes(Codes *codes, CFastJPEGCodes table)
{
    uint32_t code = 0;
    int length, count = 0;
    if (!table.counts)
        return 0;
    for (length = 1; length <= max_code_bits; length++) {
        int of_length = table.counts[length - 1];
        codes->offsets[length] = count - (int) code;
        count += of_length;
        code += (uint32_t) of_length;
        // The code of only ones is reserved (annex C.2).
        if (count > 256 || (of_length && code >= 1u << length))
            return 0;
        codes->limits[length] = code << (max_code_bits - length);
        code <<= 1;
    }
    codes->count = count;
    memcpy(codes->symbols, table.symbols, sizeof codes->symbols);
    return 1;
}

/// The meaning of a symbol: bits of its value, coefficients to advance, and whether it is valid in a baseline image.
typedef struct {
    unsigned size, advance;
    int is_sound;
} Meaning;

static Meaning dc_meaning(int symbol)
{
    return (Meaning) {(unsigned) symbol, 1, symbol <= max_dc_bits};
}

static Meaning ac_meaning(int symbol)
{
    unsigned run = (unsigned) symbol >> 4, size = (unsigned) symbol & 15;
    if (symbol == end_of_block)
        return (Meaning) {0, block_end, 1};
    return (Meaning) {size, run + 1, size <= max_ac_bits && (size > 0 || symbol == sixteen_zeros)};
}

/// Fills a table for windows of this many bits.
static void fill_steps(Step *steps, int window, const Codes *codes, Meaning (*meaning_of)(int symbol))
{
    int length, index = 0, entry = 0;
    for (length = 1; length <= window; length++) {
        int end = (int) (codes->limits[length] >> (max_code_bits - window));
        while (entry < end) {
            int symbol = codes->symbols[index++];
            Meaning meaning = meaning_of(symbol);
            int next = entry + (1 << (window - length));
            Step step = meaning.is_sound
                ? step_of((unsigned) length + meaning.size, meaning.advance, (1u << meaning.size) - 1)
                : step_of(0, escape, (unsigned) (length << 8 | symbol));
            while (entry < next)
                steps[entry++] = step;
        }
    }
    while (entry < 1 << window)
        steps[entry++] = step_of(0, escape, 0);
}

/// Fills the table of one or two codes from the one of single codes.
static void fill_pairs(Pair *pairs, const Step *single)
{
    unsigned window;
    for (window = 0; window < 1 << single_window; window++) {
        Step first = single[window], second;
        unsigned bits = first & 63, advance = step_advance(first), both;
        pairs[window] = first | (Pair) advance << 32;
        if (advance >= block_end || bits >= single_window)
            continue;
        second = single[window << bits & ((1 << single_window) - 1)];
        both = advance + step_advance(second);
        if (step_advance(second) == escape || both % block_end >= coefficient_count
            || bits + (second & 63) - (unsigned) __builtin_popcount(second >> 16) > single_window)
            continue;
        pairs[window] = (second + step_of(bits, advance, 0)) | (Pair) advance << 32
            | (Pair) (uint16_t) value_of(window >> (single_window - bits), first >> 16) << 48;
    }
}

/// Fills the table for skipping: each entry joins the codes that are complete within the window.
static void fill_skipping(uint16_t *skipping, const Codes *codes)
{
    // For single codes: bits, coefficients to advance, and the code's own bits.
    struct {
        uint8_t bits, advance, code_bits;
    } single[1 << skipping_window];
    unsigned window;
    int length, index = 0, entry = 0;
    for (length = 1; length <= skipping_window; length++) {
        int end = (int) (codes->limits[length] >> (max_code_bits - skipping_window));
        while (entry < end) {
            Meaning meaning = ac_meaning(codes->symbols[index++]);
            int next = entry + (1 << (skipping_window - length));
            for (; entry < next; entry++) {
                single[entry].bits = (uint8_t) (meaning.is_sound ? (unsigned) length + meaning.size : 0);
                single[entry].advance = (uint8_t) (meaning.is_sound ? meaning.advance : escape);
                single[entry].code_bits = (uint8_t) length;
            }
        }
    }
    for (; entry < 1 << skipping_window; entry++) {
        single[entry].bits = 0;
        single[entry].advance = escape;
    }
    for (window = 0; window < 1 << skipping_window; window++) {
        unsigned bits = single[window].bits, advance = single[window].advance;
        while (advance < coefficient_count && bits < skipping_window) {
            unsigned next = window << bits & ((1 << skipping_window) - 1);
            if (single[next].advance == escape || bits + single[next].code_bits > skipping_window
                || advance + single[next].advance % block_end >= coefficient_count)
                break;
            bits += single[next].bits;
            advance += single[next].advance;
        }
        skipping[window] = (uint16_t) step_of(bits, advance, 0);
    }
}

int fill_dc(BlockTables *tables, CFastJPEGCodes codes)
{
    int index;
    if (!read_codes(&tables->dc_codes, codes))
        return 0;
    for (index = 0; index < tables->dc_codes.count; index++)
        if (tables->dc_codes.symbols[index] > 15)
            return 0;
    fill_steps(tables->dc, dc_window, &tables->dc_codes, dc_meaning);
    return 1;
}

int fill_ac(BlockTables *tables, CFastJPEGCodes codes, int is_used)
{
    if (!read_codes(&tables->ac_codes, codes))
        return 0;
    if (is_used) {
        fill_steps(tables->single, single_window, &tables->ac_codes, ac_meaning);
        fill_pairs(tables->pairs, tables->single);
        fill_skipping(tables->skipping, &tables->ac_codes);
    }
    return 1;
}
