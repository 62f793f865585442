#ifndef Codes_h
#define Codes_h

#include <stddef.h>
#include <stdint.h>

enum {
    /// Symbols of a table: a run of zeros in the upper four bits, the bits of the value behind them in the lower ones (T.81 section
    /// F.1.2.2).
    symbol_count = 256,
    longest_code = 16,
    /// Binary digits behind the point of an amount of bits.
    rate_bits = 6,
};

/// How often each symbol occurs.
typedef struct {
    uint32_t counts[symbol_count];
} Counts;

/// The codes of a table.
typedef struct {
    uint16_t codes[symbol_count];
    /// 0 for symbols that do not occur.
    uint8_t lengths[symbol_count];
    /// The symbols by the lengths of their codes, and how many have each length (section B.2.4.2).
    uint8_t symbols[symbol_count];
    uint8_t counts[longest_code + 1];
    int count;
} Codes;

/// The shortest codes for symbols that occur so often.
void CJPEG_make_codes(const Counts *counts, Codes *codes);

/// The bits of all symbols with their codes, and of the values behind AC symbols.
uint64_t CJPEG_code_bits(const Counts *counts, const Codes *codes);

/// About as many bits as the best code of a symbol would have.
int CJPEG_rate(const Counts *counts, uint64_t total, int symbol);

#endif
