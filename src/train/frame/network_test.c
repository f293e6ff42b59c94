/* Models of symbols, layers by name, and a layer of a program's own. The expected numbers are those
 * of the same model in Keras, with weights in equal steps from -1 to 1 and variances of 0.5. */
#include "support/cmocka.h"

#include "support/refused.h"
#include "support/torture.h"
#include "support/train.h"
#include "train/frame/model.h"

static void fill(leat_variable *variable, double first, double last) {
    leat_tensor values = {0};
    train_ok(leat_tensor_new(LEAT_FLOAT32, leat_variable_shape(variable), &values, &train_error));
    int64_t count = leat_tensor_count(&values);
    for (int64_t i = 0; i < count; i++)
        ((float *)values.data)[i] =
            (float)(first + (count > 1 ? (last - first) * (double)i / (double)(count - 1) : 0));
    train_ok(leat_variable_assign(variable, &values, &train_error));
    leat_tensor_unref(&values);
}

/* A residual block, means of space, and a layer that is called twice. */
static leat_model *residual(leat_error *err) {
    leat_network *network = leat_network_new(err);
    if (network == NULL)
        return NULL;
    leat_symbol x = leat_network_input(network, LEAT_SHAPE(4, 4, 2)), sides[2], out[2];
    leat_layer *first = leat_layer_named(
        "Conv2D",
        "{\"filters\":3,\"kernel_size\":[3],\"padding\":\"same\",\"activation\":\"relu\"}", err);
    sides[0] = leat_network_call(first, &x, 1);
    leat_layer *second =
        leat_layer_named("Conv2D", "{\"filters\":3,\"kernel_size\":[3],\"padding\":\"same\"}", err);
    sides[1] = leat_network_call(second, sides, 1);
    leat_symbol sum = leat_network_call(leat_layer_named("Add", NULL, err), sides, 2);
    leat_symbol norm =
        leat_network_call(leat_layer_named("BatchNormalization", NULL, err), &sum, 1);
    out[1] = leat_network_call(leat_layer_named("GlobalAveragePooling2D", NULL, err), &norm, 1);
    leat_layer *shared = leat_layer_named("Dense", "{\"units\":3,\"activation\":\"tanh\"}", err);
    leat_symbol once = leat_network_call(shared, &out[1], 1);
    leat_symbol twice = once.id < 0 ? once : leat_network_call(shared, &once, 1);
    out[0] = leat_network_call(leat_layer_named("Dense", "{\"units\":2}", err), &twice, 1);
    return leat_network_model(network, out, 2, err);
}

static void a_residual_block_computes_what_keras_does(void **state) {
    (void)state;
    static const float expected[2][10] = {
        {0.506200909614563F, 2.5062007904052734F, -0.19886809587478638F, 2.356095314025879F,
         -4.810208797454834F, 0.0F, 8.322818756103516F, 1.05409836769104F, 0.0F,
         3.369014024734497F},
        {0.41443824768066406F, 2.5356502532958984F, 0.19284605979919434F, 2.507222890853882F,
         -1.2220072746276855F, 0.0F, 1.1867382526397705F, -0.7779925465583801F, 0.0F,
         0.8132615685462952F}};
    static const char *const names[] = {"conv2d/kernel", "conv2d/bias", "conv2d_1/kernel"};
    float x[64];
    int count = 0;
    leat_model *model = residual(&train_error);
    if (model == NULL)
        fail_msg("%s", train_error.text);
    leat_variable *const *trainable = leat_model_trainable_variables(model, &count);
    assert_int_equal(count, 10);
    for (int i = 0; i < 3; i++)
        assert_string_equal(leat_variable_name(trainable[i]), names[i]);
    for (int i = 0; i < model->num_layers; i++)
        for (int k = 0; k < model->layers[i]->num_weights; k++) {
            leat_variable *variable = model->layers[i]->weights[k];
            bool spread = strstr(leat_variable_name(variable), "variance") == NULL;
            fill(variable, spread ? -1 : 0.5, spread ? 1 : 0.5);
        }
    for (int i = 0; i < 64; i++)
        x[i] = (float)(-1 + 2.0 * i / 63);
    for (int training = 0; training < 2; training++) {
        leat_tensor input = {0}, found = {0};
        leat_value out[2];
        leat_graph *graph = leat_graph_new_eager(&train_error);
        assert_non_null(graph);
        train_ok(
            leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(2, 4, 4, 2), x, &input, &train_error));
        leat_value value = leat_graph_tensor(graph, &input);
        leat_model_call_all(model, &value, 1, training == 1, out, 2);
        for (int k = 0, at = 0; k < 2; k++) {
            train_ok(leat_value_tensor(out[k], &found, &train_error));
            for (int64_t i = 0; i < leat_tensor_count(&found); i++, at++)
                assert_float_equal(((float *)found.data)[i], expected[training][at], 1e-4);
            leat_tensor_unref(&found);
        }
        leat_tensor_unref(&input);
        leat_graph_free(graph);
    }
    leat_model_free(model);
}

static void failures_name_layers_and_shapes(void **state) {
    (void)state;
    leat_error err = {0};
    leat_network *network = leat_network_new(&err);
    leat_symbol x = leat_network_input(network, LEAT_SHAPE(5));
    x = leat_network_call(leat_layer_named("Dense", "{\"units\":4,\"name\":\"first\"}", &err), &x,
                          1);
    x = leat_network_call(leat_layer_named("MaxPooling2D", NULL, &err), &x, 1);
    assert_null(leat_network_model(network, &x, 1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "\"max_pooling2d\"");
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_SHAPE, "\"first\"");
    assert_null(leat_layer_named("Dence", NULL, &err));
    assert_int_equal(err.code, LEAT_NOT_FOUND);
    network = leat_network_new(&err);
    x = leat_network_input(network, LEAT_SHAPE(5));
    x = leat_network_call(NULL, &x, 1);
    assert_int_equal(x.id, -1);
    assert_null(leat_network_model(network, &x, 1, &err));
    assert_refused(&err, LEAT_INVALID_ARGUMENT, LEAT_REASON_VALUE, "NULL");
}

/* ---- a layer of one's own: y = x * scale ---- */

struct scaling {
    int released;
};

static leat_status scale_weights(void *data, leat_shape input, leat_weight_list *out,
                                 leat_error *err) {
    (void)data;
    return leat_weight_list_add(out, "scale", LEAT_SHAPE(input.dims[input.rank - 1]), "ones", true,
                                err);
}

static leat_value scale_call(void *data, const leat_value *inputs, int num_inputs,
                             const leat_value *weights, bool training, leat_value *updates) {
    (void)data;
    (void)num_inputs;
    (void)training;
    (void)updates;
    return leat_op_multiply(inputs[0], weights[0]);
}

static void scale_release(void *data) {
    ((struct scaling *)data)->released++;
}

static void a_layer_of_ones_own_stands_in_a_model(void **state) {
    (void)state;
    struct scaling own = {.released = 0};
    const leat_layer_description description = {.name = "scale",
                                                .data = &own,
                                                .weights = scale_weights,
                                                .call = scale_call,
                                                .release = scale_release};
    const float x[4] = {1, 2, 3, 4}, expected[4] = {-1, 2, -3, 4};
    leat_tensor input = {0}, found = {0};
    int count = 0;
    leat_layer *layers[2] = {leat_layer_custom(&description, &train_error),
                             leat_layer_named("Flatten", NULL, &train_error)};
    leat_model *model = leat_model_sequential(layers, 2, &train_error);
    assert_non_null(model);
    train_ok(leat_model_build(model, LEAT_SHAPE(2), &train_error));
    leat_variable *const *variables = leat_model_trainable_variables(model, &count);
    assert_int_equal(count, 1);
    assert_string_equal(leat_variable_name(variables[0]), "scale/scale");
    fill(variables[0], -1, 1);
    leat_graph *graph = leat_graph_new_eager(&train_error);
    train_ok(leat_tensor_copy_of(LEAT_FLOAT32, LEAT_SHAPE(2, 2), x, &input, &train_error));
    leat_value out = leat_model_call(model, leat_graph_tensor(graph, &input), true);
    train_ok(leat_value_tensor(out, &found, &train_error));
    assert_memory_equal(found.data, expected, sizeof expected);
    leat_tensor_unref(&found);
    leat_tensor_unref(&input);
    leat_graph_free(graph);
    leat_model_free(model);
    assert_int_equal(own.released, 1);
    assert_null(leat_layer_custom(&(leat_layer_description){.name = "none"}, &train_error));
}

static leat_status make_and_free(void *context, leat_error *err) {
    (void)context;
    leat_model *model = residual(err);
    leat_model_free(model);
    return model == NULL ? torture_code(err) : LEAT_OK;
}

static void test_each_allocation_failing(void **state) {
    (void)state;
    torture_run_tolerant(make_and_free, NULL); /* an arena may do with a smaller chunk */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_residual_block_computes_what_keras_does),
        cmocka_unit_test(failures_name_layers_and_shapes),
        cmocka_unit_test(a_layer_of_ones_own_stands_in_a_model),
        cmocka_unit_test(test_each_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
