#include "Sums.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/// Windows and groups above these numbers are dropped: no photograph has as many.
enum { max_windows = 1024,
    max_groups = 64 };

typedef struct {
    float x, y, width, height;
} Window;

/// The windows that pass a cascade.
typedef struct {
    const CFacesCascade *cascade;
    Window windows[max_windows];
    int count;
} Passing;

typedef struct {
    CFacesImage image;
    /// The image is turned; only large faces are sought in it, and they need half as many windows again.
    int is_turned;
    CFacesScratch scratch;
    CFacesSums sums;
    /// One for each cascade; the last one is for closer looks.
    Passing *passing;
    int cascade_count;
    /// The windows of the best candidate so far, in hundredths of the required number.
    int32_t best;
} Search;

/// Adds the windows of the part, which has been summed.
static void scan(Search *search, const CFacesPart *part, Passing *found)
{
    const CFacesCascade *cascade = found->cascade;
    int step = search->sums.step;
    int last_x = part->reduced_width - cascade->window_width, last_y = part->reduced_height - cascade->window_height;
    double across = part->width / part->reduced_width, down = part->height / part->reduced_height;
    CFaces_find_corners(cascade, &search->sums);
    for (int y = 0; y <= last_y; y += step)
        for (int x = 0; x <= last_x; x += step * CFaces_lanes) {
            unsigned passing = CFaces_evaluate(cascade, &search->sums, x, y);
            for (; passing && found->count < max_windows; passing &= passing - 1) {
                int left = x + __builtin_ctz(passing) * step;
                if (left > last_x) break;
                found->windows[found->count++] = (Window) {(float) (part->x + left * across), (float) (part->y + y * down),
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
static int group(const Passing *found, Window means[max_groups])
{
    int parents[max_windows], members[max_windows], groups = 0;
    for (int one = 0; one < found->count; one++) {
        parents[one] = one;
        for (int other = 0; other < one; other++)
            if (is_similar(&found->windows[one], &found->windows[other])) parents[root(parents, one)] = root(parents, other);
    }
    Window sums[max_windows];
    for (int one = 0; one < found->count; one++) {
        members[one] = 0;
        sums[one] = (Window) {0};
    }
    for (int one = 0; one < found->count; one++) {
        int first = root(parents, one);
        Window *sum = &sums[first];
        const Window *window = &found->windows[one];
        *sum = (Window) {sum->x + window->x, sum->y + window->y, sum->width + window->width, sum->height + window->height};
        members[first]++;
    }
    for (int one = 0; one < found->count && groups < max_groups; one++) {
        float count = (float) members[one];
        if (members[one] == 0) continue;
        means[groups++] = (Window) {sums[one].x / count, sums[one].y / count, sums[one].width / count, sums[one].height / count};
    }
    return groups;
}

/// Scans the surroundings of a window at every place and at nine scales, because a face passes at many of them.
static CFacesFace verified(Search *search, Passing *around, const Window *window)
{
    const int scales = 9;
    const double growth = 1.05;
    const CFacesCascade *cascade = around->cascade;
    int longer = cascade->window_width > cascade->window_height ? cascade->window_width : cascade->window_height;
    int side = longer + longer / 4 * 2;
    double length = (double) window->width / cascade->window_width * side;
    for (int down = 0; down < scales / 2; down++)
        length /= growth;
    search->sums.step = 1;
    around->count = 0;
    for (int scale = 0; scale < scales; scale++) {
        CFacesPart part = {.x = (double) window->x + ((double) window->width - length) / 2,
            .y = (double) window->y + ((double) window->height - length) / 2,
            .width = length,
            .height = length,
            .reduced_width = side,
            .reduced_height = side};
        CFaces_sum(&search->image, &part, &search->scratch, &search->sums);
        scan(search, &part, around);
        length *= growth;
    }
    CFacesFace face = {.windows = around->count};
    for (int one = 0; one < around->count; one++) {
        face.x += around->windows[one].x / (float) around->count;
        face.y += around->windows[one].y / (float) around->count;
        face.width += around->windows[one].width / (float) around->count;
        face.height += around->windows[one].height / (float) around->count;
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

static int required(const Search *search, const CFacesUse *use)
{
    return search->is_turned ? use->min_windows * 3 / 2 : use->min_windows;
}

/// The square of the face in a window.
static CFacesFace framed(const Search *search, const CFacesFace *face, const CFacesUse *use)
{
    float width = face->width * (float) use->enlargement / 100, height = face->height * (float) use->enlargement / 100;
    float middle = face->y + face->height / 2 - face->height * (float) use->rise / 100;
    return (CFacesFace) {face->x + (face->width - width) / 2, middle - height / 2, width, height,
        (int32_t) (100 * face->windows / required(search, use))};
}

/// Looks twice: the first look finds the place and the size of the face only roughly.
static CFacesFace centered(Search *search, Passing *around, const Window *window)
{
    CFacesFace first = verified(search, around, window);
    if (2 * first.windows < required(search, &around->cascade->use)) return first;
    Window middle = {first.x, first.y, first.width, first.height};
    CFacesFace second = verified(search, around, &middle);
    return second.windows >= first.windows ? second : first;
}

static int first_scale(const Search *search, const CFacesUse *use)
{
    return search->is_turned ? use->first_turned_scale : use->first_scale;
}

/// Scans the whole image at coarser and coarser scales, each of which is summed once for all cascades.
static void scan_image(Search *search)
{
    int width = search->image.halves[0].width, height = search->image.halves[0].height, shortest = INT_MAX, first = INT_MAX;
    for (int number = 0; number < search->cascade_count; number++) {
        const CFacesCascade *cascade = search->passing[number].cascade;
        if (first_scale(search, &cascade->use) < first) first = first_scale(search, &cascade->use);
        if (cascade->window_width < shortest) shortest = cascade->window_width;
        if (cascade->window_height < shortest) shortest = cascade->window_height;
        search->passing[number].count = 0;
    }
    double unit = sqrt((double) width * height / CFaces_usual_pixels), scale = first / 100.0;
    if (scale * unit < 1) unit = 1 / scale;
    for (int number = 0; width / (scale * unit) >= shortest && height / (scale * unit) >= shortest; number++) {
        CFacesPart part = {0, 0, width, height, (int) (width / (scale * unit)), (int) (height / (scale * unit))};
        // Coarse scales have few windows.
        search->sums.step = number < 6 ? 2 : 1;
        CFaces_sum(&search->image, &part, &search->scratch, &search->sums);
        for (int cascade = 0; cascade < search->cascade_count; cascade++) {
            Passing *passing = &search->passing[cascade];
            if (100 * scale >= first_scale(search, &passing->cascade->use)) scan(search, &part, passing);
        }
        scale *= 1.2;
    }
}

/// Adds the faces of the image.
static int seek(Search *search, CFacesFace *found, int most)
{
    Window means[max_groups];
    Passing *around = &search->passing[search->cascade_count];
    int count = 0;
    scan_image(search);
    for (int number = 0; number < search->cascade_count; number++) {
        const Passing *passing = &search->passing[number];
        int groups = group(passing, means);
        around->cascade = passing->cascade;
        for (int mean = 0; mean < groups && count < most; mean++) {
            CFacesFace face = centered(search, around, &means[mean]);
            face = framed(search, &face, &passing->cascade->use);
            if (face.windows > search->best) search->best = face.windows;
            if (face.windows >= 100) found[count++] = face;
        }
    }
    return count;
}

/// The place in the image of one in the image that is turned by 14°, to the left if `side` is −1.
static void turn_back(int side, int width, int height, int64_t *x, int64_t *y)
{
    const int64_t cosine = 63589, sine = 15855 * side, one = 1 << 16;
    int64_t across = *x - width * one / 2, down = *y - height * one / 2;
    *x = width * one / 2 + (cosine * across - sine * down) / one;
    *y = height * one / 2 + (sine * across + cosine * down) / one;
}

static void turn(const uint8_t *samples, int width, int height, int side, uint8_t *turned)
{
    for (int y = 0; y < height; y++) {
        int64_t first_x = 1 << 15, first_y = ((int64_t) y << 16) + (1 << 15), last_x = first_x + ((int64_t) width << 16), last_y = first_y;
        turn_back(side, width, height, &first_x, &first_y);
        turn_back(side, width, height, &last_x, &last_y);
        int64_t across = (last_x - first_x) / width, down = (last_y - first_y) / width;
        for (int x = 0; x < width; x++) {
            int64_t from_x = first_x >> 16, from_y = first_y >> 16;
            from_x = from_x < 0 ? 0 : from_x < width ? from_x
                                                     : width - 1;
            from_y = from_y < 0 ? 0 : from_y < height ? from_y
                                                      : height - 1;
            *turned++ = samples[from_y * width + from_x];
            first_x += across;
            first_y += down;
        }
    }
}

/// Adds the faces of the image as it is when turned; returns −1 without memory.
static int seek_turned(Search *search, int side, CFacesFace *found, int most)
{
    CFacesImage upright = search->image;
    int width = upright.halves[0].width, height = upright.halves[0].height, count = -1;
    uint8_t *turned = malloc((size_t) width * (size_t) height + 1);
    if (turned) {
        turn(upright.halves[0].samples, width, height, side, turned);
        if (CFaces_halve(&search->image, turned, width, height)) {
            search->is_turned = 1;
            count = seek(search, found, most);
        }
        free(search->image.memory);
    }
    free(turned);
    search->image = upright;
    for (int number = 0; number < count; number++) {
        CFacesFace *face = &found[number];
        int64_t x = (int64_t) ((face->x + face->width / 2) * 65536), y = (int64_t) ((face->y + face->height / 2) * 65536);
        turn_back(side, width, height, &x, &y);
        face->x = (float) x / 65536 - face->width / 2;
        face->y = (float) y / 65536 - face->height / 2;
    }
    return count;
}

/// Among overlapping faces, the one with the most windows remains.
static int choose(CFacesFace *found, int count, CFacesFace faces[CFaces_max_faces])
{
    int chosen = 0;
    qsort(found, (size_t) count, sizeof *found, by_windows);
    for (int one = 0; one < count && chosen < CFaces_max_faces; one++) {
        int is_free = 1;
        for (int other = 0; other < chosen && is_free; other++)
            is_free = !overlap(&found[one], &faces[other]);
        if (is_free) faces[chosen++] = found[one];
    }
    qsort(faces, (size_t) chosen, sizeof *faces, by_size);
    return chosen;
}

int CFaces_find(const CFacesCascade *cascades, int cascade_count, const uint8_t *luma, int width, int height,
    CFacesFace faces[CFaces_max_faces])
{
    Search search = {.cascade_count = cascade_count};
    enum { max_found = 2 * max_groups };
    CFacesFace found[max_found];
    int count = -1;
    search.passing = calloc((size_t) cascade_count + 1, sizeof *search.passing);
    search.sums.corners = malloc(CFaces_max_classifiers * sizeof *search.sums.corners);
    if (CFaces_allocate_scratch(&search.scratch, width, height) && CFaces_halve(&search.image, luma, width, height) && search.passing
        && search.sums.corners) {
        for (int number = 0; number < cascade_count; number++)
            search.passing[number].cascade = &cascades[number];
        count = seek(&search, found, max_found);
        // Where a face is there may be others, and one that is almost a face may be turned.
        for (int side = -1; side <= 1 && count >= 0 && search.best >= 50; side += 2) {
            int more = seek_turned(&search, side, found + count, max_found - count);
            count = more < 0 ? -1 : count + more;
        }
        if (count > 0) count = choose(found, count, faces);
    }
    CFaces_free_scratch(&search.scratch);
    free(search.image.memory);
    free(search.sums.corners);
    free(search.passing);
    return count;
}
