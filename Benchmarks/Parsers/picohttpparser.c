// Measures picohttpparser, in C, from the folder that `parser.py --picohttpparser` names.

#include <stddef.h>

#include "picohttpparser.h"

#include "driver.h"

enum { field_limit = 128 };

static int parse(const char *bytes, size_t length) {
    const char *method, *target;
    size_t method_length, target_length, count = field_limit;
    int minor;
    struct phr_header fields[field_limit];
    return phr_parse_request(bytes, length, &method, &method_length, &target, &target_length, &minor,
                             fields, &count, 0) > 0;
}
