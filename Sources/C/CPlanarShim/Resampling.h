#ifndef Resampling_h
#define Resampling_h

#include "CPlanarShim.h"

#include <CLightResampling.h>

/// Returns the resampler for linear light; NULL if the graph mixes gamma-encoded samples.
CLightResampler *CPlanarShim_graph_light(const CPlanarShimGraph *graph);

/// Returns the graph's resampling.
CPlanarShimResampling CPlanarShim_graph_resampling(const CPlanarShimGraph *graph);

/// Returns the working memory of a color run in bytes, without its resampler's.
size_t CPlanarShim_color_room(CPlanarShimResampling resampling);

#endif
