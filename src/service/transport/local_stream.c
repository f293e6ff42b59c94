/* Streams within a process. Two ends make a pair; each has a queue of messages, which a thread of
 * the executor hands to its events one after the other: an end is posted at most once at a time.
 *
 * A message whose one part lies in a buffer is handed over as a view of that buffer; others are put
 * together in a new one. A writer waits while MOST_BYTES lie at the other end and have not been
 * handed over; a message that is larger passes where the queue is empty. Locks: the gate of the
 * pair; that of a side is never taken under it. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/transport/local.h"

#include <string.h>

enum { MOST_BYTES = 8 << 20, MOST_AT_ONCE = 16 /* messages, before others have their turn */ };

typedef struct message {
    leat_buffer *buffer;
    struct message *next;
} message;

typedef struct end {
    leati_transport_stream base;
    leati_local_pair *pair;
    leati_executor_task task;
    bool posted; /* the gate's lock, as all below */
    bool opened; /* has events */
    bool told;   /* of the end; nothing of the user's is called any more */
    leati_transport_events events;
    void *context;
    message *first, **last;
    size_t bytes; /* in the queue, and of the message that is being handed over */
} end;

struct leati_local_pair {
    atomic_int references; /* ends whose streams are in use */
    leati_gate *gate;
    end ends[2];                             /* that of the channel, that of the server */
    bool over;                               /* gate's lock */
    leat_error why;                          /* set with `over`, read only after it */
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

static void drop_messages(end *e) {
    while (e->first != NULL) {
        message *dead = e->first;
        e->first = dead->next;
        e->bytes -= leat_buffer_size(dead->buffer);
        leat_buffer_unref(dead->buffer);
        leati_free(dead);
    }
    e->last = &e->first;
}

static void free_end(leati_transport_stream *stream) {
    leati_local_pair *pair = ((end *)stream)->pair;
    if (atomic_fetch_sub(&pair->references, 1) != 1)
        return;
    drop_messages(&pair->ends[0]);
    drop_messages(&pair->ends[1]);
    leati_queue_gate_free(pair->gate);
    if (pair->server != NULL)
        leati_local_server_unref(pair->server);
    leati_local_channel_unref(pair->channel);
    leati_free(pair->method);
    leati_free(pair);
}

/* With the lock held: the end is looked after soon. */
static void post(end *e) {
    if (e->posted || e->told)
        return;
    e->posted = true;
    leati_executor_post(e->pair->channel->executor, &e->task);
}

/* With the lock held. */
static void end_pair(leati_local_pair *pair, int closer, const leat_error *why) {
    if (pair->over)
        return;
    pair->over = true;
    if (why->code != LEAT_OK)
        pair->why = *why;
    for (int i = 0; i < 2; i++) {
        if (i == closer || pair->why.code != LEAT_OK)
            drop_messages(&pair->ends[i]);
        post(&pair->ends[i]);
    }
    leati_queue_gate_wake(pair->gate);
}

static void close_stream(leati_transport_stream *stream, const leat_error *why) {
    end *e = (end *)stream;
    leati_queue_gate_lock(e->pair->gate);
    end_pair(e->pair, e == &e->pair->ends[1], why);
    leati_queue_gate_unlock(e->pair->gate);
}

/* ---- writing ---- */

static leat_status refuse_write(const leati_local_pair *pair, leat_error *err) {
    return leati_fail(err, LEAT_UNAVAILABLE, "the stream of %.100s has ended%s%s", pair->method,
                      pair->why.code != LEAT_OK ? ": " : "", pair->why.text);
}

/* With the lock held: is there room at the other end, or no other end any more? */
static bool may_go_on(const end *to, size_t size) {
    return to->pair->over || to->bytes == 0 || to->bytes + size <= MOST_BYTES;
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

static leat_status put(end *to, message *sent, leat_cancel *cancel, leat_error *err) {
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
        status = refuse_write(pair, err);
    if (status == LEAT_OK) {
        *to->last = sent;
        to->last = &sent->next;
        to->bytes += size;
        post(to);
    }
    leati_queue_gate_unlock(pair->gate);
    return status;
}

static leat_status write_stream(leati_transport_stream *stream, const leati_transport_part *parts,
                                int num_parts, leat_cancel *cancel, leat_error *err) {
    end *e = (end *)stream;
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled before a message was written");
    leat_buffer *buffer = leati_transport_gather(parts, num_parts, err);
    if (buffer == NULL)
        return err->code;
    message *sent = leati_alloc(1, sizeof *sent);
    if (sent == NULL) {
        leat_buffer_unref(buffer);
        return leati_no_memory(err);
    }
    *sent = (message){.buffer = buffer};
    leat_status status = put(&e->pair->ends[e == &e->pair->ends[0]], sent, cancel, err);
    if (status != LEAT_OK) {
        leat_buffer_unref(buffer);
        leati_free(sent);
    }
    return status;
}

static const leati_transport_stream_type stream_type = {
    .write = write_stream, .close = close_stream, .free = free_end};

/* ---- handing over, on a thread of the executor ---- */

/* Asks the server's handler, with nothing locked. */
static void ask_handler(end *e) {
    leati_local_pair *pair = e->pair;
    const leati_transport_handler *handler = &pair->server->handler;
    leat_error err = {0};
    leati_transport_events events = {0};
    void *context = NULL;
    leat_status status = handler->open(handler->context, &e->base, pair->method, "", pair->request,
                                       pair->size, &events, &context, &err);
    leati_queue_gate_lock(pair->gate);
    if (status == LEAT_OK) {
        e->events = events;
        e->context = context;
        e->opened = true;
    } else {
        end_pair(pair, LEATI_LOCAL_SERVER, &err);
        drop_messages(e); /* of a stream that was ended without a failure before */
    }
    leati_queue_gate_unlock(pair->gate);
}

static void hand_over(end *e, message *next) {
    size_t size = leat_buffer_size(next->buffer);
    e->events.message(e->context, next->buffer);
    leati_free(next);
    leati_queue_gate_lock(e->pair->gate);
    e->bytes -= size;
    leati_queue_gate_wake(e->pair->gate);
    leati_queue_gate_unlock(e->pair->gate);
}

/* The last thing that happens to an end. */
static void tell_end(end *e) {
    leati_local_pair *pair = e->pair;
    int which = e == &pair->ends[1];
    if (e->opened)
        e->events.closed(e->context, &pair->why);
    leave_side(pair, which);
    leati_transport_stream_unref(&e->base);
}

/* What comes next at an end that is opened. */
static bool hand_over_one(end *e) {
    leati_local_pair *pair = e->pair;
    leati_queue_gate_lock(pair->gate);
    message *next = e->first;
    bool ends = next == NULL && pair->over;
    if (next != NULL) {
        e->first = next->next;
        if (e->first == NULL)
            e->last = &e->first;
    }
    if (ends)
        e->told = true;
    if (next == NULL)
        e->posted = false;
    leati_queue_gate_unlock(pair->gate);
    if (next != NULL)
        hand_over(e, next);
    else if (ends)
        tell_end(e);
    return next != NULL;
}

static void run_end(leati_executor_task *task) {
    end *e = (end *)((char *)task - offsetof(end, task));
    leati_local_pair *pair = e->pair;
    leati_queue_gate_lock(pair->gate);
    /* Whoever ended the stream with a failure before it was opened is not asked to open it. */
    bool asks = !e->opened && !(pair->over && pair->why.code != LEAT_OK);
    leati_queue_gate_unlock(pair->gate);
    if (asks)
        ask_handler(e);
    for (int i = 0; i < MOST_AT_ONCE; i++)
        if (!hand_over_one(e))
            return;
    leati_executor_post(pair->channel->executor, &e->task);
}

/* ---- opening ---- */

static void init_end(end *e, leati_local_pair *pair) {
    leati_transport_stream_init(&e->base, &stream_type);
    e->pair = pair;
    e->task.run = run_end;
    e->last = &e->first;
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
    init_end(&pair->ends[0], pair);
    init_end(&pair->ends[1], pair);
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
    e->opened = true;
    e->events = *events;
    e->context = context;
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
        post(&pair->ends[1]);
    } else {
        pair->ends[1].told = true;
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
