#include "CVipsShim.h"
#include "LateVips.h"

#include <math.h>
#include <pthread.h>

/// sRGB's curve: light by 8-bit component, and components by light in 65535ths.
static float light[256];
static VipsPel components[65536];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compute(void)
{
    int value;
    for (value = 0; value < 256; value++) {
        double component = value / 255.0;
        light[value] = (float) (component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4));
    }
    for (value = 0; value < 65536; value++) {
        double part = value / 65535.0;
        double component = part <= 0.0031308 ? part * 12.92 : 1.055 * pow(part, 1 / 2.4) - 0.055;
        components[value] = (VipsPel) (component * 255 + 0.5);
    }
}

/// Looks up every component of `in` in a table, which must outlive the image.
static int look_up(VipsImage *in, VipsImage **out, const void *table, int count, VipsBandFormat format)
{
    VipsImage *curve = vips_image_new_from_memory(
        table, (size_t) count * vips_format_sizeof(format), count, 1, 1, format);
    int result = curve ? vips_maplut(in, out, curve, NULL) : -1;
    g_clear_object(&curve);
    return result;
}

int CVipsShim_linearize(VipsImage *in, VipsImage **out)
{
    pthread_once(&once, compute);
    return look_up(in, out, light, 256, VIPS_FORMAT_FLOAT);
}

/// Multiplies `in` by `factor`, and rounds and clips to unsigned integers.
static int in_integers(VipsImage *in, VipsImage **out, double factor, VipsBandFormat format)
{
    VipsImage *scaled = NULL;
    int result = vips_linear1(in, &scaled, factor, 0.5, NULL);
    if (!result)
        result = vips_cast(scaled, out, format, NULL);
    g_clear_object(&scaled);
    return result;
}

int CVipsShim_delinearize(VipsImage *in, VipsImage **out)
{
    VipsImage *steps = NULL;
    int result;
    pthread_once(&once, compute);
    result = in_integers(in, &steps, 65535, VIPS_FORMAT_USHORT);
    if (!result)
        result = look_up(steps, out, components, 65536, VIPS_FORMAT_UCHAR);
    g_clear_object(&steps);
    return result;
}

int CVipsShim_round(VipsImage *in, VipsImage **out)
{
    return in_integers(in, out, 1, VIPS_FORMAT_UCHAR);
}
