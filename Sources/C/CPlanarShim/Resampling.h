#ifndef Resampling_h
#define Resampling_h

#include "CPlanarShim.h"

#include <CLightResampling.h>

/// Resamples light; NULL if the graph mixes samples as they are.
CLightResampler *CPlanarShim_graph_light(const CPlanarShimGraph *graph);

/// The kind of resampling that the graph does.
CPlanarShimResampling CPlanarShim_graph_resampling(const CPlanarShimGraph *graph);

/// Bytes of working memory that a run for colors needs besides that of its resampler.
size_t CPlanarShim_color_room(CPlanarShimResampling resampling);

#endif
