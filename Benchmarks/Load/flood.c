// Floods a server with handshakes that it has to compute and the client has not: each connection
// sends the same ClientHello, waits for the first bytes of the answer, and is reset.
//
//   flood PORT CONNECTIONS SECONDS
//
// Prints how many were answered in a second. Link with -lssl -lcrypto.

#include <errno.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool.h"

static size_t make_hello(unsigned char *bytes, size_t size) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *output = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), output);
    SSL_set_tlsext_host_name(ssl, "localhost");
    SSL_set_connect_state(ssl);
    SSL_do_handshake(ssl);
    int count = BIO_read(output, bytes, (int)size);
    SSL_free(ssl);
    SSL_CTX_free(context);
    return count > 0 ? (size_t)count : 0;
}

static void begin(int poller, const struct sockaddr_in *address) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    // Closing resets, so that no port is left waiting.
    struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (fd < 0) fail("socket");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 && errno != EINPROGRESS)
        fail("connect");
    struct epoll_event event = { .events = EPOLLOUT, .data.fd = fd };
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: flood PORT CONNECTIONS SECONDS\n");
        return 2;
    }
    struct sockaddr_in address = loopback(arguments[1]);
    unsigned char hello[4096], answer[4096];
    size_t hello_size = make_hello(hello, sizeof hello);
    if (!hello_size) fail("no ClientHello");
    int poller = epoll_create1(0);
    for (int i = atoi(arguments[2]); i > 0; i--) begin(poller, &address);
    double start = now(), end = start + atof(arguments[3]);
    long answered = 0;
    while (now() < end) {
        struct epoll_event events[64];
        int found = epoll_wait(poller, events, 64, 100);
        for (int i = 0; i < found; i++) {
            int fd = events[i].data.fd;
            if (events[i].events & EPOLLOUT) {
                if (send(fd, hello, hello_size, MSG_NOSIGNAL) == (ssize_t)hello_size) {
                    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
                    epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
                    continue;
                }
            } else if (recv(fd, answer, sizeof answer, 0) > 0) {
                answered++;
            }
            close(fd);
            begin(poller, &address);
        }
    }
    printf("%.0f\n", (double)answered / (now() - start));
}
