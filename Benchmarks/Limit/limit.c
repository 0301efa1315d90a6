// The C limit server: the least work that still answers HTTP/1.1 on a socket.
//
// Every figure of the server comparison is a ratio to this program measured in the same run. It
// finds the blank line that ends a head, looks at the few bytes that tell its routes apart, and
// writes a constant answer. It checks nothing else, so it is a limit and not a server to use.
//
//   limit [--port N] [--threads N] [--close] [--tls CERTIFICATE KEY]
//
// With `--tls` (one thread, short answers only) OpenSSL stands between: it reads what one read gave and
// its records go out in one call, so what is left is its own work and the system's.
//
// The port is printed on standard output (0, the default, takes a free one). Each thread has its
// own listener (SO_REUSEPORT) and its own level-triggered epoll. `--close` makes it look for
// `Connection: close` in every head, which costs it something, so it is off otherwise.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    read_size = 64 * 1024,     // also the longest head that is understood
    answers_per_write = 64,    // pipelined requests answered by one writev
    events_per_wait = 256,
    route_count = 6,
};

typedef enum {
    route_hello, route_1k, route_100k, route_upload, route_note, route_order
} route_t;

typedef struct {
    char *bytes;
    size_t length;
} answer_t;

// What a connection has to remember while it is not being served; all zero for an idle one.
typedef struct {
    char *tail;            // the start of a head that has not ended yet
    uint32_t tail_length;
    uint64_t discard;      // content octets still to come
    route_t route;         // the answer after the content
    struct iovec *unsent;  // answers the socket had no room for; the first may be half sent
    uint32_t unsent_count;
    bool closing;          // close when everything is sent
    SSL *ssl;
} connection_t;

// The answers that one write will carry.
typedef struct {
    struct iovec vectors[answers_per_write];
    int count;
} batch_t;

typedef struct {
    int listener;
    int poller;
    char *input;
} loop_t;

static answer_t answers[2][route_count];  // [0] persistent, [1] with Connection: close
static connection_t *connections;         // indexed by descriptor
static size_t connection_count;
static bool looks_for_close;
static SSL_CTX *context;
static BIO *records;                      // all connections use it, one after the other
static struct { const char *input; size_t input_count; char output[1 << 18]; size_t count; } room;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static answer_t make_answer(size_t content_length, const char *content, bool closes) {
    char head[512];
    int head_length = snprintf(
        head, sizeof head,
        "HTTP/1.1 200 OK\r\n"
        "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
        "Server: limit\r\n"
        "%s"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "Content-Length: %zu\r\n\r\n",
        closes ? "Connection: close\r\n" : "", content_length);
    size_t length = (size_t)head_length + content_length;
    answer_t answer = { malloc(length), length };
    if (!answer.bytes) fail("malloc");
    memcpy(answer.bytes, head, (size_t)head_length);
    if (content) memcpy(answer.bytes + head_length, content, content_length);
    else memset(answer.bytes + head_length, 'x', content_length);
    return answer;
}

static void make_answers(void) {
    for (int closes = 0; closes < 2; closes++) {
        answers[closes][route_hello] = make_answer(13, "Hello, world!", closes);
        answers[closes][route_1k] = make_answer(1024, NULL, closes);
        answers[closes][route_100k] = make_answer(100 * 1024, NULL, closes);
        answers[closes][route_upload] = make_answer(0, "", closes);
        // What the servers answer to the content of `server.py`.
        answers[closes][route_note] = make_answer(21, "{\"id\":7,\"count\":1006}", closes);
        answers[closes][route_order] = make_answer(18, "{\"id\":7,\"count\":6}", closes);
    }
}

static route_t route_of(const char *head) {
    if (memcmp(head, "POST /note ", 11) == 0) return route_note;
    if (memcmp(head, "POST /order ", 12) == 0) return route_order;
    if (head[0] == 'P') return route_upload;
    if (memcmp(head, "GET /1k ", 8) == 0) return route_1k;
    if (memcmp(head, "GET /100k ", 10) == 0) return route_100k;
    return route_hello;
}

static uint64_t content_length_of(const char *head, size_t length) {
    static const char name[] = "\r\ncontent-length:";
    for (const char *p = head, *end = head + length; p && p < end; p++) {
        p = memchr(p, '\r', (size_t)(end - p));
        if (!p || (size_t)(end - p) < sizeof name) return 0;
        if (strncasecmp(p, name, sizeof name - 1) == 0) {
            return strtoull(p + sizeof name - 1, NULL, 10);
        }
    }
    return 0;
}

static bool asks_to_close(const char *head, size_t length) {
    return looks_for_close && (memmem(head, length, "\r\nConnection: close", 19) != NULL
                               || memmem(head, length, " HTTP/1.0\r\n", 11) != NULL);
}

// The length of the head that starts at `bytes`, blank line included; 0 when it has not ended.
static size_t head_length(const char *bytes, size_t length) {
    const char *end = memmem(bytes, length, "\r\n\r\n", 4);
    return end ? (size_t)(end - bytes) + 4 : 0;
}

// MARK: TLS

static int room_read(BIO *bio, char *bytes, size_t size, size_t *count) {
    BIO_clear_retry_flags(bio);
    if (!room.input_count) {
        BIO_set_retry_read(bio);
        return 0;
    }
    *count = size < room.input_count ? size : room.input_count;
    memcpy(bytes, room.input, *count);
    room.input += *count;
    room.input_count -= *count;
    return 1;
}

static int room_write(BIO *bio, const char *bytes, size_t size, size_t *count) {
    (void)bio;
    if (size > sizeof room.output - room.count) return 0;
    memcpy(room.output + room.count, bytes, size);
    room.count += size;
    *count = size;
    return 1;
}

static long room_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static void start_tls(const char *certificate, const char *key) {
    context = SSL_CTX_new(TLS_server_method());
    if (!context || SSL_CTX_use_certificate_chain_file(context, certificate) != 1
        || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "limit: the certificate or its key cannot be used\n");
        exit(1);
    }
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "room");
    BIO_meth_set_read_ex(method, room_read);
    BIO_meth_set_write_ex(method, room_write);
    BIO_meth_set_ctrl(method, room_control);
    records = BIO_new(method);
    BIO_set_init(records, 1);
}

static bool flush(int fd) {
    if (!room.count) return true;
    ssize_t sent = send(fd, room.output, room.count, MSG_NOSIGNAL);
    bool done = sent == (ssize_t)room.count;
    room.count = 0;
    return done;
}

// Decrypts what was read; returns the length of the plaintext, -1 when the connection is over.
static ssize_t decrypt(int fd, const char *bytes, size_t length, char *plain) {
    connection_t *connection = &connections[fd];
    if (!connection->ssl) {
        connection->ssl = SSL_new(context);
        BIO_up_ref(records);
        SSL_set_bio(connection->ssl, records, records);
        SSL_set_accept_state(connection->ssl);
    }
    room.input = bytes;
    room.input_count = length;
    size_t total = 0, count;
    int result = 1;
    while (room.input_count && (result = SSL_read_ex(
               connection->ssl, plain + total, read_size - total, &count)) == 1) total += count;
    bool over = result != 1 && SSL_get_error(connection->ssl, result) != SSL_ERROR_WANT_READ;
    return flush(fd) && !(over && !total) ? (ssize_t)total : -1;
}

static ssize_t encrypt(int fd, struct iovec *vectors, int count) {
    size_t total = 0, written;
    for (int i = 0; i < count; i++) {
        SSL_write_ex(connections[fd].ssl, vectors[i].iov_base, vectors[i].iov_len, &written);
        total += vectors[i].iov_len;
    }
    if (connections[fd].closing) SSL_shutdown(connections[fd].ssl);
    if (flush(fd)) return (ssize_t)total;
    errno = EPIPE;
    return -1;
}

static void drop(int fd) {
    connection_t *connection = &connections[fd];
    SSL_free(connection->ssl);
    free(connection->tail);
    free(connection->unsent);
    memset(connection, 0, sizeof *connection);
    close(fd);  // also takes it out of the poller
}

static void watch(loop_t *loop, int fd, uint32_t events, int operation) {
    struct epoll_event event = { .events = events, .data.fd = fd };
    if (epoll_ctl(loop->poller, operation, fd, &event) < 0) fail("epoll_ctl");
}

// Skips what was sent; returns the number of vectors that remain, the first one shortened.
static int skip_sent(struct iovec *vectors, int count, size_t sent) {
    int first = 0;
    while (first < count && sent >= vectors[first].iov_len) sent -= vectors[first++].iov_len;
    if (first < count) {
        vectors[first].iov_base = (char *)vectors[first].iov_base + sent;
        vectors[first].iov_len -= sent;
    }
    memmove(vectors, vectors + first, (size_t)(count - first) * sizeof *vectors);
    return count - first;
}

// Returns false when the connection is gone.
static bool send_answers(loop_t *loop, int fd, struct iovec *vectors, int count) {
    ssize_t sent = context ? encrypt(fd, vectors, count)
                 : count == 1 ? send(fd, vectors[0].iov_base, vectors[0].iov_len, MSG_NOSIGNAL)
                              : writev(fd, vectors, count);
    if (sent < 0 && errno != EAGAIN) {
        drop(fd);
        return false;
    }
    int remaining = skip_sent(vectors, count, sent < 0 ? 0 : (size_t)sent);
    if (remaining == 0) return true;
    connection_t *connection = &connections[fd];
    if (!connection->unsent) connection->unsent = malloc(answers_per_write * sizeof *vectors);
    if (!connection->unsent) fail("malloc");
    memcpy(connection->unsent, vectors, (size_t)remaining * sizeof *vectors);
    connection->unsent_count = (uint32_t)remaining;
    watch(loop, fd, EPOLLOUT, EPOLL_CTL_MOD);
    return true;
}

static void keep_tail(int fd, const char *bytes, size_t length) {
    connection_t *connection = &connections[fd];
    char *tail = length && length < read_size ? malloc(length) : NULL;
    if (length && !tail) {
        drop(fd);
        return;
    }
    if (tail) memcpy(tail, bytes, length);
    free(connection->tail);
    connection->tail = tail;
    connection->tail_length = (uint32_t)length;
}

static void add(batch_t *batch, answer_t answer) {
    batch->vectors[batch->count].iov_base = answer.bytes;
    batch->vectors[batch->count++].iov_len = answer.length;
}

// Takes content; returns how many octets, and adds the answer after the last one.
static size_t take_content(connection_t *connection, size_t length, batch_t *batch) {
    size_t taken = length < connection->discard ? length : connection->discard;
    connection->discard -= taken;
    if (!connection->discard) add(batch, answers[connection->closing][connection->route]);
    return taken;
}

// Takes one head and adds its answer; returns 0 when the head has not ended.
static size_t take_head(
    connection_t *connection, const char *input, size_t length, batch_t *batch) {
    size_t head = head_length(input, length);
    if (!head) return 0;
    route_t route = route_of(input);
    connection->closing = asks_to_close(input, head);
    connection->route = route;
    if (route >= route_upload) connection->discard = content_length_of(input, head);
    if (!connection->discard) add(batch, answers[connection->closing][route]);
    return head;
}

// Takes what `input` holds until a writev's worth of answers is there; returns how much it took.
static size_t take(
    connection_t *connection, const char *input, size_t length, batch_t *batch) {
    size_t offset = 0;
    while (offset < length && batch->count < answers_per_write) {
        if (!connection->discard && connection->closing) return length;
        size_t taken = connection->discard
            ? take_content(connection, length - offset, batch)
            : take_head(connection, input + offset, length - offset, batch);
        if (!taken) break;
        offset += taken;
    }
    return offset;
}

// Answers every whole request of `input` for which the socket has room and keeps the rest.
static void answer(loop_t *loop, int fd, const char *input, size_t length) {
    connection_t *connection = &connections[fd];
    batch_t batch;
    size_t offset = 0;
    do {
        batch.count = 0;
        offset += take(connection, input + offset, length - offset, &batch);
        if (batch.count && !send_answers(loop, fd, batch.vectors, batch.count)) return;
    } while (batch.count == answers_per_write && !connection->unsent_count);
    if (connection->closing && !connection->unsent_count && !connection->discard) {
        drop(fd);
        return;
    }
    if (offset < length || connection->tail) keep_tail(fd, input + offset, length - offset);
}

static void readable(loop_t *loop, int fd) {
    connection_t *connection = &connections[fd];
    size_t kept = connection->tail_length;
    if (kept) memcpy(loop->input, connection->tail, kept);
    static char ciphertext[read_size];
    ssize_t received = context ? read(fd, ciphertext, read_size - kept)
                               : read(fd, loop->input + kept, read_size - kept);
    if (received < 0 && errno == EAGAIN) return;
    if (context && received > 0) {
        received = decrypt(fd, ciphertext, (size_t)received, loop->input + kept);
        if (received == 0) return;
    }
    if (received <= 0) {
        drop(fd);
        return;
    }
    answer(loop, fd, loop->input, kept + (size_t)received);
}

static void writable(loop_t *loop, int fd) {
    connection_t *connection = &connections[fd];
    struct iovec vectors[answers_per_write];
    int count = (int)connection->unsent_count;
    memcpy(vectors, connection->unsent, (size_t)count * sizeof *vectors);
    connection->unsent_count = 0;
    if (!send_answers(loop, fd, vectors, count) || connection->unsent_count) return;
    if (connection->closing) {
        drop(fd);
        return;
    }
    watch(loop, fd, EPOLLIN, EPOLL_CTL_MOD);
    if (!connection->tail_length) return;
    memcpy(loop->input, connection->tail, connection->tail_length);
    answer(loop, fd, loop->input, connection->tail_length);
}

static void accept_all(loop_t *loop) {
    for (;;) {
        int fd = accept4(loop->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        if ((size_t)fd >= connection_count) {
            close(fd);
            return;
        }
        watch(loop, fd, EPOLLIN, EPOLL_CTL_ADD);
    }
}

static void *run(void *argument) {
    loop_t *loop = argument;
    struct epoll_event events[events_per_wait];
    for (;;) {
        int count = epoll_wait(loop->poller, events, events_per_wait, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == loop->listener) accept_all(loop);
            else if (connections[fd].unsent_count) writable(loop, fd);
            else readable(loop, fd);
        }
    }
    return NULL;
}

static int make_listener(uint16_t port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // accepted sockets inherit it
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
    if (listen(fd, 4096) < 0) fail("listen");
    return fd;
}

static uint16_t port_of(int fd) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) fail("getsockname");
    return ntohs(address.sin_port);
}

static void start_loop(loop_t *loop, uint16_t port) {
    loop->listener = make_listener(port);
    loop->poller = epoll_create1(EPOLL_CLOEXEC);
    loop->input = malloc(read_size);
    if (loop->poller < 0 || !loop->input) fail("epoll_create1");
    watch(loop, loop->listener, EPOLLIN, EPOLL_CTL_ADD);
}

int main(int count, char **arguments) {
    int port = 0, threads = 1;
    for (int i = 1; i < count; i++) {
        bool has_value = i + 1 < count;
        if (strcmp(arguments[i], "--close") == 0) looks_for_close = true;
        else if (strcmp(arguments[i], "--port") == 0 && has_value) port = atoi(arguments[++i]);
        else if (strcmp(arguments[i], "--threads") == 0 && has_value)
            threads = atoi(arguments[++i]);
        else if (strcmp(arguments[i], "--tls") == 0 && i + 2 < count) {
            start_tls(arguments[i + 1], arguments[i + 2]);
            i += 2;
        } else {
            fprintf(
                stderr,
                "usage: limit [--port N] [--threads N] [--close] [--tls CERTIFICATE KEY]\n");
            return 2;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    connection_count = limit.rlim_cur;
    connections = calloc(connection_count, sizeof *connections);
    loop_t *loops = calloc(threads < 1 ? 1 : (size_t)threads, sizeof *loops);
    if (!connections || !loops) fail("calloc");
    make_answers();
    start_loop(&loops[0], (uint16_t)port);
    port = port_of(loops[0].listener);
    for (int i = 1; i < threads; i++) {
        pthread_t thread;
        start_loop(&loops[i], (uint16_t)port);
        if (pthread_create(&thread, NULL, run, &loops[i]) != 0) fail("pthread_create");
    }
    printf("%d\n", port);
    fflush(stdout);
    run(&loops[0]);
}
