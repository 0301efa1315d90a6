#ifndef HTTP_TLS_TEST_SHIMS_H
#define HTTP_TLS_TEST_SHIMS_H
#include <stddef.h>
#include <stdint.h>

// The calls of OpenSSL for tests of TLS: a client in memory. The types of OpenSSL stay opaque.

/// A client whose ciphertext is in memory; NULL if there is not enough memory.
/// - version: the only version of TLS that it speaks, as 0x0303 for TLS 1.2; 0 for any.
/// - name: the host name that it requests; NULL for none.
/// - session: the session of an earlier client to resume; NULL for none.
void *tls_test_client(int version, const char *name, void *session);
/// Sends this certificate (PEM) when the server requests one.
int tls_test_client_use(void *client, const char *certificate, const char *key);
/// Requests records of at most 512 bytes of content (RFC 6066 section 4).
int tls_test_client_limit_records(void *client);
void tls_test_client_free(void *client);
/// Passes ciphertext of the server to the client.
void tls_test_client_feed(void *client, const void *bytes, size_t size);
/// Takes ciphertext for the server; returns its length.
size_t tls_test_client_take(void *client, void *bytes, size_t size);
/// 1 when the handshake is complete, 0 when the server has to send more, -1 after a failure.
int tls_test_client_handshake(void *client);
/// Encrypts all of the bytes.
int tls_test_client_write(void *client, const void *bytes, size_t size);
/// Decrypts; 0 when the server has to send more, -1 after a failure.
long tls_test_client_read(void *client, void *bytes, size_t size);
/// Sends close_notify.
void tls_test_client_close(void *client);
/// Requests new keys for both directions (RFC 8446 section 4.6.3).
int tls_test_client_update_keys(void *client);
/// Whether the server has sent close_notify.
int tls_test_client_is_closed(void *client);
int tls_test_client_is_resumed(void *client);
/// Writes the common name of the server's certificate; returns its length, -1 for none.
int tls_test_client_peer_name(void *client, char *text, size_t size);
/// A session that can be resumed, which the caller frees; NULL for none.
void *tls_test_client_session(void *client);
/// The ticket of a session; returns its length.
size_t tls_test_session_ticket(void *session, const unsigned char **bytes);
void tls_test_session_free(void *session);

#endif
