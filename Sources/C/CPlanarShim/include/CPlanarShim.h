#ifndef CPlanarShim_H
#define CPlanarShim_H

#include <CFastJPEG.h>
#include <CJPEGWriting.h>

#include <stddef.h>
#include <stdint.h>

// Images as planes of 8-bit samples: luma, and Cb and Cr if the image has color. libjpeg reports errors by long jumps, which must not
// pass through Swift, so its calls are here; zimg, libwebp and libjxl need structures of unions and version numbers.

/// The result of a call.
typedef enum {
    CPlanarShimDone = 0,
    /// The library refused; a text gives the reason.
    CPlanarShimFailed = 1,
    /// `should_stop` answered 1.
    CPlanarShimStopped = 2,
    /// The file ended before the image was complete; missing samples are gray.
    CPlanarShimTruncated = 3,
} CPlanarShimStatus;

/// Asks at intervals whether the work is to continue: `should_stop` returns 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CPlanarShimWatch;

/// Largest number of bytes of a text, its final zero included.
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
    /// Luma, Cb and Cr; then alpha, as large as luma and 255 for opaque, without samples if the image is opaque. Only WebP is written with alpha.
    CPlanarShimPlane planes[4];
    /// Without alpha.
    int count;
} CPlanarShimPlanes;

// Reading JPEG.

typedef struct CPlanarShimJPEGReader CPlanarShimJPEGReader;

/// Facts from the header of a JPEG file on which the planar lane depends.
typedef struct {
    int width;
    int height;
    /// 1 for gray, 3 for full-range BT.601 Y'CbCr, 0 for colors of any other kind.
    int planes;
    /// Luma samples for one chroma sample, across and down; 0 if that is not a whole number, or differs between Cb and Cr.
    int across;
    int down;
    /// Whether the image is stored in more than one scan.
    int has_scans;
    /// The ICC profile, which the reader owns, or NULL.
    const uint8_t *profile;
    size_t profile_size;
} CPlanarShimJPEGHeader;

/// Makes a reader of a file, which must outlive the reader; NULL if there is no memory.
CPlanarShimJPEGReader *CPlanarShim_jpeg_open(const void *bytes, size_t count, CPlanarShimWatch watch);

/// Reads up to the first scan.
CPlanarShimStatus CPlanarShim_jpeg_read_header(CPlanarShimJPEGReader *reader, CPlanarShimJPEGHeader *header);

/// Which scans of a progressive image are read, besides those of the DC coefficients (the means of blocks).
typedef struct {
    /// Scans whose first frequency is at most this one.
    int highest_start;
    /// Of the scans that refine earlier ones, those before which at least this number of bits was missing.
    int least_bits_before;
    /// Whether libjpeg estimates low frequencies that the file's scans lack.
    int is_smoothed;
} CPlanarShimJPEGDetail;

/// Decodes into planes reduced by `level` (1, 2, 4 or 8) on each side; chroma is subsampled as in the file, but `refinement` times finer on
/// each side: a power of two, at most the level and at most the subsampling of either side.
///
/// The planes must have the sizes that follow from the header, divisions rounded up, and strides that are multiples of 8. Samples that
/// the file lacks are gray, or as earlier scans left them.
CPlanarShimStatus CPlanarShim_jpeg_decode(
    CPlanarShimJPEGReader *reader, int level, int refinement, CPlanarShimJPEGDetail detail,
    const CPlanarShimPlanes *planes);

/// Decodes into the same planes with CFastJPEG, if it knows the kind of file; `level` is 2, 4 or 8. The reader has read its header, and stays
/// as it is: unless the outcome is "done" or "stopped", `CPlanarShim_jpeg_decode` can do the work.
CFastJPEGOutcome CPlanarShim_jpeg_decode_fast(
    const CPlanarShimJPEGReader *reader, int level, CPlanarShimJPEGDetail detail, const CPlanarShimPlanes *planes);

/// Decodes the image at the coarsest level and keeps no samples, only to find out whether it fails and whether it lacks pixels. The result
/// is that of a decode at any level. The image may have four components.
CPlanarShimStatus CPlanarShim_jpeg_judge(CPlanarShimJPEGReader *reader, CPlanarShimJPEGDetail detail);

/// Whether the data of the image that was decoded, or judged, ended before its last block.
int CPlanarShim_jpeg_lacks_pixels(const CPlanarShimJPEGReader *reader);

/// The reason why the reader failed.
const char *CPlanarShim_jpeg_text(const CPlanarShimJPEGReader *reader);

void CPlanarShim_jpeg_close(CPlanarShimJPEGReader *reader);

// Reading WebP.

/// Whether a file is a lossy still without alpha, which is stored as planes.
int CPlanarShim_webp_is_planar(const void *bytes, size_t count);

/// Decodes such a file into planes of limited range, with chroma at half of luma's size, rounded up; `is_scaled` says whether the planes
/// are smaller than the image.
CPlanarShimStatus CPlanarShim_webp_decode(
    const void *bytes, size_t count, const CPlanarShimPlanes *planes, int is_scaled, CPlanarShimWatch watch);

// JPEG XL.

/// A decoder of one JPEG XL file.
typedef struct CPlanarShimJXLReader CPlanarShimJXLReader;

/// Describes an image that is to be decoded.
typedef struct {
    /// The size as stored, before the image is turned.
    int width;
    int height;
    /// 1 gray, 2 gray with alpha, 3 color, 4 color with alpha.
    int bands;
    /// The ICC profile of the pixels, which the reader owns, or NULL for sRGB.
    const uint8_t *profile;
    size_t profile_size;
    /// Whether pixels have 16 bits, in words of this machine, and not 8: those by PQ and HLG.
    int is_wide;
} CPlanarShimJXLHeader;

/// Makes a reader of a file, which must outlive it; NULL if there is no memory.
CPlanarShimJXLReader *CPlanarShim_jxl_open(const void *bytes, size_t count);

/// Reads all before the pixels.
CPlanarShimStatus CPlanarShim_jxl_header(CPlanarShimJXLReader *reader, CPlanarShimJXLHeader *header);

/// Writes the interleaved pixels of the first frame, rows without gaps; libjxl cannot be stopped. If the file ends too early but has
/// coarse data for all pixels, these are written, and `*is_incomplete` is 1.
CPlanarShimStatus CPlanarShim_jxl_pixels(
    CPlanarShimJXLReader *reader, const CPlanarShimJXLHeader *header, void *pixels, int *is_incomplete);

/// The reason why the reader failed.
const char *CPlanarShim_jxl_text(const CPlanarShimJXLReader *reader);

void CPlanarShim_jxl_close(CPlanarShimJXLReader *reader);

// Writing. The file is put into `*bytes`, to be released with `free`; after a failure `text` gives the reason.

typedef struct {
    /// 1 to 100.
    int quality;
    CJPEGScans scans;
    /// Whether pixels are written with chroma at luma's size; planes say it themselves.
    int has_full_chroma;
    /// The longest side that is written.
    int most_side;
} CPlanarShimJPEGSettings;

/// Interleaved 8-bit pixels, rows without gaps: gray, or red, green and blue; alpha comes last.
typedef struct {
    const uint8_t *samples;
    int width;
    int height;
    /// 1 or 3; 2 or 4 with alpha, which WebP alone holds.
    int bands;
} CPlanarShimPixels;

/// Writes planes with chroma at luma's size, or at half of it on both sides, rounded up.
CPlanarShimStatus CPlanarShim_write_jpeg(
    const CPlanarShimPlanes *planes, CPlanarShimJPEGSettings settings, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

/// Writes interleaved pixels as a JPEG file.
CPlanarShimStatus CPlanarShim_write_jpeg_pixels(
    const CPlanarShimPixels *pixels, CPlanarShimJPEGSettings settings, CPlanarShimWatch watch, void **bytes,
    size_t *count, char text[CPlanarShim_text_size]);

/// How libwebp writes a file: its quality, 1…100, and its method, 0…6.
typedef struct {
    int quality;
    int effort;
} CPlanarShimWebPSettings;

/// Writes planes of limited range, chroma at half of luma's size, rounded up, and alpha if there is any: then samples of transparent pixels
/// may be overwritten.
CPlanarShimStatus CPlanarShim_write_webp(
    const CPlanarShimPlanes *planes, CPlanarShimWebPSettings settings, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

/// Writes interleaved pixels; `has_sharp_chroma` keeps edges between colors sharp, for more time.
CPlanarShimStatus CPlanarShim_write_webp_pixels(
    const CPlanarShimPixels *pixels, int has_sharp_chroma, CPlanarShimWebPSettings settings, CPlanarShimWatch watch,
    void **bytes, size_t *count, char text[CPlanarShim_text_size]);

// Resampling.

typedef struct CPlanarShimGraph CPlanarShimGraph;

/// The meaning of samples while they are averaged.
typedef enum {
    /// The stored values.
    CPlanarShimBytes,
    /// The stored values; the results have 16 bits, 65535 for 255.
    CPlanarShimWords,
    /// Amounts of light by sRGB's curve, always with the kernel Lanczos; the results are bytes by the same curve.
    CPlanarShimLight,
    /// Amounts of light of red, green and blue, into which the three planes are converted; only for `CPlanarShim_resample_colors`.
    CPlanarShimLightOfColors,
} CPlanarShimMixing;

/// The function by which samples are weighted.
typedef enum {
    /// Lanczos, three samples on each side.
    CPlanarShimLanczos,
    /// Catmull-Rom, two samples on each side.
    CPlanarShimCatmullRom,
} CPlanarShimKernel;

/// Describes the resampling of a plane.
typedef struct {
    int source_width;
    int source_height;
    /// The part of the source that fills the target, in samples; its edges may lie within a sample or outside the plane.
    double left;
    double top;
    double width;
    double height;
    int target_width;
    int target_height;
    CPlanarShimMixing mixing;
    CPlanarShimKernel kernel;
} CPlanarShimResampling;

/// The source or target rows of a run: samples of 8 bits, or as `CPlanarShimMixing` says. Rows begin at multiples of 64 bytes.
typedef struct {
    void *samples;
    /// Bytes from one row to the next.
    size_t stride;
    /// Whether samples of light have limited range, 16 to 235, and not 0 to 255.
    int is_limited;
} CPlanarShimRows;

/// Makes a filter graph, which any number of threads may use at once; NULL if zimg refuses.
CPlanarShimGraph *CPlanarShim_graph_make(CPlanarShimResampling resampling);

/// Bytes of working memory that a run needs.
size_t CPlanarShim_graph_room(const CPlanarShimGraph *graph);

/// Resamples; the room begins at a multiple of 64 bytes.
CPlanarShimStatus CPlanarShim_graph_run(
    const CPlanarShimGraph *graph, CPlanarShimRows source, CPlanarShimRows target, void *room, CPlanarShimWatch watch);

/// Luma, Cb and Cr as the source of one resampling.
typedef struct {
    /// Luma as the resampling describes it; Cb and Cr are equally large, and not larger than luma.
    CPlanarShimPlane planes[3];
    /// The place of the first luma sample's center among the centers of chroma samples, the first of which is at 0; and the steps from one
    /// luma sample to the next. Beyond its edges chroma goes on as its outermost samples.
    double left, top, across, down;
    int is_limited;
} CPlanarShimColors;

/// Luma, Cb and Cr as the target of one resampling.
typedef struct {
    CPlanarShimPlane planes[3];
    /// Pixels for one chroma sample on each side, 1 or 2; and by how many pixels, 0 or 1, the first chroma sample begins before the image.
    int step, columns_before, rows_before;
    int is_limited;
} CPlanarShimColorTarget;

/// Resamples three planes together, as the light of their colors, with a graph for this; the room begins at a multiple of 64 bytes.
CPlanarShimStatus CPlanarShim_resample_colors(
    const CPlanarShimGraph *graph, const CPlanarShimColors *source, const CPlanarShimColorTarget *target, void *room,
    CPlanarShimWatch watch);

void CPlanarShim_graph_free(CPlanarShimGraph *graph);

// Samples.

/// Rotates and mirrors a plane by its EXIF orientation (2 to 8; every other value copies it). The target has the upright plane's size.
void CPlanarShim_turn(const CPlanarShimPlane *source, const CPlanarShimPlane *target, int orientation);

/// How many samples differ by more than 32 from the one on the right or the one below, in either of two planes of equal size.
size_t CPlanarShim_color_edges(const CPlanarShimPlane *blue, const CPlanarShimPlane *red);

/// Converts 16-bit samples to 8 bits: each becomes sample * scale + offset, rounded and clipped.
void CPlanarShim_narrow(
    const uint16_t *source, size_t source_stride, const CPlanarShimPlane *target, float scale, float offset);

/// Converts BT.601 planes of equal size, of full or limited range, to rows of red, green and blue without gaps; a single plane becomes
/// rows of gray.
void CPlanarShim_interleave(const CPlanarShimPlanes *planes, int is_limited, uint8_t *pixels);

/// Converts pixels of gray and alpha (2 bands), or red, green, blue and alpha (4 bands), to BT.601 luma, Cb, Cr and alpha: `count` samples of
/// each, one kind after the other.
void CPlanarShim_split(const uint8_t *pixels, int bands, size_t count, int is_limited, uint8_t *samples);

/// A stamp and where it lies.
typedef struct {
    /// Luma, Cb, Cr and alpha, one sample of each for each pixel; rows without gaps, one kind after the other.
    const uint8_t *samples;
    int width;
    int height;
    /// The top left corner, in pixels, of the area that the stamp covers; it is repeated to the right and down. The area lies within the image.
    int left;
    int top;
    int covered_width;
    int covered_height;
    /// Per cent, 0 to 100.
    int opacity;
} CPlanarShimStamp;

/// Lays a stamp on three planes of the range of its samples, with chroma at luma's size, or at half of it on both sides, rounded up.
CPlanarShimStatus CPlanarShim_stamp(const CPlanarShimPlanes *planes, const CPlanarShimStamp *stamp);

/// Converts rows of pixels without gaps to BT.601 luma (`kind` 0), or of colors to Cb (1) or Cr (2), of full or limited range; transparent
/// pixels are composited over gray.
void CPlanarShim_component(const uint8_t *pixels, int bands, int kind, int is_limited, const CPlanarShimPlane *plane);

/// How much two planes of equal size differ in structure: 0 if they are equal. docs/quality.md defines the measure. 1 for planes that are
/// too small to be compared.
double CPlanarShim_dissimilarity(const CPlanarShimPlane *one, const CPlanarShimPlane *other);

/// Writes the names and versions of the libraries that make results, with a final zero.
void CPlanarShim_versions(char text[CPlanarShim_text_size]);

#endif
