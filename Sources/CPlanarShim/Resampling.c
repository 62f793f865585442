#include "CPlanarShim.h"

#include <string.h>

#include <zimg.h>

static zimg_filter_graph *graph_of(const CPlanarShimGraph *graph)
{
    return (zimg_filter_graph *) graph;
}

CPlanarShimGraph *CPlanarShim_graph_make(CPlanarShimResampling resampling)
{
    zimg_image_format source, target;
    zimg_graph_builder_params parameters;
    zimg_image_format_default(&source, ZIMG_API_VERSION);
    source.width = (unsigned) resampling.source_width;
    source.height = (unsigned) resampling.source_height;
    source.pixel_type = ZIMG_PIXEL_BYTE;
    // Each plane alone, whatever it means: so it gets its exact size, which a picture of subsampled planes would round.
    source.color_family = ZIMG_COLOR_GREY;
    source.pixel_range = ZIMG_RANGE_FULL;
    target = source;
    source.active_region.left = resampling.left;
    source.active_region.top = resampling.top;
    source.active_region.width = resampling.width;
    source.active_region.height = resampling.height;
    target.width = (unsigned) resampling.target_width;
    target.height = (unsigned) resampling.target_height;
    if (resampling.is_deep) {
        target.pixel_type = ZIMG_PIXEL_WORD;
        target.depth = 16;
    }
    zimg_graph_builder_params_default(&parameters, ZIMG_API_VERSION);
    parameters.resample_filter = ZIMG_RESIZE_LANCZOS;
    parameters.filter_param_a = 3;
    parameters.cpu_type = ZIMG_CPU_AUTO;
    return (CPlanarShimGraph *) zimg_filter_graph_build(&source, &target, &parameters);
}

size_t CPlanarShim_graph_room(const CPlanarShimGraph *graph)
{
    size_t count = 0;
    zimg_filter_graph_get_tmp_size(graph_of(graph), &count);
    return count;
}

/// Asks at every 32nd row.
static int ask(void *user, unsigned row, unsigned left, unsigned right)
{
    const CPlanarShimWatch *watch = user;
    (void) left, (void) right;
    return row % 32 == 0 && watch->should_stop(watch->context);
}

CPlanarShimStatus CPlanarShim_graph_run(
    const CPlanarShimGraph *graph, const void *source, size_t source_stride, void *target, size_t target_stride,
    void *room, CPlanarShimWatch watch)
{
    zimg_image_buffer_const from = {.version = ZIMG_API_VERSION};
    zimg_image_buffer to = {.version = ZIMG_API_VERSION};
    from.plane[0].data = source;
    from.plane[0].stride = (ptrdiff_t) source_stride;
    from.plane[0].mask = ZIMG_BUFFER_MAX;
    to.plane[0].data = target;
    to.plane[0].stride = (ptrdiff_t) target_stride;
    to.plane[0].mask = ZIMG_BUFFER_MAX;
    switch (zimg_filter_graph_process(graph_of(graph), &from, &to, room, ask, &watch, NULL, NULL)) {
    case ZIMG_ERROR_SUCCESS: return CPlanarShimDone;
    case ZIMG_ERROR_USER_CALLBACK_FAILED: return CPlanarShimStopped;
    default: return CPlanarShimFailed;
    }
}

void CPlanarShim_graph_free(CPlanarShimGraph *graph)
{
    zimg_filter_graph_free(graph_of(graph));
}
