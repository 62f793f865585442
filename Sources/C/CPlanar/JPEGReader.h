#ifndef JPEGReader_h
#define JPEGReader_h

#include "CPlanar.h"

#include <setjmp.h>
#include <stdio.h>

// The type of inverse transforms belongs to libjpeg's internal interface.
#define JPEG_INTERNALS
#include <jpeglib.h>

/// libjpeg's reader of one file.
struct CPlanarJPEGReader {
    // The first member: a pointer to it is also a pointer to the reader.
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    /// The bytes of the file.
    const JOCTET *bytes;
    size_t count;
    CPixelsWatch watch;
    CPlanarStatus status;
    JOCTET *profile;
    CPlanarJPEGDetail detail;
    /// libjpeg's own functions, which `start_scan` and `consume` replace and call.
    void (*library_start_scan)(j_decompress_ptr);
    int (*library_consume)(j_decompress_ptr);
    /// The last scan that `consume` saw, and whether it is skipped.
    int scan, skips_scan;
    /// Components whose DC coefficients have been read, as a bit set.
    unsigned seen;
    /// Whether the file ended within or after its scans, without an end marker.
    int has_no_end;
    int lacks_pixels;
    int has_warned;
    /// The coarser levels to write in the same pass.
    CFastJPEGReduction *reductions[CPlanar_max_reductions];
    int reduction_count;
    /// libjpeg's inverse transforms, which `reduce` replaces and calls; and the rows of samples that it fills now.
    inverse_DCT_method_ptr library_transforms[CFastJPEG_max_components];
    JSAMPARRAY rows[CFastJPEG_max_components];
    char text[CPlanar_text_size];
};

/// Skips a scan's data to the next marker; returns 0 if the file ends before one.
int CPlanar_skip_scan_data(struct jpeg_source_mgr *source);

#endif
