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
    /// Larger values are always kept.
    max_weak = 1,
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
    for (int index = 0; index < block_size; index += 8) {
        __m128i some = _mm_srai_epi16(_mm_loadu_si128((const __m128i *) (values + index)), 2);
        sums = _mm_add_epi32(sums, _mm_madd_epi16(some, some));
    }
    sums = _mm_add_epi32(sums, _mm_srli_si128(sums, 8));
    sums = _mm_add_epi32(sums, _mm_srli_si128(sums, 4));
    sum = (unsigned) _mm_cvtsi128_si32(sums);
#else
    for (int index = 0; index < block_size; index++)
        sum += (unsigned) ((values[index] >> 2) * (values[index] >> 2));
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

/// The coefficients of a block, and numbers for each; some of them.
typedef int16_t Values __attribute__((vector_size(2 * block_size)));
typedef uint16_t Amounts __attribute__((vector_size(2 * block_size)));
typedef uint16_t Some __attribute__((vector_size(32)));

/// The nearest magnitude of each coefficient of a block, and the distortion of keeping or leaving it out.
typedef struct {
    /// -1 for negative coefficients.
    Values signs;
    /// The nearest quantized value's magnitude.
    Amounts magnitudes;
    /// The distortion if a coefficient has its nearest value, the one below, and if it is zero, for magnitudes up to
    /// `max_weak`.
    Amounts distortions, lowered, losses;
} Prepared;

/// Computes weighted squares; no product is too large for 16 bits if numbers are below 2.5 steps.
INLINED void weigh(const Amounts *numbers, const Amounts *weights, Amounts *distortions)
{
    Amounts squares = *numbers * *numbers;
    *distortions = (squares >> weight_bits) * *weights + ((squares & ((1 << weight_bits) - 1)) * *weights >> weight_bits);
}

/// Prepares a block whose distortion has one weight up to `first_fine`, exclusive, and another from there on.
INLINED Prepared prepare(const int16_t *values, int weight, int fine)
{
    Prepared prepared;
    Values all;
    memcpy(&all, values, sizeof all);
    prepared.signs = all < 0;
    Amounts weights = {0}, far = (Amounts) ((all ^ prepared.signs) - prepared.signs);
    weights += (uint16_t) fine;
    for (int index = 0; index < first_fine; index++)
        weights[index] = (uint16_t) weight;
    prepared.magnitudes = (far + half_step) >> step_bits;
    Amounts errors = far - (prepared.magnitudes << step_bits);
    weigh(&errors, &weights, &prepared.distortions);
    errors += one_step;
    weigh(&errors, &weights, &prepared.lowered);
    weigh(&far, &weights, &prepared.losses);
    return prepared;
}

/// The coefficients of a band that may be kept; the first entry is the start of the band.
typedef struct {
    /// Negative positions.
    ptrdiff_t indexes[block_size];
    /// The minimum cost up to each kept candidate, without `zeros`, and the candidates kept at that cost.
    int costs[block_size];
    uint64_t kept[block_size];
} Candidates;

/// Chooses values of a band among the positions in `kept`; returns the nonzero ones.
INLINED uint64_t choose_band(Prepared *prepared, uint64_t kept, const Rates *rates)
{
    Candidates candidates;
    uint16_t *magnitudes = (uint16_t *) &prepared->magnitudes;
    const uint16_t *distortions = (const uint16_t *) &prepared->distortions, *losses = (const uint16_t *) &prepared->losses;
    const uint16_t *lower = (const uint16_t *) &prepared->lowered;
    // `zeros` is the distortion if all candidates so far were zero. Candidates before `first` cannot all be left out.
    // `best` are the candidates to keep if no more follow; they cost `least`.
    int count = 0, first = 0, zeros = 0, least = rates->end;
    uint64_t best = 0;
    candidates.indexes[0] = 1 - rates->first;
    candidates.costs[0] = 0;
    candidates.kept[0] = 0;
    for (; kept; kept &= kept - 1) {
        int index = __builtin_ctzll(kept), magnitude = magnitudes[index], distortion = distortions[index];
        int bits = 32 - __builtin_clz((unsigned) magnitude);
        const int *costs = rates->values[bits] + index - 1;
        int cost = candidates.costs[count] + costs[candidates.indexes[count]], before = count;
        for (int other = count - 1; other >= first; other--) {
            int another = candidates.costs[other] + costs[candidates.indexes[other]];
            before = another < cost ? other : before;
            cost = another < cost ? another : cost;
        }
        // A lower value is considered only if it takes one bit less.
        if (magnitude > 1 && (magnitude & (magnitude - 1)) == 0) {
            ptrdiff_t far = candidates.indexes[before];
            int lowered = lower[index] - (costs[far] - (rates->values[bits - 1] + index - 1)[far]);
            magnitudes[index] = (uint16_t) (magnitude - (lowered < distortion));
            distortion = lowered < distortion ? lowered : distortion;
        }
        cost += zeros + distortion;
        count++;
        int is_strong = magnitude > max_weak;
        if (is_strong)
            first = count;
        else
            zeros += losses[index];
        cost -= zeros;
        uint64_t all = candidates.kept[before] | (uint64_t) 1 << index;
        int ended = cost + (index < rates->last ? rates->end : 0);
        int is_best = is_strong | (ended < least);
        best = is_best ? all : best;
        least = is_best ? ended : least;
        candidates.indexes[count] = -index;
        candidates.costs[count] = cost;
        candidates.kept[count] = all;
    }
    return best;
}

/// Stores the coefficients in `kept`, and zeros.
INLINED void store(const Prepared *prepared, uint64_t kept, int16_t *values)
{
    static const Some powers = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    Values chosen = ((Values) prepared->magnitudes ^ prepared->signs) - prepared->signs;
    memcpy(values, &chosen, sizeof chosen);
    for (int index = 0; index < block_size; index += 16) {
        Some some, bits = {0};
        memcpy(&some, values + index, sizeof some);
        bits += (uint16_t) (kept >> index);
        some &= (Some) ((bits & powers) == powers);
        memcpy(values + index, &some, sizeof some);
    }
}

INLINED void choose(const Blocks *blocks, int row, const Rates *rates, int bands)
{
    size_t number = (size_t) row * (size_t) blocks->all_across;
    for (int column = 0; column < blocks->across; column++, number++) {
        int16_t *values = blocks->values + number * block_size;
        uint64_t candidates = found(values, half_step), kept = 0;
        int weight = weight_of(values);
        Prepared prepared = prepare(values, weight, blocks->kind ? weight : weight * fine_weight / usual_weight);
        for (int band = 0; band < bands; band++) {
            uint64_t those = candidates & bits_between(rates[band].first, rates[band].last);
            if (those)
                kept |= choose_band(&prepared, those, &rates[band]);
        }
        blocks->kept[number] = kept;
        store(&prepared, kept | 1, values);
    }
}

#if defined(__SSE2__)
__attribute__((target("avx2,bmi,bmi2,lzcnt"))) static void choose_avx2(
    const Blocks *blocks, int row, const Rates *rates, int bands)
{
    choose(blocks, row, rates, bands);
}
#endif

void CJPEG_choose(const Blocks *blocks, int row, const Rates *rates, int bands)
{
#if defined(__SSE2__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
        && __builtin_cpu_supports("lzcnt")) {
        choose_avx2(blocks, row, rates, bands);
        return;
    }
#endif
    choose(blocks, row, rates, bands);
}
