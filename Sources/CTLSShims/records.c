#include "CTLSShims.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hkdf.h"
#include "room.h"

// The protection of records after a handshake of TLS 1.3 (RFC 8446 section 5.2), by OpenSSL's ciphers.

enum { NONCE_SIZE = 12, TAG_SIZE = 16, HEADER_SIZE = 5, APPLICATION_DATA = 23 };

typedef struct suite {
    unsigned int number;
    const char *cipher_name, *digest_name;
    size_t key_size;
    // Looked up once, because a look-up takes as long as several records.
    EVP_CIPHER *cipher;
    EVP_MD *digest;
} suite;

static suite suites[] = {
    {0x1301, "AES-128-GCM", "SHA256", 16, NULL, NULL},
    {0x1302, "AES-256-GCM", "SHA384", 32, NULL, NULL},
    {0x1303, "ChaCha20-Poly1305", "SHA256", 32, NULL, NULL},
};

static pthread_once_t fetched = PTHREAD_ONCE_INIT;

static void fetch_suites(void) {
    for (size_t index = 0; index < sizeof suites / sizeof *suites; index++) {
        suites[index].cipher = EVP_CIPHER_fetch(http_tls_library(), suites[index].cipher_name, NULL);
        suites[index].digest = EVP_MD_fetch(http_tls_library(), suites[index].digest_name, NULL);
    }
}

static const suite *find_suite(unsigned int number) {
    pthread_once(&fetched, fetch_suites);
    for (size_t index = 0; index < sizeof suites / sizeof *suites; index++) {
        const suite *found = &suites[index];
        if (found->number == number) return found->cipher && found->digest ? found : NULL;
    }
    return NULL;
}

typedef struct direction {
    EVP_CIPHER_CTX *cipher;
    const suite *suite;
    int seals;
    uint8_t start[NONCE_SIZE];
    // The traffic secret from which the next keys are derived.
    uint8_t secret[HTTP_TLS_MOST_SECRET];
} direction;

// MARK: Keys

static int expand(
    EVP_MD_CTX *hash, const suite *suite, const uint8_t *secret, const char *label, uint8_t *result,
    size_t size
) {
    http_tls_bytes key = {secret, (size_t)EVP_MD_get_size(suite->digest)};
    http_tls_bytes name = {(const uint8_t *)label, strlen(label)};
    return http_tls_expand_label(hash, suite->digest, key, name, (http_tls_bytes){0}, result, size);
}

// Section 7.3.
static int set_keys(direction *one, EVP_MD_CTX *hash) {
    uint8_t key[32];
    int done = expand(hash, one->suite, one->secret, "key", key, one->suite->key_size)
        && expand(hash, one->suite, one->secret, "iv", one->start, NONCE_SIZE)
        && EVP_CipherInit_ex2(one->cipher, one->suite->cipher, key, NULL, one->seals, NULL);
    OPENSSL_cleanse(key, sizeof key);
    return done;
}

void *http_tls_direction(unsigned int number, const uint8_t *secret, int seals) {
    const suite *suite = find_suite(number);
    direction *one = suite ? calloc(1, sizeof *one) : NULL;
    if (!one) return NULL;
    one->suite = suite;
    one->seals = seals;
    one->cipher = EVP_CIPHER_CTX_new();
    memcpy(one->secret, secret, (size_t)EVP_MD_get_size(suite->digest));
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int done = one->cipher && hash && set_keys(one, hash);
    EVP_MD_CTX_free(hash);
    if (done) return one;
    http_tls_direction_free(one);
    return NULL;
}

void http_tls_direction_free(void *pointer) {
    direction *one = pointer;
    if (!one) return;
    EVP_CIPHER_CTX_free(one->cipher);
    OPENSSL_cleanse(one, sizeof *one);
    free(one);
}

// Section 7.2.
int http_tls_direction_update(void *pointer) {
    direction *one = pointer;
    uint8_t next[HTTP_TLS_MOST_SECRET];
    size_t size = (size_t)EVP_MD_get_size(one->suite->digest);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int done = hash && expand(hash, one->suite, one->secret, "traffic upd", next, size);
    if (done) {
        memcpy(one->secret, next, size);
        done = set_keys(one, hash);
    }
    EVP_MD_CTX_free(hash);
    OPENSSL_cleanse(next, sizeof next);
    return done;
}

// MARK: Records

// Section 5.3.
static void make_nonce(const direction *one, uint64_t sequence, uint8_t *nonce) {
    memcpy(nonce, one->start, NONCE_SIZE);
    for (int index = 0; index < 8; index++) {
        nonce[NONCE_SIZE - 1 - index] ^= (uint8_t)(sequence >> (8 * index));
    }
}

static void tag_parameters(OSSL_PARAM *parameters, uint8_t *tag) {
    parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, TAG_SIZE);
    parameters[1] = OSSL_PARAM_construct_end();
}

// Encrypts the content and its type. Short content is copied first, because that takes less time than
// another call of the cipher.
static int encrypt(
    EVP_CIPHER_CTX *cipher, uint8_t *text, const void *bytes, size_t size, uint8_t type
) {
    int count;
    if (size > 1024) {
        return EVP_EncryptUpdate(cipher, text, &count, bytes, (int)size)
            && EVP_EncryptUpdate(cipher, text + size, &count, &type, 1);
    }
    if (size) memcpy(text, bytes, size);
    text[size] = type;
    return EVP_EncryptUpdate(cipher, text, &count, text, (int)size + 1);
}

int http_tls_seal(
    void *pointer, http_tls_room *room, uint64_t sequence, uint8_t type, const void *bytes, size_t size
) {
    const direction *one = pointer;
    size_t length = size + 1 + TAG_SIZE;
    uint8_t *record = http_tls_room_claim(room, HEADER_SIZE + length);
    if (!record) return 0;
    const uint8_t header[HEADER_SIZE] = {
        APPLICATION_DATA, 3, 3, (uint8_t)(length >> 8), (uint8_t)length
    };
    memcpy(record, header, HEADER_SIZE);
    uint8_t nonce[NONCE_SIZE], *text = record + HEADER_SIZE;
    int count;
    OSSL_PARAM tag[2];
    make_nonce(one, sequence, nonce);
    tag_parameters(tag, text + size + 1);
    if (!EVP_EncryptInit_ex2(one->cipher, NULL, NULL, nonce, NULL)
        || !EVP_EncryptUpdate(one->cipher, NULL, &count, header, HEADER_SIZE)
        || !encrypt(one->cipher, text, bytes, size, type)
        || !EVP_EncryptFinal_ex(one->cipher, text + size + 1, &count)
        || !EVP_CIPHER_CTX_get_params(one->cipher, tag)) {
        return 0;
    }
    room->output_count += HEADER_SIZE + length;
    return 1;
}

int http_tls_open_record(void *pointer, uint64_t sequence, const uint8_t *record, size_t size, uint8_t *text) {
    const direction *one = pointer;
    if (size < HEADER_SIZE + TAG_SIZE) return 0;
    size_t length = size - HEADER_SIZE - TAG_SIZE;
    uint8_t nonce[NONCE_SIZE];
    int count;
    OSSL_PARAM tag[2];
    make_nonce(one, sequence, nonce);
    tag_parameters(tag, (uint8_t *)record + size - TAG_SIZE);
    int done = EVP_DecryptInit_ex2(one->cipher, NULL, NULL, nonce, tag)
        && EVP_DecryptUpdate(one->cipher, NULL, &count, record, HEADER_SIZE)
        && EVP_DecryptUpdate(one->cipher, text, &count, record + HEADER_SIZE, (int)length)
        && EVP_DecryptFinal_ex(one->cipher, text + length, &count) > 0;
    // The error queue belongs to the thread, which serves other connections, too.
    if (!done) ERR_clear_error();
    return done;
}

// MARK: The secrets of a handshake

static int secrets_index = -1;
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void make_index(void) { secrets_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

void http_tls_free(void *connection) {
    if (!connection) return;
    http_tls_secrets *kept = http_tls_secrets_of(connection);
    SSL_free(connection);
    if (kept) OPENSSL_cleanse(kept, sizeof *kept);
    free(kept);
}

int http_tls_keep_secrets(void *connection) {
    pthread_once(&indexed, make_index);
    http_tls_secrets *kept = calloc(1, sizeof *kept);
    if (kept && SSL_set_ex_data(connection, secrets_index, kept)) return 1;
    free(kept);
    return 0;
}

http_tls_secrets *http_tls_secrets_of(void *connection) { return SSL_get_ex_data(connection, secrets_index); }

void *http_tls_direction_of(void *connection, int seals) {
    const http_tls_secrets *kept = http_tls_secrets_of(connection);
    const SSL_CIPHER *cipher = SSL_get_current_cipher(connection);
    if (!kept || !cipher || SSL_version(connection) != TLS1_3_VERSION) return NULL;
    // OpenSSL keeps the connection if it has already read input that follows the handshake.
    if (SSL_has_pending(connection)) return NULL;
    // OpenSSL also keeps a connection whose client asks for shorter records (RFC 6066 section 4), because
    // only OpenSSL supports them.
    if (SSL_SESSION_get_max_fragment_length(SSL_get0_session(connection))) return NULL;
    unsigned int number = SSL_CIPHER_get_protocol_id(cipher);
    const suite *suite = find_suite(number);
    size_t size = seals ? kept->server_size : kept->client_size;
    if (!suite || size != (size_t)EVP_MD_get_size(suite->digest)) return NULL;
    return http_tls_direction(number, seals ? kept->server : kept->client, seals);
}
