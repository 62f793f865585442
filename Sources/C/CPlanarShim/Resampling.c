#include "CPlanarShim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zimg.h>

#include "Resampling.h"

struct CPlanarShimGraph {
    CPlanarShimResampling resampling;
    /// The resampler for linear light; NULL for gamma-encoded samples. The other members are for zimg.
    CLightResampler *light;
    zimg_filter_graph *filters;
    /// Repetitions of the outermost samples beyond the source's edges: to the left and right, above and below.
    unsigned margin_across, margin_down;
    /// Working memory of the filters, a multiple of 64 bytes.
    size_t filters_room;
    /// Rows with their margins that are buffered, and the mask of their numbers.
    size_t source_rows;
    unsigned source_mask;
};

/// Returns how many samples the filter reads beyond the edges of a side; 0 if the side does not change.
///
/// zimg mirrors a source at its edges. A thin line along an edge would then count twice, so the outermost samples are
/// repeated instead, as in other resamplers.
static unsigned margin(CPlanarShimKernel kernel, int source, double start, double length, int target)
{
    double radius = kernel == CPlanarShimCatmullRom ? 2 : 3;
    double stretch = length / target;
    if (start == 0 && length == source && target == source)
        return 0;
    return (unsigned) ceil(radius * (stretch > 1 ? stretch : 1)) + 1;
}

/// Returns the samples of a source's row with its margins.
static size_t padded_width(const CPlanarShimGraph *graph)
{
    return (size_t) graph->resampling.sizes.source_width + 2 * graph->margin_across;
}

/// Returns the bytes of such a row while it is filtered.
static size_t padded_row(const CPlanarShimGraph *graph)
{
    return in_whole_lines(padded_width(graph));
}

static zimg_filter_graph *build(const CPlanarShimGraph *graph)
{
    const CPlanarShimResampling *resampling = &graph->resampling;
    zimg_image_format source, target;
    zimg_graph_builder_params parameters;
    zimg_image_format_default(&source, ZIMG_API_VERSION);
    source.width = (unsigned) padded_width(graph);
    source.height = (unsigned) resampling->sizes.source_height + 2 * graph->margin_down;
    source.pixel_type = ZIMG_PIXEL_BYTE;
    // Each plane is resampled as a gray image, so that it gets its exact size; the sizes of subsampled planes would be rounded.
    source.color_family = ZIMG_COLOR_GREY;
    source.pixel_range = ZIMG_RANGE_FULL;
    target = source;
    source.active_region.left = resampling->sizes.left + graph->margin_across;
    source.active_region.top = resampling->sizes.top + graph->margin_down;
    source.active_region.width = resampling->sizes.width;
    source.active_region.height = resampling->sizes.height;
    target.width = (unsigned) resampling->sizes.target_width;
    target.height = (unsigned) resampling->sizes.target_height;
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

/// Returns how many of `height` rows to buffer if `count` are needed at a time.
static size_t kept_rows(unsigned count, int height, unsigned *mask)
{
    *mask = zimg_select_buffer_mask(count);
    return *mask < (unsigned) height ? (size_t) *mask + 1 : (size_t) height;
}

/// Prepares zimg; returns 0 if it fails.
static int prepare(CPlanarShimGraph *graph)
{
    const CLightResampling *sizes = &graph->resampling.sizes;
    CPlanarShimKernel kernel = graph->resampling.kernel;
    unsigned source_rows = 0;
    graph->margin_across = margin(kernel, sizes->source_width, sizes->left, sizes->width, sizes->target_width);
    graph->margin_down = margin(kernel, sizes->source_height, sizes->top, sizes->height, sizes->target_height);
    graph->filters = build(graph);
    if (!graph->filters || zimg_filter_graph_get_tmp_size(graph->filters, &graph->filters_room)
        || zimg_filter_graph_get_input_buffering(graph->filters, &source_rows))
        return 0;
    graph->filters_room = in_whole_lines(graph->filters_room);
    graph->source_rows = kept_rows(
        source_rows, sizes->source_height + 2 * (int) graph->margin_down, &graph->source_mask);
    return 1;
}

static int mixes_light(CPlanarShimResampling resampling)
{
    return resampling.mixing == CPlanarShimLight || resampling.mixing == CPlanarShimLightOfColors;
}

CPlanarShimGraph *CPlanarShim_graph_make(CPlanarShimResampling resampling)
{
    CPlanarShimGraph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return NULL;
    graph->resampling = resampling;
    if (mixes_light(resampling))
        graph->light = CLight_make(&resampling.sizes);
    if (mixes_light(resampling) ? !graph->light : !prepare(graph)) {
        CPlanarShim_graph_free(graph);
        return NULL;
    }
    return graph;
}

size_t CPlanarShim_graph_room(const CPlanarShimGraph *graph)
{
    return graph->light ? CLight_room(graph->light) : graph->filters_room + graph->source_rows * padded_row(graph);
}

CLightResampler *CPlanarShim_graph_light(const CPlanarShimGraph *graph)
{
    return graph->light;
}

CPlanarShimResampling CPlanarShim_graph_resampling(const CPlanarShimGraph *graph)
{
    return graph->resampling;
}

/// The context of the callbacks of a run.
typedef struct {
    CPixelsWatch watch;
    CPlanarShimRows source;
    zimg_image_buffer_const from;
    int source_width, source_height;
    /// The first column of the source that the light resampler reads.
    int first_column;
    unsigned margin_across, margin_down;
} Run;

static const uint8_t *row_of(CPlanarShimRows rows, unsigned number)
{
    return (const uint8_t *) rows.samples + number * rows.stride;
}

static unsigned between(unsigned value, unsigned least, unsigned most)
{
    return value < least ? least : (value > most ? most : value);
}

/// Copies a row of the source, repeating its first and last sample in the margins.
static void pad(const Run *run, const uint8_t *samples, uint8_t *row, unsigned left, unsigned inner, unsigned outer, unsigned right)
{
    memset(row + left, samples[0], inner - left);
    if (inner < outer)
        memcpy(row + inner, samples + (inner - run->margin_across), outer - inner);
    memset(row + outer, samples[run->source_width - 1], right - outer);
}

/// Passes the columns from `left` to `right` of a row to zimg; both include the margins.
static int supply(void *user, unsigned number, unsigned left, unsigned right)
{
    const Run *run = user;
    unsigned width = (unsigned) run->source_width, last = (unsigned) run->source_height - 1;
    unsigned row = between(number, run->margin_down, run->margin_down + last) - run->margin_down;
    const uint8_t *samples = row_of(run->source, row);
    char *place = (char *) run->from.plane[0].data
        + (ptrdiff_t) (number & run->from.plane[0].mask) * run->from.plane[0].stride;
    // zimg may request whole registers.
    unsigned end = between(right, left, width + 2 * run->margin_across);
    unsigned inner = between(run->margin_across, left, end), outer = between(run->margin_across + width, left, end);
    pad(run, samples, (uint8_t *) place, left, inner, outer, end);
    return number % 32 == 0 && run->watch.should_stop(run->watch.context);
}

/// Passes a row to the light resampler; returns NULL to stop it.
static const uint8_t *supply_light(void *user, int number)
{
    const Run *run = user;
    if (number % 32 == 0 && run->watch.should_stop(run->watch.context))
        return NULL;
    return row_of(run->source, (unsigned) number) + run->first_column;
}

static CPlanarShimStatus run_light(
    const CPlanarShimGraph *graph, CPlanarShimRows source, CPlanarShimRows target, void *room, CPixelsWatch watch)
{
    Run run = {.watch = watch, .source = source};
    CLightSource rows = {.row = supply_light, .context = &run, .is_limited = source.is_limited};
    CLightRun light = CLight_start(graph->light, (CLightRange) {0, graph->resampling.sizes.target_width}, room);
    int row;
    run.first_column = light.source.first;
    for (row = 0; row < graph->resampling.sizes.target_height; row++) {
        uint8_t *samples = (uint8_t *) target.samples + (size_t) row * target.stride;
        if (!CLight_make_row(&light, rows, row, samples, target.is_limited))
            return CPlanarShimStopped;
    }
    return CPlanarShimDone;
}

CPlanarShimStatus CPlanarShim_graph_run(
    const CPlanarShimGraph *graph, CPlanarShimRows source, CPlanarShimRows target, void *room, CPixelsWatch watch)
{
    Run run = {
        .watch = watch,
        .source = source,
        .source_width = graph->resampling.sizes.source_width,
        .source_height = graph->resampling.sizes.source_height,
        .margin_across = graph->margin_across,
        .margin_down = graph->margin_down,
    };
    zimg_image_buffer to = {.version = ZIMG_API_VERSION};
    if (graph->light)
        return run_light(graph, source, target, room, watch);
    run.from.version = ZIMG_API_VERSION;
    run.from.plane[0].data = (char *) room + graph->filters_room;
    run.from.plane[0].stride = (ptrdiff_t) padded_row(graph);
    run.from.plane[0].mask = graph->source_mask;
    to.plane[0].data = target.samples;
    to.plane[0].stride = (ptrdiff_t) target.stride;
    to.plane[0].mask = ZIMG_BUFFER_MAX;
    switch (zimg_filter_graph_process(graph->filters, &run.from, &to, room, supply, &run, NULL, NULL)) {
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
    CLight_free(graph->light);
    free(graph);
}
