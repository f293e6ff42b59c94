/* A client of one stream of a worker, for tests: collects int64 scalars with their positions, and
 * gives credit as it is told. Speaks "local". Header only, after "support/cmocka.h". */
#ifndef STREAM_CLIENT_H
#define STREAM_CLIENT_H

#include "base/alloc.h"
#include "base/clock.h"
#include "run/queue.h"
#include "service/transport/transport.h"
#include "service/wire/frame.h"
#include "service/wire/messages.h"

#include <string.h>

enum { STREAM_MOST = 1 << 16 };

typedef struct stream_client {
    const leati_transport *transport;
    leati_transport_channel *channel;
    leati_transport_stream *stream;
    leati_gate *gate;
    leat_spec *spec;
    bool acks;        /* what comes is acknowledged at once */
    bool more;        /* credit for what came is given again at once */
    bool coordinated; /* says which turns came, and takes whole ones, at once */
    int64_t came, whole;
    /* The gate's lock. */
    int64_t *values, *positions;
    int64_t count, frames, errors, skips, bytes;
    bool ended, gone, closed;
    leat_error why; /* of the last error, or of `closed` */
    char broken[LEAT_ERROR_TEXT];
} stream_client;

static inline void stream_take(stream_client *c, const leati_frame_view *view,
                               const leati_block *block, int64_t bytes) {
    leati_queue_gate_lock(c->gate);
    c->frames++;
    c->bytes += bytes;
    c->errors += view->kind == LEATI_FRAME_ERROR;
    c->skips += view->kind == LEATI_FRAME_SKIP;
    c->ended = c->ended || view->kind == LEATI_FRAME_END;
    c->gone = c->gone || view->kind == LEATI_FRAME_GONE;
    if (view->kind == LEATI_FRAME_ERROR || view->kind == LEATI_FRAME_GONE)
        c->why = view->why;
    for (int64_t i = 0; i < block->n && c->count < STREAM_MOST; i++) {
        memcpy(&c->values[c->count], leati_column_row(&block->columns[0], i), sizeof(int64_t));
        c->positions[c->count++] = view->position + i;
    }
    leati_queue_gate_wake(c->gate);
    leati_queue_gate_unlock(c->gate);
}

static inline void stream_credit(stream_client *c, leati_frame_credit credit) {
    uint8_t bytes[LEATI_FRAME_CREDIT_SIZE];
    leati_frame_put_credit(&credit, bytes);
    leati_transport_part part = {.data = bytes, .size = sizeof bytes};
    /* A stream that has ended takes none. */
    (void)!leati_transport_stream_write(c->stream, &part, 1, NULL, &(leat_error){0});
}

/* The first message may come before the stream is known. */
static inline void stream_wait_opened(stream_client *c) {
    leati_queue_gate_lock(c->gate);
    while (c->stream == NULL)
        (void)!leati_queue_gate_wait(c->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                     &(leat_error){0});
    leati_queue_gate_unlock(c->gate);
}

static inline int64_t stream_count(stream_client *c) {
    leati_queue_gate_lock(c->gate);
    int64_t count = c->count;
    leati_queue_gate_unlock(c->gate);
    return count;
}

static inline void stream_message(void *context, leat_buffer *message) {
    stream_client *c = context;
    leati_frame_view view;
    leati_block block = {0};
    leat_error err = {0};
    leat_status status = leati_frame_read(message, c->spec, &view, &block, &err);
    int64_t size = (int64_t)leat_buffer_size(message);
    leat_buffer_unref(message);
    stream_wait_opened(c);
    if (status != LEAT_OK) {
        leati_queue_gate_lock(c->gate);
        memcpy(c->broken, err.text, sizeof c->broken);
        leati_queue_gate_wake(c->gate);
        leati_queue_gate_unlock(c->gate);
        return;
    }
    int64_t n = view.kind == LEATI_FRAME_ELEMENTS ? view.n : 1;
    stream_take(c, &view, &block, size);
    leati_block_fini(&block);
    bool outcome = view.kind == LEATI_FRAME_ELEMENTS || view.kind == LEATI_FRAME_ERROR;
    leati_frame_credit credit = {0};
    if (c->more)
        credit.elements = n, credit.bytes = size;
    if (c->coordinated) {
        c->came += view.kind != LEATI_FRAME_WHOLE;
        c->whole = view.kind == LEATI_FRAME_WHOLE ? view.position : c->whole;
        credit.acked_begin = c->whole, credit.acked_end = c->came;
    }
    if (c->acks && outcome)
        credit.acked_begin = view.position, credit.acked_end = view.position + n;
    if (c->more || (c->acks && outcome))
        stream_credit(c, credit);
}

static inline void stream_closed(void *context, const leat_error *why) {
    stream_client *c = context;
    leati_queue_gate_lock(c->gate);
    c->closed = true;
    if (why->code != LEAT_OK)
        c->why = *why;
    leati_queue_gate_wake(c->gate);
    leati_queue_gate_unlock(c->gate);
}

/* `more`: credit is given again for all that comes. */
static inline void stream_open(stream_client *c, const char *address,
                               const struct leati_message_read *asked, bool more) {
    leati_text text = {0};
    leat_error err = {0};
    leati_transport_events events = {.message = stream_message, .closed = stream_closed};
    *c = (stream_client){
        .more = more, .acks = asked->acks && more, .coordinated = asked->consumer >= 0};
    c->gate = leati_queue_gate_new("client", NULL, &err);
    c->spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    c->values = leati_alloc_zero(STREAM_MOST, sizeof(int64_t));
    c->positions = leati_alloc_zero(STREAM_MOST, sizeof(int64_t));
    c->transport = leati_transport_find("local", &err);
    c->channel = c->transport->connect(address, &(leati_transport_security){0}, &err);
    assert_int_equal(leati_messages_write(&leati_message_read, asked, &text, &err), LEAT_OK);
    leati_transport_stream *stream =
        c->transport->open(c->channel, "read", text.data, text.size, &events, c, &err);
    assert_non_null(stream);
    leati_queue_gate_lock(c->gate);
    c->stream = stream;
    leati_queue_gate_wake(c->gate);
    leati_queue_gate_unlock(c->gate);
    leati_text_fini(&text);
}

/* Waits until it has `count` elements, or was ended, one way or another. */
static inline void stream_wait(stream_client *c, int64_t count) {
    leati_queue_gate_lock(c->gate);
    while (c->count < count && !c->ended && !c->gone && !c->closed && c->broken[0] == '\0')
        (void)!leati_queue_gate_wait(c->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                     &(leat_error){0});
    leati_queue_gate_unlock(c->gate);
    assert_string_equal(c->broken, "");
}

static inline void stream_wait_closed(stream_client *c) {
    leati_queue_gate_lock(c->gate);
    while (!c->closed)
        (void)!leati_queue_gate_wait(c->gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                     &(leat_error){0});
    leati_queue_gate_unlock(c->gate);
}

static inline void stream_close(stream_client *c) {
    leati_transport_stream_close(c->stream, NULL);
    stream_wait_closed(c);
    leati_transport_stream_unref(c->stream);
    c->transport->disconnect(c->channel);
    leati_queue_gate_free(c->gate);
    leat_spec_unref(c->spec);
    leati_free(c->values);
    leati_free(c->positions);
}

#endif
