#ifndef CJPEGWriting_H
#define CJPEGWriting_H

#include <CPixels.h>

#include <stddef.h>
#include <stdint.h>

// Writes JPEG files (ITU-T T.81) from planes: the transform, rate-distortion quantization, Huffman tables for the
// image, and scans of spectral bands. docs/quality.md explains the choices. Equal planes yield equal files on every
// processor.

/// A plane of samples.
typedef struct {
    const uint8_t *samples;
    /// Bytes from a row to the next one.
    size_t stride;
    /// At least 1.
    int width;
    int height;
} CJPEGPlane;

/// The scans of a file, which do not affect pixels.
typedef enum {
    CJPEGOneScan,
    /// Several for a file so large that they save bytes, otherwise one.
    CJPEGScansBySize,
    CJPEGSeveralScans,
} CJPEGScans;

typedef struct {
    /// Luma, or luma, Cb and Cr, of full range; chroma has luma's size, or half of it on both sides, rounded up. A side
    /// has at most 65535 samples.
    CJPEGPlane planes[3];
    /// 1 or 3.
    int count;
    /// 1 to 100.
    int quality;
    CJPEGScans scans;
    /// Checked between rows of blocks.
    CPixelsWatch watch;
} CJPEGRequest;

typedef enum {
    CJPEGDone = 0,
    /// `should_stop` returned 1.
    CJPEGStopped = 1,
    /// Memory ran out.
    CJPEGMemory = 2,
} CJPEGOutcome;

/// Writes a file into `*bytes`, to be released with `free`.
CJPEGOutcome CJPEG_write(const CJPEGRequest *request, void **bytes, size_t *count);

#endif
