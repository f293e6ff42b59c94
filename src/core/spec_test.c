/* Shapes, specs and elements; the rules are tf.TensorShape's and tf.TypeSpec's. */
#include "support/cmocka.h"

#include "base/error.h"
#include "core/element.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "support/refused.h"
#include "support/torture.h"

static const leat_shape unknown = {.rank = LEAT_UNKNOWN_RANK};

static void shapes(void **state) {
    (void)state;
    leat_shape a = LEAT_SHAPE(2, -1), b = LEAT_SHAPE(2, 3), c = LEAT_SHAPE(4, 3), d = LEAT_SHAPE(2);
    leat_shape scalar = LEAT_SCALAR, empty = LEAT_SHAPE(INT64_MAX, INT64_MAX, 0), out;
    leat_shape huge = LEAT_SHAPE(INT64_MAX, 3);
    assert_true(leati_shape_is_static(&b) && !leati_shape_is_static(&a));
    assert_false(leati_shape_is_static(&unknown));
    assert_int_equal(leati_shape_count(&b), 6);
    assert_int_equal(leati_shape_count(&scalar), 1);
    assert_int_equal(leati_shape_count(&empty), 0);
    assert_int_equal(leati_shape_count(&a), -1);
    assert_int_equal(leati_shape_count(&huge), -1);
    assert_true(leati_shape_compatible(&a, &b) && leati_shape_compatible(&b, &a));
    assert_true(leati_shape_compatible(&unknown, &b));
    assert_false(leati_shape_compatible(&b, &c) || leati_shape_compatible(&b, &d));
    assert_true(leati_shape_equal(&unknown, &unknown) && !leati_shape_equal(&a, &b));
    out = leati_shape_join(&b, &c);
    assert_true(out.rank == 2 && out.dims[0] == -1 && out.dims[1] == 3);
    assert_int_equal(leati_shape_join(&b, &d).rank, -1);
    assert_int_equal(leati_shape_join(&unknown, &d).rank, -1);
    assert_int_equal(leati_shape_prepend(&a, 7, &out, &(leat_error){0}), LEAT_OK);
    char text[128];
    assert_string_equal(leati_shape_text(&out, text), "[7, 2, ?]");
    assert_string_equal(leati_shape_text(&scalar, text), "[]");
    assert_string_equal(leati_shape_text(&unknown, text), "<unknown>");
    leat_shape full = {.rank = 8};
    for (int i = 0; i < 8; i++)
        full.dims[i] = INT64_MAX;
    assert_int_equal(leati_shape_prepend(&full, 1, &out, &(leat_error){0}), LEAT_INVALID_ARGUMENT);
    assert_true(strlen(leati_shape_text(&full, text)) < 128);
    assert_int_equal(leati_shape_prepend(&unknown, 1, &out, &(leat_error){0}), LEAT_OK);
    assert_int_equal(out.rank, -1);
}

static leat_spec *tensor(leat_dtype dtype, leat_shape shape, leat_error *err) {
    return leat_spec_tensor(dtype, shape, err);
}

/* ({'a': float32[2,?], 'b': (string[],)}, dataset<int64[]>, none) */
static leat_spec *sample(leat_error *err) {
    leat_spec *inner =
        leat_spec_tuple((leat_spec *[]){tensor(LEAT_STRING, LEAT_SCALAR, err)}, 1, err);
    leat_spec *dict = leat_spec_dict(
        (const char *const[]){"b", "a"},
        (leat_spec *[]){inner, tensor(LEAT_FLOAT32, LEAT_SHAPE(2, -1), err)}, 2, err);
    leat_spec *dataset = leat_spec_dataset(tensor(LEAT_INT64, LEAT_SCALAR, err), err);
    return leat_spec_tuple((leat_spec *[]){dict, dataset, leat_spec_none(err)}, 3, err);
}

static void prints(leat_spec *spec, const char *expected) {
    char text[256];
    assert_non_null(spec);
    assert_int_equal(leat_spec_print(spec, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_int_equal(leat_spec_print(spec, text, 4), strlen(expected));
    assert_int_equal(strlen(text), 3);
    leat_spec_unref(spec);
}

static void reading(void **state) {
    (void)state;
    torture_begin();
    leat_spec *spec = sample(&(leat_error){0});
    assert_int_equal(leat_spec_get_kind(spec), LEAT_SPEC_TUPLE);
    assert_int_equal(leat_spec_num_children(spec), 3);
    const leat_spec *dict = leat_spec_child(spec, 0);
    assert_string_equal(leat_spec_key(dict, 0), "a");
    assert_string_equal(leat_spec_key(dict, 1), "b");
    assert_null(leat_spec_key(spec, 0));
    assert_null(leat_spec_child(spec, 3));
    assert_int_equal(leat_spec_num_components(spec), 3);
    assert_int_equal(leat_spec_component_dtype(spec, 0), LEAT_FLOAT32);
    assert_int_equal(leat_spec_component_shape(spec, 0).rank, 2);
    assert_int_equal(leat_spec_component_dtype(spec, 1), LEAT_STRING);
    assert_int_equal(leat_spec_component_dtype(spec, 2), LEAT_OBJECT);
    assert_int_equal(leat_spec_component_dtype(spec, 3), LEAT_INVALID);
    const leat_spec *dataset = leat_spec_child(spec, 1);
    assert_int_equal(leat_spec_num_children(dataset), 0);
    assert_int_equal(leat_spec_dtype(leat_spec_element(dataset)), LEAT_INT64);
    assert_ptr_equal(leati_spec_component_element(spec, 2), leat_spec_element(dataset));
    assert_null(leati_spec_component_element(spec, 0));
    assert_null(leat_spec_element(dict));
    prints(spec, "({'a': float32[2,?], 'b': (string[],)}, dataset<int64[]>, none)");
    prints(tensor(LEAT_INT8, unknown, &(leat_error){0}), "int8<unknown>");
    prints(leat_spec_optional(tensor(LEAT_INT8, LEAT_SCALAR, &(leat_error){0}), NULL),
           "optional<int8[]>");
    prints(leat_spec_sparse(LEAT_INT8, LEAT_SHAPE(-1, 5), NULL), "sparse<int8[?,5]>");
    spec = leat_spec_ragged(LEAT_INT8, LEAT_SHAPE(4, -1, 2), 1, LEAT_INT32, NULL);
    assert_int_equal(leat_spec_num_components(spec), 2);
    leat_shape values = LEAT_SHAPE(-1, 2), splits = LEAT_SHAPE(5);
    leat_shape found = leat_spec_component_shape(spec, 0);
    assert_true(leati_shape_equal(&found, &values));
    found = leat_spec_component_shape(spec, 1);
    assert_true(leati_shape_equal(&found, &splits));
    prints(spec, "ragged<int8[4,?,2], 1, int32>");
    spec = leat_spec_ragged(LEAT_INT8, LEAT_SHAPE(INT64_MAX, -1), 1, LEAT_INT64, NULL);
    found = leat_spec_component_shape(spec, 1);
    assert_int_equal(found.dims[0], LEAT_UNKNOWN_DIM);
    leat_spec_unref(spec);
    torture_end();
}

static void refuses(leat_spec *spec, const leat_error *err, leat_reason reason,
                    const char *keyword) {
    assert_null(spec);
    assert_refused(err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void refusals(void **state) {
    (void)state;
    torture_begin();
    leat_error err = {0};
    refuses(tensor(LEAT_INVALID, LEAT_SCALAR, &err), &err, LEAT_REASON_VALUE, "0");
    refuses(tensor(LEAT_INT8, (leat_shape){.rank = 9}, &err), &err, LEAT_REASON_SHAPE, "9");
    refuses(tensor(LEAT_INT8, LEAT_SHAPE(-2), &err), &err, LEAT_REASON_SHAPE, "-1");
    refuses(leat_spec_ragged(LEAT_INT8, LEAT_SHAPE(-1), 1, LEAT_INT64, &err), &err,
            LEAT_REASON_SHAPE, "[?]");
    refuses(leat_spec_ragged(LEAT_INT8, unknown, 1, LEAT_INT16, &err), &err, LEAT_REASON_SHAPE,
            "int16");
    /* A NULL child keeps the first error, and its siblings are released. */
    err = (leat_error){0};
    refuses(leat_spec_tuple((leat_spec *[]){tensor(LEAT_INT8, LEAT_SCALAR, &err),
                                            tensor(LEAT_INVALID, LEAT_SCALAR, &err)},
                            2, &err),
            &err, LEAT_REASON_VALUE, "0");
    err = (leat_error){0};
    refuses(leat_spec_dataset(NULL, &err), &err, LEAT_REASON_STRUCTURE, "NULL");
    err = (leat_error){0};
    const char *const keys[] = {"k", "j", "k"};
    refuses(leat_spec_dict(keys,
                           (leat_spec *[]){tensor(LEAT_INT8, LEAT_SCALAR, &(leat_error){0}),
                                           tensor(LEAT_INT8, LEAT_SCALAR, &(leat_error){0}),
                                           tensor(LEAT_INT8, LEAT_SCALAR, &(leat_error){0})},
                           3, &err),
            &err, LEAT_REASON_VALUE, "'k'");
    leat_spec *deep = tensor(LEAT_INT8, LEAT_SCALAR, &(leat_error){0});
    for (int i = 1; i < LEATI_MAX_DEPTH; i++)
        deep = leat_spec_tuple(&deep, 1, NULL);
    assert_non_null(deep);
    err = (leat_error){0};
    refuses(leat_spec_dataset(deep, &err), &err, LEAT_REASON_STRUCTURE, "64");
    torture_end();
}

static void equality(void **state) {
    (void)state;
    torture_begin();
    leat_spec *a = sample(&(leat_error){0}), *b = sample(&(leat_error){0});
    assert_true(leat_spec_equal(a, b));
    assert_false(leat_spec_equal(a, leat_spec_child(b, 0)));
    assert_false(leat_spec_equal(a, NULL));
    leat_spec *joined = leati_spec_join(a, b, &(leat_error){0});
    assert_true(leat_spec_equal(a, joined));
    leat_spec_unref(joined);
    leat_spec_unref(a);
    a = leat_spec_dataset(tensor(LEAT_INT8, LEAT_SHAPE(3, 1), &(leat_error){0}), NULL);
    leat_spec *c = leat_spec_dataset(tensor(LEAT_INT8, LEAT_SHAPE(2, 1), &(leat_error){0}), NULL);
    assert_false(leat_spec_equal(a, c));
    prints(leati_spec_join(a, c, &(leat_error){0}), "dataset<int8[?,1]>");
    leat_error err = {0};
    refuses(leati_spec_join(a, b, &err), &err, LEAT_REASON_STRUCTURE, "dataset<int8[3,1]>");
    leat_spec_unref(a);
    leat_spec_unref(b);
    leat_spec_unref(c);
    leat_spec_unref(NULL);
    assert_null(leat_spec_ref(NULL));
    torture_end();
}

static const struct {
    const char *text, *joined;
} pair_cases[] = {
    {"{\"dtype\": \"int8\", \"shape\": [1]}", NULL},
    {"{\"dtype\": \"int8\", \"shape\": [2]}", "int8[?]"},
    {"{\"dtype\": \"int8\", \"shape\": []}", "int8<unknown>"},
    {"{\"dtype\": \"uint8\", \"shape\": []}", NULL},
    {"null", NULL},
    {"{\"tuple\": []}", NULL},
    {"{\"dict\": {}}", NULL},
    {"{\"tuple\": [null]}", NULL},
    {"{\"tuple\": [null, null]}", NULL},
    {"{\"dict\": {\"a\": null, \"c\": null}}", NULL},
    {"{\"dict\": {\"b\": null, \"c\": null}}", NULL},
    {"{\"dict\": {\"b\": null, \"d\": null}}", NULL},
    {"{\"dict\": {\"b\": null, \"d\": {\"dtype\": \"int8\", \"shape\": [1]}}}", NULL},
    {"{\"dict\": {\"b\": null, \"d\": {\"dtype\": \"int8\", \"shape\": [3]}}}",
     "{'b': none, 'd': int8[?]}"},
    {"{\"sparse\": {\"dtype\": \"int8\", \"shape\": [3, 1]}}", NULL},
    {"{\"sparse\": {\"dtype\": \"int8\", \"shape\": [3, 2]}}", "sparse<int8[3,?]>"},
    {"{\"sparse\": {\"dtype\": \"int16\", \"shape\": [3, 2]}}", NULL},
    {"{\"ragged\": {\"dtype\": \"int16\", \"shape\": [3, 2, 4], \"ragged_rank\": 1}}", NULL},
    {"{\"ragged\": {\"dtype\": \"int16\", \"shape\": [3, 2, 5], \"ragged_rank\": 1}}",
     "ragged<int16[3,2,?], 1, int64>"},
    {"{\"ragged\": {\"dtype\": \"int16\", \"shape\": [3, 2, 5], \"ragged_rank\": 2}}", NULL},
    {"{\"ragged\": {\"dtype\": \"int16\", \"shape\": [3, 2, 5], \"ragged_rank\": 2, "
     "\"row_splits_dtype\": \"int32\"}}",
     NULL},
    {"{\"dataset\": {\"dtype\": \"int8\", \"shape\": [1]}}", NULL},
    {"{\"dataset\": {\"dtype\": \"int8\", \"shape\": [2]}}", "dataset<int8[?]>"},
    {"{\"dataset\": {\"dtype\": \"int16\", \"shape\": [2]}}", NULL},
    {"{\"optional\": {\"dtype\": \"int16\", \"shape\": [2]}}", NULL},
    {"{\"optional\": {\"dtype\": \"int16\", \"shape\": [4]}}", "optional<int16[?]>"},
    {"{\"optional\": null}", NULL},
};

/* No two of these are equal; `joined` is what each has in common with the one before it, as text;
 * NULL: nothing. */
static void pairs(void **state) {
    (void)state;
    enum { COUNT = sizeof pair_cases / sizeof *pair_cases };
    leat_spec *specs[COUNT];
    torture_begin();
    for (int i = 0; i < COUNT; i++) {
        leat_error err = {0};
        specs[i] = leat_spec_from_json(pair_cases[i].text, &err);
        if (specs[i] == NULL)
            fail_msg("%s: %s", pair_cases[i].text, err.text);
        for (int k = 0; k <= i; k++)
            if (leat_spec_equal(specs[i], specs[k]) != (i == k) ||
                leat_spec_equal(specs[k], specs[i]) != (i == k))
                fail_msg("%s and %s", pair_cases[i].text, pair_cases[k].text);
        if (i == 0)
            continue;
        leat_spec *joined = leati_spec_join(specs[i], specs[i - 1], &err);
        char text[128];
        assert_int_equal(joined != NULL, pair_cases[i].joined != NULL);
        if (joined != NULL) {
            leat_spec_print(joined, text, sizeof text);
            assert_string_equal(text, pair_cases[i].joined);
        } else {
            assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "structure");
        }
        leat_spec_unref(joined);
    }
    for (int i = 0; i < COUNT; i++)
        leat_spec_unref(specs[i]);
    leat_error err = {0};
    refuses(leat_spec_tuple(NULL, -1, &err), &err, LEAT_REASON_VALUE, "1048576");
    refuses(leat_spec_dict(NULL, NULL, -1, &err), &err, LEAT_REASON_VALUE, "1048576");
    leat_spec *leaf = tensor(LEAT_INT8, LEAT_SCALAR, &(leat_error){0});
    refuses(leati_spec_composite(leaf, NULL, &err), &err, LEAT_REASON_VALUE, "leaf");
    refuses(leat_spec_dict((const char *const[]){NULL}, &leaf, 1, &err), &err, LEAT_REASON_VALUE,
            "NULL");
    /* Eight dimensions and one more. */
    leat_shape full = {.rank = 8, .dims = {1, 1, 1, 1, 1, 1, 1, 1}};
    leaf = tensor(LEAT_INT8, full, &(leat_error){0});
    leat_spec *two = leat_spec_tuple((leat_spec *[]){leat_spec_none(NULL), leaf}, 2, NULL);
    refuses(leati_spec_batch(two, 3, &err), &err, LEAT_REASON_SHAPE, "0");
    leat_spec_unref(two);
    torture_end();
}

static void batching(void **state) {
    (void)state;
    torture_begin();
    leat_error err = {0};
    leat_spec *spec = leat_spec_tuple(
        (leat_spec *[]){tensor(LEAT_INT8, LEAT_SHAPE(3), &(leat_error){0}),
                        tensor(LEAT_INT8, unknown, &(leat_error){0}),
                        leat_spec_ragged(LEAT_INT8, LEAT_SHAPE(-1, -1), 1, LEAT_INT64, NULL),
                        leat_spec_none(NULL)},
        4, NULL);
    leat_spec *batch = leati_spec_batch(spec, 5, &(leat_error){0});
    leat_spec *back = leati_spec_unbatch(batch, &(leat_error){0});
    assert_true(leat_spec_equal(back, spec));
    leat_spec_unref(back);
    prints(batch, "(int8[5,3], int8<unknown>, ragged<int8[5,?,?], 2, int64>, none)");
    back = leati_spec_unbatch(spec, &(leat_error){0});
    prints(back, "(int8[], int8<unknown>, ragged<int8[?], 0, int64>, none)");
    leat_dtype dtypes[] = {LEAT_BOOL, LEAT_STRING, LEAT_INT8, LEAT_INT64};
    leat_shape shapes[] = {LEAT_SCALAR, LEAT_SHAPE(1), unknown, unknown};
    prints(leati_spec_like(spec, dtypes, shapes, &(leat_error){0}),
           "(bool[], string[1], ragged<int8[?,?], 1, int64>, none)");
    leat_spec_unref(spec);
    spec = sample(&(leat_error){0});
    refuses(leati_spec_batch(spec, 1, &err), &err, LEAT_REASON_STRUCTURE, "2");
    refuses(leati_spec_unbatch(spec, &err), &err, LEAT_REASON_SHAPE, "1");
    leat_spec_unref(spec);
    torture_end();
}

static void checking(void **state) {
    (void)state;
    torture_begin();
    leat_error err = {0};
    leat_spec *spec = tensor(LEAT_INT32, LEAT_SHAPE(-1, 2), &(leat_error){0});
    const int32_t values[] = {1, 2, 3, 4};
    leat_tensor good = leat_tensor_view(LEAT_INT32, LEAT_SHAPE(2, 2), values);
    leat_tensor bad = leat_tensor_view(LEAT_INT32, LEAT_SHAPE(4), values);
    leat_tensor none = {0};
    assert_int_equal(leati_spec_check_tensor(spec, 0, &good, &(leat_error){0}), LEAT_OK);
    assert_int_equal(leati_spec_check_tensor(spec, 0, &bad, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "int32[4]");
    assert_int_equal(leati_spec_check_tensor(spec, 0, &none, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    assert_int_equal(leati_spec_check_tensor(spec, 1, &good, &(leat_error){0}),
                     LEAT_INVALID_ARGUMENT);
    leat_element element = {0}, other = {0};
    assert_int_equal(leat_element_set(&element, spec, &bad, NULL), LEAT_INVALID_ARGUMENT);
    assert_null(element.spec);
    assert_int_equal(leat_element_set(&element, spec, &good, NULL), LEAT_OK);
    leat_spec_unref(spec);
    /* An element may be set from its own tensors. */
    assert_int_equal(leat_element_set(&element, element.spec, element.tensors, NULL), LEAT_OK);
    assert_int_equal(leati_element_copy(&element, &other, &(leat_error){0}), LEAT_OK);
    assert_true(leati_element_equal(&element, &other));
    leat_element_clear(&element);
    assert_false(leati_element_equal(&element, &other));
    long before = torture_count();
    assert_int_equal(leat_element_set(&element, other.spec, &good, NULL), LEAT_OK);
    assert_int_equal(torture_count(), before); /* the array was kept */
    leati_element_move(&other, &element);
    assert_null(other.spec);
    assert_int_equal(element.num_tensors, 1);
    leat_element_fini(&element);
    leat_element_fini(&other);
    torture_end();
}

static leat_status use_specs(void *context, leat_error *err) {
    (void)context;
    leat_spec *spec = leat_spec_tuple(
        (leat_spec *[]){leat_spec_dict((const char *const[]){"b", "a"},
                                       (leat_spec *[]){tensor(LEAT_INT8, LEAT_SHAPE(3), err),
                                                       leat_spec_none(err)},
                                       2, err),
                        leat_spec_sparse(LEAT_INT8, LEAT_SHAPE(3), err)},
        2, err);
    if (spec == NULL)
        return torture_code(err);
    leat_spec *batch = leati_spec_batch(spec, 2, err);
    leat_spec *back = batch != NULL ? leati_spec_unbatch(batch, err) : NULL;
    leat_spec *joined = back != NULL ? leati_spec_join(back, spec, err) : NULL;
    if (joined != NULL)
        assert_true(leat_spec_equal(joined, spec));
    leat_spec_unref(spec);
    leat_spec_unref(batch);
    leat_spec_unref(back);
    leat_spec_unref(joined);
    if (joined == NULL)
        return torture_code(err);
    spec = sample(err);
    leat_spec_unref(spec);
    return spec != NULL ? LEAT_OK : torture_code(err);
}

static void torture(void **state) {
    (void)state;
    torture_begin();
    torture_run(use_specs, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),   cmocka_unit_test(reading), cmocka_unit_test(refusals),
        cmocka_unit_test(equality), cmocka_unit_test(pairs),   cmocka_unit_test(batching),
        cmocka_unit_test(checking), cmocka_unit_test(torture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
