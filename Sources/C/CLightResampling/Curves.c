#include "Curves.h"

#include <math.h>
#include <pthread.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

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
    int value, is_limited;
    for (value = 0; value < 256; value++) {
        curves.light[0][value] = (int16_t) (light_of(value / 255.0) * CLight_white + 0.5);
        curves.light[1][value] = (int16_t) (light_of(within_one((value - 16) / 219.0)) * CLight_white + 0.5);
        for (is_limited = 0; is_limited < 2; is_limited++) {
            curves.light_bytes[is_limited][0][value] = (uint8_t) curves.light[is_limited][value];
            curves.light_bytes[is_limited][1][value] = (uint8_t) (curves.light[is_limited][value] >> 8);
        }
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

#if defined(__SSE2__)

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))

/// A table of 256 bytes in registers.
typedef struct {
    __m512i parts[4];
} Table;

AVX512 static inline Table loaded(const uint8_t *bytes)
{
    Table table;
    for (int index = 0; index < 4; index++)
        table.parts[index] = _mm512_loadu_si512(bytes + 64 * index);
    return table;
}

/// Looks up samples in the table; those in `is_upper` are 128 or more.
AVX512 static inline __m512i looked_up(Table table, __m512i samples, __mmask64 is_upper)
{
    return _mm512_mask_blend_epi8(is_upper, _mm512_permutex2var_epi8(table.parts[0], samples, table.parts[1]),
        _mm512_permutex2var_epi8(table.parts[2], samples, table.parts[3]));
}

AVX512 static void linearize_wide(
    const CLightCurves *curves, int is_limited, const uint8_t *samples, int16_t *light, int width)
{
    // The bytes of a register are unpacked within its quarters.
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    Table lower = loaded(curves->light_bytes[is_limited][0]), upper = loaded(curves->light_bytes[is_limited][1]);
    for (int x = 0; x < width; x += 64) {
        __mmask64 inside = width - x < 64 ? ((__mmask64) 1 << (width - x)) - 1 : ~(__mmask64) 0;
        __m512i values = _mm512_permutexvar_epi64(order, _mm512_maskz_loadu_epi8(inside, samples + x));
        __mmask64 is_upper = _mm512_movepi8_mask(values);
        __m512i low = looked_up(lower, values, is_upper), high = looked_up(upper, values, is_upper);
        _mm512_mask_storeu_epi16(light + x, (__mmask32) inside, _mm512_unpacklo_epi8(low, high));
        _mm512_mask_storeu_epi16(light + x + 32, (__mmask32) (inside >> 32), _mm512_unpackhi_epi8(low, high));
    }
}

#endif

void CLight_linearize(const CLightCurves *curves, int is_limited, const uint8_t *samples, int16_t *light, int width)
{
    const int16_t *curve = curves->light[is_limited];
#if defined(__SSE2__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi")) {
        linearize_wide(curves, is_limited, samples, light, width);
        return;
    }
#endif
    for (int x = 0; x < width; x++)
        light[x] = curve[samples[x]];
}
