#include "Sums.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// Two neighboring samples, and the weight of the second in 128ths.
typedef struct {
    int first, second, weight;
} Place;

int CFaces_halve(CFacesImage *image, const uint8_t *samples, int width, int height)
{
    uint8_t *next = image->memory = malloc((size_t) width * (size_t) height / 3 + 1);
    image->count = 1;
    image->halves[0].samples = samples;
    image->halves[0].width = width;
    image->halves[0].height = height;
    if (!next) return 0;
    while (image->count < CFaces_max_halves && width >= 2 && height >= 2) {
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
static size_t odd_offset(int width) { return (size_t) (width / 2 + CFaces_lanes + CFaces_longest_window / 2); }

int CFaces_allocate_scratch(CFacesScratch *scratch, int width, int height)
{
    // A part of a small image may be larger.
    if (width < 2 * CFaces_longest_window) width = 2 * CFaces_longest_window;
    if (height < 2 * CFaces_longest_window) height = 2 * CFaces_longest_window;
    size_t stride = 2 * odd_offset(width);
    scratch->sums = calloc((size_t) height + 1, stride * sizeof *scratch->sums);
    // The last sample once more.
    scratch->mixed = malloc(((size_t) width + 1) * sizeof *scratch->mixed);
    scratch->row = malloc((size_t) width * sizeof *scratch->row);
    scratch->firsts = malloc((size_t) width * sizeof *scratch->firsts);
    scratch->weights = malloc((size_t) width * sizeof *scratch->weights);
    return scratch->sums && scratch->mixed && scratch->row && scratch->firsts && scratch->weights;
}

void CFaces_free_scratch(CFacesScratch *scratch)
{
    free(scratch->sums);
    free(scratch->mixed);
    free(scratch->row);
    free(scratch->firsts);
    free(scratch->weights);
}

static int within(int64_t value, int count) { return value < 0 ? 0 : (value < count ? (int) value : count - 1); }

/// The place of the middle of a sample of the part.
static Place place_of(int index, double start, double length, int reduced, int count)
{
    double middle = start + ((double) index + 0.5) * length / (double) reduced - 0.5;
    int64_t fixed = (int64_t) (middle * 128 + 128) - 128;
    int64_t first = fixed >> 7;
    return (Place) {within(first, count), within(first + 1, count), first < 0 ? 0 : (int) (fixed & 127)};
}

#if defined(__SSE2__)

/// Reduces eight samples at a time; returns how many.
__attribute__((target("avx2"))) static int reduce_quickly(CFacesScratch *scratch, int width)
{
    int x = 0;
    for (; x + 8 <= width; x += 8) {
        __m256i firsts = _mm256_loadu_si256((const __m256i *) (scratch->firsts + x));
        __m256i pairs = _mm256_i32gather_epi32((const int *) scratch->mixed, firsts, 2);
        __m256i sums = _mm256_madd_epi16(pairs, _mm256_loadu_si256((const __m256i *) (scratch->weights + x)));
        sums = _mm256_srli_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(1 << 13)), 14);
        sums = _mm256_permute4x64_epi64(_mm256_packus_epi32(sums, sums), 0x08);
        _mm_storeu_si128((__m128i *) (scratch->row + x), _mm256_castsi256_si128(sums));
    }
    return x;
}

#endif

static void reduce_row(CFacesScratch *scratch, int width)
{
    int x = 0;
#if defined(__SSE2__)
    if (__builtin_cpu_supports("avx2")) x = reduce_quickly(scratch, width);
#endif
    for (; x < width; x++) {
        const uint16_t *pair = scratch->mixed + scratch->firsts[x];
        int weight = scratch->weights[x] >> 16;
        scratch->row[x] = (uint16_t) ((pair[0] * (128 - weight) + pair[1] * weight + (1 << 13)) >> 14);
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

void CFaces_sum(const CFacesImage *image, const CFacesPart *part, CFacesScratch *scratch, CFacesSums *sums)
{
    int number = 0, width = part->reduced_width;
    while (number + 1 < image->count && part->width >= 2 << number && part->width / (2 << number) >= width
        && part->height / (2 << number) >= part->reduced_height)
        number++;
    const uint8_t *samples = image->halves[number].samples;
    int whole_width = image->halves[number].width, whole_height = image->halves[number].height;
    double scale = 1.0 / (double) (1 << number);
    for (int x = 0; x < width; x++) {
        Place place = place_of(x, part->x * scale, part->width * scale, width, whole_width);
        scratch->firsts[x] = place.first;
        scratch->weights[x] = (128 - place.weight) | place.weight << 16;
    }
    sums->odd = odd_offset(width);
    sums->stride = 2 * sums->odd;
    sums->sums = scratch->sums;
    memset(sums->sums, 0, sums->stride * sizeof *sums->sums);
    for (int y = 0; y < part->reduced_height; y++) {
        Place place = place_of(y, part->y * scale, part->height * scale, part->reduced_height, whole_height);
        const uint8_t *one = samples + (size_t) place.first * (size_t) whole_width;
        const uint8_t *other = samples + (size_t) place.second * (size_t) whole_width;
        // A part needs only these columns.
        int first = scratch->firsts[0], last = within((int64_t) scratch->firsts[width - 1] + 1, whole_width);
        for (int x = first; x <= last; x++)
            scratch->mixed[x] = (uint16_t) (one[x] * (128 - place.weight) + other[x] * place.weight);
        scratch->mixed[last + 1] = scratch->mixed[last];
        reduce_row(scratch, width);
        add_row(scratch->row, width, sums, sums->sums + (size_t) (y + 1) * sums->stride);
    }
}
