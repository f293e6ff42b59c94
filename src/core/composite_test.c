/* Ragged and sparse values: what cutting, stacking and joining refuse. What they give is compared
 * with TensorFlow's answers by the recorded pipelines and by the conformance suite. */
#include "support/cmocka.h"

#include "base/error.h"
#include "core/composite.h"
#include "core/json.h"
#include "core/tensor.h"
#include "support/refused.h"
#include <string.h>

/* An element from JSON text. */
static leat_element element_of(const char *text) {
    leat_error err = {0};
    leat_element element = {0};
    json_t *json = leati_json_parse(text, strlen(text), &err);
    assert_non_null(json);
    assert_int_equal(leati_json_to_element(json, &element, &err), LEAT_OK);
    json_decref(json);
    return element;
}

static void drop(leat_tensor *tensors, int count) {
    for (int i = 0; i < count; i++)
        leat_tensor_unref(&tensors[i]);
}

/* A ragged value of three rows whose row splits are `splits`, whatever they say. */
static leat_status rows_of_splits(const int64_t *splits, int count, int64_t *rows,
                                  leat_error *err) {
    int64_t numbers[] = {1, 2, 3, 4};
    leat_spec *spec = leat_spec_ragged(LEAT_INT64, LEAT_SHAPE(-1, -1), 1, LEAT_INT64, err);
    leat_tensor value[] = {leat_tensor_view(LEAT_INT64, LEAT_SHAPE(4), numbers),
                           leat_tensor_view(LEAT_INT64, LEAT_SHAPE(count), splits)};
    leat_status status = leati_composite_rows(spec, value, rows, err);
    leat_spec_unref(spec);
    return status;
}

static void test_row_splits(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t rows = 0;
    int64_t good[] = {0, 1, 1, 4}, late[] = {1, 2, 3, 4}, falling[] = {0, 3, 2, 4},
            below[] = {0, -1, 3, 4}, shorter[] = {0, 1, 2, 3};
    assert_int_equal(rows_of_splits(good, 4, &rows, &err), LEAT_OK);
    assert_int_equal(rows, 3);
    assert_int_equal(rows_of_splits(late, 4, &rows, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(rows_of_splits(falling, 4, &rows, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(rows_of_splits(below, 4, &rows, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(rows_of_splits(shorter, 4, &rows, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "4");
    assert_int_equal(rows_of_splits(good, 0, &rows, &err), LEAT_INVALID_ARGUMENT);
}

/* Values whose number of indices is another than that of their values, and too few dimensions. */
static void test_sparse_parts(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t indices[] = {0, 0, 1, 1}, numbers[] = {5, 6, 7}, shape[] = {2, 2}, rows = 0;
    leat_spec *spec = leat_spec_sparse(LEAT_INT64, LEAT_SHAPE(2, 2), &err);
    leat_tensor value[] = {leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2, 2), indices),
                           leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), numbers),
                           leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2), shape)},
                out[3] = {0};
    assert_int_equal(leati_composite_rows(spec, value, &rows, &err), LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_composite_stack(spec, value, 3, 1, out, &err), LEAT_INVALID_ARGUMENT);
    value[1] = leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2), numbers);
    assert_int_equal(leati_composite_rows(spec, value, &rows, &err), LEAT_OK);
    assert_int_equal(rows, 2);
    shape[0] = -1;
    assert_int_equal(leati_composite_rows(spec, value, &rows, &err), LEAT_INVALID_ARGUMENT);
    leat_spec_unref(spec);
}

/* Rows that no number counts. */
static void test_sparse_rows(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t index[] = {0, 0}, number[] = {5}, shape[] = {INT64_MAX / 2 + 1, 2};
    leat_spec *spec = leat_spec_sparse(LEAT_INT64, LEAT_SHAPE(LEAT_UNKNOWN_DIM, 2), &err);
    const leat_tensor value[] = {leat_tensor_view(LEAT_INT64, LEAT_SHAPE(1, 2), index),
                                 leat_tensor_view(LEAT_INT64, LEAT_SHAPE(1), number),
                                 leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2), shape)};
    const leat_tensor two[] = {value[0], value[1], value[2], value[0], value[1], value[2]};
    leat_tensor out[3] = {0};
    assert_int_equal(leati_composite_join(spec, two, 3, 2, out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "4611686018427387904");
    shape[0]--;
    assert_int_equal(leati_composite_join(spec, two, 3, 2, out, &err), LEAT_OK);
    assert_true(((const int64_t *)out[2].data)[0] == INT64_MAX - 1);
    drop(out, 3);
    leat_spec_unref(spec);
}

/* Row splits of int32 stay int32, and a dimension that the spec knows is the dense shape's. */
static void test_kept(void **state) {
    (void)state;
    leat_error err = {0};
    leat_element ragged =
        element_of("{\"ragged\": {\"values\": {\"dtype\": \"int32\", \"shape\": [3], \"data\": [7, "
                   "8, 9]}, \"row_splits\": [[0, 1, 3]], \"row_splits_dtype\": "
                   "\"int32\"}}");
    leat_tensor out[4] = {0};
    assert_int_equal(leati_composite_stack(ragged.spec, ragged.tensors, 2, 1, out, &err), LEAT_OK);
    assert_int_equal(out[1].dtype, LEAT_INT32);
    assert_int_equal(out[2].dtype, LEAT_INT32);
    assert_int_equal(((const int32_t *)out[1].data)[1], 2);
    drop(out, 3);
    leat_element_fini(&ragged);
    leat_element sparse =
        element_of("{\"sparse\": {\"indices\": {\"dtype\": \"int64\", \"shape\": [1, 1], \"data\": "
                   "[1]}, \"values\": {\"dtype\": \"int32\", \"shape\": [1], \"data\": [3]}, "
                   "\"dense_shape\": [4]}}");
    leat_spec *wide = leat_spec_sparse(LEAT_INT32, LEAT_SHAPE(9), &err);
    assert_int_equal(leati_composite_stack(wide, sparse.tensors, 3, 1, out, &err), LEAT_OK);
    assert_int_equal(((const int64_t *)out[2].data)[1], 9);
    drop(out, 3);
    leat_spec_unref(wide);
    leat_element_fini(&sparse);
}

/* Batches of batches stack where their sizes are equal; what a function made stacks always. */
static void test_stacked(void **state) {
    (void)state;
    leat_error err = {0};
    int64_t numbers[] = {7, 8, 9}, two[] = {0, 1, 2}, one[] = {0, 1};
    leat_spec *row = leat_spec_ragged(LEAT_INT64, LEAT_SHAPE(-1), 0, LEAT_INT64, &err);
    leat_spec *batch = leati_spec_batch(row, -1, &err), *made = leati_spec_made(batch, &err);
    leat_spec *other = leati_spec_join(batch, made, &err),
              *same = leati_spec_join(batch, batch, &err);
    leat_spec *twice = leati_spec_batch(batch, -1, &err), *back = leati_spec_unbatch(twice, &err);
    leat_tensor out[4] = {0};
    leat_tensor values[] = {leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2), numbers),
                            leat_tensor_view(LEAT_INT64, LEAT_SHAPE(3), two),
                            leat_tensor_view(LEAT_INT64, LEAT_SHAPE(1), numbers + 2),
                            leat_tensor_view(LEAT_INT64, LEAT_SHAPE(2), one)};
    assert_int_equal(leati_spec_stacked(batch), 1);
    assert_int_equal(leati_spec_stacked(same), 1);
    assert_int_equal(leati_spec_stacked(twice), 2);
    assert_int_equal(leati_spec_stacked(made), 0);
    assert_int_equal(leati_spec_stacked(other), 0);
    assert_int_equal(leati_spec_stacked(back), 0);
    assert_true(leat_spec_equal(batch, made));
    assert_int_equal(leati_composite_stack(batch, values, 2, 2, out, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "1");
    assert_int_equal(leati_composite_stack(batch, values, 2, 1, out, &err), LEAT_OK);
    drop(out, 3);
    assert_int_equal(leati_composite_stack(made, values, 2, 2, out, &err), LEAT_OK);
    drop(out, 3);
    leat_spec *all[] = {row, batch, made, other, same, twice, back};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        leat_spec_unref(all[i]);
}

/* What JSON and print say of ragged ranks below 1, and of none. */
static void test_texts(void **state) {
    (void)state;
    leat_error err = {0};
    char text[200];
    leat_spec *batch = leat_spec_ragged(LEAT_INT64, LEAT_SHAPE(-1, -1), 1, LEAT_INT64, &err);
    leat_spec *row = leati_spec_unbatch(batch, &err), *number = leati_spec_unbatch(row, &err);
    assert_int_equal(leat_spec_ragged_rank(number), -1);
    assert_int_equal(leat_spec_num_components(number), 1);
    json_t *json = leati_json_of_spec(number, &err);
    leat_spec *again = leati_json_to_spec(json, &err);
    assert_true(leat_spec_equal(number, again));
    leat_element element = {0};
    int64_t value = 5;
    leat_tensor tensor = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &value);
    assert_int_equal(leat_element_set(&element, number, &tensor, &err), LEAT_OK);
    leat_element_print(&element, text, sizeof text);
    assert_string_equal(text, "5");
    leat_element_fini(&element);
    json_decref(json);
    leat_spec_unref(again);
    leat_spec_unref(number);
    leat_spec_unref(row);
    leat_spec_unref(batch);
}

static void test_bad_literals(void **state) {
    (void)state;
    static const char *const literals[] = {
        "{\"ragged\": {\"values\": {\"dtype\": \"int32\", \"shape\": [2], \"data\": [1, 2]}, "
        "\"row_splits\": [[0, 1]]}}",
        "{\"ragged\": {\"values\": {\"dtype\": \"int32\", \"shape\": [2], \"data\": [1, 2]}, "
        "\"row_splits\": [[0, 2]], \"row_splits_dtype\": "
        "\"float32\"}}",
        "{\"ragged\": {\"values\": {\"dtype\": \"int32\", \"shape\": [2], \"data\": [1, 2]}, "
        "\"row_splits\": []}}",
        "{\"sparse\": {\"indices\": {\"dtype\": \"int32\", \"shape\": [1], \"data\": [1]}, "
        "\"values\": {\"dtype\": \"int32\", \"shape\": [1], \"data\": [3]}, \"dense_shape\": [4]}}",
    };
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        leat_error err = {0};
        leat_element element = {0};
        json_t *json = leati_json_parse(literals[i], strlen(literals[i]), &err);
        assert_int_equal(leati_json_to_element(json, &element, &err), LEAT_INVALID_ARGUMENT);
        json_decref(json);
        leat_element_fini(&element);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_splits),   cmocka_unit_test(test_sparse_parts),
        cmocka_unit_test(test_sparse_rows),  cmocka_unit_test(test_kept),
        cmocka_unit_test(test_stacked),      cmocka_unit_test(test_texts),
        cmocka_unit_test(test_bad_literals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
