#ifndef CLightResampling_Mixing_H
#define CLightResampling_Mixing_H

#include <stdint.h>

#include "Filter.h"

/// Computes the weighted sum of `count` rows, pixel by pixel. Rows and result are aligned to 64 bytes, and are read and
/// written up to the next multiple.
void CLight_mix_rows(const int16_t *const *rows, const int16_t *weights, int count, int16_t *result, int width);

/// Computes weighted sums of columns for the target's samples from `first` to `end`, exclusive, multiplied by
/// `CLight_whole`; up to three more are overwritten.
///
/// The source's column `origin` is at `light`.
void CLight_mix_columns(
    const int16_t *light, int origin, const CLightFilter *filter, int first, int end, int32_t *sums);

#endif
