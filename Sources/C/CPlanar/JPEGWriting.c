#include "CPlanar.h"

#include <stdio.h>
#include <stdlib.h>

#include "Colors.h"

static CPlanarStatus no_memory(char text[CPlanar_text_size])
{
    snprintf(text, CPlanar_text_size, "no memory for the JPEG encoder");
    return CPlanarFailed;
}

CPlanarStatus CPlanar_write_jpeg(
    const CPlanarPlanes *planes, CPlanarJPEGSettings settings, CPixelsWatch watch, void **bytes, size_t *count,
    char text[CPlanar_text_size])
{
    const CPlanarPlane *luma = &planes->planes[0];
    if (luma->width > settings.max_side || luma->height > settings.max_side) {
        snprintf(text, CPlanar_text_size, "a side above %d pixels", settings.max_side);
        return CPlanarFailed;
    }
    CJPEGRequest request = {.count = planes->count,
        .quality = settings.quality,
        .scans = settings.scans,
        .watch = watch};
    for (int index = 0; index < planes->count; index++) {
        const CPlanarPlane *plane = &planes->planes[index];
        request.planes[index] = (CJPEGPlane) {plane->samples, plane->stride, plane->width, plane->height};
    }
    switch (CJPEG_write(&request, bytes, count)) {
    case CJPEGDone: return CPlanarDone;
    case CJPEGStopped: return CPlanarStopped;
    default: return no_memory(text);
    }
}

CPlanarStatus CPlanar_write_jpeg_pixels(
    const CPlanarPixels *pixels, CPlanarJPEGSettings settings, CPixelsWatch watch, void **bytes,
    size_t *count, char text[CPlanar_text_size])
{
    size_t width = (size_t) pixels->width, height = (size_t) pixels->height;
    int step = settings.has_full_chroma ? 1 : 2;
    int across = (pixels->width + step - 1) / step, down = (pixels->height + step - 1) / step;
    size_t chroma = (size_t) across * (size_t) down;
    if (pixels->bands == 1) {
        // Only read.
        CPlanarPlanes gray = {.planes = {{(uint8_t *) pixels->samples, width, pixels->width, pixels->height}}, .count = 1};
        return CPlanar_write_jpeg(&gray, settings, watch, bytes, count, text);
    }
    uint8_t *samples = malloc(width * height + 2 * chroma);
    uint16_t *sums = malloc(3 * (size_t) across * sizeof *sums);
    CPlanarStatus status = CPlanarDone;
    if (samples && sums) {
        CPlanarColorTarget target = {
            .planes = {{samples, width, pixels->width, pixels->height}, {samples + width * height, (size_t) across, across, down},
                {samples + width * height + chroma, (size_t) across, across, down}},
            .step = step};
        CPlanarPlanes planes = {.planes = {target.planes[0], target.planes[1], target.planes[2]}, .count = 3};
        if (step == 2 && settings.has_sharp_chroma) {
            CPixelsFrame frame = {(uint8_t *) pixels->samples, 3 * width, pixels->width, pixels->height, 3};
            CPixelsPlanes sharp = {.samples = {target.planes[0].samples, target.planes[1].samples, target.planes[2].samples},
                .strides = {width, (size_t) across},
                .width = pixels->width,
                .height = pixels->height,
                .step = 2};
            switch (CPixels_sharpen_chroma(&frame, &sharp, watch)) {
            case CPixelsSharpeningDone: break;
            case CPixelsSharpeningStopped: status = CPlanarStopped; break;
            default: status = no_memory(text);
            }
        } else
            for (int row = 0; row < pixels->height; row++)
                CPlanar_planes_of_row(pixels->samples + 3 * (size_t) row * width, &target, row, sums);
        if (status == CPlanarDone)
            status = CPlanar_write_jpeg(&planes, settings, watch, bytes, count, text);
    } else
        status = no_memory(text);
    free(samples);
    free(sums);
    return status;
}
