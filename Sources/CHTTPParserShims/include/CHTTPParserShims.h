// The three things that Swift cannot say as well: gathering the top bit of every byte of a vector
// into an integer, a constant table without a lazy initialiser, and blocks of memory that a thread
// uses again. Everything else of the module is Swift.
#ifndef C_HTTP_PARSER_SHIMS_H
#define C_HTTP_PARSER_SHIMS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <emmintrin.h>

typedef int8_t http_parser_int8x16 __attribute__((__ext_vector_type__(16)));

/// Bit `i` of the result is the top bit of byte `i`.
static inline uint32_t http_parser_movemask(http_parser_int8x16 bytes) {
    return (uint32_t)_mm_movemask_epi8((__m128i)bytes);
}
#endif

/// `count` bytes of memory, aligned for any of our types; never null. Blocks of up to 2 KiB come
/// from those that this thread has given back.
void *_Nonnull http_parser_allocate(uint64_t count);

/// Gives back what `http_parser_allocate` gave for the same `count`, on any thread.
void http_parser_release(void *_Nonnull memory, uint64_t count);

/// Copies `count` times 16 bytes; for a few of them a call of `memcpy` would cost more.
void http_parser_copy16(void *_Nonnull to, const void *_Nonnull from, uint64_t count);

/// Whether `word`, the first eight bytes of a name of `length` in little-endian order, begins
/// one of the names that decide framing; a name of nothing is one too. Their lengths all differ,
/// so this is one look-up and one compare, without a branch that other names would mispredict.
static inline _Bool http_parser_decides_framing(uint64_t word, uint32_t length) {
    // A mask of none and a word of one match nothing.
    static const uint64_t masks[32] = {
        [4] = 0x00000000ffffffff, [6] = 0x0000ffffffffffff, [7] = 0x00ffffffffffffff,
        [10] = 0xffffffffffffffff, [14] = 0xffffffffffffffff, [17] = 0xffffffffffffffff,
    };
    static const uint64_t words[32] = {
        [4] = 0x0000000074736f68,   // host
        [6] = 0x0000746365707865,   // expect
        [7] = 0x0065646172677075,   // upgrade
        [10] = 0x697463656e6e6f63,  // connecti-on
        [14] = 0x2d746e65746e6f63,  // content--length
        [17] = 0x726566736e617274,  // transfer--encoding
        [1] = 1, [2] = 1, [3] = 1, [5] = 1, [8] = 1, [9] = 1, [11] = 1, [12] = 1, [13] = 1,
        [15] = 1, [16] = 1, [18] = 1, [19] = 1, [20] = 1, [21] = 1, [22] = 1, [23] = 1,
        [24] = 1, [25] = 1, [26] = 1, [27] = 1, [28] = 1, [29] = 1, [30] = 1, [31] = 1,
    };
    return ((word | 0x2020202020202020) & masks[length & 31]) == words[length & 31];
}

#endif
