// Ends threads that have kept blocks (Sources/CHTTPParserShims). Apple's systems free a thread's local
// variables before they call the destructors of keys that were made later; so does clang by
// `-femulated-tls`.
#include "CHTTPParserShims.h"

#include <pthread.h>

static void *work(void *nothing) {
    enum { count = 4, size = 500 };
    void *blocks[count];
    for (int index = 0; index < count; index++) blocks[index] = http_parser_allocate(size);
    for (int index = 0; index < count; index++) http_parser_release(blocks[index], size);
    return nothing;
}

int main(void) {
    for (int index = 0; index < 20; index++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, work, 0) != 0 || pthread_join(thread, 0) != 0) return 1;
    }
    return 0;
}
