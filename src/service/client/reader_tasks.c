/* The tasks of a reader and their streams; see reader_parts.h.
 *
 * Happy path: the dispatcher names a task, the tender opens a stream `read` to its worker, frames
 * come as events and are put in line. A task that moved to another worker is read there once its
 * old stream is closed. One that the dispatcher no longer names is read to its end all the same,
 * since its worker may have given everything while some is still on its way. Failures: a stream
 * that breaks, or whose worker does not know the task yet, is opened again with pauses that grow,
 * over the next of its transfers where nothing came by this one, as long as the dispatcher names
 * it. What one transfer cannot carry is read by the next, and is a failure once none of them can.
 * Failures that a worker answers end the iteration and come to the consumer. Locks: the reader's
 * gate. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "service/client/reader_parts.h"
#include "service/worker/reading.h"
#include <stdio.h>
#include <string.h>

enum {
    UNLISTED_MS = 10 * 1000 /* for which a silent stream of an unlisted task is kept */
};

/* ---- tasks ---- */

static void task_ref(leati_client_reader_task *task) {
    atomic_fetch_add(&task->references, 1);
}

void leati_client_reader_task_unref(leati_client_reader_task *task) {
    if (task == NULL || atomic_fetch_sub(&task->references, 1) > 1)
        return;
    leati_messages_fini(&leati_message_place, &task->place);
    leati_ranges_fini(&task->held);
    leati_ranges_fini(&task->taken);
    pthread_mutex_destroy(&task->source_lock);
    leati_client_reader *reader = task->reader;
    leati_free(task);
    leati_client_reader_unref(reader);
}

leati_client_reader_task *leati_client_reader_task_find(leati_client_reader *reader, int64_t id) {
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (task->place.task == id)
            return task;
    return NULL;
}

/* In the order of their turns: by the round in which they begin, then by number. */
static void insert(leati_client_reader *reader, leati_client_reader_task *task) {
    leati_client_reader_task **at = &reader->tasks;
    while (*at != NULL && ((*at)->place.start_round < task->place.start_round ||
                           ((*at)->place.start_round == task->place.start_round &&
                            (*at)->place.task < task->place.task)))
        at = &(*at)->next;
    task->next = *at;
    *at = task;
}

static leat_status copy_place(const struct leati_message_place *from,
                              struct leati_message_place *to, leat_error *err) {
    struct leati_message_place copy = {0};
    LEATI_TRY(leati_rows_copy(leati_message_place.rows, from, &copy, err));
    leati_messages_fini(&leati_message_place, to);
    *to = copy;
    return LEAT_OK;
}

static leati_client_reader_task *
add_task(leati_client_reader *reader, const struct leati_message_place *place, leat_error *err) {
    leati_client_reader_task *task = leati_alloc_zero(1, sizeof *task);
    if (task == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    atomic_init(&task->references, 1);
    pthread_mutex_init(&task->source_lock, NULL);
    leati_client_reader_ref(reader);
    task->reader = reader;
    task->attempt = place->attempt;
    task->parts.last = &task->parts.first;
    task->total = -1;
    if (copy_place(place, &task->place, err) != LEAT_OK ||
        leati_client_reader_task_begin(task, err) != LEAT_OK) {
        leati_client_reader_task_unref(task);
        return NULL;
    }
    insert(reader, task);
    return task;
}

static leat_status update_task(leati_client_reader *reader, const struct leati_message_place *place,
                               leat_error *err) {
    leati_client_reader_task *task = leati_client_reader_task_find(reader, place->task);
    if (task == NULL)
        return add_task(reader, place, err) == NULL ? err->code : LEAT_OK;
    if (place->attempt != task->place.attempt) {
        /* Elsewhere, or once more: whatever ended before begins anew. */
        task->ended = task->reporting = false;
        task->failures = 0;
        task->retry_ns = task->away_ns = 0;
    } else if (!leati_client_reader_is_coordinated(reader)) {
        /* It stays where it is. Where it is still to be reported, the same answer says so. */
        task->reporting = false;
    }
    task->unlisted_ns = 0;
    return copy_place(place, &task->place, err);
}

leat_status leati_client_reader_tasks_update(leati_client_reader *reader,
                                             const leati_messages *places, leat_error *err) {
    int64_t now = leati_now_ns();
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (task->unlisted_ns == 0)
            task->unlisted_ns = now;
    const struct leati_message_place *items = places->items;
    for (int64_t i = 0; i < places->count; i++)
        LEATI_TRY(update_task(reader, &items[i], err));
    return LEAT_OK;
}

bool leati_client_reader_tasks_ended(const leati_client_reader *reader) {
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next)
        if (!task->ended && !task->passed &&
            (task->unlisted_ns == 0 || task->state != LEATI_CLIENT_IDLE))
            return false;
    return true;
}

static int64_t given_up_ns(const leati_client_reader_task *task) {
    return task->unlisted_ns + (int64_t)UNLISTED_MS * 1000 * 1000;
}

/* Is a task that nobody names over? A dispatcher that was started again may not know its worker
 * yet, and a worker that stops in this process is seen to do so. */
static bool is_gone(const leati_client_reader_task *task) {
    return task->unlisted_ns != 0 && task->state == LEATI_CLIENT_IDLE &&
           (leati_now_ns() >= given_up_ns(task) ||
            (task->reader->options.targets == LEAT_SERVICE_TARGET_LOCAL &&
             !leati_worker_is_here(task->place.address)));
}

bool leati_client_reader_own_tasks_ended(const leati_client_reader *reader) {
    bool passed = false, read = false;
    for (const leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        if (!task->passed && !task->ended && !is_gone(task))
            return false;
        passed = passed || task->passed;
        read = read || !task->passed;
    }
    return passed && read;
}

/* ---- what comes ---- */

/* Puts a part in line; the lock is held. */
static leat_status add_part(leati_client_reader_task *task, leati_client_reader_part *part,
                            leat_error *err) {
    leati_client_reader *reader = task->reader;
    /* For when the dispatcher asks. */
    if (reader->options.visitation == LEAT_SERVICE_EXACTLY_ONCE && part->n > 0 &&
        leati_client_reader_keeps_account(reader))
        LEATI_TRY(leati_ranges_add(&task->held, part->position, part->position + part->n, err));
    part->task = task;
    part->attempt = task->attempt;
    part->opening = task->opening;
    task_ref(task);
    task->failures = 0;
    task->some_came = true;
    leati_client_reader_window_came(task, part->n, part->bytes);
    task->came += LEATI_MAX(part->n, 1);
    task->here += part->n;
    reader->buffered += part->n;
    reader->bytes += part->bytes;
    leati_client_reader_queue_add(
        leati_client_reader_is_coordinated(reader) ? &task->parts : &reader->arrived, part);
    return LEAT_OK;
}

bool leati_client_reader_take_part(leati_client_reader_task *task, leati_client_reader_part *part,
                                   leati_frame_kind kind, int64_t position, int64_t n,
                                   const leat_error *why, leat_error *err) {
    leati_client_reader *reader = task->reader;
    if (reader->stop || task->reporting || kind == LEATI_FRAME_GONE)
        return false;
    if (kind == LEATI_FRAME_WHOLE) {
        task->whole = LEATI_MAX(task->whole, position);
        return false;
    }
    if (kind == LEATI_FRAME_END) {
        /* Of an attempt that was given to another worker meanwhile it is not the end. */
        task->ended = task->attempt == task->place.attempt;
        task->total = task->ended ? position : task->total;
        return false;
    }
    part->kind = kind;
    part->position = position;
    part->n = kind == LEATI_FRAME_ELEMENTS ? n : kind == LEATI_FRAME_ERROR;
    if (kind == LEATI_FRAME_ERROR) {
        part->why = leati_alloc(1, sizeof *part->why);
        if (part->why == NULL) {
            (void)leati_no_memory(err);
            return false;
        }
        *part->why = *why;
    }
    return add_part(task, part, err) == LEAT_OK;
}

/* What came, as one block or with pieces; both are given. */
static void take_message(leati_client_reader_task *task, leat_buffer *message,
                         const leati_transport_piece *pieces, int num_pieces) {
    leati_client_reader *reader = task->reader;
    leati_frame_view view;
    leat_error err = {0};
    leati_queue_gate_lock(reader->gate);
    leati_client_reader_part *part = leati_client_reader_part_take(reader);
    leati_queue_gate_unlock(reader->gate);
    leat_status status = part == NULL ? leati_no_memory(&err)
                         : num_pieces == 0
                             ? leati_frame_read(message, reader->spec, &view, &part->rows, &err)
                             : leati_frame_read_pieces(message, pieces, num_pieces, reader->spec,
                                                       &view, &part->rows, &err);
    size_t bytes = leat_buffer_size(message);
    leat_buffer_unref(message);
    for (int i = 0; i < num_pieces; i++) {
        bytes += leat_buffer_size(pieces[i].bytes);
        leat_buffer_unref(pieces[i].bytes);
    }
    if (part != NULL)
        part->bytes = (int64_t)bytes;
    leati_queue_gate_lock(reader->gate);
    bool in_line =
        status == LEAT_OK && leati_client_reader_take_part(task, part, view.kind, view.position,
                                                           view.n, &view.why, &err);
    if (!in_line && part != NULL)
        leati_client_reader_part_drop(reader, part);
    if (err.code != LEAT_OK) {
        (void)leati_prefix(&err, "worker %s", task->place.address);
        leati_client_reader_fail(reader, &err);
    }
    if (err.code != LEAT_OK || task->ended || !leati_client_reader_is_coordinated(reader) ||
        leati_client_reader_round_wakes(task))
        leati_queue_gate_wake(reader->gate);
    leati_queue_gate_unlock(reader->gate);
}

static void on_message(void *context, leat_buffer *message) {
    take_message(context, message, NULL, 0);
}

static void on_pieces(void *context, leat_buffer *rest, const leati_transport_piece *pieces,
                      int num_pieces) {
    take_message(context, rest, pieces, num_pieces);
}

static void on_broke(void *context) {
    leati_client_reader_task *task = context;
    leati_queue_gate_lock(task->reader->gate);
    task->broke = true;
    leati_queue_gate_unlock(task->reader->gate);
}

void leati_client_reader_closed(leati_client_reader_task *task, const leat_error *why) {
    leati_client_reader *reader = task->reader;
    leati_client_reader_passing passing = {0};
    leati_queue_gate_lock(reader->gate);
    leati_transport_stream *stream = task->stream;
    bool wanted = task->state == LEATI_CLIENT_READING || task->state == LEATI_CLIENT_OPENING;
    task->stream = NULL;
    task->state = LEATI_CLIENT_IDLE;
    /* The last acknowledgements may not have come through. Then the worker has the task still, and
     * gives what they were for again; else it says that all was taken. */
    bool unsure = task->ended && leati_client_reader_acknowledges(reader);
    if (unsure)
        task->ended = false;
    if ((wanted || unsure) && !task->ended && !reader->stop) {
        bool ends = leati_client_reader_way_next(task, why, task->broke, &passing);
        /* Where all was given nobody waits for a worker that has left. */
        task->ended = reader->finished;
        if (wanted && ends) {
            leat_error failure = *why;
            (void)leati_prefix(&failure, "worker %s", task->place.address);
            leati_client_reader_fail(reader, &failure);
        }
    }
    leati_queue_gate_wake(reader->gate);
    leati_queue_gate_unlock(reader->gate);
    leati_client_reader_way_passed(&passing, why);
    if (stream != NULL)
        leati_transport_stream_unref(stream);
    leati_client_reader_task_unref(task);
}

static void on_closed(void *context, const leat_error *why) {
    leati_client_reader_closed(context, why);
}

/* ---- the tender ---- */

static leat_status connect(leati_client_reader_task *task, const char *transfer, leat_error *err) {
    char protocol[32];
    const char *blank = strchr(transfer, ' ');
    if (blank == NULL || (size_t)(blank - transfer) >= sizeof protocol)
        return leati_refuse(err, VALUE, "\"%.100s\" is no transfer of a worker", transfer);
    (void)snprintf(protocol, sizeof protocol, "%.*s", (int)(blank - transfer), transfer);
    leati_transport_security who = leati_control_security(task->reader->options.security);
    if (task->channel != NULL)
        task->transport->disconnect(task->channel);
    task->channel = NULL;
    task->transport = leati_transport_find(protocol, err);
    if (task->transport != NULL)
        task->channel = task->transport->connect(blank + 1, &who, err);
    return task->channel == NULL ? err->code : LEAT_OK;
}

/* What can be unpacked, best first: "SNAPPY" is packed always, "AUTO" where the worker finds that
 * it pays. Through shared memory nothing is packed. */
static leat_status set_compression(const leati_client_reader *reader, const char *transfer,
                                   struct leati_message_read *out, leat_error *err) {
    const char *wanted = reader->options.compression;
    const leat_string names[] = {{(char *)(uintptr_t) "lz4", 3}, {(char *)(uintptr_t) "snappy", 6}};
    if (wanted == NULL || strncmp(transfer, "shm ", 4) == 0)
        return LEAT_OK;
    out->where_it_pays = strcmp(wanted, "SNAPPY") != 0;
    const int first = out->where_it_pays ? 0 : 1;
    return leati_strings_copy(names + first, 2 - first, &out->compression, err);
}

void leati_client_reader_request(const leati_client_reader_task *task,
                                 struct leati_message_read *out) {
    const leati_client_reader *reader = task->reader;
    *out = (struct leati_message_read){
        .task = task->place.task,
        .attempt = task->attempt,
        .client = reader->opened.client,
        .consumer = reader->options.consumer,
        .round = task->came,
        .taken = task->turns,
        .window = task->window.elements,
        .trainer = (char *)(uintptr_t)reader->options.trainer,
        .acks = leati_client_reader_acknowledges(reader),
        .worker = task->place.worker,
    };
    leati_client_reader_window_grant(task, &out->credit_elements, &out->credit_bytes);
}

static leat_status write_request(leati_client_reader_task *task, const char *transfer,
                                 leati_text *out, leat_error *err) {
    struct leati_message_read read;
    leati_client_reader_request(task, &read);
    leat_status status = set_compression(task->reader, transfer, &read, err);
    if (status == LEAT_OK)
        status = leati_messages_write(&leati_message_read, &read, out, err);
    leati_strings_fini(&read.compression);
    return status;
}

/* Called without the lock, in state OPENING: nobody else changes place and attempt of a task that
 * is being opened but the heart, which copies under the lock; so the transfer is copied there. */
static leat_status open_stream(leati_client_reader_task *task, const char *transfer,
                               const leati_text *request, leati_transport_stream **out,
                               leat_error *err) {
    static const leati_transport_events events = {
        .message = on_message, .closed = on_closed, .pieces = on_pieces, .broke = on_broke};
    LEATI_TRY(connect(task, transfer, err));
    task_ref(task); /* the events' */
    *out = task->transport->open(task->channel, "read", request->data, request->size, &events, task,
                                 err);
    if (*out == NULL)
        leati_client_reader_task_unref(task);
    return *out == NULL ? err->code : LEAT_OK;
}

/* The stream is there, or came and went already. */
static void opened(leati_client_reader_task *task, leati_transport_stream *stream,
                   const leat_error *err) {
    leati_client_reader *reader = task->reader;
    leati_client_reader_passing passing = {0};
    leati_queue_gate_lock(reader->gate);
    if (stream != NULL && task->state == LEATI_CLIENT_OPENING) {
        task->stream = stream;
        task->state = LEATI_CLIENT_READING;
        stream = NULL;
        /* The consumer may owe credit already for what came meanwhile. */
        leati_queue_gate_wake(reader->gate);
    } else if (err->code != LEAT_OK) {
        task->state = LEATI_CLIENT_IDLE;
        if (leati_client_reader_way_next(task, err, true, &passing))
            leati_client_reader_fail(reader, err);
    }
    leati_queue_gate_unlock(reader->gate);
    leati_client_reader_way_passed(&passing, err);
    if (stream != NULL)
        leati_transport_stream_unref(stream);
}

/* Over the network; the lock is held, and left meanwhile. */
static void open_remote(leati_client_reader *reader, leati_client_reader_task *task) {
    leat_error err = {0};
    leati_text request = {0};
    leati_transport_stream *stream = NULL;
    task->state = LEATI_CLIENT_OPENING;
    const char *chosen = leati_client_reader_way(task);
    char *transfer = leati_strdup(chosen);
    char address[LEATI_CLIENT_ADDRESS];
    (void)snprintf(address, sizeof address, "%s", task->place.address);
    leat_status status = chosen == NULL     ? leati_client_reader_no_way(task, &err)
                         : transfer == NULL ? leati_no_memory(&err)
                                            : write_request(task, transfer, &request, &err);
    leati_queue_gate_unlock(reader->gate);
    if (status == LEAT_OK) {
        LEATI_TELL(SERVICE, INFO, "worker %s is read by %.*s", address, (int)strcspn(transfer, " "),
                   transfer);
        (void)open_stream(task, transfer, &request, &stream, &err);
    }
    opened(task, stream, &err);
    leati_text_fini(&request);
    leati_free(transfer);
    leati_queue_gate_lock(reader->gate);
}

/* Of a worker in this process; the lock is held, and left meanwhile. */
static void open_direct(leati_client_reader *reader, leati_client_reader_task *task) {
    leat_error err = {0};
    task->state = LEATI_CLIENT_READING;
    task->ways = 1;
    (void)snprintf(task->way, sizeof task->way, "direct");
    leati_client_reader_window_grant(task, &task->credit_elements, &task->credit_bytes);
    task_ref(task); /* the thread's */
    char address[LEATI_CLIENT_ADDRESS];
    (void)snprintf(address, sizeof address, "%s", task->place.address);
    leati_queue_gate_unlock(reader->gate);
    LEATI_TELL(SERVICE, INFO, "worker %s is of this process and read by no transport", address);
    if (leati_client_reader_direct_start(task, &err) != LEAT_OK)
        leati_client_reader_closed(task, &err);
    leati_queue_gate_lock(reader->gate);
}

static void open_task(leati_client_reader *reader, leati_client_reader_task *task) {
    task->attempt = task->place.attempt;
    task->opening++;
    task->some_came = task->broke = false;
    task->told_came = task->came;
    task->told_turns = task->turns;
    leati_client_reader_window_begin(reader, task);
    if (leati_client_reader_direct_fits(task))
        open_direct(reader, task);
    else
        open_remote(reader, task);
}

/* Has all come, and been acknowledged where the worker wants to know? */
static bool is_done_with(const leati_client_reader_task *task) {
    return task->ended && (!leati_client_reader_acknowledges(task->reader) ||
                           (task->here == 0 && task->acking == 0 &&
                            task->window.acked_begin == task->window.acked_end));
}

static void close_task(leati_client_reader *reader, leati_client_reader_task *task) {
    leati_transport_stream *stream =
        task->stream == NULL ? NULL : leati_transport_stream_ref(task->stream);
    /* Acknowledgements that were written last are delivered before the stream ends. */
    bool orderly = !reader->stop && is_done_with(task);
    leat_error why = {0};
    task->state = LEATI_CLIENT_CLOSING;
    leati_queue_gate_wake(reader->gate);
    leati_queue_gate_unlock(reader->gate);
    if (stream != NULL) {
        if (!orderly)
            (void)leati_fail(&why, LEAT_CANCELLED, "the client reads the task no more");
        leati_transport_stream_close(stream, &why);
        leati_transport_stream_unref(stream);
    } else {
        leati_client_reader_direct_stop(task);
    }
    leati_queue_gate_lock(reader->gate);
}

static bool is_to_be_closed(const leati_client_reader *reader, const leati_client_reader_task *task,
                            int64_t now) {
    if (task->state != LEATI_CLIENT_READING)
        return false;
    return reader->stop || is_done_with(task) || task->reporting || task->place.lost ||
           task->attempt != task->place.attempt ||
           (task->unlisted_ns != 0 && now >= given_up_ns(task));
}

static bool is_to_be_opened(const leati_client_reader *reader,
                            const leati_client_reader_task *task) {
    return task->state == LEATI_CLIENT_IDLE && !reader->stop && !reader->failed && !task->ended &&
           !task->reporting && !task->passed && !task->place.lost && task->unlisted_ns == 0;
}

/* Does one thing that is to be done, if there is one: true, and the list may be another one. Else
 * *next is when something will be. */
static bool tend_once(leati_client_reader *reader, int64_t *next) {
    int64_t now = leati_now_ns();
    *next = LEATI_NO_DEADLINE;
    for (leati_client_reader_task *task = reader->tasks; task != NULL; task = task->next) {
        if (is_to_be_closed(reader, task, now)) {
            close_task(reader, task);
            return true;
        }
        if (is_to_be_opened(reader, task) && task->retry_ns <= now) {
            open_task(reader, task);
            return true;
        }
        if (leati_client_reader_is_coordinated(reader) && leati_client_reader_round_is_due(task)) {
            leati_client_reader_round_tell(task);
            return true;
        }
        int64_t due = LEATI_NO_DEADLINE;
        if (is_to_be_opened(reader, task))
            due = task->retry_ns;
        else if (task->unlisted_ns != 0 && now < given_up_ns(task))
            due = given_up_ns(task);
        *next = LEATI_MIN(*next, due);
    }
    return false;
}

void leati_client_reader_tend(void *context) {
    leati_client_reader *reader = context;
    leat_status status = LEAT_OK;
    int64_t next = LEATI_NO_DEADLINE;
    leati_queue_gate_lock(reader->gate);
    while (!reader->stop && (status == LEAT_OK || status == LEAT_DEADLINE_EXCEEDED)) {
        if (tend_once(reader, &next))
            continue;
        status = leati_queue_gate_wait(reader->gate, LEATI_WAIT_PEER, next, NULL, &(leat_error){0});
        /* Whoever waits for the end of a task may wait for it no more. */
        if (status == LEAT_DEADLINE_EXCEEDED)
            leati_queue_gate_wake(reader->gate);
    }
    /* Whatever ended the loop, all streams are told. */
    reader->stop = true;
    while (tend_once(reader, &next))
        ;
    leati_queue_gate_unlock(reader->gate);
}

void leati_client_reader_tasks_fini(leati_client_reader *reader) {
    while (reader->tasks != NULL) {
        leati_client_reader_task *task = reader->tasks;
        reader->tasks = task->next;
        leati_driver_join(task->direct);
        task->direct = NULL;
        if (task->channel != NULL)
            task->transport->disconnect(task->channel);
        task->channel = NULL;
        leati_client_reader_part *part;
        while ((part = leati_client_reader_queue_take(&task->parts)) != NULL)
            leati_client_reader_part_drop(reader, part);
        leati_client_reader_task_unref(task);
    }
}
