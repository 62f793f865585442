#include "Sums.h"

#include <stdlib.h>
#include <string.h>

/// Two neighboring samples, and the weight of the second in 128ths.
struct CFacesPlace {
    int first, second, weight;
};

int CFaces_halve(CFacesImage *image, const uint8_t *samples, int width, int height)
{
    uint8_t *next = image->memory = malloc((size_t) width * (size_t) height / 3 + 1);
    image->count = 1;
    image->halves[0].samples = samples;
    image->halves[0].width = width;
    image->halves[0].height = height;
    if (!next) return 0;
    while (image->count < CFaces_most_halves && width >= 2 && height >= 2) {
        size_t stride = (size_t) width;
        width /= 2;
        height /= 2;
        image->halves[image->count].samples = next;
        image->halves[image->count].width = width;
        image->halves[image->count].height = height;
        image->count++;
        for (int y = 0; y < height; y++) {
            const uint8_t *one = samples + (size_t) (2 * y) * stride, *other = one + stride;
            for (int x = 0; x < width; x++)
                next[x] = (uint8_t) ((one[2 * x] + one[2 * x + 1] + other[2 * x] + other[2 * x + 1] + 2) >> 2);
            next += width;
        }
        samples = image->halves[image->count - 1].samples;
    }
    return 1;
}

/// The sums of a row for windows that begin in it; the last windows of a batch may end outside the row.
static size_t odd_for(int width) { return (size_t) (width / 2 + CFaces_lanes + CFaces_longest_window / 2); }

int CFaces_make_room(CFacesRoom *room, int width, int height)
{
    // A part of a small image may be larger.
    if (width < 2 * CFaces_longest_window) width = 2 * CFaces_longest_window;
    if (height < 2 * CFaces_longest_window) height = 2 * CFaces_longest_window;
    size_t stride = 2 * odd_for(width);
    room->sums = calloc((size_t) height + 1, stride * sizeof *room->sums);
    room->mixed = malloc((size_t) width * sizeof *room->mixed);
    room->row = malloc((size_t) width * sizeof *room->row);
    room->places = malloc((size_t) width * sizeof *room->places);
    return room->sums && room->mixed && room->row && room->places;
}

void CFaces_free_room(CFacesRoom *room)
{
    free(room->sums);
    free(room->mixed);
    free(room->row);
    free(room->places);
}

static int within(int64_t value, int count) { return value < 0 ? 0 : (value < count ? (int) value : count - 1); }

/// The place of the middle of a sample of the part.
static CFacesPlace place_of(int index, double start, double length, int reduced, int count)
{
    double middle = start + ((double) index + 0.5) * length / (double) reduced - 0.5;
    int64_t fixed = (int64_t) (middle * 128 + 128) - 128;
    int64_t first = fixed >> 7;
    CFacesPlace place = {within(first, count), within(first + 1, count), (int) (fixed & 127)};
    return place;
}

static void reduce_row(const CFacesPlace *places, const uint16_t *mixed, uint16_t *row, int width)
{
    for (int x = 0; x < width; x++) {
        CFacesPlace at = places[x];
        row[x] = (uint16_t) ((mixed[at.first] * (128 - at.weight) + mixed[at.second] * at.weight + (1 << 13)) >> 14);
    }
}

static void add_row(const uint16_t *row, int width, const CFacesSums *sums, uint16_t *below)
{
    const uint16_t *above = below - sums->stride;
    uint16_t total = 0;
    below[0] = 0;
    if (sums->step == 1) {
        for (int x = 0; x < width; x++) {
            total = (uint16_t) (total + row[x]);
            below[x + 1] = (uint16_t) (above[x + 1] + total);
        }
        return;
    }
    const uint16_t *odd_above = above + sums->odd;
    uint16_t *odd = below + sums->odd;
    int x = 0;
    for (; x + 1 < width; x += 2) {
        total = (uint16_t) (total + row[x]);
        odd[x / 2] = (uint16_t) (odd_above[x / 2] + total);
        total = (uint16_t) (total + row[x + 1]);
        below[x / 2 + 1] = (uint16_t) (above[x / 2 + 1] + total);
    }
    if (x < width) odd[x / 2] = (uint16_t) (odd_above[x / 2] + (uint16_t) (total + row[x]));
}

void CFaces_sum(const CFacesImage *image, const CFacesPart *part, CFacesRoom *room, CFacesSums *sums)
{
    int number = 0, width = part->reduced_width;
    while (number + 1 < image->count && part->width >= 2 << number && part->width / (2 << number) >= width
        && part->height / (2 << number) >= part->reduced_height)
        number++;
    const uint8_t *samples = image->halves[number].samples;
    int whole_width = image->halves[number].width, whole_height = image->halves[number].height;
    double scale = 1.0 / (double) (1 << number);
    for (int x = 0; x < width; x++)
        room->places[x] = place_of(x, part->x * scale, part->width * scale, width, whole_width);
    sums->odd = odd_for(width);
    sums->stride = 2 * sums->odd;
    sums->sums = room->sums;
    memset(sums->sums, 0, sums->stride * sizeof *sums->sums);
    for (int y = 0; y < part->reduced_height; y++) {
        CFacesPlace place = place_of(y, part->y * scale, part->height * scale, part->reduced_height, whole_height);
        const uint8_t *one = samples + (size_t) place.first * (size_t) whole_width;
        const uint8_t *other = samples + (size_t) place.second * (size_t) whole_width;
        // A part needs only these columns.
        int first = room->places[0].first, last = room->places[width - 1].second;
        for (int x = first; x <= last; x++)
            room->mixed[x] = (uint16_t) (one[x] * (128 - place.weight) + other[x] * place.weight);
        reduce_row(room->places, room->mixed, room->row, width);
        add_row(room->row, width, sums, sums->sums + (size_t) (y + 1) * sums->stride);
    }
}
