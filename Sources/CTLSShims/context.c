#include "CTLSShims.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"

// What a context keeps beside OpenSSL's own.
typedef struct extras {
    uint8_t *protocols;
    unsigned int protocols_size;
    void *(*choose)(void *target, const char *name);
    void *target;
    struct keys *keys;
} extras;

static int extras_index = -1;
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static void make_index(void) { extras_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

static extras *extras_of(SSL_CTX *context) { return SSL_CTX_get_ex_data(context, extras_index); }

// A key with a passphrase must not have a server ask on its terminal.
static int no_passphrase(char *text, int size, int writing, void *target) {
    (void)text, (void)size, (void)writing;
    *(int *)target = 1;
    return -1;
}

static int choose_context(SSL *ssl, int *alert, void *target);

// Not X448 and P-521, which cost a server several times as much: a client could choose them to that end.
static int set_groups(SSL_CTX *context) {
    // OpenSSL before 3.5 refuses a list with the hybrid one.
    int done = SSL_CTX_set1_groups_list(context, "X25519MLKEM768:X25519:P-256:P-384")
        || SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384");
    ERR_clear_error();
    return done;
}

void *http_tls_context(int version, const char *ciphers, const char *suites) {
    pthread_once(&indexed, make_index);
    void *library = http_tls_library();
    SSL_CTX *context = SSL_CTX_new_ex(library, library ? "?" HTTP_TLS_PROPERTY : NULL, TLS_server_method());
    extras *extra = context ? calloc(1, sizeof *extra) : NULL;
    if (!extra || !SSL_CTX_set_ex_data(context, extras_index, extra)) {
        free(extra);
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_min_proto_version(context, version);
    // Debian's default; OpenSSL's own takes RSA of 1,024 bits.
    SSL_CTX_set_security_level(context, 2);
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
            | SSL_OP_PRIORITIZE_CHACHA);
    // An idle connection keeps no buffer. The chain is what its file has: without this, OpenSSL looks for
    // one in each handshake, also among the authorities of clients.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_max_early_data(context, 0);
    // Without a callback a session of TLS 1.2 does not keep the name that was asked for.
    SSL_CTX_set_tlsext_servername_callback(context, choose_context);
    SSL_CTX_set_tlsext_servername_arg(context, extra);
    if (set_groups(context) && SSL_CTX_set_cipher_list(context, ciphers)
        && SSL_CTX_set_ciphersuites(context, suites)) {
        return context;
    }
    http_tls_context_free(context);
    return NULL;
}

// Not by a callback of OpenSSL, which is gone where a program ends before its contexts.
void http_tls_context_free(void *context) {
    extras *extra = extras_of(context);
    SSL_CTX_free(context);
    if (extra) free(extra->protocols);
    free(extra);
}

// MARK: Certificates

// Whether the certificates of a text were all read, after one that was not. Anything but the end of the
// text is a damaged certificate, behind which others may be missing.
static int was_last_certificate(void) {
    unsigned long error = ERR_peek_last_error();
    ERR_clear_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

static int use_chain(SSL_CTX *context, BIO *text, int *problem) {
    X509 *leaf = PEM_read_bio_X509_AUX(text, NULL, NULL, NULL);
    if (!leaf || !SSL_CTX_use_certificate(context, leaf)) {
        unsigned long error = ERR_peek_last_error();
        int weak = ERR_GET_LIB(error) == ERR_LIB_SSL
            && (ERR_GET_REASON(error) == SSL_R_EE_KEY_TOO_SMALL || ERR_GET_REASON(error) == SSL_R_CA_MD_TOO_WEAK);
        *problem = leaf && weak ? HTTP_TLS_WEAK : HTTP_TLS_NO_CERTIFICATE;
        X509_free(leaf);
        return 0;
    }
    if (X509_cmp_current_time(X509_get0_notAfter(leaf)) < 0) *problem = HTTP_TLS_EXPIRED;
    if (X509_cmp_current_time(X509_get0_notBefore(leaf)) > 0) *problem = HTTP_TLS_NOT_YET_VALID;
    // RFC 7633: a client would refuse it without a stapled response, which is not offered.
    if (X509_get_ext_by_NID(leaf, NID_tlsfeature, -1) >= 0) *problem = HTTP_TLS_MUST_STAPLE;
    X509_free(leaf);
    if (*problem != HTTP_TLS_PAIR_USABLE) return 0;
    SSL_CTX_clear_chain_certs(context);
    X509 *next;
    while ((next = PEM_read_bio_X509(text, NULL, NULL, NULL))) {
        if (!SSL_CTX_add0_chain_cert(context, next)) {
            X509_free(next);
            *problem = HTTP_TLS_NO_CERTIFICATE;
            return 0;
        }
    }
    if (was_last_certificate()) return 1;
    *problem = HTTP_TLS_NO_CERTIFICATE;
    return 0;
}

int http_tls_use(
    void *context, const void *chain, size_t chain_size, const void *key, size_t key_size
) {
    int problem = HTTP_TLS_PAIR_USABLE, encrypted = 0;
    ERR_clear_error();
    BIO *chain_text = BIO_new_mem_buf(chain, (int)chain_size);
    BIO *key_text = BIO_new_mem_buf(key, (int)key_size);
    if (chain_text && key_text && use_chain(context, chain_text, &problem)) {
        EVP_PKEY *private = PEM_read_bio_PrivateKey_ex(
            key_text, NULL, no_passphrase, &encrypted, http_tls_library(), NULL);
        if (!private) problem = encrypted ? HTTP_TLS_ENCRYPTED_KEY : HTTP_TLS_NO_KEY;
        else if (!SSL_CTX_use_PrivateKey(context, private) || !SSL_CTX_check_private_key(context)) {
            problem = HTTP_TLS_NO_MATCH;
        }
        EVP_PKEY_free(private);
    } else if (problem == HTTP_TLS_PAIR_USABLE) {
        problem = HTTP_TLS_NO_CERTIFICATE;
    }
    BIO_free(chain_text);
    BIO_free(key_text);
    ERR_clear_error();
    return problem;
}

int64_t http_tls_expiry(void *context) {
    X509 *leaf = SSL_CTX_get0_certificate(context);
    int days = 0, seconds = 0;
    if (!leaf || !ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(leaf))) return 0;
    return (int64_t)time(NULL) + (int64_t)days * 86400 + seconds;
}

void http_tls_names(
    void *context, void (*found)(void *target, const char *name, size_t length), void *target
) {
    X509 *leaf = SSL_CTX_get0_certificate(context);
    GENERAL_NAMES *names = leaf ? X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL) : NULL;
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
        if (name->type != GEN_DNS) continue;
        found(target, (const char *)ASN1_STRING_get0_data(name->d.dNSName),
              (size_t)ASN1_STRING_length(name->d.dNSName));
    }
    GENERAL_NAMES_free(names);
}

// A session has no more than these authorities have verified: with others, or where a certificate is
// required by now, a client has to show one again. Without a context no such session could be resumed.
static int set_session_context(SSL_CTX *context, const void *authorities, size_t size, int required) {
    unsigned char digest[EVP_MAX_MD_SIZE], rule = required ? 1 : 0;
    unsigned int length = 0;
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int done = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) && EVP_DigestUpdate(hash, &rule, 1)
        && EVP_DigestUpdate(hash, authorities, size) && EVP_DigestFinal_ex(hash, digest, &length)
        && SSL_CTX_set_session_id_context(context, digest, length);
    EVP_MD_CTX_free(hash);
    return done;
}

// A session must not outlive the certificate that it stands for: each resumption would get a new ticket,
// for ever. A full handshake judges the certificate then.
static SSL_TICKET_RETURN judge_session(
    SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t size, SSL_TICKET_STATUS status,
    void *target
) {
    (void)ssl;
    (void)name;
    (void)size;
    (void)target;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    X509 *leaf = SSL_SESSION_get0_peer(session);
    if (leaf && X509_cmp_current_time(X509_get0_notAfter(leaf)) <= 0) {
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

int http_tls_verify_clients(void *context, const void *authorities, size_t size, int required) {
    int count = 0, whole = 1;
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();
    BIO *text = BIO_new_mem_buf(authorities, (int)size);
    X509 *next;
    while (text && names && (next = PEM_read_bio_X509_AUX(text, NULL, NULL, NULL))) {
        X509_NAME *name = X509_NAME_dup(X509_get_subject_name(next));
        if (X509_STORE_add_cert(store, next) && name && sk_X509_NAME_push(names, name)) {
            count++;
        } else {
            X509_NAME_free(name);
            whole = 0;
        }
        X509_free(next);
    }
    whole = was_last_certificate() && whole;
    BIO_free(text);
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(
        context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), NULL);
    SSL_CTX_set_purpose(context, X509_PURPOSE_SSL_CLIENT);
    SSL_CTX_set_session_ticket_cb(context, NULL, judge_session, NULL);
    return set_session_context(context, authorities, size, required) && whole ? count : 0;
}

// MARK: What a client asks for

static int choose_protocol(
    SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
    unsigned int size, void *target
) {
    (void)ssl;
    extras *extra = target;
    unsigned char *found = NULL;
    if (SSL_select_next_proto(&found, length, extra->protocols, extra->protocols_size, offered, size)
        != OPENSSL_NPN_NEGOTIATED) {
        // RFC 7301 section 3.2: no_application_protocol.
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

void http_tls_set_protocols(void *context, const uint8_t *protocols, unsigned int size) {
    extras *extra = extras_of(context);
    free(extra->protocols);
    extra->protocols = malloc(size);
    extra->protocols_size = extra->protocols ? size : 0;
    if (!extra->protocols) return;
    memcpy(extra->protocols, protocols, size);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, extra);
}

static int choose_context(SSL *ssl, int *alert, void *target) {
    (void)alert;
    extras *extra = target;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (!name) return SSL_TLSEXT_ERR_NOACK;
    SSL_CTX *other = extra->choose ? extra->choose(extra->target, name) : NULL;
    if (other) SSL_set_SSL_CTX(ssl, other);
    return SSL_TLSEXT_ERR_OK;
}

void http_tls_set_choice(
    void *context, void *(*choose)(void *target, const char *name), void *target
) {
    extras *extra = extras_of(context);
    extra->choose = choose;
    extra->target = target;
}

// MARK: Tickets

enum { KEY_COUNT = 3, NAME_SIZE = 16, CIPHER_SIZE = 32, MAC_SIZE = 32, KEY_SIZE = 80 };

typedef struct keys {
    pthread_mutex_t lock;
    size_t count;
    uint8_t bytes[KEY_COUNT * KEY_SIZE];
} keys;

void *http_tls_keys(void) {
    keys *made = calloc(1, sizeof *made);
    if (made) pthread_mutex_init(&made->lock, NULL);
    return made;
}

void http_tls_keys_free(void *pointer) {
    keys *all = pointer;
    if (!all) return;
    OPENSSL_cleanse(all->bytes, sizeof all->bytes);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

void http_tls_keys_set(void *pointer, const uint8_t *bytes, size_t count) {
    keys *all = pointer;
    pthread_mutex_lock(&all->lock);
    all->count = count < KEY_COUNT ? count : KEY_COUNT;
    memcpy(all->bytes, bytes, all->count * KEY_SIZE);
    pthread_mutex_unlock(&all->lock);
}

static int set_mac(EVP_MAC_CTX *mac, const uint8_t *key) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, MAC_SIZE),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters);
}

// RFC 5077 section 4: the name of the key, a random start, the ciphertext and its HMAC.
static int ticket_key(
    SSL *ssl, unsigned char *name, unsigned char *start, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
    int encrypts
) {
    keys *all = extras_of(SSL_get_SSL_CTX(ssl))->keys;
    uint8_t key[KEY_SIZE];
    size_t index = 0;
    pthread_mutex_lock(&all->lock);
    if (!encrypts) {
        while (index < all->count && memcmp(all->bytes + index * KEY_SIZE, name, NAME_SIZE)) index++;
    }
    int found = index < all->count;
    if (found) memcpy(key, all->bytes + index * KEY_SIZE, KEY_SIZE);
    pthread_mutex_unlock(&all->lock);
    if (!found) return 0;
    const uint8_t *secret = key + NAME_SIZE;
    int done;
    if (encrypts) {
        memcpy(name, key, NAME_SIZE);
        done = RAND_bytes(start, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1
            && EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, secret, start);
    } else {
        done = EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, secret, start);
    }
    done = done && set_mac(mac, secret + CIPHER_SIZE);
    OPENSSL_cleanse(key, sizeof key);
    if (!done) return -1;
    // 2: the ticket is replaced, because its key is an older one, or because a ticket of TLS 1.3 should
    // be used once only (RFC 8446 appendix C.4).
    return index == 0 && SSL_version(ssl) != TLS1_3_VERSION ? 1 : 2;
}

void http_tls_set_keys(void *context, void *pointer) {
    extras_of(context)->keys = pointer;
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_key);
}
