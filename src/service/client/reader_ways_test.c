/* Readers of workers that some of their transfers do not reach, or do not carry: what they give
 * comes by the next one, once. The bad transfers are sockets that do what the test says. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "service/client/reader.h"
#include "service/transport/bulk_wire.h"
#include "service/transport/ends.h"
#include "support/fake_service.h"
#include "support/refused.h"
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ELEMENTS = 40, GIVEN = 5, SECRET = 32, SILENCE_MS = 200 };

/* What a bad transfer does once it was greeted. */
typedef enum badness {
    IS_SILENT = 0, /* nothing */
    CLOSES,        /* it ends */
    SAYS_GARBAGE,  /* what no worker says */
    IS_ANOTHER,    /* it is another version, and says so */
    REFUSES,       /* the token */
    LOSES,         /* gives some elements, and then shared memory that is not there */
    ENDS_LATER,    /* gives some, and ends; it closes at once the next time */
    NUM_BAD
} badness;

/* ---- bad transfers ---- */

typedef struct bad {
    badness how;
    int listening;
    char transfer[200];
    atomic_int opens;
    pthread_t thread;
} bad;

static bool take(int from, void *out, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t n = recv(from, (char *)out + at, size - at, 0);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static void give(int to, const void *bytes, size_t size) {
    assert_int_equal(send(to, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void give_head(int to, const leati_bulk_head *head) {
    uint8_t bytes[LEATI_BULK_HEAD];
    leati_bulk_put_head(head, bytes);
    give(to, bytes, sizeof bytes);
}

static void give_end(int to, leat_status code) {
    leati_writer body = {0};
    leat_error why = {0};
    (void)leati_fail(&why, code, "refused as the test said");
    leati_transport_put_error(&body, &why);
    give_head(to, &(leati_bulk_head){.kind = LEATI_BULK_END, .size = body.size});
    give(to, body.data, body.size);
    leati_writer_fini(&body);
}

/* The first elements, as the worker would send them. */
static void give_elements(int to) {
    int64_t values[GIVEN];
    leat_error err = {0};
    leati_block block = {0};
    leati_frame frame = {0};
    leat_buffer *buffer = leat_buffer_new(sizeof values, &err);
    for (int i = 0; i < GIVEN; i++)
        values[i] = i;
    memcpy(leat_buffer_data(buffer), values, sizeof values);
    assert_int_equal(leati_block_prepare(&block, 1, &err), LEAT_OK);
    leat_shape scalar = LEAT_SCALAR;
    leati_column_strided(&block.columns[0], LEAT_INT64, &scalar, leat_buffer_data(buffer),
                         sizeof *values, buffer);
    block.n = GIVEN;
    assert_int_equal(leati_frame_of_block(&block, 0, GIVEN, 0, LEATI_FRAME_PLAIN, &frame, &err),
                     LEAT_OK);
    leati_block_fini(&block);
    uint64_t size = leati_transport_parts_size(frame.parts, frame.num_parts);
    give_head(to, &(leati_bulk_head){.kind = LEATI_BULK_MESSAGE, .size = size, .total = size});
    for (int i = 0; i < frame.num_parts; i++)
        if (frame.parts[i].size > 0)
            give(to, frame.parts[i].data, frame.parts[i].size);
    leati_frame_fini(&frame);
}

static void behave(const bad *b, int to) {
    static const char garbage[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    if (b->how == ENDS_LATER && b->opens > 1)
        return;
    switch (b->how) {
    case SAYS_GARBAGE: give(to, garbage, sizeof garbage - 1); break;
    case IS_ANOTHER: give_end(to, LEAT_FAILED_PRECONDITION); break;
    case REFUSES: give_end(to, LEAT_UNAUTHENTICATED); break;
    case LOSES:
    case ENDS_LATER:
        give_head(to, &(leati_bulk_head){.kind = LEATI_BULK_WELCOME});
        give_elements(to);
        if (b->how == LOSES)
            give_head(to,
                      &(leati_bulk_head){.kind = LEATI_BULK_SEGMENT, .total = 4096, .number = 1});
        break;
    default: break;
    }
}

/* One connection after the other, until the client closes it or this side does. */
static void *bad_main(void *context) {
    bad *b = context;
    for (int connection; (connection = accept(b->listening, NULL, NULL)) >= 0;) {
        uint8_t bytes[LEATI_BULK_HEAD], body[4096];
        leati_bulk_head head;
        leat_error err = {0};
        atomic_fetch_add(&b->opens, 1);
        assert_true(take(connection, bytes, sizeof bytes));
        assert_int_equal(leati_bulk_get_head(bytes, &head, &err), LEAT_OK);
        assert_in_range(head.size, 1, sizeof body);
        assert_true(take(connection, body, (size_t)head.size));
        behave(b, connection);
        if (b->how == CLOSES || b->how == ENDS_LATER)
            (void)shutdown(connection, SHUT_WR);
        while (take(connection, body, 1)) {
        }
        close(connection);
    }
    return NULL;
}

/* What begins the addresses of this process's host, network and user. */
static void copy_here(char out[64]) {
    const leati_transport *shm = leati_transport_find("shm", &(leat_error){0});
    const leati_transport_handler handler = {0};
    char address[160];
    int port;
    leati_transport_server *server =
        shm->listen(&(leati_transport_listen_options){0}, &handler, &port, &(leat_error){0});
    assert_non_null(server);
    shm->address(server, "localhost", address, sizeof address);
    shm->close(server, INT64_MAX);
    snprintf(out, 64, "%.*s", (int)strcspn(address, "."), address);
}

static void listen_at(bad *b, const struct sockaddr *at, socklen_t size) {
    b->listening = socket(at->sa_family, SOCK_STREAM, 0);
    assert_true(b->listening >= 0);
    assert_int_equal(bind(b->listening, at, size), 0);
    assert_int_equal(listen(b->listening, 8), 0);
}

/* Nobody listens there yet. */
static void name_bad(bad *b, bool shm, badness how) {
    static int number;
    memset(b, 0, sizeof *b);
    b->how = how;
    if (shm) {
        char here[64], name[SECRET + 1];
        struct sockaddr_un at = {.sun_family = AF_UNIX};
        copy_here(here);
        snprintf(name, sizeof name, "%016x%016x", (unsigned)getpid(), (unsigned)++number);
        int n = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "leat-%s", name);
        listen_at(b, (struct sockaddr *)&at,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
        snprintf(b->transfer, sizeof b->transfer, "shm %s.%s/%032d", here, name, 0);
        return;
    }
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    listen_at(b, (struct sockaddr *)&at, size);
    assert_int_equal(getsockname(b->listening, (struct sockaddr *)&at, &size), 0);
    snprintf(b->transfer, sizeof b->transfer, "tcp 127.0.0.1:%d/%032d", ntohs(at.sin_port), 0);
}

static void start_bad(bad *b, bool shm, badness how) {
    name_bad(b, shm, how);
    assert_int_equal(pthread_create(&b->thread, NULL, bad_main, b), 0);
}

static void stop_bad(bad *b) {
    (void)shutdown(b->listening, SHUT_RDWR);
    pthread_join(b->thread, NULL);
    close(b->listening);
}

/* ---- readers ---- */

static leati_client_reader *open_reader(const fake_service *service, const leat_spec *spec,
                                        const char *only) {
    leat_error err = {0};
    const leati_client_reader_options options = {.service = service->target,
                                                 .dataset_id = "1000",
                                                 .job_name = "job",
                                                 .visitation = LEAT_SERVICE_EXACTLY_ONCE,
                                                 .consumer = -1,
                                                 .transfer = only,
                                                 .spec = spec,
                                                 .name = "data_service"};
    leati_client_reader *reader = leati_client_reader_open(&options, NULL, &err);
    if (reader == NULL)
        fail_msg("%s", err.text);
    return reader;
}

static void expect_all_once(fake_service *service) {
    leati_block block = {0};
    leat_error err = {0};
    int64_t waited = 0, n = 0;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
    leati_client_reader *reader = open_reader(service, spec, NULL);
    for (;;) {
        /* All was given: nobody waits for a worker that breaks off from now on. */
        if (n == ELEMENTS && !service->finished) {
            service->finished = true;
            fake_change(service);
        }
        leati_client_reader_outcome outcome =
            leati_client_reader_take(reader, 3, LEATI_NO_DEADLINE, &block, &waited, &err);
        if (outcome == LEATI_CLIENT_END)
            break;
        if (outcome == LEATI_CLIENT_FAILED)
            fail_msg("%s", err.text);
        for (int64_t i = 0; i < block.n; i++)
            assert_int_equal(*(int64_t *)leati_column_row(&block.columns[0], i), n++);
    }
    assert_int_equal(n, ELEMENTS);
    leati_block_fini(&block);
    leati_client_reader_close(reader);
    leat_spec_unref(spec);
}

/* Nothing comes but a failure. */
static void expect_failure(fake_service *service, const char *only, leat_status code) {
    leati_block block = {0};
    leat_error err = {0};
    int64_t waited = 0;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
    leati_client_reader *reader = open_reader(service, spec, only);
    assert_int_equal(leati_client_reader_take(reader, 3, LEATI_NO_DEADLINE, &block, &waited, &err),
                     LEATI_CLIENT_FAILED);
    assert_int_equal(err.code, code);
    leati_client_reader_close(reader);
    leati_block_fini(&block);
    leat_spec_unref(spec);
}

static void begin_silence(leati_transport_tuning *before) {
    leati_transport_tuning tuning = *before = leati_transport_tuned();
    tuning.silence_ms = SILENCE_MS;
    assert_int_equal(leati_transport_tune(&tuning, &(leat_error){0}), LEAT_OK);
}

static void end_silence(const leati_transport_tuning *before) {
    assert_int_equal(leati_transport_tune(before, &(leat_error){0}), LEAT_OK);
}

static void expect_next_way(badness how, bool shm) {
    leati_transport_tuning before;
    fake_service service;
    bad b;
    start_bad(&b, shm, how);
    fake_start(&service, 1, ELEMENTS);
    service.workers[0].before[0] = b.transfer;
    if (how == IS_SILENT)
        begin_silence(&before);
    expect_all_once(&service);
    if (how == IS_SILENT)
        end_silence(&before);
    assert_true(service.workers[0].opens >= 1);
    /* One that ends after it gave something is tried again, and passed over then. */
    assert_true(atomic_load(&b.opens) >= (how == ENDS_LATER ? 2 : 1));
    fake_stop(&service);
    stop_bad(&b);
}

static void what_a_way_does_not_bring_comes_by_the_next(void **state) {
    (void)state;
    for (int how = 0; how < NUM_BAD; how++) {
        expect_next_way((badness)how, false);
        expect_next_way((badness)how, true);
    }
}

static void where_nobody_listens_the_next_way_is_taken(void **state) {
    (void)state;
    bad gone[2];
    fake_service service;
    for (int i = 0; i < 2; i++) {
        name_bad(&gone[i], i == 0, CLOSES);
        close(gone[i].listening);
    }
    fake_start(&service, 1, ELEMENTS);
    service.workers[0].before[0] = gone[0].transfer;
    service.workers[0].before[1] = gone[1].transfer;
    expect_all_once(&service);
    fake_stop(&service);
}

/* Addresses that mean nothing here: of an unknown protocol, of another host, and no addresses. */
static void what_cannot_be_understood_is_passed_over(void **state) {
    (void)state;
    static const char *const odd[] = {
        "pigeon 127.0.0.1:1/00112233445566778899aabbccddeeff",
        "tcp nonsense",
        "shm x",
        "shm 0011223344556677.00112233445566778899aabbccddeeff/00112233445566778899aabbccddeeff",
        "nothing",
        ""};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        fake_service service;
        fake_start(&service, 1, ELEMENTS);
        service.workers[0].before[0] = odd[i];
        expect_all_once(&service);
        fake_stop(&service);
    }
}

/* Where no way is left, the last one's failure is told; so it is where one was asked for. */
static void without_another_way_the_failure_is_told(void **state) {
    (void)state;
    static const badness those[] = {SAYS_GARBAGE, IS_ANOTHER, REFUSES};
    static const leat_status codes[] = {LEAT_DATA_LOSS, LEAT_FAILED_PRECONDITION,
                                        LEAT_UNAUTHENTICATED};
    for (size_t i = 0; i < sizeof those / sizeof those[0]; i++) {
        fake_service service;
        bad b;
        bool shm = strcmp(fake_transfers, "shm") != 0;
        start_bad(&b, shm, those[i]);
        fake_start(&service, 1, ELEMENTS);
        service.workers[0].before[0] = b.transfer;
        expect_failure(&service, shm ? "shm" : "tcp", codes[i]);
        assert_int_equal(service.workers[0].opens, 0);
        fake_stop(&service);
        stop_bad(&b);
    }
}

/* What the worker itself answers is no matter of the way. */
static void a_workers_answer_is_told_at_once(void **state) {
    (void)state;
    fake_service service;
    bad b;
    start_bad(&b, false, CLOSES);
    fake_start(&service, 1, ELEMENTS);
    service.workers[0].before[0] = b.transfer;
    service.workers[0].refuses = LEAT_INVALID_ARGUMENT;
    expect_failure(&service, NULL, LEAT_INVALID_ARGUMENT);
    assert_int_equal(service.workers[0].opens, 1);
    fake_stop(&service);
    stop_bad(&b);
}

static void await_opens(fake_worker *worker, int more);

/* One that does not know its task yet says so by a way that reaches it, which is kept. */
static void a_worker_that_answers_is_reached(void **state) {
    (void)state;
    fake_service service;
    bad b;
    if (strcmp(fake_transfers, "local") == 0)
        skip(); /* which does not tell answers apart */
    start_bad(&b, false, CLOSES);
    fake_start(&service, 1, ELEMENTS);
    service.workers[0].before[0] = b.transfer;
    service.workers[0].refuses = LEAT_UNAVAILABLE;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
    leati_client_reader *reader = open_reader(&service, spec, NULL);
    await_opens(&service.workers[0], 4);
    assert_int_equal(atomic_load(&b.opens), 1);
    leati_client_reader_close(reader);
    leat_spec_unref(spec);
    fake_stop(&service);
    stop_bad(&b);
}

static atomic_int warnings;

static void count_warning(void *context, leat_log_level level, const char *line) {
    (void)context;
    if (level == LEAT_LOG_WARNING && strstr(line, "localhost:70000") != NULL)
        atomic_fetch_add(&warnings, 1);
}

static void await_opens(fake_worker *worker, int more) {
    pthread_mutex_lock(&worker->lock);
    int until = worker->opens + more;
    pthread_mutex_unlock(&worker->lock);
    for (int opens = 0; opens < until;) {
        sched_yield();
        pthread_mutex_lock(&worker->lock);
        opens = worker->opens;
        pthread_mutex_unlock(&worker->lock);
    }
}

/* Waits for it, says so once, and reads it when it is there. */
static void a_worker_that_is_not_reached_is_named(void **state) {
    (void)state;
    leati_transport_tuning before;
    fake_service service;
    begin_silence(&before);
    atomic_store(&warnings, 0);
    leat_log_set(count_warning, NULL);
    fake_start(&service, 1, ELEMENTS);
    fake_worker *worker = &service.workers[0];
    worker->refuses = LEAT_UNAVAILABLE;
    leat_spec *spec = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
    leati_client_reader *reader = open_reader(&service, spec, NULL);
    while (atomic_load(&warnings) == 0)
        sched_yield();
    await_opens(worker, 2);
    assert_int_equal(atomic_load(&warnings), 1);
    /* The dispatcher hears it, too. */
    pthread_mutex_lock(&service.lock);
    while (service.beat.unreached.count == 0)
        pthread_cond_wait(&service.changed, &service.lock);
    assert_int_equal(service.beat.unreached.values[0], worker->task);
    pthread_mutex_unlock(&service.lock);
    pthread_mutex_lock(&worker->lock);
    worker->refuses = LEAT_OK;
    pthread_mutex_unlock(&worker->lock);
    leati_client_reader_close(reader);
    leat_spec_unref(spec);
    expect_all_once(&service);
    leat_log_set(NULL, NULL);
    fake_stop(&service);
    end_silence(&before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_way_does_not_bring_comes_by_the_next),
        cmocka_unit_test(where_nobody_listens_the_next_way_is_taken),
        cmocka_unit_test(what_cannot_be_understood_is_passed_over),
        cmocka_unit_test(without_another_way_the_failure_is_told),
        cmocka_unit_test(a_workers_answer_is_told_at_once),
        cmocka_unit_test(a_worker_that_answers_is_reached),
    };
    /* Before there is any way, so by none: and it takes long. */
    const struct CMUnitTest before_a_way[] = {
        cmocka_unit_test(a_worker_that_is_not_reached_is_named),
    };
    static const char *const protocols[] = {"local", "shm", "tcp"};
    int failed = cmocka_run_group_tests(before_a_way, NULL, NULL);
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        fake_transfers = protocols[i];
        failed += cmocka_run_group_tests_name(fake_transfers, tests, NULL, NULL);
    }
    return failed;
}
