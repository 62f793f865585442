#include "Progression.h"

// The data of one scan of a progressive image: DC coefficients, a band of frequencies, or one more bit of either.

/// Handles the end of an interval: skips a restart marker, and continues with another piece if less than a block may be
/// left.
static __attribute__((noinline, cold)) CFastJPEGOutcome read_on(CFastJPEGProgression *progression, int interval, BitReader *reader)
{
    if (interval && progression->units_left == 0) {
        CFastJPEGOutcome outcome = restart(&progression->data, reader, progression->restarts++);
        if (outcome != CFastJPEGDone)
            return outcome;
        progression->units_left = interval;
        progression->ended_blocks = 0;
        memset(progression->last_dc, 0, sizeof progression->last_dc);
    }
    if (reader->next > limit(&progression->data)) {
        if (progression->data.is_last)
            return CFastJPEGEnd;
        next_piece(&progression->data, reader);
    }
    return CFastJPEGDone;
}

/// Returns whether `read_on` has something to do.
static inline int is_due(const CFastJPEGProgression *progression, int interval, const BitReader *reader)
{
    return __builtin_expect((interval && progression->units_left == 0) || reader->next > limit(&progression->data), 0);
}

/// The corners of a unit's blocks, and the distance to those of the next unit.
typedef struct {
    int16_t *corners[max_blocks];
    size_t steps[max_blocks];
} UnitCorners;

static UnitCorners first_corners(const CFastJPEGProgression *progression, int row)
{
    const UnitLayout *layout = &progression->layout;
    const unsigned kept = corner_count(progression->frame.level);
    UnitCorners first;
    int index;
    for (index = 0; index < layout->block_count; index++) {
        const UnitBlock *block = &layout->blocks[index];
        size_t line = (size_t) (row * layout->steps_down[block->part] + block->y);
        size_t across = (size_t) progression->grids[block->component].padded_across;
        first.corners[index] = progression->corners[block->component] + (line * across + (size_t) block->x) * kept;
        first.steps[index] = (size_t) layout->steps_across[block->part] * kept;
    }
    return first;
}

/// Reads a row of MCUs in the first DC scan (section G.1.2.1).
static CFastJPEGOutcome read_dc(CFastJPEGProgression *progression, const CFastJPEGScan *scan, int row)
{
    const UnitLayout *layout = &progression->layout;
    const int shift = scan->bits_after, interval = scan->restart_interval, count = layout->block_count;
    UnitCorners unit = first_corners(progression, row);
    BitReader reader = progression->reader;
    int column, index;
    for (column = 0; column < layout->across; column++, progression->units_left--)
        for (index = 0; index < count; index++) {
            const int part = layout->blocks[index].part;
            const BlockTables *tables = &progression->tables[part];
            int value;
            Step step;
            if (is_due(progression, index == 0 ? interval : 0, &reader)) {
                BitReader slow = reader;
                CFastJPEGOutcome outcome = read_on(progression, index == 0 ? interval : 0, &slow);
                if (outcome != CFastJPEGDone)
                    return outcome;
                reader = slow;
            }
            refill(&reader);
            step = tables->dc[reader.bits >> (64 - dc_window)];
            value = step_value(&reader, step);
            if (__builtin_expect(step_advance(step) == 1, 1))
                drop(&reader, step);
            else {
                int size = take_escaped(&reader, &tables->dc_codes, step);
                if (size < 0 || size > max_dc_bits)
                    return has_overrun(&progression->data, &reader) ? CFastJPEGEnd : CFastJPEGCode;
                value = extended(reader.bits, (unsigned) size);
                drop(&reader, (uint32_t) size);
            }
            value += progression->last_dc[part];
            progression->last_dc[part] = value;
            if (value < INT16_MIN >> shift || value > INT16_MAX >> shift)
                return CFastJPEGCode;
            *unit.corners[index] = (int16_t) (value * (1 << shift));
            unit.corners[index] += unit.steps[index];
        }
    progression->reader = reader;
    return CFastJPEGDone;
}

/// Refines the DC coefficients of a row of MCUs in a later scan, by one bit each.
static CFastJPEGOutcome refine_dc(CFastJPEGProgression *progression, const CFastJPEGScan *scan, int row)
{
    const UnitLayout *layout = &progression->layout;
    const int shift = scan->bits_after, interval = scan->restart_interval, count = layout->block_count;
    UnitCorners unit = first_corners(progression, row);
    BitReader reader = progression->reader;
    int column, index;
    for (column = 0; column < layout->across; column++, progression->units_left--) {
        if (is_due(progression, interval, &reader)) {
            BitReader slow = reader;
            CFastJPEGOutcome outcome = read_on(progression, interval, &slow);
            if (outcome != CFastJPEGDone)
                return outcome;
            reader = slow;
        }
        refill(&reader);
        for (index = 0; index < count; index++) {
            int16_t *dc = unit.corners[index];
            *dc = (int16_t) (*dc | (int) take(&reader, 1) << shift);
            unit.corners[index] += unit.steps[index];
        }
    }
    progression->reader = reader;
    return CFastJPEGDone;
}

/// Returns the number of blocks that end with the current one, after their code `symbol`, including the current one.
static inline int take_ended_blocks(BitReader *reader, int symbol)
{
    unsigned bits = (unsigned) symbol >> 4;
    return (1 << bits) + (int) take(reader, bits);
}

/// Stores the first value of a coefficient with a slot below `kept`; an index after the block's end is ignored.
static inline __attribute__((always_inline)) void store_value(
    const CFastJPEGProgression *progression, int16_t *corner, uint64_t *nonzero, unsigned index, unsigned kept, int value)
{
    unsigned slot = progression->slots[index];
    int16_t spare, *to = slot < kept ? corner + slot : &spare;
    *to = (int16_t) value;
    if (nonzero)
        *nonzero |= (uint64_t) (value != 0) << (index & (coefficient_count - 1));
}

/// Reads the first scan of a block's band of frequencies (section G.1.2.2).
static inline __attribute__((always_inline)) CFastJPEGOutcome read_band(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, BitReader *shared, int16_t *corner, uint64_t *nonzero)
{
    const BlockTables *tables = &progression->tables[0];
    const unsigned last = (unsigned) scan->last;
    const int one = 1 << scan->bits_after;
    const unsigned last_kept = nonzero ? last : (unsigned) corner_last(progression->frame.level);
    const unsigned kept = corner_count(progression->frame.level);
    BitReader reader = *shared;
    unsigned index = (unsigned) scan->first;
    while (index <= last) {
        refill(&reader);
        int is_kept = index <= last_kept;
        Pair pair = is_kept ? tables->pairs[reader.bits >> (64 - single_window)]
                            : tables->skipping[reader.bits >> (64 - skipping_window)];
        Step step = (Step) pair;
        unsigned run = step_advance(step) - 1;
        int value = 0;
        // The slot of a single code gets its value below; after an invalid one, the block is not used.
        if (is_kept)
            store_value(progression, corner, nonzero, index + first_advance(pair) - 1, kept, first_value(pair) * one);
        if (__builtin_expect(step_advance(step) >= block_end && step_advance(step) < escape
                    && index + step_advance(step) - block_end <= last,
                0)) {
            drop(&reader, step);
            break;
        }
        // The second code may be the next block's.
        if (is_kept && index + run > last) {
            step = tables->single[reader.bits >> (64 - single_window)];
            run = step_advance(step) - 1;
        }
        if (__builtin_expect(index + run > last, 0)) {
            BitReader slow = reader;
            int symbol = take_escaped(&slow, &tables->ac_codes, step_advance(step) == escape && is_kept ? step : 0);
            unsigned size = (unsigned) symbol & 15;
            run = (unsigned) symbol >> 4;
            if (symbol < 0 || size > max_ac_bits)
                return has_overrun(&progression->data, &slow) ? CFastJPEGEnd : CFastJPEGCode;
            if (size == 0 && run < 15) {
                progression->ended_blocks = take_ended_blocks(&slow, symbol) - 1;
                reader = slow;
                break;
            }
            if (index + run > last)
                return has_overrun(&progression->data, &slow) ? CFastJPEGEnd : CFastJPEGCode;
            value = extended(slow.bits, size);
            drop(&slow, size);
            reader = slow;
        } else {
            if (is_kept)
                value = step_value(&reader, step);
            drop(&reader, step);
        }
        index += run;
        if (is_kept)
            store_value(progression, corner, nonzero, index, kept, value * one);
        index++;
    }
    *shared = reader;
    return CFastJPEGDone;
}

/// Returns a bit for each frequency from `first` to `last`.
static inline uint64_t band(unsigned first, unsigned last)
{
    return UINT64_MAX << first & UINT64_MAX >> (coefficient_count - 1 - last);
}

/// Takes the next bit of coefficients that were not zero before.
static inline __attribute__((always_inline)) void refine_known(
    CFastJPEGProgression *progression, BitReader *reader, uint64_t known, int16_t *corner, int one)
{
    const unsigned kept = corner_count(progression->frame.level);
    uint64_t inside = known & band(0, (unsigned) corner_last(progression->frame.level));
    int outside = __builtin_popcountll(known ^ inside);
    int16_t spare = 0;
    // At most 28 bits.
    refill(reader);
    for (; inside; inside &= inside - 1) {
        unsigned slot = progression->slots[__builtin_ctzll(inside)];
        int16_t *to = slot < kept ? corner + slot : &spare;
        int sign = *to < 0 ? -1 : 0, added = (one ^ sign) - sign;
        *to = (int16_t) (*to + (added & -(int) (reader->bits >> 63)));
        drop(reader, 1);
    }
    for (; outside > 0; outside -= 32) {
        refill(reader);
        drop(reader, outside < 32 ? (uint32_t) outside : 32);
    }
}

/// Refines a block's band in a later scan (section G.1.2.3).
static inline __attribute__((always_inline)) CFastJPEGOutcome refine_band(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, BitReader *shared, int16_t *corner, uint64_t *nonzero)
{
    const BlockTables *tables = &progression->tables[0];
    const int one = 1 << scan->bits_after;
    const unsigned last = (unsigned) scan->last;
    const unsigned kept = corner_count(progression->frame.level);
    const uint64_t known = *nonzero;
    BitReader reader = *shared;
    unsigned index = (unsigned) scan->first;
    while (index <= last && progression->ended_blocks == 0) {
        refill(&reader);
        Step step = tables->single[reader.bits >> (64 - single_window)];
        int run = (int) step_advance(step) - 1, value, zero;
        if (step_advance(step) == block_end) {
            drop(&reader, step);
            progression->ended_blocks = 1;
            break;
        }
        if (step_advance(step) == escape) {
            int symbol = take_escaped(&reader, &tables->ac_codes, step);
            int size = symbol & 15;
            run = symbol >> 4;
            if (symbol < 0 || size > 1)
                return has_overrun(&progression->data, &reader) ? CFastJPEGEnd : CFastJPEGCode;
            if (size == 0 && run < 15) {
                progression->ended_blocks = take_ended_blocks(&reader, symbol);
                break;
            }
            value = extended(reader.bits, (unsigned) size);
            drop(&reader, (uint32_t) size);
        } else {
            value = step_value(&reader, step);
            drop(&reader, step);
        }
        // The value goes to the end of the run of coefficients that were zero so far.
        uint64_t zeros = ~known & band(index, last);
        for (zero = 0; zero < run; zero++)
            zeros &= zeros - 1;
        if (!zeros || value < -1 || value > 1)
            return has_overrun(&progression->data, &reader) ? CFastJPEGEnd : CFastJPEGCode;
        unsigned to = (unsigned) __builtin_ctzll(zeros), slot = progression->slots[to];
        refine_known(progression, &reader, known & band(index, to), corner, one);
        if (slot < kept)
            corner[slot] = (int16_t) (value * one);
        *nonzero |= (uint64_t) (value != 0) << to;
        index = to + 1;
    }
    if (index <= last) {
        refine_known(progression, &reader, known & band(index, last), corner, one);
        progression->ended_blocks--;
    }
    *shared = reader;
    return CFastJPEGDone;
}

/// Reads a row of blocks of an AC scan, which has one component.
static inline __attribute__((always_inline)) CFastJPEGOutcome read_blocks(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, int row, int is_refined, int is_noted)
{
    const int component = scan->components[0].index;
    const unsigned kept = corner_count(progression->frame.level);
    const size_t first = (size_t) row * (size_t) progression->grids[component].padded_across;
    int16_t *corner = progression->corners[component] + first * kept;
    uint64_t *nonzero = is_noted ? progression->nonzero[component] + first : NULL;
    BitReader reader = progression->reader;
    int column;
    for (column = 0; column < progression->layout.across; column++, progression->units_left--) {
        CFastJPEGOutcome outcome = CFastJPEGDone;
        if (is_due(progression, scan->restart_interval, &reader)) {
            BitReader slow = reader;
            outcome = read_on(progression, scan->restart_interval, &slow);
            if (outcome != CFastJPEGDone)
                return outcome;
            reader = slow;
        }
        if (is_refined)
            outcome = refine_band(progression, scan, &reader, corner, nonzero);
        else if (progression->ended_blocks > 0)
            progression->ended_blocks--;
        else
            outcome = read_band(progression, scan, &reader, corner, nonzero);
        if (outcome != CFastJPEGDone)
            return outcome;
        corner += kept;
        if (is_noted)
            nonzero++;
    }
    progression->reader = reader;
    return CFastJPEGDone;
}

static CFastJPEGOutcome read_ac(CFastJPEGProgression *progression, const CFastJPEGScan *scan, int row)
{
    if (scan->bits_before)
        return read_blocks(progression, scan, row, 1, 1);
    if (scan->bits_after >= progression->min_bits_before)
        return read_blocks(progression, scan, row, 0, 1);
    return read_blocks(progression, scan, row, 0, 0);
}

CFastJPEGOutcome read_scan_data(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, CPixelsWatch watch, const uint8_t **end)
{
    int row;
    progression->data.source = scan->data;
    progression->data.source_end = scan->end;
    progression->reader = begin_reading(&progression->data);
    memset(progression->last_dc, 0, sizeof progression->last_dc);
    progression->ended_blocks = 0;
    progression->units_left = scan->restart_interval;
    progression->restarts = 0;
    for (row = 0; row < progression->layout.down; row++) {
        CFastJPEGOutcome outcome;
        if (watch.should_stop(watch.context))
            return CFastJPEGStopped;
        if (scan->first > 0)
            outcome = read_ac(progression, scan, row);
        else if (scan->bits_before)
            outcome = refine_dc(progression, scan, row);
        else
            outcome = read_dc(progression, scan, row);
        if (outcome != CFastJPEGDone)
            return outcome;
        if (has_overrun(&progression->data, &progression->reader))
            return CFastJPEGEnd;
    }
    if (!has_ended(&progression->data, &progression->reader))
        return CFastJPEGEnd;
    *end = progression->data.source;
    return CFastJPEGDone;
}
