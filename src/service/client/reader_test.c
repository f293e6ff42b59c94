/* Readers against a dispatcher and workers that do what the test says. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "service/client/reader.h"
#include "support/fake_service.h"
#include <stdlib.h>

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

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
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
    service.finished = true;
    fake_change(&service);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker_gives_its_elements_in_order),
        cmocka_unit_test(test_several_workers_give_all_of_theirs),
        cmocka_unit_test(test_an_element_that_failed_stands_in_its_place),
        cmocka_unit_test(test_a_broken_stream_is_opened_again),
        cmocka_unit_test(test_the_window_holds_back_what_is_not_taken),
    };
    (void)compare;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
