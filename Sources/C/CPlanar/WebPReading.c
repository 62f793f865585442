#include "CPlanar.h"

#include <string.h>

#include <webp/decode.h>

/// Bytes between two calls of `should_stop`: work of about 10 ms.
enum { portion = 64 << 10 };

int CPlanar_webp_is_planar(const void *bytes, size_t count)
{
    enum { lossy = 1 };
    WebPBitstreamFeatures features;
    return WebPGetFeatures(bytes, count, &features) == VP8_STATUS_OK && features.format == lossy && !features.has_alpha
        && !features.has_animation;
}

/// Passes the file to the decoder in portions.
static CPlanarStatus feed(WebPIDecoder *decoder, const uint8_t *bytes, size_t count, CPixelsWatch watch)
{
    size_t given = 0;
    VP8StatusCode status = VP8_STATUS_SUSPENDED;
    while (status == VP8_STATUS_SUSPENDED && given < count) {
        if (watch.should_stop(watch.context))
            return CPlanarStopped;
        given = count - given > portion ? given + portion : count;
        status = WebPIUpdate(decoder, bytes, given);
    }
    if (status == VP8_STATUS_SUSPENDED || status == VP8_STATUS_NOT_ENOUGH_DATA)
        return CPlanarTruncated;
    return status == VP8_STATUS_OK ? CPlanarDone : CPlanarFailed;
}

/// Sets all samples to limited-range gray: missing samples stay gray.
static void make_gray(const CPlanarPlanes *planes)
{
    int index;
    for (index = 0; index < planes->count; index++)
        memset(planes->planes[index].samples, index == 0 ? 126 : 128,
            planes->planes[index].stride * (size_t) planes->planes[index].height);
}

CPlanarStatus CPlanar_webp_decode(
    const void *bytes, size_t count, const CPlanarPlanes *planes, int is_scaled, CPixelsWatch watch)
{
    WebPDecoderConfig config;
    WebPIDecoder *decoder;
    CPlanarStatus status;
    const CPlanarPlane *plane = planes->planes;
    if (!WebPInitDecoderConfig(&config))
        return CPlanarFailed;
    config.options.use_scaling = is_scaled;
    config.options.scaled_width = plane[0].width;
    config.options.scaled_height = plane[0].height;
    config.output.colorspace = MODE_YUV;
    config.output.is_external_memory = 1;
    config.output.u.YUVA.y = plane[0].samples;
    config.output.u.YUVA.y_stride = (int) plane[0].stride;
    config.output.u.YUVA.y_size = plane[0].stride * (size_t) plane[0].height;
    config.output.u.YUVA.u = plane[1].samples;
    config.output.u.YUVA.u_stride = (int) plane[1].stride;
    config.output.u.YUVA.u_size = plane[1].stride * (size_t) plane[1].height;
    config.output.u.YUVA.v = plane[2].samples;
    config.output.u.YUVA.v_stride = (int) plane[2].stride;
    config.output.u.YUVA.v_size = plane[2].stride * (size_t) plane[2].height;
    make_gray(planes);
    decoder = WebPIDecode(NULL, 0, &config);
    if (!decoder)
        return CPlanarFailed;
    status = feed(decoder, bytes, count, watch);
    WebPIDelete(decoder);
    WebPFreeDecBuffer(&config.output);
    return status;
}
