#include "CJPEGReference.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/// Fills a script with first scans of two bands, and scans for one more bit of both together; returns the number of scans.
static int script_coarsely(jpeg_scan_info *scans, int component_count)
{
    int count = 0, index, bits;
    scans[count++] = (jpeg_scan_info) {component_count, {0, 1, 2}, 0, 0, 0, 0};
    for (index = 0; index < component_count; index++) {
        scans[count++] = (jpeg_scan_info) {1, {index}, 1, 5, 0, 3};
        scans[count++] = (jpeg_scan_info) {1, {index}, 6, 63, 0, 3};
    }
    for (bits = 3; bits > 0; bits--)
        for (index = 0; index < component_count; index++)
            scans[count++] = (jpeg_scan_info) {1, {index}, 1, 63, bits, bits - 1};
    return count;
}

size_t CJPEGReference_encode(const CJPEGReferenceImage *image, uint8_t **bytes)
{
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    unsigned long count = 0;
    uint32_t random = image->seed;
    int index, x;
    jpeg_scan_info scans[16];
    JSAMPROW row = malloc((size_t) (image->width * image->component_count));
    *bytes = NULL;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, bytes, &count);
    codec.image_width = (JDIMENSION) image->width;
    codec.image_height = (JDIMENSION) image->height;
    codec.input_components = image->component_count;
    codec.in_color_space = image->component_count == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&codec);
    jpeg_set_quality(&codec, image->quality, image->has_wide_steps ? FALSE : TRUE);
    codec.arith_code = image->is_arithmetic ? TRUE : FALSE;
    codec.optimize_coding = image->is_optimized ? TRUE : FALSE;
    codec.restart_interval = (unsigned) image->restart_interval;
    for (index = 0; index < image->component_count; index++) {
        codec.comp_info[index].h_samp_factor = image->across[index];
        codec.comp_info[index].v_samp_factor = image->down[index];
    }
    for (index = 0; index < image->component_count; index++)
        scans[index] = (jpeg_scan_info) {1, {index}, 0, 63, 0, 0};
    if (image->has_separate_scans) {
        codec.scan_info = scans;
        codec.num_scans = image->component_count;
    }
    if (image->has_coarse_scans) {
        codec.scan_info = scans;
        codec.num_scans = script_coarsely(scans, image->component_count);
    } else if (image->is_progressive)
        jpeg_simple_progression(&codec);
    jpeg_start_compress(&codec, TRUE);
    while (codec.next_scanline < codec.image_height) {
        for (x = 0; x < image->width * image->component_count; x++) {
            int value = (int) codec.next_scanline * 3 + x;
            value += image->noise ? (int) (next_random(&random) % (uint32_t) image->noise) : 0;
            row[x] = (JSAMPLE) (value / 256 % 2 ? 255 - value % 256 : value % 256);
        }
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    free(row);
    return count;
}

typedef struct {
    struct jpeg_error_mgr errors;
    jmp_buf escape;
} Errors;

static void refuse(j_common_ptr codec)
{
    longjmp(((Errors *) codec->err)->escape, 1);
}

static void count_warning(j_common_ptr codec, int level)
{
    if (level < 0)
        codec->err->num_warnings++;
}

static double mean_of_cosine(int side, int x, int u)
{
    const double pi = 3.14159265358979323846;
    int part = 8 / side, index;
    double sum = 0;
    for (index = x * part; index < (x + 1) * part; index++)
        sum += cos((2 * index + 1) * u * pi / 16);
    return sum / part;
}

/// The weight of frequency `u` in sample `x` of `side` samples, 1 for the mean: the cosine's mean over the sample's
/// part of the block, or, of four samples, midway between that and the cosine in the middle of the part.
static double addition(int side, int x, int u)
{
    const double pi = 3.14159265358979323846;
    double mean = mean_of_cosine(side, x, u);
    return side == 4 ? (mean + cos((2 * x + 1) * u * pi / 8)) / 2 : mean;
}

/// The same as a number of 14 bits.
static int factor(int side, int x, int u)
{
    return (int) lround(addition(side, x, u) * (u == 0 ? 1 : sqrt(2)) * (1 << 14));
}

/// The sum of the coefficients whose means over pairs of samples equal those of frequencies `u` and `v` up to a factor.
static int16_t gathered(const short *coefficients, const UINT16 *steps, int side, int u, int v)
{
    // Frequencies 5 and 6 of the first 28 coefficients: both frequencies together are no more than 6.
    int16_t value = (int16_t) (coefficients[8 * v + u] * steps[8 * v + u]);
    int way;
    for (way = 0; side == 4 && way < 2; way++) {
        int low = way ? v : u, high = 8 - low, other = way ? u : v, place = way ? 8 * high + other : 8 * other + high;
        if (low < 2 || high + other > 6)
            continue;
        double ratio = mean_of_cosine(4, 0, high) / addition(4, 0, low);
        value = (int16_t) (value + ((int16_t) (coefficients[place] * (int) lround(16 * ratio * steps[place])) >> 4));
    }
    return value;
}

static long rounded(long value, int bits)
{
    return (value + (1L << (bits - 1))) >> bits;
}

static long limited(long value, long least, long most)
{
    return value < least ? least : (value > most ? most : value);
}

/// The samples of a block.
static void transform(const short *coefficients, const UINT16 *steps, int side, uint8_t *samples)
{
    long columns[4][4];
    int x, y, u, v;
    for (y = 0; y < side; y++)
        for (u = 0; u < side; u++) {
            long sum = 0;
            for (v = 0; v < side; v++)
                sum += (long) gathered(coefficients, steps, side, u, v) * factor(side, y, v);
            columns[y][u] = limited(rounded(sum, 12), INT16_MIN, INT16_MAX);
        }
    for (y = 0; y < side; y++)
        for (x = 0; x < side; x++) {
            long sum = 0;
            for (u = 0; u < side; u++)
                sum += columns[y][u] * factor(side, x, u);
            // Only the 10 lowest bits of the rounded sum count, with a sign.
            sum = ((rounded(sum, 19) + 512) & 1023) - 512;
            samples[y * side + x] = (uint8_t) limited(sum + 128, 0, 255);
        }
}

int CJPEGReference_decode(
    const uint8_t *bytes, size_t count, int level, int component, uint8_t *samples, size_t stride, int width, int height)
{
    struct jpeg_decompress_struct codec;
    Errors errors;
    jvirt_barray_ptr *arrays;
    jpeg_component_info *info;
    int warnings, column, row, line, side = 8 / level;
    codec.err = jpeg_std_error(&errors.errors);
    errors.errors.error_exit = refuse;
    errors.errors.emit_message = count_warning;
    if (setjmp(errors.escape)) {
        jpeg_destroy_decompress(&codec);
        return -1;
    }
    jpeg_create_decompress(&codec);
    jpeg_mem_src(&codec, bytes, (unsigned long) count);
    jpeg_read_header(&codec, TRUE);
    arrays = jpeg_read_coefficients(&codec);
    info = &codec.comp_info[component];
    for (row = 0; row < (int) info->height_in_blocks; row++) {
        JBLOCKARRAY blocks = codec.mem->access_virt_barray(
            (j_common_ptr) &codec, arrays[component], (JDIMENSION) row, 1, FALSE);
        for (column = 0; column < (int) info->width_in_blocks; column++) {
            uint8_t block[16];
            int length = limited(width - column * side, 0, side);
            transform(blocks[0][column], info->quant_table->quantval, side, block);
            for (line = 0; line < side && row * side + line < height; line++)
                memcpy(samples + (size_t) (row * side + line) * stride + column * side, block + line * side, (size_t) length);
        }
    }
    warnings = (int) codec.err->num_warnings;
    jpeg_destroy_decompress(&codec);
    return warnings;
}
