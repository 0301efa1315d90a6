// In this file and not in the header: there _GNU_SOURCE would declare `fd_set` differently from the
// modules of the system, and the compiler refuses two declarations of one type.
#define _GNU_SOURCE
#include "CHTTPServerShims.h"

#if defined(__linux__)
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <time.h>

// Whether SIGPIPE has a handler of ours, so that a call that raises it does no harm.
static atomic_bool pipe_is_handled;

static void do_nothing(int number) {
    (void)number;
}

int http_server_ignore_broken_pipes(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGPIPE, &action, 0) != 0) return -1;
    atomic_store(&pipe_is_handled, 1);
    return 0;
}

// Blocks SIGPIPE for this thread.
static int block(sigset_t *pipe, sigset_t *before) {
    sigemptyset(pipe);
    sigaddset(pipe, SIGPIPE);
    return pthread_sigmask(SIG_BLOCK, pipe, before);
}

// Discards a SIGPIPE that the call may have raised, restores the mask, and keeps errno.
static void unblock(const sigset_t *pipe, const sigset_t *before, int may_have_raised) {
    int error = errno;
    if (may_have_raised && !sigismember(before, SIGPIPE)) {
        const struct timespec none = {0, 0};
        while (sigtimedwait(pipe, 0, &none) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, before, 0);
    errno = error;
}

static ssize_t send_file(int target, int file, off_t offset, size_t count) {
#if defined(SYS_sendfile) && defined(__LP64__)
    // Without a cancellation point, like http_server_send.
    return syscall(SYS_sendfile, target, file, &offset, count);
#else
    return sendfile(target, file, &offset, count);
#endif
}

ssize_t http_server_sendfile(int target, int file, off_t offset, size_t count) {
    if (atomic_load_explicit(&pipe_is_handled, memory_order_relaxed)) {
        return send_file(target, file, offset, count);
    }
    sigset_t pipe, before;
    if (block(&pipe, &before) != 0) return -1;
    ssize_t sent = send_file(target, file, offset, count);
    // A call that sends a part before it finds the connection closed succeeds, but may have raised
    // the signal.
    unblock(&pipe, &before, sent < 0 ? errno == EPIPE : sent < (ssize_t)count);
    return sent;
}

ssize_t http_server_write(int file, const void *bytes, size_t count) {
    if (atomic_load_explicit(&pipe_is_handled, memory_order_relaxed)) {
        return write(file, bytes, count);
    }
    sigset_t pipe, before;
    if (block(&pipe, &before) != 0) return -1;
    ssize_t written = write(file, bytes, count);
    unblock(&pipe, &before, written < (ssize_t)count);
    return written;
}

int http_server_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int http_server_netlink_open(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int http_server_unacknowledged(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}

ssize_t http_server_netlink_receive(int socket, void *room, size_t count) {
    struct sockaddr_nl sender;
    socklen_t length = sizeof sender;
    memset(&sender, 0, sizeof sender);
    ssize_t received = recvfrom(socket, room, count, 0, (struct sockaddr *)&sender, &length);
    return received > 0 && sender.nl_pid != 0 ? 0 : received;
}

// Descriptors plus 1; 0 for none.
static volatile int signal_targets[65];
static struct sigaction signal_previous[65];

static void signal_came(int number) {
    int error = errno;
    uint64_t one = 1;
    ssize_t written = write(signal_targets[number] - 1, &one, sizeof one);
    (void)written;
    errno = error;
}

int http_server_catch_signal(int number) {
    if (number < 1 || number > 64) {
        errno = EINVAL;
        return -1;
    }
    int target = signal_targets[number] - 1;
    if (target < 0) {
        target = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (target < 0) return -1;
        signal_targets[number] = target + 1;
    }
    // Discard signals that arrived after the last release.
    uint64_t count;
    ssize_t got = read(target, &count, sizeof count);
    (void)got;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = signal_came;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &signal_previous[number]) == 0 ? target : -1;
}

void http_server_release_signal(int number) {
    sigaction(number, &signal_previous[number], 0);
}
#endif

#if defined(__APPLE__)
#include <TargetConditionals.h>
#include <errno.h>
#include <sys/socket.h>
#if TARGET_OS_OSX
#include <launch.h>
#endif

int http_server_unacknowledged(int socket) {
    int count = 0;
    socklen_t size = sizeof count;
    return getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : -1;
}

int http_server_launchd_sockets(const char *name, int **descriptors, size_t *count) {
#if TARGET_OS_OSX
    return launch_activate_socket(name, descriptors, count);
#else
    return ENOSYS;
#endif
}
#endif
