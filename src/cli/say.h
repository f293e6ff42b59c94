/* What the tool says: errors and warnings on standard error as `leat: ...`, results on standard
 * output. No colours anywhere, so that output is the same on a terminal and in a file. */
#ifndef LEATI_CLI_SAY_H
#define LEATI_CLI_SAY_H

#include <leat/base.h>

/* One line on standard error with "leat: " before it. */
void leati_say_error(const char *format, ...) LEAT_PRINTF(1, 2);

/* The same for a failed call: the text of `err`, or the name of its code if there is none. */
void leati_say_failure(const leat_error *err);

/* Whether standard output is a terminal. */
bool leati_say_is_terminal(void);

/* Before look number `i` (from 0) of what is shown again and again: clears a terminal's screen, and
 * elsewhere leaves a line free behind the look before. Nothing where programs read it (`plain`). */
void leati_say_again(int64_t i, bool plain);

/* A number with a comma between groups of three digits, written to `text` (room for 32 bytes),
 * which is returned. */
const char *leati_say_count(int64_t number, char text[32]);

/* Flushes standard output; false after a message if anything could not be written. */
bool leati_say_finish(void);

#endif
