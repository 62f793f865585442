#include "CPlanar.h"

#include <stdio.h>
#include <stdlib.h>

#include <jxl/decode.h>
#include <jxl/version.h>

// The arguments that select a profile: libjxl 0.9 dropped the pixel format.
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
static const JxlPixelFormat profile_format = {3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
#define PROFILE(reader, target) (reader)->decoder, &profile_format, JXL_COLOR_PROFILE_TARGET_##target
#else
#define PROFILE(reader, target) (reader)->decoder, JXL_COLOR_PROFILE_TARGET_##target
#endif

struct CPlanarJXLReader {
    JxlDecoder *decoder;
    const uint8_t *bytes;
    size_t count;
    uint8_t *profile;
    size_t profile_size;
    int has_output;
    char text[CPlanar_text_size];
};

static CPlanarStatus fail(CPlanarJXLReader *reader, const char *text)
{
    snprintf(reader->text, sizeof reader->text, "%s", text);
    return CPlanarFailed;
}

CPlanarJXLReader *CPlanar_jxl_open(const void *bytes, size_t count)
{
    CPlanarJXLReader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->decoder = JxlDecoderCreate(NULL);
    if (reader->decoder
        && JxlDecoderSubscribeEvents(reader->decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FULL_IMAGE) == JXL_DEC_SUCCESS
        // The caller turns the image after it is reduced.
        && JxlDecoderSetKeepOrientation(reader->decoder, JXL_TRUE) == JXL_DEC_SUCCESS
        && JxlDecoderSetUnpremultiplyAlpha(reader->decoder, JXL_TRUE) == JXL_DEC_SUCCESS
        // The input is not closed: libjxl then requests more of a truncated file instead of failing.
        && JxlDecoderSetInput(reader->decoder, bytes, count) == JXL_DEC_SUCCESS)
        return reader;
    CPlanar_jxl_close(reader);
    return NULL;
}

/// Returns the standard's sRGB, in color or in gray.
static JxlColorEncoding standard(int is_gray)
{
    JxlColorEncoding encoding = {0};
    encoding.color_space = is_gray ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB;
    encoding.white_point = JXL_WHITE_POINT_D65;
    encoding.primaries = JXL_PRIMARIES_SRGB;
    encoding.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
    encoding.rendering_intent = JXL_RENDERING_INTENT_RELATIVE;
    return encoding;
}

static int is_standard(const JxlColorEncoding *encoding)
{
    return encoding->white_point == JXL_WHITE_POINT_D65 && encoding->transfer_function == JXL_TRANSFER_FUNCTION_SRGB
        && (encoding->color_space == JXL_COLOR_SPACE_GRAY
            || (encoding->color_space == JXL_COLOR_SPACE_RGB && encoding->primaries == JXL_PRIMARIES_SRGB));
}

/// Returns whether the colors are PQ or HLG, which libjxl must not convert because it would clip them.
static int has_wide_range(CPlanarJXLReader *reader, const JxlBasicInfo *info)
{
    JxlColorEncoding encoding;
    if (info->num_color_channels < 3
        || JxlDecoderGetColorAsEncodedProfile(PROFILE(reader, ORIGINAL), &encoding) != JXL_DEC_SUCCESS
        || (encoding.transfer_function != JXL_TRANSFER_FUNCTION_PQ && encoding.transfer_function != JXL_TRANSFER_FUNCTION_HLG))
        return 0;
    return info->uses_original_profile
        || JxlDecoderSetPreferredColorProfile(reader->decoder, &encoding) == JXL_DEC_SUCCESS;
}

/// Requests sRGB's curve, and its primaries unless the file has wider ones, where libjxl can convert; keeps the ICC
/// profile of other colors.
static int keep_profile(CPlanarJXLReader *reader, const JxlBasicInfo *info)
{
    JxlColorEncoding encoding = standard(info->num_color_channels == 1);
    size_t size = 0;
    if (!info->uses_original_profile) {
        JxlColorEncoding own;
        // Wider primaries are kept, with the curve of sRGB.
        if (info->num_color_channels == 3
            && JxlDecoderGetColorAsEncodedProfile(PROFILE(reader, ORIGINAL), &own) == JXL_DEC_SUCCESS
            && own.primaries != JXL_PRIMARIES_SRGB) {
            own.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
            encoding = own;
        }
        JxlDecoderSetPreferredColorProfile(reader->decoder, &encoding);
    }
    if (JxlDecoderGetColorAsEncodedProfile(PROFILE(reader, DATA), &encoding) == JXL_DEC_SUCCESS
        && is_standard(&encoding))
        return 0;
    if (JxlDecoderGetICCProfileSize(PROFILE(reader, DATA), &size) != JXL_DEC_SUCCESS || !size)
        return 0;
    reader->profile = malloc(size);
    if (!reader->profile
        || JxlDecoderGetColorAsICCProfile(PROFILE(reader, DATA), reader->profile, size) != JXL_DEC_SUCCESS)
        return -1;
    reader->profile_size = size;
    return 0;
}

CPlanarStatus CPlanar_jxl_header(CPlanarJXLReader *reader, CPlanarJXLHeader *header)
{
    JxlBasicInfo info;
    if (JxlDecoderProcessInput(reader->decoder) != JXL_DEC_BASIC_INFO
        || JxlDecoderGetBasicInfo(reader->decoder, &info) != JXL_DEC_SUCCESS)
        return fail(reader, "libjxl finds no header");
    header->width = (int) info.xsize;
    header->height = (int) info.ysize;
    header->bands = (int) info.num_color_channels + (info.alpha_bits > 0 ? 1 : 0);
    if (JxlDecoderProcessInput(reader->decoder) != JXL_DEC_COLOR_ENCODING)
        return fail(reader, "libjxl finds no meaning of the colors");
    header->first_frame = reader->count - JxlDecoderReleaseInput(reader->decoder);
    if (JxlDecoderSetInput(reader->decoder, reader->bytes + header->first_frame, reader->count - header->first_frame) != JXL_DEC_SUCCESS)
        return fail(reader, "libjxl does not take the rest of the file");
    header->is_wide = has_wide_range(reader, &info);
    if (!header->is_wide && keep_profile(reader, &info))
        return fail(reader, "libjxl finds no meaning of the colors");
    header->profile = reader->profile;
    header->profile_size = reader->profile_size;
    return CPlanarDone;
}

CPlanarStatus CPlanar_jxl_pixels(
    CPlanarJXLReader *reader, const CPlanarJXLHeader *header, void *pixels, int *is_incomplete)
{
    JxlDataType type = header->is_wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8;
    JxlPixelFormat format = {(uint32_t) header->bands, type, JXL_NATIVE_ENDIAN, 0};
    size_t size = (size_t) header->width * (size_t) header->height * (size_t) header->bands << (header->is_wide ? 1 : 0);
    *is_incomplete = 0;
    for (;;) {
        switch (JxlDecoderProcessInput(reader->decoder)) {
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (JxlDecoderSetImageOutBuffer(reader->decoder, &format, pixels, size) != JXL_DEC_SUCCESS)
                return fail(reader, "libjxl does not take the memory for the pixels");
            reader->has_output = 1;
            break;
        case JXL_DEC_FULL_IMAGE:
            return CPlanarDone;
        case JXL_DEC_NEED_MORE_INPUT:
            // Coarse data may exist for all pixels.
            if (!reader->has_output || JxlDecoderFlushImage(reader->decoder) != JXL_DEC_SUCCESS)
                return fail(reader, "the file ends before its pixels do");
            *is_incomplete = 1;
            return CPlanarDone;
        default:
            return fail(reader, "libjxl cannot decode the file");
        }
    }
}

const char *CPlanar_jxl_text(const CPlanarJXLReader *reader)
{
    return reader->text;
}

void CPlanar_jxl_close(CPlanarJXLReader *reader)
{
    if (!reader)
        return;
    if (reader->decoder)
        JxlDecoderDestroy(reader->decoder);
    free(reader->profile);
    free(reader);
}
