#include "CPlanarShim.h"

#include <math.h>
#include <string.h>

#include "Colors.h"
#include "Resampling.h"

// Luma and chroma become red, green and blue at luma's size, row by row, while these are resampled as light; the results become luma and
// chroma again. Chroma is enlarged linearly, which for two pixels of each sample is libjpeg's "fancy upsampling".

/// Weights of samples between which a pixel lies, across or down; a product of two has 12 bits.
enum { weight_bits = 6,
    whole_weight = 1 << weight_bits };

static size_t in_whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/// The two samples of chroma that a pixel lies between, and the weight of the second.
typedef struct {
    int first;
    int weight;
} Place;

/// Beyond the outermost of `count` samples, the second one does not count.
static Place place_of(double position, int count)
{
    double first = floor(position);
    if (position <= 0)
        return (Place) {0, 0};
    if (first >= count - 1)
        return (Place) {count - 1, 0};
    return (Place) {(int) first, (int) lrint((position - first) * whole_weight)};
}

/// The working memory of a run.
typedef struct {
    CPlanarShimWatch watch;
    const CPlanarShimColors *source;
    Place *columns;
    /// A row of Cb and of Cr between two rows of samples, in `whole_weight`ths, and its last value once more.
    uint16_t *mixed[2];
    /// Cb and Cr of each pixel of a row.
    uint8_t *chroma[2];
    /// A row of pixels of the source, and one of the target.
    uint8_t *pixels, *made;
    /// Sums of the pixels of two rows of the target for each sample of chroma: red, green and blue.
    uint16_t *sums;
    /// The first column that the resampler reads.
    int first_column;
    /// Whether each pixel has a sample of chroma.
    int is_full;
} Run;

static void *take(char **room, size_t bytes)
{
    void *taken = *room;
    *room += in_whole_lines(bytes);
    return taken;
}

/// Divides the room, or measures it if `room` begins at NULL.
static void divide(Run *run, char **room, CPlanarShimResampling resampling)
{
    // Chroma has at most as many samples as luma.
    size_t width = (size_t) resampling.source_width, target = (size_t) resampling.target_width;
    run->columns = take(room, width * sizeof *run->columns);
    for (int kind = 0; kind < 2; kind++) {
        run->mixed[kind] = take(room, (width + 1) * sizeof *run->mixed[kind]);
        run->chroma[kind] = take(room, width);
    }
    run->pixels = take(room, 3 * width);
    run->made = take(room, 3 * target);
    run->sums = take(room, 3 * (target + 1) * sizeof *run->sums);
}

size_t CPlanarShim_color_room(CPlanarShimResampling resampling)
{
    static char start[64];
    char *end = start;
    Run run;
    divide(&run, &end, resampling);
    return (size_t) (end - start);
}

/// Mixes two rows of a plane of chroma.
static void mix_rows(const CPlanarShimPlane *plane, Place place, uint16_t *mixed)
{
    const uint8_t *one = plane->samples + (size_t) place.first * plane->stride;
    const uint8_t *other = place.weight > 0 ? one + plane->stride : one;
    int weight = place.weight, rest = whole_weight - place.weight;
    for (int x = 0; x < plane->width; x++)
        mixed[x] = (uint16_t) (one[x] * rest + other[x] * weight);
    mixed[plane->width] = mixed[plane->width - 1];
}

/// Mixes neighbouring values of a row for each pixel.
static void mix_columns(const uint16_t *mixed, const Place *columns, int width, uint8_t *chroma)
{
    enum { bits = 2 * weight_bits,
        half = 1 << (bits - 1) };
    for (int x = 0; x < width; x++) {
        const uint16_t *pair = mixed + columns[x].first;
        int weight = columns[x].weight;
        chroma[x] = (uint8_t) ((pair[0] * (whole_weight - weight) + pair[1] * weight + half) >> bits);
    }
}

/// Hands the resampler a row of pixels; NULL if it is to stop.
static const uint8_t *supply(void *user, int number)
{
    Run *run = user;
    const CPlanarShimColors *source = run->source;
    const CPlanarShimPlane *luma = &source->planes[0];
    const uint8_t *rows[2];
    if (number % 32 == 0 && run->watch.should_stop(run->watch.context))
        return NULL;
    for (int kind = 0; kind < 2; kind++) {
        const CPlanarShimPlane *plane = &source->planes[1 + kind];
        if (run->is_full) {
            rows[kind] = plane->samples + (size_t) number * plane->stride;
            continue;
        }
        mix_rows(plane, place_of(source->top + number * source->down, plane->height), run->mixed[kind]);
        mix_columns(run->mixed[kind], run->columns, luma->width, run->chroma[kind]);
        rows[kind] = run->chroma[kind];
    }
    CPlanarShim_pixels_of_row(
        luma->samples + (size_t) number * luma->stride, rows[0], rows[1], source->is_limited, luma->width, run->pixels);
    return run->pixels + 3 * run->first_column;
}

/// The factors from red, green and blue to luma and chroma, in 65536ths.
typedef struct {
    int luma_start, luma[3], blue[3], red[3];
} Matrix;

static const Matrix *matrix_of(int is_limited)
{
    // JFIF's matrix, and the same for limited range.
    static const Matrix full = {0, {19595, 38470, 7471}, {-11059, -21709, 32768}, {32768, -27439, -5329}};
    static const Matrix limited = {16, {16829, 33039, 6416}, {-9714, -19070, 28784}, {28784, -24103, -4681}};
    return is_limited ? &limited : &full;
}

static inline uint8_t in_eight_bits(int value)
{
    return (uint8_t) (value < 0 ? 0 : (value > 255 ? 255 : value));
}

static void write_luma(const uint8_t *pixels, int width, const Matrix *matrix, uint8_t *luma)
{
    for (int x = 0; x < width; x++, pixels += 3) {
        int sum = pixels[0] * matrix->luma[0] + pixels[1] * matrix->luma[1] + pixels[2] * matrix->luma[2];
        luma[x] = in_eight_bits((sum + (matrix->luma_start << 16) + (1 << 15)) >> 16);
    }
}

/// Adds a row of pixels to the sums of its samples of chroma. An outermost sample that has only one column has it twice.
static void add_row(const uint8_t *pixels, int width, int step, int before, uint16_t *sums)
{
    int last = (width - 1 + before) / step;
    for (int x = 0; x < width; x++, pixels += 3) {
        int sample = (x + before) / step;
        int is_alone = step == 2 && ((sample == 0 && before) || (sample == last && (width + before) % 2));
        for (int band = 0; band < 3; band++)
            sums[3 * sample + band] += (uint16_t) (pixels[band] << is_alone);
    }
}

/// Writes a row of chroma from the sums of `1 << bits` pixels for each sample.
static void write_chroma(const uint16_t *sums, int width, int bits, const Matrix *matrix, uint8_t *blue, uint8_t *red)
{
    int shift = 16 + bits;
    int start = (128 << shift) + (1 << (shift - 1)) - 1;
    for (int x = 0; x < width; x++, sums += 3) {
        int b = sums[0] * matrix->blue[0] + sums[1] * matrix->blue[1] + sums[2] * matrix->blue[2];
        int r = sums[0] * matrix->red[0] + sums[1] * matrix->red[1] + sums[2] * matrix->red[2];
        blue[x] = in_eight_bits((b + start) >> shift);
        red[x] = in_eight_bits((r + start) >> shift);
    }
}

/// Writes a row of the target, and the row of chroma of which it is the last row.
static void write_row(const Run *run, const CPlanarShimColorTarget *target, int row)
{
    const CPlanarShimPlane *luma = &target->planes[0], *blue = &target->planes[1], *red = &target->planes[2];
    const Matrix *matrix = matrix_of(target->is_limited);
    int step = target->step, place = row + target->rows_before, sample = place / step;
    int is_first = row == 0 || place % step == 0, is_last = row == luma->height - 1 || place % step == step - 1;
    write_luma(run->made, luma->width, matrix, luma->samples + (size_t) row * luma->stride);
    if (is_first)
        memset(run->sums, 0, 3 * (size_t) blue->width * sizeof *run->sums);
    // An outermost sample that has only one row has it twice.
    for (int times = step == 2 && is_first && is_last ? 2 : 1; times > 0; times--)
        add_row(run->made, luma->width, step, target->columns_before, run->sums);
    if (is_last)
        write_chroma(
            run->sums, blue->width, step == 2 ? 2 : 0, matrix, blue->samples + (size_t) sample * blue->stride,
            red->samples + (size_t) sample * red->stride);
}

CPlanarShimStatus CPlanarShim_resample_colors(
    const CPlanarShimGraph *graph, const CPlanarShimColors *source, const CPlanarShimColorTarget *target, void *room,
    CPlanarShimWatch watch)
{
    const CLightResampler *resampler = CPlanarShim_graph_light(graph);
    CPlanarShimResampling resampling = CPlanarShim_graph_resampling(graph);
    Run run = {.watch = watch, .source = source};
    CLightSource rows = {.row = supply, .context = &run};
    CLightRun light = CLight_start(resampler, (CLightRange) {0, resampling.target_width}, room);
    char *own = (char *) room + in_whole_lines(CLight_room(resampler));
    divide(&run, &own, resampling);
    run.first_column = light.source.first;
    run.is_full = source->left == 0 && source->top == 0 && source->across == 1 && source->down == 1
        && source->planes[1].width == resampling.source_width && source->planes[1].height == resampling.source_height;
    for (int x = 0; x < resampling.source_width; x++)
        run.columns[x] = place_of(source->left + x * source->across, source->planes[1].width);
    for (int row = 0; row < resampling.target_height; row++) {
        if (!CLight_make_row(&light, rows, row, run.made, 0))
            return CPlanarShimStopped;
        write_row(&run, target, row);
    }
    return CPlanarShimDone;
}
