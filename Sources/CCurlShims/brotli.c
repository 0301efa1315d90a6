#include "CBrotliShims.h"

#include <dlfcn.h>
#include <pthread.h>

// The functions of brotli/decode.h that are used. Their constants and types have not changed since
// version 1.0.
static struct {
    void *(*create)(void *allocate, void *release, void *opaque);
    void (*destroy)(void *decoder);
    int (*decode)(void *decoder, size_t *input_count, const uint8_t **input, size_t *room,
                  uint8_t **output, size_t *total);
    int is_there;
} library;

static pthread_once_t looked = PTHREAD_ONCE_INIT;

static void look(void) {
#ifdef __APPLE__
    static const char *const names[] = {"libbrotlidec.1.dylib", "libbrotlidec.dylib",
                                        "/opt/homebrew/lib/libbrotlidec.1.dylib",
                                        "/usr/local/lib/libbrotlidec.1.dylib"};
#else
    static const char *const names[] = {"libbrotlidec.so.1", "libbrotlidec.so"};
#endif
    void *handle = NULL;
    for (size_t index = 0; !handle && index < sizeof names / sizeof *names; index++) {
        handle = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    }
    if (!handle) return;
    *(void **)&library.create = dlsym(handle, "BrotliDecoderCreateInstance");
    *(void **)&library.destroy = dlsym(handle, "BrotliDecoderDestroyInstance");
    *(void **)&library.decode = dlsym(handle, "BrotliDecoderDecompressStream");
    library.is_there = library.create && library.destroy && library.decode;
    if (!library.is_there) dlclose(handle);
}

int http_brotli_is_there(void) {
    pthread_once(&looked, look);
    return library.is_there;
}

void *http_brotli_create(void) {
    return http_brotli_is_there() ? library.create(NULL, NULL, NULL) : NULL;
}

void http_brotli_destroy(void *decoder) {
    if (decoder && library.is_there) library.destroy(decoder);
}

int http_brotli_decode(void *decoder, const uint8_t *input, size_t *input_count, uint8_t *output,
                       size_t *output_count) {
    size_t input_left = *input_count, room_left = *output_count;
    const int result =
        library.decode(decoder, &input_left, &input, &room_left, &output, NULL);
    *input_count -= input_left;
    *output_count -= room_left;
    return result >= http_brotli_failed && result <= http_brotli_wants_room ? result
                                                                             : http_brotli_failed;
}
