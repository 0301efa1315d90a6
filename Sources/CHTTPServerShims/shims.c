// Here and not in the header: there it would declare `fd_set` in another way than the modules of the
// system do, and the compiler refuses two declarations of one type.
#define _GNU_SOURCE
#include "CHTTPServerShims.h"

#if defined(__linux__)
#include <signal.h>
#include <time.h>

ssize_t http_server_sendfile(int target, int file, off_t offset, size_t count) {
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) return -1;
    ssize_t sent = sendfile(target, file, &offset, count);
    int error = errno;
    // A call that has sent a part before it met the closed connection succeeds, signal or not.
    if (sent < (ssize_t)count && !sigismember(&before, SIGPIPE)) {
        const struct timespec none = {0, 0};
        while (sigtimedwait(&pipe, 0, &none) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
    errno = error;
    return sent;
}

int http_server_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
#endif
