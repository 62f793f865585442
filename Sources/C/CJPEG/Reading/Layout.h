#ifndef Layout_h
#define Layout_h

#include "BitReader.h"
#include "Corner.h"

#include <stdlib.h>
#include <string.h>

// The arrangement of components' blocks in a scan and in planes (T.81 section A.2).

/// Allocates zeros. For large blocks, jemalloc's calloc takes fresh pages even if it has others, and each costs a fault;
/// of malloc and memset, the compiler makes calloc.
static inline void *zeros(size_t size)
{
    void *block = aligned_alloc(64, (size + 63) / 64 * 64);
    return block ? memset(block, 0, size) : NULL;
}

/// The blocks of one component of an image.
typedef struct {
    /// The blocks that the image fills.
    int across, down;
    /// The blocks in scans of several components, padded to whole units.
    int padded_across, padded_down;
} BlockGrid;

/// One block of a unit.
typedef struct {
    /// The component's index in the scan and in the frame.
    int part, component;
    /// The position of the block within the unit.
    int x, y;
} UnitBlock;

/// The units of a scan.
typedef struct {
    int across, down;
    int part_count, components[CFastJPEG_max_components];
    int block_count;
    UnitBlock blocks[max_blocks];
    /// Blocks of each of the scan's components from one unit to the next.
    int steps_across[CFastJPEG_max_components], steps_down[CFastJPEG_max_components];
} UnitLayout;

/// Lays out the blocks of a frame's components; returns "done" if the decoder supports the frame.
CFastJPEGOutcome lay_out_frame(const CFastJPEGFrame *frame, BlockGrid grids[CFastJPEG_max_components]);

/// Lays out the units of a scan.
CFastJPEGOutcome lay_out_scan(
    const CFastJPEGFrame *frame, const BlockGrid grids[CFastJPEG_max_components], const CFastJPEGScan *scan,
    UnitLayout *layout);

/// Computes the steps of the corner's coefficients; returns 0 if there are none, or they exceed 8 bits.
int corner_steps(const uint16_t *steps, int level, int16_t corner[max_kept]);

/// Fills in the corner slot of each frequency, in the order of the file; frequencies outside the corner get slots after
/// its end.
void fill_slots(uint8_t *slots, size_t count, int level);

/// Writes the samples of a corner.
static inline __attribute__((always_inline)) void write_corner(
    int level, int dc, const int16_t *corner, const int16_t *steps, uint8_t *samples, size_t stride)
{
    if (level == 8)
        write_1(dc, steps[0], samples);
    else if (level == 4)
        write_2(dc, corner, steps, samples, stride);
    else
        write_4(dc, corner, steps, samples, stride);
}

/// Writes the samples of a corner that are within the plane, if any.
void write_edge(
    const CFastJPEGPlane *plane, const BlockGrid *grid, int level, int column, int row, int dc,
    const int16_t *corner, const int16_t *steps);

/// Writes a block's samples at a coarser level, given the coefficients of a finer one: rows that are `across` apart.
/// Level 2 needs whole blocks.
void write_reduction(
    const CFastJPEGReduction *reduction, int component, int column, int row, int dc, const int16_t *coefficients,
    int across);

#endif
