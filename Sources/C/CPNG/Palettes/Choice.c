#include "Palette.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

// Colors are compared premultiplied by alpha, so that the color of transparent pixels does not matter. Pixels are
// collected in the cubes of a grid; cubes are split among boxes, and the means of the boxes are improved by Lloyd's
// algorithm.

enum { channels = 4,
    color_bits = 5,
    alpha_bits = 3,
    cube_bits = 3 * color_bits + alpha_bits,
    improvements = 3 };

/// Weights of a difference in red, green, blue and alpha, before it is squared.
static const float weights[channels] = {0.75f, 1, 0.6f, 1};

/// The pixels of a cube of the grid.
typedef struct {
    uint64_t sums[channels];
    uint64_t count;
} Cube;

/// The weighted mean of a cube's pixels.
typedef struct {
    float mean[channels];
    float count;
} Entry;

/// Entries that share one color.
typedef struct {
    int first, count;
    int axis;
    double mean;
    /// The sum of the squared differences from the mean, over all channels.
    double error;
} Box;

/// A pixel premultiplied by its alpha; alpha is the last component.
static inline void premultiply(uint32_t color, uint8_t *parts)
{
    uint32_t alpha = color >> 24;
    for (int channel = 0; channel < 3; channel++) {
        uint32_t value = (color >> (8 * channel) & 255) * alpha + 128;
        parts[channel] = (uint8_t) ((value + (value >> 8)) >> 8);
    }
    parts[3] = (uint8_t) alpha;
}

static inline unsigned cube_of(const uint8_t *parts)
{
    const int shift = 8 - color_bits;
    return (unsigned) (parts[0] >> shift) | (unsigned) (parts[1] >> shift) << color_bits
        | (unsigned) (parts[2] >> shift) << (2 * color_bits) | (unsigned) (parts[3] >> (8 - alpha_bits)) << (3 * color_bits);
}

/// Returns the cubes that contain pixels, as allocated entries; their number is stored in `*count`.
static Entry *collect(const CPalettesPixels *pixels, int *count, CPixelsWatch watch)
{
    Cube *cubes = calloc((size_t) 1 << cube_bits, sizeof *cubes);
    Entry *entries = NULL;
    size_t row_size = (size_t) pixels->width * (size_t) pixels->bands;
    int used = 0, is_stopped = 0;
    if (!cubes)
        return NULL;
    for (int y = 0; y < pixels->height && !is_stopped; y++) {
        const uint8_t *row = pixels->samples + (size_t) y * row_size;
        is_stopped = y % 64 == 0 && watch.should_stop(watch.context);
        for (size_t place = 0; place < row_size; place += (size_t) pixels->bands) {
            uint8_t parts[channels];
            premultiply(color_of(row + place, pixels->bands), parts);
            Cube *cube = &cubes[cube_of(parts)];
            used += cube->count == 0;
            cube->count++;
            for (int channel = 0; channel < channels; channel++)
                cube->sums[channel] += parts[channel];
        }
    }
    if (!is_stopped)
        entries = malloc((size_t) used * sizeof *entries);
    if (entries) {
        int index = 0;
        for (size_t place = 0; place < (size_t) 1 << cube_bits; place++) {
            const Cube *cube = &cubes[place];
            if (!cube->count)
                continue;
            entries[index].count = (float) cube->count;
            for (int channel = 0; channel < channels; channel++)
                entries[index].mean[channel] = weights[channel] * (float) cube->sums[channel] / (float) cube->count;
            index++;
        }
        *count = used;
    }
    free(cubes);
    return entries;
}

/// Computes the error of a box, and the axis with most of it.
static void measure(Box *box, const Entry *entries)
{
    double sums[channels] = {0, 0, 0, 0}, squares[channels] = {0, 0, 0, 0}, weight = 0, most = -1;
    for (int index = box->first; index < box->first + box->count; index++) {
        const Entry *entry = &entries[index];
        weight += entry->count;
        for (int channel = 0; channel < channels; channel++) {
            double value = entry->mean[channel];
            sums[channel] += entry->count * value;
            squares[channel] += entry->count * value * value;
        }
    }
    box->error = 0;
    for (int channel = 0; channel < channels; channel++) {
        double error = squares[channel] - sums[channel] * sums[channel] / weight;
        box->error += error > 0 ? error : 0;
        if (error > most) {
            most = error;
            box->axis = channel;
            box->mean = sums[channel] / weight;
        }
    }
    // One entry has no error, except from rounding.
    if (box->count == 1)
        box->error = 0;
}

/// Moves the entries above the mean of the box's axis to `upper`; returns 0 if there are none.
static int split(Box *box, Box *upper, Entry *entries)
{
    int low = box->first, high = box->first + box->count;
    while (low < high) {
        if (entries[low].mean[box->axis] <= box->mean) {
            low++;
        } else {
            Entry entry = entries[low];
            entries[low] = entries[--high];
            entries[high] = entry;
        }
    }
    if (low == box->first || low == box->first + box->count)
        return 0;
    upper->first = low;
    upper->count = box->first + box->count - low;
    box->count = low - box->first;
    measure(box, entries);
    measure(upper, entries);
    return 1;
}

/// Splits the box with the largest error until the total error is at most `most`, or there are 256 boxes; returns their
/// number.
static int split_all(Box *boxes, Entry *entries, int count, double most)
{
    int boxes_count = 1;
    boxes[0] = (Box) {.first = 0, .count = count};
    measure(&boxes[0], entries);
    while (boxes_count < CPalettes_max_colors) {
        double sum = 0;
        int largest = 0;
        for (int index = 0; index < boxes_count; index++) {
            sum += boxes[index].error;
            if (boxes[index].error > boxes[largest].error)
                largest = index;
        }
        if (sum <= most || boxes[largest].error <= 0)
            break;
        if (split(&boxes[largest], &boxes[boxes_count], entries))
            boxes_count++;
        else
            boxes[largest].error = 0;
    }
    return boxes_count;
}

/// The colors of a palette, channel by channel, weighted and premultiplied.
typedef struct {
    float parts[channels][CPalettes_max_colors];
    int count;
} Colors;

/// Returns the index of the color nearest to `value`.
static int nearest(const Colors *colors, const float *value)
{
    float distances[CPalettes_max_colors];
    float least = FLT_MAX;
    int place = 0;
    for (int index = 0; index < colors->count; index++) {
        float red = colors->parts[0][index] - value[0], green = colors->parts[1][index] - value[1];
        float blue = colors->parts[2][index] - value[2], alpha = colors->parts[3][index] - value[3];
        distances[index] = red * red + green * green + blue * blue + alpha * alpha;
    }
    for (int index = 0; index < colors->count; index++) {
        if (distances[index] < least) {
            least = distances[index];
            place = index;
        }
    }
    return place;
}

/// Moves each color to the mean of its nearest entries.
static void improve(Colors *colors, const Entry *entries, int count)
{
    double sums[CPalettes_max_colors][channels + 1];
    memset(sums, 0, sizeof sums);
    for (int index = 0; index < count; index++) {
        double *sum = sums[nearest(colors, entries[index].mean)];
        for (int channel = 0; channel < channels; channel++)
            sum[channel] += (double) entries[index].count * entries[index].mean[channel];
        sum[channels] += entries[index].count;
    }
    for (int index = 0; index < colors->count; index++)
        for (int channel = 0; channel < channels && sums[index][channels] > 0; channel++)
            colors->parts[channel][index] = (float) (sums[index][channel] / sums[index][channels]);
}

static float clipped(float value, float most)
{
    return value < 0 ? 0 : (value < most ? value : most);
}

/// Rounds the colors to 8 bits; afterwards, `colors` contains exactly the rounded colors, premultiplied.
static void round_all(Colors *colors, uint32_t *rounded)
{
    for (int index = 0; index < colors->count; index++) {
        uint32_t alpha = (uint32_t) (clipped(colors->parts[3][index] / weights[3], 255) + 0.5f);
        uint8_t parts[channels];
        rounded[index] = alpha << 24;
        for (int channel = 0; channel < 3 && alpha; channel++) {
            float value = colors->parts[channel][index] / weights[channel] * 255 / (float) alpha;
            rounded[index] |= (uint32_t) (clipped(value, 255) + 0.5f) << (8 * channel);
        }
        premultiply(rounded[index], parts);
        for (int channel = 0; channel < channels; channel++)
            colors->parts[channel][index] = weights[channel] * (float) parts[channel];
    }
}

/// Assigns the nearest color to each pixel, by its cube, and diffuses the difference to the following pixels.
static CPalettesStatus assign(const CPalettesPixels *pixels, const Colors *colors, uint8_t *indices, CPixelsWatch watch)
{
    int width = pixels->width;
    int16_t *known = malloc(sizeof *known << cube_bits);
    // The differences for the next row; one extra pixel at both ends.
    float(*errors)[channels] = calloc(2 * ((size_t) width + 2), sizeof *errors);
    CPalettesStatus status = known && errors ? CPalettesDone : CPalettesFailed;
    if (known)
        memset(known, -1, sizeof *known << cube_bits);
    for (int y = 0; y < pixels->height && status == CPalettesDone; y++) {
        float(*below)[channels] = errors + (y % 2 ? 0 : width + 2), (*here)[channels] = errors + (y % 2 ? width + 2 : 0);
        const uint8_t *row = pixels->samples + (size_t) y * (size_t) width * (size_t) pixels->bands;
        // Rows alternate in direction, so that no pattern runs to one side.
        int step = y % 2 ? -1 : 1, x = y % 2 ? width - 1 : 0;
        if (y % 32 == 0 && watch.should_stop(watch.context))
            status = CPalettesFailed;
        memset(below, 0, ((size_t) width + 2) * sizeof *below);
        for (int left = width; left > 0; left--, x += step) {
            uint8_t parts[channels], wanted[channels];
            float value[channels];
            premultiply(color_of(row + (size_t) x * (size_t) pixels->bands, pixels->bands), parts);
            for (int channel = 0; channel < channels; channel++) {
                value[channel] = clipped((float) parts[channel] + here[x + 1][channel], 255);
                wanted[channel] = (uint8_t) (value[channel] + 0.5f);
                value[channel] *= weights[channel];
            }
            unsigned cube = cube_of(wanted);
            if (known[cube] < 0)
                known[cube] = (int16_t) nearest(colors, value);
            int index = known[cube];
            indices[(size_t) y * (size_t) width + (size_t) x] = (uint8_t) index;
            for (int channel = 0; channel < channels; channel++) {
                // Three quarters of the difference: all of it would cause visible worms.
                float error = (value[channel] - colors->parts[channel][index]) / weights[channel] * (0.75f / 16);
                here[x + 1 + step][channel] += 7 * error;
                below[x + 1 - step][channel] += 3 * error;
                below[x + 1][channel] += 5 * error;
                below[x + 1 + step][channel] += error;
            }
        }
    }
    free(errors);
    free(known);
    return status;
}

CPalettesStatus CPalettes_choose(const CPalettesPixels *pixels, double error, CPalettesIndexed *out, CPixelsWatch watch)
{
    size_t area = (size_t) pixels->width * (size_t) pixels->height;
    CPalettesStatus status = CPalettesFailed;
    Box boxes[CPalettes_max_colors];
    Colors colors;
    uint32_t rounded[CPalettes_max_colors];
    int count = 0;
    Entry *entries = collect(pixels, &count, watch);
    out->indices = entries ? malloc(area) : NULL;
    if (out->indices) {
        colors.count = split_all(boxes, entries, count, error * error * (double) area);
        for (int index = 0; index < colors.count; index++) {
            double sums[channels + 1] = {0, 0, 0, 0, 0};
            for (int entry = boxes[index].first; entry < boxes[index].first + boxes[index].count; entry++) {
                for (int channel = 0; channel < channels; channel++)
                    sums[channel] += (double) entries[entry].count * entries[entry].mean[channel];
                sums[channels] += entries[entry].count;
            }
            for (int channel = 0; channel < channels; channel++)
                colors.parts[channel][index] = (float) (sums[channel] / sums[channels]);
        }
        for (int round = 0; round < improvements && !watch.should_stop(watch.context); round++)
            improve(&colors, entries, count);
        round_all(&colors, rounded);
        status = assign(pixels, &colors, out->indices, watch);
    }
    free(entries);
    if (status == CPalettesDone) {
        out->count = colors.count;
        CPalettes_sort(out, rounded, area);
    } else {
        free(out->indices);
        out->indices = NULL;
    }
    return status;
}
