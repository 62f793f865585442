#include "CPlanar.h"

#include <math.h>
#include <string.h>

#include "Colors.h"

// Luma and chroma are converted to red, green and blue at luma's size, row by row, while these are resampled in linear
// light; the results are converted back. Chroma is enlarged linearly, which for two pixels per sample is libjpeg's
// "fancy upsampling".

/// Bits of the weights for interpolating a pixel between samples, across or down; a product of two has 12 bits.
enum { weight_bits = 6,
    whole_weight = 1 << weight_bits };

/// The two chroma samples around a pixel, and the weight of the second.
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
    CPixelsWatch watch;
    const CPlanarColors *source;
    Place *columns;
    /// An interpolated row of Cb and of Cr, in `whole_weight`ths, with its last value repeated.
    uint16_t *mixed[2];
    /// Cb and Cr of each pixel of a row.
    uint8_t *chroma[2];
    /// A row of pixels of the source, and one of the target.
    uint8_t *pixels, *made;
    /// Sums of the pixels of two rows of the target for each chroma sample: red, green and blue.
    uint16_t *sums;
    /// The first column that the resampler reads.
    int first_column;
    /// Whether each pixel has its own chroma sample.
    int is_full;
} Run;

static size_t aligned_size(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static void *take(char **scratch, size_t bytes)
{
    void *taken = *scratch;
    *scratch += aligned_size(bytes);
    return taken;
}

/// Divides the working memory, or measures it if `scratch` begins at NULL.
static void divide(Run *run, char **scratch, CLightResampling resampling)
{
    // Chroma has at most as many samples as luma.
    size_t width = (size_t) resampling.source_width, target = (size_t) resampling.target_width;
    run->columns = take(scratch, width * sizeof *run->columns);
    for (int kind = 0; kind < 2; kind++) {
        run->mixed[kind] = take(scratch, (width + 1) * sizeof *run->mixed[kind]);
        run->chroma[kind] = take(scratch, width);
    }
    run->pixels = take(scratch, 3 * width);
    run->made = take(scratch, 3 * target);
    run->sums = take(scratch, 3 * (target + 1) * sizeof *run->sums);
}

size_t CPlanar_colors_scratch_size(const CLightResampler *resampler)
{
    static char start[64];
    char *end = start;
    Run run;
    divide(&run, &end, CLight_resampling(resampler));
    return aligned_size(CLight_scratch_size(resampler)) + (size_t) (end - start);
}

/// Interpolates between two rows of a chroma plane.
static void mix_rows(const CPlanarPlane *plane, Place place, uint16_t *mixed)
{
    const uint8_t *one = plane->samples + (size_t) place.first * plane->stride;
    const uint8_t *other = place.weight > 0 ? one + plane->stride : one;
    int weight = place.weight, rest = whole_weight - place.weight;
    for (int x = 0; x < plane->width; x++)
        mixed[x] = (uint16_t) (one[x] * rest + other[x] * weight);
    mixed[plane->width] = mixed[plane->width - 1];
}

/// Interpolates between neighboring values of a row for each pixel.
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

/// Passes a row of pixels to the resampler; returns NULL to stop it.
static const uint8_t *row_at(void *user, int number)
{
    Run *run = user;
    const CPlanarColors *source = run->source;
    const CPlanarPlane *luma = &source->planes[0];
    const uint8_t *rows[2];
    if (number % 32 == 0 && run->watch.should_stop(run->watch.context))
        return NULL;
    for (int kind = 0; kind < 2; kind++) {
        const CPlanarPlane *plane = &source->planes[1 + kind];
        if (run->is_full) {
            rows[kind] = plane->samples + (size_t) number * plane->stride;
            continue;
        }
        mix_rows(plane, place_of(source->top + number * source->down, plane->height), run->mixed[kind]);
        mix_columns(run->mixed[kind], run->columns, luma->width, run->chroma[kind]);
        rows[kind] = run->chroma[kind];
    }
    CPlanar_pixels_of_row(
        luma->samples + (size_t) number * luma->stride, rows[0], rows[1], source->is_limited, luma->width, run->pixels);
    return run->pixels + 3 * run->first_column;
}

CPlanarStatus CPlanar_resample_colors(
    const CLightResampler *resampler, const CPlanarColors *source, const CPlanarColorTarget *target, void *scratch,
    CPixelsWatch watch)
{
    CLightResampling resampling = CLight_resampling(resampler);
    Run run = {.watch = watch, .source = source};
    CLightSource rows = {.row = row_at, .context = &run};
    CLightRun light = CLight_start(resampler, (CLightRange) {0, resampling.target_width}, scratch);
    char *own = (char *) scratch + aligned_size(CLight_scratch_size(resampler));
    divide(&run, &own, resampling);
    run.first_column = light.source.first;
    run.is_full = source->left == 0 && source->top == 0 && source->across == 1 && source->down == 1
        && source->planes[1].width == resampling.source_width
        && source->planes[1].height == resampling.source_height;
    for (int x = 0; x < resampling.source_width; x++)
        run.columns[x] = place_of(source->left + x * source->across, source->planes[1].width);
    for (int row = 0; row < resampling.target_height; row++) {
        if (!CLight_make_row(&light, rows, row, run.made, 0))
            return CPlanarStopped;
        CPlanar_planes_of_row(run.made, target, row, run.sums);
    }
    return CPlanarDone;
}
