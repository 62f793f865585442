#ifndef Decoders_H
#define Decoders_H

#include "CCodedImages.h"

typedef struct AV1Decoder AV1Decoder;

AV1Decoder *AV1_open(unsigned max_pixels, int point, int skips_filters);
CCodedImagesStatus AV1_push(AV1Decoder *decoder, const void *bytes, size_t count);
CCodedImagesStatus AV1_take(AV1Decoder *decoder, CCodedImagesFrame *frame);
void AV1_close(AV1Decoder *decoder);

typedef struct HEVCDecoder HEVCDecoder;

HEVCDecoder *HEVC_open(unsigned max_pixels, int skips_filters);
CCodedImagesStatus HEVC_push(HEVCDecoder *decoder, const void *bytes, size_t count);
CCodedImagesStatus HEVC_take(HEVCDecoder *decoder, CCodedImagesFrame *frame);
void HEVC_close(HEVCDecoder *decoder);

#endif
