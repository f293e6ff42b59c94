/* What the texts of failing elements say where elements were joined, scanned, shuffled or fused:
 * see place_test.c. */
#include "support/cmocka.h"

#include "support/places.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_joined, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_scanned, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_windows, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_fused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_shuffled, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_turns, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
