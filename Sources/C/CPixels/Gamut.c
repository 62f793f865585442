#include "Gamut.h"

#include "Frames.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { component_steps = 4096,
    /// Maximum number of iterations on the way to gray.
    tries = 12,
    /// Pixels of a row that are processed together.
    span = 4 * CPixels_gamut_block,
    /// Colors that are moved into the gamut together: two of the widest vectors.
    lanes = 16 };

/// The component of sRGB's curve, 0 to 255, for each step of light from 0 to 1.
static float components[component_steps + 2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compute(void)
{
    int step;
    for (step = 0; step <= component_steps; step++) {
        double light = (double) step / component_steps;
        components[step] = (float) (255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055));
    }
    components[component_steps + 1] = 255;
}

/// Light that exceeds the gamut by less than this is clipped.
static const float slack = 1e-4f;
/// Light that counts as outside: beyond rounding errors of colors on the surface.
static const float under = -0.0025f, over = 1.01f;
/// The cube root of the luminance of middle gray, and the share by which gray moves toward it.
static const float middle = 66 / 116.f, pull = 0.2f;

static inline float component(float light)
{
    float place = (light > 0 ? light < 1 ? light : 1 : 0) * component_steps;
    int step = (int) place;
    return components[step] + (place - (float) step) * (components[step + 1] - components[step]);
}

static inline float product(const float *row, float first, float second, float third)
{
    return row[0] * first + row[1] * second + row[2] * third;
}

static inline int is_within(const float *light, float least, float most)
{
    int band;
    for (band = 0; band < 3; band++)
        if (!(light[band] >= least && light[band] <= most))
            return 0;
    return 1;
}

/// CIE Lab's perceptual measure of light, and its inverse. The cube root is computed by Newton's method from a third of
/// the exponent, equal on all processors and in vectors.
static inline float seen(float light)
{
    float value = light > 216 / 24389.f ? light : 1, root;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = bits / 3 + 0x2a51067f;
    memcpy(&root, &bits, sizeof root);
    root = (2 * root + value / (root * root)) * (1 / 3.f);
    root = (2 * root + value / (root * root)) * (1 / 3.f);
    root = (2 * root + value / (root * root)) * (1 / 3.f);
    return light > 216 / 24389.f ? root : light * (841 / 108.f) + 4 / 29.f;
}

static inline float light_of(float value)
{
    return value > 6 / 29.f ? value * value * value : (value - 4 / 29.f) * (108 / 841.f);
}

/// Returns by how much light exceeds the gamut; negative inside.
static inline float excess(float red, float green, float blue)
{
    float most = red > green ? red : green, least = red < green ? red : green;
    most = most > blue ? most : blue;
    least = least < blue ? least : blue;
    return most - 1 > -least ? most - 1 : -least;
}

/// Moves colors toward a gray in CIE Lab until they are inside the gamut: their hue is constant, their chroma shrinks,
/// and their lightness moves slightly to the middle, where a gamut has more colors. Positions are found by the false
/// position method (Illinois), for all of them in the same few iterations, which limits the worst case.
WIDE static void bring_inside(const CPixelsGamut *gamut, float light[3][lanes])
{
    float color[3][lanes], gray[lanes], low[lanes], high[lanes], at_low[lanes], at_high[lanes], side[lanes];
    const float *into = gamut->to_xyz, *back = gamut->from_xyz;
    int step, i, going = 1;
    for (i = 0; i < lanes; i++) {
        float red = light[0][i], green = light[1][i], blue = light[2][i];
        color[0][i] = seen(product(into, red, green, blue));
        color[1][i] = seen(product(into + 3, red, green, blue));
        color[2][i] = seen(product(into + 6, red, green, blue));
        gray[i] = color[1][i] + (middle - color[1][i]) * pull;
        low[i] = 0;
        high[i] = 1;
        side[i] = 0;
        at_low[i] = excess(red, green, blue);
        red = green = blue = light_of(gray[i]);
        at_high[i] = excess(product(back, red, green, blue), product(back + 3, red, green, blue), product(back + 6, red, green, blue));
    }
    // A gray that is itself outside is clipped.
    for (step = 0; step < tries && going; step++) {
        going = 0;
        for (i = 0; i < lanes; i++) {
            int goes = at_high[i] <= 0 && at_high[i] < at_low[i], is_outside, stays;
            float way = low[i] + (high[i] - low[i]) * at_low[i] / (at_low[i] - at_high[i]), now;
            float x = light_of(color[0][i] + (gray[i] - color[0][i]) * way);
            float y = light_of(color[1][i] + (gray[i] - color[1][i]) * way);
            float z = light_of(color[2][i] + (gray[i] - color[2][i]) * way);
            now = excess(product(back, x, y, z), product(back + 3, x, y, z), product(back + 6, x, y, z));
            is_outside = now > 0;
            // On the surface, both ends meet, and nothing moves.
            stays = now <= slack && now > -2 * slack;
            float halved_low = side[i] > 0 ? at_low[i] * 0.5f : at_low[i], halved_high = side[i] < 0 ? at_high[i] * 0.5f : at_high[i];
            float next_low = is_outside ? now : halved_low, next_high = is_outside ? halved_high : now;
            low[i] = goes && is_outside ? way : low[i];
            high[i] = goes && (stays || !is_outside) ? way : high[i];
            at_low[i] = goes ? stays ? 0 : next_low : at_low[i];
            at_high[i] = goes ? stays ? 0 : next_high : at_high[i];
            side[i] = is_outside ? -1 : 1;
            going |= goes;
        }
    }
    for (i = 0; i < lanes; i++) {
        float x = light_of(color[0][i] + (gray[i] - color[0][i]) * high[i]);
        float y = light_of(color[1][i] + (gray[i] - color[1][i]) * high[i]);
        float z = light_of(color[2][i] + (gray[i] - color[2][i]) * high[i]);
        light[0][i] = product(back, x, y, z);
        light[1][i] = product(back + 3, x, y, z);
        light[2][i] = product(back + 6, x, y, z);
    }
}

/// Converts components from 0 to 255 to light in the other gamut.
static inline void other_light(const CPixelsGamut *gamut, const float *color, float *light)
{
    float own[3];
    int band;
    for (band = 0; band < 3; band++) {
        const float *curve = gamut->light[band];
        int step = (int) color[band];
        own[band] = curve[step] + (color[band] - (float) step) * (curve[step + 1] - curve[step]);
    }
    for (band = 0; band < 3; band++)
        light[band] = product(gamut->to_target + 3 * band, own[0], own[1], own[2]);
}

void CPixels_change_gamut_of(const CPixelsGamut *gamut, float *red, float *green, float *blue, int count)
{
    float *rows[3] = {red, green, blue}, beyond[3][lanes];
    int places[lanes], found = 0, i, band, place;
    pthread_once(&once, compute);
    for (i = 0; i < count; i++) {
        float color[3] = {red[i], green[i], blue[i]}, light[3];
        other_light(gamut, color, light);
        if (!is_within(light, -slack, 1 + slack)) {
            for (band = 0; band < 3; band++)
                beyond[band][found] = light[band];
            places[found++] = i;
        } else
            for (band = 0; band < 3; band++)
                rows[band][i] = component(light[band]);
        if (found == 0 || (found < lanes && i + 1 < count))
            continue;
        // The last group may be smaller.
        for (place = found; place < lanes; place++)
            for (band = 0; band < 3; band++)
                beyond[band][place] = beyond[band][0];
        bring_inside(gamut, beyond);
        for (place = 0; place < found; place++)
            for (band = 0; band < 3; band++)
                rows[band][places[place]] = component(beyond[band][place]);
        found = 0;
    }
}

/// Converts a span of a row; drawings have long runs of one color, each of which is converted once.
static int change_span(const CPixelsGamut *gamut, const uint8_t *from, uint8_t *to, int width, int bands)
{
    float colors[3][CPixels_gamut_block];
    uint8_t places[span];
    int count = 0, x, done, band;
    for (x = 0; x < width && x < span; x++) {
        if (x == 0 || memcmp(from + x * bands, from + (x - 1) * bands, 3)) {
            if (count == CPixels_gamut_block)
                break;
            for (band = 0; band < 3; band++)
                colors[band][count] = from[x * bands + band];
            count++;
        }
        places[x] = (uint8_t) (count - 1);
    }
    done = x;
    CPixels_change_gamut_of(gamut, colors[0], colors[1], colors[2], count);
    for (x = 0; x < done; x++) {
        for (band = 0; band < 3; band++)
            to[x * bands + band] = in_eight_bits(colors[band][places[x]]);
        if (bands == 4)
            to[x * bands + 3] = from[x * bands + 3];
    }
    return done;
}

int CPixels_change_gamut(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    int bands = in->bands, x, y;
    for (y = 0; y < in->height; y++) {
        if (is_ended(watch, y))
            return -1;
        for (x = 0; x < in->width;)
            x += change_span(settings, row_of(in, y) + x * bands, row_of(out, y) + x * bands, in->width - x, bands);
    }
    return 0;
}

int CPixels_count_outside(const CPixelsGamut *gamut, const CPixelsFrame *frame, CPixelsShare *share, CPixelsWatch watch)
{
    int x, y;
    for (y = 0; y < frame->height; y++) {
        const uint8_t *pixel = row_of(frame, y);
        if (is_ended(watch, y))
            return -1;
        for (x = 0; x < frame->width; x++, pixel += frame->bands) {
            float color[3] = {pixel[0], pixel[1], pixel[2]}, light[3];
            if (frame->bands == 4 && !pixel[3])
                continue;
            other_light(gamut, color, light);
            share->shown++;
            share->outside += !is_within(light, under, over);
        }
    }
    return 0;
}
