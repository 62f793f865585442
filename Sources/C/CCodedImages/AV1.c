#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dav1d/dav1d.h>

#include "Decoders.h"

struct AV1Decoder {
    Dav1dContext *context;
    Dav1dPicture picture;
};

AV1Decoder *AV1_open(unsigned max_pixels, int point, int skips_filters)
{
    Dav1dSettings settings;
    AV1Decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    dav1d_default_settings(&settings);
    // A worker process has one core.
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.operating_point = point;
    settings.all_layers = 0;
    settings.frame_size_limit = max_pixels;
    settings.logger.callback = NULL;
    if (skips_filters)
        settings.inloop_filters = DAV1D_INLOOPFILTER_NONE;
    if (dav1d_open(&decoder->context, &settings) == 0)
        return decoder;
    free(decoder);
    return NULL;
}

CCodedImagesStatus AV1_push(AV1Decoder *decoder, const void *bytes, size_t count)
{
    Dav1dData data = {0};
    uint8_t *copy = count ? dav1d_data_create(&data, count) : NULL;
    int result;
    if (!copy)
        return CCodedImagesFailed;
    memcpy(copy, bytes, count);
    result = dav1d_send_data(decoder->context, &data);
    dav1d_data_unref(&data);
    return result == 0 ? CCodedImagesDone : CCodedImagesFailed;
}

CCodedImagesStatus AV1_take(AV1Decoder *decoder, CCodedImagesFrame *frame)
{
    const Dav1dPicture *picture = &decoder->picture;
    int result, index;
    dav1d_picture_unref(&decoder->picture);
    result = dav1d_get_picture(decoder->context, &decoder->picture);
    if (result != 0)
        return result == DAV1D_ERR(EAGAIN) ? CCodedImagesNoFrame : CCodedImagesFailed;
    frame->count = picture->p.layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3;
    frame->across = picture->p.layout == DAV1D_PIXEL_LAYOUT_I420 || picture->p.layout == DAV1D_PIXEL_LAYOUT_I422 ? 2 : 1;
    frame->down = picture->p.layout == DAV1D_PIXEL_LAYOUT_I420 ? 2 : 1;
    frame->bits = picture->p.bpc;
    frame->is_full_range = picture->seq_hdr->color_range;
    frame->matrix = picture->seq_hdr->mtrx;
    for (index = 0; index < frame->count; index++) {
        int across = index ? frame->across : 1, down = index ? frame->down : 1;
        frame->planes[index] = (CCodedImagesPlane) {
            picture->data[index], picture->stride[index ? 1 : 0], (picture->p.w + across - 1) / across, (picture->p.h + down - 1) / down};
    }
    return CCodedImagesDone;
}

void AV1_close(AV1Decoder *decoder)
{
    dav1d_picture_unref(&decoder->picture);
    dav1d_close(&decoder->context);
    free(decoder);
}

const char *CCodedImages_av1_version(void)
{
    return dav1d_version();
}
