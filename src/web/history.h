/* The last ten minutes of a state's totals, for pages that come later. Of one thread. */
#ifndef LEATI_WEB_HISTORY_H
#define LEATI_WEB_HISTORY_H

#include "base/text.h"
#include "web/server.h"
#include <jansson.h>

enum { LEATI_WEB_HISTORY_NAMES = 8, LEATI_WEB_HISTORY_NAME = 32 };

typedef struct leati_web_history {
    int num_names;
    char names[LEATI_WEB_HISTORY_NAMES][LEATI_WEB_HISTORY_NAME];
    /* A ring: `count` points, the next one goes to `next`. NaN where a state had no such number. */
    int count, next;
    struct leati_web_history_point {
        int64_t at_ms;
        double values[LEATI_WEB_HISTORY_NAMES];
    } points[LEATI_WEB_MOST_HISTORY];
} leati_web_history;

/* Takes the numbers of an object ("totals" of a state). A name is known from the first state that
 * has it; longer ones, and those beyond LEATI_WEB_HISTORY_NAMES, are passed over. */
void leati_web_history_add(leati_web_history *history, int64_t at_ms, const json_t *totals);

/* Appends the data of the event `history` (web/state.md): one line. */
void leati_web_history_write(const leati_web_history *history, int interval_ms, leati_text *out);

#endif
