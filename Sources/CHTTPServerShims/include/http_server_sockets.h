#ifndef C_HTTP_SERVER_SOCKETS_H
#define C_HTTP_SERVER_SOCKETS_H

#include <stdint.h>

// Sockets that another library owns, such as those of libcurl.

/// Whether one of the sockets has unread bytes. If one of them has ended, the result may be either.
int http_server_any_readable(const int *sockets, int count);

/// Whether a connection has ended, and has no unread bytes.
int http_server_has_ended(int socket);

/// Closes a connection immediately, and keeps its descriptor valid: reading from it finds only the
/// end.
void http_server_give_up_socket(int target);

#ifdef __linux__

// epoll, eventfd and ppoll, whose headers would bring their types into this module.

/// A descriptor, and the events that it is watched for or that have happened: 1 to read, 2 to
/// write.
typedef struct {
    int descriptor;
    int events;
} http_server_poll_event;

/// Creates a list of descriptors in the kernel; negative on failure.
int http_server_poller_create(void);

/// Creates a descriptor that ends the wait of `poller` when it is passed to
/// `http_server_poller_wake`; negative on failure.
int http_server_poller_create_waker(int poller);
void http_server_poller_wake(int waker);

/// Watches `target` for `events` instead of `before`; 0 means not at all.
void http_server_poller_change(int poller, int target, int events, int before);

/// Waits for events. Returns how many there are; -1 if a signal has ended the wait.
int http_server_poller_wait(int poller, http_server_poll_event *events, int capacity,
                            int milliseconds);

/// Waits for events of some descriptors only, and replaces their `events` with those that have
/// happened. Clears `waker`. Unless it `blocks`, the thread polls, and yields the processor in
/// between. Returns not 0 if the waker was used.
int http_server_poll_some(http_server_poll_event *events, int count, int waker,
                          int64_t nanoseconds, int blocks);

/// Whether this is the program's main thread.
int http_server_is_main_thread(void);

#endif

#endif
