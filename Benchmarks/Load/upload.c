// Uploads zeros from memory over one connection and waits for the answer.
//
//   upload PORT MEBIBYTES
//
// Prints the seconds from the first byte sent to the answer's head. The content is written from
// one buffer of a MiB, so that the client costs as little as a client can.

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tool.h"

enum { mebibyte = 1 << 20, timeout_seconds = 60 };

static void send_all(int fd, const char *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0) fail("send");
        bytes += sent;
        length -= (size_t)sent;
    }
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: upload PORT MEBIBYTES\n");
        return 2;
    }
    long mebibytes = atol(arguments[2]);
    struct sockaddr_in address = loopback(arguments[1]);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval timeout = { .tv_sec = timeout_seconds };
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    char *content = calloc(1, mebibyte), head[256], answer[4096] = "";
    if (!content) fail("calloc");
    int length = snprintf(
        head, sizeof head,
        "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
        "Content-Length: %ld\r\n\r\n",
        mebibytes * mebibyte);
    double start = now();
    send_all(fd, head, (size_t)length);
    for (long i = 0; i < mebibytes; i++) send_all(fd, content, mebibyte);
    if (recv(fd, answer, sizeof answer - 1, 0) <= 0) fail("recv");
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
        fprintf(stderr, "unexpected answer: %.60s\n", answer);
        return 1;
    }
    printf("%.6f\n", now() - start);
    close(fd);
}
