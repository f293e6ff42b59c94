/* How far data may unfold; see leat_limits_set_decoding and leat_limits_set_reading. */
#ifndef LEATI_BASE_LIMITS_H
#define LEATI_BASE_LIMITS_H

#include <leat/base.h>

/* The most pixels of a picture, all frames counted, and the most bytes that packed data may become.
 * Thread-safe. */
uint64_t leati_limits_max_pixels(void);
uint64_t leati_limits_max_unpacked(void);
/* The most bytes of a line of text, and of a record, member or stream whose size no file bounds.
 * Thread-safe. */
uint64_t leati_limits_max_line(void);
uint64_t leati_limits_max_record(void);

/* How a user raises them, as the end of an error's text. */
#define LEATI_RAISE_LIMITS                                                                         \
    "raise the limit (leat_limits_set_decoding; in Python leat.config.set_decode_limits)"
#define LEATI_RAISE_LINES                                                                          \
    "raise the limit (LEAT_MAX_LINE_BYTES in the environment, leat_limits_set_reading; in Python " \
    "leat.config.set_read_limits)"
#define LEATI_RAISE_RECORDS                                                                        \
    "raise the limit (LEAT_MAX_RECORD_BYTES in the environment, leat_limits_set_reading; in "      \
    "Python leat.config.set_read_limits)"

#endif
