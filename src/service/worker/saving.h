/* A stream of a snapshot (distributed_save): what a task's producer does in place of making chunks
 * for readers. */
#ifndef LEATI_SERVICE_WORKER_SAVING_H
#define LEATI_SERVICE_WORKER_SAVING_H

#include "service/worker/task.h"

/* Writes the task's stream, whose input is open, to its end. CANCELLED where the task is stopped,
 * or has become another worker's; else what fails, which ends the snapshot. */
LEAT_WARN_UNUSED leat_status leati_worker_saving_write(leati_worker_task *task, leat_error *err);

#endif
