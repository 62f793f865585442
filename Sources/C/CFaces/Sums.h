#ifndef Sums_H
#define Sums_H

#include "Evaluation.h"

enum { CFaces_max_halves = 8 };

/// An image and its halves, each a quarter of the one before it.
typedef struct {
    struct {
        const uint8_t *samples;
        int width, height;
    } halves[CFaces_max_halves];
    int count;
    uint8_t *memory;
} CFacesImage;

/// Returns 0 if memory runs out.
int CFaces_halve(CFacesImage *image, const uint8_t *samples, int width, int height);

/// A part of the image, and the size to which it is reduced.
typedef struct {
    /// In pixels of the image, whose edges repeat outside of it.
    double x, y, width, height;
    int reduced_width, reduced_height;
} CFacesPart;

/// Working memory for parts of at most the image's size.
typedef struct {
    uint16_t *sums, *mixed, *row;
    /// Each column of the part mixes two samples: the first one, and the weights in 128ths, the second in the upper half.
    int32_t *firsts, *weights;
} CFacesScratch;

int CFaces_allocate_scratch(CFacesScratch *scratch, int width, int height);

void CFaces_free_scratch(CFacesScratch *scratch);

/// Sums the part; `step` and the place for the corners are set.
void CFaces_sum(const CFacesImage *image, const CFacesPart *part, CFacesScratch *scratch, CFacesSums *sums);

#endif
