#include "CSVGShim.h"
#include "LateDrawing.h"

#include <string.h>

/// Draws a parsed file. Returns 0, or -1 with or without an error.
static int render(RsvgHandle *handle, CSVGShimDrawing drawing, uint8_t *pixels, GError **error)
{
    RsvgRectangle viewport = {0, 0, drawing.width, drawing.height};
    cairo_surface_t *surface = cairo_image_surface_create_for_data(
        pixels, CAIRO_FORMAT_ARGB32, drawing.pixel_width, drawing.pixel_height, 4 * drawing.pixel_width);
    cairo_t *cairo = cairo_create(surface);
    int result = -1;
    cairo_scale(cairo, drawing.pixel_width / drawing.width, drawing.pixel_height / drawing.height);
    if (rsvg_handle_render_document(handle, cairo, &viewport, error) && cairo_status(cairo) == CAIRO_STATUS_SUCCESS)
        result = 0;
    cairo_surface_flush(surface);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return result;
}

/// Divides a component by alpha.
static uint8_t unmultiplied(uint32_t component, uint32_t alpha)
{
    uint32_t value = (component * 255 + alpha / 2) / alpha;
    return (uint8_t) (value > 255 ? 255 : value);
}

/// Converts Cairo's premultiplied words to bytes.
static void convert(uint8_t *pixels, size_t count)
{
    size_t index;
    for (index = 0; index < count; index++, pixels += 4) {
        uint32_t word, alpha;
        memcpy(&word, pixels, sizeof word);
        alpha = word >> 24;
        if (!alpha) {
            memset(pixels, 0, 4);
            continue;
        }
        pixels[0] = unmultiplied(word >> 16 & 255, alpha);
        pixels[1] = unmultiplied(word >> 8 & 255, alpha);
        pixels[2] = unmultiplied(word & 255, alpha);
        pixels[3] = (uint8_t) alpha;
    }
}

/// Returns a stream of the pieces, without a copy.
static GInputStream *stream_of(const CSVGShimPiece *pieces, size_t count)
{
    GInputStream *stream = g_memory_input_stream_new();
    size_t index;
    for (index = 0; index < count; index++)
        if (pieces[index].count)
            g_memory_input_stream_add_data(
                G_MEMORY_INPUT_STREAM(stream), pieces[index].bytes, (gssize) pieces[index].count, NULL);
    return stream;
}

int CSVGShim_draws_fixed_strokes(void)
{
    return rsvg_version >= 2056;
}

int CSVGShim_draw(const CSVGShimPiece *pieces, size_t count, CSVGShimDrawing drawing, uint8_t *pixels, char *text)
{
    size_t area = (size_t) drawing.pixel_width * (size_t) drawing.pixel_height;
    GError *error = NULL;
    GInputStream *stream = stream_of(pieces, count);
    // Without a base URL, librsvg loads only what the file itself contains.
    RsvgHandle *handle = rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAGS_NONE, NULL, &error);
    int result = -1;
    memset(pixels, 0, 4 * area);
    if (handle) {
        rsvg_handle_set_dpi(handle, 96);
        result = render(handle, drawing, pixels, &error);
        g_object_unref(handle);
    }
    g_object_unref(stream);
    if (result) {
        g_strlcpy(text, error ? error->message : "librsvg draws nothing", CSVGShim_text_size);
        // librsvg does not otherwise report which Cairo error occurred.
        if (strstr(text, "FreetypeError"))
            result = -2;
    } else {
        convert(pixels, area);
    }
    g_clear_error(&error);
    return result;
}
