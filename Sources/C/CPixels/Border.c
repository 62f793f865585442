#include "CPixels.h"

#include "Frames.h"

#include <stdlib.h>

static int square(int value)
{
    return value * value;
}

static int is_near(const uint8_t *pixel, int bands, const uint8_t *color, int tolerance, int is_distance)
{
    int alpha = bands == 2 || bands == 4 ? pixel[bands - 1] : 255;
    int green = bands < 3 ? 0 : 1, blue = bands < 3 ? 0 : 2;
    if (is_distance)
        return square(pixel[0] - color[0]) + square(pixel[green] - color[1]) + square(pixel[blue] - color[2])
            + square(alpha - color[3])
            <= square(tolerance);
    return abs(pixel[0] - color[0]) <= tolerance && abs(pixel[green] - color[1]) <= tolerance
        && abs(pixel[blue] - color[2]) <= tolerance && abs(alpha - color[3]) <= tolerance;
}

/// Returns a component composited over the matte.
static int flat_component(const CPixelsFrame *frame, const CPixelsBorder *border, int x, int y, int component)
{
    const uint8_t *pixel = row_of(frame, y) + (ptrdiff_t) x * frame->bands;
    int value = pixel[frame->bands < 3 ? 0 : component];
    if (frame->bands == 1 || frame->bands == 3)
        return value;
    int alpha = pixel[frame->bands - 1];
    return (value * alpha + border->matte[component] * (255 - alpha)) / 255;
}

/// Returns whether the median of nine pixels is near the color: at least five are not above it, and five are not below
/// it. Beyond the edge, edge pixels repeat.
static int is_smoothed_near(const CPixelsFrame *frame, const CPixelsBorder *border, int x, int y)
{
    for (int component = 0; component < 3; component++) {
        int above = 0, below = 0;
        for (int down = -1; down <= 1; down++) {
            int row = y + down < 0 ? 0 : (y + down >= frame->height ? frame->height - 1 : y + down);
            for (int across = -1; across <= 1; across++) {
                int column = x + across < 0 ? 0 : (x + across >= frame->width ? frame->width - 1 : x + across);
                int difference = flat_component(frame, border, column, row, component) - border->color[component];
                above += difference > border->tolerance;
                below += -difference > border->tolerance;
            }
        }
        if (above > 4 || below > 4)
            return 0;
    }
    return 1;
}

/// Whether all pixels of a part are near the color.
static int is_border(const CPixelsFrame *frame, const CPixelsBorder *border, int left, int top, int right, int bottom)
{
    int x, y;
    for (y = top; y < bottom; y++) {
        const uint8_t *pixel = row_of(frame, y) + (ptrdiff_t) left * frame->bands;
        for (x = left; x < right; x++, pixel += frame->bands)
            if (border->is_smoothed
                    ? !is_smoothed_near(frame, border, x, y)
                    : !is_near(pixel, frame->bands, border->color, border->tolerance, border->is_distance))
                return 0;
    }
    return 1;
}

int CPixels_find_border(const CPixelsFrame *frame, CPixelsBorder *border, CPixelsWatch watch)
{
    int left = 0, top = 0, right = frame->width, bottom = frame->height, y;
    while (top < bottom && is_border(frame, border, left, top, right, top + 1)) {
        if (is_ended(watch, top))
            return -1;
        top++;
    }
    if (top == bottom) {
        top = 0;
    } else {
        while (is_border(frame, border, left, bottom - 1, right, bottom))
            bottom--;
        // Row by row, because columns are slow to read: the widest border in any row.
        left = right = frame->width;
        for (y = top; y < bottom; y++) {
            int x = 0;
            if (is_ended(watch, y))
                return -1;
            while (x < left && is_border(frame, border, x, y, x + 1, y + 1))
                x++;
            left = x;
            x = 0;
            while (x < right && is_border(frame, border, frame->width - 1 - x, y, frame->width - x, y + 1))
                x++;
            right = x;
        }
        right = frame->width - right;
    }
    border->left = left;
    border->top = top;
    border->right = right;
    border->bottom = bottom;
    return 0;
}
