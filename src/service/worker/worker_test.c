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

static leat_worker *worker_of(const fake_dispatcher *dispatcher) {
    leat_error err = {0};
    char address[32];
    (void)snprintf(address, sizeof address, "localhost:%d", dispatcher->port);
    leat_worker_options options = {LEAT_WORKER_DEFAULTS, .dispatcher_address = address,
                                   .protocol = "local", .dispatcher_timeout_ms = 20000};
    leat_worker *worker = leat_worker_new(&options, &err);
    if (worker == NULL)
        fail_msg("%s", err.text);
    return worker;
}

static void begin(service *s, const char *plan) {
    leat_error err = {0};
    fake_begin(&s->dispatcher, plan);
    s->worker = worker_of(&s->dispatcher);
    if (leat_worker_start(s->worker, &err) != LEAT_OK)
        fail_msg("%s", err.text);
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
    fake_want(&s->dispatcher, (int)task.task, task);
    wait_tasks(s, leat_worker_num_tasks(s->worker) + 1);
}

static struct leati_message_read reading(int64_t task, int64_t credit) {
    return (struct leati_message_read){.task = task,
                                       .attempt = 1,
                                       .consumer = -1,
                                       .credit_elements = credit,
                                       .credit_bytes = 1 << 20};
}

#define RANGE(stop) "{\"op\": \"range\", \"args\": {\"stop\": " #stop "}}"
static const char *const many = RANGE(50000);

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

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, torture_setup, torture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
