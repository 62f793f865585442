#include "CCodedImages.h"

#include <stdlib.h>

#include "Decoders.h"

struct CCodedImagesDecoder {
    AV1Decoder *av1;
    HEVCDecoder *hevc;
};

CCodedImagesDecoder *CCodedImages_open(CCodedImagesCoding coding, unsigned max_pixels, int point, int skips_filters)
{
    CCodedImagesDecoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    if (coding == CCodedImagesAV1)
        decoder->av1 = AV1_open(max_pixels, point, skips_filters);
    else
        decoder->hevc = HEVC_open(max_pixels, skips_filters);
    if (decoder->av1 || decoder->hevc)
        return decoder;
    free(decoder);
    return NULL;
}

CCodedImagesStatus CCodedImages_push(CCodedImagesDecoder *decoder, const void *bytes, size_t count)
{
    return decoder->av1 ? AV1_push(decoder->av1, bytes, count) : HEVC_push(decoder->hevc, bytes, count);
}

CCodedImagesStatus CCodedImages_take(CCodedImagesDecoder *decoder, CCodedImagesFrame *frame)
{
    CCodedImagesStatus status = decoder->av1 ? AV1_take(decoder->av1, frame) : HEVC_take(decoder->hevc, frame);
    if (status != CCodedImagesDone)
        return status;
    return frame->bits >= 8 && frame->bits <= 12 ? CCodedImagesDone : CCodedImagesFailed;
}

void CCodedImages_close(CCodedImagesDecoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->av1)
        AV1_close(decoder->av1);
    if (decoder->hevc)
        HEVC_close(decoder->hevc);
    free(decoder);
}
