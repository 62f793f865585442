#ifndef Codes_h
#define Codes_h

#include <stddef.h>
#include <stdint.h>

enum {
    /// Symbols of a table: a run of zeros in the upper four bits, the bit length of the value after them in the lower
    /// ones (T.81 section F.1.2.2).
    symbol_count = 256,
    longest_code = 16,
    /// Fractional bits of an amount of bits.
    rate_bits = 6,
    /// DC of luma, of chroma, AC of luma, of chroma.
    table_count = 4,
};

/// The count of each symbol.
typedef struct {
    uint32_t counts[symbol_count];
} Counts;

/// The codes of a table.
typedef struct {
    uint16_t codes[symbol_count];
    /// 0 for unused symbols.
    uint8_t lengths[symbol_count];
    /// The symbols by code length, and the number of codes of each length (section B.2.4.2).
    uint8_t symbols[symbol_count];
    uint8_t counts[longest_code + 1];
    int count;
} Codes;

/// Computes the shortest codes for these counts.
void CJPEG_make_codes(const Counts *counts, Codes *codes);

/// Returns the bits of the value after a symbol; in an AC table, unless the symbol is for coefficients, of a run.
static inline int CJPEG_bits_behind(int symbol)
{
    return symbol & 15 || symbol == 0xf0 ? symbol & 15 : symbol >> 4;
}

/// Returns the bits of all symbols in these codes, and of the values after AC symbols.
uint64_t CJPEG_code_bits(const Counts *counts, const Codes *codes);

/// Estimates the bits of a symbol's best code.
int CJPEG_rate(const Counts *counts, uint64_t total, int symbol);

#endif
