// Measures llhttp, from the sources in swift-nio's target CNIOLLHTTP, in C: one parser for the
// whole run, as a connection would have. Its callbacks store where each field is and nothing else,
// which is the least a user of llhttp does.

#include "CNIOLLHTTP.h"

typedef struct {
    const char *bytes;
    size_t length;
} slice_t;

enum { field_limit = 128 };

static struct {
    slice_t target, names[field_limit], values[field_limit];
    size_t name_count, value_count;
    int complete;
} head;

static int on_message_begin(llhttp_t *parser) {
    (void)parser;
    head.name_count = head.value_count = 0;
    head.complete = 0;
    return 0;
}

static int on_url(llhttp_t *parser, const char *bytes, size_t length) {
    (void)parser;
    head.target = (slice_t){ bytes, length };
    return 0;
}

static int on_header_field(llhttp_t *parser, const char *bytes, size_t length) {
    (void)parser;
    if (head.name_count == field_limit) return -1;
    head.names[head.name_count++] = (slice_t){ bytes, length };
    return 0;
}

static int on_header_value(llhttp_t *parser, const char *bytes, size_t length) {
    (void)parser;
    if (head.value_count == field_limit) return -1;
    head.values[head.value_count++] = (slice_t){ bytes, length };
    return 0;
}

static int on_message_complete(llhttp_t *parser) {
    (void)parser;
    head.complete = 1;
    return 0;
}

static llhttp_settings_t settings;
static llhttp_t parser;

__attribute__((constructor)) static void prepare(void) {
    c_nio_llhttp_settings_init(&settings);
    settings.on_message_begin = on_message_begin;
    settings.on_url = on_url;
    settings.on_header_field = on_header_field;
    settings.on_header_value = on_header_value;
    settings.on_message_complete = on_message_complete;
    c_nio_llhttp_init(&parser, HTTP_REQUEST, &settings);
}

#include "driver.h"

static int parse(const char *bytes, size_t length) {
    return c_nio_llhttp_execute(&parser, bytes, length) == HPE_OK && head.complete;
}
