// As much of libvips as Averaging.c mentions, for frames in memory: so the kernel can be built for other processors.
#ifndef CVipsShim_H
#define CVipsShim_H

#include <stdint.h>
#include <stdlib.h>

typedef uint8_t VipsPel;
typedef int gboolean;
typedef size_t gsize;
typedef struct {
    int Xsize, Ysize, Bands, BandFmt, Coding;
    VipsPel *pixels;
} VipsImage;
typedef struct {
    VipsImage *im;
} VipsRegion;
typedef struct {
    int left, top, width, height;
} VipsRect;

enum { VIPS_FORMAT_UCHAR,
    VIPS_CODING_NONE = 0,
    VIPS_DEMAND_STYLE_THINSTRIP = 0 };

#define VIPS_MIN(A, B) ((A) < (B) ? (A) : (B))
#define VIPS_REGION_ADDR(R, X, Y) ((R)->im->pixels + ((size_t) (Y) * (size_t) (R)->im->Xsize + (size_t) (X)) * (size_t) (R)->im->Bands)
#define vips_error(WHERE, TEXT) ((void) 0)
#define g_malloc malloc
#define g_free free
#define g_object_unref free

static inline VipsRegion *vips_region_new(VipsImage *image)
{
    VipsRegion *region = malloc(sizeof *region);
    region->im = image;
    return region;
}

static inline int vips_region_prepare(VipsRegion *region, const VipsRect *rect)
{
    (void) region, (void) rect;
    return 0;
}

static inline int vips_image_hasalpha(const VipsImage *image)
{
    return image->Bands == 2 || image->Bands == 4;
}

static inline VipsImage *vips_image_new_memory(void)
{
    return calloc(1, sizeof(VipsImage));
}

static inline int vips_image_pipelinev(VipsImage *image, int style, const VipsImage *in, void *end)
{
    (void) style, (void) end;
    *image = *in;
    image->pixels = NULL;
    return 0;
}

/// Lines come in their order.
static inline int vips_image_write_line(VipsImage *image, int y, const VipsPel *line)
{
    size_t size = (size_t) image->Xsize * (size_t) image->Bands, x;
    image->pixels = realloc(image->pixels, size * (size_t) (y + 1));
    for (x = 0; x < size; x++)
        image->pixels[(size_t) y * size + x] = line[x];
    return 0;
}

int CVipsShim_average(VipsImage *in, VipsImage **out, int factor, int (*should_stop)(void *context), void *context);

#endif
