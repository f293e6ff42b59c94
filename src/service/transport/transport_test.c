/* Calls over every protocol: answers, failures, deadlines, servers that close, failing memory. */
#include "support/cmocka.h"

#define TRANSPORT_TESTS(X)                                                                         \
    X(calls_are_answered)                                                                          \
    X(failures_keep_what_they_know)                                                                \
    X(calls_end_by_deadline_and_cancel)                                                            \
    X(a_cancel_wakes_a_call)                                                                       \
    X(kept_calls_are_answered_later)                                                               \
    X(closing_waits_for_calls)                                                                     \
    X(closing_ends_calls_by_its_deadline)                                                          \
    X(addresses_are_checked)                                                                       \
    X(a_taken_port_is_refused)                                                                     \
    X(nobody_listens)                                                                              \
    X(tokens_are_compared)                                                                         \
    X(failing_memory)
static void calls_are_answered(void **state);
static void failures_keep_what_they_know(void **state);
static void calls_end_by_deadline_and_cancel(void **state);
static void a_cancel_wakes_a_call(void **state);
static void kept_calls_are_answered_later(void **state);
static void closing_waits_for_calls(void **state);
static void closing_ends_calls_by_its_deadline(void **state);
static void addresses_are_checked(void **state);
static void a_taken_port_is_refused(void **state);
static void nobody_listens(void **state);
static void tokens_are_compared(void **state);
static void failing_memory(void **state);

#include "support/transport_suite.h"

/* ---- calls ---- */

static void calls_are_answered(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    char text[TEXT];
    begin(&f);
    for (int i = 0; i < 200; i++) {
        char request[16];
        snprintf(request, sizeof request, "r%d", i);
        assert_int_equal(call(&f, "Echo", request, NULL, LONG_MS, text, &err), LEAT_OK);
        assert_string_equal(text, request);
    }
    assert_int_equal(call(&f, "Echo", "", NULL, LONG_MS, text, &err), LEAT_OK);
    assert_string_equal(text, "");
    end(&f);
}

static void failures_keep_what_they_know(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    begin(&f);
    assert_int_equal(call(&f, "Refuse", "train", NULL, LONG_MS, NULL, &err), LEAT_ALREADY_EXISTS);
    assert_refused(&err, LEAT_ALREADY_EXISTS, LEAT_REASON_SHAPE, "\"train\"");
    assert_string_equal(err.file, "a.csv");
    assert_int_equal(err.byte, 17);
    assert_int_equal(call(&f, "Nonsense", "", NULL, LONG_MS, NULL, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "\"Nonsense\"");
    end(&f);
}

static void calls_end_by_deadline_and_cancel(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    begin(&f);
    assert_int_equal(call(&f, "Keep", "", NULL, 50, NULL, &err), LEAT_DEADLINE_EXCEEDED);
    wait_for(&f.server_seen, &f.server_seen.calls, 1);
    while (!leati_transport_call_abandoned(f.server_seen.kept[0])) {
    }
    assert_false(leati_transport_call_answer(f.server_seen.kept[0], "late", 4));
    leat_cancel *cancel = leati_cancel_new(NULL, &err);
    leati_cancel_fire(cancel);
    assert_int_equal(call(&f, "Echo", "", cancel, LONG_MS, NULL, &err), LEAT_CANCELLED);
    leati_cancel_unref(cancel);
    end(&f);
}

typedef struct asking {
    fixture *f;
    leat_cancel *cancel;
    int64_t ms;
    leat_status status;
    leat_error err;
    pthread_t thread;
} asking;

static void *ask_main(void *context) {
    asking *a = context;
    a->status = call(a->f, "Keep", "", a->cancel, a->ms, NULL, &a->err);
    return NULL;
}

static void start_asking(asking *a, fixture *f, leat_cancel *cancel) {
    *a = (asking){.f = f, .cancel = cancel, .ms = LONG_MS};
    assert_int_equal(pthread_create(&a->thread, NULL, ask_main, a), 0);
}

static void a_cancel_wakes_a_call(void **state) {
    (void)state;
    fixture f;
    asking a;
    begin(&f);
    leat_cancel *cancel = leati_cancel_new(NULL, &(leat_error){0});
    start_asking(&a, &f, cancel);
    wait_for(&f.server_seen, &f.server_seen.calls, 1);
    leati_cancel_fire(cancel);
    pthread_join(a.thread, NULL);
    assert_int_equal(a.status, LEAT_CANCELLED);
    while (!leati_transport_call_abandoned(f.server_seen.kept[0])) {
    }
    assert_false(leati_transport_call_fail(f.server_seen.kept[0], &a.err));
    leati_cancel_unref(cancel);
    end(&f);
}

static void kept_calls_are_answered_later(void **state) {
    (void)state;
    enum { CALLERS = 16 };
    fixture f;
    asking a[CALLERS];
    begin(&f);
    for (int i = 0; i < CALLERS; i++)
        start_asking(&a[i], &f, NULL);
    wait_for(&f.server_seen, &f.server_seen.calls, CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        assert_false(leati_transport_call_abandoned(f.server_seen.kept[i]));
        answer_text(f.server_seen.kept[i], "now");
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(a[i].thread, NULL);
        assert_int_equal(a[i].status, LEAT_OK);
    }
    end(&f);
}

static void *close_main(void *context) {
    fixture *f = context;
    protocol->close(f->server, leati_clock_deadline_ns(f->port));
    return NULL;
}

static void closing_waits_for_calls(void **state) {
    (void)state;
    fixture f;
    asking a;
    pthread_t closer;
    leat_error err = {0};
    begin(&f);
    start_asking(&a, &f, NULL);
    wait_for(&f.server_seen, &f.server_seen.calls, 1);
    f.port = LONG_MS;
    pthread_create(&closer, NULL, close_main, &f);
    /* New calls are refused once it closes. */
    while (call(&f, "Echo", "", NULL, LONG_MS, NULL, &err) == LEAT_OK) {
    }
    assert_int_equal(err.code, LEAT_UNAVAILABLE);
    answer_text(f.server_seen.kept[0], "now");
    pthread_join(a.thread, NULL);
    assert_int_equal(a.status, LEAT_OK);
    pthread_join(closer, NULL);
    f.server = NULL;
    end(&f);
}

static void closing_ends_calls_by_its_deadline(void **state) {
    (void)state;
    fixture f;
    asking a;
    begin(&f);
    start_asking(&a, &f, NULL);
    wait_for(&f.server_seen, &f.server_seen.calls, 1);
    protocol->close(f.server, leati_now_ns());
    pthread_join(a.thread, NULL);
    assert_int_equal(a.status, LEAT_UNAVAILABLE);
    assert_true(leati_transport_call_abandoned(f.server_seen.kept[0]));
    assert_false(leati_transport_call_answer(f.server_seen.kept[0], "late", 4));
    f.server = NULL;
    end(&f);
}

static void addresses_are_checked(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",           "localhost",   "localhost:",      ":5050",   "host:0",
        "host:65536", "::1:5050",    "host:50x",        "host:-1", "[]:5050",
        "a b:5050",   "host/x:5050", "host:99999999999"};
    leat_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(protocol->connect(wrong[i], NULL, &err));
        assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, NULL);
    }
}

static void a_taken_port_is_refused(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    int port = 0;
    begin(&f);
    const leati_transport_listen_options options = {.port = f.port};
    const leati_transport_handler handler = {&f.server_seen, on_call, on_open};
    assert_null(protocol->listen(&options, &handler, &port, &err));
    assert_int_equal(err.code, LEAT_FAILED_PRECONDITION);
    end(&f);
}

static void nobody_listens(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    begin(&f);
    protocol->close(f.server, leati_clock_deadline_ns(LONG_MS));
    f.server = NULL;
    assert_int_equal(call(&f, "Echo", "", NULL, LONG_MS, NULL, &err), LEAT_UNAVAILABLE);
    leati_transport_stream *stream = open_stream(&f, "Read");
    wait_closed(&f.client_seen, LEAT_UNAVAILABLE);
    const leati_transport_part part = {"x", 1, NULL};
    assert_int_equal(leati_transport_stream_write(stream, &part, 1, NULL, &err), LEAT_UNAVAILABLE);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void tokens_are_compared(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    serve(&f, "secret of the tests");
    static const char *const shown[] = {NULL, "secret of the test", "another"};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        f.channel = connect_with(&f, shown[i]);
        assert_int_equal(call(&f, "Echo", "x", NULL, LONG_MS, NULL, &err), LEAT_UNAUTHENTICATED);
        leati_transport_stream *stream = open_stream(&f, "Read");
        wait_for(&f.client_seen, &f.client_seen.closed, (int)i + 1);
        assert_int_equal(f.client_seen.why.code, LEAT_UNAUTHENTICATED);
        leati_transport_stream_unref(stream);
        protocol->disconnect(f.channel);
    }
    f.channel = connect_with(&f, "secret of the tests");
    assert_int_equal(call(&f, "Echo", "x", NULL, LONG_MS, NULL, &err), LEAT_OK);
    wait_for(&f.server_seen, &f.server_seen.calls, 1);
    end(&f);
}

/* ---- memory ---- */

static leat_status everything(void *context, leat_error *err) {
    (void)context;
    seen s, c;
    int port;
    char address[64];
    const leati_transport_listen_options options = {.security = {.token = "t"}};
    const leati_transport_handler handler = {&s, on_call, on_open};
    const leati_transport_security security = {.token = "t"};
    seen_init(&s);
    seen_init(&c);
    leati_transport_channel *channel = NULL;
    leat_status status = LEAT_OK;
    leati_transport_server *server = protocol->listen(&options, &handler, &port, err);
    if (server == NULL)
        return torture_code(err);
    snprintf(address, sizeof address, "localhost:%d", port);
    channel = protocol->connect(address, &security, err);
    if (channel == NULL) {
        status = torture_code(err);
    } else {
        leat_buffer *answer = NULL;
        status = protocol->call(channel, "Echo", "x", 1, LEATI_NO_DEADLINE, NULL, &answer, err);
        leat_buffer_unref(answer);
    }
    if (status == LEAT_OK) {
        leati_transport_stream *stream = protocol->open(channel, "Read", "x", 1, &events, &c, err);
        const leati_transport_part parts[] = {{"ab", 2, NULL}, {"c", 1, NULL}};
        status = stream == NULL ? torture_code(err)
                                : leati_transport_stream_write(stream, parts, 2, NULL, err);
        /* What other threads had no memory for has ended the stream. */
        if (stream != NULL && status == LEAT_UNAVAILABLE) {
            wait_for(&c, &c.closed, 1);
            status = leati_error_pass(err, &c.why);
        }
        leati_transport_stream_unref(stream);
    }
    if (channel != NULL)
        protocol->disconnect(channel);
    protocol->close(server, LEATI_NO_DEADLINE);
    seen_fini(&s);
    seen_fini(&c);
    return status;
}

static void failing_memory(void **state) {
    (void)state;
    torture_run_tolerant(everything, NULL);
}

static int no_protocol(void) {
    leat_error err = {0};
    const leati_transport *found = leati_transport_find("carrier-pigeon", &err);
    return found == NULL && is_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, NULL) ? 0 : 1;
}

int main(void) {
    return no_protocol() + run_over_all();
}
