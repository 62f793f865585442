#include "CPixels.h"

#include "Frames.h"

#include <string.h>

void CPixels_pad(const CPixelsFrame *in, const CPixelsFrame *out, int left, int top, uint8_t value)
{
    int y;
    for (y = 0; y < out->height; y++) {
        uint8_t *row = row_of(out, y);
        memset(row, value, (size_t) out->width);
        if (y >= top && y < top + in->height)
            memcpy(row + left, row_of(in, y - top), (size_t) in->width);
    }
}
