#ifndef CJPEGReference_H
#define CJPEGReference_H

#include <stddef.h>
#include <stdint.h>

// The decoder that CFastJPEG is compared with, for tests and fuzz targets alone: libjpeg reads all coefficients, and plain arithmetic transforms those of
// the lowest frequencies, with factors that are computed from cosines.

/// A JPEG of noise on gradients.
typedef struct {
    int width, height;
    /// 1 or 3, with their sampling factors.
    int component_count, across[3], down[3];
    int quality;
    /// Whether the Huffman tables are made for the image.
    int is_optimized;
    int is_progressive;
    /// Whether coding is arithmetic, quantization steps may exceed 255, and each component of a baseline image has a
    /// separate scan.
    int is_arithmetic, has_wide_steps, has_separate_scans;
    /// Whether the details of a progressive image lack three bits at first, which three scans of each component add.
    int has_coarse_scans;
    /// MCUs between two restart markers; 0 for none.
    int restart_interval;
    /// Greatest difference between the noise of two neighbors; 0 to 255.
    int noise;
    uint32_t seed;
} CJPEGReferenceImage;

/// Writes the JPEG into `*bytes`, to be released with `free`; returns its number of bytes.
size_t CJPEGReference_encode(const CJPEGReferenceImage *image, uint8_t **bytes);

/// Fills the samples of a component at level 2 or 4; returns the number of libjpeg's warnings, or -1 if it refuses the file.
int CJPEGReference_decode(
    const uint8_t *bytes, size_t count, int level, int component, uint8_t *samples, size_t stride, int width, int height);

#endif
