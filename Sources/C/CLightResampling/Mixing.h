#ifndef CLightResampling_Mixing_H
#define CLightResampling_Mixing_H

#include <stdint.h>

#include "Filter.h"

/// Samples that are mixed at a time: those in two of the widest registers.
#define CLight_rows_step 64

/// Computes the weighted sum of `count` rows, pixel by pixel. Rows and result are aligned to 64 bytes, and are read and
/// written up to the next multiple of `CLight_rows_step` samples.
void CLight_mix_rows(const int16_t *const *rows, const int16_t *weights, int count, int16_t *result, int width);

/// Computes weighted sums of columns for the target's samples from `first` to `end`, exclusive, multiplied by
/// `CLight_whole`; up to seven more are overwritten.
///
/// The source's column `origin` is at `light`.
void CLight_mix_columns(
    const int16_t *light, int origin, const CLightFilter *filter, int first, int end, int32_t *sums);

#endif
