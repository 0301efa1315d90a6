// Shared by the programs of this folder; each includes it once.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/// Ends the program with the error of the last system call.
static inline void fail(const char *what) {
    perror(what);
    exit(1);
}

/// A port of this machine.
static inline struct sockaddr_in loopback(const char *port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((unsigned short)atoi(port)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

/// Seconds of a clock that only goes forward.
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
