#include "Sums.h"

#include <math.h>
#include <stdlib.h>

/// Windows and groups above these numbers are dropped: no photograph has as many.
enum { most_windows = 1024,
    most_groups = 64 };

typedef struct {
    float x, y, width, height;
} Window;

typedef struct {
    const CFacesCascade *cascade;
    CFacesImage image;
    CFacesRoom room;
    int32_t (*corners)[16];
    Window *windows;
    int count;
} Search;

/// Adds the windows of the part that pass the cascade.
static void scan(Search *search, const CFacesPart *part, int step)
{
    const CFacesCascade *cascade = search->cascade;
    int last_x = part->reduced_width - cascade->window_width, last_y = part->reduced_height - cascade->window_height;
    double across = part->width / part->reduced_width, down = part->height / part->reduced_height;
    CFacesSums sums = {.step = step, .corners = search->corners};
    CFaces_sum(&search->image, part, &search->room, &sums);
    CFaces_find_corners(cascade, &sums);
    for (int y = 0; y <= last_y; y += step)
        for (int x = 0; x <= last_x; x += step * CFaces_lanes) {
            unsigned passing = CFaces_evaluate(cascade, &sums, x, y);
            for (; passing && search->count < most_windows; passing &= passing - 1) {
                int left = x + __builtin_ctz(passing) * step;
                if (left > last_x) break;
                search->windows[search->count++] = (Window) {(float) (part->x + left * across), (float) (part->y + y * down),
                    (float) (cascade->window_width * across), (float) (cascade->window_height * down)};
            }
        }
}

/// The sides differ by at most half, and the middles are near each other.
static int is_similar(const Window *one, const Window *other)
{
    float shorter = one->width < other->width ? one->width : other->width;
    if (one->width > 1.5f * shorter || other->width > 1.5f * shorter) return 0;
    return fabsf(one->x + one->width / 2 - other->x - other->width / 2) <= shorter / 4
        && fabsf(one->y + one->height / 2 - other->y - other->height / 2) <= shorter / 4;
}

static int root(int *parents, int index)
{
    while (parents[index] != index) index = parents[index] = parents[parents[index]];
    return index;
}

/// Returns the number of the chains of similar windows, and their means.
static int group(Search *search, Window means[most_groups])
{
    int parents[most_windows], members[most_windows], groups = 0;
    for (int one = 0; one < search->count; one++) {
        parents[one] = one;
        for (int other = 0; other < one; other++)
            if (is_similar(&search->windows[one], &search->windows[other])) parents[root(parents, one)] = root(parents, other);
    }
    Window sums[most_windows];
    for (int one = 0; one < search->count; one++) {
        members[one] = 0;
        sums[one] = (Window) {0};
    }
    for (int one = 0; one < search->count; one++) {
        int first = root(parents, one);
        Window *sum = &sums[first], *window = &search->windows[one];
        *sum = (Window) {sum->x + window->x, sum->y + window->y, sum->width + window->width, sum->height + window->height};
        members[first]++;
    }
    for (int one = 0; one < search->count && groups < most_groups; one++) {
        float count = (float) members[one];
        if (members[one] == 0) continue;
        means[groups++] = (Window) {sums[one].x / count, sums[one].y / count, sums[one].width / count, sums[one].height / count};
    }
    return groups;
}

/// Scans the surroundings of a window at every place and at nine scales, because a face passes at many of them.
static CFacesFace verified(Search *search, const Window *window)
{
    const int scales = 9;
    const double growth = 1.05;
    int longer = search->cascade->window_width > search->cascade->window_height ? search->cascade->window_width
                                                                                : search->cascade->window_height;
    int side = longer + longer / 4 * 2;
    double length = (double) window->width / search->cascade->window_width * side;
    for (int down = 0; down < scales / 2; down++)
        length /= growth;
    search->count = 0;
    for (int scale = 0; scale < scales; scale++) {
        CFacesPart part = {.x = (double) window->x + ((double) window->width - length) / 2,
            .y = (double) window->y + ((double) window->height - length) / 2,
            .width = length,
            .height = length,
            .reduced_width = side,
            .reduced_height = side};
        scan(search, &part, 1);
        length *= growth;
    }
    CFacesFace face = {.windows = search->count};
    for (int one = 0; one < search->count; one++) {
        face.x += search->windows[one].x / (float) search->count;
        face.y += search->windows[one].y / (float) search->count;
        face.width += search->windows[one].width / (float) search->count;
        face.height += search->windows[one].height / (float) search->count;
    }
    return face;
}

/// Whether the middle of the smaller one lies within the other.
static int overlap(const CFacesFace *one, const CFacesFace *other)
{
    const CFacesFace *small = one->width < other->width ? one : other, *large = small == one ? other : one;
    float x = small->x + small->width / 2, y = small->y + small->height / 2;
    return x >= large->x && x <= large->x + large->width && y >= large->y && y <= large->y + large->height;
}

static int by_windows(const void *one, const void *other)
{
    return ((const CFacesFace *) other)->windows - ((const CFacesFace *) one)->windows;
}

static int by_size(const void *one, const void *other)
{
    float difference = ((const CFacesFace *) other)->width - ((const CFacesFace *) one)->width;
    return (difference > 0) - (difference < 0);
}

/// The square of the face in a window.
static CFacesFace framed(const CFacesFace *face, const CFacesUse *use)
{
    float width = face->width * (float) use->enlargement / 100, height = face->height * (float) use->enlargement / 100;
    float middle = face->y + face->height / 2 - face->height * (float) use->rise / 100;
    return (CFacesFace) {face->x + (face->width - width) / 2, middle - height / 2, width, height,
        (int32_t) (100 * face->windows / use->least_windows)};
}

/// Looks twice: the first look finds the place and the size of the face only roughly.
static CFacesFace centered(Search *search, const Window *window)
{
    CFacesFace first = verified(search, window);
    if (2 * first.windows < search->cascade->use.least_windows) return first;
    Window middle = {first.x, first.y, first.width, first.height};
    CFacesFace second = verified(search, &middle);
    return second.windows >= first.windows ? second : first;
}

/// Adds the faces that one cascade finds.
static int seek(Search *search, const CFacesCascade *cascade, CFacesFace *found, int most)
{
    Window means[most_groups];
    int width = search->image.halves[0].width, height = search->image.halves[0].height, count = 0;
    double pixels = (double) width * height, scale = cascade->use.first_scale / 100.0;
    if (pixels > CFaces_usual_pixels) scale *= sqrt(pixels / CFaces_usual_pixels);
    search->cascade = cascade;
    search->count = 0;
    for (int number = 0; width / scale >= cascade->window_width && height / scale >= cascade->window_height; number++) {
        CFacesPart part = {0, 0, width, height, (int) (width / scale), (int) (height / scale)};
        // Coarse scales have few windows.
        scan(search, &part, number < 3 ? 2 : 1);
        scale *= 1.2;
    }
    int groups = group(search, means);
    for (int mean = 0; mean < groups && count < most; mean++) {
        CFacesFace face = centered(search, &means[mean]);
        if (face.windows >= cascade->use.least_windows) found[count++] = framed(&face, &cascade->use);
    }
    return count;
}

/// Among overlapping faces, the one with the most windows remains.
static int choose(CFacesFace *found, int count, CFacesFace faces[CFaces_most_faces])
{
    int chosen = 0;
    qsort(found, (size_t) count, sizeof *found, by_windows);
    for (int one = 0; one < count && chosen < CFaces_most_faces; one++) {
        int is_free = 1;
        for (int other = 0; other < chosen && is_free; other++)
            is_free = !overlap(&found[one], &faces[other]);
        if (is_free) faces[chosen++] = found[one];
    }
    qsort(faces, (size_t) chosen, sizeof *faces, by_size);
    return chosen;
}

int CFaces_find(const CFacesCascade *cascades, int cascade_count, const uint8_t *luma, int width, int height,
    CFacesFace faces[CFaces_most_faces])
{
    Search search = {0};
    enum { most_found = 2 * most_groups };
    CFacesFace found[most_found];
    int count = -1;
    search.windows = malloc(most_windows * sizeof *search.windows);
    search.corners = malloc(CFaces_most_classifiers * sizeof *search.corners);
    if (CFaces_make_room(&search.room, width, height) && CFaces_halve(&search.image, luma, width, height) && search.windows
        && search.corners) {
        count = 0;
        for (int number = 0; number < cascade_count; number++)
            count += seek(&search, &cascades[number], found + count, most_found - count);
        count = choose(found, count, faces);
    }
    CFaces_free_room(&search.room);
    free(search.image.memory);
    free(search.windows);
    free(search.corners);
    return count;
}
