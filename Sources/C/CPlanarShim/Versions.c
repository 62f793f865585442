#include "CPlanarShim.h"

#include <stdio.h>

#include <jpeglib.h>
#include <jxl/encode.h>
#include <webp/encode.h>

void CPlanarShim_versions(char text[CPlanarShim_text_size])
{
    snprintf(
        text, CPlanarShim_text_size, "libjpeg-turbo %d, libwebp %x, libjxl %u", LIBJPEG_TURBO_VERSION_NUMBER,
        (unsigned) WebPGetEncoderVersion(), CPlanarShim_jxl_version());
}

unsigned CPlanarShim_jxl_version(void)
{
    return JxlEncoderVersion();
}
