#include "CCodedImages.h"

#include <stdlib.h>
#include <string.h>

/// A place between two samples: that of the first, and the weight of the second in 256ths.
typedef struct {
    int index, weight;
} Place;

/// Where the centre of a sample lies among `count` others; beyond the edges these go on as the outermost.
static Place place_of(int sample, double start, double step, int count)
{
    double at = start + (sample + 0.5) * step - 0.5;
    Place place = {0, 0};
    if (at <= 0)
        return place;
    place.index = (int) at;
    place.weight = (int) ((at - place.index) * 256 + 0.5);
    if (place.index >= count - 1) {
        place.index = count - 1;
        place.weight = 0;
    }
    return place;
}

/// A row of a source between its samples, in the result's width.
static void spread_row(const CCodedImagesPlane *plane, Place y, const Place *places, int count, uint8_t *row)
{
    const uint8_t *above = (const uint8_t *) plane->samples + (ptrdiff_t) y.index * plane->stride;
    const uint8_t *below = y.weight ? above + plane->stride : above;
    int x;
    for (x = 0; x < count; x++) {
        int index = places[x].index, weight = places[x].weight, next = index + (weight ? 1 : 0);
        int left = above[index] * (256 - y.weight) + below[index] * y.weight;
        int right = above[next] * (256 - y.weight) + below[next] * y.weight;
        row[x] = (uint8_t) ((left * (256 - weight) + right * weight + 32768) >> 16);
    }
}

static void mix_row(uint8_t *const rows[3], const CCodedImagesComponent *component, int y, int count)
{
    const float *weights = component->weights;
    uint8_t *target = component->samples + (size_t) y * component->stride;
    int x;
    for (x = 0; x < count; x++, target += component->step) {
        float value = weights[0] * rows[0][x] + weights[1] * rows[1][x] + weights[2] * rows[2][x] + weights[3] + 0.5f;
        *target = value <= 0 ? 0 : (value >= 255 ? 255 : (uint8_t) value);
    }
}

int CCodedImages_convert(const CCodedImagesConversion *conversion)
{
    const CCodedImagesPlane *sources = conversion->sources;
    int width = sources[0].width, height = sources[0].height, x, y, index;
    size_t count = (size_t) width;
    uint8_t *memory = malloc(3 * count);
    Place *places = malloc(count * sizeof *places);
    uint8_t *rows[3];
    if (!memory || !places) {
        free(memory);
        free(places);
        return -1;
    }
    for (index = 0; index < 3; index++)
        rows[index] = memory + (size_t) index * count;
    for (x = 0; x < width; x++)
        places[x] = place_of(x, conversion->left, conversion->across, sources[1].width);
    for (y = 0; y < height; y++) {
        Place row = place_of(y, conversion->top, conversion->down, sources[1].height);
        memcpy(rows[0], (const uint8_t *) sources[0].samples + (ptrdiff_t) y * sources[0].stride, count);
        spread_row(&sources[1], row, places, width, rows[1]);
        spread_row(&sources[2], row, places, width, rows[2]);
        for (index = 0; index < conversion->count; index++)
            mix_row(rows, &conversion->components[index], y, width);
    }
    free(memory);
    free(places);
    return 0;
}

void CCodedImages_divide_by_alpha(uint8_t *pixels, int bands, size_t count)
{
    for (; count > 0; count--, pixels += bands) {
        int alpha = pixels[bands - 1], band;
        for (band = 0; band < bands - 1; band++) {
            int value = alpha ? (pixels[band] * 255 + alpha / 2) / alpha : 0;
            pixels[band] = (uint8_t) (value > 255 ? 255 : value);
        }
    }
}
