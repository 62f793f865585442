#include "CPlanar.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Walking from scan to scan requires libjpeg's internal interface.
#include "JPEGReader.h"

// libjpeg reads all headers for CFastJPEG: those of a baseline file in the reader itself, those of a progressive file's
// scans in a second reader of the same file, because the first one must be able to begin at the first scan.

/// A second reader, which only walks through the headers; any warning of libjpeg ends the walk.
typedef struct {
    // The first member: a pointer to it is also a pointer to the walk.
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    CFastJPEGProgression *progression;
} Walk;

static void give_up(j_common_ptr codec)
{
    longjmp(((Walk *) codec)->escape, 1);
}

static void give_up_on_warning(j_common_ptr codec, int level)
{
    if (level < 0)
        give_up(codec);
}

static boolean give_up_at_end(j_decompress_ptr codec)
{
    give_up((j_common_ptr) codec);
    return FALSE;
}

static void skip(j_decompress_ptr codec, long count)
{
    struct jpeg_source_mgr *source = codec->src;
    if (count <= 0)
        return;
    if ((size_t) count > source->bytes_in_buffer)
        give_up((j_common_ptr) codec);
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t) count;
}

static void ignore(j_decompress_ptr codec)
{
    (void) codec;
}

static CFastJPEGCodes codes_of(JHUFF_TBL *const *tables, int number)
{
    if (number < 0 || number >= NUM_HUFF_TBLS || !tables[number])
        return (CFastJPEGCodes) {NULL, NULL};
    return (CFastJPEGCodes) {tables[number]->bits + 1, tables[number]->huffval};
}

/// Describes the scan whose header was read last; returns 0 if it has too many components.
static int describe_scan(const struct jpeg_decompress_struct *codec, CFastJPEGScan *scan)
{
    int part;
    memset(scan, 0, sizeof *scan);
    if (codec->comps_in_scan > CFastJPEG_max_components)
        return 0;
    scan->data = codec->src->next_input_byte;
    scan->end = scan->data + codec->src->bytes_in_buffer;
    scan->restart_interval = (int) codec->restart_interval;
    scan->first = codec->Ss;
    scan->last = codec->Se;
    scan->bits_before = codec->Ah;
    scan->bits_after = codec->Al;
    scan->component_count = codec->comps_in_scan;
    for (part = 0; part < codec->comps_in_scan; part++) {
        const jpeg_component_info *component = codec->cur_comp_info[part];
        int number = component->quant_tbl_no;
        const JQUANT_TBL *steps = number >= 0 && number < NUM_QUANT_TBLS ? codec->quant_tbl_ptrs[number] : NULL;
        scan->components[part].index = component->component_index;
        scan->components[part].steps = steps ? steps->quantval : NULL;
        scan->components[part].dc = codes_of(codec->dc_huff_tbl_ptrs, component->dc_tbl_no);
        scan->components[part].ac = codes_of(codec->ac_huff_tbl_ptrs, component->ac_tbl_no);
    }
    return 1;
}

/// Describes the image by its frame header; returns 0 if it does not match the planes.
static int describe_frame(
    const struct jpeg_decompress_struct *codec, int level, const CPlanarPlanes *planes, CFastJPEGFrame *frame)
{
    int index;
    memset(frame, 0, sizeof *frame);
    if (codec->num_components > CFastJPEG_max_components || codec->num_components != planes->count)
        return 0;
    frame->width = (int) codec->image_width;
    frame->height = (int) codec->image_height;
    frame->level = level;
    frame->component_count = codec->num_components;
    for (index = 0; index < codec->num_components; index++) {
        const CPlanarPlane *plane = &planes->planes[index];
        frame->components[index].across = codec->comp_info[index].h_samp_factor;
        frame->components[index].down = codec->comp_info[index].v_samp_factor;
        frame->components[index].plane = (CFastJPEGPlane) {plane->samples, plane->stride, plane->width, plane->height};
    }
    return 1;
}

/// Reads all scans of a progressive image.
static CFastJPEGOutcome read_scans(
    Walk *walk, const CFastJPEGFrame *frame, CPlanarJPEGDetail detail, CPixelsWatch watch)
{
    struct jpeg_decompress_struct *codec = &walk->codec;
    CFastJPEGOutcome outcome;
    if (setjmp(walk->escape))
        return CFastJPEGMarkers;
    jpeg_create_decompress(codec);
    codec->src = &walk->source;
    jpeg_read_header(codec, TRUE);
    outcome = CFastJPEG_begin(frame, detail.highest_start, detail.min_bits_before, &walk->progression);
    while (outcome == CFastJPEGDone) {
        CFastJPEGScan scan;
        const uint8_t *end;
        if (!describe_scan(codec, &scan))
            return CFastJPEGScans;
        outcome = CFastJPEG_read(walk->progression, &scan, watch, &end);
        if (outcome != CFastJPEGDone)
            break;
        if (end) {
            codec->src->next_input_byte = end;
            codec->src->bytes_in_buffer = (size_t) (scan.end - end);
        } else if (!CPlanar_skip_scan_data(codec->src))
            return CFastJPEGEnd;
        if (codec->marker->read_markers(codec) == JPEG_REACHED_EOI)
            return CFastJPEG_finish(walk->progression, watch);
    }
    return outcome;
}

static CFastJPEGOutcome decode_progressive(
    const CPlanarJPEGReader *reader, const CFastJPEGFrame *frame, CPlanarJPEGDetail detail, CPixelsWatch watch)
{
    Walk *walk = calloc(1, sizeof *walk);
    CFastJPEGOutcome outcome;
    if (!walk)
        return CFastJPEGMemory;
    walk->codec.err = jpeg_std_error(&walk->errors);
    walk->errors.error_exit = give_up;
    walk->errors.emit_message = give_up_on_warning;
    walk->source.next_input_byte = reader->bytes;
    walk->source.bytes_in_buffer = reader->count;
    walk->source.init_source = ignore;
    walk->source.fill_input_buffer = give_up_at_end;
    walk->source.skip_input_data = skip;
    walk->source.resync_to_restart = jpeg_resync_to_restart;
    walk->source.term_source = ignore;
    outcome = read_scans(walk, frame, detail, watch);
    CFastJPEG_close(walk->progression);
    jpeg_destroy_decompress(&walk->codec);
    free(walk);
    return outcome;
}

CFastJPEGOutcome CPlanar_jpeg_decode_fast(
    const CPlanarJPEGReader *reader, int level, CPlanarJPEGDetail detail, const CPlanarPlanes *planes)
{
    const struct jpeg_decompress_struct *codec = &reader->codec;
    CPixelsWatch watch = {reader->watch.should_stop, reader->watch.context};
    CFastJPEGFrame frame;
    CFastJPEGScan scan;
    if (codec->arith_code || codec->data_precision != 8 || !describe_frame(codec, level, planes, &frame))
        return CFastJPEGProcess;
    if (detail.is_smoothed)
        return CFastJPEGScans;
    if (codec->progressive_mode)
        return decode_progressive(reader, &frame, detail, watch);
    if (!describe_scan(codec, &scan))
        return CFastJPEGScans;
    return CFastJPEG_decode(
        &frame, &scan, (const CFastJPEGReduction *const *) reader->reductions, reader->reduction_count, watch);
}

int CPlanar_jpeg_add_reduction(CPlanarJPEGReader *reader, int level, const CPlanarPlanes *planes)
{
    const struct jpeg_decompress_struct *codec = &reader->codec;
    CFastJPEGFrame frame;
    CFastJPEGScan scan;
    CFastJPEGReduction *reduction;
    if (codec->arith_code || codec->data_precision != 8 || codec->progressive_mode || codec->inputctl->has_multiple_scans
        || reader->reduction_count == CPlanar_max_reductions || !describe_frame(codec, level, planes, &frame)
        || !describe_scan(codec, &scan))
        return 0;
    reduction = CFastJPEG_reduction(&frame, &scan);
    if (!reduction)
        return 0;
    reader->reductions[reader->reduction_count++] = reduction;
    return 1;
}
