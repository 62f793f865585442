#include "CAOMShim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aom/aom_encoder.h>
#include <aom/aomcx.h>

struct CAOMShimEncoder {
    aom_codec_ctx_t codec;
    aom_image_t image;
    int bits;
    int is_gray;
    /// The number of encoded frames.
    int64_t frames;
};

// AOM_TUNE_IQ, which older headers lack.
enum { image_tuning = 10 };

static void explain(aom_codec_ctx_t *codec, char text[CAOMShim_text_size])
{
    const char *detail = aom_codec_error_detail(codec);
    snprintf(text, CAOMShim_text_size, "%s", detail ? detail : aom_codec_error(codec));
}

/// Returns the start of a plane's row.
static uint8_t *row(const CAOMShimEncoder *encoder, int plane, int y)
{
    return encoder->image.planes[plane] + (ptrdiff_t) y * encoder->image.stride[plane];
}

static void put(const CAOMShimEncoder *encoder, uint8_t *row, int x, int sample)
{
    if (encoder->bits > 8)
        ((uint16_t *) row)[x] = (uint16_t) sample;
    else
        row[x] = (uint8_t) sample;
}

static int make_image(CAOMShimEncoder *encoder, const CAOMShimSettings *settings)
{
    aom_image_t *image = &encoder->image;
    int format = (settings->is_gray ? AOM_IMG_FMT_I420 : AOM_IMG_FMT_I444) | (settings->bits > 8 ? AOM_IMG_FMT_HIGHBITDEPTH : 0);
    int plane, y, x;
    if (!aom_img_alloc(image, (aom_img_fmt_t) format, (unsigned) settings->width, (unsigned) settings->height, 32))
        return -1;
    image->bit_depth = (unsigned) settings->bits;
    image->monochrome = settings->is_gray;
    image->range = AOM_CR_FULL_RANGE;
    // sRGB in BT.601 Y'CbCr.
    image->cp = AOM_CICP_CP_BT_709;
    image->tc = AOM_CICP_TC_SRGB;
    image->mc = AOM_CICP_MC_BT_601;
    for (plane = 1; settings->is_gray && plane < 3; plane++)
        for (y = 0; y < (settings->height + 1) / 2; y++)
            for (x = 0; x < (settings->width + 1) / 2; x++)
                put(encoder, row(encoder, plane, y), x, 1 << (settings->bits - 1));
    return 0;
}

static int start(aom_codec_ctx_t *codec, const CAOMShimSettings *settings)
{
    aom_codec_iface_t *coding = aom_codec_av1_cx();
    aom_codec_enc_cfg_t configuration;
    int is_still = settings->frames == 1;
    // Stills are optimized for perceived similarity, not for squared error.
    int tuning = is_still ? (CAOMShim_has_image_tuning() ? image_tuning : AOM_TUNE_SSIM) : AOM_TUNE_PSNR;
    if (aom_codec_enc_config_default(coding, &configuration, is_still ? AOM_USAGE_ALL_INTRA : AOM_USAGE_REALTIME))
        return -1;
    configuration.g_w = (unsigned) settings->width;
    configuration.g_h = (unsigned) settings->height;
    configuration.g_limit = (unsigned) settings->frames;
    configuration.g_profile = settings->is_gray ? 0 : 1;
    configuration.g_bit_depth = (aom_bit_depth_t) settings->bits;
    configuration.g_input_bit_depth = (unsigned) settings->bits;
    configuration.monochrome = (unsigned) settings->is_gray;
    // Requests run in parallel, so the encoder need not; and each frame must be returned before the next one starts.
    configuration.g_threads = 1;
    configuration.g_lag_in_frames = 0;
    configuration.rc_end_usage = AOM_Q;
    configuration.rc_min_quantizer = 0;
    configuration.rc_max_quantizer = 63;
    if (aom_codec_enc_init(codec, coding, &configuration, settings->bits > 8 ? AOM_CODEC_USE_HIGHBITDEPTH : 0))
        return -1;
    return aom_codec_control(codec, AOME_SET_CPUUSED, settings->speed)
            || aom_codec_control(codec, AOME_SET_CQ_LEVEL, settings->level)
            // First, because it chooses matrices, too.
            || aom_codec_control(codec, AOME_SET_TUNING, tuning)
            || aom_codec_control(codec, AV1E_SET_INTRA_DCT_ONLY, is_still && settings->has_cosines_alone)
            || aom_codec_control(codec, AV1E_SET_ENABLE_QM, 1)
            || aom_codec_control(codec, AV1E_SET_QM_MIN, settings->coarsest_matrix)
            || aom_codec_control(codec, AV1E_SET_QM_MAX, settings->finest_matrix)
            || aom_codec_control(codec, AV1E_SET_ROW_MT, 0)
            || aom_codec_control(codec, AV1E_SET_COLOR_PRIMARIES, AOM_CICP_CP_BT_709)
            || aom_codec_control(codec, AV1E_SET_TRANSFER_CHARACTERISTICS, AOM_CICP_TC_SRGB)
            || aom_codec_control(codec, AV1E_SET_MATRIX_COEFFICIENTS, AOM_CICP_MC_BT_601)
            || aom_codec_control(codec, AV1E_SET_COLOR_RANGE, AOM_CR_FULL_RANGE)
        ? -1
        : 0;
}

CAOMShimEncoder *CAOMShim_open(const CAOMShimSettings *settings, char text[CAOMShim_text_size])
{
    CAOMShimEncoder *encoder = calloc(1, sizeof *encoder);
    snprintf(text, CAOMShim_text_size, "no memory for the encoder");
    if (!encoder)
        return NULL;
    encoder->bits = settings->bits;
    encoder->is_gray = settings->is_gray;
    if (make_image(encoder, settings) == 0) {
        if (start(&encoder->codec, settings) == 0)
            return encoder;
        explain(&encoder->codec, text);
    }
    CAOMShim_close(encoder);
    return NULL;
}

void CAOMShim_set_plane(CAOMShimEncoder *encoder, int plane, const uint8_t *samples, size_t stride, size_t step)
{
    uint16_t values[256];
    int most = (1 << encoder->bits) - 1, middle = 1 << (encoder->bits - 1);
    int width = (int) encoder->image.d_w, height = (int) encoder->image.d_h, value, x, y;
    for (value = 0; value < 256; value++) {
        // The middle of chroma is gray.
        int sample = plane == 0 ? (value * most + 127) / 255 : middle + ((value - 128) * most + (value < 128 ? -127 : 127)) / 255;
        values[value] = (uint16_t) (sample < 0 ? 0 : sample > most ? most
                                                                   : sample);
    }
    for (y = 0; y < height; y++) {
        const uint8_t *from = samples + (size_t) y * stride;
        uint8_t *to = row(encoder, plane, y);
        for (x = 0; x < width; x++, from += step)
            put(encoder, to, x, values[*from]);
    }
}

/// Rounds a sum in 1/65536 to the nearest sample.
static int rounded(int32_t sum, int most)
{
    int sample = (sum + (1 << 15)) >> 16;
    return sample < 0 ? 0 : sample > most ? most
                                          : sample;
}

void CAOMShim_set_colors(CAOMShimEncoder *encoder, const uint8_t *pixels, int bands)
{
    int width = (int) encoder->image.d_w, height = (int) encoder->image.d_h, most = (1 << encoder->bits) - 1, x, y;
    double unit = 65536.0 * most / 255;
    int32_t luma[3] = {(int32_t) (0.299 * unit + 0.5), (int32_t) (0.587 * unit + 0.5), (int32_t) (0.114 * unit + 0.5)};
    // For colors, chroma is (blue - luma) / 1.772 and (red - luma) / 1.402; for gray it is the middle.
    int32_t half = (int32_t) (0.5 * unit + 0.5), middle = 1 << (encoder->bits - 1 + 16);
    int32_t blue[2] = {(int32_t) (0.299 / 1.772 * unit + 0.5), 0}, red[2] = {0, (int32_t) (0.114 / 1.402 * unit + 0.5)};
    blue[1] = half - blue[0];
    red[0] = half - red[1];
    for (y = 0; y < height; y++) {
        uint8_t *rows[3] = {row(encoder, 0, y), row(encoder, 1, y), row(encoder, 2, y)};
        for (x = 0; x < width; x++, pixels += bands) {
            int32_t r = pixels[0], g = pixels[1], b = pixels[2];
            put(encoder, rows[0], x, rounded(luma[0] * r + luma[1] * g + luma[2] * b, most));
            put(encoder, rows[1], x, rounded(middle + half * b - blue[0] * r - blue[1] * g, most));
            put(encoder, rows[2], x, rounded(middle + half * r - red[0] * g - red[1] * b, most));
        }
    }
}

int CAOMShim_encode(
    CAOMShimEncoder *encoder, const uint8_t **bytes, size_t *count, int *is_key, char text[CAOMShim_text_size])
{
    aom_codec_iter_t place = NULL;
    const aom_codec_cx_pkt_t *packet;
    if (aom_codec_encode(&encoder->codec, &encoder->image, encoder->frames++, 1, 0)) {
        explain(&encoder->codec, text);
        return -1;
    }
    while ((packet = aom_codec_get_cx_data(&encoder->codec, &place))) {
        if (packet->kind != AOM_CODEC_CX_FRAME_PKT)
            continue;
        *bytes = packet->data.frame.buf;
        *count = packet->data.frame.sz;
        *is_key = packet->data.frame.flags & AOM_FRAME_IS_KEY ? 1 : 0;
        return 0;
    }
    snprintf(text, CAOMShim_text_size, "libaom keeps the frame");
    return -1;
}

void CAOMShim_close(CAOMShimEncoder *encoder)
{
    if (!encoder)
        return;
    aom_codec_destroy(&encoder->codec);
    aom_img_free(&encoder->image);
    free(encoder);
}

const char *CAOMShim_version(void) { return aom_codec_version_str(); }

int CAOMShim_has_image_tuning(void) { return aom_codec_version() >= (3 << 16 | 12 << 8); }
