#include <limits.h>
#include <stdlib.h>

#include <libde265/de265.h>

#include "Decoders.h"

struct HEVCDecoder {
    de265_decoder_context *context;
    const struct de265_image_allocation *usual;
    unsigned max_pixels;
    int is_flushed;
};

/// Allocates memory for a frame, unless it is larger than the file's items.
static int get_buffer(
    de265_decoder_context *context, struct de265_image_spec *specification, struct de265_image *image, void *user)
{
    const HEVCDecoder *decoder = user;
    unsigned long long pixels = (unsigned long long) specification->width * (unsigned long long) specification->height;
    unsigned long long most = decoder->max_pixels;
    if (specification->width <= 0 || specification->height <= 0 || pixels > most)
        return 0;
    return decoder->usual->get_buffer(context, specification, image, NULL);
}

static void release_buffer(de265_decoder_context *context, struct de265_image *image, void *user)
{
    const HEVCDecoder *decoder = user;
    decoder->usual->release_buffer(context, image, NULL);
}

HEVCDecoder *HEVC_open(unsigned max_pixels, int skips_filters)
{
    struct de265_image_allocation allocation = {get_buffer, release_buffer};
    HEVCDecoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->max_pixels = max_pixels;
    decoder->usual = de265_get_default_image_allocation_functions();
    decoder->context = de265_new_decoder();
    if (!decoder->context) {
        free(decoder);
        return NULL;
    }
    de265_set_image_allocation_functions(decoder->context, &allocation, decoder);
    de265_set_parameter_bool(decoder->context, DE265_DECODER_PARAM_DISABLE_DEBLOCKING, skips_filters);
    de265_set_parameter_bool(decoder->context, DE265_DECODER_PARAM_DISABLE_SAO, skips_filters);
    return decoder;
}

CCodedImagesStatus HEVC_push(HEVCDecoder *decoder, const void *bytes, size_t count)
{
    return count <= INT_MAX && de265_isOK(de265_push_NAL(decoder->context, bytes, (int) count, 0, NULL)) ? CCodedImagesDone
                                                                                                         : CCodedImagesFailed;
}

/// Returns whether the frame is undamaged; warnings report damage.
static int is_sound(HEVCDecoder *decoder)
{
    return de265_get_warning(decoder->context) == DE265_OK;
}

CCodedImagesStatus HEVC_take(HEVCDecoder *decoder, CCodedImagesFrame *frame)
{
    const struct de265_image *image = NULL;
    enum de265_chroma chroma;
    int more = 1, index;
    if (!decoder->is_flushed && !de265_isOK(de265_flush_data(decoder->context)))
        return CCodedImagesFailed;
    decoder->is_flushed = 1;
    while (!(image = de265_get_next_picture(decoder->context)) && more) {
        if (!de265_isOK(de265_decode(decoder->context, &more)))
            return CCodedImagesFailed;
    }
    if (!image)
        return CCodedImagesNoFrame;
    if (!is_sound(decoder))
        return CCodedImagesFailed;
    chroma = de265_get_chroma_format(image);
    frame->count = chroma == de265_chroma_mono ? 1 : 3;
    frame->across = chroma == de265_chroma_420 || chroma == de265_chroma_422 ? 2 : 1;
    frame->down = chroma == de265_chroma_420 ? 2 : 1;
    frame->bits = de265_get_bits_per_pixel(image, 0);
    frame->is_full_range = de265_get_image_full_range_flag(image);
    frame->matrix = de265_get_image_matrix_coefficients(image);
    for (index = 0; index < frame->count; index++) {
        int stride = 0;
        const uint8_t *samples = de265_get_image_plane(image, index, &stride);
        if (!samples || de265_get_bits_per_pixel(image, index) != frame->bits)
            return CCodedImagesFailed;
        frame->planes[index] = (CCodedImagesPlane) {
            samples, stride, de265_get_image_width(image, index), de265_get_image_height(image, index)};
    }
    return CCodedImagesDone;
}

void HEVC_close(HEVCDecoder *decoder)
{
    de265_free_decoder(decoder->context);
    free(decoder);
}

const char *CCodedImages_hevc_version(void)
{
    return de265_get_version();
}
