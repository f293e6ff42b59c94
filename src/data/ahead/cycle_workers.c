/* Cycles: the workers, drivers that read datasets ahead of their turns. See cycle_parts.h.
 *
 * Happy path: where reading ahead turns out to be worth a driver's while, the consumer hires one,
 * each time that it has to do the work or to wait, up to as many as the pool has threads. So the
 * number of threads does not depend on cycle_length. Failures: without threads the consumer does
 * everything. Locks: the gate. */
#include "base/clock.h"
#include "base/debug.h"
#include "base/log.h"
#include "data/ahead/cycle_parts.h"

void leati_cycle_workers_wake(leati_cycle_workers *workers) {
    if (workers->hiring.resting > 0 && leati_cycle_ahead_choose(workers) != NULL)
        leati_queue_gate_wake(workers->gate);
}

static void drive(void *context) {
    leati_cycle_worker *worker = context;
    leati_cycle_workers *workers = worker->workers;
    leati_pool *pool = workers->below.pool;
    leati_pool_token_acquire(pool);
    leati_queue_gate_lock(workers->gate);
    while (!workers->hiring.stop) {
        leati_cycle_slot *slot = leati_cycle_ahead_choose(workers);
        if (slot == NULL) {
            workers->hiring.resting++;
            leat_status status = leati_queue_gate_wait(workers->gate, LEATI_WAIT_CONSUMER,
                                                       LEATI_NO_DEADLINE, NULL, &(leat_error){0});
            workers->hiring.resting--;
            if (status != LEAT_OK)
                break;
            continue;
        }
        leati_cycle_found f =
            leati_cycle_ahead_begin(workers, slot, (leati_cycle_ahead_turn_rows(workers) + 1) / 2);
        leati_queue_gate_unlock(workers->gate);
        leati_cycle_slot_read(workers->cycle, slot, &worker->inner, &f);
        leati_queue_gate_lock(workers->gate);
        leati_cycle_ahead_publish(workers, slot, &f);
        /* In order the consumer waits for one slot; woken for another it would only wait again. */
        bool awaited = workers->stock.awaited == slot ||
                       (workers->stock.awaited != NULL && workers->cycle->options.any_order);
        if (awaited || workers->hiring.hold)
            leati_queue_gate_wake(workers->gate);
    }
    leati_queue_gate_unlock(workers->gate);
    leati_pool_token_release(pool);
    leati_queue_gate_lock(workers->gate);
    workers->hiring.running--;
    leati_queue_gate_wake(workers->gate);
    leati_queue_gate_unlock(workers->gate);
}

void leati_cycle_workers_hire(leati_cycle_workers *workers) {
    leati_cycle_worker *worker = &workers->hiring.all[workers->hiring.hired];
    worker->workers = workers;
    if (leati_inner_init(&worker->inner, workers->cycle->node, &(leat_error){0}) == LEAT_OK) {
        leati_queue_gate_lock(workers->gate);
        /* Counted before it runs: a driver that ends at once counts itself out. */
        workers->hiring.running++;
        leati_queue_gate_unlock(workers->gate);
        worker->driver = leati_driver_start(workers->cycle->node->dataset->op->name, drive, worker,
                                            &(leat_error){0});
    }
    if (worker->driver != NULL) {
        workers->hiring.hired++;
        LEATI_TELL(DATA, DEBUG, "%s: driver %d is hired, since the others are busy",
                   workers->cycle->node->name, workers->hiring.hired);
        return;
    }
    leati_queue_gate_lock(workers->gate);
    /* Without scratch it was not counted. After one refusal nobody else is hired. */
    workers->hiring.running -= worker->inner.scratch != NULL;
    workers->hiring.most = workers->hiring.hired;
    leati_queue_gate_unlock(workers->gate);
    leati_inner_fini(&worker->inner);
}

bool leati_cycle_workers_lack(const leati_cycle_workers *workers) {
    return workers->hiring.hired < workers->hiring.most && workers->hiring.resting == 0 &&
           leati_cycle_ahead_choose(workers) != NULL;
}

void leati_cycle_workers_hold(leati_cycle_workers *workers) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(workers->gate);
    workers->hiring.hold = true;
    while (workers->stock.busy > 0 && status == LEAT_OK)
        status = leati_queue_gate_wait(workers->gate, LEATI_WAIT_CPU, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    leati_queue_gate_unlock(workers->gate);
}

void leati_cycle_workers_release(leati_cycle_workers *workers) {
    leati_queue_gate_lock(workers->gate);
    workers->hiring.hold = false;
    leati_cycle_workers_wake(workers);
    leati_queue_gate_unlock(workers->gate);
}

/* ---- opening and closing ---- */

static void wake_cancelled(leati_cancel_watch *watch) {
    leati_cycle_workers *workers =
        (leati_cycle_workers *)((char *)watch - offsetof(leati_cycle_workers, watch));
    leati_queue_gate_lock(workers->gate);
    leati_queue_gate_wake(workers->gate);
    leati_queue_gate_unlock(workers->gate);
}

/* More drivers than threads of the pool would only wait for its tokens, and those that find nothing
 * to do cost nothing: so there is nothing to tune. */
static int most_drivers(const leati_cycle_workers *workers) {
    const leati_cycle_options *options = &workers->cycle->options;
    int64_t most = leati_pool_size(workers->below.pool), limit = options->limit;
    most = options->cycle_length < most / 2 + 1 ? 2 * options->cycle_length : most;
    return (int)(limit != LEAT_AUTOTUNE && limit < most ? limit : most);
}

static leat_status open_workers(leati_cycle_workers *workers, leat_error *err) {
    leati_node_state *node = workers->cycle->node;
    workers->cancel = leati_cancel_new(node->iteration->cancel, err);
    if (workers->cancel == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    workers->gate = leati_queue_gate_new(node->name, NULL, err);
    if (workers->gate == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    workers->watch.fired = wake_cancelled;
    leati_cancel_watch_add(workers->cancel, &workers->watch);
    workers->below.cancel = workers->cancel;
    workers->hiring.all =
        leati_alloc_zero((size_t)workers->hiring.most, sizeof(*workers->hiring.all));
    return workers->hiring.all == NULL ? leati_no_memory(err) : LEAT_OK;
}

leati_cycle_workers *leati_cycle_workers_new(leati_cycle *cycle, leat_error *err) {
    leati_cycle_workers *workers = leati_alloc_zero(1, sizeof(*workers));
    if (workers == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    workers->cycle = cycle;
    workers->below = *cycle->node->iteration;
    workers->below.deadline_ns = LEATI_NO_DEADLINE;
    const leat_dataset *dataset = cycle->node->dataset;
    workers->ahead = dataset->inputs[0]->pure && leati_inner_pure(dataset);
    workers->rates.ask = 1;
    workers->rates.worth = workers->below.verify;
    workers->hiring.most = most_drivers(workers);
    if (open_workers(workers, err) != LEAT_OK) {
        leati_cycle_workers_free(workers);
        return NULL;
    }
    return workers;
}

void leati_cycle_workers_stop(leati_cycle_workers *workers) {
    leat_status status = LEAT_OK;
    leati_cancel_fire(workers->cancel);
    leati_queue_gate_lock(workers->gate);
    workers->hiring.stop = true;
    leati_queue_gate_wake(workers->gate);
    /* Waiting here gives up a CPU token, which joining would keep. */
    while (workers->hiring.running > 0 && status == LEAT_OK)
        status = leati_queue_gate_wait(workers->gate, LEATI_WAIT_CPU, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    leati_queue_gate_unlock(workers->gate);
    for (int i = 0; i < workers->hiring.hired; i++) {
        leati_driver_join(workers->hiring.all[i].driver);
        workers->hiring.all[i].driver = NULL;
    }
}

void leati_cycle_workers_free(leati_cycle_workers *workers) {
    const leati_cycle_stock *stock = &workers->stock;
    LEATI_ASSERT(stock->held == 0 && stock->blocks == 0 && stock->rows == 0 && stock->busy == 0);
    if (workers->gate != NULL)
        leati_cancel_watch_remove(workers->cancel, &workers->watch);
    for (int i = 0; i < workers->hiring.hired; i++)
        leati_inner_fini(&workers->hiring.all[i].inner);
    leati_free(workers->hiring.all);
    leati_queue_gate_free(workers->gate);
    leati_cancel_unref(workers->cancel);
    leati_free(workers);
}
