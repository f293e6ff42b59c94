/* News for a worker's heartbeat: whoever rings ends the call that is parked at the dispatcher, so
 * that the next one, with the news, is sent at once. */
#ifndef LEATI_SERVICE_WORKER_BELL_H
#define LEATI_SERVICE_WORKER_BELL_H

#include "run/cancel.h"

typedef struct leati_worker_bell leati_worker_bell;

/* Owned: one reference. */
leati_worker_bell *leati_worker_bell_new(leat_error *err);
leati_worker_bell *leati_worker_bell_ref(leati_worker_bell *bell);
void leati_worker_bell_unref(leati_worker_bell *bell);
/* Any thread, with no lock held. */
void leati_worker_bell_ring(leati_worker_bell *bell);
/* Forgets what was rung and gives what the next ring fires (owned, leati_cancel_unref). `around`
 * cancels it as well. NULL without memory. */
leat_cancel *leati_worker_bell_listen(leati_worker_bell *bell, leat_cancel *around,
                                      leat_error *err);
/* Waits until it rings; LEAT_OK, CANCELLED by `leati_worker_bell_end`, or DEADLINE_EXCEEDED. */
LEAT_WARN_UNUSED leat_status leati_worker_bell_wait(leati_worker_bell *bell, int64_t deadline_ns,
                                                    leat_error *err);
/* Ends waits, now and later. */
void leati_worker_bell_end(leati_worker_bell *bell);

#endif
