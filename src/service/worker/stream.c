/* Streams of elements over the network: the worker's end.
 *
 * Happy path: a sender for each stream takes outcomes of its reader as far as there is credit,
 * makes frames and writes them; the transport's thread brings credit and acknowledgements. The end
 * is a frame, and the client, who may still acknowledge, closes the stream.
 *
 * Failures: the task's own failure closes the stream with it; a frame that cannot be made, too; a
 * client that is gone ends the sender, and what it has not acknowledged goes to others. Locks: the
 * stream's gate, a leaf; the reader is called without it. A stream is held by the transport until
 * `closed` and by the worker until its sender is joined. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/minmax.h"
#include "service/worker/packing.h"
#include "service/worker/worker.h"
#include <stdatomic.h>
#include <string.h>

struct leati_worker_stream {
    leati_worker_stream *next; /* the worker's lock */
    atomic_long references;
    leat_worker *worker; /* borrowed: it joins the sender before it is freed */
    leati_transport_stream *stream;
    leati_worker_reader *reader;
    leati_worker_packing packing; /* the sender's */
    leat_cancel *cancel;          /* fired when the client is gone, or the worker stops */
    leati_driver *sender;
    leati_gate *gate;
    /* The gate's lock. */
    int64_t elements, bytes; /* of credit */
    bool closed;             /* the client is gone */
    bool finished, gone;     /* the worker's lock: the sender has ended, the client is gone */
};

static void unref(leati_worker_stream *s) {
    if (atomic_fetch_sub(&s->references, 1) != 1)
        return;
    leati_worker_reader_close(s->reader);
    if (s->stream != NULL)
        leati_transport_stream_unref(s->stream);
    leati_queue_gate_free(s->gate);
    leati_cancel_unref(s->cancel);
    leati_free(s);
}

/* ---- the transport's events ---- */

static void on_message(void *context, leat_buffer *message) {
    leati_worker_stream *s = context;
    leati_frame_credit credit;
    leat_error err = {0};
    leat_status status =
        leati_frame_get_credit(leat_buffer_data(message), leat_buffer_size(message), &credit, &err);
    leat_buffer_unref(message);
    if (status != LEAT_OK) {
        leati_transport_stream_close(s->stream, &err);
        return;
    }
    leati_queue_gate_lock(s->gate);
    s->elements += LEATI_MIN(credit.elements, INT64_MAX / 2 - LEATI_MAX(s->elements, 0));
    s->bytes += LEATI_MIN(credit.bytes, INT64_MAX / 2 - LEATI_MAX(s->bytes, 0));
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
    leati_worker_reader_ack(s->reader, credit.acked_begin, credit.acked_end);
}

static void on_closed(void *context, const leat_error *why) {
    leati_worker_stream *s = context;
    (void)why;
    leati_queue_gate_lock(s->gate);
    s->closed = true;
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
    leati_cancel_fire(s->cancel);
    leati_worker_reader_leave(s->reader);
    leat_worker *worker = s->worker;
    leati_queue_gate_lock(worker->gate);
    s->gone = true;
    leati_queue_gate_wake(worker->gate);
    leati_queue_gate_unlock(worker->gate);
    unref(s);
}

/* ---- the sender ---- */

static bool wait_for_credit(leati_worker_stream *s, int64_t *elements, int64_t *bytes) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(s->gate);
    while (!s->closed && status == LEAT_OK && (s->elements <= 0 || s->bytes <= 0))
        status = leati_queue_gate_wait(s->gate, LEATI_WAIT_CONSUMER, LEATI_NO_DEADLINE, NULL,
                                       &(leat_error){0});
    *elements = s->elements;
    *bytes = s->bytes;
    bool on = !s->closed && status == LEAT_OK;
    leati_queue_gate_unlock(s->gate);
    return on;
}

static leat_status make_frame(const leati_worker_outcome *outcome, leati_frame *frame,
                              leat_error *err) {
    bool told = outcome->kind == LEATI_FRAME_ERROR || outcome->kind == LEATI_FRAME_GONE;
    if (outcome->kind == LEATI_FRAME_ELEMENTS)
        return leati_frame_of_block(&outcome->block, 0, outcome->block.n, outcome->position,
                                    LEATI_FRAME_PLAIN, frame, err);
    return leati_frame_of_event(outcome->kind, outcome->position, told ? &outcome->why : NULL,
                                frame, err);
}

static leat_status pack(leati_worker_stream *s, leati_frame *frame, leat_error *err) {
    int64_t bytes = (int64_t)leati_frame_bytes(frame);
    leati_frame_compression how = leati_worker_packing_next(&s->packing, bytes);
    if (how == LEATI_FRAME_PLAIN)
        return LEAT_OK;
    int64_t begin = leati_now_ns();
    LEATI_TRY(leati_frame_pack(frame, how, err));
    leati_worker_packing_tried(&s->packing, bytes, (int64_t)leati_frame_bytes(frame),
                               leati_now_ns() - begin);
    return LEAT_OK;
}

static leat_status write_frame(leati_worker_stream *s, const leati_frame *frame, leat_error *err) {
    int64_t begin = leati_now_ns();
    LEATI_TRY(
        leati_transport_stream_write(s->stream, frame->parts, frame->num_parts, s->cancel, err));
    leati_worker_packing_sent(&s->packing, (int64_t)leati_frame_bytes(frame),
                              leati_now_ns() - begin);
    return LEAT_OK;
}

static leat_status send_one(leati_worker_stream *s, leati_worker_outcome *outcome,
                            leat_error *err) {
    leati_frame frame = {0};
    LEATI_TRY(make_frame(outcome, &frame, err));
    leat_status status = outcome->kind == LEATI_FRAME_ELEMENTS ? pack(s, &frame, err) : LEAT_OK;
    if (status == LEAT_OK)
        status = write_frame(s, &frame, err);
    leati_queue_gate_lock(s->gate);
    s->elements -= outcome->kind == LEATI_FRAME_ELEMENTS ? outcome->block.n : 1;
    s->bytes -= (int64_t)leati_frame_bytes(&frame);
    leati_queue_gate_unlock(s->gate);
    leati_frame_fini(&frame);
    return status;
}

static void send_all(leati_worker_stream *s) {
    leati_worker_outcome outcome = {0};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    int64_t elements = 0, bytes = 0;
    bool on = true;
    while (on && status == LEAT_OK && wait_for_credit(s, &elements, &bytes)) {
        status = leati_worker_reader_next(s->reader, elements, bytes, &outcome, &err);
        if (status == LEAT_OK)
            status = send_one(s, &outcome, &err);
        on = outcome.kind != LEATI_FRAME_END && outcome.kind != LEATI_FRAME_GONE;
    }
    if (status != LEAT_OK)
        leati_transport_stream_close(s->stream, &err);
    else if (outcome.kind == LEATI_FRAME_GONE)
        leati_transport_stream_close(s->stream, NULL);
    leati_worker_outcome_fini(&outcome);
}

static void sender_main(void *context) {
    leati_worker_stream *s = context;
    leat_worker *worker = s->worker;
    send_all(s);
    leati_queue_gate_lock(worker->gate);
    s->finished = true;
    leati_queue_gate_wake(worker->gate);
    leati_queue_gate_unlock(worker->gate);
}

/* ---- opening and ending ---- */

static leat_status check_method(const char *method, leat_error *err) {
    return strcmp(method, "read") == 0
               ? LEAT_OK
               : leati_fail(err, LEAT_UNIMPLEMENTED, "a worker has no stream \"%.60s\"", method);
}

static leat_status fill(leati_worker_stream *s, leat_worker *worker,
                        const struct leati_message_read *asked, leat_error *err) {
    leati_worker_task *task = leati_worker_find_task(worker, asked, err);
    if (task == NULL)
        return err->code;
    s->worker = worker;
    s->elements = LEATI_MIN(asked->credit_elements, INT64_MAX / 2);
    s->bytes = LEATI_MIN(asked->credit_bytes, INT64_MAX / 2);
    leati_worker_packing_init(&s->packing, leati_frame_best(&asked->compression),
                              !asked->where_it_pays);
    s->cancel = leati_cancel_new(worker->cancel, err);
    if (s->cancel != NULL)
        s->gate = leati_queue_gate_new("a stream's credit", s->cancel, err);
    if (s->gate != NULL)
        s->reader = leati_worker_reader_new(task, asked, s->cancel, err);
    leati_worker_task_unref(task);
    return s->reader == NULL ? err->code : LEAT_OK;
}

/* Adds the stream to the worker's; the sender runs from now on. */
static leat_status start(leati_worker_stream *s, leat_error *err) {
    leat_worker *worker = s->worker;
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(worker->gate);
    if (worker->state != LEATI_WORKER_SERVING && worker->state != LEATI_WORKER_NEW)
        status = leati_fail(err, LEAT_UNAVAILABLE, "worker %s is stopping", worker->address);
    if (status == LEAT_OK) {
        s->sender = leati_driver_start("leat-send", sender_main, s, err);
        status = s->sender == NULL ? err->code : LEAT_OK;
    }
    if (status == LEAT_OK) {
        s->next = worker->streams;
        worker->streams = s;
    }
    leati_queue_gate_unlock(worker->gate);
    return status;
}

leat_status leati_worker_stream_open(void *context, leati_transport_stream *stream,
                                     const char *method, const char *peer, const void *request,
                                     size_t size, leati_transport_events *events,
                                     void **events_context, leat_error *err) {
    struct leati_message_read asked;
    leat_worker *worker = context;
    (void)peer;
    LEATI_TRY(check_method(method, err));
    leati_worker_streams_reap(worker, false);
    LEATI_TRY(leati_messages_read(&leati_message_read, request, size, &asked, err));
    leati_worker_stream *s = leati_alloc_zero(1, sizeof *s);
    leat_status status = s == NULL ? leati_no_memory(err) : LEAT_OK;
    if (status == LEAT_OK) {
        atomic_init(&s->references, 2);
        status = fill(s, worker, &asked, err);
    }
    leati_messages_fini(&leati_message_read, &asked);
    if (status == LEAT_OK) {
        s->stream = leati_transport_stream_ref(stream);
        status = start(s, err);
    }
    if (status != LEAT_OK) {
        if (s != NULL) {
            atomic_store(&s->references, 1);
            unref(s);
        }
        return status;
    }
    *events = (leati_transport_events){.message = on_message, .closed = on_closed};
    *events_context = s;
    return LEAT_OK;
}

void leati_worker_streams_reap(leat_worker *worker, bool all) {
    leati_worker_stream *ended = NULL;
    leati_queue_gate_lock(worker->gate);
    for (leati_worker_stream **link = &worker->streams; *link != NULL;) {
        leati_worker_stream *s = *link;
        if (!all && !(s->finished && s->gone)) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        s->next = ended;
        ended = s;
    }
    leati_queue_gate_unlock(worker->gate);
    for (leati_worker_stream *s; (s = ended) != NULL;) {
        ended = s->next;
        leati_driver_join(s->sender);
        unref(s);
    }
}

bool leati_worker_streams_any(const leat_worker *worker, bool closed) {
    bool any = false;
    for (const leati_worker_stream *s = worker->streams; s != NULL && !any; s = s->next)
        any = !s->finished || (closed && !s->gone);
    return any;
}
