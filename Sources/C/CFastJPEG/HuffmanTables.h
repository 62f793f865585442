#ifndef HuffmanTables_h
#define HuffmanTables_h

#include "BitReader.h"

// Huffman codes (T.81 annex C and section F.2.2.3), looked up by the next bits of the data.

enum {
    /// Bits that a table of codes of means looks at, one of single codes of details, and one that skips details.
    mean_window = 9,
    single_window = 10,
    skipping_window = 12,
};

/// The codes of a Huffman table, to be read one bit after the other.
typedef struct {
    /// The first 16-bit word that begins with no code of this length or a shorter one, and the place of the length's first symbol
    /// less its first code.
    uint32_t limits[most_code_bits + 1];
    int places[most_code_bits + 1];
    int count;
    uint8_t symbols[256];
} Codes;

/// The meaning of the next bits, in one number, so that it takes one load:
/// - 0 to 5: bits of the codes and of the values behind them; 6 and 7 are zero;
/// - 8 to 15: coefficients gone forward, and `block_end` or `escape`;
/// - 16 to 31: if there is one code, ones in as many bits as its value has; of an escape the code's length and the symbol, if the
///   window holds the code.
typedef uint32_t Step;

enum {
    /// Added to what a code goes forward that ends its block.
    block_end = 128,
    /// That of a code which is not within the window, may not stand in a baseline image, or is none; no bits are taken.
    escape = 192,
    end_of_block = 0x00,
    sixteen_zeros = 0xF0,
};
_Static_assert(escape + coefficient_count - 1 <= UINT8_MAX, "a step's advance and the place before it exceed a byte");

static inline Step step_of(unsigned bits, unsigned advance, unsigned rest)
{
    return bits | advance << 8 | rest << 16;
}

static inline unsigned step_advance(Step step)
{
    return step >> 8 & 255;
}

/// The value behind the one code that the next bits begin with (section F.2.2.1, "EXTEND"): the last of the bits that the step takes.
static inline int step_value(const BitReader *reader, Step step)
{
    unsigned ones = step >> 16;
    unsigned value = (unsigned) (reader->bits >> (-step & 63)) & ones;
    return (int) value - (value <= ones >> 1 ? (int) ones : 0);
}

/// The tables of a component. The value behind the last code of a step may lie outside of the window.
typedef struct {
    Step means[1 << mean_window];
    Step single[1 << single_window];
    /// As many codes of details as the window holds, in the lower half of a step.
    uint16_t skipping[1 << skipping_window];
    Codes mean_codes, detail_codes;
} BlockTables;

/// Fills the table of a component's means; 0 if libjpeg would not accept it.
int fill_means(BlockTables *tables, CFastJPEGCodes codes);

/// Fills the tables of a component's details, or only judges the codes; 0 if libjpeg would not accept them.
int fill_details(BlockTables *tables, CFastJPEGCodes codes, int is_used);

/// Takes the next symbol bit by bit, of at least 16 bits that are there; -1 for no code.
static inline int take_symbol(BitReader *reader, const Codes *codes)
{
    uint32_t word = (uint32_t) (reader->bits >> 48);
    int length;
    for (length = 1; length <= most_code_bits; length++)
        if (word < codes->limits[length]) {
            drop(reader, (unsigned) length);
            return codes->symbols[codes->places[length] + (int) (word >> (most_code_bits - length))];
        }
    return -1;
}

/// Takes the next symbol, of which a table had `step`, or 0 if that does not say enough; -1 for no code. At least 33 bits are there then.
static inline int take_escaped(BitReader *reader, const Codes *codes, Step step)
{
    // Of the bits only the number is known.
    *reader = found_again(reader);
    if (!(step >> 24))
        return take_symbol(reader, codes);
    drop(reader, step >> 24);
    return step >> 16 & 255;
}

#endif
