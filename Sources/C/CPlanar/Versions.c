#include "CPlanar.h"

#include <stdio.h>

#include <jpeglib.h>
#include <jxl/encode.h>
#include <webp/encode.h>

void CPlanar_versions(char text[CPlanar_text_size])
{
    snprintf(
        text, CPlanar_text_size, "libjpeg-turbo %d, libwebp %x, libjxl %u", LIBJPEG_TURBO_VERSION_NUMBER,
        (unsigned) WebPGetEncoderVersion(), CPlanar_jxl_version());
}

unsigned CPlanar_jxl_version(void)
{
    return JxlEncoderVersion();
}
