// Files that are part of the program: the pages with their styles and scripts, chapters of the book, the interface description.
#pragma once
#include <stddef.h>

/// The listeners that serve a file; bits of `listeners`.
enum { CEmbeddedFiles_CLIENTS = 1,
    CEmbeddedFiles_OPERATORS = 2 };

typedef struct {
    /// The path at which the file is served.
    const char *path;
    const unsigned char *bytes;
    size_t size;
    int listeners;
} CEmbeddedFiles_File;

/// The file at `index`, counted from 0; its path is NULL behind the last one.
CEmbeddedFiles_File CEmbeddedFiles_file(size_t index);
