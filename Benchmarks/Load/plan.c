// Sends the requests of a plan, one after the other on each connection, and tells how long it took.
//
//     plan PORT CONNECTIONS PLAN ANSWERS
//
// A plan is a row of records: four 32-bit numbers (octets of the head, octets of the content, how
// many times the content is sent, and the status that is expected), the head, the content. Where a
// head has "Lock-Token: <>", the token of the last answer on that connection is put in. The last
// answer of up to 256 MiB is written to the file ANSWERS, if that is not "-". The answer to a request
// whose content is sent no time is only counted.
//
// Prints RESULT, nanoseconds, nanoseconds of this program's own processor time, octets of content
// received, and the number of closing tags named response in answers.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM (1 << 20)
#define KEPT ((size_t)256 << 20)
#define CONNECTIONS 64

struct record {
    uint32_t head, content, times, status;
};

struct request {
    struct record record;
    const char *bytes;
};

enum part { HEAD, LENGTH, CHUNK_LINE, CHUNK, CHUNK_END, TRAILER, TO_CLOSE };

struct connection {
    int socket, closes;
    size_t next;          // the request to send
    struct request *current;
    char head[8192];      // of the request, with the token in it
    size_t head_size, sent;
    uint64_t total;       // octets of the request
    enum part part;
    char line[16384];     // of the answer: its head, then lines of its framing
    size_t line_size;
    uint64_t rest;        // octets of content or of a chunk
    char token[256];
    char *answer;
    size_t answer_size, answer_room;
};

static struct request *requests;
static size_t request_count, done_count;
static int port, connection_count, poller;
static uint64_t received, responses;
static const char *answers;
static char room[ROOM];

static void fail(const char *what) {
    fprintf(stderr, "plan: %s\n", what);
    exit(1);
}

static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void read_plan(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("no plan");
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(size + 1);
    if (!bytes || fread(bytes, 1, size, file) != size) fail("the plan cannot be read");
    fclose(file);
    size_t capacity = 0;
    for (size_t place = 0; place + sizeof(struct record) <= size;) {
        if (request_count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            requests = realloc(requests, capacity * sizeof *requests);
            if (!requests) fail("no memory");
        }
        struct request *request = &requests[request_count++];
        memcpy(&request->record, bytes + place, sizeof request->record);
        place += sizeof request->record;
        request->bytes = bytes + place;
        place += (size_t)request->record.head + request->record.content;
        if (place > size || request->record.head > 4096) fail("the plan is wrong");
    }
}

static void connect_to(struct connection *one) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    one->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (one->socket < 0 || connect(one->socket, (struct sockaddr *)&address, sizeof address) != 0)
        fail("no connection");
    setsockopt(one->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = one};
    epoll_ctl(poller, EPOLL_CTL_ADD, one->socket, &event);
    one->closes = 0;
}

// Makes the next request of a connection ready to be sent.
static void prepare(struct connection *one) {
    one->current = NULL;
    if (one->next >= request_count) return;
    struct request *request = &requests[one->next];
    one->next += (size_t)connection_count;
    if (one->closes) {
        close(one->socket);
        connect_to(one);
    }
    static const char mark[] = "Lock-Token: <>";
    const char *place = memmem(request->bytes, request->record.head, mark, sizeof mark - 1);
    if (place) {
        size_t before = (size_t)(place - request->bytes) + sizeof mark - 2, length = strlen(one->token);
        memcpy(one->head, request->bytes, before);
        memcpy(one->head + before, one->token, length);
        memcpy(one->head + before + length, request->bytes + before, request->record.head - before);
        one->head_size = request->record.head + length;
    } else {
        memcpy(one->head, request->bytes, request->record.head);
        one->head_size = request->record.head;
    }
    one->total = one->head_size + (uint64_t)request->record.content * request->record.times;
    one->sent = 0;
    one->part = HEAD;
    one->line_size = 0;
    one->answer_size = 0;
    one->current = request;
}

static void send_some(struct connection *one) {
    while (one->current && one->sent < one->total) {
        ssize_t count;
        uint32_t size = one->current->record.content;
        const char *content = one->current->bytes + one->current->record.head;
        if (one->sent < one->head_size) {
            struct iovec pieces[2] = {
                {one->head + one->sent, one->head_size - one->sent}, {(void *)content, size}};
            struct msghdr message = {.msg_iov = pieces, .msg_iovlen = size ? 2 : 1};
            count = sendmsg(one->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
            size_t place = (one->sent - one->head_size) % size;
            count = send(one->socket, content + place, size - place, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        if (count < 0) {
            if (errno == EAGAIN) return;
            fail("the server does not take a request");
        }
        one->sent += (size_t)count;
    }
}

// The value of a field of an answer's head, or NULL.
static const char *field(const char *head, const char *name) {
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1 + strspn(line + length + 1, " ");
    }
    return NULL;
}

static void end_answer(struct connection *one) {
    static const char tag[] = "response>";
    char *place = one->answer, *end = one->answer + one->answer_size;
    while (place && (place = memmem(place, (size_t)(end - place), tag, sizeof tag - 1))) {
        char *start = place;
        while (start > one->answer && *start != '<') start--;
        if (start[1] == '/') responses++;
        place += sizeof tag - 1;
    }
    done_count++;
    if (done_count == request_count && strcmp(answers, "-") != 0) {
        FILE *file = fopen(answers, "wb");
        if (!file || fwrite(one->answer, 1, one->answer_size, file) != one->answer_size) fail("no answers file");
        fclose(file);
    }
    prepare(one);
    send_some(one);
}

static void begin_content(struct connection *one) {
    int status = 0;
    if (sscanf(one->line, "HTTP/1.%*d %d", &status) != 1) fail("no HTTP");
    if (status / 100 == 1) {
        one->line_size = 0;
        return;
    }
    uint32_t expected = one->current->record.status;
    if ((uint32_t)status != expected && (expected != 0 || status / 100 != 2)) {
        fprintf(stderr, "plan: %d for %.80s\n", status, one->head);
        exit(1);
    }
    const char *token = field(one->line, "Lock-Token");
    if (token && *token == '<') {
        size_t length = strcspn(++token, ">\r");
        if (length < sizeof one->token) {
            memcpy(one->token, token, length);
            one->token[length] = 0;
        }
    }
    const char *length = field(one->line, "Content-Length"), *coding = field(one->line, "Transfer-Encoding");
    const char *connection = field(one->line, "Connection");
    one->closes = connection && strncasecmp(connection, "close", 5) == 0;
    one->line_size = 0;
    one->rest = length ? strtoull(length, NULL, 10) : 0;
    if (status == 204) one->part = LENGTH, one->rest = 0;
    else if (coding && strncasecmp(coding, "chunked", 7) == 0) one->part = CHUNK_LINE;
    else if (length) one->part = LENGTH;
    else one->part = TO_CLOSE, one->closes = 1;
    if (one->part == LENGTH && one->rest == 0) end_answer(one);
}

static void keep(struct connection *one, const char *bytes, size_t count) {
    received += count;
    if (one->current->record.times == 0 || one->answer_size + count > KEPT || (one->part == LENGTH && one->rest > KEPT)) return;
    if (one->answer_size + count > one->answer_room) {
        one->answer_room = 2 * (one->answer_size + count);
        one->answer = realloc(one->answer, one->answer_room);
        if (!one->answer) fail("no memory");
    }
    memcpy(one->answer + one->answer_size, bytes, count);
    one->answer_size += count;
}

// Takes octets up to the end of a line, or of a head; says whether it is there.
static int take_line(struct connection *one, const char **bytes, size_t *count, const char *end) {
    size_t length = strlen(end);
    while (*count > 0) {
        if (one->line_size + 1 >= sizeof one->line) fail("a head or line is too long");
        one->line[one->line_size++] = *(*bytes)++;
        (*count)--;
        if (one->line_size >= length && memcmp(one->line + one->line_size - length, end, length) == 0) {
            one->line[one->line_size] = 0;
            return 1;
        }
    }
    return 0;
}

static void take(struct connection *one, const char *bytes, size_t count) {
    while (count > 0) {
        if (!one->current) fail("an answer to nothing");
        switch (one->part) {
        case HEAD:
            if (take_line(one, &bytes, &count, "\r\n\r\n")) begin_content(one);
            break;
        case CHUNK_LINE:
            if (!take_line(one, &bytes, &count, "\r\n")) break;
            one->rest = strtoull(one->line, NULL, 16);
            one->line_size = 0;
            one->part = one->rest ? CHUNK : TRAILER;
            break;
        case CHUNK_END:
            if (!take_line(one, &bytes, &count, "\r\n")) break;
            one->line_size = 0;
            one->part = CHUNK_LINE;
            break;
        case TRAILER:
            if (!take_line(one, &bytes, &count, "\r\n")) break;
            if (one->line_size == 2) end_answer(one);
            else one->line_size = 0;
            break;
        case LENGTH:
        case CHUNK: {
            size_t part = count < one->rest ? count : (size_t)one->rest;
            keep(one, bytes, part);
            bytes += part;
            count -= part;
            one->rest -= part;
            if (one->rest > 0) break;
            if (one->part == LENGTH) end_answer(one);
            else one->part = CHUNK_END;
            break;
        }
        case TO_CLOSE:
            keep(one, bytes, count);
            count = 0;
        }
    }
}

static void receive(struct connection *one) {
    for (;;) {
        int socket = one->socket;
        ssize_t count = recv(socket, room, sizeof room, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) return;
        if (count > 0) {
            take(one, room, (size_t)count);
            if (one->socket != socket) return;  // a new one has its own events
            continue;
        }
        if (one->current && one->part == TO_CLOSE) return end_answer(one);
        if (one->current) fail("the server has closed the connection");
        return;
    }
}

int main(int count, char **words) {
    static struct connection connections[CONNECTIONS];
    if (count != 5) fail("usage: plan PORT CONNECTIONS PLAN ANSWERS");
    port = atoi(words[1]);
    connection_count = atoi(words[2]);
    answers = words[4];
    if (connection_count < 1 || connection_count > CONNECTIONS) fail("1 to 64 connections");
    read_plan(words[3]);
    poller = epoll_create1(0);
    uint64_t start = now(CLOCK_MONOTONIC);
    for (int index = 0; index < connection_count; index++) {
        connections[index].next = (size_t)index;
        connect_to(&connections[index]);
        prepare(&connections[index]);
        send_some(&connections[index]);
    }
    while (done_count < request_count) {
        struct epoll_event events[CONNECTIONS];
        int ready = epoll_wait(poller, events, CONNECTIONS, 120000);
        if (ready == 0) fail("no answer for two minutes");
        for (int index = 0; index < ready; index++) {
            struct connection *one = events[index].data.ptr;
            if (events[index].events & EPOLLOUT) send_some(one);
            if (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(one);
        }
    }
    uint64_t nanoseconds = now(CLOCK_MONOTONIC) - start;
    printf("RESULT %llu %llu %llu %llu\n", (unsigned long long)nanoseconds,
           (unsigned long long)now(CLOCK_PROCESS_CPUTIME_ID), (unsigned long long)received,
           (unsigned long long)responses);
    return 0;
}
