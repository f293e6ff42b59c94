/* JSON forms against literals of TensorFlow's recorded cases: reading, writing the same text again,
 * argument rows, refusals, and failing memory (jansson's own included). */
#include "support/cmocka.h"

#include "support/torture.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "core/element.h"
#include "core/json.h"
#include "core/object.h"
#include "core/tensor.h"
#include "support/json.h"
#include "support/refused.h"

/* Reads an element and expects it to be written as `expected`. */
static void element_gives(const char *text, const char *expected) {
    leat_error err = {0};
    json_t *json = json_of(text);
    leat_element element = {0};
    if (leati_json_to_element(json, &element, &err) != LEAT_OK)
        fail_msg("%s: %s", text, err.text);
    json_t *again = leati_json_of_element(&element, &err);
    assert_non_null(again);
    char *printed = leati_json_print(again, 0, false, &err);
    assert_string_equal(printed, expected);
    leati_free(printed);
    json_decref(again);
    json_decref(json);
    leat_element_fini(&element);
}

static void same_element(const char *text) {
    element_gives(text, text);
}

static void literals(void **state) {
    (void)state;
    same_element("{\"dtype\": \"int64\", \"shape\": [], \"data\": [-9223372036854775808]}");
    same_element("{\"dtype\": \"uint64\", \"shape\": [2], \"data\": [9223372036854775807, "
                 "\"18446744073709551615\"]}");
    same_element("{\"dtype\": \"int8\", \"shape\": [2], \"data\": [-128, 127]}");
    same_element("{\"dtype\": \"float32\", \"shape\": [3], \"data\": [1.5, \"nan\", \"-inf\"]}");
    same_element("{\"dtype\": \"float64\", \"shape\": [5], \"data\": [\"nan\", \"inf\", \"-inf\", "
                 "-0.0, 1e+300]}");
    same_element("{\"dtype\": \"float32\", \"shape\": [2], \"data\": [0.1, 16777216.0]}");
    same_element("{\"dtype\": \"bfloat16\", \"shape\": [2], \"data\": [1.0, 3.140625]}");
    same_element("{\"dtype\": \"float16\", \"shape\": [3], \"data\": [65504.0, 0.0999755859375, "
                 "6.103515625e-05]}");
    same_element("{\"dtype\": \"float32\", \"shape\": [0, 3], \"data\": []}");
    same_element("{\"dtype\": \"bool\", \"shape\": [2, 1], \"data\": [true, false]}");
    same_element("{\"dtype\": \"string\", \"shape\": [3], \"data\": [{\"hex\": \"610062\"}, "
                 "{\"hex\": \"fffe\"}, \"plain\"]}");
    same_element("{\"dtype\": \"string\", \"shape\": [], \"data\": [\"a \\\"b\\\" \\\\\"]}");
    same_element("{\"tuple\": []}");
    same_element("{\"tuple\": [{\"dtype\": \"int64\", \"shape\": [], \"data\": [1]}, {\"dict\": "
                 "{\"a\": {\"dtype\": \"string\", \"shape\": [1], \"data\": [\"x\"]}, \"b\": null}}"
                 "]}");
    same_element(
        "{\"ragged\": {\"values\": {\"dtype\": \"int64\", \"shape\": [3], \"data\": [0, 0, "
        "1]}, \"row_splits\": [[0, 0, 1, 3]]}}");
    same_element("{\"ragged\": {\"values\": {\"dtype\": \"string\", \"shape\": [2, 1], \"data\": "
                 "[\"a\", \"b\"]}, \"row_splits\": [[0, 2], [0, 0, 2]]}}");
    same_element("{\"sparse\": {\"indices\": {\"dtype\": \"int64\", \"shape\": [1, 2], \"data\": "
                 "[0, 2]}, \"values\": {\"dtype\": \"float32\", \"shape\": [1], \"data\": [0.5]}, "
                 "\"dense_shape\": [3, 4]}}");
    /* Keys are sorted, floats may be written as integers. */
    element_gives("{\"dict\": {\"b\": {\"dtype\": \"int64\", \"shape\": [], \"data\": [1]}, \"a\": "
                  "{\"dtype\": \"float32\", \"shape\": [], \"data\": [2]}}}",
                  "{\"dict\": {\"a\": {\"dtype\": \"float32\", \"shape\": [], \"data\": [2.0]}, "
                  "\"b\": {\"dtype\": \"int64\", \"shape\": [], \"data\": [1]}}}");
}

static void refused(const char *text, leat_reason reason, const char *keyword) {
    leat_error err = {0};
    json_t *json = leati_json_parse(text, strlen(text), &err);
    leat_element element = {0};
    leat_status status = err.code;
    if (json != NULL)
        status = leati_json_to_element(json, &element, &err);
    assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    assert_refused(&err, LEAT_INVALID_ARGUMENT, reason, keyword);
    assert_null(element.spec);
    json_decref(json);
}

static void large_integers(void **state) {
    (void)state;
    element_gives("{\"dtype\": \"uint64\", \"shape\": [3], \"data\": [9223372036854775808, "
                  "9223372036854775807,18446744073709551615]}",
                  "{\"dtype\": \"uint64\", \"shape\": [3], \"data\": [\"9223372036854775808\", "
                  "9223372036854775807, \"18446744073709551615\"]}");
    json_t *json =
        json_of("[\"\\\"99999999999999999999\", 99999999999999999999.0, 1e+0000000000000000001,"
                " -9223372036854775808]");
    assert_string_equal(json_string_value(json_array_get(json, 0)), "\"99999999999999999999");
    assert_true(json_real_value(json_array_get(json, 1)) == 1e20);
    assert_true(json_real_value(json_array_get(json, 2)) == 10.0);
    assert_int_equal(json_integer_value(json_array_get(json, 3)), INT64_MIN);
    json_decref(json);
    refused("{\"dtype\": \"uint64\", \"shape\": [1], \"data\": [18446744073709551616]}",
            LEAT_REASON_VALUE, "18446744073709551616");
    /* No dtype has it, and it is no text. */
    leat_error err = {0};
    static const char bare[] = "[1, 100000000000000000000]";
    assert_null(leati_json_parse(bare, sizeof bare - 1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "100000000000000000000");
}

/* The dtypes are those of tf.constant. */
static void bare_values(void **state) {
    (void)state;
    element_gives("5", "{\"dtype\": \"int32\", \"shape\": [], \"data\": [5]}");
    element_gives("2147483648", "{\"dtype\": \"int64\", \"shape\": [], \"data\": [2147483648]}");
    element_gives("[1, 2.5]", "{\"dtype\": \"float32\", \"shape\": [2], \"data\": [1.0, 2.5]}");
    element_gives("[[true], [false]]",
                  "{\"dtype\": \"bool\", \"shape\": [2, 1], \"data\": [true, false]}");
    element_gives("[\"a\", {\"hex\": \"00\"}]",
                  "{\"dtype\": \"string\", \"shape\": [2], \"data\": [\"a\", {\"hex\": \"00\"}]}");
    element_gives("[]", "{\"dtype\": \"float32\", \"shape\": [0], \"data\": []}");
    element_gives("[[], []]", "{\"dtype\": \"float32\", \"shape\": [2, 0], \"data\": []}");
    element_gives("[1, {\"required\": \"int32\"}]",
                  "{\"tuple\": [{\"dtype\": \"int32\", \"shape\": [], \"data\": [1]}, {\"dtype\": "
                  "\"int32\", \"shape\": [0], \"data\": []}]}");
}

static void refusals(void **state) {
    (void)state;
    refused("{\"dtype\": \"int8\", \"shape\": [1], \"data\": [128]}", LEAT_REASON_VALUE, "128");
    refused("{\"dtype\": \"uint8\", \"shape\": [1], \"data\": [-1]}", LEAT_REASON_VALUE, "0");
    refused("{\"dtype\": \"int64\", \"shape\": [1], \"data\": [\"9223372036854775808\"]}",
            LEAT_REASON_VALUE, "int64");
    refused("{\"dtype\": \"int64\", \"shape\": [1], \"data\": [1.5]}", LEAT_REASON_VALUE, "real");
    refused("{\"dtype\": \"bool\", \"shape\": [1], \"data\": [1]}", LEAT_REASON_VALUE, "1");
    refused("{\"dtype\": \"int32\", \"shape\": [2], \"data\": [1]}", LEAT_REASON_SHAPE, "[2]");
    refused("{\"dtype\": \"int32\", \"shape\": [-1], \"data\": []}", LEAT_REASON_SHAPE, "[?]");
    refused("{\"dtype\": \"int31\", \"shape\": [], \"data\": [1]}", LEAT_REASON_VALUE, "\"int31\"");
    refused("{\"dtype\": \"int32\", \"shape\": [4294967296, 4294967296], \"data\": []}",
            LEAT_REASON_SHAPE, "[4294967296, 4294967296]");
    refused("{\"dtype\": \"string\", \"shape\": [1], \"data\": [{\"hex\": \"0g\"}]}",
            LEAT_REASON_VALUE, "\"0g\"");
    refused("{\"dtype\": \"string\", \"shape\": [1], \"data\": [{\"hex\": \"012\"}]}",
            LEAT_REASON_VALUE, "3");
    refused("{}", LEAT_REASON_VALUE, "nothing");
    refused("[1, \"a\"]", LEAT_REASON_DTYPE, "list");
    refused("[[1], [2, 3]]", LEAT_REASON_SHAPE, "regular");
    refused("[1, [2]]", LEAT_REASON_SHAPE, "regular");
    refused("[[1], 2]", LEAT_REASON_SHAPE, "regular");
    refused("[[[[[[[[[1]]]]]]]]]", LEAT_REASON_SHAPE, "8");
    refused(
        "{\"ragged\": {\"values\": {\"dtype\": \"int64\", \"shape\": [3], \"data\": [0, 0, 1]}, "
        "\"row_splits\": [[0, 2, 1, 3]]}}",
        LEAT_REASON_VALUE, "3");
    refused(
        "{\"ragged\": {\"values\": {\"dtype\": \"int64\", \"shape\": [3], \"data\": [0, 0, 1]}, "
        "\"row_splits\": [[0, 2]]}}",
        LEAT_REASON_VALUE, "3");
    refused("{\"a\": 1, \"a\": 2}", LEAT_REASON_VALUE, "1");
    refused("[1,\n 2", LEAT_REASON_VALUE, "2");
    refused("1 2", LEAT_REASON_VALUE, "1");
    char deep[2 * LEATI_JSON_MAX_DEPTH + 3];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    refused(deep, LEAT_REASON_VALUE, "1024");
    leati_text nested = {0};
    for (int i = 0; i < 65; i++)
        leati_text_addf(&nested, "{\"tuple\": [");
    for (int i = 0; i < 65; i++)
        leati_text_addf(&nested, "]}");
    refused(nested.data, LEAT_REASON_STRUCTURE, "64");
    leati_text_fini(&nested);
}

static void specs(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"dtype\": \"int64\", \"shape\": [2, -1]}",
        "{\"dtype\": \"string\", \"shape\": null}",
        "{\"tuple\": [{\"dtype\": \"int64\", \"shape\": []}, {\"dict\": {\"a\": {\"dtype\": "
        "\"float32\", \"shape\": [3]}, \"b\": null}}]}",
        "{\"dataset\": {\"dtype\": \"int64\", \"shape\": []}}",
        "{\"optional\": {\"tuple\": []}}",
        "{\"ragged\": {\"dtype\": \"int64\", \"shape\": [-1, 2, -1], \"ragged_rank\": 2, "
        "\"row_splits_dtype\": \"int32\"}}",
        "{\"sparse\": {\"dtype\": \"float32\", \"shape\": [-1, 4]}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        leat_error err = {0};
        json_t *json = json_of(texts[i]);
        leat_spec *spec = leati_json_to_spec(json, &err);
        if (spec == NULL)
            fail_msg("%s: %s", texts[i], err.text);
        json_t *again = leati_json_of_spec(spec, &err);
        char *printed = leati_json_print(again, 0, false, &err);
        assert_string_equal(printed, texts[i]);
        leati_free(printed);
        json_decref(again);
        json_decref(json);
        leat_spec_unref(spec);
    }
    leat_error err = {0};
    json_t *json = json_of("{\"tuple\": [{\"dtype\": \"int64\", \"shape\": []}, 5]}");
    assert_null(leati_json_to_spec(json, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "integer");
    json_decref(json);
}

static void printing(void **state) {
    (void)state;
    json_t *json =
        json_of("{\"b\": [1, 0.1, 1e22], \"a\": {\"c\": [[], {}]}, \"t\": \"\\u00e9\\n\"}");
    char *text = leati_json_print(json, 2, true, &(leat_error){0});
    assert_string_equal(text, "{\n  \"a\": {\n    \"c\": [\n      [],\n      {}\n    ]\n  },\n"
                              "  \"b\": [1, 0.1, 1e+22],\n  \"t\": \"\xc3\xa9\\n\"\n}");
    leati_free(text);
    json_decref(json);
}

struct arguments {
    bool flag;
    int8_t tri;
    int64_t count;
    int64_t calls;
    double ratio;
    char *text;
    leat_dtype dtype;
    leat_shape shape;
    leat_spec *spec;
    leati_seed_argument seed;
    leati_ints ints;
    leati_floats floats;
    leati_strings strings;
    leat_element element;
    leat_object *function;
};

#define AT(member) .offset = offsetof(struct arguments, member)

static const leati_row rows[] = {
    {.name = "flag", .type = LEATI_ROW_BOOL, AT(flag), .default_number = 1},
    {.name = "tri", .type = LEATI_ROW_BOOL_OR_NONE, AT(tri), .default_number = -1},
    {.name = "count",
     .type = LEATI_ROW_INT,
     .flags = LEATI_NONE,
     AT(count),
     .default_number = -1,
     .minimum = 1,
     .maximum = INT64_MAX},
    {.name = "calls",
     .type = LEATI_ROW_INT,
     .flags = LEATI_REQUIRED | LEATI_AUTOTUNE,
     AT(calls),
     .minimum = 1,
     .maximum = 100},
    {.name = "ratio", .type = LEATI_ROW_FLOAT, AT(ratio), .default_number = 0.5},
    {.name = "text", .type = LEATI_ROW_STRING, AT(text), .default_text = ","},
    {.name = "dtype", .type = LEATI_ROW_DTYPE, AT(dtype), .default_number = LEAT_INT64},
    {.name = "shape", .type = LEATI_ROW_SHAPE, AT(shape)},
    {.name = "spec", .type = LEATI_ROW_SPEC, AT(spec)},
    {.name = "seed", .type = LEATI_ROW_SEED, AT(seed)},
    {.name = "ints", .type = LEATI_ROW_INTS, AT(ints)},
    {.name = "floats", .type = LEATI_ROW_FLOATS, AT(floats)},
    {.name = "strings", .type = LEATI_ROW_STRINGS, AT(strings)},
    {.name = "element", .type = LEATI_ROW_ELEMENT, AT(element)},
    {.name = "function", .type = LEATI_ROW_FUNCTION, AT(function)},
    {.type = LEATI_ROW_END},
};

/* A function is its name, in a list of one. */
static leat_object the_function;

static json_t *write_function(void *context, const leat_object *function, leat_error *err) {
    (void)context;
    assert_ptr_equal(function, &the_function);
    json_t *json = json_string("square");
    if (json == NULL)
        leati_no_memory(err);
    return json;
}

static leat_object *read_function(void *context, const leati_row *row, const json_t *json,
                                  leat_error *err) {
    (void)context;
    assert_string_equal(row->name, "function");
    if (json_is_string(json) && strcmp(json_string_value(json), "square") == 0)
        return leati_object_ref(&the_function);
    leati_fail(err, LEAT_NOT_FOUND, "there is no such function");
    return NULL;
}

static const leati_json_functions functions = {.write = write_function, .read = read_function};

static const char all_members[] =
    "{\"flag\": false, \"tri\": true, \"count\": 7, \"calls\": \"AUTOTUNE\", \"ratio\": \"inf\", "
    "\"text\": {\"hex\": \"09\"}, \"dtype\": \"float32\", \"shape\": [-1, 2], \"spec\": "
    "{\"dtype\": "
    "\"int32\", \"shape\": []}, \"seed\": 0, \"ints\": [3, 4], \"floats\": [0.5], \"strings\": "
    "[\"a\", {\"hex\": \"00\"}], \"element\": {\"tuple\": [{\"dtype\": \"int64\", \"shape\": [], "
    "\"data\": [1]}]}, \"function\": \"square\"}";

struct trip {
    const char *text;
    json_t *json;
};

static leat_status round_trip(void *context, leat_error *err) {
    const struct trip *trip = context;
    struct arguments args = {0}, copy = {0};
    char *printed = NULL;
    json_t *again = NULL;
    leat_status status = leati_json_to_rows(trip->json, rows, &args, "test", &functions, err);
    if (status == LEAT_OK)
        status = leati_rows_copy(rows, &args, &copy, err);
    leati_rows_fini(rows, &args);
    if (status == LEAT_OK &&
        (again = leati_json_of_rows(rows, &copy, false, &functions, err)) == NULL)
        status = err->code;
    if (status == LEAT_OK && (printed = leati_json_print(again, 0, false, err)) == NULL)
        status = err->code;
    if (printed != NULL)
        assert_string_equal(printed, trip->text);
    leati_free(printed);
    json_decref(again);
    leati_rows_fini(rows, &copy);
    return status;
}

static void rows_round_trip(void **state) {
    (void)state;
    const char *const texts[] = {all_members, "{\"calls\": 2}"};
    for (int i = 0; i < 2; i++) {
        leat_error err = {0};
        struct trip trip = {.text = texts[i], .json = json_of(texts[i])};
        if (round_trip(&trip, &err) != LEAT_OK)
            fail_msg("%s", err.text);
        json_decref(trip.json);
    }
}

/* Reads `text` into rows and returns the arguments; the caller releases them. */
static struct arguments read_rows(const char *text) {
    struct arguments args = {0};
    leat_error err = {0};
    json_t *json = json_of(text);
    if (leati_json_to_rows(json, rows, &args, "test", &functions, &err) != LEAT_OK)
        fail_msg("%s: %s", text, err.text);
    json_decref(json);
    return args;
}

static void rows_accept(void **state) {
    (void)state;
    struct arguments args = read_rows("{\"calls\": 4, \"count\": null, \"tri\": null, \"text\": "
                                      "null, \"ints\": 5, \"strings\": \"one\", \"floats\": "
                                      "{\"dtype\": \"int64\", \"shape\": [3], \"data\": [1, 2, 3]},"
                                      " \"element\": [1, 2], \"shape\": null, \"seed\": null}");
    assert_true(args.flag);
    assert_int_equal(args.tri, -1);
    assert_int_equal(args.count, -1);
    assert_string_equal(args.text, ",");
    assert_int_equal(args.ints.count, 1);
    assert_int_equal(args.ints.values[0], 5);
    assert_int_equal(args.strings.count, 1);
    assert_int_equal(args.floats.count, 3);
    assert_true(args.floats.values[2] == 3.0);
    assert_int_equal(args.element.tensors[0].dtype, LEAT_INT32);
    assert_int_equal(args.shape.rank, LEAT_UNKNOWN_RANK);
    assert_false(args.seed.given);
    json_t *json = leati_json_of_rows(rows, &args, true, &functions, &(leat_error){0});
    assert_int_equal(json_object_size(json), sizeof rows / sizeof *rows - 1);
    assert_true(json_is_null(json_object_get(json, "seed")));
    assert_true(json_is_null(json_object_get(json, "function")));
    json_decref(json);
    leati_rows_fini(rows, &args);
}

static void rows_refused(const char *text, leat_status code, leat_reason reason,
                         const char *keyword) {
    struct arguments args = {0};
    leat_error err = {0};
    json_t *json = json_of(text);
    assert_int_equal(leati_json_to_rows(json, rows, &args, "batch", &functions, &err), code);
    assert_refused(&err, code, reason, keyword);
    json_decref(json);
    assert_null(args.text);
}

static void rows_refuse(void **state) {
    (void)state;
    rows_refused("[]", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "object");
    rows_refused("{}", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "calls");
    rows_refused("{\"calls\": 1, \"cnt\": 2}", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "cnt");
    rows_refused("{\"calls\": 1.0}", LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "calls");
    rows_refused("{\"calls\": null}", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "null");
    rows_refused("{\"calls\": 1, \"count\": \"AUTOTUNE\"}", LEAT_INVALID_ARGUMENT,
                 LEAT_REASON_DTYPE, "count");
    rows_refused("{\"calls\": 1, \"flag\": 1}", LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE, "bool");
    rows_refused("{\"calls\": 1, \"text\": {\"hex\": \"00\"}}", LEAT_INVALID_ARGUMENT,
                 LEAT_REASON_VALUE, "0");
    rows_refused("{\"calls\": 1, \"ints\": [1, \"a\"]}", LEAT_INVALID_ARGUMENT, LEAT_REASON_DTYPE,
                 "ints");
    rows_refused("{\"calls\": 1, \"dtype\": \"int\"}", LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE,
                 "\"int\"");
    rows_refused("{\"calls\": 1, \"spec\": 3}", LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "spec");
    rows_refused("{\"calls\": 1, \"element\": [[1], 2]}", LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE,
                 "regular");
    rows_refused("{\"calls\": 1, \"function\": \"cube\"}", LEAT_NOT_FOUND, LEAT_REASON_NONE,
                 "function");
    rows_refused("{\"calls\": 1, \"count\": {\"dtype\": \"int64\", \"shape\": [1], \"data\": [1]}}",
                 LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "int64[1]");
}

static const char structured[] =
    "{\"calls\": 2, \"element\": {\"dict\": {\"r\": {\"ragged\": {\"values\": {\"dtype\": "
    "\"int64\", "
    "\"shape\": [3], \"data\": [0, 0, 1]}, \"row_splits\": [[0, 0, 1, 3]]}}, \"s\": {\"sparse\": "
    "{\"indices\": {\"dtype\": \"int64\", \"shape\": [1, 1], \"data\": [2]}, \"values\": "
    "{\"dtype\": "
    "\"string\", \"shape\": [1], \"data\": [\"x\"]}, \"dense_shape\": [3]}}}}}";

static void torture(void **state) {
    (void)state;
    const char *const texts[] = {all_members, structured};
    for (int i = 0; i < 2; i++) {
        struct trip trip = {.text = texts[i], .json = json_of(texts[i])};
        torture_run(round_trip, &trip);
        json_decref(trip.json);
    }
}

/* jansson tells most of its failed allocations apart from bad syntax, not all; none leaks. */
static void parsing_without_memory(void **state) {
    (void)state;
    long before = torture_live();
    for (long n = 1;; n++) {
        leat_error err = {0};
        torture_fail_at(n);
        json_t *json = leati_json_parse(structured, strlen(structured), &err);
        bool failed = torture_failed();
        torture_fail_at(0);
        json_decref(json);
        assert_int_equal(torture_live(), before);
        assert_int_equal(json == NULL, err.code != LEAT_OK);
        if (!failed)
            break;
    }
}

int main(void) {
    static const leati_object_type type = {.name = "function"};
    leati_object_init(&the_function, &type);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(literals, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(large_integers, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(bare_values, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(refusals, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(specs, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(printing, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(rows_round_trip, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(rows_accept, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(rows_refuse, torture_json_setup, torture_teardown),
        cmocka_unit_test_setup_teardown(parsing_without_memory, torture_json_setup,
                                        torture_teardown),
        cmocka_unit_test_setup_teardown(torture, torture_json_setup, torture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
