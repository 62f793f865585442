#include "Codes.h"

#include <string.h>

/// Returns the entry of a symbol, without the bits of its code.
typedef uint32_t (*EntryOf)(int symbol);

static uint32_t entry_of_value(unsigned least, unsigned extra_bits)
{
    return least << 16 | extra_bits;
}

/// Literals, the end, lengths (section 3.2.5).
static uint32_t entry_of_symbol(int symbol)
{
    int kind = symbol - 257;
    if (symbol < 256)
        return entry_is_literal | (uint32_t) symbol << 16;
    if (symbol == 256)
        return entry_is_special | entry_is_end;
    if (kind < 8)
        return entry_of_value((unsigned) kind + 3, 0);
    if (kind < 28)
        return entry_of_value(((4 + (unsigned) kind % 4) << (kind / 4 - 1)) + 3, (unsigned) kind / 4 - 1);
    return kind == 28 ? entry_of_value(258, 0) : entry_is_special;
}

static uint32_t entry_of_distance(int symbol)
{
    if (symbol < 4)
        return entry_of_value((unsigned) symbol + 1, 0);
    if (symbol < 30)
        return entry_of_value(((2 + (unsigned) symbol % 2) << (symbol / 2 - 1)) + 1, (unsigned) symbol / 2 - 1);
    return entry_is_special;
}

static uint32_t entry_of_length(int symbol)
{
    return entry_is_literal | (uint32_t) symbol << 16;
}

/// Returns the code after this one, whose first bit is the lowest: the highest zero bit becomes 1, and the bits above
/// it 0.
static unsigned next_code(unsigned code, int length)
{
    unsigned bit = 1u << (length - 1);
    while (code & bit)
        bit >>= 1;
    return bit ? (code & (bit - 1)) | bit : 0;
}

/// Returns the bits of a second table for codes of at least `length` bits, with `counts` left that share their first
/// bits.
static unsigned second_bits(const int *counts, int length, int bits)
{
    int count = length - bits, room = 1 << count;
    for (; bits + count < max_length; count++, room <<= 1) {
        room -= counts[bits + count];
        if (room <= 0)
            break;
    }
    return (unsigned) count;
}

/// Fills a table and its second tables; returns 0 if the code is incomplete. A code with no symbol, or with one of one
/// bit, is also valid.
static int make_table(
    uint32_t *table, int capacity, int bits, const uint8_t *lengths, int count, EntryOf entry_of, int may_be_small)
{
    int counts[max_length + 1] = {0}, places[max_length + 1], symbol, length, room = 1, used = 0, number;
    uint16_t sorted[max_symbols];
    unsigned code = 0, more = 0, last = 1u << bits, end = 1u << bits;
    for (symbol = 0; symbol < count; symbol++)
        counts[lengths[symbol]]++;
    for (length = 1; length <= max_length; length++) {
        room = 2 * room - counts[length];
        if (room < 0)
            return 0;
        places[length] = used;
        used += counts[length];
    }
    if (room && !(may_be_small && (used == 0 || (used == 1 && counts[1] == 1))))
        return 0;
    for (symbol = 0; symbol < count; symbol++)
        if (lengths[symbol])
            sorted[places[lengths[symbol]]++] = (uint16_t) symbol;
    for (number = 0; room && number < 1 << bits; number++)
        table[number] = entry_is_special;
    number = 0;
    for (length = 1; length <= max_length; length++) {
        for (; counts[length]; counts[length]--, number++) {
            uint32_t entry = entry_of(sorted[number]);
            unsigned place, step, size;
            if (length <= bits) {
                place = code, step = 1u << length, size = 1u << bits;
                entry += (uint32_t) length | (uint32_t) length << 8;
            } else {
                unsigned first = code & ((1u << bits) - 1);
                if (first != last) {
                    more = second_bits(counts, length, bits);
                    if (end + (1u << more) > (unsigned) capacity)
                        return 0;
                    table[first] = entry_is_special | entry_is_table | end << 16 | more << 8 | (uint32_t) bits;
                    last = first;
                    end += 1u << more;
                }
                place = end - (1u << more) + (code >> bits), step = 1u << (length - bits), size = end;
                entry += (uint32_t) (length - bits) | (uint32_t) (length - bits) << 8;
            }
            for (; place < size; place += step)
                table[place] = entry;
            code = next_code(code, length);
        }
    }
    return 1;
}

int CFastPNG_make_codes(Codes *codes, const uint8_t *lengths, int symbol_count, int distance_count)
{
    return make_table(codes->symbols, symbol_entries, symbol_bits, lengths, symbol_count, entry_of_symbol, 1)
        && make_table(
            codes->distances, distance_entries, distance_bits, lengths + symbol_count, distance_count, entry_of_distance, 1);
}

void CFastPNG_make_fixed_codes(Codes *codes)
{
    uint8_t lengths[max_symbols + max_distances];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    memset(lengths + max_symbols, 5, max_distances);
    CFastPNG_make_codes(codes, lengths, max_symbols, max_distances);
}

int CFastPNG_make_length_code(uint32_t table[1 << length_code_bits], const uint8_t lengths[length_code_count])
{
    return make_table(table, 1 << length_code_bits, length_code_bits, lengths, length_code_count, entry_of_length, 0);
}
