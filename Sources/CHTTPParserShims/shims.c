#include "CHTTPParserShims.h"

#include <stdlib.h>

static void *_Nonnull checked(void *_Nullable memory) {
    if (!memory) abort();
    return memory;
}

#if __has_include(<pthread.h>)
#include <pthread.h>

// An owned head lives for one request, and the next one on the same thread needs a block of the
// same kind: malloc and free would take a third of the time of parsing it. Each thread keeps a few
// blocks of two sizes; one that is released on another thread stays there. What a thread keeps is
// bounded, and goes with the thread.

enum { block_classes = 2, block_size = 1024, kept_blocks = 8 };

typedef struct {
    void *blocks[block_classes][kept_blocks];
    uint32_t counts[block_classes];
} cache_t;

// The cache itself lies on the heap: on Apple's systems the thread-local variables of an image are
// freed by a key of pthread too, and before ours.
static _Thread_local cache_t *cache;
static pthread_key_t cache_key;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;
static _Bool has_cache_key;

// Sanitizers must see the end of each block: the thread sanitizer does not see the reference counts
// that order the last use of a block before its reuse.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { is_caching = 0 };
#else
enum { is_caching = 1 };
#endif
#else
enum { is_caching = 1 };
#endif

static void empty_cache(void *ended) {
    cache_t *old = ended;
    for (int class = 0; class < block_classes; class++) {
        while (old->counts[class] > 0) free(old->blocks[class][--old->counts[class]]);
    }
    free(old);
    // Another destructor of this thread may still release heads.
    cache = NULL;
}

static void make_cache_key(void) {
    has_cache_key = pthread_key_create(&cache_key, empty_cache) == 0;
}

static _Bool register_cache(void) {
    pthread_once(&cache_once, make_cache_key);
    if (!has_cache_key) return 0;
    // The variable may have been freed before the cache.
    cache = pthread_getspecific(cache_key);
    if (cache) return 1;
    cache_t *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return 0;
    if (pthread_setspecific(cache_key, fresh) != 0) {
        free(fresh);
        return 0;
    }
    cache = fresh;
    return 1;
}

void *_Nonnull http_parser_allocate(uint64_t count) {
    uint64_t class = (count - 1) / block_size;
    if (class >= block_classes) return checked(malloc(count));
    cache_t *own = cache;
    if (own && own->counts[class] > 0) return own->blocks[class][--own->counts[class]];
    return checked(malloc((class + 1) * block_size));
}

void http_parser_release(void *_Nonnull memory, uint64_t count) {
    uint64_t class = (count - 1) / block_size;
    if (!is_caching || class >= block_classes || !(cache || register_cache())
        || cache->counts[class] == kept_blocks) {
        free(memory);
        return;
    }
    cache->blocks[class][cache->counts[class]++] = memory;
}

#else  // A system without threads, such as a microcontroller.

void *_Nonnull http_parser_allocate(uint64_t count) { return checked(malloc(count)); }

void http_parser_release(void *_Nonnull memory, uint64_t count) { free(memory); }

#endif

typedef uint64_t pair_t __attribute__((__ext_vector_type__(2), __aligned__(1), __may_alias__));

__attribute__((no_builtin("memcpy")))
void http_parser_copy16(void *_Nonnull to, const void *_Nonnull from, uint64_t count) {
    pair_t *target = to;
    const pair_t *source = from;
#pragma clang loop unroll_count(2) vectorize(disable)
    for (uint64_t index = 0; index < count; index++) target[index] = source[index];
}
