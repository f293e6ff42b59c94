/* Help for tests of training: recorded arrays as tensors, and their comparison.
 *
 * Header only; include it after "support/cmocka.h". Whatever goes wrong fails the test.
 * Tensors made here own their memory (leat_tensor_unref). */
#ifndef TEST_TRAIN_H
#define TEST_TRAIN_H

#include "arrays.h"
#include "core/tensor.h"
#include <leat/train.h>

#define TRAIN_UNUSED __attribute__((unused))
#define TRAIN_FOLDER LEATI_SOURCE_DIR "/tests/golden/data/nn"

static leat_error train_error;

/* A call that gets &train_error and must return LEAT_OK; else the test fails with the text. */
#define train_ok(CALL)                                                                             \
    do {                                                                                           \
        train_error = (leat_error){0};                                                             \
        if ((CALL) != LEAT_OK)                                                                     \
            fail_msg("%s: %s", #CALL, train_error.text);                                           \
    } while (0)

TRAIN_UNUSED static leat_tensor train_tensor(const json_t *json) {
    arrays_array array = arrays_read(TRAIN_FOLDER, json);
    leat_tensor tensor = {0};
    leat_shape shape = {.rank = array.rank};
    memcpy(shape.dims, array.shape, sizeof array.shape);
    train_ok(leat_tensor_copy_of(leat_dtype_from_name(array.dtype), shape, array.data, &tensor,
                                 &train_error));
    arrays_free(&array);
    return tensor;
}

/* Every value within `relative` of the largest recorded magnitude. */
TRAIN_UNUSED static void train_close(const char *what, const leat_tensor *expected,
                                     const leat_tensor *found, double relative) {
    double largest = 0;
    if (expected->dtype != found->dtype || expected->rank != found->rank ||
        memcmp(expected->dims, found->dims, (size_t)expected->rank * sizeof expected->dims[0]) != 0)
        fail_msg("%s: dtype or shape differ from the recorded ones", what);
    for (int64_t i = 0; i < leat_tensor_count(expected); i++)
        largest = fmax(largest, fabs(leati_tensor_float_at(expected, i)));
    for (int64_t i = 0; i < leat_tensor_count(expected); i++) {
        double want = leati_tensor_float_at(expected, i), have = leati_tensor_float_at(found, i);
        if (!(fabs(want - have) <= relative * largest))
            fail_msg("%s: value %d is %.9g, recorded %.9g, largest %.9g", what, (int)i, have, want,
                     largest);
    }
}

/* The same for a value of an eager graph. */
TRAIN_UNUSED static void train_value_close(const char *what, const leat_tensor *expected,
                                           leat_value value, double relative) {
    leat_tensor found = {0};
    train_ok(leat_value_tensor(value, &found, &train_error));
    train_close(what, expected, &found, relative);
    leat_tensor_unref(&found);
}

/* The cases of a file of recorded ones; json_decref the root. */
TRAIN_UNUSED static json_t *train_cases(const char *file, json_t **root) {
    *root = arrays_read_json(TRAIN_FOLDER, file);
    json_t *cases = json_object_get(*root, "cases");
    assert_true(json_array_size(cases) > 0);
    return cases;
}

TRAIN_UNUSED static leat_value train_eager_value(leat_graph *graph, const json_t *json) {
    leat_tensor tensor = train_tensor(json);
    leat_value value = leat_graph_tensor(graph, &tensor);
    leat_tensor_unref(&tensor);
    return value;
}

#endif
