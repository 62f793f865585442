#ifndef CLightResampling_H
#define CLightResampling_H

#include <stddef.h>
#include <stdint.h>

// Resamples 8-bit samples, in linear light or as they are, in integers: the same samples yield the same results on every
// processor.
//
// A table converts samples to light. Rows are mixed first, then columns, and another table converts the results back.
// Beyond its edges, an image's outermost pixels repeat.

/// The light of white: a multiple of 255, with headroom in 16 bits for the filter's overshoot.
#define CLight_white 24480

/// sRGB's curve for samples of full range (index 0) and of limited range, 16 to 235 (index 1).
typedef struct {
    /// Light, 0 to `CLight_white`, by sample.
    int16_t light[2][256];
    /// The lower and the upper bytes of the same, for byte lookups in registers.
    uint8_t light_bytes[2][2][256];
    /// Samples by light: in dark colors, one step of a sample is seven steps of light.
    uint8_t samples[2][CLight_white + 1];
} CLightCurves;

/// The curves, computed at the first call.
const CLightCurves *CLight_curves(void);

typedef enum {
    /// Three samples on each side.
    CLightLanczos,
    /// Two samples on each side.
    CLightCatmullRom,
} CLightKernel;

typedef struct {
    int source_width;
    int source_height;
    /// The part of the source that fills the target, in pixels; its edges may lie within a pixel or outside the source.
    double left;
    double top;
    double width;
    double height;
    int target_width;
    int target_height;
    /// Interleaved samples of a pixel, 1 to 4. The last of 2 and of 4 is alpha, which is not converted to light, and
    /// which weights the others.
    int bands;
    /// Whether samples are mixed as they are, not as light; only for 1 band.
    int is_plain;
    CLightKernel kernel;
} CLightResampling;

/// The computed filters of a resampling, which threads may share.
typedef struct CLightResampler CLightResampler;

/// Creates a resampler; returns NULL if memory runs out.
CLightResampler *CLight_make(const CLightResampling *resampling);

void CLight_free(CLightResampler *resampler);

CLightResampling CLight_resampling(const CLightResampler *resampler);

/// Bytes of working memory that a run needs.
size_t CLight_scratch_size(const CLightResampler *resampler);

/// Pixels from `first` to `end`, exclusive.
typedef struct {
    int first, end;
} CLightRange;

/// Returns the source's columns that these columns of the target need.
CLightRange CLight_columns(const CLightResampler *resampler, CLightRange target);

/// Returns the source's rows that these rows of the target need.
CLightRange CLight_rows(const CLightResampler *resampler, CLightRange target);

/// The source's rows.
typedef struct {
    /// Returns the samples of a row, from the first column that the run reads; NULL ends the run.
    const uint8_t *(*row)(void *context, int number);
    void *context;
    /// Whether samples have limited range.
    int is_limited;
} CLightSource;

/// The state of a run, which computes some columns of the target, usually row by row.
typedef struct {
    const CLightResampler *resampler;
    const CLightCurves *curves;
    /// Results of a plain resampling are multiplied by `scale`, and `offset` is added.
    float scale, offset;
    /// The target's columns to compute, and the source's columns to read.
    CLightRange target, source;
    /// The rows of light in the buffer.
    CLightRange kept;
    void *scratch;
} CLightRun;

/// Starts a run for these columns of the target; `scratch` must be aligned to 64 bytes.
CLightRun CLight_start(const CLightResampler *resampler, CLightRange columns, void *scratch);

/// Computes a row of the target; returns 0 if the source ended the run.
///
/// Rows of the source are read once if the target's rows are computed in order.
int CLight_make_row(CLightRun *run, CLightSource source, int row, uint8_t *samples, int is_limited);

#endif
