#include "CPlanarShim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>

/// A file in memory that `free` releases.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    CPlanarShimWatch watch;
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

static int go_on(int percent, const WebPPicture *picture)
{
    const File *file = picture->custom_ptr;
    (void) percent;
    return !file->watch.should_stop(file->watch.context);
}

CPlanarShimStatus CPlanarShim_write_webp(
    const CPlanarShimPlanes *planes, int quality, int effort, CPlanarShimWatch watch, void **bytes, size_t *count,
    char text[CPlanarShim_text_size])
{
    WebPConfig config;
    WebPPicture picture;
    File file = {NULL, 0, 0, watch};
    if (!WebPConfigInit(&config) || !WebPPictureInit(&picture)) {
        snprintf(text, CPlanarShim_text_size, "libwebp of another version");
        return CPlanarShimFailed;
    }
    config.quality = (float) quality;
    config.method = effort;
    picture.use_argb = 0;
    picture.width = planes->planes[0].width;
    picture.height = planes->planes[0].height;
    // libwebp does not take ownership, and overwrites only what is transparent.
    picture.y = planes->planes[0].samples;
    picture.u = planes->planes[1].samples;
    picture.v = planes->planes[2].samples;
    picture.y_stride = (int) planes->planes[0].stride;
    picture.uv_stride = (int) planes->planes[1].stride;
    if (planes->planes[3].samples) {
        picture.colorspace = WEBP_YUV420A;
        picture.a = planes->planes[3].samples;
        picture.a_stride = (int) planes->planes[3].stride;
        // A few shapes: filters would be tried for nothing.
        config.alpha_filtering = 0;
    }
    picture.writer = append;
    picture.progress_hook = go_on;
    picture.custom_ptr = &file;
    if (!WebPEncode(&config, &picture)) {
        int error = picture.error_code;
        WebPPictureFree(&picture);
        free(file.bytes);
        snprintf(text, CPlanarShim_text_size, "libwebp error %d", error);
        return error == VP8_ENC_ERROR_USER_ABORT ? CPlanarShimStopped : CPlanarShimFailed;
    }
    WebPPictureFree(&picture);
    *bytes = file.bytes;
    *count = file.count;
    return CPlanarShimDone;
}
