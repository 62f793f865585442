#include "CPlanar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>

/// A file in memory that `free` releases.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    CPixelsWatch watch;
} File;

static int append(const uint8_t *data, size_t count, const WebPPicture *picture)
{
    File *file = picture->custom_ptr;
    if (file->count + count > file->capacity) {
        size_t capacity = 2 * file->capacity + count;
        uint8_t *bytes = realloc(file->bytes, capacity);
        if (!bytes)
            return 0;
        file->bytes = bytes;
        file->capacity = capacity;
    }
    memcpy(file->bytes + file->count, data, count);
    file->count += count;
    return 1;
}

static int should_continue(int percent, const WebPPicture *picture)
{
    const File *file = picture->custom_ptr;
    (void) percent;
    return !file->watch.should_stop(file->watch.context);
}

/// Encodes an image whose samples have been set, and frees it.
static CPlanarStatus encode(
    WebPPicture *picture, const CPlanarWebPSettings *settings, int has_sharp_chroma, CPixelsWatch watch, void **bytes, size_t *count,
    char text[CPlanar_text_size])
{
    WebPConfig config;
    File file = {NULL, 0, 0, watch};
    int error = VP8_ENC_ERROR_INVALID_CONFIGURATION;
    if (WebPConfigInit(&config)) {
        config.quality = (float) settings->quality;
        config.method = settings->effort;
        if (settings->is_lossless) {
            config.lossless = 1;
            // How hard the encoder tries.
            config.quality = 75;
        }
        // The deblocking filter avoids sharp areas: 1 to 2 % fewer bytes at the same visual quality.
        config.filter_sharpness = 7;
        // Without sharp chroma, colored text and edges of drawings lose 10 to 20 points of SSIMULACRA2.
        config.use_sharp_yuv = has_sharp_chroma;
        // Resampled alpha has few shapes; trying filters on it would be wasted time.
        if (!picture->use_argb)
            config.alpha_filtering = 0;
        picture->writer = append;
        picture->progress_hook = should_continue;
        picture->custom_ptr = &file;
        error = WebPEncode(&config, picture) ? VP8_ENC_OK : picture->error_code;
    }
    WebPPictureFree(picture);
    if (error == VP8_ENC_OK) {
        *bytes = file.bytes;
        *count = file.count;
        return CPlanarDone;
    }
    free(file.bytes);
    snprintf(text, CPlanar_text_size, "libwebp error %d", error);
    return error == VP8_ENC_ERROR_USER_ABORT ? CPlanarStopped : CPlanarFailed;
}

/// Initializes an image without samples; fails if libwebp has another version.
static int begin(WebPPicture *picture, int width, int height, char text[CPlanar_text_size])
{
    snprintf(text, CPlanar_text_size, "libwebp of another version");
    if (!WebPPictureInit(picture))
        return 0;
    picture->width = width;
    picture->height = height;
    return 1;
}

CPlanarStatus CPlanar_write_webp(
    const CPlanarPlanes *planes, CPlanarWebPSettings settings, CPixelsWatch watch, void **bytes,
    size_t *count, char text[CPlanar_text_size])
{
    WebPPicture picture;
    if (!begin(&picture, planes->planes[0].width, planes->planes[0].height, text))
        return CPlanarFailed;
    // libwebp does not take ownership, and overwrites only transparent samples.
    picture.y = planes->planes[0].samples;
    picture.u = planes->planes[1].samples;
    picture.v = planes->planes[2].samples;
    picture.y_stride = (int) planes->planes[0].stride;
    picture.uv_stride = (int) planes->planes[1].stride;
    if (planes->planes[3].samples) {
        picture.colorspace = WEBP_YUV420A;
        picture.a = planes->planes[3].samples;
        picture.a_stride = (int) planes->planes[3].stride;
    }
    return encode(&picture, &settings, 0, watch, bytes, count, text);
}

/// Repeats gray in three components.
static uint8_t *colored(const CPlanarPixels *pixels)
{
    size_t count = (size_t) pixels->width * (size_t) pixels->height, index;
    int has_alpha = pixels->bands == 2, step = pixels->bands;
    uint8_t *colors = malloc(count * (size_t) (3 + has_alpha)), *to = colors;
    const uint8_t *from = pixels->samples;
    for (index = 0; colors && index < count; index++, from += step) {
        to[0] = to[1] = to[2] = from[0];
        to += 3;
        if (has_alpha)
            *to++ = from[1];
    }
    return colors;
}

/// Converts pixels to planes that look like them.
static CPixelsSharpening read_sharply(WebPPicture *picture, const CPlanarPixels *pixels, CPixelsWatch watch)
{
    CPixelsFrame frame = {(uint8_t *) pixels->samples, 3 * (size_t) pixels->width, pixels->width, pixels->height, 3};
    CPixelsPlanes planes = {.width = pixels->width, .height = pixels->height, .step = 2, .is_limited = 1};
    picture->colorspace = WEBP_YUV420;
    if (!WebPPictureAlloc(picture))
        return CPixelsSharpeningFailed;
    planes.samples[0] = picture->y;
    planes.samples[1] = picture->u;
    planes.samples[2] = picture->v;
    planes.strides[0] = (size_t) picture->y_stride;
    planes.strides[1] = (size_t) picture->uv_stride;
    return CPixels_sharpen_chroma(&frame, &planes, watch);
}

static int read_plainly(WebPPicture *picture, const CPlanarPixels *pixels)
{
    int has_alpha = pixels->bands % 2 == 0, stride = pixels->width * (3 + has_alpha), is_read;
    uint8_t *colors = pixels->bands < 3 ? colored(pixels) : NULL;
    const uint8_t *samples = pixels->bands < 3 ? colors : pixels->samples;
    picture->use_argb = 1;
    is_read = samples
        && (has_alpha ? WebPPictureImportRGBA(picture, samples, stride) : WebPPictureImportRGB(picture, samples, stride));
    free(colors);
    return is_read;
}

CPlanarStatus CPlanar_write_webp_pixels(
    const CPlanarPixels *pixels, int has_sharp_chroma, CPlanarWebPSettings settings, CPixelsWatch watch,
    void **bytes, size_t *count, char text[CPlanar_text_size])
{
    WebPPicture picture;
    // Gray has no edges between colors.
    int is_sharp = has_sharp_chroma && pixels->bands >= 3 && !settings.is_lossless, is_opaque = pixels->bands == 3;
    if (!begin(&picture, pixels->width, pixels->height, text))
        return CPlanarFailed;
    CPixelsSharpening outcome = is_sharp && is_opaque ? read_sharply(&picture, pixels, watch)
        : read_plainly(&picture, pixels)              ? CPixelsSharpeningDone
                                                      : CPixelsSharpeningFailed;
    if (outcome != CPixelsSharpeningDone) {
        WebPPictureFree(&picture);
        snprintf(text, CPlanar_text_size, "libwebp has no memory for the pixels");
        return outcome == CPixelsSharpeningStopped ? CPlanarStopped : CPlanarFailed;
    }
    return encode(&picture, &settings, is_sharp, watch, bytes, count, text);
}
