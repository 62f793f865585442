#ifndef Checksum_h
#define Checksum_h

#include <stddef.h>
#include <stdint.h>

/// Returns the CRC-32 of bytes that follow bytes with the checksum `before`, 0 for none (ISO/IEC 15948 annex D).
uint32_t CFastPNG_checksum(uint32_t before, const uint8_t *bytes, size_t count);

#endif
