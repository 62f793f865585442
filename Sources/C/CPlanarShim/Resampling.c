#include "CPlanarShim.h"

#include <stdlib.h>

#include <zimg.h>

#include "Light.h"

struct CPlanarShimGraph {
    zimg_filter_graph *filters;
    CPlanarShimResampling resampling;
    /// Working memory of the filters, a multiple of 64 bytes.
    size_t filters_room;
    /// The number of rows of light that are kept at a time, and the bit mask of their indices, for source and target.
    size_t source_rows, target_rows;
    unsigned source_mask, target_mask;
};

static size_t in_whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t row_of_light(int width)
{
    return in_whole_lines((size_t) width * sizeof(float));
}

static zimg_filter_graph *build(const CPlanarShimResampling *resampling)
{
    zimg_image_format source, target;
    zimg_graph_builder_params parameters;
    zimg_image_format_default(&source, ZIMG_API_VERSION);
    source.width = (unsigned) resampling->source_width;
    source.height = (unsigned) resampling->source_height;
    source.pixel_type = resampling->mixing == CPlanarShimLight ? ZIMG_PIXEL_FLOAT : ZIMG_PIXEL_BYTE;
    // Each plane is resampled as a grey image, so that it gets its exact size; the sizes of subsampled planes would be rounded.
    source.color_family = ZIMG_COLOR_GREY;
    source.pixel_range = ZIMG_RANGE_FULL;
    target = source;
    source.active_region.left = resampling->left;
    source.active_region.top = resampling->top;
    source.active_region.width = resampling->width;
    source.active_region.height = resampling->height;
    target.width = (unsigned) resampling->target_width;
    target.height = (unsigned) resampling->target_height;
    if (resampling->mixing == CPlanarShimWords) {
        target.pixel_type = ZIMG_PIXEL_WORD;
        target.depth = 16;
    }
    zimg_graph_builder_params_default(&parameters, ZIMG_API_VERSION);
    if (resampling->kernel == CPlanarShimCatmullRom) {
        parameters.resample_filter = ZIMG_RESIZE_BICUBIC;
        parameters.filter_param_a = 0;
        parameters.filter_param_b = 0.5;
    } else {
        parameters.resample_filter = ZIMG_RESIZE_LANCZOS;
        parameters.filter_param_a = 3;
    }
    parameters.cpu_type = ZIMG_CPU_AUTO;
    return zimg_filter_graph_build(&source, &target, &parameters);
}

/// How many of `height` rows are kept if `count` are needed at a time.
static size_t kept_rows(unsigned count, int height, unsigned *mask)
{
    *mask = zimg_select_buffer_mask(count);
    return *mask < (unsigned) height ? (size_t) *mask + 1 : (size_t) height;
}

CPlanarShimGraph *CPlanarShim_graph_make(CPlanarShimResampling resampling)
{
    unsigned source_rows = 0, target_rows = 0;
    CPlanarShimGraph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->resampling = resampling;
    graph->filters = build(&resampling);
    if (!graph->filters || zimg_filter_graph_get_tmp_size(graph->filters, &graph->filters_room)
        || zimg_filter_graph_get_input_buffering(graph->filters, &source_rows)
        || zimg_filter_graph_get_output_buffering(graph->filters, &target_rows)) {
        CPlanarShim_graph_free(graph);
        return NULL;
    }
    graph->filters_room = in_whole_lines(graph->filters_room);
    graph->source_rows = kept_rows(source_rows, resampling.source_height, &graph->source_mask);
    graph->target_rows = kept_rows(target_rows, resampling.target_height, &graph->target_mask);
    return graph;
}

size_t CPlanarShim_graph_room(const CPlanarShimGraph *graph)
{
    const CPlanarShimResampling *resampling = &graph->resampling;
    if (resampling->mixing != CPlanarShimLight)
        return graph->filters_room;
    return graph->filters_room + graph->source_rows * row_of_light(resampling->source_width)
        + graph->target_rows * row_of_light(resampling->target_width);
}

/// The context of the callbacks of a run.
typedef struct {
    CPlanarShimWatch watch;
    CPlanarShimRows source, target;
    zimg_image_buffer_const from;
    zimg_image_buffer to;
    int source_width, target_width;
    const CPlanarShimCurves *curves;
} Run;

/// Asks at every 32nd row whether to stop.
static int ask(void *user, unsigned row, unsigned left, unsigned right)
{
    const Run *run = user;
    (void) left, (void) right;
    return row % 32 == 0 && run->watch.should_stop(run->watch.context);
}

static unsigned end_of(unsigned right, int width)
{
    return right < (unsigned) width ? right : (unsigned) width;
}

/// Converts samples of the source to light.
static int linearize(void *user, unsigned row, unsigned left, unsigned right)
{
    const Run *run = user;
    const uint8_t *samples = (const uint8_t *) run->source.samples + row * run->source.stride;
    const float *curve = run->curves->light[run->source.is_limited];
    float *light = (float *) ((char *) run->from.plane[0].data
        + (ptrdiff_t) (row & run->from.plane[0].mask) * run->from.plane[0].stride);
    unsigned x, end = end_of(right, run->source_width);
    for (x = left; x < end; x++)
        light[x] = curve[samples[x]];
    return ask(user, row, left, right);
}

/// Converts light to samples of the target.
static int delinearize(void *user, unsigned row, unsigned left, unsigned right)
{
    const Run *run = user;
    const float *light = (const float *) ((const char *) run->to.plane[0].data
        + (ptrdiff_t) (row & run->to.plane[0].mask) * run->to.plane[0].stride);
    const uint8_t *curve = run->curves->samples[run->target.is_limited];
    uint8_t *samples = (uint8_t *) run->target.samples + row * run->target.stride;
    unsigned x, end = end_of(right, run->target_width);
    for (x = left; x < end; x++) {
        // Written so that NaN becomes 0.
        float value = light[x] > 0 ? light[x] : 0;
        samples[x] = curve[(int) ((value < 1 ? value : 1) * CPlanarShim_light_steps + 0.5f)];
    }
    return 0;
}

CPlanarShimStatus CPlanarShim_graph_run(
    const CPlanarShimGraph *graph, CPlanarShimRows source, CPlanarShimRows target, void *room, CPlanarShimWatch watch)
{
    int is_light = graph->resampling.mixing == CPlanarShimLight;
    size_t source_row = row_of_light(graph->resampling.source_width);
    char *source_light = (char *) room + graph->filters_room;
    Run run = {
        .watch = watch, .source = source, .target = target,
        .source_width = graph->resampling.source_width, .target_width = graph->resampling.target_width,
    };
    run.from.version = ZIMG_API_VERSION;
    run.from.plane[0].data = is_light ? source_light : source.samples;
    run.from.plane[0].stride = (ptrdiff_t) (is_light ? source_row : source.stride);
    run.from.plane[0].mask = is_light ? graph->source_mask : ZIMG_BUFFER_MAX;
    run.to.version = ZIMG_API_VERSION;
    run.to.plane[0].data = is_light ? source_light + graph->source_rows * source_row : target.samples;
    run.to.plane[0].stride = (ptrdiff_t) (is_light ? row_of_light(run.target_width) : target.stride);
    run.to.plane[0].mask = is_light ? graph->target_mask : ZIMG_BUFFER_MAX;
    if (is_light)
        run.curves = CPlanarShim_curves();
    switch (zimg_filter_graph_process(
        graph->filters, &run.from, &run.to, room, is_light ? linearize : ask, &run, is_light ? delinearize : NULL, &run)) {
    case ZIMG_ERROR_SUCCESS: return CPlanarShimDone;
    case ZIMG_ERROR_USER_CALLBACK_FAILED: return CPlanarShimStopped;
    default: return CPlanarShimFailed;
    }
}

void CPlanarShim_graph_free(CPlanarShimGraph *graph)
{
    if (!graph)
        return;
    zimg_filter_graph_free(graph->filters);
    free(graph);
}
