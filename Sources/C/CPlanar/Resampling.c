#include "CPlanar.h"

/// The context of the callback of a run.
typedef struct {
    CPixelsWatch watch;
    CPlanarRows source;
    /// The first column of the source that the resampler reads.
    int first_column;
} Run;

/// Passes a row to the resampler; returns NULL to stop it.
static const uint8_t *row_at(void *user, int number)
{
    const Run *run = user;
    if (number % 32 == 0 && run->watch.should_stop(run->watch.context))
        return NULL;
    return run->source.samples + (size_t) number * run->source.stride + run->first_column;
}

CPlanarStatus CPlanar_resample(
    const CLightResampler *resampler, CPlanarRows source, CPlanarRows target, float scale, float offset,
    void *scratch, CPixelsWatch watch)
{
    CLightResampling resampling = CLight_resampling(resampler);
    CLightRun light = CLight_start(resampler, (CLightRange) {0, resampling.target_width}, scratch);
    Run run = {.watch = watch, .source = source, .first_column = light.source.first};
    CLightSource rows = {.row = row_at, .context = &run, .is_limited = source.is_limited};
    light.scale = scale;
    light.offset = offset;
    for (int row = 0; row < resampling.target_height; row++)
        if (!CLight_make_row(&light, rows, row, target.samples + (size_t) row * target.stride, target.is_limited))
            return CPlanarStopped;
    return CPlanarDone;
}
