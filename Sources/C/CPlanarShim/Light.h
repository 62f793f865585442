#ifndef CPlanarShim_Light_H
#define CPlanarShim_Light_H

#include <stdint.h>

/// Steps of light that are told apart on the way back to 8 bits: in the dark five of them make one of a sample.
#define CPlanarShim_light_steps 16384

/// sRGB's curve for samples of full (0) and of limited range (1).
typedef struct {
    /// Light, 0 to 1, by sample.
    float light[2][256];
    /// Samples by step of light.
    uint8_t samples[2][CPlanarShim_light_steps + 1];
} CPlanarShimCurves;

/// The curves, computed at the first call.
const CPlanarShimCurves *CPlanarShim_curves(void);

#endif
