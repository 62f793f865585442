#include "Chunks.h"

#include <string.h>

#include "Checksum.h"

enum {
    signature_size = 8,
    /// Length and type before the data, a checksum after them.
    head_size = 8,
    checksum_size = 4,
    header_size = 13,
    palette_capacity = 256,
    /// libpng's limit.
    longest_side = 1000000,
};

typedef struct {
    const uint8_t *type, *data;
    size_t length;
} Chunk;

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];
}

static int is_letter(uint8_t byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

/// Reads the chunk at `place`, which must be complete; returns 0 if it is invalid.
static int chunk_at(const uint8_t *place, const uint8_t *end, Chunk *chunk)
{
    size_t room = (size_t) (end - place);
    if (room < head_size + checksum_size || big_endian(place) > room - head_size - checksum_size)
        return 0;
    *chunk = (Chunk) {place + 4, place + head_size, big_endian(place)};
    return is_letter(place[4]) && is_letter(place[5]) && is_letter(place[6]) && is_letter(place[7]);
}

static const uint8_t *end_of(const Chunk *chunk)
{
    return chunk->data + chunk->length + checksum_size;
}

static int is(const Chunk *chunk, const char *type)
{
    return !memcmp(chunk->type, type, 4);
}

static int has_valid_checksum(const Chunk *chunk)
{
    return CFastPNG_checksum(0, chunk->type, chunk->length + 4) == big_endian(chunk->data + chunk->length);
}

/// Returns whether this color type supports this depth (section 11.2.2).
static int is_known(int color_type, int depth)
{
    switch (color_type) {
    case gray: return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case palette: return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case color:
    case gray_alpha:
    case color_alpha: return depth == 8 || depth == 16;
    default: return 0;
    }
}

static CFastPNGOutcome read_header(const Chunk *chunk, CFastPNGImage *image)
{
    static const int bands[] = {[gray] = 1, [color] = 3, [palette] = 3, [gray_alpha] = 2, [color_alpha] = 4};
    const uint8_t *data = chunk->data;
    uint32_t width, height;
    if (!is(chunk, "IHDR") || chunk->length != header_size)
        return CFastPNGChunks;
    if (!has_valid_checksum(chunk))
        return CFastPNGChecksum;
    width = big_endian(data), height = big_endian(data + 4);
    if (!width || !height || width > longest_side || height > longest_side || !is_known(data[9], data[8]) || data[10] || data[11]
        || data[12] > 1)
        return CFastPNGChunks;
    image->width = (int) width, image->height = (int) height;
    image->depth = data[8], image->color_type = data[9], image->is_interlaced = data[12];
    image->bands = bands[image->color_type];
    return CFastPNGDone;
}

/// For colors a palette is only a suggestion; libpng warns about one for gray.
static CFastPNGOutcome read_palette(const Chunk *chunk, CFastPNGImage *image)
{
    size_t most = image->color_type == palette ? 1u << image->depth : palette_capacity;
    if (image->color_type == gray || image->color_type == gray_alpha || image->palette || image->transparency || !chunk->length
        || chunk->length % 3 || chunk->length / 3 > most)
        return CFastPNGChunks;
    image->palette = chunk->data;
    image->palette_count = (int) (chunk->length / 3);
    return has_valid_checksum(chunk) ? CFastPNGDone : CFastPNGChecksum;
}

static CFastPNGOutcome read_transparency(const Chunk *chunk, CFastPNGImage *image)
{
    int type = image->color_type;
    int is_right = type == gray ? chunk->length == 2
        : type == color         ? chunk->length == 6
                                : type == palette && chunk->length && chunk->length <= (size_t) image->palette_count;
    if (!is_right || image->transparency)
        return CFastPNGChunks;
    image->transparency = chunk->data;
    image->transparency_count = (int) chunk->length;
    image->bands++;
    return has_valid_checksum(chunk) ? CFastPNGDone : CFastPNGChecksum;
}

CFastPNGOutcome CFastPNG_open(const void *file, size_t count, CFastPNGImage *image)
{
    static const uint8_t signature[signature_size] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    const uint8_t *end = (const uint8_t *) file + count;
    Chunk chunk;
    CFastPNGOutcome outcome;
    memset(image, 0, sizeof *image);
    if (count < signature_size || memcmp(file, signature, signature_size)
        || !chunk_at((const uint8_t *) file + signature_size, end, &chunk))
        return CFastPNGChunks;
    outcome = read_header(&chunk, image);
    while (!outcome) {
        const uint8_t *place = end_of(&chunk);
        if (!chunk_at(place, end, &chunk))
            return CFastPNGChunks;
        if (is(&chunk, "IDAT")) {
            image->rows = place;
            image->end = end;
            return image->color_type == palette && !image->palette ? CFastPNGChunks : CFastPNGDone;
        }
        if (is(&chunk, "PLTE"))
            outcome = read_palette(&chunk, image);
        else if (is(&chunk, "tRNS"))
            outcome = read_transparency(&chunk, image);
        else if (!(chunk.type[0] & 0x20))
            // A critical chunk.
            return CFastPNGChunks;
    }
    return outcome;
}

/// Moves to the data of a chunk; returns 0 if it has no rows.
static int begin(Rows *rows, const uint8_t *place)
{
    Chunk chunk;
    int is_whole = chunk_at(place, rows->end, &chunk);
    rows->has_ended = !is_whole || !is(&chunk, "IDAT");
    rows->outcome = is_whole ? CFastPNGDone : CFastPNGChunks;
    rows->next = place;
    if (rows->has_ended)
        return 0;
    rows->next = chunk.data;
    rows->left = chunk.length;
    rows->checksum = CFastPNG_checksum(0, chunk.type, 4);
    return 1;
}

Rows CFastPNG_rows(const CFastPNGImage *image, CPixelsWatch watch)
{
    Rows rows = {.end = image->end, .watch = watch};
    begin(&rows, image->rows);
    return rows;
}

size_t CFastPNG_take(Rows *rows, uint8_t *room, size_t count)
{
    size_t taken = 0, part;
    if (!rows->has_ended && rows->watch.should_stop(rows->watch.context)) {
        rows->has_ended = 1;
        rows->outcome = CFastPNGStopped;
    }
    while (taken < count && !rows->has_ended) {
        part = count - taken < rows->left ? count - taken : rows->left;
        memcpy(room + taken, rows->next, part);
        rows->checksum = CFastPNG_checksum(rows->checksum, rows->next, part);
        rows->next += part;
        rows->left -= part;
        taken += part;
        if (rows->left)
            continue;
        if (rows->checksum != big_endian(rows->next)) {
            rows->has_ended = 1;
            rows->outcome = CFastPNGChecksum;
        } else {
            begin(rows, rows->next + checksum_size);
        }
    }
    return taken;
}

CFastPNGOutcome CFastPNG_read_end(Rows *rows)
{
    const uint8_t *place;
    Chunk chunk;
    while (!rows->has_ended)
        begin(rows, rows->next + rows->left + checksum_size);
    if (rows->outcome)
        return rows->outcome;
    place = rows->next;
    while (chunk_at(place, rows->end, &chunk)) {
        if (is(&chunk, "IEND"))
            return chunk.length ? CFastPNGChunks : has_valid_checksum(&chunk) ? CFastPNGDone
                                                                              : CFastPNGChecksum;
        if (!(chunk.type[0] & 0x20))
            return CFastPNGChunks;
        place = end_of(&chunk);
    }
    return CFastPNGChunks;
}
