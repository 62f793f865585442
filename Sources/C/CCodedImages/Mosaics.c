#include "CCodedImages.h"

#include <stdlib.h>
#include <string.h>

/// The part of a plane that lies in a mosaic: its first sample in both, and its size.
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

/// The factor for sums of `count` samples.
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

/// Adds the samples of a row to those above them: 8 rows of 12 bits fit into 16.
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

/// Adds the columns of whole boxes; the compiler knows the level in each of the calls.
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

int CCodedImages_add(const CCodedImagesMosaic *mosaic, const CCodedImagesPlane *plane, int left, int top)
{
    Part part = part_of(mosaic, plane, left, top);
    uint16_t *columns;
    int y;
    if (part.width <= 0 || part.height <= 0)
        return 0;
    if (mosaic->level == 1) {
        copy(mosaic, plane, &part);
        return 0;
    }
    columns = malloc((size_t) part.width * sizeof *columns);
    if (!columns)
        return -1;
    for (y = 0; y < part.height;) {
        int row = (part.y + y) / mosaic->level;
        memset(columns, 0, (size_t) part.width * sizeof *columns);
        for (; y < part.height && (part.y + y) / mosaic->level == row; y++)
            add_row(mosaic, row_of(plane, part.from_y + y), part.from_x, part.width, columns);
        add_columns(columns, part.x, part.width, mosaic->level, mosaic->sums + (size_t) row * (size_t) mosaic->width);
    }
    free(columns);
    return 0;
}

void CCodedImages_finish(const CCodedImagesMosaic *mosaic)
{
    int level = mosaic->level, x, y;
    int last = mosaic->whole_width - (mosaic->width - 1) * level;
    if (level == 1)
        return;
    for (y = 0; y < mosaic->height; y++) {
        int rows = mosaic->whole_height - y * level < level ? mosaic->whole_height - y * level : level;
        const uint32_t *sums = mosaic->sums + (size_t) y * (size_t) mosaic->width;
        uint8_t *target = (uint8_t *) mosaic->samples + (size_t) y * mosaic->stride;
        float scale = scale_of(mosaic, rows * level);
        for (x = 0; x < mosaic->width - 1; x++)
            target[x] = in_eight_bits((float) sums[x], scale);
        target[x] = in_eight_bits((float) sums[x], scale_of(mosaic, rows * last));
    }
}
