/* Sequential models: names, shapes between layers, variables in Keras' order, and messages. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/torture.h"
#include "support/train.h"
#include "train/frame/layer.h"

static leat_model *small_cnn(leat_error *err) {
    const leat_layer_conv2d_options relu = {LEAT_LAYER_CONV2D_DEFAULTS, .activation = LEAT_RELU,
                                            .seed = LEAT_SEED(1)};
    const leat_layer_dense_options hidden = {LEAT_LAYER_DENSE_DEFAULTS, .activation = LEAT_RELU,
                                             .seed = LEAT_SEED(2)};
    const leat_layer_dense_options logits = {LEAT_LAYER_DENSE_DEFAULTS, .seed = LEAT_SEED(3)};
    leat_layer *layers[5];
    leat_error own = {0};
    layers[0] = leat_layer_conv2d(32, 3, 3, &relu, &own);
    layers[1] = leat_layer_max_pooling2d(NULL, own.code != LEAT_OK ? NULL : &own);
    layers[2] = leat_layer_flatten(NULL, own.code != LEAT_OK ? NULL : &own);
    layers[3] = leat_layer_dense(64, &hidden, own.code != LEAT_OK ? NULL : &own);
    layers[4] = leat_layer_dense(10, &logits, own.code != LEAT_OK ? NULL : &own);
    leat_model *model = leat_model_sequential(layers, 5, &own);
    if (model == NULL)
        *err = own;
    return model;
}

static void variables_are_in_keras_order(void **state) {
    (void)state;
    static const char *const names[] = {"conv2d/kernel", "conv2d/bias",    "dense/kernel",
                                        "dense/bias",    "dense_1/kernel", "dense_1/bias"};
    const leat_shape shapes[] = {LEAT_SHAPE(3, 3, 1, 32), LEAT_SHAPE(32),     LEAT_SHAPE(288, 64),
                                 LEAT_SHAPE(64),          LEAT_SHAPE(64, 10), LEAT_SHAPE(10)};
    leat_error err = {0};
    leat_model *model = small_cnn(&err);
    int count = -1;
    assert_null(leat_model_trainable_variables(model, &count));
    assert_int_equal(count, 0);
    train_ok(leat_model_build(model, LEAT_SHAPE(8, 8, 1), &train_error));
    leat_variable *const *variables = leat_model_trainable_variables(model, &count);
    assert_int_equal(count, 6);
    for (int i = 0; i < count; i++) {
        leat_shape shape = leat_variable_shape(variables[i]);
        assert_string_equal(leat_variable_name(variables[i]), names[i]);
        assert_int_equal(shape.rank, shapes[i].rank);
        assert_memory_equal(shape.dims, shapes[i].dims, (size_t)shape.rank * sizeof shape.dims[0]);
    }
    /* Building again for the same shape changes nothing; the batch stays free. */
    train_ok(leat_model_build(model, LEAT_SHAPE(8, 8, 1), &train_error));
    assert_ptr_equal(leat_model_trainable_variables(model, &count), variables);
    leat_model_free(model);
}

static void rejects(leat_status status, const leat_error *err, leat_reason reason,
                    const char *keyword) {
    assert_int_equal(status, LEAT_INVALID_ARGUMENT);
    assert_refused(err, LEAT_INVALID_ARGUMENT, reason, keyword);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    leat_error err = {0};
    leat_model *model = small_cnn(&err);
    rejects(leat_model_build(model, LEAT_SHAPE(64), &err), &err, LEAT_REASON_SHAPE, "\"conv2d\"");
    int count;
    leat_model_trainable_variables(model, &count);
    assert_int_equal(count, 0);
    train_ok(leat_model_build(model, LEAT_SHAPE(8, 8, 1), &train_error));
    rejects(leat_model_build(model, LEAT_SHAPE(10, 10, 1), &err), &err, LEAT_REASON_SHAPE,
            "[?, 512]");
    leat_model_free(model);
    leat_shape unknown = {.rank = LEAT_UNKNOWN_RANK};
    model = small_cnn(&err);
    rejects(leat_model_build(model, unknown, &err), &err, LEAT_REASON_SHAPE, "rank");
    leat_model_free(model);
    rejects(leat_model_build(NULL, LEAT_SHAPE(1), &err), &err, LEAT_REASON_VALUE, "model");

    /* A dense layer straight behind pictures, and pictures behind a dense layer. */
    leat_layer *layers[3] = {leat_layer_flatten(NULL, &err), leat_layer_dense(4, NULL, &err),
                             leat_layer_max_pooling2d(NULL, &err)};
    model = leat_model_sequential(layers, 3, &err);
    rejects(leat_model_build(model, LEAT_SHAPE(8, 8, 1), &err), &err, LEAT_REASON_SHAPE,
            "\"max_pooling2d\"");
    leat_model_free(model);
}

static void lists_of_layers_are_checked(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leat_model_sequential(NULL, 0, &err));
    rejects(err.code, &err, LEAT_REASON_VALUE, "0");
    err = (leat_error){0};
    leat_layer *layers[3] = {leat_layer_flatten(NULL, &err), leat_layer_dense(0, NULL, &err),
                             leat_layer_flatten(NULL, NULL)};
    assert_null(
        leat_model_sequential(layers, 3, &err)); /* keeps the error of the layer that failed */
    rejects(err.code, &err, LEAT_REASON_VALUE, "units");
    err = (leat_error){0};
    layers[0] = leat_layer_flatten("same", &err);
    layers[1] = leat_layer_flatten("same", &err);
    assert_null(leat_model_sequential(layers, 2, &err));
    rejects(err.code, &err, LEAT_REASON_VALUE, "\"same\"");
    layers[0] = layers[1] = leat_layer_flatten(NULL, &err);
    assert_null(leat_model_sequential(layers, 2, &err));
    rejects(err.code, &err, LEAT_REASON_VALUE, "layers");
    leat_model_free(NULL);
}

/* Calling builds; calling twice shares the variables. */
static void calling_builds(void **state) {
    (void)state;
    leat_error err = {0};
    float pixels[2 * 64] = {0.5f};
    leat_model *model = small_cnn(&err);
    leat_graph *graph = leat_graph_new_eager(&err);
    leat_tensor rows = leat_tensor_view(LEAT_FLOAT32, LEAT_SHAPE(2, 8, 8, 1), pixels), found;
    leat_value input = leat_graph_tensor(graph, &rows);
    leat_value first = leat_model_call(model, input, true);
    leat_value second = leat_model_call(model, input, false);
    train_ok(leat_value_tensor(first, &found, &train_error));
    assert_int_equal(found.dims[0], 2);
    assert_int_equal(found.dims[1], 10);
    train_value_close("second call", &found, second, 0);
    leat_tensor_unref(&found);
    int count;
    leat_model_trainable_variables(model, &count);
    assert_int_equal(count, 6);
    leat_graph_free(graph);
    leat_model_free(model);
}

/* The same seeds make the same weights, when and however often a model is built. */
static void seeds_fix_weights(void **state) {
    (void)state;
    leat_error err = {0};
    leat_tensor kernels[2];
    for (int i = 0; i < 2; i++) {
        leat_model *model = small_cnn(&err);
        int count;
        if (i == 1)
            assert_int_not_equal(leat_model_build(model, LEAT_SHAPE(64), &err), LEAT_OK);
        train_ok(leat_model_build(model, LEAT_SHAPE(8, 8, 1), &train_error));
        leat_variable *const *variables = leat_model_trainable_variables(model, &count);
        train_ok(leat_variable_read(variables[2], &kernels[i], &train_error));
        leat_model_free(model);
    }
    train_close("kernel", &kernels[0], &kernels[1], 0);
    leat_tensor_unref(&kernels[0]);
    leat_tensor_unref(&kernels[1]);
}

static leat_status make_and_build(void *context, leat_error *err) {
    (void)context;
    leat_model *model = small_cnn(err);
    if (model == NULL)
        return torture_code(err);
    leat_status status = leat_model_build(model, LEAT_SHAPE(8, 8, 1), err);
    leat_model_free(model);
    return status;
}

static void survives_failed_allocations(void **state) {
    (void)state;
    torture_begin();
    torture_run(make_and_build, NULL);
    torture_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_in_keras_order),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(lists_of_layers_are_checked),
        cmocka_unit_test(calling_builds),
        cmocka_unit_test(seeds_fix_weights),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
