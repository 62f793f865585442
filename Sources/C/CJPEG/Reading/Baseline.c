#include "HuffmanTables.h"
#include "Layout.h"

#include <stdlib.h>

// Baseline images (T.81 annex F): each block has its DC coefficient as the difference from the previous block's, then its
// AC coefficients.
//
// The code of an AC coefficient gives the number of zero coefficients before it, and the size of its value. AC
// coefficients of the corner are looked up by one or two; after the corner's last, one lookup skips all codes within its
// window. The loops keep only a reader, a position and a step, and their only data-dependent branches are at their ends.

enum {
    /// Maximum number of blocks to read before writing their samples: their corners stay in the level 1 cache.
    max_group = 240,
    /// Bits available after a refill.
    refilled_bits = 56,
};
// `read_group` takes these steps before it refills the reader.
_Static_assert(dc_window + max_dc_bits + single_window + max_ac_bits <= refilled_bits, "DC and AC");
_Static_assert(dc_window + max_dc_bits + skipping_window + max_ac_bits <= refilled_bits, "DC and skipped AC");
_Static_assert(2 * (single_window + max_ac_bits) <= refilled_bits, "AC twice");
_Static_assert(2 * (skipping_window + max_ac_bits) <= refilled_bits, "skipped AC twice");

typedef struct {
    const BlockTables *tables;
    int16_t steps[max_kept];
    int dc;
} Part;

typedef struct {
    ScanData data;
    UnitLayout layout;
    BlockGrid grids[CFastJPEG_max_components];
    Part parts[CFastJPEG_max_components];
    BlockTables tables[CFastJPEG_max_components];
    /// Units until the next restart marker, and the number of markers so far.
    int units_left;
    unsigned restarts;
    /// The tables of a group's blocks, and of one more.
    const BlockTables *group[max_group + 1];
    /// Their coefficients; unused values are stored in the slot of a DC coefficient after the last.
    int16_t corners[max_group * max_kept + 1];
    /// The slot of each frequency in a block's corner, in the file's order.
    uint8_t slots[256];
    const CFastJPEGReduction *const *reductions;
    int reduction_count;
} Baseline;

/// The state of reading a group.
typedef struct {
    BitReader reader;
    /// The frequency of the block's next coefficient, in the file's order; 0 for DC.
    unsigned index;
} Position;

/// Reads a code for which a table had no step but `step`. Returns "code" for an invalid one.
static __attribute__((noinline, cold)) CFastJPEGOutcome read_slowly(
    Position *position, const BlockTables *tables, Step step, const uint8_t *slots, int16_t *corner)
{
    BitReader *reader = &position->reader;
    unsigned index = position->index;
    int symbol, run, size;
    symbol = take_escaped(reader, index == 0 ? &tables->dc_codes : &tables->ac_codes, step);
    if (symbol < 0)
        return CFastJPEGCode;
    if (index > 0 && symbol == end_of_block) {
        position->index = block_end;
        return CFastJPEGDone;
    }
    run = index == 0 ? 0 : symbol >> 4;
    size = index == 0 ? symbol : symbol & 15;
    if (size > (index == 0 ? max_dc_bits : max_ac_bits) || (index > 0 && size == 0 && symbol != sixteen_zeros)
        || index + (unsigned) run >= coefficient_count)
        return CFastJPEGCode;
    corner[slots[index + (unsigned) run]] = (int16_t) extended(reader->bits, (unsigned) size);
    drop(reader, (uint32_t) size);
    index += (unsigned) run + 1;
    position->index = index == coefficient_count ? block_end : index;
    return CFastJPEGDone;
}

/// Continues with the next piece; returns "end" if there is none.
static __attribute__((noinline, cold)) CFastJPEGOutcome read_on(ScanData *data, BitReader *reader)
{
    if (data->is_last)
        return CFastJPEGEnd;
    next_piece(data, reader);
    return CFastJPEGDone;
}

/// Reads the corners of this many blocks, with DC coefficients as differences.
static inline __attribute__((always_inline)) CFastJPEGOutcome read_group(
    Baseline *baseline, BitReader *shared, int count, int level)
{
    const int kept = (int) corner_count(level);
    const unsigned last = (unsigned) corner_last(level);
    const BlockTables *const *next = baseline->group;
    const uint8_t *slots = baseline->slots, *last_start = limit(&baseline->data);
    int16_t *corner = baseline->corners, *end = corner + count * kept;
    BitReader reader = *shared;
    for (; corner < end; corner += kept) {
        const BlockTables *tables = *next++;
        unsigned index;
        Step step;
        Pair pair;
        if (__builtin_expect(reader.next > last_start, 0)) {
            BitReader slow = reader;
            if (read_on(&baseline->data, &slow) != CFastJPEGDone)
                return CFastJPEGEnd;
            last_start = limit(&baseline->data);
            reader = slow;
        }
        if (level != 8)
            memset(corner, 0, (size_t) kept * sizeof *corner);
        refill(&reader);
        step = tables->dc[reader.bits >> (64 - dc_window)];
        corner[0] = (int16_t) step_value(&reader, step);
        drop(&reader, step);
        index = step_advance(step);
        if (__builtin_expect(index != 1, 0))
            goto odd;
#define DETAILS_STEP \
    pair = tables->pairs[reader.bits >> (64 - single_window)]; \
    step = (Step) pair; \
    corner[slots[index + first_advance(pair) - 1]] = first_value(pair); \
    index += step_advance(step); \
    corner[slots[index - 1]] = (int16_t) step_value(&reader, step); \
    drop(&reader, step); \
    if (index > last) \
        break;
#define SKIPPING_STEP \
    step = tables->skipping[reader.bits >> (64 - skipping_window)]; \
    index += step_advance(step); \
    drop(&reader, step); \
    if (index >= coefficient_count) \
        break;
    more:
        if (level != 8 && index <= last)
            for (;;) {
                DETAILS_STEP
                refill(&reader);
                DETAILS_STEP
            }
        if (index < coefficient_count) {
            if (level != 8)
                refill(&reader);
            for (;;) {
                SKIPPING_STEP
                refill(&reader);
                SKIPPING_STEP
            }
        }
        if (__builtin_expect(index & coefficient_count, 0) && index != coefficient_count) {
            // A code longer than the window, or too many at once for the end of the block.
            Position slow;
            CFastJPEGOutcome outcome;
        odd:
            slow = (Position) {reader, index - step_advance(step)};
            slow.reader.count += step;
            outcome = read_slowly(&slow, tables, index >= escape && slow.index + escape == index ? step : 0, slots, corner);
            if (outcome != CFastJPEGDone)
                return has_overrun(&baseline->data, &slow.reader) ? CFastJPEGEnd : outcome;
            reader = slow.reader;
            index = slow.index;
            if (index < coefficient_count) {
                refill(&reader);
                goto more;
            }
        }
    }
    *shared = reader;
    return has_overrun(&baseline->data, &reader) ? CFastJPEGEnd : CFastJPEGDone;
}

#undef DETAILS_STEP
#undef SKIPPING_STEP

typedef CFastJPEGOutcome (*GroupReader)(Baseline *, BitReader *, int count);

// Defines `read_group` for each level, with this name suffix, so that the level is a compile-time constant.
#define GROUP_READERS(suffix, attributes) \
    static attributes CFastJPEGOutcome read_group_8##suffix(Baseline *baseline, BitReader *reader, int count) \
    { \
        return read_group(baseline, reader, count, 8); \
    } \
    static attributes CFastJPEGOutcome read_group_4##suffix(Baseline *baseline, BitReader *reader, int count) \
    { \
        return read_group(baseline, reader, count, 4); \
    } \
    static attributes CFastJPEGOutcome read_group_2##suffix(Baseline *baseline, BitReader *reader, int count) \
    { \
        return read_group(baseline, reader, count, 2); \
    }

GROUP_READERS(, __attribute__((noinline)))
#if defined(__x86_64__)
// Shifts by any register instead of one fixed register, so that the loops fit into the registers.
GROUP_READERS(_bmi2, __attribute__((noinline, target("bmi,bmi2"))))
#endif

static GroupReader group_reader(int level)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return level == 8 ? read_group_8_bmi2 : (level == 4 ? read_group_4_bmi2 : read_group_2_bmi2);
#endif
    return level == 8 ? read_group_8 : (level == 4 ? read_group_4 : read_group_2);
}

/// Writes the samples of a group that begins at a unit; returns 0 if a DC coefficient is out of range.
static inline __attribute__((always_inline)) int write_group(
    Baseline *baseline, const CFastJPEGFrame *frame, int row, int column, int count, int level, int has_reductions)
{
    const UnitLayout *layout = &baseline->layout;
    const int side = corner_side(level), kept = (int) corner_count(level);
    int16_t *first = baseline->corners;
    int part, unit, x, y, index, is_good = 1;
    for (part = 0; part < layout->part_count; part++) {
        const int across = layout->steps_across[part], down = layout->steps_down[part];
        const CFastJPEGPlane *plane = &frame->components[layout->components[part]].plane;
        const BlockGrid *grid = &baseline->grids[layout->components[part]];
        const int16_t *steps = baseline->parts[part].steps;
        const size_t stride = plane->stride;
        int dc = baseline->parts[part].dc, begin = column * across;
        uint8_t *samples = plane->samples + (size_t) (row * down * side) * stride + (size_t) (begin * side);
        int16_t *corner = first;
        // Complete rows of blocks, and complete blocks within them.
        int whole_rows = plane->height / side - row * down, whole_columns = grid->across - begin;
        for (unit = 0; unit < count; unit++) {
            for (y = 0; y < down; y++)
                for (x = unit * across; x < (unit + 1) * across; x++, corner += kept) {
                    dc += corner[0];
                    is_good &= dc == (int16_t) dc;
                    if (__builtin_expect(y < whole_rows && x < whole_columns, 1))
                        write_corner(level, (int16_t) dc, corner, steps, samples + (size_t) (y * side) * stride + (size_t) (x * side), stride);
                    else
                        write_edge(plane, grid, level, begin + x, row * down + y, (int16_t) dc, corner, steps);
                    for (index = 0; has_reductions && index < baseline->reduction_count; index++)
                        write_reduction(
                            baseline->reductions[index], layout->components[part], begin + x, row * down + y,
                            (int16_t) dc, corner, side);
                }
            corner += (layout->block_count - across * down) * kept;
        }
        baseline->parts[part].dc = dc;
        first += across * down * kept;
    }
    return is_good;
}

/// Writes a group; the level is a compile-time constant in each call.
static int write_group_at(
    Baseline *baseline, const CFastJPEGFrame *frame, int row, int column, int count)
{
    if (frame->level == 8)
        return write_group(baseline, frame, row, column, count, 8, 0);
    if (baseline->reduction_count)
        return frame->level == 4 ? write_group(baseline, frame, row, column, count, 4, 1)
                                 : write_group(baseline, frame, row, column, count, 2, 1);
    if (frame->level == 4)
        return write_group(baseline, frame, row, column, count, 4, 0);
    return write_group(baseline, frame, row, column, count, 2, 0);
}

/// Prepares the scan's components.
static CFastJPEGOutcome prepare(Baseline *baseline, const CFastJPEGFrame *frame, const CFastJPEGScan *scan)
{
    int index;
    CFastJPEGOutcome outcome = lay_out_frame(frame, baseline->grids);
    if (outcome != CFastJPEGDone)
        return outcome;
    if (scan->component_count != frame->component_count || scan->first != 0 || scan->last != 63 || scan->bits_before != 0
        || scan->bits_after != 0)
        return CFastJPEGScans;
    outcome = lay_out_scan(frame, baseline->grids, scan, &baseline->layout);
    if (outcome != CFastJPEGDone)
        return outcome;
    for (index = 0; index < scan->component_count; index++) {
        Part *part = &baseline->parts[index];
        int first = 0;
        if (!corner_steps(scan->components[index].steps, frame->level, part->steps))
            return CFastJPEGTables;
        // Cb and Cr usually share tables.
        while (scan->components[first].dc.counts != scan->components[index].dc.counts
            || scan->components[first].ac.counts != scan->components[index].ac.counts)
            first++;
        part->tables = &baseline->tables[first];
        if (first == index
            && !(fill_dc(&baseline->tables[index], scan->components[index].dc)
                && fill_ac(&baseline->tables[index], scan->components[index].ac, 1)))
            return CFastJPEGTables;
    }
    for (index = 0; index <= max_group; index++)
        baseline->group[index] = baseline->parts[baseline->layout.blocks[index % baseline->layout.block_count].part].tables;
    fill_slots(baseline->slots, sizeof baseline->slots, frame->level);
    baseline->data.source = scan->data;
    baseline->data.source_end = scan->end;
    return CFastJPEGDone;
}

/// Returns the units of the next group, which ends with the row, or before a restart marker; skips a marker at the
/// group's start.
static CFastJPEGOutcome begin_group(Baseline *baseline, BitReader *reader, int column, int interval, int *count)
{
    const UnitLayout *layout = &baseline->layout;
    int part;
    *count = layout->across - column;
    if (*count > max_group / layout->block_count)
        *count = max_group / layout->block_count;
    if (!interval)
        return CFastJPEGDone;
    if (baseline->units_left == 0) {
        CFastJPEGOutcome outcome = restart(&baseline->data, reader, baseline->restarts++);
        if (outcome != CFastJPEGDone)
            return outcome;
        baseline->units_left = interval;
        for (part = 0; part < layout->part_count; part++)
            baseline->parts[part].dc = 0;
    }
    if (*count > baseline->units_left)
        *count = baseline->units_left;
    baseline->units_left -= *count;
    return CFastJPEGDone;
}

static CFastJPEGOutcome decode_rows(
    Baseline *baseline, const CFastJPEGFrame *frame, const CFastJPEGScan *scan, CPixelsWatch watch)
{
    const UnitLayout *layout = &baseline->layout;
    GroupReader read = group_reader(frame->level);
    BitReader reader = begin_reading(&baseline->data);
    int row, column, count;
    baseline->units_left = scan->restart_interval;
    for (row = 0; row < layout->down; row++) {
        if (watch.should_stop(watch.context))
            return CFastJPEGStopped;
        for (column = 0; column < layout->across; column += count) {
            CFastJPEGOutcome outcome = begin_group(baseline, &reader, column, scan->restart_interval, &count);
            if (outcome == CFastJPEGDone)
                outcome = read(baseline, &reader, count * layout->block_count);
            if (outcome != CFastJPEGDone)
                return outcome;
            if (!write_group_at(baseline, frame, row, column, count))
                return CFastJPEGCode;
        }
    }
    return CFastJPEGDone;
}

CFastJPEGOutcome CFastJPEG_decode(
    const CFastJPEGFrame *frame, const CFastJPEGScan *scan, const CFastJPEGReduction *const *reductions,
    int reduction_count, CPixelsWatch watch)
{
    Baseline *baseline = zeros(sizeof *baseline);
    CFastJPEGOutcome outcome;
    if (!baseline)
        return CFastJPEGMemory;
    baseline->reductions = reductions;
    baseline->reduction_count = reduction_count;
    outcome = prepare(baseline, frame, scan);
    if (outcome == CFastJPEGDone)
        outcome = decode_rows(baseline, frame, scan, watch);
    free(baseline);
    return outcome;
}
