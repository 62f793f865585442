#ifndef CLightResampling_Mixing_H
#define CLightResampling_Mixing_H

#include <stdint.h>

#include "Filter.h"

/// Weighs `count` rows, pixel by pixel. Rows and result begin at multiples of 64 bytes, and are read and written up to the next one.
void CLight_mix_rows(const int16_t *const *rows, const int16_t *weights, int count, int16_t *result, int width);

/// Weighs columns: the sums of the target's samples from `first` to before `end`, multiplied by `CLight_whole`; up to three more are
/// overwritten.
///
/// The source's column `origin` stands at `light`.
void CLight_mix_columns(
    const int16_t *light, int origin, const CLightFilter *filter, int first, int end, int32_t *sums);

#endif
