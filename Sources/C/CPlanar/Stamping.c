#include "CPlanar.h"

#include <stdlib.h>

/// Returns `value` ÷ 255, rounded, for values of at most 65025. In 16 bits, so that a register contains many of them.
static inline uint8_t by_255(uint16_t value)
{
    uint16_t more = (uint16_t) (value + 128);
    return (uint8_t) ((uint16_t) (more + (more >> 8)) >> 8);
}

/// Returns an 8-bit alpha at an opacity in percent.
static inline unsigned faded(unsigned alpha, unsigned opacity)
{
    return (alpha * opacity + 50) / 100;
}

/// Blends samples of a stamp onto a plane with one sample per pixel.
static void blend(
    uint8_t *restrict samples, const uint8_t *restrict stamp, const uint8_t *restrict alpha, int count, unsigned opacity)
{
    if (opacity == 100) {
        for (int index = 0; index < count; index++)
            samples[index] = by_255((uint16_t) (stamp[index] * alpha[index] + samples[index] * (255 - alpha[index])));
        return;
    }
    for (int index = 0; index < count; index++) {
        unsigned above = faded(alpha[index], opacity);
        samples[index] = by_255((uint16_t) (stamp[index] * above + samples[index] * (255 - above)));
    }
}

/// Sums over the pixels of each subsampled chroma sample.
typedef struct {
    uint32_t *alpha;
    uint32_t *blue;
    uint32_t *red;
} Sums;

/// Samples of a stamp, one for each pixel.
typedef struct {
    const uint8_t *blue;
    const uint8_t *red;
    const uint8_t *alpha;
} Row;

/// Adds `count` pixels from pixel `x` on; `first` is the first chroma sample of the sums.
static void add(Sums sums, Row row, int x, int count, int first, int width, unsigned opacity)
{
    int index = 0;
    if (x & 1 && count > 0) {
        int sample = (x >> 1) - first;
        unsigned above = faded(row.alpha[0], opacity);
        sums.alpha[sample] += above;
        sums.blue[sample] += above * row.blue[0];
        sums.red[sample] += above * row.red[0];
        index = 1;
    }
    int sample = ((x + index) >> 1) - first;
    for (; index + 1 < count; index += 2, sample++) {
        unsigned left = faded(row.alpha[index], opacity), right = faded(row.alpha[index + 1], opacity);
        sums.alpha[sample] += left + right;
        sums.blue[sample] += left * row.blue[index] + right * row.blue[index + 1];
        sums.red[sample] += left * row.red[index] + right * row.red[index + 1];
    }
    if (index < count) {
        // The last column of an image of odd width fills its sample alone.
        unsigned above = faded(row.alpha[index], opacity) * (x + index == width - 1 ? 2 : 1);
        sums.alpha[sample] += above;
        sums.blue[sample] += above * row.blue[index];
        sums.red[sample] += above * row.red[index];
    }
}

/// Returns the stamp's samples of one kind for the row that is `y` rows below the top of the covered area.
static const uint8_t *row_of(const CPlanarStamp *stamp, int kind, int y)
{
    return stamp->samples + ((size_t) kind * stamp->height + y % stamp->height) * stamp->width;
}

/// Blends a row of the stamp onto a row of a plane with one sample per pixel.
static void blend_row(const CPlanarStamp *stamp, const CPlanarPlane *plane, int kind, int y)
{
    uint8_t *samples = plane->samples + (size_t) (stamp->top + y) * plane->stride + stamp->left;
    const uint8_t *row = row_of(stamp, kind, y), *alpha = row_of(stamp, 3, y);
    for (int x = 0; x < stamp->covered_width; x += stamp->width) {
        int rest = stamp->covered_width - x;
        blend(samples + x, row, alpha, rest < stamp->width ? rest : stamp->width, (unsigned) stamp->opacity);
    }
}

/// Adds the pixels from `from` to `to` of a row of the image, if the stamp covers it; both count from the left of the
/// covered area.
static void add_row(const CPlanarStamp *stamp, Sums sums, int y, int from, int to, int first, int width)
{
    int inside = y - stamp->top;
    if (inside < 0 || inside >= stamp->covered_height)
        return;
    const uint8_t *blue = row_of(stamp, 1, inside), *red = row_of(stamp, 2, inside), *alpha = row_of(stamp, 3, inside);
    while (from < to) {
        int column = from % stamp->width, rest = stamp->width - column;
        Row row = {blue + column, red + column, alpha + column};
        if (rest > to - from)
            rest = to - from;
        add(sums, row, stamp->left + from, rest, first, width, (unsigned) stamp->opacity);
        from += rest;
    }
}

/// Adds the pixels of the image rows in a row of samples.
static void add_rows(const CPlanarStamp *stamp, Sums sums, int y, int from, int to, int first, const CPlanarPlane *luma)
{
    add_row(stamp, sums, 2 * y, from, to, first, luma->width);
    // The last row of an image of odd height fills its samples alone.
    add_row(stamp, sums, 2 * y + 1 < luma->height ? 2 * y + 1 : 2 * y, from, to, first, luma->width);
}

/// Adds all pixels of a row of `count` samples. Adjacent stamps have the same sums, which are computed once.
static void add_all(const CPlanarStamp *stamp, Sums sums, int y, int first, int count, const CPlanarPlane *luma)
{
    // Pixels, an even number, and samples after which the stamp repeats.
    long period = stamp->width % 2 ? 2L * stamp->width : stamp->width;
    long known = period / 2 + 1, is_odd = stamp->left & 1;
    if (count <= known + 1) {
        add_rows(stamp, sums, y, 0, stamp->covered_width, first, luma);
        return;
    }
    // The first and the last sample may have fewer pixels than the others.
    add_rows(stamp, sums, y, 0, (int) (period + 2 - is_odd), first, luma);
    for (long sample = known; sample < count - 1; sample++) {
        sums.alpha[sample] = sums.alpha[sample - period / 2];
        sums.blue[sample] = sums.blue[sample - period / 2];
        sums.red[sample] = sums.red[sample - period / 2];
    }
    add_rows(stamp, sums, y, (int) (2L * (count - 1) - is_odd), stamp->covered_width, first, luma);
}

/// Mixes subsampled chroma samples with the sums over their pixels.
static void mix(uint8_t *restrict samples, const uint32_t *restrict alpha, const uint32_t *restrict sums, int count)
{
    enum { full = 4 * 255 };
    for (int index = 0; index < count; index++) {
        // A quarter of the sum is at most 65152, and for such values the second line is value ÷ 255, rounded down.
        uint16_t quarter = (uint16_t) ((sums[index] + samples[index] * (full - alpha[index]) + full / 2) >> 2);
        samples[index] = (uint8_t) ((uint16_t) (quarter + 1 + (quarter >> 8)) >> 8);
    }
}

/// Blends the stamp onto half-size chroma.
static CPlanarStatus blend_chroma(const CPlanarStamp *stamp, const CPlanarPlanes *planes)
{
    int first = stamp->left >> 1, count = ((stamp->left + stamp->covered_width - 1) >> 1) - first + 1;
    int last_row = (stamp->top + stamp->covered_height - 1) >> 1;
    uint32_t *scratch = malloc(3 * (size_t) count * sizeof *scratch);
    if (!scratch)
        return CPlanarFailed;
    Sums sums = {scratch, scratch + count, scratch + 2 * (size_t) count};
    for (int y = stamp->top >> 1; y <= last_row; y++) {
        for (int index = 0; index < 3 * count; index++)
            scratch[index] = 0;
        add_all(stamp, sums, y, first, count, &planes->planes[0]);
        for (int kind = 1; kind < 3; kind++) {
            const CPlanarPlane *plane = &planes->planes[kind];
            mix(plane->samples + (size_t) y * plane->stride + first, sums.alpha, kind == 1 ? sums.blue : sums.red, count);
        }
    }
    free(scratch);
    return CPlanarDone;
}

CPlanarStatus CPlanar_stamp(const CPlanarPlanes *planes, const CPlanarStamp *stamp)
{
    int is_subsampled = planes->planes[1].width != planes->planes[0].width
        || planes->planes[1].height != planes->planes[0].height;
    for (int y = 0; y < stamp->covered_height; y++)
        for (int kind = 0; kind < (is_subsampled ? 1 : 3); kind++)
            blend_row(stamp, &planes->planes[kind], kind, y);
    return is_subsampled ? blend_chroma(stamp, planes) : CPlanarDone;
}

void CPlanar_split(const uint8_t *pixels, int bands, size_t count, int is_limited, uint8_t *samples)
{
    float luma_scale = is_limited ? 219.f / 255 : 1, luma_start = is_limited ? 16 : 0;
    float chroma_scale = is_limited ? 224.f / 255 : 1;
    for (size_t index = 0; index < count; index++) {
        const uint8_t *pixel = pixels + index * (size_t) bands;
        float red = pixel[0], green = pixel[bands == 4 ? 1 : 0], blue = pixel[bands == 4 ? 2 : 0];
        float luma = 0.299f * red + 0.587f * green + 0.114f * blue;
        samples[index] = (uint8_t) (luma * luma_scale + luma_start + 0.5f);
        samples[count + index] = (uint8_t) ((blue - luma) / 1.772f * chroma_scale + 128.5f - 1e-3f);
        samples[2 * count + index] = (uint8_t) ((red - luma) / 1.402f * chroma_scale + 128.5f - 1e-3f);
        samples[3 * count + index] = pixel[bands - 1];
    }
}
