/* How far long work of the tool is: one line on standard error, where that is a terminal, which is
 * written again and again and is gone in the end. Elsewhere nothing is written. */
#ifndef LEATI_CLI_PROGRESS_H
#define LEATI_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct leati_progress {
    const char *what; /* borrowed */
    int64_t total;
    int64_t started_ns, shown_ns;
} leati_progress;

enum { LEATI_PROGRESS_LINE = 128 };

/* Begins; `total` is what `done` will be in the end, 0 where nobody knows. `what` is what is done,
 * such as "pictures". One is shown at a time, by the thread that works. */
void leati_progress_start(leati_progress *progress, const char *what, int64_t total);

/* So much is done. Cheap enough for each of millions. */
void leati_progress_at(leati_progress *progress, int64_t done);

/* Takes the line away; without one, nothing. */
void leati_progress_hide(void);

/* The line for `done` after `seconds`, without what steers the terminal: the share, a bar, the
 * numbers and the time that is left, as long as it goes on as it did. Returns `out`. */
const char *leati_progress_line(const char *what, int64_t done, int64_t total, double seconds,
                                char out[LEATI_PROGRESS_LINE]);

#endif
