#ifndef HTTP_CDNSSD_H
#define HTTP_CDNSSD_H

#include <dlfcn.h>
#include <dns_sd.h>
#include <stdlib.h>

/// `AvahiAllocator` of avahi-common/malloc.h, which has been the same since version 0.6.
typedef struct {
    void *(*allocate)(size_t size);
    void (*release)(void *memory);
    void *(*resize)(void *memory, size_t size);
    void *(*allocate_zeroed)(size_t count, size_t size);
} http_avahi_allocator;

static inline void *http_avahi_allocate(size_t size) { return calloc(1, size); }

/// Has Avahi's library clear the memory that it asks for, from now on, in the whole process.
///
/// Version 0.8 decides by pointers that it never set which function hears of the daemon's end, and
/// calls whatever the heap held there before (mended upstream in 2024). Memory of before may still be
/// released: all of it is the C library's. A `libdns_sd` that is not Avahi's is left as it is.
static inline void http_avahi_clear_memory(void) {
    static const http_avahi_allocator allocator = {http_avahi_allocate, free, realloc, calloc};
    void (*set_allocator)(const http_avahi_allocator *);
    *(void **)&set_allocator = dlsym(NULL, "avahi_set_allocator");
    if (set_allocator) set_allocator(&allocator);
}

#endif
