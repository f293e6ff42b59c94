/* The share of a task; see shares.h.
 *
 * FILE_OR_DATA is DATA where FILE finds no files. Under DATA the share is taken at the end of the
 * plan, so every worker computes all elements below. Failures: those of the walks. No locks. */
#include "service/worker/shares.h"
#include "base/error.h"
#include "data/shares/sharding.h"
#include "data/shares/splits.h"
#include <inttypes.h>
#include <leat/data_ops.h>
#include <leat/service.h>

static leat_dataset *by_data(const struct leati_message_task *task, leat_dataset *dataset,
                             leat_error *err) {
    return task->num_shards > 1 ? leat_dataset_shard(dataset, task->num_shards, task->shard, err)
                                : dataset;
}

static leat_dataset *by_files(const struct leati_message_task *task, const leat_dataset *dataset,
                              leat_error *err) {
    char text[240] = "";
    leat_dataset *share = leati_sharding_by_files(dataset, (int)task->num_shards, (int)task->shard,
                                                  text, sizeof text, err);
    if (share == NULL && err->code == LEAT_NOT_FOUND)
        leati_fail(err, LEAT_NOT_FOUND,
                   "processing_mode FILE deals out files, and finds none here: %s; use DATA, or "
                   "FILE_OR_DATA",
                   text);
    return share;
}

static bool is_static(const struct leati_message_task *task) {
    return task->policy != LEAT_SERVICE_OFF && task->policy != LEAT_SERVICE_DYNAMIC;
}

leat_dataset *leati_worker_share(const struct leati_message_task *task, leat_dataset *dataset,
                                 leat_error *err) {
    leat_dataset *share = NULL;
    leat_error local = {0};
    int marked = 0;
    if (is_static(task) && (task->shard >= task->num_shards || task->num_shards > INT32_MAX)) {
        leati_refuse(err, VALUE, "task %" PRId64 " is share %" PRId64 " of %" PRId64, task->task,
                     task->shard, task->num_shards);
        leat_dataset_unref(dataset);
        return NULL;
    }
    switch ((leat_service_policy)task->policy) {
    case LEAT_SERVICE_OFF: return dataset;
    case LEAT_SERVICE_DATA: return by_data(task, dataset, err);
    case LEAT_SERVICE_FILE: share = by_files(task, dataset, err); break;
    case LEAT_SERVICE_FILE_OR_DATA:
        share = by_files(task, dataset, &local);
        if (share == NULL && local.code == LEAT_NOT_FOUND)
            return by_data(task, dataset, err);
        if (share == NULL)
            *err = local;
        break;
    case LEAT_SERVICE_HINT:
        share =
            leati_sharding_by_hints(dataset, (int)task->num_shards, (int)task->shard, &marked, err);
        break;
    case LEAT_SERVICE_DYNAMIC: share = leati_splits_plan(dataset, err); break;
    default:
        leati_fail(err, LEAT_UNIMPLEMENTED,
                   "task %" PRId64 " has policy %" PRId64
                   ", which this version of leat does not know",
                   task->task, task->policy);
    }
    leat_dataset_unref(dataset);
    return share;
}
