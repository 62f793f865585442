#ifndef Scans_h
#define Scans_h

#include "Blocks.h"
#include "Codes.h"

/// A file being written; `bytes` is NULL after memory ran out.
typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
} Output;

/// Reserves memory for this many bytes; returns whether that succeeded.
int CJPEG_reserve(Output *output, size_t bytes);

/// A scan: coefficients from `first` to `last` of planes from `start` to `end`, exclusive.
typedef struct {
    int first, last, start, end;
    /// Whether consecutive blocks with nothing left are counted together (T.81 section G.1.2.2).
    int has_runs;
} Scan;

/// The symbols of a scan in order: from the upper bits a table (8 bits), a symbol (8), and the value after it.
typedef struct {
    uint32_t *list;
    size_t count, capacity;
} Symbols;

/// Counts the AC symbols of every `stride`th row.
void CJPEG_count_rows(const Blocks *blocks, Scan scan, int stride, Counts *counts);

/// Lists the symbols of a scan and counts them by table; returns 0 if memory runs out.
int CJPEG_list_scan(const Blocks *blocks, Scan scan, Counts *counts, Symbols *symbols);

/// Writes the data of a scan; the list is overwritten.
void CJPEG_write_scan(Symbols *symbols, const Codes *codes, Output *output);

#endif
