// Files that are part of the program: the pages with their styles and scripts, and the interface description.
#pragma once
#include <stddef.h>

/// The listeners that serve a file; bits of `listeners`.
enum { CEmbeddedFiles_PUBLIC = 1,
    CEmbeddedFiles_ADMIN = 2 };

typedef struct {
    /// The path at which the file is served.
    const char *path;
    const unsigned char *bytes;
    size_t size;
    int listeners;
} CEmbeddedFiles_File;

/// Returns the file at `index`, from 0; its path is NULL after the last one.
CEmbeddedFiles_File CEmbeddedFiles_file(size_t index);
