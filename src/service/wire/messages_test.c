/* Messages come back as they were, and what comes from elsewhere is checked. */
#include "support/cmocka.h"

#include "base/alloc.h"
#include "service/wire/frame.h"
#include "service/wire/messages.h"
#include <string.h>

static void test_a_message_comes_back(void **state) {
    (void)state;
    leat_error err = {0};
    struct leati_message_worker_answer answer = {0};
    struct leati_message_task *task = leati_messages_add(&answer.start, &leati_message_task, &err);
    assert_non_null(task);
    task->task = 4001;
    task->seed = -7;
    assert_int_equal(leati_messages_set_text(&task->dataset_id, "a \"b\"", &err), LEAT_OK);
    task->held.values = leati_alloc(2, sizeof(int64_t));
    task->held.values[0] = 3;
    task->held.values[1] = INT64_MAX;
    task->held.count = 2;
    assert_non_null(leati_messages_add(&answer.start, &leati_message_task, &err));
    answer.leave = true;
    leati_text text = {0};
    assert_int_equal(leati_messages_write(&leati_message_worker_answer, &answer, &text, &err),
                     LEAT_OK);
    struct leati_message_worker_answer back;
    assert_int_equal(
        leati_messages_read(&leati_message_worker_answer, text.data, text.size, &back, &err),
        LEAT_OK);
    assert_int_equal(back.start.count, 2);
    const struct leati_message_task *read = back.start.items;
    assert_int_equal(read->task, 4001);
    assert_int_equal(read->seed, -7);
    assert_string_equal(read->dataset_id, "a \"b\"");
    assert_int_equal(read->held.count, 2);
    assert_int_equal(read->held.values[1], INT64_MAX);
    assert_null(read[1].dataset_id);
    assert_true(back.leave);
    leati_messages_fini(&leati_message_worker_answer, &answer);
    leati_messages_fini(&leati_message_worker_answer, &back);
    leati_text_fini(&text);
}

static void test_newer_fields_are_passed_over(void **state) {
    (void)state;
    leat_error err = {0};
    const char *text = "{\"task\": 5, \"colour\": [1], \"want\": 9}";
    struct leati_message_splits splits;
    assert_int_equal(leati_messages_read(&leati_message_splits, text, strlen(text), &splits, &err),
                     LEAT_OK);
    assert_int_equal(splits.task, 5);
    assert_int_equal(splits.want, 9);
    leati_messages_fini(&leati_message_splits, &splits);
}

static void test_defaults_stand_where_nothing_was_said(void **state) {
    (void)state;
    leat_error err = {0};
    struct leati_message_open open;
    assert_int_equal(leati_messages_read(&leati_message_open, "{}", 2, &open, &err), LEAT_OK);
    assert_int_equal(open.consumer, -1);
    assert_null(open.job_name);
    leati_messages_fini(&leati_message_open, &open);
}

static void test_what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "[]", "{\"task\": \"x\"}", "{\"task\": -1}", "{\"task\": 1", "{\"task\": 1.5}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        leat_error err = {0};
        struct leati_message_splits splits;
        assert_int_equal(
            leati_messages_read(&leati_message_splits, texts[i], strlen(texts[i]), &splits, &err),
            LEAT_INVALID_ARGUMENT);
        assert_int_equal(splits.task, 0);
    }
    leat_error err = {0};
    struct leati_message_worker worker;
    const char *text = "{\"tasks\": [{\"task\": 1}, 7]}";
    assert_int_equal(leati_messages_read(&leati_message_worker, text, strlen(text), &worker, &err),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(worker.tasks.count, 0);
}

static void test_every_form_is_found_and_has_its_defaults(void **state) {
    (void)state;
    leat_error err = {0};
#define X(name)                                                                                    \
    {                                                                                              \
        struct leati_message_##name message;                                                       \
        assert_ptr_equal(leati_messages_find(#name), &leati_message_##name);                       \
        assert_int_equal(leati_message_##name.size, sizeof message);                               \
        assert_int_equal(leati_messages_read(&leati_message_##name, "{}", 2, &message, &err),      \
                         LEAT_OK);                                                                 \
        leati_messages_fini(&leati_message_##name, &message);                                      \
    }
#include "service/wire/messages.def"
#undef X
    assert_null(leati_messages_find("colour"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_message_comes_back),
        cmocka_unit_test(test_newer_fields_are_passed_over),
        cmocka_unit_test(test_defaults_stand_where_nothing_was_said),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_every_form_is_found_and_has_its_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
