#ifndef CPixels_Gamut_H
#define CPixels_Gamut_H

#include "CPixels.h"

/// Maximum number of colors that are changed together: a multiple of every vector's length.
enum { CPixels_gamut_block = 64 };

/// Converts colors whose components, 0 to 255, are in three rows.
void CPixels_change_gamut_of(const CPixelsGamut *gamut, float *red, float *green, float *blue, int count);

#endif
