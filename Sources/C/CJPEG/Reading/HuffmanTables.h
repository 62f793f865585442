#ifndef HuffmanTables_h
#define HuffmanTables_h

#include "BitReader.h"

// Huffman codes (T.81 annex C and section F.2.2.3), looked up by the next bits of the data.

enum {
    /// The windows of a table of DC codes, of one or two AC codes, and of a table for skipping AC codes.
    dc_window = 9,
    single_window = 10,
    skipping_window = 12,
};

/// The codes of a Huffman table, for reading bit by bit.
typedef struct {
    /// The first 16-bit word that begins with no code of at most this length, and the index of the length's first
    /// symbol minus its first code.
    uint32_t limits[max_code_bits + 1];
    int offsets[max_code_bits + 1];
    int count;
    uint8_t symbols[256];
} Codes;

/// The meaning of the next bits, in one number so that it takes one load:
/// - 0 to 5: bits of the codes and of the values after them; 6 and 7 are zero;
/// - 8 to 15: coefficients to advance, and `block_end` or `escape`;
/// - 16 to 31: for one code, as many one bits as its value has; for an escape, the code's length and the symbol, if the
///   window contains the code.
typedef uint32_t Step;

enum {
    /// Added to the advance of a code that ends its block.
    block_end = 128,
    /// The advance of a code that exceeds the window, is invalid in a baseline image, or does not exist; no bits are
    /// taken.
    escape = 192,
    end_of_block = 0x00,
    sixteen_zeros = 0xF0,
};
_Static_assert(escape + coefficient_count - 1 <= UINT8_MAX, "a step's advance and the index before it exceed a byte");

static inline Step step_of(unsigned bits, unsigned advance, unsigned rest)
{
    return bits | advance << 8 | rest << 16;
}

static inline unsigned step_advance(Step step)
{
    return step >> 8 & 255;
}

/// Returns the value that ends these bits (section F.2.2.1, "EXTEND"); `ones` has as many one bits as the value.
static inline int value_of(unsigned bits, unsigned ones)
{
    unsigned value = bits & ones;
    return (int) value - (value <= ones >> 1 ? (int) ones : 0);
}

/// Returns the value after the step's last code, the last of the step's bits.
static inline int step_value(const BitReader *reader, Step step)
{
    return value_of((unsigned) (reader->bits >> (-step & 63)), step >> 16);
}

/// One code, or two if the window contains the first with its value and the second without its value:
/// - 0 to 31: a step for all;
/// - 32 to 39: coefficients to advance for the first; of one code, as many as for the step;
/// - 48 to 63: the first's value, if there are two.
typedef uint64_t Pair;

static inline unsigned first_advance(Pair pair)
{
    return pair >> 32 & 255;
}

static inline int16_t first_value(Pair pair)
{
    return (int16_t) (pair >> 48);
}

/// The tables of a component. The value after a step's last code may extend beyond the window.
typedef struct {
    Step dc[1 << dc_window];
    Step single[1 << single_window];
    Pair pairs[1 << single_window];
    /// As many AC codes as the window contains, in the lower half of a step.
    uint16_t skipping[1 << skipping_window];
    Codes dc_codes, ac_codes;
} BlockTables;

/// Fills the table of a component's DC codes; returns 0 if libjpeg would not accept it.
int fill_dc(BlockTables *tables, CFastJPEGCodes codes);

/// Fills the tables of a component's AC codes, or only checks them; returns 0 if libjpeg would not accept them.
int fill_ac(BlockTables *tables, CFastJPEGCodes codes, int is_used);

/// Takes the next symbol bit by bit, from at least 16 available bits; returns -1 for no code.
static inline int take_symbol(BitReader *reader, const Codes *codes)
{
    uint32_t word = (uint32_t) (reader->bits >> 48);
    int length;
    for (length = 1; length <= max_code_bits; length++)
        if (word < codes->limits[length]) {
            drop(reader, (unsigned) length);
            return codes->symbols[codes->offsets[length] + (int) (word >> (max_code_bits - length))];
        }
    return -1;
}

/// Takes the next symbol, for which a table had `step`, or 0 if that is not enough; returns -1 for no code. At least 33
/// bits are available then.
static inline int take_escaped(BitReader *reader, const Codes *codes, Step step)
{
    // Only the number of bits is known.
    *reader = reloaded(reader);
    if (!(step >> 24))
        return take_symbol(reader, codes);
    drop(reader, step >> 24);
    return step >> 16 & 255;
}

#endif
