#ifndef Cascade_H
#define Cascade_H

#include "CFaces.h"

enum {
    CFaces_max_stages = 64,
    CFaces_max_classifiers = 1024,
    /// The longest side of a window, whose blocks then have sums below 2¹⁶.
    CFaces_longest_window = 48,
    /// Votes and thresholds are in units of 1 ÷ 1024.
    CFaces_unit = 1024,
    /// The largest sum of the votes of a stage, and the largest threshold.
    CFaces_largest_sum = 16000,
};

typedef struct {
    uint8_t x, y, width, height;
    int16_t vote, vote_of_others;
    /// Bit *p* modulo 8 of byte *p* ÷ 8.
    uint8_t patterns[32];
} Classifier;

struct CFacesCascade {
    int32_t window_width, window_height;
    CFacesUse use;
    int32_t stage_count;
    struct {
        /// The classifiers from the end of the previous stage to here.
        int32_t end;
        int32_t threshold;
    } stages[CFaces_max_stages];
    Classifier classifiers[CFaces_max_classifiers];
};

#endif
