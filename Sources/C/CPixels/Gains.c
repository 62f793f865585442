#include "CPixels.h"

#include "Frames.h"

#include <stdlib.h>
#include <string.h>

/// The samples of a map before and after a position, and the weight of the second one in 256ths.
typedef struct {
    int first, second, share;
} Between;

/// Returns the position in a map of `count` samples for a sample of the image, if the image fills `length` samples from
/// `start` on.
static Between between(int sample, double start, double length, int count)
{
    double place = (sample + 0.5 - start) / length * count - 0.5;
    Between found = {0, 0, 0};
    place = place > 0 ? place < count - 1 ? place : count - 1 : 0;
    found.first = (int) place;
    found.second = found.first + 1 < count ? found.first + 1 : found.first;
    found.share = (int) ((place - found.first) * 256);
    return found;
}

static inline int luma_of(const uint8_t *pixel, int bands)
{
    return bands < 3 ? pixel[0] : (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8;
}

/// Returns the part of the sample at `place` that lies between two edges.
static inline float covered(int place, double start, double end)
{
    return (float) ((end < place + 1 ? end : place + 1) - (start > place ? start : place));
}

/// Writes each sample of a row of the image from `start` to `end`, followed by its light with each gain.
static void apply_gains(const CPixelsGains *gains, const CPixelsFrame *image, const CPixelsFrame *map, const Between *columns, int y, int start,
    int end, float *values)
{
    Between rows = between(y, gains->whole.top, gains->whole.height, map->height);
    const uint8_t *pixel = row_of(image, y) + start * image->bands, *above = row_of(map, rows.first), *below = row_of(map, rows.second);
    int x, band, bands = map->bands;
    for (x = start; x < end; x++, pixel += image->bands) {
        int luma = luma_of(pixel, image->bands), left = columns[x].first * bands, right = columns[x].second * bands;
        *values++ = (float) luma;
        for (band = 0; band < bands; band++, left++, right++) {
            int share = columns[x].share, upper = above[left] * (256 - share) + above[right] * share;
            int lower = below[left] * (256 - share) + below[right] * share;
            int step = (upper * (256 - rows.share) + lower * rows.share + 2048) >> 12;
            *values++ = (gains->light[luma] + gains->offsets[band]) * gains->gains[band][step];
        }
    }
}

/// Returns the map sample with the nearest gain; the least one for NaN.
static uint8_t sample_of(const float *gains, float gain)
{
    int low = 0, high = CPixels_gain_steps;
    while (low < high) {
        int step = (low + high) / 2;
        if (gains[step] < gain)
            low = step + 1;
        else
            high = step;
    }
    return (uint8_t) ((low + 8) / 16);
}

/// Returns the light of a pixel of the result without a gain: of the shown image, or of the mean of samples.
static float light_of(const CPixelsGains *gains, const uint8_t *base, int bands, float mean)
{
    int step = mean > 0 ? mean < 254 ? (int) mean : 254 : 0;
    if (base)
        return gains->base_light[luma_of(base, bands)];
    return gains->light[step] + (mean - (float) step) * (gains->light[step + 1] - gains->light[step]);
}

int CPixels_fit_gains(const CPixelsGains *gains, const CPixelsFrame *image, const CPixelsFrame *map, const CPixelsFrame *base,
    const CPixelsFrame *out, CPixelsWatch watch)
{
    CPixelsArea part = gains->part;
    // The inverse of the result's turn.
    int orientation = gains->orientation == 6 ? 8 : gains->orientation == 8 ? 6
                                                                            : gains->orientation;
    int width = orientation < 5 ? out->width : out->height, height = orientation < 5 ? out->height : out->width;
    double across = part.width / width, down = part.height / height;
    Walk to = walk_of(out, orientation), shown = base ? walk_of(base, orientation) : (Walk) {NULL, 0, 0};
    int count = map->bands + 1, end = (int) (part.left + part.width) + 1, start = (int) part.left, x, y, i;
    Between *columns = malloc((size_t) image->width * sizeof *columns);
    float *values = malloc((size_t) image->width * (size_t) count * sizeof *values);
    float *sums = malloc((size_t) width * (size_t) count * sizeof *sums);
    int row, status = columns && values && sums ? 0 : -1;
    end = end < image->width ? end : image->width;
    for (x = 0; !status && x < image->width; x++)
        columns[x] = between(x, gains->whole.left, gains->whole.width, map->width);
    for (row = 0; !status && row < height; row++) {
        double top = part.top + row * down, bottom = top + down;
        if (is_ended(watch, row)) {
            status = -1;
            break;
        }
        memset(sums, 0, (size_t) width * (size_t) count * sizeof *sums);
        for (y = (int) top; y < image->height && y < bottom; y++) {
            float tall = covered(y, top, bottom), *sum = sums;
            apply_gains(gains, image, map, columns, y, start, end, values);
            for (i = 0; i < width; i++, sum += count) {
                double left = part.left + i * across, right = left + across;
                for (x = (int) left; x < end && x < right; x++) {
                    float weight = covered(x, left, right) * tall, *value = values + (size_t) (x - start) * (size_t) count;
                    int index;
                    for (index = 0; index < count; index++)
                        sum[index] += value[index] * weight;
                }
            }
        }
        for (i = 0; i < width; i++) {
            const float *sum = sums + (size_t) i * (size_t) count;
            float area = (float) (across * down), light;
            uint8_t *sample = to.origin + i * to.across + row * to.down;
            int band;
            light = light_of(gains, base ? shown.origin + i * shown.across + row * shown.down : NULL, base ? base->bands : 0, sum[0] / area);
            for (band = 0; band < map->bands; band++)
                sample[band] = sample_of(gains->gains[band], sum[band + 1] / area / (light + gains->offsets[band]));
        }
    }
    free(columns);
    free(values);
    free(sums);
    return status;
}
