#ifndef CAOMShim_H
#define CAOMShim_H

#include <stddef.h>
#include <stdint.h>

// AV1 as libaom writes it. libaom's function for settings is variadic, which Swift cannot call.

/// Largest number of bytes of a text, its final zero included.
#define CAOMShim_text_size 200

/// How frames are coded.
typedef struct {
    int width;
    int height;
    /// Whether there is luma alone; else chroma is as large as luma.
    int is_grey;
    /// Bits of a sample: 8 or 10.
    int bits;
    /// The number of frames; 1 for a still.
    int frames;
    /// 0 to 9: faster, larger files.
    int speed;
    /// 0, which loses nothing, to 63: coarser, smaller files.
    int level;
    /// The quantization matrices that may be used, 0 to 15: lower ones are coarser in fine detail.
    int coarsest_matrix, finest_matrix;
    /// Whether the cosine transform is the only one.
    int has_cosines_alone;
} CAOMShimSettings;

typedef struct CAOMShimEncoder CAOMShimEncoder;

/// Makes an encoder, which works on the calling thread; NULL if libaom refuses, and then `text` gives the reason.
CAOMShimEncoder *CAOMShim_open(const CAOMShimSettings *settings, char text[CAOMShim_text_size]);

/// Sets a plane of the next frame, 0 luma, 1 Cb or 2 Cr of full range, from samples of 8 bits that are `step` bytes apart.
void CAOMShim_set_plane(CAOMShimEncoder *encoder, int plane, const uint8_t *samples, size_t stride, size_t step);

/// Sets all planes of the next frame, by BT.601 in full range, from pixels of `bands` bytes: red, green, blue, then perhaps alpha, which is ignored.
void CAOMShim_set_colors(CAOMShimEncoder *encoder, const uint8_t *pixels, int bands);

/// Encodes the frame; it cannot be stopped. The data, which are valid until the next call, begin with a temporal delimiter. Returns 0 on
/// success, else `text` gives the reason.
int CAOMShim_encode(
    CAOMShimEncoder *encoder, const uint8_t **bytes, size_t *count, int *is_key, char text[CAOMShim_text_size]);

void CAOMShim_close(CAOMShimEncoder *encoder);

/// The version of libaom.
const char *CAOMShim_version(void);

#endif
