#ifndef CAOMShim_H
#define CAOMShim_H

#include <stddef.h>
#include <stdint.h>

// AV1 encoding by libaom, whose function for settings is variadic, which Swift cannot call.

/// Maximum size of a text in bytes, including its terminating zero.
#define CAOMShim_text_size 200

typedef struct {
    int width;
    int height;
    /// Whether there is only luma; otherwise chroma has luma's size.
    int is_gray;
    /// Bits of a sample: 8 or 10.
    int bits;
    /// The number of frames; 1 for a still.
    int frames;
    /// 0 to 9: higher is faster, with larger files.
    int speed;
    /// 0 (lossless) to 63: higher is coarser, with smaller files.
    int level;
    /// The quantization matrices to choose from, 0 to 15: lower ones are coarser in fine detail.
    int coarsest_matrix, finest_matrix;
    /// Whether only the cosine transform is used.
    int has_cosines_alone;
} CAOMShimSettings;

typedef struct CAOMShimEncoder CAOMShimEncoder;

/// Creates an encoder, which works on the calling thread; returns NULL if libaom fails, with the reason in `text`.
CAOMShimEncoder *CAOMShim_open(const CAOMShimSettings *settings, char text[CAOMShim_text_size]);

/// Sets a full-range plane of the next frame, 0 luma, 1 Cb or 2 Cr, from 8-bit samples that are `step` bytes apart.
void CAOMShim_set_plane(CAOMShimEncoder *encoder, int plane, const uint8_t *samples, size_t stride, size_t step);

/// Sets all planes of the next frame, by full-range BT.601, from pixels of `bands` bytes: red, green, blue and
/// optionally alpha, which is ignored.
void CAOMShim_set_colors(CAOMShimEncoder *encoder, const uint8_t *pixels, int bands);

/// Encodes the frame; it cannot be interrupted. The data, which are valid until the next call, begin with a temporal
/// delimiter. Returns 0 on success; otherwise `text` contains the reason.
int CAOMShim_encode(
    CAOMShimEncoder *encoder, const uint8_t **bytes, size_t *count, int *is_key, char text[CAOMShim_text_size]);

void CAOMShim_close(CAOMShimEncoder *encoder);

const char *CAOMShim_version(void);

/// Whether stills are tuned for SSIMULACRA2 (libaom 3.12 and later), by which levels mean other qualities.
int CAOMShim_has_image_tuning(void);

#endif
