#ifndef Evaluation_H
#define Evaluation_H

#include "Cascade.h"

enum { CFaces_lanes = 16 };

/// The sums of all samples above and to the left, modulo 2¹⁶, which is exact for the sums of blocks.
///
/// If `step` is 2, even columns stand together and odd ones too, so that windows at that distance are evaluated
/// at once.
typedef struct {
    uint16_t *sums;
    /// From one row to the next, and from the even columns of a row to the odd ones.
    size_t stride, odd;
    /// 1 or 2.
    int step;
    /// The places of the corners of each classifier's blocks, row by row, from the sum at the corner of the window.
    int32_t (*corners)[16];
} CFacesSums;

/// Finds the corners in sums of this stride.
void CFaces_find_corners(const CFacesCascade *cascade, CFacesSums *sums);

/// Evaluates the windows with the left edges `x`, `x` + step and so on; returns a bit for each that passes the cascade.
unsigned CFaces_evaluate(const CFacesCascade *cascade, const CFacesSums *sums, int x, int y);

#endif
