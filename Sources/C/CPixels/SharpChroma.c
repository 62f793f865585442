#include "Frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Conversion to 4:2:0 for readers that interpolate chroma, in which each pixel keeps its light although four share
// their chroma.
//
// With light as the square of a sample, a pixel of chroma (r, g, b) has the light of its source at the luma y for which
// Σ w (y + c)² is that light: a root. The second pass corrects chroma by what the clipped colors of the first one miss.

enum { passes = 2 };

/// The shares of red, green and blue in light.
static const float red_light = 0.2126f, green_light = 0.7152f, blue_light = 0.0722f;

/// Chroma of the image: as wanted, as computed so far, and in whole steps as it is written, -128 to 127.
typedef struct {
    float *wanted, *value, *step;
} Chroma;

/// BT.601 between colors of 0 to 255 and samples, whose luma is on the scale of colors and whose chroma is around zero.
typedef struct {
    /// Shares of red, green and blue in Cb and Cr.
    float blue[3], red[3];
    /// Red per Cr, green lost per Cb and per Cr, and blue per Cb.
    float red_of_red, green_of_blue, green_of_red, blue_of_blue;
    /// A sample is the scaled luma plus the black, within the limits of samples.
    float scale, black, lowest, highest;
} Matrix;

static const Matrix full = {{-0.168736f, -0.331264f, 0.5f}, {0.5f, -0.418688f, -0.081312f}, 1.402f, 0.344136f, 0.714136f,
    1.772f, 1, 0, 0, 255};
static const Matrix limited = {{-0.148223f, -0.290993f, 0.439216f}, {0.439216f, -0.367788f, -0.071427f}, 1.596027f,
    0.391762f, 0.812968f, 2.017232f, 0.858824f, 16, -18.6f, 278};

typedef struct {
    int width, height, chroma_width, chroma_height;
    const Matrix *matrix;
    /// The light of each pixel.
    float *light;
    Chroma blue, red;
    /// A row: of chroma at the row's height and at full size, of luma, and of the sums of red, green and blue light.
    float *between[2], *across[2], *luma, *sums[3];
    /// A row of red, green and blue.
    float *colors[3];
} Sharpening;

static inline __attribute__((always_inline)) float clipped(float value)
{
    value = value > 0 ? value : 0;
    return value < 255 ? value : 255;
}

size_t CPixels_sharp_scratch_size(int width, int height)
{
    size_t pixels = (size_t) width * (size_t) height, row = ((size_t) width + 1) / 2;
    return (pixels + 6 * row * (((size_t) height + 1) / 2) + 17 * row) * sizeof(float);
}

static void assign_buffers(Sharpening *sharpening, float *next)
{
    size_t pixels = (size_t) sharpening->width * (size_t) sharpening->height;
    size_t chroma = (size_t) sharpening->chroma_width * (size_t) sharpening->chroma_height;
    size_t row = (size_t) sharpening->chroma_width;
    float **parts[] = {&sharpening->blue.wanted, &sharpening->blue.value, &sharpening->blue.step,
        &sharpening->red.wanted, &sharpening->red.value, &sharpening->red.step};
    sharpening->light = next;
    next += pixels;
    for (size_t part = 0; part < 6; part++, next += chroma)
        *parts[part] = next;
    for (int part = 0; part < 2; part++, next += 3 * row) {
        sharpening->between[part] = next;
        sharpening->across[part] = next + row;
    }
    sharpening->luma = next;
    next += 2 * row;
    for (int part = 0; part < 3; part++, next += row)
        sharpening->sums[part] = next;
    for (int part = 0; part < 3; part++, next += 2 * row)
        sharpening->colors[part] = next;
}

WIDE static void take_pixels(const Sharpening *sharpening, const uint8_t *row)
{
    float *red = sharpening->colors[0], *green = sharpening->colors[1], *blue = sharpening->colors[2];
    for (int x = 0; x < sharpening->width; x++)
        red[x] = row[3 * x], green[x] = row[3 * x + 1], blue[x] = row[3 * x + 2];
}

static const Matrix *matrix_of(const CPixelsPlanes *planes)
{
    return planes->is_limited ? &limited : &full;
}

/// Takes colors from samples whose chroma has the size of luma.
WIDE static void take_samples(const Sharpening *sharpening, const CPixelsPlanes *planes, int y)
{
    const Matrix matrix = *matrix_of(planes);
    const uint8_t *luma = planes->samples[0] + (size_t) y * planes->strides[0];
    const uint8_t *blues = planes->samples[1] + (size_t) y * planes->strides[1];
    const uint8_t *reds = planes->samples[2] + (size_t) y * planes->strides[1];
    float *red = sharpening->colors[0], *green = sharpening->colors[1], *blue = sharpening->colors[2];
    float scale = 1 / matrix.scale;
    for (int x = 0; x < sharpening->width; x++) {
        float bright = ((float) luma[x] - matrix.black) * scale, cb = (float) blues[x] - 128, cr = (float) reds[x] - 128;
        red[x] = clipped(bright + matrix.red_of_red * cr);
        green[x] = clipped(bright - matrix.green_of_blue * cb - matrix.green_of_red * cr);
        blue[x] = clipped(bright + matrix.blue_of_blue * cb);
    }
}

/// Adds the light of the row of colors to its boxes, and writes the sum for each pixel. A pixel at the edge
/// without a neighbor counts twice.
WIDE static void add_row(const Sharpening *sharpening, float *light)
{
    const float *reds = sharpening->colors[0], *greens = sharpening->colors[1], *blues = sharpening->colors[2];
    int width = sharpening->width, x;
    for (x = 0; x < width; x++)
        light[x] = red_light * (reds[x] * reds[x]) + green_light * (greens[x] * greens[x]) + blue_light * (blues[x] * blues[x]);
    for (int band = 0; band < 3; band++) {
        float *sums = sharpening->sums[band];
        const float *colors = sharpening->colors[band];
        for (x = 0; x < width / 2; x++)
            sums[x] += colors[2 * x] * colors[2 * x] + colors[2 * x + 1] * colors[2 * x + 1];
        if (width % 2)
            sums[width / 2] += 2 * (colors[width - 1] * colors[width - 1]);
    }
}

/// Adds what is wanted to chroma, minus the chroma of the boxes' mean light.
WIDE static void correct_row(const Sharpening *sharpening, int row, float share)
{
    const Matrix matrix = *sharpening->matrix;
    size_t start = (size_t) row * (size_t) sharpening->chroma_width;
    const float *wanted_blue = sharpening->blue.wanted + start, *wanted_red = sharpening->red.wanted + start;
    float *blue_values = sharpening->blue.value + start, *red_values = sharpening->red.value + start;
    for (int x = 0; x < sharpening->chroma_width; x++) {
        float red = sqrtf(sharpening->sums[0][x] * share), green = sqrtf(sharpening->sums[1][x] * share);
        float blue = sqrtf(sharpening->sums[2][x] * share);
        blue_values[x] += wanted_blue[x] - (matrix.blue[0] * red + matrix.blue[1] * green + matrix.blue[2] * blue);
        red_values[x] += wanted_red[x] - (matrix.red[0] * red + matrix.red[1] * green + matrix.red[2] * blue);
    }
}

/// Rounds chroma to whole steps.
WIDE static void round_chroma(const Chroma *chroma, size_t count)
{
    for (size_t place = 0; place < count; place++)
        chroma->step[place] = (float) (int) clipped(chroma->value[place] + 128.5f) - 128;
}

/// Interpolates a row of chroma as readers do: three quarters of the nearer sample, in both directions.
WIDE static void interpolate(const Chroma *chroma, const Sharpening *sharpening, int y, float *between, float *across)
{
    int width = sharpening->width, count = sharpening->chroma_width, row = y / 2, other = y % 2 ? row + 1 : row - 1, x;
    const float *near = chroma->step + (size_t) row * (size_t) count;
    const float *far = other < 0 || other == sharpening->chroma_height ? near : chroma->step + (size_t) other * (size_t) count;
    for (x = 0; x < count; x++)
        between[x] = 0.75f * near[x] + 0.25f * far[x];
    across[0] = between[0];
    for (x = 1; x < count; x++) {
        across[2 * x - 1] = 0.75f * between[x - 1] + 0.25f * between[x];
        across[2 * x] = 0.25f * between[x - 1] + 0.75f * between[x];
    }
    if (width % 2 == 0)
        across[width - 1] = between[count - 1];
}

static inline __attribute__((always_inline)) float light_of(float sample)
{
    return clipped(sample) * clipped(sample);
}

/// The color of a pixel beside its luma.
typedef struct {
    float red, green, blue;
} Offset;

static inline __attribute__((always_inline)) Offset offset_of(Matrix matrix, float blue, float red)
{
    return (Offset) {
        matrix.red_of_red * red, -matrix.green_of_blue * blue - matrix.green_of_red * red, matrix.blue_of_blue * blue};
}

/// Returns the luma, on the scale of samples, with which chroma has a light: a root, then a step of Newton's method for
/// clipped colors.
static inline __attribute__((always_inline)) float luma_of(Matrix matrix, float light, Offset color)
{
    float mean = red_light * color.red + green_light * color.green + blue_light * color.blue;
    float squares = red_light * (color.red * color.red) + green_light * (color.green * color.green)
        + blue_light * (color.blue * color.blue);
    float under = mean * mean - squares + light;
    float luma = sqrtf(under > 0 ? under : 0) - mean;
    float red = clipped(luma + color.red), green = clipped(luma + color.green), blue = clipped(luma + color.blue);
    float missing = light - (red_light * (red * red) + green_light * (green * green) + blue_light * (blue * blue));
    // Without the 8, black would be divided by zero.
    luma += missing / (2 * (red_light * red + green_light * green + blue_light * blue) + 8);
    // Limited samples hold more than from black to white.
    luma = luma > matrix.lowest ? luma : matrix.lowest;
    return luma < matrix.highest ? luma : matrix.highest;
}

/// Computes the luma of a row.
WIDE static void find_luma(const Sharpening *sharpening, const float *light)
{
    const float *blues = sharpening->across[0], *reds = sharpening->across[1];
    const Matrix matrix = *sharpening->matrix;
    float *luma = sharpening->luma;
    for (int x = 0; x < sharpening->width; x++)
        luma[x] = luma_of(matrix, light[x], offset_of(matrix, blues[x], reds[x]));
}

/// Adds the light of a row as readers show it to its boxes.
WIDE static void add_shown_row(const Sharpening *sharpening)
{
    const float *blues = sharpening->across[0], *reds = sharpening->across[1], *luma = sharpening->luma;
    float *red_sums = sharpening->sums[0], *green_sums = sharpening->sums[1], *blue_sums = sharpening->sums[2];
    const Matrix matrix = *sharpening->matrix;
    int width = sharpening->width;
    for (int x = 0; x < width / 2; x++) {
        Offset left = offset_of(matrix, blues[2 * x], reds[2 * x]);
        Offset right = offset_of(matrix, blues[2 * x + 1], reds[2 * x + 1]);
        red_sums[x] += light_of(luma[2 * x] + left.red) + light_of(luma[2 * x + 1] + right.red);
        green_sums[x] += light_of(luma[2 * x] + left.green) + light_of(luma[2 * x + 1] + right.green);
        blue_sums[x] += light_of(luma[2 * x] + left.blue) + light_of(luma[2 * x + 1] + right.blue);
    }
    if (width % 2) {
        Offset last = offset_of(matrix, blues[width - 1], reds[width - 1]);
        red_sums[width / 2] += 2 * light_of(luma[width - 1] + last.red);
        green_sums[width / 2] += 2 * light_of(luma[width - 1] + last.green);
        blue_sums[width / 2] += 2 * light_of(luma[width - 1] + last.blue);
    }
}

/// Writes the luma of a row.
WIDE static void write_luma(const Sharpening *sharpening, uint8_t *out)
{
    const float *luma = sharpening->luma;
    float scale = sharpening->matrix->scale, black = sharpening->matrix->black + 0.5f;
    int width = sharpening->width;
    for (int x = 0; x < width; x++)
        out[x] = (uint8_t) (int) (luma[x] * scale + black);
}

static void clear_sums(const Sharpening *sharpening)
{
    for (int band = 0; band < 3; band++)
        memset(sharpening->sums[band], 0, (size_t) sharpening->chroma_width * sizeof(float));
}

/// Reads light, and the chroma that is wanted, of pixels or of samples; returns whether it was stopped.
static int read_source(
    Sharpening *sharpening, const CPixelsFrame *frame, const CPixelsPlanes *samples, CPixelsWatch watch)
{
    size_t count = (size_t) sharpening->chroma_width * (size_t) sharpening->chroma_height;
    const Chroma *both[] = {&sharpening->blue, &sharpening->red};
    for (int index = 0; index < 2; index++) {
        memset(both[index]->value, 0, count * sizeof(float));
        memset(both[index]->wanted, 0, count * sizeof(float));
    }
    for (int row = 0; row < sharpening->chroma_height; row++) {
        if (is_ended(watch, row))
            return 1;
        clear_sums(sharpening);
        for (int y = 2 * row; y < 2 * row + 2 && y < sharpening->height; y++) {
            if (frame)
                take_pixels(sharpening, row_of(frame, y));
            else
                take_samples(sharpening, samples, y);
            add_row(sharpening, sharpening->light + (size_t) y * (size_t) sharpening->width);
        }
        correct_row(sharpening, row, 2 * row + 1 < sharpening->height ? 0.25f : 0.5f);
    }
    // From zero, a correction is the wanted chroma with the opposite sign.
    for (int index = 0; index < 2; index++)
        for (size_t place = 0; place < count; place++)
            both[index]->wanted[place] = both[index]->value[place] = -both[index]->value[place];
    return 0;
}

/// Returns whether it was stopped.
static int run_pass(Sharpening *sharpening, int is_last, const CPixelsPlanes *planes, CPixelsWatch watch)
{
    size_t count = (size_t) sharpening->chroma_width * (size_t) sharpening->chroma_height;
    round_chroma(&sharpening->blue, count);
    round_chroma(&sharpening->red, count);
    for (int y = 0; y < sharpening->height; y++) {
        if (is_ended(watch, y))
            return 1;
        const float *light = sharpening->light + (size_t) y * (size_t) sharpening->width;
        interpolate(&sharpening->blue, sharpening, y, sharpening->between[0], sharpening->across[0]);
        interpolate(&sharpening->red, sharpening, y, sharpening->between[1], sharpening->across[1]);
        find_luma(sharpening, light);
        if (is_last) {
            write_luma(sharpening, planes->samples[0] + (size_t) y * planes->strides[0]);
            continue;
        }
        if (y % 2 == 0)
            clear_sums(sharpening);
        add_shown_row(sharpening);
        if (y % 2 || y == sharpening->height - 1)
            correct_row(sharpening, y / 2, y % 2 ? 0.25f : 0.5f);
    }
    return 0;
}

WIDE static void write_chroma(const Sharpening *sharpening, const Chroma *chroma, uint8_t *samples, size_t stride)
{
    const float *from = chroma->step;
    int width = sharpening->chroma_width;
    for (int y = 0; y < sharpening->chroma_height; y++, from += width, samples += stride)
        for (int x = 0; x < width; x++)
            samples[x] = (uint8_t) (int) (from[x] + 128);
}

static CPixelsSharpening sharpen(
    const CPixelsFrame *frame, const CPixelsPlanes *samples, const CPixelsPlanes *planes, float *scratch,
    CPixelsWatch watch)
{
    Sharpening sharpening = {.width = planes->width,
        .height = planes->height,
        .chroma_width = (planes->width + 1) / 2,
        .chroma_height = (planes->height + 1) / 2,
        .matrix = matrix_of(planes)};
    assign_buffers(&sharpening, scratch);
    int is_stopped = read_source(&sharpening, frame, samples, watch);
    for (int pass = 0; pass < passes && !is_stopped; pass++)
        is_stopped = run_pass(&sharpening, pass == passes - 1, planes, watch);
    if (!is_stopped) {
        write_chroma(&sharpening, &sharpening.blue, planes->samples[1], planes->strides[1]);
        write_chroma(&sharpening, &sharpening.red, planes->samples[2], planes->strides[1]);
    }
    return is_stopped ? CPixelsSharpeningStopped : CPixelsSharpeningDone;
}

CPixelsSharpening CPixels_sharpen_chroma(const CPixelsFrame *frame, const CPixelsPlanes *planes, CPixelsWatch watch)
{
    float *scratch = malloc(CPixels_sharp_scratch_size(planes->width, planes->height));
    CPixelsSharpening outcome = scratch ? sharpen(frame, NULL, planes, scratch, watch) : CPixelsSharpeningFailed;
    free(scratch);
    return outcome;
}

CPixelsSharpening CPixels_subsample_sharply(
    const CPixelsPlanes *samples, const CPixelsPlanes *planes, float *scratch, CPixelsWatch watch)
{
    return sharpen(NULL, samples, planes, scratch, watch);
}
