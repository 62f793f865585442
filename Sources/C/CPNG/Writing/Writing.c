#include "CPNGWriting.h"
#include "Deflating.h"
#include "Rows.h"

#include <stdlib.h>
#include <string.h>

/// Rows of samples that libdeflate compresses in one step: about 30 ms.
enum { max_whole = 4 << 20 };

/// A file being written.
typedef struct {
    CPNGOutput output;
    const CPNGPart *part;
    const CPNGForm *form;
    CPixelsWatch watch;
    /// The color type of the standard: 0 for gray, 2 for color, 3 for a palette; 4 more with alpha.
    int type;
    /// Bits of a component: 1, 2, 4 or 8.
    int depth;
    /// Bytes of a row.
    size_t row_size;
    /// The sample that each index becomes.
    uint8_t samples[256];
    /// Memory for rows.
    uint8_t *scratch;
    /// All rows, if they are compressed in one step; else NULL.
    uint8_t *rows;
} File;

static inline __attribute__((always_inline)) int min_bands(const uint8_t *pixels, size_t count, const int bands)
{
    int has_alpha = 0, has_colors = 0;
    while (count > 0 && !(has_alpha >= (bands % 2 == 0) && has_colors >= (bands > 2))) {
        size_t part = count < 1024 ? count : 1024;
        uint8_t alpha = 255, difference = 0;
        for (size_t index = 0; index < part; index++, pixels += bands) {
            if (bands > 2)
                difference |= (uint8_t) ((pixels[0] ^ pixels[1]) | (pixels[0] ^ pixels[2]));
            if (bands % 2 == 0)
                alpha &= pixels[bands - 1];
        }
        has_alpha |= alpha != 255;
        has_colors |= difference != 0;
        count -= part;
    }
    return (has_colors ? 3 : 1) + has_alpha;
}

int CPNG_min_bands(const void *pixels, size_t count, int bands)
{
    switch (bands) {
    case 1: return 1;
    case 2: return min_bands(pixels, count, 2);
    case 3: return min_bands(pixels, count, 3);
    default: return min_bands(pixels, count, 4);
    }
}

/// Bits that gray samples need so that all levels stay exact.
static int gray_depth(const CPNGForm *form)
{
    int depth = 1;
    // The levels of 1, 2 and 4 bits are the multiples of these.
    for (int index = 0; index < form->color_count; index++)
        while (depth < 8 && form->colors[index][0] % (depth == 1 ? 255 : (depth == 2 ? 85 : 17)))
            depth *= 2;
    return depth;
}

/// Chooses the color type and depth.
static void choose_kind(File *file)
{
    const CPNGForm *form = file->form;
    int count = form->color_count;
    file->depth = 8;
    file->type = (form->bands < 3 ? 0 : 2) + (form->bands % 2 == 0 ? 4 : 0);
    file->row_size = file->part->width * (size_t) form->bands;
    if (!form->colors)
        return;
    file->type = 3;
    file->depth = count > 16 ? 8 : (count > 4 ? 4 : (count > 2 ? 2 : 1));
    if (form->bands == 1 && gray_depth(form) <= file->depth) {
        file->type = 0;
        file->depth = gray_depth(form);
    }
    file->row_size = (file->part->width * (size_t) file->depth + 7) / 8;
    for (int index = 0; index < count; index++)
        file->samples[index] = file->type == 0 ? (uint8_t) (form->colors[index][0] >> (8 - file->depth)) : (uint8_t) index;
}

static void put_number(uint8_t *place, size_t value)
{
    for (int index = 0; index < 4; index++)
        place[index] = (uint8_t) (value >> (24 - 8 * index));
}

/// Begins a chunk, whose length `end_chunk` fills in; returns 0 on success.
static int begin_chunk(CPNGOutput *output, const char *type)
{
    return CPNG_append(output, "\0\0\0", 4) || CPNG_append(output, type, 4);
}

/// Ends the chunk that begins at `start`; returns 0 on success.
static int end_chunk(CPNGOutput *output, size_t start)
{
    uint8_t checksum[4];
    put_number(output->bytes + start, output->count - start - 8);
    put_number(checksum, CPNG_checksum(0, output->bytes + start + 4, output->count - start - 4));
    return CPNG_append(output, checksum, 4);
}

static int put_chunk(CPNGOutput *output, const char *type, const uint8_t *bytes, size_t count)
{
    size_t start = output->count;
    return begin_chunk(output, type) || CPNG_append(output, bytes, count) || end_chunk(output, start);
}

/// Writes everything before the pixels; returns 0 on success.
static int put_header(File *file)
{
    CPNGOutput *output = &file->output;
    uint8_t header[13] = {0}, palette[3 * 256], alpha[256];
    size_t transparent = 0, count = (size_t) file->form->color_count;
    put_number(header, file->part->width);
    put_number(header + 4, file->part->height);
    header[8] = (uint8_t) file->depth;
    header[9] = (uint8_t) file->type;
    if (CPNG_append(output, "\x89PNG\r\n\x1A\n", 8) || put_chunk(output, "IHDR", header, sizeof header))
        return -1;
    if (file->type != 3)
        return 0;
    for (size_t index = 0; index < count; index++) {
        memcpy(palette + 3 * index, file->form->colors[index], 3);
        alpha[index] = file->form->colors[index][3];
        if (alpha[index] < 255)
            transparent = index + 1;
    }
    return put_chunk(output, "PLTE", palette, 3 * count) || (transparent && put_chunk(output, "tRNS", alpha, transparent));
}

/// Compresses a row, after the number of its filter; returns 0 on success.
static int put_row(File *file, size_t y, const uint8_t *row)
{
    if (y % 32 == 0 && file->watch.should_stop(file->watch.context))
        return -1;
    if (!file->rows)
        return CPNG_deflate(&file->output, row, file->row_size + 1, Z_NO_FLUSH);
    memcpy(file->rows + y * (file->row_size + 1), row, file->row_size + 1);
    return 0;
}

/// Packs the samples of a row of indices.
static void pack(const File *file, const uint8_t *indices, uint8_t *row)
{
    size_t width = file->part->width;
    if (file->depth == 8) {
        for (size_t x = 0; x < width; x++)
            row[x] = file->samples[indices[x]];
        return;
    }
    memset(row, 0, file->row_size);
    for (size_t x = 0; x < width; x++) {
        size_t bit = x * (size_t) file->depth;
        row[bit / 8] |= (uint8_t) (file->samples[indices[x]] << ((size_t) (8 - file->depth) - bit % 8));
    }
}

/// Writes indices without filters: differences between indices, or packed pixels, are not small.
static int put_indices(File *file)
{
    int failed = !(file->scratch = calloc(1, file->row_size + 1));
    for (size_t y = 0; y < file->part->height && !failed; y++) {
        pack(file, CPNG_row(file->part, y), file->scratch + 1);
        failed = put_row(file, y, file->scratch);
    }
    return failed;
}

/// Copies the bands that the file keeps of a row: without alpha, or the first of three equal colors.
static void narrow(const File *file, const uint8_t *from, uint8_t *to)
{
    int bands = file->part->bands, colors = file->form->bands < 3 ? 1 : 3, has_alpha = file->form->bands % 2 == 0;
    if (bands == file->form->bands) {
        memcpy(to, from, file->row_size);
        return;
    }
    for (size_t x = 0; x < file->part->width; x++, from += bands) {
        for (int band = 0; band < colors; band++)
            *to++ = from[band];
        if (has_alpha)
            *to++ = from[bands - 1];
    }
}

static int put_samples(File *file)
{
    size_t size = file->row_size, line = CPNG_max_step + size;
    int last = -1, failed = !(file->scratch = calloc(1, 2 * line + CPNG_filters * (size + 1)));
    for (size_t y = 0; y < file->part->height && !failed; y++) {
        uint8_t *row = file->scratch + CPNG_max_step + y % 2 * line, *above = file->scratch + CPNG_max_step + (y + 1) % 2 * line;
        narrow(file, CPNG_row(file->part, y), row);
        failed = put_row(
            file, y, CPNG_filter(row, above, (size_t) file->form->bands, size, file->scratch + 2 * line, &last));
    }
    return failed;
}

int CPNG_write(
    const CPNGPart *part, const CPNGForm *form, CPixelsWatch watch, void **bytes, size_t *byte_count, int *depth)
{
    File file = {.part = part, .form = form, .watch = watch};
    CPNGOutput *output = &file.output;
    choose_kind(&file);
    size_t size = (file.row_size + 1) * part->height;
    // Palettes get one of zlib's higher levels.
    int is_whole = !form->colors && size <= max_whole;
    if (is_whole ? !(file.rows = malloc(size)) : deflateInit(&output->stream, form->level) != Z_OK)
        return -1;
    int failed = put_header(&file);
    size_t start = output->count;
    failed = failed || begin_chunk(output, "IDAT") || (form->colors ? put_indices(&file) : put_samples(&file))
        || (is_whole ? CPNG_deflate_whole(output, file.rows, size) : CPNG_deflate(output, NULL, 0, Z_FINISH))
        || end_chunk(output, start) || put_chunk(output, "IEND", NULL, 0);
    if (!is_whole)
        deflateEnd(&output->stream);
    free(file.rows);
    free(file.scratch);
    if (failed) {
        free(output->bytes);
        return -1;
    }
    *bytes = output->bytes;
    *byte_count = output->count;
    *depth = file.depth;
    return 0;
}
