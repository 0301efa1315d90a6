// kqueue for Linux, for tests: the calls and constants of <sys/event.h> that the toolkit uses.
#ifndef KQUEUE_STAND_IN_H
#define KQUEUE_STAND_IN_H

#include <stdint.h>

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};

int kqueue(void);
// `timeout` is a struct timespec. Naming the type here would make it a type of this module, which
// other files that use it do not import.
int kevent(
    int queue, const struct kevent *changes, int change_count, struct kevent *events,
    int event_count, const void *timeout);

#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_TIMER (-7)
#define EVFILT_USER (-10)

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_DISABLE 0x0008
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

#define NOTE_TRIGGER 0x01000000
#define NOTE_SECONDS 0x00000001
#define NOTE_USECONDS 0x00000002
#define NOTE_NSECONDS 0x00000004

#endif
