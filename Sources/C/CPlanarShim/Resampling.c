#include "CPlanarShim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zimg.h>

#include "Light.h"

struct CPlanarShimGraph {
    zimg_filter_graph *filters;
    CPlanarShimResampling resampling;
    /// How often the outermost samples are repeated beyond the source's edges: to the left and right, above and below.
    unsigned margin_across, margin_down;
    /// Working memory of the filters, a multiple of 64 bytes.
    size_t filters_room;
    /// Rows with their margins, and rows of light of the target, that are kept at a time, and the masks of their numbers.
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

/// How many samples the filter reads beyond the edges of a side; none if the side stays as it is.
///
/// zimg mirrors a source at its edges. A thin line along an edge would then count twice, so the outermost samples are repeated instead,
/// as other resamplers do.
static unsigned margin(CPlanarShimKernel kernel, int source, double start, double length, int target)
{
    double radius = kernel == CPlanarShimCatmullRom ? 2 : 3;
    double stretch = length / target;
    if (start == 0 && length == source && target == source)
        return 0;
    return (unsigned) ceil(radius * (stretch > 1 ? stretch : 1)) + 1;
}

/// Samples of a source's row with its margins.
static size_t padded_width(const CPlanarShimGraph *graph)
{
    return (size_t) graph->resampling.source_width + 2 * graph->margin_across;
}

/// Bytes of such a row while it is filtered.
static size_t padded_row(const CPlanarShimGraph *graph)
{
    int is_light = graph->resampling.mixing == CPlanarShimLight;
    return in_whole_lines(padded_width(graph) * (is_light ? sizeof(float) : 1));
}

static zimg_filter_graph *build(const CPlanarShimGraph *graph)
{
    const CPlanarShimResampling *resampling = &graph->resampling;
    zimg_image_format source, target;
    zimg_graph_builder_params parameters;
    zimg_image_format_default(&source, ZIMG_API_VERSION);
    source.width = (unsigned) padded_width(graph);
    source.height = (unsigned) resampling->source_height + 2 * graph->margin_down;
    source.pixel_type = resampling->mixing == CPlanarShimLight ? ZIMG_PIXEL_FLOAT : ZIMG_PIXEL_BYTE;
    // Each plane is resampled as a grey image, so that it gets its exact size; the sizes of subsampled planes would be rounded.
    source.color_family = ZIMG_COLOR_GREY;
    source.pixel_range = ZIMG_RANGE_FULL;
    target = source;
    source.active_region.left = resampling->left + graph->margin_across;
    source.active_region.top = resampling->top + graph->margin_down;
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
    graph->margin_across = margin(
        resampling.kernel, resampling.source_width, resampling.left, resampling.width, resampling.target_width);
    graph->margin_down = margin(
        resampling.kernel, resampling.source_height, resampling.top, resampling.height, resampling.target_height);
    graph->filters = build(graph);
    if (!graph->filters || zimg_filter_graph_get_tmp_size(graph->filters, &graph->filters_room)
        || zimg_filter_graph_get_input_buffering(graph->filters, &source_rows)
        || zimg_filter_graph_get_output_buffering(graph->filters, &target_rows)) {
        CPlanarShim_graph_free(graph);
        return NULL;
    }
    graph->filters_room = in_whole_lines(graph->filters_room);
    graph->source_rows = kept_rows(
        source_rows, resampling.source_height + 2 * (int) graph->margin_down, &graph->source_mask);
    graph->target_rows = kept_rows(target_rows, resampling.target_height, &graph->target_mask);
    return graph;
}

/// Bytes of the rows of light that the target gets before they become samples.
static size_t target_light(const CPlanarShimGraph *graph)
{
    if (graph->resampling.mixing != CPlanarShimLight)
        return 0;
    return graph->target_rows * row_of_light(graph->resampling.target_width);
}

size_t CPlanarShim_graph_room(const CPlanarShimGraph *graph)
{
    return graph->filters_room + graph->source_rows * padded_row(graph) + target_light(graph);
}

/// The context of the callbacks of a run.
typedef struct {
    CPlanarShimWatch watch;
    CPlanarShimRows source, target;
    zimg_image_buffer_const from;
    zimg_image_buffer to;
    int source_width, source_height, target_width;
    unsigned margin_across, margin_down;
    /// NULL if samples are mixed as they are.
    const CPlanarShimCurves *curves;
} Run;

static unsigned end_of(unsigned right, int width)
{
    return right < (unsigned) width ? right : (unsigned) width;
}

static unsigned between(unsigned value, unsigned least, unsigned most)
{
    return value < least ? least : value > most ? most : value;
}

/// Copies a row of the source, with its first and last sample repeated as far as the margins go.
static void pad(const Run *run, const uint8_t *samples, uint8_t *row, unsigned left, unsigned inner, unsigned outer, unsigned right)
{
    memset(row + left, samples[0], inner - left);
    if (inner < outer)
        memcpy(row + inner, samples + (inner - run->margin_across), outer - inner);
    memset(row + outer, samples[run->source_width - 1], right - outer);
}

/// The same, with samples converted to light.
static void pad_light(const Run *run, const uint8_t *samples, float *row, unsigned left, unsigned inner, unsigned outer, unsigned right)
{
    const float *curve = run->curves->light[run->source.is_limited];
    unsigned x;
    for (x = left; x < inner; x++)
        row[x] = curve[samples[0]];
    for (; x < outer; x++)
        row[x] = curve[samples[x - run->margin_across]];
    for (; x < right; x++)
        row[x] = curve[samples[run->source_width - 1]];
}

/// Hands zimg the columns from `left` to `right` of a row; both count the margins.
static int supply(void *user, unsigned number, unsigned left, unsigned right)
{
    const Run *run = user;
    unsigned width = (unsigned) run->source_width, last = (unsigned) run->source_height - 1;
    unsigned row = between(number, run->margin_down, run->margin_down + last) - run->margin_down;
    const uint8_t *samples = (const uint8_t *) run->source.samples + row * run->source.stride;
    char *place = (char *) run->from.plane[0].data
        + (ptrdiff_t) (number & run->from.plane[0].mask) * run->from.plane[0].stride;
    // zimg may ask for whole registers.
    unsigned end = between(right, left, width + 2 * run->margin_across);
    unsigned inner = between(run->margin_across, left, end), outer = between(run->margin_across + width, left, end);
    if (run->curves)
        pad_light(run, samples, (float *) place, left, inner, outer, end);
    else
        pad(run, samples, (uint8_t *) place, left, inner, outer, end);
    return number % 32 == 0 && run->watch.should_stop(run->watch.context);
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
    char *padded = (char *) room + graph->filters_room;
    Run run = {
        .watch = watch, .source = source, .target = target,
        .source_width = graph->resampling.source_width, .source_height = graph->resampling.source_height,
        .target_width = graph->resampling.target_width,
        .margin_across = graph->margin_across, .margin_down = graph->margin_down,
    };
    run.from.version = ZIMG_API_VERSION;
    run.from.plane[0].data = padded;
    run.from.plane[0].stride = (ptrdiff_t) padded_row(graph);
    run.from.plane[0].mask = graph->source_mask;
    run.to.version = ZIMG_API_VERSION;
    run.to.plane[0].data = is_light ? padded + graph->source_rows * padded_row(graph) : target.samples;
    run.to.plane[0].stride = (ptrdiff_t) (is_light ? row_of_light(run.target_width) : target.stride);
    run.to.plane[0].mask = is_light ? graph->target_mask : ZIMG_BUFFER_MAX;
    if (is_light)
        run.curves = CPlanarShim_curves();
    switch (zimg_filter_graph_process(
        graph->filters, &run.from, &run.to, room, supply, &run, is_light ? delinearize : NULL, &run)) {
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
