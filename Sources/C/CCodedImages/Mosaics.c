#include "CCodedImages.h"

#include <stdlib.h>
#include <string.h>

/// The intersection of a plane and a mosaic: its first sample in both, and its size.
typedef struct {
    int from_x, from_y, x, y, width, height;
} Part;

static Part part_of(const CCodedImagesMosaic *mosaic, const CCodedImagesPlane *plane, int left, int top)
{
    Part part = {left < 0 ? -left : 0, top < 0 ? -top : 0, left < 0 ? 0 : left, top < 0 ? 0 : top, 0, 0};
    int across = plane->width - part.from_x, down = plane->height - part.from_y;
    part.width = across < mosaic->whole_width - part.x ? across : mosaic->whole_width - part.x;
    part.height = down < mosaic->whole_height - part.y ? down : mosaic->whole_height - part.y;
    return part;
}

/// Returns the factor for sums of `count` samples.
static float scale_of(const CCodedImagesMosaic *mosaic, int count)
{
    float unit = mosaic->is_spread ? 255.0f / (float) ((1 << mosaic->bits) - 1) : 1.0f / (float) (1 << (mosaic->bits - 8));
    return unit / (float) count;
}

static uint8_t in_eight_bits(float sum, float scale)
{
    float value = sum * scale + 0.5f;
    return value >= 255.0f ? 255 : (uint8_t) value;
}

static const uint8_t *row_of(const CCodedImagesPlane *plane, int y)
{
    return (const uint8_t *) plane->samples + (ptrdiff_t) y * plane->stride;
}

static void copy(const CCodedImagesMosaic *mosaic, const CCodedImagesPlane *plane, const Part *part)
{
    float scale = scale_of(mosaic, 1);
    size_t bytes = mosaic->is_wide ? 2 : 1;
    int x, y;
    for (y = 0; y < part->height; y++) {
        const uint8_t *row = row_of(plane, part->from_y + y);
        uint8_t *target = (uint8_t *) mosaic->samples + (size_t) (part->y + y) * mosaic->stride + (size_t) part->x * bytes;
        if (mosaic->bits == 8 || mosaic->is_wide) {
            memcpy(target, row + (size_t) part->from_x * bytes, (size_t) part->width * bytes);
            continue;
        }
        for (x = 0; x < part->width; x++)
            target[x] = in_eight_bits((float) ((const uint16_t *) row)[part->from_x + x], scale);
    }
}

/// Adds a row of samples to the sums above: 8 rows of 12 bits fit into 16.
static void add_row(const CCodedImagesMosaic *mosaic, const uint8_t *row, int from, int count, uint16_t *columns)
{
    const uint16_t *words = (const uint16_t *) row + from;
    int x;
    if (mosaic->bits == 8)
        for (x = 0; x < count; x++)
            columns[x] = (uint16_t) (columns[x] + row[from + x]);
    else
        for (x = 0; x < count; x++)
            columns[x] = (uint16_t) (columns[x] + words[x]);
}

/// Adds the columns of whole boxes; the level is a compile-time constant in each call.
static inline __attribute__((always_inline)) void add_boxes(const uint16_t *columns, int count, int level, uint32_t *sums)
{
    int box, x;
    for (box = 0; box < count; box++, columns += level) {
        uint32_t sum = 0;
        for (x = 0; x < level; x++)
            sum += columns[x];
        sums[box] += sum;
    }
}

static void add_columns(const uint16_t *columns, int left, int count, int level, uint32_t *sums)
{
    int x = 0, boxes;
    sums += left / level;
    if (left % level) {
        for (; x < count && (left + x) % level; x++)
            sums[0] += columns[x];
        sums++;
    }
    boxes = (count - x) / level;
    switch (level) {
    case 2: add_boxes(columns + x, boxes, 2, sums); break;
    case 4: add_boxes(columns + x, boxes, 4, sums); break;
    default: add_boxes(columns + x, boxes, 8, sums); break;
    }
    for (x += boxes * level; x < count; x++)
        sums[boxes] += columns[x];
}

/// Writes the means of a row of sums.
static void write_means(const CCodedImagesMosaic *mosaic, const uint32_t *sums, int from, int count, int y)
{
    int level = mosaic->level, x;
    int rows = mosaic->whole_height - y * level < level ? mosaic->whole_height - y * level : level;
    int last = mosaic->whole_width - (mosaic->width - 1) * level;
    uint8_t *target = (uint8_t *) mosaic->samples + (size_t) y * mosaic->stride + from;
    float scale = scale_of(mosaic, rows * level);
    for (x = 0; x < count; x++)
        target[x] = in_eight_bits((float) sums[x], scale);
    if (from + count == mosaic->width)
        target[count - 1] = in_eight_bits((float) sums[count - 1], scale_of(mosaic, rows * last));
}

int CCodedImages_add(const CCodedImagesMosaic *mosaic, const CCodedImagesPlane *plane, int left, int top)
{
    Part part = part_of(mosaic, plane, left, top);
    int first = part.x / mosaic->level, boxes = (part.x + part.width + mosaic->level - 1) / mosaic->level - first;
    uint16_t *columns;
    uint32_t *row_sums;
    int y;
    if (part.width <= 0 || part.height <= 0)
        return 0;
    if (mosaic->level == 1) {
        copy(mosaic, plane, &part);
        return 0;
    }
    row_sums = malloc((size_t) boxes * sizeof *row_sums + (size_t) part.width * sizeof *columns);
    if (!row_sums)
        return -1;
    columns = (uint16_t *) (row_sums + boxes);
    for (y = 0; y < part.height;) {
        int row = (part.y + y) / mosaic->level;
        memset(columns, 0, (size_t) part.width * sizeof *columns);
        for (; y < part.height && (part.y + y) / mosaic->level == row; y++)
            add_row(mosaic, row_of(plane, part.from_y + y), part.from_x, part.width, columns);
        if (mosaic->sums) {
            add_columns(columns, part.x, part.width, mosaic->level, mosaic->sums + (size_t) row * (size_t) mosaic->width);
            continue;
        }
        memset(row_sums, 0, (size_t) boxes * sizeof *row_sums);
        add_columns(columns, part.x % mosaic->level, part.width, mosaic->level, row_sums);
        write_means(mosaic, row_sums, first, boxes, row);
    }
    free(row_sums);
    return 0;
}

void CCodedImages_finish(const CCodedImagesMosaic *mosaic)
{
    int y;
    if (!mosaic->sums)
        return;
    for (y = 0; y < mosaic->height; y++)
        write_means(mosaic, mosaic->sums + (size_t) y * (size_t) mosaic->width, 0, mosaic->width, y);
}
