#ifndef CPixels_Gamut_H
#define CPixels_Gamut_H

#include "CPixels.h"

/// Changes colours whose components, 0 to 255, lie in three rows.
void CPixels_change_gamut_of(const CPixelsGamut *gamut, float *red, float *green, float *blue, int count);

#endif
