#ifndef Progression_h
#define Progression_h

#include "HuffmanTables.h"
#include "Layout.h"

// Progressive images (T.81 annex G): scans contain the DC coefficients or a band of frequencies, or one more bit of them.
//
// Only the corners of blocks are kept. A scan that adds a bit to known coefficients has a bit for each nonzero one,
// including those outside the corner; so one bit per coefficient is kept of blocks for which such a scan will be read.

struct CFastJPEGProgression {
    CFastJPEGFrame frame;
    int highest_start, min_bits_before;
    BlockGrid grids[CFastJPEG_max_components];
    /// The corners of a component's padded blocks, row by row; and which coefficients are not zero.
    int16_t *corners[CFastJPEG_max_components];
    uint64_t *nonzero[CFastJPEG_max_components];
    int16_t steps[CFastJPEG_max_components][max_kept];
    int has_steps[CFastJPEG_max_components];
    /// Bits that a coefficient still lacks; -1 before its first scan.
    int8_t lacking[CFastJPEG_max_components][coefficient_count];
    // For the current scan:
    ScanData data;
    BitReader reader;
    UnitLayout layout;
    BlockTables tables[CFastJPEG_max_components];
    int last_dc[CFastJPEG_max_components];
    /// Blocks that have ended before they began (section G.1.2.2).
    int ended_blocks;
    int units_left;
    unsigned restarts;
    /// As in baseline images; no slot after the last.
    uint8_t slots[256];
};

/// Reads the data of a scan with a known layout and tables and a checked header; `*end` is the end of the data.
CFastJPEGOutcome read_scan_data(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, CPixelsWatch watch, const uint8_t **end);

#endif
