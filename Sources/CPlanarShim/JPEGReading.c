#include "CPlanarShim.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The scaled inverse transforms are chosen behind the public interface, see `keep_chroma_coarse`.
#define JPEG_INTERNALS
#include <jpeglib.h>

struct CPlanarShimJPEGReader {
    // First, so that a pointer to it is one to the reader.
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    CPlanarShimWatch watch;
    CPlanarShimStatus status;
    JOCTET *profile;
    char text[CPlanarShim_text_size];
};

static void fail(j_common_ptr codec)
{
    CPlanarShimJPEGReader *reader = (CPlanarShimJPEGReader *) codec;
    char message[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, message);
    snprintf(reader->text, sizeof reader->text, "%s", message);
    reader->status = CPlanarShimFailed;
    longjmp(reader->escape, 1);
}

// Damage that the library can go on after is shown as it is, as in the other lane.
static void ignore_message(j_common_ptr codec, int level)
{
    (void) codec, (void) level;
}

static void ignore_output(j_common_ptr codec)
{
    (void) codec;
}

static void ignore_source(j_decompress_ptr codec)
{
    (void) codec;
}

// All bytes are there from the beginning: who needs more has a file that is cut short.
static boolean find_no_more(j_decompress_ptr codec)
{
    ERREXIT(codec, JERR_INPUT_EOF);
    return FALSE;
}

static void skip(j_decompress_ptr codec, long count)
{
    struct jpeg_source_mgr *source = codec->src;
    if (count <= 0)
        return;
    if ((size_t) count > source->bytes_in_buffer)
        ERREXIT(codec, JERR_INPUT_EOF);
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t) count;
}

static void ask(j_common_ptr codec)
{
    CPlanarShimJPEGReader *reader = (CPlanarShimJPEGReader *) codec;
    if (!reader->watch.should_stop(reader->watch.context))
        return;
    reader->status = CPlanarShimStopped;
    longjmp(reader->escape, 1);
}

/// Whether the library could be set up.
static int begin(CPlanarShimJPEGReader *reader)
{
    if (setjmp(reader->escape))
        return 0;
    jpeg_create_decompress(&reader->codec);
    reader->codec.src = &reader->source;
    reader->codec.progress = &reader->progress;
    return 1;
}

CPlanarShimJPEGReader *CPlanarShim_jpeg_open(const void *bytes, size_t count, CPlanarShimWatch watch)
{
    CPlanarShimJPEGReader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->watch = watch;
    reader->codec.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = fail;
    reader->errors.emit_message = ignore_message;
    reader->errors.output_message = ignore_output;
    reader->source.next_input_byte = bytes;
    reader->source.bytes_in_buffer = count;
    reader->source.init_source = ignore_source;
    reader->source.fill_input_buffer = find_no_more;
    reader->source.skip_input_data = skip;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = ignore_source;
    reader->progress.progress_monitor = ask;
    if (begin(reader))
        return reader;
    CPlanarShim_jpeg_close(reader);
    return NULL;
}

/// Luma samples for one of chroma, 0 where that is no whole number of them.
static int ratio(int luma, int first, int second)
{
    return first == second && luma % first == 0 ? luma / first : 0;
}

static int planes_of(const struct jpeg_decompress_struct *codec)
{
    if (codec->jpeg_color_space == JCS_GRAYSCALE && codec->num_components == 1)
        return 1;
    return codec->jpeg_color_space == JCS_YCbCr && codec->num_components == 3 ? 3 : 0;
}

CPlanarShimStatus CPlanarShim_jpeg_head(CPlanarShimJPEGReader *reader, CPlanarShimJPEGHead *head)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    const jpeg_component_info *components;
    unsigned int profile_size = 0;
    if (setjmp(reader->escape))
        return reader->status;
    jpeg_save_markers(codec, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(codec, TRUE);
    memset(head, 0, sizeof *head);
    head->width = (int) codec->image_width;
    head->height = (int) codec->image_height;
    head->planes = planes_of(codec);
    head->has_scans = jpeg_has_multiple_scans(codec);
    components = codec->comp_info;
    head->across = head->down = 1;
    if (head->planes == 3) {
        head->across = ratio(components[0].h_samp_factor, components[1].h_samp_factor, components[2].h_samp_factor);
        head->down = ratio(components[0].v_samp_factor, components[1].v_samp_factor, components[2].v_samp_factor);
    }
    if (jpeg_read_icc_profile(codec, &reader->profile, &profile_size)) {
        head->profile = reader->profile;
        head->profile_size = profile_size;
    }
    return CPlanarShimDone;
}

/// libjpeg decodes subsampled chroma with a larger transform than luma where that saves it the upsampling of a scaled picture:
/// a picture at half size would have chroma at luma's size. Here all components take the transform of luma.
static void keep_chroma_coarse(struct jpeg_decompress_struct *codec)
{
    int index;
    for (index = 0; index < codec->num_components; index++) {
        jpeg_component_info *component = &codec->comp_info[index];
        component->DCT_scaled_size = codec->min_DCT_scaled_size;
        component->MCU_sample_width = component->MCU_width * component->DCT_scaled_size;
    }
}

/// Reads the rows of one output pass; those that the library makes behind a plane's last go to `spare`.
static void read_rows(struct jpeg_decompress_struct *codec, const CPlanarShimPlanes *planes, JSAMPROW spare)
{
    JSAMPROW rows[3][MAX_SAMP_FACTOR * DCTSIZE];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    int start[3] = {0, 0, 0};
    while (codec->output_scanline < codec->output_height) {
        int index, row;
        for (index = 0; index < codec->num_components; index++) {
            const CPlanarShimPlane *plane = &planes->planes[index];
            int count = codec->comp_info[index].v_samp_factor * codec->min_DCT_scaled_size;
            for (row = 0; row < count; row++) {
                int place = start[index] + row;
                rows[index][row] = place < plane->height ? plane->samples + (size_t) place * plane->stride : spare;
            }
            start[index] += count;
        }
        jpeg_read_raw_data(codec, arrays, (JDIMENSION) (codec->max_v_samp_factor * codec->min_DCT_scaled_size));
    }
}

CPlanarShimStatus CPlanarShim_jpeg_decode(
    CPlanarShimJPEGReader *reader, int level, int is_smoothed, const CPlanarShimPlanes *planes)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    JSAMPROW spare;
    if (setjmp(reader->escape))
        return reader->status;
    codec->raw_data_out = TRUE;
    codec->do_fancy_upsampling = FALSE;
    // Would also guess the details of a picture whose scans were left out because they do not show.
    codec->do_block_smoothing = is_smoothed ? TRUE : FALSE;
    codec->out_color_space = codec->jpeg_color_space;
    codec->scale_num = 1;
    codec->scale_denom = (unsigned int) level;
    spare = codec->mem->alloc_large((j_common_ptr) codec, JPOOL_IMAGE, planes->planes[0].stride);
    jpeg_start_decompress(codec);
    keep_chroma_coarse(codec);
    codec->idct->start_pass(codec);
    read_rows(codec, planes, spare);
    return CPlanarShimDone;
}

const char *CPlanarShim_jpeg_text(const CPlanarShimJPEGReader *reader)
{
    return reader->text;
}

void CPlanarShim_jpeg_close(CPlanarShimJPEGReader *reader)
{
    if (!reader)
        return;
    jpeg_destroy_decompress(&reader->codec);
    free(reader->profile);
    free(reader);
}
