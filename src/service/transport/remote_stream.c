/* Streams between processes: a pipe, an inbox of what was received, an outbox of what is to be
 * sent.
 *
 * One frame is on its way at a time; meanwhile messages gather in the outbox, so small ones travel
 * together. Writers wait while MOST_OUT bytes lie there; the pipe is not read while MOST_IN bytes
 * lie in the inbox, and then gRPC's window fills up and holds up the other side's writers. The
 * first message of a stream is what it was opened with.
 *
 * A stream is over when either side ends it. Then a client sends a record that says so, with the
 * failure, and reads on until the server ends the gRPC call; a server ends the call, with the
 * failure as its details. Locks: the gate of the stream; under it the pipe's own, and the
 * executor's. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/transport/chunk.h"
#include "service/transport/inbox.h"
#include "service/transport/outbox.h"
#include "service/transport/remote.h"

#include <string.h>

enum {
    MOST_OUT = 4 << 20,
    MOST_IN = 8 << 20,
    NAME_MS = 500 /* for the host's name, which is found meanwhile for the next try */
};

typedef struct stream {
    leati_transport_stream base; /* references: users', the inbox's until it was left, the pipe's */
    const leati_remote_hearing *hearing;
    leati_gate *gate; /* its lock guards all that may change, but `reader` */
    leati_inbox inbox;
    leati_outbox outbox;
    leati_chunk_reader reader; /* one `received` at a time */
    leati_remote_side *side;
    leati_remote_server *server; /* NULL: the client's end */
    leati_remote_link link;
    leati_grpc_pipe *pipe; /* NULL: not begun */
    size_t chunk_bytes;
    bool over;     /* ended by either side */
    bool sending;  /* a frame is on its way */
    bool broken;   /* nothing can be sent any more */
    bool reading;  /* `received` was asked for */
    bool finished; /* at a server: the call was ended; at a client: the record was put */
    leat_buffer *request;
    char peer[64];
    char method[];
} stream;

static stream *stream_of(leati_remote_link *link) {
    return (stream *)((char *)link - offsetof(stream, link));
}

/* A context of gRPC's begins with the table of what it hears. */
static stream *stream_heard(void *context) {
    return (stream *)((char *)context - offsetof(stream, hearing));
}

static void ref_link(leati_remote_link *link) {
    (void)leati_transport_stream_ref(&stream_of(link)->base);
}

static void free_stream(leati_transport_stream *base) {
    stream *s = (stream *)base;
    if (s->pipe != NULL)
        leati_remote_module->pipe_free(s->pipe);
    leati_inbox_drop(&s->inbox);
    leati_outbox_drop(&s->outbox);
    leati_chunk_reader_fini(&s->reader);
    leat_buffer_unref(s->request);
    leati_queue_gate_free(s->gate);
    leati_remote_side_unref(s->side);
    leati_free(s);
}

/* ---- sending; the gate is locked ---- */

static void break_off(stream *s) {
    s->broken = true;
    leati_outbox_drop(&s->outbox);
    leati_queue_gate_wake(s->gate);
}

static void pump(stream *s);

/* The call at a server ends once the stream is over and nothing is to be sent any more. */
static void finish_server(stream *s) {
    leati_writer bytes = {0};
    leati_grpc_end end = leati_remote_end(&s->inbox.why, &bytes);
    s->finished = true;
    leati_remote_module->pipe_finish(s->pipe, &end);
    leati_writer_fini(&bytes);
}

static void end_client(stream *s) {
    leati_writer bytes = {0};
    leat_error err = {0};
    if (s->inbox.why.code != LEAT_OK)
        leati_transport_put_error(&bytes, &s->inbox.why);
    const leati_transport_part part = {bytes.data, bytes.size, NULL};
    leati_outbox_item *item =
        bytes.failed ? NULL : leati_outbox_item_new(LEATI_CHUNK_END, &part, 1, &err);
    leati_writer_fini(&bytes);
    s->finished = true;
    if (item == NULL) {
        leati_remote_module->pipe_cancel(s->pipe);
        return;
    }
    leati_outbox_put(&s->outbox, item);
    pump(s);
}

static void end_stream(stream *s, const leat_error *why, bool own);

/* Sends a frame of what there is. */
static void send_frame(stream *s) {
    leat_error err = {0};
    leati_outbox_frame *frame =
        leati_outbox_take(&s->outbox, s->chunk_bytes, leati_remote_side_released, s->side, &err);
    if (frame == NULL) {
        break_off(s);
        leati_remote_module->pipe_cancel(s->pipe);
        end_stream(s, &err, true);
        return;
    }
    leati_remote_side_sends(s->side);
    s->sending = true;
    leati_queue_gate_wake(s->gate);
    if (!leati_remote_module->pipe_send(s->pipe, frame->pieces, frame->num_pieces)) {
        s->sending = false;
        break_off(s);
    }
}

/* Sends what there is, or ends what has been sent. */
static void pump(stream *s) {
    if (s->sending || s->pipe == NULL)
        return;
    if (s->outbox.first != NULL)
        send_frame(s);
    else if (s->over && !s->finished && s->server != NULL)
        finish_server(s);
    else if (s->over && !s->finished && !s->broken)
        end_client(s);
}

/* With the gate locked: goes on reading where there is room, or where a client waits for the end of
 * the call. */
static void read_on(stream *s) {
    if (s->reading || s->pipe == NULL || (s->over && s->server != NULL) ||
        (!s->over && s->inbox.bytes >= MOST_IN))
        return;
    s->reading = leati_remote_module->pipe_read(s->pipe);
}

/* The gate is locked. `own`: this side ends it. */
static void end_stream(stream *s, const leat_error *why, bool own) {
    if (s->over)
        return;
    s->over = true;
    leati_inbox_end(&s->inbox, why, own || why->code != LEAT_OK);
    if (!own || why->code != LEAT_OK)
        leati_outbox_drop(&s->outbox);
    leati_queue_gate_wake(s->gate);
    pump(s);
    read_on(s);
}

/* The same with a pipe that the other side reads no more. */
static void end_broken(stream *s, const leat_error *why) {
    break_off(s);
    end_stream(s, why, false);
    pump(s);
}

static void close_stream(leati_transport_stream *base, const leat_error *why) {
    stream *s = (stream *)base;
    leati_queue_gate_lock(s->gate);
    end_stream(s, why, true);
    leati_queue_gate_unlock(s->gate);
}

/* ---- writing ---- */

static bool may_go_on(const stream *s, size_t size) {
    return s->over || s->broken || s->outbox.bytes == 0 || s->outbox.bytes + size <= MOST_OUT;
}

static leat_status wait_for_room(stream *s, size_t size, leat_cancel *cancel, leat_error *err) {
    leati_transport_wait wait;
    leat_status status = LEAT_OK;
    leati_transport_wait_begin(&wait, s->gate, cancel);
    leati_queue_gate_lock(s->gate);
    while (status == LEAT_OK && !may_go_on(s, size))
        status = leati_transport_wait_once(&wait, LEATI_NO_DEADLINE, err);
    leati_queue_gate_unlock(s->gate);
    leati_transport_wait_end(&wait);
    return status;
}

static leat_status refuse_write(const stream *s, leat_error *err) {
    const leat_error *why = &s->inbox.why;
    return leati_fail(err, LEAT_UNAVAILABLE, "the stream of %.100s has ended%s%s", s->method,
                      why->code != LEAT_OK ? ": " : "", why->text);
}

static leat_status put(stream *s, leati_outbox_item *item, leat_cancel *cancel, leat_error *err) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(s->gate);
    while (status == LEAT_OK && !may_go_on(s, item->total)) {
        leati_queue_gate_unlock(s->gate);
        status = wait_for_room(s, item->total, cancel, err);
        leati_queue_gate_lock(s->gate);
    }
    if (status == LEAT_OK && (s->over || s->broken))
        status = refuse_write(s, err);
    if (status == LEAT_OK) {
        leati_outbox_put(&s->outbox, item);
        pump(s);
    }
    leati_queue_gate_unlock(s->gate);
    return status;
}

static leat_status write_stream(leati_transport_stream *base, const leati_transport_part *parts,
                                int num_parts, leat_cancel *cancel, leat_error *err) {
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled before a message was written");
    if (leati_transport_parts_size(parts, num_parts) > LEATI_CHUNK_MOST_TOTAL)
        return leati_refuse(err, VALUE, "a message of %zu bytes; expected at most %llu",
                            leati_transport_parts_size(parts, num_parts),
                            (unsigned long long)LEATI_CHUNK_MOST_TOTAL);
    leati_outbox_item *item = leati_outbox_item_new(LEATI_CHUNK_FIRST, parts, num_parts, err);
    if (item == NULL)
        return err->code;
    leat_status status = put((stream *)base, item, cancel, err);
    if (status != LEAT_OK)
        leati_outbox_item_free(item);
    return status;
}

static const leati_transport_stream_type stream_type = {
    .write = write_stream, .close = close_stream, .free = free_stream};

/* ---- receiving, on gRPC's threads ---- */

static leat_status take_message(void *context, leat_buffer *message, leat_error *err) {
    stream *s = context;
    leati_inbox_message *received = leati_inbox_message_new(message, err);
    if (received == NULL)
        return err->code;
    leati_queue_gate_lock(s->gate);
    if (s->over) {
        leati_inbox_message_free(received);
    } else if (s->server != NULL && s->request == NULL) {
        s->request = leat_buffer_ref(message);
        leati_inbox_message_free(received);
        leati_inbox_post(&s->inbox);
    } else {
        leati_inbox_put(&s->inbox, received);
    }
    leati_queue_gate_unlock(s->gate);
    return LEAT_OK;
}

static leat_status take_control(void *context, leati_chunk_kind kind, const void *body, size_t size,
                                leat_error *err) {
    stream *s = context;
    leat_error why = {0};
    if (kind != LEATI_CHUNK_END || s->server == NULL || s->request == NULL)
        return leati_fail(err, LEAT_DATA_LOSS, "a record of kind %d where none is due", (int)kind);
    if (size > 0)
        leati_transport_get_error(body, size, &why);
    leati_queue_gate_lock(s->gate);
    end_stream(s, &why, false);
    leati_queue_gate_unlock(s->gate);
    return LEAT_OK;
}

static void stream_received(void *context, const leati_grpc_bytes *slices, size_t num_slices) {
    stream *s = stream_heard(context);
    const leati_chunk_listener listener = {take_message, take_control, s};
    leat_error err = {0};
    leat_status status = LEAT_OK;
    if (slices == NULL)
        status = leati_fail(&err, LEAT_UNAVAILABLE, "the client has gone");
    else
        status = leati_chunk_read(&s->reader, slices, num_slices, &listener, &err);
    leati_queue_gate_lock(s->gate);
    s->reading = false;
    if (status != LEAT_OK)
        end_stream(s, &err, true);
    if (slices != NULL)
        read_on(s);
    leati_queue_gate_unlock(s->gate);
}

static void stream_sent(void *context, bool ok) {
    stream *s = stream_heard(context);
    leati_queue_gate_lock(s->gate);
    s->sending = false;
    if (!ok)
        break_off(s);
    pump(s);
    leati_queue_gate_unlock(s->gate);
}

static void stream_cancelled(void *context) {
    stream *s = stream_heard(context);
    leat_error why = {0};
    leati_fail(&why, LEAT_UNAVAILABLE, "the client has gone");
    leati_queue_gate_lock(s->gate);
    end_broken(s, &why);
    leati_queue_gate_unlock(s->gate);
}

static void stream_ended(void *context, const leati_grpc_end *end) {
    stream *s = stream_heard(context);
    leati_remote_side *side = s->side;
    leat_error why = {0};
    if (s->server == NULL) {
        leati_remote_names_doubt((leati_remote_channel *)side, end);
        leati_remote_error(end, ((leati_remote_channel *)side)->address, &why);
    }
    leati_queue_gate_lock(s->gate);
    s->finished = true;
    end_broken(s, &why);
    leati_queue_gate_unlock(s->gate);
    leati_remote_side_leave(side, LEATI_REMOTE_STREAMS, &s->link);
    leati_transport_stream_unref(&s->base);
    leati_remote_side_stop(side);
}

static const leati_remote_hearing stream_hearing = {.received = stream_received,
                                                    .sent = stream_sent,
                                                    .cancelled = stream_cancelled,
                                                    .ended = stream_ended};

/* ---- what the inbox asks ---- */

static stream *stream_of_inbox(leati_inbox *inbox) {
    return (stream *)((char *)inbox - offsetof(stream, inbox));
}

static leat_status ask_handler(leati_inbox *inbox, leati_transport_events *events, void **context,
                               leat_error *err) {
    stream *s = stream_of_inbox(inbox);
    const leati_transport_handler *handler = &s->server->handler;
    return handler->open(handler->context, &s->base, s->method, s->peer,
                         leat_buffer_data(s->request), leat_buffer_size(s->request), events,
                         context, err);
}

static void refuse(leati_inbox *inbox, const leat_error *why) {
    end_stream(stream_of_inbox(inbox), why, true);
}

static void make_room(leati_inbox *inbox) {
    read_on(stream_of_inbox(inbox));
}

static void leave(leati_inbox *inbox) {
    stream *s = stream_of_inbox(inbox);
    leati_remote_side *side = s->side;
    leati_transport_stream_unref(&s->base);
    leati_remote_side_stop(side);
}

static const leati_inbox_owner inbox_owner = {
    .opens = ask_handler, .refused = refuse, .room = make_room, .left = leave};

/* ---- opening ---- */

/* With references for whoever opens it, the inbox and the pipe. */
static stream *new_stream(leati_remote_side *side, leati_executor *executor, const char *method,
                          const leati_transport_events *events, void *context, leat_error *err) {
    size_t length = strlen(method) + 1;
    stream *s = leati_alloc(sizeof *s + length, 1);
    leati_gate *gate = leati_queue_gate_new("a stream of the service", NULL, err);
    if (s == NULL || gate == NULL) {
        leati_queue_gate_free(gate);
        leati_free(s);
        leati_no_memory(err);
        return NULL;
    }
    memset(s, 0, sizeof *s);
    leati_transport_stream_init(&s->base, &stream_type);
    s->hearing = &stream_hearing;
    s->gate = gate;
    s->side = side;
    s->reading = true;
    memcpy(s->method, method, length);
    leati_inbox_init(&s->inbox, &inbox_owner, executor, gate, events, context);
    atomic_fetch_add(&side->references, 1);
    if (leati_remote_side_join(side, LEATI_REMOTE_STREAMS, &s->link)) {
        leati_remote_side_run(side); /* the inbox and the pipe stop one after the other */
        atomic_store(&s->base.references, 3);
        return s;
    }
    free_stream(&s->base);
    leati_fail(err, LEAT_UNAVAILABLE, "the other end of the stream is closing");
    return NULL;
}

leati_transport_stream *leati_remote_stream_open(leati_remote_channel *channel, const char *method,
                                                 const void *request, size_t size,
                                                 const leati_transport_events *events,
                                                 void *context, leat_error *err) {
    leati_queue_gate_lock(channel->side.gate);
    int which = (int)(channel->next_connection++ % (unsigned)channel->num_connections);
    leati_queue_gate_unlock(channel->side.gate);
    leati_grpc_connection *connection =
        leati_remote_connection(channel, which, leati_clock_deadline_ns(NAME_MS), NULL, err);
    if (connection == NULL)
        return NULL;
    const leati_transport_part part = {request, size, NULL};
    leati_outbox_item *item = leati_outbox_item_new(LEATI_CHUNK_FIRST, &part, 1, err);
    if (item == NULL)
        return NULL;
    stream *s = new_stream(&channel->side, channel->executor, method, events, context, err);
    if (s == NULL) {
        leati_outbox_item_free(item);
        return NULL;
    }
    s->chunk_bytes = (size_t)channel->tuning.chunk_bytes;
    leati_queue_gate_lock(s->gate);
    leati_outbox_put(&s->outbox, item);
    s->pipe = leati_remote_module->open(connection, method, &s->hearing);
    pump(s);
    leati_queue_gate_unlock(s->gate);
    return &s->base;
}

void *leati_remote_stream_incoming(leati_remote_server *server, leati_grpc_pipe *pipe,
                                   const leati_grpc_incoming *incoming, leat_error *err) {
    stream *s = new_stream(&server->side, server->executor, incoming->method, NULL, NULL, err);
    if (s == NULL)
        return NULL;
    atomic_fetch_sub(&s->base.references, 1); /* nobody has opened it here */
    s->server = server;
    s->chunk_bytes = (size_t)leati_transport_tuned().chunk_bytes;
    leati_remote_peer(incoming->peer, s->peer, sizeof s->peer);
    leati_queue_gate_lock(s->gate);
    s->pipe = pipe;
    (void)leati_remote_module->pipe_read(pipe);
    pump(s);
    leati_queue_gate_unlock(s->gate);
    return &s->hearing;
}

/* ---- ending ---- */

void leati_remote_streams_end(leati_remote_side *side, const leat_error *why) {
    leati_remote_link *link;
    while ((link = leati_remote_side_next(side, LEATI_REMOTE_STREAMS, 1, ref_link)) != NULL) {
        close_stream(&stream_of(link)->base, why);
        leati_transport_stream_unref(&stream_of(link)->base);
    }
}

void leati_remote_streams_cut(leati_remote_side *side) {
    leati_remote_link *link;
    while ((link = leati_remote_side_next(side, LEATI_REMOTE_STREAMS, 2, ref_link)) != NULL) {
        stream *s = stream_of(link);
        leati_queue_gate_lock(s->gate);
        if (s->pipe != NULL)
            leati_remote_module->pipe_cancel(s->pipe);
        leati_queue_gate_unlock(s->gate);
        leati_transport_stream_unref(&s->base);
    }
}
