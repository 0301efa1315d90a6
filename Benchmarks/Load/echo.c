// Sends short texts over WebSockets, each when the one before has come back.
//
//   echo PORT PATH CONNECTIONS SECONDS
//
// Prints RESULT with the echoes, the microseconds they took, and those that came back changed.

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool.h"

enum { LENGTH = 32, SENT = 2 + 4 + LENGTH, RECEIVED = 2 + LENGTH };

struct connection {
    int fd;
    size_t received;
    unsigned char answer[RECEIVED];
};

static const char text[LENGTH + 1] = "thirty-two bytes are sent often.";
// The frame that is sent (RFC 6455 section 5.2): a whole text, masked.
static unsigned char frame[SENT] = { 0x81, 0x80 | LENGTH, 0x37, 0xFA, 0x21, 0x3D };

static void send_frame(int fd) {
    if (send(fd, frame, SENT, MSG_NOSIGNAL) != SENT) fail("send");
}

// Opens a WebSocket; nothing follows the head of the answer until a frame is sent.
static int open_socket(const struct sockaddr_in *address, const char *path) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0) fail("socket");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    char head[1024];
    int length = snprintf(head, sizeof head,
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        path, ntohs(address->sin_port));
    if (send(fd, head, (size_t)length, MSG_NOSIGNAL) != length) fail("send");
    size_t got = 0;
    while (got < 4 || memcmp(head + got - 4, "\r\n\r\n", 4) != 0) {
        ssize_t more = got < sizeof head ? recv(fd, head + got, sizeof head - got, 0) : 0;
        if (more <= 0) fail("no answer to the handshake");
        got += (size_t)more;
        if (got >= 13 && strncmp(head, "HTTP/1.1 101 ", 13) != 0) {
            fprintf(stderr, "refused: %.12s\n", head);
            exit(1);
        }
    }
    return fd;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: echo PORT PATH CONNECTIONS SECONDS\n");
        return 2;
    }
    struct sockaddr_in address = loopback(arguments[1]);
    for (int i = 0; i < LENGTH; i++) frame[6 + i] = (unsigned char)text[i] ^ frame[2 + i % 4];
    int connections = atoi(arguments[3]), poller = epoll_create1(0);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    if (poller < 0 || !all) fail("epoll_create1");
    for (int i = 0; i < connections; i++) {
        all[i].fd = open_socket(&address, arguments[2]);
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &all[i] };
        if (epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &event) < 0) fail("epoll_ctl");
    }
    double start = now(), end = start + atof(arguments[4]);
    for (int i = 0; i < connections; i++) send_frame(all[i].fd);
    long echoes = 0, changed = 0;
    while (now() < end) {
        struct epoll_event events[64];
        int found = epoll_wait(poller, events, 64, 100);
        for (int i = 0; i < found; i++) {
            struct connection *one = events[i].data.ptr;
            ssize_t got = recv(one->fd, one->answer + one->received, RECEIVED - one->received, 0);
            if (got <= 0) fail("a WebSocket has ended");
            one->received += (size_t)got;
            if (one->received < RECEIVED) continue;
            one->received = 0;
            echoes++;
            if (one->answer[0] != 0x81 || one->answer[1] != LENGTH
                || memcmp(one->answer + 2, text, LENGTH) != 0) changed++;
            send_frame(one->fd);
        }
    }
    printf("RESULT %ld %.0f %ld\n", echoes, (now() - start) * 1e6, changed);
    return 0;
}
