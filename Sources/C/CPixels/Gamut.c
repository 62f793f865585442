#include "Gamut.h"

#include "Frames.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { component_steps = 4096,
    /// Most places that are tried on the way to grey.
    tries = 12 };

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

/// Light that is so little beyond the gamut is clipped.
static const float slack = 1e-4f;
/// Light that counts as beyond it: by more than the rounding of colours on its surface.
static const float under = -0.0025f, over = 1.01f;
/// The cube root of the luminance of middle grey, and the share of the way to it that grey moves along.
static const float middle = 66 / 116.f, pull = 0.2f;

static inline float component(float light)
{
    float place = (light > 0 ? light < 1 ? light : 1 : 0) * component_steps;
    int step = (int) place;
    return components[step] + (place - (float) step) * (components[step + 1] - components[step]);
}

static inline void multiply(const float *matrix, const float *from, float *to)
{
    int row;
    for (row = 0; row < 3; row++, matrix += 3)
        to[row] = matrix[0] * from[0] + matrix[1] * from[1] + matrix[2] * from[2];
}

static inline int is_within(const float *light, float least, float most)
{
    int band;
    for (band = 0; band < 3; band++)
        if (!(light[band] >= least && light[band] <= most))
            return 0;
    return 1;
}

/// CIE Lab's measure of light, which the eye sees as even, and its reverse.
static inline float seen(float light)
{
    return light > 216 / 24389.f ? cbrtf(light) : light * (841 / 108.f) + 4 / 29.f;
}

static inline float light_of(float value)
{
    return value > 6 / 29.f ? value * value * value : (value - 4 / 29.f) * (108 / 841.f);
}

/// By how much light lies beyond the gamut; negative inside.
static inline float excess(const float *light)
{
    float most = fmaxf(light[0], fmaxf(light[1], light[2])), least = fminf(light[0], fminf(light[1], light[2]));
    return fmaxf(most - 1, -least);
}

/// The light of a colour that has gone a part of its way to grey.
static inline void go(const CPixelsGamut *gamut, const float *color, float grey, float way, float *light)
{
    float near[3];
    int band;
    for (band = 0; band < 3; band++)
        near[band] = light_of(color[band] + (grey - color[band]) * way);
    multiply(gamut->from_xyz, near, light);
}

/// Moves a colour towards a grey in CIE Lab until the gamut holds it: its hue stays, its chroma shrinks, and its lightness moves a little to
/// the middle, where a gamut has more colours. The place is found by false positions (the Illinois rule).
static void bring_inside(const CPixelsGamut *gamut, float *light)
{
    float color[3], grey, low = 0, high = 1, at_low = excess(light), at_high;
    int step, side = 0, band;
    multiply(gamut->to_xyz, light, color);
    for (band = 0; band < 3; band++)
        color[band] = seen(color[band]);
    grey = color[1] + (middle - color[1]) * pull;
    go(gamut, color, grey, 1, light);
    at_high = excess(light);
    // A grey that is itself outside is clipped.
    for (step = 0; step < tries && at_high < at_low; step++) {
        float way = low + (high - low) * at_low / (at_low - at_high), now;
        go(gamut, color, grey, way, light);
        now = excess(light);
        if (now <= slack && now > -2 * slack)
            return;
        if (now > 0) {
            low = way;
            at_low = now;
            at_high /= side < 0 ? 2 : 1;
            side = -1;
        } else {
            high = way;
            at_high = now;
            at_low /= side > 0 ? 2 : 1;
            side = 1;
        }
    }
    go(gamut, color, grey, high, light);
}

/// The light in the other gamut of components from 0 to 255.
static inline void other_light(const CPixelsGamut *gamut, const float *color, float *light)
{
    float own[3];
    int band;
    for (band = 0; band < 3; band++) {
        const float *curve = gamut->light[band];
        int step = (int) color[band];
        own[band] = curve[step] + (color[band] - (float) step) * (curve[step + 1] - curve[step]);
    }
    multiply(gamut->to_target, own, light);
}

void CPixels_change_gamut_of(const CPixelsGamut *gamut, float *red, float *green, float *blue, int count)
{
    int i;
    pthread_once(&once, compute);
    for (i = 0; i < count; i++) {
        float color[3] = {red[i], green[i], blue[i]}, light[3];
        other_light(gamut, color, light);
        if (!is_within(light, -slack, 1 + slack))
            bring_inside(gamut, light);
        red[i] = component(light[0]);
        green[i] = component(light[1]);
        blue[i] = component(light[2]);
    }
}

int CPixels_change_gamut(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsGamut *gamut = settings;
    int bands = in->bands, x, y, band;
    for (y = 0; y < in->height; y++) {
        const uint8_t *from = row_of(in, y);
        uint8_t *to = row_of(out, y);
        if (is_ended(watch, y))
            return -1;
        for (x = 0; x < in->width; x++, from += bands, to += bands) {
            float color[3] = {from[0], from[1], from[2]};
            // Drawings have long runs of one colour.
            if (x > 0 && !memcmp(from, from - bands, 3))
                memcpy(to, to - bands, 3);
            else {
                CPixels_change_gamut_of(gamut, color, color + 1, color + 2, 1);
                for (band = 0; band < 3; band++)
                    to[band] = in_eight_bits(color[band]);
            }
            if (bands == 4)
                to[3] = from[3];
        }
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
