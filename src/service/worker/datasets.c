/* The datasets that a worker knows, by their ids, and the plan that a task runs.
 *
 * Happy path: the first task of a dataset asks the dispatcher for its plan; others find it here.
 * Each task makes nodes of its own of the text, so that tasks share no seeds and no caches; what
 * the text only names (wire/plans.h) is one dataset for all.
 *
 * Failures: those of the dispatcher, and of making the plan. The worker's lock is not held while
 * the dispatcher is asked: two tasks may ask for the same dataset at once, and one answer is kept.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "data/plan/dataset.h"
#include "service/wire/plans.h"
#include "service/worker/worker.h"
#include <inttypes.h>
#include <string.h>

enum { MOST_KEPT = 64 };

/* The newest use first. */
struct leati_worker_dataset {
    leati_worker_dataset *next;
    struct leati_message_dataset said;
};

static void free_dataset(leati_worker_dataset *dataset) {
    if (dataset != NULL)
        leati_messages_fini(&leati_message_dataset, &dataset->said);
    leati_free(dataset);
}

/* Takes the dataset of an id out of the list, as it is moved to the front; with the lock held. */
static leati_worker_dataset *take_out(leat_worker *worker, const char *id) {
    for (leati_worker_dataset **link = &worker->datasets; *link != NULL; link = &(*link)->next) {
        leati_worker_dataset *dataset = *link;
        if (strcmp(dataset->said.dataset_id, id) == 0) {
            *link = dataset->next;
            return dataset;
        }
    }
    return NULL;
}

/* A copy of the plan's text, where it is known. Owned. */
static char *find_plan(leat_worker *worker, const char *id) {
    leati_queue_gate_lock(worker->gate);
    leati_worker_dataset *dataset = take_out(worker, id);
    if (dataset != NULL) {
        dataset->next = worker->datasets;
        worker->datasets = dataset;
    }
    char *plan = dataset == NULL ? NULL : leati_strdup(dataset->said.plan);
    leati_queue_gate_unlock(worker->gate);
    return plan;
}

static void keep(leat_worker *worker, leati_worker_dataset *dataset) {
    leati_worker_dataset *last = NULL;
    int count = 0;
    leati_queue_gate_lock(worker->gate);
    leati_worker_dataset *before = take_out(worker, dataset->said.dataset_id);
    dataset->next = worker->datasets;
    worker->datasets = dataset;
    for (leati_worker_dataset **link = &worker->datasets; *link != NULL; link = &(*link)->next)
        if (++count > MOST_KEPT) {
            last = *link;
            *link = NULL;
            break;
        }
    leati_queue_gate_unlock(worker->gate);
    free_dataset(before);
    free_dataset(last);
}

static char *ask_plan(leat_worker *worker, const char *id, leat_cancel *cancel, leat_error *err) {
    struct leati_message_dataset_id request = {.dataset_id = (char *)(uintptr_t)id};
    leati_worker_dataset *dataset = leati_alloc_zero(1, sizeof *dataset);
    if (dataset == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    leat_status status =
        leati_worker_ask_patiently(worker, "get_dataset", &leati_message_dataset_id, &request,
                                   &leati_message_dataset, &dataset->said, cancel, err);
    if (status == LEAT_OK && dataset->said.plan == NULL)
        status = leati_fail(err, LEAT_INTERNAL, "the dispatcher gave no plan for dataset %s", id);
    if (status == LEAT_OK)
        status = leati_messages_set_text(&dataset->said.dataset_id, id, err);
    char *plan = status == LEAT_OK ? leati_strdup(dataset->said.plan) : NULL;
    if (status == LEAT_OK && plan == NULL)
        (void)leati_no_memory(err);
    if (plan != NULL)
        keep(worker, dataset);
    else
        free_dataset(dataset);
    return plan;
}

leat_dataset *leati_worker_dataset_open(void *context, const struct leati_message_task *task,
                                        leat_cancel *cancel, leat_error *err) {
    leat_worker *worker = context;
    if (task->dataset_id == NULL) {
        leati_fail(err, LEAT_INTERNAL, "task %" PRId64 " names no dataset", task->task);
        return NULL;
    }
    char *plan = find_plan(worker, task->dataset_id);
    if (plan == NULL)
        plan = ask_plan(worker, task->dataset_id, cancel, err);
    if (plan == NULL)
        return NULL;
    leat_dataset *dataset = leati_plans_read(plan, err);
    leati_free(plan);
    return dataset;
}

void leati_worker_datasets_fini(leat_worker *worker) {
    for (leati_worker_dataset *dataset; (dataset = worker->datasets) != NULL;) {
        worker->datasets = dataset->next;
        free_dataset(dataset);
    }
}
