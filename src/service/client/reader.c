/* Reading one iteration: opening, taking, closing; see reader.h.
 *
 * Happy path: open_iteration gives the client's number; the heart learns the tasks, the tender
 * opens streams to their workers, and blocks come and are taken in the order of arrival, which is
 * fair because no task may have more under way than its window. Within a task the order is the
 * worker's; with one worker it is the dataset's. The end: the dispatcher says that no tasks come
 * any more, and each has come to its end. Failures: an element's error is that element's; what ends
 * the iteration is told once, then it is at its end. Locks: the reader's gate; never while a stream
 * is written. */
#include "service/client/reader.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "base/random.h"
#include "service/client/reader_parts.h"
#include <stdio.h>
#include <string.h>

enum {
    OPEN_MS = 60 * 60 * 1000, /* for which a dispatcher that cannot be reached is waited for */
    RELEASE_MS = 300
};

/* ---- parts ---- */

void leati_client_reader_queue_add(leati_client_reader_queue *queue,
                                   leati_client_reader_part *part) {
    part->next = NULL;
    *queue->last = part;
    queue->last = &part->next;
}

leati_client_reader_part *leati_client_reader_queue_take(leati_client_reader_queue *queue) {
    leati_client_reader_part *part = queue->first;
    if (part == NULL)
        return NULL;
    queue->first = part->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return part;
}

leati_client_reader_part *leati_client_reader_part_take(leati_client_reader *reader) {
    leati_client_reader_part *part = reader->spare;
    if (part == NULL)
        return leati_alloc_zero(1, sizeof *part);
    reader->spare = part->next;
    part->next = NULL;
    return part;
}

void leati_client_reader_part_drop(leati_client_reader *reader, leati_client_reader_part *part) {
    leati_client_reader_task *task = part->task;
    if (task != NULL) {
        task->here -= part->n - part->taken;
        reader->buffered -= part->n - part->taken;
        reader->bytes -= part->bytes;
    }
    leati_block_clear(&part->rows);
    leati_free(part->why);
    *part = (leati_client_reader_part){.rows = part->rows, .next = reader->spare};
    reader->spare = part;
    leati_client_reader_task_unref(task);
}

void leati_client_reader_fail(leati_client_reader *reader, const leat_error *why) {
    if (reader->failed)
        return;
    reader->failed = true;
    reader->failure = *why;
}

/* ---- life ---- */

void leati_client_reader_ref(leati_client_reader *reader) {
    atomic_fetch_add(&reader->references, 1);
}

void leati_client_reader_unref(leati_client_reader *reader) {
    if (atomic_fetch_sub(&reader->references, 1) > 1)
        return;
    leati_queue_gate_free(reader->gate);
    leati_cancel_unref(reader->cancel);
    leat_spec_unref(reader->spec);
    leati_messages_fini(&leati_message_restored, &reader->opened);
    leati_free(reader->reports.values);
    while (reader->spare != NULL) {
        leati_client_reader_part *part = reader->spare;
        reader->spare = part->next;
        leati_block_fini(&part->rows);
        leati_free(part);
    }
    leati_free(reader);
}

static leat_status join(leati_client_reader *reader, char *client, leat_error *err) {
    const leati_client_reader_options *options = &reader->options;
    struct leati_message_opened opened = {0};
    struct leati_message_open open = {.client = client,
                                      .dataset_id = (char *)(uintptr_t)options->dataset_id,
                                      .job_name = (char *)(uintptr_t)options->job_name,
                                      .policy = options->policy,
                                      .visitation = options->visitation,
                                      .repetition = options->repetition,
                                      .consumer = options->consumer,
                                      .consumers = options->consumers,
                                      .target_workers = options->targets,
                                      .cached = options->trainer != NULL,
                                      .alone = options->alone};
    LEATI_TRY(leati_control_ask(&reader->control, "open_iteration", &leati_message_open, &open,
                                &leati_message_opened, &opened, leati_clock_deadline_ns(OPEN_MS),
                                err));
    reader->opened.client = opened.client;
    reader->opened.iteration = opened.iteration;
    reader->opened.job = opened.job;
    return LEAT_OK;
}

static leat_status go_on(leati_client_reader *reader, char *client, leat_error *err) {
    struct leati_message_restore restore = *reader->options.saved;
    restore.client = client;
    return leati_control_ask(&reader->control, "restore", &leati_message_restore, &restore,
                             &leati_message_restored, &reader->opened,
                             leati_clock_deadline_ns(OPEN_MS), err);
}

static leat_status become_client(leati_client_reader *reader, leat_error *err) {
    uint8_t random[16];
    char client[2 * sizeof random + 1];
    if (!leati_random_secret(random, sizeof random))
        return leati_fail(err, LEAT_INTERNAL, "the system gives no random numbers");
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(client + 2 * i, 3, "%02x", random[i]);
    leat_status status =
        reader->options.saved != NULL ? go_on(reader, client, err) : join(reader, client, err);
    reader->options.saved = NULL;
    return status;
}

static leat_status start(leati_client_reader *reader, leat_error *err) {
    reader->told_ns = leati_now_ns();
    reader->tender = leati_driver_start("service_tend", leati_client_reader_tend, reader, err);
    if (reader->tender == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    reader->heart = leati_driver_start("service_beat", leati_client_reader_beat, reader, err);
    return reader->heart == NULL ? LEAT_RESOURCE_EXHAUSTED : LEAT_OK;
}

leati_client_reader *leati_client_reader_open(const leati_client_reader_options *options,
                                              leat_cancel *cancel, leat_error *err) {
    /* Before anything waits for a worker that could not have it. */
    if (options->transfer != NULL && leati_transport_find(options->transfer, err) == NULL)
        return NULL;
    leati_client_reader *reader = leati_alloc_zero(1, sizeof *reader);
    if (reader == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&reader->references, 1);
    reader->options = *options;
    reader->spec = leat_spec_ref(options->spec);
    reader->agreed = reader->proposed = -1;
    reader->arrived.last = &reader->arrived.first;
    reader->cancel = leati_cancel_new(cancel, err);
    if (reader->cancel != NULL)
        reader->gate = leati_queue_gate_new(options->name, reader->cancel, err);
    leat_status status = reader->gate == NULL
                             ? LEAT_RESOURCE_EXHAUSTED
                             : leati_control_open(options->service, options->security,
                                                  reader->cancel, &reader->control, err);
    if (status == LEAT_OK) {
        /* Iterators are opened where nobody listens, since that seldom waits. */
        leati_stop_scope before = leati_cancel_enter(reader->cancel);
        status = become_client(reader, err);
        leati_stop_leave(before);
    }
    if (status == LEAT_OK)
        status = start(reader, err);
    if (status == LEAT_OK)
        return reader;
    leati_client_reader_close(reader);
    return NULL;
}

/* Tells the dispatcher, if it is there. */
static void leave(leati_client_reader *reader) {
    struct leati_message_release release = {.client = reader->opened.client,
                                            .elements = reader->taken,
                                            .unused = reader->taken == 0 && !reader->saved};
    reader->control.cancel = NULL;
    if (release.client != 0 &&
        leati_control_call(&reader->control, "release", &leati_message_release, &release, NULL,
                           NULL, leati_clock_deadline_ns(RELEASE_MS), &(leat_error){0}) != LEAT_OK)
        return; /* it finds out by the client's silence */
}

void leati_client_reader_close(leati_client_reader *reader) {
    if (reader == NULL)
        return;
    if (reader->gate != NULL) {
        leati_queue_gate_lock(reader->gate);
        reader->stop = true;
        leati_queue_gate_wake(reader->gate);
        leati_queue_gate_unlock(reader->gate);
    }
    leati_cancel_fire(reader->cancel);
    leati_driver_join(reader->heart);
    leati_driver_join(reader->tender);
    if (reader->control.channel != NULL)
        leave(reader);
    if (reader->gate != NULL) {
        leati_client_reader_part *part;
        leati_queue_gate_lock(reader->gate);
        while ((part = leati_client_reader_queue_take(&reader->arrived)) != NULL)
            leati_client_reader_part_drop(reader, part);
        leati_queue_gate_unlock(reader->gate);
    }
    leati_client_reader_tasks_fini(reader);
    leati_control_close(&reader->control);
    leati_client_reader_unref(reader);
}

/* ---- credit ---- */

/* A task to which credit is to be sent now. */
static leati_client_reader_task *find_due(leati_client_reader *reader, bool all) {
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (leati_client_reader_window_is_due(task, all))
            return task;
    return NULL;
}

/* The same to a worker in this process. */
static void give_credit(leati_client_reader *reader, leati_client_reader_task *task,
                        const leati_frame_credit *credit) {
    task->credit_elements += credit->elements;
    task->credit_bytes += credit->bytes;
    leati_queue_gate_wake(reader->gate);
    if (credit->acked_end == credit->acked_begin || !leati_client_reader_acknowledges(reader))
        return;
    leati_queue_gate_unlock(reader->gate);
    leati_client_reader_direct_ack(task, credit->acked_begin, credit->acked_end);
    leati_queue_gate_lock(reader->gate);
    if (task->ended)
        leati_queue_gate_wake(reader->gate);
}

/* Sends what is owed. The lock is held, and left meanwhile. A stream that broke is the tender's
 * matter: the next one begins with a whole window. */
static void send_credit(leati_client_reader *reader, leati_client_reader_task *task) {
    uint8_t bytes[LEATI_FRAME_CREDIT_SIZE];
    leati_frame_credit credit = leati_client_reader_window_settle(task);
    /* Closed before that, the worker would have others read what is being acknowledged. */
    task->acking++;
    if (task->stream == NULL) {
        give_credit(reader, task, &credit);
        task->acking--;
        return;
    }
    leati_transport_stream *stream = leati_transport_stream_ref(task->stream);
    leati_transport_part part = {.data = bytes, .size = sizeof bytes};
    leati_queue_gate_unlock(reader->gate);
    leati_frame_put_credit(&credit, bytes);
    leat_error late = {0};
    leat_status status = leati_transport_stream_write(stream, &part, 1, reader->cancel, &late);
    leati_transport_stream_unref(stream);
    leati_queue_gate_lock(reader->gate);
    task->acking--;
    /* The tender may have to close a task whose last elements are acknowledged now. */
    if (status != LEAT_OK || task->ended)
        leati_queue_gate_wake(reader->gate);
}

/* ---- taking ---- */

static leati_client_reader_part *next_part(leati_client_reader *reader) {
    if (leati_client_reader_is_coordinated(reader))
        return leati_client_reader_round_part(reader);
    return leati_client_reader_queue_take(&reader->arrived);
}

static void put_back(leati_client_reader *reader, leati_client_reader_part *part) {
    leati_client_reader_queue *queue =
        leati_client_reader_is_coordinated(reader) ? &part->task->parts : &reader->arrived;
    part->next = queue->first;
    if (queue->first == NULL)
        queue->last = &part->next;
    queue->first = part;
}

/* Notes that `n` outcomes of the part were taken. */
static void note_taken(leati_client_reader *reader, leati_client_reader_part *part, int64_t n) {
    leati_client_reader_task *task = part->task;
    /* The bytes of a message are given back with its last element. */
    bool last = part->taken + n == part->n;
    if (part->attempt == task->attempt && task->state == LEATI_CLIENT_READING &&
        leati_client_reader_window_breaks(task, part->position))
        send_credit(reader, task);
    if (!leati_client_reader_is_coordinated(reader))
        leati_client_reader_window_took(part, n);
    part->taken += n;
    part->position += n;
    task->here -= n;
    reader->buffered -= n;
    reader->taken += n;
    if (leati_client_reader_is_coordinated(reader))
        leati_client_reader_round_next(reader, task);
    if (last)
        leati_client_reader_part_drop(reader, part);
    else
        put_back(reader, part);
}

/* Passes over what the consumer got before, from a stream that broke before it was acknowledged:
 * true, and the part is given back. */
static bool pass_over(leati_client_reader *reader, leati_client_reader_part *part) {
    int64_t until = 0;
    if (reader->options.visitation != LEAT_SERVICE_EXACTLY_ONCE ||
        !leati_ranges_look(&part->task->taken, part->position, &until))
        return false;
    int64_t n = LEATI_MIN(part->n - part->taken, until - part->position);
    reader->taken -= n;
    note_taken(reader, part, n);
    return true;
}

/* How many of up to `n` outcomes from the part's position on the consumer did not get before. */
static int64_t count_new(const leati_client_reader_part *part, int64_t n) {
    int64_t until = 0;
    if (part->task->reader->options.visitation != LEAT_SERVICE_EXACTLY_ONCE)
        return n;
    (void)leati_ranges_look(&part->task->taken, part->position, &until);
    return LEATI_MIN(n, until - part->position);
}

/* Notes that they are taken, for states, and where they must not come twice. */
static leat_status note_new(leati_client_reader *reader, leati_client_reader_part *part, int64_t n,
                            leat_error *err) {
    if (!leati_client_reader_keeps_account(reader))
        return LEAT_OK;
    return leati_ranges_add(&part->task->taken, part->position, part->position + n, err);
}

/* Hands out of a part; the lock is held. */
static leati_client_reader_outcome hand_out(leati_client_reader *reader,
                                            leati_client_reader_part *part, int64_t want,
                                            leati_block *out, leat_error *err) {
    leati_client_reader_task *task = part->task;
    bool failed = part->kind == LEATI_FRAME_ERROR;
    int64_t n = count_new(part, LEATI_MIN(want, part->n - part->taken));
    if (failed || leati_client_reader_is_coordinated(reader))
        n = 1;
    leat_status status =
        failed ? LEAT_OK : leati_block_slice(&part->rows, part->taken, n, out, err);
    if (status == LEAT_OK)
        status = note_new(reader, part, n, err);
    if (status != LEAT_OK) {
        leati_block_clear(out);
        put_back(reader, part);
        return LEATI_CLIENT_FAILED;
    }
    if (failed)
        (void)leati_error_pass(err, part->why);
    note_taken(reader, part, n);
    if (leati_client_reader_window_is_due(task, false))
        send_credit(reader, task);
    return failed ? LEATI_CLIENT_FAILED : LEATI_CLIENT_ROWS;
}

/* What ended the iteration, told once. */
static leati_client_reader_outcome tell_failure(leati_client_reader *reader, leat_error *err) {
    if (reader->told)
        return LEATI_CLIENT_END;
    reader->told = true;
    (void)leati_error_pass(err, &reader->failure);
    return LEATI_CLIENT_FAILED;
}

static leati_client_reader_outcome take(leati_client_reader *reader, int64_t want,
                                        int64_t deadline_ns, leati_block *out, int64_t *waited_ns,
                                        leat_error *err) {
    for (;;) {
        leati_client_reader_part *part = next_part(reader);
        if (part != NULL && pass_over(reader, part))
            continue;
        if (part != NULL)
            return hand_out(reader, part, want, out, err);
        if (reader->failed)
            return tell_failure(reader, err);
        if (reader->finished ? leati_client_reader_tasks_ended(reader)
                             : leati_client_reader_own_tasks_ended(reader))
            return LEATI_CLIENT_END;
        leati_client_reader_windows_grow(reader);
        leati_client_reader_task *due = find_due(reader, true);
        if (due != NULL) {
            send_credit(reader, due);
            continue;
        }
        if (leati_queue_gate_wait(reader->gate, LEATI_WAIT_INPUT, deadline_ns, waited_ns, err) !=
            LEAT_OK)
            return LEATI_CLIENT_FAILED;
    }
}

leati_client_reader_outcome leati_client_reader_take(leati_client_reader *reader, int64_t want,
                                                     int64_t deadline_ns, leati_block *out,
                                                     int64_t *waited_ns, leat_error *err) {
    int64_t waited = 0;
    leati_block_clear(out);
    leati_queue_gate_lock(reader->gate);
    leati_client_reader_outcome outcome = take(reader, want, deadline_ns, out, &waited, err);
    reader->waited_ns += waited;
    leati_queue_gate_unlock(reader->gate);
    *waited_ns += waited;
    return outcome;
}

void leati_client_reader_figures_get(leati_client_reader *reader,
                                     leati_client_reader_figures *out) {
    *out = (leati_client_reader_figures){0};
    leati_queue_gate_lock(reader->gate);
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        out->tasks += task->state == LEATI_CLIENT_READING;
        out->window += task->window.elements;
    }
    out->buffered = reader->buffered;
    out->bytes = reader->bytes;
    leati_queue_gate_unlock(reader->gate);
}
