#ifndef CLightResampling_H
#define CLightResampling_H

#include <stddef.h>
#include <stdint.h>

// Resampling of 8-bit samples as amounts of light, by Lanczos 3, in integers: the same samples make the same results on every processor.
//
// Samples become light by a table. Rows are mixed first, then columns, and the results become samples by another table.
// Beyond its edges an image goes on as its outermost pixels.

/// The amount of light that stands for white: a multiple of 255, with room above it in 16 bits for what the filter overshoots.
#define CLight_white 24480

/// sRGB's curve for samples of full range (index 0) and of limited range, 16 to 235 (index 1).
typedef struct {
    /// Light, 0 to `CLight_white`, by sample.
    int16_t light[2][256];
    /// The lower and the upper bytes of the same, for registers that look bytes up.
    uint8_t light_bytes[2][2][256];
    /// Samples by light: in dark colors, seven steps of light are one step of a sample.
    uint8_t samples[2][CLight_white + 1];
} CLightCurves;

/// The curves, computed at the first call.
const CLightCurves *CLight_curves(void);

/// Describes a resampling. The target is at most as large as the region of the source.
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
    /// Interleaved samples of a pixel, 1 to 4. The last of 2 and of 4 is alpha, which is no light, and by which the others are weighted.
    int bands;
} CLightResampling;

/// The computed filters of a resampling, which any number of threads may use at once.
typedef struct CLightResampler CLightResampler;

/// Makes a resampler; NULL if there is no memory.
CLightResampler *CLight_make(const CLightResampling *resampling);

void CLight_free(CLightResampler *resampler);

/// Bytes of working memory that a run needs.
size_t CLight_room(const CLightResampler *resampler);

/// Pixels from `first` to before `end`.
typedef struct {
    int first, end;
} CLightRange;

/// The source's columns that are read for these columns of the target.
CLightRange CLight_columns(const CLightResampler *resampler, CLightRange target);

/// The source's rows that are read for these rows of the target.
CLightRange CLight_rows(const CLightResampler *resampler, CLightRange target);

/// Where the rows of the source come from.
typedef struct {
    /// The samples of a row, from the first column that the run reads; NULL ends the run.
    const uint8_t *(*row)(void *context, int number);
    void *context;
    /// Whether samples have limited range.
    int is_limited;
} CLightSource;

/// The state of a run, which makes some columns of the target, usually row after row.
typedef struct {
    const CLightResampler *resampler;
    const CLightCurves *curves;
    /// The target's columns that are made, and the source's columns that are read.
    CLightRange target, source;
    /// The rows of light that are kept.
    CLightRange kept;
    void *room;
} CLightRun;

/// A run for these columns of the target; the room begins at a multiple of 64 bytes.
CLightRun CLight_start(const CLightResampler *resampler, CLightRange columns, void *room);

/// Makes a row of the target; 0 if the source ended the run.
///
/// Rows of the source are read once if the target's rows are made in their order.
int CLight_make_row(CLightRun *run, CLightSource source, int row, uint8_t *samples, int is_limited);

#endif
