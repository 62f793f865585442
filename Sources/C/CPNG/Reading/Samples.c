#include "Samples.h"

#include <string.h>

#include "Chunks.h"

int CFastPNG_are_pixels(const CFastPNGImage *image)
{
    return image->depth == 8 && image->color_type != palette && !image->transparency;
}

Samples CFastPNG_samples(const CFastPNGImage *image)
{
    Samples samples = {.image = image};
    int most = image->depth < 8 ? (1 << image->depth) - 1 : 255, index;
    for (index = 0; index < 256; index++) {
        uint8_t *pixel = samples.pixels[index];
        if (image->color_type == palette) {
            // Missing palette colors are black, missing alphas opaque.
            if (index < image->palette_count)
                memcpy(pixel, image->palette + 3 * index, 3);
            pixel[3] = index < image->transparency_count ? image->transparency[index] : 255;
        } else {
            pixel[0] = (uint8_t) (index * 255 / most);
            // Only the bits of a sample count in the transparent gray.
            pixel[1] = image->transparency && index == (image->transparency[1] & most) ? 0 : 255;
        }
    }
    if (image->color_type == color && image->transparency)
        for (index = 0; index < 3; index++) {
            const uint8_t *sample = image->transparency + 2 * index;
            if (image->depth == 16)
                memcpy(samples.transparent + 2 * index, sample, 2);
            else
                samples.transparent[index] = sample[1];
        }
    else if (image->transparency && image->depth == 16)
        memcpy(samples.transparent, image->transparency, 2);
    return samples;
}

/// Converts samples of up to 8 bits by the table.
static inline __attribute__((always_inline)) void look_up(
    const Samples *samples, const uint8_t *row, int depth, int width, int bands, uint8_t *out)
{
    int x;
    for (x = 0; x < width; x++, out += bands) {
        int value = depth == 8 ? row[x] : row[x * depth / 8] >> (8 - depth - x * depth % 8) & ((1 << depth) - 1);
        memcpy(out, samples->pixels[value], (size_t) bands);
    }
}

/// Reduces a color's samples to 8 bits, and computes alpha from the transparent color.
static inline __attribute__((always_inline)) void add_alpha(
    const Samples *samples, const uint8_t *row, int bands, int size, int width, uint8_t *out)
{
    int x, band;
    for (x = 0; x < width; x++, row += bands * size) {
        for (band = 0; band < bands; band++)
            *out++ = row[band * size];
        *out++ = memcmp(row, samples->transparent, (size_t) (bands * size)) ? 255 : 0;
    }
}

/// Converts 16-bit samples, or those of a color with transparency.
static void convert(const Samples *samples, const uint8_t *row, int width, uint8_t *out)
{
    const CFastPNGImage *image = samples->image;
    int x;
    if (!image->transparency)
        for (x = 0; x < width * image->bands; x++)
            out[x] = row[2 * x];
    else if (image->depth == 8)
        add_alpha(samples, row, 3, 1, width, out);
    else if (image->color_type == color)
        add_alpha(samples, row, 3, 2, width, out);
    else
        add_alpha(samples, row, 1, 2, width, out);
}

void CFastPNG_make_pixels(const Samples *samples, const uint8_t *row, int width, uint8_t *out)
{
    const CFastPNGImage *image = samples->image;
    if (image->color_type != palette && (image->color_type != gray || image->depth > 8)) {
        convert(samples, row, width, out);
        return;
    }
    switch (image->bands) {
    case 1: look_up(samples, row, image->depth, width, 1, out); break;
    case 2: look_up(samples, row, image->depth, width, 2, out); break;
    case 3:
        if (image->depth == 8)
            look_up(samples, row, 8, width, 3, out);
        else
            look_up(samples, row, image->depth, width, 3, out);
        break;
    default: look_up(samples, row, image->depth, width, 4, out);
    }
}
