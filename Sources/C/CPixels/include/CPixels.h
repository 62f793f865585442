#ifndef CPixels_H
#define CPixels_H

#include <stddef.h>
#include <stdint.h>

// Operations on whole frames of interleaved 8-bit pixels. Each function reads one frame and fills another one. It
// returns 0, or -1 if memory ran out or the watch ended the work. Colors are weighted by alpha, so that transparent
// pixels add none.

/// A frame: 1 band is gray, 2 are gray and alpha, 3 are color, 4 are color and alpha.
typedef struct {
    uint8_t *pixels;
    /// Bytes from one row to the next.
    size_t stride;
    int width, height, bands;
} CPixelsFrame;

/// Called at intervals: `should_stop` returns 1 to end the work.
typedef struct {
    int (*should_stop)(void *context);
    void *context;
} CPixelsWatch;

/// An operation with its settings.
typedef int (*CPixelsFilter)(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Changes colors by a table, then by matrices; alpha does not change.
enum { CPixels_max_matrices = 4 };
typedef struct {
    /// The value after the table for each component, 0 to 255.
    float table[256];
    /// Number of matrices.
    int count;
    /// Factors of red, green and blue for each component of the result. Results are clipped to 0 to 255.
    float matrices[CPixels_max_matrices][9];
    /// The factor and the offset after the last matrix.
    float scale, offset;
} CPixelsColors;
int CPixels_color(const void *colors, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Converts colors to another gamut, whose curve is sRGB's. Colors outside it are moved inside, keeping their hue;
/// alpha does not change. Frames must have color.
typedef struct {
    /// The light of each value of red, green and blue, 0 to 1. The last number is repeated.
    float light[3][257];
    /// From this light to light of the other gamut.
    float to_target[9];
    /// From there to X, Y and Z, each as a share of white's, and back.
    float to_xyz[9], from_xyz[9];
} CPixelsGamut;
int CPixels_change_gamut(const void *gamut, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Counts the non-transparent pixels of a frame, and those outside the other gamut.
typedef struct {
    int64_t shown, outside;
} CPixelsShare;
int CPixels_count_outside(const CPixelsGamut *gamut, const CPixelsFrame *frame, CPixelsShare *share, CPixelsWatch watch);

/// A rectangle within a frame, in samples.
typedef struct {
    double left, top, width, height;
} CPixelsArea;

/// A gain map: gains by which light is multiplied.
enum { CPixels_gain_steps = 16 * 255 };
typedef struct {
    /// The light of each sample of the image, and of the result's image.
    float light[256], base_light[256];
    /// The gain of each sixteenth of a sample, ascending, and the offset that is added before, for each component of
    /// the map.
    float gains[3][CPixels_gain_steps + 1], offsets[3];
    /// The area of the frame that the image fills, and the visible part.
    CPixelsArea whole, part;
    /// The EXIF orientation from which the result is turned.
    int orientation;
} CPixelsGains;
/// Computes the map for a part of an image whose samples are averaged to the size of `out`: where dark and bright
/// pixels are adjacent, the light of the result is the mean of the light before, which averaging gains would not yield.
/// Images are gray, or represented by their luma.
///
/// The gains are for `base`, the result's image as shown, which has the size of `out`; if it is NULL, for the mean of
/// the samples.
int CPixels_fit_gains(const CPixelsGains *gains, const CPixelsFrame *image, const CPixelsFrame *map, const CPixelsFrame *base,
    const CPixelsFrame *out, CPixelsWatch watch);

/// Samples of BT.601 luma, Cb and Cr, with 128 for no chroma.
typedef struct {
    uint8_t *samples[3];
    /// Bytes from one row to the next, of luma and of chroma.
    size_t strides[2];
    /// Size of luma, and pixels per chroma sample on each side: 1 or 2.
    int width, height, step;
    /// Whether luma is 16 to 235 and chroma 16 to 240, instead of 0 to 255.
    int is_limited;
} CPixelsPlanes;

/// Sharpening fails only if memory runs out.
typedef enum { CPixelsSharpeningDone,
    CPixelsSharpeningStopped,
    CPixelsSharpeningFailed } CPixelsSharpening;

/// Converts color without alpha to planes with half-size chroma that look like it where readers interpolate chroma.
CPixelsSharpening CPixels_sharpen_chroma(const CPixelsFrame *frame, const CPixelsPlanes *planes, CPixelsWatch watch);

/// The size of `scratch` in bytes.
size_t CPixels_sharp_scratch_size(int width, int height);

/// The same for samples whose chroma has the size of luma, in `scratch` instead of new memory.
CPixelsSharpening CPixels_subsample_sharply(
    const CPixelsPlanes *samples, const CPixelsPlanes *planes, float *scratch, CPixelsWatch watch);

/// Consecutive changes of colors. Results of each are clipped to 0 to 255.
enum { CPixels_max_stages = 8 };
typedef struct {
    /// The factors of red, green and blue for each component, then the offset of each.
    float factors[12];
} CPixelsStage;
typedef struct {
    int count;
    CPixelsStage stages[CPixels_max_stages];
} CPixelsStages;

/// Changes the colors of planes in place: first a change of gamut, unless NULL, then the others.
int CPixels_color_planes(const CPixelsGamut *gamut, const CPixelsStages *stages, const CPixelsPlanes *planes, CPixelsWatch watch);

/// Adds `amount` times each pixel's difference from a Gaussian blur: -1 blurs, 1 sharpens.
///
/// The outermost pixels repeat beyond the edges. Both frames may be the same.
typedef struct {
    /// Standard deviation in pixels, above 0.
    double sigma;
    float amount;
} CPixelsGaussian;
int CPixels_gaussian(const void *gaussian, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// The standard deviation from which a Gaussian blur is computed as four box blurs, whose time does not depend on it.
extern const double CPixels_min_boxes_sigma;

/// Rows of 8-bit pixels that are averaged in boxes; the last box may be narrower.
typedef struct {
    const uint8_t *const *rows;
    /// Number of rows, at most `factor`.
    int count;
    int width, bands;
    /// Width of a box, 2 to 64.
    int factor;
    /// Whether the last band is alpha, which weights the others.
    int has_alpha;
} CPixelsBoxes;
/// Writes the mean of each box, rounded to the nearest.
void CPixels_average(const CPixelsBoxes *boxes, uint8_t *out);

/// Replaces each square of a grid by its mean; the grid begins at the top left.
typedef struct {
    /// Side of a square in pixels.
    int side;
} CPixelsMosaic;
int CPixels_mosaic(const void *mosaic, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Fills everything outside an outline with a color, mixing pixels on the outline. Both frames may be the same.
enum { CPixels_max_corners = 192 };
typedef struct {
    /// The bounds of a rectangle, in pixels.
    double left, top, right, bottom;
    /// The half axes of the ellipses that round its corners.
    double across, down;
    /// The number of a polygon's corners, or 0 for the rectangle.
    int count;
    double corners[CPixels_max_corners][2];
    /// Red, green, blue and alpha.
    uint8_t color[4];
} CPixelsOutline;
int CPixels_cut(const void *outline, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Rotates a frame around its center, which becomes the center of the other frame. The area around it has one color,
/// and there is an alpha band unless the frame and the color are opaque.
typedef struct {
    /// Radians clockwise.
    double angle;
    /// Red, green, blue and alpha of the area around the frame; only red counts if the other frame is gray.
    uint8_t color[4];
} CPixelsRotation;
int CPixels_rotate(const void *rotation, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Turns and mirrors a frame by its EXIF orientation, 1 to 8. The other frame has the upright size.
typedef struct {
    int orientation;
} CPixelsTurn;
int CPixels_turn(const void *turn, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Copies a frame of one band into a larger one, surrounded by `value`.
void CPixels_pad(const CPixelsFrame *in, const CPixelsFrame *out, int left, int top, uint8_t value);

/// Changes each color independently; alpha does not change. For gray frames, only tables are allowed, and all three
/// must be equal.
enum { CPixels_formula_tables,
    CPixels_formula_matrix,
    CPixels_formula_saturation,
    CPixels_formula_lab };
typedef struct {
    int kind;
    /// The result for each component of red, green and blue.
    uint8_t tables[3][256];
    /// The factors of a matrix; or a factor of saturation; or factors of CIE Lab's lightness and chroma, and the cosine
    /// and sine of the hue's rotation.
    float values[9];
} CPixelsColorFormula;
int CPixels_apply_formula(const void *formula, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Equalizes the histogram of each component; there are no settings.
int CPixels_equalize(const void *nothing, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Adds one of `amount` numbers around 0 to each pixel, by its position.
typedef struct {
    int amount;
    uint32_t seed;
} CPixelsNoise;
int CPixels_add_noise(const void *noise, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Convolves with a kernel. The outermost pixels repeat beyond the edges; alpha does not change.
enum { CPixels_max_factors = 225 };
typedef struct {
    /// Odd numbers.
    int columns, rows;
    float factors[CPixels_max_factors];
} CPixelsKernel;
int CPixels_convolve(const void *kernel, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Blends a stamp, or a rectangle of one color, onto a color frame, once or on a grid.
enum {
    CPixels_blend_normal,
    CPixels_blend_multiply,
    CPixels_blend_screen,
    CPixels_blend_overlay,
    CPixels_blend_darken,
    CPixels_blend_lighten,
    CPixels_blend_color_dodge,
    CPixels_blend_color_burn,
    CPixels_blend_hard_light,
    CPixels_blend_soft_light,
    CPixels_blend_difference,
    CPixels_blend_exclusion,
    CPixels_blend_add,
    CPixels_blend_mask,
    CPixels_blend_mask_out
};
typedef struct {
    int mode;
    /// Pixels of 2 or 4 bands, the last one alpha; NULL for the color.
    const uint8_t *stamp;
    int width, height, bands;
    uint8_t color[4];
    /// The position of the first copy, the number of copies, and the distances between their edges.
    int left, top, across, down, pitch_x, pitch_y;
    /// 0 to 1.
    float opacity;
} CPixelsBlend;
int CPixels_blend(const void *blend, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// Converts PQ or HLG to 8-bit sRGB: light brighter than the reference white is tone-mapped. Alpha does not change.
enum { CPixels_reference_white = 203 };
typedef struct {
    /// Whether samples have 16 bits in native byte order, instead of 8.
    int is_wide;
    /// Whether they are HLG rather than PQ.
    int is_gamma;
    /// The brightest light, at least 1, relative to the reference white.
    float peak;
    /// From the light of stored colors to BT.2020, and from there to sRGB.
    float to_wide[9], to_standard[9];
} CPixelsTones;
int CPixels_map_tones(const void *tones, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch);

/// A border of one color.
typedef struct {
    /// Red, green, blue and alpha.
    uint8_t color[4];
    /// Maximum difference of a border's pixel from the color in each component, or its maximum distance if
    /// `is_distance` is 1.
    int tolerance, is_distance;
    /// Whether to compare the median of each pixel and its eight neighbors, with transparent parts over `matte`; alpha
    /// is ignored then.
    int is_smoothed;
    /// Red, green and blue.
    uint8_t matte[3];
    /// The part inside the border; the whole frame if it is all border.
    int left, top, right, bottom;
} CPixelsBorder;

/// Finds the part inside a border.
int CPixels_find_border(const CPixelsFrame *frame, CPixelsBorder *border, CPixelsWatch watch);

#endif
