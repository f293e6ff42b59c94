/* One suite over every protocol of service/transport/transport.h: what its tests see of events, the
 * server that they talk to, and the runner. Header only, after cmocka.h. */
#ifndef TRANSPORT_SUITE_H
#define TRANSPORT_SUITE_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "service/transport/ends.h"
#include "service/transport/transport.h"
#include "support/refused.h"
#include "support/torture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TRANSPORT_UNUSED __attribute__((unused))

enum { LONG_MS = 60000, MB = 1 << 20, TEXT = 600, SLOW_LIMIT = 256 };

#ifndef TRANSPORT_PROTOCOLS
#define TRANSPORT_PROTOCOLS "local", "grpc"
#endif
static const char *const protocols[] = {TRANSPORT_PROTOCOLS};

static const leati_transport *protocol; /* of the running test */
/* The files of both sides, {0} in the clear; tokens are the tests'. */
TRANSPORT_UNUSED static leati_transport_security of_servers, of_clients;

/* ---- what a test sees of events ---- */

typedef struct seen {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int messages, closed, calls, opened;
    int64_t bytes;
    uint64_t sum;                   /* of all bytes, by place */
    leat_error why;                 /* of `closed` */
    char last[TEXT];                /* message, as text */
    bool held;                      /* messages wait in their event until it is false */
    bool out_of_order;              /* of messages that begin with their number */
    bool echoes;                    /* each message is sent back */
    leati_transport_stream *stream; /* to echo on */
    leati_transport_call *kept[SLOW_LIMIT];
    int num_kept;
    leat_buffer *buffer; /* the last message, kept where it is asked for */
    bool keeps;
} seen;

TRANSPORT_UNUSED static void seen_init(seen *s) {
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
}

TRANSPORT_UNUSED static void seen_fini(seen *s) {
    leat_buffer_unref(s->buffer);
    leati_transport_stream_unref(s->stream);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
}

TRANSPORT_UNUSED static void count(seen *s, int *number) {
    pthread_mutex_lock(&s->lock);
    ++*number;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

TRANSPORT_UNUSED static void release(seen *s) {
    pthread_mutex_lock(&s->lock);
    s->held = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

TRANSPORT_UNUSED static void wait_for(seen *s, const int *number, int least) {
    pthread_mutex_lock(&s->lock);
    while (*number < least)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

TRANSPORT_UNUSED static void on_message(void *context, leat_buffer *message) {
    seen *s = context;
    const uint8_t *bytes = leat_buffer_data(message);
    size_t size = leat_buffer_size(message);
    pthread_mutex_lock(&s->lock);
    while (s->held)
        pthread_cond_wait(&s->changed, &s->lock);
    assert_int_equal((uintptr_t)bytes % 64, 0);
    uint32_t number = 0;
    if (size >= sizeof number)
        memcpy(&number, bytes, sizeof number);
    s->out_of_order |= (int)number != s->messages;
    s->messages++;
    s->bytes += (int64_t)size;
    for (size_t i = 0; i < size; i += 509)
        s->sum += bytes[i] * (uint64_t)(i + 1);
    snprintf(s->last, sizeof s->last, "%.*s", (int)(size < TEXT ? size : TEXT - 1), bytes);
    if (s->keeps) {
        leat_buffer_unref(s->buffer);
        s->buffer = leat_buffer_ref(message);
    }
    leati_transport_stream *stream = s->echoes ? leati_transport_stream_ref(s->stream) : NULL;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (stream != NULL) {
        const leati_transport_part part = {bytes, size, message};
        leat_error err = {0};
        assert_int_equal(leati_transport_stream_write(stream, &part, 1, NULL, &err), LEAT_OK);
        leati_transport_stream_unref(stream);
    }
    leat_buffer_unref(message);
}

TRANSPORT_UNUSED static void on_closed(void *context, const leat_error *why) {
    seen *s = context;
    pthread_mutex_lock(&s->lock);
    s->why = *why;
    s->closed++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static const leati_transport_events events = {.message = on_message, .closed = on_closed};

TRANSPORT_UNUSED static void wait_closed(seen *s, leat_status code) {
    wait_for(s, &s->closed, 1);
    if (s->why.code != code)
        fail_msg("expected %s; found %s", leat_status_name(code), s->why.text);
}

/* ---- the server of the tests ---- */

TRANSPORT_UNUSED static void answer_text(leati_transport_call *call, const char *text) {
    assert_true(leati_transport_call_answer(call, text, strlen(text)));
}

TRANSPORT_UNUSED static void on_call(void *context, leati_transport_call *call, const char *method,
                                     const char *peer, const void *request, size_t size) {
    seen *s = context;
    leat_error why = {0};
    assert_non_null(peer);
    if (strcmp(method, "Echo") == 0) {
        /* False where its caller was cancelled. */
        (void)leati_transport_call_answer(call, request, size);
    } else if (strcmp(method, "Refuse") == 0) {
        leati_fail_for(&why, LEAT_ALREADY_EXISTS, LEAT_REASON_SHAPE, "job \"%.*s\" is there",
                       (int)size, (const char *)request);
        leati_error_at_file(&why, "a.csv", 5, 17, false);
        assert_true(leati_transport_call_fail(call, &why));
    } else if (strcmp(method, "Keep") == 0) {
        pthread_mutex_lock(&s->lock);
        s->kept[s->num_kept++] = call;
        pthread_mutex_unlock(&s->lock);
    } else {
        leati_fail(&why, LEAT_UNIMPLEMENTED, "no method \"%s\"", method);
        assert_true(leati_transport_call_fail(call, &why));
    }
    count(s, &s->calls);
}

TRANSPORT_UNUSED static leat_status on_open(void *context, leati_transport_stream *stream,
                                            const char *method, const char *peer,
                                            const void *request, size_t size,
                                            leati_transport_events *out, void **out_context,
                                            leat_error *err) {
    seen *s = context;
    assert_non_null(peer);
    if (strcmp(method, "Read") != 0)
        return leati_fail(err, LEAT_NOT_FOUND, "no task \"%.*s\"", (int)size,
                          (const char *)request);
    pthread_mutex_lock(&s->lock);
    leati_transport_stream_unref(s->stream);
    s->stream = leati_transport_stream_ref(stream);
    pthread_mutex_unlock(&s->lock);
    *out = events;
    *out_context = s;
    count(s, &s->opened);
    return LEAT_OK;
}

typedef struct fixture {
    seen server_seen, client_seen;
    leati_transport_server *server;
    leati_transport_channel *channel;
    char address[128];
    int port;
} fixture;

TRANSPORT_UNUSED static void serve(fixture *f, const char *token) {
    leati_transport_listen_options options = {.security = of_servers};
    options.security.token = token;
    const leati_transport_handler handler = {&f->server_seen, on_call, on_open};
    leat_error err = {0};
    memset(f, 0, sizeof *f);
    seen_init(&f->server_seen);
    seen_init(&f->client_seen);
    f->server = protocol->listen(&options, &handler, &f->port, &err);
    if (f->server == NULL)
        fail_msg("%s", err.text);
    if (protocol->address != NULL) {
        protocol->address(f->server, "127.0.0.1", f->address, sizeof f->address);
        return;
    }
    assert_in_range(f->port, 1, 65535);
    snprintf(f->address, sizeof f->address, "127.0.0.1:%d", f->port);
}

TRANSPORT_UNUSED static leati_transport_channel *connect_with(const fixture *f, const char *token) {
    leati_transport_security security = of_clients;
    security.token = token;
    leat_error err = {0};
    leati_transport_channel *channel = protocol->connect(f->address, &security, &err);
    if (channel == NULL)
        fail_msg("%s", err.text);
    return channel;
}

TRANSPORT_UNUSED static void begin(fixture *f) {
    serve(f, NULL);
    f->channel = connect_with(f, NULL);
}

TRANSPORT_UNUSED static void end(fixture *f) {
    if (f->channel != NULL)
        protocol->disconnect(f->channel);
    if (f->server != NULL)
        protocol->close(f->server, leati_clock_deadline_ns(LONG_MS));
    seen_fini(&f->server_seen);
    seen_fini(&f->client_seen);
}

TRANSPORT_UNUSED static leat_status call(fixture *f, const char *method, const char *request,
                                         leat_cancel *cancel, int64_t ms, char *text,
                                         leat_error *err) {
    leat_buffer *answer = NULL;
    leat_status status = protocol->call(f->channel, method, request, strlen(request),
                                        leati_clock_deadline_ns(ms), cancel, &answer, err);
    if (status == LEAT_OK && text != NULL)
        snprintf(text, TEXT, "%.*s", (int)leat_buffer_size(answer),
                 (const char *)leat_buffer_data(answer));
    leat_buffer_unref(answer);
    return status;
}

TRANSPORT_UNUSED static leati_transport_stream *open_stream(fixture *f, const char *method) {
    leat_error err = {0};
    leati_transport_stream *stream =
        protocol->open(f->channel, method, "t1", 2, &events, &f->client_seen, &err);
    if (stream == NULL)
        fail_msg("%s", err.text);
    return stream;
}

TRANSPORT_UNUSED static void write_text(leati_transport_stream *stream, const char *text) {
    const leati_transport_part part = {text, strlen(text), NULL};
    leat_error err = {0};
    if (leati_transport_stream_write(stream, &part, 1, NULL, &err) != LEAT_OK)
        fail_msg("%s", err.text);
}

TRANSPORT_UNUSED static int use_protocol(void **state) {
    protocol = *state;
    return torture_setup(state);
}

TRANSPORT_UNUSED static int run_over(const char *name) {
    leat_error err = {0};
    void *found = (void *)leati_transport_find(name, &err);
    if (found == NULL) {
        print_message("%s is left out: %s\n", name, err.text);
        return err.code == LEAT_UNIMPLEMENTED ? 0 : 1;
    }
#define X(test)                                                                                    \
    {.name = #test,                                                                                \
     .test_func = test,                                                                            \
     .setup_func = use_protocol,                                                                   \
     .teardown_func = torture_teardown,                                                            \
     .initial_state = found},
    const struct CMUnitTest tests[] = {TRANSPORT_TESTS(X)};
#undef X
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

/* The tests of TRANSPORT_TESTS over every protocol; how many failed. */
TRANSPORT_UNUSED static int run_over_all(void) {
    int failed = 0;
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        failed += run_over(protocols[i]);
    return failed;
}

#endif
