#ifndef LateDrawing_h
#define LateDrawing_h

// The libraries for drawings are loaded for the first drawing; see CVipsShim/LateVips.h.

#include <fontconfig/fontconfig.h>
#include <fontconfig/fcfreetype.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <hb.h>
#include <librsvg/rsvg.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>

/// A function that is missing in either list does not link or compile.
// clang-format off
#define DRAWING_FUNCTIONS(FUNCTION) \
    FUNCTION(FT_Init_FreeType) FUNCTION(FT_New_Face) FUNCTION(FcConfigAppFontAddFile) FUNCTION(FcConfigCreate) \
    FUNCTION(FcConfigDestroy) FUNCTION(FcConfigGetFonts) FUNCTION(FcConfigParseAndLoadFromMemory) \
    FUNCTION(FcConfigSetCurrent) FUNCTION(FcConfigSetRescanInterval) FUNCTION(FcConfigSubstitute) \
    FUNCTION(FcDefaultSubstitute) FUNCTION(FcFontMatch) FUNCTION(FcInitLoadConfigAndFonts) \
    FUNCTION(FcPatternAddFTFace) FUNCTION(FcPatternAddInteger) FUNCTION(FcPatternAddString) \
    FUNCTION(FcPatternCreate) FUNCTION(FcPatternDestroy) FUNCTION(FcPatternGetInteger) FUNCTION(FcPatternGetString) \
    FUNCTION(cairo_create) FUNCTION(cairo_destroy) FUNCTION(cairo_image_surface_create) \
    FUNCTION(cairo_image_surface_create_for_data) FUNCTION(cairo_scale) FUNCTION(cairo_status) \
    FUNCTION(cairo_surface_destroy) FUNCTION(cairo_surface_flush) FUNCTION(gdk_pixbuf_get_formats) \
    FUNCTION(hb_blob_reference) FUNCTION(pango_cairo_font_map_get_default) \
    FUNCTION(pango_cairo_font_map_set_default) FUNCTION(pango_cairo_layout_path) FUNCTION(pango_cairo_show_layout) \
    FUNCTION(pango_fc_font_description_from_pattern) FUNCTION(pango_font_description_free) \
    FUNCTION(pango_font_description_set_size) FUNCTION(pango_font_map_create_context) FUNCTION(pango_layout_new) \
    FUNCTION(pango_layout_set_font_description) FUNCTION(pango_layout_set_text) \
    FUNCTION(rsvg_handle_new_from_stream_sync) FUNCTION(rsvg_handle_render_document) FUNCTION(rsvg_handle_set_dpi)
// clang-format on

#define DECLARE(name) extern __typeof__(name) *late_##name;
DRAWING_FUNCTIONS(DECLARE)
#undef DECLARE

#define FT_Init_FreeType (*late_FT_Init_FreeType)
#define FT_New_Face (*late_FT_New_Face)
#define FcConfigAppFontAddFile (*late_FcConfigAppFontAddFile)
#define FcConfigCreate (*late_FcConfigCreate)
#define FcConfigDestroy (*late_FcConfigDestroy)
#define FcConfigGetFonts (*late_FcConfigGetFonts)
#define FcConfigParseAndLoadFromMemory (*late_FcConfigParseAndLoadFromMemory)
#define FcConfigSetCurrent (*late_FcConfigSetCurrent)
#define FcConfigSetRescanInterval (*late_FcConfigSetRescanInterval)
#define FcConfigSubstitute (*late_FcConfigSubstitute)
#define FcDefaultSubstitute (*late_FcDefaultSubstitute)
#define FcFontMatch (*late_FcFontMatch)
#define FcInitLoadConfigAndFonts (*late_FcInitLoadConfigAndFonts)
#define FcPatternAddFTFace (*late_FcPatternAddFTFace)
#define FcPatternAddInteger (*late_FcPatternAddInteger)
#define FcPatternAddString (*late_FcPatternAddString)
#define FcPatternCreate (*late_FcPatternCreate)
#define FcPatternDestroy (*late_FcPatternDestroy)
#define FcPatternGetInteger (*late_FcPatternGetInteger)
#define FcPatternGetString (*late_FcPatternGetString)
#define cairo_create (*late_cairo_create)
#define cairo_destroy (*late_cairo_destroy)
#define cairo_image_surface_create (*late_cairo_image_surface_create)
#define cairo_image_surface_create_for_data (*late_cairo_image_surface_create_for_data)
#define cairo_scale (*late_cairo_scale)
#define cairo_status (*late_cairo_status)
#define cairo_surface_destroy (*late_cairo_surface_destroy)
#define cairo_surface_flush (*late_cairo_surface_flush)
#define gdk_pixbuf_get_formats (*late_gdk_pixbuf_get_formats)
#define hb_blob_reference (*late_hb_blob_reference)
#define pango_cairo_font_map_get_default (*late_pango_cairo_font_map_get_default)
#define pango_cairo_font_map_set_default (*late_pango_cairo_font_map_set_default)
#define pango_cairo_layout_path (*late_pango_cairo_layout_path)
#define pango_cairo_show_layout (*late_pango_cairo_show_layout)
#define pango_fc_font_description_from_pattern (*late_pango_fc_font_description_from_pattern)
#define pango_font_description_free (*late_pango_font_description_free)
#define pango_font_description_set_size (*late_pango_font_description_set_size)
#define pango_font_map_create_context (*late_pango_font_map_create_context)
#define pango_layout_new (*late_pango_layout_new)
#define pango_layout_set_font_description (*late_pango_layout_set_font_description)
#define pango_layout_set_text (*late_pango_layout_set_text)
#define rsvg_handle_new_from_stream_sync (*late_rsvg_handle_new_from_stream_sync)
#define rsvg_handle_render_document (*late_rsvg_handle_render_document)
#define rsvg_handle_set_dpi (*late_rsvg_handle_set_dpi)

/// Such as 2056 for 2.56.
extern int rsvg_version;

#endif
