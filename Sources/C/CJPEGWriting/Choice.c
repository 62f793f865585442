#include "Choice.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Distortion is the squared difference in quantization steps: the tables already weight the frequencies. All arithmetic
// is in integers.

enum {
    /// Fractional bits of weights of distortion.
    weight_bits = 6,
    unreachable = 0x3fffffff,
    /// From this coefficient on, luma's distortion counts more.
    first_fine = 10,
    fine_weight = 21,
    usual_weight = 16,
};

/// The distortion, in squares of `one_step`ths, that one bit of luma and one of chroma are worth.
static const int lambdas[2] = {74, 40};

void CJPEG_rate_band(const Counts *counts, int kind, int first, int last, Rates *rates)
{
    uint64_t total = 0, ends = 0, end_bits = 0;
    int lambda = lambdas[kind], symbols[symbol_count];
    for (int symbol = 0; symbol < symbol_count; symbol++)
        total += counts->counts[symbol];
    for (int symbol = 0; symbol < symbol_count; symbol++)
        symbols[symbol] = CJPEG_rate(counts, total, symbol);
    rates->first = first;
    rates->last = last;
    for (int run = 0; run < block_size - 1; run++)
        for (int bits = 1; bits < 12; bits++) {
            int rate = symbols[run % 16 << 4 | bits] + run / 16 * symbols[0xf0] + (bits << rate_bits);
            rates->values[bits][run] = rate * lambda >> rate_bits;
        }
    // A symbol covers between 1 << bits and twice as many blocks.
    for (int bits = 0; bits < 15; bits++) {
        ends += ((uint64_t) counts->counts[bits << 4] * 3 << bits) / 2;
        end_bits += (uint64_t) counts->counts[bits << 4] * (uint64_t) (symbols[bits << 4] + (bits << rate_bits));
    }
    rates->end = ends ? (int) (end_bits * (uint64_t) lambda / ends >> rate_bits) : lambda;
}

/// Returns the sum of the squares of a block's AC coefficients, in steps.
static inline unsigned energy(const int16_t *values)
{
    unsigned sum = 0;
#if defined(__SSE2__)
    __m128i sums = _mm_setzero_si128();
    for (int place = 0; place < block_size; place += 8) {
        __m128i some = _mm_srai_epi16(_mm_loadu_si128((const __m128i *) (values + place)), 2);
        sums = _mm_add_epi32(sums, _mm_madd_epi16(some, some));
    }
    sums = _mm_add_epi32(sums, _mm_srli_si128(sums, 8));
    sums = _mm_add_epi32(sums, _mm_srli_si128(sums, 4));
    sum = (unsigned) _mm_cvtsi128_si32(sums);
#else
    for (int place = 0; place < block_size; place++)
        sum += (unsigned) ((values[place] >> 2) * (values[place] >> 2));
#endif
    sum -= (unsigned) ((values[0] >> 2) * (values[0] >> 2));
    return sum >> (2 * step_bits - 4);
}

/// Returns the weight of distortion in a block: the busier it is, the less is visible.
static inline int weight_of(const int16_t *values)
{
    // 1000 ÷ (1000 + the energy) to the power of 0.47, by the bits of the energy.
    static const uint8_t weights[33] = {
        64, 64, 64, 64, 64, 63, 63, 61, 59, 55, 50, 42, 34, 26, 19, 14, 10,
        8, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    unsigned sum = energy(values);
    return weights[sum ? bits_of((int) sum) : 0];
}

void CJPEG_keep_plainly(const Blocks *blocks, int row)
{
    size_t number = (size_t) row * (size_t) blocks->all_across;
    for (int column = 0; column < blocks->across; column++, number++)
        blocks->kept[number] = found(blocks->values + number * block_size, plain_least);
}

/// The coefficients of a band that may be kept; the first entry is the start of the band.
typedef struct {
    int places[block_size], magnitudes[block_size];
    /// The least cost up to each candidate if it is kept, without `zeros`; and the candidate that is then kept before
    /// it.
    int costs[block_size], before[block_size];
} Candidates;

/// Chooses values of a band among the positions in `kept`; returns the nonzero ones.
static inline uint64_t choose_band(
    const int16_t *values, uint64_t kept, const Rates *rates, const int *weights, int16_t *chosen)
{
    Candidates candidates;
    // `zeros` is the distortion if all candidates so far were zero. Candidates before `first` cannot all be left out.
    int count = 0, first = 0, zeros = 0;
    candidates.places[0] = rates->first - 1;
    candidates.costs[0] = 0;
    for (; kept; kept &= kept - 1) {
        int place = __builtin_ctzll(kept), weight = weights[place >= first_fine];
        int value = magnitude_of(values[place]), magnitude = (value + half_step) >> step_bits;
        int error = value - (magnitude << step_bits), lower = error + one_step, bits = bits_of(magnitude);
        const int *costs = rates->values[bits] + place - 1;
        int cost = candidates.costs[count] + costs[-candidates.places[count]], before = count;
        for (int other = count - 1; other >= first; other--) {
            int another = candidates.costs[other] + costs[-candidates.places[other]];
            before = another < cost ? other : before;
            cost = another < cost ? another : cost;
        }
        int distortion = error * error * weight >> weight_bits;
        // A lower value is considered only if it takes one bit less.
        if (magnitude > 1 && (magnitude & (magnitude - 1)) == 0) {
            int run = place - candidates.places[before] - 1;
            int lowered = (lower * lower * weight >> weight_bits) - (rates->values[bits][run] - rates->values[bits - 1][run]);
            magnitude -= lowered < distortion;
            distortion = lowered < distortion ? lowered : distortion;
        }
        cost += zeros + distortion;
        count++;
        if (value < 2 * one_step + half_step)
            zeros += value * value * weight >> weight_bits;
        else
            first = count;
        candidates.places[count] = place;
        candidates.magnitudes[count] = magnitude;
        candidates.costs[count] = cost - zeros;
        candidates.before[count] = before;
    }
    int last = first, least = unreachable;
    for (int end = first; end <= count; end++) {
        int cost = candidates.costs[end] + (candidates.places[end] < rates->last ? rates->end : 0);
        last = cost < least ? end : last;
        least = cost < least ? cost : least;
    }
    uint64_t result = 0;
    for (; last > 0; last = candidates.before[last]) {
        int place = candidates.places[last], sign = values[place] >> 15;
        chosen[place] = (int16_t) ((candidates.magnitudes[last] ^ sign) - sign);
        result |= (uint64_t) 1 << place;
    }
    return result;
}

void CJPEG_choose(const Blocks *blocks, int row, const Rates *rates, int bands)
{
    size_t number = (size_t) row * (size_t) blocks->all_across;
    for (int column = 0; column < blocks->across; column++, number++) {
        int16_t *values = blocks->values + number * block_size;
        int16_t chosen[block_size] = {(int16_t) nearest(values[0])};
        uint64_t candidates = found(values, half_step), kept = 0;
        if (candidates) {
            int weight = weight_of(values);
            int weights[2] = {weight, blocks->kind ? weight : weight * fine_weight / usual_weight};
            for (int band = 0; band < bands; band++) {
                uint64_t those = candidates & bits_between(rates[band].first, rates[band].last);
                if (those)
                    kept |= choose_band(values, those, &rates[band], weights, chosen);
            }
        }
        blocks->kept[number] = kept;
        memcpy(values, chosen, sizeof chosen);
    }
}
