// The three things that Swift cannot say as well: gathering the top bit of every byte of a vector
// into an integer, a constant table without a lazy initialiser, and blocks of memory that a thread
// uses again. Everything else of the module is Swift.
#ifndef C_HTTP_PARSER_SHIMS_H
#define C_HTTP_PARSER_SHIMS_H

#include <stdint.h>
#include <stdlib.h>

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

/// Whether `word`, the first eight bytes of a name of `length` in little-endian order, begins
/// one of the names that decide framing. Their lengths all differ, so this is one look-up and
/// one compare, without a branch that other names would mispredict.
static inline _Bool http_parser_decides_framing(uint64_t word, uint64_t length) {
    static const uint64_t names[32][2] = {
        [4] = {0x00000000ffffffff, 0x0000000074736f68},   // host
        [6] = {0x0000ffffffffffff, 0x0000746365707865},   // expect
        [7] = {0x00ffffffffffffff, 0x0065646172677075},   // upgrade
        [10] = {0xffffffffffffffff, 0x697463656e6e6f63},  // connecti-on
        [14] = {0xffffffffffffffff, 0x2d746e65746e6f63},  // content--length
        [17] = {0xffffffffffffffff, 0x726566736e617274},  // transfer--encoding
        // A mask of none and a word of one match nothing.
        [0] = {0, 1}, [1] = {0, 1}, [2] = {0, 1}, [3] = {0, 1}, [5] = {0, 1}, [8] = {0, 1},
        [9] = {0, 1}, [11] = {0, 1}, [12] = {0, 1}, [13] = {0, 1}, [15] = {0, 1},
        [16] = {0, 1}, [18] = {0, 1}, [19] = {0, 1}, [20] = {0, 1}, [21] = {0, 1},
        [22] = {0, 1}, [23] = {0, 1}, [24] = {0, 1}, [25] = {0, 1}, [26] = {0, 1},
        [27] = {0, 1}, [28] = {0, 1}, [29] = {0, 1}, [30] = {0, 1}, [31] = {0, 1},
    };
    const uint64_t *entry = names[length & 31];
    return ((word | 0x2020202020202020) & entry[0]) == entry[1];
}

#endif
