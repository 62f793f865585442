#ifndef CSVGShim_H
#define CSVGShim_H

#include <stddef.h>
#include <stdint.h>

/// Chooses the fonts in which text is drawn, and opens them; to be called once, before a process is confined, and before images are drawn.
/// Returns the number of fonts, which is 0 if none are installed; then text is not drawn.
int CSVGShim_prepare(void);

/// Largest number of bytes of a text, its final zero included.
#define CSVGShim_text_size 200

/// How an image is drawn.
typedef struct {
    /// The size of the canvas in CSS pixels.
    double width;
    double height;
    /// The size of the result in pixels.
    int pixel_width;
    int pixel_height;
} CSVGShimDrawing;

/// Bytes that follow others in a file.
typedef struct {
    const void *bytes;
    size_t count;
} CSVGShimPiece;

/// Draws an SVG file, given as `count` pieces, into rows of red, green, blue and alpha without gaps, four bytes a pixel; cannot be stopped.
/// Nothing outside of the file is used but fonts. 0; or -1, with the reason in `text`, which has room for `CSVGShim_text_size` bytes; or -2, likewise,
/// for text that is too large for FreeType: Cairo never draws the same font again in this process.
int CSVGShim_draw(
    const CSVGShimPiece *pieces, size_t count, CSVGShimDrawing drawing, uint8_t *pixels, char *text);

#endif
