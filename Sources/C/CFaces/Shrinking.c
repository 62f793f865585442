#include "CFaces.h"

int CFaces_reduction(int width, int height)
{
    int64_t pixels = (int64_t) width * height;
    int reduction = 1;
    while ((int64_t) (reduction + 1) * (reduction + 1) * CFaces_usual_pixels <= pixels && reduction < 255)
        reduction++;
    return reduction;
}

static unsigned luma_of(const uint8_t *pixel, int bands)
{
    unsigned luma = pixel[0];
    if (bands > 2) luma = (77U * pixel[0] + 150U * pixel[1] + 29U * pixel[2] + 128) >> 8;
    if (bands % 2 == 0) {
        unsigned alpha = pixel[bands - 1];
        luma = 255 - alpha + (luma * alpha + 127) / 255;
    }
    return luma;
}

static unsigned sum_of_row(const uint8_t *pixel, int bands, int count)
{
    unsigned sum = 0;
    if (bands == 1)
        for (int x = 0; x < count; x++)
            sum += pixel[x];
    else
        for (int x = 0; x < count; x++)
            sum += luma_of(pixel + x * bands, bands);
    return sum;
}

void CFaces_shrink(const uint8_t *samples, size_t stride, int width, int height, int bands, int reduction, uint8_t *luma)
{
    unsigned area = (unsigned) reduction * (unsigned) reduction;
    for (int y = 0; y < height / reduction; y++)
        for (int x = 0; x < width / reduction; x++) {
            const uint8_t *pixel = samples + (size_t) (y * reduction) * stride + (size_t) (x * reduction) * (size_t) bands;
            unsigned sum = area / 2;
            for (int row = 0; row < reduction; row++)
                sum += sum_of_row(pixel + (size_t) row * stride, bands, reduction);
            *luma++ = (uint8_t) (sum / area);
        }
}
