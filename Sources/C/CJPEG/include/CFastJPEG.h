#ifndef CFastJPEG_H
#define CFastJPEG_H

#include <CPixels.h>

#include <stddef.h>
#include <stdint.h>

// Decodes JPEG files (ITU-T T.81) to planes reduced by 2, 4 or 8, and reads only the coefficients that such planes
// need; docs/jpeg.md explains how. The caller has read the headers. The decoder does not reject a file: anything
// unexpected is a reason to leave the file to libjpeg.

/// The result of a call: done, stopped, or a reason to leave the file to libjpeg.
typedef enum {
    CFastJPEGDone = 0,
    /// `should_stop` returned 1.
    CFastJPEGStopped,
    /// An unsupported process, precision, number of components or sampling factor.
    CFastJPEGProcess,
    /// A Huffman or quantization table is missing or invalid, or has 16-bit steps.
    CFastJPEGTables,
    /// The scans do not match the process, are out of order, or lack coefficients.
    CFastJPEGScans,
    /// A code that is in no table, or is invalid at its position.
    CFastJPEGCode,
    /// A restart marker is missing, or has the wrong number.
    CFastJPEGRestart,
    /// The data of a scan ends too early or too late.
    CFastJPEGEnd,
    /// libjpeg rejected, or warned about, the bytes between two scans.
    CFastJPEGMarkers,
    /// Memory ran out.
    CFastJPEGMemory,
} CFastJPEGOutcome;

/// Rows for `width` × `height` samples; the decoder may write at most three more after each row.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next; a multiple of 4.
    size_t stride;
    int width;
    int height;
} CFastJPEGPlane;

enum { CFastJPEG_max_components = 3 };

/// An image as described by its frame header (T.81 section B.2.2), and how to decode it.
typedef struct {
    /// Size in pixels.
    int width, height;
    /// The reduction of each side: 2, 4 or 8.
    int level;
    int component_count;
    struct {
        /// Sampling factors.
        int across, down;
        /// Its size is derived from the image's size, rounded up.
        CFastJPEGPlane plane;
    } components[CFastJPEG_max_components];
} CFastJPEGFrame;

/// A Huffman table (section B.2.4.2): the numbers of codes of 1 to 16 bits, and 256 symbols; NULL if the file has none.
typedef struct {
    const uint8_t *counts;
    const uint8_t *symbols;
} CFastJPEGCodes;

/// A scan: its header (section B.2.3), its tables, and the start of its data.
typedef struct {
    const uint8_t *data;
    /// The end of the file.
    const uint8_t *end;
    /// Units between two restart markers; 0 for none.
    int restart_interval;
    /// The first and the last frequency of the band, and the bits that its coefficients lack before and after the scan.
    int first, last, bits_before, bits_after;
    int component_count;
    struct {
        /// Index among the frame's components.
        int index;
        /// 64 steps, row by row; NULL if the file has none.
        const uint16_t *steps;
        CFastJPEGCodes dc, ac;
    } components[CFastJPEG_max_components];
} CFastJPEGScan;

/// The planes of a coarser level, which are written while a baseline image is decoded at a finer one. The samples are
/// the same as in a decode at their own level.
typedef struct CFastJPEGReduction CFastJPEGReduction;

/// Returns NULL if the frame is not supported, or memory ran out; released with `free`.
CFastJPEGReduction *CFastJPEG_reduction(const CFastJPEGFrame *frame, const CFastJPEGScan *scan);

/// Writes the samples of a block at this position among the component's blocks: 64 coefficients, row by row.
void CFastJPEG_reduce(
    const CFastJPEGReduction *reduction, int component, int column, int row, const int16_t *coefficients);

/// Decodes the only scan of a baseline image, and its reductions to coarser levels.
CFastJPEGOutcome CFastJPEG_decode(
    const CFastJPEGFrame *frame, const CFastJPEGScan *scan, const CFastJPEGReduction *const *reductions,
    int reduction_count, CPixelsWatch watch);

/// A progressive image, whose scans are read one by one.
typedef struct CFastJPEGProgression CFastJPEGProgression;

/// Starts a progressive image; `*progression` is NULL unless the result is "done".
///
/// - highest_start: AC scans that begin at a higher frequency are skipped;
/// - min_bits_before: so are scans that refine coefficients which lack fewer bits.
CFastJPEGOutcome CFastJPEG_begin(
    const CFastJPEGFrame *frame, int highest_start, int min_bits_before, CFastJPEGProgression **progression);

/// Reads a scan if the planes need it; `*end` is the end of its data, or NULL if the scan was skipped.
CFastJPEGOutcome CFastJPEG_read(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, CPixelsWatch watch, const uint8_t **end);

/// Writes the planes after all scans have been read; an image that lacks bits is left to libjpeg.
CFastJPEGOutcome CFastJPEG_finish(CFastJPEGProgression *progression, CPixelsWatch watch);

void CFastJPEG_close(CFastJPEGProgression *progression);

#endif
