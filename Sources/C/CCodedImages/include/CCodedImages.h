#ifndef CCodedImages_H
#define CCodedImages_H

#include <stddef.h>
#include <stdint.h>

// Decodes images coded in AV1 or HEVC with dav1d and libde265, and converts their samples to planes or pixels of 8
// bits, or of more for PQ and HLG. Both libraries have structures that Swift cannot fill.

/// The result of a call.
typedef enum {
    CCodedImagesDone = 0,
    /// The decoder rejected the data.
    CCodedImagesFailed = 1,
    /// The data have no frame, or no further one.
    CCodedImagesNoFrame = 2,
} CCodedImagesStatus;

typedef enum { CCodedImagesAV1,
    CCodedImagesHEVC } CCodedImagesCoding;

/// Rows of samples: bytes, or 16-bit words in frames of more than 8 bits.
typedef struct {
    const void *samples;
    /// Bytes from one row to the next.
    ptrdiff_t stride;
    int width;
    int height;
} CCodedImagesPlane;

/// A decoded frame, whose samples the decoder owns.
typedef struct {
    /// Luma, Cb and Cr.
    CCodedImagesPlane planes[3];
    /// 1 for gray, otherwise 3.
    int count;
    /// Bits of a sample, 8 to 12.
    int bits;
    /// Luma samples per chroma sample, 1 or 2.
    int across, down;
    int is_full_range;
    /// The matrix coefficients by ITU-T H.273.
    int matrix;
} CCodedImagesFrame;

typedef struct CCodedImagesDecoder CCodedImagesDecoder;

/// Creates a decoder; returns NULL if memory runs out.
///
/// `max_pixels` limits a frame, before memory is allocated for it. `point` is the operating point of scalable AV1.
/// Without in-loop filters, only stills are correct, except for details.
CCodedImagesDecoder *CCodedImages_open(CCodedImagesCoding coding, unsigned max_pixels, int point, int skips_filters);

/// Pushes the data of one AV1 frame, or one NAL unit of HEVC; they are copied.
CCodedImagesStatus CCodedImages_push(CCodedImagesDecoder *decoder, const void *bytes, size_t count);

/// Decodes up to the next frame, which is valid until the next call.
CCodedImagesStatus CCodedImages_take(CCodedImagesDecoder *decoder, CCodedImagesFrame *frame);

void CCodedImages_close(CCodedImagesDecoder *decoder);

const char *CCodedImages_av1_version(void);
const char *CCodedImages_hevc_version(void);

/// A plane that is assembled from the planes of frames, each side divided by `level`.
typedef struct {
    /// Bytes; or, at level 1 with frames of more than 8 bits, words that keep all bits.
    void *samples;
    int is_wide;
    /// Bytes from one row to the next.
    size_t stride;
    /// Samples of the plane, rounded up.
    int width, height;
    /// Samples before the division.
    int whole_width, whole_height;
    /// 1, 2, 4 or 8.
    int level;
    /// Sums for the mean of each sample, packed and initially zero; NULL at level 1, and if no mean extends over
    /// several planes.
    uint32_t *sums;
    /// Bits of the frames' samples, and whether their largest value becomes 255; otherwise they lose their lowest bits.
    int bits, is_spread;
} CCodedImagesMosaic;

/// Adds a plane whose first sample has this position in the whole mosaic; samples outside are ignored. Returns 0, or -1
/// if memory runs out.
int CCodedImages_add(const CCodedImagesMosaic *mosaic, const CCodedImagesPlane *plane, int left, int top);

/// Divides the sums to get means.
void CCodedImages_finish(const CCodedImagesMosaic *mosaic);

/// One component of a conversion's result: `weights` of the three sources, and an offset.
typedef struct {
    float weights[4];
    void *samples;
    size_t stride;
    /// Bytes from one sample to the next.
    int step;
} CCodedImagesComponent;

/// A conversion of three planes to other components.
typedef struct {
    /// The first source has the result's size.
    CCodedImagesPlane sources[3];
    /// Whether the sources have 16-bit samples, and whether the components do.
    int takes_words, makes_words;
    /// The position of the result's left and top edges in the other sources, in samples, and their samples per sample
    /// of the result.
    double left, top, across, down;
    CCodedImagesComponent components[3];
    int count;
} CCodedImagesConversion;

/// Converts samples; the output may overwrite the sources if all have one size. Returns 0, or -1 if memory runs out.
int CCodedImages_convert(const CCodedImagesConversion *conversion);

/// Divides the colors of interleaved pixels of 2 or 4 bands by their alpha.
void CCodedImages_divide_by_alpha(void *pixels, int bands, size_t count, int are_words);

/// Packed interleaved pixels.
typedef struct {
    uint8_t *pixels;
    int width, height, bands;
} CCodedImagesPixels;

/// Composites pixels of 1 to 4 bands on a ground of 3 or 4; pixels outside are ignored.
void CCodedImages_composite(const CCodedImagesPixels *ground, const CCodedImagesPixels *layer, int left, int top);

#endif
