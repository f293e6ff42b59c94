/* Which part of a dataset a task's policy has it run. */
#ifndef LEATI_SERVICE_WORKER_SHARES_H
#define LEATI_SERVICE_WORKER_SHARES_H

#include "service/wire/messages.h"
#include <leat/data.h>

/* The plan of a task: `dataset` (given) itself under OFF, the task's share of files or elements
 * under the static policies, and under DYNAMIC one over splits that are handed out
 * (data/shares/splits.h). NOT_FOUND where FILE finds no files, UNIMPLEMENTED where DYNAMIC meets an
 * operator that takes no part. Owned; NULL on failure. */
leat_dataset *leati_worker_share(const struct leati_message_task *task, leat_dataset *dataset,
                                 leat_error *err);

#endif
