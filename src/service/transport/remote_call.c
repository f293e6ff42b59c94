/* Calls between processes. At a client a call is done when gRPC says so, or when its caller gives
 * up; at a server when it is answered, failed, or its client has gone. Locks: the gate of the call,
 * or at a server that of the server; never two. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/transport/outbox.h"
#include "service/transport/remote.h"

#include <string.h>

/* ---- at a client ---- */

typedef struct asked {
    leati_gate *gate; /* its lock guards those below down to the references */
    leat_buffer *answer;
    leat_error why;
    bool done;
    leati_grpc_call *handle; /* owned; NULL: not begun */
    int references;          /* the caller, gRPC until `answered` */
    leati_remote_channel *channel;
    leati_remote_link link;
} asked;

static asked *asked_of(leati_remote_link *link) {
    return (asked *)((char *)link - offsetof(asked, link));
}

static void asked_ref(leati_remote_link *link) {
    asked *a = asked_of(link);
    leati_queue_gate_lock(a->gate);
    a->references++;
    leati_queue_gate_unlock(a->gate);
}

static void asked_unref(asked *a) {
    leati_queue_gate_lock(a->gate);
    bool last = --a->references == 0;
    leati_queue_gate_unlock(a->gate);
    if (!last)
        return;
    leat_buffer_unref(a->answer);
    if (a->handle != NULL)
        leati_remote_module->call_free(a->handle);
    leati_queue_gate_free(a->gate);
    leati_free(a);
}

static void cancel_handle(asked *a) {
    leati_queue_gate_lock(a->gate);
    leati_grpc_call *handle = a->handle;
    leati_queue_gate_unlock(a->gate);
    if (handle != NULL)
        leati_remote_module->call_cancel(handle);
}

/* The first result counts. */
static void finish_asked(asked *a, leat_buffer *answer, const leat_error *why) {
    leati_queue_gate_lock(a->gate);
    bool first = !a->done;
    if (first) {
        a->done = true;
        a->answer = answer;
        if (why != NULL)
            a->why = *why;
        leati_queue_gate_wake(a->gate);
    }
    leati_queue_gate_unlock(a->gate);
    if (!first)
        leat_buffer_unref(answer);
}

static leat_buffer *gather_slices(const leati_grpc_bytes *slices, size_t num_slices,
                                  leat_error *err) {
    size_t total = 0;
    for (size_t i = 0; i < num_slices; i++)
        total += slices[i].size;
    leat_buffer *buffer = leat_buffer_new(total, err);
    char *to = buffer != NULL ? leat_buffer_data(buffer) : NULL;
    for (size_t i = 0; to != NULL && i < num_slices; i++) {
        if (slices[i].size > 0)
            memcpy(to, slices[i].data, slices[i].size);
        to += slices[i].size;
    }
    leati_transport_count_copied(total);
    return buffer;
}

void leati_remote_call_answered(void *context, const leati_grpc_end *end,
                                const leati_grpc_bytes *slices, size_t num_slices) {
    asked *a = context;
    leat_error why = {0};
    leat_buffer *answer = NULL;
    leati_remote_names_doubt(a->channel, end);
    leati_remote_error(end, a->channel->address, &why);
    if (why.code == LEAT_OK)
        answer = gather_slices(slices, num_slices, &why);
    finish_asked(a, answer, answer == NULL ? &why : NULL);
    leati_remote_side *side = &a->channel->side;
    asked_unref(a);
    leati_remote_side_stop(side);
}

static void wait_for_answer(asked *a, const char *method, int64_t deadline_ns,
                            leat_cancel *cancel) {
    leati_transport_wait wait;
    leat_error why = {0};
    leat_status status = LEAT_OK;
    leati_transport_wait_begin(&wait, a->gate, cancel);
    leati_queue_gate_lock(a->gate);
    while (status == LEAT_OK && !a->done)
        status = leati_transport_wait_once(&wait, deadline_ns, &why);
    leati_queue_gate_unlock(a->gate);
    leati_transport_wait_end(&wait);
    if (status == LEAT_OK)
        return;
    leati_prefix(&why, "call of %.100s at grpc://%.200s", method, a->channel->address);
    finish_asked(a, NULL, &why);
    cancel_handle(a);
}

static asked *new_asked(leati_remote_channel *channel, leat_error *err) {
    asked *a = leati_alloc_zero(1, sizeof *a);
    leati_gate *gate = leati_queue_gate_new("a call of the service", NULL, err);
    if (a == NULL || gate == NULL) {
        leati_queue_gate_free(gate);
        leati_free(a);
        leati_no_memory(err);
        return NULL;
    }
    a->gate = gate;
    a->channel = channel;
    a->references = 1;
    return a;
}

/* gRPC's own clock is a little behind, so that the caller's deadline is what ends a call. */
static int64_t grpc_ms(int64_t deadline_ns) {
    if (deadline_ns == LEATI_NO_DEADLINE)
        return -1;
    int64_t left = deadline_ns - leati_now_ns();
    return left > 0 ? left / 1000000 + 50 : 0;
}

static leat_status start(asked *a, leati_grpc_connection *connection, const char *method,
                         leati_outbox_frame *request, int64_t deadline_ns, leat_error *err) {
    leati_remote_side_sends(&a->channel->side);
    if (!leati_remote_side_join(&a->channel->side, LEATI_REMOTE_CALLS, &a->link)) {
        leati_outbox_frame_release(request);
        return leati_fail(err, LEAT_UNAVAILABLE, "the channel to grpc://%.200s is closing",
                          a->channel->address);
    }
    leati_remote_side_run(&a->channel->side); /* for the caller, who leaves the list */
    asked_ref(&a->link);
    leati_grpc_call *handle =
        leati_remote_module->call(connection, method, request->pieces[0], grpc_ms(deadline_ns), a);
    leati_queue_gate_lock(a->gate);
    a->handle = handle;
    bool done = a->done;
    leati_queue_gate_unlock(a->gate);
    if (done)
        cancel_handle(a); /* one that was failed before it had begun */
    return LEAT_OK;
}

leat_status leati_remote_call(leati_remote_channel *channel, const char *method,
                              const void *request, size_t size, int64_t deadline_ns,
                              leat_cancel *cancel, leat_buffer **answer, leat_error *err) {
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled before %.100s was called", method);
    leati_grpc_connection *connection =
        leati_remote_connection(channel, 0, deadline_ns, cancel, err);
    if (connection == NULL)
        return leati_prefix(err, "call of %.100s at grpc://%.200s", method, channel->address);
    const leati_transport_part part = {request, size, NULL};
    leat_buffer *copy = leati_transport_gather(&part, 1, err);
    asked *a = copy != NULL ? new_asked(channel, err) : NULL;
    if (a == NULL) {
        leat_buffer_unref(copy);
        return err->code;
    }
    leati_outbox_frame *frame =
        leati_outbox_frame_of(copy, leati_remote_side_released, &channel->side, err);
    if (frame == NULL) {
        asked_unref(a);
        return err->code;
    }
    leat_status status = start(a, connection, method, frame, deadline_ns, err);
    if (status == LEAT_OK) {
        wait_for_answer(a, method, deadline_ns, cancel);
        leati_remote_side_leave(&channel->side, LEATI_REMOTE_CALLS, &a->link);
        leati_queue_gate_lock(a->gate);
        if (a->answer != NULL)
            *answer = a->answer;
        else
            status = leati_error_pass(err, &a->why);
        a->answer = NULL;
        leati_queue_gate_unlock(a->gate);
        leati_remote_side_stop(&channel->side);
    }
    asked_unref(a);
    return status;
}

/* ---- at a server ---- */

typedef struct served {
    const leati_remote_hearing *hearing; /* first: the context of a pipe */
    leati_transport_call base;
    leati_executor_task task;
    leati_remote_server *server;
    leati_grpc_pipe *pipe;
    leati_remote_link link;
    atomic_int references; /* who answers, and the pipe until `ended` */
    bool finished;         /* the lock of the server's gate */
    leat_buffer *request;
    char peer[64];
    char method[];
} served;

static served *served_of(leati_remote_link *link) {
    return (served *)((char *)link - offsetof(served, link));
}

static void served_ref(leati_remote_link *link) {
    atomic_fetch_add(&served_of(link)->references, 1);
}

static void served_unref(served *s) {
    if (atomic_fetch_sub(&s->references, 1) != 1)
        return;
    leati_remote_module->pipe_free(s->pipe);
    leat_buffer_unref(s->request);
    leati_remote_side_unref(&s->server->side);
    leati_free(s);
}

/* Is the caller the one who ends the call? */
static bool claim(served *s) {
    leati_remote_side *side = &s->server->side;
    leati_queue_gate_lock(side->gate);
    bool first = !s->finished;
    s->finished = true;
    leati_queue_gate_unlock(side->gate);
    if (first)
        leati_remote_side_leave(side, LEATI_REMOTE_CALLS, &s->link);
    return first;
}

static bool finish_served(served *s, const leat_error *why) {
    if (!claim(s))
        return false;
    leati_writer bytes = {0};
    leati_grpc_end end = leati_remote_end(why, &bytes);
    leati_remote_module->pipe_finish(s->pipe, &end);
    leati_writer_fini(&bytes);
    return true;
}

static served *served_of_base(const leati_transport_call *base) {
    return (served *)((char *)base - offsetof(served, base));
}

static bool fail_call(leati_transport_call *base, const leat_error *why) {
    served *s = served_of_base(base);
    bool first = finish_served(s, why);
    served_unref(s);
    return first;
}

static bool answer_call(leati_transport_call *base, const void *bytes, size_t size) {
    served *s = served_of_base(base);
    const leati_transport_part part = {bytes, size, NULL};
    leat_error err = {0};
    leat_buffer *copy = leati_transport_gather(&part, 1, &err);
    leati_outbox_frame *frame =
        copy != NULL
            ? leati_outbox_frame_of(copy, leati_remote_side_released, &s->server->side, &err)
            : NULL;
    if (frame == NULL)
        return fail_call(base, &err);
    leati_remote_side_sends(&s->server->side);
    bool first = claim(s);
    if (first)
        leati_remote_module->pipe_answer(s->pipe, frame->pieces[0]);
    else
        leati_outbox_frame_release(frame);
    served_unref(s);
    return first;
}

static bool call_abandoned(const leati_transport_call *base) {
    const served *s = served_of_base(base);
    leati_queue_gate_lock(s->server->side.gate);
    bool finished = s->finished;
    leati_queue_gate_unlock(s->server->side.gate);
    return finished;
}

static const leati_transport_call_type call_type = {
    .answer = answer_call, .fail = fail_call, .abandoned = call_abandoned};

/* On a thread of the executor, counted as running until the handler has returned. */
static void run_served(leati_executor_task *task) {
    served *s = (served *)((char *)task - offsetof(served, task));
    leati_remote_side *side = &s->server->side;
    const leati_transport_handler *handler = &s->server->handler;
    served_ref(&s->link);
    handler->call(handler->context, &s->base, s->method, s->peer, leat_buffer_data(s->request),
                  leat_buffer_size(s->request));
    served_unref(s);
    leati_remote_side_stop(side);
}

static void call_received(void *context, const leati_grpc_bytes *slices, size_t num_slices) {
    served *s = context;
    leat_error why = {0};
    if (slices == NULL)
        leati_fail(&why, LEAT_CANCELLED, "the client has gone before its request was there");
    else
        s->request = gather_slices(slices, num_slices, &why);
    if (s->request == NULL) {
        (void)fail_call(&s->base, &why);
        return;
    }
    leati_remote_side_run(&s->server->side);
    leati_executor_post(s->server->executor, &s->task);
}

static void call_sent(void *context, bool ok) {
    (void)context;
    (void)ok;
}

static void call_cancelled(void *context) {
    leat_error why = {0};
    leati_fail(&why, LEAT_CANCELLED, "the client has gone");
    (void)finish_served(context, &why);
}

static void call_ended(void *context, const leati_grpc_end *end) {
    served *s = context;
    leati_remote_side *side = &s->server->side;
    (void)end;
    served_unref(s);
    leati_remote_side_stop(side);
}

static const leati_remote_hearing call_hearing = {
    .received = call_received, .sent = call_sent, .cancelled = call_cancelled, .ended = call_ended};

void *leati_remote_call_incoming(leati_remote_server *server, leati_grpc_pipe *pipe,
                                 const leati_grpc_incoming *incoming, leat_error *err) {
    size_t length = strlen(incoming->method) + 1;
    served *s = leati_alloc(sizeof *s + length, 1);
    if (s == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    memset(s, 0, sizeof *s);
    s->hearing = &call_hearing;
    leati_transport_call_init(&s->base, &call_type);
    s->task.run = run_served;
    s->server = server;
    s->pipe = pipe;
    atomic_init(&s->references, 2);
    leati_remote_peer(incoming->peer, s->peer, sizeof s->peer);
    memcpy(s->method, incoming->method, length);
    if (!leati_remote_side_join(&server->side, LEATI_REMOTE_CALLS, &s->link)) {
        leati_free(s);
        leati_fail(err, LEAT_UNAVAILABLE, "the server is closing");
        return NULL;
    }
    atomic_fetch_add(&server->side.references, 1);
    (void)leati_remote_module->pipe_read(pipe);
    return s;
}

/* ---- ending ---- */

void leati_remote_calls_fail(leati_remote_side *side, bool at_server, const leat_error *why) {
    leati_remote_link *link;
    while ((link = leati_remote_side_next(side, LEATI_REMOTE_CALLS, 1,
                                          at_server ? served_ref : asked_ref)) != NULL) {
        if (at_server) {
            (void)finish_served(served_of(link), why);
            served_unref(served_of(link));
        } else {
            finish_asked(asked_of(link), NULL, why);
            cancel_handle(asked_of(link));
            asked_unref(asked_of(link));
        }
    }
}
