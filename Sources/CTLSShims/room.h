#ifndef HTTP_TLS_ROOM_H
#define HTTP_TLS_ROOM_H
#include "CTLSShims.h"

// What the files of this module share.

/// Where `size` bytes can be appended to the output, which `output_count` does not count yet; NULL
/// without memory.
uint8_t *http_tls_room_claim(http_tls_room *room, size_t size);

enum { HTTP_TLS_MOST_SECRET = 48 };

/// The secrets of application data; sizes are 0 until they are known.
typedef struct http_tls_secrets {
    uint8_t client[HTTP_TLS_MOST_SECRET], server[HTTP_TLS_MOST_SECRET];
    size_t client_size, server_size;
} http_tls_secrets;

/// What the derivation of keys by this module is known by, and preferred for.
#define HTTP_TLS_PROPERTY "http.toolkit=yes"

/// The library context of OpenSSL that all contexts belong to; NULL for that of the whole process.
void *http_tls_library(void);
/// Where secrets go that the calling thread derives from now on; NULL for nowhere.
void http_tls_collect_secrets(http_tls_secrets *secrets);
/// Those of a connection; NULL when there are none.
http_tls_secrets *http_tls_secrets_of(void *connection);
/// Makes room for the secrets of a connection, until it is freed; 0 without memory.
int http_tls_keep_secrets(void *connection);

#endif
