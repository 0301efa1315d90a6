// Makes connections over TLS one after the other, with one request on each.
//
//   handshake PORT full|resumed COUNT PATH
//
// `resumed` makes one full handshake more, before the others. Prints the connections and the microseconds
// that they took; ends with 1 when an answer is not of status 200, or a session was not resumed.

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool.h"

static SSL_SESSION *session;

// The reference becomes ours.
static int keep_session(SSL *connection, SSL_SESSION *fresh) {
    (void)connection;
    SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

static int connect_to(const struct sockaddr_in *address) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) fail("connect");
    // As clients of HTTP do: otherwise the request waits until the end of the handshake is acknowledged.
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void request(SSL_CTX *context, const struct sockaddr_in *address, const char *path, int resumes) {
    char text[4096];
    int fd = connect_to(address);
    SSL *connection = SSL_new(context);
    SSL_set_fd(connection, fd);
    if (resumes) SSL_set_session(connection, session);
    if (SSL_connect(connection) != 1) fail("SSL_connect");
    if (resumes && !SSL_session_reused(connection)) fail("not resumed");
    int size = snprintf(
        text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (SSL_write(connection, text, size) != size) fail("SSL_write");
    int count = SSL_read(connection, text, sizeof text);
    if (count < 12 || memcmp(text, "HTTP/1.1 200", 12) != 0) fail("no answer of status 200");
    while (SSL_read(connection, text, sizeof text) > 0) {}
    SSL_shutdown(connection);
    SSL_free(connection);
    close(fd);
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: handshake PORT full|resumed COUNT PATH\n");
        return 2;
    }
    struct sockaddr_in address = loopback(arguments[1]);
    int resumes = strcmp(arguments[2], "resumed") == 0;
    long connections = atol(arguments[3]);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    if (resumes) {
        SSL_CTX_sess_set_new_cb(context, keep_session);
        request(context, &address, arguments[4], 0);
    }
    double start = now();
    for (long i = 0; i < connections; i++) request(context, &address, arguments[4], resumes);
    printf("%ld %.0f\n", connections, (now() - start) * 1e6);
}
