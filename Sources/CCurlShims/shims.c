#define _GNU_SOURCE
#include "CCurlShims.h"

#ifdef __linux__
#include <openssl/ssl.h>
#endif
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

CURLcode http_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode http_curl_set_size(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

CURLcode http_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode http_curl_set_url(CURL *easy, CURLU **kept, const char *text) {
    if (!*kept) *kept = curl_url();
    const int is_read =
        *kept && curl_url_set(*kept, CURLUPART_URL, text, CURLU_PATH_AS_IS) == CURLUE_OK;
    // libcurl parses a URL that cannot be parsed here, and reports what is wrong with it.
    curl_easy_setopt(easy, CURLOPT_CURLU, is_read ? *kept : NULL);
    return curl_easy_setopt(easy, CURLOPT_URL, text);
}

CURLcode http_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(easy, option, list);
}

CURLcode http_curl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

CURLcode http_curl_set_pointer(CURL *easy, CURLoption option, void *pointer) {
    return curl_easy_setopt(easy, option, pointer);
}

CURLcode http_curl_set_share(CURL *easy, CURLSH *share) {
    return curl_easy_setopt(easy, CURLOPT_SHARE, share);
}

CURLcode http_curl_set_callbacks(CURL *easy, void *context, http_curl_data_callback write,
                                 http_curl_data_callback header, http_curl_data_callback read,
                                 http_curl_seek_callback seek) {
    curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
    curl_easy_setopt(easy, CURLOPT_READDATA, context);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, seek);
    return curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
}

static curl_socket_t make_socket(struct curl_sockaddr *address) {
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    int descriptor = socket(address->family, address->socktype, address->protocol);
    if (descriptor >= 0) {
        int on = 1;
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    }
    return descriptor;
#endif
}

static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address) {
    const http_curl_sockets *sockets = context;
    const curl_socket_t made = make_socket(address);
    (void)purpose;
    if (made != CURL_SOCKET_BAD) sockets->opened(sockets->context, made);
    return made;
}

static int close_socket(void *context, curl_socket_t made) {
    const http_curl_sockets *sockets = context;
    sockets->closes(sockets->context, made);
    return close(made);
}

CURLcode http_curl_set_socket_callbacks(CURL *easy, http_curl_sockets *sockets) {
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets);
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
}

CURLcode http_curl_set_start(CURL *easy, void *context, http_curl_prereq_callback start) {
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, start);
}

// The messages differ a little from version to version; "recveived" is one of them.
static int read_message(CURL *easy, curl_infotype type, char *text, size_t count, void *context) {
    http_curl_stream *stream = context;
    char line[128];
    unsigned number = 0;
    // A transfer that resolves the name (DoH) inherits the callback.
    if (easy != stream->easy) return 0;
    if (stream->trace && (type == CURLINFO_TEXT || type == CURLINFO_HEADER_IN ||
                          type == CURLINFO_HEADER_OUT)) {
        const int kind = type == CURLINFO_TEXT ? 0 : type == CURLINFO_HEADER_IN ? 1 : 2;
        stream->trace(stream->context, kind, text, count);
    }
    if (type != CURLINFO_TEXT || count == 0) return 0;
    if (count >= sizeof line) count = sizeof line - 1;
    memcpy(line, text, count);
    line[count] = 0;
    if (strncmp(line, "REFUSED_STREAM", 14) == 0) {
        stream->is_unprocessed = 1;
    } else if (sscanf(line, "Using Stream ID: %u", &number) == 1 ||
               sscanf(line, "[HTTP/2] [%u] OPENED", &number) == 1) {
        stream->stream = number;
    } else if (stream->stream != 0) {
        const char *goaway = strstr(line, "ived GOAWAY, error=");
        if (goaway && sscanf(goaway, "ived GOAWAY, error=%*u, last_stream=%u", &number) == 1 &&
            number < stream->stream) {
            stream->is_unprocessed = 1;
        }
    }
    return 0;
}

void http_curl_watch_stream(CURL *easy, http_curl_stream *stream) {
    stream->stream = 0;
    stream->is_unprocessed = 0;
    curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, read_message);
    curl_easy_setopt(easy, CURLOPT_DEBUGDATA, stream);
    curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

#ifdef __linux__

enum { longest_chain = 32 };

static int verify(X509_STORE_CTX *store, void *argument) {
    const http_curl_trust *trust = argument;
    const int is_trusted = X509_verify_cert(store) == 1;
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_untrusted(store);
    unsigned char *der[longest_chain];
    size_t lengths[longest_chain];
    size_t count = 0;
    for (int index = 0; index < sk_X509_num(chain) && count < longest_chain; index++) {
        der[count] = NULL;
        const int length = i2d_X509(sk_X509_value(chain, index), &der[count]);
        if (length > 0) lengths[count++] = (size_t)length;
    }
    const int goes_on = trust->decide(trust->context, (const unsigned char *const *)der, lengths,
                                      count, is_trusted);
    for (size_t index = 0; index < count; index++) OPENSSL_free(der[index]);
    if (!goes_on && is_trusted) X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    if (goes_on) X509_STORE_CTX_set_error(store, X509_V_OK);
    return goes_on;
}

static CURLcode prepare_context(CURL *easy, void *context, void *argument) {
    http_curl_trust *trust = argument;
    struct timespec now;
    // A transfer that resolves the name (DoH) inherits the callback. Its server is not the origin.
    if (easy != trust->easy) return CURLE_OK;
    clock_gettime(CLOCK_MONOTONIC, &now);
    trust->begun = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (!trust->decide) return CURLE_OK;
    SSL_CTX_set_cert_verify_callback(context, verify, trust);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    // The callback's argument is valid only while the connection is made.
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    return CURLE_OK;
}

CURLcode http_curl_set_trust(CURL *easy, http_curl_trust *trust) {
    trust->easy = easy;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare_context);
    return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, trust);
}

int http_curl_tls(CURL *easy, const char **version, const char **cipher) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return 0;
    if (!session || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return 0;
    *version = SSL_get_version(session->internals);
    *cipher = SSL_get_cipher_name(session->internals);
    return 1;
}

#else

CURLcode http_curl_set_trust(CURL *easy, http_curl_trust *trust) {
    (void)easy;
    (void)trust;
    return CURLE_NOT_BUILT_IN;
}

int http_curl_tls(CURL *easy, const char **version, const char **cipher) {
    (void)easy;
    (void)version;
    (void)cipher;
    return 0;
}

#endif

CURLcode http_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

CURLcode http_curl_get_size(CURL *easy, CURLINFO info, int64_t *value) {
    curl_off_t number = 0;
    CURLcode code = curl_easy_getinfo(easy, info, &number);
    *value = number;
    return code;
}

CURLcode http_curl_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}

int http_curl_get_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    const CURLcode code = curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
    return code == CURLE_OK && socket != CURL_SOCKET_BAD ? (int)socket : -1;
}

CURLcode http_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

CURLMcode http_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

void http_curl_multi_set_callbacks(CURLM *multi, void *context, http_curl_socket_changed socket,
                                   http_curl_timer_changed timer) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
}

CURL *http_curl_multi_next_done(CURLM *multi, CURLcode *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *code = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
