#define _GNU_SOURCE
#include "CVipsShim.h"
#include "LateVips.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <CLinux.h>

#define DEFINE(name) __typeof__(name) *late_##name;
VIPS_FUNCTIONS(DEFINE)
#undef DEFINE

// libvips 8.14 lets liborc compile machine code when a resize is built, and frees it with the image. In liborc 0.4.33, compiling and
// freeing race if several threads do them: of three runs with four threads of only vips_resize, two crashed within 24,000 images.
// Therefore one thread at a time builds or frees. Running the code needs no lock. libvips 8.15 uses Highway and does not need this.
static pthread_mutex_t machine_code = PTHREAD_MUTEX_INITIALIZER;

void CVipsShim_unref(VipsImage *image)
{
    pthread_mutex_lock(&machine_code);
    g_object_unref(image);
    pthread_mutex_unlock(&machine_code);
}

// libvips' first warning on this thread. libpng's errors are reported only as warnings, never in the error buffer.
static _Thread_local char note[CVipsShim_note_size];

static void keep_note(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
    (void) domain, (void) data;
    if (level & G_LOG_LEVEL_WARNING && !note[0])
        g_strlcpy(note, message, sizeof note);
}

static int is_loaded(void)
{
    return late_vips_init != NULL;
}

void CVipsShim_forget_errors(void)
{
    if (is_loaded())
        vips_error_clear();
    note[0] = 0;
}

const char *CVipsShim_note(void)
{
    return note;
}

/// Starts libvips without its modules: they load ImageMagick, Poppler and OpenSlide, 145 libraries that the service
/// must not use, which takes half of the start-up time and 14 MiB of each process.
static int start_without_modules(void)
{
    int status;
    g_setenv("VIPSHOME", "/nonexistent", TRUE);
    status = VIPS_INIT("alula");
    g_unsetenv("VIPSHOME");
    return status;
}

/// Disables all loaders, and enables the few needed ones, which read from memory.
static void block_loaders(void)
{
    vips_block_untrusted_set(TRUE);
    vips_operation_block_set("VipsForeignLoad", TRUE);
    vips_operation_block_set("VipsForeignLoadJpegBuffer", FALSE);
    vips_operation_block_set("VipsForeignLoadPngBuffer", FALSE);
    vips_operation_block_set("VipsForeignLoadWebpBuffer", FALSE);
    vips_operation_block_set("VipsForeignLoadNsgifBuffer", FALSE);
    vips_operation_block_set("VipsForeignLoadTiffBuffer", FALSE);
    // libvips also distrusts the JPEG XL writer, which runs in a confined process.
    vips_operation_block_set("VipsForeignSaveJxlBuffer", FALSE);
}

void CVipsShim_load_modules(void)
{
    Dl_info library;
    gchar *folder, *path;
    if (!dladdr((void *) vips_init, &library) || !library.dli_fname)
        return;
    folder = g_path_get_dirname(library.dli_fname);
    path = g_strdup_printf("%s/vips-modules-%d.%d/vips-jxl.so", folder, vips_version(0), vips_version(1));
    // Never closed: the types that a module has registered persist.
    g_module_open(path, G_MODULE_BIND_LAZY);
    // The module has loaders, too.
    block_loaders();
    g_free(path);
    g_free(folder);
}

static int load(void)
{
#define FUNCTION(name) {#name, (void **) &late_##name},
    static const CLinuxFunction functions[] = {VIPS_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    if (CLinux_load_library("libvips.so.42", functions, G_N_ELEMENTS(functions)))
        return 0;
    g_strlcpy(note, dlerror(), sizeof note);
    late_vips_init = NULL;
    return -1;
}

static int must_be_loaded;

void CVipsShim_forbid_start(void)
{
    must_be_loaded = 1;
}

int CVipsShim_start(void)
{
    if (must_be_loaded)
        _exit(CVipsShim_status_of_late_start);
    if (load())
        return -1;
    // libvips' warnings about sources do not go to standard error.
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG, keep_note, NULL);
    // libvips must not write large images to temporary files: the disk may be read-only, and the image's cost estimate
    // has reserved the memory.
    g_setenv("VIPS_DISC_THRESHOLD", "1000g", TRUE);
    if (start_without_modules())
        return -1;
    // Requests run in parallel, so operations need not; and the service has its own caches.
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    block_loaders();
    return 0;
}

void CVipsShim_disable_machine_code(void)
{
    vips_vector_set_enabled(FALSE);
}

void CVipsShim_end_thread(void)
{
    if (is_loaded())
        vips_thread_shutdown();
}

int CVipsShim_version(int part)
{
    return vips_version(part);
}

static const char *text_of(void *libraries, const char *function)
{
    const char *(*text)(void) = (const char *(*) (void) ) dlsym(libraries, function);
    return text ? text() : "0";
}

static int number_of(void *libraries, const char *function)
{
    int (*number)(void) = (int (*)(void)) dlsym(libraries, function);
    return number ? number() : 0;
}

static unsigned variable_of(void *libraries, const char *name)
{
    const unsigned *variable = dlsym(libraries, name);
    return variable ? *variable : 0;
}

void CVipsShim_versions(char text[CVipsShim_versions_size])
{
    // Already loaded, with these libraries.
    void *libraries = dlopen("libvips.so.42", RTLD_LAZY | RTLD_NOLOAD);
    char tiff[16] = "0";
    // The first line is "LIBTIFF, Version 4.5.0".
    sscanf(text_of(libraries, "TIFFGetVersion"), "LIBTIFF, Version %15[0-9.]", tiff);
    g_snprintf(
        text, CVipsShim_versions_size, "zlib %s, libtiff %s, lcms %d, libimagequant %d, librsvg %u.%u.%u, cairo %s",
        text_of(libraries, "zlibVersion"), tiff, number_of(libraries, "cmsGetEncodedCMMversion"),
        number_of(libraries, "liq_version"), variable_of(libraries, "rsvg_major_version"),
        variable_of(libraries, "rsvg_minor_version"), variable_of(libraries, "rsvg_micro_version"),
        text_of(libraries, "cairo_version_string"));
}

int CVipsShim_has_alpha(VipsImage *image)
{
    return vips_image_hasalpha(image);
}

int CVipsShim_get_int(VipsImage *image, const char *name, int *value)
{
    return vips_image_get_typeof(image, name) && vips_image_get_int(image, name, value) == 0;
}

char *CVipsShim_copy_errors(void)
{
    return is_loaded() ? vips_error_buffer_copy() : NULL;
}

static void *bytes_of(const void *bytes)
{
    return (void *) bytes;
}

int CVipsShim_load_jpeg(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out)
{
    // Missing pixels were checked before, and the number of warnings depends on the level; scans were counted
    // ("unlimited").
    return vips_jpegload_buffer(bytes_of(bytes), count, out, "shrink", options.shrink, "fail_on", VIPS_FAIL_ON_NONE,
        "unlimited", TRUE, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

int CVipsShim_load_png(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out)
{
    (void) options;
    return vips_pngload_buffer(bytes_of(bytes), count, out, "fail_on", VIPS_FAIL_ON_ERROR,
        "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

int CVipsShim_load_webp(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out)
{
    return vips_webpload_buffer(bytes_of(bytes), count, out, "page", options.page, "n", options.pages,
        "scale", options.scale, "fail_on", VIPS_FAIL_ON_ERROR, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

int CVipsShim_load_gif(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out)
{
    return vips_gifload_buffer(bytes_of(bytes), count, out, "page", options.page, "n", options.pages,
        "fail_on", VIPS_FAIL_ON_ERROR, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

int CVipsShim_load_tiff(const void *bytes, size_t count, CVipsShimLoadOptions options, VipsImage **out)
{
    return vips_tiffload_buffer(bytes_of(bytes), count, out, "page", options.page, "n", options.pages,
        "fail_on", VIPS_FAIL_ON_ERROR, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

typedef struct {
    const char **names;
    int capacity;
    int count;
} LoaderList;

static void *list_loader(VipsObjectClass *class, void *data)
{
    LoaderList *list = data;
    GType type = G_TYPE_FROM_CLASS(class);
    if (!G_TYPE_IS_ABSTRACT(type) && !(VIPS_OPERATION_CLASS(class)->flags & VIPS_OPERATION_BLOCKED)
        && list->count < list->capacity)
        list->names[list->count++] = g_type_name(type);
    return NULL;
}

int CVipsShim_loaders(const char **names, int capacity)
{
    LoaderList list = {names, capacity, 0};
    vips_class_map_all(g_type_from_name("VipsForeignLoad"), list_loader, &list);
    return list.count;
}

int CVipsShim_load_any(const void *bytes, size_t count, VipsImage **out)
{
    VipsSource *source;
    *out = vips_image_new_from_buffer(bytes, count, "", NULL);
    if (*out)
        return 0;
    source = vips_source_new_from_memory(bytes, count);
    if (!source)
        return -1;
    *out = vips_image_new_from_source(source, "", NULL);
    g_object_unref(source);
    return *out ? 0 : -1;
}

int CVipsShim_from_memory(
    const void *pixels, size_t count, int width, int height, int bands, int is_wide, VipsImage **out)
{
    VipsBandFormat format = is_wide ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR;
    VipsImage *image = vips_image_new_from_memory(pixels, count, width, height, bands, format);
    if (!image)
        return -1;
    if (is_wide)
        image->Type = bands < 3 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16;
    else
        image->Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    *out = image;
    return 0;
}

/// Bytes of the strips in which pixels are computed: they fit into a core's cache.
enum { strip_size = 128 << 10 };

/// Maximum number of rows of a strip. libvips keeps a list of the rows that a strip needs, and walks all of it for each
/// row: for the 43,690 rows of a narrow column that takes minutes.
enum { strip_rows = 256 };

int CVipsShim_compute(VipsImage *in, void *pixels, int (*should_stop)(void *context), void *context)
{
    size_t row_size = VIPS_IMAGE_SIZEOF_LINE(in);
    // Loaders decode at least eight rows at a time.
    int rows = (int) VIPS_CLIP(16, strip_size / row_size, strip_rows);
    VipsRegion *region = vips_region_new(in);
    int y, row, failed = 0;
    for (y = 0; y < in->Ysize && !failed; y += rows) {
        VipsRect rect = {0, y, in->Xsize, VIPS_MIN(rows, in->Ysize - y)};
        failed = should_stop(context) || vips_region_prepare(region, &rect);
        for (row = y; row < y + rect.height && !failed; row++)
            memcpy((VipsPel *) pixels + row * row_size, VIPS_REGION_ADDR(region, 0, row), row_size);
    }
    g_object_unref(region);
    return failed ? -1 : 0;
}

int CVipsShim_copy_memory(VipsImage *in, VipsImage **out)
{
    *out = vips_image_copy_memory(in);
    return *out ? 0 : -1;
}

int CVipsShim_resize(VipsImage *in, VipsImage **out, double horizontal, double vertical)
{
    pthread_mutex_lock(&machine_code);
    int status = vips_resize(in, out, horizontal, "vscale", vertical, "kernel", VIPS_KERNEL_LANCZOS3, NULL);
    pthread_mutex_unlock(&machine_code);
    return status;
}

int CVipsShim_extract(VipsImage *in, VipsImage **out, int left, int top, int width, int height)
{
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

int CVipsShim_continue(VipsImage *in, VipsImage **out, int left, int top, int width, int height, VipsExtend extend)
{
    return vips_embed(in, out, left, top, width, height, "extend", extend, NULL);
}

int CVipsShim_zoom(VipsImage *in, VipsImage **out, int factor)
{
    return vips_zoom(in, out, factor, factor, NULL);
}

int CVipsShim_replicate(VipsImage *in, VipsImage **out, int across, int down)
{
    return vips_replicate(in, out, across, down, NULL);
}

int CVipsShim_smart_crop(VipsImage *in, VipsImage **out, int width, int height, VipsInteresting interesting)
{
    pthread_mutex_lock(&machine_code);
    int status = vips_smartcrop(in, out, width, height, "interesting", interesting, NULL);
    pthread_mutex_unlock(&machine_code);
    return status;
}

int CVipsShim_embed(
    VipsImage *in, VipsImage **out, int left, int top, int width, int height, const double *background, int bands)
{
    VipsArrayDouble *color = vips_array_double_new(background, bands);
    int result = vips_embed(in, out, left, top, width, height, "extend", VIPS_EXTEND_BACKGROUND,
        "background", color, NULL);
    vips_area_unref(VIPS_AREA(color));
    return result;
}

int CVipsShim_flatten(VipsImage *in, VipsImage **out, double red, double green, double blue)
{
    double components[3] = {red, green, blue};
    VipsArrayDouble *color = vips_array_double_new(components, in->Bands < 3 ? 1 : 3);
    int result = vips_flatten(in, out, "background", color, NULL);
    vips_area_unref(VIPS_AREA(color));
    return result;
}

int CVipsShim_composite_over(VipsImage *in, VipsImage **out, const double *background, int is_premultiplied)
{
    VipsImage *ground = vips_image_new_from_image(in, background, 4);
    VipsImage *composite = NULL;
    int result = -1;
    if (ground && !vips_composite2(ground, in, &composite, VIPS_BLEND_MODE_OVER, "premultiplied", is_premultiplied, NULL))
        result = vips_cast_uchar(composite, out, NULL);
    g_clear_object(&composite);
    g_clear_object(&ground);
    return result;
}

int CVipsShim_add_alpha(VipsImage *in, VipsImage **out)
{
    return vips_addalpha(in, out, NULL);
}

int CVipsShim_apply(const char *operation, VipsImage *in, VipsImage **out)
{
    return vips_call(operation, in, out, NULL);
}

int CVipsShim_cast(VipsImage *in, VipsImage **out, VipsBandFormat format, gboolean shift)
{
    return vips_cast(in, out, format, "shift", shift, NULL);
}

int CVipsShim_as_interpretation(VipsImage *in, VipsImage **out, VipsInterpretation interpretation)
{
    return vips_copy(in, out, "interpretation", interpretation, NULL);
}

int CVipsShim_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space)
{
    return vips_colourspace(in, out, space, NULL);
}

int CVipsShim_extract_bands(VipsImage *in, VipsImage **out, int first, int count)
{
    return vips_extract_band(in, out, first, "n", count, NULL);
}

int CVipsShim_join_bands(VipsImage *first, VipsImage *second, VipsImage **out)
{
    return vips_bandjoin2(first, second, out, NULL);
}

int CVipsShim_rotate(VipsImage *in, VipsImage **out, VipsAngle angle)
{
    return vips_rot(in, out, angle, NULL);
}

int CVipsShim_flip(VipsImage *in, VipsImage **out, VipsDirection direction)
{
    return vips_flip(in, out, direction, NULL);
}

int CVipsShim_with_profile(VipsImage *in, VipsImage **out, const void *profile, size_t count)
{
    // A copy, because metadata may be set only on an image with a single owner.
    if (vips_copy(in, out, NULL))
        return -1;
    vips_image_set_blob_copy(*out, VIPS_META_ICC_NAME, profile, count);
    return 0;
}

int CVipsShim_to_gamut(VipsImage *in, VipsImage **out, const char *profile, VipsIntent intent)
{
    // Without black point compensation, the black of a press profile would become dark gray.
    return vips_icc_transform(in, out, profile, "embedded", TRUE, "depth", 8, "intent", intent,
        "black_point_compensation", TRUE, NULL);
}

const void *CVipsShim_blob(VipsImage *in, const char *name, size_t *count)
{
    const void *bytes = NULL;
    *count = 0;
    if (!vips_image_get_typeof(in, name) || vips_image_get_blob(in, name, &bytes, count))
        return NULL;
    return bytes;
}

const int *CVipsShim_integers(VipsImage *in, const char *name, int *count)
{
    int *values = NULL;
    *count = 0;
    if (!vips_image_get_typeof(in, name) || vips_image_get_array_int(in, name, &values, count))
        return NULL;
    return values;
}

void CVipsShim_set_animation(VipsImage *in, int page_height, const int *delays, int count, int loop)
{
    vips_image_set_int(in, VIPS_META_PAGE_HEIGHT, page_height);
    vips_image_set_array_int(in, "delay", delays, count);
    vips_image_set_int(in, "loop", loop);
}

typedef struct {
    int (*should_stop)(void *context);
    void *context;
} Watch;

static void check_watch(VipsImage *image, VipsProgress *progress, void *data)
{
    const Watch *watch = data;
    (void) progress;
    if (watch->should_stop(watch->context))
        vips_image_set_kill(image, TRUE);
}

static void free_watch(gpointer data, GClosure *closure)
{
    (void) closure;
    g_free(data);
}

void CVipsShim_watch(VipsImage *in, int (*should_stop)(void *context), void *context)
{
    Watch *watch = g_new(Watch, 1);
    watch->should_stop = should_stop;
    watch->context = context;
    vips_image_set_progress(in, TRUE);
    g_signal_connect_data(in, "eval", G_CALLBACK(check_watch), watch, free_watch, 0);
}

int CVipsShim_save_webp(VipsImage *in, void **bytes, size_t *count, CVipsShimSaveOptions options)
{
    // Without smart subsampling, colored text and edges of drawings lose 10 to 20 points of SSIMULACRA2.
    return vips_webpsave_buffer(in, bytes, count, "Q", options.is_lossless ? 75 : options.quality, "effort", options.effort,
        "lossless", options.is_lossless, "smart_subsample", options.has_sharp_chroma, "strip", TRUE, NULL);
}

int CVipsShim_save_gif(VipsImage *in, void **bytes, size_t *count, CVipsShimSaveOptions options)
{
    return vips_gifsave_buffer(in, bytes, count, "effort", options.effort, "strip", TRUE, NULL);
}

int CVipsShim_save_jxl(VipsImage *in, void **bytes, size_t *count, CVipsShimSaveOptions options)
{
    gboolean strip = !options.keeps_profile;
    if (options.is_lossless)
        return vips_jxlsave_buffer(in, bytes, count, "lossless", TRUE, "effort", options.effort, "strip", strip, NULL);
    // libvips 8.14 accepts a distance of at most 15, but its own for low qualities are higher.
    if (options.distance > 15 && vips_version(0) == 8 && vips_version(1) < 16)
        return vips_jxlsave_buffer(in, bytes, count, "Q", options.quality + 5, "effort", options.effort, "strip", strip, NULL);
    return vips_jxlsave_buffer(
        in, bytes, count, "distance", options.distance, "effort", options.effort, "strip", strip, NULL);
}
