// Typed forms of libcurl's functions with variable arguments, and the types of its callbacks.
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
/// Sets a URL in parsed form, because libcurl would otherwise parse and reassemble it for each
/// transfer. `*kept` belongs to the caller: it is created if it is NULL, must live as long as the
/// handle is used, and is freed by `curl_url_cleanup`.
CURLcode http_curl_set_url(CURL *easy, CURLU **kept, const char *text);
CURLcode http_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *list);
CURLcode http_curl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count);
CURLcode http_curl_set_pointer(CURL *easy, CURLoption option, void *pointer);
CURLcode http_curl_set_share(CURL *easy, CURLSH *share);

/// Sets the callbacks, and the context that all of them get.
CURLcode http_curl_set_callbacks(CURL *easy, void *context, http_curl_data_callback write,
                                 http_curl_data_callback header, http_curl_data_callback read,
                                 http_curl_seek_callback seek);

/// Gets a socket that was opened, or that is about to be closed.
typedef void (*http_curl_socket_note)(void *context, curl_socket_t socket);

/// The receiver of opened and closed sockets. It must stay at its address while there are
/// connections.
typedef struct {
    void *context;
    http_curl_socket_note opened;
    http_curl_socket_note closes;
} http_curl_sockets;

/// Makes libcurl open sockets that child processes do not inherit and that, if the system has an
/// option for it, raise no SIGPIPE. `sockets` is notified of all of them.
CURLcode http_curl_set_socket_callbacks(CURL *easy, http_curl_sockets *sockets);

/// Sets a callback that decides, once a connection is made, whether the request is sent. It is
/// called each time that libcurl sends the request.
CURLcode http_curl_set_start(CURL *easy, void *context, http_curl_prereq_callback start);

/// Receives a trace of a transfer. The kind is 0 for libcurl's messages, 1 for received lines and 2
/// for sent lines.
typedef void (*http_curl_trace_callback)(void *context, int kind, const char *text, size_t count);

/// The state of a request over HTTP/2, and the receiver of all messages.
typedef struct {
    /// Null for none.
    http_curl_trace_callback trace;
    void *context;
    /// The number of the stream; 0 while it is not known.
    unsigned stream;
    /// Whether the server has reported that it did not process the request and never will.
    int is_unprocessed;
    /// The handle; messages of other handles are ignored.
    CURL *easy;
} http_curl_stream;

/// From now on, notes in `stream` whether the server refuses the request (REFUSED_STREAM) or
/// reports that it came too late for the connection (GOAWAY). libcurl shows both only in its
/// messages; if they are missing, nothing is noted.
void http_curl_watch_stream(CURL *easy, http_curl_stream *stream);

/// Decides whether a server's certificates are accepted: not 0 to continue. `chain` holds `count`
/// certificates in DER, the server's own first, and `lengths` their lengths in bytes. `is_trusted`
/// is the result of the usual check.
typedef int (*http_curl_trust_callback)(void *context, const unsigned char *const *chain,
                                        const size_t *lengths, size_t count, int is_trusted);

/// The state of a handle's TLS. The caller keeps it as long as the handle.
typedef struct {
    /// Null for the usual check only.
    http_curl_trust_callback decide;
    void *context;
    /// When TLS was begun on a new connection, in nanoseconds of the monotonic clock; 0 before.
    int64_t begun;
    /// The handle; set by `http_curl_set_trust`.
    CURL *easy;
} http_curl_trust;

/// Makes libcurl note the beginning of TLS in `trust`, and call `trust->decide` for certificates
/// unless it is null. Returns an error if libcurl was not built with OpenSSL.
CURLcode http_curl_set_trust(CURL *easy, http_curl_trust *trust);

/// Gets the TLS version and the cipher of the connection in use; false if there is none.
int http_curl_tls(CURL *easy, const char **version, const char **cipher);

CURLcode http_curl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode http_curl_get_size(CURL *easy, CURLINFO info, int64_t *value);
CURLcode http_curl_get_string(CURL *easy, CURLINFO info, const char **value);
/// The socket of a connection that was made without a request (CURLOPT_CONNECT_ONLY); negative for
/// none.
int http_curl_get_socket(CURL *easy);
CURLcode http_curl_get_pointer(CURL *easy, CURLINFO info, void **value);

CURLMcode http_curl_multi_set_long(CURLM *multi, CURLMoption option, long value);

typedef int (*http_curl_socket_changed)(CURL *easy, curl_socket_t socket, int what, void *context,
                                        void *socket_context);
typedef int (*http_curl_timer_changed)(CURLM *multi, long milliseconds, void *context);

/// Sets the callbacks that receive the sockets that libcurl waits for, and the time of its next
/// timeout.
void http_curl_multi_set_callbacks(CURLM *multi, void *context, http_curl_socket_changed socket,
                                   http_curl_timer_changed timer);

/// The next transfer that has ended, or null. Its result is written to `code`.
CURL *http_curl_multi_next_done(CURLM *multi, CURLcode *code);

#endif
