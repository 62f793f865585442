#include "Deflating.h"
#include "CPNGWriting.h"

#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

/// Reserves memory for `count` more bytes; returns 0 on success.
static int reserve(CPNGOutput *output, size_t count)
{
    size_t capacity = 2 * output->capacity + count + portion;
    uint8_t *larger;
    if (output->capacity - output->count >= count)
        return 0;
    larger = realloc(output->bytes, capacity);
    if (!larger)
        return -1;
    output->bytes = larger;
    output->capacity = capacity;
    return 0;
}

int CPNG_append(CPNGOutput *output, const void *bytes, size_t count)
{
    if (reserve(output, count))
        return -1;
    if (count)
        memcpy(output->bytes + output->count, bytes, count);
    output->count += count;
    return 0;
}

int CPNG_deflate(CPNGOutput *output, const uint8_t *bytes, size_t count, int flush)
{
    int status = Z_OK;
    output->stream.next_in = (Bytef *) bytes;
    output->stream.avail_in = (uInt) count;
    do {
        if (reserve(output, portion))
            return -1;
        output->stream.next_out = output->bytes + output->count;
        output->stream.avail_out = portion;
        status = deflate(&output->stream, flush);
        output->count += portion - output->stream.avail_out;
    } while (status == Z_OK && (output->stream.avail_in > 0 || output->stream.avail_out == 0 || flush == Z_FINISH));
    return status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END ? 0 : -1;
}

int CPNG_deflate_whole(CPNGOutput *output, const uint8_t *bytes, size_t count)
{
    // On photographs and drawings smaller than zlib's level 2.
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
    size_t most = compressor ? libdeflate_zlib_compress_bound(compressor, count) : 0, written = 0;
    if (compressor && !reserve(output, most))
        written = libdeflate_zlib_compress(compressor, bytes, count, output->bytes + output->count, most);
    libdeflate_free_compressor(compressor);
    output->count += written;
    return written ? 0 : -1;
}

const char *CPNG_compressor_version(void)
{
    // The library has no function for it.
    return LIBDEFLATE_VERSION_STRING;
}
