// Calls of the operating system that Swift's import of libc leaves out or cannot express.
#ifndef C_HTTP_SERVER_SHIMS_H
#define C_HTTP_SERVER_SHIMS_H

#include "http_server_files.h"
#include "http_server_sockets.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/// The fields of the kernel's `struct open_how`, which older headers lack.
struct http_server_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

/// Opens `path` below `directory` and nowhere else: the kernel refuses any step, symbolic link or
/// `..` that would leave it, and magic links (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS).
/// Fails with ENOSYS if the kernel has no openat2.
static inline int http_server_open_beneath(int directory, const char *path, int flags, int mode) {
#if defined(SYS_openat2)
    struct http_server_open_how how = {
        .flags = (uint64_t)(unsigned)flags, .mode = (uint64_t)(unsigned)mode, .resolve = 0x08 | 0x02};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/// Opens an existing `path` below `directory`, like http_server_open_beneath. Any symbolic link on the
/// way is ELOOP (RESOLVE_NO_SYMLINKS). Unless `crosses` is set, another mount is EXDEV
/// (RESOLVE_NO_XDEV).
static inline int http_server_open_without_links(int directory, const char *path, int flags, int crosses) {
#if defined(SYS_openat2)
    struct http_server_open_how how = {
        .flags = (uint64_t)(unsigned)flags, .mode = 0,
        .resolve = (crosses ? 0 : 0x01) | 0x08 | 0x04 | 0x02};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/// Like http_server_open_beneath, but fails with EAGAIN instead of waiting for the disk
/// (RESOLVE_CACHED). Needs Linux 5.12; EINVAL before.
static inline int http_server_open_cached(int directory, const char *path, int flags) {
#if defined(SYS_openat2)
    struct http_server_open_how how = {
        .flags = (uint64_t)(unsigned)flags, .mode = 0, .resolve = 0x20 | 0x08 | 0x02};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/// Renames a file unless the new name is taken, which is EEXIST (RENAME_NOREPLACE). Fails with
/// ENOSYS or EINVAL if the kernel or the file system does not support it.
static inline int http_server_rename_new(const char *from, const char *to) {
#if defined(SYS_renameat2)
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1u);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/// recv and send without a cancellation point. In a process with threads, each call through libc is
/// one, which costs a fifth of the time of a short call.
static inline ssize_t http_server_receive(int socket, void *room, size_t count) {
#if defined(SYS_recvfrom)
    return syscall(SYS_recvfrom, socket, room, count, 0, NULL, NULL);
#else
    return recv(socket, room, count, 0);
#endif
}

static inline ssize_t http_server_send(int socket, const void *bytes, size_t count, int flags) {
#if defined(SYS_sendto)
    return syscall(SYS_sendto, socket, bytes, count, flags, NULL, 0);
#else
    return send(socket, bytes, count, flags);
#endif
}

/// Accepts a connection that is non-blocking and not inherited by child processes.
int http_server_accept(int listener, struct sockaddr * address, socklen_t * length);

/// Gives SIGPIPE a handler that does nothing, until the process ends. Programs that are started would
/// inherit an ignored signal, but not a handler.
int http_server_ignore_broken_pipes(void);

/// sendfile without SIGPIPE. The call has no MSG_NOSIGNAL, and a library must not ignore a signal for
/// the whole process unasked: the signal is blocked during the call, and discarded if the call has
/// raised it, unless `http_server_ignore_broken_pipes` was called before.
ssize_t http_server_sendfile(int target, int file, off_t offset, size_t count);

/// SOCK_DGRAM, which Swift does not import as a number.
static inline int http_server_datagram_type(void) { return SOCK_DGRAM; }

/// write without SIGPIPE, in the same way as http_server_sendfile.
ssize_t http_server_write(int file, const void *bytes, size_t count);

/// A socket on which the kernel reports changes of network interfaces and addresses.
int http_server_netlink_open(void);

/// Reads from that socket without waiting; 0 for a message that did not come from the kernel.
ssize_t http_server_netlink_receive(int socket, void * room, size_t count);

/// Has a signal add 1 to an eventfd from now on, and returns the eventfd. It is created once for each
/// signal and never closed, because a handler on another thread may be about to write to it. Programs
/// that are started inherit an ignored signal, but not a handler. Fails with EINVAL for numbers that
/// cannot be caught. Release a caught signal before catching it again.
int http_server_catch_signal(int number);

/// Restores the previous disposition of a caught signal.
void http_server_release_signal(int number);

/// EPOLLEXCLUSIVE, so that one new connection does not wake every loop.
static inline uint32_t http_server_epoll_exclusive(void) { return 1u << 28; }
#endif

/// Bytes in a socket's send buffer that the peer has not acknowledged; negative if the system does
/// not report them.
int http_server_unacknowledged(int socket);

#if defined(__APPLE__)
#include <stddef.h>

/// launch_activate_socket of macOS with an array that may be missing; ENOSYS elsewhere.
int http_server_launchd_sockets(const char *name, int **descriptors, size_t *count);
#endif

#endif
