#include "CLightResampling.h"

#include <math.h>
#include <pthread.h>

static CLightCurves curves;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static double within_one(double value)
{
    return value < 0 ? 0 : (value > 1 ? 1 : value);
}

static double light_of(double component)
{
    return component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4);
}

static double component_of(double light)
{
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static void compute(void)
{
    int value;
    for (value = 0; value < 256; value++) {
        curves.light[0][value] = (int16_t) (light_of(value / 255.0) * CLight_white + 0.5);
        curves.light[1][value] = (int16_t) (light_of(within_one((value - 16) / 219.0)) * CLight_white + 0.5);
    }
    for (value = 0; value <= CLight_white; value++) {
        double component = component_of((double) value / CLight_white);
        curves.samples[0][value] = (uint8_t) (component * 255 + 0.5);
        curves.samples[1][value] = (uint8_t) (component * 219 + 16.5);
    }
}

const CLightCurves *CLight_curves(void)
{
    pthread_once(&once, compute);
    return &curves;
}
