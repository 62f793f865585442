#ifndef Scans_h
#define Scans_h

#include "Blocks.h"
#include "Codes.h"

/// A file being written; `bytes` is NULL after memory ran out.
typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
    uint64_t bits;
    int free_bits;
} Output;

/// Reserves memory for this many bytes; returns whether that succeeded.
int CJPEG_reserve(Output *output, size_t bytes);

/// A scan: coefficients from `first` to `last` of planes from `start` to `end`, exclusive.
typedef struct {
    int first, last, start, end;
    /// Whether consecutive blocks with nothing left are counted together (T.81 section G.1.2.2).
    int has_runs;
} Scan;

/// Counts the AC symbols of every `stride`th row.
void CJPEG_count_rows(const Blocks *blocks, Scan scan, int stride, Counts *counts);

/// Counts the symbols of a scan, by table: DC of luma, of chroma, AC of luma, of chroma.
void CJPEG_count_scan(const Blocks *blocks, Scan scan, Counts *counts);

/// Writes the data of a scan.
void CJPEG_write_scan(const Blocks *blocks, Scan scan, const Codes *codes, Output *output);

#endif
