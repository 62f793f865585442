#ifndef CPNG_Deflating_H
#define CPNG_Deflating_H

#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

/// Bytes of rows between two calls of `should_stop`.
enum { portion = 64 << 10 };

/// Plain and compressed bytes, in growing memory.
typedef struct {
    z_stream stream;
    uint8_t *bytes;
    size_t count, capacity;
} CPNGOutput;

/// Appends bytes unchanged; returns 0 on success.
int CPNG_append(CPNGOutput *output, const void *bytes, size_t count);

/// Appends `count` bytes compressed; returns 0 on success.
int CPNG_deflate(CPNGOutput *output, const uint8_t *bytes, size_t count, int flush);

/// Appends `count` bytes as a whole zlib stream by libdeflate: in less than half of zlib's time, but it cannot be
/// stopped. Returns 0 on success.
int CPNG_deflate_whole(CPNGOutput *output, const uint8_t *bytes, size_t count);

#endif
