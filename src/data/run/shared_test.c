/* What datasets and states share: tables of keys, copies of a choice, registered generators, and
 * the list of operators. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "support/json.h"

#include "data/plan/choice.h"
#include "data/plan/generator.h"
#include "data/plan/listing.h"
#include "data/values/key_table.h"
#include "support/dataset.h"
#include "support/refused.h"
#include <leat/bind.h>

/* ---- keys ---- */

/* Number i has the key (i * 37 mod 101) - 50: `count` of at most 101. */
static int64_t key_of(int64_t i) {
    return i * 37 % 101 - 50;
}

static leat_status use_keys(void *context, leat_error *err) {
    int64_t count = *(const int64_t *)context;
    leati_key_table table = {0}, again = {0};
    leati_writer out = {0};
    uint32_t *sorted = NULL;
    leat_status status = LEAT_OK;
    assert_int_equal(leati_key_table_find(&table, 5), -1);
    for (int64_t i = 0; i < count && status == LEAT_OK; i++) {
        assert_int_equal(leati_key_table_find(&table, key_of(i)), -1);
        status = leati_key_table_add(&table, key_of(i), err);
        if (status == LEAT_OK)
            assert_int_equal(leati_key_table_find(&table, key_of(i)), i);
    }
    if (status == LEAT_OK) {
        assert_true(table.room >= 2 * table.count);
        assert_int_equal(leati_key_table_bytes(&table),
                         table.capacity * sizeof(int64_t) + table.room * sizeof(uint32_t));
        sorted = leati_key_table_sorted(&table, err);
        status = sorted == NULL ? torture_code(err) : LEAT_OK;
    }
    for (int64_t i = 1; i < count && status == LEAT_OK; i++)
        assert_true(key_of(sorted[i - 1]) < key_of(sorted[i]));
    if (status == LEAT_OK) {
        leati_key_table_save(&table, &out);
        status = out.failed ? leati_no_memory(err) : LEAT_OK;
    }
    leati_reader in = {.data = out.data, .size = out.size};
    if (status == LEAT_OK)
        status = leati_key_table_restore(&again, &in, err);
    for (int64_t i = 0; i < count && status == LEAT_OK; i++)
        assert_int_equal(leati_key_table_find(&again, key_of(i)), i);
    if (status == LEAT_OK) {
        leati_key_table_clear(&table);
        assert_int_equal(leati_key_table_find(&table, key_of(0)), -1);
    }
    leati_free(sorted);
    leati_key_table_fini(&table);
    leati_key_table_fini(&again);
    leati_writer_fini(&out);
    return status;
}

static void test_keys(void **state) {
    (void)state;
    leat_error err = {0};
    torture_run(use_keys, &(int64_t){40});
    assert_int_equal(use_keys(&(int64_t){101}, &err), LEAT_OK);
    leati_key_table table = {0};
    leati_writer out = {0};
    leati_put_uint(&out, 2);
    leati_put_int(&out, -3);
    leati_put_int(&out, -3);
    leati_reader in = {.data = out.data, .size = out.size};
    assert_int_equal(leati_key_table_restore(&table, &in, &err), LEAT_DATA_LOSS);
    assert_refused(&err, LEAT_DATA_LOSS, LEAT_REASON_NONE, "-3");
    table.count = UINT32_MAX - 1;
    assert_int_equal(leati_key_table_reserve(&table, &err), LEAT_RESOURCE_EXHAUSTED);
    assert_refused(&err, LEAT_RESOURCE_EXHAUSTED, LEAT_REASON_NONE, "4294967294");
    table.count = 0;
    leati_key_table_fini(&table);
    leati_writer_fini(&out);
}

/* ---- choices ---- */

/* A choice whose order is drawn: each further use has a generator of its own. */
static leat_status use_choices(void *context, leat_error *err) {
    leat_dataset *inputs[2] = {leat_dataset_range(0, 5, 1, NULL, err),
                               leat_dataset_range(5, 9, 1, NULL, err)};
    leat_dataset *choice =
        leat_dataset_shuffle(leat_dataset_range(0, 2, 1, NULL, err), 2,
                             &(leat_dataset_shuffle_options){LEAT_DATASET_SHUFFLE_DEFAULTS,
                                                             .seed = {.given = true, .value = 3}},
                             err);
    leat_dataset *choose = leat_dataset_choose_from_datasets(inputs, 2, choice, NULL, err);
    leat_dataset *uses[3] = {0};
    leat_status status = choose == NULL ? torture_code(err) : LEAT_OK;
    (void)context;
    for (int64_t i = 2; i >= 0 && status == LEAT_OK; i--) {
        uses[i] = leati_choice_of_use(choose, i, err);
        status = uses[i] == NULL ? torture_code(err) : LEAT_OK;
    }
    if (status == LEAT_OK) {
        leat_dataset *again = leati_choice_of_use(choose, 2, err);
        assert_ptr_equal(again, uses[2]);
        leat_dataset_unref(again);
        assert_ptr_equal(uses[0], choose->inputs[2]);
        assert_true(uses[0] != uses[1] && uses[1] != uses[2]);
        for (int i = 0; i < 3; i++) {
            assert_true(leat_dataset_fingerprint(uses[i]) == leat_dataset_fingerprint(uses[0]));
            assert_int_equal(leat_dataset_cardinality(uses[i]), 2);
        }
    }
    for (int i = 0; i < 3; i++)
        leat_dataset_unref(uses[i]);
    leat_dataset_unref(choose);
    return status;
}

static void test_choices(void **state) {
    (void)state;
    leat_error err = {0};
    torture_run(use_choices, NULL);
    leat_dataset *range = leat_dataset_range(0, 5, 1, NULL, &err);
    assert_null(leati_dataset_shared(range, &err));
    assert_refused(&err, LEAT_INTERNAL, LEAT_REASON_NONE, "range");
    leat_dataset_unref(range);
}

/* ---- generators ---- */

static leat_status next_none(void *context, void *run, leat_element *out, leat_error *err) {
    (void)context;
    (void)run;
    (void)out;
    return leati_fail(err, LEAT_OUT_OF_RANGE, "no more");
}

static leat_status use_generators(void *context, leat_error *err) {
    static const leat_generator functions = {.next = next_none};
    (void)context;
    leat_status status = leat_generator_register("numbers", &functions, NULL, 0, err);
    leati_generator *found = status == LEAT_OK ? leati_generator_named("numbers", err) : NULL;
    if (found != NULL) {
        assert_true(leati_generator_is_registered(found));
        assert_int_equal(leat_generator_register("numbers", NULL, NULL, 0, err), LEAT_OK);
        assert_false(leati_generator_is_registered(found));
        leati_object_unref(found);
    }
    return status;
}

static void test_generators(void **state) {
    (void)state;
    leat_error err = {0};
    const leat_generator nothing = {0};
    torture_run(use_generators, NULL);
    assert_null(leati_generator_named("numbers", &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"numbers\"");
    assert_null(leati_generator_named(NULL, &err));
    assert_refused(&err, LEAT_NOT_FOUND, LEAT_REASON_NONE, "\"(unnamed)\"");
    assert_int_equal(leat_generator_register("", &nothing, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "generator");
    assert_int_equal(leat_generator_register(NULL, &nothing, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leat_generator_register("x", &nothing, NULL, 0, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "\"x\"");
}

/* ---- the list ---- */

static leat_status use_list(void *context, leat_error *err) {
    (void)context;
    char *text = leat_dataset_operators_json(err);
    leati_free(text);
    return text == NULL ? torture_code(err) : LEAT_OK;
}

/* Some of the thousands of allocations fail; each operator is there with its rows. */
static void test_list(void **state) {
    (void)state;
    leat_error err = {0};
    size_t count = 0;
    const leati_dataset_op *const *ops = leati_plan_ops(&count);
    char *text = leat_dataset_operators_json(&err);
    json_t *list = leati_json_parse(text, strlen(text), &err);
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *op = json_array_get(list, i);
        size_t shown = 0;
        for (const leati_row *row = ops[i]->rows; row != NULL && row->type != LEATI_ROW_END; row++)
            shown += (row->flags & LEATI_CONSTRUCT) == 0;
        assert_string_equal(json_string_value(json_object_get(op, "name")), ops[i]->name);
        assert_string_equal(json_string_value(json_object_get(op, "doc")), ops[i]->doc);
        assert_int_equal(json_integer_value(json_object_get(op, "num_inputs")), ops[i]->num_inputs);
        assert_int_equal(json_array_size(json_object_get(op, "arguments")), shown);
    }
    json_decref(list);
    leati_free(text);
    torture_json(true);
    bool failed = true;
    for (long n = 1; failed; n = n < 60 ? n + 1 : n + n / 8)
        failed = torture_round(use_list, NULL, n, false);
    torture_json(false);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_keys), TEST(test_choices), TEST(test_generators),
                                       TEST(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
