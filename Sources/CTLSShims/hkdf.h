#ifndef HTTP_TLS_HKDF_H
#define HTTP_TLS_HKDF_H
#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

// The derivation of keys in TLS 1.3 (RFC 8446 section 7.1, RFC 5869). All functions return 0 after a
// failure.

typedef struct http_tls_bytes {
    const uint8_t *bytes;
    size_t size;
} http_tls_bytes;

/// HKDF-Extract; the result has the digest's size.
int http_tls_extract(
    EVP_MD_CTX *hash, const EVP_MD *digest, http_tls_bytes salt, http_tls_bytes secret, uint8_t *result);

/// HKDF-Expand-Label.
/// - label: without the prefix of TLS 1.3.
int http_tls_expand_label(
    EVP_MD_CTX *hash, const EVP_MD *digest, http_tls_bytes secret, http_tls_bytes label,
    http_tls_bytes context, uint8_t *result, size_t size);

#endif
