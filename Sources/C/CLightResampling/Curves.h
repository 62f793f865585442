#ifndef CLightResampling_Curves_H
#define CLightResampling_Curves_H

#include "CLightResampling.h"

/// Converts samples to light by the curve of their range.
void CLight_linearize(const CLightCurves *curves, int is_limited, const uint8_t *samples, int16_t *light, int width);

#endif
