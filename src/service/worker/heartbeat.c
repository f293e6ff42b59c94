/* A worker's heartbeat, and the tasks that follow from its answers.
 *
 * Happy path: the call waits at the dispatcher until something is to be done; a task that ends
 * rings the bell, which ends that call, and the next one tells. What the worker has and what it
 * should have is said anew each time, so a lost answer costs nothing. While the dispatcher is away,
 * tasks go on and the heartbeat tries again with pauses that grow.
 *
 * Failures: those of the way are waited for; others are logged once in a row and tried again. The
 * worker's lock is not held while a task is made or ended. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "run/pool.h"
#include "service/worker/worker.h"
#include <inttypes.h>
#include <string.h>

enum { ANSWER_MS = 10 * 1000, TRY_MS = 20 * 1000 };

/* ---- asking ---- */

leat_status leati_worker_ask(leat_worker *worker, const char *method, const leati_message *form,
                             const void *request, const leati_message *answer_form, void *answer,
                             int64_t deadline_ns, leat_cancel *cancel, leat_error *err) {
    leati_text text = {0};
    leat_buffer *bytes = NULL;
    memset(answer, 0, answer_form->size);
    leat_status status = leati_messages_write(form, request, &text, err);
    if (status == LEAT_OK)
        status = worker->control.transport->call(worker->control.channel, method, text.data,
                                                 text.size, deadline_ns, cancel, &bytes, err);
    leati_text_fini(&text);
    if (status == LEAT_OK)
        status = leati_messages_read(answer_form, leat_buffer_data(bytes), leat_buffer_size(bytes),
                                     answer, err);
    leat_buffer_unref(bytes);
    return status;
}

leat_status leati_worker_ask_patiently(leat_worker *worker, const char *method,
                                       const leati_message *form, const void *request,
                                       const leati_message *answer_form, void *answer,
                                       leat_cancel *cancel, leat_error *err) {
    for (int attempt = 0;; attempt++) {
        leat_status status = leati_worker_ask(worker, method, form, request, answer_form, answer,
                                              leati_clock_deadline_ns(TRY_MS), cancel, err);
        if (!leati_control_is_away(status))
            return status;
        LEATI_TRY(leati_control_pause(cancel, attempt, LEATI_NO_DEADLINE, err));
    }
}

/* ---- tasks ---- */

leati_worker_task **leati_worker_tasks_copy(leat_worker *worker, size_t *count, leat_error *err) {
    leati_queue_gate_lock(worker->gate);
    *count = worker->num_tasks;
    leati_worker_task **tasks = leati_alloc(worker->num_tasks, sizeof(leati_worker_task *));
    for (size_t i = 0; tasks != NULL && i < worker->num_tasks; i++)
        tasks[i] = leati_worker_task_ref(worker->tasks[i]);
    leati_queue_gate_unlock(worker->gate);
    if (tasks == NULL)
        (void)leati_no_memory(err);
    return tasks;
}

void leati_worker_tasks_drop(leati_worker_task **tasks, size_t count) {
    for (size_t i = 0; tasks != NULL && i < count; i++)
        leati_worker_task_unref(tasks[i]);
    leati_free(tasks);
}

/* With the lock held. */
static size_t index_of(const leat_worker *worker, int64_t task) {
    size_t i = 0;
    while (i < worker->num_tasks && worker->tasks[i]->about.task != task)
        i++;
    return i;
}

leati_worker_task *leati_worker_find_task(void *context, const struct leati_message_read *asked,
                                          leat_error *err) {
    leat_worker *worker = context;
    leati_worker_task *found = NULL;
    int64_t task = asked->task, attempt = asked->attempt;
    /* Addresses are used again, and so are the numbers of tasks, by other dispatchers. */
    if (asked->worker != NULL && strcmp(asked->worker, worker->uid) != 0) {
        leati_fail(err, LEAT_UNAVAILABLE,
                   "worker %s, which was asked for, is gone; another one has its address %s now",
                   asked->worker, worker->address);
        return NULL;
    }
    leati_queue_gate_lock(worker->gate);
    size_t i = index_of(worker, task);
    if (i < worker->num_tasks && worker->tasks[i]->about.attempt == attempt)
        found = leati_worker_task_ref(worker->tasks[i]);
    leati_queue_gate_unlock(worker->gate);
    if (found == NULL)
        leati_fail(err, LEAT_UNAVAILABLE,
                   "worker %s has no task %" PRId64 " in attempt %" PRId64 " now", worker->address,
                   task, attempt);
    return found;
}

static void end_task(leat_worker *worker, int64_t number) {
    leati_worker_task *task = NULL;
    leati_queue_gate_lock(worker->gate);
    size_t i = index_of(worker, number);
    if (i < worker->num_tasks) {
        task = worker->tasks[i];
        worker->tasks[i] = worker->tasks[--worker->num_tasks];
    }
    leati_queue_gate_unlock(worker->gate);
    if (task == NULL)
        return;
    LEATI_TELL(SERVICE, DEBUG, "worker %s ends task %" PRId64, worker->address, number);
    leati_worker_task_stop(task);
    leati_worker_figures_keep(worker, task);
    leati_worker_task_unref(task);
}

static leat_status ask_splits(void *context, const struct leati_message_splits *request,
                              leat_cancel *cancel, struct leati_message_lease *lease,
                              leat_error *err) {
    return leati_worker_ask_patiently(context, "splits", &leati_message_splits, request,
                                      &leati_message_lease, lease, cancel, err);
}

static leat_status ask_commit(void *context, const struct leati_message_commit *request,
                              leat_cancel *cancel, leat_error *err) {
    struct leati_message_committed answer = {0};
    leat_status status =
        leati_worker_ask_patiently(context, "commit", &leati_message_commit, request,
                                   &leati_message_committed, &answer, cancel, err);
    leati_messages_fini(&leati_message_committed, &answer);
    return status;
}

/* `about` is given. */
static leat_status begin_task(leat_worker *worker, struct leati_message_task *about,
                              leat_error *err) {
    leati_worker_ways ways = {
        .context = worker,
        .dataset = leati_worker_dataset_open,
        .splits = ask_splits,
        .commit = ask_commit,
        .chunk_bytes = worker->options.snapshot_max_chunk_size_bytes,
        .bell = worker->bell,
        .budget = worker->budget,
        .window_bytes = worker->options.cross_trainer_cache_size_bytes,
        .num_threads = worker->options.num_threads,
        .address = worker->address,
    };
    int64_t number = about->task;
    end_task(worker, number);
    leati_worker_task *task = leati_worker_task_new(about, &ways, err);
    if (task == NULL)
        return err->code;
    leati_queue_gate_lock(worker->gate);
    bool stops = worker->state > LEATI_WORKER_SERVING;
    bool added = !stops && leati_grow((void **)&worker->tasks, &worker->tasks_capacity,
                                      worker->num_tasks + 1, sizeof(leati_worker_task *));
    if (added)
        worker->tasks[worker->num_tasks++] = leati_worker_task_ref(task);
    leati_queue_gate_unlock(worker->gate);
    if (!added) {
        leati_worker_task_unref(task);
        return stops ? LEAT_OK : leati_no_memory(err);
    }
    LEATI_TELL(SERVICE, DEBUG, "worker %s has task %" PRId64, worker->address, number);
    /* Readers begin what they read; what goes to files has none. */
    leat_status status =
        task->about.snapshot != NULL ? leati_worker_task_begin(task, err) : LEAT_OK;
    leati_worker_task_unref(task);
    return status;
}

/* ---- the messages ---- */

static leat_status add_report(leati_messages *list, leati_worker_task *task, leat_error *err) {
    struct leati_message_task_report *report =
        leati_messages_add(list, &leati_message_task_report, err);
    return report == NULL ? LEAT_RESOURCE_EXHAUSTED : leati_worker_task_report(task, report, err);
}

static leat_status say_figures(leat_worker *worker, struct leati_message_worker *said,
                               leat_error *err) {
    leati_worker_figures figures = {0};
    LEATI_TRY(leati_worker_measure(worker, err));
    LEATI_TRY(leati_worker_figures_read(worker, &figures, err));
    said->busy = figures.busy;
    said->full = figures.full;
    said->elements = figures.elements;
    said->bytes = figures.bytes;
    said->ready_bytes = figures.ready_bytes;
    said->memory_used_bytes = figures.memory_used_bytes;
    said->memory_budget_bytes = figures.memory_budget_bytes;
    if (figures.slowest[0] == '\0')
        return LEAT_OK;
    said->slowest_share = figures.slowest_share;
    return leati_messages_set_text(&said->slowest, figures.slowest, err);
}

static leat_status say_texts(leat_worker *worker, struct leati_message_worker *said,
                             leat_error *err) {
    leat_string transfers[LEATI_WORKER_TRANSFERS + 1];
    int count = worker->num_transfers;
    for (int i = 0; i < count; i++)
        transfers[i] = (leat_string){worker->transfers[i].text, strlen(worker->transfers[i].text)};
    transfers[count++] = (leat_string){worker->transfer, strlen(worker->transfer)};
    LEATI_TRY(leati_messages_set_text(&said->uid, worker->uid, err));
    LEATI_TRY(leati_messages_set_text(&said->address, worker->address, err));
    LEATI_TRY(leati_strings_copy(transfers, count, &said->transfers, err));
    leat_string *tags = leati_alloc(worker->options.num_worker_tags, sizeof *tags);
    if (tags == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < worker->options.num_worker_tags; i++)
        tags[i] = (leat_string){worker->tags[i], strlen(worker->tags[i])};
    leat_status status =
        leati_strings_copy(tags, (int64_t)worker->options.num_worker_tags, &said->tags, err);
    leati_free(tags);
    return status;
}

static leat_status say_all(leat_worker *worker, int64_t wait_ms, struct leati_message_worker *said,
                           leat_error *err) {
    size_t count = 0;
    said->wait_ms = wait_ms;
    said->cpus = leati_pool_num_cores();
    LEATI_TRY(say_texts(worker, said, err));
    LEATI_TRY(say_figures(worker, said, err));
    leati_worker_task **tasks = leati_worker_tasks_copy(worker, &count, err);
    leat_status status = tasks == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
    for (size_t i = 0; i < count && status == LEAT_OK; i++)
        status = add_report(&said->tasks, tasks[i], err);
    leati_worker_tasks_drop(tasks, count);
    leati_queue_gate_lock(worker->gate);
    said->draining = worker->draining;
    leati_queue_gate_unlock(worker->gate);
    return status;
}

static leat_status take_answer(leat_worker *worker, struct leati_message_worker_answer *answer,
                               leat_error *err) {
    struct leati_message_task *start = answer->start.items;
    leat_status status = LEAT_OK;
    for (int32_t i = 0; i < answer->stop.count; i++)
        end_task(worker, answer->stop.values[i]);
    for (int64_t i = 0; i < answer->start.count && status == LEAT_OK; i++)
        status = begin_task(worker, &start[i], err);
    if (answer->leave) {
        leati_queue_gate_lock(worker->gate);
        /* What it says from now on must not make it one of the workers again. */
        worker->draining = worker->left = true;
        leati_queue_gate_wake(worker->gate);
        leati_queue_gate_unlock(worker->gate);
    }
    return status;
}

leat_status leati_worker_beat(leat_worker *worker, int64_t wait_ms, leat_cancel *cancel,
                              leat_error *err) {
    struct leati_message_worker said = {0};
    struct leati_message_worker_answer answer = {0};
    leat_status status = say_all(worker, wait_ms, &said, err);
    if (status == LEAT_OK)
        status = leati_worker_ask(worker, "worker", &leati_message_worker, &said,
                                  &leati_message_worker_answer, &answer,
                                  leati_clock_deadline_ns(wait_ms + ANSWER_MS), cancel, err);
    if (status == LEAT_OK)
        status = take_answer(worker, &answer, err);
    leati_messages_fini(&leati_message_worker, &said);
    leati_messages_fini(&leati_message_worker_answer, &answer);
    return status;
}

/* ---- the thread ---- */

/* Once in a row of failures, as the dispatcher may be away for long. */
static void complain(leat_worker *worker, int failures, const leat_error *why) {
    if (failures != 0)
        return;
    if (leati_control_is_away(why->code))
        LEATI_TELL(SERVICE, INFO, "worker %s does not reach its dispatcher: %s", worker->address,
                   why->text);
    else
        leati_log(LEAT_LOG_WARNING, "worker %s: its dispatcher refuses the heartbeat: %s",
                  worker->address, why->text);
}

void leati_worker_heart(void *context) {
    leat_worker *worker = context;
    int64_t wait_ms = LEATI_MIN(worker->options.heartbeat_interval_ms, LEATI_SERVICE_WAIT_MS);
    int failures = 0;
    while (!leati_cancel_fired(worker->cancel)) {
        leat_error err = {0};
        leat_cancel *parked = leati_worker_bell_listen(worker->bell, worker->cancel, &err);
        leat_status status = parked == NULL ? LEAT_RESOURCE_EXHAUSTED
                                            : leati_worker_beat(worker, wait_ms, parked, &err);
        bool rung = parked != NULL && leati_cancel_fired(parked);
        leati_cancel_unref(parked);
        leati_worker_streams_reap(worker, false);
        if (status == LEAT_OK || (status == LEAT_CANCELLED && rung)) {
            failures = 0;
            continue;
        }
        complain(worker, failures, &err);
        /* Ends early where the worker is stopped. */
        leat_status paused =
            leati_control_pause(worker->cancel, failures++, LEATI_NO_DEADLINE, &err);
        (void)paused;
    }
}
