/* What the texts of failing elements say: operator, label, the user's function, the element's
 * number, its file and byte. A TFRecord record of n bytes takes n + 16. */
#include "support/cmocka.h"

#include <cmocka.h>

#include "support/refused.h"
#include "support/torture.h"

#include "support/scratch.h"
#include <leat/leat.h>
#include <stdio.h>
#include <string.h>

/* Numbers as texts: the third and the fifth are none. */
static const char *const texts[] = {"1", "22", "three", "4", "5five", "6"};
enum { NUM_TEXTS = 6, THIRD = 17 + 18, FIFTH = 17 + 18 + 21 + 17 };

static const char *write_records(const char *name, leat_compression compression) {
    leat_error err = {0};
    const char *path = scratch_path(name);
    leat_tfrecord_writer_options options = {LEAT_TFRECORD_WRITER_DEFAULTS,
                                            .compression = compression};
    leat_tfrecord_writer *writer = leat_tfrecord_writer_open(path, &options, &err);
    assert_non_null(writer);
    for (int i = 0; i < NUM_TEXTS; i++) {
        assert_int_equal(leat_tfrecord_writer_write(writer, texts[i], strlen(texts[i]), &err),
                         LEAT_OK);
    }
    assert_int_equal(leat_tfrecord_writer_close(writer, &err), LEAT_OK);
    return path;
}

static int to_number(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_string_to_number(leat_graph_argument(graph, 0), LEAT_INT64);
    return 1;
}

static leat_value one_of(leat_graph *graph) {
    int32_t value = 1;
    leat_tensor tensor = {0};
    assert_int_equal(leat_tensor_copy_of(LEAT_INT32, LEAT_SCALAR, &value, &tensor, NULL), LEAT_OK);
    leat_value one = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return one;
}

/* Fails for numbers above 2 in an argument: the first, or that of the number `context`. */
static int small_only(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value number = leat_graph_argument(graph, context == NULL ? 0 : *(const int *)context);
    leat_value most = leat_op_cast(leat_op_add(one_of(graph), one_of(graph)), LEAT_INT64);
    leat_value fits =
        leat_op_reduce_max(leat_op_cast(leat_op_greater(number, most), LEAT_INT64), NULL, 0, false);
    outputs[0] = leat_op_assert(leat_op_equal(fits, leat_op_subtract(fits, fits)), number,
                                LEAT_DATA_LOSS, "too large");
    return 1;
}

/* Fails for numbers above 1. */
static int one_only(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value number = leat_graph_argument(graph, 0);
    (void)context;
    outputs[0] = leat_op_assert(leat_op_less_equal(number, leat_op_cast(one_of(graph), LEAT_INT64)),
                                number, LEAT_DATA_LOSS, "too large");
    return 1;
}

static int digits(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_cast(leat_op_string_length(leat_graph_argument(graph, 0)), LEAT_INT64);
    return 1;
}

/* The texts' lengths: 1 2 5 1 5 1. */
static leat_dataset *lengths(leat_dataset *dataset, int64_t parallel) {
    leat_error err = {0};
    leat_dataset_map_options options = {
        LEAT_DATASET_MAP_DEFAULTS, .num_parallel_calls = parallel == 0 ? LEAT_UNSET : parallel};
    leat_function *function = LEAT_TRACE(digits, NULL, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_map(dataset, function, &options, &err);
    assert_non_null(dataset);
    return dataset;
}

/* The function stands in this line. */
enum { LINE = __LINE__ + 3 };
static leat_dataset *numbers(leat_dataset *dataset, const leat_dataset_map_options *options,
                             leat_error *err) {
    leat_function *function = LEAT_TRACE(to_number, NULL, leat_dataset_spec(dataset), err);
    return leat_dataset_label(leat_dataset_map(dataset, function, options, err), "number", err);
}

enum { NONE = -1 };

/* `file` NULL: whatever it is. */
struct place {
    const char *op, *function;
    int64_t element;
    const char *file;
    int64_t byte;
    const char *keyword;
};

/* Runs the dataset (given) to its end and compares the places of its errors. */
static void expect_places_of(leat_dataset *dataset, const leat_iterator_options *options,
                             const struct place *places, int count) {
    leat_error err = {0};
    leat_iterator *iterator = leat_iterator_new(dataset, options, &err);
    leat_element element = {0};
    int found = 0;
    assert_non_null(iterator);
    for (;;) {
        leat_status status = leat_iterator_next(iterator, &element, &err);
        if (status == LEAT_OUT_OF_RANGE)
            break;
        if (status != LEAT_OK) {
            assert_true(found < count);
            const struct place *place = &places[found++];
            assert_string_equal(err.op, place->op);
            assert_string_equal(err.function, place->function);
            assert_int_equal(err.element, place->element);
            if (place->file != NULL) {
                assert_string_equal(err.file, place->file);
                assert_int_equal(err.byte, place->byte);
            }
            assert_refused(&err, status, err.reason, place->keyword);
        }
    }
    assert_int_equal(found, count);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static void expect_places(leat_dataset *dataset, const struct place *places, int count) {
    expect_places_of(dataset, NULL, places, count);
}

/* "map ... element N of PATH at byte B: op" for `count` pairs of N and B. */
static void expect_bytes(leat_dataset *dataset, const char *path, const int (*pairs)[2],
                         int count) {
    char function[32];
    struct place places[4];
    snprintf(function, sizeof(function), "place_test.c:%d", LINE);
    for (int i = 0; i < count; i++)
        places[i] = (struct place){"map \"number\"", function,          pairs[i][0], path,
                                   pairs[i][1],      "string_to_number"};
    expect_places(dataset, places, count);
}

static leat_dataset *records(const char *path, const char *compression) {
    leat_error err = {0};
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                              .compression_type = compression};
    leat_dataset *dataset = leat_dataset_tf_record(&path, 1, &options, &err);
    assert_non_null(dataset);
    return dataset;
}

static const int in_order[][2] = {{2, THIRD}, {4, FIFTH}};

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
    outputs[0] = leat_op_greater(leat_op_string_length(leat_graph_argument(graph, 0)), one);
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

/* A vector of so many numbers, each the length of the text: its size is not known before. */
static int repeated(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value number = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_fill(leat_op_stack(&number, 1, 0), number);
    return 1;
}

/* (sum, number) to (sum + number, number). */
static int summed(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[1] = leat_graph_argument(graph, 1);
    outputs[0] = leat_op_add(leat_graph_argument(graph, 0), outputs[1]);
    return 2;
}

static int itself(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_graph_argument(graph, 0);
    return 1;
}

/* The dataset that is argument number `context`, in batches of two. */
static int in_pairs(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value one = leat_op_cast(one_of(graph), LEAT_INT64), two = leat_op_add(one, one);
    leat_value window = leat_graph_argument(graph, *(const int *)context);
    outputs[0] = leat_graph_dataset_op(graph, "batch", NULL, &window, 1,
                                       (const char *[]){"batch_size"}, &two, 1);
    return 1;
}

/* The same in batches of nothing, which fails. */
static int in_nothings(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value one = leat_op_cast(one_of(graph), LEAT_INT64), none = leat_op_subtract(one, one);
    leat_value window = leat_graph_argument(graph, *(const int *)context);
    outputs[0] = leat_graph_dataset_op(graph, "batch", NULL, &window, 1,
                                       (const char *[]){"batch_size"}, &none, 1);
    return 1;
}

/* What is made of several elements is named after the first of them. Rows 1 2 5 1 5 1. */
static void test_joined(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    static const int fours[] = {0, FIFTH}, threes[] = {0, THIRD};
    expect_small(leat_dataset_padded_batch(lengths(records(path, NULL), 0), 4, NULL, &err), path,
                 fours, 2);
    expect_small(leat_dataset_ragged_batch(lengths(records(path, NULL), 0), 4, NULL, &err), path,
                 fours, 2);
    leat_dataset *dataset = lengths(records(path, NULL), 0);
    leat_function *vectors = LEAT_TRACE(repeated, NULL, leat_dataset_spec(dataset), &err);
    dataset =
        leat_dataset_ragged_batch(leat_dataset_map(dataset, vectors, NULL, &err), 4, NULL, &err);
    expect_small(dataset, path, fours, 2);
    dataset = leat_dataset_sparse_batch(lengths(records(path, NULL), 0), 4, LEAT_SCALAR, &err);
    expect_small_of(dataset, 1, path, fours, 2);
    dataset = leat_dataset_batch(lengths(records(path, NULL), 0), 2, NULL, &err);
    expect_small(leat_dataset_rebatch(dataset, (const int64_t[]){3}, 1, false, &err), path, threes,
                 2);
    /* The rows of a batch have its name. */
    dataset = leat_dataset_batch(lengths(records(path, NULL), 0), 4, NULL, &err);
    expect_small(leat_dataset_unbatch(dataset, &err), path, fours, 2);
}

static void test_scanned(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    static const int bytes[] = {THIRD, FIFTH};
    int64_t zero = 0;
    leat_tensor sum = leat_tensor_view(LEAT_INT64, LEAT_SCALAR, &zero);
    leat_spec *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err);
    leat_spec *state_spec = leat_spec_ref(both[0]), *pair = leat_spec_tuple(both, 2, &err);
    leat_element initial = {.spec = state_spec, .tensors = &sum, .num_tensors = 1};
    leat_function *function = LEAT_TRACE(summed, NULL, pair, &err);
    expect_small(leat_dataset_scan(lengths(records(path, NULL), 0), &initial, function, &err), path,
                 bytes, 2);
    leat_spec_unref(state_spec);
    leat_spec_unref(pair);
}

/* The elements of windows keep their places in them. */
static void test_windows(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    static const int bytes[] = {THIRD, FIFTH};
    int first = 0, second = 1;
    leat_dataset *dataset = leat_dataset_window(lengths(records(path, NULL), 0), 2, NULL, &err);
    leat_function *pairs = LEAT_TRACE(in_pairs, &first, leat_dataset_spec(dataset), &err);
    expect_small(leat_dataset_flat_map(dataset, pairs, &err), path, bytes, 2);
    /* A window itself is named after its first element. */
    dataset = leat_dataset_window(lengths(records(path, NULL), 0), 2, NULL, &err);
    pairs = LEAT_TRACE(in_nothings, &first, leat_dataset_spec(dataset), &err);
    pairs = leat_function_at(pairs, "train.py", 5);
    const struct place places[] = {{"flat_map", "train.py:5", 0, path, 0, "dataset"},
                                   {"flat_map", "train.py:5", 1, path, THIRD, "dataset"},
                                   {"flat_map", "train.py:5", 2, path, FIFTH, "dataset"}};
    expect_places(leat_dataset_flat_map(dataset, pairs, &err), places, 3);
    /* The group of the key 5 is one pair. */
    dataset = lengths(records(path, NULL), 0);
    leat_function *key = LEAT_TRACE(itself, NULL, leat_dataset_spec(dataset), &err);
    leat_spec *both[2] = {
        leat_spec_tensor(LEAT_INT64, LEAT_SCALAR, &err),
        leat_spec_dataset(leat_spec_ref((leat_spec *)leat_dataset_spec(dataset)), &err)};
    leat_spec *group = leat_spec_tuple(both, 2, &err);
    pairs = LEAT_TRACE(in_pairs, &second, group, &err);
    expect_small(leat_dataset_group_by_window(dataset, key, pairs, 2, NULL, &err), path, bytes, 1);
    leat_spec_unref(group);
}

/* Maps that run as one name both functions and labels. */
static void test_fused(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    leat_dataset *dataset = records(path, NULL);
    leat_function *function = LEAT_TRACE(to_number, NULL, leat_dataset_spec(dataset), &err);
    function = leat_function_at(function, "/home/user/train.py", 12);
    dataset = leat_dataset_label(leat_dataset_map(dataset, function, NULL, &err), "number", &err);
    function = LEAT_TRACE(small_only, NULL, leat_dataset_spec(dataset), &err);
    function = leat_function_at(function, "/home/user/checks.py", 7);
    dataset = leat_dataset_label(leat_dataset_map(dataset, function, NULL, &err), "small", &err);
    static const int pairs[][2] = {{1, 17}, {2, THIRD}, {3, 56}, {4, FIFTH}, {5, 94}};
    static const char *const ops[] = {"assert", "string_to_number", "assert", "string_to_number",
                                      "assert"};
    struct place places[5];
    for (int i = 0; i < 5; i++)
        places[i] = (struct place){"map \"number, small\"",
                                   "train.py:12, checks.py:7",
                                   pairs[i][0],
                                   path,
                                   pairs[i][1],
                                   ops[i]};
    expect_places(dataset, places, 5);
}

static void test_shuffled(void **state) {
    (void)state;
    leat_error err = {0};
    const char *path = write_records("a", LEAT_COMPRESSION_NONE);
    leat_dataset_shuffle_options seeded = {LEAT_DATASET_SHUFFLE_DEFAULTS, .seed = LEAT_SEED(1)};
    leat_dataset *order =
        leat_dataset_shuffle(leat_dataset_range(0, 6, 1, NULL, &err), 3, &seeded, &err);
    leat_iterator *iterator = leat_iterator_new(order, NULL, &err);
    leat_element element = {0};
    int bytes[2], n = 0;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(leat_iterator_next(iterator, &element, &err), LEAT_OK);
        int64_t number = *(int64_t *)element.tensors[0].data;
        if (number == 2 || number == 4)
            bytes[n++] = number == 2 ? THIRD : FIFTH;
    }
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(order);
    leat_dataset *dataset = leat_dataset_shuffle(lengths(records(path, NULL), 0), 3, &seeded, &err);
    expect_small(dataset, path, bytes, 2);
}

/* Records of several files in turns, more of them than are remembered from row to row. */
static void test_turns(void **state) {
    (void)state;
    enum { FILES = 70 };
    leat_error err = {0};
    const char *paths[FILES];
    int bytes[2 * FILES];
    for (int i = 0; i < FILES; i++) {
        char name[20];
        snprintf(name, sizeof(name), "turn-%d", i);
        paths[i] = strdup(write_records(name, LEAT_COMPRESSION_NONE));
        bytes[i] = THIRD;
        bytes[FILES + i] = FIFTH;
    }
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                              .num_parallel_reads = FILES};
    leat_dataset *dataset = leat_dataset_tf_record(paths, FILES, &options, &err);
    expect_small_in(lengths(dataset, 0), 0, paths, FILES, bytes, 2 * FILES);
    for (int i = 0; i < FILES; i++)
        free((char *)(uintptr_t)paths[i]);
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
    leat_value fits = leat_op_less_equal(leat_op_string_length(text), one);
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
