#ifndef CPlanarShim_Light_H
#define CPlanarShim_Light_H

#include <stdint.h>

/// Steps of light in the table that converts back to 8 bits: in dark colours, five steps are one step of a sample.
#define CPlanarShim_light_steps 16384

/// sRGB's curve for samples of full range (index 0) and of limited range (index 1).
typedef struct {
    /// Light, 0 to 1, by sample.
    float light[2][256];
    /// Samples by step of light.
    uint8_t samples[2][CPlanarShim_light_steps + 1];
} CPlanarShimCurves;

/// The curves, computed at the first call.
const CPlanarShimCurves *CPlanarShim_curves(void);

#endif
