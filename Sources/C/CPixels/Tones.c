#include "CPixels.h"

#include "Frames.h"

#include <math.h>
#include <stdlib.h>

/// Steps of the tables of a frame.
enum { tone_steps = 1024,
    component_steps = 16384 };

typedef struct {
    /// The light of each sample, 1 for the reference white.
    float *light;
    /// The factor of a color, by the square root of its largest component's share of the peak.
    float factors[tone_steps + 1];
    /// The component of sRGB for light of 0 to 1.
    uint8_t components[component_steps + 1];
} Tables;

/// ITU-R BT.2100 table 4.
static double pq_light(double sample)
{
    double power = pow(sample, 1 / 78.84375);
    double above = power - 0.8359375;
    return pow((above > 0 ? above : 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125) * 10000 / CPixels_reference_white;
}

/// ITU-R BT.2100 table 5: the light of the scene, 0 to 1.
static double hlg_light(double sample)
{
    return sample <= 0.5 ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12;
}

/// Returns the tone-mapped light of the largest component, with white at `white`: linear up to there, then a Bézier
/// curve up to the peak.
static double toned(double light, double peak, double white)
{
    double x, y, a, b, c, t;
    if (light <= 1)
        return light * white;
    if (light >= peak)
        return 1;
    x = 0.35 + 0.65 / white;
    y = 0.35 * white + 0.65;
    // The parameter of the curve: (1 − 2x + peak) t² + 2 (x − 1) t + 1 − light = 0.
    a = 1 - 2 * x + peak;
    b = 2 * (x - 1);
    c = 1 - light;
    t = fabs(a) < 1e-9 ? -c / b : (sqrt(b * b - 4 * a * c) - b) / (2 * a);
    return (1 - t) * (1 - t) * white + 2 * t * (1 - t) * y + t * t;
}

static int make_tables(Tables *tables, const CPixelsTones *tones)
{
    int count = tones->is_wide ? 65536 : 256, index;
    double headroom = log2(tones->peak) / log2(1000.0 / CPixels_reference_white);
    double white = 1 - 0.5 * (headroom < 0 ? 0 : headroom > 1 ? 1
                                                              : headroom);
    tables->light = malloc((size_t) count * sizeof *tables->light);
    if (!tables->light)
        return -1;
    for (index = 0; index < count; index++) {
        double sample = (double) index / (count - 1);
        tables->light[index] = (float) (tones->is_gamma ? hlg_light(sample) : pq_light(sample));
    }
    for (index = 0; index <= tone_steps; index++) {
        double light = (double) index * index / ((double) tone_steps * tone_steps) * tones->peak;
        tables->factors[index] = (float) (light > 0 ? toned(light, tones->peak, white) / light : white);
    }
    for (index = 0; index <= component_steps; index++) {
        double light = (double) index / component_steps;
        double component = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
        tables->components[index] = (uint8_t) (component * 255 + 0.5);
    }
    return 0;
}

static void multiply(const float *matrix, float *color)
{
    float red = color[0], green = color[1], blue = color[2];
    int row;
    for (row = 0; row < 3; row++, matrix += 3)
        color[row] = matrix[0] * red + matrix[1] * green + matrix[2] * blue;
}

/// Converts scene light to the light of a display of 1000 cd/m² (ITU-R BT.2100 table 5, the OOTF).
static void show(float *color)
{
    float scene = 0.2627f * color[0] + 0.6780f * color[1] + 0.0593f * color[2];
    float factor = scene > 0 ? powf(scene, 0.2f) * 1000 / CPixels_reference_white : 0;
    int band;
    for (band = 0; band < 3; band++)
        color[band] *= factor;
}

/// Maps the largest component into 0 to 1 by the curve, and scales the others with it.
static void map(const Tables *tables, float peak, float *color)
{
    float most = fmaxf(color[0], fmaxf(color[1], color[2])), factor, place;
    int step, band;
    if (most >= peak)
        factor = 1 / most;
    else {
        place = most > 0 ? sqrtf(most / peak) * tone_steps : 0;
        step = (int) place;
        factor = step < tone_steps
            ? tables->factors[step] + (place - (float) step) * (tables->factors[step + 1] - tables->factors[step])
            : tables->factors[tone_steps];
    }
    for (band = 0; band < 3; band++)
        color[band] *= factor;
}

int CPixels_map_tones(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    const CPixelsTones *tones = settings;
    Tables *tables = malloc(sizeof *tables);
    int failed = !tables || make_tables(tables, tones), bands = in->bands, x, y, band;
    for (y = 0; !failed && y < in->height; y++) {
        const uint8_t *bytes = row_of(in, y);
        const uint16_t *words = (const uint16_t *) (const void *) bytes;
        uint8_t *to = row_of(out, y);
        failed = is_ended(watch, y);
        for (x = 0; x < in->width; x++, bytes += bands, words += bands, to += bands) {
            float color[3];
            for (band = 0; band < 3; band++)
                color[band] = tables->light[tones->is_wide ? words[band] : bytes[band]];
            multiply(tones->to_wide, color);
            if (tones->is_gamma)
                show(color);
            map(tables, tones->peak, color);
            multiply(tones->to_standard, color);
            for (band = 0; band < 3; band++)
                to[band] = tables->components[(int) (fminf(fmaxf(color[band], 0), 1) * component_steps + 0.5f)];
            if (bands == 4)
                to[3] = tones->is_wide ? (uint8_t) (words[3] >> 8) : bytes[3];
        }
    }
    if (tables)
        free(tables->light);
    free(tables);
    return failed ? -1 : 0;
}
