#include "CLightResampling.h"

#include <stdlib.h>
#include <string.h>

#include "Curves.h"
#include "Filter.h"
#include "Mixing.h"

struct CLightResampler {
    CLightResampling resampling;
    CLightFilter across, down;
    /// Light values from one band of a row to the next; the last ones are zeros, for weights of zero.
    size_t pitch;
    /// Rows of the source that are averaged to one row of light.
    int box;
    /// Rows of light that are buffered.
    int kept_rows;
};

/// Above this many rows of the source per row of the target, means of rows are buffered, so that the buffer stays small
/// however much an image shrinks.
static const double longest_step = 16;

static size_t aligned_size(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int max_count(const CLightFilter *filter, int target)
{
    int most = 0, sample;
    for (sample = 0; sample < target; sample++)
        most = filter->count[sample] > most ? filter->count[sample] : most;
    return most;
}

static int box_of(double step)
{
    return step < longest_step ? 1 : (int) (step / (longest_step / 2));
}

CLightResampler *CLight_make(const CLightResampling *resampling)
{
    CLightResampler *resampler = calloc(1, sizeof *resampler);
    if (!resampler)
        return NULL;
    resampler->resampling = *resampling;
    resampler->box = box_of(resampling->height / resampling->target_height);
    if (!CLight_filter_make(
            &resampler->across, resampling->kernel, resampling->source_width, resampling->left, resampling->width,
            resampling->target_width)
        || !CLight_filter_make(
            &resampler->down, resampling->kernel, (resampling->source_height + resampler->box - 1) / resampler->box,
            resampling->top / resampler->box, resampling->height / resampler->box, resampling->target_height)) {
        CLight_free(resampler);
        return NULL;
    }
    resampler->pitch = ((size_t) resampling->source_width + (size_t) resampler->across.taps + CLight_rows_step - 1)
        / CLight_rows_step * CLight_rows_step;
    resampler->kept_rows = max_count(&resampler->down, resampling->target_height);
    return resampler;
}

void CLight_free(CLightResampler *resampler)
{
    if (!resampler)
        return;
    CLight_filter_free(&resampler->across);
    CLight_filter_free(&resampler->down);
    free(resampler);
}

CLightResampling CLight_resampling(const CLightResampler *resampler)
{
    return resampler->resampling;
}

/// Bytes of a row of light.
static size_t row_size(const CLightResampler *resampler)
{
    return resampler->pitch * (size_t) resampler->resampling.bands * sizeof(int16_t);
}

/// Bytes of the sums of a box's rows; 0 if single rows are buffered.
static size_t box_size(const CLightResampler *resampler)
{
    return resampler->box > 1 ? 2 * row_size(resampler) : 0;
}

/// Bytes of the sums of one band of a row of the target.
static size_t sums_size(const CLightResampler *resampler)
{
    return aligned_size(((size_t) resampler->resampling.target_width + CLight_columns_step - 1) * sizeof(int32_t));
}

size_t CLight_scratch_size(const CLightResampler *resampler)
{
    return ((size_t) resampler->kept_rows + 1) * row_size(resampler)
        + (size_t) resampler->resampling.bands * sums_size(resampler)
        + aligned_size((size_t) resampler->kept_rows * sizeof(int16_t *)) + box_size(resampler);
}

static CLightRange read_range(const CLightFilter *filter, CLightRange target)
{
    CLightRange range = {filter->first[target.first], 0};
    int sample;
    for (sample = target.first; sample < target.end; sample++) {
        int end = filter->first[sample] + filter->count[sample];
        range.first = filter->first[sample] < range.first ? filter->first[sample] : range.first;
        range.end = end > range.end ? end : range.end;
    }
    return range;
}

CLightRange CLight_columns(const CLightResampler *resampler, CLightRange target)
{
    return read_range(&resampler->across, target);
}

CLightRange CLight_rows(const CLightResampler *resampler, CLightRange target)
{
    CLightRange range = read_range(&resampler->down, target);
    range.first *= resampler->box;
    range.end *= resampler->box;
    if (range.end > resampler->resampling.source_height)
        range.end = resampler->resampling.source_height;
    return range;
}

/// Returns the buffered row of light for a row of the source; the row after them has the target's height.
static int16_t *kept_row(const CLightRun *run, int place)
{
    return (int16_t *) ((char *) run->scratch + (size_t) place * row_size(run->resampler));
}

CLightRun CLight_start(const CLightResampler *resampler, CLightRange columns, void *scratch)
{
    CLightRun run = {
        .resampler = resampler,
        .curves = CLight_curves(),
        .scale = 1,
        .target = columns,
        .source = CLight_columns(resampler, columns),
        .scratch = scratch,
    };
    size_t read = (size_t) (run.source.end - run.source.first);
    int16_t *light = scratch, *end = kept_row(&run, resampler->kept_rows + 1);
    // Weights of zero read beyond the columns.
    for (; light < end; light += resampler->pitch)
        memset(light + read, 0, (resampler->pitch - read) * sizeof *light);
    return run;
}

static void linearize_three(const CLightRun *run, const uint8_t *samples, const int16_t *curve, int16_t *light)
{
    size_t pitch = run->resampler->pitch;
    int x, width = run->source.end - run->source.first;
    for (x = 0; x < width; x++, samples += 3) {
        light[x] = curve[samples[0]];
        light[x + pitch] = curve[samples[1]];
        light[x + 2 * pitch] = curve[samples[2]];
    }
}

/// Multiplies light by alpha, 0 to 255, and divides by 255.
static inline int16_t weighted(int light, unsigned alpha)
{
    return (int16_t) (((unsigned) light * alpha * 257 + (1 << 15)) >> 16);
}

/// Converts pixels whose last band is alpha.
static inline __attribute__((always_inline)) void linearize_by_alpha(
    const CLightRun *run, const uint8_t *samples, const int16_t *curve, int16_t *light, int bands)
{
    size_t pitch = run->resampler->pitch;
    int x, band, width = run->source.end - run->source.first;
    for (x = 0; x < width; x++, samples += bands) {
        unsigned alpha = samples[bands - 1];
        light[x + (size_t) (bands - 1) * pitch] = (int16_t) (alpha * (CLight_white / 255));
        for (band = 0; band < bands - 1; band++)
            light[x + (size_t) band * pitch] = alpha == 255 ? curve[samples[band]]
                : alpha == 0                                ? 0
                                                            : weighted(curve[samples[band]], alpha);
    }
}

static void linearize(const CLightRun *run, const uint8_t *samples, int is_limited, int16_t *light)
{
    const int16_t *curve = run->curves->light[is_limited];
    int x, width = run->source.end - run->source.first;
    if (run->resampler->resampling.is_plain) {
        for (x = 0; x < width; x++)
            light[x] = (int16_t) (samples[x] * (CLight_white / 255));
        return;
    }
    switch (run->resampler->resampling.bands) {
    case 1: CLight_linearize(run->curves, is_limited, samples, light, width); break;
    case 2: linearize_by_alpha(run, samples, curve, light, 2); break;
    case 3: linearize_three(run, samples, curve, light); break;
    default: linearize_by_alpha(run, samples, curve, light, 4); break;
    }
}

/// Converts the rows of a box to a row of mean light; returns 0 if the source ended the run.
static int linearize_box(const CLightRun *run, CLightSource source, int number, int16_t *light)
{
    const CLightResampler *resampler = run->resampler;
    size_t count = row_size(resampler) / sizeof *light, index;
    int32_t *sums = (int32_t *) ((char *) run->scratch + CLight_scratch_size(resampler) - box_size(resampler));
    int row = number * resampler->box, rows = resampler->resampling.source_height - row, done;
    rows = rows < resampler->box ? rows : resampler->box;
    for (done = 0; done < rows; done++) {
        const uint8_t *samples = source.row(source.context, row + done);
        if (!samples)
            return 0;
        linearize(run, samples, source.is_limited, light);
        for (index = 0; index < count; index++)
            sums[index] = (done ? sums[index] : 0) + light[index];
    }
    for (index = 0; index < count; index++)
        light[index] = (int16_t) ((sums[index] + rows / 2) / rows);
    return 1;
}

/// Converts what a buffered row covers to light; returns 0 if the source ended the run.
static int linearize_row(const CLightRun *run, CLightSource source, int number, int16_t *light)
{
    const uint8_t *samples;
    if (run->resampler->box > 1)
        return linearize_box(run, source, number, light);
    samples = source.row(source.context, number);
    if (samples)
        linearize(run, samples, source.is_limited, light);
    return samples != NULL;
}

/// Reads the missing rows of the source that a row of the target needs; returns 0 if the source ended the run.
static int read_rows(CLightRun *run, CLightSource source, CLightRange wanted)
{
    int count = run->resampler->kept_rows, number;
    if (wanted.first < run->kept.first || wanted.first > run->kept.end)
        run->kept.first = run->kept.end = wanted.first;
    for (number = run->kept.end; number < wanted.end; number++) {
        if (!linearize_row(run, source, number, kept_row(run, number % count)))
            return 0;
        run->kept.end = number + 1;
        if (run->kept.end - run->kept.first > count)
            run->kept.first = run->kept.end - count;
    }
    return 1;
}

static inline int light_of(int32_t sum)
{
    int light = (sum + CLight_whole / 2) >> 14;
    return light < 0 ? 0 : (light > CLight_white ? CLight_white : light);
}

/// Converts the sums of opaque pixels to samples.
static inline __attribute__((always_inline)) void delinearize(
    const CLightRun *run, int32_t *sums, size_t pitch, const uint8_t *curve, uint8_t *samples, int bands)
{
    int x, band, width = run->target.end - run->target.first;
    for (band = 0; band < bands; band++)
        for (x = 0; x < width; x++)
            sums[x + (size_t) band * pitch] = light_of(sums[x + (size_t) band * pitch]);
    for (x = 0; x < width; x++, samples += bands)
        for (band = 0; band < bands; band++)
            samples[band] = curve[sums[x + (size_t) band * pitch]];
}

/// Converts the sums of a plain resampling.
static void narrow(const CLightRun *run, const int32_t *sums, uint8_t *samples)
{
    int x, width = run->target.end - run->target.first;
    float scale = run->scale * 255 / CLight_white, offset = run->offset + 0.5f;
    for (x = 0; x < width; x++) {
        // The cast rounds toward zero; values below zero become zero anyway.
        int sample = (int) ((float) light_of(sums[x]) * scale + offset);
        samples[x] = (uint8_t) (sample < 0 ? 0 : (sample > 255 ? 255 : sample));
    }
}

/// Converts the sums of pixels whose last band is alpha.
static inline __attribute__((always_inline)) void delinearize_by_alpha(
    const CLightRun *run, const int32_t *sums, size_t pitch, const uint8_t *curve, uint8_t *samples, int bands)
{
    int x, band, width = run->target.end - run->target.first;
    for (x = 0; x < width; x++, samples += bands) {
        int32_t alphas = sums[x + (size_t) (bands - 1) * pitch];
        int alpha = (light_of(alphas) + CLight_white / 255 / 2) / (CLight_white / 255);
        float factor = alpha > 0 ? (float) CLight_white / (float) alphas : 0;
        for (band = 0; band < bands - 1; band++) {
            float light = (float) sums[x + (size_t) band * pitch] * factor;
            samples[band] = curve[light <= 0 ? 0 : (light >= CLight_white ? CLight_white : (int) (light + 0.5f))];
        }
        samples[bands - 1] = (uint8_t) alpha;
    }
}

int CLight_make_row(CLightRun *run, CLightSource source, int row, uint8_t *samples, int is_limited)
{
    const CLightResampler *resampler = run->resampler;
    int bands = resampler->resampling.bands, band, tap, first = resampler->down.first[row], count = resampler->down.count[row];
    int16_t *mixed = kept_row(run, resampler->kept_rows);
    int32_t *sums = (int32_t *) kept_row(run, resampler->kept_rows + 1);
    size_t pitch = sums_size(resampler) / sizeof *sums;
    const int16_t **rows = (const int16_t **) ((char *) sums + (size_t) bands * sums_size(resampler));
    const uint8_t *curve = run->curves->samples[is_limited];
    if (!read_rows(run, source, (CLightRange) {first, first + count}))
        return 0;
    for (band = 0; band < bands; band++) {
        size_t start = (size_t) band * resampler->pitch;
        for (tap = 0; tap < count; tap++)
            rows[tap] = kept_row(run, (first + tap) % resampler->kept_rows) + start;
        CLight_mix_rows(
            rows, resampler->down.weights + (size_t) row * (size_t) resampler->down.taps, count, mixed + start,
            run->source.end - run->source.first);
        CLight_mix_columns(
            mixed + start, run->source.first, &resampler->across, run->target.first, run->target.end,
            sums + (size_t) band * pitch);
    }
    if (resampler->resampling.is_plain) {
        narrow(run, sums, samples);
        return 1;
    }
    switch (bands) {
    case 1: delinearize(run, sums, pitch, curve, samples, 1); break;
    case 2: delinearize_by_alpha(run, sums, pitch, curve, samples, 2); break;
    case 3: delinearize(run, sums, pitch, curve, samples, 3); break;
    default: delinearize_by_alpha(run, sums, pitch, curve, samples, 4); break;
    }
    return 1;
}
