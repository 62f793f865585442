#ifndef Progression_h
#define Progression_h

#include "HuffmanTables.h"
#include "Layout.h"

// Progressive images (T.81 annex G): scans hold the means or a band of frequencies, or one more bit of them.
//
// Only the corners of blocks are kept. A scan that adds a bit to coefficients which are known already has a bit for each that is not zero, also
// outside of the corner; so one bit a coefficient is kept of blocks that such a scan will be read of.

struct CFastJPEGProgression {
    CFastJPEGFrame frame;
    int highest_start, least_bits_before;
    BlockGrid grids[CFastJPEG_most_components];
    /// The corners of a component's blocks, a row of padded blocks behind the other; and which coefficients are not zero.
    int16_t *corners[CFastJPEG_most_components];
    uint64_t *nonzero[CFastJPEG_most_components];
    int16_t steps[CFastJPEG_most_components][most_kept];
    int has_steps[CFastJPEG_most_components];
    /// Bits that a coefficient still lacks; -1 before its first scan.
    int8_t lacking[CFastJPEG_most_components][coefficient_count];
    // Of the scan that is being read:
    ScanData data;
    BitReader reader;
    UnitLayout layout;
    BlockTables tables[CFastJPEG_most_components];
    int means[CFastJPEG_most_components];
    /// Blocks that have ended before they began (section G.1.2.2).
    int ended_blocks;
    int units_left;
    unsigned restarts;
    /// As of baseline images; no corner's place behind the last.
    uint8_t slots[coefficient_count];
};

/// Reads the data of a scan, of which the layout and the tables are known and the header is judged; `*end` is where they end.
CFastJPEGOutcome read_scan_data(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, CFastJPEGWatch watch, const uint8_t **end);

#endif
