/* Tasks: their life, their producer, and what is said of them; see task.h.
 *
 * Happy path: the first reader starts the producer; it makes chunks while the runner has room, and
 * when the input has ended it ends. The worker stops a task that the dispatcher does not want any
 * more: readers are told that it is gone, the producer is joined, memory goes with the last
 * reference.
 *
 * Failures: making the plan fails for good, and every reader is told; the error of one element is
 * an outcome. The task's lock is never held while the dispatcher is asked or an element is made. */
#include "service/worker/task.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/wire/control.h"
#include "service/worker/leases.h"
#include "service/worker/saving.h"
#include "service/worker/shares.h"
#include <inttypes.h>
#include <leat/service.h>
#include <stdio.h>
#include <string.h>

enum { AHEAD_AT_FIRST = 1 };

static const leati_worker_runner *runner_of(const struct leati_message_task *about) {
    if (about->snapshot != NULL)
        return &leati_worker_runner_stored;
    if (about->cached)
        return &leati_worker_runner_window;
    return about->consumers > 0 ? &leati_worker_runner_rounds : &leati_worker_runner_shared;
}

static void wake(void *context) {
    leati_worker_task *task = context;
    leati_queue_gate_lock(task->gate);
    if (task->waits_for_room)
        leati_queue_gate_wake(task->gate);
    leati_queue_gate_unlock(task->gate);
}

static leat_status init(leati_worker_task *task, leat_error *err) {
    char name[64];
    (void)snprintf(name, sizeof name, "task %" PRId64 " of a worker", task->about.task);
    task->runner = runner_of(&task->about);
    task->ahead = AHEAD_AT_FIRST;
    task->cancel = leati_cancel_new(NULL, err);
    task->gate = task->cancel == NULL ? NULL : leati_queue_gate_new(name, task->cancel, err);
    if (task->gate == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    task->state = leati_alloc_zero(1, task->runner->size);
    if (task->state == NULL)
        return leati_no_memory(err);
    leati_worker_holder_open(&task->memory, task->ways.budget, wake, task);
    if (!leati_ranges_are_valid(&task->about.held))
        return leati_refuse(err, VALUE, "task %" PRId64 ": `held` is no list of ascending ranges",
                            task->about.task);
    return task->runner->init != NULL ? task->runner->init(task, err) : LEAT_OK;
}

leati_worker_task *leati_worker_task_new(struct leati_message_task *about,
                                         const leati_worker_ways *ways, leat_error *err) {
    leati_worker_task *task = leati_alloc_zero(1, sizeof *task);
    if (task == NULL) {
        leati_messages_fini(&leati_message_task, about);
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&task->references, 1);
    task->about = *about;
    *about = (struct leati_message_task){0};
    task->ways = *ways;
    task->ways.bell = leati_worker_bell_ref(ways->bell);
    task->ways.budget = leati_worker_budget_ref(ways->budget);
    if (init(task, err) != LEAT_OK) {
        leati_worker_task_unref(task);
        return NULL;
    }
    return task;
}

leati_worker_task *leati_worker_task_ref(leati_worker_task *task) {
    atomic_fetch_add_explicit(&task->references, 1, memory_order_relaxed);
    return task;
}

void leati_worker_task_unref(leati_worker_task *task) {
    if (task == NULL || atomic_fetch_sub(&task->references, 1) != 1)
        return;
    leati_worker_holder_close(&task->memory);
    if (task->state != NULL)
        task->runner->fini(task);
    leati_free(task->state);
    leati_queue_gate_free(task->gate);
    leati_cancel_unref(task->cancel);
    leat_iterator_free(task->iterator);
    leati_worker_leases_free(task->leases);
    leat_dataset_unref(task->dataset);
    leati_worker_bell_unref(task->ways.bell);
    leati_worker_budget_unref(task->ways.budget);
    leati_ranges_fini(&task->acked);
    leati_free(task->failure);
    leati_messages_fini(&leati_message_task, &task->about);
    leati_free(task);
}

void leati_worker_task_fail(leati_worker_task *task, const leat_error *why) {
    if (task->failure != NULL)
        return;
    static const leat_error no_memory = {.code = LEAT_RESOURCE_EXHAUSTED,
                                         .text = "out of memory for an error of a task"};
    /* Where even that has no memory, the task is as good as stopped. */
    task->failure = leati_alloc(1, sizeof *task->failure);
    if (task->failure != NULL)
        *task->failure = *why;
    else
        task->out_of_memory = &no_memory;
    leati_queue_gate_wake(task->gate);
}

/* ---- the producer ---- */

static leat_status check_input(const leati_worker_task *task, const leat_dataset *dataset,
                               leat_error *err) {
    int64_t cardinality = leat_dataset_cardinality(dataset);
    /* Where it is not known how many there are, the end tells. */
    if (task->about.consumers == 0 || cardinality < 0)
        return LEAT_OK;
    return leati_fail(
        err, LEAT_FAILED_PRECONDITION,
        "Round robin reads require that the input dataset has infinite cardinality, but "
        "the dataset has cardinality %" PRId64 "; put repeat() at its end",
        cardinality);
}

/* What the producer reads, while it is being opened. */
typedef struct input {
    leat_dataset *dataset;
    leati_worker_leases *leases;
    leat_iterator *iterator;
} input;

static leat_status make_input(leati_worker_task *task, input *in, leat_error *err) {
    leat_dataset *dataset = task->ways.dataset(task->ways.context, &task->about, task->cancel, err);
    if (dataset == NULL)
        return err->code;
    leat_status status = check_input(task, dataset, err);
    if (status != LEAT_OK) {
        leat_dataset_unref(dataset);
        return status;
    }
    in->dataset = leati_worker_share(&task->about, dataset, err);
    if (in->dataset == NULL)
        return err->code;
    leati_iterator_extras extras = {0};
    if (task->about.policy == LEAT_SERVICE_DYNAMIC) {
        in->leases = leati_worker_leases_new(task, in->dataset, err);
        if (in->leases == NULL)
            return err->code;
        extras.splits = leati_worker_leases_splits(in->leases);
    }
    leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS};
    options.num_threads = task->ways.num_threads;
    in->iterator = leati_iterator_new_with(in->dataset, &options, &extras, err);
    if (in->iterator == NULL)
        return err->code;
    leati_iterator_ask_ahead(in->iterator);
    return LEAT_OK;
}

static leat_status open_input(leati_worker_task *task, leat_error *err) {
    input in = {0};
    leat_status status = make_input(task, &in, err);
    leati_queue_gate_lock(task->gate);
    task->dataset = in.dataset;
    task->leases = in.leases;
    task->iterator = in.iterator;
    leati_queue_gate_unlock(task->gate);
    return status;
}

/* The next rows, or the error of one element, as a chunk of position task->made. NULL: the input
 * has ended, or there is no memory; the error says which. */
static leati_worker_chunk *make_chunk(leati_worker_task *task, leat_error *err) {
    leati_worker_chunk *chunk = leati_alloc_zero(1, sizeof *chunk);
    if (chunk == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    int64_t available = 0, begin = 0;
    leat_status status = leati_iterator_ready(task->iterator, &available, err);
    if (status == LEAT_OK) {
        const leati_block *block = leati_iterator_block(task->iterator, &begin);
        status = leati_block_slice(block, begin, available, &chunk->block, err);
        if (status == LEAT_OK) {
            leati_iterator_consume(task->iterator, available);
            chunk->bytes = (int64_t)LEATI_MIN(leati_block_bytes(&chunk->block), (size_t)INT64_MAX);
            return chunk;
        }
    } else if (!leati_error_is_end(err) && status != LEAT_CANCELLED) {
        chunk->error = leati_alloc(1, sizeof *chunk->error);
        if (chunk->error != NULL) {
            *chunk->error = *err;
            chunk->bytes = (int64_t)sizeof *chunk->error;
            return chunk;
        }
    }
    leati_worker_chunk_free(chunk);
    return NULL;
}

static bool has_room(leati_worker_task *task) {
    return task->runner->room(task) &&
           (task->runner->bare(task) || leati_worker_holder_has_room(&task->memory));
}

/* Gives up what is too much. True: there is something to do without the lock. */
static bool fit(leati_worker_task *task, leati_worker_chunks *dropped, bool *wakes) {
    if (task->runner->fit == NULL)
        return false;
    task->runner->fit(task, dropped);
    *wakes = leati_worker_task_count(task);
    return *wakes || dropped->first != NULL;
}

/* Waits for room. True with something in `dropped`, or others to be woken: the caller sees to that,
 * without the lock, and comes again. */
static bool may_go_on(leati_worker_task *task, leati_worker_chunks *dropped, bool *wakes) {
    leat_status status = LEAT_OK;
    while (status == LEAT_OK && !task->stopped && !leati_worker_task_failed(task) &&
           !fit(task, dropped, wakes) && !has_room(task)) {
        if (!task->waits_for_room)
            task->full_since_ns = leati_now_ns();
        task->waits_for_room = true;
        status = leati_queue_gate_wait(task->gate, LEATI_WAIT_CONSUMER, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    }
    if (task->waits_for_room)
        task->full_ns += leati_now_ns() - task->full_since_ns;
    task->full_since_ns = 0;
    task->waits_for_room = false;
    return status == LEAT_OK && !task->stopped && !leati_worker_task_failed(task);
}

static void end_input(leati_worker_task *task) {
    leat_error err = {0};
    task->ended = true;
    if (task->runner->end != NULL && task->runner->end(task, &err) != LEAT_OK)
        leati_worker_task_fail(task, &err);
}

/* With the lock held: what a call of make_chunk led to. False: the producer ends. */
static bool take_chunk(leati_worker_task *task, leati_worker_chunk *chunk, const leat_error *why,
                       leati_worker_chunks *dropped) {
    leat_error err = {0};
    bool goes_on = false;
    if (task->stopped) {
        if (chunk != NULL)
            leati_worker_chunks_add(dropped, chunk);
        return false;
    }
    if (chunk == NULL && !leati_error_is_end(why)) {
        leati_worker_task_fail(task, why);
    } else if (chunk == NULL) {
        end_input(task);
    } else {
        /* A failure in place of the end would come again and again. */
        bool last = chunk->error != NULL && chunk->error->at_end;
        chunk->position = task->made;
        task->made += leati_worker_chunk_outcomes(chunk);
        if (last && task->runner->end != NULL)
            leati_worker_task_fail(task, chunk->error);
        if (task->runner->put(task, chunk, dropped, &err) != LEAT_OK)
            leati_worker_task_fail(task, &err);
        if (last)
            end_input(task);
        goes_on = !last;
    }
    leati_queue_gate_wake(task->gate);
    return goes_on;
}

/* Makes the next chunk. False: it was the last one. */
static bool make(leati_worker_task *task, leati_worker_chunks *dropped, bool *wakes) {
    leat_error why = {0};
    int64_t start = leati_now_ns();
    leati_worker_chunk *chunk = make_chunk(task, &why);
    int64_t now = leati_now_ns();
    leati_queue_gate_lock(task->gate);
    task->busy_ns += now - start;
    bool on = take_chunk(task, chunk, &why, dropped);
    *wakes = leati_worker_task_count(task);
    leati_queue_gate_unlock(task->gate);
    return on;
}

static void produce(leati_worker_task *task) {
    for (bool on = true; on;) {
        leati_worker_chunks dropped = {0};
        bool wakes = false;
        leati_queue_gate_lock(task->gate);
        on = may_go_on(task, &dropped, &wakes);
        leati_queue_gate_unlock(task->gate);
        if (on && !wakes && dropped.first == NULL)
            on = make(task, &dropped, &wakes);
        leati_worker_chunks_free(&dropped);
        if (wakes)
            leati_worker_budget_wake(task->ways.budget);
    }
    leati_worker_task_tell(task, false);
}

/* A stream that goes to files has no readers: whatever fails is the task's failure. */
static bool run(leati_worker_task *task, leat_error *err) {
    if (open_input(task, err) != LEAT_OK)
        return false;
    if (task->about.snapshot == NULL) {
        produce(task);
        return true;
    }
    if (leati_worker_saving_write(task, err) != LEAT_OK)
        return false;
    leati_queue_gate_lock(task->gate);
    task->ended = true;
    leati_queue_gate_unlock(task->gate);
    leati_worker_task_tell(task, false);
    return true;
}

/* It was stopped, or is about to be: that is no failure of a snapshot, which another worker goes on
 * with. */
static bool is_told_to_stop(const leati_worker_task *task, const leat_error *err) {
    return task->about.snapshot != NULL && err->code == LEAT_CANCELLED;
}

static void fail(leati_worker_task *task, leat_error *why) {
    /* Readers would take it for the way's and come again. */
    if (task->about.snapshot == NULL && leati_control_is_away(why->code))
        leati_error_wrap(why, LEAT_FAILED_PRECONDITION, "the pipeline cannot be opened");
    leati_queue_gate_lock(task->gate);
    leati_worker_task_fail(task, why);
    leati_queue_gate_unlock(task->gate);
    leati_worker_task_tell(task, false);
}

static void producer_main(void *context) {
    leat_error err = {0};
    if (!run(context, &err) && !is_told_to_stop(context, &err))
        fail(context, &err);
}

leat_status leati_worker_task_begin(leati_worker_task *task, leat_error *err) {
    leat_status status = LEAT_OK;
    bool wakes = false;
    leati_queue_gate_lock(task->gate);
    if (task->producer == NULL && !task->stopped) {
        task->producer = leati_driver_start("leat-task", producer_main, task, err);
        status = task->producer == NULL ? err->code : LEAT_OK;
        if (status == LEAT_OK && task->about.snapshot == NULL)
            wakes = leati_worker_holder_begin(&task->memory);
    }
    leati_queue_gate_unlock(task->gate);
    if (wakes)
        leati_worker_budget_wake(task->ways.budget);
    return status;
}

/* ---- the worker's side ---- */

void leati_worker_task_cancel(leati_worker_task *task) {
    leati_queue_gate_lock(task->gate);
    task->stopped = true;
    leat_iterator *iterator = task->iterator;
    leati_queue_gate_wake(task->gate);
    leati_queue_gate_unlock(task->gate);
    leati_cancel_fire(task->cancel);
    /* It lives until the producer is joined; one that is opened meanwhile is not pulled. */
    if (iterator != NULL)
        leat_iterator_cancel(iterator);
}

void leati_worker_task_stop(leati_worker_task *task) {
    leati_worker_task_cancel(task);
    leati_driver_join(task->producer);
    leati_queue_gate_lock(task->gate);
    leat_iterator *iterator = task->iterator;
    leati_worker_leases *leases = task->leases;
    task->producer = NULL;
    task->iterator = NULL;
    task->leases = NULL;
    leati_queue_gate_unlock(task->gate);
    leat_iterator_free(iterator);
    leati_worker_leases_free(leases);
}

void leati_worker_task_drain(leati_worker_task *task) {
    leati_queue_gate_lock(task->gate);
    task->draining = true;
    leati_queue_gate_unlock(task->gate);
}

/* One that has failed is once readers have what was made before. With the lock held. */
static bool finished(const leati_worker_task *task) {
    if (leati_worker_task_failed(task))
        return task->about.snapshot != NULL || task->runner->held(task) == 0;
    return task->ended && task->runner->done(task);
}

bool leati_worker_task_count(leati_worker_task *task) {
    leati_worker_held held = {0};
    if (task->runner->count != NULL)
        task->runner->count(task, &held);
    else
        held.all = held.ready = task->runner->held(task);
    return leati_worker_holder_set(&task->memory, &held);
}

void leati_worker_task_tell(leati_worker_task *task, bool wakes) {
    leati_queue_gate_lock(task->gate);
    bool is = finished(task), now = is && !task->told && !task->stopped;
    task->told = task->told || now;
    if (is && leati_worker_holder_end(&task->memory))
        wakes = true;
    leati_queue_gate_unlock(task->gate);
    if (now)
        leati_worker_bell_ring(task->ways.bell);
    if (wakes)
        leati_worker_budget_wake(task->ways.budget);
}

/* Readers know whose stream they read, and say so; who hears of it by the dispatcher does not. */
static leat_status say_failure(const leati_worker_task *task, const leat_error *failure, char **out,
                               leat_error *err) {
    leat_error said = *failure;
    (void)leati_prefix(&said, "worker %s", task->ways.address);
    return leati_messages_set_text(out, said.text, err);
}

leat_status leati_worker_task_report(leati_worker_task *task, struct leati_message_task_report *out,
                                     leat_error *err) {
    leati_queue_gate_lock(task->gate);
    const leat_error *failure = finished(task) ? leati_worker_task_failed(task) : NULL;
    out->task = task->about.task;
    out->attempt = task->about.attempt;
    out->elements = task->given;
    out->bytes = task->given_bytes;
    out->done = finished(task);
    out->failed = failure != NULL ? failure->code : LEAT_OK;
    out->element_ns = task->made > 0 ? task->busy_ns / task->made : 0;
    leat_status status = leati_ranges_copy(&task->acked, &out->acked, err);
    if (status == LEAT_OK && failure != NULL)
        status = say_failure(task, failure, &out->text, err);
    leati_queue_gate_unlock(task->gate);
    return status;
}

int64_t leati_worker_task_held(leati_worker_task *task) {
    leati_queue_gate_lock(task->gate);
    int64_t bytes = task->runner->held(task);
    leati_queue_gate_unlock(task->gate);
    return bytes;
}

int64_t leati_worker_task_full_ns(leati_worker_task *task) {
    leati_queue_gate_lock(task->gate);
    int64_t since = task->full_since_ns,
            full = task->full_ns + (since > 0 ? leati_now_ns() - since : 0);
    leati_queue_gate_unlock(task->gate);
    return full;
}

leat_spec *leati_worker_task_spec(leati_worker_task *task) {
    leati_queue_gate_lock(task->gate);
    leat_spec *spec =
        task->dataset == NULL ? NULL : leat_spec_ref(leat_dataset_spec(task->dataset));
    leati_queue_gate_unlock(task->gate);
    return spec;
}
