// Brotli's decoder, from a library that is loaded at run time.
#ifndef C_BROTLI_SHIMS_H
#define C_BROTLI_SHIMS_H

#include <stddef.h>
#include <stdint.h>

/// Whether libbrotlidec was found. The first call searches and loads it.
int http_brotli_is_there(void);

/// Creates a decoder; NULL if there is no memory or no library.
void *http_brotli_create(void);

void http_brotli_destroy(void *decoder);

enum { http_brotli_failed = 0, http_brotli_ended = 1, http_brotli_wants_input = 2,
       http_brotli_wants_room = 3 };

/// Decodes until the input is used up or the output buffer is full. Returns one of the constants
/// above.
/// - input_count: the length of the input; on return, how many bytes were read.
/// - output_count: the size of the output buffer; on return, how many bytes were written.
int http_brotli_decode(void *decoder, const uint8_t *input, size_t *input_count, uint8_t *output,
                       size_t *output_count);

#endif
