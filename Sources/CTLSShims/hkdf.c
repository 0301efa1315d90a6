#include "hkdf.h"

#include <openssl/crypto.h>
#include <string.h>

enum { MOST_BLOCK = 128 };

// HMAC (RFC 2104) of three pieces, by a key that is no longer than a block of the digest.
static int authenticate(
    EVP_MD_CTX *hash, const EVP_MD *digest, http_tls_bytes key, const http_tls_bytes *pieces, size_t count,
    uint8_t *result
) {
    size_t block_size = (size_t)EVP_MD_get_block_size(digest);
    uint8_t block[MOST_BLOCK] = {0};
    if (block_size > sizeof block || key.size > block_size) return 0;
    if (key.size) memcpy(block, key.bytes, key.size);
    for (size_t index = 0; index < block_size; index++) block[index] ^= 0x36;
    int done = EVP_DigestInit_ex2(hash, digest, NULL) && EVP_DigestUpdate(hash, block, block_size);
    for (size_t index = 0; index < count && done; index++) {
        done = EVP_DigestUpdate(hash, pieces[index].bytes, pieces[index].size);
    }
    done = done && EVP_DigestFinal_ex(hash, result, NULL);
    for (size_t index = 0; index < block_size; index++) block[index] ^= 0x36 ^ 0x5c;
    done = done && EVP_DigestInit_ex2(hash, digest, NULL) && EVP_DigestUpdate(hash, block, block_size)
        && EVP_DigestUpdate(hash, result, (size_t)EVP_MD_get_size(digest))
        && EVP_DigestFinal_ex(hash, result, NULL);
    OPENSSL_cleanse(block, sizeof block);
    return done;
}

int http_tls_extract(
    EVP_MD_CTX *hash, const EVP_MD *digest, http_tls_bytes salt, http_tls_bytes secret, uint8_t *result
) {
    return authenticate(hash, digest, salt, &secret, 1, result);
}

int http_tls_expand_label(
    EVP_MD_CTX *hash, const EVP_MD *digest, http_tls_bytes secret, http_tls_bytes label,
    http_tls_bytes context, uint8_t *result, size_t size
) {
    static const char prefix[] = "tls13 ";
    const size_t prefix_size = sizeof prefix - 1, digest_size = (size_t)EVP_MD_get_size(digest);
    uint8_t info[2 + 1 + 255 + 1 + 255], block[EVP_MAX_MD_SIZE];
    if (label.size > 255 - prefix_size || context.size > 255 || size > 255 * digest_size) return 0;
    size_t length = 0;
    info[length++] = (uint8_t)(size >> 8);
    info[length++] = (uint8_t)size;
    info[length++] = (uint8_t)(prefix_size + label.size);
    memcpy(info + length, prefix, prefix_size), length += prefix_size;
    memcpy(info + length, label.bytes, label.size), length += label.size;
    info[length++] = (uint8_t)context.size;
    if (context.size) memcpy(info + length, context.bytes, context.size), length += context.size;
    int done = 1;
    for (uint8_t number = 1; size && done; number++) {
        // Each block continues the one before (RFC 5869 section 2.3).
        http_tls_bytes pieces[] = {
            {block, number > 1 ? digest_size : 0}, {info, length}, {&number, 1}
        };
        done = authenticate(hash, digest, secret, pieces, 3, block);
        size_t part = size < digest_size ? size : digest_size;
        if (done) memcpy(result, block, part);
        result += part;
        size -= part;
    }
    OPENSSL_cleanse(block, sizeof block);
    return done;
}
