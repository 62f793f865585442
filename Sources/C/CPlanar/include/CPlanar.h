#ifndef CPlanar_H
#define CPlanar_H

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
    CPlanarDone = 0,
    /// The library failed; a text gives the reason.
    CPlanarFailed = 1,
    /// `should_stop` returned 1.
    CPlanarStopped = 2,
    /// The file ended before the image was complete; missing samples are gray.
    CPlanarTruncated = 3,
} CPlanarStatus;

/// Maximum size of a text in bytes, including its terminating zero.
#define CPlanar_text_size 200

/// Rows of samples.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next.
    size_t stride;
    int width;
    int height;
} CPlanarPlane;

/// An image of one or three planes.
typedef struct {
    /// Luma, Cb and Cr; then alpha, with luma's size and 255 for opaque, without samples if the image is opaque. Only
    /// WebP supports alpha.
    CPlanarPlane planes[4];
    /// Without alpha.
    int count;
} CPlanarPlanes;

// Reading JPEG.

typedef struct CPlanarJPEGReader CPlanarJPEGReader;

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
} CPlanarJPEGHeader;

/// Creates a reader of a file, which must outlive the reader; returns NULL if memory runs out.
CPlanarJPEGReader *CPlanar_jpeg_open(const void *bytes, size_t count, CPixelsWatch watch);

/// Reads up to the first scan.
CPlanarStatus CPlanar_jpeg_read_header(CPlanarJPEGReader *reader, CPlanarJPEGHeader *header);

/// The scans of a progressive image to read, besides those of the DC coefficients (the means of blocks).
typedef struct {
    /// Scans whose first frequency is at most this one.
    int highest_start;
    /// Refinement scans before which at least this number of bits was missing.
    int min_bits_before;
    /// Whether libjpeg estimates low frequencies that the file's scans lack.
    int is_smoothed;
} CPlanarJPEGDetail;

/// Decodes into planes reduced by `level` (1, 2, 4 or 8) on each side; chroma is subsampled as in the file, but
/// `refinement` times finer on each side: a power of two, at most the level and at most the subsampling of either side.
///
/// The planes must have the sizes that follow from the header, rounded up, and strides that are multiples of 8. Missing
/// samples are gray, or as decoded from earlier scans.
CPlanarStatus CPlanar_jpeg_decode(
    CPlanarJPEGReader *reader, int level, int refinement, CPlanarJPEGDetail detail,
    const CPlanarPlanes *planes);

/// Decodes into the same planes with CFastJPEG, if it supports the file; `level` is 2, 4 or 8. The reader has read its
/// header, and does not change: unless the result is "done" or "stopped", `CPlanar_jpeg_decode` can do the work.
CFastJPEGOutcome CPlanar_jpeg_decode_fast(
    const CPlanarJPEGReader *reader, int level, CPlanarJPEGDetail detail, const CPlanarPlanes *planes);

/// Decodes the image at the coarsest level without keeping samples, to find out whether it fails and whether it lacks
/// pixels. The result is the same as for a decode at any level. The image may have four components.
CPlanarStatus CPlanar_jpeg_check(CPlanarJPEGReader *reader, CPlanarJPEGDetail detail);

enum { CPlanar_max_reductions = 3 };

/// Adds planes of a coarser level (2, 4 or 8) that the next decode writes in the same pass, if it is at level 1 or by
/// CFastJPEG; returns whether the image allows it. The samples are CFastJPEG's; they count only if that is "done", or
/// libjpeg has not warned.
int CPlanar_jpeg_add_reduction(CPlanarJPEGReader *reader, int level, const CPlanarPlanes *planes);

/// Returns whether libjpeg has found any damage.
int CPlanar_jpeg_has_warned(const CPlanarJPEGReader *reader);

/// Returns whether the data of the decoded or checked image ended before its last block.
int CPlanar_jpeg_lacks_pixels(const CPlanarJPEGReader *reader);

/// The reason why the reader failed.
const char *CPlanar_jpeg_text(const CPlanarJPEGReader *reader);

void CPlanar_jpeg_close(CPlanarJPEGReader *reader);

// Reading WebP.

/// Returns whether a file is a lossy still without alpha, which is stored as planes.
int CPlanar_webp_is_planar(const void *bytes, size_t count);

/// Decodes such a file into limited-range planes, with chroma at half of luma's size, rounded up; `is_scaled` is 1 if
/// the planes are smaller than the image.
CPlanarStatus CPlanar_webp_decode(
    const void *bytes, size_t count, const CPlanarPlanes *planes, int is_scaled, CPixelsWatch watch);

// JPEG XL.

/// A decoder of one JPEG XL file.
typedef struct CPlanarJXLReader CPlanarJXLReader;

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
} CPlanarJXLHeader;

/// Creates a reader of a file, which must outlive it; returns NULL if memory runs out.
CPlanarJXLReader *CPlanar_jxl_open(const void *bytes, size_t count);

/// Reads everything before the pixels.
CPlanarStatus CPlanar_jxl_header(CPlanarJXLReader *reader, CPlanarJXLHeader *header);

/// Writes the interleaved pixels of the first frame in packed rows; libjxl cannot be interrupted. If the file ends too
/// early but has coarse data for all pixels, these are written, and `*is_incomplete` is 1.
CPlanarStatus CPlanar_jxl_pixels(
    CPlanarJXLReader *reader, const CPlanarJXLHeader *header, void *pixels, int *is_incomplete);

/// The reason why the reader failed.
const char *CPlanar_jxl_text(const CPlanarJXLReader *reader);

void CPlanar_jxl_close(CPlanarJXLReader *reader);

/// libjxl's version: 7000 for 0.7.
unsigned CPlanar_jxl_version(void);

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
} CPlanarJPEGSettings;

/// Interleaved 8-bit pixels in packed rows: gray, or red, green and blue; alpha comes last.
typedef struct {
    const uint8_t *samples;
    int width;
    int height;
    /// 1 or 3; 2 or 4 with alpha, which only WebP supports.
    int bands;
} CPlanarPixels;

/// Writes planes with full-size chroma, or half-size on both sides, rounded up.
CPlanarStatus CPlanar_write_jpeg(
    const CPlanarPlanes *planes, CPlanarJPEGSettings settings, CPixelsWatch watch, void **bytes, size_t *count,
    char text[CPlanar_text_size]);

/// Writes interleaved pixels as a JPEG file.
CPlanarStatus CPlanar_write_jpeg_pixels(
    const CPlanarPixels *pixels, CPlanarJPEGSettings settings, CPixelsWatch watch, void **bytes,
    size_t *count, char text[CPlanar_text_size]);

/// Codes the coefficients of a JPEG file as JPEG XL: photographs take fewer bytes, plain graphics can take more. The JPEG
/// cannot be rebuilt, and no metadata are kept.
CPlanarStatus CPlanar_jxl_of_jpeg(
    const void *jpeg, size_t jpeg_count, void **bytes, size_t *count, char text[CPlanar_text_size]);

/// libwebp's quality, 1…100, and its method, 0…6; `is_lossless` applies to pixels, not to planes.
typedef struct {
    int quality;
    int effort;
    int is_lossless;
} CPlanarWebPSettings;

/// Writes limited-range planes, with half-size chroma, rounded up, and alpha if present: then samples of transparent
/// pixels may be overwritten.
CPlanarStatus CPlanar_write_webp(
    const CPlanarPlanes *planes, CPlanarWebPSettings settings, CPixelsWatch watch, void **bytes, size_t *count,
    char text[CPlanar_text_size]);

/// Writes interleaved pixels; `has_sharp_chroma` keeps edges between colors sharp, which takes longer.
CPlanarStatus CPlanar_write_webp_pixels(
    const CPlanarPixels *pixels, int has_sharp_chroma, CPlanarWebPSettings settings, CPixelsWatch watch,
    void **bytes, size_t *count, char text[CPlanar_text_size]);

// Resampling.

/// The source or target rows of a run.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next.
    size_t stride;
    /// Whether samples of light have limited range, 16 to 235, instead of 0 to 255.
    int is_limited;
} CPlanarRows;

/// Resamples a plane; `scratch` must be aligned to 64 bytes.
///
/// If the resampling is plain, each sample becomes sample * `scale` + `offset`, rounded and clipped.
CPlanarStatus CPlanar_resample(
    const CLightResampler *resampler, CPlanarRows source, CPlanarRows target, float scale, float offset,
    void *scratch, CPixelsWatch watch);

/// Luma, Cb and Cr as the source of one resampling.
typedef struct {
    /// Luma as the resampling describes it; Cb and Cr have the same size, at most luma's.
    CPlanarPlane planes[3];
    /// The position of the first luma sample's center relative to the chroma samples, the first of which is at 0; and
    /// the distance between luma samples. Beyond its edges, chroma repeats its outermost samples.
    double left, top, across, down;
    int is_limited;
} CPlanarColors;

/// Luma, Cb and Cr as the target of one resampling.
typedef struct {
    CPlanarPlane planes[3];
    /// Pixels per chroma sample on each side, 1 or 2; and by how many pixels, 0 or 1, the first chroma sample begins
    /// before the image.
    int step, columns_before, rows_before;
    int is_limited;
} CPlanarColorTarget;

/// Bytes of working memory that `CPlanar_resample_colors` needs.
size_t CPlanar_colors_scratch_size(const CLightResampler *resampler);

/// Resamples three planes together in linear light of their colors, with a resampler of 3 bands; `scratch` must be
/// aligned to 64 bytes.
CPlanarStatus CPlanar_resample_colors(
    const CLightResampler *resampler, const CPlanarColors *source, const CPlanarColorTarget *target, void *scratch,
    CPixelsWatch watch);

// Samples.

/// Rotates and mirrors a plane by its EXIF orientation (2 to 8; every other value copies it). The target has the
/// upright plane's size.
void CPlanar_turn(const CPlanarPlane *source, const CPlanarPlane *target, int orientation);

/// Counts the samples that differ by more than 32 from the one on the right or the one below, in either of two planes
/// of equal size.
size_t CPlanar_color_edges(const CPlanarPlane *blue, const CPlanarPlane *red);

/// Converts BT.601 planes of equal size, of full or limited range, to packed rows of red, green and blue; a single
/// plane becomes rows of gray.
void CPlanar_interleave(const CPlanarPlanes *planes, int is_limited, uint8_t *pixels);

/// Converts pixels of gray and alpha (2 bands), or red, green, blue and alpha (4 bands), to BT.601 luma, Cb, Cr and
/// alpha: `count` samples of each, one kind after the other.
void CPlanar_split(const uint8_t *pixels, int bands, size_t count, int is_limited, uint8_t *samples);

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
} CPlanarStamp;

/// Blends a stamp onto three planes of the same range, with full-size chroma, or half-size on both sides, rounded up.
CPlanarStatus CPlanar_stamp(const CPlanarPlanes *planes, const CPlanarStamp *stamp);

/// Converts packed pixels to BT.601 luma (`kind` 0), or colors to Cb (1) or Cr (2), of full or limited range;
/// transparent pixels are composited over gray.
void CPlanar_component(const uint8_t *pixels, int bands, int kind, int is_limited, const CPlanarPlane *plane);

/// Returns how much two planes of equal size differ in structure: 0 if they are equal. docs/quality.md defines the
/// measure. Returns 1 for planes that are too small to compare.
double CPlanar_dissimilarity(const CPlanarPlane *one, const CPlanarPlane *other);

/// Writes the names and versions of the libraries that affect results, null-terminated.
void CPlanar_versions(char text[CPlanar_text_size]);

#endif
