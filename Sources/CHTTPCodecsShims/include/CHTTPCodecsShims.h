// The check value of gzip and ZIP with the processor's multiplication of polynomials, which Swift
// cannot say: zlib looks values up in tables, in a quarter of the speed.
#ifndef C_HTTP_CODECS_SHIMS_H
#define C_HTTP_CODECS_SHIMS_H

#include <stddef.h>
#include <stdint.h>

/// Replaces bytes by 16 that have the same CRC-32 (RFC 1952 section 8), if one begins with all bits
/// set in zlib's writing of it (`crc32(0xFFFFFFFF, ...)`).
/// - `crc`: the CRC-32 of what stands before the bytes.
/// - `bytes`, `count`: the bytes, of which those are left over that make no whole block (64 or 256).
/// - `folded`: room for the 16 bytes.
/// - Returns: how many bytes were replaced; 0 for less than 64, or where the processor cannot do it.
size_t http_crc32_fold(uint32_t crc, const uint8_t *_Nonnull bytes, size_t count,
                       uint8_t *_Nonnull folded);

#endif
