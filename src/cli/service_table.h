/* The state of a service (web/state.md) as tables of text. */
#ifndef LEATI_CLI_SERVICE_TABLE_H
#define LEATI_CLI_SERVICE_TABLE_H

#include "base/text.h"
#include <jansson.h>

/* Appends the tables of `state`; `before` (may be NULL) is an earlier state of the same service, of
 * which the rates follow. Names and texts come from other machines: signs that steer a terminal
 * are shown as '?'. A lack of memory shows in `out`. */
void leati_service_table_write(const json_t *state, const json_t *before, leati_text *out);

/* How many workers of the state are ready. */
int64_t leati_service_table_ready(const json_t *state);

/* The state ("ready", ...) and reason of the worker with this address or uid; NULL: it has none.
 * Borrowed; *why is "" where none is said. */
const char *leati_service_table_worker(const json_t *state, const char *worker, const char **why);

#endif
