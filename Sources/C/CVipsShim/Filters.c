#include "CVipsShim.h"
#include "LateVips.h"

#include <string.h>

/// The state of one computation of an image: the frame, or NULL before its first row and after its last one.
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

static gsize byte_count(VipsImage *image)
{
    return (gsize) VIPS_IMAGE_SIZEOF_LINE(image) * (gsize) image->Ysize;
}

/// Reads the frame `in`, and returns the allocated memory: none if its pixels are in memory already.
///
/// Other frames are computed in strips. If the whole frame were requested at once, each operation before this one would
/// compute all of it, possibly in floating point.
static int read_frame(VipsImage *in, CPixelsFrame *frame, VipsPel **made, CPixelsWatch watch)
{
    VipsPel *pixels = in->dtype == VIPS_IMAGE_SETBUF || in->dtype == VIPS_IMAGE_SETBUF_FOREIGN ? in->data : NULL;
    if (!pixels) {
        pixels = *made = g_try_malloc(byte_count(in));
        if (!pixels || CVipsShim_compute(in, pixels, watch.should_stop, watch.context))
            return -1;
    }
    *frame = (CPixelsFrame) {pixels, VIPS_IMAGE_SIZEOF_LINE(in), in->Xsize, in->Ysize, in->Bands};
    return 0;
}

static int compute(Sequence *sequence, VipsImage *out, const CVipsShimFilter *filter)
{
    CPixelsFrame in;
    VipsPel *made = NULL, *pixels = NULL;
    int failed = read_frame(sequence->in, &in, &made, filter->watch);
    if (!failed) {
        pixels = g_try_malloc(byte_count(out));
        CPixelsFrame result = {pixels, VIPS_IMAGE_SIZEOF_LINE(out), out->Xsize, out->Ysize, out->Bands};
        failed = !pixels || filter->apply(filter->settings, &in, &result, filter->watch);
    }
    g_free(made);
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
    if (in->BandFmt != (filter.takes_words ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR) || in->Coding != VIPS_CODING_NONE || in->Bands > 4) {
        vips_error("CVipsShim_filter", "not one to four bands of as many bits as the operation takes");
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
    if (filter.takes_words) {
        image->BandFmt = VIPS_FORMAT_UCHAR;
        image->Type = filter.bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    }
    g_object_ref(in);
    vips_object_local(image, in);
    if (vips_image_generate(image, start, generate, stop, in, kept)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}
