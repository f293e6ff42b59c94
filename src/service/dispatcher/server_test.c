/* A dispatcher behind a transport: it starts once, answers, and stops in any order. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "service/wire/control.h"
#include "support/scratch.h"
#include <string.h>

static leat_dispatcher *started(const char *folder) {
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    options.work_dir = folder;
    options.fault_tolerant_mode = folder != NULL;
    leat_dispatcher *dispatcher = leat_dispatcher_new(&options, &err);
    assert_non_null(dispatcher);
    if (leat_dispatcher_start(dispatcher, &err) != LEAT_OK)
        fail_msg("%s", err.text);
    return dispatcher;
}

static void test_it_answers(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dispatcher *dispatcher = started(NULL);
    leati_control control;
    struct leati_message_version version;
    assert_int_equal(
        leati_control_open(leat_dispatcher_target(dispatcher), NULL, NULL, &control, &err),
        LEAT_OK);
    struct leati_message_dataset_id said = {.dataset_id = "x"};
    assert_int_equal(leati_control_call(&control, "version", &leati_message_dataset_id, &said,
                                        &leati_message_version, &version,
                                        leati_clock_deadline_ns(5000), &err),
                     LEAT_OK);
    assert_int_equal(version.protocol, LEATI_SERVICE_PROTOCOL);
    assert_int_equal(version.incarnation, 1);
    assert_int_equal(strlen(version.service), 32);
    leati_messages_fini(&leati_message_version, &version);
    struct leati_message_dataset dataset;
    assert_int_equal(leati_control_call(&control, "get_dataset", &leati_message_dataset_id, &said,
                                        &leati_message_dataset, &dataset,
                                        leati_clock_deadline_ns(5000), &err),
                     LEAT_NOT_FOUND);
    leati_control_close(&control);
    leat_dispatcher_free(dispatcher);
}

static void test_orders_of_stopping(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    leat_dispatcher *never = leat_dispatcher_new(&options, &err);
    assert_non_null(never);
    leat_dispatcher_stop(never);
    assert_int_equal(leat_dispatcher_start(never, &err), LEAT_FAILED_PRECONDITION);
    leat_dispatcher_free(never);
    leat_dispatcher *dispatcher = started(NULL);
    assert_int_equal(leat_dispatcher_start(dispatcher, &err), LEAT_OK);
    leat_dispatcher_stop(dispatcher);
    leat_dispatcher_stop(dispatcher);
    assert_int_equal(leat_dispatcher_join(dispatcher, &err), LEAT_OK);
    assert_int_equal(leat_dispatcher_start(dispatcher, &err), LEAT_FAILED_PRECONDITION);
    leat_dispatcher_free(dispatcher);
    leat_dispatcher_free(NULL);
}

static void test_a_call_that_waits_ends_with_it(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dispatcher *dispatcher = started(NULL);
    leati_control control;
    assert_int_equal(
        leati_control_open(leat_dispatcher_target(dispatcher), NULL, NULL, &control, &err),
        LEAT_OK);
    struct leati_message_worker said = {.uid = "w", .address = "host:1", .wait_ms = 100};
    struct leati_message_worker_answer answer;
    assert_int_equal(leati_control_call(&control, "worker", &leati_message_worker, &said,
                                        &leati_message_worker_answer, &answer,
                                        leati_clock_deadline_ns(5000), &err),
                     LEAT_OK);
    leati_messages_fini(&leati_message_worker_answer, &answer);
    leat_dispatcher_stop(dispatcher);
    assert_int_equal(leati_control_call(&control, "worker", &leati_message_worker, &said,
                                        &leati_message_worker_answer, &answer,
                                        leati_clock_deadline_ns(5000), &err),
                     LEAT_UNAVAILABLE);
    leati_control_close(&control);
    leat_dispatcher_free(dispatcher);
}

static void test_what_is_refused(void **state) {
    (void)state;
    leat_error err = {0};
    leat_dispatcher_options options = {LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    options.fault_tolerant_mode = true;
    assert_null(leat_dispatcher_new(&options, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    options.fault_tolerant_mode = false;
    options.port = -1;
    assert_null(leat_dispatcher_new(&options, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    options.port = 0;
    options.protocol = "colour";
    leat_dispatcher *dispatcher = leat_dispatcher_new(&options, &err);
    assert_non_null(dispatcher);
    assert_int_equal(leat_dispatcher_start(dispatcher, &err), LEAT_NOT_FOUND);
    leat_dispatcher_free(dispatcher);
    /* Two on one folder: the second is refused, and may begin when the first has ended. */
    const char *folder = scratch_path("both");
    leat_dispatcher *first = started(folder);
    options = (leat_dispatcher_options){LEAT_DISPATCHER_DEFAULTS, .protocol = "local"};
    options.work_dir = folder;
    options.fault_tolerant_mode = true;
    leat_dispatcher *second = leat_dispatcher_new(&options, &err);
    assert_int_equal(leat_dispatcher_start(second, &err), LEAT_FAILED_PRECONDITION);
    leat_dispatcher_free(second);
    leat_dispatcher_free(first);
    leat_dispatcher_free(started(folder));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_answers),
        cmocka_unit_test(test_orders_of_stopping),
        cmocka_unit_test(test_a_call_that_waits_ends_with_it),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
