/* How streams of the protocols "shm" and "tcp" begin; see bulk.h.
 *
 * Happy path: a client's thread connects, puts TLS below where its channel has an authority, and
 * greets; a worker's checks secret and token, welcomes it, and asks the handler. Failures: whoever
 * is refused hears why in the way that ends a stream; a side that says nothing for half of the
 * tuning's silence loses the other. Locks: a link's `out` until the greeting is sent, so that
 * nobody writes before; the stream's gate, a leaf. */
#include "service/transport/bulk.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "coll/wire.h"
#include <string.h>

int64_t leati_bulk_greeted_by(void) {
    return leati_clock_deadline_ns(leati_transport_tuned().silence_ms / 2);
}

typedef struct beginning {
    leati_bulk_stream *stream;
    int64_t deadline_ns;
} beginning;

/* Too long, or for nobody any more. */
static bool beginning_is_over(void *context) {
    const beginning *b = context;
    return leati_bulk_stream_is_over(b->stream) || leati_now_ns() >= b->deadline_ns;
}

/* The beginning is through; `out` was held since the link is there. */
static void set_ready(leati_bulk_stream *s, bool ready) {
    pthread_mutex_unlock(&s->link->out);
    leati_queue_gate_lock(s->gate);
    s->ready = ready;
    leati_queue_gate_wake(s->gate);
    leati_queue_gate_unlock(s->gate);
}

/* Makes the link, with its `out` locked, and puts TLS below. */
static leat_status link_up(leati_bulk_stream *s, int socket, leat_error *err) {
    leati_bulk_link *link = leati_bulk_link_new(socket, s->side->shares && s->side->serves, err);
    if (link == NULL)
        return err->code;
    pthread_mutex_lock(&link->out);
    leati_queue_gate_lock(s->gate);
    s->link = link;
    leati_queue_gate_unlock(s->gate);
    if (s->side->tls == NULL)
        return LEAT_OK;
    beginning b = {s, leati_bulk_greeted_by()};
    const leati_bulk_patience patience = {beginning_is_over, &b};
    return leati_bulk_link_secure(link, s->side->tls,
                                  s->side->serves ? LEATI_TLS_SERVER : LEATI_TLS_CLIENT,
                                  s->side->serves ? s->peer : s->side->host, &patience, err);
}

static leat_status greet(leati_bulk_stream *s, leat_error *err) {
    leati_bulk_greeting g = s->ask;
    g.secret = (leat_string){s->side->secret, strlen(s->side->secret)};
    if (s->side->token != NULL)
        g.token = (leat_string){s->side->token, strlen(s->side->token)};
    size_t size = leati_bulk_greeting_size(&g);
    uint8_t *body = leati_alloc(size, 1);
    if (body == NULL)
        return leati_no_memory(err);
    leati_bulk_put_greeting(&g, body);
    const leati_bulk_head head = {
        .kind = LEATI_BULK_OPEN, .count = LEATI_BULK_VERSION, .size = size};
    beginning b = {s, leati_bulk_greeted_by()};
    const leati_bulk_patience patience = {beginning_is_over, &b};
    leat_status status = leati_bulk_link_record(s->link, &head, body, &patience, err);
    explicit_bzero(body, size);
    leati_free(body);
    return status;
}

/* The answer to the greeting. Who refuses it says why in the way that ends a stream. */
static leat_status read_welcome(leati_bulk_stream *s, leat_error *err) {
    uint8_t bytes[LEATI_BULK_HEAD], body[LEATI_BULK_MOST_END];
    leati_bulk_head head;
    s->deadline_ns = leati_bulk_greeted_by();
    LEATI_TRY(leati_bulk_stream_read(s, bytes, sizeof bytes, err));
    LEATI_TRY(leati_bulk_get_head(bytes, &head, err));
    s->deadline_ns = LEATI_NO_DEADLINE;
    if (head.kind == LEATI_BULK_WELCOME)
        return LEAT_OK;
    if (head.kind != LEATI_BULK_END || head.size == 0)
        return leati_fail(err, LEAT_UNAVAILABLE, "what answers is no worker of this version");
    LEATI_TRY(leati_bulk_stream_read(s, body, (size_t)head.size, err));
    leat_error why;
    leati_transport_get_error(body, (size_t)head.size, &why);
    return leati_error_pass(err, &why);
}

leat_status leati_bulk_begin_client(leati_bulk_stream *s, leat_error *err) {
    int socket = s->side->connect(s->side, s->wake, err);
    if (socket < 0)
        return err->code;
    leat_status status = link_up(s, socket, err);
    if (s->link == NULL)
        return status;
    if (status == LEAT_OK)
        status = greet(s, err);
    set_ready(s, status == LEAT_OK);
    if (status == LEAT_OK)
        status = read_welcome(s, err);
    return status;
}

static leat_status check_greeting(leati_bulk_stream *s, const leati_bulk_greeting *g,
                                  leat_error *err) {
    char secret[LEATI_BULK_SECRET] = "";
    if (g->secret.size == sizeof secret - 1)
        memcpy(secret, g->secret.data, sizeof secret - 1);
    if (leati_transport_check_token(s->side->secret, secret, err) != LEAT_OK)
        return leati_fail(err, LEAT_UNAVAILABLE,
                          "the worker at this address is another one than the one that is meant");
    char *token = g->token.data != NULL ? leati_strndup(g->token.data, g->token.size) : NULL;
    if (g->token.data != NULL && token == NULL)
        return leati_no_memory(err);
    leat_status status = leati_transport_check_token(s->side->token, token, err);
    leati_free(token);
    return status;
}

/* A client that has gone already is heard all the same. */
static void welcome(leati_bulk_stream *s) {
    const leati_bulk_head head = {.kind = LEATI_BULK_WELCOME};
    beginning b = {s, leati_bulk_greeted_by()};
    const leati_bulk_patience patience = {beginning_is_over, &b};
    pthread_mutex_lock(&s->link->out);
    (void)!leati_bulk_link_record(s->link, &head, NULL, &patience, &(leat_error){0});
    pthread_mutex_unlock(&s->link->out);
}

/* Asks the handler whether it takes the stream. */
static leat_status open_stream(leati_bulk_stream *s, const leati_bulk_greeting *g,
                               leat_error *err) {
    LEATI_TRY(check_greeting(s, g, err));
    welcome(s);
    char *method = leati_strndup(g->method.data, g->method.size);
    if (method == NULL)
        return leati_no_memory(err);
    const leati_transport_handler *handler = &s->side->handler;
    leat_status status = handler->open(handler->context, &s->base, method, s->peer, g->request.data,
                                       g->request.size, &s->events, &s->context, err);
    s->opened = status == LEAT_OK;
    leati_free(method);
    return status;
}

leat_status leati_bulk_begin_server(leati_bulk_stream *s, leat_error *err) {
    uint8_t bytes[LEATI_BULK_HEAD];
    leati_bulk_head head;
    leati_bulk_greeting greeting;
    int socket = s->socket;
    s->socket = -1;
    if (!s->side->shares)
        leati_wire_peer_host(socket, s->peer, sizeof s->peer);
    leat_status linked = link_up(s, socket, err);
    if (s->link != NULL)
        set_ready(s, linked == LEAT_OK);
    LEATI_TRY(linked);
    s->deadline_ns = leati_bulk_greeted_by();
    LEATI_TRY(leati_bulk_stream_read(s, bytes, sizeof bytes, err));
    LEATI_TRY(leati_bulk_get_head(bytes, &head, err));
    if (head.kind != LEATI_BULK_OPEN || head.count != LEATI_BULK_VERSION)
        return leati_fail(err, LEAT_FAILED_PRECONDITION,
                          "a stream of another version of leat; install the same on both sides");
    uint8_t *body = leati_alloc((size_t)head.size + 1, 1);
    if (body == NULL)
        return leati_no_memory(err);
    leat_status status = leati_bulk_stream_read(s, body, (size_t)head.size, err);
    if (status == LEAT_OK)
        status = leati_bulk_get_greeting(body, (size_t)head.size, &greeting, err);
    if (status == LEAT_OK)
        status = open_stream(s, &greeting, err);
    leati_free(body);
    return status;
}
