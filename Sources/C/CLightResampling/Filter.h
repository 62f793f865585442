#ifndef CLightResampling_Filter_H
#define CLightResampling_Filter_H

#include "CLightResampling.h"

/// The sum of the weights of a sample.
#define CLight_whole 16384

/// The number of weights is a multiple of this.
#define CLight_weights_step 8

/// There are weights of zero for up to one less samples of the target than this, after the last one.
#define CLight_columns_step 8

/// The weights of the source's samples for each sample of the target, along one side.
typedef struct {
    /// Weights per sample; the last may be zeros for samples beyond the source.
    int taps;
    /// For each sample of the target, the first weighted sample, and the number of samples within the source.
    int *first, *count;
    /// Weights by sample of the target and tap.
    int16_t *weights;
} CLightFilter;

/// Computes weights for `length` samples from `start` on that become `target` samples; returns 0 if memory runs out.
///
/// Weights beyond the source's ends are added to the outermost samples.
int CLight_filter_make(
    CLightFilter *filter, CLightKernel kernel, int source, double start, double length, int target);

void CLight_filter_free(CLightFilter *filter);

#endif
