#ifndef HTTP_TLS_SHIMS_H
#define HTTP_TLS_SHIMS_H
#include <stddef.h>
#include <stdint.h>

// OpenSSL behind functions that Swift can import: no macros, no callbacks but one. All texts end
// with NUL. The types of OpenSSL stay opaque.

/// The ciphertext of one event: what was received, and what is to be sent. All connections of a loop
/// use one, so that an idle connection has no buffer.
typedef struct http_tls_room {
    const uint8_t *input;
    size_t input_count;
    uint8_t *output;
    size_t output_count;
    size_t output_capacity;
    /// OpenSSL's view of the room, which all of its connections share; made with the first.
    void *bio;
} http_tls_room;

/// Appends to the output; 0 without memory.
int http_tls_room_append(http_tls_room *room, const void *bytes, size_t size);
/// Frees the content of a room that no connection uses, not the room itself.
void http_tls_room_empty(http_tls_room *room);

/// Results of calls on a connection that are no counts.
enum {
    /// More ciphertext is needed.
    HTTP_TLS_WANTS_INPUT = -1,
    /// The peer has said that it sends no more (close_notify).
    HTTP_TLS_ENDED = -2,
    /// The connection is unusable; an alert may be in the output.
    HTTP_TLS_FAILED = -3,
};

// MARK: Connections

/// The server's side of a connection; NULL without memory.
void *http_tls_open(void *context, http_tls_room *room);
void http_tls_free(void *connection);
/// 0 when the handshake is complete.
long http_tls_handshake(void *connection);
/// Decrypts up to `size` bytes.
long http_tls_read(void *connection, void *bytes, size_t size);
/// Encrypts all of the bytes into the output.
long http_tls_write(void *connection, const void *bytes, size_t size);
/// Puts close_notify into the output.
void http_tls_shutdown(void *connection);
/// How many decrypted bytes wait inside.
size_t http_tls_pending(void *connection);
/// Why the last call of this thread failed; the error is forgotten.
void http_tls_last_error(char *text, size_t size);

const char *http_tls_version(void *connection);
const char *http_tls_cipher(void *connection);
/// The host name that the client asked for; NULL without one.
const char *http_tls_server_name(void *connection);
/// The protocol agreed on; its length, 0 for none.
unsigned int http_tls_protocol(void *connection, const unsigned char **name);
int http_tls_is_resumed(void *connection);

/// The parts of a peer's certificate.
enum { HTTP_TLS_SUBJECT, HTTP_TLS_COMMON_NAME, HTTP_TLS_ISSUER, HTTP_TLS_SERIAL };
/// Whether the peer has shown a certificate that was verified.
int http_tls_has_peer_certificate(void *connection);
/// Copies a part as text; its length, -1 when there is none or no room.
long http_tls_peer_text(void *connection, int part, char *text, size_t size);
/// The certificate as DER; its length, -1 for none. With NULL only the length.
long http_tls_peer_certificate(void *connection, uint8_t *bytes);

// MARK: Records after a handshake of TLS 1.3 (RFC 8446 section 5)

/// The keys of one direction of a connection whose handshake is complete, after which the connection
/// is of no use but for its facts; NULL when its version or cipher suite is another's work.
void *http_tls_direction_of(void *connection, int seals);
/// The same for a traffic secret of the length of the suite's digest.
void *http_tls_direction(unsigned int suite, const uint8_t *secret, int seals);
void http_tls_direction_free(void *direction);
/// Goes over to the next keys (section 7.2); 0 when that fails, and the direction is unusable.
int http_tls_direction_update(void *direction);
/// Appends one record to the output; 0 when that fails.
/// - sequence: the number of records before, since the keys were set.
/// - size: at most 16,384.
int http_tls_seal(
    void *direction, http_tls_room *room, uint64_t sequence, uint8_t type, const void *bytes, size_t size);
/// Decrypts a whole record, its header included; 0 when it was not sealed by these keys, or as another
/// record of the sequence.
/// - text: gets the content, its type and its padding: 21 bytes fewer than the record; it may be where
///   the record's own begins.
int http_tls_open_record(
    void *direction, uint64_t sequence, const uint8_t *record, size_t size, uint8_t *text);

// MARK: Contexts

/// What servers share; NULL when `ciphers` or `suites` name nothing that is known.
/// - version: the lowest version, as 0x0303 for TLS 1.2.
/// - ciphers: those of TLS 1.2 by OpenSSL's names; suites: those of TLS 1.3.
void *http_tls_context(int version, const char *ciphers, const char *suites);
void http_tls_context_free(void *context);

/// What can be wrong with a certificate and its key.
enum {
    HTTP_TLS_PAIR_USABLE,
    HTTP_TLS_NO_CERTIFICATE,
    HTTP_TLS_NO_KEY,
    HTTP_TLS_ENCRYPTED_KEY,
    HTTP_TLS_NO_MATCH,
    HTTP_TLS_EXPIRED,
    HTTP_TLS_NOT_YET_VALID,
    HTTP_TLS_MUST_STAPLE,
    HTTP_TLS_WEAK,
};
/// Has the context show a certificate with its chain; all as PEM.
int http_tls_use(
    void *context, const void *chain, size_t chain_size, const void *key, size_t key_size);
/// Seconds since the epoch at which the certificate expires.
int64_t http_tls_expiry(void *context);
/// Calls `found` with each DNS name of the certificate.
void http_tls_names(
    void *context, void (*found)(void *target, const char *name, size_t length), void *target);
/// Asks clients for a certificate that one of these authorities has signed.
/// - Returns: how many authorities there are; 0 when nothing of it can be read.
int http_tls_verify_clients(void *context, const void *authorities, size_t size, int required);
/// The protocols that are spoken, the preferred one first, each after its length.
void http_tls_set_protocols(void *context, const uint8_t *protocols, unsigned int size);
/// Asks for the context of a host name; NULL keeps the first one.
void http_tls_set_choice(
    void *context, void *(*choose)(void *target, const char *name), void *target);

// MARK: Tickets (RFC 5077, RFC 8446 section 4.6.1)

/// The keys that tickets are encrypted by: up to three of 80 bytes each, the newest first.
void *http_tls_keys(void);
void http_tls_keys_free(void *keys);
void http_tls_keys_set(void *keys, const uint8_t *bytes, size_t count);
/// The context keeps them.
void http_tls_set_keys(void *context, void *keys);

// MARK: Development certificates

/// A certificate to be made. Zeros and NULL stand for the usual.
typedef struct http_tls_wish {
    const char *common_name;
    /// In the form of OpenSSL, such as `DNS:localhost,IP:127.0.0.1`; NULL for none.
    const char *names;
    /// From now on, in seconds.
    long starts, ends;
    int is_authority;
    /// PEM; NULL for a certificate that signs itself.
    const char *issuer, *issuer_key;
    /// The size of an RSA key; 0 for one on P-256.
    int rsa_bits;
    /// Whether clients shall demand a stapled OCSP response (RFC 7633).
    int must_staple;
    /// Protects the key; NULL for a key without one.
    const char *passphrase;
} http_tls_wish;

/// Makes a key and a certificate as PEM texts that the caller frees by `free`.
/// - Returns: 1 when it could be done.
int http_tls_make_certificate(const http_tls_wish *wish, char **certificate, char **key);

#endif
