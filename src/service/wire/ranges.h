/* Sets of positions as ascending ranges [a, b), [c, d), ..., in the form in which messages carry
 * them. {0} is empty. One owner. */
#ifndef LEATI_SERVICE_WIRE_RANGES_H
#define LEATI_SERVICE_WIRE_RANGES_H

#include "service/wire/messages.h"

/* Adds [begin, end); ranges that meet become one. On failure (no memory) it is as before. */
LEAT_WARN_UNUSED leat_status leati_ranges_add(leati_ranges *ranges, int64_t begin, int64_t end,
                                              leat_error *err);
/* From `at` on: is it in the set, and up to where does the same hold? (`*until` is INT64_MAX where
 * nothing follows.) */
bool leati_ranges_look(const leati_ranges *ranges, int64_t at, int64_t *until);
/* Pairs of numbers from 0 on that ascend? For what came from outside. */
bool leati_ranges_are_valid(const leati_ranges *ranges);
LEAT_WARN_UNUSED leat_status leati_ranges_copy(const leati_ranges *from, leati_ranges *to,
                                               leat_error *err);
void leati_ranges_fini(leati_ranges *ranges);

#endif
