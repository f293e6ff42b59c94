/* Calls of bytes between the processes of a job; see service.h.
 *
 * Happy path: the transport's threads put each call that comes into a list, from which whoever
 * serves takes it, to answer it when it likes. Failures: where nothing is served any more, calls
 * are refused as UNAVAILABLE, those in the list too. Locks: the gate guards the list; nothing of
 * the transport is called while it is held. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "core/buffer.h"
#include "run/queue.h"
#include "service/wire/control.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_WAITING = 1024,     /* calls in the list */
    CLOSING_MS = 2000,       /* that open calls have when a server ends */
    MOST_METHOD = 64,        /* bytes of a method's name */
    DEFAULT_CALL_MS = 60000, /* of a call without a deadline of its own */
};

struct leat_call {
    leat_call *next; /* the gate's */
    leati_transport_call *call;
    leat_buffer *request;
    char method[MOST_METHOD];
};

struct leat_call_server {
    const leati_transport *transport;
    leati_transport_server *server;
    leati_gate *gate;
    leat_call *first, **last; /* the gate's */
    int waiting;              /* the gate's: calls in the list */
    bool stopped;             /* the gate's */
    int port;
};

struct leat_call_channel {
    const leati_transport *transport;
    leati_transport_channel *channel;
};

static void call_free(leat_call *call) {
    if (call != NULL)
        leat_buffer_unref(call->request);
    leati_free(call);
}

/* ---- serving ---- */

/* Refuses a call that nobody has taken. */
static void refuse(leati_transport_call *call, leat_status code, const char *text) {
    leat_error why = {0};
    (void)leati_fail(&why, code, "%s", text);
    (void)leati_transport_call_fail(call, &why);
}

static leat_call *call_new(leati_transport_call *incoming, const char *method, const void *request,
                           size_t size) {
    leat_error err = {0};
    leat_call *call = leati_alloc_zero(1, sizeof *call);
    if (call == NULL)
        return NULL;
    call->call = incoming;
    snprintf(call->method, sizeof call->method, "%s", method);
    call->request = leat_buffer_new(size, &err);
    if (call->request == NULL) {
        call_free(call);
        return NULL;
    }
    if (size > 0)
        memcpy(leat_buffer_data(call->request), request, size);
    return call;
}

static void on_call(void *context, leati_transport_call *incoming, const char *method,
                    const char *peer, const void *request, size_t size) {
    leat_call_server *server = context;
    (void)peer;
    leat_call *call =
        strlen(method) < MOST_METHOD ? call_new(incoming, method, request, size) : NULL;
    if (call == NULL) {
        refuse(incoming, LEAT_RESOURCE_EXHAUSTED, "the call does not fit into memory");
        return;
    }
    leati_queue_gate_lock(server->gate);
    bool taken = !server->stopped && server->waiting < MOST_WAITING;
    if (taken) {
        *server->last = call;
        server->last = &call->next;
        server->waiting++;
        leati_queue_gate_wake(server->gate);
    }
    leati_queue_gate_unlock(server->gate);
    if (taken)
        return;
    call_free(call);
    refuse(incoming, LEAT_UNAVAILABLE, "the server takes no more calls");
}

static leat_status on_open(void *context, leati_transport_stream *stream, const char *method,
                           const char *peer, const void *request, size_t size,
                           leati_transport_events *events, void **events_context, leat_error *err) {
    (void)context, (void)stream, (void)peer, (void)request, (void)size, (void)events,
        (void)events_context;
    return leati_fail(err, LEAT_UNIMPLEMENTED, "no stream is called \"%.40s\"", method);
}

static leat_status listen_at(leat_call_server *server, const char *host, int port,
                             leat_error *err) {
    leati_transport_security security = leati_control_security(NULL);
    LEATI_TRY(leati_control_check(&security, err));
    leati_transport_listen_options options = {
        .host = leati_control_host(host, &security), .port = port, .security = security};
    leati_transport_handler handler = {.context = server, .call = on_call, .open = on_open};
    server->transport = leati_transport_find("grpc", err);
    if (server->transport == NULL)
        return err->code;
    server->server = server->transport->listen(&options, &handler, &server->port, err);
    return server->server != NULL ? LEAT_OK : err->code;
}

leat_call_server *leat_call_server_new(const char *host, int port, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_call_server *server = leati_alloc_zero(1, sizeof *server);
    if (server == NULL) {
        leati_no_memory(err);
        return NULL;
    }
    server->last = &server->first;
    server->gate = leati_queue_gate_new("calls of a job", NULL, err);
    if (server->gate != NULL && listen_at(server, host, port, err) == LEAT_OK)
        return server;
    leati_queue_gate_free(server->gate);
    leati_free(server);
    return NULL;
}

int leat_call_server_port(const leat_call_server *server) {
    return server->port;
}

leat_status leat_call_server_next(leat_call_server *server, int64_t timeout_ms, leat_call **out,
                                  leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int64_t deadline = leati_clock_deadline_ns(timeout_ms);
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(server->gate);
    while (status == LEAT_OK && server->first == NULL && !server->stopped)
        status = leati_queue_gate_wait(server->gate, LEATI_WAIT_PEER, deadline, NULL, err);
    leat_call *call = status == LEAT_OK ? server->first : NULL;
    if (call != NULL) {
        server->first = call->next;
        server->last = server->first == NULL ? &server->first : server->last;
        server->waiting--;
    } else if (status == LEAT_OK) {
        status = leati_fail(err, LEAT_CANCELLED, "the server has been stopped");
    }
    leati_queue_gate_unlock(server->gate);
    if (status == LEAT_OK)
        *out = call;
    return status;
}

const char *leat_call_method(const leat_call *call) {
    return call->method;
}

const leat_buffer *leat_call_request(const leat_call *call) {
    return call->request;
}

bool leat_call_is_abandoned(const leat_call *call) {
    return leati_transport_call_abandoned(call->call);
}

bool leat_call_answer(leat_call *call, const void *bytes, size_t size) {
    bool heard = leati_transport_call_answer(call->call, bytes, size);
    call_free(call);
    return heard;
}

void leat_call_fail(leat_call *call, leat_status code, const char *text) {
    refuse(call->call, code, text);
    call_free(call);
}

void leat_call_server_stop(leat_call_server *server) {
    if (server == NULL)
        return;
    leati_queue_gate_lock(server->gate);
    server->stopped = true;
    leat_call *call = server->first;
    server->first = NULL;
    server->last = &server->first;
    server->waiting = 0;
    leati_queue_gate_wake(server->gate);
    leati_queue_gate_unlock(server->gate);
    while (call != NULL) {
        leat_call *next = call->next;
        leat_call_fail(call, LEAT_UNAVAILABLE, "the server has been stopped");
        call = next;
    }
    if (server->server != NULL)
        server->transport->close(server->server, leati_clock_deadline_ns(CLOSING_MS));
    server->server = NULL;
}

void leat_call_server_free(leat_call_server *server) {
    if (server == NULL)
        return;
    leat_call_server_stop(server);
    leati_queue_gate_free(server->gate);
    leati_free(server);
}

/* ---- calling ---- */

leat_call_channel *leat_call_channel_new(const char *address, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leati_transport_security security = leati_control_security(NULL);
    char *protocol = NULL, *place = NULL;
    if (leati_control_check(&security, err) != LEAT_OK ||
        leati_control_address(address, &protocol, &place, err) != LEAT_OK)
        return NULL;
    leat_call_channel *channel = leati_alloc_zero(1, sizeof *channel);
    if (channel == NULL)
        leati_no_memory(err);
    else if ((channel->transport = leati_transport_find(protocol, err)) != NULL)
        channel->channel = channel->transport->connect(place, &security, err);
    leati_free(protocol);
    leati_free(place);
    if (channel != NULL && channel->channel == NULL) {
        leati_free(channel);
        channel = NULL;
    }
    return channel;
}

leat_status leat_call_channel_call(leat_call_channel *channel, const char *method,
                                   const void *request, size_t size, int64_t timeout_ms,
                                   leat_cancel *cancel, leat_buffer **out, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    int64_t deadline =
        leati_clock_deadline_ns(timeout_ms == 0 ? (int64_t)DEFAULT_CALL_MS : timeout_ms);
    return channel->transport->call(channel->channel, method, request, size, deadline, cancel, out,
                                    err);
}

void leat_call_channel_free(leat_call_channel *channel) {
    if (channel == NULL)
        return;
    channel->transport->disconnect(channel->channel);
    leati_free(channel);
}
