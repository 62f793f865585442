#include "CVipsShim.h"
#include "LateVips.h"

// Means of boxes of pixels.

/// Maximum factor.
enum { max_rows = 64 };

static int average_rows(VipsImage *in, VipsImage *out, int factor, int (*should_stop)(void *context), void *context)
{
    VipsRegion *region = vips_region_new(in);
    VipsPel *row = g_malloc((gsize) out->Xsize * (gsize) out->Bands);
    const uint8_t *rows[max_rows];
    CPixelsBoxes boxes = {rows, 0, in->Xsize, in->Bands, factor, vips_image_hasalpha(in)};
    int y, failed = 0;
    for (y = 0; y < out->Ysize && !failed; y++) {
        VipsRect rect = {0, y * factor, in->Xsize, VIPS_MIN(factor, in->Ysize - y * factor)};
        failed = should_stop(context) || vips_region_prepare(region, &rect);
        if (failed)
            break;
        for (boxes.count = 0; boxes.count < rect.height; boxes.count++)
            rows[boxes.count] = VIPS_REGION_ADDR(region, 0, rect.top + boxes.count);
        CPixels_average(&boxes, row);
        failed = vips_image_write_line(out, y, row);
    }
    g_free(row);
    g_object_unref(region);
    return failed ? -1 : 0;
}

int CVipsShim_average(
    VipsImage *in, VipsImage **out, int factor, int (*should_stop)(void *context), void *context)
{
    VipsImage *image;
    *out = NULL;
    if (in->BandFmt != VIPS_FORMAT_UCHAR || in->Coding != VIPS_CODING_NONE || in->Bands > 4 || factor > max_rows) {
        vips_error("CVipsShim_average", "not one to four bands of 8 bits");
        return -1;
    }
    image = vips_image_new_memory();
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)) {
        g_object_unref(image);
        return -1;
    }
    image->Xsize = (in->Xsize + factor - 1) / factor;
    image->Ysize = (in->Ysize + factor - 1) / factor;
    if (average_rows(in, image, factor, should_stop, context)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}
