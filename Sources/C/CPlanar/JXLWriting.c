#include "CPlanar.h"

#include <stdio.h>
#include <stdlib.h>

#include <jxl/encode.h>

/// Takes the encoder's output; returns 0 if memory ran out, or libjxl failed.
static int take_output(JxlEncoder *encoder, size_t capacity, void **bytes, size_t *count)
{
    uint8_t *output = NULL;
    JxlEncoderStatus status = JXL_ENC_NEED_MORE_OUTPUT;
    *count = 0;
    while (status == JXL_ENC_NEED_MORE_OUTPUT) {
        uint8_t *larger = realloc(output, capacity), *next;
        size_t left;
        if (!larger)
            break;
        output = larger;
        next = output + *count;
        left = capacity - *count;
        status = JxlEncoderProcessOutput(encoder, &next, &left);
        *count = (size_t) (next - output);
        capacity *= 2;
    }
    if (status == JXL_ENC_SUCCESS) {
        *bytes = output;
        return 1;
    }
    free(output);
    return 0;
}

CPlanarStatus CPlanar_jxl_of_jpeg(
    const void *jpeg, size_t jpeg_count, void **bytes, size_t *count, char text[CPlanar_text_size])
{
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    // Nothing to rebuild the file, only its pixels.
    JxlEncoderFrameSettings *settings = encoder ? JxlEncoderFrameSettingsCreate(encoder, NULL) : NULL;
    int is_done = settings && JxlEncoderStoreJPEGMetadata(encoder, JXL_FALSE) == JXL_ENC_SUCCESS
        && JxlEncoderAddJPEGFrame(settings, jpeg, jpeg_count) == JXL_ENC_SUCCESS;
    if (is_done) {
        JxlEncoderCloseInput(encoder);
        is_done = take_output(encoder, jpeg_count + 4096, bytes, count);
    }
    if (encoder)
        JxlEncoderDestroy(encoder);
    if (is_done)
        return CPlanarDone;
    snprintf(text, CPlanar_text_size, "libjxl does not accept a JPEG");
    return CPlanarFailed;
}
