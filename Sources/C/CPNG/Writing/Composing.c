#include "Rows.h"

#include <string.h>

uint8_t *CPNG_row(const CPNGPart *part, size_t row)
{
    return part->canvas + ((part->top + row) * part->canvas_width + part->left) * (size_t) part->bands;
}

void CPNG_save(const CPNGPart *part, void *rows)
{
    size_t size = part->width * (size_t) part->bands;
    for (size_t row = 0; row < part->height; row++)
        memcpy((uint8_t *) rows + row * size, CPNG_row(part, row), size);
}

void CPNG_clear(const CPNGPart *part)
{
    for (size_t row = 0; row < part->height; row++)
        memset(CPNG_row(part, row), 0, part->width * (size_t) part->bands);
}

/// Blends a pixel with alpha over a non-opaque canvas pixel; both have `colors` colors.
static void blend(uint8_t *canvas, const uint8_t *pixel, int colors)
{
    // In units of 1/255².
    uint32_t own = (uint32_t) pixel[colors] * 255, other = (uint32_t) canvas[colors] * (255u - pixel[colors]);
    uint32_t alpha = own + other;
    for (int color = 0; color < colors; color++)
        canvas[color] = (uint8_t) ((pixel[color] * own + canvas[color] * other + alpha / 2) / alpha);
    canvas[colors] = (uint8_t) ((alpha + 127) / 255);
}

static void put_pixel(uint8_t *canvas, const uint8_t *pixel, int colors, int has_alpha, int canvas_has_alpha, int is_blended)
{
    int alpha = has_alpha ? pixel[colors] : 255;
    if (is_blended && alpha == 0)
        return;
    if (is_blended && alpha < 255 && canvas_has_alpha) {
        blend(canvas, pixel, colors);
        return;
    }
    memcpy(canvas, pixel, (size_t) colors);
    if (canvas_has_alpha)
        canvas[colors] = (uint8_t) alpha;
}

void CPNG_put(const CPNGPart *part, const void *rows, int bands, int is_blended)
{
    int has_alpha = bands % 2 == 0, canvas_has_alpha = part->bands % 2 == 0, colors = part->bands - canvas_has_alpha;
    const uint8_t *pixel = rows;
    // All frames of a file have the same colors; otherwise this would read beyond their pixels.
    if (bands - has_alpha != colors)
        return;
    for (size_t row = 0; row < part->height; row++) {
        uint8_t *canvas = CPNG_row(part, row);
        for (size_t column = 0; column < part->width; column++) {
            put_pixel(canvas, pixel, colors, has_alpha, canvas_has_alpha, is_blended);
            pixel += bands;
            canvas += part->bands;
        }
    }
}

int CPNG_differ(const void *one, const void *other, size_t width, size_t height, int bands, CPNGPart *part)
{
    size_t pixel = (size_t) bands, size = width * pixel, left = width, right = 0, top = height, bottom = 0;
    for (size_t row = 0; row < height; row++) {
        const uint8_t *a = (const uint8_t *) one + row * size, *b = (const uint8_t *) other + row * size;
        size_t first = 0, last = width;
        if (memcmp(a, b, size) == 0)
            continue;
        while (memcmp(a + first * pixel, b + first * pixel, pixel) == 0)
            first++;
        while (memcmp(a + (last - 1) * pixel, b + (last - 1) * pixel, pixel) == 0)
            last--;
        left = first < left ? first : left;
        right = last > right ? last : right;
        top = row < top ? row : top;
        bottom = row + 1;
    }
    if (bottom == 0)
        return 0;
    *part = (CPNGPart) {.canvas_width = width, .bands = bands, .left = left, .top = top, .width = right - left, .height = bottom - top};
    return 1;
}
