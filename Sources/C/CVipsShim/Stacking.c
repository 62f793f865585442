#include "CVipsShim.h"
#include "LateVips.h"

// libvips 8.14 has an operation for this, vips_arrayjoin, which frees the region that its result points into (fixed in
// 8.15.2). The next operation then reads freed memory. Here a region lives until its frame is done, and rows are
// copied.

/// VIPS_MAX_COORD, which is a function from libvips 8.16 on.
enum { longest_side = 10000000 };

/// The state of one thread: the region of its current frame.
typedef struct {
    VipsRegion *region;
    int frame;
} Place;

static void *start(VipsImage *out, void *a, void *b)
{
    (void) out, (void) a, (void) b;
    return g_new0(Place, 1);
}

static int stop(void *sequence, void *a, void *b)
{
    Place *place = sequence;
    (void) a, (void) b;
    VIPS_UNREF(place->region);
    g_free(place);
    return 0;
}

static int generate(VipsRegion *region, void *sequence, void *a, void *b, gboolean *is_done)
{
    VipsImage *const *frames = a;
    Place *place = sequence;
    VipsRect whole = region->valid;
    int height = frames[0]->Ysize, end = VIPS_RECT_BOTTOM(&whole), y = whole.top;
    (void) b, (void) is_done;
    while (y < end) {
        int frame = y / height, bottom = VIPS_MIN(end, (frame + 1) * height);
        VipsRect part = {whole.left, y - frame * height, whole.width, bottom - y};
        if (!place->region || place->frame != frame) {
            VIPS_UNREF(place->region);
            place->region = vips_region_new(frames[frame]);
            place->frame = frame;
        }
        if (!place->region || vips_region_prepare_to(place->region, region, &part, part.left, y))
            return -1;
        y = bottom;
    }
    return 0;
}

int CVipsShim_stack(VipsImage **in, VipsImage **out, int count)
{
    VipsImage *image, **frames;
    int i;
    *out = NULL;
    for (i = 1; i < count; i++)
        if (in[i]->Xsize != in[0]->Xsize || in[i]->Ysize != in[0]->Ysize || in[i]->Bands != in[0]->Bands
            || in[i]->BandFmt != in[0]->BandFmt) {
            vips_error("CVipsShim_stack", "frame %d is unlike the first one", i);
            return -1;
        }
    if (count < 1 || (gint64) in[0]->Ysize * count > longest_side) {
        vips_error("CVipsShim_stack", "%d frames", count);
        return -1;
    }
    image = vips_image_new();
    // The array is null-terminated; it and its references live as long as the image.
    frames = (VipsImage **) vips_object_local_array(VIPS_OBJECT(image), count + 1);
    for (i = 0; i < count; i++)
        frames[i] = g_object_ref(in[i]);
    if (vips_image_pipeline_array(image, VIPS_DEMAND_STYLE_THINSTRIP, frames)) {
        g_object_unref(image);
        return -1;
    }
    image->Ysize = in[0]->Ysize * count;
    if (vips_image_generate(image, start, generate, stop, frames, NULL)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}
