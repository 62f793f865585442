#include "CPixels.h"

#include "Frames.h"

#include <math.h>
#include <string.h>

static float soft_light(float below, float above)
{
    float bright = below <= 0.25f ? ((16 * below - 12) * below + 4) * below : sqrtf(below);
    return above <= 0.5f ? below - (1 - 2 * above) * below * (1 - below) : below + (2 * above - 1) * (bright - below);
}

static float hard_light(float below, float above)
{
    return above <= 0.5f ? 2 * below * above : 1 - 2 * (1 - below) * (1 - above);
}

/// The blend functions of W3C Compositing and Blending 1, for components 0 to 1.
static float blended(int mode, float below, float above)
{
    switch (mode) {
    case CPixels_blend_multiply: return below * above;
    case CPixels_blend_screen: return below + above - below * above;
    case CPixels_blend_overlay: return hard_light(above, below);
    case CPixels_blend_darken: return below < above ? below : above;
    case CPixels_blend_lighten: return below > above ? below : above;
    case CPixels_blend_color_dodge: return below <= 0 ? 0 : (above >= 1 ? 1 : fminf(1, below / (1 - above)));
    case CPixels_blend_color_burn: return below >= 1 ? 1 : (above <= 0 ? 0 : 1 - fminf(1, (1 - below) / above));
    case CPixels_blend_hard_light: return hard_light(below, above);
    case CPixels_blend_soft_light: return soft_light(below, above);
    case CPixels_blend_difference: return fabsf(below - above);
    case CPixels_blend_exclusion: return below + above - 2 * below * above;
    default: return above;
    }
}

/// Blends a pixel of red, green, blue and alpha onto one of `bands`.
static void blend_pixel(int mode, const uint8_t *above, float share, uint8_t *pixel, int bands)
{
    float alpha = (float) above[3] / 255 * share, own = bands == 4 ? (float) pixel[3] / 255 : 1, all, mixed[3];
    int band;
    if (mode == CPixels_blend_mask || mode == CPixels_blend_mask_out) {
        if (bands == 4)
            pixel[3] = in_eight_bits(own * (mode == CPixels_blend_mask ? alpha : 1 - alpha) * 255);
        return;
    }
    if (alpha <= 0)
        return;
    all = mode == CPixels_blend_add ? fminf(1, alpha + own) : alpha + own * (1 - alpha);
    for (band = 0; band < 3; band++) {
        float below = (float) pixel[band] / 255, color = (float) above[band] / 255;
        mixed[band] = mode == CPixels_blend_add
            ? fminf(all, alpha * color + own * below)
            : alpha * (1 - own) * color + alpha * own * blended(mode, below, color) + (1 - alpha) * own * below;
    }
    for (band = 0; band < 3; band++)
        pixel[band] = in_eight_bits(mixed[band] / all * 255);
    if (bands == 4)
        pixel[3] = in_eight_bits(all * 255);
}

/// Reads a pixel of a stamp as red, green, blue and alpha.
static void take(const CPixelsBlend *blend, int x, int y, uint8_t *pixel)
{
    const uint8_t *from;
    if (!blend->stamp) {
        memcpy(pixel, blend->color, 4);
        return;
    }
    from = blend->stamp + ((size_t) y * (size_t) blend->width + (size_t) x) * (size_t) blend->bands;
    if (blend->bands == 4) {
        memcpy(pixel, from, 4);
    } else {
        pixel[0] = pixel[1] = pixel[2] = from[0];
        pixel[3] = from[1];
    }
}

/// Blends a row of one copy of the stamp, whose left edge is at `left`.
static void lay_row(const CPixelsBlend *blend, int left, int row, uint8_t *pixels, int width, int bands)
{
    int first = left < 0 ? -left : 0, end = blend->width < width - left ? blend->width : width - left, x;
    uint8_t above[4];
    for (x = first; x < end; x++) {
        take(blend, x, row, above);
        blend_pixel(blend->mode, above, blend->opacity, pixels + (size_t) (left + x) * (size_t) bands, bands);
    }
}

int CPixels_blend(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    static const uint8_t nothing[4] = {0, 0, 0, 0};
    const CPixelsBlend *blend = settings;
    int x, y, i, j;
    for (y = 0; y < in->height; y++) {
        uint8_t *row = row_of(out, y);
        if (is_ended(watch, y))
            return -1;
        memcpy(row, row_of(in, y), (size_t) in->width * (size_t) in->bands);
        for (j = 0; j < blend->down; j++) {
            int inside = y - blend->top - j * blend->pitch_y;
            if (inside < 0 || inside >= blend->height)
                continue;
            for (i = 0; i < blend->across; i++)
                lay_row(blend, blend->left + i * blend->pitch_x, inside, row, in->width, in->bands);
        }
        // A mask clears the area that it does not cover.
        if (blend->mode == CPixels_blend_mask)
            for (x = 0; x < in->width; x++)
                if (y < blend->top || y >= blend->top + blend->height || x < blend->left || x >= blend->left + blend->width)
                    blend_pixel(blend->mode, nothing, 1, row + (size_t) x * (size_t) in->bands, in->bands);
    }
    return 0;
}
