#ifndef CVipsShim_H
#define CVipsShim_H

#include <stddef.h>
#include <vips/vips.h>

#include <CPixels.h>

// Every function that creates an image returns 0 and sets `out` to a new reference, or returns -1 and leaves a text in
// libvips' error buffer. No function takes ownership of its inputs. The bytes of a loaded file must outlive the image.

/// How a file is opened.
typedef struct {
    /// JPEG: the divisor of the sides, 1, 2, 4 or 8.
    int shrink;
    /// WebP: the factor of the scaler, 0…1.
    double scale;
    /// First page or frame.
    int page;
    /// Number of frames, all stacked in one tall image; -1 for all.
    int pages;
} CVipsShimLoadOptions;

int CVipsShim_load_jpeg(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out);
int CVipsShim_load_png(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out);
int CVipsShim_load_webp(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out);
int CVipsShim_load_gif(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out);
int CVipsShim_load_tiff(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out);

/// Stores the class names of the enabled loaders in `names`, at most `capacity`, and returns their number.
int CVipsShim_loaders(const char **names, int capacity);

/// Opens a file in any format that libvips recognizes, from a buffer or a source; only the start-up test calls it.
int CVipsShim_load_any(const void *bytes, size_t count, VipsImage **out);

/// Uses memory as pixels, without a copy: 1 and 2 bands as gray, more as sRGB.
int CVipsShim_from_memory(const void *pixels, size_t count, int width, int height, int bands, int is_wide, VipsImage **out);

/// Disables libvips' JIT-compiled code from now on.
void CVipsShim_disable_machine_code(void);

/// Computes the whole image into `pixels`, which must be large enough, on the calling thread; calls `should_stop` at
/// intervals.
int CVipsShim_compute(VipsImage *in, void *pixels, int (*should_stop)(void *context), void *context);

/// Computes the whole image into a new image in memory.
int CVipsShim_copy_memory(VipsImage *in, VipsImage **out);

int CVipsShim_resize(VipsImage *in, VipsImage **out, double horizontal, double vertical);

/// Averages boxes of 8-bit pixels, weighted by alpha if present; sides are rounded up. Factors are 2 to 64.
///
/// libvips' own operation makes two passes, and uses floating point with alpha.
int CVipsShim_average(VipsImage *in, VipsImage **out, int factor, int (*should_stop)(void *context), void *context);

/// Reduces an 8-bit image with sRGB's curve in linear light, weighted by alpha if present.
int CVipsShim_resample_light(VipsImage *in, VipsImage **out, int width, int height);

/// Converts 8-bit components of sRGB's curve to light, 0 to 1.
int CVipsShim_linearize(VipsImage *in, VipsImage **out);
/// Converts light to 8-bit components of sRGB's curve; values outside 0 to 1 are clipped.
int CVipsShim_delinearize(VipsImage *in, VipsImage **out);

/// Rounds and clips to 8 bits.
int CVipsShim_round(VipsImage *in, VipsImage **out);

/// Multiplies lightness and chroma of CIE LCh, adds to the lightness, and rotates the hue by degrees; `in` and the
/// result are sRGB without alpha.
int CVipsShim_scale_lch(
    VipsImage *in, VipsImage **out, double lightness, double added, double chroma, double hue);
/// Returns the CIELAB lightness, 0 to 100, at this percentile of the pixels.
int CVipsShim_lightness_percentile(VipsImage *in, double percent, int *lightness);
/// Returns the pixel with this rank in a square: 0 is the least, `side` times `side` minus one the most.
int CVipsShim_rank(VipsImage *in, VipsImage **out, int side, int place);
/// Keeps the CIELAB lightness, and sets the same a* and b* for all pixels; `in` and the result are sRGB without alpha.
int CVipsShim_tint(VipsImage *in, VipsImage **out, double a, double b);
/// Replaces each of the 256 grays by a color of three components.
int CVipsShim_replace(VipsImage *in, VipsImage **out, const unsigned char *colors);
/// Sums each pixel and its eight neighbors with these weights, in floating point.
int CVipsShim_mix_neighbors(VipsImage *in, VipsImage **out, double middle, double others);
/// Sharpens lightness as libvips does; `in` and the result are sRGB without alpha.
int CVipsShim_sharpen_lightness(VipsImage *in, VipsImage **out, double sigma, double flat, double jagged);

int CVipsShim_extract(VipsImage *in, VipsImage **out, int left, int top, int width, int height);
int CVipsShim_smart_crop(VipsImage *in, VipsImage **out, int width, int height, VipsInteresting interesting);
int CVipsShim_embed(
    VipsImage *in, VipsImage **out, int left, int top, int width, int height, const double *background, int bands);
int CVipsShim_continue(VipsImage *in, VipsImage **out, int left, int top, int width, int height, VipsExtend extend);
int CVipsShim_zoom(VipsImage *in, VipsImage **out, int factor);
int CVipsShim_replicate(VipsImage *in, VipsImage **out, int across, int down);

/// A stamp and its position.
typedef struct {
    /// Interleaved 8-bit pixels: gray and alpha, or red, green, blue and alpha. They must outlive the image.
    const unsigned char *stamp;
    /// The size of the stamp, in pixels.
    int width, height;
    /// 2 or 4.
    int bands;
    /// The top left corner of the area that the stamp covers, repeated if needed.
    int left, top;
    int covered_width, covered_height;
    /// Percent, 0…100.
    int opacity;
} CVipsShimOverlay;

/// Blends a stamp onto one to four 8-bit bands; a color stamp needs a color image.
int CVipsShim_overlay(VipsImage *in, VipsImage **out, CVipsShimOverlay overlay);

int CVipsShim_flatten(VipsImage *in, VipsImage **out, double red, double green, double blue);
/// Composites `in`, sRGB with alpha, over a color of four components; the result has 8 bits.
int CVipsShim_composite_over(VipsImage *in, VipsImage **out, const double *background, int is_premultiplied);
int CVipsShim_add_alpha(VipsImage *in, VipsImage **out);
/// Runs the operation of libvips with this name, such as "premultiply", whose only argument is an image.
int CVipsShim_apply(const char *operation, VipsImage *in, VipsImage **out);
int CVipsShim_cast(VipsImage *in, VipsImage **out, VipsBandFormat format, gboolean shift);
int CVipsShim_as_interpretation(VipsImage *in, VipsImage **out, VipsInterpretation interpretation);
int CVipsShim_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space);
int CVipsShim_extract_bands(VipsImage *in, VipsImage **out, int first, int count);
int CVipsShim_join_bands(VipsImage *first, VipsImage *second, VipsImage **out);
int CVipsShim_rotate(VipsImage *in, VipsImage **out, VipsAngle angle);
int CVipsShim_flip(VipsImage *in, VipsImage **out, VipsDirection direction);
/// An operation on whole frames.
typedef struct {
    CPixelsFilter apply;
    /// The settings, which are copied.
    const void *settings;
    size_t settings_size;
    /// Size and bands of the result.
    int width, height, bands;
    /// Whether the operation reads 16-bit words instead of 8 bits. It writes 8.
    int takes_words;
    /// Must outlive the result.
    CPixelsWatch watch;
} CVipsShimFilter;

/// Runs an operation. The whole frame is computed when its first row is needed, and its memory is freed after its last
/// row was used.
int CVipsShim_filter(VipsImage *in, VipsImage **out, CVipsShimFilter filter);

/// Stacks `count` images of equal size and format vertically, with the metadata of the first.
int CVipsShim_stack(VipsImage **in, VipsImage **out, int count);

/// Attaches a copy of an ICC profile.
int CVipsShim_with_profile(VipsImage *in, VipsImage **out, const void *profile, size_t count);

/// Converts from the embedded profile to 8 bits of libvips' profile `srgb` or `p3`.
int CVipsShim_to_gamut(VipsImage *in, VipsImage **out, const char *profile, VipsIntent intent);

/// A blob of metadata, which the image owns, or NULL.
const void *CVipsShim_blob(VipsImage *in, const char *name, size_t *count);

/// An array of integers in the metadata, which the image owns, or NULL.
const int *CVipsShim_integers(VipsImage *in, const char *name, int *count);

/// Marks an image as stacked frames. The caller must have the only reference.
void CVipsShim_set_animation(VipsImage *in, int page_height, const int *delays, int count, int loop);

/// Calls `should_stop` at intervals while this image, or one derived from it, is computed, and stops the work if it
/// returns 1. `context` must outlive the image and all images derived from it.
void CVipsShim_watch(VipsImage *in, int (*should_stop)(void *context), void *context);

/// How to encode an image.
typedef struct {
    /// 1…100; ignored if the format has no quality.
    int quality;
    /// The format's effort or compression level.
    int effort;
    /// JPEG XL's measure of loss, which decides in place of `quality`.
    double distance;
    /// Whether to compute WebP's chroma so that edges between colors stay sharp, which takes longer.
    int has_sharp_chroma;
    /// Whether JPEG XL files include the image's profile.
    int keeps_profile;
    int is_lossless;
} CVipsShimSaveOptions;

// The savers store the file in `*bytes`, to be released with `g_free`.
int CVipsShim_save_webp(VipsImage *in, void **bytes, size_t *count, CVipsShimSaveOptions options);
int CVipsShim_save_gif(VipsImage *in, void **bytes, size_t *count, CVipsShimSaveOptions options);
int CVipsShim_save_jxl(VipsImage *in, void **bytes, size_t *count, CVipsShimSaveOptions options);

/// Maximum size of a note in bytes, including its terminating zero.
#define CVipsShim_note_size 200

/// Clears libvips' error buffer, which all threads share, and this thread's note.
void CVipsShim_forget_errors(void);

/// Returns libvips' first warning on this thread since `CVipsShim_forget_errors`, often the reason for a failure; empty
/// if there was none.
const char *CVipsShim_note(void);

/// Loads and starts libvips. Before, only the functions for errors and threads may be called. Returns 0 on success.
int CVipsShim_start(void);

/// From now on, a process that starts libvips exits with `CVipsShim_status_of_late_start`.
void CVipsShim_forbid_start(void);
#define CVipsShim_status_of_late_start 72

/// Loads the only needed module, which writes JPEG XL. On distributions without that module, there is nothing to load.
void CVipsShim_load_modules(void);

/// Frees libvips' caches of the calling thread.
void CVipsShim_end_thread(void);

/// 0, 1 and 2 are the parts of the version.
int CVipsShim_version(int part);

#define CVipsShim_versions_size 300

/// The versions of the libraries that libvips uses and that can change pixels or files; 0 for a missing one.
void CVipsShim_versions(char text[CVipsShim_versions_size]);

int CVipsShim_has_alpha(VipsImage *image);

/// Returns whether the image has this number, and stores it in `value`.
int CVipsShim_get_int(VipsImage *image, const char *name, int *value);

/// Returns a copy of libvips' error buffer, for `g_free`, or NULL.
char *CVipsShim_copy_errors(void);

/// Releases one reference to an image, one thread at a time: the last release frees machine code; see CVipsShim.c.
void CVipsShim_unref(VipsImage *image);

#endif
