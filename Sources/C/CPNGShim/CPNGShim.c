#include "CPNGShim.h"
#include "Deflating.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/// Inflates a portion; returns 0 if there is no more.
static size_t inflate_portion(z_stream *stream, uint8_t *room, size_t count)
{
    int status;
    stream->next_out = room;
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

size_t CPNGShim_count(const void *data, size_t count, size_t most, CPNGShimWatch watch)
{
    z_stream stream;
    uint8_t *room = malloc(portion);
    size_t sum = 0, part = 1;
    if (!room)
        return SIZE_MAX;
    if (!begin(&stream, data, count)) {
        free(room);
        return SIZE_MAX;
    }
    while (part > 0 && sum < most) {
        if (watch.should_stop(watch.context)) {
            sum = SIZE_MAX;
            break;
        }
        part = inflate_portion(&stream, room, most - sum < portion ? most - sum : portion);
        sum += part;
    }
    inflateEnd(&stream);
    free(room);
    return sum;
}

/// Writes the rows of the data, and fills the missing ones.
static int put_rows(
    CPNGShimOutput *output, z_stream *input, const CPNGShimPass *passes, int pass_count, const uint8_t *pixel,
    size_t pixel_size, CPNGShimWatch watch)
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
            failed = watch.should_stop(watch.context) || CPNGShim_deflate(output, bytes, size, Z_NO_FLUSH);
        }
        free(bytes);
    }
    return failed ? -1 : CPNGShim_deflate(output, NULL, 0, Z_FINISH);
}

int CPNGShim_complete(
    const void *data, size_t count, const CPNGShimPass *passes, int pass_count, const uint8_t *pixel, size_t pixel_size,
    CPNGShimWatch watch, void **bytes, size_t *byte_count)
{
    z_stream input;
    CPNGShimOutput output;
    int failed;
    memset(&output, 0, sizeof output);
    if (!begin(&input, data, count))
        return -1;
    if (deflateInit(&output.stream, Z_BEST_SPEED) != Z_OK) {
        inflateEnd(&input);
        return -1;
    }
    failed = CPNGShim_append(&output, "IDAT", 4) || put_rows(&output, &input, passes, pass_count, pixel, pixel_size, watch);
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

uint32_t CPNGShim_checksum(uint32_t before, const void *bytes, size_t count)
{
    return (uint32_t) crc32_z(before, bytes, count);
}
