// Brotli's decoder, from a library that is looked for when the program runs.
#ifndef C_BROTLI_SHIMS_H
#define C_BROTLI_SHIMS_H

#include <stddef.h>
#include <stdint.h>

/// Whether libbrotlidec is there. The first call looks for it.
int http_brotli_is_there(void);

/// A decoder; NULL without memory or library.
void *http_brotli_create(void);

void http_brotli_destroy(void *decoder);

enum { http_brotli_failed = 0, http_brotli_ended = 1, http_brotli_wants_input = 2,
       http_brotli_wants_room = 3 };

/// Decodes as much as there is input and room for.
/// - input_count: how many bytes there are; on return how many were read.
/// - output_count: how much room there is; on return how many bytes were written.
int http_brotli_decode(void *decoder, const uint8_t *input, size_t *input_count, uint8_t *output,
                       size_t *output_count);

#endif
