// libcurl's calls with variable arguments, typed. What takes a callback has its type here.
#ifndef C_CURL_SHIMS_H
#define C_CURL_SHIMS_H

#include "CBrotliShims.h"
#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

typedef size_t (*http_curl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*http_curl_seek_callback)(void *context, curl_off_t offset, int origin);
typedef int (*http_curl_prereq_callback)(void *context, char *remote_ip, char *local_ip,
                                         int remote_port, int local_port);

CURLcode http_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode http_curl_set_size(CURL *easy, CURLoption option, int64_t value);
CURLcode http_curl_set_string(CURL *easy, CURLoption option, const char *value);
/// Sets a URL, taken apart once: libcurl would do that, and put it together again, for each transfer.
/// `kept` is the caller's; it is made when it is NULL, has to outlive what is done with the handle, and
/// is freed by `curl_url_cleanup`.
CURLcode http_curl_set_url(CURL *easy, CURLU **kept, const char *text);
CURLcode http_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *list);
CURLcode http_curl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);
CURLcode http_curl_set_pointer(CURL *easy, CURLoption option, void *pointer);
CURLcode http_curl_set_share(CURL *easy, CURLSH *share);

/// Sets the callbacks and what they are given: the same pointer for all of them.
CURLcode http_curl_set_callbacks(CURL *easy, void *context, http_curl_data_callback write,
                                 http_curl_data_callback header, http_curl_data_callback read,
                                 http_curl_seek_callback seek);

/// Is told of a socket that was made, or that is about to be closed.
typedef void (*http_curl_socket_note)(void *context, curl_socket_t socket);

/// Whom sockets are told to. It stays where it is as long as there are connections.
typedef struct {
    void *context;
    http_curl_socket_note opened;
    http_curl_socket_note closes;
} http_curl_sockets;

/// Has sockets made that child processes do not inherit, and no SIGPIPE raised where a socket
/// can be told so. `sockets` is told of all of them.
CURLcode http_curl_set_socket_callbacks(CURL *easy, http_curl_sockets *sockets);

/// Has a callback decide, when a connection is there, whether the request goes out: again for each
/// time that libcurl sends it.
CURLcode http_curl_set_start(CURL *easy, void *context, http_curl_prereq_callback start);

/// Receives what libcurl does: 0 its own message, 1 lines that came, 2 lines that go out.
typedef void (*http_curl_trace_callback)(void *context, int kind, const char *text, size_t count);

/// What a server has said of a request over HTTP/2, and the receiver of all messages.
typedef struct {
    /// Null for none.
    http_curl_trace_callback trace;
    void *context;
    /// The number of the stream; 0 while it is not known.
    unsigned stream;
    /// Whether it has done nothing about the request and never will.
    int is_unprocessed;
    /// The handle; messages of other handles are ignored.
    CURL *easy;
} http_curl_stream;

/// Has noted in `stream`, from now on, whether the server refuses the request (REFUSED_STREAM) or
/// says that it was too late for the connection (GOAWAY). libcurl tells of both in its messages
/// alone; what it does not tell is not noted.
void http_curl_watch_stream(CURL *easy, http_curl_stream *stream);

/// Decides about a server's certificates. `chain` holds `count` certificates in DER, the server's own
/// first, and `lengths` how long each is; `is_trusted` is what the usual check says. Not 0 to go on.
typedef int (*http_curl_trust_callback)(void *context, const unsigned char *const *chain,
                                        const size_t *lengths, size_t count, int is_trusted);

/// What a handle does about TLS, kept by the caller as long as the handle.
typedef struct {
    /// Null for the usual check alone.
    http_curl_trust_callback decide;
    void *context;
    /// When TLS was begun on a new connection, in nanoseconds of the monotonic clock; 0 before.
    int64_t begun;
    /// The handle; set by `http_curl_set_trust`.
    CURL *easy;
} http_curl_trust;

/// Has the beginning of TLS noted, and certificates decided about by a callback if there is one.
/// An error where libcurl has not been built with OpenSSL.
CURLcode http_curl_set_trust(CURL *easy, http_curl_trust *trust);

/// The version of TLS and the cipher of the connection in use; false where there is none.
int http_curl_tls(CURL *easy, const char **version, const char **cipher);

CURLcode http_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode http_curl_get_size(CURL *easy, CURLINFO info, int64_t *value);
CURLcode http_curl_get_string(CURL *easy, CURLINFO info, const char **value);
/// The socket of a connection that was made alone; negative where there is none.
int http_curl_get_socket(CURL *easy);
CURLcode http_curl_get_pointer(CURL *easy, CURLINFO info, void **value);

CURLMcode http_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

typedef int (*http_curl_socket_changed)(CURL *easy, curl_socket_t socket, int what, void *context,
                                        void *socket_context);
typedef int (*http_curl_timer_changed)(CURLM *multi, long milliseconds, void *context);

/// Sets what is told which sockets are waited for, and when time is due.
void http_curl_multi_set_callbacks(CURLM *multi, void *context, http_curl_socket_changed socket,
                                   http_curl_timer_changed timer);

/// Whether bytes have come over one of the sockets that nobody has read. Where one has ended, the
/// answer may be either.
int http_any_readable(const int *sockets, int count);

/// Whether a connection has ended, and nothing is left to read.
int http_has_ended(int socket);

/// Ends a connection at once, and leaves its descriptor with nothing but an end to read.
void http_give_up_socket(int target);

#ifdef __linux__

// epoll, eventfd and ppoll, whose headers would bring their types into this module.

/// A descriptor and what it is watched for, or what has happened to it: 1 to read, 2 to write.
typedef struct {
    int descriptor;
    int events;
} http_poll_event;

/// A list of descriptors in the kernel; negative if there can be none.
int http_poller_create(void);

/// A descriptor that ends the wait of `poller` when `http_poller_wake` is called with it.
int http_poller_create_waker(int poller);
void http_poller_wake(int waker);

/// Watches `target` for `events` in place of `before`; 0 for not at all.
void http_poller_change(int poller, int target, int events, int before);

/// Waits. How many events there are; -1 when a signal has ended the wait.
int http_poller_wait(int poller, http_poll_event *events, int capacity, int milliseconds);

/// Waits for the events of some descriptors alone, and puts in their place what has happened. What
/// has happened to `waker` is taken away. Unless it `blocks`, the thread asks again and again, and
/// leaves the processor to others in between. Not 0 if the waker was used.
int http_poll_some(http_poll_event *events, int count, int waker, int64_t nanoseconds,
                   int blocks);

/// Whether this is the thread that the program was started with.
int http_is_main_thread(void);

#endif

/// The finished transfer that a message speaks of, or null; its result goes to `code`.
CURL *http_curl_multi_next_done(CURLM *multi, CURLcode *code);

#endif
