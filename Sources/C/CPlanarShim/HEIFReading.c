#include "CPlanarShim.h"

#include <stdio.h>
#include <stdlib.h>

#include <libheif/heif.h>

struct CPlanarShimHEIFReader {
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image *image;
    uint8_t *profile;
    size_t profile_size;
    char text[CPlanarShim_text_size];
};

/// Longest side of anything in a file.
enum { longest_side = 16384 };

/// Whether a call failed; keeps the reason.
static int fails(CPlanarShimHEIFReader *reader, struct heif_error error)
{
    if (error.code == heif_error_Ok)
        return 0;
    snprintf(reader->text, sizeof reader->text, "%s", error.message ? error.message : "libheif fails");
    return 1;
}

static CPlanarShimStatus fail(CPlanarShimHEIFReader *reader, const char *text)
{
    snprintf(reader->text, sizeof reader->text, "%s", text);
    return CPlanarShimFailed;
}

int CPlanarShim_heif_reads_av1(void)
{
    // libheif looks for its decoders when the first context is made.
    struct heif_context *context = heif_context_alloc();
    if (context)
        heif_context_free(context);
    return heif_have_decoder_for_format(heif_compression_AV1);
}

CPlanarShimHEIFReader *CPlanarShim_heif_open(void)
{
    CPlanarShimHEIFReader *reader = calloc(1, sizeof *reader);
    if (reader)
        reader->context = heif_context_alloc();
    if (reader && reader->context)
        return reader;
    CPlanarShim_heif_close(reader);
    return NULL;
}

/// Keeps a copy of the ICC profile, if there is one.
static int keep_profile(CPlanarShimHEIFReader *reader)
{
    size_t size = heif_image_handle_get_raw_color_profile_size(reader->handle);
    if (!size)
        return 0;
    reader->profile = malloc(size);
    if (!reader->profile || fails(reader, heif_image_handle_get_raw_color_profile(reader->handle, reader->profile)))
        return -1;
    reader->profile_size = size;
    return 0;
}

/// Whether a grey image has limited range, by the file or else by the coded image.
static int is_limited(const struct heif_image *image)
{
    struct heif_color_profile_nclx *meaning = NULL;
    struct heif_error error = heif_image_get_nclx_color_profile(image, &meaning);
    int result = error.code == heif_error_Ok && meaning && !meaning->full_range_flag;
    if (meaning)
        heif_nclx_color_profile_free(meaning);
    return result;
}

CPlanarShimStatus CPlanarShim_heif_decode(
    CPlanarShimHEIFReader *reader, const void *bytes, size_t count, CPlanarShimHEIFHeader *header)
{
    enum heif_channel first;
    int is_grey;
    heif_context_set_maximum_image_size_limit(reader->context, longest_side);
    if (fails(reader, heif_context_read_from_memory_without_copy(reader->context, bytes, count, NULL))
        || fails(reader, heif_context_get_primary_image_handle(reader->context, &reader->handle))
        || keep_profile(reader)
        // libheif converts colours to red, green and blue; a grey image stays grey.
        || fails(reader, heif_decode_image(reader->handle, &reader->image, heif_colorspace_undefined, heif_chroma_undefined, NULL)))
        return CPlanarShimFailed;
    is_grey = heif_image_get_colorspace(reader->image) == heif_colorspace_monochrome;
    if (!is_grey && heif_image_get_colorspace(reader->image) != heif_colorspace_RGB)
        return fail(reader, "neither grey nor red, green and blue");
    first = is_grey ? heif_channel_Y : heif_channel_R;
    header->width = heif_image_get_width(reader->image, first);
    header->height = heif_image_get_height(reader->image, first);
    header->bands = (is_grey ? 1 : 3) + (heif_image_has_channel(reader->image, heif_channel_Alpha) ? 1 : 0);
    header->is_limited = is_grey && is_limited(reader->image);
    header->profile = reader->profile;
    header->profile_size = reader->profile_size;
    return CPlanarShimDone;
}

/// The samples of one channel; 16-bit words if they have more than 8 bits.
typedef struct {
    const uint8_t *samples;
    int stride;
    int bits;
    /// Whether 16 to 235 mean 0 to 255.
    int is_limited;
} Channel;

static int find(const CPlanarShimHEIFReader *reader, enum heif_channel name, int width, int height, Channel *channel)
{
    channel->samples = heif_image_get_plane_readonly(reader->image, name, &channel->stride);
    channel->bits = heif_image_get_bits_per_pixel_range(reader->image, name);
    return channel->samples && channel->bits >= 8 && channel->bits <= 16
            && heif_image_get_width(reader->image, name) == width && heif_image_get_height(reader->image, name) == height
        ? 0
        : -1;
}

/// The 8-bit sample in full range for one of the channel's.
static uint8_t in_eight_bits(const Channel *channel, int sample)
{
    int shift = channel->bits - 8;
    int length = 219 << shift;
    int above = sample - (16 << shift);
    if (!channel->is_limited)
        return (uint8_t) (sample >> shift);
    return (uint8_t) (above < 0 ? 0 : (above > length ? 255 : (above * 255 + length / 2) / length));
}

/// Writes one channel of full range to every `step`th word of rows without gaps.
static void spread_words(const Channel *channel, int width, int height, uint16_t *pixels, int step)
{
    uint32_t most = (1u << channel->bits) - 1;
    int x, y;
    for (y = 0; y < height; y++) {
        const uint8_t *row = channel->samples + (ptrdiff_t) y * channel->stride;
        for (x = 0; x < width; x++, pixels += step) {
            uint32_t sample = channel->bits == 8 ? row[x] : ((const uint16_t *) row)[x];
            *pixels = (uint16_t) (((sample < most ? sample : most) * 65535u + most / 2) / most);
        }
    }
}

/// Writes one channel to every `step`th byte of rows without gaps.
static void spread(const Channel *channel, int width, int height, uint8_t *pixels, int step)
{
    int x, y;
    for (y = 0; y < height; y++) {
        const uint8_t *row = channel->samples + (ptrdiff_t) y * channel->stride;
        for (x = 0; x < width; x++, pixels += step)
            *pixels = in_eight_bits(channel, channel->bits == 8 ? row[x] : ((const uint16_t *) row)[x]);
    }
}

CPlanarShimStatus CPlanarShim_heif_pixels(
    CPlanarShimHEIFReader *reader, const CPlanarShimHEIFHeader *header, int is_wide, void *pixels)
{
    static const enum heif_channel grey[] = {heif_channel_Y, heif_channel_Alpha};
    static const enum heif_channel colour[] = {heif_channel_R, heif_channel_G, heif_channel_B, heif_channel_Alpha};
    const enum heif_channel *names = header->bands < 3 ? grey : colour;
    int band;
    for (band = 0; band < header->bands; band++) {
        Channel channel;
        if (find(reader, names[band], header->width, header->height, &channel))
            return fail(reader, "channels of different sizes");
        channel.is_limited = header->is_limited && names[band] != heif_channel_Alpha;
        if (is_wide)
            spread_words(&channel, header->width, header->height, (uint16_t *) pixels + band, header->bands);
        else
            spread(&channel, header->width, header->height, (uint8_t *) pixels + band, header->bands);
    }
    return CPlanarShimDone;
}

const char *CPlanarShim_heif_text(const CPlanarShimHEIFReader *reader)
{
    return reader->text;
}

void CPlanarShim_heif_close(CPlanarShimHEIFReader *reader)
{
    if (!reader)
        return;
    if (reader->image)
        heif_image_release(reader->image);
    if (reader->handle)
        heif_image_handle_release(reader->handle);
    if (reader->context)
        heif_context_free(reader->context);
    free(reader->profile);
    free(reader);
}
