#include "CTLSShims.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"

uint8_t *http_tls_room_claim(http_tls_room *room, size_t size) {
    if (room->output_capacity - room->output_count < size) {
        size_t capacity = (room->output_count + size) * 2;
        uint8_t *larger = realloc(room->output, capacity);
        if (!larger) return NULL;
        room->output = larger;
        room->output_capacity = capacity;
    }
    return room->output + room->output_count;
}

int http_tls_room_append(http_tls_room *room, const void *bytes, size_t size) {
    uint8_t *target = http_tls_room_claim(room, size);
    if (!target) return 0;
    memcpy(target, bytes, size);
    room->output_count += size;
    return 1;
}

// A BIO that reads from the ciphertext of the current event and appends to the output: no buffer for
// each connection, no call of the system for each record, no read that only finds nothing.

static int room_read(BIO *bio, char *bytes, size_t size, size_t *count) {
    http_tls_room *room = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (room->input_count == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    size_t part = size < room->input_count ? size : room->input_count;
    memcpy(bytes, room->input, part);
    room->input += part;
    room->input_count -= part;
    *count = part;
    return 1;
}

static int room_write(BIO *bio, const char *bytes, size_t size, size_t *count) {
    BIO_clear_retry_flags(bio);
    *count = size;
    return http_tls_room_append(BIO_get_data(bio), bytes, size);
}

static long room_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

void http_tls_room_empty(http_tls_room *room) {
    BIO_free(room->bio);
    free(room->output);
    *room = (http_tls_room){0};
}

static BIO_METHOD *method;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_method(void) {
    method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "http room");
    if (!method) return;
    BIO_meth_set_read_ex(method, room_read);
    BIO_meth_set_write_ex(method, room_write);
    BIO_meth_set_ctrl(method, room_control);
}

void *http_tls_open(void *context, http_tls_room *room) {
    pthread_once(&made, make_method);
    if (!room->bio && method) {
        room->bio = BIO_new(method);
        if (room->bio) {
            BIO_set_data(room->bio, room);
            BIO_set_init(room->bio, 1);
        }
    }
    SSL *ssl = room->bio ? SSL_new(context) : NULL;
    if (!ssl || !http_tls_keep_secrets(ssl)) {
        SSL_free(ssl);
        return NULL;
    }
    // One BIO does for all connections of a loop: it has no state but the room's, of one call.
    BIO_up_ref(room->bio);
    SSL_set_bio(ssl, room->bio, room->bio);
    SSL_set_accept_state(ssl);
    return ssl;
}

static long failure(SSL *ssl, int result) {
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ: return HTTP_TLS_WANTS_INPUT;
    case SSL_ERROR_ZERO_RETURN: return HTTP_TLS_ENDED;
    default: return HTTP_TLS_FAILED;
    }
}

// The queue of errors belongs to the thread: an error of one connection that is left there would be
// read as the next one's. Looking whether there is one takes an eighth of the time of clearing it.
static void clear_errors(void) {
    if (ERR_peek_error()) ERR_clear_error();
}

long http_tls_handshake(void *connection) {
    clear_errors();
    http_tls_collect_secrets(http_tls_secrets_of(connection));
    int result = SSL_do_handshake(connection);
    http_tls_collect_secrets(NULL);
    return result == 1 ? 0 : failure(connection, result);
}

long http_tls_read(void *connection, void *bytes, size_t size) {
    size_t count = 0;
    clear_errors();
    int result = SSL_read_ex(connection, bytes, size, &count);
    return result == 1 ? (long)count : failure(connection, result);
}

long http_tls_write(void *connection, const void *bytes, size_t size) {
    size_t count = 0;
    clear_errors();
    int result = SSL_write_ex(connection, bytes, size, &count);
    return result == 1 ? (long)count : failure(connection, result);
}

void http_tls_shutdown(void *connection) {
    ERR_clear_error();
    SSL_shutdown(connection);
}

size_t http_tls_pending(void *connection) {
    // NULL if OpenSSL had no memory for the connection.
    return connection ? (size_t)SSL_pending(connection) : 0;
}

void http_tls_last_error(char *text, size_t size) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    if (!reason) reason = "unknown error";
    size_t length = strlen(reason);
    if (length >= size) length = size - 1;
    memcpy(text, reason, length);
    text[length] = 0;
}

// MARK: Facts

const char *http_tls_version(void *connection) { return SSL_get_version(connection); }

const char *http_tls_cipher(void *connection) {
    const SSL_CIPHER *cipher = SSL_get_current_cipher(connection);
    const char *name = cipher ? SSL_CIPHER_standard_name(cipher) : NULL;
    return name ? name : "";
}

const char *http_tls_server_name(void *connection) {
    return SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
}

unsigned int http_tls_protocol(void *connection, const unsigned char **name) {
    unsigned int length = 0;
    SSL_get0_alpn_selected(connection, name, &length);
    return length;
}

int http_tls_is_resumed(void *connection) { return SSL_session_reused(connection); }

int http_tls_has_peer_certificate(void *connection) {
    return SSL_get0_peer_certificate(connection) != NULL
        && SSL_get_verify_result(connection) == X509_V_OK;
}

static long print(BIO *text, char *target, size_t size) {
    char *bytes = NULL;
    long length = BIO_get_mem_data(text, &bytes);
    int fits = length >= 0 && (size_t)length < size;
    if (fits) {
        memcpy(target, bytes, (size_t)length);
        target[length] = 0;
    }
    BIO_free(text);
    return fits ? length : -1;
}

long http_tls_peer_text(void *connection, int part, char *target, size_t size) {
    X509 *certificate = SSL_get0_peer_certificate(connection);
    BIO *text = certificate ? BIO_new(BIO_s_mem()) : NULL;
    if (!text) return -1;
    // RFC 4514, but letters beyond ASCII as UTF-8.
    unsigned long flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
    X509_NAME *subject = X509_get_subject_name(certificate);
    int done = 0;
    switch (part) {
    case HTTP_TLS_SUBJECT: done = X509_NAME_print_ex(text, subject, 0, flags) >= 0; break;
    case HTTP_TLS_ISSUER:
        done = X509_NAME_print_ex(text, X509_get_issuer_name(certificate), 0, flags) >= 0;
        break;
    case HTTP_TLS_SERIAL: done = i2a_ASN1_INTEGER(text, X509_get0_serialNumber(certificate)) > 0; break;
    case HTTP_TLS_COMMON_NAME: {
        int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
        ASN1_STRING *name =
            index < 0 ? NULL : X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index));
        unsigned char *utf8 = NULL;
        int length = name ? ASN1_STRING_to_UTF8(&utf8, name) : -1;
        // A name with a NUL inside would be taken for a shorter one.
        done = length > 0 && !memchr(utf8, 0, (size_t)length) && BIO_write(text, utf8, length) == length;
        OPENSSL_free(utf8);
        break;
    }
    }
    if (done) return print(text, target, size);
    BIO_free(text);
    return -1;
}

long http_tls_peer_certificate(void *connection, uint8_t *bytes) {
    X509 *certificate = SSL_get0_peer_certificate(connection);
    if (!certificate) return -1;
    return i2d_X509(certificate, bytes ? &bytes : NULL);
}
