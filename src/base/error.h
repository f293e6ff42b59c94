/* Writing errors. Whoever decides that it failed calls leati_fail; callers add context with
 * leati_prefix. */
#ifndef LEATI_BASE_ERROR_H
#define LEATI_BASE_ERROR_H

#include <leat/base.h>

/* Writes code and text (cut with "..." at 511 bytes) and returns the code. `err` may be NULL. */
leat_status leati_fail(leat_error *err, leat_status code, const char *format, ...)
    LEAT_PRINTF(3, 4);

/* Puts the formatted text and ": " before the text of a failure, and returns its code. With `err`
 * NULL there is no code to return, so it is UNKNOWN: a caller that has the status returns that. */
leat_status leati_prefix(leat_error *err, const char *format, ...) LEAT_PRINTF(2, 3);

/* The failure of this thread's last allocation, whose size it names and forgets (leati_refused), or
 * of another library's: RESOURCE_EXHAUSTED. */
leat_status leati_no_memory(leat_error *err);

#endif
