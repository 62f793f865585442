#ifndef CPlanarShim_H
#define CPlanarShim_H

#include <stddef.h>
#include <stdint.h>

// Pictures as planes of 8-bit samples: luma, and where there is colour Cb and Cr. libjpeg reports errors by long jumps, which
// must not pass through Swift, so its calls are here; zimg, libwebp and libheif want
// structures of unions and version numbers.

/// What a call came to.
typedef enum {
    CPlanarShimDone = 0,
    /// The library refused; a text says why.
    CPlanarShimFailed = 1,
    /// `should_stop` answered 1.
    CPlanarShimStopped = 2,
    /// The file ended before the picture did; what was missing is grey.
    CPlanarShimCut = 3,
} CPlanarShimStatus;

/// Asks every now and then whether work is to go on: `should_stop` answers 1 to end it.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CPlanarShimWatch;

/// Most bytes of a text with its zero.
#define CPlanarShim_text_size 200

/// Rows of samples.
typedef struct {
    uint8_t *samples;
    /// Bytes from one row to the next.
    size_t stride;
    int width;
    int height;
} CPlanarShimPlane;

/// A picture of one or three planes.
typedef struct {
    CPlanarShimPlane planes[3];
    int count;
} CPlanarShimPlanes;

// Reading JPEG.

typedef struct CPlanarShimJPEGReader CPlanarShimJPEGReader;

/// What the head of a JPEG says, as far as the lane depends on it.
typedef struct {
    int width;
    int height;
    /// 1 for grey, 3 for full-range BT.601 Y'CbCr, 0 for colours of any other kind.
    int planes;
    /// Luma samples for one of chroma, across and down; 0 where that is no whole number or differs between Cb and Cr.
    int across;
    int down;
    /// Whether the picture comes in more than one scan.
    int has_scans;
    /// The ICC profile, which stays the reader's own, or NULL.
    const uint8_t *profile;
    size_t profile_size;
} CPlanarShimJPEGHead;

/// A reader of a file that must outlive it; NULL without memory.
CPlanarShimJPEGReader *CPlanarShim_jpeg_open(const void *bytes, size_t count, CPlanarShimWatch watch);

/// Reads up to the first scan.
CPlanarShimStatus CPlanarShim_jpeg_head(CPlanarShimJPEGReader *reader, CPlanarShimJPEGHead *head);

/// Which scans of a progressive picture are read, besides those of the means of blocks.
typedef struct {
    /// Those whose first frequency is at most this.
    int highest_start;
    /// Of the scans that make earlier ones finer, those before which at least so many bits were missing.
    int least_bits_before;
    /// Whether the coarse details that the file's scans lack are guessed.
    int is_smoothed;
} CPlanarShimJPEGDetail;

/// Decodes into planes reduced by `level` (1, 2, 4 or 8) on each side, chroma as coarse beside luma as in the file.
///
/// The planes must be of the sizes that follow from the head, divisions rounded up, with strides that are multiples of 8. Samples that
/// the file lacks are grey, or as earlier scans left them.
CPlanarShimStatus CPlanarShim_jpeg_decode(
    CPlanarShimJPEGReader *reader, int level, CPlanarShimJPEGDetail detail, const CPlanarShimPlanes *planes);

/// Reads the picture as coarsely as can be, only to see whether it fails and what it lacks, which comes out as in a decode of any level;
/// the picture may have four components.
CPlanarShimStatus CPlanarShim_jpeg_judge(CPlanarShimJPEGReader *reader, CPlanarShimJPEGDetail detail);

/// Whether the data of the picture that was decoded, or judged, ended before its last block.
int CPlanarShim_jpeg_lacks_pixels(const CPlanarShimJPEGReader *reader);

/// Why the reader failed.
const char *CPlanarShim_jpeg_text(const CPlanarShimJPEGReader *reader);

void CPlanarShim_jpeg_close(CPlanarShimJPEGReader *reader);

// Reading WebP.

/// Whether a file is one lossy picture without alpha, which is stored as planes.
int CPlanarShim_webp_is_planar(const void *bytes, size_t count);

/// Decodes such a file into planes of limited range, chroma at half of luma's size, rounded up; scaled where that is asked for.
CPlanarShimStatus CPlanarShim_webp_decode(
    const void *bytes, size_t count, const CPlanarShimPlanes *planes, int is_scaled, CPlanarShimWatch watch);

// Reading AVIF and HEIC.

typedef struct CPlanarShimHEIFReader CPlanarShimHEIFReader;

/// What a decoded picture is.
typedef struct {
    /// Upright, as all turns, mirrors and cuts of the file are done.
    int width;
    int height;
    /// 1 grey, 2 grey with alpha, 3 colour, 4 colour with alpha.
    int bands;
    /// Whether grey has limited range, 16 to 235, and not 0 to 255.
    int is_limited;
    /// The ICC profile, which stays the reader's own, or NULL.
    const uint8_t *profile;
    size_t profile_size;
} CPlanarShimHEIFHead;

/// Whether libheif finds a decoder of AV1; it looks for decoders once, when it is first asked for anything.
int CPlanarShim_heif_reads_av1(void);

/// A reader; NULL without memory.
CPlanarShimHEIFReader *CPlanarShim_heif_open(void);

/// Decodes the primary item of a file that must outlive the reader; libheif cannot be stopped.
CPlanarShimStatus CPlanarShim_heif_decode(
    CPlanarShimHEIFReader *reader, const void *bytes, size_t count, CPlanarShimHEIFHead *head);

/// Fills rows of interleaved 8-bit pixels without gaps.
CPlanarShimStatus CPlanarShim_heif_pixels(
    CPlanarShimHEIFReader *reader, const CPlanarShimHEIFHead *head, uint8_t *pixels);

/// Why the reader failed.
const char *CPlanarShim_heif_text(const CPlanarShimHEIFReader *reader);

void CPlanarShim_heif_close(CPlanarShimHEIFReader *reader);

// Writing. The file goes into `*bytes`, to be released with `free`; after a failure `text` says why.

/// Writes planes with chroma at luma's size, or at half of it on both sides; rounded up.
///
/// Samples behind the end of a row, up to a multiple of 8, are overwritten and must be there.
CPlanarShimStatus CPlanarShim_write_jpeg(
    const CPlanarShimPlanes *planes, int quality, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

/// Writes planes of limited range, chroma at half of luma's size, rounded up.
CPlanarShimStatus CPlanarShim_write_webp(
    const CPlanarShimPlanes *planes, int quality, int effort, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

/// Writes full-range planes with chroma at luma's size, or at half of it on both sides, rounded up; libheif cannot be stopped.
CPlanarShimStatus CPlanarShim_write_avif(
    const CPlanarShimPlanes *planes, int quality, int effort, void **bytes, size_t *count,
    char text[CPlanarShim_text_size]);

// Resampling.

typedef struct CPlanarShimGraph CPlanarShimGraph;

/// How samples are taken while they are mixed.
typedef enum {
    /// As they are.
    CPlanarShimBytes,
    /// As they are; the results have 16 bits, 65535 for 255.
    CPlanarShimWords,
    /// In floating point, as the light that sRGB's curve means by them; the results are bytes by the same curve.
    CPlanarShimLight,
} CPlanarShimMixing;

/// What samples are weighted by.
typedef enum {
    /// Lanczos over three samples to each side.
    CPlanarShimLanczos,
    /// The cubic of Catmull and Rom, over two.
    CPlanarShimCatmullRom,
} CPlanarShimKernel;

/// How a plane becomes one of another size.
typedef struct {
    int source_width;
    int source_height;
    /// The part of the source that fills the target, in samples; it may begin and end within a sample, and outside of them.
    double left;
    double top;
    double width;
    double height;
    int target_width;
    int target_height;
    CPlanarShimMixing mixing;
    CPlanarShimKernel kernel;
} CPlanarShimResampling;

/// Rows of samples of either side of a run, 8 bits each or as the mixing says; they begin at multiples of 64 bytes.
typedef struct {
    void *samples;
    /// Bytes from one row to the next.
    size_t stride;
    /// Whether samples of light have limited range, 16 to 235, and not 0 to 255.
    int is_limited;
} CPlanarShimRows;

/// A way to resample, which any number of threads may use at once; NULL where zimg refuses.
CPlanarShimGraph *CPlanarShim_graph_make(CPlanarShimResampling resampling);

/// Bytes of working memory that a run needs.
size_t CPlanarShim_graph_room(const CPlanarShimGraph *graph);

/// Resamples; the room begins at a multiple of 64 bytes.
CPlanarShimStatus CPlanarShim_graph_run(
    const CPlanarShimGraph *graph, CPlanarShimRows source, CPlanarShimRows target, void *room, CPlanarShimWatch watch);

void CPlanarShim_graph_free(CPlanarShimGraph *graph);

// Samples.

/// Turns and mirrors a plane as EXIF says of its orientation (2 to 8); the target has the upright plane's size.
void CPlanarShim_turn(const CPlanarShimPlane *source, const CPlanarShimPlane *target, int orientation);

/// Narrows 16-bit samples: each becomes sample * scale + offset, rounded, within 8 bits.
void CPlanarShim_narrow(
    const uint16_t *source, size_t source_stride, const CPlanarShimPlane *target, float scale, float offset);

/// BT.601 planes of one size and of full or limited range become rows of red, green and blue without gaps; of one plane grey.
void CPlanarShim_interleave(const CPlanarShimPlanes *planes, int is_limited, uint8_t *pixels);

#endif
