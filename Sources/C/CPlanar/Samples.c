#include "CPlanar.h"

#include <string.h>

#include "Colors.h"

/// Side of the squares in which a plane is turned: a square of both planes fits into the level 1 cache.
enum { square = 32 };

static const uint8_t *row_of(const CPlanarPlane *plane, int y)
{
    return plane->samples + (size_t) y * plane->stride;
}

/// Transposes a plane, and mirrors the result across or down.
static void exchange_sides(
    const CPlanarPlane *source, const CPlanarPlane *target, int is_mirrored_across, int is_mirrored_down)
{
    int left, top, x, y;
    for (top = 0; top < target->height; top += square) {
        for (left = 0; left < target->width; left += square) {
            int bottom = top + square < target->height ? top + square : target->height;
            int right = left + square < target->width ? left + square : target->width;
            for (y = top; y < bottom; y++) {
                uint8_t *row = target->samples + (size_t) y * target->stride;
                int from_x = is_mirrored_down ? target->height - 1 - y : y;
                for (x = left; x < right; x++)
                    row[x] = row_of(source, is_mirrored_across ? target->width - 1 - x : x)[from_x];
            }
        }
    }
}

static void mirror(
    const CPlanarPlane *source, const CPlanarPlane *target, int is_mirrored_across, int is_mirrored_down)
{
    int x, y;
    for (y = 0; y < target->height; y++) {
        uint8_t *row = target->samples + (size_t) y * target->stride;
        const uint8_t *from = row_of(source, is_mirrored_down ? target->height - 1 - y : y);
        if (!is_mirrored_across) {
            memcpy(row, from, (size_t) target->width);
            continue;
        }
        for (x = 0; x < target->width; x++)
            row[x] = from[target->width - 1 - x];
    }
}

void CPlanar_turn(const CPlanarPlane *source, const CPlanarPlane *target, int orientation)
{
    switch (orientation) {
    case 2: mirror(source, target, 1, 0); break;
    case 3: mirror(source, target, 1, 1); break;
    case 4: mirror(source, target, 0, 1); break;
    case 5: exchange_sides(source, target, 0, 0); break;
    case 6: exchange_sides(source, target, 1, 0); break;
    case 7: exchange_sides(source, target, 1, 1); break;
    case 8: exchange_sides(source, target, 0, 1); break;
    default: mirror(source, target, 0, 0); break;
    }
}

static uint8_t in_eight_bits(int value)
{
    return (uint8_t) (value < 0 ? 0 : (value > 255 ? 255 : value));
}

/// The factors from luma and chroma to red, green and blue, in 65536ths.
typedef struct {
    int start, light, red, blue, green_of_blue, green_of_red;
} Matrix;

// JFIF's matrix, and the same for limited range.
static const Matrix full = {0, 65536, 91881, 116130, 22554, 46802};
static const Matrix limited = {16, 76309, 104597, 132201, 25675, 53279};

void CPlanar_pixels_of_row(
    const uint8_t *luma, const uint8_t *blue, const uint8_t *red, int is_limited, int count, uint8_t *pixels)
{
    const Matrix *matrix = is_limited ? &limited : &full;
    for (int x = 0; x < count; x++, pixels += 3) {
        // Clipped only at the end: chroma may bring luma beyond black or white back into range.
        int light = (luma[x] - matrix->start) * matrix->light + 32768;
        int bluish = blue[x] - 128;
        int reddish = red[x] - 128;
        pixels[0] = in_eight_bits((light + matrix->red * reddish) >> 16);
        pixels[1] = in_eight_bits((light - matrix->green_of_blue * bluish - matrix->green_of_red * reddish) >> 16);
        pixels[2] = in_eight_bits((light + matrix->blue * bluish) >> 16);
    }
}

void CPlanar_interleave(const CPlanarPlanes *planes, int is_limited, uint8_t *pixels)
{
    const Matrix *matrix = is_limited ? &limited : &full;
    const CPlanarPlane *luma = &planes->planes[0];
    int x, y;
    for (y = 0; y < luma->height; y++) {
        const uint8_t *l = row_of(luma, y);
        if (planes->count == 1) {
            for (x = 0; x < luma->width; x++)
                *pixels++ = in_eight_bits(((l[x] - matrix->start) * matrix->light + 32768) >> 16);
            continue;
        }
        CPlanar_pixels_of_row(
            l, row_of(&planes->planes[1], y), row_of(&planes->planes[2], y), is_limited, luma->width, pixels);
        pixels += 3 * (size_t) luma->width;
    }
}
