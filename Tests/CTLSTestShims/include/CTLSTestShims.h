#ifndef HTTP_TLS_TEST_SHIMS_H
#define HTTP_TLS_TEST_SHIMS_H
#include <stddef.h>
#include <stdint.h>

// What tests of TLS need of OpenSSL: a client in memory. The types of OpenSSL stay opaque.

/// A client whose ciphertext is in memory; NULL without memory.
/// - version: the only version of TLS that it speaks, as 0x0303 for TLS 1.2; 0 for any.
/// - name: the host name that it asks for; NULL for none.
/// - session: of an earlier client, to be resumed; NULL for none.
void *tls_test_client(int version, const char *name, void *session);
/// Shows a certificate when it is asked for one (PEM).
int tls_test_client_use(void *client, const char *certificate, const char *key);
/// Asks for records of at most 512 bytes of content (RFC 6066 section 4).
int tls_test_client_limit_records(void *client);
void tls_test_client_free(void *client);
/// Gives ciphertext of the server.
void tls_test_client_feed(void *client, const void *bytes, size_t size);
/// Takes ciphertext for the server; how much.
size_t tls_test_client_take(void *client, void *bytes, size_t size);
/// 1 when the handshake is complete, 0 when more of the server is needed, -1 after a failure.
int tls_test_client_handshake(void *client);
/// Encrypts all of the bytes.
int tls_test_client_write(void *client, const void *bytes, size_t size);
/// Decrypts; 0 when more of the server is needed, -1 after a failure.
long tls_test_client_read(void *client, void *bytes, size_t size);
/// Says that no more follows (close_notify).
void tls_test_client_close(void *client);
/// Asks for new keys of both directions (RFC 8446 section 4.6.3).
int tls_test_client_update_keys(void *client);
/// Whether the server has said that no more follows.
int tls_test_client_is_closed(void *client);
int tls_test_client_is_resumed(void *client);
/// The common name of the server's certificate; its length, -1 for none.
int tls_test_client_peer_name(void *client, char *text, size_t size);
/// A session that can be resumed, to be freed; NULL for none.
void *tls_test_client_session(void *client);
/// The ticket of a session; its length.
size_t tls_test_session_ticket(void *session, const unsigned char **bytes);
void tls_test_session_free(void *session);

#endif
