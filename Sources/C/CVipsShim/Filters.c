#include "CVipsShim.h"

#include <string.h>

/// The frame of an image's region.
static CPixelsFrame frame_of(VipsRegion *region)
{
    return (CPixelsFrame) {
        VIPS_REGION_ADDR(region, 0, 0), VIPS_REGION_LSKIP(region), region->im->Xsize, region->im->Ysize, region->im->Bands};
}

/// What one computation of an image keeps: the frame, or NULL before its first row and after its last one.
typedef struct {
    VipsImage *in;
    VipsPel *pixels;
} Sequence;

static void *start(VipsImage *out, void *a, void *b)
{
    Sequence *sequence = g_new0(Sequence, 1);
    (void) out, (void) b;
    sequence->in = a;
    return sequence;
}

static int stop(void *data, void *a, void *b)
{
    Sequence *sequence = data;
    (void) a, (void) b;
    g_free(sequence->pixels);
    g_free(sequence);
    return 0;
}

static int compute(Sequence *sequence, VipsImage *out, const CVipsShimFilter *filter)
{
    VipsRegion *region = vips_region_new(sequence->in);
    VipsRect all = {0, 0, sequence->in->Xsize, sequence->in->Ysize};
    VipsPel *pixels = g_try_malloc((gsize) VIPS_IMAGE_SIZEOF_LINE(out) * (gsize) out->Ysize);
    int failed = !pixels || vips_region_prepare(region, &all);
    if (!failed) {
        CPixelsFrame in = frame_of(region);
        CPixelsFrame result = {pixels, VIPS_IMAGE_SIZEOF_LINE(out), out->Xsize, out->Ysize, out->Bands};
        failed = filter->apply(filter->settings, &in, &result, filter->watch);
    }
    g_object_unref(region);
    if (failed) {
        vips_error("CVipsShim_filter", "no memory, or stopped");
        g_free(pixels);
        return -1;
    }
    sequence->pixels = pixels;
    return 0;
}

static int generate(VipsRegion *region, void *data, void *a, void *b, gboolean *is_done)
{
    Sequence *sequence = data;
    VipsRect part = region->valid;
    size_t row = VIPS_IMAGE_SIZEOF_LINE(region->im), pixel = VIPS_IMAGE_SIZEOF_PEL(region->im);
    int y;
    (void) a, (void) is_done;
    if (!sequence->pixels && compute(sequence, region->im, b))
        return -1;
    for (y = part.top; y < part.top + part.height; y++)
        memcpy(VIPS_REGION_ADDR(region, part.left, y), sequence->pixels + (size_t) y * row + (size_t) part.left * pixel,
            (size_t) part.width * pixel);
    if (part.left + part.width == region->im->Xsize && part.top + part.height == region->im->Ysize) {
        g_free(sequence->pixels);
        sequence->pixels = NULL;
    }
    return 0;
}

int CVipsShim_filter(VipsImage *in, VipsImage **out, CVipsShimFilter filter)
{
    VipsImage *image;
    CVipsShimFilter *kept;
    void *settings;
    *out = NULL;
    if (in->BandFmt != VIPS_FORMAT_UCHAR || in->Coding != VIPS_CODING_NONE || in->Bands > 4) {
        vips_error("CVipsShim_filter", "not one to four bands of 8 bits");
        return -1;
    }
    image = vips_image_new();
    // Both live as long as the image.
    kept = VIPS_NEW(image, CVipsShimFilter);
    settings = VIPS_ARRAY(image, filter.settings_size, char);
    if (!kept || !settings || vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)) {
        g_object_unref(image);
        return -1;
    }
    memcpy(settings, filter.settings, filter.settings_size);
    *kept = filter;
    kept->settings = settings;
    image->Xsize = filter.width;
    image->Ysize = filter.height;
    image->Bands = filter.bands;
    g_object_ref(in);
    vips_object_local(image, in);
    if (vips_image_generate(image, start, generate, stop, in, kept)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}
