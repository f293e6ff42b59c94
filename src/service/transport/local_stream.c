/* Streams within a process. Two ends make a pair; each has an inbox, into which the other writes.
 *
 * A message whose one part lies in a buffer is handed over as a view of that buffer; others are put
 * together in a new one. A writer waits while MOST_BYTES lie at the other end and have not been
 * handed over; a message that is larger passes where the queue is empty. Locks: the gate of the
 * pair; that of a side is never taken under it. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/transport/inbox.h"
#include "service/transport/local.h"

#include <string.h>

enum { MOST_BYTES = 8 << 20 };

typedef struct end {
    leati_transport_stream base;
    leati_local_pair *pair;
    leati_inbox inbox;
} end;

struct leati_local_pair {
    atomic_int references; /* ends whose streams are in use */
    leati_gate *gate;
    end ends[2];                             /* that of the channel, that of the server */
    bool over;                               /* gate's lock */
    leati_transport_channel *channel;        /* references */
    leati_transport_server *server;          /* NULL: there was none */
    leati_local_pair *next[2], *previous[2]; /* in the lists of channel and server: their locks */
    bool ending[2];                          /* those locks: leati_local_streams_end was here */
    size_t size;
    char *method;
    char request[];
};

static leati_local_side *side_of(const leati_local_pair *pair, int which) {
    if (which == LEATI_LOCAL_CHANNEL)
        return &pair->channel->side;
    return pair->server != NULL ? &pair->server->side : NULL;
}

static bool join_side(leati_local_pair *pair, int which) {
    leati_local_side *side = side_of(pair, which);
    leati_queue_gate_lock(side->gate);
    bool joins = !side->closing;
    if (joins) {
        pair->previous[which] = NULL;
        pair->next[which] = side->pairs;
        if (side->pairs != NULL)
            side->pairs->previous[which] = pair;
        side->pairs = pair;
        side->num_running++;
    }
    leati_queue_gate_unlock(side->gate);
    return joins;
}

static void leave_side(leati_local_pair *pair, int which) {
    leati_local_side *side = side_of(pair, which);
    leati_queue_gate_lock(side->gate);
    if (pair->previous[which] != NULL)
        pair->previous[which]->next[which] = pair->next[which];
    else
        side->pairs = pair->next[which];
    if (pair->next[which] != NULL)
        pair->next[which]->previous[which] = pair->previous[which];
    side->num_running--;
    leati_queue_gate_wake(side->gate);
    leati_queue_gate_unlock(side->gate);
}

static void free_end(leati_transport_stream *stream) {
    leati_local_pair *pair = ((end *)stream)->pair;
    if (atomic_fetch_sub(&pair->references, 1) != 1)
        return;
    leati_inbox_drop(&pair->ends[0].inbox);
    leati_inbox_drop(&pair->ends[1].inbox);
    leati_queue_gate_free(pair->gate);
    if (pair->server != NULL)
        leati_local_server_unref(pair->server);
    leati_local_channel_unref(pair->channel);
    leati_free(pair->method);
    leati_free(pair);
}

/* With the lock held. */
static void end_pair(leati_local_pair *pair, int closer, const leat_error *why) {
    pair->over = true;
    for (int i = 0; i < 2; i++)
        leati_inbox_end(&pair->ends[i].inbox, why, i == closer || why->code != LEAT_OK);
    leati_queue_gate_wake(pair->gate);
}

static void close_stream(leati_transport_stream *stream, const leat_error *why) {
    end *e = (end *)stream;
    leati_queue_gate_lock(e->pair->gate);
    end_pair(e->pair, e == &e->pair->ends[1], why);
    leati_queue_gate_unlock(e->pair->gate);
}

/* ---- writing ---- */

static leat_status refuse_write(const end *to, leat_error *err) {
    const leat_error *why = &to->inbox.why;
    return leati_fail(err, LEAT_UNAVAILABLE, "the stream of %.100s has ended%s%s", to->pair->method,
                      why->code != LEAT_OK ? ": " : "", why->text);
}

/* With the lock held: is there room at the other end, or no other end any more? */
static bool may_go_on(const end *to, size_t size) {
    return to->pair->over || to->inbox.bytes == 0 || to->inbox.bytes + size <= MOST_BYTES;
}

static leat_status wait_for_room(end *to, size_t size, leat_cancel *cancel, leat_error *err) {
    leati_gate *gate = to->pair->gate;
    leati_transport_wait wait;
    leat_status status = LEAT_OK;
    leati_transport_wait_begin(&wait, gate, cancel);
    leati_queue_gate_lock(gate);
    while (status == LEAT_OK && !may_go_on(to, size))
        status = leati_transport_wait_once(&wait, LEATI_NO_DEADLINE, err);
    leati_queue_gate_unlock(gate);
    leati_transport_wait_end(&wait);
    return status;
}

static leat_status put(end *to, leati_inbox_message *sent, leat_cancel *cancel, leat_error *err) {
    leati_local_pair *pair = to->pair;
    size_t size = leat_buffer_size(sent->buffer);
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(pair->gate);
    while (status == LEAT_OK && !may_go_on(to, size)) {
        leati_queue_gate_unlock(pair->gate);
        status = wait_for_room(to, size, cancel, err);
        leati_queue_gate_lock(pair->gate);
    }
    if (status == LEAT_OK && pair->over)
        status = refuse_write(to, err);
    if (status == LEAT_OK)
        leati_inbox_put(&to->inbox, sent);
    leati_queue_gate_unlock(pair->gate);
    return status;
}

static leat_status write_stream(leati_transport_stream *stream, const leati_transport_part *parts,
                                int num_parts, leat_cancel *cancel, leat_error *err) {
    end *e = (end *)stream;
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled before a message was written");
    leat_buffer *buffer = leati_transport_gather(parts, num_parts, err);
    leati_inbox_message *sent = buffer != NULL ? leati_inbox_message_new(buffer, err) : NULL;
    if (sent == NULL)
        return err->code;
    leat_status status = put(&e->pair->ends[e == &e->pair->ends[0]], sent, cancel, err);
    if (status != LEAT_OK)
        leati_inbox_message_free(sent);
    return status;
}

static const leati_transport_stream_type stream_type = {
    .write = write_stream, .close = close_stream, .free = free_end};

/* ---- what the inboxes ask ---- */

static end *end_of(leati_inbox *inbox) {
    return (end *)((char *)inbox - offsetof(end, inbox));
}

static leat_status ask_handler(leati_inbox *inbox, leati_transport_events *events, void **context,
                               leat_error *err) {
    leati_local_pair *pair = end_of(inbox)->pair;
    const leati_transport_handler *handler = &pair->server->handler;
    return handler->open(handler->context, &end_of(inbox)->base, pair->method, "", pair->request,
                         pair->size, events, context, err);
}

static void refuse(leati_inbox *inbox, const leat_error *why) {
    end_pair(end_of(inbox)->pair, LEATI_LOCAL_SERVER, why);
}

static void wake_writer(leati_inbox *inbox) {
    leati_queue_gate_wake(inbox->gate);
}

static void leave(leati_inbox *inbox) {
    end *e = end_of(inbox);
    leave_side(e->pair, e == &e->pair->ends[1]);
    leati_transport_stream_unref(&e->base);
}

static const leati_inbox_owner inbox_owner = {
    .opens = ask_handler, .refused = refuse, .room = wake_writer, .left = leave};

/* ---- opening ---- */

static void init_end(leati_local_pair *pair, int which, leati_executor *executor,
                     const leati_transport_events *events, void *context) {
    end *e = &pair->ends[which];
    leati_transport_stream_init(&e->base, &stream_type);
    e->pair = pair;
    leati_inbox_init(&e->inbox, &inbox_owner, executor, pair->gate, events, context);
}

static leati_local_pair *new_pair(const char *method, const void *request, size_t size,
                                  leat_error *err) {
    size_t total;
    leati_local_pair *pair =
        leati_add_size(sizeof *pair, size, &total) ? leati_alloc(total, 1) : NULL;
    char *copy = leati_strdup(method);
    leati_gate *gate = leati_queue_gate_new("a stream within the process", NULL, err);
    if (pair == NULL || copy == NULL || gate == NULL) {
        leati_queue_gate_free(gate);
        leati_free(copy);
        leati_free(pair);
        leati_no_memory(err);
        return NULL;
    }
    memset(pair, 0, sizeof *pair);
    pair->gate = gate;
    pair->method = copy;
    pair->size = size;
    if (size > 0)
        memcpy(pair->request, request, size);
    atomic_init(&pair->references, 2);
    return pair;
}

static void refuse_closing(leat_error *why, const char *what) {
    leati_fail(why, LEAT_UNAVAILABLE, "the %s of this stream is closing", what);
}

leati_transport_stream *
leati_local_stream_open(leati_transport_channel *channel, leati_transport_server *server,
                        const leat_error *why, const char *method, const void *request, size_t size,
                        const leati_transport_events *events, void *context, leat_error *err) {
    leati_local_pair *pair = new_pair(method, request, size, err);
    if (pair == NULL) {
        if (server != NULL)
            leati_local_server_unref(server);
        return NULL;
    }
    end *e = &pair->ends[0];
    leat_error refused = *why;
    atomic_fetch_add(&channel->side.references, 1);
    pair->channel = channel;
    pair->server = server;
    init_end(pair, LEATI_LOCAL_CHANNEL, channel->executor, events, context);
    init_end(pair, LEATI_LOCAL_SERVER, channel->executor, NULL, NULL);
    if (!join_side(pair, LEATI_LOCAL_CHANNEL)) {
        leati_transport_stream_unref(&pair->ends[1].base);
        leati_transport_stream_unref(&e->base);
        leati_fail(err, LEAT_FAILED_PRECONDITION, "the channel is closing");
        return NULL;
    }
    bool joined = server != NULL && join_side(pair, LEATI_LOCAL_SERVER);
    if (server != NULL && !joined)
        refuse_closing(&refused, "server");
    leati_transport_stream_ref(&e->base); /* that of the transport, until it was told */
    leati_queue_gate_lock(pair->gate);
    if (joined) {
        leati_inbox_post(&pair->ends[1].inbox);
    } else {
        pair->ends[1].inbox.told = true;
        end_pair(pair, LEATI_LOCAL_SERVER, &refused);
    }
    leati_queue_gate_unlock(pair->gate);
    if (!joined)
        leati_transport_stream_unref(&pair->ends[1].base);
    return &e->base;
}

/* One that has not been ended yet; a reference is owned. */
static leati_transport_stream *next_to_end(leati_local_side *side, int which) {
    leati_queue_gate_lock(side->gate);
    leati_local_pair *pair = side->pairs;
    while (pair != NULL && pair->ending[which])
        pair = pair->next[which];
    leati_transport_stream *stream = NULL;
    if (pair != NULL) {
        pair->ending[which] = true;
        stream = leati_transport_stream_ref(&pair->ends[which].base);
    }
    leati_queue_gate_unlock(side->gate);
    return stream;
}

void leati_local_streams_end(leati_local_side *side, int which, const leat_error *why) {
    leati_transport_stream *stream;
    while ((stream = next_to_end(side, which)) != NULL) {
        close_stream(stream, why);
        leati_transport_stream_unref(stream);
    }
}
