#include "CVipsShim.h"
#include "LateVips.h"

/// Takes the result of one step, and releases its input.
static int next(VipsImage **image, int status, VipsImage *made)
{
    g_clear_object(image);
    *image = made;
    return status;
}

/// Converts `image`, which is released, to 8-bit sRGB.
static int finish(VipsImage *image, int status, VipsImage **out)
{
    if (!status)
        status = vips_colourspace(image, out, VIPS_INTERPRETATION_sRGB, NULL);
    g_clear_object(&image);
    return status;
}

int CVipsShim_scale_lch(
    VipsImage *in, VipsImage **out, double lightness, double added, double chroma, double hue)
{
    double factors[3] = {lightness, chroma, 1}, summands[3] = {added, 0, hue};
    VipsImage *image = NULL, *made = NULL;
    int status = vips_colourspace(in, &image, VIPS_INTERPRETATION_LCH, NULL);
    if (!status) {
        status = vips_linear(image, &made, factors, summands, 3, NULL);
        status = next(&image, status, made);
    }
    return finish(image, status, out);
}

int CVipsShim_lightness_percentile(VipsImage *in, double percent, int *lightness)
{
    VipsImage *image = NULL, *made = NULL;
    int status = vips_colourspace(in, &image, VIPS_INTERPRETATION_LAB, NULL);
    if (!status) {
        status = vips_extract_band(image, &made, 0, NULL);
        status = next(&image, status, made);
    }
    if (!status)
        status = vips_percent(image, percent, lightness, NULL);
    g_clear_object(&image);
    return status;
}

int CVipsShim_rank(VipsImage *in, VipsImage **out, int side, int place)
{
    return vips_rank(in, out, side, side, place, NULL);
}

int CVipsShim_tint(VipsImage *in, VipsImage **out, double a, double b)
{
    double colors[2] = {a, b};
    VipsImage *image = NULL, *made = NULL;
    int status = vips_colourspace(in, &image, VIPS_INTERPRETATION_LAB, NULL);
    if (!status) {
        status = vips_extract_band(image, &made, 0, NULL);
        status = next(&image, status, made);
    }
    if (!status) {
        made = NULL;
        status = vips_bandjoin_const(image, &made, colors, 2, NULL);
        status = next(&image, status, made);
    }
    if (!status) {
        made = NULL;
        status = vips_copy(image, &made, "interpretation", VIPS_INTERPRETATION_LAB, NULL);
        status = next(&image, status, made);
    }
    return finish(image, status, out);
}

int CVipsShim_replace(VipsImage *in, VipsImage **out, const unsigned char *colors)
{
    VipsImage *table = vips_image_new_from_memory_copy(colors, 256 * 3, 256, 1, 3, VIPS_FORMAT_UCHAR);
    VipsImage *image = NULL;
    int status = table ? vips_maplut(in, &image, table, NULL) : -1;
    g_clear_object(&table);
    if (!status)
        status = vips_copy(image, out, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
    g_clear_object(&image);
    return status;
}

int CVipsShim_mix_neighbors(VipsImage *in, VipsImage **out, double middle, double others)
{
    VipsImage *weights = vips_image_new_matrixv(
        3, 3, others, others, others, others, middle, others, others, others, others);
    int status = weights ? vips_conv(in, out, weights, "precision", VIPS_PRECISION_FLOAT, NULL) : -1;
    g_clear_object(&weights);
    return status;
}

int CVipsShim_sharpen_lightness(VipsImage *in, VipsImage **out, double sigma, double flat, double jagged)
{
    return vips_sharpen(in, out, "sigma", sigma, "m1", flat, "m2", jagged, NULL);
}
