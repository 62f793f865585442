#include "Filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/// Samples on each side of a kernel's center, at equal size of source and target.
static const double radii[] = {[CLightLanczos] = 3, [CLightCatmullRom] = 2};

static int within(int value, int least, int most)
{
    return value < least ? least : (value > most ? most : value);
}

/// Adds Lanczos 3 around `center` to `sums`, by sample of the source from `first` on; returns the sum of all.
///
/// The sine of a third of the angle is rotated from tap to tap, and sin 3a = sin a · (3 − 4 sin² a).
static double weigh_lanczos(double *sums, int first, int source, double center, double stretch)
{
    const double radius = radii[CLightLanczos];
    int tap = (int) floor(center - radius * stretch) + 1, end = (int) ceil(center + radius * stretch);
    double turn = pi / (radius * stretch), angle = (tap - center) * turn;
    double sine = sin(angle), cosine = cos(angle), turn_sine = sin(turn), turn_cosine = cos(turn), whole = 0;
    for (; tap < end; tap++, angle += turn) {
        double next = sine * turn_cosine + cosine * turn_sine;
        double weight = fabs(angle) < 1e-9 ? 1 : sine * (3 - 4 * sine * sine) * sine / (3 * angle * angle);
        sums[within(tap, 0, source - 1) - first] += weight;
        whole += weight;
        cosine = cosine * turn_cosine - sine * turn_sine;
        sine = next;
    }
    return whole;
}

/// The same by Catmull and Rom.
static double weigh_catmull_rom(double *sums, int first, int source, double center, double stretch)
{
    const double radius = radii[CLightCatmullRom];
    int tap = (int) floor(center - radius * stretch) + 1, end = (int) ceil(center + radius * stretch);
    double whole = 0;
    for (; tap < end; tap++) {
        double far = fabs(tap - center) / stretch;
        double weight = far < 1 ? (1.5 * far - 2.5) * far * far + 1 : ((2.5 - 0.5 * far) * far - 4) * far + 2;
        sums[within(tap, 0, source - 1) - first] += weight;
        whole += weight;
    }
    return whole;
}

/// Rounds the weights to an exact sum: the largest one absorbs the difference.
static void round_weights(const double *sums, int count, double whole, int16_t *weights)
{
    int tap, largest = 0, rest = CLight_whole;
    for (tap = 0; tap < count; tap++) {
        weights[tap] = (int16_t) lrint(sums[tap] / whole * CLight_whole);
        rest -= weights[tap];
        if (weights[tap] > weights[largest])
            largest = tap;
    }
    weights[largest] = (int16_t) (weights[largest] + rest);
}

int CLight_filter_make(
    CLightFilter *filter, CLightKernel kernel, int source, double start, double length, int target)
{
    double step = length / target, stretch = step > 1 ? step : 1, radius = radii[kernel];
    int most = within((int) ceil(2 * radius * stretch) + 1, 1, source), sample, all;
    double *sums;
    filter->taps = (most + CLight_weights_step - 1) / CLight_weights_step * CLight_weights_step;
    // The last block of a run may begin at any column.
    all = target + CLight_columns_step - 1;
    filter->first = calloc((size_t) all * 2, sizeof *filter->first);
    filter->weights = calloc((size_t) all * (size_t) filter->taps, sizeof *filter->weights);
    sums = calloc((size_t) filter->taps, sizeof *sums);
    if (!filter->first || !filter->weights || !sums) {
        free(sums);
        CLight_filter_free(filter);
        return 0;
    }
    filter->count = filter->first + all;
    for (sample = 0; sample < target; sample++) {
        double center = start + (sample + 0.5) * step - 0.5, whole;
        int first = within((int) floor(center - radius * stretch) + 1, 0, source - 1);
        int end = within((int) ceil(center + radius * stretch), first + 1, source);
        memset(sums, 0, (size_t) filter->taps * sizeof *sums);
        whole = kernel == CLightLanczos ? weigh_lanczos(sums, first, source, center, stretch)
                                        : weigh_catmull_rom(sums, first, source, center, stretch);
        filter->first[sample] = first;
        filter->count[sample] = end - first;
        round_weights(sums, end - first, whole, filter->weights + (size_t) sample * (size_t) filter->taps);
    }
    for (; sample < all; sample++)
        filter->first[sample] = filter->first[target - 1];
    free(sums);
    return 1;
}

void CLight_filter_free(CLightFilter *filter)
{
    free(filter->first);
    free(filter->weights);
    filter->first = NULL;
    filter->weights = NULL;
}
