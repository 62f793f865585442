#include "Progression.h"

#include <stdlib.h>

// Decodes a progressive image from its first scan to its planes: checks the headers of all scans, and reads the scans
// that the planes need.

enum { max_shift = 5,
    max_scans_bits = 13 };

CFastJPEGOutcome CFastJPEG_begin(
    const CFastJPEGFrame *frame, int highest_start, int min_bits_before, CFastJPEGProgression **made)
{
    CFastJPEGProgression *progression = zeros(sizeof *progression);
    CFastJPEGOutcome outcome;
    int index;
    *made = NULL;
    if (!progression)
        return CFastJPEGMemory;
    progression->frame = *frame;
    progression->highest_start = highest_start;
    progression->min_bits_before = min_bits_before;
    outcome = lay_out_frame(frame, progression->grids);
    for (index = 0; index < frame->component_count && outcome == CFastJPEGDone; index++) {
        const BlockGrid *grid = &progression->grids[index];
        unsigned kept = corner_count(frame->level);
        size_t count = (size_t) grid->padded_across * (size_t) grid->padded_down * kept;
        progression->corners[index] = zeros(count * sizeof(int16_t));
        if (!progression->corners[index])
            outcome = CFastJPEGMemory;
    }
    if (outcome != CFastJPEGDone) {
        CFastJPEG_close(progression);
        return outcome;
    }
    memset(progression->lacking, -1, sizeof progression->lacking);
    fill_slots(progression->slots, sizeof progression->slots, frame->level);
    *made = progression;
    return CFastJPEGDone;
}

void CFastJPEG_close(CFastJPEGProgression *progression)
{
    int index;
    if (!progression)
        return;
    for (index = 0; index < CFastJPEG_max_components; index++) {
        free(progression->corners[index]);
        free(progression->nonzero[index]);
    }
    free(progression);
}

/// Checks a scan's header more strictly than libjpeg, which tolerates some faults, and records what is known after it.
static CFastJPEGOutcome check_scan(CFastJPEGProgression *progression, const CFastJPEGScan *scan)
{
    int part, frequency;
    if (scan->first < 0 || scan->last < scan->first || scan->last >= coefficient_count || scan->bits_after < 0
        || scan->bits_after > (scan->first == 0 ? max_scans_bits : max_shift)
        || (scan->bits_before != 0 && scan->bits_before != scan->bits_after + 1)
        || (scan->first == 0 ? scan->last != 0 : scan->component_count != 1))
        return CFastJPEGScans;
    for (part = 0; part < scan->component_count; part++) {
        int component = scan->components[part].index;
        int8_t *lacking = progression->lacking[component];
        if (scan->first > 0 && lacking[0] < 0)
            return CFastJPEGScans;
        for (frequency = scan->first; frequency <= scan->last; frequency++) {
            if (scan->bits_before == 0 ? lacking[frequency] >= 0 : lacking[frequency] != scan->bits_before)
                return CFastJPEGScans;
            lacking[frequency] = (int8_t) scan->bits_after;
        }
        if (!progression->has_steps[component]
            && !corner_steps(scan->components[part].steps, progression->frame.level, progression->steps[component]))
            return CFastJPEGTables;
        progression->has_steps[component] = 1;
    }
    return CFastJPEGDone;
}

/// Returns whether the planes need a scan, or a later one that they need depends on it.
static int is_needed(const CFastJPEGProgression *progression, const CFastJPEGScan *scan)
{
    int last = corner_last(progression->frame.level);
    if (scan->first == 0 || scan->bits_after >= progression->min_bits_before)
        return 1;
    return scan->first <= last && scan->first <= progression->highest_start
        && (scan->bits_before == 0 || scan->bits_before >= progression->min_bits_before);
}

/// Reads the tables that a scan uses; if the scan is skipped, only checks them, as libjpeg does.
static int prepare_tables(CFastJPEGProgression *progression, const CFastJPEGScan *scan, int is_read)
{
    int part;
    for (part = 0; part < scan->component_count; part++) {
        BlockTables *tables = &progression->tables[part];
        if (scan->first > 0) {
            if (!fill_ac(tables, scan->components[part].ac, is_read))
                return 0;
        } else if (scan->bits_before == 0 && !fill_dc(tables, scan->components[part].dc))
            return 0;
    }
    return 1;
}

CFastJPEGOutcome CFastJPEG_read(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, CPixelsWatch watch, const uint8_t **end)
{
    CFastJPEGOutcome outcome = lay_out_scan(&progression->frame, progression->grids, scan, &progression->layout);
    int is_read;
    *end = NULL;
    if (outcome == CFastJPEGDone)
        outcome = check_scan(progression, scan);
    if (outcome != CFastJPEGDone)
        return outcome;
    is_read = is_needed(progression, scan);
    if (!prepare_tables(progression, scan, is_read))
        return CFastJPEGTables;
    if (!is_read)
        return CFastJPEGDone;
    if (scan->first > 0 && (scan->bits_before || scan->bits_after >= progression->min_bits_before)) {
        int component = scan->components[0].index;
        const BlockGrid *grid = &progression->grids[component];
        if (!progression->nonzero[component])
            progression->nonzero[component] =
                zeros((size_t) grid->padded_across * (size_t) grid->padded_down * sizeof(uint64_t));
        if (!progression->nonzero[component])
            return CFastJPEGMemory;
    }
    return read_scan_data(progression, scan, watch, end);
}

CFastJPEGOutcome CFastJPEG_finish(CFastJPEGProgression *progression, CPixelsWatch watch)
{
    const int level = progression->frame.level, side = corner_side(level);
    int index, row, column;
    for (index = 0; index < progression->frame.component_count; index++)
        if (progression->lacking[index][0] != 0)
            return CFastJPEGScans;
    for (index = 0; index < progression->frame.component_count; index++) {
        const CFastJPEGPlane *plane = &progression->frame.components[index].plane;
        const BlockGrid *grid = &progression->grids[index];
        const int16_t *steps = progression->steps[index];
        for (row = 0; row < grid->down; row++) {
            const int16_t *corner =
                progression->corners[index] + (size_t) row * (size_t) grid->padded_across * corner_count(level);
            uint8_t *samples = plane->samples + (size_t) (row * side) * plane->stride;
            int is_whole = (row + 1) * side <= plane->height;
            if (watch.should_stop(watch.context))
                return CFastJPEGStopped;
            for (column = 0; column < grid->across; column++, corner += corner_count(level), samples += side)
                if (!is_whole)
                    write_edge(plane, grid, level, column, row, corner[0], corner, steps);
                else if (level == 8)
                    write_corner(8, corner[0], corner, steps, samples, plane->stride);
                else if (level == 4)
                    write_corner(4, corner[0], corner, steps, samples, plane->stride);
                else
                    write_corner(2, corner[0], corner, steps, samples, plane->stride);
        }
    }
    return CFastJPEGDone;
}
