#include "CPlanarShim.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

typedef struct {
    // The first member: a pointer to it is also a pointer to the writer.
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    CPlanarShimStatus status;
    CPlanarShimWatch watch;
    char *text;
    JOCTET *file;
    size_t capacity;
} Writer;

/// The pixels of the file: planes, or interleaved pixels if there are no planes.
typedef struct {
    const CPlanarShimPlanes *planes;
    const CPlanarShimPixels *pixels;
} Image;

/// How the coefficients are coded.
typedef enum {
    /// With the tables of ITU T.81, annex K.3, in one pass.
    Fixed,
    /// With tables made for the image.
    Optimized,
    /// In several scans, with tables made for each.
    Progressive,
} Coding;

/// Bytes of a file with fixed tables from which a progressive one is smaller.
enum { LeastProgressive = 10000 };

/// Quantisation steps at quality 50, in rows of rising vertical frequency.
///
/// With r as the distance of a coefficient from the first one, luma's steps are 13 (1 + 0.15 r^1.95), chroma's 10.5 (1 + 0.35 r^1.15), and
/// the first ones 0.9 and 1.1 times that. Chosen by SSIMULACRA2 at equal bytes: docs/quality.md has the figures.
static const unsigned Steps[2][DCTSIZE2] = {
    {12, 15, 21, 30, 42, 58, 77, 100,
        15, 17, 22, 31, 44, 60, 79, 101,
        21, 22, 28, 37, 49, 65, 84, 107,
        30, 31, 37, 46, 58, 74, 93, 115,
        42, 44, 49, 58, 70, 86, 105, 127,
        58, 60, 65, 74, 86, 101, 120, 143,
        77, 79, 84, 93, 105, 120, 139, 161,
        100, 101, 107, 115, 127, 143, 161, 183},
    {12, 14, 19, 24, 29, 34, 39, 45,
        14, 16, 20, 24, 29, 34, 40, 45,
        19, 20, 23, 27, 31, 36, 41, 47,
        24, 24, 27, 30, 34, 38, 43, 48,
        29, 29, 31, 34, 37, 42, 46, 51,
        34, 34, 36, 38, 42, 45, 50, 54,
        39, 40, 41, 43, 46, 50, 53, 58,
        45, 45, 47, 48, 51, 54, 58, 62},
};

/// The scans of progressive files: each spectral band once, so that no scan refines another. It takes half the time of libjpeg's ten scans.
static const jpeg_scan_info ColorScans[] = {
    {3, {0, 1, 2}, 0, 0, 0, 0},
    {1, {0}, 1, 2, 0, 0},
    {1, {0}, 3, 9, 0, 0},
    {1, {1}, 1, 63, 0, 0},
    {1, {2}, 1, 63, 0, 0},
    {1, {0}, 10, 63, 0, 0},
};
static const jpeg_scan_info GreyScans[] = {
    {1, {0}, 0, 0, 0, 0},
    {1, {0}, 1, 2, 0, 0},
    {1, {0}, 3, 9, 0, 0},
    {1, {0}, 10, 63, 0, 0},
};

static void fail(j_common_ptr codec)
{
    Writer *writer = (Writer *) codec;
    char message[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, message);
    snprintf(writer->text, CPlanarShim_text_size, "%s", message);
    writer->status = CPlanarShimFailed;
    longjmp(writer->escape, 1);
}

static void ignore_message(j_common_ptr codec, int level)
{
    (void) codec, (void) level;
}

/// Called by libjpeg for each row of blocks, in every pass.
static void ask(j_common_ptr codec)
{
    Writer *writer = (Writer *) codec;
    if (!writer->watch.should_stop(writer->watch.context))
        return;
    writer->status = CPlanarShimStopped;
    longjmp(writer->escape, 1);
}

/// Enlarges the file's memory, of which `count` bytes have been written.
static void grow(Writer *writer, size_t count, size_t capacity)
{
    JOCTET *file = realloc(writer->file, capacity);
    if (!file)
        ERREXIT1(&writer->codec, JERR_OUT_OF_MEMORY, 0);
    writer->file = file;
    writer->capacity = capacity;
    writer->destination.next_output_byte = file + count;
    writer->destination.free_in_buffer = capacity - count;
}

static void begin(j_compress_ptr codec)
{
    Writer *writer = (Writer *) codec;
    if (!writer->file)
        grow(writer, 0, 32 << 10);
    writer->destination.next_output_byte = writer->file;
    writer->destination.free_in_buffer = writer->capacity;
}

static boolean go_on(j_compress_ptr codec)
{
    Writer *writer = (Writer *) codec;
    grow(writer, writer->capacity, 2 * writer->capacity);
    return TRUE;
}

static void end(j_compress_ptr codec)
{
    (void) codec;
}

static size_t written(const Writer *writer)
{
    return writer->capacity - writer->destination.free_in_buffer;
}

/// Repeats the last sample of each row up to the next multiple of a block.
static void pad(const CPlanarShimPlane *plane)
{
    size_t padded = ((size_t) plane->width + DCTSIZE - 1) / DCTSIZE * DCTSIZE;
    int y;
    for (y = 0; y < plane->height; y++) {
        uint8_t *row = plane->samples + (size_t) y * plane->stride;
        memset(row + plane->width, row[plane->width - 1], padded - (size_t) plane->width);
    }
}

static void write_planes(struct jpeg_compress_struct *codec, const CPlanarShimPlanes *planes)
{
    JSAMPROW rows[3][2 * DCTSIZE];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    int step = codec->max_v_samp_factor * DCTSIZE;
    int start[3] = {0, 0, 0};
    while (codec->next_scanline < codec->image_height) {
        int index, row;
        for (index = 0; index < planes->count; index++) {
            const CPlanarShimPlane *plane = &planes->planes[index];
            int count = codec->comp_info[index].v_samp_factor * DCTSIZE;
            for (row = 0; row < count; row++) {
                int place = start[index] + row < plane->height ? start[index] + row : plane->height - 1;
                rows[index][row] = plane->samples + (size_t) place * plane->stride;
            }
            start[index] += count;
        }
        jpeg_write_raw_data(codec, arrays, (JDIMENSION) step);
    }
}

static void write_pixels(struct jpeg_compress_struct *codec, const CPlanarShimPixels *pixels)
{
    size_t stride = (size_t) pixels->width * (size_t) pixels->bands;
    while (codec->next_scanline < codec->image_height) {
        // libjpeg only reads the row.
        JSAMPROW row = (JSAMPROW) pixels->samples + codec->next_scanline * stride;
        jpeg_write_scanlines(codec, &row, 1);
    }
}

static void describe(struct jpeg_compress_struct *codec, const Image *image, int has_full_chroma)
{
    int count = image->planes ? image->planes->count : image->pixels->bands;
    codec->image_width = (JDIMENSION) (image->planes ? image->planes->planes[0].width : image->pixels->width);
    codec->image_height = (JDIMENSION) (image->planes ? image->planes->planes[0].height : image->pixels->height);
    codec->input_components = count;
    codec->in_color_space = count == 1 ? JCS_GRAYSCALE : (image->planes ? JCS_YCbCr : JCS_RGB);
    jpeg_set_defaults(codec);
    codec->raw_data_in = image->planes != NULL;
    codec->comp_info[0].h_samp_factor = codec->comp_info[0].v_samp_factor = count == 3 && !has_full_chroma ? 2 : 1;
}

/// Writes the file anew.
static void write_file(Writer *writer, const Image *image, CPlanarShimJPEGSettings settings, Coding coding)
{
    struct jpeg_compress_struct *codec = &writer->codec;
    int scale = jpeg_quality_scaling(settings.quality);
    describe(codec, image, settings.has_full_chroma);
    jpeg_add_quant_table(codec, 0, Steps[0], scale, TRUE);
    jpeg_add_quant_table(codec, 1, Steps[1], scale, TRUE);
    codec->optimize_coding = coding != Fixed;
    if (coding == Progressive) {
        int is_grey = codec->input_components == 1;
        codec->scan_info = is_grey ? GreyScans : ColorScans;
        codec->num_scans = is_grey ? sizeof GreyScans / sizeof *GreyScans : sizeof ColorScans / sizeof *ColorScans;
    }
    jpeg_start_compress(codec, TRUE);
    if (image->planes)
        write_planes(codec, image->planes);
    else
        write_pixels(codec, image->pixels);
    jpeg_finish_compress(codec);
}

static CPlanarShimStatus write_image(
    const Image *image, CPlanarShimJPEGSettings settings, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size])
{
    // On the heap: local variables that change after setjmp would be undefined after longjmp.
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return CPlanarShimFailed;
    writer->text = text;
    writer->watch = watch;
    writer->codec.err = jpeg_std_error(&writer->errors);
    writer->errors.error_exit = fail;
    writer->errors.emit_message = ignore_message;
    if (setjmp(writer->escape)) {
        CPlanarShimStatus status = writer->status;
        jpeg_destroy_compress(&writer->codec);
        free(writer->file);
        free(writer);
        return status;
    }
    jpeg_create_compress(&writer->codec);
    writer->destination.init_destination = begin;
    writer->destination.empty_output_buffer = go_on;
    writer->destination.term_destination = end;
    writer->codec.dest = &writer->destination;
    writer->progress.progress_monitor = ask;
    writer->codec.progress = &writer->progress;
    switch (settings.scans) {
    case CPlanarShimOneFixedScan:
        write_file(writer, image, settings, Fixed);
        break;
    case CPlanarShimOneScan:
        write_file(writer, image, settings, Optimized);
        break;
    case CPlanarShimSeveralScans:
        write_file(writer, image, settings, Progressive);
        break;
    case CPlanarShimScansBySize:
        // The pass with fixed tables takes a quarter of the time of any other.
        write_file(writer, image, settings, Fixed);
        write_file(writer, image, settings, written(writer) < LeastProgressive ? Optimized : Progressive);
        break;
    }
    *bytes = writer->file;
    *count = written(writer);
    jpeg_destroy_compress(&writer->codec);
    free(writer);
    return CPlanarShimDone;
}

CPlanarShimStatus CPlanarShim_write_jpeg(
    const CPlanarShimPlanes *planes, CPlanarShimJPEGSettings settings, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size])
{
    Image image = {planes, NULL};
    int index;
    settings.has_full_chroma = planes->count == 3 && planes->planes[1].width == planes->planes[0].width;
    for (index = 0; index < planes->count; index++)
        pad(&planes->planes[index]);
    return write_image(&image, settings, watch, bytes, count, text);
}

CPlanarShimStatus CPlanarShim_write_jpeg_pixels(
    const CPlanarShimPixels *pixels, CPlanarShimJPEGSettings settings, CPlanarShimWatch watch, void **bytes,
    size_t *count, char text[CPlanarShim_text_size])
{
    Image image = {NULL, pixels};
    return write_image(&image, settings, watch, bytes, count, text);
}
