#include "CFastPNG.h"

#include <stdlib.h>
#include <string.h>

#include <CPixels.h>

#include "Filters.h"
#include "Inflation.h"
#include "Samples.h"

enum {
    /// The least bytes of rows to inflate before they are used: with the history, they stay in a core's level 2 cache.
    min_portion = 128 << 10,
    max_level = 8,
};

/// The state of a read.
typedef struct {
    const CFastPNGImage *image;
    int level;
    uint8_t *pixels;
    Samples samples;
    Inflation *inflation;
    /// Inflated bytes: those that matches refer to, then unused ones from `unused` on.
    uint8_t *window, *limit, *unused;
    /// Zeros above the first row, and buffered rows of samples: their number and the bytes from one to the next.
    uint8_t *zeros, *lines;
    size_t pitch;
    /// Rows of pixels that make up one row of boxes; NULL if these are the rows of samples.
    uint8_t *made;
} Reading;

/// The rows of an image or pass (ISO/IEC 15948 section 8.2): the first pixel, and the steps to the next ones.
typedef struct {
    int left, top, across, down;
} Grid;

/// Returns the length of a side on a grid.
static int part_of(int side, int first, int step)
{
    return side > first ? (side - first + step - 1) / step : 0;
}

static size_t bits_of_pixel(const CFastPNGImage *image)
{
    static const int samples[] = {[gray] = 1, [color] = 3, [palette] = 1, [gray_alpha] = 2, [color_alpha] = 4};
    return (size_t) (samples[image->color_type] * image->depth);
}

static size_t row_size(const CFastPNGImage *image, int width)
{
    return ((size_t) width * bits_of_pixel(image) + 7) / 8;
}

/// Inflates until there are `least` unused bytes.
static CFastPNGOutcome make_sure(Reading *reading, size_t least)
{
    Inflation *inflation = reading->inflation;
    CFastPNGOutcome outcome = CFastPNGDone;
    size_t unused = (size_t) (inflation->out - reading->unused), history;
    if (unused >= least)
        return CFastPNGDone;
    history = (size_t) (reading->unused - reading->window);
    history = history < history_size ? history : history_size;
    memmove(reading->window, reading->unused - history, history + unused);
    reading->unused = reading->window + history;
    inflation->out = reading->unused + unused;
    outcome = CFastPNG_inflate(inflation, reading->limit);
    if (!outcome && (size_t) (inflation->out - reading->unused) < least)
        outcome = CFastPNGEnd;
    return outcome;
}

/// Averages the rows of pixels at `rows` to a row of the result.
static void put(const Reading *reading, const uint8_t *const *rows, int count, int y)
{
    const CFastPNGImage *image = reading->image;
    CPixelsBoxes boxes = {rows, count, image->width, image->bands, reading->level, image->bands % 2 == 0};
    size_t width = (size_t) part_of(image->width, 0, reading->level);
    CPixels_average(&boxes, reading->pixels + (size_t) (y / reading->level) * width * (size_t) image->bands);
}

/// The unfiltered rows of a pass; `use` gets each of them in order.
typedef struct {
    Reading *reading;
    size_t size, step;
    int height, y;
    const uint8_t *above;
} Pass;

/// Takes the next row, or the next two if `other` is given and useful; returns the number of rows, or 0 with the
/// outcome.
static int take_rows(Pass *pass, uint8_t *out, uint8_t *other, CFastPNGOutcome *outcome)
{
    Reading *reading = pass->reading;
    size_t size = pass->size;
    const uint8_t *row;
    int filters[2], count = 1;
    *outcome = make_sure(reading, size + 1);
    if (*outcome)
        return 0;
    row = reading->unused;
    filters[0] = row[0];
    if (filters[0] >= filter_count) {
        *outcome = CFastPNGData;
        return 0;
    }
    if (other && pass->y + 1 < pass->height && (size_t) (reading->inflation->out - row) >= 2 * (size + 1)) {
        filters[1] = row[size + 1];
        if (CFastPNG_unfilter_two(
                filters, (const uint8_t *const[]) {row + 1, row + size + 2}, pass->above, (uint8_t *const[]) {out, other}, size,
                pass->step))
            count = 2;
    }
    if (count == 1)
        CFastPNG_unfilter(filters[0], row + 1, pass->above, out, size, pass->step);
    reading->unused += (size_t) count * (size + 1);
    pass->y += count;
    pass->above = count == 2 ? other : out;
    return count;
}

static Pass pass_of(Reading *reading, int width, int height)
{
    size_t step = bits_of_pixel(reading->image) / 8;
    memset(reading->zeros, 0, reading->pitch);
    return (Pass) {reading, row_size(reading->image, width), step ? step : 1, height, 0, reading->zeros};
}

/// Reads the rows of an image without passes.
static CFastPNGOutcome read_rows(Reading *reading)
{
    const CFastPNGImage *image = reading->image;
    Pass pass = pass_of(reading, image->width, image->height);
    int level = reading->level, height = image->height, is_plain = CFastPNG_are_pixels(image), y;
    // As many rows of samples are buffered as a row of boxes has; two if they are not the pixels.
    int kept = is_plain ? level : 2;
    size_t size = (size_t) image->width * (size_t) image->bands;
    const uint8_t *rows[max_level];
    CFastPNGOutcome outcome = CFastPNGDone;
    while (pass.y < height) {
        // Samples that are pixels are written to their final place if they are not averaged.
        int is_direct = level == 1 && is_plain, place = pass.y % kept;
        uint8_t *out = is_direct ? reading->pixels + (size_t) pass.y * size : reading->lines + (size_t) place * reading->pitch;
        uint8_t *other = is_direct ? out + size : (place + 1 < kept ? out + reading->pitch : NULL);
        y = pass.y;
        if (!take_rows(&pass, out, other, &outcome))
            return outcome;
        for (; y < pass.y && !is_direct; y++, out = other) {
            const uint8_t *pixels = out;
            if (!is_plain) {
                uint8_t *made = level == 1 ? reading->pixels + (size_t) y * size : reading->made + (size_t) (y % level) * size;
                CFastPNG_make_pixels(&reading->samples, out, image->width, made);
                pixels = made;
            }
            rows[y % level] = pixels;
            if (level > 1 && (y % level == level - 1 || y == height - 1))
                put(reading, rows, y % level + 1, y);
        }
    }
    return outcome;
}

/// Copies pixels with a constant number of bands.
#define for_pixels(BANDS) \
    for (x = 0; x < width; x++, pixels += BANDS, out += step) \
        memcpy(out, pixels, BANDS);

/// Copies the pixels of a pass's row into the whole image.
static void scatter(const Reading *reading, const uint8_t *pixels, Grid grid, int width, int y)
{
    size_t bands = (size_t) reading->image->bands;
    uint8_t *out = reading->made
        + ((size_t) (grid.top + y * grid.down) * (size_t) reading->image->width + (size_t) grid.left) * bands;
    size_t step = (size_t) grid.across * bands;
    int x;
    if (grid.across == 1) {
        memcpy(out, pixels, (size_t) width * bands);
        return;
    }
    switch (bands) {
    case 1: for_pixels(1) break;
    case 2: for_pixels(2) break;
    case 3: for_pixels(3) break;
    default: for_pixels(4)
    }
}

/// Reads the seven passes into the whole image, then reduces it.
static CFastPNGOutcome read_passes(Reading *reading)
{
    static const Grid grids[] = {
        {0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    const CFastPNGImage *image = reading->image;
    size_t size = (size_t) image->width * (size_t) image->bands;
    uint8_t *pixels = reading->lines + 2 * reading->pitch;
    const uint8_t *rows[max_level];
    CFastPNGOutcome outcome = CFastPNGDone;
    int index, y, row, is_plain = CFastPNG_are_pixels(image);
    for (index = 0; index < 7; index++) {
        Grid grid = grids[index];
        int width = part_of(image->width, grid.left, grid.across);
        Pass pass = pass_of(reading, width, width ? part_of(image->height, grid.top, grid.down) : 0);
        while (pass.y < pass.height) {
            uint8_t *line = reading->lines + (size_t) (pass.y % 2) * reading->pitch;
            y = pass.y;
            if (!take_rows(&pass, line, y % 2 ? NULL : line + reading->pitch, &outcome))
                return outcome;
            for (; y < pass.y; y++, line += reading->pitch) {
                if (!is_plain)
                    CFastPNG_make_pixels(&reading->samples, line, width, pixels);
                scatter(reading, is_plain ? line : pixels, grid, width, y);
            }
        }
    }
    for (y = 0; reading->level > 1 && y < image->height; y += reading->level) {
        for (row = 0; row < reading->level && y + row < image->height; row++)
            rows[row] = reading->made + (size_t) (y + row) * size;
        put(reading, rows, row, y);
    }
    return outcome;
}

/// Returns the bytes of buffered pixel rows besides the result.
static size_t buffer_size(const CFastPNGImage *image, int level)
{
    size_t row = (size_t) image->width * (size_t) image->bands;
    if (image->is_interlaced)
        return level > 1 ? row * (size_t) image->height : 0;
    return level == 1 || CFastPNG_are_pixels(image) ? 0 : row * (size_t) level;
}

/// Allocates all memory; the caller frees it.
static CFastPNGOutcome allocate_buffers(Reading *reading)
{
    const CFastPNGImage *image = reading->image;
    size_t size = row_size(image, image->width), pixels = (size_t) image->width * (size_t) image->bands;
    size_t portion = 2 * (size + 1) > min_portion ? 2 * (size + 1) : min_portion, made = buffer_size(image, reading->level);
    size_t count = image->is_interlaced ? 3 : (CFastPNG_are_pixels(image) ? (size_t) reading->level : 2);
    // Only rows of an interlaced image are converted to pixels after the two lines.
    reading->pitch = (image->is_interlaced && pixels > size ? pixels : size) + 16;
    reading->inflation = malloc(sizeof *reading->inflation);
    reading->window = malloc(history_size + portion + overrun_size);
    reading->zeros = malloc(reading->pitch);
    reading->lines = malloc(count * reading->pitch);
    reading->made = made ? malloc(made) : NULL;
    if (!reading->inflation || !reading->window || !reading->zeros || !reading->lines || (made && !reading->made))
        return CFastPNGMemory;
    reading->limit = reading->window + history_size + portion;
    reading->unused = reading->window;
    return CFastPNGDone;
}

static CFastPNGOutcome read_all(Reading *reading, Rows *rows)
{
    Inflation *inflation = reading->inflation;
    uint8_t *made = reading->made;
    CFastPNGOutcome outcome = CFastPNG_begin_inflation(inflation, rows);
    inflation->out = reading->window;
    inflation->start = reading->window;
    if (reading->image->is_interlaced && reading->level == 1)
        reading->made = reading->pixels;
    if (!outcome)
        outcome = reading->image->is_interlaced ? read_passes(reading) : read_rows(reading);
    reading->made = made;
    // Data after the last row is skipped: it may inflate to a thousand times its size.
    return outcome ? outcome : CFastPNG_read_end(rows);
}

CFastPNGOutcome CFastPNG_read(const CFastPNGImage *image, int level, uint8_t *pixels, CPixelsWatch watch)
{
    Rows rows = CFastPNG_rows(image, watch);
    Reading reading = {.image = image, .level = level, .pixels = pixels, .samples = CFastPNG_samples(image)};
    CFastPNGOutcome outcome = allocate_buffers(&reading);
    if (!outcome)
        outcome = read_all(&reading, &rows);
    free(reading.inflation);
    free(reading.window);
    free(reading.zeros);
    free(reading.lines);
    free(reading.made);
    return outcome;
}
