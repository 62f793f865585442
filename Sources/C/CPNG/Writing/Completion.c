#include "CPNGWriting.h"
#include "Deflating.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/// Inflates a portion; returns 0 if there is no more.
static size_t inflate_portion(z_stream *stream, uint8_t *buffer, size_t count)
{
    int status;
    stream->next_out = buffer;
    stream->avail_out = (uInt) count;
    do
        status = inflate(stream, Z_NO_FLUSH);
    while (status == Z_OK && stream->avail_out > 0 && stream->avail_in > 0);
    return count - stream->avail_out;
}

static int begin(z_stream *stream, const void *data, size_t count)
{
    memset(stream, 0, sizeof *stream);
    stream->next_in = (Bytef *) data;
    // No chunk and no file is longer than this.
    stream->avail_in = count < UINT32_MAX ? (uInt) count : UINT32_MAX;
    return inflateInit(stream) == Z_OK;
}

size_t CPNG_count(const void *file, const CPNGSpan *spans, size_t span_count, size_t most, CPixelsWatch watch)
{
    z_stream stream;
    uint8_t *buffer = malloc(portion);
    size_t sum = 0, index, part;
    if (!buffer)
        return SIZE_MAX;
    if (!begin(&stream, NULL, 0)) {
        free(buffer);
        return SIZE_MAX;
    }
    for (index = 0; index < span_count && sum < most; index++) {
        stream.next_in = (Bytef *) file + spans[index].start;
        stream.avail_in = (uInt) spans[index].count;
        do {
            if (watch.should_stop(watch.context)) {
                sum = SIZE_MAX;
                break;
            }
            part = inflate_portion(&stream, buffer, most - sum < portion ? most - sum : portion);
            sum += part;
        } while (part > 0 && sum < most);
    }
    inflateEnd(&stream);
    free(buffer);
    return sum;
}

/// Writes the rows of the data, and fills the missing ones.
static int put_rows(
    CPNGOutput *output, z_stream *input, const CPNGPass *passes, int pass_count, const uint8_t *pixel,
    size_t pixel_size, CPixelsWatch watch)
{
    int pass, failed = 0, has_run_out = 0;
    for (pass = 0; pass < pass_count && !failed; pass++) {
        size_t size = passes[pass].row_size + 1, row;
        uint8_t *bytes = malloc(size);
        if (!bytes)
            return -1;
        for (row = 0; row < passes[pass].rows && !failed; row++) {
            size_t have = has_run_out ? 0 : inflate_portion(input, bytes, size), place;
            if (have < size) {
                has_run_out = 1;
                // The rest of a truncated row is zero, as filtered; a missing row is filled, without a filter.
                if (have == 0) {
                    bytes[0] = 0;
                    for (place = 1; place < size; place++)
                        bytes[place] = pixel[(place - 1) % pixel_size];
                } else {
                    memset(bytes + have, 0, size - have);
                }
            }
            failed = watch.should_stop(watch.context) || CPNG_deflate(output, bytes, size, Z_NO_FLUSH);
        }
        free(bytes);
    }
    return failed ? -1 : CPNG_deflate(output, NULL, 0, Z_FINISH);
}

int CPNG_complete(
    const void *data, size_t count, const CPNGPass *passes, int pass_count, const uint8_t *pixel, size_t pixel_size,
    CPixelsWatch watch, void **bytes, size_t *byte_count)
{
    z_stream input;
    CPNGOutput output;
    int failed;
    memset(&output, 0, sizeof output);
    if (!begin(&input, data, count))
        return -1;
    if (deflateInit(&output.stream, Z_BEST_SPEED) != Z_OK) {
        inflateEnd(&input);
        return -1;
    }
    failed = CPNG_append(&output, "IDAT", 4) || put_rows(&output, &input, passes, pass_count, pixel, pixel_size, watch);
    inflateEnd(&input);
    deflateEnd(&output.stream);
    if (failed) {
        free(output.bytes);
        return -1;
    }
    *bytes = output.bytes;
    *byte_count = output.count;
    return 0;
}

/// The passes: the position of the first pixel, the distance to the next ones, and the area that each covers until
/// later passes come.
static const struct {
    size_t left, top, across, down, width, height;
} adam[7] = {{0, 0, 8, 8, 8, 8}, {4, 0, 8, 8, 4, 8}, {0, 4, 4, 8, 4, 4}, {2, 0, 4, 4, 2, 4}, {0, 2, 2, 4, 2, 2}, {1, 0, 2, 2, 1, 2}, {0, 1, 1, 2, 1, 1}};

static int nearest(int left, int above, int before)
{
    int across = abs(above - before), down = abs(left - before), both = abs(left + above - 2 * before);
    return across <= down && across <= both ? left : (down <= both ? above : before);
}

/// Reverses the filter of a row, whose first byte is the kind; returns 0 for an unknown one.
static int unfilter(uint8_t *row, const uint8_t *above, size_t size, size_t step)
{
    size_t index;
    if (row[0] > 4)
        return 0;
    for (index = 1; index <= size; index++) {
        int left = index > step ? row[index - step] : 0, before = index > step ? above[index - step] : 0;
        switch (row[0]) {
        case 1: row[index] = (uint8_t) (row[index] + left); break;
        case 2: row[index] = (uint8_t) (row[index] + above[index]); break;
        case 3: row[index] = (uint8_t) (row[index] + (left + above[index]) / 2); break;
        case 4: row[index] = (uint8_t) (row[index] + nearest(left, above[index], before)); break;
        default: break;
        }
    }
    return 1;
}

/// Copies a pixel from one row to another.
static void copy_pixel(const uint8_t *from, size_t source, uint8_t *to, size_t target, int bits)
{
    if (bits >= 8) {
        memcpy(to + target * (size_t) bits / 8, from + source * (size_t) bits / 8, (size_t) bits / 8);
    } else {
        size_t each = 8 / (size_t) bits;
        int up = 8 - bits * (int) (source % each + 1), place = 8 - bits * (int) (target % each + 1), mask = (1 << bits) - 1;
        uint8_t *byte = to + target / each;
        *byte = (uint8_t) ((*byte & ~(mask << place)) | ((from[source / each] >> up & mask) << place));
    }
}

/// Fills the canvas with the areas of the pixels of a pass's row.
static void spread_row(
    const uint8_t *row, int pass, size_t y, const CPNGPassed *image, uint8_t *canvas, size_t row_size)
{
    size_t last = y + adam[pass].height < image->height ? y + adam[pass].height : image->height, source = 0, x, line, index;
    for (x = adam[pass].left; x < image->width; x += adam[pass].across, source++)
        for (line = y; line < last; line++)
            for (index = x; index < image->width && index < x + adam[pass].width; index++)
                copy_pixel(row, source, canvas + line * row_size, index, image->bits);
}

/// Reads all available passes into the canvas; returns 0 if it was stopped.
static int spread(
    z_stream *input, const CPNGPassed *image, uint8_t *canvas, size_t row_size, uint8_t *rows[2], CPixelsWatch watch)
{
    size_t step = image->bits < 8 ? 1 : (size_t) image->bits / 8, y;
    int pass;
    for (pass = 0; pass < 7; pass++) {
        size_t width = (image->width + adam[pass].across - 1 - adam[pass].left) / adam[pass].across;
        size_t size = (width * (size_t) image->bits + 7) / 8;
        if (image->width <= adam[pass].left)
            continue;
        memset(rows[0], 0, size + 1);
        for (y = adam[pass].top; y < image->height; y += adam[pass].down) {
            uint8_t *row = rows[1];
            if (watch.should_stop(watch.context))
                return 0;
            if (inflate_portion(input, row, size + 1) < size + 1 || !unfilter(row, rows[0], size, step))
                return 1;
            spread_row(row + 1, pass, y, image, canvas, row_size);
            rows[1] = rows[0];
            rows[0] = row;
        }
    }
    return 1;
}

int CPNG_spread(
    const void *data, size_t count, const CPNGPassed *image, const uint8_t *pixel, size_t pixel_size, CPixelsWatch watch,
    void **bytes, size_t *byte_count)
{
    z_stream input;
    CPNGOutput output;
    size_t row_size = (image->width * (size_t) image->bits + 7) / 8, index;
    // The two rows follow the canvas.
    uint8_t *canvas = malloc(row_size * image->height + 2 * (row_size + 1)), *rows[2], none = 0;
    int failed = -1;
    memset(&output, 0, sizeof output);
    if (!canvas)
        return -1;
    for (index = 0; index < row_size * image->height; index++)
        canvas[index] = pixel[index % row_size % pixel_size];
    rows[0] = canvas + row_size * image->height;
    rows[1] = rows[0] + row_size + 1;
    if (begin(&input, data, count)) {
        failed = !spread(&input, image, canvas, row_size, rows, watch);
        inflateEnd(&input);
    }
    if (!failed && deflateInit(&output.stream, Z_BEST_SPEED) == Z_OK) {
        failed = CPNG_append(&output, "IDAT", 4);
        for (index = 0; index < image->height && !failed; index++)
            failed = watch.should_stop(watch.context) || CPNG_deflate(&output, &none, 1, Z_NO_FLUSH)
                || CPNG_deflate(&output, canvas + index * row_size, row_size, Z_NO_FLUSH);
        failed = failed || CPNG_deflate(&output, NULL, 0, Z_FINISH);
        deflateEnd(&output.stream);
    } else {
        failed = -1;
    }
    free(canvas);
    if (failed) {
        free(output.bytes);
        return -1;
    }
    *bytes = output.bytes;
    *byte_count = output.count;
    return 0;
}

uint32_t CPNG_checksum(uint32_t before, const void *bytes, size_t count)
{
    return (uint32_t) crc32_z(before, bytes, count);
}
