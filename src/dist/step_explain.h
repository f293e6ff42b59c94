/* The table that leat_step_explain prints. */
#ifndef LEATI_DIST_STEP_EXPLAIN_H
#define LEATI_DIST_STEP_EXPLAIN_H

#include <leat/dist.h>

/* Adds what lines "stage: NAME NANOSECONDS" say. */
void leati_step_add_times(const char *lines, leat_step_times *times);

/* `lines` are "operation implementation nanoseconds", one operation each; the implementation may
 * contain blanks. Operations that took no time are left out. Owned text (leati_free); NULL without
 * memory. */
char *leati_step_table(const char *lines, leat_error *err);

#endif
