#define _GNU_SOURCE
#include "http_server_sockets.h"

#ifdef __linux__
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#endif
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int http_server_any_readable(const int *sockets, int count) {
    enum { few = 2, most = 64 };
    struct pollfd polled[most];
    if (count <= few) {
        // Cheaper than poll, and called before each request.
        for (int index = 0; index < count; index++) {
            int waiting = 0;
            if (ioctl(sockets[index], FIONREAD, &waiting) == 0 && waiting > 0) return 1;
        }
        return 0;
    }
    for (int start = 0; start < count; start += most) {
        const int number = count - start < most ? count - start : most;
        for (int index = 0; index < number; index++) {
            polled[index].fd = sockets[start + index];
            polled[index].events = POLLIN;
        }
        if (poll(polled, (nfds_t)number, 0) > 0) return 1;
    }
    return 0;
}

int http_server_has_ended(int socket) {
    struct pollfd polled = {.fd = socket, .events = POLLIN};
    int waiting = 0;
    // In this order: bytes that arrive after `poll` prevent that its event is taken for an end.
    return poll(&polled, 1, 0) > 0 && ioctl(socket, FIONREAD, &waiting) == 0 && waiting == 0;
}

void http_server_give_up_socket(int target) {
    int ends[2];
#ifdef SOCK_CLOEXEC
    const int is_made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
#else
    const int is_made = socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
#endif
    if (is_made) {
        // A socket whose peer is closed has nothing to read except the end.
        close(ends[1]);
#ifdef __linux__
        const int is_replaced = dup3(ends[0], target, O_CLOEXEC) == target;
#else
        const int on = 1;
        const int is_replaced = dup2(ends[0], target) == target;
        if (is_replaced) {
            fcntl(target, F_SETFD, FD_CLOEXEC);
            setsockopt(target, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
        }
#endif
        close(ends[0]);
        if (is_replaced) return;
    }
    // No descriptor is free: read all received bytes, so that only the end is left.
    enum { most_reads = 256 };
    char room[4096];
    shutdown(target, SHUT_RDWR);
    for (int count = 0; count < most_reads; count++) {
        if (recv(target, room, sizeof room, MSG_DONTWAIT) <= 0) return;
    }
}

#ifdef __linux__

enum { most_events = 128, most_polled = 16 };

int http_server_poller_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int http_server_poller_create_waker(int poller) {
    const int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = -1};
    if (waker >= 0 && epoll_ctl(poller, EPOLL_CTL_ADD, waker, &event) == 0) return waker;
    if (waker >= 0) close(waker);
    return -1;
}

void http_server_poller_wake(int waker) {
    const uint64_t one = 1;
    if (write(waker, &one, sizeof one) < 0) return;
}

void http_server_poller_change(int poller, int target, int events, int before) {
    struct epoll_event event = {
        .events = (events & 1 ? EPOLLIN : 0u) | (events & 2 ? EPOLLOUT : 0u), .data.fd = target};
    epoll_ctl(poller, !events ? EPOLL_CTL_DEL : before ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, target,
              &event);
}

// The flags as events: 1 to read, 2 to write. Errors set both: reading or writing reports them.
static int happened(uint32_t flags, uint32_t read, uint32_t write) {
    return (flags & ~write ? 1 : 0) | (flags & ~read ? 2 : 0);
}

int http_server_poller_wait(int poller, http_server_poll_event *events, int capacity,
                            int milliseconds) {
    struct epoll_event ready[most_events];
    const int limit = capacity < most_events ? capacity : most_events;
    const int count = epoll_wait(poller, ready, limit, milliseconds);
    int kept = 0;
    for (int index = 0; index < count; index++) {
        if (ready[index].data.fd < 0) continue;
        events[kept].descriptor = ready[index].data.fd;
        events[kept++].events = happened(ready[index].events, EPOLLIN, EPOLLOUT);
    }
    return count < 0 ? count : kept;
}

static int64_t monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int http_server_poll_some(http_server_poll_event *events, int count, int waker,
                          int64_t nanoseconds, int blocks) {
    struct pollfd polled[most_polled + 1] = {{.fd = waker, .events = POLLIN}};
    const int limit = count < most_polled ? count : most_polled;
    for (int index = 0; index < limit; index++) {
        polled[index + 1].fd = events[index].descriptor;
        polled[index + 1].events = (short)((events[index].events & 1 ? POLLIN : 0)
                                           | (events[index].events & 2 ? POLLOUT : 0));
    }
    const int64_t longest = blocks ? nanoseconds : 0;
    const struct timespec time = {.tv_sec = longest / 1000000000,
                                  .tv_nsec = longest % 1000000000};
    int found = ppoll(polled, (nfds_t)limit + 1, &time, NULL);
    if (!blocks) {
        const int64_t end = monotonic() + nanoseconds;
        while (found == 0 && monotonic() < end) {
            // The peer may be waiting for this processor.
            sched_yield();
            found = ppoll(polled, (nfds_t)limit + 1, &time, NULL);
        }
    }
    for (int index = 0; index < count; index++) {
        const int flags = found > 0 && index < limit ? polled[index + 1].revents : 0;
        events[index].events = flags ? happened((uint32_t)flags, POLLIN, POLLOUT) : 0;
    }
    if (found <= 0 || !polled[0].revents) return 0;
    uint64_t counter;
    return read(waker, &counter, sizeof counter) > 0;
}

int http_server_is_main_thread(void) {
    static _Thread_local signed char known;
    if (!known) known = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return known > 0;
}

#endif
