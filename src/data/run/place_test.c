/* What the texts of failing elements say: operator, label, the user's function, the element's
 * number, its file and byte. A TFRecord record of n bytes takes n + 16. */
#include "support/cmocka.h"

#include "support/places.h"

static void test_records(void **state) {
    (void)state;
    const char *path = write_records("train-03.tfrecord", LEAT_COMPRESSION_NONE);
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = 2};
    expect_bytes(numbers(records(path, NULL), NULL, NULL), path, in_order, 2);
    expect_bytes(numbers(records(path, NULL), &parallel, NULL), path, in_order, 2);
    const char *packed = write_records("train.tfrecord.gz", LEAT_COMPRESSION_GZIP);
    expect_bytes(numbers(records(packed, "GZIP"), NULL, NULL), packed, in_order, 2);
}

static int is_long(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value one = one_of(graph);
    (void)context;
    outputs[0] = leat_op_greater(leat_op_string_length(leat_graph_argument(graph, 0), NULL), one);
    return 1;
}

/* What stands between the reader and the function keeps the place. */
static void test_between(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    leat_dataset *dataset = records(path, NULL);
    leat_function *function = LEAT_TRACE(is_long, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_prefetch(leat_dataset_filter(dataset, function, &err), 2, &err);
    static const int filtered[][2] = {{1, THIRD}, {2, FIFTH}};
    expect_bytes(numbers(dataset, NULL, &err), path, filtered, 2);

    dataset = leat_dataset_skip(leat_dataset_repeat(records(path, NULL), 2, &err), 4, &err);
    static const int repeated[][2] = {{0, FIFTH}, {4, THIRD}, {6, FIFTH}};
    expect_bytes(numbers(dataset, NULL, &err), path, repeated, 3);

    leat_dataset_shuffle_options seeded = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)};
    /* range(6).shuffle(6, seed=1) is 3 5 1 2 4 0 in TensorFlow. */
    dataset = leat_dataset_shuffle(records(path, NULL), 6, &seeded, &err);
    leat_dataset *order =
        leat_dataset_shuffle(leat_dataset_range(0, 6, 1, NULL, &err), 6, &seeded, &err);
    leat_iterator *iterator = leat_iterator_new(order, NULL, &err);
    leat_element element = {0};
    int pairs[2][2], n = 0;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        int64_t number = *(int64_t *)element.tensors[0].data;
        if (number == 2 || number == 4) {
            pairs[n][0] = i;
            pairs[n++][1] = number == 2 ? THIRD : FIFTH;
        }
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(order);
    expect_bytes(numbers(dataset, NULL, &err), path, pairs, 2);
}

/* What is no string any more has kept its place too, through whatever moves rows. */
static void test_numbers(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    static const int bytes[] = {THIRD, FIFTH}, twice[] = {THIRD, FIFTH, THIRD, FIFTH};
    for (int64_t parallel = 0; parallel < 3; parallel += 2) {
        expect_small(lengths(records(path, NULL), parallel), path, bytes, 2);
        leat_dataset *dataset = lengths(records(path, NULL), parallel);
        expect_small(leat_dataset_prefetch(dataset, 2, &err), path, bytes, 2);
        dataset = leat_dataset_cache(lengths(records(path, NULL), parallel), &err);
        expect_small(leat_dataset_repeat(dataset, 2, &err), path, twice, 4);
    }
    leat_dataset *dataset = records(path, NULL);
    leat_function *keep = LEAT_TRACE(is_long, NULL, leat_dataset_spec(dataset), &err);
    expect_small(lengths(leat_dataset_filter(dataset, keep, &err), 0), path, bytes, 2);
    static const int in_turns[] = {THIRD, THIRD, FIFTH, FIFTH};
    leat_dataset *inputs[2] = {lengths(records(path, NULL), 0), lengths(records(path, NULL), 0)};
    leat_dataset *turns = leat_dataset_repeat(leat_dataset_range(0, 2, 1, NULL, &err), 6, &err);
    dataset = leat_dataset_choose_from_datasets(inputs, 2, turns, NULL, &err);
    expect_small(dataset, path, in_turns, 4);
    /* Numbers beside them are of no file. */
    static const int in_both[] = {NONE, NONE, NONE, THIRD, NONE, NONE, FIFTH, NONE};
    for (int round = 0; round < 2; round++) {
        inputs[0] = leat_dataset_range(3, 9, 1, NULL, &err);
        inputs[1] = lengths(records(path, NULL), 0);
        turns = leat_dataset_repeat(leat_dataset_range(0, 2, 1, NULL, &err), 6, &err);
        dataset = leat_dataset_choose_from_datasets(inputs, 2, turns, NULL, &err);
        dataset = round == 0 ? dataset : leat_dataset_shuffle(dataset, 1, NULL, &err);
        expect_small(dataset, path, in_both, 8);
    }
    /* Rows 1 2 | 5 1 | 5 1: the batch's first record is named. */
    dataset = leat_dataset_batch(lengths(records(path, NULL), 0), 2, NULL, &err);
    expect_small(dataset, path, bytes, 2);
    dataset = leat_dataset_batch(lengths(records(path, NULL), 2), 2, NULL, &err);
    expect_small(dataset, path, bytes, 2);
}

static void test_csv(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_write("a.csv", "1\n2\n3\nx\n5\n", 10);
    static const int bytes[] = {4, 8};
    int64_t none = 0;
    leat_tensor tensor = {0};
    leat_element defaults = {0};
    leat_spec *one = leat_spec_tensor(LEAT_INT64, LEAT_SHAPE(0), &err);
    leat_spec *spec = leat_spec_tuple(&one, 1, &err);
    assert_int_equal(leat_tensor_copy_of(LEAT_INT64, LEAT_SHAPE(0), &none, &tensor, &err), LEAT_OK);
    assert_int_equal(leat_element_set(&defaults, spec, &tensor, &err), LEAT_OK);
    leat_dataset *dataset = leat_dataset_csv(&path, 1, &defaults, NULL, &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    assert_non_null(iterator);
    leat_iterator_free(iterator);
    expect_small(leat_dataset_ignore_errors(dataset, false, &err), path, bytes, 2);
    leat_element_fini(&defaults);
    leat_tensor_unref(&tensor);
    leat_spec_unref(spec);
}

/* A batch is named after its first record. */
static void test_batches(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    static const int rows[][2] = {{1, THIRD}, {2, FIFTH}};
    leat_dataset *dataset = leat_dataset_batch(records(path, NULL), 2, NULL, &err);
    expect_bytes(numbers(dataset, NULL, &err), path, rows, 2);
}

static void test_lines(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_write("lines.txt", "1\n22\r\nthree\n4\nfive", 17);
    static const int bytes[][2] = {{2, 6}, {4, 14}};
    leat_dataset_text_line_options small = {LEAT_DATASET_TEXT_LINE_DEFAULTS, .buffer_size = 3};
    leat_dataset *dataset = leat_dataset_text_line(&path, 1, NULL, &err);
    expect_bytes(numbers(dataset, NULL, &err), path, bytes, 2);
    dataset = leat_dataset_text_line(&path, 1, &small, &err);
    expect_bytes(numbers(dataset, NULL, &err), path, bytes, 2);
    const char *fixed = scratch_write("fixed", "head11x22233yy", 14);
    static const int fixed_bytes[][2] = {{1, 6}, {4, 12}};
    leat_dataset_fixed_length_record_options options = {LEAT_DATASET_FIXED_LENGTH_RECORD_DEFAULTS,
                                                        .header_bytes = 4};
    dataset = leat_dataset_fixed_length_record(&fixed, 1, 2, &options, &err);
    expect_bytes(numbers(dataset, NULL, &err), fixed, fixed_bytes, 2);
}

static int read_number(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value contents = leat_op_read_file(leat_graph_argument(graph, 0));
    outputs[0] = leat_op_string_to_number(contents, LEAT_INT64);
    return 1;
}

static void test_files(void **state) {
    (void)state;
    leat_error err = {0};
    scratch_write("a.num", "1", 1);
    const char *bad = scratch_write("b.num", "no number", 9);
    leat_dataset_list_files_options sorted = {LEAT_DATASET_LIST_FILES_DEFAULTS, .shuffle = false};
    leat_dataset *dataset = leat_dataset_list_files(scratch_path("*.num"), &sorted, &err);
    const int at = __LINE__ + 1;
    leat_function *function = LEAT_TRACE(read_number, NULL, leat_dataset_spec(dataset), &err);
    char line[32];
    snprintf(line, sizeof(line), "place_test.c:%d", at);
    const struct place place = {"map", line, 1, bad, NONE, "string_to_number"};
    expect_places(leat_dataset_map(dataset, function, NULL, &err), &place, 1);
}

static int read_contents(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_read_file(leat_graph_argument(graph, 0));
    return 1;
}

/* Read in one function, refused in another. */
static void test_contents(void **state) {
    (void)state;
    leat_error err = {0};
    scratch_write("a.num", "1", 1);
    const char *bad = scratch_write("b.num", "no number", 9);
    leat_dataset_list_files_options sorted = {LEAT_DATASET_LIST_FILES_DEFAULTS, .shuffle = false};
    leat_dataset_map_options parallel = {LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = 2};
    leat_dataset *dataset = leat_dataset_list_files(scratch_path("*.num"), &sorted, &err);
    leat_function *function = LEAT_TRACE(read_contents, NULL, leat_dataset_spec(dataset), &err);
    dataset =
        leat_dataset_shuffle(leat_dataset_map(dataset, function, &parallel, &err), 1, NULL, &err);
    static const int bytes[][2] = {{1, 0}};
    expect_bytes(numbers(dataset, NULL, &err), bad, bytes, 1);
}

static leat_status refuse(void *context, const leat_element *in, leat_element *out,
                          leat_error *err) {
    (void)context;
    const leat_string *text = in->tensors[0].data;
    if (text->size < 5)
        return leat_element_set(out, in->spec, in->tensors, err);
    snprintf(err->text, sizeof(err->text), "too long");
    return err->code = LEAT_UNKNOWN;
}

static void test_callbacks(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    leat_dataset *dataset = records(path, NULL);
    leat_spec *in = leat_spec_tensor(LEAT_STRING, LEAT_SCALAR, &err), *out = leat_spec_ref(in);
    leat_function *function = NULL;
    const int line = __LINE__ + 1;
    function = LEAT_CALLBACK(refuse, NULL, NULL, "refuse", 0, in, out, &err);
    char at[32];
    snprintf(at, sizeof(at), "place_test.c:%d", line);
    const struct place places[] = {{"map", at, in_order[0][0], path, in_order[0][1], "\"refuse\""},
                                   {"map", at, in_order[1][0], path, in_order[1][1], "\"refuse\""}};
    expect_places(leat_dataset_map(dataset, function, NULL, &err), places, 2);
}

/* Wrapped codes keep the place, and a binding may give it. */
static int to_flag(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value text = leat_graph_argument(graph, 0);
    leat_value one = one_of(graph);
    (void)context;
    leat_value fits = leat_op_less_equal(leat_op_string_length(text, NULL), one);
    outputs[0] = leat_op_assert(fits, fits, LEAT_OUT_OF_RANGE, "too long");
    return 1;
}

static void test_wrapped(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = scratch_write("lines.txt", "1\n22\n", 5);
    leat_dataset *dataset = leat_dataset_text_line(&path, 1, NULL, &err);
    leat_function *function = LEAT_TRACE(to_flag, NULL, leat_dataset_spec(dataset), &err);
    function = leat_function_at(function, "/home/user/train.py", 12);
    const struct place place = {"filter", "train.py:12", 1, path, 2, "OUT_OF_RANGE"};
    expect_places(leat_dataset_filter(dataset, function, &err), &place, 1);
}

/* Errors of two operators in one pull: each has the place of its own. The upper map fails in a row
 * that came together with the error of the lower one, and a batch fails before an error of the map
 * below. Lengths 1 2 5 1 5 1. */
static void test_two_operators(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    static const struct place maps[] = {{"map", "checks.py:7", 1, NULL, NONE, "assert"},
                                        {"map", "train.py:12", 2, NULL, NONE, "assert"},
                                        {"map", "train.py:12", 4, NULL, NONE, "assert"}};
    static const struct place batches[] = {{"batch", "", 0, NULL, NONE, "component"},
                                           {"map", "train.py:12", 4, NULL, NONE, "assert"}};
    for (int i = 0; i < 2; i++) {
        leat_dataset *dataset = lengths(records(path, NULL), 0);
        leat_function *function = LEAT_TRACE(small_only, NULL, leat_dataset_spec(dataset), &err);
        function = leat_function_at(function, "/home/user/train.py", 12);
        dataset = leat_dataset_map(dataset, function, NULL, &err);
        function = LEAT_TRACE(i == 0 ? one_only : repeated, NULL, leat_dataset_spec(dataset), &err);
        function = leat_function_at(function, "/home/user/checks.py", 7);
        dataset = leat_dataset_map(dataset, function, NULL, &err);
        dataset = i == 0 ? dataset : leat_dataset_batch(dataset, 6, NULL, &err);
        leat_iterator_options options = {LEAT_ITERATOR_DEFAULTS,
                                         .rewrites = false}; /* two maps stay two */
        expect_places_of(dataset, &options, i == 0 ? maps : batches, i == 0 ? 3 : 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_records, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_between, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_numbers, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_csv, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_batches, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_lines, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_contents, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_callbacks, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_two_operators, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_wrapped, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
