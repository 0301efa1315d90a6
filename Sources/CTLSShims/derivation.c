#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hkdf.h"
#include "room.h"

// A provider of OpenSSL whose only algorithm derives the keys of TLS 1.3. A handshake derives some twenty
// keys, and OpenSSL's own algorithm spends most of that time on look-ups. The provider also collects the
// secrets of a connection's records: OpenSSL gives them only as the text of a key log, which takes 4 % of a
// handshake. It lives in a library context that only the contexts of this module use.

static _Thread_local http_tls_secrets *current;

void http_tls_collect_secrets(http_tls_secrets *secrets) { current = secrets; }

static OSSL_LIB_CTX *library;
static pthread_once_t made = PTHREAD_ONCE_INIT, fetched = PTHREAD_ONCE_INIT;

static EVP_MD *digests[2];

static void fetch_digests(void) {
    digests[0] = EVP_MD_fetch(library, "SHA256", NULL);
    digests[1] = EVP_MD_fetch(library, "SHA384", NULL);
}

static const EVP_MD *find_digest(const char *name) {
    pthread_once(&fetched, fetch_digests);
    for (size_t index = 0; index < sizeof digests / sizeof *digests; index++) {
        if (digests[index] && EVP_MD_is_a(digests[index], name)) return digests[index];
    }
    return NULL;
}

static void *open_derivation(void *provider) {
    (void)provider;
    return EVP_MD_CTX_new();
}

static void close_derivation(void *hash) { EVP_MD_CTX_free(hash); }

static int is_text(http_tls_bytes bytes, const char *text) {
    return bytes.size == strlen(text) && !memcmp(bytes.bytes, text, bytes.size);
}

static void collect(http_tls_bytes label, const uint8_t *secret, size_t size) {
    if (!current || size > sizeof current->client) return;
    int is_client = is_text(label, "c ap traffic");
    if (!is_client && !is_text(label, "s ap traffic")) return;
    memcpy(is_client ? current->client : current->server, secret, size);
    *(is_client ? &current->client_size : &current->server_size) = size;
}

// What a derivation is made of.
typedef struct inputs {
    int mode;
    const EVP_MD *digest;
    http_tls_bytes key, salt, label, data;
} inputs;

static int read_inputs(const OSSL_PARAM *parameter, inputs *inputs) {
    for (; parameter && parameter->key; parameter++) {
        const char *name = parameter->key;
        http_tls_bytes bytes = {parameter->data, parameter->data_size};
        if (!strcmp(name, OSSL_KDF_PARAM_MODE)) {
            if (!OSSL_PARAM_get_int(parameter, &inputs->mode)) return 0;
        } else if (!strcmp(name, OSSL_KDF_PARAM_DIGEST)) {
            const char *digest;
            if (!OSSL_PARAM_get_utf8_string_ptr(parameter, &digest)) return 0;
            inputs->digest = find_digest(digest);
        } else if (!strcmp(name, OSSL_KDF_PARAM_KEY)) inputs->key = bytes;
        else if (!strcmp(name, OSSL_KDF_PARAM_SALT)) inputs->salt = bytes;
        else if (!strcmp(name, OSSL_KDF_PARAM_LABEL)) inputs->label = bytes;
        else if (!strcmp(name, OSSL_KDF_PARAM_DATA)) inputs->data = bytes;
        else if (!strcmp(name, OSSL_KDF_PARAM_PREFIX) && !is_text(bytes, "tls13 ")) return 0;
    }
    return inputs->digest != NULL;
}

// One step down the key schedule: what was made before is expanded, and becomes the salt of the next
// secret. Where there is none, as many zeros stand for it.
static int extract_next(EVP_MD_CTX *hash, const inputs *inputs, uint8_t *result) {
    static const uint8_t zeros[EVP_MAX_MD_SIZE];
    size_t size = (size_t)EVP_MD_get_size(inputs->digest);
    uint8_t salt[EVP_MAX_MD_SIZE] = {0}, empty[EVP_MAX_MD_SIZE];
    http_tls_bytes key = inputs->key.bytes ? inputs->key : (http_tls_bytes){zeros, size};
    int done = !inputs->salt.bytes
        || (EVP_DigestInit_ex2(hash, inputs->digest, NULL) && EVP_DigestFinal_ex(hash, empty, NULL)
            && http_tls_expand_label(
                hash, inputs->digest, inputs->salt, inputs->label, (http_tls_bytes){empty, size}, salt,
                size));
    done = done && http_tls_extract(hash, inputs->digest, (http_tls_bytes){salt, size}, key, result);
    OPENSSL_cleanse(salt, sizeof salt);
    return done;
}

static int derive(void *hash, unsigned char *result, size_t size, const OSSL_PARAM parameters[]) {
    inputs inputs = {.mode = -1};
    if (!read_inputs(parameters, &inputs)) return 0;
    switch (inputs.mode) {
    case EVP_KDF_HKDF_MODE_EXTRACT_ONLY:
        return size == (size_t)EVP_MD_get_size(inputs.digest) && extract_next(hash, &inputs, result);
    case EVP_KDF_HKDF_MODE_EXPAND_ONLY:
        if (!inputs.key.bytes || !inputs.label.bytes
            || !http_tls_expand_label(
                hash, inputs.digest, inputs.key, inputs.label, inputs.data, result, size)) {
            return 0;
        }
        collect(inputs.label, result, size);
        return 1;
    default: return 0;
    }
}

// libssl gives all parameters with each derivation; nothing is kept from one call to the next.
static int set_parameters(void *hash, const OSSL_PARAM parameters[]) {
    (void)hash;
    return !parameters || !parameters->key;
}

static void reset(void *hash) { EVP_MD_CTX_reset(hash); }

static const OSSL_DISPATCH derivation[] = {
    {OSSL_FUNC_KDF_NEWCTX, (void (*)(void))open_derivation},
    {OSSL_FUNC_KDF_FREECTX, (void (*)(void))close_derivation},
    {OSSL_FUNC_KDF_RESET, (void (*)(void))reset},
    {OSSL_FUNC_KDF_DERIVE, (void (*)(void))derive},
    {OSSL_FUNC_KDF_SET_CTX_PARAMS, (void (*)(void))set_parameters},
    {0, NULL},
};

static const OSSL_ALGORITHM algorithms[] = {
    {"TLS13-KDF", HTTP_TLS_PROPERTY, derivation, NULL},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query(void *provider, int operation, int *no_cache) {
    (void)provider;
    *no_cache = 0;
    return operation == OSSL_OP_KDF ? algorithms : NULL;
}

static const OSSL_DISPATCH provider[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
    {0, NULL},
};

static int start(
    const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core, const OSSL_DISPATCH **functions, void **context
) {
    (void)core;
    *functions = provider;
    *context = (void *)handle;
    return 1;
}

// MARK: The library context

static int is_usual(OSSL_PROVIDER *provider, void *others) {
    const char *name = OSSL_PROVIDER_get0_name(provider);
    if (strcmp(name, "default") && strcmp(name, "legacy") && strcmp(name, "base")) *(int *)others = 1;
    return 1;
}

// Whether neither the system's configuration nor the program has chosen where cryptography is done, as for
// certified modules or keys in hardware: that choice must count for TLS as well.
static int has_usual_providers(void) {
    int others = 0;
    return OSSL_PROVIDER_available(NULL, "default") && !EVP_default_properties_is_fips_enabled(NULL)
        && OSSL_PROVIDER_do_all(NULL, is_usual, &others) && !others;
}

static void make_library(void) {
    // Has the configuration loaded, once and into the context of all. A cleanup at the exit would
    // free what event loops still use.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    OSSL_LIB_CTX *own = has_usual_providers() ? OSSL_LIB_CTX_new() : NULL;
    if (own && OSSL_PROVIDER_add_builtin(own, "http-toolkit", start)
        && OSSL_PROVIDER_try_load(own, "http-toolkit", 1) && OSSL_PROVIDER_available(own, "default")) {
        library = own;
    } else {
        OSSL_LIB_CTX_free(own);
    }
    ERR_clear_error();
}

void *http_tls_library(void) {
    pthread_once(&made, make_library);
    return library;
}
