/* Where the sources of a task under DYNAMIC get their splits: leases of the dispatcher, as long as
 * they last a good while, and the next one asked for while the present one is worked on. A task
 * that drains gets no more: nothing is left of any source. */
#ifndef LEATI_SERVICE_WORKER_LEASES_H
#define LEATI_SERVICE_WORKER_LEASES_H

#include "data/run/splits.h"
#include "data/shares/splits.h"
#include "service/worker/task.h"

typedef struct leati_worker_leases leati_worker_leases;

/* For a plan of leati_splits_plan (borrowed for the call) that the task runs. `task` is borrowed
 * until the leases are freed; its `cancel` ends every wait. Owned. */
leati_worker_leases *leati_worker_leases_new(leati_worker_task *task, const leat_dataset *plan,
                                             leat_error *err);
/* Behind the iterator that reads them. NULL is allowed. */
void leati_worker_leases_free(leati_worker_leases *leases);
/* For leati_iterator_extras; lives as long as the leases. */
const leati_splits *leati_worker_leases_splits(const leati_worker_leases *leases);

#endif
