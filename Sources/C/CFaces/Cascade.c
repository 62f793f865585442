#include "Cascade.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t CFaces_cascade_size(void) { return sizeof(CFacesCascade); }

void CFaces_begin(CFacesCascade *cascade, int width, int height, CFacesUse use)
{
    memset(cascade, 0, sizeof *cascade);
    cascade->window_width = width;
    cascade->window_height = height;
    cascade->use = use;
}

static int is_within(int value, int least, int most) { return value >= least && value <= most; }

/// Nine blocks within the window.
static int fits(const CFacesCascade *cascade, int x, int y, int width, int height)
{
    return is_within(x, 0, CFaces_longest_window) && is_within(y, 0, CFaces_longest_window)
        && is_within(width, 1, CFaces_longest_window) && is_within(height, 1, CFaces_longest_window)
        && x + 3 * width <= cascade->window_width && y + 3 * height <= cascade->window_height;
}

/// False for a NaN.
static int is_small(double value) { return fabs(value) * CFaces_unit <= CFaces_largest_sum; }

int CFaces_add(CFacesCascade *cascade, const CFacesClassifier *from)
{
    // The end of a stage that has not ended counts its classifiers.
    int stage = cascade->stage_count;
    if (stage >= CFaces_max_stages) return 0;
    if (cascade->stages[stage].end == 0 && stage > 0) cascade->stages[stage].end = cascade->stages[stage - 1].end;
    if (cascade->stages[stage].end >= CFaces_max_classifiers || !is_small(from->vote) || !is_small(from->vote_of_others)
        || !fits(cascade, from->x, from->y, from->width, from->height))
        return 0;
    Classifier *to = &cascade->classifiers[cascade->stages[stage].end++];
    *to = (Classifier) {(uint8_t) from->x, (uint8_t) from->y, (uint8_t) from->width, (uint8_t) from->height,
        (int16_t) lrint(from->vote * CFaces_unit), (int16_t) lrint(from->vote_of_others * CFaces_unit), {0}};
    for (int byte = 0; byte < 32; byte++)
        to->patterns[byte] = (uint8_t) (from->patterns[byte / 4] >> (8 * (byte % 4)));
    return 1;
}

int CFaces_end_stage(CFacesCascade *cascade, double threshold)
{
    if (cascade->stage_count >= CFaces_max_stages || !is_small(threshold)) return 0;
    cascade->stages[cascade->stage_count++].threshold = (int32_t) floor(threshold * CFaces_unit);
    return CFaces_is_valid(cascade);
}

int CFaces_is_valid(const CFacesCascade *cascade)
{
    int first = 0;
    if (!is_within(cascade->window_width, 8, CFaces_longest_window) || !is_within(cascade->window_height, 8, CFaces_longest_window)
        || !is_within(cascade->stage_count, 1, CFaces_max_stages) || !is_within(cascade->use.min_windows, 1, 1000)
        || !is_within(cascade->use.enlargement, 50, 200) || !is_within(cascade->use.rise, -50, 50)
        || !is_within(cascade->use.first_scale, 100, 1000) || !is_within(cascade->use.first_turned_scale, 100, 1000))
        return 0;
    for (int stage = 0; stage < cascade->stage_count; stage++) {
        int end = cascade->stages[stage].end, sum = 0;
        if (end <= first || end > CFaces_max_classifiers
            || !is_within(cascade->stages[stage].threshold, -CFaces_largest_sum, CFaces_largest_sum))
            return 0;
        for (; first < end; first++) {
            const Classifier *classifier = &cascade->classifiers[first];
            int vote = abs(classifier->vote), other = abs(classifier->vote_of_others);
            sum += vote > other ? vote : other;
            if (!fits(cascade, classifier->x, classifier->y, classifier->width, classifier->height)) return 0;
        }
        if (sum > CFaces_largest_sum) return 0;
    }
    return 1;
}
