/* Datasets through a dispatcher and workers of this process. */
#include "support/cmocka.h"

#include <leat/data_ops.h>
#include <leat/service.h>
#include <string.h>

enum { MOST_WORKERS = 4 };

typedef struct service {
    leat_dispatcher *dispatcher;
    leat_worker *workers[MOST_WORKERS];
    int num_workers;
    const char *target;
} service;

static void check(bool good, const leat_error *err) {
    if (!good)
        fail_msg("%s", err->text);
}

static void start_with(service *s, int workers, const char *token) {
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    options.security.token = token;
    *s = (service){.num_workers = workers};
    s->dispatcher = leat_dispatcher_new(&options, &err);
    check(s->dispatcher != NULL, &err);
    check(leat_dispatcher_start(s->dispatcher, &err) == LEAT_OK, &err);
    s->target = leat_dispatcher_target(s->dispatcher);
    for (int i = 0; i < workers; i++) {
        leat_worker_options worker = {LEAT_WORKER_DEFAULTS, .protocol = "local",
                                      .dispatcher_address = s->target};
        worker.security.token = token;
        s->workers[i] = leat_worker_new(&worker, &err);
        check(s->workers[i] != NULL, &err);
        check(leat_worker_start(s->workers[i], &err) == LEAT_OK, &err);
    }
}

static void start(service *s, int workers) {
    start_with(s, workers, NULL);
}

static void stop(service *s) {
    for (int i = 0; i < s->num_workers; i++)
        leat_worker_free(s->workers[i]);
    leat_dispatcher_free(s->dispatcher);
}

static leat_dataset *distributed(const service *s, leat_dataset *input) {
    leat_error err = {0};
    leat_service_options options = {LEAT_SERVICE_DEFAULTS};
    leat_dataset *dataset = leat_service_distribute(input, s->target, &options, &err);
    check(dataset != NULL, &err);
    return dataset;
}

static leat_dataset *range(int64_t stop_at) {
    return leat_dataset_range(0, stop_at, 1, NULL, NULL);
}

/* How often each value below `room` came. */
static int64_t count(leat_dataset *dataset, int *counts, int64_t room, bool ascending) {
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    check(iterator != NULL, &err);
    leat_element element = {0};
    int64_t n = 0;
    leat_status status;
    memset(counts, 0, (size_t)room * sizeof *counts);
    while ((status = leat_iterator_next(iterator, &element, &err)) == LEAT_OK) {
        int64_t value = *(const int64_t *)element.tensors[0].data;
        assert_in_range(value, 0, room - 1);
        if (ascending)
            assert_int_equal(value, n % room);
        counts[value]++;
        n++;
    }
    if (status != LEAT_OUT_OF_RANGE)
        fail_msg("%s", err.text);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    return n;
}

static void test_one_worker_gives_the_dataset_in_order(void **state) {
    (void)state;
    service s;
    int counts[1000];
    start(&s, 1);
    leat_dataset *dataset = distributed(&s, range(1000));
    assert_int_equal(leat_dataset_cardinality(dataset), LEAT_UNKNOWN_CARDINALITY);
    assert_int_equal(count(dataset, counts, 1000, true), 1000);
    /* Each iterator is another repetition. */
    assert_int_equal(count(dataset, counts, 1000, true), 1000);
    leat_dataset_unref(dataset);
    stop(&s);
}

static void test_each_of_several_workers_gives_the_whole_dataset(void **state) {
    (void)state;
    service s;
    int counts[100];
    start(&s, 3);
    leat_dataset *dataset = distributed(&s, range(100));
    assert_int_equal(count(dataset, counts, 100, false), 300);
    for (int i = 0; i < 100; i++)
        assert_int_equal(counts[i], 3);
    leat_dataset_unref(dataset);
    stop(&s);
}

static void test_repeat_asks_for_the_next_repetition(void **state) {
    (void)state;
    service s;
    int counts[10];
    leat_error err = {0};
    start(&s, 1);
    leat_dataset *dataset = leat_dataset_repeat(distributed(&s, range(10)), 5, &err);
    check(dataset != NULL, &err);
    assert_int_equal(count(dataset, counts, 10, true), 50);
    leat_dataset_unref(dataset);
    stop(&s);
}

/* The token that the program gives reaches all that reads, and stands in no plan. */
static void test_a_token_that_is_given_in_code(void **state) {
    (void)state;
    static const char token[] = "a token of twenty-four ch";
    service s;
    int counts[10];
    leat_error err = {0};
    leat_service_options options = {LEAT_SERVICE_DEFAULTS};
    start_with(&s, 1, token);
    assert_null(leat_service_distribute(range(10), s.target, &options, &err));
    assert_int_equal(err.code, LEAT_UNAUTHENTICATED);
    options.security.token = token;
    leat_dataset *dataset = leat_service_distribute(range(10), s.target, &options, &err);
    check(dataset != NULL, &err);
    dataset = leat_dataset_take(dataset, 7, &err);
    check(dataset != NULL, &err);
    char *json = leat_dataset_to_json(dataset, &err);
    check(json != NULL, &err);
    assert_null(strstr(json, token));
    assert_null(strstr(json, "credentials"));
    assert_int_equal(count(dataset, counts, 10, true), 7);
    leat_dataset *again = leat_dataset_from_json(json, &err);
    check(again != NULL, &err);
    leat_text_free(json);
    assert_null(leat_iterator_new(again, NULL, &err));
    assert_int_equal(err.code, LEAT_UNAUTHENTICATED);
    leat_dataset_unref(again);
    leat_dataset_unref(dataset);
    stop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker_gives_the_dataset_in_order),
        cmocka_unit_test(test_each_of_several_workers_gives_the_whole_dataset),
        cmocka_unit_test(test_repeat_asks_for_the_next_repetition),
        cmocka_unit_test(test_a_token_that_is_given_in_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
