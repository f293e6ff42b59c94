/* A dispatcher behind a transport (leat_dispatcher): one thread that takes turns with the core.
 *
 * Happy path: the transport's threads put requests into a list and wake the thread, which hands
 * them to the core, takes a turn, and sleeps until the next request or the next thing that is due.
 * The page's figures are written by the same thread once a second, so that nobody else reads the
 * core. Stopping closes the transport first, then fails what is kept. Failures: those of the
 * database and of listening, at the start. Locks: the gate, for the list, the state and the page's
 * texts. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/options.h"
#include "base/text.h"
#include "run/queue.h"
#include "run/thread.h"
#include "service/dispatcher/core.h"
#include "service/dispatcher/page.h"
#include "service/transport/ends.h"
#include "service/wire/control.h"
#include <stdio.h>
#include <string.h>

enum { CLOSE_MS = 1000 };

enum state { NEW = 0, SERVING, STOPPED };

/* A request on its way to the thread. */
struct incoming {
    leati_transport_call *call; /* NULL: of this process, and nobody waits */
    char *method, *bytes;
    size_t size;
    char peer[64];
    struct incoming *next;
};

struct leat_dispatcher {
    leat_dispatcher_options options; /* its texts are copies */
    char *protocol, *host, *page_host, *folder, *token, *tls_cert, *tls_key, *tls_ca;
    char **addresses;
    char target[280];
    const leati_transport *transport;
    leati_transport_server *server;
    leati_core *core; /* the thread's, while it runs */
    leati_page *page; /* NULL: none */
    leati_thread thread;
    leati_gate *gate;
    /* Under the gate. */
    enum state state;
    struct incoming *first, **last;
};

/* ---- options ---- */

static leat_status copy_text(char **to, const char *from, leat_error *err) {
    *to = leati_strdup(from);
    return *to == NULL && from != NULL ? leati_no_memory(err) : LEAT_OK;
}

static leat_status copy_texts(leat_dispatcher *d, const leat_dispatcher_options *o,
                              leat_error *err) {
    leati_transport_security who = leati_control_security(&o->security);
    LEATI_TRY(leati_control_check(&who, err));
    LEATI_TRY(copy_text(&d->protocol, o->protocol == NULL ? "grpc" : o->protocol, err));
    LEATI_TRY(copy_text(&d->host, leati_control_host(o->host, &who), err));
    LEATI_TRY(copy_text(&d->page_host, leati_control_page_host(o->host, &who), err));
    LEATI_TRY(copy_text(&d->folder, o->work_dir, err));
    LEATI_TRY(copy_text(&d->token, who.token, err));
    LEATI_TRY(copy_text(&d->tls_cert, who.tls_cert, err));
    LEATI_TRY(copy_text(&d->tls_key, who.tls_key, err));
    LEATI_TRY(copy_text(&d->tls_ca, who.tls_ca, err));
    d->addresses = leati_alloc_zero(o->num_worker_addresses + 1, sizeof(char *));
    if (d->addresses == NULL)
        return leati_no_memory(err);
    for (size_t i = 0; i < o->num_worker_addresses; i++)
        LEATI_TRY(copy_text(&d->addresses[i], o->worker_addresses[i], err));
    d->options = *o;
    d->options.work_dir = d->folder;
    d->options.worker_addresses = (const char *const *)d->addresses;
    return LEAT_OK;
}

static leat_status check(const leat_dispatcher_options *o, leat_error *err) {
    if (o->fault_tolerant_mode && (o->work_dir == NULL || o->work_dir[0] == '\0'))
        return leati_refuse(err, VALUE,
                            "fault_tolerant_mode needs a work_dir, where the dispatcher keeps its "
                            "state");
    if (o->port < 0 || o->port > 65535 || o->web_port < -1 || o->web_port > 65535)
        return leati_refuse(err, VALUE, "port is %d, web_port %d; expected 0 to 65535", o->port,
                            o->web_port);
    return LEAT_OK;
}

leat_dispatcher *leat_dispatcher_new(const leat_dispatcher_options *options, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_dispatcher_options o = {LEAT_DISPATCHER_DEFAULTS};
    if (LEATI_OPTIONS(leat_dispatcher_options, &o, options, err) != LEAT_OK ||
        check(&o, err) != LEAT_OK)
        return NULL;
    leat_dispatcher *d = leati_alloc_zero(1, sizeof *d);
    if (d == NULL) {
        (void)leati_no_memory(err);
        return NULL;
    }
    d->last = &d->first;
    d->gate = leati_queue_gate_new("dispatcher", NULL, err);
    if (d->gate == NULL || copy_texts(d, &o, err) != LEAT_OK) {
        leat_dispatcher_free(d);
        return NULL;
    }
    (void)snprintf(d->target, sizeof d->target, "%.60s://localhost:%d", d->protocol, o.port);
    return d;
}

/* ---- requests ---- */

static void free_incoming(struct incoming *in) {
    leati_free(in->method);
    leati_free(in->bytes);
    leati_free(in);
}

static void answer_call(void *context, const char *bytes, size_t size) {
    if (context != NULL)
        (void)leati_transport_call_answer(context, bytes, size);
}

static void fail_call(void *context, const leat_error *why) {
    if (context != NULL)
        (void)leati_transport_call_fail(context, why);
}

static bool call_is_abandoned(const void *context) {
    return context != NULL && leati_transport_call_abandoned(context);
}

static void fail_stopping(leati_transport_call *call) {
    leat_error why = {0};
    (void)leati_fail(&why, LEAT_UNAVAILABLE, "the dispatcher is stopping");
    fail_call(call, &why);
}

/* `call` NULL: nobody waits for the answer. */
static void take(leat_dispatcher *d, leati_transport_call *call, const char *method,
                 const char *peer, const void *request, size_t size) {
    struct incoming *in = leati_alloc_zero(1, sizeof *in);
    if (in != NULL) {
        in->call = call;
        in->size = size;
        in->method = leati_strdup(method);
        in->bytes = leati_strndup(request, size);
        (void)snprintf(in->peer, sizeof in->peer, "%s", peer);
    }
    if (in == NULL || in->method == NULL || in->bytes == NULL) {
        leat_error why = {0};
        (void)leati_no_memory(&why);
        fail_call(call, &why);
        if (in != NULL)
            free_incoming(in);
        return;
    }
    leati_queue_gate_lock(d->gate);
    bool stopped = d->state == STOPPED;
    if (!stopped) {
        *d->last = in;
        d->last = &in->next;
        leati_queue_gate_wake(d->gate);
    }
    leati_queue_gate_unlock(d->gate);
    if (stopped) {
        fail_stopping(call);
        free_incoming(in);
    }
}

static void take_call(void *context, leati_transport_call *call, const char *method,
                      const char *peer, const void *request, size_t size) {
    take(context, call, method, peer, request, size);
}

/* The page's button. */
static void drain(void *context, const char *worker) {
    struct leati_message_drain said = {.worker = (char *)(uintptr_t)worker};
    leati_text text = {0};
    leat_error err = {0};
    if (leati_messages_write(&leati_message_drain, &said, &text, &err) == LEAT_OK)
        take(context, NULL, "drain", "", text.data, text.size);
    leati_text_fini(&text);
}

static leat_status refuse_stream(void *context, leati_transport_stream *stream, const char *method,
                                 const char *peer, const void *request, size_t size,
                                 leati_transport_events *events, void **events_context,
                                 leat_error *err) {
    (void)context;
    (void)stream;
    (void)peer;
    (void)request;
    (void)size;
    (void)events;
    (void)events_context;
    /* Who asks may mean the worker that had this address before, and tries again. */
    return leati_fail(err, strcmp(method, "read") == 0 ? LEAT_UNAVAILABLE : LEAT_UNIMPLEMENTED,
                      "a dispatcher has no stream \"%.60s\"; elements come from workers", method);
}

/* ---- the thread ---- */

static struct incoming *take_all(leat_dispatcher *d, int64_t until_ns, bool *stopped) {
    leati_queue_gate_lock(d->gate);
    while (d->first == NULL && d->state == SERVING) {
        leat_status waited =
            leati_queue_gate_wait(d->gate, LEATI_WAIT_PEER, until_ns, NULL, &(leat_error){0});
        if (waited != LEAT_OK)
            break;
    }
    struct incoming *list = d->first;
    d->first = NULL;
    d->last = &d->first;
    *stopped = d->state != SERVING;
    leati_queue_gate_unlock(d->gate);
    return list;
}

static void hand_over(leat_dispatcher *d, struct incoming *list) {
    while (list != NULL) {
        struct incoming *next = list->next;
        leati_core_reply reply = {list->call, answer_call, fail_call, call_is_abandoned};
        leati_core_ask(d->core, list->method, list->peer, list->bytes, list->size, &reply);
        free_incoming(list);
        list = next;
    }
}

static void serve(void *context) {
    leat_dispatcher *d = context;
    int64_t until_ns = leati_core_turn(d->core, leati_now_ns());
    for (bool stopped = false; !stopped;) {
        hand_over(d, take_all(d, until_ns, &stopped));
        until_ns = leati_core_turn(d->core, leati_now_ns());
        if (d->page != NULL)
            until_ns = LEATI_MIN(until_ns, leati_page_write(d->page, d->core, leati_now_ns()));
    }
}

/* ---- start and stop ---- */

static void set_target(leat_dispatcher *d, int port) {
    /* As TensorFlow's: for programs of this host. */
    (void)snprintf(d->target, sizeof d->target, "%.60s://localhost:%d", d->protocol, port);
    LEATI_TELL(SERVICE, INFO, "dispatcher %s listens on %s", d->target,
               d->host != NULL ? d->host : "the loopback");
}

static leat_status open_page(leat_dispatcher *d, leat_error *err) {
    leati_page_options options = {
        .port = d->options.web_port,
        .host = d->page_host,
        .security = {d->token, d->tls_cert, d->tls_key, d->tls_ca},
        .drain = drain,
        .context = d,
    };
    if (d->options.web_port < 0)
        return LEAT_OK;
    d->page = leati_page_open(&options, err);
    return d->page == NULL ? err->code : LEAT_OK;
}

static leat_status listen_and_serve(leat_dispatcher *d, leat_error *err) {
    int port = 0;
    leati_transport_listen_options where = {
        .host = d->host,
        .port = d->options.port,
        .security = {d->token, d->tls_cert, d->tls_key, d->tls_ca},
    };
    leati_transport_handler handler = {.context = d, .call = take_call, .open = refuse_stream};
    d->transport = leati_transport_find(d->protocol, err);
    if (d->transport == NULL)
        return err->code;
    d->server = d->transport->listen(&where, &handler, &port, err);
    if (d->server == NULL)
        return err->code;
    set_target(d, port);
    LEATI_TRY(open_page(d, err));
    return leati_thread_start(&d->thread, "dispatcher", serve, d, err);
}

static leat_status begin(leat_dispatcher *d, leat_error *err) {
    d->core = leati_core_open(&d->options, leati_now_ns(), err);
    if (d->core == NULL)
        return err->code;
    d->state = SERVING;
    leat_status status = listen_and_serve(d, err);
    if (status != LEAT_OK) {
        d->state = STOPPED;
        if (d->server != NULL)
            d->transport->close(d->server, leati_clock_deadline_ns(CLOSE_MS));
        d->server = NULL;
        leati_page_close(d->page);
        d->page = NULL;
        leati_core_close(d->core);
        d->core = NULL;
    }
    return status;
}

leat_status leat_dispatcher_start(leat_dispatcher *dispatcher, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    if (dispatcher->state == SERVING)
        return LEAT_OK;
    if (dispatcher->state == STOPPED)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "a dispatcher that was stopped does not start again; make a new one");
    return begin(dispatcher, err);
}

leat_status leat_dispatcher_join(leat_dispatcher *dispatcher, leat_error *err) {
    LEATI_ERROR_DOOR(err);
    leat_status status = LEAT_OK;
    leati_transport_wait wait;
    /* Whom Ctrl-C tells, on a thread that is asked. */
    leat_cancel *cancel = leati_cancel_new(NULL, err);
    if (cancel == NULL)
        return LEAT_RESOURCE_EXHAUSTED;
    leati_stop_scope before = leati_cancel_enter(cancel);
    leati_transport_wait_begin(&wait, dispatcher->gate, cancel);
    leati_queue_gate_lock(dispatcher->gate);
    while (dispatcher->state == SERVING && status == LEAT_OK)
        status = leati_transport_wait_once(&wait, LEATI_NO_DEADLINE, err);
    leati_queue_gate_unlock(dispatcher->gate);
    leati_transport_wait_end(&wait);
    leati_stop_leave(before);
    leati_cancel_unref(cancel);
    return status;
}

/* True for the one who stops it. */
static bool set_stopped(leat_dispatcher *d) {
    leati_queue_gate_lock(d->gate);
    bool serving = d->state == SERVING;
    d->state = STOPPED;
    leati_queue_gate_wake(d->gate);
    leati_queue_gate_unlock(d->gate);
    return serving;
}

void leat_dispatcher_stop(leat_dispatcher *dispatcher) {
    if (!set_stopped(dispatcher))
        return;
    /* The thread has answered all it took when it ends; what was left to it is failed below. */
    pthread_join(dispatcher->thread.handle, NULL);
    leati_page_close(dispatcher->page);
    leati_core_close(dispatcher->core);
    dispatcher->core = NULL;
    bool stopped = false;
    for (struct incoming *in = take_all(dispatcher, 0, &stopped); in != NULL;) {
        struct incoming *next = in->next;
        fail_stopping(in->call);
        free_incoming(in);
        in = next;
    }
    dispatcher->transport->close(dispatcher->server, leati_clock_deadline_ns(CLOSE_MS));
    dispatcher->server = NULL;
}

void leat_dispatcher_free(leat_dispatcher *dispatcher) {
    if (dispatcher == NULL)
        return;
    if (dispatcher->state == SERVING)
        leat_dispatcher_stop(dispatcher);
    for (size_t i = 0; dispatcher->addresses != NULL && dispatcher->addresses[i] != NULL; i++)
        leati_free(dispatcher->addresses[i]);
    leati_free(dispatcher->addresses);
    char *const texts[] = {dispatcher->protocol, dispatcher->host,  dispatcher->page_host,
                           dispatcher->folder,   dispatcher->token, dispatcher->tls_cert,
                           dispatcher->tls_key,  dispatcher->tls_ca};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        leati_free(texts[i]);
    if (dispatcher->gate != NULL)
        leati_queue_gate_free(dispatcher->gate);
    leati_free(dispatcher);
}

const char *leat_dispatcher_target(const leat_dispatcher *dispatcher) {
    return dispatcher->target;
}

int leat_dispatcher_web_port(const leat_dispatcher *dispatcher) {
    return dispatcher->page == NULL ? -1 : leati_page_port(dispatcher->page);
}
