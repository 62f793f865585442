#include "CPlanarShim.h"

#include <stdio.h>

#include <jpeglib.h>
#include <jxl/encode.h>
#include <webp/encode.h>
#include <zimg.h>

void CPlanarShim_versions(char text[CPlanarShim_text_size])
{
    unsigned major = 0, minor = 0, micro = 0;
    zimg_get_version_info(&major, &minor, &micro);
    snprintf(
        text, CPlanarShim_text_size, "libjpeg-turbo %d, libwebp %x, libjxl %u, zimg %u.%u.%u",
        LIBJPEG_TURBO_VERSION_NUMBER, (unsigned) WebPGetEncoderVersion(),
        CPlanarShim_jxl_version(), major, minor, micro);
}

unsigned CPlanarShim_jxl_version(void)
{
    return JxlEncoderVersion();
}
