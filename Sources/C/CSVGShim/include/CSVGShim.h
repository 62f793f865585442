#ifndef CSVGShim_H
#define CSVGShim_H

#include <stddef.h>
#include <stdint.h>

/// Chooses and opens the fonts for drawing text; must be called once, before a process is confined, and before images
/// are drawn. Returns the number of fonts, which is 0 if none are installed, so that text is not drawn; or -1 if librsvg
/// cannot be loaded, so that nothing is.
int CSVGShim_prepare(void);

/// Whether the library draws strokes whose width is in CSS pixels of the canvas, whatever the view box (`vector-effect`).
int CSVGShim_draws_fixed_strokes(void);

/// Maximum size of a text in bytes, including its terminating zero.
#define CSVGShim_text_size 200

typedef struct {
    /// The size of the canvas in CSS pixels.
    double width;
    double height;
    /// The size of the result in pixels.
    int pixel_width;
    int pixel_height;
} CSVGShimDrawing;

/// A piece of a file.
typedef struct {
    const void *bytes;
    size_t count;
} CSVGShimPiece;

/// Draws an SVG file, consisting of `count` pieces, to packed rows of red, green, blue and alpha, four bytes a pixel;
/// cannot be interrupted. Only fonts are used from outside the file. Returns 0; or -1, with the reason in `text`, which
/// has room for `CSVGShim_text_size` bytes; or -2, also with the reason, for text that is too large for FreeType: Cairo
/// never draws the same font again in this process.
int CSVGShim_draw(
    const CSVGShimPiece *pieces, size_t count, CSVGShimDrawing drawing, uint8_t *pixels, char *text);

#endif
