#ifndef Resampling_h
#define Resampling_h

#include "CPlanarShim.h"

/// Returns the resampler for linear light; NULL if the graph mixes gamma-encoded samples.
CLightResampler *CPlanarShim_graph_light(const CPlanarShimGraph *graph);

/// Returns the graph's resampling.
CPlanarShimResampling CPlanarShim_graph_resampling(const CPlanarShimGraph *graph);

static inline size_t in_whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

#endif
