#include "CVipsShim.h"
#include "LateVips.h"

#include <CLightResampling.h>

// Resampling in linear light as an operation of libvips, which computes the wanted pixels on demand.

/// The state of one thread that computes pixels.
typedef struct {
    const CLightResampler *resampler;
    VipsRegion *region;
    CLightRun run;
    void *scratch;
    /// Whether `run` has started.
    gboolean has_run;
    /// Rows of the source after the last one that is currently needed.
    int end;
} Sequence;

/// Rows of the source that are computed at a time.
enum { rows_at_a_time = 16 };

static int stop(void *sequence, void *in, void *resampler)
{
    Sequence *state = sequence;
    (void) in, (void) resampler;
    g_clear_object(&state->region);
    g_free(state->scratch);
    g_free(state);
    return 0;
}

static void *start(VipsImage *out, void *in, void *resampler)
{
    Sequence *state = g_new0(Sequence, 1);
    (void) out;
    state->resampler = resampler;
    state->region = vips_region_new(in);
    state->scratch = g_aligned_alloc(1, CLight_scratch_size(resampler), 64);
    return state;
}

/// Returns the samples of a row for the run; NULL if they cannot be computed.
static const uint8_t *source_row(void *context, int number)
{
    Sequence *state = context;
    VipsRect *valid = &state->region->valid;
    CLightRange columns = state->run.source;
    VipsRect wanted = {columns.first, number, columns.end - columns.first, 1};
    if (!vips_rect_includesrect(valid, &wanted) || !state->region->data) {
        wanted.height = VIPS_MAX(1, VIPS_MIN(rows_at_a_time, state->end - number));
        if (vips_region_prepare(state->region, &wanted))
            return NULL;
    }
    return VIPS_REGION_ADDR(state->region, columns.first, number);
}

static int generate(VipsRegion *region, void *sequence, void *in, void *resampler, gboolean *is_done)
{
    Sequence *state = sequence;
    VipsRect *wanted = &region->valid;
    CLightRange columns = {wanted->left, wanted->left + wanted->width};
    CLightSource source = {.row = source_row, .context = state};
    int row;
    (void) in, (void) resampler, (void) is_done;
    if (!state->has_run || state->run.target.first != columns.first || state->run.target.end != columns.end)
        state->run = CLight_start(state->resampler, columns, state->scratch);
    state->has_run = TRUE;
    state->end = CLight_rows(state->resampler, (CLightRange) {wanted->top, wanted->top + wanted->height}).end;
    for (row = 0; row < wanted->height; row++) {
        VipsPel *samples = VIPS_REGION_ADDR(region, wanted->left, wanted->top + row);
        if (!CLight_make_row(&state->run, source, wanted->top + row, samples, 0))
            return -1;
    }
    return 0;
}

static void forget_resampler(gpointer resampler)
{
    CLight_free(resampler);
}

int CVipsShim_resample_light(VipsImage *in, VipsImage **out, int width, int height)
{
    CLightResampling resampling = {
        .source_width = in->Xsize,
        .source_height = in->Ysize,
        .width = in->Xsize,
        .height = in->Ysize,
        .target_width = width,
        .target_height = height,
        .bands = in->Bands,
    };
    CLightResampler *resampler;
    VipsImage *image;
    *out = NULL;
    if (in->BandFmt != VIPS_FORMAT_UCHAR || in->Coding != VIPS_CODING_NONE || in->Bands > 4
        || (in->Bands % 2 == 0) != vips_image_hasalpha(in) || width > in->Xsize || height > in->Ysize) {
        vips_error("CVipsShim_resample_light", "not one to four bands of 8 bits, or not smaller");
        return -1;
    }
    resampler = CLight_make(&resampling);
    if (!resampler) {
        vips_error("CVipsShim_resample_light", "no memory");
        return -1;
    }
    image = vips_image_new();
    // Both are needed until the image's last pixel is computed.
    g_object_set_data_full(G_OBJECT(image), "alula-resampler", resampler, forget_resampler);
    g_object_set_data_full(G_OBJECT(image), "alula-source", g_object_ref(in), g_object_unref);
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_FATSTRIP, in, NULL)) {
        g_object_unref(image);
        return -1;
    }
    image->Xsize = width;
    image->Ysize = height;
    if (vips_image_generate(image, start, generate, stop, in, resampler)) {
        g_object_unref(image);
        return -1;
    }
    *out = image;
    return 0;
}
