/* Workers and their streams, under a dispatcher of the test's: serving, credit, ends, stopping. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "service/worker/worker.h"
#include "support/fake_dispatcher.h"
#include "support/refused.h"
#include "support/stream_client.h"

/* ---- helpers ---- */

typedef struct service {
    fake_dispatcher dispatcher;
    leat_worker *worker;
    char address[32];
} service;

static leat_worker *worker_of(const fake_dispatcher *dispatcher, int64_t memory) {
    leat_error err = {0};
    char address[32];
    (void)snprintf(address, sizeof address, "localhost:%d", dispatcher->port);
    leat_worker_options options = {LEAT_WORKER_DEFAULTS, .dispatcher_address = address,
                                   .protocol = "local", .dispatcher_timeout_ms = 20000,
                                   .memory_budget_bytes = memory};
    leat_worker *worker = leat_worker_new(&options, &err);
    if (worker == NULL)
        fail_msg("%s", err.text);
    return worker;
}

/* `memory`: of all tasks together; 0: as it comes. */
static void begin_in(service *s, const char *plan, int64_t memory) {
    leat_error err = {0};
    fake_begin(&s->dispatcher, plan);
    s->worker = worker_of(&s->dispatcher, memory);
    if (leat_worker_start(s->worker, &err) != LEAT_OK)
        fail_msg("%s", err.text);
}

static void begin(service *s, const char *plan) {
    begin_in(s, plan, 0);
}

static void end(service *s) {
    leat_worker_free(s->worker);
    fake_end(&s->dispatcher);
}

/* Until the worker has so many tasks; what it has changes with its heartbeats alone. */
static void wait_tasks(service *s, int64_t count) {
    leati_queue_gate_lock(s->dispatcher.gate);
    while (leat_worker_num_tasks(s->worker) != count)
        (void)!leati_queue_gate_wait(s->dispatcher.gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                     &(leat_error){0});
    leati_queue_gate_unlock(s->dispatcher.gate);
}

static void want(service *s, struct leati_message_task task) {
    int64_t before = leat_worker_num_tasks(s->worker);
    fake_want(&s->dispatcher, (int)task.task, task);
    wait_tasks(s, before + 1);
}

static struct leati_message_read reading(int64_t task, int64_t credit) {
    return (struct leati_message_read){.task = task,
                                       .attempt = 1,
                                       .consumer = -1,
                                       .credit_elements = credit,
                                       .credit_bytes = 1 << 20};
}

#define RANGE(stop) "{\"op\": \"range\", \"args\": {\"stop\": " #stop "}}"
static const char *const ten = RANGE(10), *const many = RANGE(50000);
static const char *const endless = "{\"op\": \"repeat\", \"input\": " RANGE(1000) "}";

/* ---- serving ---- */

static void test_off(void **state) {
    (void)state;
    service s;
    begin(&s, many);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 4096);
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait(&client, INT64_MAX);
    assert_true(client.ended);
    assert_int_equal(client.count, 50000);
    for (int64_t i = 0; i < client.count; i++) {
        assert_int_equal(client.values[i], i);
        assert_int_equal(client.positions[i], i);
    }
    fake_wait_done(&s.dispatcher, 1);
    assert_int_equal(s.dispatcher.tasks[1].elements, 50000);
    stream_close(&client);
    end(&s);
}

/* A reader that takes nothing stops nobody else, and gets no more than its credit. */
static void test_credit(void **state) {
    (void)state;
    service s;
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    want(&s, (struct leati_message_task){.task = 2, .attempt = 1});
    stream_client slow, fast, other;
    struct leati_message_read asked = reading(1, 3), much = reading(1, 100),
                              second = reading(2, 50);
    stream_open(&slow, leat_worker_address(s.worker), &asked, false);
    stream_wait(&slow, 3);
    stream_open(&fast, leat_worker_address(s.worker), &much, true);
    stream_wait(&fast, 20000);
    stream_open(&other, leat_worker_address(s.worker), &second, true);
    stream_wait(&other, 1000);
    assert_int_equal(stream_count(&slow), 3);
    /* Neither credit of elements alone is enough, nor of bytes. */
    stream_credit(&slow, (leati_frame_credit){.elements = 2});
    stream_wait(&slow, 5);
    assert_int_equal(stream_count(&slow), 5);
    stream_close(&slow);
    stream_close(&fast);
    stream_close(&other);
    end(&s);
}

/* A client that asks for packed frames gets them, of the same elements. */
static void test_compression(void **state) {
    (void)state;
    service s;
    leat_string names[] = {{"zstd", 4}, {"snappy", 6}};
    begin(&s, many);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 4096);
    asked.compression = (leati_strings){names, 2};
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait(&client, INT64_MAX);
    assert_int_equal(client.count, 50000);
    for (int64_t i = 0; i < client.count; i++)
        assert_int_equal(client.values[i], i);
    if (leati_frame_best(&asked.compression) != LEATI_FRAME_PLAIN)
        assert_true(client.bytes < 50000 * 8);
    stream_close(&client);
    end(&s);
}

/* What a reader had not acknowledged when it went away is given to the next one. */
static void test_reader_gone(void **state) {
    (void)state;
    service s;
    begin(&s, ten);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1, .visitation = 1});
    struct leati_message_read asked = reading(1, 7);
    asked.acks = true;
    stream_client first, second;
    stream_open(&first, leat_worker_address(s.worker), &asked, false);
    stream_wait(&first, 7);
    stream_credit(&first, (leati_frame_credit){.acked_begin = 0, .acked_end = 4});
    stream_close(&first);
    stream_open(&second, leat_worker_address(s.worker), &asked, true);
    stream_wait(&second, INT64_MAX);
    assert_true(second.ended);
    assert_int_equal(second.count, 6);
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(second.positions[i], 4 + i);
    fake_wait_done(&s.dispatcher, 1);
    assert_int_equal(s.dispatcher.tasks[1].acked_ranges, 1);
    assert_int_equal(s.dispatcher.tasks[1].acked_last, 10);
    stream_close(&second);
    end(&s);
}

static void test_coordinated(void **state) {
    (void)state;
    service s;
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1, .consumers = 2});
    stream_client clients[2];
    for (int64_t i = 0; i < 2; i++) {
        struct leati_message_read asked = reading(1, 4);
        asked.consumer = i;
        asked.window = 4;
        stream_open(&clients[i], leat_worker_address(s.worker), &asked, true);
    }
    for (int64_t i = 0; i < 2; i++) {
        stream_wait(&clients[i], 400);
        for (int64_t k = 0; k < 400; k++) {
            assert_int_equal(clients[i].positions[k], 2 * k + i);
            assert_int_equal(clients[i].values[k], (2 * k + i) % 1000);
        }
    }
    for (int i = 0; i < 2; i++)
        stream_close(&clients[i]);
    end(&s);
}

static void test_cached(void **state) {
    (void)state;
    service s;
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1, .cached = true});
    stream_client clients[2];
    for (int i = 0; i < 2; i++) {
        struct leati_message_read asked = reading(1, 64);
        asked.trainer = (char *)(uintptr_t)(i == 0 ? "a" : "b");
        stream_open(&clients[i], leat_worker_address(s.worker), &asked, true);
        stream_wait(&clients[i], 3000);
        for (int64_t k = 0; k < 3000; k++)
            assert_int_equal(clients[i].values[k], k % 1000);
    }
    for (int i = 0; i < 2; i++)
        stream_close(&clients[i]);
    end(&s);
}

/* ---- refusals ---- */

static void test_unknown_task(void **state) {
    (void)state;
    service s;
    begin(&s, ten);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 2});
    stream_client client;
    struct leati_message_read asked = reading(1, 1);
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait_closed(&client);
    assert_refused(&client.why, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "1");
    stream_close(&client);
    /* The task of another dispatcher's worker, which had this address before. */
    asked = reading(1, 1);
    asked.attempt = 2;
    asked.worker = (char *)(uintptr_t) "0123";
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait_closed(&client);
    assert_refused(&client.why, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "0123");
    stream_close(&client);
    end(&s);
}

static void test_plan_fails(void **state) {
    (void)state;
    service s;
    begin(&s, "{\"op\": \"no_such_operator\"}");
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 1);
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait_closed(&client);
    assert_refused(&client.why, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "no_such_operator");
    fake_wait_done(&s.dispatcher, 1);
    assert_int_equal(s.dispatcher.tasks[1].failed, LEAT_UNIMPLEMENTED);
    assert_non_null(strstr(s.dispatcher.tasks[1].text, "no_such_operator"));
    /* A reader knows the worker, and says it; the dispatcher's clients may not. */
    assert_non_null(strstr(s.dispatcher.tasks[1].text, leat_worker_address(s.worker)));
    stream_close(&client);
    end(&s);
}

static void test_dataset_is_unknown(void **state) {
    (void)state;
    service s;
    begin(&s, ten);
    s.dispatcher.refuses_dataset = true;
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 1);
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait_closed(&client);
    assert_refused(&client.why, LEAT_NOT_FOUND, LEAT_REASON_NONE, NULL);
    stream_close(&client);
    end(&s);
}

/* Values that cannot travel are refused by name, not dropped. */
static void test_datasets_do_not_travel(void **state) {
    (void)state;
    service s;
    begin(&s, "{\"op\": \"window\", \"args\": {\"size\": 2}, \"input\": " RANGE(10) "}");
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 1);
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait_closed(&client);
    assert_refused(&client.why, LEAT_UNIMPLEMENTED, LEAT_REASON_DTYPE, "0");
    stream_close(&client);
    end(&s);
}

static void test_options(void **state) {
    (void)state;
    leat_error err = {0};
    leat_worker_options options = {LEAT_WORKER_DEFAULTS};
    assert_null(leat_worker_new(NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "dispatcher_address");
    options.dispatcher_address = "localhost:65000";
    options.port = 65536;
    assert_null(leat_worker_new(&options, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "65536");
    options.port = 0;
    options.num_threads = -1;
    assert_null(leat_worker_new(&options, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "num_threads");
    options.num_threads = 0;
    options.protocol = "pigeon";
    leat_worker *worker = leat_worker_new(&options, &err);
    assert_non_null(worker);
    assert_null(leat_worker_address(worker));
    assert_int_equal(leat_worker_start(worker, &err), LEAT_NOT_FOUND);
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "pigeon");
    assert_int_equal(leat_worker_start(worker, &err), LEAT_FAILED_PRECONDITION);
    leat_worker_free(worker);
}

/* ---- beginning and ending ---- */

static void test_never_started(void **state) {
    (void)state;
    fake_dispatcher dispatcher;
    leat_error err = {0};
    fake_begin(&dispatcher, ten);
    leat_worker *worker = worker_of(&dispatcher, 0);
    leat_worker_free(worker);
    worker = worker_of(&dispatcher, 0);
    leat_worker_stop(worker);
    leat_worker_stop(worker);
    assert_int_equal(leat_worker_start(worker, &err), LEAT_FAILED_PRECONDITION);
    assert_int_equal(leat_worker_join(worker, &err), LEAT_OK);
    leat_worker_free(worker);
    fake_end(&dispatcher);
    leat_worker_free(NULL);
}

static void test_no_dispatcher(void **state) {
    (void)state;
    leat_error err = {0};
    leat_worker_options options = {LEAT_WORKER_DEFAULTS, .dispatcher_address = "localhost:65000",
                                   .protocol = "local", .dispatcher_timeout_ms = 5};
    leat_worker *worker = leat_worker_new(&options, &err);
    assert_int_equal(leat_worker_start(worker, &err), LEAT_DEADLINE_EXCEEDED);
    assert_refused(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "dispatcher_address");
    leat_worker_free(worker);
}

/* With readers in all states: waiting for credit, waiting for elements, taking them. */
static void test_stop(void **state) {
    (void)state;
    service s;
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    want(&s, (struct leati_message_task){.task = 2, .attempt = 1, .consumers = 2});
    want(&s, (struct leati_message_task){.task = 3, .attempt = 1});
    stream_client clients[3];
    struct leati_message_read credit = reading(1, 2), alone = reading(2, 2),
                              taking = reading(1, 10);
    alone.consumer = 0;
    stream_open(&clients[0], leat_worker_address(s.worker), &credit, false);
    stream_open(&clients[1], leat_worker_address(s.worker), &alone, false);
    stream_open(&clients[2], leat_worker_address(s.worker), &taking, true);
    stream_wait(&clients[0], 2);
    stream_wait(&clients[2], 100);
    leat_worker_stop(s.worker);
    for (int i = 0; i < 3; i++) {
        stream_wait_closed(&clients[i]);
        stream_close(&clients[i]);
    }
    assert_int_equal(leat_worker_num_tasks(s.worker), 0);
    end(&s);
}

/* The dispatcher takes a task away: its readers are told, the others go on. */
static void test_task_taken_away(void **state) {
    (void)state;
    service s;
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    want(&s, (struct leati_message_task){.task = 2, .attempt = 1});
    stream_client gone, on;
    struct leati_message_read asked = reading(1, 10), other = reading(2, 10);
    stream_open(&gone, leat_worker_address(s.worker), &asked, true);
    stream_open(&on, leat_worker_address(s.worker), &other, true);
    stream_wait(&gone, 100);
    fake_unwant(&s.dispatcher, 1);
    stream_wait(&gone, INT64_MAX);
    assert_true(gone.gone);
    assert_int_equal(gone.why.code, LEAT_UNAVAILABLE);
    wait_tasks(&s, 1);
    stream_wait(&on, stream_count(&on) + 100);
    assert_false(on.gone);
    stream_close(&gone);
    stream_close(&on);
    end(&s);
}

/* Tasks go on without the dispatcher, and a worker finds one that comes back. */
static void test_dispatcher_away(void **state) {
    (void)state;
    service s;
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 10);
    stream_open(&client, leat_worker_address(s.worker), &asked, true);
    stream_wait(&client, 100);
    int port = s.dispatcher.port;
    fake_away(&s.dispatcher);
    stream_wait(&client, stream_count(&client) + 5000);
    fake_serve(&s.dispatcher, port);
    want(&s, (struct leati_message_task){.task = 2, .attempt = 1});
    stream_wait(&client, stream_count(&client) + 5000);
    assert_int_equal(leat_worker_num_tasks(s.worker), 2);
    stream_close(&client);
    end(&s);
}

/* ---- draining ---- */

typedef struct drained {
    leat_worker *worker;
    leat_status status;
    leat_error err;
} drained;

static void drain_main(void *context) {
    drained *d = context;
    d->status = leat_worker_drain(d->worker, 60000, &d->err);
}

static void test_drain(void **state) {
    (void)state;
    service s;
    leat_error err = {0};
    begin(&s, ten);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    stream_client client;
    struct leati_message_read asked = reading(1, 4);
    stream_open(&client, leat_worker_address(s.worker), &asked, false);
    stream_wait(&client, 4);
    drained d = {.worker = s.worker};
    leati_driver *driver = leati_driver_start("drain", drain_main, &d, &err);
    leati_queue_gate_lock(s.dispatcher.gate);
    while (!s.dispatcher.draining)
        (void)!leati_queue_gate_wait(s.dispatcher.gate, LEATI_WAIT_PEER, LEATI_NO_DEADLINE, NULL,
                                     &(leat_error){0});
    leati_queue_gate_unlock(s.dispatcher.gate);
    /* It still gives what there is. */
    stream_credit(&client, (leati_frame_credit){.elements = 100});
    stream_wait(&client, INT64_MAX);
    assert_true(client.ended);
    assert_int_equal(client.count, 10);
    stream_close(&client);
    leati_driver_join(driver);
    if (d.status != LEAT_OK)
        fail_msg("%s", d.err.text);
    end(&s);
}

static void test_drain_is_late(void **state) {
    (void)state;
    service s;
    leat_error err = {0};
    begin(&s, endless);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    assert_int_equal(leat_worker_drain(s.worker, 5, &err), LEAT_DEADLINE_EXCEEDED);
    assert_refused(&err, LEAT_DEADLINE_EXCEEDED, LEAT_REASON_NONE, "5");
    assert_int_equal(leat_worker_num_tasks(s.worker), 0);
    end(&s);
}

/* ---- in the process, and what it says of itself ---- */

static void test_direct(void **state) {
    (void)state;
    service s;
    leat_error err = {0};
    begin(&s, many);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    struct leati_message_read asked = reading(1, 0);
    assert_null(leati_worker_reader_open("elsewhere:1", &asked, NULL, &err));
    assert_refused(&err, LEAT_UNAVAILABLE, LEAT_REASON_NONE, "elsewhere:1");
    leati_worker_reader *reader =
        leati_worker_reader_open(leat_worker_address(s.worker), &asked, NULL, &err);
    assert_non_null(reader);
    leati_worker_outcome out = {0};
    int64_t count = 0;
    for (;;) {
        assert_int_equal(leati_worker_reader_next(reader, 4096, 1 << 20, &out, &err), LEAT_OK);
        if (out.kind == LEATI_FRAME_END)
            break;
        assert_int_equal(out.position, count);
        count += out.block.n;
    }
    assert_int_equal(count, 50000);
    leat_spec *spec = leati_worker_reader_spec(reader);
    assert_int_equal(leat_spec_dtype(spec), LEAT_INT64);
    leat_spec_unref(spec);
    leati_worker_outcome_fini(&out);
    leati_worker_reader_close(reader);
    end(&s);
}

/* What the worker says of itself. Owned. */
static json_t *status_of(const service *s) {
    leat_error err = {0};
    leat_buffer *answer = NULL;
    const leati_transport *transport = leati_transport_find("local", &err);
    leati_transport_channel *channel =
        transport->connect(leat_worker_address(s->worker), &(leati_transport_security){0}, &err);
    assert_int_equal(
        transport->call(channel, "status", "", 0, LEATI_NO_DEADLINE, NULL, &answer, &err), LEAT_OK);
    json_t *json = leati_json_parse(leat_buffer_data(answer), leat_buffer_size(answer), &err);
    assert_non_null(json);
    leat_buffer_unref(answer);
    transport->disconnect(channel);
    return json;
}

/* Memory for less than an element of one task, and yet all go on, those of a round too. */
static void test_little_memory(void **state) {
    (void)state;
    service s;
    stream_client clients[4];
    begin_in(&s, endless, 1);
    want(&s, (struct leati_message_task){.task = 1, .attempt = 1});
    want(&s, (struct leati_message_task){.task = 2, .attempt = 1, .consumers = 2});
    want(&s, (struct leati_message_task){.task = 3, .attempt = 1});
    static const int64_t tasks[] = {1, 2, 2, 3}, consumers[] = {-1, 0, 1, -1};
    for (int i = 0; i < 4; i++) {
        struct leati_message_read asked = reading(tasks[i], 4);
        asked.consumer = consumers[i];
        asked.window = 4;
        stream_open(&clients[i], leat_worker_address(s.worker), &asked, true);
    }
    for (int i = 0; i < 4; i++)
        stream_wait(&clients[i], 300);
    json_t *json = status_of(&s);
    assert_int_equal(json_integer_value(json_object_get(json, "memory_budget_bytes")), 1);
    assert_true(json_is_integer(json_object_get(json, "memory_used_bytes")));
    json_decref(json);
    for (int i = 0; i < 4; i++)
        stream_close(&clients[i]);
    end(&s);
}

static void test_status(void **state) {
    (void)state;
    service s;
    leat_error err = {0};
    begin(&s, ten);
    want(&s, (struct leati_message_task){.task = 4, .attempt = 1});
    const leati_transport *transport = leati_transport_find("local", &err);
    leati_transport_channel *channel =
        transport->connect(leat_worker_address(s.worker), &(leati_transport_security){0}, &err);
    leat_buffer *answer = NULL;
    json_t *json = status_of(&s);
    json_t *task = json_array_get(json_object_get(json, "tasks"), 0);
    assert_int_equal(json_integer_value(json_object_get(task, "task")), 4);
    assert_string_equal(json_string_value(json_object_get(task, "kind")), "shared");
    assert_string_equal(json_string_value(json_object_get(json, "address")),
                        leat_worker_address(s.worker));
    assert_true(json_integer_value(json_object_get(json, "memory_budget_bytes")) >= 1 << 20);
    json_decref(json);
    assert_int_equal(
        transport->call(channel, "dance", "", 0, LEATI_NO_DEADLINE, NULL, &answer, &err),
        LEAT_UNIMPLEMENTED);
    transport->disconnect(channel);
    end(&s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_off),
        TEST(test_credit),
        TEST(test_compression),
        TEST(test_reader_gone),
        TEST(test_coordinated),
        TEST(test_cached),
        TEST(test_unknown_task),
        TEST(test_plan_fails),
        TEST(test_dataset_is_unknown),
        TEST(test_datasets_do_not_travel),
        TEST(test_options),
        TEST(test_never_started),
        TEST(test_no_dispatcher),
        TEST(test_stop),
        TEST(test_task_taken_away),
        TEST(test_dispatcher_away),
        TEST(test_drain),
        TEST(test_drain_is_late),
        TEST(test_direct),
        TEST(test_little_memory),
        TEST(test_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
