#include "CPlanar.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Choosing scaled inverse transforms requires libjpeg's internal interface; see `keep_chroma_coarse`.
#include "JPEGReader.h"

static void fail(j_common_ptr codec)
{
    CPlanarJPEGReader *reader = (CPlanarJPEGReader *) codec;
    char message[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, message);
    snprintf(reader->text, sizeof reader->text, "%s", message);
    reader->status = CPlanarFailed;
    longjmp(reader->escape, 1);
}

// If libjpeg can continue after damage, the result is shown as it is, as in the other lane.
static void ignore_message(j_common_ptr codec, int level)
{
    if (level < 0)
        ((CPlanarJPEGReader *) codec)->has_warned = 1;
}

static void ignore_output(j_common_ptr codec)
{
    (void) codec;
}

static void ignore_source(j_decompress_ptr codec)
{
    (void) codec;
}

// The whole file is in memory from the beginning, so a call means that the file is truncated. Before the first scan
// that is an error. After it, this function supplies an end marker; `lacks_pixels` is then determined by the scans'
// data.
static boolean supply_end_marker(j_decompress_ptr codec)
{
    static const JOCTET end[2] = {0xFF, JPEG_EOI};
    CPlanarJPEGReader *reader = (CPlanarJPEGReader *) codec;
    if (!reader->library_start_scan)
        ERREXIT(codec, JERR_INPUT_EOF);
    reader->has_no_end = 1;
    codec->src->next_input_byte = end;
    codec->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip(j_decompress_ptr codec, long count)
{
    struct jpeg_source_mgr *source = codec->src;
    if (count <= 0)
        return;
    if ((size_t) count > source->bytes_in_buffer) {
        supply_end_marker(codec);
        return;
    }
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t) count;
}

static void check_watch(j_common_ptr codec)
{
    CPlanarJPEGReader *reader = (CPlanarJPEGReader *) codec;
    if (!reader->watch.should_stop(reader->watch.context))
        return;
    reader->status = CPlanarStopped;
    longjmp(reader->escape, 1);
}

/// Sets up libjpeg; returns whether it succeeded.
static int begin(CPlanarJPEGReader *reader)
{
    if (setjmp(reader->escape))
        return 0;
    jpeg_create_decompress(&reader->codec);
    reader->codec.src = &reader->source;
    reader->codec.progress = &reader->progress;
    return 1;
}

CPlanarJPEGReader *CPlanar_jpeg_open(const void *bytes, size_t count, CPixelsWatch watch)
{
    CPlanarJPEGReader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->watch = watch;
    reader->codec.err = jpeg_std_error(&reader->errors);
    reader->errors.error_exit = fail;
    reader->errors.emit_message = ignore_message;
    reader->errors.output_message = ignore_output;
    reader->source.next_input_byte = bytes;
    reader->source.bytes_in_buffer = count;
    reader->source.init_source = ignore_source;
    reader->source.fill_input_buffer = supply_end_marker;
    reader->source.skip_input_data = skip;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = ignore_source;
    reader->progress.progress_monitor = check_watch;
    if (begin(reader))
        return reader;
    CPlanar_jpeg_close(reader);
    return NULL;
}

/// Returns the luma samples per chroma sample; 0 if not a whole number.
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

CPlanarStatus CPlanar_jpeg_read_header(CPlanarJPEGReader *reader, CPlanarJPEGHeader *header)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    const jpeg_component_info *components;
    unsigned int profile_size = 0;
    if (setjmp(reader->escape))
        return reader->status;
    jpeg_save_markers(codec, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(codec, TRUE);
    memset(header, 0, sizeof *header);
    header->width = (int) codec->image_width;
    header->height = (int) codec->image_height;
    header->planes = planes_of(codec);
    header->has_scans = jpeg_has_multiple_scans(codec);
    components = codec->comp_info;
    header->across = header->down = 1;
    if (header->planes == 3) {
        header->across = ratio(components[0].h_samp_factor, components[1].h_samp_factor, components[2].h_samp_factor);
        header->down = ratio(components[0].v_samp_factor, components[1].v_samp_factor, components[2].v_samp_factor);
    }
    if (jpeg_read_icc_profile(codec, &reader->profile, &profile_size)) {
        header->profile = reader->profile;
        header->profile_size = profile_size;
    }
    return CPlanarDone;
}

/// Returns whether the current scan of a progressive image is visible at this detail, or a later visible scan depends
/// on it: a scan that adds a bit also has bits for the coefficients outside the detail.
static int is_needed(const struct jpeg_decompress_struct *codec, CPlanarJPEGDetail detail)
{
    return !codec->progressive_mode || codec->Ss == 0 || codec->Al >= detail.min_bits_before
        || (codec->Ss <= detail.highest_start && (codec->Ah == 0 || codec->Ah >= detail.min_bits_before));
}

int CPlanar_skip_scan_data(struct jpeg_source_mgr *source)
{
    const JOCTET *byte = source->next_input_byte, *end = byte + source->bytes_in_buffer;
    while ((byte = memchr(byte, 0xFF, (size_t) (end - byte)))) {
        const JOCTET *marker = byte;
        while (++marker < end && *marker == 0xFF)
            ;
        if (marker == end)
            return 0;
        // Neither a stuffed byte nor a restart marker.
        if (*marker > 0x01 && (*marker < JPEG_RST0 || *marker > JPEG_RST0 + 7)) {
            source->next_input_byte = byte;
            source->bytes_in_buffer = (size_t) (end - byte);
            return 1;
        }
        byte = marker;
    }
    return 0;
}

/// Returns whether the data of the current scan ended before its last block; arithmetic decoders do not report that.
static int has_run_out(const struct jpeg_decompress_struct *codec, int has_no_end)
{
    return codec->arith_code ? has_no_end : codec->entropy->insufficient_data;
}

static void begin_scan(CPlanarJPEGReader *reader)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    int index;
    reader->scan = codec->input_scan_number;
    if (codec->Ss == 0 && codec->Ah == 0)
        for (index = 0; index < codec->comps_in_scan; index++)
            reader->seen |= 1u << codec->cur_comp_info[index]->component_index;
    reader->skips_scan = !is_needed(codec, reader->detail) && CPlanar_skip_scan_data(codec->src);
}

/// Reads a row of a scan, or skips the whole scan if it is not visible. libjpeg has already read the scan's header, so
/// an error in a header is an error at every level.
static int consume(j_decompress_ptr codec)
{
    CPlanarJPEGReader *reader = (CPlanarJPEGReader *) codec;
    int status;
    if (reader->scan != codec->input_scan_number)
        begin_scan(reader);
    if (reader->skips_scan) {
        codec->input_iMCU_row = codec->total_iMCU_rows;
        codec->inputctl->finish_input_pass(codec);
        return JPEG_SCAN_COMPLETED;
    }
    status = reader->library_consume(codec);
    // A scan of AC coefficients is checked only if the file ends with it: the others are not read at every level.
    if (status == JPEG_SCAN_COMPLETED && has_run_out(codec, reader->has_no_end) && (codec->Ss == 0 || reader->has_no_end))
        reader->lacks_pixels = 1;
    return status;
}

static void start_scan(j_decompress_ptr codec)
{
    CPlanarJPEGReader *reader = (CPlanarJPEGReader *) codec;
    reader->library_start_scan(codec);
    if (!codec->inputctl->has_multiple_scans || codec->coef->consume_data == consume)
        return;
    reader->library_consume = codec->coef->consume_data;
    codec->coef->consume_data = codec->inputctl->consume_input = consume;
}

/// Whether all bits of all coefficients of a progressive image have been read.
static int has_all_bits(const struct jpeg_decompress_struct *codec)
{
    int component, frequency;
    for (component = 0; component < codec->num_components; component++)
        for (frequency = 0; frequency < DCTSIZE2; frequency++)
            if (codec->coef_bits[component][frequency] != 0)
                return 0;
    return 1;
}

/// Prepares decoding. If the image has several scans, this reads and checks all of them.
static void start(CPlanarJPEGReader *reader, int level, CPlanarJPEGDetail detail)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    reader->detail = detail;
    codec->raw_data_out = TRUE;
    codec->do_fancy_upsampling = FALSE;
    // It would also estimate details of scans that were skipped because they are not visible.
    codec->do_block_smoothing = detail.is_smoothed ? TRUE : FALSE;
    codec->out_color_space = codec->jpeg_color_space;
    codec->scale_num = 1;
    codec->scale_denom = (unsigned int) level;
    if (!reader->library_start_scan) {
        reader->library_start_scan = codec->inputctl->start_input_pass;
        codec->inputctl->start_input_pass = start_scan;
    }
    jpeg_start_decompress(codec);
    if (!codec->inputctl->has_multiple_scans)
        return;
    if (reader->seen != (1u << codec->num_components) - 1)
        reader->lacks_pixels = 1;
    if (reader->has_no_end && codec->progressive_mode && !has_all_bits(codec))
        reader->lacks_pixels = 1;
}

/// Checks an image in a single scan, after its last row has been read.
static void check_single_scan(CPlanarJPEGReader *reader)
{
    if (!reader->codec.inputctl->has_multiple_scans && has_run_out(&reader->codec, reader->has_no_end))
        reader->lacks_pixels = 1;
}

/// libjpeg decodes subsampled chroma with a larger transform than luma if that replaces the upsampling of a scaled
/// image: at half size, chroma would have luma's size. After this call, all components use luma's transform, or chroma
/// one that is `refinement` times finer.
static void keep_chroma_coarse(struct jpeg_decompress_struct *codec, int refinement)
{
    int index;
    for (index = 0; index < codec->num_components; index++) {
        jpeg_component_info *component = &codec->comp_info[index];
        component->DCT_scaled_size = codec->min_DCT_scaled_size * (index > 0 ? refinement : 1);
        component->MCU_sample_width = component->MCU_width * component->DCT_scaled_size;
    }
}

/// Transforms a block as libjpeg does, and writes its samples at the coarser levels.
static void reduce(
    j_decompress_ptr codec, jpeg_component_info *component, JCOEFPTR block, JSAMPARRAY rows, JDIMENSION column)
{
    const CPlanarJPEGReader *reader = (const CPlanarJPEGReader *) codec;
    int index = component->component_index, reduction;
    int row = (int) codec->output_iMCU_row * component->v_samp_factor + (int) (rows - reader->rows[index]) / DCTSIZE;
    reader->library_transforms[index](codec, component, block, rows, column);
    for (reduction = 0; reduction < reader->reduction_count; reduction++)
        CFastJPEG_reduce(reader->reductions[reduction], index, (int) column / DCTSIZE, row, block);
}

static void replace_transforms(CPlanarJPEGReader *reader)
{
    int index;
    for (index = 0; index < reader->codec.num_components; index++) {
        reader->library_transforms[index] = reader->codec.idct->inverse_DCT[index];
        reader->codec.idct->inverse_DCT[index] = reduce;
    }
}

/// Maximum number of components: the header's walk rejects more.
enum { max_components = 4 };

/// Reads the rows of one output pass. Rows after a plane's last one, and rows of components without a plane, go to `spare`.
static void read_rows(struct jpeg_decompress_struct *codec, const CPlanarPlanes *planes, JSAMPROW spare)
{
    JSAMPROW rows[max_components][MAX_SAMP_FACTOR * DCTSIZE];
    JSAMPARRAY arrays[max_components] = {rows[0], rows[1], rows[2], rows[3]};
    int start[max_components] = {0, 0, 0, 0};
    while (codec->output_scanline < codec->output_height) {
        int index, row;
        for (index = 0; index < codec->num_components; index++) {
            const CPlanarPlane *plane = index < planes->count ? &planes->planes[index] : NULL;
            int count = codec->comp_info[index].v_samp_factor * codec->comp_info[index].DCT_scaled_size;
            for (row = 0; row < count; row++) {
                int place = start[index] + row;
                rows[index][row] =
                    plane && place < plane->height ? plane->samples + (size_t) place * plane->stride : spare;
            }
            start[index] += count;
            if (index < CFastJPEG_max_components)
                ((CPlanarJPEGReader *) codec)->rows[index] = rows[index];
        }
        jpeg_read_raw_data(codec, arrays, (JDIMENSION) (codec->max_v_samp_factor * codec->min_DCT_scaled_size));
    }
}

CPlanarStatus CPlanar_jpeg_decode(
    CPlanarJPEGReader *reader, int level, int refinement, CPlanarJPEGDetail detail,
    const CPlanarPlanes *planes)
{
    struct jpeg_decompress_struct *codec = &reader->codec;
    JSAMPROW spare;
    if (setjmp(reader->escape))
        return reader->status;
    spare = codec->mem->alloc_large((j_common_ptr) codec, JPOOL_IMAGE, planes->planes[0].stride);
    start(reader, level, detail);
    keep_chroma_coarse(codec, refinement);
    codec->idct->start_pass(codec);
    if (level == 1 && reader->reduction_count)
        replace_transforms(reader);
    read_rows(codec, planes, spare);
    check_single_scan(reader);
    return CPlanarDone;
}

CPlanarStatus CPlanar_jpeg_check(CPlanarJPEGReader *reader, CPlanarJPEGDetail detail)
{
    enum { coarsest = DCTSIZE };
    struct jpeg_decompress_struct *codec = &reader->codec;
    CPlanarPlanes planes;
    JSAMPROW spare;
    if (setjmp(reader->escape))
        return reader->status;
    // No row has more samples than this: a block is one sample wide, and an MCU has at most four of them for eight pixels.
    spare = codec->mem->alloc_large((j_common_ptr) codec, JPOOL_IMAGE, codec->image_width + DCTSIZE * MAX_SAMP_FACTOR);
    start(reader, coarsest, detail);
    if (codec->inputctl->has_multiple_scans)
        return CPlanarDone;
    keep_chroma_coarse(codec, 1);
    codec->idct->start_pass(codec);
    memset(&planes, 0, sizeof planes);
    read_rows(codec, &planes, spare);
    check_single_scan(reader);
    return CPlanarDone;
}

int CPlanar_jpeg_lacks_pixels(const CPlanarJPEGReader *reader)
{
    return reader->lacks_pixels;
}

int CPlanar_jpeg_has_warned(const CPlanarJPEGReader *reader)
{
    return reader->has_warned;
}

const char *CPlanar_jpeg_text(const CPlanarJPEGReader *reader)
{
    return reader->text;
}

void CPlanar_jpeg_close(CPlanarJPEGReader *reader)
{
    int index;
    if (!reader)
        return;
    for (index = 0; index < reader->reduction_count; index++)
        free(reader->reductions[index]);
    jpeg_destroy_decompress(&reader->codec);
    free(reader->profile);
    free(reader);
}
