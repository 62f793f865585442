#include "CPixels.h"

#include "Frames.h"

#include <math.h>

/// Entries of the table from light to sRGB's components.
enum { steps = 4096 };

typedef struct {
    /// Light, 0 to 1, of each component.
    float light[256];
    /// The component of each amount of light.
    float component[steps + 1];
} Curves;

static void fill_curves(Curves *curves)
{
    int i;
    for (i = 0; i < 256; i++) {
        double value = i / 255.0;
        curves->light[i] = (float) (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4));
    }
    for (i = 0; i <= steps; i++) {
        double value = (double) i / steps;
        curves->component[i] =
            (float) (255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055));
    }
}

static float component_of(const Curves *curves, float light)
{
    float place = (light > 0 ? light < 1 ? light : 1 : 0) * steps;
    int index = place < steps ? (int) place : steps - 1;
    return curves->component[index] + (curves->component[index + 1] - curves->component[index]) * (place - (float) index);
}

static float lightness_of(float ratio)
{
    return ratio > 0.008856f ? cbrtf(ratio) : 7.787f * ratio + 16.0f / 116;
}

static float ratio_of(float lightness)
{
    return lightness > 0.206893f ? lightness * lightness * lightness : (lightness - 16.0f / 116) / 7.787f;
}

/// Changes a color in CIE Lab of D65: factors of lightness and chroma, and the cosine and sine of the hue's rotation.
static void change_lab(const Curves *curves, const float *values, const uint8_t *from, uint8_t *to)
{
    float red = curves->light[from[0]], green = curves->light[from[1]], blue = curves->light[from[2]];
    float x = lightness_of((0.4124f * red + 0.3576f * green + 0.1805f * blue) / 0.9505f);
    float y = lightness_of(0.2126f * red + 0.7152f * green + 0.0722f * blue);
    float z = lightness_of((0.0193f * red + 0.1192f * green + 0.9505f * blue) / 1.089f);
    float l = (116 * y - 16) * values[0];
    float a = 500 * (x - y) * values[1], b = 200 * (y - z) * values[1];
    float turned_a = a * values[2] - b * values[3], turned_b = a * values[3] + b * values[2];
    y = (l + 16) / 116;
    x = ratio_of(y + turned_a / 500) * 0.9505f;
    z = ratio_of(y - turned_b / 200) * 1.089f;
    y = ratio_of(y);
    to[0] = in_eight_bits(component_of(curves, 3.2406f * x - 1.5372f * y - 0.4986f * z));
    to[1] = in_eight_bits(component_of(curves, -0.9689f * x + 1.8758f * y + 0.0415f * z));
    to[2] = in_eight_bits(component_of(curves, 0.0557f * x - 0.2040f * y + 1.0570f * z));
}

static void multiply(const float *factors, const uint8_t *from, uint8_t *to)
{
    float red = from[0], green = from[1], blue = from[2];
    to[0] = in_eight_bits(factors[0] * red + factors[1] * green + factors[2] * blue);
    to[1] = in_eight_bits(factors[3] * red + factors[4] * green + factors[5] * blue);
    to[2] = in_eight_bits(factors[6] * red + factors[7] * green + factors[8] * blue);
}

/// Moves each component toward or away from the root of the weighted mean of the squares.
static void saturate(float factor, const uint8_t *from, uint8_t *to)
{
    float red = from[0], green = from[1], blue = from[2];
    float middle = sqrtf(0.299f * red * red + 0.587f * green * green + 0.114f * blue * blue);
    to[0] = in_eight_bits(middle + (red - middle) * factor);
    to[1] = in_eight_bits(middle + (green - middle) * factor);
    to[2] = in_eight_bits(middle + (blue - middle) * factor);
}

int CPixels_apply_formula(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsColorFormula *formula = settings;
    int alpha = has_alpha(in), colors = in->bands - alpha, x, y, band;
    Curves curves;
    if (formula->kind == CPixels_formula_lab)
        fill_curves(&curves);
    for (y = 0; y < in->height; y++) {
        const uint8_t *from = row_of(in, y);
        uint8_t *to = row_of(out, y);
        if (is_ended(watch, y))
            return -1;
        for (x = 0; x < in->width; x++, from += in->bands, to += in->bands) {
            if (formula->kind == CPixels_formula_tables || colors < 3) {
                for (band = 0; band < colors; band++)
                    to[band] = formula->tables[band][from[band]];
            } else if (formula->kind == CPixels_formula_matrix) {
                multiply(formula->values, from, to);
            } else if (formula->kind == CPixels_formula_saturation) {
                saturate(formula->values[0], from, to);
            } else {
                change_lab(&curves, formula->values, from, to);
            }
            if (alpha)
                to[colors] = from[colors];
        }
    }
    return 0;
}

int CPixels_equalize(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    int alpha = has_alpha(in), colors = in->bands - alpha, x, y, band, value, least = 0;
    size_t counts[3][256] = {{0}};
    CPixelsColorFormula formula = {.kind = CPixels_formula_tables};
    (void) settings;
    for (y = 0; y < in->height; y++) {
        const uint8_t *from = row_of(in, y);
        if (is_ended(watch, y))
            return -1;
        for (x = 0; x < in->width; x++, from += in->bands)
            for (band = 0; band < colors; band++)
                counts[band][from[band]]++;
    }
    // The least value of any component becomes 0; the others keep their distance from it.
    while (least < 255 && !counts[0][least] && (colors < 3 || (!counts[1][least] && !counts[2][least])))
        least++;
    for (band = 0; band < colors; band++) {
        double sum = 0, first = (double) counts[band][least], all = (double) in->width * in->height;
        for (value = 0; value < 256; value++) {
            sum += (double) counts[band][value];
            formula.tables[band][value] = all > first ? in_eight_bits((float) ((sum - first) / (all - first) * 255)) : (uint8_t) value;
        }
    }
    return CPixels_apply_formula(&formula, in, out, watch);
}

/// Returns a pseudorandom number that depends only on the position.
static uint32_t scattered(uint32_t value)
{
    value = (value ^ (value >> 16)) * 0x7feb352d;
    value = (value ^ (value >> 15)) * 0x846ca68b;
    return value ^ (value >> 16);
}

int CPixels_add_noise(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsNoise *noise = settings;
    int alpha = has_alpha(in), colors = in->bands - alpha, x, y, band;
    for (y = 0; y < in->height; y++) {
        const uint8_t *from = row_of(in, y);
        uint8_t *to = row_of(out, y);
        if (is_ended(watch, y))
            return -1;
        for (x = 0; x < in->width; x++, from += in->bands, to += in->bands) {
            uint32_t place = (uint32_t) y * (uint32_t) in->width + (uint32_t) x;
            int sum = (int) (scattered(place ^ scattered(noise->seed)) % (uint32_t) noise->amount) - noise->amount / 2;
            for (band = 0; band < colors; band++)
                to[band] = in_eight_bits((float) (from[band] + sum));
            if (alpha)
                to[colors] = from[colors];
        }
    }
    return 0;
}
