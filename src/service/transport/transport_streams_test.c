/* Streams over every protocol, and over TLS: order, limits, large messages, ends in all orders. */
#include "support/cmocka.h"

#define TRANSPORT_TESTS(X)                                                                         \
    X(streams_go_both_ways)                                                                        \
    X(all_is_delivered_before_the_end)                                                             \
    X(a_failure_ends_at_once)                                                                      \
    X(streams_are_refused)                                                                         \
    X(writers_wait_and_wake)                                                                       \
    X(large_messages_arrive_whole)                                                                 \
    X(an_empty_message_arrives)                                                                    \
    X(ends_come_in_any_order)                                                                      \
    X(many_streams_at_once)
static void streams_go_both_ways(void **state);
static void all_is_delivered_before_the_end(void **state);
static void a_failure_ends_at_once(void **state);
static void streams_are_refused(void **state);
static void writers_wait_and_wake(void **state);
static void large_messages_arrive_whole(void **state);
static void an_empty_message_arrives(void **state);
static void ends_come_in_any_order(void **state);
static void many_streams_at_once(void **state);

#define TRANSPORT_PROTOCOLS "local", "grpc", "shm", "tcp"
#include "support/transport_suite.h"

/* ---- streams ---- */

static void streams_go_both_ways(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    f.server_seen.echoes = true;
    leati_transport_stream *stream = open_stream(&f, "Read");
    for (uint32_t i = 0; i < 1000; i++) {
        const leati_transport_part parts[] = {{&i, sizeof i, NULL}, {"tail", 4, NULL}};
        leat_error err = {0};
        assert_int_equal(leati_transport_stream_write(stream, parts, 2, NULL, &err), LEAT_OK);
    }
    wait_for(&f.client_seen, &f.client_seen.messages, 1000);
    assert_int_equal(f.client_seen.bytes, 8000);
    assert_false(f.client_seen.out_of_order);
    assert_false(f.server_seen.out_of_order);
    leati_transport_stream_close(stream, NULL);
    wait_closed(&f.client_seen, LEAT_OK);
    wait_closed(&f.server_seen, LEAT_OK);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void all_is_delivered_before_the_end(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    leati_transport_stream *stream = open_stream(&f, "Read");
    wait_for(&f.server_seen, &f.server_seen.opened, 1);
    for (int i = 0; i < 500; i++)
        write_text(f.server_seen.stream, "from the server");
    leati_transport_stream_close(f.server_seen.stream, NULL);
    wait_closed(&f.client_seen, LEAT_OK);
    assert_int_equal(f.client_seen.messages, 500);
    wait_closed(&f.server_seen, LEAT_OK);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void a_failure_ends_at_once(void **state) {
    (void)state;
    fixture f;
    leat_error why = {0}, err = {0};
    begin(&f);
    leati_transport_stream *stream = open_stream(&f, "Read");
    wait_for(&f.server_seen, &f.server_seen.opened, 1);
    leati_fail_for(&why, LEAT_DATA_LOSS, LEAT_REASON_VALUE, "shard %d is damaged", 7);
    leati_transport_stream_close(f.server_seen.stream, &why);
    leati_transport_stream_close(f.server_seen.stream, NULL);
    wait_closed(&f.client_seen, LEAT_DATA_LOSS);
    assert_refused(&f.client_seen.why, LEAT_DATA_LOSS, LEAT_REASON_VALUE, "7");
    wait_closed(&f.server_seen, LEAT_DATA_LOSS);
    const leati_transport_part part = {"x", 1, NULL};
    assert_int_equal(leati_transport_stream_write(stream, &part, 1, NULL, &err), LEAT_UNAVAILABLE);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void streams_are_refused(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    leati_transport_stream *stream = open_stream(&f, "Write");
    wait_closed(&f.client_seen, LEAT_NOT_FOUND);
    assert_refused(&f.client_seen.why, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"t1\"");
    assert_int_equal(f.server_seen.closed, 0);
    leati_transport_stream_unref(stream);
    end(&f);
}

typedef struct writing {
    leati_transport_stream *stream;
    leat_cancel *cancel;
    int written;
    leat_status status;
    leat_error err;
    pthread_t thread;
} writing;

static void *write_main(void *context) {
    writing *w = context;
    static char block[MB];
    while (w->status == LEAT_OK) {
        const leati_transport_part part = {block, sizeof block, NULL};
        w->status = leati_transport_stream_write(w->stream, &part, 1, w->cancel, &w->err);
        if (w->status == LEAT_OK)
            w->written++;
    }
    return NULL;
}

/* A writer whose reader takes nothing waits, and wakes when `ends` ends it. */
static void writer_waits(void (*ends)(fixture *f, leati_transport_stream *stream, leat_cancel *c),
                         leat_status expected) {
    fixture f;
    begin(&f);
    f.server_seen.held = true;
    leat_cancel *cancel = leati_cancel_new(NULL, &(leat_error){0});
    leati_transport_stream *stream = open_stream(&f, "Read");
    writing w = {.stream = stream, .cancel = cancel};
    wait_for(&f.server_seen, &f.server_seen.opened, 1);
    pthread_create(&w.thread, NULL, write_main, &w);
    ends(&f, stream, cancel);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, expected);
    assert_in_range(w.written, 0, 64);
    release(&f.server_seen);
    leati_transport_stream_close(stream, NULL);
    wait_for(&f.client_seen, &f.client_seen.closed, 1);
    leati_transport_stream_unref(stream);
    leati_cancel_unref(cancel);
    end(&f);
}

static void fire_cancel(fixture *f, leati_transport_stream *stream, leat_cancel *cancel) {
    (void)f;
    (void)stream;
    leati_cancel_fire(cancel);
}

static void close_own(fixture *f, leati_transport_stream *stream, leat_cancel *cancel) {
    (void)f;
    (void)cancel;
    leat_error why = {0};
    leati_fail(&why, LEAT_ABORTED, "enough");
    leati_transport_stream_close(stream, &why);
}

static void close_other(fixture *f, leati_transport_stream *stream, leat_cancel *cancel) {
    (void)stream;
    (void)cancel;
    leati_transport_stream_close(f->server_seen.stream, NULL);
}

static void writers_wait_and_wake(void **state) {
    (void)state;
    writer_waits(fire_cancel, LEAT_CANCELLED);
    writer_waits(close_own, LEAT_UNAVAILABLE);
    writer_waits(close_other, LEAT_UNAVAILABLE);
}

static void fill(uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
}

static uint64_t sum_of(const uint8_t *bytes, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i += 509)
        sum += bytes[i] * (uint64_t)(i + 1);
    return sum;
}

static void large_messages_arrive_whole(void **state) {
    (void)state;
    enum { BYTES = 20 * MB + 12345 };
    fixture f;
    leat_error err = {0};
    begin(&f);
    leati_transport_stream *stream = open_stream(&f, "Read");
    leat_buffer *buffer = leat_buffer_new(BYTES, &err);
    uint8_t *bytes = leat_buffer_data(buffer);
    fill(bytes, BYTES);
    for (int i = 0; i < 3; i++) {
        const leati_transport_part parts[] = {
            {bytes, 7 * MB, buffer}, {NULL, 0, NULL}, {bytes + 7 * MB, BYTES - 7 * MB, buffer}};
        assert_int_equal(leati_transport_stream_write(stream, parts, 3, NULL, &err), LEAT_OK);
    }
    write_text(stream, "small");
    wait_for(&f.server_seen, &f.server_seen.messages, 4);
    assert_int_equal(f.server_seen.bytes, 3 * (int64_t)BYTES + 5);
    assert_int_equal(f.server_seen.sum, 3 * sum_of(bytes, BYTES) + 's');
    assert_string_equal(f.server_seen.last, "small");
    leat_buffer_unref(buffer);
    leati_transport_stream_close(stream, NULL);
    wait_closed(&f.client_seen, LEAT_OK);
    leati_transport_stream_unref(stream);
    end(&f);
}

static void an_empty_message_arrives(void **state) {
    (void)state;
    fixture f;
    leat_error err = {0};
    begin(&f);
    leati_transport_stream *stream = open_stream(&f, "Read");
    assert_int_equal(leati_transport_stream_write(stream, NULL, 0, NULL, &err), LEAT_OK);
    wait_for(&f.server_seen, &f.server_seen.messages, 1);
    assert_int_equal(f.server_seen.bytes, 0);
    leati_transport_stream_unref(stream);
    end(&f);
}

/* ---- ends in all orders ---- */

enum { CLOSE_CLIENT, CLOSE_SERVER_END, UNREF, DISCONNECT, CLOSE_SERVER, NUM_STEPS };

static void take_step(fixture *f, leati_transport_stream **stream, int step) {
    switch (step) {
    case CLOSE_CLIENT:
        if (*stream != NULL)
            leati_transport_stream_close(*stream, NULL);
        break;
    case CLOSE_SERVER_END: leati_transport_stream_close(f->server_seen.stream, NULL); break;
    case UNREF:
        leati_transport_stream_unref(*stream);
        *stream = NULL;
        break;
    case DISCONNECT:
        protocol->disconnect(f->channel);
        f->channel = NULL;
        break;
    default: protocol->close(f->server, leati_clock_deadline_ns(LONG_MS)); f->server = NULL;
    }
}

static void in_order(const int steps[NUM_STEPS]) {
    fixture f;
    begin(&f);
    leati_transport_stream *stream = open_stream(&f, "Read");
    wait_for(&f.server_seen, &f.server_seen.opened, 1);
    write_text(stream, "one");
    write_text(f.server_seen.stream, "two");
    for (int i = 0; i < NUM_STEPS; i++)
        take_step(&f, &stream, steps[i]);
    assert_int_equal(f.client_seen.closed, 1);
    assert_int_equal(f.server_seen.closed, 1);
    end(&f);
}

static void permute(int *steps, int n) {
    if (n == NUM_STEPS) {
        in_order(steps);
        return;
    }
    for (int i = n; i < NUM_STEPS; i++) {
        int kept = steps[n];
        steps[n] = steps[i];
        steps[i] = kept;
        permute(steps, n + 1);
        steps[i] = steps[n];
        steps[n] = kept;
    }
}

static void ends_come_in_any_order(void **state) {
    (void)state;
    int steps[NUM_STEPS] = {0, 1, 2, 3, 4};
    permute(steps, 0);
}

static void *streams_main(void *context) {
    fixture *f = context;
    leat_error err = {0};
    for (int i = 0; i < 8; i++) {
        seen s;
        seen_init(&s);
        leati_transport_stream *stream =
            protocol->open(f->channel, "Read", "t", 1, &events, &s, &err);
        assert_non_null(stream);
        for (int m = 0; m < 50; m++)
            write_text(stream, "a message");
        leati_transport_stream_close(stream, NULL);
        wait_closed(&s, LEAT_OK);
        leati_transport_stream_unref(stream);
        seen_fini(&s);
    }
    return NULL;
}

static void many_streams_at_once(void **state) {
    (void)state;
    enum { THREADS = 8 };
    fixture f;
    pthread_t threads[THREADS];
    begin(&f);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, streams_main, &f);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    wait_for(&f.server_seen, &f.server_seen.closed, 64);
    assert_int_equal(f.server_seen.messages, 64 * 50);
    end(&f);
}

#ifdef LEATI_HAVE_OPENSSL
#include "support/scratch.h"

#include "support/certificates.h"

/* tcp once more, over TLS with certificates of both sides. */
static int run_over_tls(void) {
    assert_int_equal(scratch_setup(NULL), 0);
    authority by = authority_new("the test's authority");
    certificate_files files = certificate_write(
        scratch_folder, &(certificate_wish){.name = "both", .hosts = CERTIFICATE_HERE}, &by, &by);
    of_servers = of_clients = (leati_transport_security){
        .tls_cert = files.certificate, .tls_key = files.key, .tls_ca = files.authority};
    int failed = run_over("tcp");
    authority_free(&by);
    return scratch_teardown(NULL) != 0 ? failed + 1 : failed;
}
#else
static int run_over_tls(void) {
    return 0;
}
#endif

int main(void) {
    return run_over_all() + run_over_tls();
}
