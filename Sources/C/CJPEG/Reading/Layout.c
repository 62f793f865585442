#include "Layout.h"

#include <math.h>
#include <stdlib.h>

static int quotient(int count, int divisor)
{
    return (count + divisor - 1) / divisor;
}

CFastJPEGOutcome lay_out_frame(const CFastJPEGFrame *frame, BlockGrid grids[CFastJPEG_max_components])
{
    int index, across, down;
    if (frame->width < 1 || frame->height < 1 || frame->width > UINT16_MAX || frame->height > UINT16_MAX
        || (frame->component_count != 1 && frame->component_count != 3)
        || (frame->level != 2 && frame->level != 4 && frame->level != 8))
        return CFastJPEGProcess;
    across = frame->components[0].across;
    down = frame->components[0].down;
    for (index = 0; index < frame->component_count; index++) {
        int own_across = frame->components[index].across, own_down = frame->components[index].down;
        if (own_across < 1 || own_across > 4 || own_down < 1 || own_down > 4 || across % own_across || down % own_down)
            return CFastJPEGProcess;
        BlockGrid *grid = &grids[index];
        grid->across = quotient(frame->width * own_across, 8 * across);
        grid->down = quotient(frame->height * own_down, 8 * down);
        grid->padded_across = quotient(frame->width, 8 * across) * own_across;
        grid->padded_down = quotient(frame->height, 8 * down) * own_down;
        const CFastJPEGPlane *plane = &frame->components[index].plane;
        int side = corner_side(frame->level);
        if (plane->height > grid->down * side || plane->stride % 4 || plane->stride < (size_t) (grid->across * side))
            return CFastJPEGProcess;
    }
    return CFastJPEGDone;
}

CFastJPEGOutcome lay_out_scan(
    const CFastJPEGFrame *frame, const BlockGrid grids[CFastJPEG_max_components], const CFastJPEGScan *scan,
    UnitLayout *layout)
{
    int part, x, y, seen = 0;
    memset(layout, 0, sizeof *layout);
    if (scan->component_count < 1 || scan->component_count > frame->component_count)
        return CFastJPEGScans;
    for (part = 0; part < scan->component_count; part++) {
        int component = scan->components[part].index;
        if (component < 0 || component >= frame->component_count || seen & 1 << component)
            return CFastJPEGScans;
        seen |= 1 << component;
        // The only component of a scan has units of one block.
        int is_alone = scan->component_count == 1;
        int across = is_alone ? 1 : frame->components[component].across;
        int down = is_alone ? 1 : frame->components[component].down;
        if (layout->block_count + across * down > max_blocks)
            return CFastJPEGProcess;
        for (y = 0; y < down; y++)
            for (x = 0; x < across; x++)
                layout->blocks[layout->block_count++] = (UnitBlock) {part, component, x, y};
        layout->components[part] = component;
        layout->steps_across[part] = across;
        layout->steps_down[part] = down;
        layout->across = is_alone ? grids[component].across : grids[component].padded_across / across;
        layout->down = is_alone ? grids[component].down : grids[component].padded_down / down;
    }
    layout->part_count = scan->component_count;
    return CFastJPEGDone;
}

/// A coefficient that is added to one of the square: its position in the block, and its factor.
typedef struct {
    uint8_t index;
    double factor;
} Added;

/// Means of cosines 5 and 6 over pairs of samples, divided by the contributions of frequencies 3 and 2 to a sample.
#define FACTOR_5 -0.6066933672
#define FACTOR_6 -0.3978247348

/// The coefficients outside the square at level 2. Each has the position of its target in the first or the second half
/// of the square; the halves need different positions.
static const Added added_at_2[max_kept - max_samples] = {
    {48, FACTOR_6},
    {0, 0},
    {6, FACTOR_6},
    {5, FACTOR_5},
    {40, FACTOR_5},
    {41, FACTOR_5},
    {0, 0},
    {13, FACTOR_5},
};

int corner_steps(const uint16_t *steps, int level, int16_t corner[max_kept])
{
    const int side = corner_side(level);
    int index;
    if (!steps)
        return 0;
    for (index = 0; index < 64; index++)
        if (steps[index] > UINT8_MAX)
            return 0;
    for (index = 0; index < side * side; index++)
        corner[index] = (int16_t) steps[index / side * 8 + index % side];
    for (; index < (int) corner_count(level); index++) {
        const Added *added = &added_at_2[index - side * side];
        corner[index] = (int16_t) lround(added->factor * (1 << added_bits) * steps[added->index]);
    }
    return 1;
}

void fill_slots(uint8_t *slots, size_t count, int level)
{
    static const uint8_t of_2[] = {0, 1, 2, 4, 3};
    static const uint8_t of_4[] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 24, 13, 10, 7, 24, 19, 24, 11, 14, 24, 20, 16, 21, 24, 15, 24, 23, 18};
    memset(slots, (int) corner_count(level), count);
    slots[0] = 0;
    if (level == 4)
        memcpy(slots, of_2, sizeof of_2);
    if (level == 2)
        memcpy(slots, of_4, sizeof of_4);
}

void write_edge(
    const CFastJPEGPlane *plane, const BlockGrid *grid, int level, int column, int row, int dc,
    const int16_t *corner, const int16_t *steps)
{
    const int side = corner_side(level);
    uint8_t samples[max_samples];
    int line;
    if (column >= grid->across || row >= grid->down)
        return;
    write_corner(level, dc, corner, steps, samples, (size_t) side);
    for (line = 0; line < side && row * side + line < plane->height; line++)
        memcpy(plane->samples + (size_t) (row * side + line) * plane->stride + (size_t) (column * side),
            samples + line * side, (size_t) side);
}

struct CFastJPEGReduction {
    CFastJPEGFrame frame;
    BlockGrid grids[CFastJPEG_max_components];
    int16_t steps[CFastJPEG_max_components][max_kept];
};

CFastJPEGReduction *CFastJPEG_reduction(const CFastJPEGFrame *frame, const CFastJPEGScan *scan)
{
    CFastJPEGReduction *reduction = calloc(1, sizeof *reduction);
    int part, is_supported;
    if (!reduction)
        return NULL;
    reduction->frame = *frame;
    is_supported =
        scan->component_count == frame->component_count && lay_out_frame(frame, reduction->grids) == CFastJPEGDone;
    for (part = 0; part < frame->component_count && is_supported; part++) {
        int component = scan->components[part].index;
        is_supported = component >= 0 && component < frame->component_count
            && corner_steps(scan->components[part].steps, frame->level, reduction->steps[component]);
    }
    if (is_supported)
        return reduction;
    free(reduction);
    return NULL;
}

static inline __attribute__((always_inline)) void write_reduction_at(
    int level, const CFastJPEGReduction *reduction, int component, int column, int row, int dc,
    const int16_t *coefficients, int across)
{
    const CFastJPEGPlane *plane = &reduction->frame.components[component].plane;
    const BlockGrid *grid = &reduction->grids[component];
    const int16_t *steps = reduction->steps[component];
    const int side = corner_side(level);
    int16_t corner[max_kept];
    int index;
    for (index = 0; index < side; index++)
        memcpy(corner + index * side, coefficients + index * across, (size_t) side * sizeof *corner);
    for (index = side * side; index < (int) corner_count(level); index++)
        corner[index] = coefficients[added_at_2[index - side * side].index];
    if (column < grid->across && (row + 1) * side <= plane->height)
        write_corner(
            level, dc, corner, steps, plane->samples + (size_t) (row * side) * plane->stride + (size_t) (column * side),
            plane->stride);
    else
        write_edge(plane, grid, level, column, row, dc, corner, steps);
}

void write_reduction(
    const CFastJPEGReduction *reduction, int component, int column, int row, int dc, const int16_t *coefficients,
    int across)
{
    if (reduction->frame.level == 8)
        write_reduction_at(8, reduction, component, column, row, dc, coefficients, across);
    else if (reduction->frame.level == 4)
        write_reduction_at(4, reduction, component, column, row, dc, coefficients, across);
    else
        write_reduction_at(2, reduction, component, column, row, dc, coefficients, across);
}

void CFastJPEG_reduce(
    const CFastJPEGReduction *reduction, int component, int column, int row, const int16_t *coefficients)
{
    write_reduction(reduction, component, column, row, coefficients[0], coefficients, 8);
}
