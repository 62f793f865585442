#include "Palette.h"

#include <stdlib.h>
#include <string.h>

/// A hash table of the colors found.
enum { table_bits = 11,
    table_size = 1 << table_bits };

typedef struct {
    uint32_t colors[table_size];
    /// The index of the color plus one; 0 for none.
    uint16_t places[table_size];
    uint32_t seen[CPalettes_max_colors];
    int count;
} Table;

/// Returns the index of a color, which is added if it is new; -1 if the table is full.
static inline int index_of(Table *table, uint32_t color)
{
    uint32_t slot = (color * 2654435761u) >> (32 - table_bits);
    while (table->places[slot]) {
        if (table->colors[slot] == color)
            return table->places[slot] - 1;
        slot = (slot + 1) & (table_size - 1);
    }
    if (table->count == CPalettes_max_colors)
        return -1;
    table->colors[slot] = color;
    table->seen[table->count] = color;
    table->places[slot] = (uint16_t) ++table->count;
    return table->count - 1;
}

/// Writes the indices of a row; returns 0 if there are too many colors. The number of bands is a compile-time constant.
static inline __attribute__((always_inline)) int read_row(
    Table *table, const uint8_t *row, int width, const int bands, uint8_t *indices)
{
    uint32_t last = ~color_of(row, bands);
    int index = 0;
    for (int x = 0; x < width; x++) {
        uint32_t color = color_of(row + (size_t) x * (size_t) bands, bands);
        if (color != last) {
            index = index_of(table, color);
            if (index < 0)
                return 0;
            last = color;
        }
        indices[x] = (uint8_t) index;
    }
    return 1;
}

static int read_bands(Table *table, const uint8_t *row, int width, int bands, uint8_t *indices)
{
    switch (bands) {
    case 1: return read_row(table, row, width, 1, indices);
    case 2: return read_row(table, row, width, 2, indices);
    case 3: return read_row(table, row, width, 3, indices);
    default: return read_row(table, row, width, 4, indices);
    }
}

CPalettesStatus CPalettes_read(const CPalettesPixels *pixels, CPalettesIndexed *out, CPixelsWatch watch)
{
    size_t width = (size_t) pixels->width, area = width * (size_t) pixels->height;
    Table *table = calloc(1, sizeof *table);
    CPalettesStatus status = CPalettesDone;
    out->indices = malloc(area);
    if (!table || !out->indices)
        status = CPalettesFailed;
    for (int y = 0; y < pixels->height && status == CPalettesDone; y++) {
        const uint8_t *row = pixels->samples + (size_t) y * width * (size_t) pixels->bands;
        if (y % 64 == 0 && watch.should_stop(watch.context))
            status = CPalettesFailed;
        else if (!read_bands(table, row, pixels->width, pixels->bands, out->indices + (size_t) y * width))
            status = CPalettesManyColors;
    }
    if (status == CPalettesDone) {
        out->count = table->count;
        CPalettes_sort(out, table->seen, area);
    } else {
        free(out->indices);
        out->indices = NULL;
    }
    free(table);
    return status;
}

/// A color and its sort key: transparent before opaque, then dark before light, then any order that depends only on the
/// color.
typedef struct {
    uint64_t key;
    uint32_t color;
    int place;
} Ordered;

static int compare(const void *first, const void *second)
{
    const Ordered *one = first, *other = second;
    return one->key < other->key ? -1 : one->key > other->key;
}

void CPalettes_sort(CPalettesIndexed *indexed, const uint32_t *colors, size_t pixel_count)
{
    Ordered order[CPalettes_max_colors];
    uint8_t places[CPalettes_max_colors];
    int index;
    for (index = 0; index < indexed->count; index++) {
        uint32_t color = colors[index];
        uint64_t luma = 2 * (color & 255) + 5 * (color >> 8 & 255) + (color >> 16 & 255);
        order[index] = (Ordered) {(uint64_t) (color >> 24 == 255) << 63 | luma << 32 | color, color, index};
    }
    qsort(order, (size_t) indexed->count, sizeof *order, compare);
    for (index = 0; index < indexed->count; index++) {
        uint32_t color = order[index].color;
        uint8_t *entry = indexed->colors[index];
        entry[0] = (uint8_t) color;
        entry[1] = (uint8_t) (color >> 8);
        entry[2] = (uint8_t) (color >> 16);
        entry[3] = (uint8_t) (color >> 24);
        places[order[index].place] = (uint8_t) index;
    }
    for (size_t place = 0; place < pixel_count; place++)
        indexed->indices[place] = places[indexed->indices[place]];
}
