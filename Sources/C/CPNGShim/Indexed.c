#include "CPNGShim.h"
#include "Deflating.h"

#include <stdlib.h>
#include <string.h>

/// How the pixels of an image of few colours are written.
typedef struct {
    /// The colour type of the standard: 0 for grey, 3 for a palette.
    int type;
    /// Bits of a pixel: 1, 2, 4 or 8.
    int depth;
    /// The sample that each index becomes.
    uint8_t samples[256];
} Form;

/// Bits that grey samples need so that all levels stay exact.
static int grey_depth(const CPNGShimIndexed *image)
{
    int depth = 1;
    // The levels of 1, 2 and 4 bits are the multiples of these.
    for (int index = 0; index < image->color_count; index++)
        while (depth < 8 && image->colors[index][0] % (depth == 1 ? 255 : (depth == 2 ? 85 : 17)))
            depth *= 2;
    return depth;
}

static Form form_of(const CPNGShimIndexed *image)
{
    int count = image->color_count;
    Form form = {.type = 3, .depth = count > 16 ? 8 : (count > 4 ? 4 : (count > 2 ? 2 : 1))};
    if (image->is_grey) {
        form.type = 0;
        form.depth = grey_depth(image);
    }
    for (int index = 0; index < count; index++)
        form.samples[index] = image->is_grey ? (uint8_t) (image->colors[index][0] >> (8 - form.depth)) : (uint8_t) index;
    return form;
}

static void put_number(uint8_t *place, size_t value)
{
    for (int index = 0; index < 4; index++)
        place[index] = (uint8_t) (value >> (24 - 8 * index));
}

/// Begins a chunk, whose length is put in by `end_chunk`; returns 0 on success.
static int begin_chunk(CPNGShimOutput *output, const char *type)
{
    return CPNGShim_append(output, "\0\0\0", 4) || CPNGShim_append(output, type, 4);
}

/// Ends the chunk that begins at `start`; returns 0 on success.
static int end_chunk(CPNGShimOutput *output, size_t start)
{
    uint8_t checksum[4];
    put_number(output->bytes + start, output->count - start - 8);
    put_number(checksum, CPNGShim_checksum(0, output->bytes + start + 4, output->count - start - 4));
    return CPNGShim_append(output, checksum, 4);
}

static int put_chunk(CPNGShimOutput *output, const char *type, const uint8_t *bytes, size_t count)
{
    size_t start = output->count;
    return begin_chunk(output, type) || CPNGShim_append(output, bytes, count) || end_chunk(output, start);
}

/// Writes all before the pixels; returns 0 on success.
static int put_header(CPNGShimOutput *output, const CPNGShimIndexed *image, const Form *form)
{
    uint8_t header[13] = {0}, palette[3 * 256], alpha[256];
    size_t transparent = image->has_alpha ? 1 : 0, count = (size_t) image->color_count;
    put_number(header, (size_t) image->width);
    put_number(header + 4, (size_t) image->height);
    header[8] = (uint8_t) form->depth;
    header[9] = (uint8_t) form->type;
    if (CPNGShim_append(output, "\x89PNG\r\n\x1A\n", 8) || put_chunk(output, "IHDR", header, sizeof header))
        return -1;
    if (form->type == 0)
        return 0;
    for (size_t index = 0; index < count; index++) {
        memcpy(palette + 3 * index, image->colors[index], 3);
        alpha[index] = image->colors[index][3];
        if (alpha[index] < 255)
            transparent = index + 1;
    }
    return put_chunk(output, "PLTE", palette, 3 * count) || (transparent && put_chunk(output, "tRNS", alpha, transparent));
}

/// Packs the samples of a row; the first byte of `row` says that there is no filter.
static void pack(const uint8_t *indices, int width, const Form *form, uint8_t *row, size_t row_size)
{
    row[0] = 0;
    if (form->depth == 8) {
        for (int x = 0; x < width; x++)
            row[x + 1] = form->samples[indices[x]];
        return;
    }
    memset(row + 1, 0, row_size);
    for (int x = 0; x < width; x++) {
        int bit = x * form->depth;
        row[1 + bit / 8] |= (uint8_t) (form->samples[indices[x]] << (8 - form->depth - bit % 8));
    }
}

static int put_pixels(CPNGShimOutput *output, const CPNGShimIndexed *image, const Form *form, CPNGShimWatch watch)
{
    size_t row_size = ((size_t) image->width * (size_t) form->depth + 7) / 8, start = output->count;
    uint8_t *row = malloc(row_size + 1);
    int failed = !row || begin_chunk(output, "IDAT");
    for (int y = 0; y < image->height && !failed; y++) {
        pack(image->indices + (size_t) y * (size_t) image->width, image->width, form, row, row_size);
        failed = (y % 32 == 0 && watch.should_stop(watch.context))
            || CPNGShim_deflate(output, row, row_size + 1, Z_NO_FLUSH);
    }
    free(row);
    return failed || CPNGShim_deflate(output, NULL, 0, Z_FINISH) || end_chunk(output, start);
}

int CPNGShim_write_indexed(
    const CPNGShimIndexed *image, int level, CPNGShimWatch watch, void **bytes, size_t *byte_count, int *depth)
{
    Form form = form_of(image);
    CPNGShimOutput output;
    int failed;
    memset(&output, 0, sizeof output);
    // No filter: neighbouring indices and packed pixels have no differences that would be small.
    if (deflateInit(&output.stream, level) != Z_OK)
        return -1;
    failed = put_header(&output, image, &form) || put_pixels(&output, image, &form, watch)
        || put_chunk(&output, "IEND", NULL, 0);
    deflateEnd(&output.stream);
    if (failed) {
        free(output.bytes);
        return -1;
    }
    *bytes = output.bytes;
    *byte_count = output.count;
    *depth = form.depth;
    return 0;
}
