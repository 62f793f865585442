#include "CJPEGWriting.h"

#include <stdlib.h>
#include <string.h>

#include "Choice.h"
#include "Scans.h"

/// Quantization steps at quality 50, in rows of rising vertical frequency.
///
/// With r as the distance of a coefficient from the first one, luma's steps are 14 (1 + 0.17 r^1.64), chroma's 11 (1 +
/// 0.35 r^1.13), and the first ones 0.7 times that. Chosen by SSIMULACRA2 at equal bytes: docs/quality.md has the
/// figures.
static const uint8_t Steps[2][block_size] = {
    {10, 16, 21, 28, 37, 47, 59, 72,
        16, 18, 23, 30, 38, 48, 60, 73,
        21, 23, 27, 33, 42, 52, 63, 76,
        28, 30, 33, 39, 47, 57, 68, 80,
        37, 38, 42, 47, 55, 64, 75, 87,
        47, 48, 52, 57, 64, 73, 83, 95,
        59, 60, 63, 68, 75, 83, 93, 105,
        72, 73, 76, 80, 87, 95, 105, 116},
    {8, 15, 19, 24, 29, 35, 40, 46,
        15, 17, 21, 25, 30, 35, 41, 46,
        19, 21, 23, 27, 32, 37, 42, 47,
        24, 25, 27, 31, 35, 39, 44, 49,
        29, 30, 32, 35, 38, 42, 47, 52,
        35, 35, 37, 39, 42, 46, 50, 55,
        40, 41, 42, 44, 47, 50, 54, 58,
        46, 46, 47, 49, 52, 55, 58, 62},
};

enum {
    max_scans = 6,
    /// Bytes of luma in one scan above which several scans save bytes.
    min_large = 6000,
    /// Approximate number of blocks to sample before the choice, and the most rows per sampled row.
    min_sampled = 512,
    max_stride = 4,
};

/// The scans of progressive files contain each spectral band once, so that no scan refines another.
static const Scan Single = {0, 63, 0, 3, 0};
static const Scan Color[] = {{0, 0, 0, 3, 0}, {1, 2, 0, 1, 1}, {3, 9, 0, 1, 1}, {1, 63, 1, 2, 1}, {1, 63, 2, 3, 1}, {10, 63, 0, 1, 1}};
static const Scan Gray[] = {{0, 0, 0, 1, 0}, {1, 2, 0, 1, 1}, {3, 9, 0, 1, 1}, {10, 63, 0, 1, 1}};

typedef struct {
    const CJPEGRequest *request;
    Blocks blocks[3];
    /// By kind, in the order of the file.
    uint8_t steps[2][block_size];
    Scaling scalings[2];
    /// For the plane whose blocks are being chosen.
    Rates rates[3];
    int bands;
    /// Whether luma is so large that several scans save bytes. Values are chosen by this, independently of the scans.
    int is_large;
    Output output;
    Symbols symbols;
} Writer;

static void put_bytes(Output *output, const void *bytes, size_t count)
{
    if (!CJPEG_reserve(output, count))
        return;
    memcpy(output->bytes + output->count, bytes, count);
    output->count += count;
}

static void begin_segment(Output *output, unsigned marker, size_t count)
{
    count += 2;
    put_bytes(output, (uint8_t[]) {0xff, (uint8_t) marker, (uint8_t) (count >> 8), (uint8_t) count}, 4);
}

static void write_header(Writer *writer, int is_progressive)
{
    Output *output = &writer->output;
    int count = writer->request->count;
    const CJPEGPlane *luma = writer->request->planes;
    static const uint8_t jfif[] = {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    put_bytes(output, (uint8_t[]) {0xff, 0xd8}, 2);
    begin_segment(output, 0xe0, sizeof jfif);
    put_bytes(output, jfif, sizeof jfif);
    for (int table = 0; table < (count == 3 ? 2 : 1); table++) {
        begin_segment(output, 0xdb, 1 + block_size);
        put_bytes(output, (uint8_t[]) {(uint8_t) table}, 1);
        put_bytes(output, writer->steps[table], block_size);
    }
    begin_segment(output, is_progressive ? 0xc2 : 0xc0, 6 + 3 * (size_t) count);
    const uint8_t frame[] = {
        8, (uint8_t) (luma->height >> 8), (uint8_t) luma->height, (uint8_t) (luma->width >> 8), (uint8_t) luma->width, (uint8_t) count};
    put_bytes(output, frame, sizeof frame);
    for (int index = 0; index < count; index++) {
        int sampling = writer->blocks[index].sampling;
        put_bytes(output, (uint8_t[]) {(uint8_t) (index + 1), (uint8_t) (sampling << 4 | sampling), index > 0}, 3);
    }
}

static void write_tables(Output *output, const Codes *codes)
{
    for (int table = 0; table < table_count; table++, codes++) {
        if (codes->count == 0)
            continue;
        begin_segment(output, 0xc4, 1 + longest_code + (size_t) codes->count);
        put_bytes(output, (uint8_t[]) {(uint8_t) ((table & 2) << 3 | (table & 1))}, 1);
        put_bytes(output, codes->counts + 1, longest_code);
        put_bytes(output, codes->symbols, (size_t) codes->count);
    }
}

/// Writes a scan with its own tables; returns 0 if memory runs out.
static int write_scan(Writer *writer, Scan scan)
{
    Output *output = &writer->output;
    Counts counts[table_count];
    Codes codes[table_count];
    if (!CJPEG_list_scan(writer->blocks, scan, counts, &writer->symbols))
        return 0;
    for (int table = 0; table < table_count; table++)
        CJPEG_make_codes(&counts[table], &codes[table]);
    write_tables(output, codes);
    begin_segment(output, 0xda, 4 + 2 * (size_t) (scan.end - scan.start));
    put_bytes(output, (uint8_t[]) {(uint8_t) (scan.end - scan.start)}, 1);
    for (int index = scan.start; index < scan.end; index++)
        put_bytes(output, (uint8_t[]) {(uint8_t) (index + 1), index > 0 ? 0x11 : 0}, 2);
    put_bytes(output, (uint8_t[]) {(uint8_t) scan.first, (uint8_t) scan.last, 0}, 3);
    CJPEG_write_scan(&writer->symbols, codes, output);
    return output->bytes != NULL;
}

static int scans_of(Writer *writer, int is_progressive, Scan *scans)
{
    int is_gray = writer->request->count == 1;
    if (!is_progressive) {
        scans[0] = Single;
        scans[0].end = writer->request->count;
        return 1;
    }
    memcpy(scans, is_gray ? Gray : Color, is_gray ? sizeof Gray : sizeof Color);
    return is_gray ? sizeof Gray / sizeof *Gray : sizeof Color / sizeof *Color;
}

/// Gives padding blocks of MCUs the DC coefficient of the block before them, so that they take the fewest bits.
static void fill_padding(const Blocks *blocks)
{
    for (int row = 0; row < blocks->all_down; row++)
        for (int column = row < blocks->down ? blocks->across : 0; column < blocks->all_across; column++) {
            size_t number = (size_t) row * (size_t) blocks->all_across + (size_t) column;
            size_t model = column > 0 ? number - 1 : number - (size_t) blocks->all_across + (size_t) blocks->all_across - 1;
            memset(blocks->values + number * block_size, 0, block_size * sizeof *blocks->values);
            blocks->values[number * block_size] = blocks->values[model * block_size];
            blocks->kept[number] = 0;
        }
}

static int scaled(int step, int quality)
{
    int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    int result = (step * scale + 50) / 100;
    return result < 1 ? 1 : (result > 255 ? 255 : result);
}

/// Allocates the blocks of the planes; returns whether that succeeded.
static int divide(Writer *writer)
{
    const CJPEGRequest *request = writer->request;
    const CJPEGPlane *luma = &request->planes[0], *chroma = &request->planes[1];
    int is_full = request->count == 1 || (chroma->width == luma->width && chroma->height == luma->height);
    for (int index = 0; index < request->count; index++) {
        Blocks *blocks = &writer->blocks[index];
        int sampling = index == 0 && !is_full ? 2 : 1;
        blocks->sampling = sampling;
        blocks->kind = index > 0;
        blocks->across = (request->planes[index].width + 7) / 8;
        blocks->down = (request->planes[index].height + 7) / 8;
        blocks->all_across = (blocks->across + sampling - 1) / sampling * sampling;
        blocks->all_down = (blocks->down + sampling - 1) / sampling * sampling;
        size_t number = (size_t) blocks->all_across * (size_t) blocks->all_down;
        blocks->values = malloc(number * block_size * sizeof *blocks->values);
        blocks->kept = malloc(number * sizeof *blocks->kept);
        if (!blocks->values || !blocks->kept)
            return 0;
    }
    return 1;
}

/// The distance between rows that are sampled before the choice.
static int stride_of(const Blocks *blocks)
{
    int stride = blocks->across * blocks->down / min_sampled;
    return stride < 1 ? 1 : (stride > max_stride ? max_stride : stride);
}

/// Estimates the costs of each band's symbols from some rows; returns the bands of luma or of chroma.
static int rate_bands(Writer *writer, int kind, Rates *rates)
{
    int start = kind ? 1 : 0, end = kind ? writer->request->count : 1, stride = stride_of(&writer->blocks[start]);
    Counts counts = {{0}};
    for (int index = start; index < end; index++) {
        const Blocks *blocks = &writer->blocks[index];
        for (int row = 0; row < blocks->down; row += stride) {
            CJPEG_transform(&writer->request->planes[index], &writer->scalings[kind], row, blocks);
            CJPEG_keep_plainly(blocks, row);
        }
        if (!kind || !writer->is_large)
            CJPEG_count_rows(blocks, Single, stride, &counts);
    }
    if (!kind) {
        Codes codes;
        CJPEG_make_codes(&counts, &codes);
        writer->is_large = CJPEG_code_bits(&counts, &codes) * (uint64_t) stride >= 8 * min_large;
    }
    if (!writer->is_large) {
        CJPEG_rate_band(&counts, kind, 1, 63, rates);
        return 1;
    }
    int bands = 0;
    for (const Scan *scan = Color + 1; scan < Color + max_scans; scan++) {
        if (scan->start != start)
            continue;
        memset(&counts, 0, sizeof counts);
        for (int index = start; index < end; index++)
            CJPEG_count_rows(&writer->blocks[index], *scan, stride, &counts);
        CJPEG_rate_band(&counts, kind, scan->first, scan->last, &rates[bands++]);
    }
    return bands;
}

static CJPEGOutcome write_file(Writer *writer)
{
    const CJPEGRequest *request = writer->request;
    if (!divide(writer))
        return CJPEGMemory;
    for (int kind = 0; kind < (request->count == 3 ? 2 : 1); kind++) {
        for (int number = 0; number < block_size; number++)
            writer->steps[kind][number] = (uint8_t) scaled(Steps[kind][CJPEG_zigzag[number]], request->quality);
        writer->scalings[kind] = CJPEG_scaling(writer->steps[kind]);
    }
    for (int index = 0; index < request->count; index++) {
        const Blocks *blocks = &writer->blocks[index];
        if (index < 2)
            writer->bands = rate_bands(writer, blocks->kind, writer->rates);
        int stride = stride_of(blocks);
        for (int row = 0; row < blocks->down; row++) {
            if (request->watch.should_stop(request->watch.context))
                return CJPEGStopped;
            // The other rows were sampled, and so transformed, already.
            if (row % stride != 0)
                CJPEG_transform(&request->planes[index], &writer->scalings[blocks->kind], row, blocks);
            CJPEG_choose(blocks, row, writer->rates, writer->bands);
        }
        fill_padding(blocks);
    }
    int is_progressive = request->scans == CJPEGSeveralScans || (request->scans == CJPEGScansBySize && writer->is_large);
    Scan scans[max_scans];
    int count = scans_of(writer, is_progressive, scans);
    write_header(writer, is_progressive);
    for (int scan = 0; scan < count; scan++) {
        if (request->watch.should_stop(request->watch.context))
            return CJPEGStopped;
        if (!write_scan(writer, scans[scan]))
            return CJPEGMemory;
    }
    put_bytes(&writer->output, (uint8_t[]) {0xff, 0xd9}, 2);
    return writer->output.bytes ? CJPEGDone : CJPEGMemory;
}

CJPEGOutcome CJPEG_write(const CJPEGRequest *request, void **bytes, size_t *count)
{
    Writer *writer = calloc(1, sizeof *writer);
    CJPEGOutcome outcome = CJPEGMemory;
    if (writer) {
        writer->request = request;
        outcome = write_file(writer);
        *bytes = writer->output.bytes;
        *count = writer->output.count;
        for (int index = 0; index < 3; index++) {
            free(writer->blocks[index].values);
            free(writer->blocks[index].kept);
        }
        free(writer->symbols.list);
        if (outcome != CJPEGDone)
            free(writer->output.bytes);
    }
    free(writer);
    return outcome;
}
