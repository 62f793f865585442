#include "CPixels.h"

#include "Frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double CPixels_min_boxes_sigma = 8;

/// Loads a row as floating-point numbers, premultiplied by alpha.
WIDE static void load(const CPixelsFrame *frame, int y, float *to)
{
    const uint8_t *from = row_of(frame, y);
    int count = frame->width * frame->bands, bands = frame->bands, i, band;
    if (!has_alpha(frame)) {
        for (i = 0; i < count; i++)
            to[i] = from[i];
        return;
    }
    for (i = 0; i < count; i += bands) {
        float alpha = (float) from[i + bands - 1] / 255;
        for (band = 0; band < bands - 1; band++)
            to[i + band] = (float) from[i + band] * alpha;
        to[i + bands - 1] = from[i + bands - 1];
    }
}

/// Writes a row, possibly in place, after adding `amount` times its difference from the means.
WIDE static void store(const CPixelsFrame *in, const CPixelsFrame *out, int y, const float *means, float amount, float *own)
{
    uint8_t *to = row_of(out, y);
    int count = out->width * out->bands, bands = out->bands, i;
    load(in, y, own);
    for (i = 0; i < count; i++) {
        float value = own[i] + amount * (own[i] - means[i]);
        own[i] = value > 0 ? value < 255 ? value : 255 : 0;
    }
    if (!has_alpha(in)) {
        for (i = 0; i < count; i++)
            to[i] = (uint8_t) (own[i] + 0.5f);
        return;
    }
    for (i = 0; i < count; i += bands)
        put_divided(to + i, own + i, own[i + bands - 1], bands);
}

/// Computes the weights of the pixel itself and at each distance, up to the returned one; their sum is one.
static int weigh(double sigma, float **weights)
{
    int radius = (int) ceil(3 * sigma), distance;
    double sum = 1;
    *weights = malloc(((size_t) radius + 1) * sizeof **weights);
    if (!*weights)
        return -1;
    for (distance = 1; distance <= radius; distance++)
        sum += 2 * exp(-0.5 * distance * distance / (sigma * sigma));
    for (distance = 0; distance <= radius; distance++)
        (*weights)[distance] = (float) (exp(-0.5 * distance * distance / (sigma * sigma)) / sum);
    return radius;
}

/// Adds the weighted rows at two distances on both sides.
WIDE static void add_pairs(
    float *restrict sum, const float *const *near, const float *const *far, const float *weights, int count)
{
    const float *a = near[0], *b = near[1], *c = far[0], *d = far[1];
    float one = weights[0], other = weights[1];
    int i;
    for (i = 0; i < count; i++)
        sum[i] += one * (a[i] + b[i]) + other * (c[i] + d[i]);
}

WIDE static void add_pair(float *restrict sum, const float *a, const float *b, float weight, int count)
{
    int i;
    for (i = 0; i < count; i++)
        sum[i] += weight * (a[i] + b[i]);
}

WIDE static void scale(float *restrict to, const float *from, float weight, int count)
{
    int i;
    for (i = 0; i < count; i++)
        to[i] = weight * from[i];
}

/// Averages rows; the neighbors at each distance begin at `rows[radius - distance]` and `rows[radius + distance]`.
static void mean(float *sum, const float *const *rows, const float *weights, int radius, int count)
{
    int distance;
    scale(sum, rows[radius], weights[0], count);
    for (distance = 1; distance < radius; distance += 2) {
        const float *near[2] = {rows[radius - distance], rows[radius + distance]};
        const float *far[2] = {rows[radius - distance - 1], rows[radius + distance + 1]};
        add_pairs(sum, near, far, weights + distance, count);
    }
    if (distance == radius)
        add_pair(sum, rows[0], rows[2 * radius], weights[radius], count);
}

/// Averages along a row; `row` has room for `radius` pixels before and after it, which repeat its ends.
static void mean_across(
    float *row, const float *weights, int radius, int width, int bands, const float **places, float *to)
{
    int count = width * bands, distance, band;
    for (distance = 1; distance <= radius; distance++)
        for (band = 0; band < bands; band++) {
            row[band - distance * bands] = row[band];
            row[count - bands + band + distance * bands] = row[count - bands + band];
        }
    for (distance = -radius; distance <= radius; distance++)
        places[radius + distance] = row + distance * bands;
    mean(to, places, weights, radius, count);
}

static int clamped(int value, int count)
{
    return value < 0 ? 0 : (value < count ? value : count - 1);
}

/// Blurs with weights. Rows are blurred horizontally once, and kept while rows below need them.
static int by_weights(const CPixelsGaussian *gaussian, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    float *weights;
    int radius = weigh(gaussian->sigma, &weights);
    int count = in->width * in->bands, kept = 2 * radius + 1, ready = 0, y, distance, failed = -1;
    float *rows = malloc(((size_t) kept + 1) * (size_t) count * sizeof *rows);
    float *row = malloc(((size_t) in->width + 2 * (size_t) radius) * (size_t) in->bands * sizeof *row);
    const float **places = malloc((size_t) (kept < 1 ? 1 : kept) * sizeof *places);
    if (radius < 0 || !rows || !row || !places)
        goto end;
    float *sum = rows + (size_t) kept * (size_t) count;
    for (y = 0; y < in->height; y++) {
        if (is_ended(watch, y))
            goto end;
        for (; ready <= clamped(y + radius, in->height); ready++) {
            load(in, ready, row + radius * in->bands);
            mean_across(row + radius * in->bands, weights, radius, in->width, in->bands, places,
                rows + (size_t) (ready % kept) * (size_t) count);
        }
        for (distance = -radius; distance <= radius; distance++)
            places[radius + distance] = rows + (size_t) (clamped(y + distance, in->height) % kept) * (size_t) count;
        mean(sum, places, weights, radius, count);
        store(in, out, y, sum, gaussian->amount, row);
    }
    failed = 0;
end:
    free(weights);
    free(rows);
    free(row);
    free(places);
    return failed;
}

/// Averages 2 * radius + 1 numbers that are `step` apart, along a line of `length` with repeated ends.
static void box_along(const float *from, float *to, int length, int radius, ptrdiff_t step)
{
    double sum = 0, share = 1.0 / (2 * radius + 1);
    int i;
    for (i = -radius; i <= radius; i++)
        sum += from[clamped(i, length) * step];
    for (i = 0; i < length; i++) {
        to[i * step] = (float) (sum * share);
        sum += from[clamped(i + radius + 1, length) * step] - from[clamped(i - radius, length) * step];
    }
}

/// The same for all columns of rows at once.
static void box_down(const float *from, float *to, double *sums, int count, int height, int radius)
{
    double share = 1.0 / (2 * radius + 1);
    int y, i;
    memset(sums, 0, (size_t) count * sizeof *sums);
    for (y = -radius; y <= radius; y++) {
        const float *row = from + (size_t) clamped(y, height) * (size_t) count;
        for (i = 0; i < count; i++)
            sums[i] += row[i];
    }
    for (y = 0; y < height; y++) {
        const float *next = from + (size_t) clamped(y + radius + 1, height) * (size_t) count;
        const float *last = from + (size_t) clamped(y - radius, height) * (size_t) count;
        float *row = to + (size_t) y * (size_t) count;
        for (i = 0; i < count; i++) {
            row[i] = (float) (sums[i] * share);
            sums[i] += next[i] - last[i];
        }
    }
}

enum { boxes = 4 };

/// Chooses radii of boxes whose variances sum to sigma squared, as nearly as whole numbers can.
static void choose_boxes(double sigma, int *radii)
{
    int low = (int) floor((sqrt(12 * sigma * sigma / boxes + 1) - 1) / 2), count, box;
    double width = 2 * low + 1;
    count = (int) lround((12 * sigma * sigma - boxes * width * width - 4 * boxes * width - 3 * boxes) / (-4 * width - 4));
    for (box = 0; box < boxes; box++)
        radii[box] = box < count ? low : low + 1;
}

/// Returns whether boxes, including repeated ends, cost more on a line than weights for each pair of its numbers.
static int is_short(int length, int margin)
{
    return (double) length * length <= boxes * (length + 2.0 * margin);
}

/// Computes the weights of all numbers of a line for each mean; those beyond an end are added to the end's. Returns
/// NULL if memory runs out.
static float *weigh_pairs(double sigma, int length)
{
    float *weights = malloc((size_t) length * (size_t) length * sizeof *weights);
    double scale = 1 / (sigma * sqrt(2));
    int place, number;
    for (place = 0; weights && place < length; place++) {
        double before = -1;
        for (number = 0; number < length; number++) {
            double after = number < length - 1 ? erf((number + 0.5 - place) * scale) : 1;
            weights[(size_t) place * (size_t) length + (size_t) number] = (float) ((after - before) / 2);
            before = after;
        }
    }
    return weights;
}

/// Adds `length` weighted rows of `count` numbers.
WIDE static void mean_of_rows(float *restrict to, const float *rows, const float *weights, int length, int count)
{
    int row, i;
    memset(to, 0, (size_t) count * sizeof *to);
    for (row = 0; row < length; row++, rows += count)
        for (i = 0; i < count; i++)
            to[i] += weights[row] * rows[i];
}

/// Columns that are blurred together vertically.
enum { strip = 96 };

/// Buffers of `by_boxes`.
typedef struct {
    /// The whole frame, in floating point.
    float *frame;
    /// A line or a strip with `margin` repetitions of its ends on both sides, twice.
    float *one, *other;
    double *sums;
    /// Weights for the numbers of a row, and of a column; NULL if boxes are used.
    float *across, *down;
    int margin;
} BoxBuffers;

static void free_buffers(BoxBuffers *buffers)
{
    free(buffers->frame);
    free(buffers->one);
    free(buffers->other);
    free(buffers->sums);
    free(buffers->across);
    free(buffers->down);
}

/// Returns 0 if memory runs out.
static int make_buffers(BoxBuffers *buffers, const CPixelsFrame *in, double sigma, const int *radii)
{
    size_t across = (size_t) in->width, down = (size_t) in->height, columns = across * (size_t) in->bands;
    int box;
    *buffers = (BoxBuffers) {0};
    for (box = 0; box < boxes; box++)
        buffers->margin += radii[box];
    if (is_short(in->width, buffers->margin)) {
        buffers->across = weigh_pairs(sigma, in->width);
        if (!buffers->across)
            return 0;
    } else {
        across += 2 * (size_t) buffers->margin;
    }
    if (is_short(in->height, buffers->margin)) {
        buffers->down = weigh_pairs(sigma, in->height);
        if (!buffers->down)
            return 0;
    } else {
        down += 2 * (size_t) buffers->margin;
    }
    across *= (size_t) in->bands;
    down *= columns < strip ? columns : strip;
    buffers->frame = malloc((size_t) in->height * (size_t) in->width * (size_t) in->bands * sizeof *buffers->frame);
    buffers->one = malloc((across > down ? across : down) * sizeof *buffers->one);
    buffers->other = malloc((across > down ? across : down) * sizeof *buffers->other);
    buffers->sums = malloc(strip * sizeof *buffers->sums);
    return buffers->frame && buffers->one && buffers->other && buffers->sums;
}

static void swap(BoxBuffers *buffers)
{
    float *one = buffers->one;
    buffers->one = buffers->other;
    buffers->other = one;
}

/// Blurs a row of the frame, with its ends repeated as far as all boxes together reach: no box may repeat what another
/// one has blurred.
static void blur_row(BoxBuffers *buffers, float *row, const int *radii, int width, int bands)
{
    int margin = buffers->margin, x, band, box;
    if (buffers->across) {
        memcpy(buffers->one, row, (size_t) width * (size_t) bands * sizeof *row);
        for (x = 0; x < width; x++)
            mean_of_rows(row + (size_t) x * (size_t) bands, buffers->one,
                buffers->across + (size_t) x * (size_t) width, width, bands);
        return;
    }
    for (x = 0; x < width + 2 * margin; x++)
        memcpy(buffers->one + (size_t) x * (size_t) bands, row + (size_t) clamped(x - margin, width) * (size_t) bands,
            (size_t) bands * sizeof *row);
    for (box = 0; box < boxes; box++) {
        for (band = 0; band < bands; band++)
            box_along(buffers->one + band, buffers->other + band, width + 2 * margin, radii[box], bands);
        swap(buffers);
    }
    memcpy(row, buffers->one + (size_t) margin * (size_t) bands, (size_t) width * (size_t) bands * sizeof *row);
}

/// Blurs `columns` columns of the frame vertically, from `first` on.
static void blur_strip(BoxBuffers *buffers, const int *radii, int first, int columns, int count, int height)
{
    int margin = buffers->down ? 0 : buffers->margin, y, box;
    for (y = 0; y < height + 2 * margin; y++)
        memcpy(buffers->one + (size_t) y * (size_t) columns,
            buffers->frame + (size_t) clamped(y - margin, height) * (size_t) count + first,
            (size_t) columns * sizeof *buffers->one);
    if (buffers->down) {
        for (y = 0; y < height; y++)
            mean_of_rows(buffers->frame + (size_t) y * (size_t) count + first, buffers->one,
                buffers->down + (size_t) y * (size_t) height, height, columns);
        return;
    }
    for (box = 0; box < boxes; box++) {
        box_down(buffers->one, buffers->other, buffers->sums, columns, height + 2 * margin, radii[box]);
        swap(buffers);
    }
    for (y = 0; y < height; y++)
        memcpy(buffers->frame + (size_t) y * (size_t) count + first,
            buffers->one + (size_t) (y + margin) * (size_t) columns, (size_t) columns * sizeof *buffers->one);
}

/// Approximates a Gaussian by repeated box averages.
static int by_boxes(const CPixelsGaussian *gaussian, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    int radii[boxes], count = in->width * in->bands, y, first, failed = -1;
    BoxBuffers buffers;
    choose_boxes(gaussian->sigma, radii);
    if (!make_buffers(&buffers, in, gaussian->sigma, radii))
        goto end;
    for (y = 0; y < in->height; y++) {
        float *row = buffers.frame + (size_t) y * (size_t) count;
        if (is_ended(watch, y))
            goto end;
        load(in, y, row);
        blur_row(&buffers, row, radii, in->width, in->bands);
    }
    for (first = 0; first < count; first += strip) {
        if (is_ended(watch, 0))
            goto end;
        blur_strip(&buffers, radii, first, count - first < strip ? count - first : strip, count, in->height);
    }
    // The buffer of rows with their margins is large enough for a row of numbers.
    for (y = 0; y < in->height; y++)
        store(in, out, y, buffers.frame + (size_t) y * (size_t) count, gaussian->amount, buffers.one);
    failed = 0;
end:
    free_buffers(&buffers);
    return failed;
}

int CPixels_gaussian(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsGaussian *gaussian = settings;
    return gaussian->sigma < CPixels_min_boxes_sigma ? by_weights(gaussian, in, out, watch)
                                                     : by_boxes(gaussian, in, out, watch);
}
