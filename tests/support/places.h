/* Records of which some are no numbers, and what errors say of their places, for tests. Header
 * only; include it after "support/cmocka.h". */
#ifndef TEST_PLACES_H
#define TEST_PLACES_H

#include "support/refused.h"
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

static inline int to_number(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] = leat_op_string_to_number(leat_graph_argument(graph, 0), LEAT_INT64);
    return 1;
}

static inline leat_value one_of(leat_graph *graph) {
    int32_t value = 1;
    leat_tensor tensor = {0};
    assert_int_equal(leat_tensor_copy_of(LEAT_INT32, LEAT_SCALAR, &value, &tensor, NULL), LEAT_OK);
    leat_value one = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return one;
}

/* Fails for numbers above 2 in an argument: the first, or that of the number `context`. */
static inline int small_only(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value number = leat_graph_argument(graph, context == NULL ? 0 : *(const int *)context);
    leat_value most = leat_op_cast(leat_op_add(one_of(graph), one_of(graph)), LEAT_INT64);
    leat_value fits =
        leat_op_reduce_max(leat_op_cast(leat_op_greater(number, most), LEAT_INT64), NULL, 0, false);
    outputs[0] = leat_op_assert(leat_op_equal(fits, leat_op_subtract(fits, fits)), number,
                                LEAT_DATA_LOSS, "too large");
    return 1;
}

/* Fails for numbers above 1. */
static inline int one_only(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    leat_value number = leat_graph_argument(graph, 0);
    (void)context;
    outputs[0] = leat_op_assert(leat_op_less_equal(number, leat_op_cast(one_of(graph), LEAT_INT64)),
                                number, LEAT_DATA_LOSS, "too large");
    return 1;
}

static inline int digits(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    outputs[0] =
        leat_op_cast(leat_op_string_length(leat_graph_argument(graph, 0), NULL), LEAT_INT64);
    return 1;
}

/* The texts' lengths: 1 2 5 1 5 1. */
static inline leat_dataset *lengths(leat_dataset *dataset, int64_t parallel) {
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
static inline leat_dataset *numbers(leat_dataset *dataset, const leat_dataset_map_options *options,
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
static inline void expect_places_of(leat_dataset *dataset, const leat_iterator_options *options,
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

static inline void expect_places(leat_dataset *dataset, const struct place *places, int count) {
    expect_places_of(dataset, NULL, places, count);
}

/* "map ... element N of PATH at byte B: op" for `count` pairs of N and B. */
static inline void expect_bytes(leat_dataset *dataset, const char *path, const int (*pairs)[2],
                                int count) {
    char function[32];
    struct place places[4];
    snprintf(function, sizeof(function), "places.h:%d", LINE);
    for (int i = 0; i < count; i++)
        places[i] = (struct place){"map \"number\"", function,          pairs[i][0], path,
                                   pairs[i][1],      "string_to_number"};
    expect_places(dataset, places, count);
}

static inline leat_dataset *records(const char *path, const char *compression) {
    leat_error err = {0};
    leat_dataset_tf_record_options options = {LEAT_DATASET_TF_RECORD_DEFAULTS,
                                              .compression_type = compression};
    leat_dataset *dataset = leat_dataset_tf_record(&path, 1, &options, &err);
    assert_non_null(dataset);
    return dataset;
}

static const int in_order[][2] = {{2, THIRD}, {4, FIFTH}};

/* "map "small" ... of PATH at byte B" for each error, whatever the element's number; the paths take
 * turns. Of byte NONE: no path is named. */
static inline void expect_small_in(leat_dataset *dataset, int argument, const char *const *paths,
                                   int num_paths, const int *bytes, int count) {
    leat_error err = {0};
    leat_function *function = LEAT_TRACE(small_only, &argument, leat_dataset_spec(dataset), &err);
    dataset = leat_dataset_label(leat_dataset_map(dataset, function, NULL, &err), "small", &err);
    leat_iterator *iterator = leat_iterator_new(dataset, NULL, &err);
    leat_element element = {0};
    leat_status status = LEAT_OK;
    int found = 0;
    assert_non_null(iterator);
    while (status != LEAT_OUT_OF_RANGE) {
        status = leat_iterator_next(iterator, &element, &err);
        if (status != LEAT_OK && status != LEAT_OUT_OF_RANGE) {
            assert_true(found < count);
            assert_refused(&err, status, err.reason, "assert");
            assert_int_equal(err.byte, bytes[found]);
            assert_string_equal(err.file, bytes[found] == NONE ? "" : paths[found % num_paths]);
            found++;
        }
    }
    assert_int_equal(found, count);
    leat_element_fini(&element);
    leat_iterator_free(iterator);
    leat_dataset_unref(dataset);
}

static inline void expect_small_of(leat_dataset *dataset, int argument, const char *path,
                                   const int *bytes, int count) {
    expect_small_in(dataset, argument, &path, 1, bytes, count);
}

static inline void expect_small(leat_dataset *dataset, const char *path, const int *bytes,
                                int count) {
    expect_small_of(dataset, 0, path, bytes, count);
}

/* A vector of so many numbers, each the length of the text: its size is not known before. */
static inline int repeated(void *context, leat_graph *graph, leat_value *outputs, int capacity) {
    (void)context;
    leat_value number = leat_graph_argument(graph, 0);
    outputs[0] = leat_op_fill(leat_op_stack(&number, 1, 0), number);
    return 1;
}

#endif
