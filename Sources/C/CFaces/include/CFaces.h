#ifndef CFaces_H
#define CFaces_H

#include <stddef.h>
#include <stdint.h>

// Finds faces with cascades of boosted classifiers (Viola and Jones, 2001) of multi-block local binary patterns (Liao
// et al., 2007), in integers: the same samples yield the same faces on every processor.
//
// A window passes the cascade if it passes all of its stages; most windows fail one of the first. A stage adds the votes
// of its classifiers. A classifier compares the sums of eight blocks with the block in their middle, which makes a
// pattern of eight bits, and has one vote for some of the 256 patterns, and another for the rest.

typedef struct CFacesCascade CFacesCascade;

/// Bytes of a cascade, which has no pointers and can be copied to another process.
size_t CFaces_cascade_size(void);

/// How to use a cascade, which is measured with images of faces and of other things.
typedef struct {
    /// The similar windows that a face needs.
    int min_windows;
    /// The side of the face in hundredths of the window, and how much higher its middle is.
    int enlargement, rise;
    /// The least size of a face, in hundredths of the window, in an image of usual pixels; upright, and turned.
    int first_scale, first_turned_scale;
} CFacesUse;

/// Starts a cascade in this memory, with the size of its window in pixels.
void CFaces_begin(CFacesCascade *cascade, int width, int height, CFacesUse use);

typedef struct {
    /// The top left of nine blocks, in pixels of the window; each row and each column has three.
    int x, y, width, height;
    /// For the listed patterns, and for the others.
    double vote, vote_of_others;
    /// The listed patterns: bit *p* modulo 32 of number *p* ÷ 32.
    uint32_t patterns[8];
} CFacesClassifier;

/// Adds a classifier to the next stage; returns 0 if its values exceed the limits.
int CFaces_add(CFacesCascade *cascade, const CFacesClassifier *classifier);

/// Ends a stage, with the least sum of votes that passes; returns 0 if its values exceed the limits.
int CFaces_end_stage(CFacesCascade *cascade, double threshold);

/// Returns 1 if all values of a copy are within the limits, on which `CFaces_find` relies.
int CFaces_is_valid(const CFacesCascade *cascade);

enum {
    /// Faces are sought at the scales of an image of this many pixels.
    CFaces_usual_pixels = 250000,
    /// The most pixels of an image.
    CFaces_max_pixels = 600000,
    CFaces_max_faces = 32,
};

/// Returns the largest side of squares that, as pixels of `CFaces_shrink`, leave at least `enough` pixels.
int CFaces_reduction(int width, int height, int enough);

/// Writes the mean luma of whole squares of pixels, over white.
///
/// `bands` are 1 for luma, 2 with alpha, 3 for colors, 4 with alpha. Returns 0 without memory.
int CFaces_shrink(
    const uint8_t *samples, size_t stride, int width, int height, int bands, int reduction, uint8_t *luma);

/// A face in pixels of the image, which it may exceed.
typedef struct {
    float x, y, width, height;
    /// The number of similar windows that pass a cascade, in hundredths of the required number.
    int32_t windows;
} CFacesFace;

/// Finds the faces in luma without gaps between its rows, the largest first; returns their number, −1 without memory.
int CFaces_find(const CFacesCascade *cascades, int cascade_count, const uint8_t *luma, int width, int height,
    CFacesFace faces[CFaces_max_faces]);

#endif
