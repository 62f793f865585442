#include "Codes.h"

#include <stdlib.h>
#include <string.h>

/// A symbol and its count in one number, ordered by count.
static int by_count(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *) one, b = *(const uint64_t *) other;
    return (a > b) - (a < b);
}

/// Computes the code lengths of at least two leaves in ascending order of weight, by Huffman's algorithm with two
/// queues.
static void measure(const uint64_t *weights, int count, int *lengths)
{
    uint64_t sums[symbol_count];
    int parents[2 * symbol_count], depths[2 * symbol_count];
    int leaf = 0, inner = 0;
    for (int made = 0; made < count - 1; made++) {
        uint64_t sum = 0;
        for (int child = 0; child < 2; child++) {
            int is_leaf = leaf < count && (inner == made || weights[leaf] <= sums[inner]);
            int node = is_leaf ? leaf++ : count + inner++;
            sum += is_leaf ? weights[node] : sums[node - count];
            parents[node] = count + made;
        }
        sums[made] = sum;
    }
    depths[2 * count - 2] = 0;
    for (int node = 2 * count - 3; node >= 0; node--) {
        depths[node] = depths[parents[node]] + 1;
        if (node < count)
            lengths[node] = depths[node];
    }
}

void CJPEG_make_codes(const Counts *counts, Codes *codes)
{
    // One extra leaf, the lightest, because no code may consist of ones only (T.81 section C, K.2).
    uint64_t order[symbol_count + 1], weights[symbol_count + 1];
    int lengths[symbol_count + 1], per_length[symbol_count + 1] = {0};
    int count = 1;
    memset(codes, 0, sizeof *codes);
    order[0] = 0;
    for (int symbol = 0; symbol < symbol_count; symbol++)
        if (counts->counts[symbol])
            order[count++] = (uint64_t) counts->counts[symbol] << 8 | (uint64_t) (symbol_count - 1 - symbol);
    codes->count = count - 1;
    if (count == 1)
        return;
    qsort(order + 1, (size_t) count - 1, sizeof *order, by_count);
    weights[0] = 0;
    for (int leaf = 1; leaf < count; leaf++)
        weights[leaf] = order[leaf] >> 8;
    measure(weights, count, lengths);
    for (int leaf = 0; leaf < count; leaf++)
        per_length[lengths[leaf]]++;
    // Figure K.3: a pair of codes that are too long becomes one code, one bit shorter, and a shorter code becomes two.
    for (int length = symbol_count; length > longest_code; length--)
        while (per_length[length] > 0) {
            int shorter = length - 2;
            while (per_length[shorter] == 0)
                shorter--;
            per_length[length] -= 2;
            per_length[length - 1]++;
            per_length[shorter + 1] += 2;
            per_length[shorter]--;
        }
    int longest = longest_code;
    while (per_length[longest] == 0)
        longest--;
    per_length[longest]--;
    unsigned code = 0;
    int index = 0;
    for (int length = 1; length <= longest_code; length++, code <<= 1) {
        codes->counts[length] = (uint8_t) per_length[length];
        for (int number = 0; number < per_length[length]; number++, index++, code++) {
            int symbol = symbol_count - 1 - (int) (order[count - 1 - index] & 255);
            codes->symbols[index] = (uint8_t) symbol;
            codes->codes[symbol] = (uint16_t) code;
            codes->lengths[symbol] = (uint8_t) length;
        }
    }
}

uint64_t CJPEG_code_bits(const Counts *counts, const Codes *codes)
{
    uint64_t bits = 0;
    for (int symbol = 0; symbol < symbol_count; symbol++) {
        bits += (uint64_t) counts->counts[symbol] * (uint64_t) (codes->lengths[symbol] + CJPEG_bits_behind(symbol));
    }
    return bits;
}

/// Returns the base-2 logarithm of a number above zero, with `rate_bits`.
static int logarithm(uint64_t number)
{
    int result = 63 - __builtin_clzll(number);
    uint64_t rest = number << (63 - result) >> 32;
    for (int bit = 0; bit < rate_bits; bit++) {
        rest = rest * rest >> 31;
        result <<= 1;
        if (rest >> 32) {
            rest >>= 1;
            result |= 1;
        }
    }
    return result;
}

int CJPEG_rate(const Counts *counts, uint64_t total, int symbol)
{
    int rate = logarithm(2 * total + 1) - logarithm(2 * (uint64_t) counts->counts[symbol] + 1);
    int most = longest_code << rate_bits, least = 1 << (rate_bits - 1);
    return rate < least ? least : (rate > most ? most : rate);
}
