/* The forms of JSON one after the other: the ends of each dtype's range, what each kind of leaf and
 * each kind of argument refuses, escapes, tags of specs. The numbers are those of C and of numpy's
 * iinfo and finfo. */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "core/element.h"
#include "core/json.h"
#include "core/object.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "support/json.h"
#include "support/refused.h"
#include <math.h>

static void element_refused(const char *text, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    leat_element element = {0};
    json_t *json = json_of(text);
    assert_int_equal(leati_json_to_element(json, &element, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
    assert_null(element.spec);
    json_decref(json);
}

static void same_element(const char *text) {
    leat_error err = {0};
    leat_element element = {0};
    json_t *json = json_of(text);
    if (leati_json_to_element(json, &element, &err) != LEAT_OK)
        fail_msg("%s: %s", text, err.text);
    json_t *again = leati_json_of_element(&element, &err);
    char *printed = leati_json_print(again, 0, false, &err);
    assert_string_equal(printed, text);
    leati_free(printed);
    json_decref(again);
    json_decref(json);
    leat_element_fini(&element);
}

/* Large tensors of numbers are written as their bytes, which numpy's tobytes() and Python's
 * base64.urlsafe_b64encode give; both forms are read. */
static void packed(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor tensor, back;
    static const leat_dtype dtypes[] = {LEAT_BOOL,    LEAT_INT8,    LEAT_UINT16, LEAT_INT64,
                                        LEAT_FLOAT16, LEAT_FLOAT32, LEAT_FLOAT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (int64_t n = 511; n <= 4097; n += 3586) {
            assert_int_equal(leat_tensor_new(dtypes[d], LEAT_SHAPE(n, 1), &tensor, &err), LEAT_OK);
            for (size_t i = 0; i < leat_tensor_bytes(&tensor); i++)
                ((uint8_t *)tensor.data)[i] =
                    (uint8_t)(dtypes[d] == LEAT_BOOL ? i % 3 == 0 : i % 113);
            json_t *json = leati_json_of_tensor(&tensor, &err);
            const bool large = leat_tensor_bytes(&tensor) >= 4096;
            assert_int_equal(json_object_get(json, "packed") != NULL, large);
            assert_int_equal(json_object_get(json, "data") != NULL, !large);
            assert_int_equal(leati_json_to_tensor(json, &back, &err), LEAT_OK);
            assert_int_equal(back.dtype, dtypes[d]);
            assert_memory_equal(back.data, tensor.data, leat_tensor_bytes(&tensor));
            json_decref(json);
            leat_tensor_unref(&back);
            leat_tensor_unref(&tensor);
        }
#define PACKED(DTYPE, SHAPE, TEXT)                                                                 \
    "{\"dtype\": \"" DTYPE "\", \"shape\": " SHAPE ", \"packed\": " TEXT "}"
    json_t *json = json_of(PACKED("int16", "[2]", "\"AQD__w\""));
    assert_int_equal(leati_json_to_tensor(json, &back, &err), LEAT_OK);
    assert_int_equal(((const int16_t *)back.data)[0], 1);
    assert_int_equal(((const int16_t *)back.data)[1], -1);
    leat_tensor_unref(&back);
    json_decref(json);
    element_refused(PACKED("int16", "[2]", "\"AQD__\""), LEAT_REASON_SHAPE, "letters");
    element_refused(PACKED("int16", "[2]", "\"AQD__w==\""), LEAT_REASON_SHAPE, "letters");
    element_refused(PACKED("int16", "[2]", "\"AQD/_w\""), LEAT_REASON_VALUE, "character");
    element_refused(PACKED("int16", "[-1]", "\"\""), LEAT_REASON_SHAPE, "letters");
    element_refused(PACKED("int16", "[4611686018427387904, 2]", "\"\""), LEAT_REASON_SHAPE,
                    "int16");
    element_refused(PACKED("bool", "[1]", "\"Ag\""), LEAT_REASON_VALUE, "bool");
    element_refused(PACKED("string", "[1]", "\"Ag\""), LEAT_REASON_DTYPE, "numbers");
    element_refused(PACKED("int16", "[2]", "[1, 2]"), LEAT_REASON_DTYPE, "list");
}

#define ONE(DTYPE, VALUE) "{\"dtype\": \"" DTYPE "\", \"shape\": [1], \"data\": [" VALUE "]}"

static const struct {
    const char *dtype, *low, *below, *high, *above;
} range_cases[] = {
    {"int8", "-128", "-129", "127", "128"},
    {"int16", "-32768", "-32769", "32767", "32768"},
    {"int32", "-2147483648", "-2147483649", "2147483647", "2147483648"},
    {"int64", "-9223372036854775808", NULL, "9223372036854775807", NULL},
    {"uint8", "0", "-1", "255", "256"},
    {"uint16", "0", "-1", "65535", "65536"},
    {"uint32", "0", "-1", "4294967295", "4294967296"},
    {"uint64", "0", "-1", "9223372036854775807", NULL},
};

/* Both ends of each integer dtype come back, as numbers and as text, and one more is refused. */
static void ends_of_ranges(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof range_cases / sizeof *range_cases; i++) {
        char text[160];
        const char *ends[] = {range_cases[i].low, range_cases[i].high};
        const char *beyond[] = {range_cases[i].below, range_cases[i].above};
        for (int end = 0; end < 2; end++) {
            snprintf(text, sizeof text, "{\"dtype\": \"%s\", \"shape\": [1], \"data\": [%s]}",
                     range_cases[i].dtype, ends[end]);
            same_element(text);
            if (beyond[end] == NULL)
                continue;
            snprintf(text, sizeof text, "{\"dtype\": \"%s\", \"shape\": [1], \"data\": [%s]}",
                     range_cases[i].dtype, beyond[end]);
            element_refused(text, LEAT_REASON_VALUE, beyond[end]);
            snprintf(text, sizeof text, "{\"dtype\": \"%s\", \"shape\": [1], \"data\": [\"%s\"]}",
                     range_cases[i].dtype, beyond[end]);
            element_refused(text, LEAT_REASON_VALUE, range_cases[i].dtype);
        }
    }
    element_refused(ONE("int64", "9223372036854775808"), LEAT_REASON_VALUE, "int64");
    element_refused(ONE("uint64", "\"\""), LEAT_REASON_VALUE, "uint64");
    element_refused(ONE("uint64", "\"1x\""), LEAT_REASON_VALUE, "uint64");
    element_refused(ONE("int16", "null"), LEAT_REASON_VALUE, "null");
    element_refused(ONE("int16", "true"), LEAT_REASON_VALUE, "true");
    element_refused(ONE("bool", "0.5"), LEAT_REASON_VALUE, "real");
    element_refused(ONE("float16", "false"), LEAT_REASON_VALUE, "false");
    element_refused(ONE("string", "[]"), LEAT_REASON_VALUE, "\"hex\"");
    same_element(ONE("string", "{\"hex\": \"00ff1f7f80\"}"));
    same_element(ONE("string", "\" ~\""));
    /* finfo(dtype).max, tiny and smallest_subnormal, which need the most digits. */
    same_element(ONE("float64", "1.7976931348623157e+308"));
    same_element(ONE("float64", "2.2250738585072014e-308"));
    same_element(ONE("float64", "4.94065645841247e-324"));
    same_element(ONE("float32", "3.4028235e+38"));
    same_element(ONE("float32", "1.1754944e-38"));
    same_element(ONE("float32", "1.4013e-45"));
    same_element(ONE("float32", "\"inf\""));
    same_element(ONE("float16", "65504.0"));
    same_element(ONE("float16", "\"-inf\""));
    same_element(ONE("bfloat16", "3.3895313892515355e+38"));
}

#define VALUES "\"values\": {\"dtype\": \"int64\", \"shape\": [2], \"data\": [1, 2]}"
#define RAGGED(REST) "{\"ragged\": {" VALUES ", " REST "}}"
#define SPARSE(INDICES, SHAPE)                                                                     \
    "{\"sparse\": {\"indices\": " INDICES ", " VALUES ", \"dense_shape\": " SHAPE "}}"

static void leaves_refuse(void **state) {
    (void)state;
    same_element(RAGGED("\"row_splits\": [[0, 2]], \"row_splits_dtype\": \"int32\""));
    same_element(RAGGED("\"row_splits\": [[0, 0, 1], [0, 2]]"));
    element_refused(RAGGED("\"row_splits\": [[0, 2]], \"row_splits_dtype\": \"int8\""),
                    LEAT_REASON_DTYPE, "int8");
    element_refused(RAGGED("\"row_splits\": [[0, 2]], \"row_splits_dtype\": 5"), LEAT_REASON_VALUE,
                    "integer");
    element_refused(RAGGED("\"row_splits\": []"), LEAT_REASON_SHAPE, "8");
    element_refused(RAGGED("\"row_splits\": [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, "
                           "1], [0, 2]]"),
                    LEAT_REASON_SHAPE, "8");
    element_refused("{\"ragged\": {\"values\": {\"dtype\": \"int64\", \"shape\": [], \"data\": "
                    "[1]}, \"row_splits\": [[0, 1]]}}",
                    LEAT_REASON_SHAPE, "8");
    element_refused(RAGGED("\"row_splits\": [[1, 2]]"), LEAT_REASON_VALUE, "2");
    element_refused(RAGGED("\"row_splits\": [[0, 3]]"), LEAT_REASON_VALUE, "2");
    element_refused(RAGGED("\"row_splits\": [[]]"), LEAT_REASON_VALUE, "2");
    element_refused(RAGGED("\"row_splits\": [[0, 2], [0, 2]]"), LEAT_REASON_VALUE, "0");
    element_refused("{\"ragged\": {\"row_splits\": [[0]]}}", LEAT_REASON_SHAPE, "nothing");
    same_element(SPARSE("{\"dtype\": \"int64\", \"shape\": [2, 1], \"data\": [0, 3]}", "[4]"));
    element_refused(
        SPARSE("{\"dtype\": \"int64\", \"shape\": [2, 2], \"data\": [0, 3, 0, 3]}", "[4]"),
        LEAT_REASON_SHAPE, "[?, 1]");
    element_refused(SPARSE("{\"dtype\": \"int32\", \"shape\": [2, 1], \"data\": [0, 3]}", "[4]"),
                    LEAT_REASON_SHAPE, "int32[2, 1]");
    element_refused(SPARSE("5", "[4]"), LEAT_REASON_SHAPE, "integer");
    element_refused(SPARSE("5", "[-2]"), LEAT_REASON_SHAPE, "0");
    element_refused("{\"dict\": [1]}", LEAT_REASON_VALUE, "\"dict\"");
    element_refused("{\"tuple\": [1, {\"dtype\": \"int8\"}]}", LEAT_REASON_SHAPE, "nothing");
    element_refused("{\"required\": \"no\"}", LEAT_REASON_VALUE, "\"no\"");
    element_refused("[[], [1]]", LEAT_REASON_SHAPE, "lists");
    element_refused("[true, 1]", LEAT_REASON_DTYPE, "list");
    same_element("{\"dtype\": \"int32\", \"shape\": [1, 1, 1, 1, 1, 1, 1, 1], \"data\": [5]}");
}

static json_t *write_name(void *context, leat_object *object, leat_error *err) {
    (void)err;
    return object == context ? json_string("name") : NULL;
}

/* Datasets and optionals in an element need a writer; an empty element has nothing to write. */
static void elements_of_objects(void **state) {
    (void)state;
    static const leati_object_type type = {.name = "thing"};
    leat_object thing, *object = &thing;
    leati_object_init(&thing, &type);
    leat_spec *(*const makers[])(leat_spec *, leat_error *) = {leat_spec_dataset,
                                                               leat_spec_optional};
    static const char *const refused[] = {"dataset", "optional"};
    static const char *const written[] = {"{\"dataset\": \"name\"}", "{\"optional\": \"name\"}"};
    for (int i = 0; i < 2; i++) {
        leat_error err = {0};
        leat_spec *spec = makers[i](leat_spec_tensor(LEAT_INT8, LEAT_SCALAR, NULL), NULL);
        leat_tensor tensor = leat_tensor_view(LEAT_OBJECT, LEAT_SCALAR, &object);
        leat_element element = {0};
        assert_int_equal(leat_element_set(&element, spec, &tensor, NULL), LEAT_OK);
        assert_null(leati_json_of_element(&element, &err));
        assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, refused[i]);
        json_t *json = leati_json_of_element_with(&element, write_name, object, &(leat_error){0});
        char *text = leati_json_print(json, 0, false, &(leat_error){0});
        assert_string_equal(text, written[i]);
        leati_free(text);
        json_decref(json);
        leat_element_fini(&element);
        leat_spec_unref(spec);
    }
    leat_error err = {0};
    leat_element empty = {0};
    assert_null(leati_json_of_element(&empty, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "empty");
    assert_int_equal(leati_json_to_element(NULL, &empty, &err), LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "nothing");
    leat_tensor tensor = leat_tensor_view(LEAT_OBJECT, LEAT_SCALAR, &object);
    assert_null(leati_json_of_tensor(&tensor, &err));
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "object");
    json_t *json = json_of("{\"dtype\": \"object\", \"shape\": [], \"data\": [1]}");
    assert_int_equal(leati_json_to_tensor(json, &tensor, &err), LEAT_UNIMPLEMENTED);
    assert_refused(&err, LEAT_UNIMPLEMENTED, LEAT_REASON_NONE, "object");
    json_decref(json);
}

/* Reading stops at the level that is too deep, before a spec is made of those above it. */
static void nested_elements(void **state) {
    (void)state;
    for (int levels = 64; levels <= 65; levels++) {
        leati_text text = {0};
        leat_error err = {0};
        leat_element element = {0};
        for (int i = 1; i < levels; i++)
            leati_text_addf(&text, "{\"tuple\": [");
        leati_text_addf(&text, "5");
        for (int i = 1; i < levels; i++)
            leati_text_addf(&text, "]}");
        json_t *json = json_of(text.data);
        if (leati_json_to_element(json, &element, &err) != LEAT_OK)
            assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "64");
        assert_int_equal(err.code, levels == 64 ? LEAT_OK : LEAT_INVALID_ARGUMENT);
        leat_element_fini(&element);
        json_decref(json);
        leati_text_fini(&text);
    }
}

/* ---- specs ---- */

static void spec_refused(const char *text, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    assert_null(leat_spec_from_json(text, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void specs_refuse(void **state) {
    (void)state;
    spec_refused("{\"dict\": 5}", LEAT_REASON_VALUE, "integer");
    spec_refused("{\"dict\": {\"a\": {\"dtype\": \"int8\"}}}", LEAT_REASON_SHAPE, "nothing");
    spec_refused("{\"ragged\": {\"dtype\": \"int8\", \"shape\": [1, 2]}}", LEAT_REASON_VALUE,
                 "\"ragged_rank\"");
    spec_refused("{\"ragged\": {\"dtype\": \"int8\", \"shape\": [1, 2], \"ragged_rank\": 9}}",
                 LEAT_REASON_VALUE, "\"ragged_rank\"");
    spec_refused("{\"ragged\": {\"dtype\": \"int8\", \"shape\": [1, 2], \"ragged_rank\": -9}}",
                 LEAT_REASON_VALUE, "\"ragged_rank\"");
    spec_refused("{\"ragged\": {\"dtype\": \"int8\", \"shape\": null, \"ragged_rank\": 8}}",
                 LEAT_REASON_SHAPE, "8");
    spec_refused("{\"ragged\": {\"dtype\": \"int8\", \"shape\": [1, 2], \"ragged_rank\": 1, "
                 "\"row_splits_dtype\": \"x\"}}",
                 LEAT_REASON_VALUE, "\"x\"");
    spec_refused("{\"dtype\": \"int8\", \"shape\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}", LEAT_REASON_SHAPE,
                 "9");
    spec_refused("{\"dtype\": \"int8\", \"shape\": [1, 2.5]}", LEAT_REASON_SHAPE, "1");
    spec_refused("{\"dataset\": 5}", LEAT_REASON_SHAPE, "integer");
    spec_refused("{\"tuple\": 5}", LEAT_REASON_SHAPE, "object");
    spec_refused(NULL, LEAT_REASON_VALUE, "leat_spec_from_json");
    leat_error err = {0};
    assert_null(leat_spec_from_json(NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_spec_from_json");
    assert_null(leat_spec_to_json(NULL, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "leat_spec_to_json");
    leati_text nested = {0};
    for (int levels = 63; levels <= 65; levels++) {
        static const char *const kinds[] = {"{\"optional\": ", "{\"dataset\": "};
        nested.size = 0;
        for (int i = 1; i < levels; i++)
            leati_text_addf(&nested, "%s", kinds[i % 2]);
        leati_text_addf(&nested, "{\"dtype\": \"int8\", \"shape\": []}");
        for (int i = 1; i < levels; i++)
            leati_text_addf(&nested, "}");
        leat_spec *spec = leat_spec_from_json(nested.data, &err);
        assert_int_equal(spec != NULL, levels <= 64);
        leat_spec_unref(spec);
    }
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_STRUCTURE, "64");
    leati_text_fini(&nested);
}

static leat_status tagged_again(void *context, leat_error *err) {
    leat_spec *spec = leat_spec_from_json(context, err);
    char *again = spec != NULL ? leat_spec_to_json(spec, err) : NULL;
    if (again != NULL)
        assert_string_equal(again, context);
    leat_spec_unref(spec);
    leati_free(again);
    return again != NULL ? LEAT_OK : torture_code(err);
}

/* The words of the caller at tuples and dicts come back. */
static void tags(void **state) {
    (void)state;
    char text[] = "{\"tuple\": [{\"dict\": {\"a\": {\"dtype\": \"int8\", \"shape\": [-1, 3]}}, "
                  "\"tag\": -7}, {\"dict\": {}}, null], \"tag\": 3}";
    leat_error err = {0};
    assert_int_equal(tagged_again(text, &err), LEAT_OK);
    leat_spec *spec = leat_spec_from_json(text, NULL);
    assert_int_equal(leat_spec_tag(spec), 3);
    assert_int_equal(leat_spec_tag(leat_spec_child(spec, 0)), -7);
    assert_int_equal(leat_spec_tag(leat_spec_child(spec, 1)), 0);
    assert_int_equal(leat_spec_tag(NULL), 0);
    leat_spec_unref(spec);
}

/* ---- texts ---- */

static void escapes(void **state) {
    (void)state;
    json_t *json = json_stringn("a\"\\\n\t\r\x01\x1f\x20\x7e\x7f", 11);
    char *text = leati_json_print(json, 0, false, &(leat_error){0});
    assert_string_equal(text, "\"a\\\"\\\\\\n\\t\\u000d\\u0001\\u001f ~\\u007f\"");
    leati_free(text);
    json_decref(json);
    json = json_of("{\"b\": true, \"a\": [null, false, {\"z\": 1, \"y\": []}], \"c\": [1.5, 2]}");
    text = leati_json_print(json, 0, true, &(leat_error){0});
    assert_string_equal(
        text, "{\"a\": [null, false, {\"y\": [], \"z\": 1}], \"b\": true, \"c\": [1.5, 2]}");
    leati_free(text);
    text = leati_json_print(json, 1, true, &(leat_error){0});
    assert_string_equal(text, "{\n \"a\": [\n  null,\n  false,\n  {\n   \"y\": [],\n   \"z\": 1\n  "
                              "}\n ],\n \"b\": true,\n \"c\": [1.5, 2]\n}");
    leati_free(text);
    json_decref(json);
    leat_error err = {0};
    assert_null(leati_json_parse("", LEATI_JSON_MAX_SIZE + (size_t)1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "268435456");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_of_ranges, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(leaves_refuse, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(elements_of_objects, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(nested_elements, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(specs_refuse, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(tags, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(escapes, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(packed, torture_json_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
