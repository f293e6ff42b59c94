/* The transport within a process: servers are entries of a registry, by port numbers that are the
 * process's own, whatever host an address names. Handlers and events run on the threads of the
 * executor (executor.h); streams are in local_stream.c.
 *
 * A call is done when it is answered, failed or given up by its caller, whichever comes first; both
 * who asks and who answers hold a reference until then. Locks: the registry's, the gate of a call
 * and that of a side are taken one at a time. */
#include "service/transport/local.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"

#include <pthread.h>
#include <string.h>

enum { HIGHEST_PORT = 65535, LONGEST_HOST = 256 };

struct leati_local_call {
    leati_transport_call base;
    leati_executor_task task;
    leati_gate *gate;
    leat_buffer *answer; /* the gate's lock, as the three below */
    leat_error why;
    bool done;
    int references;
    leati_transport_channel *channel;        /* borrowed from the caller, who waits */
    leati_transport_server *server;          /* reference */
    leati_local_call *next[2], *previous[2]; /* in the lists of channel and server: their locks */
    bool ending[2];                          /* those locks: fail_calls was here */
    size_t size;
    char *method;
    char request[];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static leati_transport_server *registry; /* registry_lock */

/* What is registered belongs to the parent, whose threads serve it. */
static void before_fork(void) {
    pthread_mutex_lock(&registry_lock);
}

static void after_fork(bool child) {
    if (child)
        registry = NULL;
    pthread_mutex_unlock(&registry_lock);
}

LEATI_FORK_PART(local_servers, before_fork, after_fork);

/* ---- servers and channels ---- */

static bool init_side(leati_local_side *side, const char *name, leat_error *err) {
    atomic_init(&side->references, 1);
    side->gate = leati_queue_gate_new(name, NULL, err);
    return side->gate != NULL;
}

void leati_local_server_unref(leati_transport_server *server) {
    if (atomic_fetch_sub(&server->side.references, 1) != 1)
        return;
    leati_queue_gate_free(server->side.gate);
    leati_free(server->token);
    leati_free(server);
}

void leati_local_channel_unref(leati_transport_channel *channel) {
    if (atomic_fetch_sub(&channel->side.references, 1) != 1)
        return;
    leati_queue_gate_free(channel->side.gate);
    leati_free(channel->token);
    leati_free(channel->address);
    leati_free(channel);
}

/* With the registry's lock held. */
static leati_transport_server *registered(int port) {
    leati_transport_server *server = registry;
    while (server != NULL && server->port != port)
        server = server->next;
    return server;
}

static leat_status enter_registry(leati_transport_server *server, int port, leat_error *err) {
    leat_status status = LEAT_OK;
    pthread_mutex_lock(&registry_lock);
    if (port == 0)
        for (port = 1; port <= HIGHEST_PORT && registered(port) != NULL;)
            port++;
    if (port > HIGHEST_PORT || registered(port) != NULL) {
        status = leati_fail(err, LEAT_FAILED_PRECONDITION,
                            "port %d is taken by another local server of this process; listen on "
                            "port 0 for any free one",
                            port);
    } else {
        server->port = port;
        server->next = registry;
        registry = server;
    }
    pthread_mutex_unlock(&registry_lock);
    return status;
}

static void leave_registry(leati_transport_server *server) {
    pthread_mutex_lock(&registry_lock);
    leati_transport_server **at = &registry;
    while (*at != server)
        at = &(*at)->next;
    *at = server->next;
    pthread_mutex_unlock(&registry_lock);
}

static leati_transport_server *listen_local(const leati_transport_listen_options *options,
                                            const leati_transport_handler *handler, int *port,
                                            leat_error *err) {
    if (options->port < 0 || options->port > HIGHEST_PORT) {
        leati_refuse(err, VALUE, "expected a port of 0 (any) to %d; found %d", HIGHEST_PORT,
                     options->port);
        return NULL;
    }
    leati_executor *executor = leati_executor_use(err);
    if (executor == NULL)
        return NULL;
    leati_transport_server *server = leati_alloc_zero(1, sizeof *server);
    bool made = server != NULL && init_side(&server->side, "a local server", err);
    if (made && options->security.token != NULL) {
        server->token = leati_strdup(options->security.token);
        made = server->token != NULL;
    }
    if (!made) {
        leati_no_memory(err);
    } else {
        server->executor = executor;
        server->handler = *handler;
        server->forks = leati_transport_forks();
        made = enter_registry(server, options->port, err) == LEAT_OK;
    }
    if (made) {
        *port = server->port;
        return server;
    }
    if (server != NULL && server->side.gate != NULL)
        leati_local_server_unref(server);
    else
        leati_free(server);
    leati_executor_leave(executor);
    return NULL;
}

static leati_transport_channel *
connect_local(const char *address, const leati_transport_security *security, leat_error *err) {
    char host[LONGEST_HOST];
    int port;
    if (leati_transport_parse_address(address, host, sizeof host, &port, err) != LEAT_OK)
        return NULL;
    leati_executor *executor = leati_executor_use(err);
    if (executor == NULL)
        return NULL;
    leati_transport_channel *channel = leati_alloc_zero(1, sizeof *channel);
    const char *token = security != NULL ? security->token : NULL;
    if (channel != NULL && init_side(&channel->side, "a local channel", err)) {
        channel->executor = executor;
        channel->port = port;
        channel->forks = leati_transport_forks();
        channel->address = leati_strdup(address);
        channel->token = leati_strdup(token);
        if (channel->address != NULL && (token == NULL || channel->token != NULL))
            return channel;
        leati_local_channel_unref(channel);
    } else {
        leati_free(channel);
    }
    leati_no_memory(err);
    leati_executor_leave(executor);
    return NULL;
}

leati_transport_server *leati_local_server_find(const leati_transport_channel *channel,
                                                leat_error *err) {
    pthread_mutex_lock(&registry_lock);
    leati_transport_server *server = registered(channel->port);
    if (server != NULL)
        atomic_fetch_add(&server->side.references, 1);
    pthread_mutex_unlock(&registry_lock);
    if (server == NULL) {
        leati_fail(err, LEAT_UNAVAILABLE, "nobody in this process listens at local://%.200s",
                   channel->address);
        return NULL;
    }
    if (leati_transport_check_token(server->token, channel->token, err) == LEAT_OK)
        return server;
    leati_local_server_unref(server);
    return NULL;
}

/* ---- calls ---- */

static leati_local_side *side_of(const leati_local_call *call, int which) {
    return which == LEATI_LOCAL_SERVER ? &call->server->side : &call->channel->side;
}

static bool join_side(leati_local_call *call, int which) {
    leati_local_side *side = side_of(call, which);
    leati_queue_gate_lock(side->gate);
    bool joins = !side->closing;
    if (joins) {
        call->previous[which] = NULL;
        call->next[which] = side->calls;
        if (side->calls != NULL)
            side->calls->previous[which] = call;
        side->calls = call;
        side->num_running++;
    }
    leati_queue_gate_unlock(side->gate);
    return joins;
}

/* Nobody waits for it any more. */
static void leave_calls(leati_local_call *call, int which) {
    leati_local_side *side = side_of(call, which);
    leati_queue_gate_lock(side->gate);
    if (call->previous[which] != NULL)
        call->previous[which]->next[which] = call->next[which];
    else
        side->calls = call->next[which];
    if (call->next[which] != NULL)
        call->next[which]->previous[which] = call->previous[which];
    leati_queue_gate_wake(side->gate);
    leati_queue_gate_unlock(side->gate);
}

static void stop_running(leati_local_side *side) {
    leati_queue_gate_lock(side->gate);
    side->num_running--;
    leati_queue_gate_wake(side->gate);
    leati_queue_gate_unlock(side->gate);
}

static void call_unref(leati_local_call *call) {
    leati_queue_gate_lock(call->gate);
    bool last = --call->references == 0;
    leati_queue_gate_unlock(call->gate);
    if (!last)
        return;
    leat_buffer_unref(call->answer);
    leati_queue_gate_free(call->gate);
    leati_local_server_unref(call->server);
    leati_free(call->method);
    leati_free(call);
}

static void call_ref(leati_local_call *call) {
    leati_queue_gate_lock(call->gate);
    call->references++;
    leati_queue_gate_unlock(call->gate);
}

/* The first result counts: a buffer (given) or a failure. False: it was done. */
static bool finish(leati_local_call *call, leat_buffer *answer, const leat_error *why) {
    leati_queue_gate_lock(call->gate);
    bool first = !call->done;
    if (first) {
        call->done = true;
        call->answer = answer;
        if (why != NULL)
            call->why = *why;
        leati_queue_gate_wake(call->gate);
    }
    leati_queue_gate_unlock(call->gate);
    if (first)
        leave_calls(call, LEATI_LOCAL_SERVER);
    else
        leat_buffer_unref(answer);
    return first;
}

/* The same from the server's side, which has no more to do with it. */
static bool finish_serving(leati_local_call *call, leat_buffer *answer, const leat_error *why) {
    bool first = finish(call, answer, why);
    call_unref(call);
    return first;
}

static bool fail_call(leati_transport_call *base, const leat_error *why) {
    return finish_serving((leati_local_call *)base, NULL, why);
}

static bool answer_call(leati_transport_call *base, const void *bytes, size_t size) {
    leat_error err = {0};
    leat_buffer *buffer = leat_buffer_new(size, &err);
    if (buffer != NULL && size > 0)
        memcpy(leat_buffer_data(buffer), bytes, size);
    leati_transport_count_copied(size);
    return finish_serving((leati_local_call *)base, buffer, buffer == NULL ? &err : NULL);
}

static bool call_abandoned(const leati_transport_call *base) {
    const leati_local_call *call = (const leati_local_call *)base;
    leati_queue_gate_lock(call->gate);
    bool done = call->done;
    leati_queue_gate_unlock(call->gate);
    return done;
}

static const leati_transport_call_type call_type = {
    .answer = answer_call, .fail = fail_call, .abandoned = call_abandoned};

/* On a thread of the executor. */
static void run_call(leati_executor_task *task) {
    leati_local_call *call = (leati_local_call *)((char *)task - offsetof(leati_local_call, task));
    leati_transport_server *server = call->server;
    const leati_transport_handler *handler = &server->handler;
    call_ref(call);
    handler->call(handler->context, &call->base, call->method, "", call->request, call->size);
    atomic_fetch_add(&server->side.references, 1);
    call_unref(call);
    stop_running(&server->side);
    leati_local_server_unref(server);
}

static leati_local_call *new_call(const char *method, const void *request, size_t size,
                                  leat_error *err) {
    size_t total;
    leati_local_call *call =
        leati_add_size(sizeof *call, size, &total) ? leati_alloc(total, 1) : NULL;
    char *copy = leati_strdup(method);
    leati_gate *gate = leati_queue_gate_new("a call within the process", NULL, err);
    if (call == NULL || copy == NULL || gate == NULL) {
        leati_queue_gate_free(gate);
        leati_free(copy);
        leati_free(call);
        leati_no_memory(err);
        return NULL;
    }
    memset(call, 0, sizeof *call);
    leati_transport_call_init(&call->base, &call_type);
    call->task.run = run_call;
    call->gate = gate;
    call->references = 1;
    call->method = copy;
    call->size = size;
    if (size > 0)
        memcpy(call->request, request, size);
    leati_transport_count_copied(size);
    return call;
}

/* Until the call is done, or its caller gives up, which makes it done. */
static void wait_for_answer(leati_local_call *call, int64_t deadline_ns, leat_cancel *cancel) {
    leati_transport_wait wait;
    leat_error why = {0};
    leat_status status = LEAT_OK;
    leati_transport_wait_begin(&wait, call->gate, cancel);
    leati_queue_gate_lock(call->gate);
    while (status == LEAT_OK && !call->done)
        status = leati_transport_wait_once(&wait, deadline_ns, &why);
    leati_queue_gate_unlock(call->gate);
    leati_transport_wait_end(&wait);
    if (status == LEAT_OK)
        return;
    leati_prefix(&why, "call of %.100s", call->method);
    (void)finish(call, NULL, &why);
}

static leat_status closing(const char *what, leat_error *err) {
    return leati_fail(err, LEAT_UNAVAILABLE, "the %s is closing", what);
}

/* Asks the server for as long as both sides are open. */
static leat_status ask(leati_local_call *call, int64_t deadline_ns, leat_cancel *cancel,
                       leat_error *err) {
    if (!join_side(call, LEATI_LOCAL_CHANNEL))
        return closing("channel", err);
    leat_status status = LEAT_OK;
    call_ref(call); /* for the server */
    if (join_side(call, LEATI_LOCAL_SERVER)) {
        leati_executor_post(call->channel->executor, &call->task);
        wait_for_answer(call, deadline_ns, cancel);
    } else {
        call_unref(call);
        status = closing("server", err);
    }
    leave_calls(call, LEATI_LOCAL_CHANNEL);
    stop_running(&call->channel->side);
    return status;
}

static leat_status call_local(leati_transport_channel *channel, const char *method,
                              const void *request, size_t size, int64_t deadline_ns,
                              leat_cancel *cancel, leat_buffer **answer, leat_error *err) {
    LEATI_TRY(leati_transport_check_forks(channel->forks, "the channel", err));
    if (leati_cancel_fired(cancel))
        return leati_fail(err, LEAT_CANCELLED, "cancelled before %.100s was called", method);
    leati_transport_server *server = leati_local_server_find(channel, err);
    if (server == NULL)
        return err->code;
    leati_local_call *call = new_call(method, request, size, err);
    if (call == NULL) {
        leati_local_server_unref(server);
        return err->code;
    }
    call->channel = channel;
    call->server = server;
    leat_status status = ask(call, deadline_ns, cancel, err);
    leati_queue_gate_lock(call->gate);
    if (status == LEAT_OK && call->why.code != LEAT_OK) {
        status = leati_error_pass(err, &call->why);
    } else if (status == LEAT_OK) {
        *answer = call->answer;
        call->answer = NULL;
    }
    leati_queue_gate_unlock(call->gate);
    call_unref(call);
    return status;
}

static leati_transport_stream *open_local(leati_transport_channel *channel, const char *method,
                                          const void *request, size_t size,
                                          const leati_transport_events *events, void *context,
                                          leat_error *err) {
    if (leati_transport_check_forks(channel->forks, "the channel", err) != LEAT_OK)
        return NULL;
    leat_error why = {0};
    leati_transport_server *server = leati_local_server_find(channel, &why);
    return leati_local_stream_open(channel, server, &why, method, request, size, events, context,
                                   err);
}

/* ---- closing ---- */

/* One that has not been failed yet; a reference is owned. */
static leati_local_call *next_to_fail(leati_local_side *side, int which) {
    leati_queue_gate_lock(side->gate);
    leati_local_call *call = side->calls;
    while (call != NULL && call->ending[which])
        call = call->next[which];
    if (call != NULL) {
        call->ending[which] = true;
        call_ref(call);
    }
    leati_queue_gate_unlock(side->gate);
    return call;
}

static void fail_calls(leati_local_side *side, int which, const leat_error *why) {
    leati_local_call *call;
    while ((call = next_to_fail(side, which)) != NULL) {
        (void)finish(call, NULL, why);
        call_unref(call);
    }
}

/* Waits until the side has nothing under way, or none that waits for an answer. */
static leat_status wait_for(leati_local_side *side, bool for_all, int64_t deadline_ns) {
    leat_status status = LEAT_OK;
    leati_queue_gate_lock(side->gate);
    while (status == LEAT_OK && (for_all ? side->num_running > 0 : side->calls != NULL))
        status =
            leati_queue_gate_wait(side->gate, LEATI_WAIT_PEER, deadline_ns, NULL, &(leat_error){0});
    leati_queue_gate_unlock(side->gate);
    return status;
}

static void begin_closing(leati_local_side *side) {
    leati_queue_gate_lock(side->gate);
    side->closing = true;
    leati_queue_gate_unlock(side->gate);
}

static void close_local(leati_transport_server *server, int64_t deadline_ns) {
    /* A child of a fork leaves what the parent's threads were at as it is. */
    if (server->forks != leati_transport_forks())
        return;
    leat_error why = {0};
    leati_fail(&why, LEAT_UNAVAILABLE, "the server at local port %d has closed", server->port);
    leave_registry(server);
    begin_closing(&server->side);
    leati_local_streams_end(&server->side, LEATI_LOCAL_SERVER, &why);
    if (wait_for(&server->side, false, deadline_ns) != LEAT_OK)
        fail_calls(&server->side, LEATI_LOCAL_SERVER, &why);
    while (wait_for(&server->side, true, LEATI_NO_DEADLINE) != LEAT_OK) {
    }
    leati_executor *executor = server->executor;
    leati_local_server_unref(server);
    leati_executor_leave(executor);
}

static void disconnect_local(leati_transport_channel *channel) {
    if (channel->forks != leati_transport_forks())
        return;
    leat_error why = {0};
    leati_fail(&why, LEAT_CANCELLED, "the channel to local://%.200s was disconnected",
               channel->address);
    begin_closing(&channel->side);
    leati_local_streams_end(&channel->side, LEATI_LOCAL_CHANNEL, &why);
    fail_calls(&channel->side, LEATI_LOCAL_CHANNEL, &why);
    while (wait_for(&channel->side, true, LEATI_NO_DEADLINE) != LEAT_OK) {
    }
    leati_executor *executor = channel->executor;
    leati_local_channel_unref(channel);
    leati_executor_leave(executor);
}

const leati_transport leati_transport_local = {
    .name = "local",
    .listen = listen_local,
    .close = close_local,
    .connect = connect_local,
    .disconnect = disconnect_local,
    .call = call_local,
    .open = open_local,
};
