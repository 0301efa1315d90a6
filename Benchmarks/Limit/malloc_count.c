// Counts heap allocations of a program: LD_PRELOAD this library with MALLOC_COUNT_FILE naming a
// file. The file holds two 64-bit counters in the machine's byte order, the number of allocations
// and their bytes, kept up to date through a shared mapping, so that a reader samples a running
// program without stopping or signalling it. For glibc: its `__libc_` names avoid dlsym, which
// allocates itself.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

typedef struct {
    _Atomic uint64_t allocations;
    _Atomic uint64_t bytes;
} counters_t;

static counters_t uncounted;
static counters_t *counters = &uncounted;

__attribute__((constructor)) static void share_counters(void) {
    const char *path = getenv("MALLOC_COUNT_FILE");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    if (ftruncate(fd, sizeof *counters) == 0) {
        void *mapping = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapping != MAP_FAILED) counters = mapping;
    }
    close(fd);
}

static void count(size_t size) {
    atomic_fetch_add_explicit(&counters->allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->bytes, size, memory_order_relaxed);
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
    count(size);
    return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (!memory) return ENOMEM;
    *pointer = memory;
    return 0;
}
