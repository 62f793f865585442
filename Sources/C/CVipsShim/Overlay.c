#include "CVipsShim.h"
#include "LateVips.h"

// Opacity in percent times an 8-bit alpha: the alpha of the stamp's pixels in this unit is exact.
enum { full = 100 * 255 };

/// Blends pixels of a stamp onto pixels of an image. The numbers of bands are compile-time constants.
static inline __attribute__((always_inline)) void blend(
    VipsPel *pixel, const VipsPel *stamp, int count, unsigned opacity, const int colors, const gboolean has_alpha,
    const int stamp_colors)
{
    int index, band;
    for (index = 0; index < count; index++, pixel += colors + (has_alpha ? 1 : 0), stamp += stamp_colors + 1) {
        unsigned above = stamp[stamp_colors] * opacity, below = full - above;
        if (above == 0)
            continue;
        if (has_alpha) {
            // The alpha of the result, times 255 · 25500; all products are below 2³¹.
            unsigned alpha = above * 255 + below * pixel[colors];
            for (band = 0; band < colors; band++) {
                unsigned over = stamp[stamp_colors == 1 ? 0 : band] * (above * 255);
                unsigned under = pixel[band] * (below * pixel[colors]);
                pixel[band] = (VipsPel) ((over + under + alpha / 2) / alpha);
            }
            pixel[colors] = (VipsPel) ((alpha + full / 2) / full);
        } else {
            for (band = 0; band < colors; band++) {
                unsigned sum = stamp[stamp_colors == 1 ? 0 : band] * above + pixel[band] * below;
                pixel[band] = (VipsPel) ((sum + full / 2) / full);
            }
        }
    }
}

static void blend_bands(
    VipsPel *pixel, int bands, const VipsPel *stamp, int stamp_bands, int count, unsigned opacity)
{
    switch (bands * 10 + stamp_bands) {
    case 12: blend(pixel, stamp, count, opacity, 1, FALSE, 1); break;
    case 22: blend(pixel, stamp, count, opacity, 1, TRUE, 1); break;
    case 32: blend(pixel, stamp, count, opacity, 3, FALSE, 1); break;
    case 42: blend(pixel, stamp, count, opacity, 3, TRUE, 1); break;
    case 34: blend(pixel, stamp, count, opacity, 3, FALSE, 3); break;
    case 44: blend(pixel, stamp, count, opacity, 3, TRUE, 3); break;
    }
}

/// Blends the stamp onto one row; `pixel` is the first covered pixel and `x`, `y` its position in the covered area.
static void blend_row(VipsPel *pixel, int bands, const CVipsShimOverlay *overlay, int x, int y, int count)
{
    const VipsPel *row = overlay->stamp + (size_t) (y % overlay->height) * overlay->width * overlay->bands;
    int column = x % overlay->width;
    while (count > 0) {
        int length = VIPS_MIN(count, overlay->width - column);
        blend_bands(
            pixel, bands, row + (size_t) column * overlay->bands, overlay->bands, length, (unsigned) overlay->opacity);
        pixel += (size_t) length * bands;
        count -= length;
        column = 0;
    }
}

static int generate(VipsRegion *out, void *sequence, void *image, void *data, gboolean *stop)
{
    VipsRegion *in = sequence;
    const CVipsShimOverlay *overlay = data;
    VipsRect area = {overlay->left, overlay->top, overlay->covered_width, overlay->covered_height};
    VipsRect covered;
    int y;
    (void) image, (void) stop;
    if (vips_region_prepare(in, &out->valid))
        return -1;
    vips_region_copy(in, out, &out->valid, out->valid.left, out->valid.top);
    vips_rect_intersectrect(&out->valid, &area, &covered);
    for (y = covered.top; y < covered.top + covered.height; y++)
        blend_row(
            VIPS_REGION_ADDR(out, covered.left, y), out->im->Bands, overlay, covered.left - area.left, y - area.top,
            covered.width);
    return 0;
}

int CVipsShim_overlay(VipsImage *in, VipsImage **out, CVipsShimOverlay overlay)
{
    VipsImage *image;
    CVipsShimOverlay *kept;
    *out = NULL;
    if (in->BandFmt != VIPS_FORMAT_UCHAR || in->Coding != VIPS_CODING_NONE || in->Bands > 4
        || (overlay.bands != 2 && overlay.bands != 4) || (overlay.bands == 4 && in->Bands < 3)) {
        vips_error("CVipsShim_overlay", "no bands that a stamp can be laid on");
        return -1;
    }
    image = vips_image_new();
    kept = VIPS_NEW(image, CVipsShimOverlay);
    *kept = overlay;
    // `image` keeps its own reference to the image below.
    g_object_ref(in);
    vips_object_local(image, in);
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)
        || vips_image_generate(image, vips_start_one, generate, vips_stop_one, in, kept)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}
