#include "CPlanarShim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

/// Everything that must be released.
typedef struct {
    struct heif_context *context;
    struct heif_encoder *encoder;
    struct heif_image *image;
    struct heif_color_profile_nclx *meaning;
    char *text;
} Writer;

/// Whether a call failed; keeps the reason.
static int fails(const Writer *writer, struct heif_error error)
{
    if (error.code == heif_error_Ok)
        return 0;
    snprintf(writer->text, CPlanarShim_text_size, "%s", error.message ? error.message : "libheif fails");
    return 1;
}

/// Says what the samples mean: sRGB in full-range BT.601 Y'CbCr, as in JPEG.
static int describe(Writer *writer)
{
    writer->meaning = heif_nclx_color_profile_alloc();
    if (!writer->meaning)
        return -1;
    writer->meaning->color_primaries = heif_color_primaries_ITU_R_BT_709_5;
    writer->meaning->transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1;
    writer->meaning->matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_601_6;
    writer->meaning->full_range_flag = 1;
    return fails(writer, heif_image_set_nclx_color_profile(writer->image, writer->meaning)) ? -1 : 0;
}

static int copy_plane(Writer *writer, enum heif_channel channel, const CPlanarShimPlane *plane)
{
    int stride = 0, y;
    uint8_t *samples;
    if (fails(writer, heif_image_add_plane(writer->image, channel, plane->width, plane->height, 8)))
        return -1;
    samples = heif_image_get_plane(writer->image, channel, &stride);
    if (!samples)
        return -1;
    for (y = 0; y < plane->height; y++)
        memcpy(samples + (ptrdiff_t) y * stride, plane->samples + (size_t) y * plane->stride, (size_t) plane->width);
    return 0;
}

static int copy_planes(Writer *writer, const CPlanarShimPlanes *planes, int is_half)
{
    const CPlanarShimPlane *plane = planes->planes;
    if (fails(writer, heif_image_create(plane[0].width, plane[0].height, heif_colorspace_YCbCr, is_half ? heif_chroma_420 : heif_chroma_444, &writer->image)))
        return -1;
    return copy_plane(writer, heif_channel_Y, &plane[0]) || copy_plane(writer, heif_channel_Cb, &plane[1])
            || copy_plane(writer, heif_channel_Cr, &plane[2])
        ? -1
        : 0;
}

static int choose(Writer *writer, int quality, int effort, int is_half)
{
    if (fails(writer, heif_context_get_encoder_for_format(writer->context, heif_compression_AV1, &writer->encoder))
        || fails(writer, heif_encoder_set_lossy_quality(writer->encoder, quality))
        || fails(writer, heif_encoder_set_parameter_integer(writer->encoder, "speed", 9 - effort))
        // Requests run in parallel, so the encoder need not.
        || fails(writer, heif_encoder_set_parameter_integer(writer->encoder, "threads", 1)))
        return -1;
    return fails(writer, heif_encoder_set_parameter_string(writer->encoder, "chroma", is_half ? "420" : "444")) ? -1 : 0;
}

typedef struct {
    void *bytes;
    size_t count;
} File;

/// Called once, with the whole file.
static struct heif_error keep(struct heif_context *context, const void *data, size_t size, void *user)
{
    File *file = user;
    struct heif_error done = {heif_error_Ok, heif_suberror_Unspecified, ""};
    struct heif_error full = {heif_error_Memory_allocation_error, heif_suberror_Unspecified, "no memory for the file"};
    (void) context;
    file->bytes = malloc(size);
    if (!file->bytes)
        return full;
    memcpy(file->bytes, data, size);
    file->count = size;
    return done;
}

static int write_file(Writer *writer, File *file)
{
    struct heif_writer target = {.writer_api_version = 1, .write = keep};
    if (fails(writer, heif_context_encode_image(writer->context, writer->image, writer->encoder, NULL, NULL)))
        return -1;
    return fails(writer, heif_context_write(writer->context, &target, file)) ? -1 : 0;
}

CPlanarShimStatus CPlanarShim_write_avif(
    const CPlanarShimPlanes *planes, int quality, int effort, void **bytes, size_t *count,
    char text[CPlanarShim_text_size])
{
    int is_half = planes->planes[1].width < planes->planes[0].width;
    Writer writer = {.context = heif_context_alloc(), .text = text};
    File file = {NULL, 0};
    int failed;
    snprintf(text, CPlanarShim_text_size, "libheif has no memory");
    failed = !writer.context || copy_planes(&writer, planes, is_half) || describe(&writer)
        || choose(&writer, quality, effort, is_half) || write_file(&writer, &file);
    if (writer.meaning)
        heif_nclx_color_profile_free(writer.meaning);
    if (writer.image)
        heif_image_release(writer.image);
    if (writer.encoder)
        heif_encoder_release(writer.encoder);
    if (writer.context)
        heif_context_free(writer.context);
    if (failed) {
        free(file.bytes);
        return CPlanarShimFailed;
    }
    *bytes = file.bytes;
    *count = file.count;
    return CPlanarShimDone;
}
