#include "JXLFrames.h"

#include <stdint.h>

#include <jxl/decode.h>

// The cost estimate includes one pass over the image, at the price of noise; a pass over plain color takes half of it.
enum { most_frames = 7,
    most_images = 2,
    most_pixels = 1 << 20 };

/// Types of frames (ISO/IEC 18181-1, FrameHeader).
enum { regular = 0,
    low_frequency = 1,
    reference_only = 2,
    skip_progressive = 3 };

/// Reads bits, least significant first within each byte; zeros after the end.
struct bits {
    const uint8_t *bytes;
    size_t count, place;
};

struct frame {
    int type, is_last;
    uint32_t duration;
    uint64_t area, entries;
};

static uint64_t take(struct bits *bits, size_t count)
{
    uint64_t value = 0;
    for (size_t index = 0; index < count; index++, bits->place++)
        if (bits->place / 8 < bits->count)
            value |= (uint64_t) (bits->bytes[bits->place / 8] >> bits->place % 8 & 1) << index;
    return value;
}

static int is_at_end(const struct bits *bits)
{
    return bits->place / 8 >= bits->count;
}

static void align(struct bits *bits)
{
    bits->place = (bits->place + 7) / 8 * 8;
}

/// Reads a number in one of four forms, each a constant and the bits of an offset (U32).
static uint32_t number(struct bits *bits, const uint32_t forms[4][2])
{
    const uint32_t *form = forms[take(bits, 2)];
    return form[0] + (uint32_t) take(bits, form[1]);
}

/// Reads a number of up to 64 bits (U64).
static uint64_t long_number(struct bits *bits)
{
    uint64_t value;
    switch (take(bits, 2)) {
    case 0: return 0;
    case 1: return 1 + take(bits, 4);
    case 2: return 17 + take(bits, 8);
    }
    value = take(bits, 12);
    for (int place = 12; take(bits, 1) && !is_at_end(bits); place += 8) {
        if (place == 60)
            return value | take(bits, 4) << place;
        value |= take(bits, 8) << place;
    }
    return value;
}

static void skip_extensions(struct bits *bits)
{
    uint64_t present = long_number(bits), length = 0;
    for (int index = 0; index < 64; index++)
        if (present >> index & 1)
            length += long_number(bits) & UINT32_MAX;
    bits->place += length;
}

static void skip_passes(struct bits *bits, uint32_t *passes)
{
    static const uint32_t counts[4][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 3}}, fewer[4][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 1}};
    static const uint32_t factors[4][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}}, last[4][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 3}};
    *passes = number(bits, counts);
    if (*passes == 1)
        return;
    uint32_t reduced = number(bits, fewer);
    take(bits, 2 * (*passes - 1));
    for (uint32_t index = 0; index < reduced; index++)
        number(bits, factors);
    for (uint32_t index = 0; index < reduced; index++)
        number(bits, last);
}

/// Skips how a frame is blended, and returns the mode, 0 for replacing.
static uint32_t blending(struct bits *bits, uint32_t channels, int is_partial)
{
    static const uint32_t modes[4][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 2}}, alpha[4][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 3}};
    uint32_t mode = number(bits, modes);
    int uses_alpha = channels && (mode == 2 || mode == 3);
    if (uses_alpha)
        number(bits, alpha);
    if (uses_alpha || mode == 4)
        take(bits, 1);
    if (mode || is_partial)
        take(bits, 2);
    return mode;
}

static void skip_filters(struct bits *bits, int is_modular)
{
    if (take(bits, 1))
        return;
    if (take(bits, 1) && take(bits, 1))
        take(bits, 48), take(bits, 48);
    if (take(bits, 2)) {
        if (!is_modular && take(bits, 1))
            for (int index = 0; index < 8; index++)
                take(bits, 16);
        if (take(bits, 1))
            for (int index = 0; index < 5; index++)
                take(bits, 16);
        if (take(bits, 1))
            for (int index = is_modular; index < 4; index++)
                take(bits, 16);
        if (is_modular)
            take(bits, 16);
    }
    skip_extensions(bits);
}

static uint64_t divided(uint64_t number, uint64_t by)
{
    return (number + by - 1) / by;
}

/// Reads the header of a frame of an image of this size.
static struct frame header(struct bits *bits, const JxlBasicInfo *info, uint64_t width, uint64_t height)
{
    static const uint32_t factors[4][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}}, levels[4][2] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
    static const uint32_t sides[4][2] = {{0, 8}, {256, 11}, {2304, 14}, {18688, 30}};
    static const uint32_t durations[4][2] = {{0, 0}, {1, 0}, {0, 8}, {0, 32}}, names[4][2] = {{0, 0}, {0, 4}, {16, 5}, {48, 10}};
    enum { uses_low_frequency = 32 };
    struct frame frame = {.is_last = 1};
    if (take(bits, 1))
        return frame;
    frame.type = (int) take(bits, 2);
    int is_modular = (int) take(bits, 1);
    uint64_t flags = long_number(bits), whole_width = width, whole_height = height;
    int is_xyb = !info->uses_original_profile, is_shown = frame.type == regular || frame.type == skip_progressive;
    int is_ycbcr = !is_xyb && take(bits, 1), is_partial = 0;
    uint32_t upsampling = 1, shift = 1, passes = 1, mode = 0, saved = 0;
    if (!(flags & uses_low_frequency)) {
        if (is_ycbcr)
            take(bits, 6);
        upsampling = number(bits, factors);
        for (uint32_t index = 0; index < info->num_extra_channels; index++)
            number(bits, factors);
    }
    if (is_modular)
        shift = (uint32_t) take(bits, 2);
    else if (is_xyb)
        take(bits, 6);
    if (frame.type != reference_only)
        skip_passes(bits, &passes);
    if (frame.type == low_frequency) {
        uint32_t level = number(bits, levels);
        width = divided(width, 1ull << 3 * level);
        height = divided(height, 1ull << 3 * level);
    } else if (take(bits, 1)) {
        // The places are even for positive numbers, and odd for negative ones.
        uint32_t left = is_shown ? number(bits, sides) : 0, top = is_shown ? number(bits, sides) : 0;
        width = number(bits, sides);
        height = number(bits, sides);
        is_partial = is_shown
            && ((left > 0 && !(left & 1)) || (top > 0 && !(top & 1))
                || (left & 1 ? width < whole_width + (left + 1ull) / 2 : left / 2 + width < whole_width)
                || (top & 1 ? height < whole_height + (top + 1ull) / 2 : top / 2 + height < whole_height));
    }
    frame.is_last = 0;
    if (is_shown) {
        mode = blending(bits, info->num_extra_channels, is_partial);
        for (uint32_t index = 0; index < info->num_extra_channels; index++)
            blending(bits, info->num_extra_channels, is_partial);
        if (info->have_animation) {
            frame.duration = number(bits, durations);
            if (info->animation.have_timecodes)
                take(bits, 32);
        }
        frame.is_last = (int) take(bits, 1);
    }
    if (frame.type != low_frequency && !frame.is_last)
        saved = (uint32_t) take(bits, 2);
    if (frame.type == reference_only || (is_shown && !frame.is_last && !mode && !is_partial && (!frame.duration || saved)))
        take(bits, 1);
    bits->place += 8 * (uint64_t) number(bits, names);
    skip_filters(bits, is_modular);
    skip_extensions(bits);
    frame.area = width * height;
    uint64_t side = 128ull << shift, across = divided(width, upsampling), down = divided(height, upsampling);
    uint64_t groups = divided(across, side) * divided(down, side);
    frame.entries = groups == 1 && passes == 1 ? 1 : 2 + divided(across, 8 * side) * divided(down, 8 * side) + groups * passes;
    return frame;
}

/// Skips the sections of a frame by its table of contents; returns 0 if they are in another order, which is compressed.
static int skip_sections(struct bits *bits, uint64_t entries)
{
    static const uint32_t lengths[4][2] = {{0, 10}, {1024, 14}, {17408, 22}, {4211712, 30}};
    uint64_t sum = 0;
    if (take(bits, 1))
        return 0;
    align(bits);
    for (uint64_t index = 0; index < entries && !is_at_end(bits); index++)
        sum += number(bits, lengths);
    align(bits);
    bits->place += 8 * sum;
    return 1;
}

/// Reads the image's header, and returns the offset of its first frame; 0 if libjxl finds none.
static size_t first_frame(const void *bytes, size_t count, JxlBasicInfo *info)
{
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    size_t offset = 0;
    if (decoder && JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING) == JXL_DEC_SUCCESS
        && JxlDecoderSetKeepOrientation(decoder, JXL_TRUE) == JXL_DEC_SUCCESS
        && JxlDecoderSetInput(decoder, bytes, count) == JXL_DEC_SUCCESS && JxlDecoderProcessInput(decoder) == JXL_DEC_BASIC_INFO
        && JxlDecoderGetBasicInfo(decoder, info) == JXL_DEC_SUCCESS && JxlDecoderProcessInput(decoder) == JXL_DEC_COLOR_ENCODING)
        offset = count - JxlDecoderReleaseInput(decoder);
    if (decoder)
        JxlDecoderDestroy(decoder);
    return offset;
}

int has_few_hidden_frames(const void *bytes, size_t count)
{
    JxlBasicInfo info;
    struct bits bits = {bytes, count, 8 * first_frame(bytes, count, &info)};
    uint64_t area = 0, image = 0;
    // The decoder reports a damaged header.
    if (!bits.place)
        return 1;
    image = (uint64_t) info.xsize * info.ysize;
    for (int frames = 0; !is_at_end(&bits); frames++) {
        int is_preview = info.have_preview && frames == 0;
        struct frame frame = header(
            &bits, &info, is_preview ? info.preview.xsize : info.xsize, is_preview ? info.preview.ysize : info.ysize);
        int is_shown = frame.type == regular || frame.type == skip_progressive;
        if (!is_preview && is_shown && (frame.is_last || frame.duration))
            return 1;
        area += frame.area;
        if (frames == most_frames || area > most_images * image + most_pixels || !skip_sections(&bits, frame.entries))
            return 0;
    }
    return 1;
}
