#define _GNU_SOURCE
#include "CSVGShim.h"
#include "LateDrawing.h"

#include <dlfcn.h>
#include <string.h>

#include <CLinux.h>

#define DEFINE(name) __typeof__(name) *late_##name;
DRAWING_FUNCTIONS(DEFINE)
#undef DEFINE

int rsvg_version;

// A confined process cannot open files, so all fonts are opened before. Fontconfig then has only these fonts, and Pango
// uses the nearest one for every name. Cairo takes the open font from Fontconfig's description, because it would
// otherwise look for the file. HarfBuzz reads the font's file anew for each font map of Pango, here from memory.

/// Maximum number of fonts to open before the process is confined.
enum { max_fonts = 10 };

typedef struct {
    const char *family;
    int weight;
    const char *language;
} Wish;

// The generic families first, then scripts that the first font may lack.
static const Wish wishes[] = {
    {"sans-serif", FC_WEIGHT_REGULAR, NULL},
    {"sans-serif", FC_WEIGHT_BOLD, NULL},
    {"serif", FC_WEIGHT_REGULAR, NULL},
    {"serif", FC_WEIGHT_BOLD, NULL},
    {"monospace", FC_WEIGHT_REGULAR, NULL},
    {"monospace", FC_WEIGHT_BOLD, NULL},
    {"sans-serif", FC_WEIGHT_REGULAR, "zh-cn"},
    {"sans-serif", FC_WEIGHT_REGULAR, "ja"},
    {"sans-serif", FC_WEIGHT_REGULAR, "ko"},
    {"sans-serif", FC_WEIGHT_REGULAR, "ar"},
    {"sans-serif", FC_WEIGHT_REGULAR, "he"},
    {"sans-serif", FC_WEIGHT_REGULAR, "hi"},
    {"sans-serif", FC_WEIGHT_REGULAR, "th"},
};

/// A font: its file and its index in the file.
typedef struct {
    char *file;
    int index;
} Face;

typedef struct {
    Face faces[max_fonts];
    int count;
    /// The family names of the generic families.
    char *sans, *serif, *monospace;
} Choice;

/// The files of the open fonts; constant after the preparation.
static struct {
    const char *path;
    hb_blob_t *content;
} files[max_fonts];
static int file_count;

static void *libraries;

/// Loads librsvg and its dependencies. Returns 0, or -1 if librsvg is missing.
static int load(void)
{
#define FUNCTION(name) {#name, (void **) &late_##name},
    static const CLinuxFunction functions[] = {DRAWING_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    const unsigned int *major, *minor;
    libraries = CLinux_load_library("librsvg-2.so.2", functions, G_N_ELEMENTS(functions));
    if (!libraries)
        return -1;
    major = dlsym(libraries, "rsvg_major_version");
    minor = dlsym(libraries, "rsvg_minor_version");
    rsvg_version = major && minor ? (int) (*major * 1000 + *minor) : 0;
    return 0;
}

/// Replaces HarfBuzz's function of this name, which Pango calls: `Package.swift` exports it.
hb_blob_t *hb_blob_create_from_file(const char *path)
{
    hb_blob_t *(*original)(const char *) = (hb_blob_t * (*) (const char *) ) dlsym(libraries, "hb_blob_create_from_file");
    int place;
    for (place = 0; place < file_count; place++)
        if (!strcmp(files[place].path, path))
            return hb_blob_reference(files[place].content);
    return original(path);
}

static void keep_file(const char *path)
{
    files[file_count].content = hb_blob_create_from_file(path);
    files[file_count++].path = path;
}

static int contains(const Choice *choice, const char *file, int index)
{
    int place;
    for (place = 0; place < choice->count; place++)
        if (choice->faces[place].index == index && !strcmp(choice->faces[place].file, file))
            return 1;
    return 0;
}

/// Returns the installed font nearest to a wish, or NULL.
static FcPattern *match(FcConfig *system, const Wish *wish)
{
    FcResult result;
    FcPattern *font, *pattern = FcPatternCreate();
    FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *) wish->family);
    FcPatternAddInteger(pattern, FC_WEIGHT, wish->weight);
    if (wish->language)
        FcPatternAddString(pattern, FC_LANG, (const FcChar8 *) wish->language);
    FcConfigSubstitute(system, pattern, FcMatchPattern);
    FcDefaultSubstitute(pattern);
    font = FcFontMatch(system, pattern, &result);
    FcPatternDestroy(pattern);
    return font;
}

static void choose(FcConfig *system, Choice *choice)
{
    size_t wish;
    for (wish = 0; wish < sizeof wishes / sizeof *wishes; wish++) {
        FcPattern *font = match(system, &wishes[wish]);
        FcChar8 *file = NULL, *family = NULL;
        int index = 0;
        if (font && FcPatternGetString(font, FC_FILE, 0, &file) == FcResultMatch
            && FcPatternGetString(font, FC_FAMILY, 0, &family) == FcResultMatch) {
            char **name = wish == 0 ? &choice->sans : (wish == 2 ? &choice->serif : (wish == 4 ? &choice->monospace : NULL));
            FcPatternGetInteger(font, FC_INDEX, 0, &index);
            if (name)
                *name = g_markup_escape_text((const char *) family, -1);
            if (choice->count < max_fonts && !contains(choice, (const char *) file, index)) {
                choice->faces[choice->count].file = g_strdup((const char *) file);
                choice->faces[choice->count++].index = index;
            }
        }
        if (font)
            FcPatternDestroy(font);
    }
}

/// Opens the chosen fonts permanently, and removes the other fonts of their files.
static void keep(FcFontSet *fonts, const Choice *choice)
{
    FT_Library library = NULL;
    int place, kept = 0;
    FT_Init_FreeType(&library);
    for (place = 0; fonts && place < fonts->nfont; place++) {
        FcPattern *font = fonts->fonts[place];
        FcChar8 *file = NULL;
        FT_Face face = NULL;
        int index = 0;
        FcPatternGetString(font, FC_FILE, 0, &file);
        FcPatternGetInteger(font, FC_INDEX, 0, &index);
        if (file && contains(choice, (const char *) file, index) && FT_New_Face(library, (const char *) file, index, &face) == 0
            && FcPatternAddFTFace(font, FC_FT_FACE, face))
            fonts->fonts[kept++] = font;
        else
            FcPatternDestroy(font);
    }
    if (fonts)
        fonts->nfont = kept;
}

/// Adds a rule that maps a name to the family `meaning`.
static void add_alias(GString *rules, const char *name, const char *element, const char *meaning)
{
    g_string_append_printf(rules, "<alias binding='same'><family>%s</family><%s><family>%s</family></%s></alias>",
        name, element, meaning, element);
}

/// Returns the rules for names: common font names, the generic families, and `sans-serif` for every other name.
static GString *rules(const Choice *choice)
{
    static const char *const with_serifs[] = {"Times", "Times New Roman", "Georgia", "Liberation Serif"};
    static const char *const of_equal_width[] = {"Courier", "Courier New", "Consolas", "Menlo", "Liberation Mono"};
    const char *sans = choice->sans ? choice->sans : "";
    GString *rules = g_string_new("<fontconfig>");
    size_t name;
    for (name = 0; name < G_N_ELEMENTS(with_serifs); name++)
        add_alias(rules, with_serifs[name], "default", "serif");
    for (name = 0; name < G_N_ELEMENTS(of_equal_width); name++)
        add_alias(rules, of_equal_width[name], "default", "monospace");
    add_alias(rules, "serif", "prefer", choice->serif ? choice->serif : sans);
    add_alias(rules, "monospace", "prefer", choice->monospace ? choice->monospace : sans);
    add_alias(rules, "sans-serif", "prefer", sans);
    g_string_append_printf(rules,
        "<match target='pattern'><edit name='family' mode='append_last' binding='weak'><string>%s</string></edit></match></fontconfig>",
        sans);
    return rules;
}

/// Draws a letter in every font, so that Pango loads its caches.
static void open_all(FcFontSet *fonts)
{
    PangoFontMap *map = pango_cairo_font_map_get_default();
    PangoContext *context = pango_font_map_create_context(map);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 32, 32);
    cairo_t *cairo = cairo_create(surface);
    int place;
    for (place = 0; fonts && place < fonts->nfont; place++) {
        PangoFontDescription *description = pango_fc_font_description_from_pattern(fonts->fonts[place], FALSE);
        PangoLayout *layout = pango_layout_new(context);
        pango_font_description_set_size(description, 12 * PANGO_SCALE);
        pango_layout_set_font_description(layout, description);
        pango_layout_set_text(layout, "Ag", -1);
        pango_cairo_show_layout(cairo, layout);
        pango_cairo_layout_path(cairo, layout);
        g_object_unref(layout);
        pango_font_description_free(description);
    }
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    g_object_unref(context);
}

int CSVGShim_prepare(void)
{
    Choice choice = {0};
    FcConfig *system, *own;
    FcFontSet *fonts;
    GString *text;
    int place;
    if (load())
        return -1;
    system = FcInitLoadConfigAndFonts();
    own = FcConfigCreate();
    // One thread for filters: the parallelism is between images.
    g_setenv("RAYON_NUM_THREADS", "1", TRUE);
    if (system)
        choose(system, &choice);
    for (place = 0; place < choice.count; place++) {
        int other, isNew = 1;
        for (other = 0; other < place; other++)
            isNew = isNew && strcmp(choice.faces[other].file, choice.faces[place].file);
        if (isNew) {
            FcConfigAppFontAddFile(own, (const FcChar8 *) choice.faces[place].file);
            keep_file(choice.faces[place].file);
        }
    }
    fonts = FcConfigGetFonts(own, FcSetApplication);
    keep(fonts, &choice);
    text = rules(&choice);
    FcConfigParseAndLoadFromMemory(own, (const FcChar8 *) text->str, FcFalse);
    g_string_free(text, TRUE);
    FcConfigSetRescanInterval(own, 0);
    FcConfigSetCurrent(own);
    open_all(fonts);
    // Its font map may have a thread, without which it cannot be used, and which a copy of this process would lack. The next
    // text makes another font map.
    pango_cairo_font_map_set_default(NULL);
    if (system)
        FcConfigDestroy(system);
    // GdkPixbuf looks for its loaders at the first call.
    g_slist_free(gdk_pixbuf_get_formats());
    return choice.count;
}
