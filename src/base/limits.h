/* How far data may unfold; see leat_limits_set_decoding. */
#ifndef LEATI_BASE_LIMITS_H
#define LEATI_BASE_LIMITS_H

#include <leat/base.h>

/* The most pixels of a picture, all frames counted, and the most bytes that packed data may become.
 * Thread-safe. */
uint64_t leati_limits_max_pixels(void);
uint64_t leati_limits_max_unpacked(void);

/* How a user raises them, as the end of an error's text. */
#define LEATI_RAISE_LIMITS                                                                         \
    "raise the limit (leat_limits_set_decoding; in Python leat.config.set_decode_limits)"

#endif
