// Opens connections, sends one request on each, reads the answer, and leaves them idle.
//
//   idle PORT CONNECTIONS
//
// Prints `ready` when all are idle, and closes them when its standard input ends or after two
// minutes.

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tool.h"

static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

static void raise_descriptor_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void open_idle_connection(const struct sockaddr_in *address) {
    char answer[4096];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) fail("connect");
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0) fail("send");
    ssize_t received = recv(fd, answer, sizeof answer, 0);
    if (received < 12 || memcmp(answer, "HTTP/1.1 200", 12) != 0) fail("no answer of status 200");
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: idle PORT CONNECTIONS\n");
        return 2;
    }
    struct sockaddr_in address = loopback(arguments[1]);
    raise_descriptor_limit();
    for (long i = atol(arguments[2]); i > 0; i--) open_idle_connection(&address);
    printf("ready\n");
    fflush(stdout);
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    poll(&input, 1, 120 * 1000);
}
