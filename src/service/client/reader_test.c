/* Readers against a dispatcher and workers that do what the test says. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "service/client/reader.h"
#include "support/fake_service.h"
#include "support/refused.h"

static leati_client_reader_options options_of(const fake_service *service, const leat_spec *spec) {
    return (leati_client_reader_options){.service = service->target,
                                         .dataset_id = "1000",
                                         .job_name = "job",
                                         .consumer = -1,
                                         .spec = spec,
                                         .name = "data_service"};
}

static leat_spec *numbers(void) {
    return leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, NULL);
}

/* From now on its first worker is listed and nothing more comes. */
static void finish(fake_service *service) {
    pthread_mutex_lock(&service->lock);
    service->workers[0].listed = service->finished = true;
    pthread_mutex_unlock(&service->lock);
    fake_change(service);
}

static leati_client_reader *open_reader(const leati_client_reader_options *options) {
    leat_error err = {0};
    leati_client_reader *reader = leati_client_reader_open(options, NULL, &err);
    if (reader == NULL)
        fail_msg("%s", err.text);
    return reader;
}

/* Takes until the end, at most `want` at a time; the number of elements. Errors count in
 * *num_errors. */
static int64_t read_all(leati_client_reader *reader, int64_t want, int64_t *values, int64_t room,
                        int *num_errors) {
    leati_block block = {0};
    leat_error err = {0};
    int64_t n = 0, waited = 0;
    *num_errors = 0;
    for (;;) {
        leati_client_reader_outcome outcome =
            leati_client_reader_take(reader, want, LEATI_NO_DEADLINE, &block, &waited, &err);
        if (outcome == LEATI_CLIENT_END)
            break;
        *num_errors += outcome == LEATI_CLIENT_FAILED;
        if (outcome == LEATI_CLIENT_FAILED)
            print_message("%s\n", err.text);
        for (int64_t i = 0; outcome == LEATI_CLIENT_ROWS && i < block.n; i++) {
            assert_true(n < room);
            values[n++] = *(int64_t *)leati_column_row(&block.columns[0], i);
        }
    }
    leati_block_fini(&block);
    return n;
}

static void test_one_worker_gives_its_elements_in_order(void **state) {
    (void)state;
    fake_service service;
    int64_t values[200];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 1, 100);
    service.finished = true;
    leati_client_reader_options options = options_of(&service, spec);
    options.repetition = 7;
    leati_client_reader *reader = open_reader(&options);
    assert_int_equal(read_all(reader, 3, values, 200, &num_errors), 100);
    assert_int_equal(num_errors, 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(values[i], i);
    leati_client_reader_close(reader);
    assert_int_equal(service.releases, 1);
    assert_int_equal(service.opened.repetition, 7);
    assert_string_equal(service.opened.job_name, "job");
    assert_int_equal(service.workers[0].asked.client, 3);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_several_workers_give_all_of_theirs(void **state) {
    (void)state;
    fake_service service;
    static int64_t values[4000];
    int64_t last[4] = {-1, -1, -1, -1};
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 4, 900);
    service.finished = true;
    leati_client_reader_options options = options_of(&service, spec);
    leati_client_reader *reader = open_reader(&options);
    assert_int_equal(read_all(reader, 64, values, 4000, &num_errors), 3600);
    /* Within a task the order is the worker's. */
    for (int i = 0; i < 3600; i++) {
        int64_t worker = values[i] / 1000;
        assert_int_equal(values[i] % 1000, last[worker] + 1);
        last[worker]++;
    }
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_an_element_that_failed_stands_in_its_place(void **state) {
    (void)state;
    fake_service service;
    int64_t values[20];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 1, 10);
    service.finished = true;
    service.workers[0].fails_at = 4;
    leati_client_reader_options options = options_of(&service, spec);
    leati_client_reader *reader = open_reader(&options);
    assert_int_equal(read_all(reader, 100, values, 20, &num_errors), 9);
    assert_int_equal(num_errors, 1);
    assert_int_equal(values[3], 3);
    assert_int_equal(values[4], 5);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_a_broken_stream_is_opened_again(void **state) {
    (void)state;
    fake_service service;
    int64_t values[100];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 2, 40);
    service.workers[0].breaks_at = 15;
    leati_client_reader_options options = options_of(&service, spec);
    leati_client_reader *reader = open_reader(&options);
    /* The dispatcher says that nothing more comes when both have come far enough. */
    leati_block block = {0};
    leat_error err = {0};
    int64_t n = 0, waited = 0;
    while (n < 80) {
        assert_int_equal(
            leati_client_reader_take(reader, 8, LEATI_NO_DEADLINE, &block, &waited, &err),
            LEATI_CLIENT_ROWS);
        for (int64_t i = 0; i < block.n; i++)
            values[n++] = *(int64_t *)leati_column_row(&block.columns[0], i);
    }
    leati_block_fini(&block);
    finish(&service);
    assert_int_equal(read_all(reader, 8, values, 100, &num_errors), 0);
    assert_int_equal(service.workers[0].opens, 2);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_the_window_holds_back_what_is_not_taken(void **state) {
    (void)state;
    fake_service service;
    int64_t values[600];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 1, 500);
    service.finished = true;
    service.workers[0].rows = 1;
    leati_client_reader_options options = options_of(&service, spec);
    options.max_outstanding = 3;
    leati_client_reader *reader = open_reader(&options);
    assert_int_equal(read_all(reader, 1, values, 600, &num_errors), 500);
    assert_true(service.workers[0].most_under_way <= 3);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

/* Opening fails with this code, and says `word`. */
static void expect_refused(fake_service *service, leat_status code, const char *word) {
    leat_error err = {0};
    leat_spec *spec = numbers();
    leati_client_reader_options options = options_of(service, spec);
    leati_client_reader *reader = leati_client_reader_open(&options, NULL, &err);
    assert_null(reader);
    assert_refused(&err, code, err.reason, word);
    leat_spec_unref(spec);
    fake_stop(service);
}

static void test_what_the_dispatcher_refuses_is_told(void **state) {
    (void)state;
    fake_service service;
    fake_start(&service, 0, 0);
    service.refuses = LEAT_NOT_FOUND;
    expect_refused(&service, LEAT_NOT_FOUND, "refused");
}

static void test_another_program_on_the_port_is_named(void **state) {
    (void)state;
    fake_service service;
    fake_start(&service, 0, 0);
    service.stranger = true;
    expect_refused(&service, LEAT_FAILED_PRECONDITION, service.address);
}

static void test_another_protocol_is_refused(void **state) {
    (void)state;
    fake_service service;
    fake_start(&service, 0, 0);
    service.protocol = LEATI_SERVICE_PROTOCOL + 1;
    expect_refused(&service, LEAT_FAILED_PRECONDITION, "protocol");
}

static void test_a_client_that_was_forgotten_ends_with_an_error(void **state) {
    (void)state;
    fake_service service;
    int64_t values[20];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 1, 10);
    service.workers[0].listed = false;
    service.forgets = LEAT_NOT_FOUND;
    leati_client_reader_options options = options_of(&service, spec);
    leati_client_reader *reader = open_reader(&options);
    assert_int_equal(read_all(reader, 1, values, 20, &num_errors), 0);
    assert_int_equal(num_errors, 1);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_a_worker_that_gives_nothing_holds_up_nobody(void **state) {
    (void)state;
    fake_service service;
    leati_block block = {0};
    leat_error err = {0};
    int64_t waited = 0, n = 0;
    leat_spec *spec = numbers();
    fake_start(&service, 3, -1);
    service.workers[0].silent = true;
    leati_client_reader_options options = options_of(&service, spec);
    options.max_outstanding = 1;
    leati_client_reader *reader = open_reader(&options);
    for (; n < 50; n += block.n)
        assert_int_equal(
            leati_client_reader_take(reader, 5, LEATI_NO_DEADLINE, &block, &waited, &err),
            LEATI_CLIENT_ROWS);
    leati_block_fini(&block);
    leati_client_reader_close(reader); /* nor does closing wait for it */
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_a_deadline_ends_a_wait_and_nothing_else(void **state) {
    (void)state;
    fake_service service;
    leati_block block = {0};
    leat_error err = {0};
    int64_t waited = 0, values[20];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 1, 10);
    service.workers[0].listed = false;
    leati_client_reader_options options = options_of(&service, spec);
    leati_client_reader *reader = open_reader(&options);
    while (waited == 0) { /* a call that begins late finds its deadline past, and does not wait */
        assert_int_equal(
            leati_client_reader_take(reader, 5, leati_clock_deadline_ns(10), &block, &waited, &err),
            LEATI_CLIENT_FAILED);
        assert_int_equal(err.code, LEAT_DEADLINE_EXCEEDED);
    }
    leati_block_fini(&block);
    finish(&service);
    assert_int_equal(read_all(reader, 5, values, 20, &num_errors), 10);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

/* Reads `n` elements, which must come. */
static void read_some(leati_client_reader *reader, int64_t n, int64_t *values) {
    leati_block block = {0};
    leat_error err = {0};
    int64_t waited = 0, have = 0;
    while (have < n) {
        assert_int_equal(
            leati_client_reader_take(reader, n - have, LEATI_NO_DEADLINE, &block, &waited, &err),
            LEATI_CLIENT_ROWS);
        for (int64_t i = 0; i < block.n; i++)
            values[have++] = *(int64_t *)leati_column_row(&block.columns[0], i);
    }
    leati_block_fini(&block);
}

/* Asks about a task, and waits for what the client says of it, which is borrowed: the service's
 * lock is held behind it. */
static const struct leati_message_holding *asked_about(fake_service *service, int64_t task) {
    pthread_mutex_lock(&service->lock);
    service->report = task;
    pthread_mutex_unlock(&service->lock);
    fake_change(service);
    pthread_mutex_lock(&service->lock);
    while (service->beat.holding.count == 0)
        pthread_cond_wait(&service->changed, &service->lock);
    service->report = 0;
    const struct leati_message_holding *said = service->beat.holding.items;
    assert_int_equal(said->task, task);
    return said;
}

/* A dispatcher that could not write that a task moves, or ended before, names it as it was. */
static void test_a_task_that_stays_is_read_on(void **state) {
    (void)state;
    enum { COUNT = 200 };
    fake_service service;
    int64_t values[COUNT];
    leat_spec *spec = numbers();
    fake_start(&service, 1, COUNT);
    leati_client_reader_options options = options_of(&service, spec);
    options.visitation = LEAT_SERVICE_EXACTLY_ONCE;
    leati_client_reader *reader = open_reader(&options);
    read_some(reader, 3, values);
    const struct leati_message_holding *said = asked_about(&service, service.workers[0].task);
    /* What it reads is nothing now, so that the dispatcher has news for it. */
    assert_int_equal(service.beat.tasks.count, 0);
    /* What it dropped from then on the worker gives again. */
    pthread_mutex_lock(&service.workers[0].lock);
    service.workers[0].again = said->ranges.values[1];
    pthread_mutex_unlock(&service.workers[0].lock);
    pthread_mutex_unlock(&service.lock);
    fake_change(&service);
    read_some(reader, COUNT - 3, values + 3);
    for (int64_t i = 0; i < COUNT; i++)
        assert_int_equal(values[i], i);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_a_task_that_moves_is_reported_first(void **state) {
    (void)state;
    fake_service service;
    int64_t values[40];
    int num_errors;
    leat_spec *spec = numbers();
    fake_start(&service, 2, 20);
    /* The second worker takes the first one's task over. */
    fake_worker *from = &service.workers[0], *to = &service.workers[1];
    from->count = 12;
    from->silent = to->listed = false;
    to->task = from->task;
    to->attempt = 2;
    leati_client_reader_options options = options_of(&service, spec);
    options.visitation = LEAT_SERVICE_EXACTLY_ONCE;
    options.max_outstanding = 4;
    leati_client_reader *reader = open_reader(&options);
    read_some(reader, 5, values);
    /* The dispatcher asks; what the client says is what it has taken and what has come. */
    pthread_mutex_lock(&service.lock);
    from->listed = false;
    pthread_mutex_unlock(&service.lock);
    const struct leati_message_holding *said = asked_about(&service, from->task);
    assert_int_equal(said->ranges.count, 2);
    int64_t held = said->ranges.values[1];
    assert_int_equal(said->ranges.values[0], 0);
    assert_in_range(held, 5, 12);
    to->next = held;
    to->base = 0;
    to->listed = service.finished = true;
    pthread_mutex_unlock(&service.lock);
    fake_change(&service);
    int64_t rest = read_all(reader, 3, values + 5, 35, &num_errors);
    assert_int_equal(num_errors, 0);
    assert_int_equal(5 + rest, 20);
    for (int i = 0; i < 20; i++)
        assert_int_equal(values[i], i);
    assert_int_equal(to->asked.attempt, 2);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_consumers_take_turns_over_workers(void **state) {
    (void)state;
    fake_service service;
    int64_t values[12];
    leat_spec *spec = numbers();
    fake_start(&service, 3, -1);
    service.workers[1].skips_at = 2; /* its third turn is passed over */
    leati_client_reader_options options = options_of(&service, spec);
    options.consumer = 0;
    options.consumers = 1;
    leati_client_reader *reader = open_reader(&options);
    /* The tasks are known when the first element comes. */
    read_some(reader, 12, values);
    const int64_t expected[12] = {0, 1000, 2000, 1, 1001, 2001, 2, 2002, 3, 1002, 2003, 4};
    for (int i = 0; i < 12; i++)
        assert_int_equal(values[i], expected[i]);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

/* The tasks stay as they are where the dispatcher says that nothing is new. */
static void test_nothing_is_new(void **state) {
    (void)state;
    fake_service service;
    int64_t values[1];
    leat_spec *spec = numbers();
    fake_start(&service, 1, -1);
    leati_client_reader_options options = options_of(&service, spec);
    leati_client_reader *reader = open_reader(&options);
    read_some(reader, 1, values);
    for (int i = 0; i < 2; i++) {
        fake_await_kept(&service);
        assert_int_equal(service.beat.tasks.count, 2);
        assert_int_equal(service.beat.tasks.values[0], service.workers[0].task);
        fake_nothing_new(&service);
    }
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

/* What came of a lost worker is taken as far as it came to all consumers, and nothing before that
 * is known. */
static void check_lost_turns(int64_t turns) {
    fake_service service;
    int64_t values[4], waited = 0;
    leati_block block = {0};
    leat_error err = {0};
    leat_spec *spec = numbers();
    fake_start(&service, 2, -1);
    fake_worker *lost = &service.workers[0];
    lost->whole_to = 1;
    leati_client_reader_options options = options_of(&service, spec);
    options.consumer = 0;
    options.consumers = 2;
    options.max_outstanding = 4;
    leati_client_reader *reader = open_reader(&options);
    read_some(reader, 2, values);
    assert_int_equal(lost->asked.window, 2);
    assert_int_equal(values[0], 0);
    assert_int_equal(values[1], 1000);
    pthread_mutex_lock(&lost->lock);
    while (lost->came < 3)
        pthread_cond_wait(&lost->changed, &lost->lock);
    pthread_mutex_unlock(&lost->lock);
    assert_int_equal(
        leati_client_reader_take(reader, 1, leati_clock_deadline_ns(1), &block, &waited, &err),
        LEATI_CLIENT_FAILED);
    assert_int_equal(err.code, LEAT_DEADLINE_EXCEEDED);
    leati_block_fini(&block);
    pthread_mutex_lock(&service.lock);
    lost->lost = true;
    pthread_mutex_unlock(&service.lock);
    assert_int_equal(asked_about(&service, lost->task)->turns, 3);
    assert_int_equal(service.beat.settled.count, 0);
    lost->turns = turns;
    pthread_mutex_unlock(&service.lock);
    fake_change(&service);
    read_some(reader, 4, values);
    for (int64_t i = 0; i < 4; i++) {
        /* The lost worker's turns are every second one. */
        bool of_lost = turns == 2 && i == 0;
        assert_int_equal(values[i], of_lost ? 1 : 1000 + i + (turns == 2 ? 0 : 1));
    }
    pthread_mutex_lock(&service.lock);
    while (service.beat.settled.count == 0)
        pthread_cond_wait(&service.changed, &service.lock);
    assert_int_equal(service.beat.settled.values[0], lost->task);
    pthread_mutex_unlock(&service.lock);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

/* With no other worker, consumers wait where they are for a round at which one begins. */
static void test_the_only_worker_is_lost(void **state) {
    (void)state;
    fake_service service;
    int64_t values[3], waited = 0;
    leati_block block = {0};
    leat_error err = {0};
    leat_spec *spec = numbers();
    fake_start(&service, 2, -1);
    fake_worker *lost = &service.workers[0], *next = &service.workers[1];
    next->listed = false;
    next->start_round = 7;
    leati_client_reader_options options = options_of(&service, spec);
    options.consumer = 0;
    options.consumers = 2;
    leati_client_reader *reader = open_reader(&options);
    read_some(reader, 3, values);
    pthread_mutex_lock(&service.lock);
    lost->lost = true;
    lost->turns = 3;
    pthread_mutex_unlock(&service.lock);
    fake_change(&service);
    pthread_mutex_lock(&service.lock);
    while (service.beat.settled.count == 0)
        pthread_cond_wait(&service.changed, &service.lock);
    pthread_mutex_unlock(&service.lock);
    assert_int_equal(
        leati_client_reader_take(reader, 1, leati_clock_deadline_ns(1), &block, &waited, &err),
        LEATI_CLIENT_FAILED);
    assert_int_equal(err.code, LEAT_DEADLINE_EXCEEDED);
    leati_block_fini(&block);
    pthread_mutex_lock(&service.lock);
    lost->end_round = 7;
    next->listed = true;
    pthread_mutex_unlock(&service.lock);
    fake_change(&service);
    read_some(reader, 3, values);
    for (int64_t i = 0; i < 3; i++)
        assert_int_equal(values[i], 1000 + i);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

/* More came to all than to this process: another one was this consumer before. */
static void test_turns_that_came_to_another_process(void **state) {
    (void)state;
    fake_service service;
    int64_t values[3], waited = 0;
    leati_block block = {0};
    leat_error err = {0};
    leat_spec *spec = numbers();
    fake_start(&service, 1, -1);
    leati_client_reader_options options = options_of(&service, spec);
    options.consumer = 0;
    options.consumers = 2;
    leati_client_reader *reader = open_reader(&options);
    read_some(reader, 3, values);
    pthread_mutex_lock(&service.lock);
    service.workers[0].lost = true;
    service.workers[0].turns = 1 << 20;
    pthread_mutex_unlock(&service.lock);
    fake_change(&service);
    leati_client_reader_outcome outcome;
    do
        outcome = leati_client_reader_take(reader, 1, LEATI_NO_DEADLINE, &block, &waited, &err);
    while (outcome == LEATI_CLIENT_ROWS);
    assert_int_equal(outcome, LEATI_CLIENT_FAILED);
    assert_refused(&err, LEAT_FAILED_PRECONDITION, LEAT_REASON_NONE, "job_name");
    leati_block_fini(&block);
    leati_client_reader_close(reader);
    fake_stop(&service);
    leat_spec_unref(spec);
}

static void test_turns_of_a_lost_worker(void **state) {
    (void)state;
    check_lost_turns(1);
    check_lost_turns(2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker_gives_its_elements_in_order),
        cmocka_unit_test(test_several_workers_give_all_of_theirs),
        cmocka_unit_test(test_an_element_that_failed_stands_in_its_place),
        cmocka_unit_test(test_a_broken_stream_is_opened_again),
        cmocka_unit_test(test_the_window_holds_back_what_is_not_taken),
        cmocka_unit_test(test_what_the_dispatcher_refuses_is_told),
        cmocka_unit_test(test_another_program_on_the_port_is_named),
        cmocka_unit_test(test_another_protocol_is_refused),
        cmocka_unit_test(test_a_client_that_was_forgotten_ends_with_an_error),
        cmocka_unit_test(test_a_worker_that_gives_nothing_holds_up_nobody),
        cmocka_unit_test(test_a_deadline_ends_a_wait_and_nothing_else),
        cmocka_unit_test(test_a_task_that_moves_is_reported_first),
        cmocka_unit_test(test_a_task_that_stays_is_read_on),
        cmocka_unit_test(test_consumers_take_turns_over_workers),
        cmocka_unit_test(test_nothing_is_new),
        cmocka_unit_test(test_turns_of_a_lost_worker),
        cmocka_unit_test(test_turns_that_came_to_another_process),
        cmocka_unit_test(test_the_only_worker_is_lost),
    };
    static const char *const protocols[] = {"local", "shm", "tcp"};
    int failed = 0;
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        fake_transfers = protocols[i];
        failed += cmocka_run_group_tests_name(fake_transfers, tests, NULL, NULL);
    }
    return failed;
}
