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
    jmp_buf escape;
    CPlanarShimStatus status;
    char *text;
    JOCTET *file;
    size_t capacity;
} Writer;

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

/// Enlarges the file's memory, all of which has been written.
static void grow(Writer *writer, size_t capacity)
{
    size_t count = writer->capacity;
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
    grow((Writer *) codec, 32 << 10);
}

static boolean go_on(j_compress_ptr codec)
{
    Writer *writer = (Writer *) codec;
    grow(writer, 2 * writer->capacity);
    return TRUE;
}

static void end(j_compress_ptr codec)
{
    (void) codec;
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

static void write_rows(Writer *writer, const CPlanarShimPlanes *planes, CPlanarShimWatch watch)
{
    struct jpeg_compress_struct *codec = &writer->codec;
    JSAMPROW rows[3][2 * DCTSIZE];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    int step = codec->max_v_samp_factor * DCTSIZE;
    int start[3] = {0, 0, 0};
    while (codec->next_scanline < codec->image_height) {
        int index, row;
        if (watch.should_stop(watch.context)) {
            writer->status = CPlanarShimStopped;
            longjmp(writer->escape, 1);
        }
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

static void describe(struct jpeg_compress_struct *codec, const CPlanarShimPlanes *planes, int quality)
{
    int is_half = planes->count == 3 && planes->planes[1].width < planes->planes[0].width;
    codec->image_width = (JDIMENSION) planes->planes[0].width;
    codec->image_height = (JDIMENSION) planes->planes[0].height;
    codec->input_components = planes->count;
    codec->in_color_space = planes->count == 3 ? JCS_YCbCr : JCS_GRAYSCALE;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, quality, TRUE);
    codec->raw_data_in = TRUE;
    codec->comp_info[0].h_samp_factor = codec->comp_info[0].v_samp_factor = is_half ? 2 : 1;
}

CPlanarShimStatus CPlanarShim_write_jpeg(
    const CPlanarShimPlanes *planes, int quality, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size])
{
    int index;
    // On the heap: local variables that change after setjmp would be undefined after longjmp.
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return CPlanarShimFailed;
    writer->text = text;
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
    describe(&writer->codec, planes, quality);
    for (index = 0; index < planes->count; index++)
        pad(&planes->planes[index]);
    jpeg_start_compress(&writer->codec, TRUE);
    write_rows(writer, planes, watch);
    jpeg_finish_compress(&writer->codec);
    *bytes = writer->file;
    *count = writer->capacity - writer->destination.free_in_buffer;
    jpeg_destroy_compress(&writer->codec);
    free(writer);
    return CPlanarShimDone;
}
