/* What a worker measures of itself: how busy its threads are, which operator bounds it, what it has
 * given.
 *
 * Happy path: each heartbeat measures over the time since the one before, at least half a second,
 * as shorter spans say nothing; the last figures stand under the worker's lock for whoever asks.
 * The operators' counters are those of explain. The thread that measures is the one that makes and
 * ends tasks, so a task's iterator lives while it is looked at. Failures: RESOURCE_EXHAUSTED. The
 * locks of the worker and of its tasks are taken one at a time. */
#include "base/clock.h"
#include "base/minmax.h"
#include "data/run/explain.h"
#include "run/pool.h"
#include "service/worker/worker.h"
#include <stdio.h>

enum { LEAST_NS = 500 * 1000 * 1000 };

/* What the tasks did since the last look. */
struct look {
    int64_t busy_ns, full_ns, slowest_ns, running;
    char slowest[64];
};

static void look_at(leati_worker_task *task, struct look *look) {
    leati_load load = {0};
    leati_queue_gate_lock(task->gate);
    leat_iterator *iterator = task->iterator;
    bool runs = iterator != NULL && !task->ended;
    leati_queue_gate_unlock(task->gate);
    if (iterator == NULL)
        return;
    leati_iterator_load(iterator, &load);
    int64_t full = leati_worker_task_full_ns(task);
    look->busy_ns += load.busy_ns;
    look->full_ns += full - task->full_told_ns;
    task->full_told_ns = full;
    look->running += runs;
    if (load.slowest_ns > look->slowest_ns) {
        look->slowest_ns = load.slowest_ns;
        (void)snprintf(look->slowest, sizeof look->slowest, "%s", load.slowest);
    }
}

static double share_of(int64_t part_ns, int64_t whole_ns) {
    return LEATI_MIN(1, (double)LEATI_MAX(part_ns, 0) / (double)whole_ns);
}

leat_status leati_worker_measure(leat_worker *worker, leat_error *err) {
    int64_t now = leati_now_ns(), span = now - worker->measured_ns;
    int threads = worker->options.num_threads;
    struct look look = {0};
    size_t count = 0;
    if (worker->measured_ns != 0 && span < LEAST_NS)
        return LEAT_OK;
    leati_worker_task **tasks = leati_worker_tasks_copy(worker, &count, err);
    if (tasks == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < count; i++)
        look_at(tasks[i], &look);
    leati_worker_tasks_drop(tasks, count);
    worker->measured_ns = now;
    threads = threads > 0 ? threads : leati_pool_num_cores();
    leati_queue_gate_lock(worker->gate);
    leati_worker_figures *figures = &worker->figures;
    figures->busy = share_of(look.busy_ns, span * threads);
    figures->full = look.running == 0 ? 0 : share_of(look.full_ns, span * look.running);
    figures->slowest_share = share_of(look.slowest_ns, span);
    (void)snprintf(figures->slowest, sizeof figures->slowest, "%s", look.slowest);
    leati_queue_gate_unlock(worker->gate);
    return LEAT_OK;
}

static void add_given(leati_worker_task *task, int64_t *elements, int64_t *bytes) {
    leati_queue_gate_lock(task->gate);
    *elements += task->given;
    *bytes += task->given_bytes;
    leati_queue_gate_unlock(task->gate);
}

void leati_worker_figures_keep(leat_worker *worker, leati_worker_task *task) {
    int64_t elements = 0, bytes = 0;
    add_given(task, &elements, &bytes);
    leati_queue_gate_lock(worker->gate);
    worker->ended_elements += elements;
    worker->ended_bytes += bytes;
    leati_queue_gate_unlock(worker->gate);
}

leat_status leati_worker_figures_read(leat_worker *worker, leati_worker_figures *out,
                                      leat_error *err) {
    size_t count = 0;
    leati_worker_task **tasks = leati_worker_tasks_copy(worker, &count, err);
    if (tasks == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_queue_gate_lock(worker->gate);
    *out = worker->figures;
    out->elements = worker->ended_elements;
    out->bytes = worker->ended_bytes;
    leati_queue_gate_unlock(worker->gate);
    out->tasks = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        add_given(tasks[i], &out->elements, &out->bytes);
        out->ready_bytes += leati_worker_task_held(tasks[i]);
    }
    out->memory_used_bytes = leati_worker_budget_used(worker->budget);
    out->memory_budget_bytes = leati_worker_budget_limit(worker->budget);
    leati_worker_tasks_drop(tasks, count);
    return LEAT_OK;
}
