#include "CCodedImages.h"

#include <stdlib.h>
#include <string.h>

/// A position between two samples: the index of the first, and the weight of the second in 256ths.
typedef struct {
    int index, weight;
} Place;

/// Returns the position of a sample's center among `count` others; beyond the edges, the outermost samples repeat.
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

static inline __attribute__((always_inline)) int sample_of(const void *row, int index, int is_word)
{
    return is_word ? ((const uint16_t *) row)[index] : ((const uint8_t *) row)[index];
}

/// Interpolates a row between the samples of a source, at the result's width; the sample type is a compile-time
/// constant in each call.
static inline __attribute__((always_inline)) void spread(
    const CCodedImagesPlane *plane, Place y, const Place *places, int count, int are_words, uint16_t *row)
{
    const char *above = (const char *) plane->samples + (ptrdiff_t) y.index * plane->stride;
    const char *below = y.weight ? above + plane->stride : above;
    int x;
    for (x = 0; x < count; x++) {
        int index = places[x].index, weight = places[x].weight, next = index + (weight ? 1 : 0);
        int left = sample_of(above, index, are_words) * (256 - y.weight) + sample_of(below, index, are_words) * y.weight;
        int right = sample_of(above, next, are_words) * (256 - y.weight) + sample_of(below, next, are_words) * y.weight;
        row[x] = (uint16_t) ((left * (256 - weight) + right * weight + 32768) >> 16);
    }
}

static void spread_row(const CCodedImagesPlane *plane, Place y, const Place *places, int count, int are_words, uint16_t *row)
{
    if (are_words)
        spread(plane, y, places, count, 1, row);
    else
        spread(plane, y, places, count, 0, row);
}

static void copy_row(const CCodedImagesPlane *plane, int y, int are_words, uint16_t *row)
{
    const char *samples = (const char *) plane->samples + (ptrdiff_t) y * plane->stride;
    int x;
    if (are_words)
        memcpy(row, samples, (size_t) plane->width * sizeof *row);
    else
        for (x = 0; x < plane->width; x++)
            row[x] = ((const uint8_t *) samples)[x];
}

static inline __attribute__((always_inline)) void mix(
    uint16_t *const rows[3], const CCodedImagesComponent *component, int y, int count, int makes_words)
{
    const float *weights = component->weights, most = makes_words ? 65535 : 255;
    uint8_t *target = (uint8_t *) component->samples + (size_t) y * component->stride;
    int x;
    for (x = 0; x < count; x++, target += component->step) {
        float value = weights[0] * rows[0][x] + weights[1] * rows[1][x] + weights[2] * rows[2][x] + weights[3] + 0.5f;
        uint16_t sample = value <= 0 ? 0 : (value >= most ? (uint16_t) most : (uint16_t) value);
        if (makes_words)
            *(uint16_t *) (void *) target = sample;
        else
            *target = (uint8_t) sample;
    }
}

static void mix_row(uint16_t *const rows[3], const CCodedImagesComponent *component, int y, int count, int makes_words)
{
    if (makes_words)
        mix(rows, component, y, count, 1);
    else
        mix(rows, component, y, count, 0);
}

int CCodedImages_convert(const CCodedImagesConversion *conversion)
{
    const CCodedImagesPlane *sources = conversion->sources;
    int width = sources[0].width, height = sources[0].height, words = conversion->takes_words, x, y, index;
    size_t count = (size_t) width;
    uint16_t *memory = malloc(3 * count * sizeof *memory);
    Place *places = malloc(count * sizeof *places);
    uint16_t *rows[3];
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
        copy_row(&sources[0], y, words, rows[0]);
        spread_row(&sources[1], row, places, width, words, rows[1]);
        spread_row(&sources[2], row, places, width, words, rows[2]);
        for (index = 0; index < conversion->count; index++)
            mix_row(rows, &conversion->components[index], y, width, conversion->makes_words);
    }
    free(memory);
    free(places);
    return 0;
}

void CCodedImages_divide_by_alpha(void *pixels, int bands, size_t count, int are_words)
{
    uint32_t most = are_words ? 65535 : 255;
    uint16_t *words = pixels;
    uint8_t *bytes = pixels;
    size_t index, last = count * (size_t) bands;
    for (index = 0; index < last; index++) {
        size_t end = index + (size_t) bands - 1;
        uint32_t alpha = are_words ? words[end] : bytes[end];
        for (; index < end; index++) {
            uint32_t value = are_words ? words[index] : bytes[index];
            value = alpha ? (value * most + alpha / 2) / alpha : 0;
            value = value > most ? most : value;
            if (are_words)
                words[index] = (uint16_t) value;
            else
                bytes[index] = (uint8_t) value;
        }
    }
}

void CCodedImages_composite(const CCodedImagesPixels *ground, const CCodedImagesPixels *layer, int left, int top)
{
    int first = top < 0 ? -top : 0, last = ground->height - top < layer->height ? ground->height - top : layer->height;
    int start = left < 0 ? -left : 0, end = ground->width - left < layer->width ? ground->width - left : layer->width;
    int colors = layer->bands < 3 ? 1 : 3, has_alpha = layer->bands > colors, x, y, band;
    for (y = first; y < last; y++) {
        const uint8_t *from = layer->pixels + ((size_t) y * (size_t) layer->width + (size_t) start) * (size_t) layer->bands;
        uint8_t *to = ground->pixels
            + ((size_t) (top + y) * (size_t) ground->width + (size_t) (left + start)) * (size_t) ground->bands;
        for (x = start; x < end; x++, from += layer->bands, to += ground->bands) {
            // Weights in 65,025ths: of the layer, and of the pixel below it.
            int above = 255 * (has_alpha ? from[colors] : 255), behind = 65025 - above, all;
            if (ground->bands == 4)
                behind = behind / 255 * to[3];
            all = above + behind;
            for (band = 0; band < 3 && all > 0; band++)
                to[band] = (uint8_t) ((from[colors == 3 ? band : 0] * above + to[band] * behind + all / 2) / all);
            if (ground->bands == 4)
                to[3] = (uint8_t) ((all + 127) / 255);
        }
    }
}
