#ifndef CPlanarShim_H
#define CPlanarShim_H

#include <CFastJPEG.h>
#include <CJPEGWriting.h>
#include <CLightResampling.h>

#include <CPixels.h>

#include <stddef.h>
#include <stdint.h>

// Images as planes of 8-bit samples: luma, and Cb and Cr if the image has color. libjpeg reports errors by long jumps,
// which must not pass through Swift, so its calls are here; libwebp and libjxl need structures with unions and version
// numbers.

/// The result of a call.
typedef enum {
    CPlanarShimDone = 0,
    /// The library failed; a text gives the reason.
    CPlanarShimFailed = 1,
    /// `should_stop` returned 1.
    CPlanarShimStopped = 2,
    /// The file ended before the image was complete; missing samples are gray.
    CPlanarShimTruncated = 3,
} CPlanarShimStatus;

/// Maximum size of a text in bytes, including its terminating zero.
#define CPlanarShim_text_size 200

/// Rows of samples.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next.
    size_t stride;
    int width;
    int height;
} CPlanarShimPlane;

/// An image of one or three planes.
typedef struct {
    /// Luma, Cb and Cr; then alpha, with luma's size and 255 for opaque, without samples if the image is opaque. Only
    /// WebP supports alpha.
    CPlanarShimPlane planes[4];
    /// Without alpha.
    int count;
} CPlanarShimPlanes;

// Reading JPEG.

typedef struct CPlanarShimJPEGReader CPlanarShimJPEGReader;

/// Facts from a JPEG header that the planar lane needs.
typedef struct {
    int width;
    int height;
    /// 1 for gray, 3 for full-range BT.601 Y'CbCr, 0 for all other colors.
    int planes;
    /// Luma samples per chroma sample, across and down; 0 if not a whole number, or if Cb and Cr differ.
    int across;
    int down;
    /// Whether the image is stored in more than one scan.
    int has_scans;
    /// The ICC profile, which the reader owns, or NULL.
    const uint8_t *profile;
    size_t profile_size;
} CPlanarShimJPEGHeader;

/// Creates a reader of a file, which must outlive the reader; returns NULL if memory runs out.
CPlanarShimJPEGReader *CPlanarShim_jpeg_open(const void *bytes, size_t count, CPixelsWatch watch);

/// Reads up to the first scan.
CPlanarShimStatus CPlanarShim_jpeg_read_header(CPlanarShimJPEGReader *reader, CPlanarShimJPEGHeader *header);

/// The scans of a progressive image to read, besides those of the DC coefficients (the means of blocks).
typedef struct {
    /// Scans whose first frequency is at most this one.
    int highest_start;
    /// Refinement scans before which at least this number of bits was missing.
    int min_bits_before;
    /// Whether libjpeg estimates low frequencies that the file's scans lack.
    int is_smoothed;
} CPlanarShimJPEGDetail;

/// Decodes into planes reduced by `level` (1, 2, 4 or 8) on each side; chroma is subsampled as in the file, but
/// `refinement` times finer on each side: a power of two, at most the level and at most the subsampling of either side.
///
/// The planes must have the sizes that follow from the header, rounded up, and strides that are multiples of 8. Missing
/// samples are gray, or as decoded from earlier scans.
CPlanarShimStatus CPlanarShim_jpeg_decode(
    CPlanarShimJPEGReader *reader, int level, int refinement, CPlanarShimJPEGDetail detail,
    const CPlanarShimPlanes *planes);

/// Decodes into the same planes with CFastJPEG, if it supports the file; `level` is 2, 4 or 8. The reader has read its
/// header, and does not change: unless the result is "done" or "stopped", `CPlanarShim_jpeg_decode` can do the work.
CFastJPEGOutcome CPlanarShim_jpeg_decode_fast(
    const CPlanarShimJPEGReader *reader, int level, CPlanarShimJPEGDetail detail, const CPlanarShimPlanes *planes);

/// Decodes the image at the coarsest level without keeping samples, to find out whether it fails and whether it lacks
/// pixels. The result is the same as for a decode at any level. The image may have four components.
CPlanarShimStatus CPlanarShim_jpeg_judge(CPlanarShimJPEGReader *reader, CPlanarShimJPEGDetail detail);

enum { CPlanarShim_max_reductions = 3 };

/// Adds planes of a coarser level (2, 4 or 8) that the next decode writes in the same pass, if it is at level 1 or by
/// CFastJPEG; returns whether the image allows it. The samples are CFastJPEG's; they count only if that is "done", or
/// libjpeg has not warned.
int CPlanarShim_jpeg_add_reduction(CPlanarShimJPEGReader *reader, int level, const CPlanarShimPlanes *planes);

/// Returns whether libjpeg has found any damage.
int CPlanarShim_jpeg_has_warned(const CPlanarShimJPEGReader *reader);

/// Returns whether the data of the decoded or checked image ended before its last block.
int CPlanarShim_jpeg_lacks_pixels(const CPlanarShimJPEGReader *reader);

/// The reason why the reader failed.
const char *CPlanarShim_jpeg_text(const CPlanarShimJPEGReader *reader);

void CPlanarShim_jpeg_close(CPlanarShimJPEGReader *reader);

// Reading WebP.

/// Returns whether a file is a lossy still without alpha, which is stored as planes.
int CPlanarShim_webp_is_planar(const void *bytes, size_t count);

/// Decodes such a file into limited-range planes, with chroma at half of luma's size, rounded up; `is_scaled` is 1 if
/// the planes are smaller than the image.
CPlanarShimStatus CPlanarShim_webp_decode(
    const void *bytes, size_t count, const CPlanarShimPlanes *planes, int is_scaled, CPixelsWatch watch);

// JPEG XL.

/// A decoder of one JPEG XL file.
typedef struct CPlanarShimJXLReader CPlanarShimJXLReader;

/// An image to decode.
typedef struct {
    /// The size as stored, before the image is turned.
    int width;
    int height;
    /// 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    int bands;
    /// The ICC profile of the pixels, which the reader owns, or NULL for sRGB.
    const uint8_t *profile;
    size_t profile_size;
    /// Whether pixels have 16 bits in native byte order, instead of 8: for PQ and HLG.
    int is_wide;
    /// The offset of the first frame in the file.
    size_t first_frame;
} CPlanarShimJXLHeader;

/// Creates a reader of a file, which must outlive it; returns NULL if memory runs out.
CPlanarShimJXLReader *CPlanarShim_jxl_open(const void *bytes, size_t count);

/// Reads everything before the pixels.
CPlanarShimStatus CPlanarShim_jxl_header(CPlanarShimJXLReader *reader, CPlanarShimJXLHeader *header);

/// Writes the interleaved pixels of the first frame in packed rows; libjxl cannot be interrupted. If the file ends too
/// early but has coarse data for all pixels, these are written, and `*is_incomplete` is 1.
CPlanarShimStatus CPlanarShim_jxl_pixels(
    CPlanarShimJXLReader *reader, const CPlanarShimJXLHeader *header, void *pixels, int *is_incomplete);

/// The reason why the reader failed.
const char *CPlanarShim_jxl_text(const CPlanarShimJXLReader *reader);

void CPlanarShim_jxl_close(CPlanarShimJXLReader *reader);

/// libjxl's version: 7000 for 0.7.
unsigned CPlanarShim_jxl_version(void);

// Writing. The file is stored in `*bytes`, to be released with `free`; after a failure `text` gives the reason.

typedef struct {
    /// 1 to 100.
    int quality;
    CJPEGScans scans;
    /// Whether pixels are encoded with full-size chroma; for planes, their sizes decide.
    int has_full_chroma;
    /// Whether pixels keep sharp edges between colors if chroma is subsampled.
    int has_sharp_chroma;
    /// The longest allowed side.
    int max_side;
} CPlanarShimJPEGSettings;

/// Interleaved 8-bit pixels in packed rows: gray, or red, green and blue; alpha comes last.
typedef struct {
    const uint8_t *samples;
    int width;
    int height;
    /// 1 or 3; 2 or 4 with alpha, which only WebP supports.
    int bands;
} CPlanarShimPixels;

/// Writes planes with full-size chroma, or half-size on both sides, rounded up.
CPlanarShimStatus CPlanarShim_write_jpeg(
    const CPlanarShimPlanes *planes, CPlanarShimJPEGSettings settings, CPixelsWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

/// Writes interleaved pixels as a JPEG file.
CPlanarShimStatus CPlanarShim_write_jpeg_pixels(
    const CPlanarShimPixels *pixels, CPlanarShimJPEGSettings settings, CPixelsWatch watch, void **bytes,
    size_t *count, char text[CPlanarShim_text_size]);

/// Codes the coefficients of a JPEG file as JPEG XL: photographs take fewer bytes, plain graphics can take more. The JPEG
/// cannot be rebuilt, and no metadata are kept.
CPlanarShimStatus CPlanarShim_jxl_of_jpeg(
    const void *jpeg, size_t jpeg_count, void **bytes, size_t *count, char text[CPlanarShim_text_size]);

/// libwebp's quality, 1…100, and its method, 0…6; `is_lossless` applies to pixels, not to planes.
typedef struct {
    int quality;
    int effort;
    int is_lossless;
} CPlanarShimWebPSettings;

/// Writes limited-range planes, with half-size chroma, rounded up, and alpha if present: then samples of transparent
/// pixels may be overwritten.
CPlanarShimStatus CPlanarShim_write_webp(
    const CPlanarShimPlanes *planes, CPlanarShimWebPSettings settings, CPixelsWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

/// Writes interleaved pixels; `has_sharp_chroma` keeps edges between colors sharp, which takes longer.
CPlanarShimStatus CPlanarShim_write_webp_pixels(
    const CPlanarShimPixels *pixels, int has_sharp_chroma, CPlanarShimWebPSettings settings, CPixelsWatch watch,
    void **bytes, size_t *count, char text[CPlanarShim_text_size]);

// Resampling.

/// The source or target rows of a run.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next.
    size_t stride;
    /// Whether samples of light have limited range, 16 to 235, instead of 0 to 255.
    int is_limited;
} CPlanarShimRows;

/// Resamples a plane; the room must be aligned to 64 bytes.
///
/// If the resampling is plain, each sample becomes sample * `scale` + `offset`, rounded and clipped.
CPlanarShimStatus CPlanarShim_resample(
    const CLightResampler *resampler, CPlanarShimRows source, CPlanarShimRows target, float scale, float offset,
    void *room, CPixelsWatch watch);

/// Luma, Cb and Cr as the source of one resampling.
typedef struct {
    /// Luma as the resampling describes it; Cb and Cr have the same size, at most luma's.
    CPlanarShimPlane planes[3];
    /// The position of the first luma sample's center relative to the chroma samples, the first of which is at 0; and
    /// the distance between luma samples. Beyond its edges, chroma repeats its outermost samples.
    double left, top, across, down;
    int is_limited;
} CPlanarShimColors;

/// Luma, Cb and Cr as the target of one resampling.
typedef struct {
    CPlanarShimPlane planes[3];
    /// Pixels per chroma sample on each side, 1 or 2; and by how many pixels, 0 or 1, the first chroma sample begins
    /// before the image.
    int step, columns_before, rows_before;
    int is_limited;
} CPlanarShimColorTarget;

/// Bytes of working memory that `CPlanarShim_resample_colors` needs.
size_t CPlanarShim_colors_scratch_size(const CLightResampler *resampler);

/// Resamples three planes together in linear light of their colors, with a resampler of 3 bands; the room must be
/// aligned to 64 bytes.
CPlanarShimStatus CPlanarShim_resample_colors(
    const CLightResampler *resampler, const CPlanarShimColors *source, const CPlanarShimColorTarget *target, void *room,
    CPixelsWatch watch);

// Samples.

/// Rotates and mirrors a plane by its EXIF orientation (2 to 8; every other value copies it). The target has the
/// upright plane's size.
void CPlanarShim_turn(const CPlanarShimPlane *source, const CPlanarShimPlane *target, int orientation);

/// Counts the samples that differ by more than 32 from the one on the right or the one below, in either of two planes
/// of equal size.
size_t CPlanarShim_color_edges(const CPlanarShimPlane *blue, const CPlanarShimPlane *red);

/// Converts BT.601 planes of equal size, of full or limited range, to packed rows of red, green and blue; a single
/// plane becomes rows of gray.
void CPlanarShim_interleave(const CPlanarShimPlanes *planes, int is_limited, uint8_t *pixels);

/// Converts pixels of gray and alpha (2 bands), or red, green, blue and alpha (4 bands), to BT.601 luma, Cb, Cr and
/// alpha: `count` samples of each, one kind after the other.
void CPlanarShim_split(const uint8_t *pixels, int bands, size_t count, int is_limited, uint8_t *samples);

/// A stamp and its position.
typedef struct {
    /// Luma, Cb, Cr and alpha, one sample of each per pixel; in packed rows, one kind after the other.
    const uint8_t *samples;
    int width;
    int height;
    /// The top left corner, in pixels, of the area that the stamp covers; it repeats to the right and down. The area
    /// lies within the image.
    int left;
    int top;
    int covered_width;
    int covered_height;
    /// Percent, 0 to 100.
    int opacity;
} CPlanarShimStamp;

/// Blends a stamp onto three planes of the same range, with full-size chroma, or half-size on both sides, rounded up.
CPlanarShimStatus CPlanarShim_stamp(const CPlanarShimPlanes *planes, const CPlanarShimStamp *stamp);

/// Converts packed pixels to BT.601 luma (`kind` 0), or colors to Cb (1) or Cr (2), of full or limited range;
/// transparent pixels are composited over gray.
void CPlanarShim_component(const uint8_t *pixels, int bands, int kind, int is_limited, const CPlanarShimPlane *plane);

/// Returns how much two planes of equal size differ in structure: 0 if they are equal. docs/quality.md defines the
/// measure. Returns 1 for planes that are too small to compare.
double CPlanarShim_dissimilarity(const CPlanarShimPlane *one, const CPlanarShimPlane *other);

/// Writes the names and versions of the libraries that affect results, null-terminated.
void CPlanarShim_versions(char text[CPlanarShim_text_size]);

#endif
