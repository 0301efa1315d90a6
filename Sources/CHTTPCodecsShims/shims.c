#include "CHTTPCodecsShims.h"

// Apple's zlib does the like itself.
#if defined(__x86_64__) && !defined(__APPLE__)

#include <immintrin.h>

// The bytes are a polynomial over GF(2), lowest power last, each byte with its bits turned round. Its
// remainder stays the same when 128 bits of it are taken away and, multiplied by the remainder of
// x^distance, added further on; two products, since one takes 64 bits. (Gopal et al., "Fast CRC
// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009.)
__attribute__((target("pclmul"))) static inline __m128i fold(__m128i value, __m128i powers,
                                                             __m128i further) {
    const __m128i low = _mm_clmulepi64_si128(value, powers, 0x00);
    const __m128i high = _mm_clmulepi64_si128(value, powers, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), further);
}

__attribute__((target("pclmul"))) static size_t fold_all(uint32_t crc, const uint8_t *bytes,
                                                         size_t count, uint8_t *folded) {
    // x^(512 - 32) and x^(512 + 32), x^(128 - 32) and x^(128 + 32), their bits turned round.
    const __m128i four_on = _mm_set_epi64x(0x1C6E41596, 0x154442BD4);
    const __m128i one_on = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
    const size_t blocks = count / 64;
    const __m128i *next = (const __m128i *)bytes;
    __m128i lanes[4];
    for (int lane = 0; lane < 4; lane++) lanes[lane] = _mm_loadu_si128(next++);
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)~crc));
    for (size_t block = 1; block < blocks; block++) {
        for (int lane = 0; lane < 4; lane++)
            lanes[lane] = fold(lanes[lane], four_on, _mm_loadu_si128(next++));
    }
    for (int lane = 1; lane < 4; lane++) lanes[lane] = fold(lanes[lane - 1], one_on, lanes[lane]);
    _mm_storeu_si128((__m128i *)folded, lanes[3]);
    return blocks * 64;
}

// The same with registers of 64 bytes, four at once.
__attribute__((target("avx512f,vpclmulqdq,pclmul"))) static size_t fold_wide(
    uint32_t crc, const uint8_t *bytes, size_t count, uint8_t *folded) {
    // x^(2048 - 32) and x^(2048 + 32), their bits turned round.
    const __m512i on = _mm512_broadcast_i32x4(_mm_set_epi64x(0x1322D1430, 0x11542778A));
    const size_t blocks = count / 256;
    const uint8_t *next = bytes;
    __m512i lanes[4];
    for (int lane = 0; lane < 4; lane++, next += 64) lanes[lane] = _mm512_loadu_si512(next);
    const __m512i before = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc));
    lanes[0] = _mm512_xor_si512(lanes[0], before);
    for (size_t block = 1; block < blocks; block++) {
        for (int lane = 0; lane < 4; lane++, next += 64) {
            const __m512i low = _mm512_clmulepi64_epi128(lanes[lane], on, 0x00);
            const __m512i high = _mm512_clmulepi64_epi128(lanes[lane], on, 0x11);
            const __m512i sum = _mm512_xor_si512(low, high);
            lanes[lane] = _mm512_xor_si512(sum, _mm512_loadu_si512(next));
        }
    }
    uint8_t rest[256];
    for (int lane = 0; lane < 4; lane++) _mm512_storeu_si512(rest + 64 * lane, lanes[lane]);
    // What stands before is part of it now, so nothing is added to the first bits.
    fold_all(0xFFFFFFFF, rest, sizeof rest, folded);
    return blocks * 256;
}

size_t http_crc32_fold(uint32_t crc, const uint8_t *bytes, size_t count, uint8_t *folded) {
    if (count < 64 || !__builtin_cpu_supports("pclmul")) return 0;
    const int is_wide =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
    if (count >= 1024 && is_wide) return fold_wide(crc, bytes, count, folded);
    return fold_all(crc, bytes, count, folded);
}

#else

size_t http_crc32_fold(uint32_t crc, const uint8_t *bytes, size_t count, uint8_t *folded) {
    (void)crc, (void)bytes, (void)count, (void)folded;
    return 0;
}

#endif
