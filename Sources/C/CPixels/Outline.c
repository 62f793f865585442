#include "CPixels.h"

#include "Frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Scan lines per row of pixels; along a line, coverage is exact.
enum { lines = 16 };

/// The coverage of each pixel of a row.
typedef struct {
    int width;
    /// The shares of pixels in which a span begins or ends, and the changes of the number of whole pixels.
    float *parts, *changes;
} Coverage;

static double within(double value, double least, double most)
{
    return value < least ? least : (value > most ? most : value);
}

/// Adds a part of a line.
static void add_span(Coverage *coverage, double from, double to)
{
    double start = within(from, 0, coverage->width), end = within(to, 0, coverage->width);
    int first = (int) start, last = (int) end;
    if (end <= start)
        return;
    if (first == last) {
        coverage->parts[first] += (float) (end - start);
        return;
    }
    coverage->parts[first] += (float) (first + 1 - start);
    coverage->parts[last] += (float) (end - last);
    coverage->changes[first + 1] += 1;
    coverage->changes[last] -= 1;
}

/// Adds the part of a line inside a rectangle with round corners.
static void add_rectangle(Coverage *coverage, const CPixelsOutline *outline, double y)
{
    double inset = 0, depth = 0;
    if (y < outline->top || y > outline->bottom)
        return;
    if (outline->down > 0) {
        if (y < outline->top + outline->down)
            depth = (outline->top + outline->down - y) / outline->down;
        else if (y > outline->bottom - outline->down)
            depth = (y - outline->bottom + outline->down) / outline->down;
        inset = outline->across * (1 - sqrt(1 - within(depth * depth, 0, 1)));
    }
    add_span(coverage, outline->left + inset, outline->right - inset);
}

static int in_order(const void *one, const void *other)
{
    double a = *(const double *) one, b = *(const double *) other;
    return a < b ? -1 : a > b;
}

/// Adds the parts of a line inside a polygon.
static void add_polygon(Coverage *coverage, const CPixelsOutline *outline, double y)
{
    double crossings[CPixels_max_corners];
    int count = 0, corner;
    for (corner = 0; corner < outline->count; corner++) {
        const double *one = outline->corners[corner], *other = outline->corners[(corner + 1) % outline->count];
        if ((one[1] <= y) != (other[1] <= y))
            crossings[count++] = one[0] + (y - one[1]) / (other[1] - one[1]) * (other[0] - one[0]);
    }
    qsort(crossings, (size_t) count, sizeof *crossings, in_order);
    for (corner = 0; corner + 1 < count; corner += 2)
        add_span(coverage, crossings[corner], crossings[corner + 1]);
}

/// Returns whether a row is as wide as the rectangle and lies between its corners.
static int is_whole(const CPixelsOutline *outline, int width, int y)
{
    return !outline->count && outline->left <= 0 && outline->right >= width && y >= outline->top + outline->down
        && y + 1 <= outline->bottom - outline->down;
}

static void cover_row(Coverage *coverage, const CPixelsOutline *outline, int y)
{
    int line, x;
    float whole = 0;
    memset(coverage->parts, 0, 2 * ((size_t) coverage->width + 2) * sizeof *coverage->parts);
    for (line = 0; line < lines; line++) {
        double middle = y + (line + 0.5) / lines;
        if (outline->count)
            add_polygon(coverage, outline, middle);
        else
            add_rectangle(coverage, outline, middle);
    }
    for (x = 0; x < coverage->width; x++) {
        whole += coverage->changes[x];
        coverage->parts[x] = (float) within((whole + coverage->parts[x]) / lines, 0, 1);
    }
}

/// Mixes a pixel with the color; `bands` is the result's.
static void mix(const uint8_t *from, int from_alpha, const uint8_t *color, float share, uint8_t *to, int bands)
{
    int colors = bands == 2 || bands == 4 ? bands - 1 : bands, band;
    float mixed[3], alpha;
    if (colors == bands) {
        for (band = 0; band < bands; band++)
            to[band] = in_eight_bits((float) color[band] + ((float) from[band] - (float) color[band]) * share);
        return;
    }
    alpha = (float) from_alpha * share;
    for (band = 0; band < colors; band++)
        mixed[band] = ((float) from[band] * alpha + (float) color[band] * (float) color[3] * (1 - share)) / 255;
    put_divided(to, mixed, alpha + (float) color[3] * (1 - share), bands);
}

static void cut_row(const CPixelsFrame *in, const CPixelsFrame *out, const uint8_t *color, int y, const float *shares)
{
    const uint8_t *from = row_of(in, y);
    uint8_t *to = row_of(out, y);
    uint8_t outside[4] = {color[0], color[1], color[2], color[3]};
    int x;
    if (out->bands == 2)
        outside[1] = color[3];
    for (x = 0; x < in->width; x++, from += in->bands, to += out->bands) {
        float share = shares ? shares[x] : 1;
        if (share == 1 && from == to) {
            continue;
        } else if (share == 1) {
            memcpy(to, from, (size_t) in->bands);
            if (in->bands < out->bands)
                to[in->bands] = 255;
        } else if (share == 0) {
            memcpy(to, outside, (size_t) out->bands);
        } else {
            mix(from, has_alpha(in) ? from[in->bands - 1] : 255, color, share, to, out->bands);
        }
    }
}

int CPixels_cut(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsOutline *outline = settings;
    size_t room = (size_t) in->width + 2;
    Coverage coverage = {in->width, malloc(2 * room * sizeof(float)), NULL};
    int y;
    if (!coverage.parts)
        return -1;
    coverage.changes = coverage.parts + room;
    for (y = 0; y < in->height; y++) {
        if (is_ended(watch, y))
            break;
        if (is_whole(outline, in->width, y)) {
            cut_row(in, out, outline->color, y, NULL);
        } else {
            cover_row(&coverage, outline, y);
            cut_row(in, out, outline->color, y, coverage.parts);
        }
    }
    free(coverage.parts);
    return y < in->height ? -1 : 0;
}
