/* leat_dataset_apply: what it hands on, and what it refuses. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/dataset.h"
#include "support/refused.h"

static leat_dataset *take_some(void *context, leat_dataset *input, leat_error *err) {
    return leat_dataset_take(input, *(const int64_t *)context, err);
}

static leat_dataset *nothing(void *context, leat_dataset *input, leat_error *err) {
    (void)context;
    (void)err;
    leat_dataset_unref(input);
    return NULL;
}

static leat_dataset *fails(void *context, leat_dataset *input, leat_error *err) {
    (void)context;
    return leat_dataset_shard(input, 0, 0, err);
}

static leat_dataset *applied(void *context, leat_error *err) {
    return leat_dataset_apply(leat_dataset_range(0, 9, 1, NULL, err), take_some, context, err);
}

static void test_apply(void **state) {
    (void)state;
    int64_t count = 3;
    dataset_check(applied, &count, "0 1 2");
}

static void refused(leat_dataset *dataset, const leat_error *err, leat_reason reason,
                    const char *keyword) {
    assert_null(dataset);
    assert_refused(err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void test_refuses(void **state) {
    (void)state;
    leat_error err = {0};
    refused(leat_dataset_apply(leat_dataset_range(0, 9, 1, NULL, &err), nothing, NULL, &err), &err,
            LEAT_REASON_CALLBACK, "transformation");
    err = (leat_error){0};
    refused(leat_dataset_apply(leat_dataset_range(0, 9, 1, NULL, &err), fails, NULL, &err), &err,
            LEAT_REASON_VALUE, "num_shards");
    err = (leat_error){0};
    refused(leat_dataset_apply(leat_dataset_range(0, 9, 1, NULL, &err), NULL, NULL, &err), &err,
            LEAT_REASON_VALUE, "transformation");
    err = (leat_error){0};
    refused(leat_dataset_apply(NULL, nothing, NULL, &err), &err, LEAT_REASON_VALUE, "input");
    /* The first error of a chain is kept. */
    err = (leat_error){0};
    refused(leat_dataset_apply(leat_dataset_range(0, 9, 0, NULL, &err), nothing, NULL, &err), &err,
            LEAT_REASON_VALUE, "step");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply),
        cmocka_unit_test_setup_teardown(test_refuses, torture_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
