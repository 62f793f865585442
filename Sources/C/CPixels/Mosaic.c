#include "CPixels.h"

#include "Frames.h"

/// The sums of a square: of premultiplied colors if there is alpha, and of alpha.
typedef struct {
    uint64_t colors[3], alpha;
} Sums;

static Sums sums_of(const CPixelsFrame *frame, int left, int top, int right, int bottom)
{
    int bands = frame->bands, colors = has_alpha(frame) ? bands - 1 : bands, x, y, band;
    Sums sums = {{0, 0, 0}, 0};
    if (bands == 3) {
        for (y = top; y < bottom; y++) {
            const uint8_t *pixel = row_of(frame, y) + left * bands;
            unsigned red = 0, green = 0, blue = 0;
            for (x = left; x < right; x++, pixel += 3) {
                red += pixel[0];
                green += pixel[1];
                blue += pixel[2];
            }
            sums.colors[0] += red;
            sums.colors[1] += green;
            sums.colors[2] += blue;
        }
        sums.alpha = (uint64_t) (right - left) * (uint64_t) (bottom - top);
        return sums;
    }
    for (y = top; y < bottom; y++) {
        const uint8_t *pixel = row_of(frame, y) + left * bands;
        for (x = left; x < right; x++, pixel += bands) {
            unsigned alpha = has_alpha(frame) ? pixel[bands - 1] : 1;
            sums.alpha += alpha;
            for (band = 0; band < colors; band++)
                sums.colors[band] += pixel[band] * alpha;
        }
    }
    return sums;
}

int CPixels_mosaic(const void *settings, const CPixelsFrame *in, const CPixelsFrame *out, CPixelsWatch watch)
{
    int side = ((const CPixelsMosaic *) settings)->side, bands = in->bands;
    int colors = has_alpha(in) ? bands - 1 : bands, left, top, x, y, band;
    for (top = 0; top < in->height; top += side) {
        int bottom = in->height - top < side ? in->height : top + side;
        if (watch.should_stop(watch.context))
            return -1;
        for (left = 0; left < in->width; left += side) {
            int right = in->width - left < side ? in->width : left + side;
            uint64_t count = (uint64_t) (right - left) * (uint64_t) (bottom - top);
            Sums sums = sums_of(in, left, top, right, bottom);
            uint8_t mean[4] = {0, 0, 0, 0};
            for (band = 0; band < colors && sums.alpha; band++)
                mean[band] = (uint8_t) ((sums.colors[band] + sums.alpha / 2) / sums.alpha);
            if (has_alpha(in))
                mean[bands - 1] = (uint8_t) ((sums.alpha + count / 2) / count);
            for (y = top; y < bottom; y++) {
                uint8_t *pixel = row_of(out, y) + left * bands;
                for (x = left; x < right; x++, pixel += bands)
                    for (band = 0; band < bands; band++)
                        pixel[band] = mean[band];
            }
        }
    }
    return 0;
}
