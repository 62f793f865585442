// The libvips calls of a thumbnail in a bare loop on one thread: what the service's CPU per image is compared with.
// Usage: bare_loop WIDTH QUALITY ROUNDS FILE…   Prints milliseconds of CPU per image.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vips/vips.h>

static double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static int shrink_for(double factor) {
    for (int level = 8; level > 1; level /= 2)
        if (factor >= 2.0 * level) return level;
    return 1;
}

static int thumbnail(void *bytes, size_t count, int width, int quality) {
    VipsImage *header = NULL, *decoded = NULL, *upright = NULL, *memory = NULL, *resized = NULL;
    void *file = NULL;
    size_t length = 0;
    if (vips_jpegload_buffer(bytes, count, &header, NULL)) return -1;
    int swaps = vips_image_get_orientation_swap(header);
    double source_width = swaps ? header->Ysize : header->Xsize;
    int level = shrink_for(source_width / width);
    g_object_unref(header);
    int failed = vips_jpegload_buffer(bytes, count, &decoded, "shrink", level, "fail_on", VIPS_FAIL_ON_ERROR, "access",
                                      VIPS_ACCESS_SEQUENTIAL, NULL);
    if (!failed) failed = !(memory = vips_image_copy_memory(decoded));
    if (!failed) failed = vips_autorot(memory, &upright, NULL);
    if (!failed) failed = vips_resize(upright, &resized, (double)width / upright->Xsize, NULL);
    if (!failed) failed = vips_jpegsave_buffer(resized, &file, &length, "Q", quality, "strip", TRUE, NULL);
    g_free(file);
    VIPS_UNREF(resized);
    VIPS_UNREF(memory);
    VIPS_UNREF(upright);
    VIPS_UNREF(decoded);
    return failed;
}

int main(int argc, char **argv) {
    if (argc < 5 || VIPS_INIT(argv[0])) return 2;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    int width = atoi(argv[1]), quality = atoi(argv[2]), rounds = atoi(argv[3]), files = argc - 4;
    void **bytes = calloc(files, sizeof *bytes);
    size_t *counts = calloc(files, sizeof *counts);
    for (int i = 0; i < files; i++)
        if (!g_file_get_contents(argv[4 + i], (char **)&bytes[i], &counts[i], NULL)) return 2;
    double start = cpu_seconds();
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < files; i++)
            if (thumbnail(bytes[i], counts[i], width, quality)) {
                fprintf(stderr, "%s: %s\n", argv[4 + i], vips_error_buffer());
                return 1;
            }
    printf("%.3f\n", (cpu_seconds() - start) * 1000 / (rounds * files));
    return 0;
}
