#ifndef CFastJPEG_H
#define CFastJPEG_H

#include <stddef.h>
#include <stdint.h>

// Decodes JPEG files (ITU-T T.81) to planes reduced by 2, 4 or 8, and reads only the coefficients that such planes show; docs/jpeg.md
// explains how. The caller has read the headers. The decoder does not judge a file: whatever is not as it should be is a
// reason to leave the file to libjpeg.

/// The end of a call: done, stopped, or a reason to leave the file to libjpeg.
typedef enum {
    CFastJPEGDone = 0,
    /// `should_stop` answered 1.
    CFastJPEGStopped,
    /// A process, precision, number of components or sampling factors that the decoder does not know.
    CFastJPEGProcess,
    /// A Huffman or quantization table is missing or wrong, or has steps of 16 bits.
    CFastJPEGTables,
    /// The scans are not those that the process has, are out of order, or lack coefficients.
    CFastJPEGScans,
    /// A code that is in no table, or that cannot stand where it does.
    CFastJPEGCode,
    /// A restart marker is missing, or another one than expected.
    CFastJPEGRestart,
    /// The data of a scan end too early, or too late.
    CFastJPEGEnd,
    /// libjpeg has refused, or complained of, what stands between two scans.
    CFastJPEGMarkers,
    /// There is no memory.
    CFastJPEGMemory,
} CFastJPEGOutcome;

/// Asks once a row of units whether work is to go on: `should_stop` answers 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CFastJPEGWatch;

/// Rows of samples, into which the decoder writes `width` × `height` of them, and at most three more behind each row.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next; a multiple of 4.
    size_t stride;
    int width;
    int height;
} CFastJPEGPlane;

enum { CFastJPEG_most_components = 3 };

/// An image as its frame header describes it (T.81 section B.2.2), and how it is decoded.
typedef struct {
    /// Size in pixels.
    int width, height;
    /// 2, 4 or 8: by how much each side is reduced.
    int level;
    int component_count;
    struct {
        /// Sampling factors.
        int across, down;
        /// Of the size that follows from the image's size, divisions rounded up.
        CFastJPEGPlane plane;
    } components[CFastJPEG_most_components];
} CFastJPEGFrame;

/// A Huffman table (section B.2.4.2): the numbers of codes of 1 to 16 bits, and 256 symbols; NULL if the file has none.
typedef struct {
    const uint8_t *counts;
    const uint8_t *symbols;
} CFastJPEGCodes;

/// A scan: its header (section B.2.3), the tables that it uses, and where its data begin.
typedef struct {
    const uint8_t *data;
    /// The end of the file.
    const uint8_t *end;
    /// Units between two restart markers; 0 for none.
    int restart_interval;
    /// The first and the last frequency of the band, and how many bits its coefficients lacked before and lack after the scan.
    int first, last, bits_before, bits_after;
    int component_count;
    struct {
        /// Place among the frame's components.
        int index;
        /// 64 steps, row by row; NULL if the file has none.
        const uint16_t *steps;
        CFastJPEGCodes dc, ac;
    } components[CFastJPEG_most_components];
} CFastJPEGScan;

/// Decodes the only scan of a baseline image.
CFastJPEGOutcome CFastJPEG_decode(const CFastJPEGFrame *frame, const CFastJPEGScan *scan, CFastJPEGWatch watch);

/// A progressive image, of which scans arrive one by one.
typedef struct CFastJPEGProgression CFastJPEGProgression;

/// Begins a progressive image; `*progression` is NULL unless the outcome is "done".
///
/// - highest_start: of the scans of details those that begin at a higher frequency are not read;
/// - least_bits_before: nor are those that refine coefficients which lack fewer bits.
CFastJPEGOutcome CFastJPEG_begin(
    const CFastJPEGFrame *frame, int highest_start, int least_bits_before, CFastJPEGProgression **progression);

/// Reads a scan if the planes show it; `*end` is where its data end, or NULL if the scan was not read.
CFastJPEGOutcome CFastJPEG_read(
    CFastJPEGProgression *progression, const CFastJPEGScan *scan, CFastJPEGWatch watch, const uint8_t **end);

/// Writes the planes, when all scans have been read; an image of which bits are missing is left to libjpeg.
CFastJPEGOutcome CFastJPEG_finish(CFastJPEGProgression *progression, CFastJPEGWatch watch);

void CFastJPEG_close(CFastJPEGProgression *progression);

#endif
