#include "CTLSTestShims.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

void *tls_test_client(int version, const char *name, void *session) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) return NULL;
    if (version) {
        SSL_CTX_set_min_proto_version(context, version);
        SSL_CTX_set_max_proto_version(context, version);
    }
    SSL *client = SSL_new(context);
    SSL_CTX_free(context);
    if (!client) return NULL;
    SSL_set_bio(client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client);
    if (name) SSL_set_tlsext_host_name(client, name);
    if (session) SSL_set_session(client, session);
    return client;
}

int tls_test_client_use(void *client, const char *certificate, const char *key) {
    BIO *one = BIO_new_mem_buf(certificate, -1), *two = BIO_new_mem_buf(key, -1);
    X509 *leaf = PEM_read_bio_X509(one, NULL, NULL, NULL);
    EVP_PKEY *private = PEM_read_bio_PrivateKey(two, NULL, NULL, NULL);
    int done = leaf && private && SSL_use_certificate(client, leaf)
        && SSL_use_PrivateKey(client, private);
    X509_free(leaf);
    EVP_PKEY_free(private);
    BIO_free(one);
    BIO_free(two);
    return done;
}

int tls_test_client_limit_records(void *client) {
    return SSL_set_tlsext_max_fragment_length(client, TLSEXT_max_fragment_length_512);
}

void tls_test_client_free(void *client) {
    // A session whose connection was not shut down properly would not be resumed.
    SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(client);
}

void tls_test_client_feed(void *client, const void *bytes, size_t size) {
    BIO_write(SSL_get_rbio(client), bytes, (int)size);
}

size_t tls_test_client_take(void *client, void *bytes, size_t size) {
    int count = BIO_read(SSL_get_wbio(client), bytes, (int)size);
    return count > 0 ? (size_t)count : 0;
}

static int outcome(SSL *client, int result) {
    int error = SSL_get_error(client, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

int tls_test_client_handshake(void *client) {
    ERR_clear_error();
    int result = SSL_do_handshake(client);
    return result == 1 ? 1 : outcome(client, result);
}

int tls_test_client_write(void *client, const void *bytes, size_t size) {
    ERR_clear_error();
    return SSL_write(client, bytes, (int)size) == (int)size;
}

long tls_test_client_read(void *client, void *bytes, size_t size) {
    size_t count = 0;
    ERR_clear_error();
    int result = SSL_read_ex(client, bytes, size, &count);
    return result == 1 ? (long)count : outcome(client, result);
}

void tls_test_client_close(void *client) {
    ERR_clear_error();
    SSL_shutdown(client);
}

int tls_test_client_update_keys(void *client) {
    return SSL_key_update(client, SSL_KEY_UPDATE_REQUESTED) && SSL_do_handshake(client) == 1;
}

int tls_test_client_is_closed(void *client) {
    return (SSL_get_shutdown(client) & SSL_RECEIVED_SHUTDOWN) != 0;
}

int tls_test_client_is_resumed(void *client) { return SSL_session_reused(client); }

int tls_test_client_peer_name(void *client, char *text, size_t size) {
    X509 *leaf = SSL_get0_peer_certificate(client);
    if (!leaf) return -1;
    return X509_NAME_get_text_by_NID(X509_get_subject_name(leaf), NID_commonName, text, (int)size);
}

void *tls_test_client_session(void *client) {
    SSL_SESSION *session = SSL_get1_session(client);
    if (session && SSL_SESSION_is_resumable(session)) return session;
    SSL_SESSION_free(session);
    return NULL;
}

size_t tls_test_session_ticket(void *session, const unsigned char **bytes) {
    size_t count = 0;
    SSL_SESSION_get0_ticket(session, bytes, &count);
    return count;
}

void tls_test_session_free(void *session) { SSL_SESSION_free(session); }
