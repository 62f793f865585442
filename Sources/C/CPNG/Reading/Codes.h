#ifndef Codes_h
#define Codes_h

#include <stdint.h>

// Prefix codes of compressed data (RFC 1951 section 3.2) as lookup tables for the next bits.
//
// The lowest byte of an entry is the number of bits to take: of the code, and of the number after it. Bits 8 to 12 are
// for the code alone, bits 16 to 30 the value: a literal, the least length or distance, or the start of a second table.

enum {
    /// Bits of a first table's index.
    symbol_bits = 11,
    distance_bits = 9,
    /// Maximum length of a code, and the maximum number of symbols.
    max_length = 15,
    max_symbols = 288,
    max_distances = 32,
    /// Entries of the first table with all second ones: the most of any complete code (zlib's `enough 288 11 15` and
    /// `32 9 15`).
    symbol_entries = 2342,
    distance_entries = 594,
};

/// The kinds of entries that are not a length or a distance.
#define entry_is_literal 0x80000000u
#define entry_is_special 0x8000u
/// Special ones: a second table, the end of a block; an invalid code has neither.
#define entry_is_table 0x4000u
#define entry_is_end 0x2000u

typedef struct {
    uint32_t symbols[symbol_entries];
    uint32_t distances[distance_entries];
} Codes;

/// Builds the tables of codes with these lengths; returns 0 if they are not complete codes.
int CFastPNG_make_codes(Codes *codes, const uint8_t *lengths, int symbol_count, int distance_count);

/// Builds the tables of fixed codes (section 3.2.6).
void CFastPNG_make_fixed_codes(Codes *codes);

enum { length_code_bits = 7,
    length_code_count = 19 };

/// Builds the table of the code for code lengths: seven bits, entries as for literals; returns 0 if it is not a
/// complete code.
int CFastPNG_make_length_code(uint32_t table[1 << length_code_bits], const uint8_t lengths[length_code_count]);

#endif
