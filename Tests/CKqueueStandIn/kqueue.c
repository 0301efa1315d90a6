// kqueue() and kevent() over epoll, eventfd and timerfd, written from the manual pages of Darwin
// and FreeBSD. With them, the branches for kqueue run on Linux. The descriptor of a queue is that
// of its epoll, so a queue can be watched itself.
//
// Known differences: `fflags` never has the error of a socket, `data` of a listener is not its
// backlog, EV_CLEAR of one filter applies to both filters of a file, a wait needs room for two
// events, and a closed queue is noticed when the next one is made.
#define _GNU_SOURCE
#include "kqueue_stand_in.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// A filter. `flags` is 0 if there is none.
typedef struct {
    uint16_t flags;
    uint8_t is_disabled;
    void *udata;
} filter_state;

// The two filters of a file. A file that was closed and opened again has another generation.
typedef struct {
    filter_state read, write;
    uint32_t generation;
    // The events that epoll watches the file for.
    uint32_t listed;
} watched_file;

// A filter EVFILT_USER or EVFILT_TIMER, and the eventfd or timerfd that implements it.
typedef struct {
    uintptr_t ident;
    int16_t filter;
    filter_state state;
    int source;
    uint32_t generation;
} watched_source;

typedef struct {
    pthread_mutex_t lock;
    watched_file *files;
    size_t file_count;
    watched_source *sources;
    size_t source_count;
    uint32_t generation;
} event_queue;

enum { most_queues = 1 << 16, kind_file = 0, kind_source = 1 };

static event_queue *queues[most_queues];
static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;

// --- queues -------------------------------------------------------------------------------------

static void *grown(void *memory, size_t old_count, size_t new_count, size_t size) {
    char *larger = realloc(memory, new_count * size);
    if (!larger) abort();
    memset(larger + old_count * size, 0, (new_count - old_count) * size);
    return larger;
}

static void free_queue(event_queue *queue) {
    for (size_t i = 0; i < queue->source_count; i++)
        if (queue->sources[i].state.flags) close(queue->sources[i].source);
    pthread_mutex_destroy(&queue->lock);
    free(queue->files);
    free(queue->sources);
    free(queue);
}

static struct epoll_event watching(uint32_t events, int kind, size_t index, uint32_t generation) {
    uint64_t token = (uint64_t)kind << 63 | (uint64_t)(generation & 0x7fffffff) << 32 | index;
    return (struct epoll_event){.events = events, .data.u64 = token};
}

static int list_source(int descriptor, watched_source *source, size_t index, int operation) {
    uint32_t events = source->state.is_disabled ? 0 : EPOLLIN;
    struct epoll_event event = watching(events, kind_source, index, source->generation);
    return epoll_ctl(descriptor, operation, source->source, &event);
}

// close() is not reported: if the descriptor no longer has a source of the queue, it belongs to
// another file, or is closed.
static int is_closed(int descriptor, event_queue *queue) {
    for (size_t i = 0; i < queue->source_count; i++)
        if (queue->sources[i].state.flags)
            return list_source(descriptor, &queue->sources[i], i, EPOLL_CTL_MOD) != 0;
    return 0;
}

int kqueue(void) {
    int descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (descriptor < 0) return -1;
    if (descriptor >= most_queues) {
        close(descriptor);
        errno = EMFILE;
        return -1;
    }
    event_queue *queue = grown(0, 0, 1, sizeof *queue);
    pthread_mutex_init(&queue->lock, 0);
    pthread_mutex_lock(&queues_lock);
    for (int i = 0; i < most_queues; i++) {
        if (!queues[i] || (i != descriptor && !is_closed(i, queues[i]))) continue;
        free_queue(queues[i]);
        queues[i] = 0;
    }
    queues[descriptor] = queue;
    pthread_mutex_unlock(&queues_lock);
    return descriptor;
}

// --- changes ------------------------------------------------------------------------------------

static void set(filter_state *state, const struct kevent *change) {
    if (change->flags & EV_ADD) {
        state->flags = EV_ADD | (change->flags & (EV_CLEAR | EV_ONESHOT));
        state->is_disabled = 0;
    }
    if (change->flags & EV_ENABLE) state->is_disabled = 0;
    if (change->flags & EV_DISABLE) state->is_disabled = 1;
}

// Updates epoll's list to the filters of a file. Returns 0, an error, or -1 if the file was closed.
static int list_file(int descriptor, event_queue *queue, int file) {
    watched_file *watched = &queue->files[file];
    filter_state read = watched->read, write = watched->write;
    int was_listed = watched->listed != 0;
    uint32_t wanted = 0;
    if (read.flags && !read.is_disabled) wanted |= EPOLLIN | EPOLLRDHUP;
    if (write.flags && !write.is_disabled) wanted |= EPOLLOUT;
    if (wanted && (read.flags | write.flags) & EV_CLEAR) wanted |= EPOLLET;
    if (!wanted) {
        if (was_listed) epoll_ctl(descriptor, EPOLL_CTL_DEL, file, 0);
        watched->listed = 0;
        return 0;
    }
    struct epoll_event event = watching(wanted, kind_file, (size_t)file, watched->generation);
    int operation = was_listed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int result = epoll_ctl(descriptor, operation, file, &event);
    if (result < 0 && errno == EEXIST)
        result = epoll_ctl(descriptor, EPOLL_CTL_MOD, file, &event);
    if (result < 0) return errno == ENOENT && was_listed ? -1 : errno;
    watched->listed = wanted;
    return 0;
}

static int change_file(int descriptor, event_queue *queue, const struct kevent *change) {
    int file = (int)change->ident;
    if (file < 0 || fcntl(file, F_GETFD) < 0) return EBADF;
    if ((size_t)file >= queue->file_count) {
        size_t count = (size_t)file + 64;
        queue->files = grown(queue->files, queue->file_count, count, sizeof *queue->files);
        queue->file_count = count;
    }
    watched_file *watched = &queue->files[file];
    for (;;) {
        filter_state *state = change->filter == EVFILT_READ ? &watched->read : &watched->write;
        filter_state before = *state;
        if (!state->flags && !(change->flags & EV_ADD)) return ENOENT;
        set(state, change);
        state->udata = change->udata;
        if (change->flags & EV_DELETE) *state = (filter_state){0};
        int result = list_file(descriptor, queue, file);
        if (result == 0) return 0;
        if (result > 0) {
            *state = before;
            return result;
        }
        // The filters were those of a file that is closed.
        *watched = (watched_file){.generation = ++queue->generation};
    }
}

static int arm(int timer, const struct kevent *change) {
    int64_t unit = 1000000;
    if (change->fflags & NOTE_SECONDS) unit = 1000000000;
    if (change->fflags & NOTE_USECONDS) unit = 1000;
    if (change->fflags & NOTE_NSECONDS) unit = 1;
    int64_t wait = change->data > 0 ? (int64_t)change->data * unit : 1;
    struct itimerspec time = {.it_value = {wait / 1000000000, wait % 1000000000}};
    if (!(change->flags & EV_ONESHOT)) time.it_interval = time.it_value;
    return timerfd_settime(timer, 0, &time, 0) == 0 ? 0 : errno;
}

// The place of a source; a free place if the source does not exist yet.
static size_t place_of(event_queue *queue, const struct kevent *change) {
    size_t open = queue->source_count;
    for (size_t i = 0; i < queue->source_count; i++) {
        watched_source *source = &queue->sources[i];
        if (!source->state.flags) open = i;
        else if (source->ident == change->ident && source->filter == change->filter) return i;
    }
    if (open < queue->source_count) return open;
    queue->sources = grown(queue->sources, open, open + 1, sizeof *queue->sources);
    queue->source_count++;
    return open;
}

static int make_source(int descriptor, event_queue *queue, size_t i, const struct kevent *change) {
    int made = change->filter == EVFILT_USER
        ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)
        : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (made < 0) return errno;
    queue->sources[i] = (watched_source){
        .ident = change->ident, .filter = change->filter, .source = made,
        .generation = ++queue->generation};
    if (list_source(descriptor, &queue->sources[i], i, EPOLL_CTL_ADD) == 0) return 0;
    int error = errno;
    close(made);
    return error;
}

static int change_source(int descriptor, event_queue *queue, const struct kevent *change) {
    size_t i = place_of(queue, change);
    if (!queue->sources[i].state.flags) {
        if (!(change->flags & EV_ADD)) return ENOENT;
        int error = make_source(descriptor, queue, i, change);
        if (error != 0) return error;
    }
    watched_source *source = &queue->sources[i];
    if (change->flags & EV_DELETE) {
        close(source->source);
        source->state = (filter_state){0};
        return 0;
    }
    set(&source->state, change);
    if (change->flags & EV_ADD || change->udata) source->state.udata = change->udata;
    if (change->flags & (EV_ENABLE | EV_DISABLE))
        list_source(descriptor, source, i, EPOLL_CTL_MOD);
    if (change->filter == EVFILT_TIMER)
        return change->flags & EV_ADD ? arm(source->source, change) : 0;
    uint64_t one = 1;
    if (!(change->fflags & NOTE_TRIGGER)) return 0;
    return write(source->source, &one, sizeof one) < 0 && errno != EAGAIN ? errno : 0;
}

static int apply(int descriptor, event_queue *queue, const struct kevent *change) {
    switch (change->filter) {
    case EVFILT_READ:
    case EVFILT_WRITE: return change_file(descriptor, queue, change);
    case EVFILT_USER:
    case EVFILT_TIMER: return change_source(descriptor, queue, change);
    default: return EINVAL;
    }
}

// Returns how many of the changes are reported in `events`; -1 for an error that has no room there.
static int apply_all(
    int descriptor, event_queue *queue, const struct kevent *changes, int change_count,
    struct kevent *events, int event_count) {
    int count = 0;
    for (int i = 0; i < change_count; i++) {
        int error = apply(descriptor, queue, &changes[i]);
        if (error == 0 && !(changes[i].flags & EV_RECEIPT)) continue;
        if (count < event_count) {
            events[count] = changes[i];
            events[count].flags |= EV_ERROR;
            events[count++].data = error;
        } else if (error != 0) {
            errno = error;
            return -1;
        }
    }
    return count;
}

// --- events -------------------------------------------------------------------------------------

// Whether nothing more can be sent. Darwin reports EOF of the direction as soon as this side has
// ended it, epoll only when both sides have.
static int has_sent_end(int file) {
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
    switch (info.tcpi_state) {
    case TCP_FIN_WAIT1:
    case TCP_FIN_WAIT2:
    case TCP_CLOSING:
    case TCP_TIME_WAIT:
    case TCP_LAST_ACK:
    case TCP_CLOSE: return 1;
    default: return 0;
    }
}

static intptr_t room_to_send(int file) {
    int limit = 0, used = 0;
    socklen_t size = sizeof limit;
    getsockopt(file, SOL_SOCKET, SO_SNDBUF, &limit, &size);
    ioctl(file, TIOCOUTQ, &used);
    return limit > used ? limit - used : 1;
}

static struct kevent told(filter_state *state, uintptr_t ident, int16_t filter, int is_end) {
    struct kevent event = {
        .ident = ident, .filter = filter,
        .flags = (uint16_t)(state->flags | (is_end ? EV_EOF : 0)), .udata = state->udata};
    if (state->flags & EV_ONESHOT) *state = (filter_state){0};
    return event;
}

// `events` has room for two.
static int add_file_events(
    int descriptor, event_queue *queue, int file, uint32_t ready, struct kevent *events) {
    watched_file *watched = &queue->files[file];
    filter_state read = watched->read, write = watched->write;
    int is_broken = (ready & (EPOLLHUP | EPOLLERR)) != 0;
    int count = 0, bytes = 0;
    if (read.flags && !read.is_disabled && (is_broken || ready & (EPOLLIN | EPOLLRDHUP))) {
        int is_end = is_broken || ready & EPOLLRDHUP;
        events[count] = told(&watched->read, (uintptr_t)file, EVFILT_READ, is_end);
        ioctl(file, FIONREAD, &bytes);
        events[count++].data = bytes;
    }
    if (write.flags && !write.is_disabled && (is_broken || ready & EPOLLOUT)) {
        int is_end = is_broken || has_sent_end(file);
        events[count] = told(&watched->write, (uintptr_t)file, EVFILT_WRITE, is_end);
        events[count++].data = room_to_send(file);
    }
    if ((read.flags | write.flags) & EV_ONESHOT) list_file(descriptor, queue, file);
    return count;
}

static int add_source_event(watched_source *source, struct kevent *event) {
    if (source->state.is_disabled) return 0;
    uint64_t number = 0;
    int is_timer = source->filter == EVFILT_TIMER;
    if (is_timer || source->state.flags & (EV_CLEAR | EV_ONESHOT))
        // Nothing can be read if it was armed again since.
        if (read(source->source, &number, sizeof number) != sizeof number) return 0;
    int is_once = (source->state.flags & EV_ONESHOT) != 0;
    *event = told(&source->state, source->ident, source->filter, 0);
    if (is_timer) event->data = (intptr_t)number;
    if (is_once) close(source->source);
    return 1;
}

static int add_events(
    int descriptor, event_queue *queue, struct epoll_event *ready, struct kevent *events) {
    size_t index = (uint32_t)ready->data.u64;
    uint32_t generation = (uint32_t)(ready->data.u64 >> 32) & 0x7fffffff;
    if (ready->data.u64 >> 63) {
        if (index >= queue->source_count) return 0;
        watched_source *source = &queue->sources[index];
        if (source->generation != generation || !source->state.flags) return 0;
        return add_source_event(source, events);
    }
    if (index >= queue->file_count || queue->files[index].generation != generation) return 0;
    return add_file_events(descriptor, queue, (int)index, ready->events, events);
}

// The time that is left until `end`; zero after it.
static struct timespec left_until(struct timespec end) {
    struct timespec now, none = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct timespec left = {end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
    if (left.tv_nsec < 0) left.tv_sec--, left.tv_nsec += 1000000000;
    return left.tv_sec < 0 ? none : left;
}

static struct timespec end_of(const struct timespec *timeout) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += timeout->tv_sec;
    end.tv_nsec += timeout->tv_nsec;
    if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    return end;
}

static int wait_for_events(
    int descriptor, event_queue *queue, struct kevent *events, int event_count,
    const struct timespec *timeout) {
    struct epoll_event ready[128];
    // Each of them may be two events.
    int limit = event_count / 2 < 128 ? event_count / 2 : 128;
    struct timespec end = {0, 0}, left = {0, 0};
    if (timeout) end = end_of(timeout), left = *timeout;
    for (;;) {
        int found = epoll_pwait2(descriptor, ready, limit, timeout ? &left : 0, 0);
        if (found < 0) return -1;
        int count = 0;
        pthread_mutex_lock(&queue->lock);
        for (int i = 0; i < found; i++)
            count += add_events(descriptor, queue, &ready[i], events + count);
        pthread_mutex_unlock(&queue->lock);
        if (count > 0 || found == 0) return count;
        if (timeout) left = left_until(end);
    }
}

static int is_time(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

int kevent(
    int descriptor, const struct kevent *changes, int change_count, struct kevent *events,
    int event_count, const void *timeout) {
    event_queue *queue = descriptor >= 0 && descriptor < most_queues ? queues[descriptor] : 0;
    if (!queue) {
        errno = EBADF;
        return -1;
    }
    pthread_mutex_lock(&queue->lock);
    int count = apply_all(descriptor, queue, changes, change_count, events, event_count);
    pthread_mutex_unlock(&queue->lock);
    if (count != 0 || event_count == 0) return count;
    if (event_count < 2 || (timeout && !is_time(timeout))) {
        errno = EINVAL;
        return -1;
    }
    return wait_for_events(descriptor, queue, events, event_count, timeout);
}
