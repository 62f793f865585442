#ifndef CCodedImages_H
#define CCodedImages_H

#include <stddef.h>
#include <stdint.h>

// Images coded by AV1 or HEVC: dav1d and libde265 decode them, and their samples become planes or pixels of 8 bits, or of more if they
// have PQ or HLG. Both libraries have structures that Swift cannot fill.

/// The result of a call.
typedef enum {
    CCodedImagesDone = 0,
    /// The decoder refused the data.
    CCodedImagesFailed = 1,
    /// The data have no frame, or no further one.
    CCodedImagesNoFrame = 2,
} CCodedImagesStatus;

typedef enum { CCodedImagesAV1,
    CCodedImagesHEVC } CCodedImagesCoding;

/// Rows of samples: bytes, or words of 16 bits in frames of more than 8 bits.
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
    /// 1 for gray, else 3.
    int count;
    /// Bits of a sample, 8 to 12.
    int bits;
    /// Luma samples for one chroma sample, 1 or 2.
    int across, down;
    int is_full_range;
    /// The kind of the colors by ITU-T H.273.
    int matrix;
} CCodedImagesFrame;

typedef struct CCodedImagesDecoder CCodedImagesDecoder;

/// Makes a decoder; NULL if there is no memory.
///
/// `most_pixels` bounds a frame, before memory is taken for it. `point` is the operating point of scalable AV1. Without the filters that smooth
/// a finished frame, only stills are right, but for details.
CCodedImagesDecoder *CCodedImages_open(CCodedImagesCoding coding, unsigned most_pixels, int point, int skips_filters);

/// Takes the data of one AV1 frame, or one NAL unit of HEVC; they are copied.
CCodedImagesStatus CCodedImages_push(CCodedImagesDecoder *decoder, const void *bytes, size_t count);

/// Decodes what was pushed up to its next frame, which is valid until the next call.
CCodedImagesStatus CCodedImages_take(CCodedImagesDecoder *decoder, CCodedImagesFrame *frame);

void CCodedImages_close(CCodedImagesDecoder *decoder);

/// The versions of dav1d and of libde265.
const char *CCodedImages_av1_version(void);
const char *CCodedImages_hevc_version(void);

/// A plane that is put together from the planes of frames, each side divided by `level`.
typedef struct {
    /// Bytes; or at level 1, of frames with more than 8 bits, words that keep all bits.
    void *samples;
    int is_wide;
    /// Bytes from one row to the next.
    size_t stride;
    /// Samples of the plane, divisions rounded up.
    int width, height;
    /// Samples before the division.
    int whole_width, whole_height;
    /// 1, 2, 4 or 8.
    int level;
    /// Sums of the samples that each sample stands for, without gaps and zero at first; NULL at level 1, and if each of them lies in one plane.
    uint32_t *sums;
    /// Bits of the frames' samples, and whether their largest value becomes 255; else they lose their lowest bits.
    int bits, is_spread;
} CCodedImagesMosaic;

/// Adds a plane whose first sample has this place in the whole mosaic; what lies outside is ignored. 0, or -1 if there is no memory.
int CCodedImages_add(const CCodedImagesMosaic *mosaic, const CCodedImagesPlane *plane, int left, int top);

/// Turns the sums into means.
void CCodedImages_finish(const CCodedImagesMosaic *mosaic);

/// One component of the result of a conversion: `weights` of the three sources, and a summand.
typedef struct {
    float weights[4];
    void *samples;
    size_t stride;
    /// Bytes from one sample to the next.
    int step;
} CCodedImagesComponent;

/// Three planes that become other components.
typedef struct {
    /// The first source has the result's size.
    CCodedImagesPlane sources[3];
    /// Whether the samples of the sources are words, and whether those of the components are.
    int takes_words, makes_words;
    /// The place of the result's left and top edges in the other sources, in samples, and their samples for one of the result.
    double left, top, across, down;
    CCodedImagesComponent components[3];
    int count;
} CCodedImagesConversion;

/// Converts samples; components may lie where the sources do if all have one size. 0, or -1 if there is no memory.
int CCodedImages_convert(const CCodedImagesConversion *conversion);

/// Divides the colors of interleaved pixels of 2 or 4 bands by their alpha.
void CCodedImages_divide_by_alpha(void *pixels, int bands, size_t count, int are_words);

/// Interleaved pixels, rows without gaps.
typedef struct {
    uint8_t *pixels;
    int width, height, bands;
} CCodedImagesPixels;

/// Lays pixels of 1 to 4 bands on a ground of 3 or 4, whose own lie behind them; what lies outside is ignored.
void CCodedImages_lay(const CCodedImagesPixels *ground, const CCodedImagesPixels *layer, int left, int top);

#endif
